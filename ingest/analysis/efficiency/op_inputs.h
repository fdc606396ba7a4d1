/* The inputs of an operator as its formula reads them: dimensions, types and concrete values by
 * position. */
#ifndef KS_ANALYSIS_EFFICIENCY_OP_INPUTS_H
#define KS_ANALYSIS_EFFICIENCY_OP_INPUTS_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No formula looks at later inputs. */
#define OP_INPUTS_MAX 16
/* Of dimensions of all these inputs together. What exceeds it is no tensor. */
#define OP_INPUTS_NUMBERS 256

/* Dimensions that are a list of integers: numbers[first] to numbers[first + rank - 1]. */
struct op_dims {
    uint16_t first, rank;
    bool is_tensor;
    bool is_given; /* a list with at least one element, of whatever kind */
};

/* A text in the JSON it was read from: strings without their quotes, still escaped. */
struct op_text {
    const char *ptr;
    size_t len;
};

struct op_inputs {
    size_t dims_count, type_count, concrete_count; /* at most OP_INPUTS_MAX */
    struct op_dims dims[OP_INPUTS_MAX];
    struct op_text types[OP_INPUTS_MAX]; /* empty: no string */
    struct op_text concrete[OP_INPUTS_MAX];
    int64_t numbers[OP_INPUTS_NUMBERS];
};

/* `Input Dims`, `Input type` and `Concrete Inputs` as JSON without spaces; NULL: absent, which is
 * like an empty list, as is what is no list. The texts must outlive the result. */
void op_inputs_read(const char *dims,
                    const char *types,
                    const char *concrete,
                    struct op_inputs *out);

/* Whether the text is a JSON value of strings, numbers, words and lists, at most 32 lists deep, so
 * that an answer can copy it. NULL: no. */
bool op_inputs_is_json(const char *json) KS_MUST_USE;

/* An integer as Python's int() reads it, between spaces; false for other texts, and beyond 64
 * bits. */
bool op_text_int(struct op_text text, int64_t *number) KS_MUST_USE;
/* Without the spaces around it. */
struct op_text op_text_strip(struct op_text text);
/* Whether it is the word, in any case; `word` is in lower case. */
bool op_text_is(struct op_text text, const char *word);

#endif
