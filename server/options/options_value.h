/* Parses values of options: numbers, sizes, addresses, paths. Each function returns false for an
 * invalid text, and sets `form` (static text) to an example of a valid one. */
#ifndef KS_SERVER_OPTIONS_OPTIONS_VALUE_H
#define KS_SERVER_OPTIONS_OPTIONS_VALUE_H

#include "server/options/options.h"

bool value_size(const char *text, uint64_t *bytes, const char **form) KS_MUST_USE;
/* The range of a limit of limits.h; 0 is valid where the range begins with it. */
struct value_range {
    bool is_size;
    uint64_t least, most;
};
bool value_limit(const char *text, const struct value_range *range, uint64_t *value) KS_MUST_USE;
bool value_count(const char *text, unsigned *count, const char **form) KS_MUST_USE;
bool value_yes_no(const char *text, bool *yes, const char **form) KS_MUST_USE;
bool value_listen(const char *text,
                  char host[OPTIONS_HOST_BYTES],
                  uint16_t *port,
                  const char **form) KS_MUST_USE;
bool value_base_path(const char *text,
                     char path[OPTIONS_BASE_PATH_BYTES],
                     const char **form) KS_MUST_USE;
bool value_url(const char *text, char url[OPTIONS_URL_BYTES], const char **form) KS_MUST_USE;
/* An address with {path} behind its host. Any scheme but http and https is invalid. */
bool value_source_url(const char *text, const char **form) KS_MUST_USE;
/* A format of this command; names follow enum report_format. A format that the command lacks is
 * invalid. */
bool value_format(const char *text,
                  enum options_command command,
                  enum report_format *format,
                  const char **form) KS_MUST_USE;
bool value_number(const char *text, int64_t least, int64_t most, int64_t *number) KS_MUST_USE;
bool value_pid(const char *text, int64_t *pid, const char **form) KS_MUST_USE;
bool value_rank(const char *text, int64_t *rank, const char **form) KS_MUST_USE;
bool value_kind(const char *text, int *kind, const char **form) KS_MUST_USE;
/* "A,B" */
bool value_labels(const char *text,
                  char base[OPTIONS_LABEL_BYTES],
                  char candidate[OPTIONS_LABEL_BYTES],
                  const char **form) KS_MUST_USE;

#endif
