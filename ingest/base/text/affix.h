/* How a text begins and ends, what it holds, which of several it is; in any case of ASCII letters:
 * against a word in lower case. */
#ifndef KS_BASE_TEXT_AFFIX_H
#define KS_BASE_TEXT_AFFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool text_begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Of the first `len` bytes. */
static inline bool text_ends_within(const char *text, size_t len, const char *suffix)
{
    size_t suffix_len = strlen(suffix);
    return len >= suffix_len && memcmp(text + len - suffix_len, suffix, suffix_len) == 0;
}

static inline bool text_ends(const char *text, const char *suffix)
{
    return text_ends_within(text, strlen(text), suffix);
}

static inline bool text_is_one_of(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, list[i]) == 0) {
            return true;
        }
    }
    return false;
}

#define TEXT_IS_ONE_OF(text, list) text_is_one_of(text, list, sizeof(list) / sizeof *(list))

/* Bytes of UTF-8's byte order mark in front, 0: none. */
static inline size_t text_mark_bytes(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

static inline bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A letter, a digit or an underscore. */
static inline bool text_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || text_is_digit(c) || c == '_';
}

static inline char text_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static inline bool text_begins_any_case(const char *text, const char *word)
{
    while (*word != '\0' && text_lower(*text) == *word) {
        text++;
        word++;
    }
    return *word == '\0';
}

static inline bool text_is_any_case(const char *text, const char *word)
{
    return text_begins_any_case(text, word) && text[strlen(word)] == '\0';
}

static inline bool text_holds_any_case(const char *text, const char *word)
{
    while (*text != '\0' && !text_begins_any_case(text, word)) {
        text++;
    }
    return *text != '\0';
}

#endif
