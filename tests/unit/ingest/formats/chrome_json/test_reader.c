#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"

#include <math.h>
#include <stdio.h>

static void categories_give_kinds(void **state)
{
    static const struct {
        const char *phase;
        const char *category;
        const char *name;
        enum event_kind kind;
    } rows[] = {
        {"X", "cpu_op", "a", EVENT_OPERATOR},
        {"X", "Operator", "a", EVENT_OPERATOR},
        {"X", "CUDA_Runtime", "a", EVENT_RUNTIME},
        {"X", "mtia_runtime", "a", EVENT_RUNTIME},
        {"X", "privateuse1_runtime", "a", EVENT_RUNTIME},
        {"X", "mlu_runtime", "a", EVENT_RUNTIME},
        {"X", "Kernel", "a", EVENT_KERNEL},
        {"X", "gpu_memcpy", "a", EVENT_MEMCPY},
        {"X", "Memset", "a", EVENT_MEMSET},
        {"X", "Trace", "a", EVENT_TRACE_SPAN},
        {"X", "Python", "a", EVENT_PYTHON},
        {"X", "python_function", "a", EVENT_PYTHON_FUNCTION},
        {"X", "Memory", "a", EVENT_MEMORY},
        {"X", "user_annotation", "a", EVENT_USER_ANNOTATION},
        {"X", "mlu_user_annotation", "a", EVENT_GPU_USER_ANNOTATION},
        {"X", "cuda_driver", "a", EVENT_DRIVER},
        {"X", "cuda_sync", "a", EVENT_OTHER},
        {"X", "fwdbwd", "a", EVENT_OTHER},
        {"B", "cpu_op", "a", EVENT_OTHER},
        {"M", "cpu_op", "a", EVENT_OTHER},
        {"C", "kernel", "a", EVENT_OTHER},
        {"i", "cpu_instant_event", "[memory]", EVENT_MEMORY},
        {"i", "cpu_instant_event", "memory", EVENT_OTHER},
        {"i", "fwdbwd", "[memory]", EVENT_OTHER},
        {"i", "forward_backward", "[memory]", EVENT_OTHER},
        {"s", "fwdbwd", "a", EVENT_FLOW_FWDBWD},
        {"f", "forward_backward", "a", EVENT_FLOW_FWDBWD},
        {"f", "FwdBwd", "a", EVENT_FLOW},
        {"t", "ac2g", "a", EVENT_FLOW},
        {"s", "async", "a", EVENT_FLOW},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[300];
        (void)snprintf(
            text, sizeof text,
            "[{\"ph\":\"%s\",\"cat\":\"%s\",\"name\":\"%s\",\"ts\":1,\"pid\":1,\"tid\":2}]",
            rows[i].phase, rows[i].category, rows[i].name);
        struct format_bundle bundle = read_text(text);
        const struct trace *trace = bundle.items[0].model;
        if (trace_kind(&trace->events, 0) != rows[i].kind) {
            fail_msg("%s", text);
        }
        assert_string_equal(string_at(trace, trace->categories[trace_category(&trace->events, 0)]),
                            rows[i].category);
        assert_int_equal(trace_phase(&trace->events, 0), rows[i].phase[0]);
        format_bundle_free(&bundle);
    }
}

/* As export_chrome_trace of torch.autograd.profiler wrote before Kineto. */
static void events_without_categories_are_placed_by_their_process(void **state)
{
    static const char text[] =
        "[{\"name\":\"ProfilerStep#1\",\"ph\":\"X\",\"ts\":1,\"dur\":9,\"tid\":1,\"pid\":\"CPU "
        "functions\"},"
        "{\"name\":\"aten::mm\",\"ph\":\"X\",\"ts\":2,\"dur\":5,\"tid\":1,\"pid\":\"CPU "
        "functions\",\"args\":{}},"
        "{\"name\":\"aten::mm\",\"ph\":\"s\",\"ts\":2,\"tid\":1,\"pid\":\"CPU functions\",\"id\":0,"
        "\"cat\":\"cpu_to_cuda\"},"
        "{\"name\":\"gemm\",\"ph\":\"X\",\"ts\":4,\"dur\":2,\"tid\":3,\"pid\":\"CUDA "
        "functions\",\"args\":{}},"
        "{\"name\":\"gemm\",\"ph\":\"f\",\"ts\":4,\"tid\":3,\"pid\":\"CUDA functions\",\"id\":0,"
        "\"cat\":\"cpu_to_cuda\"},"
        "{\"name\":\"relu\",\"ph\":\"X\",\"ts\":7,\"dur\":2,\"tid\":3,\"pid\":\"CUDA "
        "functions\",\"args\":{}},"
        "{\"name\":\"aten::mm\",\"ph\":\"X\",\"ts\":2,\"dur\":5,\"tid\":1,\"pid\":\"others\","
        "\"args\":{}}]";
    static const enum event_kind kinds[] = {
        EVENT_USER_ANNOTATION, EVENT_OPERATOR, EVENT_FLOW, EVENT_KERNEL, EVENT_FLOW,
        EVENT_KERNEL,          EVENT_OTHER};
    struct format_bundle bundle = read_text(text);
    const struct trace *trace = bundle.items[0].model;
    assert_int_equal(trace->events.count, COUNT_OF(kinds));
    for (uint32_t i = 0; i < COUNT_OF(kinds); i++) {
        assert_int_equal(trace_kind(&trace->events, i), kinds[i]);
    }
    assert_string_equal(string_at(trace, trace->categories[trace_category(&trace->events, 1)]),
                        "cpu_op");
    assert_string_equal(string_at(trace, trace->op_args[trace->events.args[1]].shape), "[]");
    assert_int_equal(trace->kernel_args[trace->events.args[3]].device, 3);
    /* The arrow leads from the operator to the first kernel. */
    assert_true(trace_external_id(&trace->events, 1) != TRACE_NO_ID);
    assert_true(trace_external_id(&trace->events, 1) == trace_external_id(&trace->events, 3));
    assert_true(trace_external_id(&trace->events, 0) == TRACE_NO_ID);
    assert_true(trace_external_id(&trace->events, 5) == TRACE_NO_ID);
    assert_int_equal(trace->warnings.by_code[WARN_NO_CATEGORY].count, 5);
    format_bundle_free(&bundle);
}

static void fields_become_columns(void **state)
{
    struct format_bundle bundle = read_text(
        "{\"traceEvents\": [\n"
        "  {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::\\u00e9\", \"pid\": 7, \"tid\": "
        "\"25738\",\n"
        "   \"ts\": 1712195495519689.047, \"dur\": 63.813,\n"
        "   \"args\": {\"External id\": 5, \"external id\": 6, \"Input Dims\": [[2,8],[]],\n"
        "              \"Call stack\": \"a;\\nb\", \"Input type\": [\"float\"]}},\n"
        "  {\"name\": \"m\", \"ph\": \"X\", \"cat\": \"cpu_op\", \"ts\": 3, \"pid\": \"Spans\", "
        "\"tid\": \"stream 7\"},\n"
        "  {\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"ts\": \"17\", \"dur\": -4, \"name\": "
        "\"l\", \"pid\": 7, \"tid\": 25738,"
        "   \"args\": {\"correlation\": 99, \"External id\": null}},\n"
        "  {\"ph\": \"f\", \"cat\": \"ac2g\", \"id\": 99, \"name\": \"x\", \"ts\": 3, \"bp\": "
        "\"e\"}\n"
        "]}");
    const struct trace *trace = bundle.items[0].model;
    const struct trace_events *events = &trace->events;
    assert_int_equal(events->count, 4);
    assert_true(events->ts_ns[0] == 1712195495519689047);
    assert_int_equal(trace_dur_ns(events, 0), 63813);
    assert_int_equal(trace_external_id(events, 0), 6);
    assert_true(trace_correlation(events, 0) == TRACE_NO_ID);
    assert_int_equal(trace_flags(events, 0), EVENT_HAS_DUR | EVENT_TID_IS_TEXT);
    assert_string_equal(event_name(trace, 0), "aten::\xC3\xA9");
    const struct op_args *op = &trace->op_args[events->args[0]];
    assert_string_equal(string_at(trace, op->shape), "[[2, 8], []]");
    assert_string_equal(string_at(trace, op->call_stack), "a;\nb");
    assert_string_equal(string_at(trace, op->input_types), "['float']");
    const struct trace_track *track = &trace->tracks[trace_event_track(events, 0)];
    assert_true(track->pid_is_int && track->pid_int_valid && track->pid_int == 7);
    assert_true(track->tid_is_text && track->tid_int_valid && track->tid_int == 25738);

    op = &trace->op_args[events->args[1]];
    assert_string_equal(string_at(trace, op->shape), "[]");
    assert_string_equal(string_at(trace, op->call_stack), "");
    assert_true(op->input_types == STRTAB_NONE);
    track = &trace->tracks[trace_event_track(events, 1)];
    assert_false(track->tid_int_valid);
    assert_string_equal(string_at(trace, track->pid_text), "Spans");
    assert_int_equal(trace_flags(events, 1) & EVENT_HAS_DUR, 0);

    assert_int_equal(events->ts_ns[2], 17000);
    assert_int_equal(trace_dur_ns(events, 2), 0);
    assert_int_equal(trace_correlation(events, 2), 99);
    assert_true(trace_external_id(events, 2) == TRACE_NO_ID);
    assert_int_equal(trace->warnings.by_code[WARN_NEGATIVE_DURATION].count, 1);
    assert_int_not_equal(trace_event_track(events, 2), trace_event_track(events, 0));
    assert_int_equal(trace_correlation(events, 3), 99);
    assert_true(trace->decimal_times);
    format_bundle_free(&bundle);
}

static void kernel_arguments_are_kept(void **state)
{
    struct format_bundle bundle = read_text(
        "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":2,\"pid\":0,\"tid\":7,"
        "\"args\":{"
        "\"device\":3,\"stream\":7,\"correlation\":8,\"grid\":[1,2,3],\"block\":[128, 1, 1],"
        "\"registers per thread\":32,\"shared memory\":0,\"blocks per SM\":0.5,"
        "\"est. achieved occupancy %\":20}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":2,\"pid\":0,\"tid\":7,"
        "\"args\":{"
        "\"device\":\"0\",\"stream\":null,\"kernel "
        "type\":\"UNION1\",\"dimx\":16,\"dimz\":4,\"tasktopo\":2,"
        "\"blocks per SM\":null}},"
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"c\",\"ts\":1,\"dur\":2,\"pid\":0,\"tid\":"
        "7,\"args\":{"
        "\"bytes\":4096,\"device\":1,\"stream\":\"19\"}}]");
    const struct trace *trace = bundle.items[0].model;
    const struct kernel_args *args = &trace->kernel_args[trace->events.args[0]];
    assert_int_equal(args->device, 3);
    assert_int_equal(args->stream, 7);
    assert_true(args->size_bytes == TRACE_NO_ID);
    assert_string_equal(string_at(trace, args->grid), "[1, 2, 3]");
    assert_string_equal(string_at(trace, args->registers_per_thread), "32");
    assert_true(args->blocks_per_sm > 0.49 && args->occupancy_pct > 19.9);
    assert_true(args->dim == STRTAB_NONE);
    args = &trace->kernel_args[trace->events.args[1]];
    assert_true(args->device == TRACE_NO_ID && args->stream == TRACE_NO_ID);
    assert_true(isnan(args->blocks_per_sm) && isnan(args->occupancy_pct));
    assert_string_equal(string_at(trace, args->dim), "[16, None, 4]");
    assert_string_equal(string_at(trace, args->kernel_type), "UNION1");
    assert_string_equal(string_at(trace, args->tasktopo), "2");
    args = &trace->kernel_args[trace->events.args[2]];
    assert_int_equal(args->size_bytes, 4096);
    assert_int_equal(args->stream, 19);
    format_bundle_free(&bundle);
}

static void memory_modules_and_labels_are_kept(void **state)
{
    struct format_bundle bundle = read_text(
        "[{\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":1,\"pid\":0,\"tid\":7,\"args\":{\"Device "
        "Type\":1,"
        "\"Device Id\":0,\"Addr\":18446744073709551615,\"Bytes\":-512,\"Total Allocated\":1024.0}},"
        "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"nn.Module: "
        "L\",\"ts\":1,\"dur\":2,\"pid\":0,"
        "\"tid\":7,\"args\":{\"Python id\":5,\"Python parent id\":3,\"Python module id\":2}},"
        "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"f\",\"ts\":1,\"dur\":2,\"pid\":0,"
        "\"tid\":7,"
        "\"args\":{\"Python id\":6,\"Python parent id\":null}},"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":7,\"args\":{\"name\":\"stream "
        "7\"}},"
        "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":0,\"tid\":0,\"args\":{\"labels\":\"GPU "
        "0\"}},"
        "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":0,\"tid\":0,\"args\":{\"sort_"
        "index\":1}}]");
    const struct trace *trace = bundle.items[0].model;
    const struct trace_events *events = &trace->events;
    const struct memory_args *memory = &trace->memory_args[events->args[0]];
    assert_int_equal(memory->addr, -1);
    assert_int_equal(memory->size_bytes, -512);
    assert_int_equal(memory->total_allocated_bytes, 1024);
    assert_int_equal(memory->has, MEMORY_HAS_ADDR | MEMORY_HAS_ALLOCATED | MEMORY_HAS_DEVICE_TYPE |
                                      MEMORY_HAS_DEVICE_ID);
    assert_int_equal(events->args[1], 2);
    assert_int_equal(trace_correlation(events, 1), 5);
    assert_int_equal(trace_external_id(events, 1), 3);
    assert_true((trace_flags(events, 1) & EVENT_MODULE) != 0 &&
                (trace_flags(events, 2) & EVENT_MODULE) == 0);
    assert_true(events->args[2] == TRACE_NO_ARGS && trace_external_id(events, 2) == TRACE_NO_ID);
    assert_int_equal(trace->label_count, 3);
    assert_string_equal(string_at(trace, trace->labels[0].kind_name), "thread_name");
    assert_string_equal(string_at(trace, trace->labels[0].label), "stream 7");
    assert_string_equal(string_at(trace, trace->labels[1].label), "GPU 0");
    assert_string_equal(string_at(trace, trace->labels[2].label), "1");
    assert_true((trace_flags(events, 3) & EVENT_NO_TS) != 0);
    assert_int_equal(warning_total(trace), 0);
    format_bundle_free(&bundle);
}

static void ids_that_are_texts_are_unique(void **state)
{
    struct format_bundle bundle =
        read_text("[{\"ph\":\"s\",\"id\":\"0x1\",\"ts\":1,\"name\":\"a\"},"
                  "{\"ph\":\"f\",\"id\":\"0x1\",\"ts\":1,\"name\":\"a\"},"
                  "{\"ph\":\"f\",\"id\":\"1\",\"ts\":1,\"name\":\"a\"},"
                  "{\"ph\":\"f\",\"id\":1.0,\"ts\":1,\"name\":\"a\"},"
                  "{\"ph\":\"f\",\"id\":18446744073709551615,\"ts\":1,\"name\":\"a\"}]");
    int64_t ids[5];
    for (uint32_t i = 0; i < 5; i++) {
        ids[i] = trace_correlation(&bundle.items[0].model->events, i);
    }
    assert_true(ids[0] < 0 && ids[0] == ids[1] && ids[2] < 0 && ids[2] != ids[0]);
    assert_true(ids[3] == 1 && ids[4] < 0);
    format_bundle_free(&bundle);
}

static void the_top_level_is_kept(void **state)
{
    struct format_bundle bundle = read_text(
        "\xEF\xBB\xBF{\"schemaVersion\": 1, \"Framework\": \"pytorch-lightning\",\n"
        "\"deviceProperties\": [{\"id\": 0, \"name\": \"V100\", \"totalGlobalMem\": 34079637504,"
        "\"computeMajor\": 7, \"computeMinor\": 0, \"numSms\": 80, \"regs\": [1]}, {\"id\": 1}],\n"
        "\"traceEvents\": [{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"cpu_op\",\"ts\":1}],\n"
        "\"INFO\": [\"a [ \\\" {\", {\"x\": [1]}],\n"
        "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": \"8\","
        "\"pg_config\": [{\"ranks\": [0]}]},\n"
        "\"with_stack\": true, \"traceName\": \"/tmp/a\\\\b\", \"baseTimeNanoseconds\": "
        "1735632360000000000}\n");
    const struct trace *trace = bundle.items[0].model;
    assert_string_equal(bundle.format, "chrome-trace");
    assert_null(bundle.items[0].worker);
    assert_string_equal(trace->framework, "pytorch-lightning");
    assert_true(trace->base_time_ns == 1735632360000000000);
    assert_int_equal(trace->distributed_rank, 3);
    assert_int_equal(trace->distributed_world_size, 8);
    assert_string_equal(trace->distributed_backend, "nccl");
    assert_true(trace->has_device_properties);
    assert_int_equal(trace->device_count, 2);
    assert_string_equal(trace->devices[0].name, "V100");
    assert_int_equal(trace->devices[0].sm_count, 80);
    assert_int_equal(trace->devices[1].has, DEVICE_HAS_ID);
    static const char *const meta[][2] = {{"schemaVersion", "1"},
                                          {"Framework", "pytorch-lightning"},
                                          {"distributedInfo.backend", "nccl"},
                                          {"distributedInfo.rank", "3"},
                                          {"distributedInfo.world_size", "8"},
                                          {"with_stack", "true"},
                                          {"traceName", "/tmp/a\\b"},
                                          {"baseTimeNanoseconds", "1735632360000000000"}};
    assert_int_equal(trace->meta_count, COUNT_OF(meta));
    for (size_t i = 0; i < COUNT_OF(meta); i++) {
        assert_string_equal(trace->meta[i].key, meta[i][0]);
        assert_string_equal(trace->meta[i].value, meta[i][1]);
    }
    assert_int_equal(warning_total(trace), 0);
    format_bundle_free(&bundle);
}

static void lists_without_an_object_are_read(void **state)
{
    static const struct {
        const char *text;
        uint32_t events;
        int warning; /* -1: none */
    } rows[] = {
        {"[{\"ph\":\"X\",\"cat\":\"a\",\"ts\":1},{\"ph\":\"i\",\"ts\":2}]", 2, -1},
        {"{\"ph\":\"X\",\"cat\":\"a\",\"ts\":1},\n{\"ph\":\"i\",\"ts\":2}\n", 2, -1},
        {"{\"ph\":\"X\",\"cat\":\"a\",\"ts\":1}\n{\"ph\":\"i\",\"ts\":2}", 2, -1},
        {"{\"ph\":\"X\",\"cat\":\"a\",\"ts\":1},\n{\"ph\":\"i\",\"ts\":2}]", 2, -1},
        {"[{\"ph\":\"i\",\"ts\":2},\n{\"ph\":\"i\",\"ts\":2}", 2, WARN_TRUNCATED},
        {"{\"other\": [1], \"events\": [{\"ph\":\"i\",\"ts\":2}]}", 1, WARN_NO_TRACE_EVENTS_KEY},
        {"{\"traceEvents\": [{\"ph\":\"i\",\"ts\":2}], \"more\": [{\"ph\":\"i\"}]}", 1, -1},
        {"[{\"ph\":\"i\",\"ts\":2}] garbage", 1, WARN_TRAILING},
        {"{\"traceEvents\": [{\"ph\":\"i\",\"ts\":2}]} x", 1, WARN_TRAILING},
        {"{\"traceEvents\": [{\"ph\":\"i\",\"ts\":2}]", 1, WARN_TRUNCATED},
        {"{\"traceEvents\": [{\"ph\":\"i\",\"ts\":2}], \"a\": [1, ", 1, WARN_TRUNCATED},
        {"{\"traceEvents\": [{\"ph\":\"X\",\"ts\":2}]}", 1, WARN_NO_CATEGORY},
        {"{\"traceEvents\": [{\"ph\":\"i\",\"ts\":null}]}", 1, WARN_NO_TIMESTAMP},
        {"{\"traceEvents\": [{\"ph\":\"i\",\"ts\":1e30}]}", 1, WARN_TIME_RANGE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct format_bundle bundle = read_text(rows[i].text);
        const struct trace *trace = bundle.items[0].model;
        uint64_t expected = rows[i].warning >= 0;
        uint64_t counted = expected ? trace->warnings.by_code[rows[i].warning].count : 0;
        if (trace->events.count != rows[i].events || counted != expected ||
            warning_total(trace) != expected) {
            fail_msg("%s: %d events, %d warnings", rows[i].text, (int)trace->events.count,
                     (int)warning_total(trace));
        }
        format_bundle_free(&bundle);
    }
}

static void far_record_window_ends_are_left_out(void **state)
{
    static const char form[] =
        "[{\"ph\":\"i\",\"name\":\"Iteration Start: PyTorch Profiler\",\"ts\":100},"
        "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"Record Window End\",\"ts\":%s}]";
    static const struct {
        const char *ts;
        bool left_out;
    } rows[] = {{"86400100", false}, {"86400100.001", true}, {"90000000100", true}, {"50", false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[300];
        (void)snprintf(text, sizeof text, form, rows[i].ts);
        struct format_bundle bundle = read_text(text);
        const struct trace *trace = bundle.items[0].model;
        assert_int_equal(trace->warnings.by_code[WARN_RECORD_WINDOW].count, rows[i].left_out);
        assert_int_equal(trace_kind(&trace->events, 1),
                         rows[i].left_out ? EVENT_OTHER : EVENT_TRACE_SPAN);
        assert_int_equal((trace_flags(&trace->events, 1) & EVENT_NO_TS) != 0, rows[i].left_out);
        format_bundle_free(&bundle);
    }
}

static void the_memory_budget_is_kept(void **state)
{
    enum { EVENTS = 60000, EVENT_BYTES = 60 };
    size_t len = 0;
    char *text = malloc((size_t)EVENTS * EVENT_BYTES);
    assert_non_null(text);
    text[len++] = '[';
    for (int i = 0; i < EVENTS; i++) {
        len += (size_t)snprintf(text + len, EVENT_BYTES,
                                "{\"ph\":\"i\",\"ts\":%d,\"name\":\"n%d\"},", i, i);
    }
    struct input *in;
    struct err err = ERR_INIT;
    struct format_bundle bundle;
    assert_true(input_open_memory(&in, text, len, 65536, &err));
    assert_false(format_read(
        in, &(const struct format_options){.memory_budget_bytes = (size_t)1 << 20}, &bundle, &err));
    assert_int_equal(err.code, ERR_TOO_LARGE);
    assert_non_null(strstr(err.msg, "1 MiB"));
    assert_int_equal(bundle.item_count, 0);
    input_close(in);
    free(text);
}

#define KNOWN_EVENTS 5000

/* Events that are like ones before are not checked again, whatever stands between and behind them.
 */
static void bytes_that_are_no_utf8_are_counted_where_they_stand(void **state)
{
    static const char known[] = "{\"ph\": \"X\", \"name\": \"\xC3\xA9\", \"ts\": 1},\n";
    static const char *const places[] = {
        "{\"ph\": \"X\", \"name\": \"\xC3\xA9\xFF\", \"ts\": 1},\n", /* in a new text */
        "{\"ph\": \"X\", \"\xFF\": 1},\n",                           /* in a key */
        "{\"ph\": \"X\", \"name\": \"\xC3\", \"ts\": 1},\n",         /* a known one cut off */
        "\xFF,\n",
        "{\"ph\": \"X\", \"name\": \"\xFF\" \"ts\": 1},\n", /* damaged */
    };
    static const size_t block_sizes[] = {500, 4096, 10007};
    static char
        text[KNOWN_EVENTS * sizeof known + 1024]; /* more than the beginning, which is checked */
    for (size_t i = 0; i < COUNT_OF(places) * COUNT_OF(block_sizes); i++) {
        const char *place = places[i / COUNT_OF(block_sizes)];
        char *at = stpcpy(text, "[");
        for (int n = 0; n < KNOWN_EVENTS; n++) {
            at = stpcpy(at, known);
        }
        const char *first = at + strcspn(place, "\xFF");
        first = place[first - at] == '\0' ? at + (strstr(place, "\xC3\"") - place) : first;
        at = stpcpy(stpcpy(stpcpy(at, place), known), known);
        strcpy(at, "{\"ph\": \"X\", \"name\": \"z\", \"ts\": 2}] \xFF");
        struct err err = ERR_INIT;
        struct format_bundle bundle;
        assert_true(
            read_bytes(text, strlen(text), block_sizes[i % COUNT_OF(block_sizes)], &bundle, &err));
        const struct trace *trace = bundle.items[0].model;
        assert_int_equal(trace->warnings.by_code[WARN_UTF8].count, 2);
        assert_int_equal(trace->warnings.by_code[WARN_UTF8].first_offset, first - text);
        assert_string_equal(event_name(trace, 5), "\xC3\xA9");
        assert_string_equal(event_name(trace, trace->events.count - 2), "\xC3\xA9");
        format_bundle_free(&bundle);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(categories_give_kinds),
        cmocka_unit_test(events_without_categories_are_placed_by_their_process),
        cmocka_unit_test(fields_become_columns),
        cmocka_unit_test(kernel_arguments_are_kept),
        cmocka_unit_test(memory_modules_and_labels_are_kept),
        cmocka_unit_test(ids_that_are_texts_are_unique),
        cmocka_unit_test(the_top_level_is_kept),
        cmocka_unit_test(lists_without_an_object_are_read),
        cmocka_unit_test(far_record_window_ends_are_left_out),
        cmocka_unit_test(the_memory_budget_is_kept),
        cmocka_unit_test(bytes_that_are_no_utf8_are_counted_where_they_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
