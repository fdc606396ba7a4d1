/* Whose the device work of a trace is, so that all of it adds up [DEV-3]. */
#ifndef KS_ANALYSIS_DEVICE_TIME_DEVICE_OPERATORS_H
#define KS_ANALYSIS_DEVICE_TIME_DEVICE_OPERATORS_H

#include "ingest/analysis/captures/align.h"
#include "ingest/analysis/captures/capture.h"
#include "ingest/analysis/kernel_classes/kernel_rules.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/tables/table.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum device_owner {
    DEVICE_OWNER_CALL,         /* a call outside all operators */
    DEVICE_OWNER_GRAPH_LAUNCH, /* a call that launched a graph, whatever is around it */
    DEVICE_OWNER_NOT_RECORDED, /* launched before the recording began, or by nobody known */
    DEVICE_OWNER_OPERATOR,
    DEVICE_OWNER_COUNT
};

struct device_operator {
    enum device_owner owner;
    const char *name;  /* of the operator or the call; "" */
    const char *class; /* of the largest part of its device time */
    int64_t calls;     /* of the operator, or of the call */
    int64_t kernels;   /* device work of all kinds */
    int64_t device_ns;
    double share; /* of all, set by who shows it */
};

struct device_operators {
    struct device_operator *rows; /* the largest device_ns first, then by owner and name */
    size_t count;
    int64_t device_ns;              /* sum of the rows */
    int64_t companion;              /* id of the first capture that was of use; 0: none */
    int64_t alignment[ALIGN_COUNT]; /* graph launches with device work and a capture */
};

/* Captures of the same run, which name the kernels of graph launches. */
struct device_captures {
    const struct capture *items;
    size_t count;
    bool is_given; /* items[0] is the one, whatever it knows; else by the tokens of the step */
};

/* Everything in *out lives in the arena; `own` as for kernel_class_of(). O(n log n); what is beyond
 * a bound of comparisons with captures stays a graph launch. False without memory. */
bool device_operators_analyse(const struct trace *trace,
                              const struct kernel_rules *own,
                              const struct device_captures *captures,
                              struct arena *arena,
                              struct device_operators *out) KS_MUST_USE;

const char *device_owner_text(enum device_owner owner);

extern const struct row_table table_device_operator; /* of the rows */

#endif
