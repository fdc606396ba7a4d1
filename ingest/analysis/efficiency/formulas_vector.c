/* Work of vector units: elementwise operators, reductions, resampling, norms, embeddings. */
#include "ingest/analysis/efficiency/formula_rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES 64

static wide_int mul(struct formula_evaluation *e, wide_int a, wide_int b)
{
    return formula_mul(e, a, b);
}

static wide_int add(struct formula_evaluation *e, wide_int a, wide_int b)
{
    return formula_add(e, a, b);
}

/* ---- elementwise ---- */

void formula_unary(struct formula_evaluation *e,
                   const struct formula_rule *rule,
                   struct formula *out)
{
    struct formula_shape x;
    (void)rule;
    if (!formula_tensor(e, 0, &x)) {
        return;
    }
    wide_int in_size = formula_size(e, 0);
    wide_int out_size = formula_size(e, formula_given(e, 1) == 1 ? 1 : 0);
    out->unit = FORMULA_VECTOR;
    out->precision = formula_precision(e, 0);
    out->flops = formula_elements(e, x);
    out->bytes = mul(e, out->flops, in_size + out_size);
}

/* Elements of two shapes broadcast to one. */
static wide_int
broadcast(struct formula_evaluation *e, struct formula_shape a, struct formula_shape b)
{
    size_t rank = a.rank > b.rank ? a.rank : b.rank;
    wide_int count = 1;
    for (size_t i = 0; i < rank; i++) {
        int64_t x = i + a.rank < rank ? 1 : a.dims[i + a.rank - rank];
        int64_t y = i + b.rank < rank ? 1 : b.dims[i + b.rank - rank];
        e->fails = e->fails || (x != y && x != 1 && y != 1);
        count = mul(e, count, x == 1 ? y : x);
    }
    return count;
}

static wide_int binary_out_size(struct formula_evaluation *e,
                                struct formula_shape a,
                                struct formula_shape b,
                                wide_int a_size,
                                wide_int b_size)
{
    if (formula_given(e, 2) == 1) {
        return formula_size(e, 2);
    }
    if (a.rank > 0 && b.rank > 0) {
        return a_size > b_size ? a_size : b_size;
    }
    return b.rank > 0 ? b_size : a_size;
}

void formula_binary(struct formula_evaluation *e,
                    const struct formula_rule *rule,
                    struct formula *out)
{
    struct formula_shape a;
    struct formula_shape b;
    (void)rule;
    if (!formula_tensor(e, 0, &a) || !formula_tensor(e, 1, &b)) {
        return;
    }
    wide_int a_size = formula_size(e, 0);
    wide_int b_size = formula_size(e, 1);
    wide_int count = broadcast(e, a, b);
    wide_int read =
        add(e, mul(e, formula_elements(e, a), a_size), mul(e, formula_elements(e, b), b_size));
    out->unit = FORMULA_VECTOR;
    out->precision = formula_precision(e, 0);
    out->flops = count;
    out->bytes = add(e, read, mul(e, count, binary_out_size(e, a, b, a_size, b_size)));
}

/* ---- reductions ---- */

/* The dimensions that go away; *count of them, 0: all. */
static void read_reduced(struct formula_evaluation *e,
                         const struct formula_rule *rule,
                         int64_t *dims,
                         size_t *count)
{
    struct op_text text = formula_concrete(e, rule->a);
    *count = formula_ints(e, rule->a, dims);
    bool is_one = rule->b == 1 && text.len > 0 && *text.ptr != '[' && *text.ptr != '+' &&
                  op_text_is(formula_type(e, rule->a), "scalar");
    if (is_one && op_text_int(text, dims)) {
        *count = 1;
    }
}

static wide_int
kept_elements(struct formula_evaluation *e, const struct formula_rule *rule, struct formula_shape x)
{
    int64_t dims[FORMULA_ITEMS_MAX];
    bool is_gone[OP_INPUTS_NUMBERS] = {false};
    size_t count;
    wide_int kept = 1;
    read_reduced(e, rule, dims, &count);
    if (count == 0) {
        return 1;
    }
    int64_t rank = (int64_t)x.rank;
    for (size_t i = 0; i < count; i++) {
        if (dims[i] < -rank || dims[i] >= rank) {
            e->fails = true;
            return 0;
        }
        is_gone[dims[i] < 0 ? dims[i] + rank : dims[i]] = true;
    }
    for (size_t i = 0; i < x.rank; i++) {
        kept = is_gone[i] ? kept : mul(e, kept, x.dims[i]);
    }
    return kept;
}

void formula_reduction(struct formula_evaluation *e,
                       const struct formula_rule *rule,
                       struct formula *out)
{
    struct formula_shape x;
    if (!formula_tensor(e, 0, &x)) {
        return;
    }
    wide_int count = formula_elements(e, x);
    wide_int kept = rule->c == 1 ? count : kept_elements(e, rule, x);
    out->unit = FORMULA_VECTOR;
    out->precision = formula_precision(e, 0);
    out->flops = count;
    out->bytes = mul(e, add(e, count, kept), formula_size(e, 0));
}

/* ---- resampling ---- */

static void set_resampled(struct formula_evaluation *e,
                          struct formula_shape x,
                          wide_int count,
                          struct formula *out)
{
    out->unit = FORMULA_VECTOR;
    out->precision = formula_precision(e, 0);
    out->flops = count;
    out->bytes = mul(e, add(e, formula_elements(e, x), count), formula_size(e, 0));
}

/* floor(length x the factor that a text holds). */
static wide_int scaled(struct formula_evaluation *e, int64_t length, struct op_text factor)
{
    char text[NUMBER_BYTES];
    char *end = text;
    if (factor.len == 0 || factor.len >= sizeof text) {
        e->fails = true;
        return 0;
    }
    memcpy(text, factor.ptr, factor.len);
    text[factor.len] = '\0';
    double value = floor((double)length * strtod(text, &end));
    if (*end != '\0' || !(fabs(value) < 0x1p63)) {
        e->fails = true;
        return 0;
    }
    return (int64_t)value;
}

void formula_upsampling(struct formula_evaluation *e,
                        const struct formula_rule *rule,
                        struct formula *out)
{
    struct formula_shape x;
    struct formula_items factors;
    int64_t sizes[FORMULA_ITEMS_MAX];
    size_t space = rule->a;
    if (!formula_tensor_of(e, 0, space + 2, &x)) {
        return;
    }
    size_t count = formula_ints(e, 1, sizes);
    bool has_sizes = count > 0;
    (void)formula_items(e, 2, &factors);
    /* Factors beyond the dimensions of space are left alone. */
    size_t known = has_sizes ? count : (factors.count < space ? factors.count : space);
    e->fails = e->fails || known != space;
    wide_int elements = formula_product(e, x.dims, 2);
    for (size_t i = 0; !e->fails && i < space; i++) {
        elements = mul(e, elements,
                       has_sizes ? (wide_int)sizes[i] : scaled(e, x.dims[i + 2], factors.at[i]));
    }
    set_resampled(e, x, elements, out);
}

void formula_padding(struct formula_evaluation *e,
                     const struct formula_rule *rule,
                     struct formula *out)
{
    struct formula_shape x;
    int64_t pads[FORMULA_ITEMS_MAX];
    size_t space = rule->a;
    if (!formula_tensor(e, 0, &x)) {
        return;
    }
    size_t count = formula_ints(e, 1, pads);
    if ((x.rank != space + 1 && x.rank != space + 2) || count != 2 * space) {
        e->fails = true;
        return;
    }
    /* Pairs begin with the last dimension. */
    wide_int elements = 1;
    for (size_t i = 0; i < x.rank; i++) {
        size_t pair = x.rank - 1 - i;
        wide_int padding = pair < space ? (wide_int)pads[2 * pair] + pads[2 * pair + 1] : 0;
        elements = mul(e, elements, x.dims[i] + padding);
    }
    set_resampled(e, x, elements, out);
}

/* ---- norms ---- */

/* C, from a list or as the second dimension; not above 0: no formula. */
static wide_int channels(struct formula_evaluation *e, size_t at, bool is_listed)
{
    int64_t listed[FORMULA_ITEMS_MAX];
    struct formula_shape x;
    wide_int count = 0;
    if (is_listed) {
        size_t dims = formula_ints(e, at, listed);
        count = dims == 0 ? 0 : formula_product(e, listed, dims);
    } else if (formula_tensor(e, at, &x)) {
        count = x.rank > 1 ? x.dims[1] : 0;
    }
    e->fails = e->fails || count <= 0;
    return e->fails ? 1 : count;
}

void formula_norm(struct formula_evaluation *e,
                  const struct formula_rule *rule,
                  struct formula *out)
{
    struct formula_shape x;
    if (!formula_tensor(e, 0, &x)) {
        return;
    }
    wide_int n = formula_elements(e, x);
    wide_int weight = formula_given(e, rule->b);
    wide_int bias = formula_given(e, rule->b + 1U);
    wide_int training = rule->c == 1 ? formula_true(e, 5, false) : 1;
    wide_int c = channels(e, rule->a == 1 ? 1 : 0, rule->a == 1);
    wide_int size = formula_size(e, 0);
    wide_int vectors = 2 + weight + weight * bias + 2 * training;
    out->unit = FORMULA_VECTOR;
    out->precision = formula_precision(e, 0);
    out->flops = add(e, mul(e, 6, c), mul(e, 2 + 3 * training, n));
    out->bytes = mul(e, add(e, mul(e, 2, n), mul(e, c, vectors)), size);
}

enum { BACKWARD_LAYER, BACKWARD_GROUP, BACKWARD_BATCH, BACKWARD_VENDOR };

struct norm_backward {
    wide_int c, weight, bias, training;
    wide_int mask[3];
};

static void read_backward(struct formula_evaluation *e,
                          const struct formula_rule *rule,
                          struct norm_backward *b)
{
    *b = (struct norm_backward){.bias = 1, .training = 1, .mask = {1, 1, 1}};
    switch (rule->a) {
    case BACKWARD_LAYER:
        b->c = channels(e, 2, true);
        formula_mask(e, 7, 3, b->mask);
        b->weight = b->mask[1];
        b->bias = b->mask[2];
        break;
    case BACKWARD_GROUP:
        b->c = channels(e, 1, false);
        b->weight = formula_given(e, 4);
        formula_mask(e, 9, 3, b->mask);
        break;
    case BACKWARD_BATCH:
        b->c = channels(e, 1, false);
        b->weight = formula_given(e, 2);
        b->training = formula_true(e, 7, false);
        formula_mask(e, 9, 3, b->mask);
        break;
    default:
        b->c = channels(e, 0, false);
        b->weight = formula_given(e, 2);
        break;
    }
}

void formula_norm_backward(struct formula_evaluation *e,
                           const struct formula_rule *rule,
                           struct formula *out)
{
    struct formula_shape x;
    struct norm_backward b;
    size_t at = rule->a == BACKWARD_VENDOR ? 0 : 1;
    if (!formula_tensor(e, at, &x)) {
        return;
    }
    read_backward(e, rule, &b);
    wide_int n = formula_elements(e, x);
    wide_int input = b.mask[0] * (b.training == 1 ? 5 : 2);
    wide_int tensors = 2 + b.mask[0] * b.training;
    wide_int vectors = b.training + b.weight + b.weight * b.training * (1 + b.bias);
    out->unit = FORMULA_VECTOR;
    out->precision = formula_precision(e, at);
    out->flops = add(e, mul(e, 4 + input, n), mul(e, 3 * (1 - b.training), b.c));
    out->bytes = mul(e, add(e, mul(e, tensors, n), mul(e, vectors, b.c)), formula_size(e, at));
}

void formula_rms_norm(struct formula_evaluation *e,
                      const struct formula_rule *rule,
                      struct formula *out)
{
    struct formula_shape x;
    (void)rule;
    if (!formula_tensor(e, 0, &x)) {
        return;
    }
    wide_int n = formula_elements(e, x);
    wide_int c = channels(e, 1, true);
    wide_int weight = formula_given(e, 2);
    wide_int rows = wide_floor_div(n, c);
    out->unit = FORMULA_VECTOR;
    out->precision = formula_precision(e, 0);
    out->flops = add(e, mul(e, rows, add(e, mul(e, 2, c), 2)), mul(e, 1 + weight, n));
    out->bytes = mul(e, add(e, mul(e, 2, n), weight * c), formula_size(e, 0));
}

void formula_rms_norm_backward(struct formula_evaluation *e,
                               const struct formula_rule *rule,
                               struct formula *out)
{
    struct formula_shape x;
    wide_int mask[2];
    (void)rule;
    if (!formula_tensor(e, 1, &x)) {
        return;
    }
    wide_int n = formula_elements(e, x);
    wide_int c = channels(e, 2, true);
    wide_int weight = formula_given(e, 4);
    formula_mask(e, 5, 2, mask);
    wide_int of_weight = mask[1] * weight * (wide_floor_div(n, c) > 1 ? 2 : 1);
    out->unit = FORMULA_VECTOR;
    out->precision = formula_precision(e, 1);
    out->flops = mul(e, 1 + weight + 6 * mask[0] + of_weight, n);
    out->bytes = mul(e, add(e, mul(e, 3, n), mul(e, 2 * weight, c)), formula_size(e, 1));
}

/* ---- embeddings ---- */

void formula_embedding(struct formula_evaluation *e,
                       const struct formula_rule *rule,
                       struct formula *out)
{
    struct formula_shape weight;
    struct formula_shape indices;
    (void)rule;
    if (!formula_tensor_of(e, 0, 2, &weight) || !formula_tensor(e, 1, &indices)) {
        return;
    }
    wide_int count = formula_elements(e, indices);
    wide_int rows = mul(e, mul(e, 2, count), weight.dims[1]);
    out->unit = FORMULA_VECTOR;
    out->precision = formula_precision(e, 0);
    out->flops = 0;
    out->bytes = add(e, mul(e, count, formula_size(e, 1)), mul(e, rows, formula_size(e, 0)));
}
