#include "ingest/analysis/ranks/digest.h"

#include "ingest/analysis/ranks/digest_internal.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/text/affix.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN_NAME "unknown"
#define STEP_DIGITS_MAX 18

/* ---- what names say [RANK-1b] [RANK-1g] ---- */

enum rank_kind rank_kind_of(const char *collective_name, const char *kernel_name)
{
    static const struct {
        const char *name;
        enum rank_kind kind;
    } TOLD[] = {
        {"allreduce", RANK_ALL_REDUCE},
        {"allreduce_coalesced", RANK_ALL_REDUCE},
        {"reducescatter", RANK_REDUCE_SCATTER},
        {"_reduce_scatter_base", RANK_REDUCE_SCATTER},
        {"reduce_scatter_tensor_coalesced", RANK_REDUCE_SCATTER},
        {"allgather", RANK_ALL_GATHER},
        {"all_gather", RANK_ALL_GATHER},
        {"_allgather_base", RANK_ALL_GATHER},
        {"allgather_into_tensor_coalesced", RANK_ALL_GATHER},
        {"all_gather_into_tensor_coalesced", RANK_ALL_GATHER},
        {"all_to_all", RANK_ALL_TO_ALL},
        {"all_to_allv", RANK_ALL_TO_ALL},
        {"broadcast", RANK_BROADCAST},
        {"reduce", RANK_REDUCE},
        {"barrier", RANK_BARRIER},
        {"send", RANK_SEND_RECEIVE},
        {"recv", RANK_SEND_RECEIVE},
    };
    static const struct {
        const char *part;
        enum rank_kind kind;
    } NAMED[] = {
        {"allreduce", RANK_ALL_REDUCE}, {"reducescatter", RANK_REDUCE_SCATTER},
        {"allgather", RANK_ALL_GATHER}, {"alltoall", RANK_ALL_TO_ALL},
        {"broadcast", RANK_BROADCAST},  {"sendrecv", RANK_SEND_RECEIVE},
    };
    if (collective_name != NULL) {
        for (size_t i = 0; i < sizeof TOLD / sizeof *TOLD; i++) {
            if (text_is_any_case(collective_name, TOLD[i].name)) {
                return TOLD[i].kind;
            }
        }
        return RANK_OTHER;
    }
    for (size_t i = 0; kernel_name != NULL && i < sizeof NAMED / sizeof *NAMED; i++) {
        if (text_holds_any_case(kernel_name, NAMED[i].part)) {
            return NAMED[i].kind;
        }
    }
    return RANK_OTHER;
}

int64_t rank_element_bytes(const char *dtype)
{
    static const struct {
        const char *name;
        int64_t size_bytes;
    } SIZES[] = {
        {"double", 8}, {"long", 8},     {"float", 4},        {"int", 4},
        {"half", 2},   {"bfloat16", 2}, {"short", 2},        {"byte", 1},
        {"char", 1},   {"bool", 1},     {"complexfloat", 8}, {"complexdouble", 16},
    };
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        if (text_is_any_case(dtype, SIZES[i].name)) {
            return SIZES[i].size_bytes;
        }
    }
    return text_begins_any_case(dtype, "float8") ? 1 : 0;
}

/* ---- texts ---- */

static uint32_t intern(struct digesting *d, const char *text, size_t len)
{
    uint32_t id = strtab_intern(d->texts, text, len);
    d->failed = d->failed || id == STRTAB_NONE;
    return id;
}

/* Where a map says what became of a string of the trace, so that each is read once. NULL: there is
 * no such string. */
static struct id_slot *slot_of(struct digesting *d, struct id_map *map, uint32_t string)
{
    struct id_slot *slot = string == STRTAB_NONE ? NULL : id_map_add(map, string);
    d->failed = d->failed || (slot == NULL && string != STRTAB_NONE);
    return slot;
}

static uint32_t text_of(struct digesting *d, uint32_t string)
{
    const struct strtab *strings = d->sel->trace->strings;
    struct id_slot *slot = slot_of(d, &d->copied, string);
    if (slot != NULL && slot->value == ID_MAP_NONE) {
        slot->value = intern(d, strtab_text(strings, string), strtab_len(strings, string));
    }
    return slot == NULL ? RANK_NO_TEXT : slot->value;
}

uint32_t digest_name(struct digesting *d, uint32_t name)
{
    struct id_slot *slot = id_map_add(&d->named, name);
    d->failed = d->failed || slot == NULL;
    if (slot != NULL && slot->value == ID_MAP_NONE) {
        slot->value = intern(d, names_text(&d->sel->names, name), names_len(&d->sel->names, name));
    }
    return slot == NULL ? RANK_NO_TEXT : slot->value;
}

static uint32_t text_without_blanks(struct digesting *d, uint32_t string)
{
    struct id_slot *slot = slot_of(d, &d->packed, string);
    if (slot != NULL && slot->value == ID_MAP_NONE) {
        const char *text = strtab_text(d->sel->trace->strings, string);
        size_t len = strtab_len(d->sel->trace->strings, string);
        char *packed = scratch_alloc(len + 1, 1);
        size_t kept = 0;
        for (size_t i = 0; packed != NULL && i < len; i++) {
            packed[kept] = text[i];
            kept += text[i] != ' ';
        }
        slot->value = packed == NULL ? 0 : intern(d, packed, kept);
        d->failed = d->failed || packed == NULL;
        scratch_free(packed);
    }
    return slot == NULL ? RANK_NO_TEXT : slot->value;
}

static bool copy_texts(struct digesting *d)
{
    struct rank_digest *out = d->out;
    out->text_count = strtab_count(d->texts);
    out->texts = arena_calloc(d->arena, (size_t)out->text_count + 1, sizeof *out->texts);
    for (uint32_t i = 0; out->texts != NULL && i < out->text_count; i++) {
        out->texts[i] = arena_strndup(d->arena, strtab_text(d->texts, i), strtab_len(d->texts, i));
        if (out->texts[i] == NULL) {
            return false;
        }
    }
    return out->texts != NULL;
}

/* ---- collectives [RANK-1a] ---- */

static int64_t bytes_of(int64_t count, int64_t element_bytes)
{
    bool is_known = count != TRACE_NO_ID && element_bytes > 0;
    bool fits =
        is_known && count <= INT64_MAX / element_bytes && count >= -INT64_MAX / element_bytes;
    return fits ? count * element_bytes : RANK_UNKNOWN;
}

static void
fill_told(struct digesting *d, struct rank_collective *item, const struct collective_args *args)
{
    const struct strtab *strings = d->sel->trace->strings;
    int64_t element_bytes =
        args->dtype == STRTAB_NONE ? 0 : rank_element_bytes(strtab_text(strings, args->dtype));
    item->sequence = args->sequence;
    item->size = args->group_size;
    item->in_bytes = bytes_of(args->in_count, element_bytes);
    item->out_bytes = bytes_of(args->out_count, element_bytes);
    item->dtype = text_of(d, args->dtype);
    item->in_split = text_without_blanks(d, args->in_split);
    if (args->is_group_named) {
        item->group = text_of(d, args->group);
        item->group_ranks = text_without_blanks(d, args->group_ranks);
    }
}

static uint8_t kind_of_kernel(struct digesting *d, uint32_t name)
{
    struct id_slot *slot = id_map_add(&d->kinds, name);
    d->failed = d->failed || slot == NULL;
    if (slot != NULL && slot->value == ID_MAP_NONE) {
        slot->value = (uint32_t)rank_kind_of(NULL, names_text(&d->sel->names, name));
    }
    return slot == NULL ? RANK_OTHER : (uint8_t)slot->value;
}

static void add_collective(struct digesting *d, uint32_t event)
{
    const struct trace *trace = d->sel->trace;
    struct rank_collective *item = &d->out->collectives[d->out->collective_count++];
    uint32_t at = d->args_of == NULL ? UINT32_MAX : d->args_of[event];
    *item = (struct rank_collective){
        .start_ns = digest_start(d, event),
        .duration_ns = trace_dur_ns(&trace->events, event),
        .sequence = RANK_UNKNOWN,
        .size = RANK_UNKNOWN,
        .in_bytes = RANK_UNKNOWN,
        .out_bytes = RANK_UNKNOWN,
        .event = event,
        .dtype = RANK_NO_TEXT,
        .group = RANK_NO_TEXT,
        .group_ranks = RANK_NO_TEXT,
        .in_split = RANK_NO_TEXT,
    };
    const struct collective_args *args = at == UINT32_MAX ? NULL : &trace->collectives[at];
    if (args != NULL) {
        fill_told(d, item, args);
    }
    if (args != NULL && args->name != 0) {
        item->name = text_of(d, args->name);
        item->kind = (uint8_t)rank_kind_of(strtab_text(trace->strings, args->name), NULL);
    } else {
        item->name = intern(d, UNKNOWN_NAME, strlen(UNKNOWN_NAME));
        item->kind = kind_of_kernel(d, d->sel->name[event]);
    }
}

static bool read_args(struct digesting *d)
{
    const struct trace *trace = d->sel->trace;
    if (trace->collective_count == 0) {
        return true;
    }
    d->args_of = scratch_none(trace->events.count);
    for (uint32_t i = 0; d->args_of != NULL && i < trace->collective_count; i++) {
        d->args_of[trace->collectives[i].event] = i;
    }
    return d->args_of != NULL;
}

bool digest_is_collective(const struct digesting *d, uint32_t event)
{
    struct event_classes *sel = d->sel;
    if (sel->class[event] != INDEX_KERNEL) {
        return false;
    }
    uint32_t at = d->args_of == NULL ? UINT32_MAX : d->args_of[event];
    return (at != UINT32_MAX && sel->trace->collectives[at].name != 0) ||
           (names_kernel_flags(&sel->names, sel->name[event]) & NAME_COLLECTIVE_KERNEL) != 0;
}

/* Device work stands in order of time, then in file order. */
static bool find_collectives(struct digesting *d)
{
    const struct events_in_time work = d->sel->lists[LIST_DEVICE];
    uint32_t count = 0;
    for (uint32_t i = 0; i < work.count; i++) {
        count += digest_is_collective(d, work.items[i]);
    }
    d->out->collectives = arena_calloc(d->arena, (size_t)count + 1, sizeof *d->out->collectives);
    for (uint32_t i = 0; d->out->collectives != NULL && i < work.count; i++) {
        if (digest_is_collective(d, work.items[i])) {
            add_collective(d, work.items[i]);
        }
    }
    return d->out->collectives != NULL && !d->failed;
}

/* ---- steps [RANK-3a] ---- */

/* The number of `ProfilerStep#<n>`, or RANK_UNKNOWN. */
static int64_t step_number(const char *name)
{
    const size_t prefix = strlen(NAMES_STEP_PREFIX);
    int64_t number = 0;
    if (strncmp(name, NAMES_STEP_PREFIX, prefix) != 0) {
        return RANK_UNKNOWN;
    }
    size_t digits = strspn(name + prefix, "0123456789");
    if (digits == 0 || digits > STEP_DIGITS_MAX || name[prefix + digits] != '\0') {
        return RANK_UNKNOWN;
    }
    for (size_t i = 0; i < digits; i++) {
        number = number * 10 + (name[prefix + i] - '0');
    }
    return number;
}

struct found_step {
    struct rank_step step;
    uint32_t event;
};

ORDER_BY(by_number, struct found_step, ORDER_UP(step.number), ORDER_UP(event))

static bool note_step(struct found_step **found,
                      size_t *count,
                      size_t *cap,
                      const struct digesting *d,
                      uint32_t event,
                      int64_t number)
{
    struct found_step *items = scratch_grow(*found, *count, cap, sizeof *items);
    if (items == NULL) {
        return false;
    }
    *found = items;
    items[(*count)++] = (struct found_step){
        {number, digest_start(d, event), trace_dur_ns(&d->sel->trace->events, event)}, event};
    return true;
}

static bool is_step_class(enum index_class class)
{
    return class == INDEX_STEP || class == INDEX_ANNOTATION;
}

/* Host ranges with a number; where there are none the index's own steps, counted from 0. */
static bool find_steps(struct digesting *d)
{
    const struct trace_index *index = d->index;
    struct found_step *found = NULL;
    size_t count = 0;
    size_t cap = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < index->count; i++) {
        uint32_t event = index->in_order[i];
        int64_t number = is_step_class(index_class(index, event))
                             ? step_number(names_text(&d->sel->names, d->sel->name[event]))
                             : RANK_UNKNOWN;
        ok = number == RANK_UNKNOWN || note_step(&found, &count, &cap, d, event, number);
    }
    if (ok && count == 0) {
        for (uint32_t i = 0; ok && i < index->step_count; i++) {
            ok = note_step(&found, &count, &cap, d, index->steps[i].event, i);
        }
    }
    struct rank_step *steps = arena_calloc(d->arena, count + 1, sizeof *steps);
    ok = ok && steps != NULL;
    if (ok && count > 0) {
        qsort(found, count, sizeof *found, by_number);
    }
    for (size_t i = 0; ok && i < count; i++) {
        if (i == 0 || found[i].step.number != found[i - 1].step.number) {
            steps[d->out->step_count++] = found[i].step;
        }
    }
    d->out->steps = steps;
    scratch_free(found);
    return ok;
}

/* ---- all together ---- */

static void find_bounds(struct digesting *d)
{
    const struct trace_index *index = d->index;
    for (uint32_t i = 0; i < index->count; i++) {
        int64_t start_ns = digest_start(d, index->in_order[i]);
        bool is_first = d->out->first_ns == RANK_UNKNOWN || start_ns < d->out->first_ns;
        d->out->first_ns = is_first ? start_ns : d->out->first_ns;
        int64_t end_ns =
            saturating_add(start_ns, trace_dur_ns(&d->sel->trace->events, index->in_order[i]));
        d->out->last_ns = i64_max(d->out->last_ns, end_ns);
    }
}

bool rank_digest_build(struct rank_digest **out,
                       struct arena *arena,
                       struct event_classes *sel,
                       const struct trace_index *index)
{
    struct digesting d = {.arena = arena,
                          .sel = sel,
                          .index = index,
                          .out = arena_calloc(arena, 1, sizeof *d.out),
                          .texts = strtab_create()};
    id_map_init(&d.packed);
    id_map_init(&d.copied);
    id_map_init(&d.named);
    id_map_init(&d.kinds);
    bool ok = d.out != NULL && d.texts != NULL;
    if (ok) {
        d.out->rank = sel->trace->distributed_rank == TRACE_NO_ID ? RANK_UNKNOWN
                                                                  : sel->trace->distributed_rank;
        d.out->first_ns = RANK_UNKNOWN;
        d.out->last_ns = RANK_UNKNOWN;
        find_bounds(&d);
        ok = read_args(&d) && find_collectives(&d) && find_steps(&d) && digest_segments(&d) &&
             digest_busy(&d) && digest_operations(&d) && copy_texts(&d) && !d.failed;
    }
    id_map_free(&d.packed);
    id_map_free(&d.copied);
    id_map_free(&d.named);
    id_map_free(&d.kinds);
    strtab_destroy(d.texts);
    scratch_free(d.args_of);
    *out = ok ? d.out : NULL;
    return ok;
}
