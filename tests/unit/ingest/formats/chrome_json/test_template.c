/* Events that come again: what a form says of an event is what is read without it; with and without
 * vectors, at every cut, with every byte changed. */
#include "tests/unit/unit.h"

/* Once more without any vector unit. */
#define KS_BYTES_PLAIN
#include "ingest/formats/chrome_json/scan/template_scan.h"

#include <stdio.h>

#define PADDING_BYTES 64
#define TEXT_BYTES 1024

static const char *scan_plain(struct scan_template *form,
                              const char *begin,
                              const char *end,
                              int64_t *values,
                              int64_t numbers[KINETO_USES])
{
    return scan_by_template(form, begin, end, values, numbers);
}

typedef const char *(*scan_template_fn)(struct scan_template *form,
                                        const char *begin,
                                        const char *end,
                                        int64_t *values,
                                        int64_t numbers[KINETO_USES]);

static size_t list_variants(scan_template_fn variants[2])
{
    size_t count = 0;
    variants[count++] = scan_plain;
    variants[count++] = scan_template_scan;
    return count;
}

/* --- reading without a reader --- */

struct desk {
    struct trace *trace;
    struct text_stream stream;
    struct event_texts log;
    struct kineto_build build;
    struct key_paths paths;
    struct scan_templates forms;
};

static struct desk *begin_reading(void)
{
    struct desk *desk = calloc(1, sizeof *desk);
    assert_non_null(desk);
    desk->trace = trace_create();
    assert_non_null(desk->trace);
    assert_true(event_texts_init(&desk->log));
    assert_true(kineto_build_init(&desk->build, desk->trace, &desk->stream, &desk->log));
    assert_true(key_paths_init(&desk->paths, &desk->build.lookup.texts));
    assert_true(scan_templates_init(&desk->forms));
    return desk;
}

static void end_reading(struct desk *desk)
{
    scan_templates_free(&desk->forms);
    key_paths_free(&desk->paths);
    kineto_build_free(&desk->build);
    event_texts_free(&desk->log);
    trace_destroy(desk->trace);
    free(desk);
}

/* The first `len` bytes in memory of their own; the padding goes on with the text. */
static char *placed(struct desk *desk, const char *text, size_t len)
{
    static const char padding[] = "0123456789.5}}, \"";
    char *memory = malloc(len + PADDING_BYTES);
    assert_non_null(memory);
    memcpy(memory, text, len);
    size_t more = strlen(text) - len;
    for (size_t i = 0; i < PADDING_BYTES; i++) {
        const char *goes_on = i < more ? &text[len + i] : &padding[i % (sizeof padding - 1)];
        memory[len + i] = *goes_on;
    }
    desk->stream =
        (struct text_stream){.at = memory, .window = memory, .end = memory + len, .ended = true};
    return memory;
}

static uint64_t effects(const struct trace *trace)
{
    uint64_t count = (uint64_t)trace->extra_count + trace->collective_count + trace->label_count;
    for (size_t i = 0; i < WARNING_CODE_COUNT; i++) {
        count += trace->warnings.by_code[i].count;
    }
    return count;
}

/* As the reader does with an event that no form was guessed for. */
static void read_text(struct desk *desk, const char *text)
{
    struct kineto_event event;
    const char *bad;
    size_t len = strlen(text);
    char *begin = placed(desk, text, len);
    uint64_t before = effects(desk->trace);
    (void)scan_templates_by_beginning(&desk->forms, begin, begin + len);
    if (key_paths_scan(&desk->paths, &event, desk->paths.values, begin, begin + len)) {
        assert_true(kineto_build_add(&desk->build, &event));
        assert_true(scan_templates_learn(&desk->forms, &desk->paths, &event, desk->paths.values,
                                         &desk->build, effects(desk->trace) == before));
    } else if (kineto_event_scan(&event, &desk->build.members, begin, begin + len, &bad) ==
               JSON_OK) {
        assert_true(kineto_build_add(&desk->build, &event));
        assert_true(key_paths_learn(&desk->paths, &event, NULL));
    }
    free(begin);
}

/* --- comparing --- */

static void check_rows(const struct trace *trace, const char *begin, const char *end)
{
    const struct trace_events *events = &trace->events;
    uint32_t a = events->count - 2;
    uint32_t b = events->count - 1;
    bool is_memory = trace_kind(events, a) == EVENT_MEMORY;
    bool same =
        events->ts_ns[a] == events->ts_ns[b] &&
        trace_dur_ns(events, a) == trace_dur_ns(events, b) &&
        trace_correlation(events, a) == trace_correlation(events, b) &&
        trace_external_id(events, a) == trace_external_id(events, b) &&
        events->name[a] == events->name[b] &&
        trace_event_track(events, a) == trace_event_track(events, b) &&
        trace_index(&events->class, a) == trace_index(&events->class, b) &&
        (is_memory ? memcmp(&trace->memory_args[events->args[a]],
                            &trace->memory_args[events->args[b]], sizeof *trace->memory_args) == 0
                   : events->args[a] == events->args[b]);
    if (!same) {
        fail_msg("another row: %.*s", (int)(end - begin), begin);
    }
}

/* The event of a form, read once more without it. */
static void check_event(struct desk *desk,
                        const struct scan_template *form,
                        const char *begin,
                        const char *end,
                        const int64_t *values,
                        const int64_t numbers[KINETO_USES])
{
    struct kineto_event event;
    struct kineto_event strict;
    const char *bad;
    uint64_t before = effects(desk->trace);
    if (kineto_event_scan(&strict, NULL, begin, end, &bad) != JSON_OK || strict.end != end ||
        !key_paths_scan(&desk->paths, &event, desk->paths.values, begin, end)) {
        fail_msg("not read without its form: %.*s", (int)(end - begin), begin);
    }
    assert_ptr_equal(event.end, end);
    assert_int_equal(form->value_count, desk->paths.end->value_count);
    assert_memory_equal(values, desk->paths.values, form->value_count * sizeof *values);
    assert_true(kineto_build_add_like(&desk->build, &form->row, numbers));
    assert_true(kineto_build_add(&desk->build, &event));
    assert_int_equal(effects(desk->trace), before);
    check_rows(desk->trace, begin, end);
}

/* How many forms the first `len` bytes have. */
static size_t check(struct desk *desk, const char *text, size_t len)
{
    scan_template_fn variants[2];
    size_t variant_count = list_variants(variants);
    char *begin = placed(desk, text, len);
    size_t fitting = 0;
    for (uint32_t i = 0; i < desk->forms.count; i++) {
        struct scan_template *form = &desk->forms.tables->forms[i];
        int64_t values[EVENT_VALUES_MAX];
        int64_t numbers[KINETO_USES];
        const char *first = NULL;
        for (size_t v = 0; v < variant_count; v++) {
            const char *end = variants[v](form, begin, begin + len, values, numbers);
            assert_true(v == 0 || end == first);
            first = end;
            if (end != NULL) {
                check_event(desk, form, begin, end, values, numbers);
            }
        }
        fitting += first != NULL;
    }
    free(begin);
    return fitting;
}

/* --- the tests --- */

/* Each % is a number. */
static const char *const shapes[] = {
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 1, \"tid\": \"7\", "
    "\"ts\": %, \"dur\": %, \"args\": {\"External id\": %, \"Trace iteration\": 3, \"Input "
    "Dims\": [[1, 2], []], \"Call stack\": \"a.py(1): f;b.py(22): a rather long name of a "
    "function;c.py(333): <module>\", \"Sequence number\": %}}",
    "{\"args\": {\"External id\": %, \"correlation\": %, \"device\": 0, \"stream\": 7, \"grid\": "
    "[1, 2, 3], \"blocks per SM\": 2.5}, \"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":"
    "0,\"tid\":7,\"dur\":%,\"ts\":%}",
    "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":2,\"ts\":%,\"s\":\"t\",\"args\":{"
    "\"Addr\":%,\"Bytes\":%,\"Device Id\":-1,\"Device Type\":0,\"Total Allocated\":%}}",
    "{\"ph\": \"s\", \"cat\": \"ac2g\", \"name\": \"ac2g\", \"id\": %, \"pid\": 1, \"tid\": 2, "
    "\"ts\": %}",
    "{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"f\", \"pid\": 1, \"tid\": 2, "
    "\"ts\": "
    "%, \"dur\": %, \"args\": {\"Python id\": %, \"Python parent id\": %, \"Python module id\": "
    "4}}",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"c\", \"pid\": 1, \"tid\": 2, \"ts\": %, "
    "\"dur\": %, \"args\": {\"Collective name\": \"allreduce\", \"external id\": %, \"External "
    "id\": %}}",
    "{\"ph\": \"X\", \"name\": \"no category\", \"id\": %, \"pid\": 1, \"tid\": 2, \"ts\": %}",
    "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": 2, \"ts\": %, \"args\": "
    "{\"name\": \"main\"}}",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"no time\", \"pid\": 1, \"tid\": 2, \"dur\": "
    "%, \"args\": {\"external id\": null, \"External id\": %}}",
};

static const char *const usual[] = {"1", "25", "1743647498123456", "333", "4", "77777"};
static const char *const decimal[] = {"1.5", "2.25", "1743647498123456.789", "0.125", "17.000"};
static const char *const odd[] = {"0",
                                  "-0",
                                  "007",
                                  "-5",
                                  "1e3",
                                  "12.5",
                                  "0.1",
                                  "1.2345",
                                  "-1.5",
                                  "999999999999999.999",
                                  "12345678901234567",
                                  "4611686018427387",
                                  "4611686018427388",
                                  "4611686018427387904",
                                  "-4611686018427387904",
                                  "-4611686018427387905",
                                  "9223372036854775807",
                                  "9223372036854775808",
                                  "922337203685477580.8",
                                  "99999999999999999999",
                                  "1.",
                                  ".5",
                                  "1.5e1",
                                  "\"7\"",
                                  "null",
                                  "true",
                                  "",
                                  "5 "};

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

/* `odd_one_in` 0: never. */
static size_t
fill(const char *shape, uint32_t *seed, bool is_decimal, unsigned odd_one_in, char out[TEXT_BYTES])
{
    size_t len = 0;
    for (const char *at = shape; *at != '\0'; at++) {
        const char *number = is_decimal ? decimal[next_random(seed) % COUNT_OF(decimal)]
                                        : usual[next_random(seed) % COUNT_OF(usual)];
        if (*at != '%') {
            out[len++] = *at;
            continue;
        }
        if (odd_one_in != 0 && next_random(seed) % odd_one_in == 0) {
            number = odd[next_random(seed) % COUNT_OF(odd)];
        }
        len += (size_t)snprintf(out + len, TEXT_BYTES - len, "%s", number);
    }
    out[len] = '\0';
    return len;
}

/* A desk that has met each shape often enough. */
static struct desk *begin_with_forms(uint32_t *seed)
{
    struct desk *desk = begin_reading();
    char text[TEXT_BYTES];
    for (size_t round = 0; round < 24; round++) {
        for (size_t i = 0; i < COUNT_OF(shapes); i++) {
            (void)fill(shapes[i], seed, round % 2 == 1, 0, text);
            read_text(desk, text);
        }
    }
    assert_true(desk->forms.count > 1);
    return desk;
}

static void events_that_come_again_have_a_form(void **state)
{
    uint32_t seed = 3;
    struct desk *desk = begin_with_forms(&seed);
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        char text[TEXT_BYTES];
        size_t len = fill(shapes[i], &seed, false, 0, text);
        /* What does more than to be a row has none. */
        bool has_form = strstr(text, "Collective") == NULL && strstr(text, "no category") == NULL &&
                        strstr(text, "thread_name") == NULL && strstr(text, "no time") == NULL;
        if ((check(desk, text, len) > 0) != has_form) {
            fail_msg("%s: %s", has_form ? "no form" : "a form", text);
        }
    }
    end_reading(desk);
}

static void odd_numbers_are_read_as_without_forms(void **state)
{
    uint32_t seed = 5;
    size_t fitting = 0;
    struct desk *desk = begin_with_forms(&seed);
    for (size_t i = 0; i < 4000; i++) {
        char text[TEXT_BYTES];
        size_t len = fill(shapes[i % COUNT_OF(shapes)], &seed, i % 3 == 0, 4, text);
        fitting += check(desk, text, len);
        if (i % 2 == 0) {
            read_text(desk, text);
        }
    }
    assert_true(fitting > 500);
    end_reading(desk);
}

static void cut_events_have_no_form(void **state)
{
    uint32_t seed = 7;
    struct desk *desk = begin_with_forms(&seed);
    for (size_t i = 0; i < 3 * COUNT_OF(shapes); i++) {
        char text[TEXT_BYTES];
        size_t len = fill(shapes[i % COUNT_OF(shapes)], &seed, i % 2 == 0, 0, text);
        for (size_t cut = 1; cut < len; cut++) {
            assert_int_equal(check(desk, text, cut), 0);
        }
    }
    end_reading(desk);
}

static void changed_events_are_read_as_without_forms(void **state)
{
    static const char bytes[] = "\"\\{}[],: 0e.-x\t\x01|";
    uint32_t seed = 9;
    struct desk *desk = begin_with_forms(&seed);
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        char text[TEXT_BYTES];
        size_t len = fill(shapes[i], &seed, i % 2 == 0, 0, text);
        for (size_t at = 0; at < len; at++) {
            char was = text[at];
            for (size_t b = 0; b < sizeof bytes - 1; b++) {
                text[at] = bytes[b];
                (void)check(desk, text, len);
            }
            text[at] = was;
        }
    }
    end_reading(desk);
}

/* The event at hand, behind events that never came before it; NULL: none. */
static const struct scan_template *
form_behind_others(struct desk *desk, const char *text, size_t len, int64_t numbers[KINETO_USES])
{
    int64_t values[EVENT_VALUES_MAX];
    const struct scan_template *form = NULL;
    char *begin = placed(desk, text, len);
    desk->forms.history += 0x123456789;
    const char *end = scan_templates_read(&desk->forms, begin, begin + len, values, numbers, &form);
    assert_true(end == NULL || end == begin + len);
    free(begin);
    return end == NULL ? NULL : form;
}

static void a_form_is_known_by_its_beginning(void **state)
{
    static const char shape[] =
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::%s\", \"pid\": 1, \"tid\": 2, "
        "\"ts\": %u, \"dur\": 25, \"args\": {\"External id\": 7, \"Fwd thread id\": \"none\"}}";
    static const char *const names[] = {"add", "mul"};
    struct desk *desk = begin_reading();
    const struct scan_template *forms[2];
    int64_t numbers[KINETO_USES];
    char text[TEXT_BYTES];
    for (unsigned i = 0; i < 24; i++) {
        (void)snprintf(text, sizeof text, shape, names[i % 2], 1000 + i);
        read_text(desk, text);
    }
    for (unsigned i = 0; i < 6; i++) {
        size_t len = (size_t)snprintf(text, sizeof text, shape, names[i % 2], 5000 + i);
        const struct scan_template *form = form_behind_others(desk, text, len, numbers);
        assert_non_null(form);
        assert_int_equal(numbers[KINETO_USE_TS], (5000 + i) * 1000);
        assert_true(i < 2 || form == forms[i % 2]);
        forms[i % 2] = form;
        assert_null(form_behind_others(desk, text, 127, numbers));
    }
    assert_ptr_not_equal(forms[0], forms[1]);
    size_t len = (size_t)snprintf(text, sizeof text, shape, "sub", 5000U);
    assert_null(form_behind_others(desk, text, len, numbers));
    end_reading(desk);
}

/* Events that all differ. */
static void memory_is_bounded(void **state)
{
    struct desk *desk = begin_reading();
    for (unsigned i = 0; i < 3 * SCAN_TEMPLATES_MAX; i++) {
        char text[TEXT_BYTES];
        (void)snprintf(text, sizeof text,
                       "{\"ph\": \"X\", \"cat\": \"c\", \"name\": \"%0900u\", \"ts\": 5}", i);
        read_text(desk, text);
        read_text(desk, text);
    }
    assert_true(desk->forms.count <= SCAN_TEMPLATES_MAX);
    assert_true(desk->forms.count > 1000);
    assert_true(scan_templates_memory(&desk->forms) < (size_t)5 << 20);
    end_reading(desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_that_come_again_have_a_form),
        cmocka_unit_test(odd_numbers_are_read_as_without_forms),
        cmocka_unit_test(cut_events_have_no_form),
        cmocka_unit_test(changed_events_are_read_as_without_forms),
        cmocka_unit_test(a_form_is_known_by_its_beginning),
        cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
