/* Threads that no signal interrupts: signals are for the thread that waits for them. */
#ifndef KS_BASE_THREAD_H
#define KS_BASE_THREAD_H

#include "ingest/base/attr.h"

#include <pthread.h>

/* As pthread_create with default attributes, all signals blocked in the new thread. 0, or an error
 * number. */
int thread_start(pthread_t *thread, void *(*run)(void *), void *argument) KS_MUST_USE;

#endif
