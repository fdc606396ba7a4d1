#include "ingest/analysis/kernel_utilisation/name_tokens.h"

#include <string.h>

#define BRACKETS_MAX 256
#define OPERATOR_SIGNS_MAX 2 /* before the last one: operator>>= */

char kernel_token_closing(char c)
{
    switch (c) {
    case '<':
        return '>';
    case '(':
        return ')';
    case '[':
        return ']';
    case '{':
        return '}';
    default:
        return '\0';
    }
}

static bool ends_with(const char *begin, const char *end, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(end - begin) >= len && memcmp(end - len, word, len) == 0;
}

/* Whether the sign at `at` is part of an operator's name or an arrow, and no bracket. */
static bool is_operator_sign(const char *begin, const char *at)
{
    if (*at == '>' && at > begin && at[-1] == '-') {
        return true;
    }
    for (int i = 0; i < OPERATOR_SIGNS_MAX && at > begin && (at[-1] == '<' || at[-1] == '>'); i++) {
        at--;
    }
    return ends_with(begin, at, "operator");
}

/* The depth after the closing bracket `c`. An angle is closed by its own bracket or by that of what
 * it stands in, for it may be a comparison. */
static size_t close_bracket(const char *open, size_t depth, char c)
{
    size_t at = depth;
    while (c != '>' && at > 0 && open[at - 1] == '>') {
        at--;
    }
    return at > 0 && open[at - 1] == c ? at - 1 : depth;
}

const char *kernel_token_behind(const char *at, const char *end)
{
    const char *begin = at;
    char open[BRACKETS_MAX];
    size_t depth = 0;
    for (; at < end; at++) {
        char closing = kernel_token_closing(*at);
        bool is_angle = *at == '<' || *at == '>';
        if (is_angle && is_operator_sign(begin, at)) {
            continue;
        }
        if (closing != '\0') {
            if (depth == BRACKETS_MAX) {
                return NULL;
            }
            open[depth++] = closing;
        } else if (*at == '>' || *at == ')' || *at == ']' || *at == '}') {
            depth = close_bracket(open, depth, *at);
            if (depth == 0) {
                return at + 1;
            }
        }
    }
    return end;
}

static bool is_colons(const char *at, const char *end)
{
    return end - at >= 2 && at[0] == ':' && at[1] == ':';
}

static const char *behind_word(const char *at, const char *end)
{
    const char *begin = at;
    while (at < end && *at != ' ' && kernel_token_closing(*at) == '\0' && !is_colons(at, end)) {
        at++;
    }
    if (at == end || (size_t)(at - begin) != strlen("operator") ||
        !ends_with(begin, at, "operator")) {
        return at;
    }
    if (end - at >= 2 && (memcmp(at, "()", 2) == 0 || memcmp(at, "[]", 2) == 0)) {
        return at + 2;
    }
    while (at < end && (*at == '<' || *at == '>' || *at == '=' || *at == '-')) {
        at++;
    }
    return at;
}

static enum kernel_token_kind kind_at(const char *at, const char *end)
{
    switch (*at) {
    case ' ':
        return TOKEN_BLANK;
    case '<':
        return TOKEN_ANGLE;
    case '(':
        return TOKEN_PAREN;
    case '[':
        return TOKEN_SQUARE;
    case '{':
        return TOKEN_CURLY;
    default:
        return is_colons(at, end) ? TOKEN_COLONS : TOKEN_WORD;
    }
}

static const char *behind_token(enum kernel_token_kind kind, const char *at, const char *end)
{
    switch (kind) {
    case TOKEN_BLANK:
        while (at < end && *at == ' ') {
            at++;
        }
        return at;
    case TOKEN_COLONS:
        return at + 2;
    case TOKEN_WORD:
        return behind_word(at, end);
    default:
        return kernel_token_behind(at, end);
    }
}

bool kernel_tokens_split(const char *text, size_t len, struct kernel_tokens *tokens)
{
    const char *end = text + len;
    tokens->count = 0;
    while (text < end) {
        enum kernel_token_kind kind = kind_at(text, end);
        const char *behind = behind_token(kind, text, end);
        if (behind == NULL || tokens->count == KERNEL_TOKENS_MAX) {
            return false;
        }
        tokens->items[tokens->count++] = (struct kernel_token){kind, text, (size_t)(behind - text)};
        text = behind;
    }
    return true;
}

bool kernel_token_is(const struct kernel_token *token, const char *word)
{
    return token->len == strlen(word) && memcmp(token->text, word, token->len) == 0;
}

bool kernel_token_begins(const struct kernel_token *token, const char *word)
{
    return token->len >= strlen(word) && memcmp(token->text, word, strlen(word)) == 0;
}
