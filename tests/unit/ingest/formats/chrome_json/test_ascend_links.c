/* What launched device work in a trace_view.json, by the flows between them [FMT-1.2b]. */
#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"

#include <stdio.h>

#define PROCESS(pid, name) \
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" pid ",\"args\":{\"name\":\"" name "\"}},"
#define OPERATOR(name, ts, dur)                                                             \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":5,\"ts\":" ts \
    ",\"dur\":" dur ",\"args\":{}},"
#define CALL(name, ts, dur)                                                              \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":2,\"tid\":5,\"ts\":" ts ",\"dur\":" dur \
    ",\"args\":{}},"
#define TASK(name, ts, dur)                                                              \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":3,\"tid\":7,\"ts\":" ts ",\"dur\":" dur \
    ",\"args\":{\"Task Type\":\"AI_CORE\"}},"
#define FLOW(category, phase, id, pid, tid, ts)                                               \
    "{\"ph\":\"" phase "\",\"bp\":\"e\",\"cat\":\"" category "\",\"name\":\"f\",\"id\":\"" id \
    "\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts "},"
#define PROCESSES PROCESS("1", "python") PROCESS("2", "CANN") PROCESS("3", "Ascend Hardware")

static struct format_bundle read_events(const char *events)
{
    char text[8192];
    (void)snprintf(text, sizeof text, "[" PROCESSES "%s{\"ph\":\"i\",\"name\":\"end\",\"ts\":99}]",
                   events);
    return read_text(text);
}

static uint32_t named(const struct trace *trace, const char *name)
{
    for (uint32_t i = 0; i < trace->events.count; i++) {
        if (trace_phase(&trace->events, i) == 'X' && strcmp(event_name(trace, i), name) == 0) {
            return i;
        }
    }
    fail_msg("no %s", name);
    return 0;
}

static int64_t operator_id(const struct trace *trace, const char *name)
{
    return trace_external_id(&trace->events, named(trace, name));
}

static int64_t call_id(const struct trace *trace, const char *name)
{
    return trace_correlation(&trace->events, named(trace, name));
}

static void the_innermost_operator_at_the_begin_of_a_flow_launched(void **state)
{
    struct format_bundle bundle =
        read_events(OPERATOR("outer", "1", "20") OPERATOR("inner", "2", "5")
                        OPERATOR("later", "10", "5") TASK("gemm", "30", "4") TASK("relu", "40", "4")
                            TASK("alone", "50", "4") FLOW("async_npu", "s", "1", "1", "5", "3")
                                FLOW("async_npu", "f", "1", "3", "7", "30")
                                    FLOW("async_npu", "s", "2", "1", "5", "18")
                                        FLOW("async_npu", "f", "2", "3", "7", "40"));
    const struct trace *trace = bundle.items[0].model;
    assert_int_equal(trace->recorded->linked, 2);
    assert_int_not_equal(operator_id(trace, "gemm"), TRACE_NO_ID);
    assert_int_equal(operator_id(trace, "gemm"), operator_id(trace, "inner"));
    assert_int_equal(operator_id(trace, "relu"), operator_id(trace, "outer"));
    assert_int_not_equal(operator_id(trace, "outer"), operator_id(trace, "inner"));
    assert_int_equal(operator_id(trace, "later"), TRACE_NO_ID);
    assert_int_equal(operator_id(trace, "alone"), TRACE_NO_ID);
    format_bundle_free(&bundle);
}

static void calls_are_tied_by_flows_of_their_own(void **state)
{
    struct format_bundle bundle =
        read_events(OPERATOR("op", "1", "20") CALL("launch", "4", "2") TASK("gemm", "30", "4")
                        FLOW("HostToDevice", "s", "9", "2", "5", "4")
                            FLOW("HostToDevice", "f", "9", "3", "7", "30"));
    const struct trace *trace = bundle.items[0].model;
    assert_int_not_equal(call_id(trace, "gemm"), TRACE_NO_ID);
    assert_int_equal(call_id(trace, "gemm"), call_id(trace, "launch"));
    assert_int_equal(operator_id(trace, "gemm"), TRACE_NO_ID);
    format_bundle_free(&bundle);
}

static void flows_that_lead_nowhere_tie_nothing(void **state)
{
    static const char *const flows[] = {
        /* no end; an end without a begin; an end elsewhere; a begin outside of all operators */
        FLOW("async_npu", "s", "1", "1", "5", "3"),
        FLOW("async_npu", "f", "1", "3", "7", "30"),
        FLOW("async_npu", "s", "1", "1", "5", "3") FLOW("async_npu", "f", "1", "3", "8", "30"),
        FLOW("async_npu", "s", "1", "1", "5", "25") FLOW("async_npu", "f", "1", "3", "7", "30"),
    };
    for (size_t i = 0; i < COUNT_OF(flows); i++) {
        char events[2048];
        (void)snprintf(events, sizeof events, "%s%s",
                       OPERATOR("op", "1", "20") TASK("gemm", "30", "4"), flows[i]);
        struct format_bundle bundle = read_events(events);
        const struct trace *trace = bundle.items[0].model;
        if (operator_id(trace, "gemm") != TRACE_NO_ID) {
            fail_msg("flow %zu", i);
        }
        format_bundle_free(&bundle);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_innermost_operator_at_the_begin_of_a_flow_launched),
        cmocka_unit_test(calls_are_tied_by_flows_of_their_own),
        cmocka_unit_test(flows_that_lead_nowhere_tie_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
