#include "ingest/analysis/captures/capture.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/index/engine_annotation.h"
#include "ingest/index/sort.h"

#include <stdlib.h>
#include <string.h>

/* How often each launch is looked at on average to tell roots apart, which may overlap. */
#define VISITS_PER_LAUNCH 16

struct reading {
    const struct trace_index *index;
    struct arena *arena;
    struct capture *out;
    const char **text_of; /* by string id: its copy in the arena */
    uint32_t *begins, *ends, *launches;
    size_t begin_count, end_count, launch_count;
};

/* ---- calls ---- */

static const char *name_of(const struct trace_index *index, uint32_t event)
{
    return strtab_text(index->trace->strings, index->trace->events.name[event]);
}

static bool records_work(const char *name)
{
    return strstr(name, "GraphLaunch") == NULL &&
           (strstr(name, "Launch") != NULL || strstr(name, "Memcpy") != NULL ||
            strstr(name, "Memset") != NULL);
}

static bool list_calls(struct reading *r)
{
    const struct trace_index *index = r->index;
    size_t cap =
        (size_t)index->class_count[INDEX_RUNTIME_CALL] + index->class_count[INDEX_DRIVER_CALL];
    r->begins = scratch_alloc(cap, sizeof *r->begins);
    r->ends = scratch_alloc(cap, sizeof *r->ends);
    r->launches = scratch_alloc(cap, sizeof *r->launches);
    if (r->begins == NULL || r->ends == NULL || r->launches == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < index->trace->events.count; i++) {
        if (!index_is_call(index_class(index, i))) {
            continue;
        }
        const char *name = name_of(index, i);
        if (strstr(name, "StreamBeginCapture") != NULL) {
            r->begins[r->begin_count++] = i;
        } else if (strstr(name, "StreamEndCapture") != NULL) {
            r->ends[r->end_count++] = i;
        } else if (records_work(name)) {
            r->launches[r->launch_count++] = i;
        }
    }
    const int64_t *ts_ns = index->trace->events.ts_ns;
    return sort_by_key(r->begins, r->begin_count, ts_ns) &&
           sort_by_key(r->ends, r->end_count, ts_ns) &&
           sort_by_key(r->launches, r->launch_count, ts_ns);
}

/* ---- launches ---- */

/* NULL without memory. */
static const char *keep(struct reading *r, uint32_t text)
{
    if (r->text_of[text] == NULL) {
        const char *from = strtab_text(r->index->trace->strings, text);
        r->text_of[text] = arena_strdup(r->arena, from);
    }
    return r->text_of[text];
}

static enum capture_records records_of(const char *name)
{
    return strstr(name, "Memcpy") != NULL   ? CAPTURE_COPY
           : strstr(name, "Memset") != NULL ? CAPTURE_SET
                                            : CAPTURE_KERNEL;
}

static bool write_launch(struct reading *r, uint32_t call, struct capture_launch *out)
{
    const struct trace_events *events = &r->index->trace->events;
    uint32_t op = r->index->op[call];
    *out = (struct capture_launch){.records = records_of(name_of(r->index, call)),
                                   .name = keep(r, events->name[call]),
                                   .op_number = op == INDEX_NONE ? CAPTURE_NO_OPERATOR : op,
                                   .start_ns = events->ts_ns[call]};
    out->end_ns = saturating_add(out->start_ns, trace_dur_ns(events, call));
    bool ok = out->name != NULL;
    if (op != INDEX_NONE) {
        out->op = keep(r, events->name[op]);
        ok = ok && out->op != NULL;
    }
    if (events->args[call] != TRACE_NO_ARGS) {
        out->kernel = keep(r, events->args[call]);
        ok = ok && out->kernel != NULL;
    }
    return ok;
}

static bool write_launches(struct reading *r)
{
    struct capture *out = r->out;
    out->launches = arena_calloc(r->arena, r->launch_count + 1, sizeof *out->launches);
    out->op_count = r->index->trace->events.count;
    bool ok = out->launches != NULL;
    for (size_t i = 0; ok && i < r->launch_count; i++) {
        ok = write_launch(r, r->launches[i], &out->launches[i]);
    }
    out->launch_count = r->launch_count;
    return ok;
}

/* ---- roots ---- */

/* The first launch that starts at `at_ns` or later. */
static size_t launches_before(const struct capture *capture, int64_t at_ns)
{
    return order_i64_below(capture->launches, capture->launch_count, sizeof *capture->launches,
                           offsetof(struct capture_launch, start_ns), at_ns, false);
}

const struct capture_launch *
capture_next(const struct capture *capture, const struct capture_root *root, size_t *at)
{
    while (*at < root->end) {
        const struct capture_launch *launch = &capture->launches[(*at)++];
        if (launch->end_ns <= root->limit_ns) {
            return launch;
        }
    }
    return NULL;
}

/* Of the texts that it compares, each of which has one copy. */
static uint64_t hash_root(const struct capture *capture, const struct capture_root *root)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    const struct capture_launch *launch = NULL;
    for (size_t at = root->first; (launch = capture_next(capture, root, &at)) != NULL;) {
        hash = (hash ^ (uintptr_t)launch->name) * UINT64_C(1099511628211);
        hash = (hash ^ (uintptr_t)launch->kernel) * UINT64_C(1099511628211);
        hash ^= hash >> 29;
    }
    return hash;
}

static bool is_new(const uint64_t *hashes, size_t count, uint64_t hash)
{
    for (size_t i = 0; i < count; i++) {
        if (hashes[i] == hash) {
            return false;
        }
    }
    return true;
}

static void list_tried(struct capture *capture)
{
    uint64_t hashes[CAPTURE_ROOTS_TRIED] = {0};
    size_t visits = VISITS_PER_LAUNCH * (capture->launch_count + 1);
    for (size_t i = 0; i < capture->root_count && capture->tried_count < CAPTURE_ROOTS_TRIED; i++) {
        const struct capture_root *root = &capture->roots[i];
        if (root->end - root->first > visits) {
            return;
        }
        visits -= root->end - root->first;
        uint64_t hash = hash_root(capture, root);
        if (is_new(hashes, capture->tried_count, hash)) {
            hashes[capture->tried_count] = hash;
            capture->tried[capture->tried_count++] = *root;
        }
    }
}

/* The k-th begin goes with the k-th end. */
static bool write_roots(struct reading *r)
{
    struct capture *out = r->out;
    const struct trace_events *events = &r->index->trace->events;
    size_t count = r->begin_count < r->end_count ? r->begin_count : r->end_count;
    out->roots = arena_calloc(r->arena, count + 1, sizeof *out->roots);
    if (out->roots == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t begin = r->begins[i];
        int64_t begun_ns = saturating_add(events->ts_ns[begin], trace_dur_ns(events, begin));
        int64_t limit_ns = events->ts_ns[r->ends[i]];
        size_t first = launches_before(out, begun_ns);
        size_t end = launches_before(out, saturating_add(limit_ns, 1));
        out->roots[i] = (struct capture_root){first, end > first ? end : first, limit_ns};
    }
    out->root_count = count;
    out->begin_count = r->begin_count;
    list_tried(out);
    return true;
}

/* ---- sizes and shapes ---- */

static bool read_size(const char *name, int64_t *size)
{
    static const char prefix[] = "capture_";
    const size_t prefix_bytes = sizeof prefix - 1;
    if (strncmp(name, prefix, prefix_bytes) != 0) {
        return false;
    }
    const char *digits = name + prefix_bytes;
    size_t len = strspn(digits, "0123456789");
    *size = strtoll(digits, NULL, 10);
    return len > 0 && digits[len] == '_';
}

/* Three integers in brackets, after which *at stands behind them. */
static bool read_three(const char **at, int64_t out[3])
{
    const char *next = *at + 1;
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        out[i] = strtoll(next, &end, 10);
        if (end == next || *end != (i < 2 ? ',' : ']')) {
            return false;
        }
        next = end + 1;
    }
    *at = next;
    return true;
}

/* Of a text such as `[[128, 32, 64], []]`. */
static bool read_first_shape(const char *shapes, int64_t *heads, int64_t *head_dim)
{
    int64_t dims[3];
    if (strncmp(shapes, "[[", 2) != 0) {
        return false;
    }
    const char *at = shapes + 1;
    if (!read_three(&at, dims)) {
        return false;
    }
    *heads = dims[1];
    *head_dim = dims[2];
    return true;
}

bool capture_attention(const struct trace_index *index,
                       uint32_t event,
                       int64_t *heads,
                       int64_t *head_dim)
{
    const struct trace *trace = index->trace;
    uint32_t args = trace->events.args[event];
    if (index_class(index, event) != INDEX_OPERATOR || args == TRACE_NO_ARGS ||
        !trace_has_op_args(trace_kind(&trace->events, event)) ||
        strstr(name_of(index, event), "attention") == NULL) {
        return false;
    }
    return read_first_shape(strtab_text(trace->strings, trace->op_args[args].shape), heads,
                            head_dim);
}

static bool read_sizes(struct reading *r)
{
    struct capture *out = r->out;
    size_t cap = r->index->class_count[INDEX_ANNOTATION];
    int64_t size = 0;
    out->sizes = arena_calloc(r->arena, cap + 1, sizeof *out->sizes);
    for (uint32_t i = 0; out->sizes != NULL && i < r->index->trace->events.count; i++) {
        if (index_class(r->index, i) == INDEX_ANNOTATION &&
            read_size(name_of(r->index, i), &size)) {
            out->sizes[out->size_count++] = size;
        }
    }
    return out->sizes != NULL;
}

/* That which starts first. */
static void read_attention(struct reading *r)
{
    const int64_t *ts_ns = r->index->trace->events.ts_ns;
    int64_t first_ns = 0;
    int64_t heads = 0;
    int64_t head_dim = 0;
    for (uint32_t i = 0; i < r->index->trace->events.count; i++) {
        bool is_first = r->out->heads == 0 || ts_ns[i] < first_ns;
        if (is_first && capture_attention(r->index, i, &heads, &head_dim)) {
            first_ns = ts_ns[i];
            r->out->heads = heads;
            r->out->head_dim = head_dim;
        }
    }
}

/* ---- all ---- */

static bool read_index(struct reading *r)
{
    r->text_of = scratch_calloc(strtab_count(r->index->trace->strings), sizeof(const char *));
    bool ok =
        r->text_of != NULL && list_calls(r) && write_launches(r) && write_roots(r) && read_sizes(r);
    if (ok) {
        read_attention(r);
    }
    SCRATCH_FREE((void *)r->text_of, r->begins, r->ends, r->launches);
    return ok;
}

bool capture_read(const struct trace *trace, struct arena *arena, struct capture *out)
{
    struct trace_index index;
    struct reading r = {.index = &index, .arena = arena, .out = out};
    *out = (struct capture){.root_count = 0};
    bool ok = index_build(&index, trace) && read_index(&r);
    index_free(&index);
    return ok;
}

const struct capture *capture_choose(const struct capture *captures, size_t count, int64_t tokens)
{
    const struct capture *best = NULL;
    int64_t best_size = INT64_MAX;
    bool has_sizes = false;
    for (size_t i = 0; i < count; i++) {
        has_sizes = has_sizes || captures[i].size_count > 0;
        for (size_t k = 0; tokens != ENGINE_UNKNOWN && k < captures[i].size_count; k++) {
            int64_t size = captures[i].sizes[k];
            if (size >= tokens && (best == NULL || size < best_size)) {
                best = &captures[i];
                best_size = size;
            }
        }
    }
    return best == NULL && !has_sizes && count == 1 ? &captures[0] : best;
}
