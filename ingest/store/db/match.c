#include "ingest/store/db/match.h"

#include <stdlib.h>
#include <string.h>

#define QUERY_MAX_BYTES 1000
#define REGEX_MAX_BYTES 200
/* glibc's regcomp and regexec recurse: 670 bytes of stack per open parenthesis and up to 130 per
 * node of what a pattern becomes when its repetitions are written out, as regcomp does. Searches
 * run on request threads (100 KB); within these bounds no pattern took more than 30 KB. */
#define REGEX_LEVELS_MAX 20
#define REGEX_NODES_MAX 200
/* Of ^, $ and \b: regexec's time multiplies with them. */
#define ANCHOR_NODES 4

/* One level of parentheses while a pattern is measured. */
struct regex_level {
    unsigned long nodes; /* without the last part */
    unsigned long last;  /* nodes of the last part, which a repetition behind it multiplies */
    bool last_repeats;   /* a repetition stands in the last part */
    bool repeats;
};

struct regex_measure {
    struct regex_level levels[REGEX_LEVELS_MAX + 1];
    unsigned depth;
    bool is_too_large;
};

static void begin_part(struct regex_level *level, unsigned long nodes)
{
    level->nodes += level->last;
    level->last = nodes;
    level->last_repeats = false;
}

static void repeat_part(struct regex_measure *measure, unsigned long times)
{
    struct regex_level *level = &measure->levels[measure->depth];
    level->last = level->last * times + 1;
    level->last_repeats = level->repeats = true;
    measure->is_too_large = measure->is_too_large || level->last > REGEX_NODES_MAX;
}

/* At a '{'; returns the last character of {n}, {n,}, {,m} or {n,m}. A repetition that is repeated
 * in this way can take exponential time. */
static const char *measure_braces(struct regex_measure *measure, const char *at)
{
    unsigned long largest = 1;
    bool is_open = false;
    for (at++; *at != '\0' && *at != '}'; at++) {
        is_open = *at == ',';
        if (*at >= '0' && *at <= '9') {
            char *end;
            unsigned long bound = strtoul(at, &end, 10);
            largest = bound > largest ? bound : largest;
            at = end - 1;
        }
    }
    bool is_nested = measure->levels[measure->depth].last_repeats;
    measure->is_too_large = measure->is_too_large || is_nested || largest > REGEX_NODES_MAX;
    if (!measure->is_too_large) {
        repeat_part(measure, largest + is_open);
    }
    return *at == '\0' ? at - 1 : at;
}

/* At a '['; returns its ']', or the last character. */
static const char *skip_brackets(const char *at)
{
    at += at[1] == '^';
    at += at[1] == ']';
    for (at++; *at != '\0' && *at != ']'; at++) {
        bool is_named = *at == '[' && at[1] != '\0' && strchr(":.=", at[1]) != NULL;
        const char *end = is_named ? strchr(at + 2, ']') : NULL;
        at = end == NULL ? at : end;
    }
    return *at == '\0' ? at - 1 : at;
}

static bool open_level(struct regex_measure *measure)
{
    begin_part(&measure->levels[measure->depth], 0);
    if (measure->depth == REGEX_LEVELS_MAX) {
        return false;
    }
    measure->levels[++measure->depth] = (struct regex_level){.nodes = 0};
    return true;
}

static void close_level(struct regex_measure *measure)
{
    const struct regex_level inner = measure->levels[measure->depth--];
    struct regex_level *outer = &measure->levels[measure->depth];
    outer->last = inner.nodes + inner.last + 2;
    outer->last_repeats = inner.repeats;
    outer->repeats = outer->repeats || inner.repeats;
}

/* What no bracket, brace or parenthesis begins. */
static const char *measure_character(struct regex_measure *measure, const char *at)
{
    bool is_escape = *at == '\\' && at[1] != '\0';
    bool is_anchor = *at == '^' || *at == '$' || (is_escape && strchr("bB<>`'", at[1]) != NULL);
    if (*at == '*' || *at == '?' || *at == '+') {
        repeat_part(measure, *at == '+' ? 2 : 1);
    } else {
        begin_part(&measure->levels[measure->depth], is_anchor ? ANCHOR_NODES : 1);
    }
    return at + is_escape;
}

static bool check_size(const char *pattern, struct err *err)
{
    struct regex_measure measure = {.depth = 0};
    for (const char *at = pattern; *at != '\0' && !measure.is_too_large; at++) {
        if (*at == '(' && !open_level(&measure)) {
            return err_set(err, ERR_BAD_REQUEST,
                           "the parentheses in /%s/ nest deeper than %d levels: use fewer", pattern,
                           REGEX_LEVELS_MAX);
        }
        if (*at == ')' && measure.depth > 0) {
            close_level(&measure);
        } else if (*at == '{') {
            at = measure_braces(&measure, at);
        } else if (*at == '[') {
            begin_part(&measure.levels[measure.depth], 1);
            at = skip_brackets(at);
        } else if (*at != '(') {
            at = measure_character(&measure, at);
        }
    }
    unsigned long nodes = 0;
    for (unsigned i = 0; i <= measure.depth; i++) {
        nodes += measure.levels[i].nodes + measure.levels[i].last;
    }
    return (!measure.is_too_large && nodes <= REGEX_NODES_MAX) ||
           err_set(err, ERR_BAD_REQUEST,
                   "the repetitions in /%s/, written out, make it longer than %d characters, or "
                   "repeat what repeats: use smaller ones",
                   pattern, REGEX_NODES_MAX);
}

/* Back references are an extension of some C libraries and can take exponential time. */
static bool has_back_reference(const char *pattern)
{
    for (const char *at = pattern; *at != '\0'; at++) {
        if (*at == '\\' && at[1] != '\0') {
            at++;
            if (*at >= '1' && *at <= '9') {
                return true;
            }
        }
    }
    return false;
}

static bool compile(struct matcher *matcher, const char *query, size_t len, struct err *err)
{
    char pattern[REGEX_MAX_BYTES + 1];
    if (len > REGEX_MAX_BYTES) {
        return err_set(err, ERR_BAD_REQUEST,
                       "the regular expression has %zu bytes; at most %d are allowed", len,
                       REGEX_MAX_BYTES);
    }
    memcpy(pattern, query, len);
    pattern[len] = '\0';
    if (has_back_reference(pattern)) {
        return err_set(err, ERR_BAD_REQUEST, "back references (\\1) are not supported in /%s/",
                       pattern);
    }
    if (!check_size(pattern, err)) {
        return false;
    }
    int rc = regcomp(&matcher->regex, pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB);
    if (rc != 0) {
        char reason[160];
        (void)regerror(rc, &matcher->regex, reason, sizeof reason);
        return err_set(err, ERR_BAD_REQUEST, "the regular expression /%s/ is wrong: %s", pattern,
                       reason);
    }
    matcher->is_regex = true;
    return true;
}

bool match_init(struct matcher *matcher, const char *query, struct err *err)
{
    *matcher = (struct matcher){.needle = query};
    size_t len = strlen(query);
    if (len > QUERY_MAX_BYTES) {
        return err_set(err, ERR_BAD_REQUEST,
                       "the search text has %zu bytes; at most %d are allowed", len,
                       QUERY_MAX_BYTES);
    }
    bool is_regex = len > 2 && query[0] == '/' && query[len - 1] == '/';
    return !is_regex || compile(matcher, query + 1, len - 2, err);
}

void match_free(struct matcher *matcher)
{
    if (matcher->is_regex) {
        regfree(&matcher->regex);
    }
    *matcher = (struct matcher){0};
}

static unsigned char fold(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte | 0x20) : byte;
}

void match_fold(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        text[i] = (char)fold(text[i]);
    }
}

static bool begins_with_folded(const char *text, const char *needle)
{
    while (*needle != '\0' && fold(*text) == fold(*needle)) {
        text++;
        needle++;
    }
    return *needle == '\0';
}

bool match_test(const struct matcher *matcher, const char *text)
{
    if (matcher->is_regex) {
        return regexec(&matcher->regex, text, 0, NULL, 0) == 0;
    }
    do {
        if (begins_with_folded(text, matcher->needle)) {
            return true;
        }
    } while (*text++ != '\0');
    return false;
}
