#include "ingest/analysis/captures/align.h"

#include "ingest/base/memory/scratch.h"

#include <string.h>

#define NONE UINT32_MAX

struct aligning {
    const struct capture *capture;
    const struct align_work *work;
    size_t count;
    int64_t *budget;
    const struct capture_launch **calls; /* of the root under trial */
    uint32_t *next;                      /* by work: the next of its stream; NONE */
    uint32_t *heads;                     /* by stream, in order of appearance: its next work */
    size_t stream_count;
};

static bool matches(struct aligning *a, const struct capture_launch *launch, size_t at)
{
    const char *name = a->work[at].name;
    (*a->budget)--;
    switch (launch->records) {
    case CAPTURE_COPY:
        return strstr(name, "Memcpy") != NULL;
    case CAPTURE_SET:
        return strstr(name, "Memset") != NULL || strstr(name, "fillBuffer") != NULL;
    case CAPTURE_KERNEL:
        break;
    }
    return launch->kernel != NULL && strcmp(launch->kernel, name) == 0;
}

/* ---- one queue ---- */

/* Each launch goes to the next work, or to none. Where every one goes to some, there are as many
 * and all match in order. */
static enum alignment align_in_order(struct aligning *a, const struct capture_root *root)
{
    const struct capture_launch *launch = NULL;
    size_t matched = 0;
    bool skips = false;
    for (size_t at = root->first; (launch = capture_next(a->capture, root, &at)) != NULL;) {
        if (matched<a->count && * a->budget> 0 && matches(a, launch, matched)) {
            a->calls[matched++] = launch;
        } else {
            skips = true;
        }
    }
    return matched < a->count ? ALIGN_FAILED : skips ? ALIGN_SKIPPING : ALIGN_EQUAL;
}

/* ---- a queue a stream ---- */

static bool list_streams(struct aligning *a)
{
    uint32_t *last = scratch_none(a->count); /* by stream: its last work so far */
    a->next = scratch_none(a->count);
    a->heads = scratch_none(a->count);
    bool ok = last != NULL && a->next != NULL && a->heads != NULL;
    for (size_t i = 0; ok && i < a->count; i++) {
        size_t stream = 0;
        while (stream < a->stream_count && a->work[a->heads[stream]].stream != a->work[i].stream) {
            stream++;
            (*a->budget)--;
        }
        if (stream == a->stream_count) {
            a->heads[a->stream_count++] = (uint32_t)i;
        } else {
            a->next[last[stream]] = (uint32_t)i;
        }
        last[stream] = (uint32_t)i;
        ok = *a->budget > 0;
    }
    scratch_free(last);
    return ok;
}

/* How many launches in turn, from this one on, match the next works of a stream. */
static size_t
run_length(struct aligning *a, const struct capture_root *root, size_t at, uint32_t head)
{
    size_t length = 0;
    const struct capture_launch *launch = NULL;
    while (head != NONE && *a->budget > 0 &&
           (launch = capture_next(a->capture, root, &at)) != NULL && matches(a, launch, head)) {
        head = a->next[head];
        length++;
    }
    return length;
}

/* Of the streams whose head matches, that with the longest run; of equal ones the first. `at`:
 * where the launch stands. NONE: no stream. */
static size_t choose_stream(struct aligning *a, const struct capture_root *root, size_t at)
{
    size_t best = SIZE_MAX;
    size_t best_length = 0;
    for (size_t stream = 0; stream<a->stream_count && * a->budget> 0; stream++) {
        size_t length = run_length(a, root, at, a->heads[stream]);
        if (length > best_length) {
            best = stream;
            best_length = length;
        }
    }
    return best;
}

static enum alignment align_streams(struct aligning *a, const struct capture_root *root)
{
    size_t matched = 0;
    for (size_t at = root->first; at < root->end && matched<a->count && * a->budget> 0; at++) {
        size_t behind = at;
        const struct capture_launch *launch = capture_next(a->capture, root, &behind);
        if (launch == NULL || behind != at + 1) {
            continue;
        }
        size_t stream = choose_stream(a, root, at);
        if (stream == SIZE_MAX) {
            continue;
        }
        a->calls[a->heads[stream]] = launch;
        a->heads[stream] = a->next[a->heads[stream]];
        matched++;
    }
    return matched < a->count ? ALIGN_FAILED : ALIGN_SKIPPING;
}

static bool try_streams(struct aligning *a, const struct capture_root *root, enum alignment *out)
{
    a->stream_count = 0;
    *out = ALIGN_FAILED;
    bool ok = list_streams(a);
    if (ok && a->stream_count > 1) {
        *out = align_streams(a, root);
    }
    bool has_memory = a->next != NULL && a->heads != NULL;
    SCRATCH_FREE(a->next, a->heads);
    return has_memory;
}

/* ---- all ---- */

static bool
try_root(struct aligning *a, const struct capture_root *root, bool by_stream, enum alignment *out)
{
    if (*a->budget <= 0) {
        *out = ALIGN_FAILED;
        return true;
    }
    if (by_stream) {
        return try_streams(a, root, out);
    }
    *out = align_in_order(a, root);
    return true;
}

/* The first equal root, else the first that skips. */
static bool try_roots(struct aligning *a,
                      const struct capture_root *roots,
                      size_t root_count,
                      bool by_stream,
                      const struct capture_launch **calls,
                      enum alignment *out)
{
    *out = ALIGN_FAILED;
    for (size_t i = 0; i < root_count && *out != ALIGN_EQUAL; i++) {
        enum alignment found = ALIGN_FAILED;
        if (!try_root(a, &roots[i], by_stream, &found)) {
            return false;
        }
        if (found < *out) {
            *out = found;
            memcpy((void *)calls, (const void *)a->calls,
                   a->count * sizeof(struct capture_launch *));
        }
    }
    return true;
}

bool align_graph(const struct capture *capture,
                 const struct align_work *work,
                 size_t count,
                 size_t rank,
                 int64_t *budget,
                 const struct capture_launch **calls,
                 enum alignment *out)
{
    struct aligning a = {.capture = capture, .work = work, .count = count, .budget = budget};
    bool is_ranked = capture->root_count == 1 || rank != ALIGN_NO_RANK;
    size_t place = capture->root_count == 1 ? 0 : rank;
    const struct capture_root *roots = is_ranked ? &capture->roots[place] : capture->tried;
    size_t root_count = is_ranked ? 1 : capture->tried_count;
    *out = ALIGN_FAILED;
    if (capture->root_count == 0 || count == 0) {
        return true;
    }
    a.calls = scratch_calloc(count, sizeof(struct capture_launch *));
    bool ok = a.calls != NULL && try_roots(&a, roots, root_count, false, calls, out);
    if (ok && *out == ALIGN_FAILED) {
        ok = try_roots(&a, roots, root_count, true, calls, out);
    }
    scratch_free((void *)a.calls);
    return ok;
}
