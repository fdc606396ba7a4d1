/* Reading texts as kernel tables, for the tests of their readers. */
#ifndef KS_TESTS_UNIT_INGEST_FORMATS_KERNEL_TABLE_FIXTURE_H
#define KS_TESTS_UNIT_INGEST_FORMATS_KERNEL_TABLE_FIXTURE_H

#include "ingest/analysis/kernel_utilisation/kernel_utilisation.h"
#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"

#include <math.h>
#include <stdio.h>

static inline const struct kernel_table *table_of(const struct format_bundle *bundle,
                                                  const char *format)
{
    assert_string_equal(bundle->format, format);
    assert_int_equal(bundle->item_count, 1);
    assert_non_null(bundle->items[0].kernel_table);
    return bundle->items[0].kernel_table;
}

static inline const char *text_at(const struct kernel_table *table, uint32_t id)
{
    return id == STRTAB_NONE ? "(none)" : strtab_text(table->strings, id);
}

static inline const char *launch_name(const struct kernel_table *table, uint32_t launch)
{
    return text_at(table, table->launches[launch].name);
}

static inline void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fmax(1.0, fabs(expected)))) {
        fail_msg("%.17g, not %.17g", value, expected);
    }
}

/* The metric of a launch; NaN: it has none. */
static inline double
metric_of(const struct kernel_table *table, uint32_t launch, const char *name, const char *unit)
{
    for (uint32_t i = 0; i < table->metric_count; i++) {
        const struct kernel_table_metric *metric = &table->metrics[i];
        if (metric->launch == launch && strcmp(text_at(table, metric->name), name) == 0 &&
            strcmp(text_at(table, metric->unit), unit) == 0) {
            return metric->value;
        }
    }
    return (double)NAN;
}

/* Whether the readers and the analysis take anything: what they answer does not matter. */
static inline void read_anything(const char *bytes, size_t len)
{
    struct err err = ERR_INIT;
    struct format_bundle bundle;
    if (!read_bytes(bytes, len, 0, &bundle, &err)) {
        return;
    }
    for (size_t i = 0; i < bundle.item_count; i++) {
        struct trace_results *results = NULL;
        if (bundle.items[i].kernel_table != NULL) {
            assert_true(kernel_utilisation_run(bundle.items[i].kernel_table, &results, &err));
            results_destroy(results);
        }
    }
    format_bundle_free(&bundle);
}

/* The text cut at every place, and with single bytes changed all over it. */
static inline void damage_text(const char *text)
{
    static const char others[] = {'"', ',', '\n', ':', '|', '(', '<', '9', '\0', '\xFF', '-', ' '};
    size_t len = strlen(text);
    char *bytes = malloc(len);
    assert_non_null(bytes);
    for (size_t cut = 0; cut < len; cut += 1 + len / 400) {
        read_anything(text, cut);
    }
    for (size_t at = 0; at < len; at += 1 + len / 400) {
        memcpy(bytes, text, len);
        bytes[at] = others[at % sizeof others];
        read_anything(bytes, len);
    }
    free(bytes);
}

/* False, with a message, where the reference data are absent. */
static inline bool reference_path(char *out, size_t size, const char *name)
{
    const char *reference = getenv("KINETOSCOPE_REFERENCE");
    (void)snprintf(out, size, "%s/%s", reference == NULL ? KS_TEST_DIR "/../../shared" : reference,
                   name);
    FILE *file = fopen(out, "rb");
    if (file == NULL) {
        print_message("%s is not there: set KINETOSCOPE_REFERENCE\n", out);
        return false;
    }
    (void)fclose(file);
    return true;
}

static inline struct format_bundle read_path(const char *path)
{
    struct err err = ERR_INIT;
    struct input *in;
    struct format_bundle bundle;
    assert_true(input_open_file(&in, path, &err));
    if (!format_read(in, NULL, &bundle, &err)) {
        fail_msg("%s: %s", path, err.msg);
    }
    input_close(in);
    return bundle;
}

#endif
