#include "ingest/base/thread.h"

#include "ingest/base/monotonic.h"

#include <signal.h>

static int create(pthread_t *thread, void *(*run)(void *), void *argument)
{
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code != 0) {
        return code;
    }
    code = pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
    if (code == 0) {
        code = pthread_create(thread, &attributes, run, argument);
    }
    (void)pthread_attr_destroy(&attributes);
    return code;
}

int thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = create(thread, run, argument);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

int thread_call(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    int code = thread_start(&thread, run, argument);
    return code == 0 ? pthread_join(thread, NULL) : code;
}

/* ---- helpers ---- */

static void *help(void *argument)
{
    struct thread_helper *helper = argument;
    (void)pthread_mutex_lock(&helper->lock);
    while (!helper->is_ending || helper->is_busy) {
        if (!helper->is_busy) {
            (void)pthread_cond_wait(&helper->changed, &helper->lock);
            continue;
        }
        struct err err = ERR_INIT;
        (void)pthread_mutex_unlock(&helper->lock);
        bool ok = helper->run(helper->context, &err);
        (void)pthread_mutex_lock(&helper->lock);
        helper->is_busy = false;
        if (!ok) {
            helper->err = err;
        }
        (void)pthread_cond_broadcast(&helper->changed);
    }
    (void)pthread_mutex_unlock(&helper->lock);
    return NULL;
}

void thread_helper_init(struct thread_helper *helper,
                        bool (*run)(void *context, struct err *err),
                        void *context)
{
    *helper = (struct thread_helper){.run = run, .context = context, .err = ERR_INIT};
}

static bool start(struct thread_helper *helper)
{
    if (!helper->has_locks && pthread_mutex_init(&helper->lock, NULL) == 0) {
        helper->has_locks = pthread_cond_init(&helper->changed, NULL) == 0;
        if (!helper->has_locks) {
            (void)pthread_mutex_destroy(&helper->lock);
        }
    }
    helper->has_thread = helper->has_thread ||
                         (helper->has_locks && thread_start(&helper->thread, help, helper) == 0);
    return helper->has_thread;
}

bool thread_helper_wait(struct thread_helper *helper, struct err *err)
{
    if (helper->has_thread) {
        (void)pthread_mutex_lock(&helper->lock);
        while (helper->is_busy) {
            (void)pthread_cond_wait(&helper->changed, &helper->lock);
        }
        (void)pthread_mutex_unlock(&helper->lock);
    }
    bool ok = helper->err.code == ERR_NONE;
    if (!ok) {
        *err = helper->err;
    }
    return ok;
}

bool thread_helper_give(struct thread_helper *helper, struct err *err)
{
    if (!thread_helper_wait(helper, err)) {
        return false;
    }
    if (!start(helper)) {
        return helper->run(helper->context, err);
    }
    (void)pthread_mutex_lock(&helper->lock);
    helper->is_busy = true;
    (void)pthread_cond_signal(&helper->changed);
    (void)pthread_mutex_unlock(&helper->lock);
    return true;
}

void thread_helper_end(struct thread_helper *helper)
{
    if (helper->has_thread) {
        (void)pthread_mutex_lock(&helper->lock);
        helper->is_ending = true;
        (void)pthread_cond_broadcast(&helper->changed);
        (void)pthread_mutex_unlock(&helper->lock);
        (void)pthread_join(helper->thread, NULL);
    }
    if (helper->has_locks) {
        (void)pthread_cond_destroy(&helper->changed);
        (void)pthread_mutex_destroy(&helper->lock);
    }
}

/* ---- sleepers ---- */

bool thread_sleeper_start(struct thread_sleeper *sleeper,
                          void *(*run)(void *),
                          void *argument,
                          const char *failure,
                          struct err *err)
{
    sleeper->runs = monotonic_cond_init(&sleeper->wake); /* before the thread looks */
    if (sleeper->runs && thread_start(&sleeper->thread, run, argument) != 0) {
        (void)pthread_cond_destroy(&sleeper->wake);
        sleeper->runs = false;
    }
    return sleeper->runs || err_set(err, ERR_NO_MEMORY, "%s", failure);
}

void thread_sleeper_wake(struct thread_sleeper *sleeper)
{
    if (sleeper->runs) {
        (void)pthread_cond_signal(&sleeper->wake);
    }
}

void thread_sleeper_join(struct thread_sleeper *sleeper, pthread_mutex_t *lock)
{
    if (!sleeper->runs) {
        return;
    }
    (void)pthread_mutex_lock(lock);
    (void)pthread_cond_signal(&sleeper->wake);
    (void)pthread_mutex_unlock(lock);
    (void)pthread_join(sleeper->thread, NULL);
    (void)pthread_cond_destroy(&sleeper->wake);
    sleeper->runs = false;
}
