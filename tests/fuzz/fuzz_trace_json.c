/* Chrome trace JSON: read in two block sizes, analysed, asked for cycles. What a strict parser
 * refuses is refused here too, or carries a warning; what it accepts is not called repaired. */
#include "tests/fuzz/fuzz_reading.h"

#include <jansson.h>
#include <string.h>

static const enum warning_code repairs[] = {
    WARN_CONTROL_CHARACTER, WARN_BARE_NAN,  WARN_BACKSLASH, WARN_QUOTE, WARN_UTF8, WARN_SYNTAX,
    WARN_SKIPPED_BYTES,     WARN_TRUNCATED, WARN_TRAILING};

enum verdict { PROPER, IMPROPER, UNDECIDED };

/* Beyond its own bounds, or where a valid document has texts that it does not take, jansson's
 * refusal says nothing. */
static enum verdict judge(const char *text, size_t len)
{
    json_error_t error;
    json_t *document = json_loadb(text, len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error);
    if (document != NULL) {
        json_decref(document);
        return PROPER;
    }
    /* Half of a surrogate pair, written as an escape, is proper JSON; jansson refuses it in these
     * words. */
    static const char half_a_pair[] = "invalid Unicode '";
    if (strncmp(error.text, half_a_pair, sizeof half_a_pair - 1) == 0) {
        return UNDECIDED;
    }
    switch (json_error_code(&error)) {
    case json_error_numeric_overflow:
    case json_error_stack_overflow:
    case json_error_null_character:
    case json_error_null_byte_in_key:
    case json_error_out_of_memory:
    case json_error_invalid_utf8:
        return UNDECIDED;
    default:
        return IMPROPER;
    }
}

/* Events with commas between them are read without their brackets too. */
static bool is_bare_list(const uint8_t *bytes, size_t len)
{
    struct buf text;
    buf_init(&text, SIZE_MAX);
    buf_putc(&text, '[');
    buf_append(&text, (const char *)bytes, len);
    buf_putc(&text, ']');
    bool is_list = !text.failed && judge(text.ptr, text.len) != IMPROPER;
    buf_free(&text);
    return is_list;
}

static uint64_t count_repairs(const struct trace *trace)
{
    uint64_t count = 0;
    for (size_t i = 0; i < sizeof repairs / sizeof repairs[0]; i++) {
        count += trace->warnings.by_code[repairs[i]].count;
    }
    return count;
}

static uint64_t count_warnings(const struct trace *trace)
{
    uint64_t count = 0;
    for (size_t i = 0; i < WARNING_CODE_COUNT; i++) {
        count += trace->warnings.by_code[i].count;
    }
    return count;
}

static void check_warnings(const uint8_t *bytes, size_t len, const struct trace *trace)
{
    enum verdict verdict = judge((const char *)bytes, len);
    fuzz_require(verdict != IMPROPER || count_warnings(trace) > 0 || is_bare_list(bytes, len),
                 "what is no JSON carries a warning");
    fuzz_require(verdict != PROPER || count_repairs(trace) == 0,
                 "proper JSON is not called repaired");
}

int fuzz_one_input(const uint8_t *bytes, size_t len)
{
    struct format_bundle bundle;
    if (fuzz_read_and_analyse(bytes, len, &bundle) && bundle.items[0].model != NULL) {
        check_warnings(bytes, len, bundle.items[0].model);
    }
    format_bundle_free(&bundle);
    return 0;
}
