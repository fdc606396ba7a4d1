/* What names and categories say to the analysis of cycles [CMP-10] [CMP-10a]: which function type
 * an event has, which words it holds, which metric a counter samples. Each distinct name is looked
 * at once. */
#ifndef KS_ANALYSIS_CYCLES_NAMES_H
#define KS_ANALYSIS_CYCLES_NAMES_H

#include "ingest/base/attr.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stdint.h>

enum cycle_name_flag {
    CYCLE_NAME_KNOWN = 1,
    CYCLE_NAME_NCCL = 1 << 1,          /* contains `nccl`, any case */
    CYCLE_NAME_MEMCPY = 1 << 2,        /* begins so */
    CYCLE_NAME_DTOH = 1 << 3,          /* contains DtoH */
    CYCLE_NAME_DTOD = 1 << 4,          /* contains DtoD */
    CYCLE_NAME_MEMSET = 1 << 5,        /* begins so */
    CYCLE_NAME_SYSCALL_MEM = 1 << 6,   /* mmap, mprotect, munmap, any case */
    CYCLE_NAME_RUNTIME_SYNC = 1 << 7,  /* cudaStreamSynchronize */
    CYCLE_NAME_DRIVER_SYNC = 1 << 8,   /* cuStreamSynchronize */
    CYCLE_NAME_DISK = 1 << 9,          /* read, readv, write */
    CYCLE_NAME_ONCPU = 1 << 10,        /* begins so, any case */
    CYCLE_NAME_RUNQ = 1 << 11,         /* exactly */
    CYCLE_NAME_PREFILL = 1 << 12,      /* contains `forward_extend`, any case */
    CYCLE_NAME_DECODE = 1 << 13,       /* the word `decode`, but for the name `decode` */
    CYCLE_NAME_JUST_DECODE = 1 << 14,  /* exactly `decode` */
    CYCLE_NAME_ENCODE = 1 << 15,       /* exactly, any case */
    CYCLE_NAME_LAUNCH_EX = 1 << 16,    /* cuLaunchKernelEx */
    CYCLE_NAME_NEVER_ANCHOR = 1 << 17, /* waiting loops [CMP-10.anchors.1] */
    CYCLE_NAME_COLLECTIVE = 1 << 18    /* annotation of a collective, `nccl:all_reduce` */
};

enum cycle_category_flag {
    CYCLE_CATEGORY_APP = 1,          /* CAT_APP: user probes */
    CYCLE_CATEGORY_DISK = 1 << 1,    /* CAT_DISK */
    CYCLE_CATEGORY_XPU = 1 << 2,     /* CAT_XPU: counters whose device is in the tid */
    CYCLE_CATEGORY_NUMBERED = 1 << 3 /* CAT_CPU, CAT_MEMORY, CAT_PROCESS: counters whose instance is
                                        in the name */
};

struct cycle_names {
    const struct trace *trace;
    uint32_t *flags; /* by string id */
    uint8_t *category_flags;
};

/* False without memory; must be freed in either case. */
bool cycle_names_init(struct cycle_names *names, const struct trace *trace) KS_MUST_USE;
void cycle_names_free(struct cycle_names *names);

/* Works out the flags of a name; use cycle_name_flags. */
uint32_t cycle_names_look(struct cycle_names *names, uint32_t name);

static inline uint32_t cycle_name_flags(struct cycle_names *names, uint32_t name)
{
    uint32_t flags = names->flags[name];
    return KS_LIKELY(flags != 0) ? flags : cycle_names_look(names, name);
}

/* The short name of [CMP-10a.tables.1]. Longer names are cut to `cap` bytes; the answer is `out`,
 * or `name` where nothing changes. */
const char *cycle_simple_name(const char *name, char *out, size_t cap);

#endif
