/* Rules of one's own for the classes of device work: `--kernel-classes FILE` [DEV-1]. */
#ifndef KS_ANALYSIS_KERNEL_CLASSES_KERNEL_RULES_H
#define KS_ANALYSIS_KERNEL_CLASSES_KERNEL_RULES_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/base/sha256.h"

#include <stdbool.h>
#include <stddef.h>

enum matrix_rule {
    MATRIX_RULE_UNUSED,
    MATRIX_RULE_USED,
    MATRIX_RULE_BY_NAME, /* if the name tells of a type of matrix instructions, else unknown */
    MATRIX_RULE_UNKNOWN
};

struct kernel_rule {
    const char *class;
    const char *kind; /* of communication; NULL: by the built-in kinds */
    enum matrix_rule matrix;
    const char *patterns; /* between blanks: ^ is the beginning of the name, * any run of bytes */
};

struct kernel_rules {
    struct arena arena; /* holds all below */
    struct kernel_rule *rules;
    size_t count;
    char sha256_hex[SHA256_HEX_BYTES]; /* of the file */
};

/* Lines `class yes|no|auto|- pattern... [kind=NAME]`, at most 1,000; # begins a comment. Patterns
 * are matched against names in lower case. To be freed in either case. ERR_BAD_INPUT names the
 * line; ERR_IO; ERR_NO_MEMORY. Afterwards only read, so that threads may share it. */
bool kernel_rules_read(const char *path, struct kernel_rules *rules, struct err *err) KS_MUST_USE;
void kernel_rules_free(struct kernel_rules *rules);

#endif
