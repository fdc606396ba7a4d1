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

/* Rows of operators or of kernels. */
struct side_rows {
    const void *rows;
    size_t count;
};

static void add_figures(struct name_figures *to, const struct name_figures *more)
{
    to->calls = saturating_add(to->calls, more->calls);
    to->host_ns = saturating_add(to->host_ns, more->host_ns);
    to->host_self_ns = saturating_add(to->host_self_ns, more->host_self_ns);
    to->device_ns = saturating_add(to->device_ns, more->device_ns);
    to->device_self_ns = saturating_add(to->device_self_ns, more->device_self_ns);
}

static struct name_figures operator_figures(const struct operator_row *row, const char **name)
{
    *name = row->name;
    return (struct name_figures){.calls = row->calls,
                                 .host_ns = row->host_total_ns,
                                 .host_self_ns = row->host_self_ns,
                                 .device_ns = row->device_total_ns,
                                 .device_self_ns = row->device_self_ns};
}

static struct name_figures kernel_figures(const struct kernel_row *row, const char **name)
{
    *name = row->name;
    return (struct name_figures){.calls = row->calls, .device_ns = row->total_ns};
}

/* Names are numbered as they come, those of the base first; 0 is the empty one, whether it occurs
 * or not. */
static bool join_side(struct name_diff *out,
                      struct strtab *names,
                      uint32_t *place,
                      enum name_diff_kind kind,
                      const struct side_rows *rows,
                      int side)
{
    for (size_t i = 0; i < rows->count; i++) {
        const char *name;
        const struct name_figures figures =
            kind == NAME_DIFF_KERNELS
                ? kernel_figures((const struct kernel_row *)rows->rows + i, &name)
                : operator_figures((const struct operator_row *)rows->rows + i, &name);
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
        add_figures(&row->sides[side], &figures);
        add_figures(&out->sums[side], &figures);
    }
    return true;
}

static bool join(struct name_diff *out,
                 struct arena *arena,
                 enum name_diff_kind kind,
                 const struct side_rows sides[SIDE_COUNT],
                 struct err *err)
{
    size_t room = sides[SIDE_BASE].count + sides[SIDE_CANDIDATE].count;
    struct strtab *names = strtab_create();
    uint32_t *place = arena_calloc(arena, room + 1, sizeof *place);
    *out = (struct name_diff){.rows = arena_calloc(arena, room + 1, sizeof *out->rows)};
    bool ok = names != NULL && place != NULL && out->rows != NULL;
    for (int side = 0; ok && side < SIDE_COUNT; side++) {
        ok = join_side(out, names, place, kind, &sides[side], side);
    }
    strtab_destroy(names);
    return ok || no_memory(err);
}

bool name_diff_of(const struct trace_results *const traces[SIDE_COUNT],
                  enum name_diff_kind kind,
                  struct arena *arena,
                  struct name_diff *out,
                  struct err *err)
{
    struct side_rows sides[SIDE_COUNT];
    for (int side = 0; side < SIDE_COUNT; side++) {
        const struct trace_results *trace = traces[side];
        sides[side] = kind == NAME_DIFF_KERNELS
                          ? (struct side_rows){trace->kernels, trace->kernel_count}
                          : (struct side_rows){trace->operators[OPERATOR_BY_NAME],
                                               trace->operator_count[OPERATOR_BY_NAME]};
    }
    return join(out, arena, kind, sides, err);
}

bool query_name_diff(struct store_snapshot *snapshot,
                     enum name_diff_kind kind,
                     struct arena *arena,
                     const int64_t trace_ids[SIDE_COUNT],
                     struct name_diff *out,
                     struct err *err)
{
    const struct store_page all = {.limit = 0};
    struct side_rows sides[SIDE_COUNT];
    for (int side = 0; side < SIDE_COUNT; side++) {
        struct operator_row *operators = NULL;
        struct kernel_row *kernels = NULL;
        size_t count = 0;
        int64_t total = 0;
        bool ok = kind == NAME_DIFF_KERNELS
                      ? store_kernels(snapshot, arena, trace_ids[side], &all, &kernels, &count,
                                      &total, err)
                      : store_operators(snapshot, arena, trace_ids[side], OPERATOR_BY_NAME, NULL,
                                        NULL, &all, &operators, &count, &total, err);
        if (!ok) {
            return false;
        }
        sides[side].rows = kind == NAME_DIFF_KERNELS ? (const void *)kernels : operators;
        sides[side].count = count;
    }
    return join(out, arena, kind, sides, err);
}
