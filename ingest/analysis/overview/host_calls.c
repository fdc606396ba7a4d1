#include "ingest/analysis/overview/host_calls.h"

#include "ingest/analysis/classify/times.h"
#include "ingest/analysis/util/ranges.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

#include <string.h>

/* A launch that lasts so long while no device works loads the code of a kernel, which is done once.
 */
#define LAUNCH_LOADS_NS INT64_C(1000000)

/* By the words that CUDA, HIP and CANN have in common: the first that a name has decides. */
static enum host_call_kind kind_of(const char *name)
{
    static const struct {
        const char *word;
        enum host_call_kind kind;
    } words[] = {{"Synchronize", HOST_CALL_WAITS},   {"EventQuery", HOST_CALL_WAITS},
                 {"StreamQuery", HOST_CALL_WAITS},   {"WithStream", HOST_CALL_WAITS},
                 {"Malloc", HOST_CALL_ALLOCATES},    {"Free", HOST_CALL_ALLOCATES},
                 {"HostAlloc", HOST_CALL_ALLOCATES}, {"HostRegister", HOST_CALL_ALLOCATES},
                 {"MemMap", HOST_CALL_ALLOCATES},    {"MemCreate", HOST_CALL_ALLOCATES},
                 {"MemAlloc", HOST_CALL_ALLOCATES},  {"Launch", HOST_CALL_LAUNCHES},
                 {"launch", HOST_CALL_LAUNCHES},     {"Async", HOST_CALL_LAUNCHES},
                 {"Memcpy", HOST_CALL_WAITS},        {"Memset", HOST_CALL_WAITS}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(name, words[i].word) != NULL) {
            return words[i].kind;
        }
    }
    return HOST_CALL_PREPARES;
}

static bool find_busy(const struct event_classes *sel, struct ranges *busy)
{
    const struct events_in_time *work = &sel->lists[LIST_DEVICE];
    for (uint32_t i = 0; i < work->count; i++) {
        uint32_t event = work->items[i];
        if (!ranges_merge(busy, times_start(sel, event), times_end(sel, event))) {
            return false;
        }
    }
    return true;
}

bool host_calls_find_longest(struct event_classes *sel,
                             int64_t start_ns,
                             int64_t end_ns,
                             struct host_call *longest)
{
    const struct events_in_time *calls = &sel->lists[LIST_RUNTIME];
    struct ranges busy = {0};
    int64_t *idle_ns = scratch_calloc(sel->names.flags_cap, sizeof *idle_ns);
    int64_t *long_ns = scratch_calloc(sel->names.flags_cap, sizeof *long_ns);
    bool ok = idle_ns != NULL && long_ns != NULL && find_busy(sel, &busy);
    *longest = (struct host_call){0};
    for (uint32_t i = 0; ok && i < calls->count; i++) {
        int64_t start = i64_max(times_start(sel, calls->items[i]), start_ns);
        int64_t end = i64_min(times_end(sel, calls->items[i]), end_ns);
        if (start < end) {
            uint32_t name = sel->name[calls->items[i]];
            int64_t length_ns =
                saturating_sub(saturating_sub(end, start), ranges_length_within(&busy, start, end));
            idle_ns[name] = saturating_add(idle_ns[name], length_ns);
            long_ns[name] =
                saturating_add(long_ns[name], length_ns >= LAUNCH_LOADS_NS ? length_ns : 0);
        }
    }
    for (uint32_t i = 0; ok && i < calls->count; i++) {
        uint32_t name = sel->name[calls->items[i]];
        if (idle_ns[name] > longest->idle_ns) {
            const char *text = names_text(&sel->names, name);
            enum host_call_kind kind = kind_of(text);
            bool loads = kind == HOST_CALL_LAUNCHES && long_ns[name] > idle_ns[name] / 2;
            *longest = (struct host_call){
                .name = text, .idle_ns = idle_ns[name], .kind = loads ? HOST_CALL_PREPARES : kind};
        }
    }
    ranges_free(&busy);
    SCRATCH_FREE(idle_ns, long_ns);
    return ok;
}
