/* Work of matrix units: products of matrices, convolutions, attention. */
#include "ingest/analysis/efficiency/formula_rules.h"

static wide_int mul(struct formula_evaluation *e, wide_int a, wide_int b)
{
    return formula_mul(e, a, b);
}

static wide_int mul3(struct formula_evaluation *e, wide_int a, wide_int b, wide_int c)
{
    return formula_mul(e, formula_mul(e, a, b), c);
}

static wide_int add(struct formula_evaluation *e, wide_int a, wide_int b)
{
    return formula_add(e, a, b);
}

/* ---- products of matrices ---- */

/* `n` products of [M,K] and [K,N]. */
struct gemm {
    wide_int n, m, k, columns;
    wide_int bias; /* 1: is added */
    wide_int a_size, b_size, out_size;
};

static void set_gemm(struct formula_evaluation *e, const struct gemm *g, struct formula *out)
{
    wide_int result = mul(e, g->m, g->columns);
    wide_int flops = add(e, mul3(e, 2, result, g->k), mul(e, g->bias, result));
    wide_int a_bytes = mul3(e, g->m, g->k, g->a_size);
    wide_int b_bytes = mul3(e, g->k, g->columns, g->b_size);
    wide_int bias_bytes = mul3(e, g->bias, g->columns, g->a_size);
    wide_int bytes = add(e, add(e, a_bytes, b_bytes), mul(e, result, g->out_size));
    out->unit = FORMULA_MATRIX;
    out->flops = mul(e, g->n, flops);
    out->bytes = mul(e, g->n, add(e, bytes, bias_bytes));
}

void formula_gemm(struct formula_evaluation *e,
                  const struct formula_rule *rule,
                  struct formula *out)
{
    struct formula_shape a;
    struct formula_shape b;
    size_t batch = rule->d;
    if (!formula_tensor_of(e, rule->a, 2 + batch, &a) ||
        !formula_tensor_of(e, rule->b, 2 + batch, &b)) {
        return;
    }
    struct gemm g = {.n = batch == 1 ? a.dims[0] : 1,
                     .m = a.dims[batch],
                     .k = a.dims[batch + 1],
                     .columns = b.dims[batch + 1],
                     .bias = rule->c,
                     .a_size = formula_size(e, rule->a),
                     .b_size = formula_size(e, rule->b)};
    g.out_size = g.a_size;
    out->precision = formula_precision(e, rule->a);
    set_gemm(e, &g, out);
}

/* The type of the output is a number of torch.dtype: 5 half, 6 float, 15 bfloat16. */
static wide_int scaled_out_size(struct formula_evaluation *e, wide_int a_size)
{
    struct op_text type = formula_concrete(e, 6);
    if (op_text_is(type, "5") || op_text_is(type, "15")) {
        return 2;
    }
    if (op_text_is(type, "6")) {
        return 4;
    }
    return a_size == 1 ? 2 : a_size;
}

void formula_scaled_mm(struct formula_evaluation *e,
                       const struct formula_rule *rule,
                       struct formula *out)
{
    struct formula_shape a;
    struct formula_shape b;
    (void)rule;
    if (!formula_tensor_of(e, 0, 2, &a) || !formula_tensor_of(e, 1, 2, &b)) {
        return;
    }
    struct gemm g = {.n = 1,
                     .m = a.dims[0],
                     .k = a.dims[1],
                     .columns = b.dims[1],
                     .bias = formula_given(e, 4),
                     .a_size = formula_size(e, 0),
                     .b_size = formula_size(e, 1)};
    g.out_size = scaled_out_size(e, g.a_size);
    out->precision = formula_precision(e, 0);
    set_gemm(e, &g, out);
}

/* [T,K] whose rows are split among G matrices [K,N]. */
void formula_grouped_mm(struct formula_evaluation *e,
                        const struct formula_rule *rule,
                        struct formula *out)
{
    struct formula_shape a;
    struct formula_shape b;
    (void)rule;
    if (!formula_tensor_of(e, 0, 2, &a) || !formula_tensor_of(e, 1, 3, &b)) {
        return;
    }
    wide_int a_count = formula_elements(e, a);
    wide_int b_count = mul3(e, b.dims[0], a.dims[1], b.dims[2]);
    wide_int out_count = mul(e, a.dims[0], b.dims[2]);
    out->unit = FORMULA_MATRIX;
    out->precision = formula_precision(e, 0);
    out->flops = mul3(e, 2, a_count, b.dims[2]);
    out->bytes = mul(e, add(e, add(e, a_count, b_count), out_count), formula_size(e, 0));
}

/* [..,K] times the transpose of [N,K]. */
void formula_linear(struct formula_evaluation *e,
                    const struct formula_rule *rule,
                    struct formula *out)
{
    struct formula_shape a;
    struct formula_shape b;
    (void)rule;
    if (!formula_tensor(e, 0, &a) || !formula_tensor_of(e, 1, 2, &b) || a.rank == 0) {
        e->fails = true;
        return;
    }
    struct gemm g = {.n = 1,
                     .m = formula_product(e, a.dims, a.rank - 1),
                     .k = a.dims[a.rank - 1],
                     .columns = b.dims[0],
                     .bias = formula_given(e, 2),
                     .a_size = formula_size(e, 0),
                     .b_size = formula_size(e, 1)};
    g.out_size = g.a_size;
    out->precision = formula_precision(e, 0);
    set_gemm(e, &g, out);
}

/* ---- convolutions ---- */

struct convolution {
    struct formula_shape x, w;
    size_t space; /* dimensions of it */
    int64_t stride[FORMULA_ITEMS_MAX], padding[FORMULA_ITEMS_MAX];
    int64_t dilation[FORMULA_ITEMS_MAX], output_padding[FORMULA_ITEMS_MAX];
    wide_int transposed;
    int64_t groups;
};

/* One entry stands for all dimensions of space. */
static void
read_spread(struct formula_evaluation *e, size_t at, size_t space, int64_t preset, int64_t *out)
{
    size_t count = formula_ints(e, at, out);
    if (count == 0) {
        out[0] = preset;
        count = 1;
    }
    e->fails = e->fails || (count != 1 && count != space);
    for (size_t i = count; i < space; i++) {
        out[i] = out[0];
    }
}

static bool read_convolution(struct formula_evaluation *e, size_t at, struct convolution *c)
{
    if (!formula_tensor(e, at, &c->x) || !formula_tensor_of(e, at + 1, c->x.rank, &c->w) ||
        c->x.rank < 3 || c->x.rank > FORMULA_ITEMS_MAX) {
        e->fails = true;
        return false;
    }
    c->space = c->x.rank - 2;
    read_spread(e, at + 3, c->space, 1, c->stride);
    read_spread(e, at + 4, c->space, 0, c->padding);
    read_spread(e, at + 5, c->space, 1, c->dilation);
    read_spread(e, at + 7, c->space, 0, c->output_padding);
    c->transposed = formula_true(e, at + 6, false);
    struct op_text groups = formula_concrete(e, at + 8);
    c->groups = 1;
    e->fails = e->fails || (groups.len > 0 && !op_text_int(groups, &c->groups));
    return !e->fails;
}

/* Length of the output along a dimension of space. */
static wide_int out_length(struct formula_evaluation *e, const struct convolution *c, size_t i)
{
    wide_int x = c->x.dims[i + 2];
    wide_int kernel = mul(e, c->dilation[i], (wide_int)c->w.dims[i + 2] - 1);
    wide_int padding = mul(e, 2, c->padding[i]);
    if (c->transposed == 1) {
        wide_int length = add(e, mul(e, x - 1, c->stride[i]), kernel);
        return add(e, length, (wide_int)c->output_padding[i] + 1 - padding);
    }
    if (c->stride[i] == 0) {
        e->fails = true;
        return 0;
    }
    return wide_floor_div(add(e, x + padding - 1, -kernel), c->stride[i]) + 1;
}

static wide_int out_elements(struct formula_evaluation *e, const struct convolution *c)
{
    wide_int channels =
        c->transposed == 1 ? mul(e, c->w.dims[1], c->groups) : (wide_int)c->w.dims[0];
    wide_int count = mul(e, c->x.dims[0], channels);
    for (size_t i = 0; i < c->space; i++) {
        count = mul(e, count, out_length(e, c, i));
    }
    return count;
}

/* How many of the gradients of the input and the weight are computed. */
static wide_int gradients(struct formula_evaluation *e)
{
    struct formula_items mask;
    (void)formula_items(e, 10, &mask);
    wide_int count = 0;
    for (size_t i = 0; i < mask.count && i < 2; i++) {
        count += op_text_is(mask.at[i], "true") ? 1 : 0;
    }
    return mask.count == 0 ? 2 : count;
}

void formula_convolution(struct formula_evaluation *e,
                         const struct formula_rule *rule,
                         struct formula *out)
{
    struct convolution c;
    if (!read_convolution(e, rule->a, &c)) {
        return;
    }
    wide_int times = rule->a == 0 ? 1 : gradients(e);
    wide_int outputs = out_elements(e, &c);
    wide_int inputs = formula_elements(e, c.x);
    wide_int one = formula_product(e, c.w.dims + 1, c.w.rank - 1);
    wide_int elements = add(e, add(e, inputs, formula_elements(e, c.w)), outputs);
    out->unit = FORMULA_MATRIX;
    out->precision = formula_precision(e, rule->a);
    out->flops = mul(e, mul3(e, times, 2, one), c.transposed == 1 ? inputs : outputs);
    out->bytes = mul3(e, times, elements, formula_size(e, rule->a));
}

/* ---- attention ---- */

/* Of q [B,H,N,D], k [B,Hk,M,D] and v [B,Hk,M,Dv]. */
struct attention {
    wide_int b, h, hk, n, m, d, dv;
};

static bool
read_attention(struct formula_evaluation *e, const struct formula_rule *rule, struct attention *a)
{
    struct formula_shape q;
    struct formula_shape k;
    struct formula_shape v;
    size_t heads = rule->c == 0 ? 1 : 2;
    size_t length = 3 - heads;
    if (!formula_tensor_of(e, rule->a, 4, &q) || !formula_tensor_of(e, rule->a + 1U, 4, &k) ||
        !formula_tensor_of(e, rule->a + 2U, 4, &v)) {
        return false;
    }
    *a = (struct attention){.b = q.dims[0],
                            .h = q.dims[heads],
                            .hk = k.dims[heads],
                            .n = q.dims[length],
                            .m = k.dims[length],
                            .d = q.dims[3],
                            .dv = v.dims[3]};
    return true;
}

/* Twice the pairs of a query and a key that it sees. */
static wide_int twice_pairs(struct formula_evaluation *e, const struct attention *a, bool causal)
{
    if (!causal) {
        return mul3(e, 2, a->n, a->m);
    }
    if (a->n <= a->m) {
        return mul(e, a->n, a->n);
    }
    return add(e, mul(e, a->m, a->m), mul3(e, 2, a->n - a->m, a->m));
}

static void forward(struct formula_evaluation *e,
                    const struct attention *a,
                    wide_int pairs,
                    struct formula *out)
{
    wide_int dims = add(e, a->d, a->dv);
    wide_int queries = mul(e, mul3(e, a->b, a->n, a->h), dims);
    wide_int keys = mul(e, mul3(e, a->b, a->m, a->hk), dims);
    out->flops = mul(e, mul3(e, a->b, a->h, pairs), dims);
    out->bytes = add(e, queries, keys);
}

/* Five products; with fewer heads of keys, the sum of their gradients over the queries' heads. */
static void backward(struct formula_evaluation *e,
                     const struct formula_rule *rule,
                     const struct attention *a,
                     bool causal,
                     struct formula *out)
{
    wide_int elements = mul(e, mul3(e, a->b, a->n, a->h), a->dv);
    wide_int pairs = twice_pairs(e, a, causal);
    if (a->hk == 0) {
        e->fails = true;
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        struct formula_shape shape;
        if (formula_tensor(e, rule->a + i, &shape)) {
            elements = add(e, elements, mul(e, 2, formula_elements(e, shape)));
        }
    }
    wide_int dims = add(e, mul(e, 3, a->d), mul(e, 2, a->dv));
    wide_int sums = mul3(e, a->b, a->m, add(e, a->d, a->dv));
    sums = mul(e, sums, wide_floor_div(a->h, a->hk) - 1);
    sums = causal ? wide_floor_div(sums, 2) : sums;
    out->flops = add(e, mul(e, mul3(e, a->b, a->h, pairs), dims), sums);
    out->bytes = elements;
}

void formula_attention(struct formula_evaluation *e,
                       const struct formula_rule *rule,
                       struct formula *out)
{
    struct attention a;
    bool causal = formula_true(e, rule->b, rule->d == 1) == 1;
    if (!read_attention(e, rule, &a)) {
        return;
    }
    out->unit = FORMULA_MATRIX;
    out->precision = formula_precision(e, rule->a);
    if (rule->a == 0) {
        forward(e, &a, twice_pairs(e, &a, causal), out);
    } else {
        backward(e, rule, &a, causal, out);
    }
    out->bytes = mul(e, out->bytes, formula_size(e, rule->a));
}
