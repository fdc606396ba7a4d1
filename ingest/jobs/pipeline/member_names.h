/* Decides which worker each member of an archive is. A member is the worker of its base name, as if
 * it were uploaded alone. If several members then share one worker (the same base name in several
 * directories), or a directory names a rank that the base name does not, all of them prefix their
 * directory; if that is not enough, all their directories; as a last resort the worker is the whole
 * path:
 *
 *     rank_0/trace.json           rank_0/trace         worker0.1.pt.trace.json    worker0
 *     rank_1/trace.json           rank_1/trace         worker0.2.pt.trace.json    worker0
 *     rank_0/logs/trace.json      rank_0/logs/trace    trace.json                 trace.json
 *     rank_1/logs/trace.json      rank_1/logs/trace    trace.json.gz              trace.json.gz
 *
 * Of two members with the same path the later one counts, as when unpacking. */
#ifndef KS_JOBS_PIPELINE_MEMBER_NAMES_H
#define KS_JOBS_PIPELINE_MEMBER_NAMES_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Larger archives are refused. */
#define MEMBER_NAMES_MAX 100000u

struct member_name {
    const char *path;
    const char *worker; /* NULL: a later member has the same path */
};

struct member_names {
    struct arena arena;
    struct member_name *names; /* in the order of the archive */
    size_t count;
    size_t capacity;
};

void member_names_init(struct member_names *names);
void member_names_free(struct member_names *names);
/* Adds the next member. ERR_NO_MEMORY; ERR_BAD_INPUT: too many members. */
bool member_names_add(struct member_names *names, const char *path, struct err *err) KS_MUST_USE;
/* Sets the workers. Call it after the last member. */
bool member_names_settle(struct member_names *names, struct err *err) KS_MUST_USE;

#endif
