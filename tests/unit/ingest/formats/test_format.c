#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"

#include <stdio.h>

#define BYTES(text) text, sizeof(text) - 1

static void other_files_are_refused_by_name(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        enum err_code code;
        const char *says;
    } rows[] = {
        {BYTES(""), ERR_UNSUPPORTED, "empty"},
        {BYTES(" \n "), ERR_UNSUPPORTED, "empty"},
        {BYTES("<!DOCTYPE html><html>"), ERR_UNSUPPORTED, "HTML"},
        {BYTES("\n<html><body>"), ERR_UNSUPPORTED, "HTML"},
        {BYTES("<?xml version=\"1.0\"?>"), ERR_UNSUPPORTED, "XML"},
        {BYTES("PK\x03\x04\x14\0\0\0"), ERR_UNSUPPORTED, "ZIP"},
        {BYTES("\x89PNG\r\n\x1A\n"), ERR_UNSUPPORTED, "PNG"},
        {BYTES("%PDF-1.7"), ERR_UNSUPPORTED, "PDF"},
        {BYTES("\x7F"
               "ELF\x02\x01"),
         ERR_UNSUPPORTED, "ELF"},
        {BYTES("SQLite format 3\0"), ERR_UNSUPPORTED, "SQLite"},
        {BYTES("\x80\x04\x95\x10\0\0"), ERR_BAD_INPUT, "pickle"},
        {BYTES("\x0A\x8F\x01\x08\x01\x12\x03"), ERR_UNSUPPORTED, "Perfetto"},
        {BYTES("NVR\0\x0C\0\0\0"), ERR_UNSUPPORTED, "Nsight"},
        {BYTES("==PROF== Connected to process"), ERR_UNSUPPORTED, "ncu --csv"},
        {BYTES("name,calls,total\na,1,2\n"), ERR_UNSUPPORTED, "CSV"},
        {BYTES("Hello, this is no trace.\n"), ERR_UNSUPPORTED, "text"},
        {BYTES("\x01\x02\x03\x04\x05\x06\x07\x08"), ERR_UNSUPPORTED, "binary"},
        {BYTES("\xFF\xFE{\0\"\0"), ERR_UNSUPPORTED, "UTF-16"},
        {BYTES("{\"cells\": [1], \"metadata\": {}, \"nbformat\": 4}"), ERR_UNSUPPORTED,
         "\"cells\", \"metadata\", \"nbformat\""},
        {BYTES("{}"), ERR_UNSUPPORTED, "traceEvents"},
        {BYTES("[]"), ERR_BAD_INPUT, "no events"},
        {BYTES("[1, 2, 3]"), ERR_BAD_INPUT, "no event"},
        {BYTES("{\"traceEvents\": []}"), ERR_BAD_INPUT, "no events"},
        {BYTES("{\"traceEvents\": [{\"ph\": ?}]}"), ERR_BAD_INPUT, "no event"},
        {BYTES("{\"traceEvents\": null}"), ERR_UNSUPPORTED, "traceEvents"},
        {BYTES("{"), ERR_UNSUPPORTED, "JSON"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (size_t block = 0; block < 2; block++) {
            struct err err = ERR_INIT;
            struct format_bundle bundle;
            bool good = read_bytes(rows[i].bytes, rows[i].len, block * 3, &bundle, &err);
            if (good || err.code != rows[i].code || strstr(err.msg, rows[i].says) == NULL) {
                fail_msg("row %d: %s: %s", (int)i, err_code_text(err.code), err.msg);
            }
            assert_int_equal(bundle.item_count, 0);
            format_bundle_free(&bundle);
        }
    }
}

static void a_trace_without_its_first_bracket_is_read(void **state)
{
    static const char *const firsts[] = {"", "z", " ", "[", "\"", "<", ",", "\xE6"};
    static const char rest[] =
        "\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", "
        "\"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 1, \"dur\": 2}]}";
    for (size_t i = 0; i < COUNT_OF(firsts); i++) {
        char text[256];
        struct err err = ERR_INIT;
        struct format_bundle bundle;
        int len = snprintf(text, sizeof text, "%s%s", firsts[i], rest);
        assert_true(read_bytes(text, (size_t)len, 0, &bundle, &err));
        const struct trace *trace = bundle.items[0].model;
        assert_int_equal(trace->events.count, 1);
        assert_true(trace->warnings.by_code[WARN_SYNTAX].count > 0);
        format_bundle_free(&bundle);
    }
}

static void tar_archives_are_refused_by_name(void **state)
{
    char bytes[512] = "trace.json";
    memcpy(bytes + 257, "ustar", sizeof "ustar");
    struct err err = ERR_INIT;
    struct format_bundle bundle;
    assert_false(read_bytes(bytes, sizeof bytes, 0, &bundle, &err));
    assert_non_null(strstr(err.msg, "tar archive"));
}

static void file_names_give_worker_and_span(void **state)
{
    static const struct {
        const char *name;
        const char *worker;
        const char *digits;
    } rows[] = {
        {"worker0.1623143089861.pt.trace.json", "worker0", "1623143089861"},
        {"worker0.1623143089861.pt.trace.json.gz", "worker0", "1623143089861"},
        {"worker0.pt.trace.json", "worker0", ""},
        {"w.1.2.pt.trace.json", "w.1", "2"},
        {"host_12.local.55.pt.trace.json.gz", "host_12.local", "55"},
        {"rank5.pt.trace.json", "rank5", ""},
        {"12.pt.trace.json", "12", ""},
        {"rank-0_Apr_03.json.gz", "rank-0_Apr_03", ""},
        {"trace.json.zst", "trace", ""},
        {"dir/trace.json", "trace", ""},
        {"trace.123.json", "trace.123", ""},
        {"trace", "trace", ""},
        {"a_perf_data.csv", "a", ""},
        {"a_prefill_perf_data.csv.gz", "a_prefill", ""},
        {"_perf_data.csv", "_perf_data", ""},
        {"counters.csv", "counters", ""},
        {"report.md", "report", ""},
        {"kernels.txt.zst", "kernels", ""},
        {"nsys.sqlite", "nsys", ""},
        {"a.json.csv", "a.json", ""},
        {".json", ".json", ""},
        {"", "", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *worker;
        char *digits;
        assert_true(format_split_name(rows[i].name, &worker, &digits));
        assert_string_equal(worker, rows[i].worker);
        assert_string_equal(digits, rows[i].digits);
        free(worker);
        free(digits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_files_are_refused_by_name),
        cmocka_unit_test(a_trace_without_its_first_bracket_is_read),
        cmocka_unit_test(tar_archives_are_refused_by_name),
        cmocka_unit_test(file_names_give_worker_and_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
