/* What a piece of device work is for, by its name [DEV-1]. */
#ifndef KS_ANALYSIS_KERNEL_CLASSES_KERNEL_CLASSES_H
#define KS_ANALYSIS_KERNEL_CLASSES_KERNEL_CLASSES_H

#include "ingest/analysis/kernel_classes/kernel_rules.h"
#include "ingest/base/attr.h"

#include <stdbool.h>

#define KERNEL_CLASS_COMMUNICATION "communication"
#define KERNEL_CLASS_MEMCPY "memcpy"
#define KERNEL_CLASS_MEMSET "memset"
/* Rows that mark a wait of a stream or a context: no work. */
#define KERNEL_CLASS_SYNC "sync"

/* Whether Tensor Cores, Matrix Cores or their like do the work. */
enum matrix_unit { MATRIX_UNIT_UNKNOWN, MATRIX_UNIT_UNUSED, MATRIX_UNIT_USED };

struct kernel_class {
    const char *name;               /* "gemm", "attention", …, "other" */
    const char *communication_kind; /* "nccl", …, "other"; NULL: no communication */
    enum matrix_unit matrix_unit;
};

/* `own` rules, which may be NULL, come before the built-in ones; they own their texts in *out.
 * False without memory. Linear in the name's length. Thread-safe. */
bool kernel_class_of(const struct kernel_rules *own,
                     const char *name,
                     struct kernel_class *out) KS_MUST_USE;

#endif
