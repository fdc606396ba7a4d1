/* Reading tables for the tests of their readers: from texts, from reference data, damaged. */
#ifndef KS_TESTS_UNIT_INGEST_FORMATS_TABLE_FIXTURE_H
#define KS_TESTS_UNIT_INGEST_FORMATS_TABLE_FIXTURE_H

#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"

#include <math.h>
#include <stdio.h>

/* Sizes of the windows that a text is read in; 0: as usual. */
static const size_t window_sizes[] = {0, 1, 7, 64};

/* A text of the format, which must be readable. */
static inline struct format_bundle
read_as(const char *format, const char *text, size_t len, size_t window_size)
{
    struct err err = ERR_INIT;
    struct format_bundle bundle = {.format = NULL};
    if (!read_bytes(text, len, window_size, &bundle, &err)) {
        fail_msg("%.200s: %s", text, err.msg);
    }
    assert_string_equal(bundle.format, format);
    assert_true(bundle.items != NULL && bundle.item_count == 1);
    assert_null(bundle.items[0].model);
    assert_null(bundle.items[0].kernel_table);
    assert_non_null(bundle.items[0].results);
    return bundle;
}

/* A file of the reference data; false, with a message, when it is not at hand. */
static inline bool read_reference(const char *file, struct format_bundle *bundle)
{
    char path[4096];
    struct err err = ERR_INIT;
    struct input *in = NULL;
    const char *reference = getenv("KINETOSCOPE_REFERENCE");
    (void)snprintf(path, sizeof path, "%s/%s",
                   reference != NULL ? reference : KS_TEST_DIR "/../../shared", file);
    if (!input_open_file(&in, path, &err)) {
        print_message("%s is not there: set KINETOSCOPE_REFERENCE\n", path);
        return false;
    }
    bool good = format_read(in, NULL, bundle, &err);
    input_close(in);
    if (!good) {
        fail_msg("%s: %s", path, err.msg);
    }
    return true;
}

/* Reads every beginning of the text, and the text with each byte changed in some ways: whatever
 * comes of it, it must not crash, leak or run away. The answer is how many could be read. */
static inline size_t read_damaged(const char *text, size_t len)
{
    static const char bytes[] = "\",\n|0-`\xFF"; /* and a NUL */
    const size_t ways = 3;
    size_t readable = 0;
    char *copy = malloc(len + 1);
    assert_non_null(copy);
    for (size_t at = 0; at < len; at++) {
        for (size_t i = 0; i <= ways; i++) {
            struct err err = ERR_INIT;
            struct format_bundle bundle;
            bool is_cut = i == ways;
            memcpy(copy, text, len);
            if (!is_cut) {
                copy[at] = bytes[(at + i * ways) % sizeof bytes];
            }
            if (read_bytes(copy, is_cut ? at : len, 4096, &bundle, &err)) {
                readable++;
            } else {
                assert_true(err.code != ERR_NONE && err.msg[0] != '\0');
            }
            format_bundle_free(&bundle);
        }
    }
    free(copy);
    return readable;
}

static inline bool is_near(double a, double b, double tolerance)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance || (isinf(a) && isinf(b));
}

static inline void assert_near(double a, double b, double tolerance)
{
    if (!is_near(a, b, tolerance)) {
        fail_msg("%.17g is not %.17g", a, b);
    }
}

#endif
