/* A demangled name cut into words, brackets with all that they hold, "::" and blanks. Brackets need
 * not be closed, for tables cut long names off; signs of operators and arrows are no brackets. */
#ifndef KS_ANALYSIS_KERNEL_UTILISATION_NAME_TOKENS_H
#define KS_ANALYSIS_KERNEL_UTILISATION_NAME_TOKENS_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>

#define KERNEL_TOKENS_MAX 256

enum kernel_token_kind {
    TOKEN_WORD,
    TOKEN_COLONS,
    TOKEN_BLANK,
    TOKEN_ANGLE, /* <...> */
    TOKEN_PAREN,
    TOKEN_SQUARE,
    TOKEN_CURLY
};

struct kernel_token {
    enum kernel_token_kind kind;
    const char *text; /* a slice of the name */
    size_t len;
};

struct kernel_tokens {
    struct kernel_token items[KERNEL_TOKENS_MAX];
    size_t count;
};

/* False: too many tokens, or nested too deep. */
bool kernel_tokens_split(const char *text, size_t len, struct kernel_tokens *tokens) KS_MUST_USE;

bool kernel_token_is(const struct kernel_token *token, const char *word);
bool kernel_token_begins(const struct kernel_token *token, const char *word);

/* The bracket that closes the one that `c` opens; NUL when it opens none. */
char kernel_token_closing(char c);
/* Behind the bracket that closes the one at `at`; `end` when none does; NULL: nested too deep. */
const char *kernel_token_behind(const char *at, const char *end);

#endif
