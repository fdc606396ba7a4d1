/* Starts threads that have a stack of known size and block all signals: signals go to the thread
 * that waits for them. Helpers do pieces of work beside their owner, sleepers look after something.
 */
#ifndef KS_BASE_THREAD_H
#define KS_BASE_THREAD_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <pthread.h>
#include <stdbool.h>
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

/* A thread that works beside its owner, on one piece of work at a time. */
struct thread_helper {
    bool (*run)(void *context, struct err *err); /* one piece */
    void *context;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    bool has_locks;
    bool has_thread;
    bool is_busy;
    bool is_ending;
    struct err err; /* of the first piece that failed */
};

void thread_helper_init(struct thread_helper *helper,
                        bool (*run)(void *context, struct err *err),
                        void *context);
/* Waits for the piece before and starts the next, which owns `context` until thread_helper_wait.
 * Without a thread it runs here. False: this piece or an earlier one has failed. */
bool thread_helper_give(struct thread_helper *helper, struct err *err) KS_MUST_USE;
/* Returns when no piece is at work. False: one has failed. */
bool thread_helper_wait(struct thread_helper *helper, struct err *err) KS_MUST_USE;
/* Waits, ends the thread and frees what belongs to it. */
void thread_helper_end(struct thread_helper *helper);

/* A thread that looks after something under a lock of its owner, and between two looks sleeps until
 * it is woken or a time of monotonic_after has come. Zeroed: it does not run. */
struct thread_sleeper {
    pthread_t thread;
    bool runs;
    pthread_cond_t wake;
};

/* `argument` has the lock and the sleeper. False (ERR_NO_MEMORY, `failure`): it does not run. */
bool thread_sleeper_start(struct thread_sleeper *sleeper,
                          void *(*run)(void *),
                          void *argument,
                          const char *failure,
                          struct err *err) KS_MUST_USE;
/* Does nothing where it does not run. The caller holds the lock. */
void thread_sleeper_wake(struct thread_sleeper *sleeper);
/* Wakes it and waits for its end: it must have been told to end. Does nothing where it does not
 * run. The caller does not hold the lock. */
void thread_sleeper_join(struct thread_sleeper *sleeper, pthread_mutex_t *lock);

#endif
