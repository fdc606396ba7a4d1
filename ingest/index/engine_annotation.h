/* What serving engines say of a step in the name of an annotation [DEV-4]:
 * `execute_24_context_0(sq0sk0sqsq0sqsk0)_generation_24(…)`, `step[DECODE bs=32 …]`, and so on. */
#ifndef KS_INDEX_ENGINE_ANNOTATION_H
#define KS_INDEX_ENGINE_ANNOTATION_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

/* The engine did not say. */
#define ENGINE_UNKNOWN INT64_MIN

enum engine { ENGINE_VLLM, ENGINE_SGLANG, ENGINE_ATOM, ENGINE_DIFFUSION, ENGINE_COUNT };

enum engine_phase {
    ENGINE_PREFILL,
    ENGINE_DECODE,
    ENGINE_MIXED,
    ENGINE_IDLE,
    ENGINE_DENOISING, /* of a diffusion model */
    ENGINE_PHASE_COUNT
};

/* The requests of a step that read their prompt (context), or write their answer (generation). Each
 * may be ENGINE_UNKNOWN. */
struct engine_side {
    int64_t requests;
    int64_t tokens; /* sum of the queries q */
    int64_t kv;     /* sum of the keys k */
    int64_t sqsq;   /* sum of q * q */
    int64_t sqsk;   /* sum of q * k */
};

struct engine_annotation {
    enum engine engine;
    enum engine_phase phase;
    bool is_detailed; /* has kv, sqsq and sqsk */
    int64_t requests;
    int64_t tokens; /* may be ENGINE_UNKNOWN, as may all below */
    struct engine_side context, generation;
    int64_t attention_pairs; /* of queries and keys: 2 c.sqsk - c.sqsq + 2 g.sqsk */
    int64_t padded_batch;
    int64_t width, height; /* of a picture */
};

/* False: the name is of no such form. Text behind a form does not matter. */
bool engine_annotation_read(const char *name, struct engine_annotation *out) KS_MUST_USE;

const char *engine_text(enum engine engine);
const char *engine_phase_text(enum engine_phase phase);

#endif
