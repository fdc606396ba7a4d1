/* The limits of requests, files and storage, one row each. A row yields the field, its default, the
 * option --NAME (and KINETOSCOPE_NAME) and its line of help. --max-upload and --ingest-memory are
 * in options.h. server/README.md says what each refusal is and which test proves it. */
#ifndef KS_SERVER_OPTIONS_LIMITS_H
#define KS_SERVER_OPTIONS_LIMITS_H

#include "ingest/input/input.h"

#include <stdint.h>

/* field, option, scope, is a size, default, least, most, form, help. SERVING: an option of `serve`;
 * READING: of every command that reads a file. A least of 0 means: 0 is no limit, except for the
 * response cache, where 0 is no cache. */
#define LIMITS_LIST(X)                                                                        \
    X(head_bytes, "max-header", SERVING, true, 32768, 4096, 1048576, "SIZE",                  \
      "largest head of a request, with its URL (32K)")                                        \
    X(url_bytes, "max-url", SERVING, true, 8192, 256, 1048576, "SIZE",                        \
      "longest URL, with its query (8K)")                                                     \
    X(head_timeout_s, "head-timeout", SERVING, false, 10, 1, 3600, "SECONDS",                 \
      "time for the head of a connection's first request (10)")                               \
    X(request_timeout_s, "request-timeout", SERVING, false, 60, 1, 86400, "SECONDS",          \
      "longest silence of a client that sends a body or takes an answer (60)")                \
    X(client_connections, "max-connections-per-client", SERVING, false, 128, 0, 65536, "N",   \
      "connections that one address may have at once, 0 for no cap (128)")                    \
    X(queued_jobs, "max-queued-jobs", SERVING, false, 1000, 0, 1000000, "N",                  \
      "maximum queued jobs, 0 for no cap (1000)")                                             \
    X(decompressed_bytes, "max-decompressed", READING, true, 1099511627776, 0,                \
      9223372036854775807, "SIZE", "largest file when decompressed, 0 for no cap (1T)")       \
    X(ratio, "max-ratio", READING, false, 1000, 0, 1000000000, "N",                           \
      "maximum compression ratio, 0 for no cap (1000)")                                       \
    X(events, "max-events", READING, false, 4294967294, 1, 4294967294, "N",                   \
      "events of one trace (4294967294)")                                                     \
    X(retain_days, "retain-days", SERVING, false, 0, 0, 100000, "DAYS",                       \
      "runs without an upload for so long go, unless pinned; 0 for never (0)")                \
    X(quota_bytes, "quota", SERVING, true, 0, 0, 9223372036854775807, "SIZE",                 \
      "most that is kept: the oldest runs go, unless pinned; 0 for no cap (0)")               \
    X(project_quota_bytes, "project-quota", SERVING, true, 0, 0, 9223372036854775807, "SIZE", \
      "the same of the uploads of one project; 0 for no cap (0)")                             \
    X(answer_bytes, "answer-cache", SERVING, true, 16777216, 0, 1099511627776, "SIZE",        \
      "memory for answers that are kept to be sent again, 0 for none (16M)")

struct limits {
#define LIMITS_FIELD(field, option, scope, is_size, preset, least, most, form, help) uint64_t field;
    LIMITS_LIST(LIMITS_FIELD)
#undef LIMITS_FIELD
};

#define LIMITS_PRESET(field, option, scope, is_size, preset, least, most, form, help) \
    .field = (preset),
#define LIMITS_DEFAULT             \
    {                              \
        LIMITS_LIST(LIMITS_PRESET) \
    }

/* The limits for the bytes of a file. */
struct input_limits limits_of_input(const struct limits *limits);

#endif
