/* Helpers: threads that work beside their owner. */
#include "ingest/base/thread.h"
#include "tests/unit/unit.h"

#include <stdbool.h>

struct counting {
    int done;
    int fails_at; /* 0: never */
    pthread_t ran_on;
};

static bool count_one(void *context, struct err *err)
{
    struct counting *counting = context;
    counting->ran_on = pthread_self();
    counting->done++;
    return counting->done != counting->fails_at ||
           err_set(err, ERR_STORE, "piece %d", counting->done);
}

static void a_helper_does_every_piece_on_its_thread(void **state)
{
    enum { PIECES = 1000 };
    struct counting counting = {.done = 0};
    struct thread_helper helper;
    struct err err = ERR_INIT;
    thread_helper_init(&helper, count_one, &counting);
    for (int i = 0; i < PIECES; i++) {
        assert_true(thread_helper_give(&helper, &err));
    }
    assert_true(thread_helper_wait(&helper, &err));
    assert_int_equal(counting.done, PIECES);
    assert_false(pthread_equal(counting.ran_on, pthread_self()));
    thread_helper_end(&helper);
}

static void a_failure_reaches_the_owner_and_stays(void **state)
{
    struct counting counting = {.fails_at = 2};
    struct thread_helper helper;
    struct err err = ERR_INIT;
    thread_helper_init(&helper, count_one, &counting);
    assert_true(thread_helper_give(&helper, &err));
    assert_true(thread_helper_give(&helper, &err));
    assert_false(thread_helper_give(&helper, &err));
    assert_int_equal(err.code, ERR_STORE);
    assert_string_equal(err.msg, "piece 2");
    assert_false(thread_helper_wait(&helper, &err));
    assert_int_equal(counting.done, 2);
    thread_helper_end(&helper);
}

static void the_end_waits_for_the_last_piece(void **state)
{
    struct counting counting = {.done = 0};
    struct thread_helper helper;
    struct err err = ERR_INIT;
    thread_helper_init(&helper, count_one, &counting);
    thread_helper_end(&helper); /* one that never worked */
    thread_helper_init(&helper, count_one, &counting);
    assert_true(thread_helper_give(&helper, &err));
    thread_helper_end(&helper);
    assert_int_equal(counting.done, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_helper_does_every_piece_on_its_thread),
        cmocka_unit_test(a_failure_reaches_the_owner_and_stays),
        cmocka_unit_test(the_end_waits_for_the_last_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
