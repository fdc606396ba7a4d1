/* Slices by name and track: pairs of begins and ends, nesting, self time, unions [DEV-5]. */
#include "ingest/analysis/slices/slices.h"
#include "tests/unit/ingest/analysis/model_builder.h"

static void build_mark(struct build *b, char phase, const char *name, int64_t tid, int64_t at_ns)
{
    build_event(
        b,
        (struct trace_event){
            .ts_ns = at_ns, .track = build_track(b, 1, tid), .args = TRACE_NO_ARGS, .phase = phase},
        name);
}

static void
build_slice(struct build *b, const char *name, int64_t tid, int64_t start_ns, int64_t end_ns)
{
    build_event(b,
                (struct trace_event){.ts_ns = start_ns,
                                     .dur_ns = end_ns - start_ns,
                                     .track = build_track(b, 1, tid),
                                     .args = TRACE_NO_ARGS},
                name);
}

static const struct slices_row *find(const struct slices *slices, const char *key)
{
    for (size_t i = 0; i < slices->count; i++) {
        if (strcmp(slices->rows[i].key, key) == 0) {
            return &slices->rows[i];
        }
    }
    return NULL;
}

static void an_end_closes_the_last_begin_of_its_track(void **state)
{
    struct build b;
    struct arena arena;
    struct slices slices;
    build_begin(&b);
    arena_init(&arena, 0);
    build_mark(&b, 'E', "lone", 1, 0);
    build_mark(&b, 'B', "outer", 1, 10);
    build_mark(&b, 'B', "inner", 1, 20);
    build_mark(&b, 'E', "", 2, 25); /* of another track */
    build_mark(&b, 'E', "", 1, 50);
    build_mark(&b, 'E', "", 1, 90);
    build_mark(&b, 'B', "open", 1, 95);
    assert_true(slices_analyse(b.trace, SLICES_BY_NAME, &arena, &slices));
    assert_int_equal(slices.slice_count, 2);
    assert_int_equal(slices.count, 2);
    assert_int_equal(slices.duration_ns, 80);
    assert_string_equal(slices.rows[0].key, "outer");
    assert_int_equal(slices.rows[0].total_ns, 80);
    assert_int_equal(slices.rows[0].self_ns, 50);
    assert_int_equal(find(&slices, "inner")->self_ns, 30);
    arena_free(&arena);
    build_end(&b);
}

static void what_overlaps_without_nesting_is_nobodys_child(void **state)
{
    struct build b;
    struct arena arena;
    struct slices slices;
    build_begin(&b);
    arena_init(&arena, 0);
    build_slice(&b, "child", 1, 20, 30); /* stands before its parent in the file */
    build_slice(&b, "parent", 1, 0, 100);
    build_slice(&b, "late", 1, 90, 120);  /* ends after the parent */
    build_slice(&b, "other", 2, 50, 150); /* of another track */
    build_slice(&b, "child", 1, 25,
                45); /* overlaps the first child, is the parent's all the same */
    assert_true(slices_analyse(b.trace, SLICES_BY_NAME, &arena, &slices));
    assert_int_equal(find(&slices, "parent")->self_ns, 100 - 25); /* 20 to 45, once */
    assert_int_equal(find(&slices, "late")->self_ns, 30);
    const struct slices_row *child = find(&slices, "child");
    assert_int_equal(child->count, 2);
    assert_int_equal(child->total_ns, 30);
    assert_int_equal(child->busy_ns, 25);
    assert_int_equal(child->min_ns, 10);
    assert_int_equal(child->max_ns, 20);
    assert_int_equal(child->duration.p50, 15);
    assert_string_equal(slices.rows[0].key, "other"); /* as long as parent: by name */
    assert_true(slices_analyse(b.trace, SLICES_BY_TRACK, &arena, &slices));
    assert_int_equal(slices.count, 2);
    assert_string_equal(slices.rows[0].key, "1 / 1");
    assert_string_equal(slices.rows[0].tid, "1");
    assert_null(slices.rows[0].thread_name);
    assert_int_equal(slices.rows[0].busy_ns, 120);
    arena_free(&arena);
    build_end(&b);
}

static void a_trace_without_slices_has_no_rows(void **state)
{
    struct build b;
    struct arena arena;
    struct slices slices;
    build_begin(&b);
    arena_init(&arena, 0);
    assert_true(slices_analyse(b.trace, SLICES_BY_CATEGORY, &arena, &slices));
    assert_int_equal(slices.count, 0);
    assert_int_equal(slices.duration_ns, 0);
    arena_free(&arena);
    build_end(&b);
}

static void a_trace_of_another_kind_is_told_by_its_views(void **state)
{
    struct build b;
    build_begin(&b);
    build_slice(&b, "work", 1, 0, 100);
    build_step(&b, "decode[bs=2 tok=2]", 0, 10);
    assert_int_not_equal(build_run(&b)->views & 1u << VIEW_SLICES, 0);
    assert_int_not_equal(b.results->views & 1u << VIEW_SERVING, 0);
    results_destroy(b.results);
    build_runtime(&b, 1, 2, 3, 1, 1);
    assert_int_equal(build_run(&b)->views & 1u << VIEW_SLICES, 0);
    build_end(&b);
    build_begin(&b);
    assert_int_equal(build_run(&b)->views & (1u << VIEW_SLICES | 1u << VIEW_SERVING), 0);
    build_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_closes_the_last_begin_of_its_track),
        cmocka_unit_test(what_overlaps_without_nesting_is_nobodys_child),
        cmocka_unit_test(a_trace_without_slices_has_no_rows),
        cmocka_unit_test(a_trace_of_another_kind_is_told_by_its_views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
