/* Views that need several traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Behind the headers that it needs. */
#include "ingest/query/views/run_views.h"

#include <cmocka.h>

#define DISTRIBUTED (1U << VIEW_DISTRIBUTED)

struct view_case {
    struct store_trace traces[3];
    size_t count;
    int64_t span;
    bool distributed;
};

#define TRACE(span_, nodes_, signature_)                                                           \
    {                                                                                              \
        .span = (span_), .communication_nodes = (nodes_), .communication_signature = (signature_), \
        .views = 1U << VIEW_OVERVIEW                                                               \
    }

static void a_span_is_distributed_when_its_workers_agree(void **state)
{
    (void)state;
    static const struct view_case cases[] = {
        {{{0}}, 0, 1, false},
        {{TRACE(1, 5, 7)}, 1, 1, true},
        {{TRACE(1, 0, 0)}, 1, 1, false},
        {{TRACE(1, 5, 7)}, 1, 2, false},
        {{TRACE(1, 5, 7), TRACE(1, 5, 7)}, 2, 1, true},
        {{TRACE(1, 5, 7), TRACE(1, 0, 0)}, 2, 1, false},
        {{TRACE(1, 0, 0), TRACE(1, 5, 7)}, 2, 1, false},
        {{TRACE(1, 5, 7), TRACE(1, 6, 7)}, 2, 1, false},
        {{TRACE(1, 5, 7), TRACE(1, 5, 8)}, 2, 1, false},
        {{TRACE(1, 5, 7), TRACE(2, 6, 7), TRACE(1, 5, 7)}, 3, 1, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct view_case *c = &cases[i];
        assert_int_equal(query_span_is_distributed(c->traces, c->count, c->span), c->distributed);
    }
}

static void a_run_shows_what_its_traces_show(void **state)
{
    (void)state;
    struct store_trace traces[] = {TRACE(1, 0, 0), TRACE(2, 4, 4), TRACE(2, 4, 4)};
    traces[0].views = 1U << VIEW_KERNEL;
    assert_int_equal(query_run_views(traces, 0), 0);
    assert_int_equal(query_run_views(traces, 1), 1U << VIEW_KERNEL);
    assert_int_equal(query_run_views(traces, 3),
                     1U << VIEW_KERNEL | 1U << VIEW_OVERVIEW | DISTRIBUTED);
    traces[2].communication_signature = 5;
    assert_int_equal(query_run_views(traces, 3), 1U << VIEW_KERNEL | 1U << VIEW_OVERVIEW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_is_distributed_when_its_workers_agree),
        cmocka_unit_test(a_run_shows_what_its_traces_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
