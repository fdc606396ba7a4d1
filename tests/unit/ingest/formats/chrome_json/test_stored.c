/* A trace read from its log is the trace that was read from the file: every column, and all that
 * events leave behind besides. */
#include "ingest/formats/format.h"
#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"
#include "tests/unit/ingest/formats/event_log/event_log_fixture.h"
#include "tests/unit/unit.h"

#define VALUES_MAX 256
#define EVENTS_MAX 40000

/* A log in memory, as a sink gets it and a source gives it. */
struct kept_log {
    struct written_log written;
    uint32_t *templates; /* by event */
    int64_t **values;    /* by event */
    struct event_template *kinds;
    uint32_t kind_count;
    char **texts;
    uint32_t *ids;
    uint32_t text_count;
    uint32_t next;
    size_t printed;
    struct event_column columns[VALUES_MAX];
};

static bool keep_batch(void *context,
                       const struct event_log *log,
                       const struct event_batch *batch,
                       struct err *err)
{
    struct kept_log *kept = context;
    const int64_t *values = batch->values;
    for (uint32_t i = 0; i < batch->event_count; i++) {
        uint32_t event = batch->first_event + i;
        uint32_t count = log->templates[batch->templates[i]].value_count;
        assert_true(event < EVENTS_MAX && count <= VALUES_MAX);
        kept->templates[event] = batch->templates[i];
        kept->values[event] = malloc((count + 1) * sizeof *values);
        assert_non_null(kept->values[event]);
        memcpy(kept->values[event], values, count * sizeof *values);
        values += count;
    }
    return take_written(&kept->written, log, batch, err);
}

static bool keep_end(void *context, const struct event_log *log, struct err *err)
{
    struct kept_log *kept = context;
    kept->kind_count = log->template_count;
    kept->kinds = calloc((size_t)log->template_count + 1, sizeof *kept->kinds);
    kept->text_count = strtab_count(log->texts);
    kept->texts = calloc((size_t)kept->text_count + 1, sizeof *kept->texts);
    kept->ids = calloc((size_t)kept->text_count + 1, sizeof *kept->ids);
    assert_true(kept->kinds != NULL && kept->texts != NULL && kept->ids != NULL);
    for (uint32_t i = 0; i < log->template_count; i++) {
        size_t bytes = log->templates[i].slot_count * sizeof(struct event_slot);
        kept->kinds[i] = log->templates[i];
        kept->kinds[i].slots = malloc(bytes + 1);
        assert_non_null(kept->kinds[i].slots);
        memcpy(kept->kinds[i].slots, log->templates[i].slots, bytes);
    }
    for (uint32_t i = 0; i < kept->text_count; i++) {
        kept->texts[i] = strdup(strtab_text(log->texts, i));
        kept->ids[i] = i;
    }
    return end_written(&kept->written, log, err);
}

static bool next_kept(void *context, struct stored_event *out, bool *found, struct err *err)
{
    struct kept_log *kept = context;
    (void)err;
    *found = kept->next < kept->written.count;
    if (!*found) {
        return true;
    }
    const int64_t *values = kept->values[kept->next];
    uint32_t number = kept->templates[kept->next++];
    for (uint32_t i = 0; i < kept->kinds[number].value_count; i++) {
        kept->columns[i] = (struct event_column){.values = &values[i], .stride = 1};
    }
    *out = (struct stored_event){.template_number = number,
                                 .template = &kept->kinds[number],
                                 .keys = (const char *const *)kept->texts,
                                 .columns = kept->columns,
                                 .text_ids = kept->ids};
    return true;
}

static bool print_kept(void *context, const char **text, size_t *len, struct err *err)
{
    struct kept_log *kept = context;
    (void)err;
    kept->printed++;
    *text = kept->written.events[kept->next - 1];
    *len = strlen(*text);
    return true;
}

static void free_kept(struct kept_log *kept)
{
    for (size_t i = 0; i < kept->written.count; i++) {
        free(kept->values[i]);
    }
    for (uint32_t i = 0; i < kept->kind_count; i++) {
        free(kept->kinds[i].slots);
    }
    for (uint32_t i = 0; i < kept->text_count; i++) {
        free(kept->texts[i]);
    }
    free(kept->templates);
    free(kept->values);
    free(kept->kinds);
    free(kept->texts);
    free(kept->ids);
    free_written(&kept->written);
}

static struct format_bundle read_memory(const char *text, const struct format_options *options)
{
    struct err err = ERR_INIT;
    struct input *in = NULL;
    struct format_bundle bundle;
    assert_true(input_open_memory(&in, text, strlen(text), 0, &err));
    if (!format_read(in, options, &bundle, &err)) {
        fail_msg("%s", err.msg);
    }
    input_close(in);
    return bundle;
}

static void same_text(const struct trace *a, uint32_t a_id, const struct trace *b, uint32_t b_id)
{
    assert_string_equal(string_at(a, a_id), string_at(b, b_id));
}

static void same_row(const struct trace *a, const struct trace *b, uint32_t i)
{
    const struct trace_events *x = &a->events;
    const struct trace_events *y = &b->events;
    assert_int_equal(x->ts_ns[i], y->ts_ns[i]);
    assert_int_equal(trace_dur_ns(x, i), trace_dur_ns(y, i));
    assert_int_equal(trace_external_id(x, i), trace_external_id(y, i));
    assert_int_equal(trace_correlation(x, i), trace_correlation(y, i));
    assert_int_equal(trace_kind(x, i), trace_kind(y, i));
    assert_int_equal(trace_flags(x, i), trace_flags(y, i));
    assert_int_equal(trace_phase(x, i), trace_phase(y, i));
    same_text(a, x->name[i], b, y->name[i]);
    same_text(a, a->categories[trace_category(x, i)], b, b->categories[trace_category(y, i)]);
    const struct trace_track *x_track = &a->tracks[trace_event_track(x, i)];
    const struct trace_track *y_track = &b->tracks[trace_event_track(y, i)];
    same_text(a, x_track->pid_text, b, y_track->pid_text);
    same_text(a, x_track->tid_text, b, y_track->tid_text);
    assert_int_equal(x_track->tid_is_text, y_track->tid_is_text);
    /* Texts and arguments get their numbers where they are met first, in both. */
    assert_int_equal(x->args[i], y->args[i]);
}

#define SAME_LIST(list, count)                                                 \
    do {                                                                       \
        assert_int_equal(a->count, b->count);                                  \
        if (a->count > 0) {                                                    \
            assert_memory_equal(a->list, b->list, a->count * sizeof *a->list); \
        }                                                                      \
    } while (0)

static void same_trace(const struct trace *a, const struct trace *b)
{
    assert_int_equal(a->events.count, b->events.count);
    for (uint32_t i = 0; i < a->events.count; i++) {
        same_row(a, b, i);
    }
    assert_int_equal(strtab_count(a->strings), strtab_count(b->strings));
    for (uint32_t i = 0; i < strtab_count(a->strings); i++) {
        same_text(a, i, b, i);
    }
    SAME_LIST(op_args, op_args_count);
    assert_int_equal(a->kernel_args_count, b->kernel_args_count);
    for (uint32_t i = 0; i < a->kernel_args_count; i++) {
        assert_int_equal(a->kernel_args[i].stream, b->kernel_args[i].stream);
        assert_int_equal(a->kernel_args[i].device, b->kernel_args[i].device);
        same_text(a, a->kernel_args[i].grid, b, b->kernel_args[i].grid);
    }
    SAME_LIST(memory_args, memory_args_count);
    SAME_LIST(waits, wait_count);
    assert_int_equal(a->extra_count, b->extra_count);
    assert_int_equal(a->collective_count, b->collective_count);
    assert_int_equal(a->label_count, b->label_count);
    assert_int_equal(a->counter_count, b->counter_count);
    for (uint32_t i = 0; i < a->counter_count; i++) {
        assert_int_equal(a->counters[i].event, b->counters[i].event);
        same_text(a, a->counters[i].series, b, b->counters[i].series);
        assert_true(a->counters[i].value == b->counters[i].value);
    }
    assert_int_equal(a->decimal_times, b->decimal_times);
    assert_int_equal(a->base_time_ns, b->base_time_ns);
    assert_int_equal(a->meta_count, b->meta_count);
    assert_int_equal(warning_total(a), warning_total(b));
}

/* The document twice; gives how many events were read as JSON the second time. */
static size_t check_document(const char *text, bool with_inputs)
{
    struct kept_log kept = {.next = 0};
    kept.templates = calloc(EVENTS_MAX, sizeof *kept.templates);
    kept.values = calloc(EVENTS_MAX, sizeof *kept.values);
    assert_true(kept.templates != NULL && kept.values != NULL);
    kept.written.min_start_ns = INT64_MAX;
    kept.written.max_end_ns = INT64_MIN;
    const struct event_sink sink = {.context = &kept, .take = keep_batch, .end = keep_end};
    const struct format_options from_file = {.events = &sink, .operator_inputs = with_inputs};
    struct format_bundle first = read_memory(text, &from_file);
    const struct event_source source = {.context = &kept,
                                        .event_count = (uint32_t)kept.written.count,
                                        .next = next_kept,
                                        .print = print_kept};
    const struct format_options from_log = {.stored = &source, .operator_inputs = with_inputs};
    struct buf document;
    buf_init(&document, SIZE_MAX / 2);
    buf_printf(&document, "{%s%s\"traceEvents\": []}", kept.written.head,
               *kept.written.head == '\0' ? "" : ", ");
    struct format_bundle second = read_memory(document.ptr, &from_log);
    same_trace(first.items[0].model, second.items[0].model);
    format_bundle_free(&first);
    format_bundle_free(&second);
    buf_free(&document);
    size_t printed = kept.printed;
    free_kept(&kept);
    return printed;
}

static void test_kinds_of_events(void **state)
{
    (void)check_document(
        "{\"baseTimeNanoseconds\": 17, \"x\": 1, \"traceEvents\": ["
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"py\"}},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":1,\"tid\":2,\"ts\":10.5,"
        "\"dur\":3,\"args\":{\"External id\":1,\"Input Dims\":[[2, 3]],\"Ev Idx\":4}},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":1,\"tid\":2,\"ts\":20.125,"
        "\"dur\":4,\"args\":{\"External id\":2,\"Input Dims\":[[2, 3]],\"Ev Idx\":5}},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":1,\"tid\":2,\"ts\":30.12345,"
        "\"dur\":4,\"args\":{\"External id\":3,\"Input Dims\":[[2, 4]],\"Ev Idx\":6}},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":1,\"tid\":2,\"ts\":31.25,"
        "\"dur\":-4,\"args\":{\"External id\":3,\"Input Dims\":[[2, 4]],\"Ev Idx\":6}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":40,\"dur\":1,"
        "\"args\":{\"device\":0,\"stream\":7,\"correlation\":5,\"grid\":[1,1,1],\"bytes\":1}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":41,\"dur\":1,"
        "\"args\":{\"device\":0,\"stream\":8,\"correlation\":6,\"grid\":[1,1,1],\"bytes\":1}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":42,\"dur\":1,"
        "\"args\":{\"device\":0,\"stream\":8,\"correlation\":\"x\",\"grid\":[1,1,1],\"bytes\":1}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Event Sync\",\"pid\":0,\"tid\":7,"
        "\"ts\":43,\"dur\":1,\"args\":{\"stream\":7,\"wait_on_stream\":8,\"correlation\":9,"
        "\"wait_on_cuda_event_record_corr_id\":4}},"
        "{\"ph\":\"C\",\"name\":\"power\",\"pid\":0,\"ts\":44,\"args\":{\"w\":1,\"h\":\"2\"}},"
        "{\"ph\":\"C\",\"name\":\"power\",\"pid\":0,\"ts\":45,\"args\":{\"w\":7,\"h\":1e2}},"
        "{\"ph\":\"C\",\"name\":\"power\",\"pid\":0,\"ts\":46,\"args\":{\"w\":7,\"h\":1e3}},"
        "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":2,"
        "\"ts\":50,\"args\":{\"Addr\":17,\"Bytes\":8,\"Total Allocated\":8,\"Total Reserved\":9,"
        "\"Device Type\":1,\"Device Id\":0}},"
        "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":2,"
        "\"ts\":51,\"args\":{\"Addr\":18,\"Bytes\":-8,\"Total Allocated\":0,\"Total Reserved\":9,"
        "\"Device Type\":1,\"Device Id\":0}},"
        "{\"ph\":\"s\",\"cat\":\"ac2g\",\"id\":5,\"name\":\"ac2g\",\"pid\":1,\"tid\":2,\"ts\":52},"
        "{\"ph\":\"s\",\"cat\":\"ac2g\",\"id\":6,\"name\":\"ac2g\",\"pid\":1,\"tid\":2,\"ts\":53},"
        "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"f\\u00e4.py(1): g\",\"pid\":1,"
        "\"tid\":2,\"ts\":54,\"dur\":1,\"args\":{\"Python id\":1,\"Python parent id\":null,"
        "\"Python module id\":3}},"
        "{\"ph\":\"X\",\"name\":\"no category\",\"pid\":1,\"tid\":\"main\",\"ts\":55,\"dur\":1},"
        "{\"ph\":\"X\",\"name\":\"no category\",\"pid\":1,\"tid\":\"main\",\"ts\":56,\"dur\":1},"
        "{\"ph\":\"X\",\"name\":\"no time\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":2}]}",
        true);
}

static size_t check_many(uint32_t count, uint32_t names)
{
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    buf_puts(&text, "[");
    for (uint32_t i = 0; i < count; i++) {
        buf_printf(&text,
                   "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%u\",\"pid\":1,\"tid\":2,"
                   "\"ts\":%u.5,\"dur\":1,\"args\":{\"External id\":%u,\"unknown\":\"%u\"}}",
                   i == 0 ? "" : ",", (unsigned)(i % names), (unsigned)i, (unsigned)i, (unsigned)i);
    }
    buf_puts(&text, "]");
    size_t printed = check_document(text.ptr, false);
    buf_free(&text);
    return printed;
}

static void test_events_that_come_again(void **state)
{
    /* The first of each name is read as JSON; texts that no row looks at make no difference. */
    assert_int_equal(check_many(10000, 10), 10);
    /* Beyond the bound all forms are forgotten, and those that come again are read again. */
    assert_int_equal(check_many(40000, 35000), 40000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_of_events),
        cmocka_unit_test(test_events_that_come_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
