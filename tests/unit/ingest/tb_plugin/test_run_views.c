/* Views that need several traces. */

/* Behind the headers that it needs. */
#include "ingest/tb_plugin/run_views.h"
#include "tests/unit/unit.h"

#define DISTRIBUTED (1U << VIEW_DISTRIBUTED)

struct view_case {
    int64_t spans[3];
    struct communication communication[3];
    size_t count;
    int64_t span;
    bool distributed;
};

static void a_span_is_distributed_when_its_workers_agree(void **state)
{
    static const struct view_case cases[] = {
        {{0}, {{0}}, 0, 1, false},
        {{1}, {{5, 7}}, 1, 1, true},
        {{1}, {{0, 0}}, 1, 1, false},
        {{1}, {{5, 7}}, 1, 2, false},
        {{1, 1}, {{5, 7}, {5, 7}}, 2, 1, true},
        {{1, 1}, {{5, 7}, {0, 0}}, 2, 1, false},
        {{1, 1}, {{0, 0}, {5, 7}}, 2, 1, false},
        {{1, 1}, {{5, 7}, {6, 7}}, 2, 1, false},
        {{1, 1}, {{5, 7}, {5, 8}}, 2, 1, false},
        {{1, 2, 1}, {{5, 7}, {6, 7}, {5, 7}}, 3, 1, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct view_case *c = &cases[i];
        struct store_trace traces[3] = {
            {.span = c->spans[0]}, {.span = c->spans[1]}, {.span = c->spans[2]}};
        assert_int_equal(run_views_span_agrees(traces, c->communication, c->count, c->span),
                         c->distributed);
    }
}

static void a_run_shows_what_its_traces_show(void **state)
{
    const struct store_trace traces[] = {{.span = 1, .derived_views = 1U << VIEW_KERNEL},
                                         {.span = 2, .derived_views = 1U << VIEW_OVERVIEW},
                                         {.span = 2, .derived_views = 1U << VIEW_OVERVIEW}};
    struct communication communication[] = {{0, 0}, {4, 4}, {4, 4}};
    assert_int_equal(run_views_of(traces, communication, 0), 0);
    assert_int_equal(run_views_of(traces, communication, 1), 1U << VIEW_KERNEL);
    assert_int_equal(run_views_of(traces, communication, 3),
                     1U << VIEW_KERNEL | 1U << VIEW_OVERVIEW | DISTRIBUTED);
    communication[2].hash = 5;
    assert_int_equal(run_views_of(traces, communication, 3),
                     1U << VIEW_KERNEL | 1U << VIEW_OVERVIEW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_is_distributed_when_its_workers_agree),
        cmocka_unit_test(a_run_shows_what_its_traces_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
