#include "ingest/model/warning.h"

#include <assert.h>

static const struct {
    const char *text;
    const char *message;
} kinds[WARNING_CODE_COUNT] = {
#define WARNING_ROW(code, text, message) [code] = {text, message},
    WARNING_LIST(WARNING_ROW)
#undef WARNING_ROW
};

void warning_add(struct warnings *warnings, enum warning_code code, uint64_t offset)
{
    warning_add_times(warnings, code, offset, 1);
}

void warning_add_times(struct warnings *warnings,
                       enum warning_code code,
                       uint64_t offset,
                       uint64_t times)
{
    assert(code < WARNING_CODE_COUNT);
    if (times == 0) {
        return;
    }
    struct warning_count *kind = &warnings->by_code[code];
    if (kind->count == 0 || offset < kind->first_offset) {
        kind->first_offset = offset;
    }
    kind->count += times;
}

void warnings_merge(struct warnings *warnings, const struct warnings *from)
{
    for (size_t i = 0; i < WARNING_CODE_COUNT; i++) {
        const struct warning_count *kind = &from->by_code[i];
        warning_add_times(warnings, (enum warning_code)i, kind->first_offset, kind->count);
    }
}

const char *warning_code_text(enum warning_code code)
{
    return kinds[code].text;
}

const char *warning_message(enum warning_code code)
{
    return kinds[code].message;
}
