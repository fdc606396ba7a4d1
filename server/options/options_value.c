#include "server/options/options_value.h"

#include "ingest/jobs/pipeline/rank_name.h"
#include "ingest/model/results/comparison.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COUNT_MAX 1024U

/* A decimal number without sign at the beginning of the text. */
static bool leading_number(const char *text, uint64_t *value, const char **rest)
{
    if (!isdigit((unsigned char)*text)) {
        return false;
    }
    char *end = NULL;
    errno = 0;
    *value = strtoull(text, &end, 10);
    *rest = end;
    return errno == 0;
}

bool value_size(const char *text, uint64_t *bytes, const char **form)
{
    static const char units[] = "KMGT";
    *form = "a size: 64G, 500M or a number of bytes";
    uint64_t value;
    const char *rest;
    if (!leading_number(text, &value, &rest)) {
        return false;
    }
    unsigned shift = 0;
    const char *unit = *rest == '\0' ? NULL : strchr(units, toupper((unsigned char)*rest));
    if (unit != NULL) {
        shift = 10 * (unsigned)(unit - units + 1);
        rest++;
        rest += *rest == 'i' && rest[1] == 'B';
    }
    rest += *rest == 'B' || *rest == 'b';
    if (*rest != '\0' || value > UINT64_MAX >> shift) {
        return false;
    }
    *bytes = value << shift;
    return true;
}

bool value_limit(const char *text, const struct value_range *range, uint64_t *value)
{
    uint64_t number = 0;
    const char *rest = "";
    bool good = range->is_size ? value_size(text, &number, &rest)
                               : leading_number(text, &number, &rest) && *rest == '\0';
    if (!good || number < range->least || number > range->most) {
        return false;
    }
    *value = number;
    return true;
}

bool value_count(const char *text, unsigned *count, const char **form)
{
    *form = "a number from 0 to 1024";
    uint64_t value;
    const char *rest;
    if (!leading_number(text, &value, &rest) || *rest != '\0' || value > COUNT_MAX) {
        return false;
    }
    *count = (unsigned)value;
    return true;
}

bool value_yes_no(const char *text, bool *yes, const char **form)
{
    static const char *const words[][2] = {
        {"yes", "no"}, {"true", "false"}, {"on", "off"}, {"1", "0"}};
    *form = "yes or no";
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(text, words[i][0]) == 0 || strcasecmp(text, words[i][1]) == 0) {
            *yes = strcasecmp(text, words[i][0]) == 0;
            return true;
        }
    }
    return false;
}

static bool parse_port(const char *text, uint16_t *port)
{
    uint64_t value;
    const char *rest;
    if (!leading_number(text, &value, &rest) || *rest != '\0' || value > UINT16_MAX) {
        return false;
    }
    *port = (uint16_t)value;
    return true;
}

bool value_listen(const char *text,
                  char host[OPTIONS_HOST_BYTES],
                  uint16_t *port,
                  const char **form)
{
    *form = "HOST:PORT, as 127.0.0.1:8080 or 0.0.0.0:8080 (port 0: any free one; IPv4 only)";
    const char *colon = strrchr(text, ':');
    size_t host_len = colon == NULL ? strlen(text) : (size_t)(colon - text);
    if (colon == NULL && text[strspn(text, "0123456789")] == '\0') {
        host[0] = '\0';
        return parse_port(text, port);
    }
    if (colon == NULL || host_len >= OPTIONS_HOST_BYTES || memchr(text, ':', host_len) != NULL ||
        text[0] == '[') {
        return false;
    }
    memcpy(host, text, host_len);
    host[host_len] = '\0';
    return parse_port(colon + 1, port);
}

static bool is_path_char(char c)
{
    return isalnum((unsigned char)c) || strchr("-._~/", c) != NULL;
}

bool value_base_path(const char *text, char path[OPTIONS_BASE_PATH_BYTES], const char **form)
{
    *form = "a path of letters, digits and -._~ that begins with a slash: /kinetoscope";
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '/') {
        len--;
    }
    if (len >= OPTIONS_BASE_PATH_BYTES || (*text != '\0' && *text != '/') ||
        (len > 1 && text[1] == '/')) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if (!is_path_char(text[i])) {
            return false;
        }
    }
    memcpy(path, text, len);
    path[len] = '\0';
    return true;
}

bool value_url(const char *text, char url[OPTIONS_URL_BYTES], const char **form)
{
    *form = "the address that users open: https://host/prefix";
    bool is_http = strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '/') {
        len--;
    }
    const char *host = strstr(text, "://");
    if (!is_http || len >= OPTIONS_URL_BYTES || host == NULL || host + 3 >= text + len) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if (!isgraph((unsigned char)text[i]) || strchr("\"<>\\?#", text[i]) != NULL) {
            return false;
        }
    }
    memcpy(url, text, len);
    url[len] = '\0';
    return true;
}

bool value_source_url(const char *text, const char **form)
{
    *form = "an http or https address with {path} in it: https://git/x/blob/main/{path}#L{line}";
    bool is_http = strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
    const char *host = strstr(text, "://");
    const char *path = strstr(text, "{path}");
    if (!is_http || strlen(text) >= OPTIONS_URL_BYTES || path == NULL || host[3] == '\0' ||
        strcspn(host + 3, "/{") == 0 || host + 3 + strcspn(host + 3, "/?#") > path) {
        return false;
    }
    for (const char *c = text; *c != '\0'; c++) {
        if (!isgraph((unsigned char)*c) || strchr("\"<>\\", *c) != NULL) {
            return false;
        }
    }
    return true;
}

bool value_format(const char *text,
                  enum options_command command,
                  enum report_format *format,
                  const char **form)
{
    enum { OF_REPORT = 1, OF_COMPARE = 2, OF_CYCLES = 4, OF_GATE = 8 };
    static const struct {
        const char *name;
        unsigned commands;
    } formats[] = {
        [REPORT_TEXT] = {"text", OF_REPORT | OF_COMPARE | OF_CYCLES | OF_GATE},
        [REPORT_JSON] = {"json", OF_REPORT | OF_COMPARE | OF_CYCLES | OF_GATE},
        [REPORT_MARKDOWN] = {"markdown", OF_REPORT | OF_COMPARE | OF_GATE},
        [REPORT_CSV] = {"csv", OF_COMPARE | OF_CYCLES},
        [REPORT_JUNIT] = {"junit", OF_GATE},
    };
    unsigned wanted = command == COMMAND_CYCLES    ? OF_CYCLES
                      : command == COMMAND_COMPARE ? OF_COMPARE
                      : command == COMMAND_GATE    ? OF_GATE
                                                   : OF_REPORT;
    *form = command == COMMAND_CYCLES    ? "text, json or csv"
            : command == COMMAND_COMPARE ? "text, json, csv or markdown"
            : command == COMMAND_GATE    ? "text, json, markdown or junit"
                                         : "text, json or markdown";
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if ((formats[i].commands & wanted) != 0 && strcmp(text, formats[i].name) == 0) {
            *format = (enum report_format)i;
            return true;
        }
    }
    return false;
}

bool value_number(const char *text, int64_t least, int64_t most, int64_t *number)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < least || value > most) {
        return false;
    }
    *number = value;
    return true;
}

bool value_pid(const char *text, int64_t *pid, const char **form)
{
    *form = "the number of a process";
    return value_number(text, COMPARISON_NO_PID + 1, INT64_MAX, pid);
}

bool value_rank(const char *text, int64_t *rank, const char **form)
{
    *form = "a number from 0 to 2147483647";
    return value_number(text, 0, RANK_MAX, rank);
}

bool value_kind(const char *text, int *kind, const char **form)
{
    *form = "step, prefill, decode, layer, mixed, idle or diffusion";
    for (int i = 0; i < CYCLE_KIND_COUNT; i++) {
        if (strcmp(text, cycle_kind_name((enum cycle_kind)i)) == 0) {
            *kind = i;
            return true;
        }
    }
    return false;
}

static bool copy_label(char label[OPTIONS_LABEL_BYTES], const char *text, size_t len)
{
    if (len == 0 || len >= OPTIONS_LABEL_BYTES) {
        return false;
    }
    memcpy(label, text, len);
    label[len] = '\0';
    return true;
}

bool value_labels(const char *text,
                  char base[OPTIONS_LABEL_BYTES],
                  char candidate[OPTIONS_LABEL_BYTES],
                  const char **form)
{
    *form = "two short names, such as before,after";
    const char *comma = strchr(text, ',');
    return comma != NULL && strchr(comma + 1, ',') == NULL &&
           copy_label(base, text, (size_t)(comma - text)) &&
           copy_label(candidate, comma + 1, strlen(comma + 1)) && strcmp(base, candidate) != 0;
}
