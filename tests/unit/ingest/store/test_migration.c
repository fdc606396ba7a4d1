/* A database of an older schema that is in use becomes one of the newest with all it held. */
#include "ingest/store/db/migrations.h"
#include "ingest/store/internal.h"
#include "ingest/store/store_events.h"
#include "tests/unit/ingest/formats/comparison_sample.h"

/* Rows as the first version of the program wrote them. */
static const char rows_of_schema_1[] =
    "INSERT INTO run (id, name, note, tags) VALUES (4, 'old run', 'a note', '[\"t\"]');"
    "INSERT INTO job (id, run, file_name, sha256, size_bytes, replace, state, received_at_s)"
    " VALUES (7, 'old run', 'w.1.pt.trace.json', 'aa', 10, 0, 'done', 1700000000),"
    " (8, 'old run', 'x.json', 'bb', 11, 1, 'queued', 1700000001);"
    "INSERT INTO upload (id, run_id, job_id, file_name, sha256, size_bytes, uploaded_at_s, "
    "published)"
    " VALUES (3, 4, 7, 'w.1.pt.trace.json', 'aa', 10, 1700000000, 1);"
    "INSERT INTO trace (id, upload_id, worker, span_digits, format, device_type, event_count,"
    " start_ns, plugin_start_ns, duration_ns, decimal_times, ticks_per_us, steps_undefined,"
    " has_profiler_steps, views, has_runtime, has_kernel, has_communication, has_memcpy_or_memset,"
    " has_blocks_per_sm, has_occupancy, operators_have_device, mlu, communication_nodes,"
    " communication_signature, tc_pie_used, tensor_pie_used, step_count, operator_count,"
    " operator_count_1, operator_count_2, operator_count_3, kernel_count, kernel_launch_count)"
    " VALUES (5, 3, 'w', '1', 'chrome-trace', 'GPU', 99, 1, 2, 3, 0, 1000, 0, 1, 7, 1, 1, 0, 0, 1,"
    " 1, 1, 0, 0, 0, 5.0, NULL, 1, 1, 0, 0, 0, 1, 0);"
    "INSERT INTO text (trace_id, id, value) VALUES (5, 0, ''), (5, 1, 'aten::mm'), (5, 2, 'gemm');"
    "INSERT INTO warning (trace_id, code, count) VALUES (5, 'overlapping_operators', 2);"
    "INSERT INTO step VALUES (5, 0, '3', 1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);"
    "INSERT INTO operator (trace_id, grouping, position, name_id, calls, host_total_ns,"
    " host_self_ns, device_total_ns, device_self_ns, tc_total_ns, tc_self_ns, tensor_total_ns,"
    " tensor_self_ns, host_min_ns, host_max_ns, host_p50_ns, host_p95_ns, host_p99_ns,"
    " device_p50_ns, device_p95_ns, device_p99_ns, tc_eligible, tensor_eligible, has_call_stack)"
    " VALUES (5, 0, 0, 1, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 1, 0, 0);"
    "INSERT INTO kernel VALUES (5, 0, 2, 4, 100, 10, 40, 20, 30, 40, 0, 1, -0.0, 7.0);"
    "PRAGMA user_version = 1;";

/* What later ones wrote beside that. */
static const char rows_of_schema_2[] =
    "UPDATE trace SET cycle_source = 1, cycle_count = 1 WHERE id = 5;"
    "INSERT INTO cycle VALUES (5, 0, 3, 0, 1, 1000, 12.5);"
    "INSERT INTO cycle_use VALUES"
    " (5, 0, 0, NULL, 0, 1, 1, NULL, NULL, NULL, 75.5, NULL, NULL, 9, NULL, 4);"
    "PRAGMA user_version = 2;";
static const char rows_of_schema_3[] =
    "INSERT INTO module VALUES (5, 0, 2, 77, -1, 4, 1, 10, 9, 8, 7);"
    "PRAGMA user_version = 3;";
static const char rows_of_schema_4[] = "PRAGMA user_version = 4;";
static const char rows_of_schema_5[] =
    "UPDATE job SET rank = 3 WHERE id = 7;"
    "INSERT INTO job_failure VALUES (7, 0, 'w.2.json', 'bad_input', NULL, 'no JSON');"
    "PRAGMA user_version = 5;";
static const char rows_of_schema_6[] = "PRAGMA user_version = 6;";
static const char *const rows_of_schemas[] = {rows_of_schema_1, rows_of_schema_2, rows_of_schema_3,
                                              rows_of_schema_4, rows_of_schema_5, rows_of_schema_6};
#define SCHEMAS ((int)(sizeof rows_of_schemas / sizeof rows_of_schemas[0]))

static void exec_or_fail(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        fail_msg("%s", message);
    }
}

/* Puts a filled database of the schema in the place of the fixture's. */
static void go_back(struct fixture *f, int schema)
{
    char path[TEST_PATH_BYTES + 32];
    sqlite3 *db;
    close_store(f);
    (void)snprintf(path, sizeof path, "%s/kinetoscope.db", f->dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    exec_or_fail(db, "PRAGMA foreign_keys = ON");
    for (int i = 0; i < schema; i++) {
        assert_int_equal(store_migrations[i].version, i + 1);
        exec_or_fail(db, (const char *)store_migrations[i].sql);
        exec_or_fail(db, rows_of_schemas[i]);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static int64_t query_int(struct fixture *f, const char *sql)
{
    struct db_stmt st;
    db_prepare(&st, f->store->writer, sql);
    int64_t value = db_next(&st) ? db_get_int(&st) : -1;
    assert_ok(f, db_done(&st, &f->err));
    return value;
}

static void check_catalogue(struct fixture *f, int schema)
{
    struct store_job_failure *failures;
    struct store_run *run;
    struct store_trace *trace;
    struct store_job *jobs;
    struct store_file file;
    size_t count;
    assert_ok(f, store_run_get(f->store, &f->arena, "old run", &run, &f->err));
    assert_string_equal(run->note, "a note");
    assert_int_equal(run->views, 7);
    assert_false(run->pinned);
    assert_string_equal(run->project, "");
    assert_ok(f, store_trace_get(f->store, &f->arena, 5, &trace, &f->err));
    assert_string_equal(trace->worker, "w");
    assert_int_equal(trace->event_count, 99);
    assert_int_equal(trace->derived_id, 5);
    assert_int_equal(trace->warnings.by_code[WARN_OVERLAP].count, 2);
    assert_ok(f, store_jobs_unfinished(f->store, &f->arena, &jobs, &count, &f->err));
    assert_int_equal(count, 1);
    assert_int_equal(jobs[0].id, 8);
    assert_true(jobs[0].replace);
    assert_null(jobs[0].marker);
    assert_ok(f,
              store_find_file(f->store, &f->arena, "old run", "w.1.pt.trace.json", &file, &f->err));
    assert_string_equal(file.sha256_hex, "aa");
    assert_null(file.marker);
    assert_int_equal(file.rank, schema < 5 ? STORE_NO_RANK : 3);
    assert_ok(f, store_job_failures(f->store, &f->arena, 7, &failures, &count, &f->err));
    assert_int_equal(count, schema < 5 ? 0 : 1);
    assert_true(count == 0 || strcmp(failures[0].member, "w.2.json") == 0);
}

static void check_results(struct fixture *f, int schema)
{
    struct store_page all = {0};
    struct trace_results *out;
    struct operator_row *operators;
    struct kernel_row *kernels;
    size_t count;
    int64_t total;
    int64_t comparison_id;
    assert_ok(f, store_overview(f->store, &f->arena, 5, &out, &f->err));
    assert_int_equal(out->step_count, 1);
    assert_int_equal(out->steps[0].cost_ns[TIME_OTHER], 8);
    assert_int_equal(out->steps[0].device_activities, 13);
    assert_same_real(out->tc_pie_used, 5.0);
    assert_true(isnan(out->tensor_pie_used));
    assert_false(out->has_kernel_use);
    assert_int_equal(out->cycle_source, schema < 2 ? 0 : 1);
    assert_int_equal(out->cycle_count, schema < 2 ? 0 : 1);
    assert_int_equal(out->kernel_utilisation_count, 0);
    assert_ok(f, store_operators(f->store, &f->arena, 5, OPERATOR_BY_NAME, NULL, NULL, &all,
                                 &operators, &count, &total, &f->err));
    assert_int_equal(count, 1);
    assert_string_equal(operators[0].name, "aten::mm");
    assert_int_equal(operators[0].calls, 12);
    assert_ok(f, store_kernels(f->store, &f->arena, 5, &all, &kernels, &count, &total, &f->err));
    assert_string_equal(kernels[0].name, "gemm");
    assert_same_real(kernels[0].blocks_per_sm, -0.0);
    assert_same_real(kernels[0].occupancy_pct, 7.0);
    assert_ok(f, store_cycles(f->store, &f->arena, 5, &out, &f->err));
    assert_int_equal(out->cycle_use_count, schema < 2 ? 0 : 1);
    if (schema >= 2) {
        assert_int_equal(out->cycles[0].number, 3);
        assert_string_equal(out->cycles[0].anchor, "aten::mm");
        assert_same_real(out->cycles[0].dur_us, 12.5);
        assert_string_equal(out->cycle_uses[0].function, "aten::mm");
        assert_null(out->cycle_uses[0].device);
        assert_same_real(out->cycle_uses[0].beta_pct, 75.5);
        assert_int_equal(out->cycle_uses[0].instances, 4);
    }
    assert_ok(f, store_trace_comparison(f->store, 5, &comparison_id, &f->err));
    assert_int_equal(comparison_id, 0);
}

static void check_modules(struct fixture *f, int schema)
{
    struct module_row *modules;
    size_t count;
    assert_ok(f, store_modules(f->store, &f->arena, 5, &modules, &count, &f->err));
    assert_int_equal(count, schema < 3 ? 0 : 1);
    if (count == 1) {
        assert_string_equal(modules[0].name, "gemm");
        assert_int_equal(modules[0].module_id, 77);
        assert_int_equal(modules[0].device_self, 7);
    }
}

/* Traces of that time were stored without them. */
static void check_events_are_gone(struct fixture *f)
{
    struct store_event event;
    struct store_export *from;
    assert_fails(f, store_event_get(f->store, &f->arena, 5, 0, &event, &f->err), ERR_GONE);
    assert_fails(f, store_export_open(f->store, 5, INT64_MIN, INT64_MAX, &from, &f->err), ERR_GONE);
}

static void what_was_there_stays(void **state)
{
    struct fixture *f = *state;
    for (int schema = 1; schema <= SCHEMAS; schema++) {
        go_back(f, schema);
        for (int again = 0; again < 2; again++) {
            open_store(f);
            assert_int_equal(query_int(f, "PRAGMA user_version"),
                             store_migrations[store_migration_count - 1].version);
            check_catalogue(f, schema);
            check_results(f, schema);
            check_modules(f, schema);
            check_events_are_gone(f);
            assert_int_equal(query_int(f, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
            assert_int_equal(
                query_int(f, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
            close_store(f);
        }
        open_store(f);
    }
}

/* Migrated or made anew, the schema is the same. */
static void the_schema_is_that_of_a_new_database(void **state)
{
    struct fixture *f = *state;
    static const char schema_sql[] =
        "SELECT group_concat(line, ';') FROM (SELECT m.type || ' ' || m.name || ' ' ||"
        " coalesce(c.cid || c.name || c.type || c.\"notnull\" || coalesce(c.dflt_value, '-')"
        " || c.pk, '') AS line FROM sqlite_schema AS m LEFT JOIN pragma_table_info(m.name) AS c"
        " WHERE m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid)";
    const char *texts[2];
    for (int i = 0; i < 2; i++) {
        struct db_stmt st;
        db_prepare(&st, f->store->writer, schema_sql);
        assert_true(db_next(&st));
        texts[i] = db_get_text(&st, &f->arena);
        assert_ok(f, db_done(&st, &f->err));
        if (i == 0) {
            go_back(f, 1);
            open_store(f);
        }
    }
    assert_non_null(strstr(texts[0], "comparison_row"));
    assert_string_equal(texts[0], texts[1]);
}

static void it_goes_on_as_before(void **state)
{
    struct fixture *f = *state;
    struct comparison_sample *sample = make_comparison("report", 0);
    struct cycle_row cycle = {.number = 1, .anchor = "step"};
    struct trace_results results = {.device_type = "GPU",
                                    .cycle_source = CYCLES_TABLE,
                                    .cycles = &cycle,
                                    .cycle_count = 1,
                                    .comparison = &sample->comparison};
    struct trace_results *out;
    int64_t comparison_id;
    go_back(f, 1);
    open_store(f);
    int64_t id = publish(f, add_job(f, "old run", "new", "new", false), "w", "2", &results);
    assert_true(id > 5);
    assert_ok(f, store_cycles(f->store, &f->arena, id, &out, &f->err));
    assert_int_equal(out->cycle_count, 1);
    assert_ok(f, store_trace_comparison(f->store, id, &comparison_id, &f->err));
    assert_true(comparison_id > 0);
    assert_ok(f, store_trace_delete(f->store, 5, &f->err));
    assert_int_equal(query_int(f, "SELECT count(*) FROM trace"), 1);
    assert_int_equal(query_int(f, "SELECT count(*) FROM operator"), 0);
    assert_ok(f, store_run_delete(f->store, "old run", &f->err));
    assert_int_equal(query_int(f, "SELECT count(*) FROM comparison"), 0);
    free(sample);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_there_stays),
        TEST(the_schema_is_that_of_a_new_database),
        TEST(it_goes_on_as_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
