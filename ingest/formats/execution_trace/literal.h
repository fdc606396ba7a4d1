/* Nested lists as JSON and Python write them: `[[7,8,0,50,4,"cpu"],true]`, `[(7, 8), 'cpu', None]`.
 * Steps through them without a tree and without recursion. */
#ifndef KS_FORMATS_EXECUTION_TRACE_LITERAL_H
#define KS_FORMATS_EXECUTION_TRACE_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct literal {
    const char *at, *end; /* at == end: nothing there */
};

static inline struct literal literal_of(const char *text, size_t len)
{
    return (struct literal){.at = text, .end = len == 0 ? text : text + len};
}

/* Whether a list or tuple stands here. */
bool literal_is_list(struct literal *literal);
/* Steps over its opening bracket. False for anything else. */
bool literal_enter(struct literal *literal);
/* To the next item; false behind the last one, whose bracket is stepped over. The item must be
 * entered or taken. */
bool literal_item(struct literal *literal);
/* The value that stands here, which is stepped over; of strings what is between the quotes. */
struct literal literal_take(struct literal *literal);
/* False unless the text is a whole number of at most 64 bits. */
bool literal_number(struct literal value, uint64_t *number);

#endif
