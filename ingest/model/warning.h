/* Warnings: what was repaired, cut, missing or left out in an upload, with a count and the first
 * position. Stored with the trace and shown as its health. */
#ifndef KS_MODEL_WARNING_H
#define KS_MODEL_WARNING_H

#include "ingest/base/attr.h"

#include <stddef.h>
#include <stdint.h>

#define WARNING_NO_OFFSET UINT64_MAX

/* code, stable text, message (one sentence that says what was done) */
#define WARNING_LIST(X)                                                                            \
    X(WARN_CONTROL_CHARACTER, "control_character",                                                 \
      "Raw control characters inside strings were kept.")                                          \
    X(WARN_BARE_NAN, "bare_literal", "Bare N/A, NaN or Infinity values were read as missing.")     \
    X(WARN_BACKSLASH, "unescaped_backslash",                                                       \
      "Backslashes that escape nothing were read as themselves.")                                  \
    X(WARN_QUOTE, "unescaped_quote",                                                               \
      "Quotes inside strings that were not escaped were read as text.")                            \
    X(WARN_UTF8, "invalid_utf8", "Bytes that are no UTF-8 were replaced.")                         \
    X(WARN_DUPLICATE_KEY, "duplicate_key",                                                         \
      "Keys that occur twice in one event: the last one counts.")                                  \
    X(WARN_SYNTAX, "syntax_repaired",                                                              \
      "Missing or surplus commas, brackets or quotes were repaired.")                              \
    X(WARN_NUL, "nul_character", "NUL characters in strings were replaced.")                       \
    X(WARN_DAMAGED_EVENT, "damaged_event", "Events too damaged to read were left out.")            \
    X(WARN_SKIPPED_BYTES, "skipped_bytes", "Bytes between events that are no JSON were skipped.")  \
    X(WARN_TRUNCATED, "truncated",                                                                 \
      "The file breaks off: it was read up to its last complete event.")                           \
    X(WARN_COMPRESSED_CUT, "compressed_cut",                                                       \
      "The compressed data breaks off or is damaged: read as far as it goes.")                     \
    X(WARN_TRAILING, "trailing_data", "Text after the end of the document was ignored.")           \
    X(WARN_NO_TRACE_EVENTS_KEY, "events_key", "The events stand under an unusual key.")            \
    X(WARN_OVERSIZED, "oversized_value", "Values too long to be read were left out.")              \
    X(WARN_NO_TIMESTAMP, "no_timestamp",                                                           \
      "Records without a readable time, such as memory that was taken before the recording, are "  \
      "left out of all that goes by time.")                                                        \
    X(WARN_NEGATIVE_DURATION, "negative_duration", "Negative durations were read as zero.")        \
    X(WARN_TIME_RANGE, "time_out_of_range", "Times beyond 64 bits of nanoseconds were left out.")  \
    X(WARN_NO_CATEGORY, "no_category",                                                             \
      "Complete events without a category were left out of the analyses.")                         \
    X(WARN_BAD_TID, "thread_id",                                                                   \
      "Host events whose thread id is no number were left out of the operator tree.")              \
    X(WARN_RECORD_WINDOW, "record_window",                                                         \
      "A record-window end far after the start was left out.")                                     \
    X(WARN_OVERLAP, "overlapping_operators",                                                       \
      "Operators that overlap without nesting were left out of the operator tree.")                \
    X(WARN_DEVICE_ID, "device_id",                                                                 \
      "Kernels with a device id outside 0..63 were left out of the device summary.")               \
    X(WARN_STEP_NAME, "step_name",                                                                 \
      "ProfilerStep events without a number were not taken as steps.")                             \
    X(WARN_OPERATION_TYPE, "operation_type", "Operations of unknown types were left out.")         \
    X(WARN_BAD_LINE, "bad_line", "Lines that could not be read were left out.")                    \
    X(WARN_BEGIN_WITHOUT_END, "begin_without_end",                                                 \
      "Begin events without an end last until the end of the timeline.")                           \
    X(WARN_END_WITHOUT_BEGIN, "end_without_begin",                                                 \
      "End events without a begin are instants on the timeline.")                                  \
    X(WARN_ABSURD_DURATION, "absurd_duration",                                                     \
      "Durations that end more than a day after the last start were cut on the timeline.")         \
    X(WARN_HISTORY, "history_disagrees",                                                           \
      "The snapshot's events do not lead to the memory that it holds: figures before its end may " \
      "be off.")                                                                                   \
    X(WARN_TABLE, "table_left_out", "Tables beside the trace that cannot be read were left out.")  \
    X(WARN_DATABASE, "database_damaged",                                                           \
      "The database is damaged: the rows before the damage were kept.")                            \
    X(WARN_LONG_NAME, "long_name", "Names of more than 1 MB were cut.")

enum warning_code {
#define WARNING_ENUM(code, text, message) code,
    WARNING_LIST(WARNING_ENUM)
#undef WARNING_ENUM
        WARNING_CODE_COUNT
};

struct warning_count {
    uint64_t count;        /* 0: did not happen */
    uint64_t first_offset; /* byte in the decompressed input, or WARNING_NO_OFFSET */
};

struct warnings {
    struct warning_count by_code[WARNING_CODE_COUNT];
};

/* Counts one (or `times`) occurrences; keeps the smallest offset. */
void warning_add(struct warnings *warnings, enum warning_code code, uint64_t offset);
void warning_add_times(struct warnings *warnings,
                       enum warning_code code,
                       uint64_t offset,
                       uint64_t times);
/* Adds the counts of `from`. */
void warnings_merge(struct warnings *warnings, const struct warnings *from);
const char *warning_code_text(enum warning_code code);
const char *warning_message(enum warning_code code);

#endif
