#include "ingest/query/compare/name_diff.h"

#include "ingest/base/saturating.h"
#include "ingest/base/text/strtab.h"

#include <string.h>

const char *name_presence_text(enum name_presence presence)
{
    static const char *const texts[] = {
        [NAME_IN_BOTH] = "both", [NAME_ADDED] = "added", [NAME_REMOVED] = "removed"};
    return texts[presence];
}

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory to compare two traces by name");
}

/* The figures of one side by name, however they are stored. */
struct side_rows {
    const void *rows;
    size_t count;
    const char *(*name)(const void *rows, size_t at);
    struct name_figures (*figures)(const void *rows, size_t at);
};

static void add_figures(struct name_figures *to, const struct name_figures *more)
{
    to->calls = saturating_add(to->calls, more->calls);
    to->host_ns = saturating_add(to->host_ns, more->host_ns);
    to->host_self_ns = saturating_add(to->host_self_ns, more->host_self_ns);
    to->device_ns = saturating_add(to->device_ns, more->device_ns);
    to->device_self_ns = saturating_add(to->device_self_ns, more->device_self_ns);
}

/* Names are numbered as they come, those of the base first; 0 is the empty one, whether it occurs
 * or not. */
static bool join_side(struct name_diff *out,
                      struct strtab *names,
                      uint32_t *place,
                      const struct side_rows *rows,
                      int side)
{
    for (size_t i = 0; i < rows->count; i++) {
        const char *name = rows->name(rows->rows, i);
        uint32_t id = strtab_intern(names, name, strlen(name));
        if (id == STRTAB_NONE) {
            return false;
        }
        if (place[id] == 0) {
            out->rows[out->row_count++] = (struct name_diff_row){
                .name = name, .presence = side == SIDE_BASE ? NAME_REMOVED : NAME_ADDED};
            place[id] = (uint32_t)out->row_count;
        }
        struct name_diff_row *row = &out->rows[place[id] - 1];
        if (side == SIDE_CANDIDATE && row->presence == NAME_REMOVED) {
            row->presence = NAME_IN_BOTH;
        }
        const struct name_figures figures = rows->figures(rows->rows, i);
        add_figures(&row->sides[side], &figures);
        add_figures(&out->sums[side], &figures);
    }
    return true;
}

static bool join(struct name_diff *out,
                 struct arena *arena,
                 const struct side_rows sides[SIDE_COUNT],
                 struct err *err)
{
    size_t room = sides[SIDE_BASE].count + sides[SIDE_CANDIDATE].count;
    struct strtab *names = strtab_create();
    uint32_t *place = arena_calloc(arena, room + 1, sizeof *place);
    *out = (struct name_diff){.rows = arena_calloc(arena, room + 1, sizeof *out->rows)};
    bool ok = names != NULL && place != NULL && out->rows != NULL;
    for (int side = 0; ok && side < SIDE_COUNT; side++) {
        ok = join_side(out, names, place, &sides[side], side);
    }
    strtab_destroy(names);
    return ok || no_memory(err);
}

/* ---- operators ---- */

static const char *operator_name(const void *rows, size_t at)
{
    return ((const struct operator_row *)rows)[at].name;
}

static struct name_figures operator_figures(const void *rows, size_t at)
{
    const struct operator_row *row = (const struct operator_row *)rows + at;
    return (struct name_figures){.calls = row->calls,
                                 .host_ns = row->host_total_ns,
                                 .host_self_ns = row->host_self_ns,
                                 .device_ns = row->device_total_ns,
                                 .device_self_ns = row->device_self_ns};
}

bool name_diff_of_operators(const struct trace_results *const traces[SIDE_COUNT],
                            struct arena *arena,
                            struct name_diff *out,
                            struct err *err)
{
    struct side_rows sides[SIDE_COUNT];
    for (int side = 0; side < SIDE_COUNT; side++) {
        sides[side] = (struct side_rows){traces[side]->operators[OPERATOR_BY_NAME],
                                         traces[side]->operator_count[OPERATOR_BY_NAME],
                                         operator_name, operator_figures};
    }
    return join(out, arena, sides, err);
}

bool query_operator_diff(struct store_snapshot *snapshot,
                         struct arena *arena,
                         const int64_t trace_ids[SIDE_COUNT],
                         struct name_diff *out,
                         struct err *err)
{
    const struct store_page all = {.limit = 0};
    struct side_rows sides[SIDE_COUNT];
    for (int side = 0; side < SIDE_COUNT; side++) {
        struct operator_row *rows = NULL;
        int64_t total = 0;
        sides[side] = (struct side_rows){.name = operator_name, .figures = operator_figures};
        if (!store_operators(snapshot, arena, trace_ids[side], OPERATOR_BY_NAME, NULL, NULL, &all,
                             &rows, &sides[side].count, &total, err)) {
            return false;
        }
        sides[side].rows = rows;
    }
    return join(out, arena, sides, err);
}

/* ---- kernels ---- */

static const char *kernel_name(const void *rows, size_t at)
{
    return ((const struct kernel_row *)rows)[at].name;
}

static struct name_figures kernel_figures(const void *rows, size_t at)
{
    const struct kernel_row *row = (const struct kernel_row *)rows + at;
    return (struct name_figures){.calls = row->calls, .device_ns = row->total_ns};
}

bool name_diff_of_kernels(const struct trace_results *const traces[SIDE_COUNT],
                          struct arena *arena,
                          struct name_diff *out,
                          struct err *err)
{
    struct side_rows sides[SIDE_COUNT];
    for (int side = 0; side < SIDE_COUNT; side++) {
        sides[side] = (struct side_rows){traces[side]->kernels, traces[side]->kernel_count,
                                         kernel_name, kernel_figures};
    }
    return join(out, arena, sides, err);
}

bool query_kernel_diff(struct store_snapshot *snapshot,
                       struct arena *arena,
                       const int64_t trace_ids[SIDE_COUNT],
                       struct name_diff *out,
                       struct err *err)
{
    const struct store_page all = {.limit = 0};
    struct side_rows sides[SIDE_COUNT];
    for (int side = 0; side < SIDE_COUNT; side++) {
        struct kernel_row *rows = NULL;
        int64_t total = 0;
        sides[side] = (struct side_rows){.name = kernel_name, .figures = kernel_figures};
        if (!store_kernels(snapshot, arena, trace_ids[side], &all, &rows, &sides[side].count,
                           &total, err)) {
            return false;
        }
        sides[side].rows = rows;
    }
    return join(out, arena, sides, err);
}
