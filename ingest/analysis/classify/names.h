/* What the names of events say: the tests on names that [TB-3] to [TB-6] ask for, each done once a
 * distinct name. */
#ifndef KS_ANALYSIS_CLASSIFY_NAMES_H
#define KS_ANALYSIS_CLASSIFY_NAMES_H

#include "ingest/analysis/kernel_classes/kernel_rules.h"
#include "ingest/base/attr.h"
#include "ingest/base/text/strtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum name_flag {
    NAME_KNOWN = 1,
    NAME_KERNEL_KNOWN = 1 << 1,
    NAME_STEP = 1 << 2,          /* begins `ProfilerStep#` */
    NAME_STEP_NUMBERED = 1 << 3, /* and a number follows */
    NAME_LOADER = 1 << 4,    /* `enumerate(DataLoader)#….__next__`, `enumerate(DataPipe)#…` */
    NAME_OPTIMIZER = 1 << 5, /* begins `Optimizer.step` */
    NAME_NOT_REAL =
        1 << 6, /* excluded from real operators: `Optimizer.…`, `DataParallel.forward` … */
    NAME_NCCL = 1 << 7, /* a collective of that library [TB-4g] */
    NAME_GLOO = 1 << 8,
    NAME_CNCL = 1 << 9,
    NAME_DP = 1 << 10,  /* `DataParallel.forward` */
    NAME_DDP = 1 << 11, /* `DistributedDataParallel.forward` */
    NAME_BACKWARD_ROOT = 1 << 12,
    NAME_ACCUMULATE_GRAD = 1 << 13,
    NAME_TENSOR_OPERATOR = 1 << 15, /* may use matrix units */
    NAME_TENSOR_KERNEL = 1 << 17,   /* uses them: by the list or by the rules [DEV-1] */
    NAME_OUR_COLLECTIVE =
        1 << 18, /* operator of a collective by our rule: see collective_kinds.h */
    NAME_COLLECTIVE_KERNEL = 1 << 19, /* class communication [DEV-1] */
    NAME_PLAIN_KERNEL = 1 << 20       /* uses no matrix units; without both it is unknown */
};
#define NAMES_OF_KERNELS \
    ((uint32_t)(NAME_TENSOR_KERNEL | NAME_COLLECTIVE_KERNEL | NAME_PLAIN_KERNEL))
#define NAME_COLLECTIVE (NAME_NCCL | NAME_GLOO | NAME_CNCL)

#define NAMES_STEP_PREFIX "ProfilerStep#"
#define NAMES_STEP_NUMBER_BYTES 64 /* room for the numbers that count as such */

struct names {
    const struct strtab *strings; /* the trace's */
    struct strtab *extra;         /* names that the trace does not have; created when needed */
    uint32_t base;                /* ids from here on are those of `extra` plus base */
    uint32_t *flags;
    size_t flags_cap;
    bool only_listed; /* matrix units are told by the lists of names alone (tensor_core.h) */
};

/* False without memory. The string table must outlive the names. */
bool names_init(struct names *names, const struct strtab *strings) KS_MUST_USE;
/* Another reader of the same names on a thread of its own: what it adds or finds out of them is its
 * own. Of names without `extra`. */
bool names_copy(struct names *to, const struct names *from) KS_MUST_USE;
void names_free(struct names *names);
/* The id of a text, equal to that of an equal name of the trace; STRTAB_NONE without memory. */
uint32_t names_intern(struct names *names, const char *text, size_t len);
const char *names_text(const struct names *names, uint32_t id);
size_t names_len(const struct names *names, uint32_t id);

/* Reads the name, whose flags are then known. */
uint32_t names_find_flags(struct names *names, uint32_t id);
/* enum name_flag without those of kernels. */
static inline uint32_t names_flags(struct names *names, uint32_t id)
{
    uint32_t flags = names->flags[id];
    return ((flags & NAME_KNOWN) != 0 ? flags : names_find_flags(names, id)) &
           ~(NAMES_OF_KERNELS | (uint32_t)NAME_KERNEL_KNOWN);
}
/* Reads a kernel's name by the rules of kernel classes; `own` as for kernel_class_of(). False
 * without memory. */
bool names_read_kernel(struct names *names,
                       uint32_t id,
                       const struct kernel_rules *own) KS_MUST_USE;
/* Reads a kernel's name by the list alone, whose flags are then known. */
uint32_t names_find_kernel_flags(struct names *names, uint32_t id);
/* NAMES_OF_KERNELS together: by the rules where the name was read by them. */
static inline uint32_t names_kernel_flags(struct names *names, uint32_t id)
{
    uint32_t flags = names->flags[id];
    return ((flags & NAME_KERNEL_KNOWN) != 0 ? flags : names_find_kernel_flags(names, id)) &
           NAMES_OF_KERNELS;
}

/* The number after `ProfilerStep#` as Python's int() reads it and str() prints it ("007" is "7"),
 * into `out` of `cap` bytes. The length; 0 when there is no number, or none that fits. */
size_t names_step_number(const char *name, char *out, size_t cap);

#endif
