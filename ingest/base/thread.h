/* Starts threads that have a stack of known size and block all signals: signals go to the thread
 * that waits for them. */
#ifndef KS_BASE_THREAD_H
#define KS_BASE_THREAD_H

#include "ingest/base/attr.h"

#include <pthread.h>
#include <stddef.h>

/* The stack of every thread of ours, whatever the shell's limit (ulimit -s) or the C library's
 * default. tests/checks/recursion.py adds up the deepest calls and compares them with it. The
 * request threads are civetweb's: HTTP_THREAD_STACK_BYTES, server/http.h. */
#define THREAD_STACK_BYTES ((size_t)1 << 20)

/* As pthread_create, with a stack of THREAD_STACK_BYTES and all signals blocked in the new thread.
 * Returns 0 or an error number. */
int thread_start(pthread_t *thread, void *(*run)(void *), void *argument) KS_MUST_USE;
/* Calls run(argument) on a new thread and waits until it returns: for work that may need more stack
 * than a request thread has. Returns 0, or an error number when it was not called. */
int thread_call(void *(*run)(void *), void *argument) KS_MUST_USE;

#endif
