/* For the formulas: reads inputs, and computes with 128 bits. What is not as a formula wants it, or
 * exceeds these bits, sets `fails`; then the results do not count. */
#ifndef KS_ANALYSIS_EFFICIENCY_FORMULA_RULES_H
#define KS_ANALYSIS_EFFICIENCY_FORMULA_RULES_H

#include "ingest/analysis/efficiency/formulas.h"

#define FORMULA_ITEMS_MAX 64

struct formula_evaluation {
    const struct op_inputs *in;
    bool fails;
    bool lacks_size; /* a type has no known size: bytes are not known */
};

struct formula_rule {
    const char *name;
    void (*compute)(struct formula_evaluation *e,
                    const struct formula_rule *rule,
                    struct formula *out);
    /* Positions and kinds, whose meaning is the function's. */
    uint8_t a, b, c, d;
};

struct formula_shape {
    const int64_t *dims;
    size_t rank;
};

/* Entries of a list that a concrete value is. */
struct formula_items {
    struct op_text at[FORMULA_ITEMS_MAX];
    size_t count;
};

/* The functions, each of a family of operators. */
#define FORMULA_FAMILY(name) \
    void name(struct formula_evaluation *e, const struct formula_rule *rule, struct formula *out)
FORMULA_FAMILY(formula_gemm);
FORMULA_FAMILY(formula_scaled_mm);
FORMULA_FAMILY(formula_grouped_mm);
FORMULA_FAMILY(formula_linear);
FORMULA_FAMILY(formula_convolution);
FORMULA_FAMILY(formula_attention);
FORMULA_FAMILY(formula_unary);
FORMULA_FAMILY(formula_binary);
FORMULA_FAMILY(formula_reduction);
FORMULA_FAMILY(formula_upsampling);
FORMULA_FAMILY(formula_padding);
FORMULA_FAMILY(formula_norm);
FORMULA_FAMILY(formula_norm_backward);
FORMULA_FAMILY(formula_rms_norm);
FORMULA_FAMILY(formula_rms_norm_backward);
FORMULA_FAMILY(formula_embedding);

/* ---- inputs ---- */

/* The dimensions at a position; false, and `fails`, when they are no list of integers. */
bool formula_tensor(struct formula_evaluation *e, size_t at, struct formula_shape *out) KS_MUST_USE;
/* Also when they are not `rank` of them. */
bool formula_tensor_of(struct formula_evaluation *e,
                       size_t at,
                       size_t rank,
                       struct formula_shape *out) KS_MUST_USE;
/* Whether the entry of the dimensions has an element: 1 or 0. */
wide_int formula_given(const struct formula_evaluation *e, size_t at);
/* Bytes of an element of the type at a position. */
wide_int formula_size(struct formula_evaluation *e, size_t at);
struct op_text formula_type(const struct formula_evaluation *e, size_t at);
enum formula_precision formula_precision(const struct formula_evaluation *e, size_t at);
struct op_text formula_concrete(const struct formula_evaluation *e, size_t at);
/* Whether it says True; `empty` where there is nothing. 1 or 0. */
wide_int formula_true(const struct formula_evaluation *e, size_t at, bool empty);
/* The entries of a list; false when there is none at the position. */
bool formula_items(struct formula_evaluation *e, size_t at, struct formula_items *out);
/* The same as integers, at most FORMULA_ITEMS_MAX; none where there is no list. */
size_t formula_ints(struct formula_evaluation *e, size_t at, int64_t *out);
/* A mask of `count` booleans, which must not be shorter. */
void formula_mask(struct formula_evaluation *e, size_t at, size_t count, wide_int *out);

/* ---- arithmetic ---- */

wide_int formula_add(struct formula_evaluation *e, wide_int a, wide_int b);
wide_int formula_mul(struct formula_evaluation *e, wide_int a, wide_int b);
/* Of `count` factors. */
wide_int formula_product(struct formula_evaluation *e, const int64_t *factors, size_t count);
wide_int formula_elements(struct formula_evaluation *e, struct formula_shape shape);

#endif
