/* What a request or a file may ask of the server: one row a limit, from which come the field, its
 * default, the option --NAME of `serve` (and KINETOSCOPE_NAME) and its line in the help. Beside
 * them stand --max-upload and --ingest-memory (options.h); README.md says what each refusal is and
 * which test shows it. */
#ifndef KS_SERVER_LIMITS_H
#define KS_SERVER_LIMITS_H

#include <stdint.h>

/* field, option, is a size, default, least, most, form, help. Where the least is 0 that means: no
 * limit. */
#define LIMITS_LIST(X)                                                                             \
    X(head_bytes, "max-header", true, 32768, 4096, 1048576, "SIZE",                                \
      "largest head of a request, with its URL (32K)")                                             \
    X(url_bytes, "max-url", true, 8192, 256, 1048576, "SIZE", "longest URL, with its query (8K)")  \
    X(head_timeout_s, "head-timeout", false, 10, 1, 3600, "SECONDS",                               \
      "time for the head of a connection's first request (10)")                                    \
    X(request_timeout_s, "request-timeout", false, 60, 1, 86400, "SECONDS",                        \
      "longest silence of a client that sends a body or takes an answer (60)")                     \
    X(client_connections, "max-connections-per-client", false, 128, 0, 65536, "N",                 \
      "connections that one address may have at once, 0 for no cap (128)")                         \
    X(queued_jobs, "max-queued-jobs", false, 1000, 0, 1000000, "N",                                \
      "files that may wait for their analysis, 0 for no cap (1000)")                               \
    X(decompressed_bytes, "max-decompressed", true, 1099511627776, 0, 9223372036854775807, "SIZE", \
      "largest file when decompressed, 0 for no cap (1T)")                                         \
    X(ratio, "max-ratio", false, 1000, 0, 1000000000, "N",                                         \
      "most bytes that a compressed byte may stand for, 0 for no cap (1000)")                      \
    X(events, "max-events", false, 4294967294, 1, 4294967294, "N",                                 \
      "events of one trace (4294967294)")

struct limits {
#define LIMITS_FIELD(field, option, is_size, preset, least, most, form, help) uint64_t field;
    LIMITS_LIST(LIMITS_FIELD)
#undef LIMITS_FIELD
};

#define LIMITS_PRESET(field, option, is_size, preset, least, most, form, help) .field = (preset),
#define LIMITS_DEFAULT             \
    {                              \
        LIMITS_LIST(LIMITS_PRESET) \
    }

#endif
