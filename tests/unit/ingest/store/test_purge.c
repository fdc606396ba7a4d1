/* Nothing of a trace that goes stays behind, in whatever table. */
#include "ingest/store/ingest_log.h"
#include "ingest/store/schema/schema.h"
#include "tests/unit/ingest/formats/comparison_sample.h"
#include "tests/unit/ingest/formats/event_log/event_fixture.h"
#include "tests/unit/ingest/store/trace_file.h"

/* One row and more in every table; operators more than a batch of the purge. */
#define OPERATORS 5300

struct full {
    struct trace_results results;
    struct trace_results rounded;
    struct step_row step;
    struct operator_row operators[OPERATORS];
    struct kernel_row kernel;
    struct kernel_launch_row launch;
    struct device_row device;
    struct recommendation_row recommendation;
    struct environment_row environment;
    struct series_row series;
    struct missing_row missing;
    struct uploaded_answer_row answer;
    struct kernel_utilisation_row kernel_utilisation;
    struct kernel_utilisation_launch_row use_launch;
    struct kernel_utilisation_metric_row metric;
    struct kernel_utilisation_value_row value;
    struct transfer_row transfer;
    const char *bad_row;
    struct cycle_row cycle;
    struct cycle_use_row cycle_uses[OPERATORS];
    struct counter_row counter;
    struct call_tree call_tree;
    struct module_row module;
    struct gpu_row gpu;
    struct comparison_sample *comparison;
};

static struct full *make_full(void)
{
    struct full *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->series = (struct series_row){"step_time", 1.5};
    s->comparison = make_comparison("report", 0);
    s->value.metric = "sm__cycles";
    for (int i = 0; i < OPERATORS; i++) {
        s->operators[i] = (struct operator_row){.name = "aten::add"};
        s->cycle_uses[i] = (struct cycle_use_row){.function = "gemm"};
    }
    s->rounded = (struct trace_results){.device_type = "GPU", .steps = &s->step, .step_count = 1};
    s->results = (struct trace_results){.device_type = "GPU",
                                        .steps = &s->step,
                                        .step_count = 1,
                                        .kernels = &s->kernel,
                                        .kernel_count = 1,
                                        .kernel_launches = &s->launch,
                                        .kernel_launch_count = 1,
                                        .devices = &s->device,
                                        .device_count = 1,
                                        .recommendations = &s->recommendation,
                                        .recommendation_count = 1,
                                        .environment = &s->environment,
                                        .environment_count = 1,
                                        .series = &s->series,
                                        .series_count = 1,
                                        .missing = &s->missing,
                                        .missing_count = 1,
                                        .uploaded_answers = &s->answer,
                                        .uploaded_answer_count = 1,
                                        .has_kernel_use = true,
                                        .kernel_utilisation = &s->kernel_utilisation,
                                        .kernel_utilisation_count = 1,
                                        .kernel_utilisation_launches = &s->use_launch,
                                        .kernel_utilisation_launch_count = 1,
                                        .kernel_utilisation_metrics = &s->metric,
                                        .kernel_utilisation_metric_count = 1,
                                        .kernel_utilisation_values = &s->value,
                                        .kernel_utilisation_value_count = 1,
                                        .transfers = &s->transfer,
                                        .transfer_count = 1,
                                        .bad_rows = &s->bad_row,
                                        .bad_row_count = 1,
                                        .cycles = &s->cycle,
                                        .cycle_count = 1,
                                        .cycle_uses = s->cycle_uses,
                                        .cycle_use_count = OPERATORS,
                                        .counters = &s->counter,
                                        .counter_count = 1,
                                        .call_tree = &s->call_tree,
                                        .modules = &s->module,
                                        .module_count = 1,
                                        .gpus = &s->gpu,
                                        .gpu_count = 1,
                                        .comparison = &s->comparison->comparison};
    s->counter.name = "reads";
    s->call_tree.profile_thread = CALL_NONE;
    s->results.operators[0] = s->operators;
    s->results.operator_count[0] = OPERATORS;
    s->results.warnings.by_code[0].count = 1;
    return s;
}

static void free_full(struct full *s)
{
    free(s->comparison);
    free(s);
}

/* What is kept of an upload that is gone, or never belonged to one. */
static bool stays(const char *table)
{
    return strcmp(table, "job") == 0 || strcmp(table, "job_failure") == 0 ||
           strcmp(table, "taken_over") == 0 || strcmp(table, "deleted_trace") == 0 ||
           strcmp(table, "token") == 0 || strcmp(table, "session") == 0 ||
           strcmp(table, "series_change") == 0 || strcmp(table, "node") == 0 ||
           strcmp(table, "duty") == 0 || strcmp(table, "wrong_token") == 0 ||
           strcmp(table, "commit_mark") == 0 || strcmp(table, "kept_sum") == 0 ||
           /* until the next start, and only while points wait */
           strcmp(table, "series_metric") == 0 || strcmp(table, "series_stale") == 0 ||
           strcmp(table, "schema_step") == 0;
}

/* Only groups that a request compared name their traces and what those were recorded on; only
 * visible traces have files, count as parts of their run and make points of series; notes, webhooks
 * and views of a run are made on request; copies have a state. */
static bool may_be_empty(const char *table)
{
    return strcmp(table, "compared_trace") == 0 || strcmp(table, "comparison_environment") == 0 ||
           strcmp(table, "run_part") == 0 || strcmp(table, "run_view") == 0 ||
           strcmp(table, "series_point") == 0 || strcmp(table, "results_file") == 0 ||
           strcmp(table, "pinned_note") == 0 || strncmp(table, "webhook", strlen("webhook")) == 0 ||
           strcmp(table, "object") == 0 || strcmp(table, "copy_state") == 0;
}

static int64_t count_table(struct fixture *f, const char *table)
{
    struct buf sql;
    struct db_stmt st;
    buf_init(&sql, 200);
    buf_printf(&sql, "SELECT count(*) FROM \"%s\"", table);
    db_prepare_buf(&st, f->store->writer, &sql);
    int64_t count = db_next(&st) ? db_get_int(&st) : -1;
    assert_ok(f, db_done(&st, &f->err));
    return count;
}

/* Looks into every table of the schema, also those that this test has never heard of. */
static void expect_tables(struct fixture *f, bool full)
{
    struct db_stmt st;
    size_t tables = 0;
    db_prepare(&st, f->store->writer,
               tests_on_server()
                   ? "SELECT table_name FROM information_schema.tables WHERE table_schema ="
                     " current_schema() AND table_name <> 'kinetoscope'"
                   : "SELECT name FROM sqlite_schema WHERE type = 'table'"
                     " AND name NOT LIKE 'sqlite_%'");
    while (db_next(&st)) {
        const char *table = db_get_text(&st, &f->arena);
        if (stays(table) || (full && may_be_empty(table))) {
            continue;
        }
        tables++;
        if ((count_table(f, table) > 0) != full) {
            fail_msg("table %s has %d rows", table, (int)count_table(f, table));
        }
    }
    assert_ok(f, db_done(&st, &f->err));
    assert_true(tables > 12);
    assert_true(full || count_trace_files(f) == 0);
}

/* The same for the files. */
static void expect_tables_of_files(struct fixture *f)
{
    struct db_stmt st;
    struct db *db;
    size_t tables = 0;
    assert_ok(f, db_open(&db, ":memory:", DB_IN_MEMORY, &f->err));
    assert_ok(f, db_exec(db, results_schema_sql, &f->err));
    db_prepare(&st, db, "SELECT name FROM sqlite_schema WHERE type = 'table'");
    for (; db_next(&st); tables++) {
        struct buf sql;
        buf_init(&sql, 200);
        const char *table = db_get_text(&st, &f->arena);
        buf_printf(&sql, "SELECT count(*) FROM \"%s\"", table);
        if (files_number(f, sql.ptr) == 0 && strncmp(table, "timeline", 8) != 0) {
            fail_msg("table %s has no rows", table);
        }
        buf_free(&sql);
    }
    assert_ok(f, db_done(&st, &f->err));
    db_close(db);
    assert_true(tables > 10);
}

#define LOG_BLOCKS 3

/* All rows of a trace, its events before it. */
static void fill(struct fixture *f, struct store_ingest *ingest, const struct full *s)
{
    struct event_builder *b = builder_create();
    for (uint32_t i = 0; i < LOG_BLOCKS * EVENT_BATCH_EVENTS; i++) {
        builder_put(f, b, ingest, "{\"ph\": \"X\", \"ts\": 1}");
    }
    builder_end(f, b, ingest);
    builder_free(b);
    assert_ok(f, store_ingest_trace(ingest, "w", "", "chrome-trace", &s->results, &f->err));
}

static int64_t publish_full(struct fixture *f, int64_t job_id, const struct full *s)
{
    struct store_ingest *ingest;
    assert_ok(f, store_ingest_begin(f->store, job_id, &ingest, &f->err));
    fill(f, ingest, s);
    assert_ok(f, store_ingest_publish(ingest, &f->err));
    int64_t derived_id;
    int64_t id = trace_of_job(f, job_id);
    assert_ok(f, store_derived_write(f->store, id, &s->rounded, &derived_id, &f->err));
    return id;
}

static void deleting_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct full *s = make_full();
    int64_t id = publish_full(f, add_job(f, "r", "f", "a", false), s);
    expect_tables(f, true);
    expect_tables_of_files(f);
    assert_ok(f, store_trace_delete(f->store, id, &f->err));
    expect_tables(f, false);
    (void)publish_full(f, add_job(f, "r", "f", "b", false), s);
    expect_tables(f, true);
    assert_ok(f, store_run_delete(f->store, "r", &f->err));
    expect_tables(f, false);
    free_full(s);
}

static void begin_and_fill(struct fixture *f, void *s)
{
    struct store_ingest *ingest;
    int64_t job = add_job(f, "r", "f", "b", false);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    fill(f, ingest, s);
    expect_tables(f, true);
}

static void giving_up_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct full *s = make_full();
    struct store_ingest *ingest;
    int64_t job = add_job(f, "r", "f", "a", false);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    fill(f, ingest, s);
    expect_tables(f, true);
    store_ingest_abort(ingest);
    expect_tables(f, false);
    end_without_warning(f, begin_and_fill, s);
    open_store(f);
    expect_tables(f, false);
    free_full(s);
}

static void replacing_leaves_only_the_new(void **state)
{
    struct fixture *f = *state;
    struct full *s = make_full();
    (void)publish_full(f, add_job(f, "r", "f", "a", false), s);
    int64_t blocks = files_number(f, "SELECT count(*) FROM row_block");
    int64_t comparison_rows = count_table(f, "comparison_row");
    (void)publish_full(f, add_job(f, "r", "f", "b", true), s);
    expect_tables(f, true);
    assert_int_equal(files_number(f, "SELECT count(*) FROM row_block"), blocks);
    assert_int_equal(count_table(f, "comparison_row"), comparison_rows);
    assert_int_equal(count_table(f, "comparison"), 1);
    free_full(s);
}

static void other_traces_keep_their_rows(void **state)
{
    struct fixture *f = *state;
    struct full *s = make_full();
    int64_t first = publish_full(f, add_job(f, "r", "f", "a", false), s);
    int64_t second = publish_full(f, add_job(f, "r", "g", "b", false), s);
    assert_ok(f, store_trace_delete(f->store, first, &f->err));
    struct trace_results *out;
    struct store_comparison *comparison;
    int64_t comparison_id;
    assert_ok(f, READ(f->store, store_cycles, &f->arena, second, &out, &f->err));
    assert_int_equal(out->cycle_use_count, OPERATORS);
    assert_string_equal(out->cycle_uses[OPERATORS - 1].function, "gemm");
    assert_ok(f, READ(f->store, store_trace_comparison, second, &comparison_id, &f->err));
    assert_ok(f,
              READ(f->store, store_comparison_get, &f->arena, comparison_id, &comparison, &f->err));
    check_comparison(&s->comparison->comparison, comparison->comparison);
    free_full(s);
}

static int64_t count_jobs(struct fixture *f)
{
    struct db_stmt st;
    db_prepare(&st, f->store->writer, "SELECT count(*) FROM job");
    int64_t count = db_next(&st) ? db_get_int(&st) : -1;
    assert_ok(f, db_done(&st, &f->err));
    return count;
}

/* Of five jobs two have an end that nobody asks for any more. */
static void old_jobs_go(void **state)
{
    struct fixture *f = *state;
    struct err why = ERR_INIT;
    (void)err_set(&why, ERR_UNSUPPORTED, "no trace");
    int64_t kept = add_trace(f, "r", "kept", "w", "", "kept");
    int64_t removed = add_trace(f, "r", "removed", "w", "", "removed");
    int64_t failed = add_job(f, "r", "failed", "failed", false);
    assert_ok(f, store_job_failed(f->store, failed, &why, &f->err));
    assert_ok(f, store_trace_delete(f->store, removed, &f->err));
    (void)add_job(f, "r", "waits", "waits", false);
    assert_ok(f, db_exec(f->store->writer, "UPDATE job SET received_at_s = received_at_s - 2592001",
                         &f->err) &&
                     store_purge_jobs(f->store, &f->err));
    assert_int_equal(count_jobs(f), 4); /* this day's look is over */
    int64_t young = add_job(f, "r", "young", "young", false);
    assert_ok(f, store_job_failed(f->store, young, &why, &f->err));
    assert_int_equal(count_jobs(f), 5);
    atomic_store(&f->store->jobs_purged_at_s, 0);
    assert_ok(f, store_purge_jobs(f->store, &f->err));
    assert_int_equal(count_jobs(f), 3);
    struct store_trace *trace;
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, kept, &trace, &f->err));
    struct store_job *job;
    assert_ok(f, READ(f->store, store_job_get, &f->arena, young, &job, &f->err));
    assert_fails(f, READ(f->store, store_job_get, &f->arena, failed, &job, &f->err), ERR_NOT_FOUND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store_of_files, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(deleting_leaves_nothing),
        TEST(giving_up_leaves_nothing),
        TEST(replacing_leaves_only_the_new),
        TEST(other_traces_keep_their_rows),
        TEST(old_jobs_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
