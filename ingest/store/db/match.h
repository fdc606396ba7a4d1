/* The search of tables: a substring, ignoring ASCII case, or "/…/" as an extended regular
 * expression. In SQL: ks_match(text, ?), with the matcher put by db_put_matcher. */
#ifndef KS_STORE_DB_MATCH_H
#define KS_STORE_DB_MATCH_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

struct matcher {
    const char *needle; /* the caller's */
    bool is_regex;
    regex_t regex;
};

/* ERR_BAD_REQUEST for a pattern that is too long, wrong, or could take very long or much stack. */
bool match_init(struct matcher *matcher, const char *query, struct err *err) KS_MUST_USE;
void match_free(struct matcher *matcher);
bool match_test(const struct matcher *matcher, const char *text);
/* ASCII letters become small ones: what case the search of a substring ignores. */
void match_fold(char *text, size_t len);

#endif
