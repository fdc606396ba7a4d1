/* Comparisons: round trip, groups, lists, deletion, and what they share with their traces. */
#include "ingest/store/internal.h"
#include "tests/unit/ingest/formats/comparison_sample.h"

#include <pthread.h>
#include <stdatomic.h>

static const int64_t base_ids[] = {11, 12};
static const int64_t candidate_ids[] = {12};
static const int64_t *const compared[SIDE_COUNT] = {base_ids, candidate_ids};
static const size_t compared_count[SIDE_COUNT] = {2, 1};

/* Adds a group of `count` comparisons whose titles count on from `title`. */
static void
add_group(struct fixture *f, struct comparison_sample **samples, size_t count, int64_t *ids)
{
    struct comparison *items[8];
    assert_true(count <= 8);
    for (size_t i = 0; i < count; i++) {
        items[i] = &samples[i]->comparison;
    }
    const struct comparison_list list = {.items = items, .count = count};
    assert_ok(f, store_comparisons_add(f->store, &list, compared, compared_count, ids, &f->err));
}

static int64_t add_one(struct fixture *f, const char *title)
{
    struct comparison_sample *sample = make_comparison(title, 0);
    int64_t id;
    add_group(f, &sample, 1, &id);
    free(sample);
    return id;
}

static struct store_comparison *get(struct fixture *f, int64_t id)
{
    struct store_comparison *out;
    assert_ok(f, READ(f->store, store_comparison_get, &f->arena, id, &out, &f->err));
    assert_int_equal(out->id, id);
    return out;
}

static bool is_there(struct fixture *f, int64_t id)
{
    struct store_comparison *out;
    bool found = READ(f->store, store_comparison_get, &f->arena, id, &out, &f->err);
    assert_true(found || f->err.code == ERR_NOT_FOUND);
    return found;
}

static int64_t count_rows(struct fixture *f, const char *sql)
{
    struct db_stmt st;
    db_prepare(&st, f->store->writer, sql);
    int64_t count = db_next(&st) ? db_get_int(&st) : -1;
    assert_ok(f, db_done(&st, &f->err));
    return count;
}

/* ---- round trip ---- */

static void check_stored(const struct store_comparison *out,
                         const struct comparison_sample *sample,
                         int64_t group_id)
{
    check_comparison(&sample->comparison, out->comparison);
    assert_int_equal(out->group_id, group_id);
    assert_int_equal(out->trace_id, 0);
    assert_int_equal(out->pair_count, 3);
    assert_true(out->created_at_s > 1600000000);
    assert_same_real(out->top_score, 40.0);
    assert_int_equal(out->trace_count[SIDE_BASE], 2);
    assert_int_equal(out->trace_ids[SIDE_BASE][0], 11);
    assert_int_equal(out->trace_ids[SIDE_BASE][1], 12);
    assert_int_equal(out->trace_count[SIDE_CANDIDATE], 1);
    assert_int_equal(out->trace_ids[SIDE_CANDIDATE][0], 12);
}

static void every_field_comes_back(void **state)
{
    struct fixture *f = *state;
    struct comparison_sample *samples[3];
    int64_t ids[3];
    for (int i = 0; i < 3; i++) {
        samples[i] = make_comparison("a title", i);
    }
    add_group(f, samples, 3, ids);
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < 3; i++) {
            check_stored(get(f, ids[i]), samples[i], ids[0]);
        }
        close_store(f);
        open_store(f);
    }
    /* Texts are shared by the group. */
    assert_int_equal(count_rows(f, "SELECT count(*) - count(DISTINCT value) FROM comparison_text"),
                     0);
    for (int i = 0; i < 3; i++) {
        free(samples[i]);
    }
}

static void empty_comparisons_are_kept(void **state)
{
    struct fixture *f = *state;
    struct comparison empty = {.kind = CYCLE_DECODE, .cycle_p = (double)NAN};
    struct comparison *items[] = {&empty};
    const struct comparison_list list = {.items = items, .count = 1};
    const struct comparison_list none = {0};
    static const size_t no_traces[SIDE_COUNT] = {0, 0};
    int64_t id = 0;
    assert_ok(f, store_comparisons_add(f->store, &none, compared, no_traces, &id, &f->err));
    assert_int_equal(id, 0);
    assert_ok(f, store_comparisons_add(f->store, &list, compared, no_traces, &id, &f->err));
    const struct store_comparison *out = get(f, id);
    check_comparison(&empty, out->comparison);
    assert_null(out->comparison->title);
    assert_same_real(out->top_score, 0.0);
    assert_int_equal(out->pair_count, 1);
    assert_int_equal(out->trace_count[SIDE_BASE] + out->trace_count[SIDE_CANDIDATE], 0);
}

/* More than a batch: the writer is given to others meanwhile, and nobody sees a part. */
static void long_comparisons_come_back(void **state)
{
    enum { LONG = 12000 };
    struct fixture *f = *state;
    struct comparison_row *rows = calloc(LONG, sizeof *rows);
    char(*names)[16] = calloc(LONG, sizeof *names);
    assert_non_null(rows);
    assert_non_null(names);
    for (int i = 0; i < LONG; i++) {
        (void)snprintf(names[i], sizeof names[i], "f%d", i / 2);
        rows[i] = (struct comparison_row){.function = names[i], .score = LONG - i};
    }
    struct comparison comparison = {.title = "t", .rows = rows, .row_count = LONG};
    struct comparison *items[] = {&comparison, &comparison};
    const struct comparison_list list = {.items = items, .count = 2};
    int64_t ids[2];
    assert_ok(f, store_comparisons_add(f->store, &list, compared, compared_count, ids, &f->err));
    const struct store_comparison *out = get(f, ids[1]);
    assert_int_equal(out->comparison->row_count, LONG);
    for (int i = 0; i < LONG; i++) {
        assert_string_equal(out->comparison->rows[i].function, names[i]);
        assert_same_real(out->comparison->rows[i].score, LONG - i);
    }
    assert_int_equal(count_rows(f, "SELECT count(*) FROM comparison_text"), 1 + LONG / 2);
    assert_ok(f, store_comparison_delete(f->store, ids[1], &f->err));
    assert_int_equal(count_rows(f, "SELECT count(*) FROM comparison_row"), 0);
    free(rows);
    free(names);
}

static void damaged_numbers_stay_in_bounds(void **state)
{
    struct fixture *f = *state;
    int64_t id = add_one(f, "t");
    assert_ok(f,
              db_exec(f->store->writer,
                      "UPDATE comparison SET verdict = 9;"
                      "UPDATE comparison_row SET presence = -1;"
                      "UPDATE comparison_role SET side = 7 WHERE side = 1;"
                      "UPDATE comparison_appeared SET row_position = 4294967296 WHERE position = 0;"
                      "UPDATE comparison_finding_metric SET finding = 2 WHERE position = 0;"
                      "INSERT INTO comparison_finding_metric SELECT comparison_id, finding,"
                      " position + 10, metric_id, 0, 0 FROM comparison_finding_metric",
                      &f->err));
    const struct comparison *out = get(f, id)->comparison;
    assert_int_equal(out->verdict, VERDICT_UNDECIDED);
    assert_int_equal(out->rows[0].presence, PRESENCE_REMOVED);
    assert_string_equal(out->roles[SIDE_CANDIDATE].label, "abnormal_pid_7");
    assert_int_equal(out->appeared_count, 1);
    assert_int_equal(out->appeared[0], 0);
    assert_int_equal(out->findings[0].metric_count, FINDING_METRICS_MAX);
    assert_int_equal(out->findings[1].metric_count, 0);
}

/* ---- lists ---- */

static const char *
titles(struct fixture *f, int64_t group_id, struct store_page page, int64_t *total)
{
    static char text[128];
    struct store_comparison *rows;
    size_t count;
    text[0] = '\0';
    assert_ok(f, READ(f->store, store_comparisons, &f->arena, group_id, &page, &rows, &count, total,
                      &f->err));
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(text);
        assert_int_equal(rows[i].comparison->row_count, 0);
        assert_null(rows[i].comparison->rows);
        (void)snprintf(text + len, sizeof text - len, "%s ", rows[i].comparison->title);
    }
    return text;
}

static void lists_have_the_first_of_each_group(void **state)
{
    struct fixture *f = *state;
    struct comparison_sample *pairs[3] = {make_comparison("b1", 1), make_comparison("b2", 2),
                                          make_comparison("b3", 3)};
    int64_t ids[3];
    int64_t total;
    struct store_page all = {0};
    assert_string_equal(titles(f, 0, all, &total), "");
    int64_t first = add_one(f, "a");
    add_group(f, pairs, 3, ids);
    (void)add_one(f, "c%");
    assert_string_equal(titles(f, 0, all, &total), "c% b1 a ");
    assert_int_equal(total, 3);
    assert_string_equal(titles(f, 0, (struct store_page){.limit = 1, .offset = 1}, &total), "b1 ");
    assert_int_equal(total, 3);
    assert_string_equal(titles(f, 0, (struct store_page){.offset = 5}, &total), "");
    assert_string_equal(titles(f, 0, (struct store_page){.q = "%"}, &total), "c% ");
    assert_string_equal(titles(f, 0, (struct store_page){.q = "/^[AB].?$/"}, &total), "b1 a ");
    assert_string_equal(titles(f, 0, (struct store_page){.q = "pid_7"}, &total), "c% b1 a ");
    assert_string_equal(titles(f, 0, (struct store_page){.q = "b2"}, &total), "");
    assert_int_equal(total, 0);
    assert_string_equal(titles(f, ids[0], all, &total), "b1 b2 b3 ");
    assert_string_equal(titles(f, ids[0], (struct store_page){.limit = 2, .offset = 1}, &total),
                        "b2 b3 ");
    assert_int_equal(total, 3);
    assert_string_equal(titles(f, first, all, &total), "a ");
    assert_string_equal(titles(f, 999, all, &total), "");

    struct store_comparison *rows;
    size_t count;
    struct store_page wrong = {.q = "/(/"};
    assert_ok(
        f, READ(f->store, store_comparisons, &f->arena, 0, &all, &rows, &count, &total, &f->err));
    check_comparison_head(&pairs[0]->comparison, rows[1].comparison);
    assert_int_equal(rows[1].pair_count, 3);
    assert_int_equal(rows[1].trace_ids[SIDE_BASE][1], 12);
    assert_same_real(rows[1].top_score, 40.0);
    assert_fails(
        f, READ(f->store, store_comparisons, &f->arena, 0, &wrong, &rows, &count, &total, &f->err),
        ERR_BAD_REQUEST);
    for (int i = 0; i < 3; i++) {
        free(pairs[i]);
    }
}

/* ---- deleting ---- */

static void a_group_is_deleted_as_a_whole(void **state)
{
    struct fixture *f = *state;
    struct comparison_sample *pairs[2] = {make_comparison("b1", 1), make_comparison("b2", 2)};
    int64_t ids[2];
    int64_t kept = add_one(f, "kept");
    add_group(f, pairs, 2, ids);
    assert_ok(f, store_comparison_delete(f->store, ids[1], &f->err));
    assert_false(is_there(f, ids[0]));
    assert_false(is_there(f, ids[1]));
    assert_true(is_there(f, kept));
    assert_int_equal(count_rows(f, "SELECT count(*) FROM comparison"), 1);
    assert_int_equal(count_rows(f, "SELECT count(*) FROM comparison_row"), SAMPLE_ROWS);
    assert_fails(f, store_comparison_delete(f->store, ids[0], &f->err), ERR_NOT_FOUND);
    assert_fails(f, store_comparison_delete(f->store, 0, &f->err), ERR_NOT_FOUND);
    free(pairs[0]);
    free(pairs[1]);
}

/* The end of a process in the middle of adding or deleting. */
static void reopening_removes_what_is_not_there(void **state)
{
    struct fixture *f = *state;
    int64_t kept = add_one(f, "kept");
    (void)add_one(f, "cut while written");
    (void)add_one(f, "cut while removed");
    assert_ok(f, db_exec(f->store->writer,
                         "UPDATE comparison SET state = 'writing' WHERE title LIKE '%written';"
                         "UPDATE comparison SET state = 'removed' WHERE title LIKE '%removed'",
                         &f->err));
    int64_t total;
    assert_string_equal(titles(f, 0, (struct store_page){0}, &total), "kept ");
    close_store(f);
    open_store(f);
    assert_int_equal(count_rows(f, "SELECT count(*) FROM comparison"), 1);
    assert_int_equal(count_rows(f, "SELECT count(*) FROM comparison_row"), SAMPLE_ROWS);
    assert_true(is_there(f, kept));
}

static void a_full_database_keeps_no_part(void **state)
{
    enum { ROWS = 20000 };
    skip_on_server();
    struct fixture *f = *state;
    struct comparison_row *rows = calloc(ROWS, sizeof *rows);
    assert_non_null(rows);
    for (int i = 0; i < ROWS; i++) {
        rows[i] = (struct comparison_row){.score = i + 0.5, .delta_beta = i + 0.25};
    }
    struct comparison comparison = {.rows = rows, .row_count = ROWS};
    struct comparison *items[] = {&comparison};
    const struct comparison_list list = {.items = items, .count = 1};
    int64_t id;
    int64_t kept = add_one(f, "kept");
    assert_ok(f, db_exec(f->store->writer, "PRAGMA max_page_count = 130", &f->err));
    assert_fails(f, store_comparisons_add(f->store, &list, compared, compared_count, &id, &f->err),
                 ERR_NO_SPACE);
    assert_int_equal(count_rows(f, "SELECT count(*) FROM comparison"), 1);
    assert_int_equal(count_rows(f, "SELECT count(*) FROM comparison_row"), SAMPLE_ROWS);
    assert_ok(f, db_exec(f->store->writer, "PRAGMA max_page_count = 1000000", &f->err));
    assert_ok(f, store_comparisons_add(f->store, &list, compared, compared_count, &id, &f->err));
    assert_true(is_there(f, kept));
    free(rows);
}

/* ---- with traces ---- */

static int64_t publish_report(struct fixture *f, const char *file_name, int seed)
{
    struct comparison_sample *sample = make_comparison("report", seed);
    struct trace_results results = {
        .device_type = "", .views = 1U << VIEW_COMPARISON, .comparison = &sample->comparison};
    int64_t id = publish(f, add_job(f, "r", file_name, file_name, false), "w", "", &results);
    free(sample);
    return id;
}

static int64_t comparison_of(struct fixture *f, int64_t trace_id)
{
    int64_t id = -1;
    assert_ok(f, READ(f->store, store_trace_comparison, trace_id, &id, &f->err));
    return id;
}

static void a_report_has_its_comparison(void **state)
{
    struct fixture *f = *state;
    struct comparison_sample *sample = make_comparison("report", 4);
    int64_t total;
    int64_t other = add_trace(f, "r", "other", "w", "", "other");
    int64_t trace_id = publish_report(f, "f", 4);
    int64_t id = comparison_of(f, trace_id);
    assert_int_equal(comparison_of(f, other), 0);
    const struct store_comparison *out = get(f, id);
    check_comparison(&sample->comparison, out->comparison);
    assert_int_equal(out->trace_id, trace_id);
    assert_int_equal(out->group_id, id);
    assert_int_equal(out->trace_count[SIDE_BASE], 0);
    assert_string_equal(titles(f, 0, (struct store_page){0}, &total), "report ");
    assert_fails(f, store_comparison_delete(f->store, id, &f->err), ERR_CONFLICT);
    assert_true(is_there(f, id));
    assert_ok(f, store_trace_delete(f->store, trace_id, &f->err));
    assert_false(is_there(f, id));
    assert_int_equal(comparison_of(f, trace_id), 0);
    assert_int_equal(count_rows(f, "SELECT count(*) FROM comparison"), 0);
    assert_int_equal(count_rows(f, "SELECT count(*) FROM comparison_text"), 0);
    free(sample);
}

static void a_report_is_hidden_until_published(void **state)
{
    struct fixture *f = *state;
    struct comparison_sample *sample = make_comparison("report", 0);
    struct trace_results results = {.device_type = "", .comparison = &sample->comparison};
    struct store_ingest *ingest;
    int64_t total;
    struct store_page all = {0};
    int64_t job = add_job(f, "r", "f", "f", false);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "w", "", "comparison-report", &results, &f->err));
    assert_int_equal(count_rows(f, "SELECT count(*) FROM comparison"), 1);
    assert_string_equal(titles(f, 0, all, &total), "");
    assert_false(is_there(f, count_rows(f, "SELECT id FROM comparison")));
    assert_ok(f, store_ingest_publish(ingest, &f->err));
    assert_string_equal(titles(f, 0, all, &total), "report ");

    job = add_job(f, "r", "g", "g", false);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "w", "", "comparison-report", &results, &f->err));
    store_ingest_abort(ingest);
    assert_int_equal(count_rows(f, "SELECT count(*) FROM comparison"), 1);
    free(sample);
}

static void comparisons_outlive_their_traces(void **state)
{
    struct fixture *f = *state;
    int64_t trace_id = add_trace(f, "r", "f", "w", "", "x");
    const int64_t *const ids_of[SIDE_COUNT] = {&trace_id, &trace_id};
    static const size_t one_each[SIDE_COUNT] = {1, 1};
    struct comparison comparison = {.title = "t"};
    struct comparison *items[] = {&comparison};
    const struct comparison_list list = {.items = items, .count = 1};
    int64_t id;
    assert_ok(f, store_comparisons_add(f->store, &list, ids_of, one_each, &id, &f->err));
    assert_ok(f, store_run_delete(f->store, "r", &f->err));
    const struct store_comparison *out = get(f, id);
    assert_int_equal(out->trace_ids[SIDE_BASE][0], trace_id);
    assert_int_equal(out->trace_ids[SIDE_CANDIDATE][0], trace_id);
}

/* ---- threads; they only count, the main thread asserts ---- */

#define THREADS 6
#define ROUNDS 12

struct traffic {
    struct store *store;
    const struct comparison *comparison;
    int number;
    atomic_int failures;
};

static bool one_round(struct traffic *traffic, struct err *err)
{
    struct arena arena;
    struct comparison copies[2] = {*traffic->comparison, *traffic->comparison};
    struct comparison *items[2] = {&copies[0], &copies[1]};
    const struct comparison_list list = {.items = items, .count = 2};
    const int64_t me = traffic->number;
    const int64_t *const mine[SIDE_COUNT] = {&me, &me};
    static const size_t one_each[SIDE_COUNT] = {1, 1};
    struct store_comparison *out;
    struct store_comparison *rows;
    struct store_page all = {0};
    int64_t ids[2];
    size_t count;
    int64_t total;
    copies[0].verdict = (enum comparison_verdict)(traffic->number % 3);
    arena_init(&arena, 0);
    bool ok =
        store_comparisons_add(traffic->store, &list, mine, one_each, ids, err) &&
        READ(traffic->store, store_comparison_get, &arena, ids[0], &out, err) &&
        out->trace_ids[SIDE_BASE][0] == me && out->pair_count == 2 &&
        out->comparison->verdict == copies[0].verdict &&
        out->comparison->row_count == SAMPLE_ROWS &&
        READ(traffic->store, store_comparisons, &arena, ids[0], &all, &rows, &count, &total, err) &&
        count == 2 && rows[1].id == ids[1] &&
        READ(traffic->store, store_comparisons, &arena, 0, &all, &rows, &count, &total, err) &&
        count >= 1 && store_comparison_delete(traffic->store, ids[1], err) &&
        !READ(traffic->store, store_comparison_get, &arena, ids[0], &out, err) &&
        err->code == ERR_NOT_FOUND;
    arena_free(&arena);
    return ok;
}

static void *add_and_delete(void *argument)
{
    struct traffic *traffic = argument;
    for (int i = 0; i < ROUNDS; i++) {
        struct err err = ERR_INIT;
        if (!one_round(traffic, &err)) {
            atomic_fetch_add(&traffic->failures, 1);
        }
    }
    return NULL;
}

static void many_may_compare_at_once(void **state)
{
    struct fixture *f = *state;
    struct comparison_sample *sample = make_comparison("t", 0);
    struct traffic traffic[THREADS];
    pthread_t threads[THREADS];
    int64_t kept = add_one(f, "kept");
    for (int i = 0; i < THREADS; i++) {
        traffic[i] =
            (struct traffic){.store = f->store, .comparison = &sample->comparison, .number = i};
        atomic_init(&traffic[i].failures, 0);
        assert_int_equal(pthread_create(&threads[i], NULL, add_and_delete, &traffic[i]), 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "f%d", i);
        int64_t trace_id = publish_report(f, name, i);
        assert_true(comparison_of(f, trace_id) != 0);
        assert_ok(f, store_trace_delete(f->store, trace_id, &f->err));
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(atomic_load(&traffic[i].failures), 0);
    }
    assert_true(is_there(f, kept));
    assert_int_equal(count_rows(f, "SELECT count(*) FROM comparison"), 1);
    free(sample);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_field_comes_back),
        TEST(empty_comparisons_are_kept),
        TEST(long_comparisons_come_back),
        TEST(damaged_numbers_stay_in_bounds),
        TEST(lists_have_the_first_of_each_group),
        TEST(a_group_is_deleted_as_a_whole),
        TEST(reopening_removes_what_is_not_there),
        TEST(a_full_database_keeps_no_part),
        TEST(a_report_has_its_comparison),
        TEST(a_report_is_hidden_until_published),
        TEST(comparisons_outlive_their_traces),
        TEST(many_may_compare_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
