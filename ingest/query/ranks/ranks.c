#include "ingest/query/ranks/ranks.h"

#include "ingest/analysis/ranks/run.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/store/store_ranks.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Changes whenever a view of the same traces becomes another one. */
#define VIEWS_VERSION 2
/* Digests that stay in memory between the passes over them; more are read again. */
#define HELD_BYTES ((size_t)256 << 20)
#define ID_BYTES 32
/* Lanes that are written at once. */
#define LANES_AT_ONCE 32

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the ranks of a run");
}

/* ---- which traces ---- */

static bool is_profile(const struct store_trace *trace)
{
    return (trace->views >> VIEW_TRACE & 1U) != 0;
}

static bool name_inputs(struct query_ranks *ranks)
{
    struct sha256 *hash = sha256_create();
    char text[ID_BYTES];
    if (hash == NULL) {
        return false;
    }
    int len = snprintf(text, sizeof text, "%d", VIEWS_VERSION);
    sha256_update(hash, text, (size_t)len);
    for (size_t i = 0; i < ranks->trace_count; i++) {
        len = snprintf(text, sizeof text, " %" PRId64, ranks->traces[i]->id);
        sha256_update(hash, text, (size_t)len);
    }
    sha256_final_hex(hash, ranks->inputs);
    sha256_destroy(hash);
    return true;
}

static int64_t first_span(const struct store_trace *traces, size_t count)
{
    int64_t span = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        bool is_first = is_profile(&traces[i]) && traces[i].span < span;
        span = is_first ? traces[i].span : span;
    }
    return span;
}

bool query_ranks_open(struct store_snapshot *snapshot,
                      struct arena *arena,
                      const char *run,
                      int64_t span,
                      struct query_ranks *out,
                      struct err *err)
{
    struct store_trace *traces = NULL;
    size_t count = 0;
    if (!store_traces(snapshot, arena, run, &traces, &count, err)) {
        return false;
    }
    *out = (struct query_ranks){.run = run,
                                .span = span == 0 ? first_span(traces, count) : span,
                                .traces =
                                    arena_calloc(arena, count + 1, sizeof(struct store_trace *))};
    if (out->traces == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        if (is_profile(&traces[i]) && traces[i].span == out->span) {
            out->traces[out->trace_count++] = &traces[i];
        }
    }
    if (out->trace_count == 0) {
        return err_set(err, ERR_NOT_FOUND,
                       "Run \"%.80s\" has no trace of a profiler%s: upload one of each rank", run,
                       span == 0 ? "" : " in this span");
    }
    return name_inputs(out) || no_memory(err);
}

static struct run_view_key key_of(const struct query_ranks *ranks, enum run_view view)
{
    return (struct run_view_key){ranks->run, ranks->span, view, ranks->inputs, 0};
}

bool query_ranks_find_verdict(struct store_snapshot *snapshot,
                              struct arena *arena,
                              const struct query_ranks *ranks,
                              struct ranks_verdict **out,
                              struct err *err)
{
    struct run_view_key key = key_of(ranks, RUN_VIEW_VERDICT);
    return store_ranks_verdict(snapshot, arena, &key, out, err);
}

bool query_ranks_find_collectives(struct store_snapshot *snapshot,
                                  struct arena *arena,
                                  const struct query_ranks *ranks,
                                  bool is_raw,
                                  struct ranks_collectives **out,
                                  struct err *err)
{
    struct run_view_key key =
        key_of(ranks, is_raw ? RUN_VIEW_COLLECTIVES_RAW : RUN_VIEW_COLLECTIVES);
    return store_ranks_collectives(snapshot, arena, &key, out, err);
}

bool query_ranks_levels(struct store_snapshot *snapshot,
                        struct arena *arena,
                        const struct query_ranks *ranks,
                        size_t place,
                        const struct query_ranks_window *window,
                        struct rank_levels **out,
                        struct err *err)
{
    struct run_view_key key = key_of(ranks, RUN_VIEW_LANES);
    struct rank_lane *lane = NULL;
    key.part = (int64_t)place;
    *out = NULL;
    if (!store_ranks_lane(snapshot, arena, &key, &lane, err) || lane == NULL) {
        return err->code == ERR_NONE;
    }
    struct rank_levels *levels = arena_calloc(arena, 1, sizeof *levels);
    for (int l = 0; levels != NULL && l < LANE_LAYER_COUNT; l++) {
        char *digits = arena_calloc(arena, window->pixels + 1, 1);
        if (digits == NULL ||
            !rank_lane_levels(&lane->layers[l], window->start_ns, window->pixel_ns, window->pixels,
                              digits, &levels->covered_ns[l])) {
            return no_memory(err);
        }
        levels->levels[l] = digits;
        levels->rank = lane->rank;
    }
    *out = levels;
    return levels != NULL || no_memory(err);
}

/* ---- digests ---- */

/* A trace with its rank [RANK-0a]. */
struct place {
    int64_t rank, trace_id;
};

struct digests {
    struct store_snapshot *snapshot;
    struct arena held, passing; /* passing: of the one read last */
    struct rank_digest **kept;  /* by trace; NULL: read it again */
    struct place *places;       /* by rank */
    size_t *kept_at;            /* by place: which trace */
    size_t count;
    int64_t twice_count;
};

static bool read_digest(
    struct digests *d, size_t at, int64_t trace_id, const struct rank_digest **out, struct err *err)
{
    static const struct rank_digest nothing = {.rank = RANK_UNKNOWN, .first_ns = RANK_UNKNOWN};
    struct rank_digest *digest = d->kept[at];
    if (digest == NULL) {
        bool is_held = d->held.held_bytes < HELD_BYTES;
        arena_free(&d->passing);
        if (!store_rank_digest(d->snapshot, is_held ? &d->held : &d->passing, trace_id, &digest,
                               err)) {
            return false;
        }
        d->kept[at] = is_held ? digest : NULL;
    }
    *out = digest == NULL ? &nothing : digest;
    return true;
}

/* The last number in a name; RANK_UNKNOWN: there is none. */
static int64_t last_number(const char *name)
{
    size_t end = strlen(name);
    while (end > 0 && isdigit((unsigned char)name[end - 1]) == 0) {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && isdigit((unsigned char)name[begin - 1]) != 0) {
        begin--;
    }
    errno = 0;
    long long number = strtoll(name + begin, NULL, 10);
    return begin == end || errno != 0 ? RANK_UNKNOWN : number;
}

int64_t query_rank_of(int64_t told, const struct store_trace *trace)
{
    if (told != RANK_UNKNOWN) {
        return told;
    }
    return trace->rank != STORE_NO_RANK ? trace->rank : last_number(trace->worker);
}

static int64_t
rank_of(const struct rank_digest *digest, const struct store_trace *trace, size_t place)
{
    int64_t rank = query_rank_of(digest->rank, trace);
    return rank == RANK_UNKNOWN ? (int64_t)place : rank;
}

struct sorted_place {
    struct place place;
    size_t at;
};

/* The later upload of a rank goes first. */
ORDER_BY(by_rank, struct sorted_place, ORDER_UP(place.rank), ORDER_DOWN(place.trace_id))

static bool place_traces(struct digests *d, const struct query_ranks *ranks, struct err *err)
{
    struct sorted_place *all = scratch_alloc(ranks->trace_count, sizeof *all);
    bool ok = true;
    if (all == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; ok && i < ranks->trace_count; i++) {
        const struct rank_digest *digest = NULL;
        ok = read_digest(d, i, ranks->traces[i]->id, &digest, err);
        if (ok) {
            all[i] = (struct sorted_place){
                {rank_of(digest, ranks->traces[i], i), ranks->traces[i]->id}, i};
        }
    }
    if (ok) {
        qsort(all, ranks->trace_count, sizeof *all, by_rank);
    }
    for (size_t i = 0; ok && i < ranks->trace_count; i++) {
        if (i > 0 && all[i].place.rank == all[i - 1].place.rank) {
            d->twice_count++;
            continue;
        }
        d->places[d->count] = all[i].place;
        d->kept_at[d->count++] = all[i].at;
    }
    scratch_free(all);
    return ok;
}

static bool open_digests(struct digests *d,
                         struct store_snapshot *snapshot,
                         const struct query_ranks *ranks,
                         struct err *err)
{
    size_t count = ranks->trace_count;
    *d = (struct digests){.snapshot = snapshot,
                          .kept = scratch_calloc(count, sizeof(struct rank_digest *)),
                          .places = scratch_alloc(count, sizeof *d->places),
                          .kept_at = scratch_alloc(count, sizeof *d->kept_at)};
    arena_init(&d->held, 0);
    arena_init(&d->passing, 0);
    bool ok = d->kept != NULL && d->places != NULL && d->kept_at != NULL;
    return ok ? place_traces(d, ranks, err) : no_memory(err);
}

static void close_digests(struct digests *d)
{
    arena_free(&d->held);
    arena_free(&d->passing);
    SCRATCH_FREE(d->kept, d->places, d->kept_at);
}

/* ---- making ---- */

static struct ranks_run *create_run(const struct digests *d)
{
    int64_t *ranks = scratch_alloc(2 * d->count, sizeof *ranks);
    struct ranks_run *run = NULL;
    for (size_t i = 0; ranks != NULL && i < d->count; i++) {
        ranks[i] = d->places[i].rank;
        ranks[d->count + i] = d->places[i].trace_id;
    }
    if (ranks != NULL) {
        run = ranks_run_create(ranks, ranks + d->count, d->count);
    }
    scratch_free(ranks);
    return run;
}

typedef bool digest_step(struct ranks_run *run, size_t member, const struct rank_digest *digest);

static bool
each_digest(struct digests *d, struct ranks_run *run, digest_step *step, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < d->count; i++) {
        const struct rank_digest *digest = NULL;
        ok = read_digest(d, d->kept_at[i], d->places[i].trace_id, &digest, err) &&
             (step(run, i, digest) || no_memory(err));
    }
    return ok;
}

static bool run_all(struct digests *d, struct ranks_run *run, struct err *err)
{
    return each_digest(d, run, ranks_run_add, err) && (ranks_run_match(run) || no_memory(err)) &&
           each_digest(d, run, ranks_run_describe, err) &&
           (!ranks_run_has_culprits(run) || each_digest(d, run, ranks_run_kernels, err));
}

static bool keep_lanes(struct digests *d,
                       const struct query_ranks *ranks,
                       struct ranks_run *run,
                       struct err *err)
{
    struct run_view_key key = key_of(ranks, RUN_VIEW_LANES);
    struct rank_lane lanes[LANES_AT_ONCE];
    struct arena arena;
    bool ok = true;
    arena_init(&arena, 0);
    for (size_t i = 0; ok && i < d->count; i++) {
        const struct rank_digest *digest = NULL;
        size_t at = i % LANES_AT_ONCE;
        ok = read_digest(d, d->kept_at[i], d->places[i].trace_id, &digest, err) &&
             (ranks_run_lane(run, i, digest, &arena, &lanes[at]) || no_memory(err));
        if (ok && (at + 1 == LANES_AT_ONCE || i + 1 == d->count)) {
            key.part = (int64_t)(i - at);
            ok = store_ranks_lanes_put(d->snapshot->store, &key, lanes, at + 1, err);
            arena_free(&arena);
        }
    }
    arena_free(&arena);
    return ok;
}

static bool keep(struct store_snapshot *snapshot,
                 const struct query_ranks *ranks,
                 bool is_raw,
                 const struct query_ranks_made *made,
                 struct err *err)
{
    struct run_view_key verdict = key_of(ranks, RUN_VIEW_VERDICT);
    struct run_view_key collectives =
        key_of(ranks, is_raw ? RUN_VIEW_COLLECTIVES_RAW : RUN_VIEW_COLLECTIVES);
    return store_ranks_verdict_put(snapshot->store, &verdict, &made->verdict, err) &&
           store_ranks_collectives_put(snapshot->store, &collectives, &made->collectives, err);
}

bool query_ranks_make(struct store_snapshot *snapshot,
                      struct arena *arena,
                      const struct query_ranks *ranks,
                      bool is_raw,
                      bool with_parts,
                      struct query_ranks_made *out,
                      struct err *err)
{
    struct digests d;
    struct ranks_run *run = NULL;
    bool ok = open_digests(&d, snapshot, ranks, err);
    if (ok) {
        run = create_run(&d);
        ok = run != NULL ? run_all(&d, run, err) : no_memory(err);
    }
    if (ok) {
        ok = (ranks_run_verdict(run, arena, &out->verdict) &&
              ranks_run_collectives(run, is_raw, with_parts, arena, &out->collectives)) ||
             no_memory(err);
        out->verdict.twice_count = d.twice_count;
    }
    ok = ok && keep_lanes(&d, ranks, run, err);
    ranks_run_destroy(run);
    close_digests(&d);
    return ok && keep(snapshot, ranks, is_raw, out, err);
}
