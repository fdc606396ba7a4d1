/* The queue of webhooks: a crossing is told once, what waits is due in time, the log is bounded. */
#include "ingest/store/internal.h"
#include "ingest/store/store_webhooks.h"
#include "tests/unit/ingest/store/store_fixture.h"

#define HOOK "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define OTHER_HOOK "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define FAR_S INT64_C(1) << 40
#define LOG_KEPT 5000

static void cross(struct fixture *f, const char *hook, const char *run)
{
    const struct store_delivery delivery = {.hook = hook,
                                            .place = "https://hooks.example",
                                            .metric = "step_time",
                                            .run = run,
                                            .body = "{\"run\": 1}"};
    assert_ok(f, store_webhook_cross(f->store, &delivery, &f->err));
}

static struct store_delivery *due(struct fixture *f, int64_t now_s, size_t limit, size_t *count)
{
    struct store_delivery *rows = NULL;
    assert_ok(f, store_webhook_due(f->store, &f->arena, now_s, limit, &rows, count, &f->err));
    return rows;
}

static struct store_delivery *
read_log(struct fixture *f, int64_t limit, int64_t offset, size_t *count, int64_t *total)
{
    struct store_delivery *rows = NULL;
    assert_ok(f, READ(f->store, store_webhook_log, &f->arena, limit, offset, &rows, count, total,
                      &f->err));
    return rows;
}

static void a_crossing_is_queued_once_a_hook_and_run(void **state)
{
    struct fixture *f = *state;
    size_t count = 0;
    cross(f, HOOK, "a");
    cross(f, HOOK, "a");
    cross(f, OTHER_HOOK, "a");
    cross(f, HOOK, "b");
    struct store_delivery *rows = due(f, FAR_S, 10, &count);
    assert_int_equal(count, 3);
    assert_string_equal(rows[0].hook, HOOK);
    assert_string_equal(rows[0].run, "a");
    assert_string_equal(rows[0].place, "https://hooks.example");
    assert_string_equal(rows[0].metric, "step_time");
    assert_string_equal(rows[0].body, "{\"run\": 1}");
    assert_true(rows[0].state == DELIVERY_WAITING && rows[0].attempts == 0 && rows[0].status == 0);
    assert_null(rows[0].error);
    assert_string_equal(rows[1].hook, OTHER_HOOK);
    assert_string_equal(rows[2].run, "b");
    (void)due(f, FAR_S, 2, &count);
    assert_int_equal(count, 2);
    (void)due(f, 0, 10, &count);
    assert_int_equal(count, 0);
    /* Also after a restart. */
    close_store(f);
    open_store(f);
    cross(f, HOOK, "a");
    (void)due(f, FAR_S, 10, &count);
    assert_int_equal(count, 3);
}

static void an_attempt_is_kept(void **state)
{
    struct fixture *f = *state;
    size_t count = 0;
    int64_t total = 0;
    cross(f, HOOK, "a");
    cross(f, HOOK, "b");
    struct store_delivery *rows = due(f, FAR_S, 10, &count);
    struct store_delivery again = rows[0];
    again.attempts = 1;
    again.next_at_s = again.created_at_s + 60;
    again.status = 503;
    again.error = "busy";
    assert_ok(f, store_webhook_attempted(f->store, &again, &f->err));
    rows = due(f, again.next_at_s - 1, 10, &count);
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].run, "b");
    rows = due(f, again.next_at_s, 10, &count);
    assert_int_equal(count, 2);
    assert_string_equal(rows[1].run, "a");
    assert_true(rows[1].attempts == 1 && rows[1].status == 503);
    assert_string_equal(rows[1].error, "busy");

    again.state = DELIVERY_DELIVERED;
    again.status = 200;
    again.error = NULL;
    assert_ok(f, store_webhook_attempted(f->store, &again, &f->err));
    struct store_delivery lost = rows[0];
    lost.state = DELIVERY_GIVEN_UP;
    lost.error = "no answer";
    assert_ok(f, store_webhook_attempted(f->store, &lost, &f->err));
    (void)due(f, FAR_S, 10, &count);
    assert_int_equal(count, 0);
    rows = read_log(f, 10, 0, &count, &total);
    assert_true(count == 2 && total == 2);
    assert_string_equal(rows[0].run, "b");
    assert_true(rows[0].state == DELIVERY_GIVEN_UP && rows[0].status == 0);
    assert_true(rows[1].state == DELIVERY_DELIVERED && rows[1].status == 200);
    assert_null(rows[1].error);
    assert_null(rows[1].body); /* it may hold what the reader of a log need not know */
    rows = read_log(f, 1, 1, &count, &total);
    assert_true(count == 1 && total == 2);
    assert_string_equal(rows[0].run, "a");
}

/* What waits stays, however old it is; what is done goes. */
static void the_log_forgets_the_oldest(void **state)
{
    struct fixture *f = *state;
    static const char many[] =
        "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 4999)"
        " INSERT INTO webhook_delivery (hook, place, metric, run, body, state, created_at_s,"
        " next_at_s) SELECT hook, place, metric, 'run-' || i, body, state, created_at_s, next_at_s"
        " FROM n, webhook_delivery WHERE id = 1";
    size_t count = 0;
    int64_t total = 0;
    cross(f, HOOK, "waits");
    cross(f, HOOK, "done");
    struct store_delivery done = due(f, FAR_S, 2, &count)[1];
    done.state = DELIVERY_DELIVERED;
    done.status = 200;
    assert_ok(f, store_webhook_attempted(f->store, &done, &f->err));
    assert_ok(f, store_write_begin(f->store, STORE_DURABLE, &f->err));
    assert_ok(f, store_write_end(f->store, db_exec(f->store->writer, many, &f->err), &f->err));
    (void)read_log(f, 1, 0, &count, &total);
    assert_int_equal(total, LOG_KEPT + 1);
    cross(f, HOOK, "last");
    struct store_delivery *rows = read_log(f, 2, LOG_KEPT - 1, &count, &total);
    assert_int_equal(total, LOG_KEPT + 1);
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].run, "run-1");
    assert_string_equal(rows[1].run, "waits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_crossing_is_queued_once_a_hook_and_run, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(an_attempt_is_kept, set_up_store, tear_down_store),
        cmocka_unit_test_setup_teardown(the_log_forgets_the_oldest, set_up_store, tear_down_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
