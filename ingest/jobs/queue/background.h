/* Work that nobody looks at: analyses leave the processors to those who wait for a page. */
#ifndef KS_JOBS_QUEUE_BACKGROUND_H
#define KS_JOBS_QUEUE_BACKGROUND_H

/* From now on the calling thread, and those that it starts, come after the others of the process
 * when there are fewer processors than work: they get a third of what another thread gets. Does
 * nothing where only a process can be told so. */
void background_begin(void);

#endif
