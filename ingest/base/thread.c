#include "ingest/base/thread.h"

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
