/* What two runs must have in common before their times say something about the program: hardware,
 * software, how it was recorded. Texts for the reader, as the trace says; what it does not say is
 * unknown, and never guessed. */
#ifndef KS_MODEL_RESULTS_ENVIRONMENT_H
#define KS_MODEL_RESULTS_ENVIRONMENT_H

#include <stdbool.h>

/* Rows of results.environment about all devices that the properties name. */
#define ENVIRONMENT_KEY_DEVICE "deviceProperties.name"
#define ENVIRONMENT_KEY_MEMORY "deviceProperties.totalGlobalMem"
#define ENVIRONMENT_KEY_CAPABILITY "deviceProperties.computeCapability"
/* "Nsight Systems 2024.5.1"; not where PyTorch's profiler wrote the file. */
#define ENVIRONMENT_KEY_RECORDER "recorder"

enum environment_fact {
    ENVIRONMENT_DEVICE,        /* "NVIDIA A100-SXM4-40GB": of devices that did any work */
    ENVIRONMENT_DEVICES,       /* "8": how many did, in one trace */
    ENVIRONMENT_MEMORY,        /* "39.4 GiB", of one device */
    ENVIRONMENT_CAPABILITY,    /* "8.0" */
    ENVIRONMENT_WORLD_SIZE,    /* "8" */
    ENVIRONMENT_BACKEND,       /* "nccl" */
    ENVIRONMENT_COMMUNICATION, /* "NCCL 2.21.5" */
    ENVIRONMENT_DRIVER,        /* "CUDA 12.9", what the driver supports */
    ENVIRONMENT_RUNTIME,       /* "CUDA 12.4", "HIP 6.4.43483" */
    ENVIRONMENT_FRAMEWORK,     /* "2.7.0" */
    ENVIRONMENT_PROFILER,      /* "CUPTI 22", "roctracer 4.1", "torch_npu" */
    ENVIRONMENT_OPTIONS,       /* "record_shapes, with_stack"; "none": said to be off */
    ENVIRONMENT_STEPS,         /* "6"; "none" */
    ENVIRONMENT_FACT_COUNT
};

/* "device", "world_size": names in the API and in the store. "Device", "World size": for the
 * reader. */
const char *environment_fact_name(enum environment_fact fact);
const char *environment_fact_label(enum environment_fact fact);

/* Of one trace, or of one side of a comparison. NULL: unknown. Where traces of one side say
 * different things, all of them: "NVIDIA A100 / NVIDIA H100". */
struct environment {
    const char *facts[ENVIRONMENT_FACT_COUNT];
};

enum environment_match {
    ENVIRONMENT_SAME,
    ENVIRONMENT_DIFFERENT,
    ENVIRONMENT_UNKNOWN, /* at least one side does not say */
};
const char *environment_match_name(enum environment_match match); /* "same", ... */

enum environment_match environment_match(const struct environment sides[2],
                                         enum environment_fact fact);
/* Whether this fact, where it differs, makes the times of two runs say nothing about the program:
 * device, number of devices, compute capability, world size, backend. */
bool environment_is_decisive(enum environment_fact fact);
/* False: a decisive fact differs. */
bool environment_is_comparable(const struct environment sides[2]);
/* Whether anything is known of either side. */
bool environment_is_known(const struct environment sides[2]);

#endif
