#include "ingest/analysis/efficiency/formulas.h"

#include "ingest/analysis/efficiency/formula_rules.h"

#include <stdlib.h>
#include <string.h>

const char *formula_unit_text(enum formula_unit unit)
{
    return unit == FORMULA_MATRIX ? "matrix" : "vector";
}

const char *formula_precision_text(enum formula_precision precision)
{
    static const char *const texts[FORMULA_PRECISION_COUNT + 1] = {
        "fp16", "bf16", "tf32", "fp32", "fp64", "fp8", "int8", "fp4", NULL};
    return texts[precision];
}

/* ---- types ---- */

struct type {
    const char *name; /* in lower case; all that begin so, if it ends in an underscore */
    uint8_t size_bytes;
    uint8_t precision; /* enum formula_precision */
};

static const struct type types[] = {
    {"float", 4, FORMULA_FP32},
    {"c10::half", 2, FORMULA_FP16},
    {"c10::bfloat16", 2, FORMULA_BF16},
    {"double", 8, FORMULA_FP64},
    {"c10::float8_", 1, FORMULA_FP8},
    {"c10::float4_e2m1fn_x2", 1, FORMULA_FP4},
    {"c10::float4_", 0, FORMULA_FP4},
    {"unsigned char", 1, FORMULA_INT8},
    {"signed char", 1, FORMULA_INT8},
    {"char", 0, FORMULA_INT8},
    {"bool", 1, FORMULA_NO_PRECISION},
    {"short", 2, FORMULA_NO_PRECISION},
    {"int", 4, FORMULA_NO_PRECISION},
    {"scalar", 4, FORMULA_NO_PRECISION},
    {"long int", 8, FORMULA_NO_PRECISION},
    {"c10::complex<float>", 8, FORMULA_NO_PRECISION},
    {"c10::complex<double>", 16, FORMULA_NO_PRECISION},
};

static struct type type_of(struct op_text text)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t len = strlen(types[i].name);
        bool is_prefix = types[i].name[len - 1] == '_' && text.len >= len;
        struct op_text compared = {text.ptr, is_prefix ? len : text.len};
        if (op_text_is(compared, types[i].name)) {
            return types[i];
        }
    }
    return (struct type){"", 0, FORMULA_NO_PRECISION};
}

struct op_text formula_type(const struct formula_evaluation *e, size_t at)
{
    return at < e->in->type_count ? e->in->types[at] : (struct op_text){"", 0};
}

wide_int formula_size(struct formula_evaluation *e, size_t at)
{
    struct type type = type_of(formula_type(e, at));
    e->lacks_size = e->lacks_size || type.size_bytes == 0;
    return type.size_bytes;
}

enum formula_precision formula_precision(const struct formula_evaluation *e, size_t at)
{
    return (enum formula_precision)type_of(formula_type(e, at)).precision;
}

/* ---- dimensions ---- */

bool formula_tensor(struct formula_evaluation *e, size_t at, struct formula_shape *out)
{
    bool is_there = at < e->in->dims_count && e->in->dims[at].is_tensor;
    *out = (struct formula_shape){NULL, 0};
    if (is_there) {
        const struct op_dims *dims = &e->in->dims[at];
        *out = (struct formula_shape){e->in->numbers + dims->first, dims->rank};
    }
    e->fails = e->fails || !is_there;
    return is_there;
}

bool formula_tensor_of(struct formula_evaluation *e,
                       size_t at,
                       size_t rank,
                       struct formula_shape *out)
{
    bool fits = formula_tensor(e, at, out) && out->rank == rank;
    e->fails = e->fails || !fits;
    return fits;
}

wide_int formula_given(const struct formula_evaluation *e, size_t at)
{
    return at < e->in->dims_count && e->in->dims[at].is_given ? 1 : 0;
}

/* ---- concrete values ---- */

struct op_text formula_concrete(const struct formula_evaluation *e, size_t at)
{
    return at < e->in->concrete_count ? e->in->concrete[at] : (struct op_text){"", 0};
}

wide_int formula_true(const struct formula_evaluation *e, size_t at, bool empty)
{
    struct op_text text = formula_concrete(e, at);
    return (text.len == 0 ? empty : op_text_is(text, "true")) ? 1 : 0;
}

bool formula_items(struct formula_evaluation *e, size_t at, struct formula_items *out)
{
    struct op_text text = formula_concrete(e, at);
    out->count = 0;
    if (text.len < 2 || *text.ptr != '[' || text.ptr[text.len - 1] != ']') {
        return false;
    }
    const char *end = text.ptr + text.len - 1;
    for (const char *from = text.ptr + 1; from < end;) {
        const char *comma = memchr(from, ',', (size_t)(end - from));
        const char *to = comma == NULL ? end : comma;
        struct op_text item = op_text_strip((struct op_text){from, (size_t)(to - from)});
        if (item.len > 0 && out->count == FORMULA_ITEMS_MAX) {
            e->fails = true;
            return true;
        }
        if (item.len > 0) {
            out->at[out->count++] = item;
        }
        from = comma == NULL ? end : comma + 1;
    }
    return true;
}

size_t formula_ints(struct formula_evaluation *e, size_t at, int64_t *out)
{
    struct formula_items items;
    (void)formula_items(e, at, &items);
    for (size_t i = 0; i < items.count; i++) {
        if (!op_text_int(items.at[i], &out[i])) {
            e->fails = true;
            return 0;
        }
    }
    return items.count;
}

void formula_mask(struct formula_evaluation *e, size_t at, size_t count, wide_int *out)
{
    struct formula_items items;
    (void)formula_items(e, at, &items);
    e->fails = e->fails || items.count < count;
    for (size_t i = 0; i < count; i++) {
        out[i] = i < items.count && op_text_is(items.at[i], "true") ? 1 : 0;
    }
}

/* ---- arithmetic ---- */

wide_int formula_add(struct formula_evaluation *e, wide_int a, wide_int b)
{
    wide_int sum = 0;
    e->fails = !wide_add(a, b, &sum) || e->fails;
    return e->fails ? 0 : sum;
}

wide_int formula_mul(struct formula_evaluation *e, wide_int a, wide_int b)
{
    wide_int product = 0;
    e->fails = !wide_mul(a, b, &product) || e->fails;
    return e->fails ? 0 : product;
}

wide_int formula_product(struct formula_evaluation *e, const int64_t *factors, size_t count)
{
    wide_int product = 1;
    for (size_t i = 0; i < count; i++) {
        product = formula_mul(e, product, factors[i]);
    }
    return product;
}

wide_int formula_elements(struct formula_evaluation *e, struct formula_shape shape)
{
    return formula_product(e, shape.dims, shape.rank);
}

/* ---- the operators ---- */

/* In order of their names. */
static const struct formula_rule rules[] = {
#define RULE(name, family, ...) {name, formula_##family, __VA_ARGS__},
#include "ingest/analysis/efficiency/formula_rules.def"
};

static int compare_names(const void *name, const void *rule)
{
    return strcmp(name, ((const struct formula_rule *)rule)->name);
}

const struct formula_rule *formula_find(const char *name)
{
    return bsearch(name, rules, sizeof rules / sizeof *rules, sizeof *rules, compare_names);
}

bool formula_compute(const struct formula_rule *rule,
                     const struct op_inputs *inputs,
                     struct formula *out)
{
    struct formula_evaluation e = {.in = inputs};
    *out = (struct formula){.flops = 0, .precision = FORMULA_NO_PRECISION};
    rule->compute(&e, rule, out);
    out->bytes = e.lacks_size ? WIDE_NONE : out->bytes;
    return !e.fails;
}
