/* Runs each input on a thread of its own with the stack that the target's code has in the server: a
 * recursion that the main thread's 8 MB would hide ends the target. */
#include "ingest/base/thread.h"
#include "server/http.h"
#include "tests/fuzz/fuzz.h"

#include <pthread.h>

struct input {
    const uint8_t *bytes;
    size_t len;
};

static void *run(void *argument)
{
    const struct input *input = argument;
    (void)fuzz_one_input(input->bytes, input->len);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct input input = {bytes, len};
    pthread_attr_t attributes;
    pthread_t thread;
    bool started = pthread_attr_init(&attributes) == 0 &&
                   pthread_attr_setstacksize(&attributes, FUZZ_STACK_BYTES) == 0 &&
                   pthread_create(&thread, &attributes, run, &input) == 0;
    fuzz_require(started && pthread_join(thread, NULL) == 0, "a thread for the input");
    (void)pthread_attr_destroy(&attributes);
    return 0;
}
