/* Cut and changed files: nothing crashes, every whole event before the damage is read, and the
 * reader finds its way back. */
#include "ingest/base/text/buf.h"
#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"

#include <stdio.h>

#define NO_CEILING SIZE_MAX

static const char sample[] =
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"GPU\"}],\n"
    "\"traceEvents\": [\n"
    "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"tid\": 0, \"args\": {\"name\": "
    "\"python\"}},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 1, \"tid\": 2, \"ts\": "
    "10.125, \"dur\": 5,\n"
    "  \"args\": {\"External id\": 3, \"Input Dims\": [[2, 3], []], \"Input type\": [\"float\", "
    "\"\"]}},\n"
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, "
    "\"tid\": 2, \"ts\": 11,\n"
    "  \"dur\": 1, \"args\": {\"correlation\": 7, \"External id\": 3}},\n"
    "{\"ph\": \"s\", \"id\": 7, \"pid\": 1, \"tid\": 2, \"ts\": 11, \"cat\": \"ac2g\", \"name\": "
    "\"ac2g\"},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void k<int>(\\\"x\\\", \xC3\xA9)\", \"pid\": "
    "0, \"tid\": \"stream 7\",\n"
    "  \"ts\": 13, \"dur\": 2, \"args\": {\"correlation\": 7, \"grid\": [1, 1, 1], \"blocks per "
    "SM\": 0.5}},\n"
    "{\"ph\": \"i\", \"name\": \"[memory]\", \"pid\": 1, \"tid\": 2, \"ts\": 14, \"args\": "
    "{\"Bytes\": -512}}\n"
    "],\n\"traceName\": \"x.json\", \"baseTimeNanoseconds\": 1000}\n";

/* Where each event ends in the sample, found by its bracket depth. */
static size_t event_ends(const char *text, size_t ends[], size_t max)
{
    size_t count = 0;
    int depth = 0;
    bool in_string = false;
    for (size_t i = 0; text[i] != '\0'; i++) {
        if (in_string && text[i] == '\\') {
            i++;
        } else if (text[i] == '"') {
            in_string = !in_string;
        } else if (!in_string && strchr("{[", text[i]) != NULL) {
            depth++;
        } else if (!in_string && strchr("}]", text[i]) != NULL) {
            depth--;
            if (depth == 2 && text[i] == '}' && i > (size_t)(strstr(text, "traceEvents") - text)) {
                assert_true(count < max);
                ends[count++] = i + 1;
            }
        }
    }
    return count;
}

static void a_cut_file_is_read_to_its_last_whole_event(void **state)
{
    size_t ends[16];
    size_t event_count = event_ends(sample, ends, COUNT_OF(ends));
    assert_int_equal(event_count, 6);
    for (size_t cut = 0; cut < sizeof sample - 3; cut += unit_stride()) {
        size_t whole = 0;
        while (whole < event_count && ends[whole] <= cut) {
            whole++;
        }
        struct err err = ERR_INIT;
        struct format_bundle bundle;
        bool good = read_bytes(sample, cut, cut % 3 == 0 ? 7 : 0, &bundle, &err);
        assert_int_equal(good, whole > 0);
        if (!good) {
            assert_true(err.code == ERR_UNSUPPORTED || err.code == ERR_BAD_INPUT);
            continue;
        }
        const struct trace *trace = bundle.items[0].model;
        assert_int_equal(trace->events.count, whole);
        assert_int_equal(trace->warnings.by_code[WARN_TRUNCATED].count, 1);
        assert_int_equal(warning_total(trace) - trace->warnings.by_code[WARN_UTF8].count, 1);
        uint64_t offset = trace->warnings.by_code[WARN_TRUNCATED].first_offset;
        assert_in_range(offset, ends[whole - 1], cut);
        bool within_event =
            whole < event_count && strchr(sample + ends[whole - 1], '{') < sample + cut;
        if (within_event) {
            assert_int_equal(offset, strchr(sample + ends[whole - 1], '{') - sample);
        }
        format_bundle_free(&bundle);
    }
}

static void equal_models(const struct trace *a, const struct trace *b)
{
    assert_int_equal(a->events.count, b->events.count);
    assert_int_equal(a->meta_count, b->meta_count);
    assert_true(a->base_time_ns == b->base_time_ns);
    for (uint32_t i = 0; i < a->events.count; i++) {
        assert_true(a->events.ts_ns[i] == b->events.ts_ns[i]);
        assert_true(trace_dur_ns(&a->events, i) == trace_dur_ns(&b->events, i));
        assert_true(trace_correlation(&a->events, i) == trace_correlation(&b->events, i));
        assert_true(trace_external_id(&a->events, i) == trace_external_id(&b->events, i));
        assert_int_equal(trace_kind(&a->events, i), trace_kind(&b->events, i));
        assert_int_equal(trace_flags(&a->events, i), trace_flags(&b->events, i));
        assert_int_equal(a->events.args[i], b->events.args[i]);
        assert_int_equal(trace_event_track(&a->events, i), trace_event_track(&b->events, i));
        assert_string_equal(event_name(a, i), event_name(b, i));
    }
    for (int i = 0; i < WARNING_CODE_COUNT; i++) {
        assert_int_equal(a->warnings.by_code[i].count, b->warnings.by_code[i].count);
        if (a->warnings.by_code[i].count != 0) {
            assert_true(a->warnings.by_code[i].first_offset == b->warnings.by_code[i].first_offset);
        }
    }
}

static void sweep_blocks(const char *text, size_t len)
{
    static const size_t blocks[] = {1, 7, 64, 4096};
    struct err err = ERR_INIT;
    struct format_bundle whole;
    if (!read_bytes(text, len, 0, &whole, &err)) {
        return;
    }
    for (size_t i = 0; i < COUNT_OF(blocks); i++) {
        struct format_bundle parts;
        assert_true(read_bytes(text, len, blocks[i], &parts, &err));
        equal_models(whole.items[0].model, parts.items[0].model);
        format_bundle_free(&parts);
    }
    format_bundle_free(&whole);
}

static void blocks_of_any_size_give_the_same_model(void **state)
{
    static const char *const texts[] = {
        sample,
        "[{\"ph\":\"X\",\"cat\":\"a\",\"name\":\"say \"hi\" "
        "\\x\",\"ts\":1},{\"ph\":?},{\"ph\":\"i\",\"ts\":N/A}]",
        "{\"ph\":\"i\",\"ts\":1,\"name\":\"\xE2\x82\xAC\xFF\xE2\x82\"}\n{\"ph\":\"i\",\"ts\":2}\n",
        "{\"INFO\": [\"abc], \"traceEvents\": [{\"ph\":\"i\",\"ts\":2}], \"traceName\": \"a\\\\\"} "
        "x",
        "{\"x\": [[1, {\"a\": \"\\\\\"}], 2], \"list\": [{\"ph\":\"i\",\"ts\":1e3}, x, "
        "{\"ph\":\"i\",\"ts\":-1}",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        sweep_blocks(texts[i], strlen(texts[i]));
    }
}

/* Each byte in turn becomes another. At most the event and its neighbour are lost. */
static void a_changed_byte_costs_at_most_two_events(void **state)
{
    static const char others[] = "\"\\{}[],:x0 \n\x01\xFF";
    char text[sizeof sample];
    size_t events_at = (size_t)(strstr(sample, "{\"ph\"") - sample);
    for (size_t at = events_at; at < sizeof sample - 1; at += unit_stride()) {
        for (size_t i = 0; i < sizeof others - 1; i++) {
            memcpy(text, sample, sizeof sample);
            text[at] = others[i];
            struct err err = ERR_INIT;
            struct format_bundle bundle;
            assert_true(read_bytes(text, sizeof sample - 1, 0, &bundle, &err));
            uint32_t count = bundle.items[0].model->events.count;
            if (count < 4 || count > 7) {
                fail_msg("byte %d to %c: %d events", (int)at, others[i], (int)count);
            }
            format_bundle_free(&bundle);
        }
    }
}

static void changed_bytes_before_the_events_cost_none(void **state)
{
    static const char others[] = "\"\\{}[],:x";
    char text[sizeof sample];
    size_t events_at = (size_t)(strstr(sample, "{\"ph\"") - sample);
    for (size_t at = 1; at < events_at; at += unit_stride()) {
        for (size_t i = 0; i < sizeof others - 1; i++) {
            memcpy(text, sample, sizeof sample);
            text[at] = others[i];
            struct err err = ERR_INIT;
            struct format_bundle bundle;
            if (!read_bytes(text, sizeof sample - 1, 0, &bundle, &err)) {
                fail_msg("byte %d to %c: %s", (int)at, others[i], err.msg);
            }
            assert_in_range(bundle.items[0].model->events.count, 5, 6);
            format_bundle_free(&bundle);
        }
    }
}

static void garbage_between_events_is_skipped(void **state)
{
    struct format_bundle bundle =
        read_text("[{\"ph\":\"i\",\"ts\":1}, @@ {\"x\": 1} #,{\"ph\":\"i\",\"ts\":2}]");
    const struct trace *trace = bundle.items[0].model;
    assert_int_equal(trace->events.count, 2);
    assert_int_equal(trace->warnings.by_code[WARN_SKIPPED_BYTES].count, 14);
    assert_int_equal(trace->warnings.by_code[WARN_SKIPPED_BYTES].first_offset, 20);
    format_bundle_free(&bundle);
}

/* An event beyond 64 MB is left out, and the memory for it stays bounded. */
static void oversized_events_are_left_out(void **state)
{
    enum { HUGE_BYTES = 70 << 20 };
    struct buf text;
    buf_init(&text, NO_CEILING);
    buf_puts(&text, "[{\"ph\":\"i\",\"ts\":1},{\"ph\":\"i\",\"args\":{\"x\":\"");
    char *fill = buf_reserve(&text, HUGE_BYTES);
    assert_non_null(fill);
    memset(fill, 'x', HUGE_BYTES);
    text.len += HUGE_BYTES;
    buf_puts(&text, "\"},\"ts\":2},{\"ph\":\"i\",\"ts\":3}]");
    struct err err = ERR_INIT;
    struct format_bundle bundle;
    assert_true(read_bytes(text.ptr, text.len, 0, &bundle, &err));
    const struct trace *trace = bundle.items[0].model;
    assert_int_equal(trace->events.count, 2);
    assert_int_equal(trace->events.ts_ns[1], 3000);
    assert_int_equal(trace->warnings.by_code[WARN_OVERSIZED].count, 1);
    assert_int_equal(trace->warnings.by_code[WARN_OVERSIZED].first_offset, 19);
    assert_int_equal(warning_total(trace), 1);
    format_bundle_free(&bundle);
    buf_free(&text);
}

/* Nesting beyond the cap is damage, and searching the way back through it stays quick. */
static void deep_nesting_is_damage(void **state)
{
    enum { DEEP = 100000 };
    struct buf text;
    buf_init(&text, NO_CEILING);
    buf_puts(&text, "[{\"ph\":\"i\",\"ts\":1},{\"ph\":\"i\",\"args\":");
    for (int i = 0; i < DEEP; i++) {
        buf_puts(&text, "{\"args\":");
    }
    buf_puts(&text, "1},{\"ph\":\"i\",\"ts\":3}]");
    struct err err = ERR_INIT;
    struct format_bundle bundle;
    assert_true(read_bytes(text.ptr, text.len, 0, &bundle, &err));
    assert_int_equal(bundle.items[0].model->events.count, 2);
    assert_int_equal(bundle.items[0].model->warnings.by_code[WARN_DAMAGED_EVENT].count, 1);
    format_bundle_free(&bundle);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_file_is_read_to_its_last_whole_event),
        cmocka_unit_test(blocks_of_any_size_give_the_same_model),
        cmocka_unit_test(a_changed_byte_costs_at_most_two_events),
        cmocka_unit_test(changed_bytes_before_the_events_cost_none),
        cmocka_unit_test(garbage_between_events_is_skipped),
        cmocka_unit_test(oversized_events_are_left_out),
        cmocka_unit_test(deep_nesting_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
