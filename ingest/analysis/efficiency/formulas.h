/* What an operator computes and moves, from its inputs alone [CAU-4.2]. */
#ifndef KS_ANALYSIS_EFFICIENCY_FORMULAS_H
#define KS_ANALYSIS_EFFICIENCY_FORMULAS_H

#include "ingest/analysis/efficiency/op_inputs.h"
#include "ingest/base/wide.h"

/* The unit of a processor that does the work. */
enum formula_unit { FORMULA_MATRIX, FORMULA_VECTOR, FORMULA_UNIT_COUNT };

/* In the order of the answers. */
enum formula_precision {
    FORMULA_FP16,
    FORMULA_BF16,
    FORMULA_TF32,
    FORMULA_FP32,
    FORMULA_FP64,
    FORMULA_FP8,
    FORMULA_INT8,
    FORMULA_FP4,
    FORMULA_PRECISION_COUNT,
    FORMULA_NO_PRECISION = FORMULA_PRECISION_COUNT
};

/* "matrix", "vector"; "fp16", …; NULL for FORMULA_NO_PRECISION. */
const char *formula_unit_text(enum formula_unit unit);
const char *formula_precision_text(enum formula_precision precision);

struct formula {
    wide_int flops;
    wide_int bytes; /* WIDE_NONE: the size of a type is not known */
    enum formula_unit unit;
    enum formula_precision precision; /* never FORMULA_TF32: inputs do not tell */
};

struct formula_rule;

/* The formula of an operator by its full name (`aten::mm`); NULL: there is none. */
const struct formula_rule *formula_find(const char *name);
/* False when the inputs are not as the formula wants them. */
bool formula_compute(const struct formula_rule *rule,
                     const struct op_inputs *inputs,
                     struct formula *out) KS_MUST_USE;

#endif
