/* Copies the names and texts that result rows need into the results' arena, each text once. */
#ifndef KS_ANALYSIS_CLASSIFY_TEXTS_H
#define KS_ANALYSIS_CLASSIFY_TEXTS_H

#include "ingest/analysis/classify/names.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct texts {
    struct arena *arena;
    const struct names *names;
    const char **copies; /* by name id */
    size_t count;
};

/* False without memory. */
bool texts_init(struct texts *texts, struct arena *arena, const struct names *names) KS_MUST_USE;
void texts_free(struct texts *texts); /* the copies stay in the arena */
/* The copy of a name or text of the trace; NULL without memory. */
const char *texts_copy(struct texts *texts, uint32_t id) KS_MUST_USE;

#endif
