#include "ingest/store/results/comparison_rows.h"

#include "ingest/base/wall_clock.h"
#include "ingest/model/tables.h"

static double top_score(const struct comparison *comparison)
{
    double top = 0.0;
    for (size_t i = 0; i < comparison->row_count; i++) {
        top = comparison->rows[i].score > top ? comparison->rows[i].score : top;
    }
    return top;
}

/* The row that all others of the comparison refer to; its id becomes the writer's owner. */
static void write_head(struct row_writer *writer,
                       int64_t group_id,
                       int64_t trace_id,
                       const char *state,
                       const struct comparison *comparison)
{
    writer->owner_id = group_id;
    row_begin(writer, table_comparison.insert_sql);
    row_put_int(writer, trace_id);
    row_put_text(writer, state);
    row_put_int(writer, wall_clock_s());
    row_put_real(writer, top_score(comparison));
    row_put_columns(writer, &table_comparison, comparison);
    row_end(writer);
    writer->owner_id = writer->row_id;
}

static void write_finding_metrics(struct row_writer *writer,
                                  size_t finding,
                                  const struct comparison_finding *from)
{
    for (size_t i = 0; i < from->metric_count && i < FINDING_METRICS_MAX; i++) {
        row_begin(writer, "INSERT INTO comparison_finding_metric"
                          " (comparison_id, finding, position, metric_id, mu_base, mu_candidate)"
                          " VALUES (?, ?, ?, ?, ?, ?)");
        row_put_int(writer, (int64_t)finding);
        row_put_int(writer, (int64_t)i);
        row_put_shared(writer, from->metrics[i].metric);
        row_put_real(writer, from->metrics[i].mu[SIDE_BASE]);
        row_put_real(writer, from->metrics[i].mu[SIDE_CANDIDATE]);
        row_end(writer);
    }
}

const struct rows_part comparison_parts[COMPARISON_PART_COUNT] = {
    ROWS_PART(table_comparison_cycle, comparison, cycles, cycle_count),
    ROWS_PART(table_comparison_row, comparison, rows, row_count),
    ROWS_PART(table_comparison_finding, comparison, findings, finding_count),
};

static void write_appeared(struct row_writer *writer, const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->appeared_count; i++) {
        row_begin(writer, "INSERT INTO comparison_appeared (comparison_id, position, row_position)"
                          " VALUES (?, ?, ?)");
        row_put_int(writer, (int64_t)i);
        row_put_int(writer, comparison->appeared[i]);
        row_end(writer);
    }
}

static void write_parts(struct row_writer *writer, const struct comparison *comparison)
{
    row_write_table(writer, &table_comparison_role, comparison->roles, SIDE_COUNT);
    for (size_t i = 0; i < COMPARISON_PART_COUNT; i++) {
        const void *rows;
        size_t count = rows_part_get(&comparison_parts[i], comparison, &rows);
        row_write_table(writer, comparison_parts[i].table, rows, count);
    }
    for (size_t i = 0; i < comparison->finding_count; i++) {
        write_finding_metrics(writer, i, &comparison->findings[i]);
    }
    write_appeared(writer, comparison);
}

void comparison_rows_of_trace(struct row_writer *writer,
                              int64_t trace_id,
                              const struct comparison *comparison)
{
    write_head(writer, 0, trace_id, "there", comparison);
    if (row_writer_share_texts(writer, ROW_TEXTS_OF_COMPARISON, writer->owner_id)) {
        write_parts(writer, comparison);
    }
}

static void write_compared(struct row_writer *writer,
                           const int64_t *const trace_ids[SIDE_COUNT],
                           const size_t trace_count[SIDE_COUNT])
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        for (size_t i = 0; i < trace_count[side]; i++) {
            row_begin(writer, "INSERT INTO compared_trace (comparison_id, side, position, trace_id)"
                              " VALUES (?, ?, ?, ?)");
            row_put_int(writer, side);
            row_put_int(writer, (int64_t)i);
            row_put_int(writer, trace_ids[side][i]);
            row_end(writer);
        }
    }
}

/* All pairs of a group have the same. */
static void write_environment(struct row_writer *writer, const struct comparison *comparison)
{
    const struct environment *sides = comparison->environment;
    for (int i = 0; i < ENVIRONMENT_FACT_COUNT; i++) {
        if (sides[SIDE_BASE].facts[i] == NULL && sides[SIDE_CANDIDATE].facts[i] == NULL) {
            continue;
        }
        row_begin(writer, "INSERT INTO comparison_environment (comparison_id, name, base,"
                          " candidate) VALUES (?, ?, ?, ?)");
        row_put_text(writer, environment_fact_name((enum environment_fact)i));
        row_put_text(writer, sides[SIDE_BASE].facts[i]);
        row_put_text(writer, sides[SIDE_CANDIDATE].facts[i]);
        row_end(writer);
    }
}

void comparison_rows_of_group(struct row_writer *writer,
                              const struct comparison_list *list,
                              const int64_t *const trace_ids[SIDE_COUNT],
                              const size_t trace_count[SIDE_COUNT],
                              int64_t *ids)
{
    for (size_t i = 0; i < list->count && writer->ok; i++) {
        write_head(writer, i == 0 ? 0 : ids[0], 0, "writing", list->items[i]);
        ids[i] = writer->owner_id;
        if (i == 0 && row_writer_share_texts(writer, ROW_TEXTS_OF_COMPARISON, ids[0])) {
            write_compared(writer, trace_ids, trace_count);
            write_environment(writer, list->items[i]);
        }
        write_parts(writer, list->items[i]);
    }
}
