#include "ingest/store/db/match.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUERY_MAX_BYTES 1000
#define REGEX_MAX_BYTES 200
/* Repetitions are written out by regcomp: (a{99}){99} takes 9801 states. */
#define REGEX_MAX_REPEATS 1000

/* The product of the upper bounds of all {n,m}, as if all of them were nested. */
static unsigned long repeats_of(const char *pattern)
{
    unsigned long product = 1;
    for (const char *at = strchr(pattern, '{'); at != NULL; at = strchr(at + 1, '{')) {
        unsigned long largest = 0;
        for (const char *digit = at + 1; *digit != '\0' && *digit != '}'; digit++) {
            if (*digit >= '0' && *digit <= '9') {
                char *end;
                unsigned long bound = strtoul(digit, &end, 10);
                largest = bound > largest ? bound : largest;
                digit = end - 1;
            }
        }
        if (largest > REGEX_MAX_REPEATS) {
            return largest;
        }
        product *= largest == 0 ? 1 : largest;
        if (product > REGEX_MAX_REPEATS) {
            return product;
        }
    }
    return product;
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
    if (repeats_of(pattern) > REGEX_MAX_REPEATS) {
        return err_set(err, ERR_BAD_REQUEST, "the repetitions in /%s/ multiply to more than %d",
                       pattern, REGEX_MAX_REPEATS);
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
