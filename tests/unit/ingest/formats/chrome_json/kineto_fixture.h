/* Reading a text as a trace, for the tests of the reader. */
#ifndef KS_TESTS_UNIT_INGEST_FORMATS_CHROME_JSON_KINETO_FIXTURE_H
#define KS_TESTS_UNIT_INGEST_FORMATS_CHROME_JSON_KINETO_FIXTURE_H

#include "ingest/formats/format.h"
#include "ingest/input/input.h"
#include "tests/unit/unit.h"

#include <string.h>

/* False: `err` says why; else the bundle is to be freed. */
static inline bool read_bytes(
    const char *text, size_t len, size_t block_bytes, struct format_bundle *bundle, struct err *err)
{
    struct input *in = NULL;
    assert_true(input_open_memory(&in, text, len, block_bytes, err));
    bool good = format_read(in, NULL, bundle, err);
    input_close(in);
    return good;
}

static inline struct format_bundle read_text(const char *text)
{
    struct err err = ERR_INIT;
    struct format_bundle bundle;
    if (!read_bytes(text, strlen(text), 0, &bundle, &err)) {
        fail_msg("%s: %s", text, err.msg);
    }
    assert_int_equal(bundle.item_count, 1);
    return bundle;
}

static inline const char *string_at(const struct trace *trace, uint32_t id)
{
    return id == STRTAB_NONE ? "(none)" : strtab_text(trace->strings, id);
}

static inline const char *event_name(const struct trace *trace, uint32_t row)
{
    return string_at(trace, trace->events.name[row]);
}

static inline uint64_t warning_total(const struct trace *trace)
{
    uint64_t total = 0;
    for (size_t i = 0; i < WARNING_CODE_COUNT; i++) {
        total += trace->warnings.by_code[i].count;
    }
    return total;
}

#endif
