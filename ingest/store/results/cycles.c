#include "ingest/model/tables.h"
#include "ingest/store/db/rows_reader.h"
#include "ingest/store/results/ingest_rows.h"
#include "ingest/store/results/packed/blocks.h"
#include "ingest/store/results_files.h"

static bool
read_source(struct db *catalogue, int64_t trace_id, struct trace_results *out, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, catalogue, "SELECT cycle_source FROM trace WHERE id = ?");
    db_put_int(&st, trace_id);
    if (db_next(&st)) {
        out->cycle_source = (enum cycle_source)db_get_enum(&st, CYCLES_TABLE);
    }
    return db_done(&st, err);
}

static bool read_counters(const struct rows_reader *in, struct trace_results *out, struct err *err)
{
    return results_read_parts(in, PART_COUNTER, PART_COUNTER, out, err);
}

static bool read_all(const struct rows_reader *in, struct trace_results *out, struct err *err)
{
    return results_read_parts(in, PART_CYCLE, PART_COUNTER, out, err) &&
           blocks_read_cycle_uses(in->db, in->arena, out, err);
}

/* `read` over a reader of its own, into results in the arena. */
static bool
read_with(struct store_snapshot *snapshot,
          struct arena *arena,
          int64_t trace_id,
          bool (*read)(const struct rows_reader *, struct trace_results *, struct err *),
          struct trace_results **out,
          struct err *err)
{
    struct text_cache texts;
    struct db *catalogue;
    struct rows_reader in = {.arena = arena, .texts = &texts, .owner_id = RESULTS_LOG_ID};
    *out = arena_calloc(arena, 1, sizeof **out);
    if (*out == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the cycles of a trace");
    }
    if (!store_snapshot_read(snapshot, &catalogue, err) ||
        !store_check_figures(catalogue, trace_id, err) ||
        !read_source(catalogue, trace_id, *out, err) ||
        !store_snapshot_tables(snapshot, trace_id, &in.db, err)) {
        return false;
    }
    text_cache_init(&texts, in.db, arena, RESULTS_LOG_ID);
    bool ok = read(&in, *out, err);
    text_cache_free(&texts);
    return ok;
}

bool store_cycles(struct store_snapshot *snapshot,
                  struct arena *arena,
                  int64_t trace_id,
                  struct trace_results **out,
                  struct err *err)
{
    return read_with(snapshot, arena, trace_id, read_all, out, err);
}

bool store_counters(struct store_snapshot *snapshot,
                    struct arena *arena,
                    int64_t trace_id,
                    struct counter_row **rows,
                    size_t *count,
                    struct err *err)
{
    struct trace_results *results = NULL;
    if (!read_with(snapshot, arena, trace_id, read_counters, &results, err)) {
        return false;
    }
    *rows = results->counters;
    *count = results->counter_count;
    return true;
}

static bool read_modules(const struct rows_reader *in, struct trace_results *out, struct err *err)
{
    return results_read_parts(in, PART_MODULE, PART_MODULE, out, err);
}

bool store_modules(struct store_snapshot *snapshot,
                   struct arena *arena,
                   int64_t trace_id,
                   struct module_row **rows,
                   size_t *count,
                   struct err *err)
{
    struct trace_results *results = NULL;
    if (!read_with(snapshot, arena, trace_id, read_modules, &results, err)) {
        return false;
    }
    *rows = results->modules;
    *count = results->module_count;
    return true;
}
