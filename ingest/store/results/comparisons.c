/* Comparisons: adding, reading, deleting. */
#include "ingest/model/tables.h"
#include "ingest/store/db/match.h"
#include "ingest/store/db/rows_reader.h"
#include "ingest/store/db/sort.h"
#include "ingest/store/results/comparison_rows.h"

#include <string.h>

/* ---- adding ---- */

static bool show_group(struct store *store, int64_t group_id, struct err *err)
{
    if (!store_write_begin(store, STORE_DURABLE, err)) {
        return false;
    }
    bool ok =
        db_run_id(
            store->writer,
            "UPDATE compared_trace SET project = coalesce((SELECT r.project" STORE_VISIBLE_TRACES
            " WHERE t.id = compared_trace.trace_id), '')"
            " WHERE comparison_id = ?",
            group_id, err) &&
        db_run_id(store->writer,
                  "UPDATE comparison SET state = 'there' WHERE id = ?1 OR group_id = ?1", group_id,
                  err);
    return store_write_end(store, ok, err);
}

static bool mark_removed(struct db *db, int64_t group_id, struct err *err)
{
    return db_run_id(db, "UPDATE comparison SET state = 'removed' WHERE id = ?1 OR group_id = ?1",
                     group_id, err);
}

/* A failure here is not the client's: what is left is invisible and goes at the next start. */
static void clean_up(struct store *store)
{
    struct err err = ERR_INIT;
    if (!store_purge(store, &err)) {
        log_write(store->log, LOG_WARN, "removed comparisons stay until the next start: %s",
                  err.msg);
    }
}

static void give_up(struct store *store, int64_t group_id)
{
    struct err err = ERR_INIT;
    bool ok = store_write_begin(store, STORE_BATCH, &err) &&
              store_write_end(store, mark_removed(store->writer, group_id, &err), &err);
    if (!ok) {
        log_write(store->log, LOG_WARN, "a comparison that was given up stays: %s", err.msg);
    }
    clean_up(store);
}

bool store_comparisons_add(struct store *store,
                           const struct comparison_list *list,
                           const int64_t *const trace_ids[SIDE_COUNT],
                           const size_t trace_count[SIDE_COUNT],
                           int64_t *ids,
                           struct err *err)
{
    struct row_writer writer;
    if (list->count == 0) {
        return true;
    }
    ids[0] = 0;
    if (!row_writer_init(&writer, store, 0, err)) {
        return false;
    }
    comparison_rows_of_group(&writer, list, trace_ids, trace_count, ids);
    bool ok = row_writer_finish(&writer) && show_group(store, ids[0], err);
    if (!ok && ids[0] != 0) {
        give_up(store, ids[0]);
    }
    return ok;
}

/* ---- reading ---- */

/* c is what the outside may see. */
#define VISIBLE_COMPARISONS                                                               \
    " FROM comparison AS c WHERE c.state = 'there' AND (c.trace_id IS NULL OR EXISTS ("   \
    "SELECT 1 FROM trace AS t JOIN upload AS u ON u.id = t.upload_id AND u.published = 1" \
    " WHERE t.id = c.trace_id))"

#define COMPARISON_SELECT                                                                         \
    "SELECT c.id, coalesce(c.group_id, c.id), coalesce(c.trace_id, 0), c.created_at_s,"           \
    " c.top_score, (SELECT count(*) FROM comparison AS o WHERE o.id = coalesce(c.group_id, c.id)" \
    " OR o.group_id = coalesce(c.group_id, c.id))" VISIBLE_COMPARISONS

static void read_head(struct db_stmt *st, struct arena *arena, struct store_comparison *out)
{
    struct comparison *row = arena_calloc(arena, 1, sizeof *row);
    if (row == NULL) {
        db_fail_memory(st);
        return;
    }
    out->comparison = row;
    out->id = db_get_int(st);
    out->group_id = db_get_int(st);
    out->trace_id = db_get_int(st);
    out->created_at_s = db_get_int(st);
    out->top_score = db_get_real(st);
    out->pair_count = db_get_int(st);
}

/* Its own columns and its roles. */
static bool read_itself(const struct rows_reader *in, struct comparison *out, struct err *err)
{
    struct db_stmt st;
    void *roles;
    size_t count;
    db_prepare(&st, in->db, table_comparison.select_sql);
    db_put_int(&st, in->owner_id);
    if (db_next(&st)) {
        (void)db_get_int(&st);
        rows_read_columns(&st, in->texts, &table_comparison, out);
    }
    if (!db_done(&st, err) || !rows_read_table(in, &table_comparison_role, &roles, &count, err)) {
        return false;
    }
    if (count == SIDE_COUNT) {
        memcpy(out->roles, roles, sizeof out->roles);
    }
    return true;
}

static bool read_compared(const struct rows_reader *in,
                          struct store_comparison *out,
                          enum comparison_side side,
                          struct err *err)
{
    const char *sql = side == SIDE_BASE ? "SELECT trace_id FROM compared_trace"
                                          " WHERE comparison_id = ? AND side = 0 ORDER BY position"
                                        : "SELECT trace_id FROM compared_trace"
                                          " WHERE comparison_id = ? AND side = 1 ORDER BY position";
    return store_read_ids(in->db, sql, out->group_id, in->arena, &out->trace_ids[side],
                          &out->trace_count[side], err);
}

/* Facts that a newer program knows are left out. */
static bool
read_environment(const struct rows_reader *in, struct store_comparison *out, struct err *err)
{
    struct environment *sides = out->comparison->environment;
    struct db_stmt st;
    db_prepare(&st, in->db,
               "SELECT name, base, candidate FROM comparison_environment WHERE comparison_id = ?");
    db_put_int(&st, out->group_id);
    while (db_next(&st)) {
        const char *name = db_get_text(&st, in->arena);
        const char *base = db_get_text(&st, in->arena);
        const char *candidate = db_get_text(&st, in->arena);
        for (int i = 0; name != NULL && i < ENVIRONMENT_FACT_COUNT; i++) {
            if (strcmp(name, environment_fact_name((enum environment_fact)i)) == 0) {
                sides[SIDE_BASE].facts[i] = base;
                sides[SIDE_CANDIDATE].facts[i] = candidate;
            }
        }
    }
    return db_done(&st, err);
}

/* What stands in other tables but belongs to the head. */
static bool read_sides(const struct rows_reader *in, struct store_comparison *out, struct err *err)
{
    return read_itself(in, out->comparison, err) && read_environment(in, out, err) &&
           read_compared(in, out, SIDE_BASE, err) && read_compared(in, out, SIDE_CANDIDATE, err);
}

static bool read_parts(const struct rows_reader *in, struct comparison *out, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < COMPARISON_PART_COUNT; i++) {
        void *rows;
        size_t count;
        ok = rows_read_table(in, comparison_parts[i].table, &rows, &count, err);
        rows_part_set(&comparison_parts[i], out, rows, count);
    }
    return ok;
}

static bool
read_finding_metrics(const struct rows_reader *in, struct comparison *out, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, in->db,
               "SELECT finding, metric_id, mu_base, mu_candidate FROM comparison_finding_metric"
               " WHERE comparison_id = ? ORDER BY finding, position");
    db_put_int(&st, in->owner_id);
    while (db_next(&st)) {
        int64_t at = db_get_int(&st);
        if (at < 0 || (size_t)at >= out->finding_count ||
            out->findings[at].metric_count == FINDING_METRICS_MAX) {
            continue;
        }
        struct comparison_finding *finding = &out->findings[at];
        size_t metric = finding->metric_count++;
        finding->metrics[metric].metric = text_cache_get(in->texts, &st);
        finding->metrics[metric].mu[SIDE_BASE] = db_get_real(&st);
        finding->metrics[metric].mu[SIDE_CANDIDATE] = db_get_real(&st);
    }
    return db_done(&st, err);
}

static bool read_appeared(const struct rows_reader *in, struct comparison *out, struct err *err)
{
    int64_t *places;
    size_t count;
    if (!store_read_ids(in->db,
                        "SELECT row_position FROM comparison_appeared WHERE comparison_id = ?"
                        " ORDER BY position",
                        in->owner_id, in->arena, &places, &count, err)) {
        return false;
    }
    out->appeared = arena_calloc(in->arena, count + 1, sizeof *out->appeared);
    if (out->appeared == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a comparison");
    }
    for (size_t i = 0; i < count; i++) {
        if (places[i] >= 0 && (size_t)places[i] < out->row_count) {
            out->appeared[out->appeared_count++] = (uint32_t)places[i];
        }
    }
    return true;
}

static bool
read_comparison(const struct rows_reader *in, struct store_comparison *out, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, in->db, COMPARISON_SELECT " AND c.id = ?");
    db_put_int(&st, in->owner_id);
    bool found = db_next(&st);
    if (found) {
        read_head(&st, in->arena, out);
    }
    if (!db_done(&st, err)) {
        return false;
    }
    if (!found) {
        return err_set(err, ERR_NOT_FOUND, "Comparison %lld not found: it may have been deleted",
                       (long long)in->owner_id);
    }
    struct text_cache texts;
    struct rows_reader with_texts = *in;
    text_cache_init_comparison(&texts, in->db, in->arena, out->group_id);
    with_texts.texts = &texts;
    bool ok = read_sides(&with_texts, out, err) && read_parts(&with_texts, out->comparison, err) &&
              read_finding_metrics(&with_texts, out->comparison, err) &&
              read_appeared(in, out->comparison, err);
    text_cache_free(&texts);
    return ok;
}

bool store_comparison_get(struct store_snapshot *snapshot,
                          struct arena *arena,
                          int64_t id,
                          struct store_comparison **out,
                          struct err *err)
{
    struct rows_reader in = {.arena = arena, .owner_id = id};
    *out = arena_calloc(arena, 1, sizeof **out);
    if (*out == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a comparison");
    }
    if (!store_snapshot_read(snapshot, &in.db, err)) {
        return false;
    }
    return read_comparison(&in, *out, err);
}

/* ---- lists ---- */

/* Parameters: group, has a query, matcher, projects. */
#define LISTED                                                                                \
    " AND (CASE WHEN ?1 = 0 THEN c.group_id IS NULL ELSE c.id = ?1 OR c.group_id = ?1 END)"   \
    " AND (?2 = 0 OR ks_match(c.title, ?3) OR EXISTS (SELECT 1 FROM comparison_role AS s"     \
    " WHERE s.comparison_id = c.id AND ks_match(s.label, ?3)))"                               \
    " AND (?4 IS NULL OR NOT EXISTS (SELECT 1 FROM compared_trace AS k"                       \
    " WHERE k.comparison_id = coalesce(c.group_id, c.id) AND NOT " STORE_IN_PROJECTS(         \
        "k.project", "?4") "))"                                                               \
                           " AND (?4 IS NULL OR NOT EXISTS (SELECT 1" STORE_VISIBLE_TRACES    \
                           " WHERE t.id = c.trace_id AND NOT " STORE_IN_PROJECTS("r.project", \
                                                                                 "?4") "))"

static void put_list(struct db_stmt *st,
                     int64_t group_id,
                     const struct store_page *page,
                     struct matcher *matcher)
{
    db_put_int(st, group_id);
    db_put_int(st, matcher != NULL);
    db_put_matcher(st, matcher);
    db_put_text(st, page->projects);
}

static bool count_comparisons(struct db *db,
                              int64_t group_id,
                              const struct store_page *page,
                              struct matcher *matcher,
                              int64_t *total,
                              struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "SELECT count(*)" VISIBLE_COMPARISONS LISTED);
    put_list(&st, group_id, page, matcher);
    *total = db_next(&st) ? db_get_int(&st) : 0;
    return db_done(&st, err);
}

static bool read_list(struct rows_reader *in,
                      int64_t group_id,
                      const struct store_page *page,
                      struct matcher *matcher,
                      struct store_comparison **rows,
                      size_t *count,
                      int64_t *total,
                      struct err *err)
{
    if (!count_comparisons(in->db, group_id, page, matcher, total, err)) {
        return false;
    }
    size_t rows_max = sort_page_rows(page, *total);
    *rows = arena_calloc(in->arena, rows_max, sizeof **rows);
    if (*rows == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the comparisons");
    }
    struct db_stmt st;
    db_prepare(&st, in->db,
               COMPARISON_SELECT LISTED
               " ORDER BY CASE WHEN ?1 = 0 THEN -c.id ELSE c.id END LIMIT ?5 OFFSET ?6");
    put_list(&st, group_id, page, matcher);
    db_put_int(&st, (int64_t)rows_max);
    db_put_int(&st, page->offset);
    while (*count < rows_max && db_next(&st)) {
        read_head(&st, in->arena, &(*rows)[(*count)++]);
    }
    bool ok = db_done(&st, err);
    for (size_t i = 0; ok && i < *count; i++) {
        in->owner_id = (*rows)[i].id;
        text_cache_init_comparison(in->texts, in->db, in->arena, (*rows)[i].group_id);
        ok = read_sides(in, &(*rows)[i], err);
    }
    return ok;
}

bool store_comparisons(struct store_snapshot *snapshot,
                       struct arena *arena,
                       int64_t group_id,
                       const struct store_page *page,
                       struct store_comparison **rows,
                       size_t *count,
                       int64_t *total,
                       struct err *err)
{
    struct text_cache texts; /* of comparisons one after the other: their heads share none */
    struct rows_reader in = {.arena = arena, .texts = &texts};
    struct matcher matcher = {0};
    bool has_query = page->q != NULL && page->q[0] != '\0';
    *rows = NULL;
    *count = 0;
    if (has_query && !match_init(&matcher, page->q, err)) {
        return false;
    }
    bool ok = store_snapshot_read(snapshot, &in.db, err) &&
              read_list(&in, group_id, page, has_query ? &matcher : NULL, rows, count, total, err);
    match_free(&matcher);
    return ok;
}

bool store_trace_comparison(struct store_snapshot *snapshot,
                            int64_t trace_id,
                            int64_t *id,
                            struct err *err)
{
    struct db *db;
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(&st, db, "SELECT c.id" VISIBLE_COMPARISONS " AND c.trace_id = ? ORDER BY c.id");
    db_put_int(&st, trace_id);
    *id = db_next(&st) ? db_get_int(&st) : 0;
    return db_done(&st, err);
}

/* ---- deleting ---- */

/* The group of a visible comparison, which no trace holds. */
static bool find_group(struct db *db, int64_t id, int64_t *group_id, struct err *err)
{
    struct db_stmt st;
    int64_t trace_id = 0;
    db_prepare(&st, db,
               "SELECT coalesce(c.group_id, c.id), coalesce(c.trace_id, 0)" VISIBLE_COMPARISONS
               " AND c.id = ?");
    db_put_int(&st, id);
    bool found = db_next(&st);
    if (found) {
        *group_id = db_get_int(&st);
        trace_id = db_get_int(&st);
    }
    if (!db_done(&st, err)) {
        return false;
    }
    if (!found) {
        return err_set(err, ERR_NOT_FOUND, "Comparison %lld not found: it may have been deleted",
                       (long long)id);
    }
    return trace_id == 0 || err_set(err, ERR_CONFLICT,
                                    "comparison %lld is an uploaded report; delete its trace %lld",
                                    (long long)id, (long long)trace_id);
}

bool store_comparison_delete(struct store *store, int64_t id, struct err *err)
{
    int64_t group_id = 0;
    if (!store_write_begin(store, STORE_DURABLE, err)) {
        return false;
    }
    bool ok =
        find_group(store->writer, id, &group_id, err) && mark_removed(store->writer, group_id, err);
    ok = store_write_end(store, ok, err);
    if (ok) {
        clean_up(store);
    }
    return ok;
}
