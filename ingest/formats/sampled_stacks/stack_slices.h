/* Stacks on their way into the flame graph: a frame is a slice as long as it stands in one stack
 * after the other, and lies within that of its caller.
 *
 *     main;step;gemm 3    |main          |
 *     main;step;relu 1    |step     |log |
 *     main;log 2          |gemm|relu|
 *
 * Slices are calls of functions, role host; a unit of the weight is a nanosecond. They are kept in
 * the order of their begins, so that a caller stands before what it calls. */
#ifndef KS_FORMATS_SAMPLED_STACKS_STACK_SLICES_H
#define KS_FORMATS_SAMPLED_STACKS_STACK_SLICES_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/text/strtab.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frames below these have no slice of their own; they are counted. */
#define STACK_DEPTH_MAX 512

struct stack_slice {
    uint32_t name; /* string id */
    uint32_t thread;
    int64_t begin_ns, end_ns;
};

struct stack_slices {
    const char *recorder;
    struct strtab *names;
    struct stack_slice *items;
    size_t count, cap, relayed;
    uint32_t thread;
    int64_t now_ns;
    uint32_t open[STACK_DEPTH_MAX]; /* items, by depth */
    size_t depth, below;            /* below: open frames that are too deep */
    int64_t too_deep, unmatched, no_stacks;
    uint64_t cut_at; /* offset; WARNING_NO_OFFSET: not cut */
    bool failed;     /* no memory */
};

void stack_slices_init(struct stack_slices *slices, const char *recorder);
void stack_slices_free(struct stack_slices *slices);
/* The string id of a frame's name; longer ones are cut. */
uint32_t stack_slices_name(struct stack_slices *slices, const char *text, size_t len);
/* The same of a JSON string. */
uint32_t stack_slices_json_name(struct stack_slices *slices, const struct json_value *value);
/* From now on this stack, callers first, until the next call. */
void stack_slices_set(struct stack_slices *slices, const uint32_t *frames, size_t count);
void stack_slices_open(struct stack_slices *slices, uint32_t frame);
/* Closes the innermost frame, which the file says is this one. */
void stack_slices_close(struct stack_slices *slices, uint32_t frame);
/* A slice as it stands, behind its caller. */
void stack_slices_add(struct stack_slices *slices, struct stack_slice slice);

/* The trace of all slices. ERR_BAD_INPUT, with `nothing`: there is none. */
bool stack_slices_read(struct stack_slices *slices,
                       const char *nothing,
                       const struct format_options *options,
                       struct trace **out,
                       struct err *err) KS_MUST_USE;

#endif
