/* Lower priority for analyses that no client waits for, so that requests get the processors first.
 */
#ifndef KS_JOBS_QUEUE_BACKGROUND_H
#define KS_JOBS_QUEUE_BACKGROUND_H

/* Lowers the priority of the calling thread and of the threads that it starts: when processors are
 * scarce, each gets a third of what another thread gets. Does nothing where priorities belong to
 * processes only. */
void background_begin(void);

#endif
