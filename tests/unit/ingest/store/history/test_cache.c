/* The points in memory follow the log of changed runs, also where servers commit out of order. */
#include "ingest/store/internal.h"
#include "ingest/store/store_history.h"
#include "tests/unit/ingest/store/store_fixture.h"

static void change(struct fixture *f, const char *sql)
{
    assert_ok(f, store_write_begin(f->store, STORE_DURABLE, &f->err));
    assert_ok(f, store_write_end(f->store, db_exec(f->store->writer, sql, &f->err), &f->err));
}

/* A run with a point; `change_id` is the number of the change in the log. */
static void add_run(struct fixture *f, int run_id, int change_id)
{
    char sql[512];
    (void)snprintf(sql, sizeof sql,
                   "INSERT INTO run (id, name) VALUES (%d, 'r%d');"
                   "INSERT INTO series_point (time, upload_order, run, span, run_id, time_source,"
                   " trace_id, project, tags, devices)"
                   " VALUES (%d, %d, 'r%d', 1, %d, 0, 1, '', '[]', '[]');"
                   "INSERT INTO series_change (id, run_id) VALUES (%d, %d)",
                   run_id, run_id, run_id, run_id, run_id, run_id, change_id, run_id);
    change(f, sql);
}

static size_t points(struct fixture *f)
{
    const struct store_series_filter filter = {.projects = NULL};
    struct store_series_point *rows = NULL;
    size_t count = 0;
    assert_ok(f, READ(f->store, store_series_read, &f->arena, "step_time", &filter, &rows, &count,
                      &f->err));
    return count;
}

static void a_change_that_is_committed_late_is_seen(void **state)
{
    struct fixture *f = *state;
    add_run(f, 1, 10);
    add_run(f, 2, 12);
    assert_int_equal(points(f), 2);
    add_run(f, 3, 11);
    assert_int_equal(points(f), 3);
    add_run(f, 4, 15);
    assert_int_equal(points(f), 4);
    add_run(f, 5, 16);
    assert_int_equal(points(f), 5);
    add_run(f, 6, 14);
    add_run(f, 7, 13);
    assert_int_equal(points(f), 7);
    change(f, "DELETE FROM series_point WHERE run_id = 1;"
              "INSERT INTO series_change (id, run_id) VALUES (17, 1)");
    assert_int_equal(points(f), 6);
}

static void many_numbers_that_never_come_cost_little(void **state)
{
    struct fixture *f = *state;
    for (int i = 1; i <= 20; i++) {
        add_run(f, i, i * 40);
        assert_int_equal(points(f), i);
    }
    add_run(f, 21, 799);
    assert_int_equal(points(f), 21);
}

static void more_changes_than_are_followed_one_by_one(void **state)
{
    struct fixture *f = *state;
    add_run(f, 1, 1);
    assert_int_equal(points(f), 1);
    for (int i = 2; i <= 400; i++) {
        add_run(f, i, i == 300 ? 1000 : i);
    }
    assert_int_equal(points(f), 400);
    add_run(f, 401, 999);
    assert_int_equal(points(f), 401);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_change_that_is_committed_late_is_seen, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(many_numbers_that_never_come_cost_little, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(more_changes_than_are_followed_one_by_one, set_up_store,
                                        tear_down_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
