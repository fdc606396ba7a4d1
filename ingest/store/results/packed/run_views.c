/* Views of a run of many ranks as packed blocks of the table run_view. */
#include "ingest/base/saturating.h"
#include "ingest/store/codec/column_codec.h"
#include "ingest/store/internal.h"
#include "ingest/store/store_ranks.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows of declared tables ---- */

static int64_t number_of(const struct table_column *column, const unsigned char *row)
{
    int64_t number = 0;
    if (column->kind == TABLE_FLAG) {
        return *(const bool *)(row + column->offset);
    }
    memcpy(&number, row + column->offset, sizeof number);
    return number;
}

static void
put_table(struct column_encoder *enc, const struct row_table *table, const void *rows, size_t count)
{
    column_encode_number(enc, count);
    for (size_t c = 0; c < table->column_count; c++) {
        const struct table_column *column = &table->columns[c];
        int64_t before = 0;
        for (size_t i = 0; i < count; i++) {
            const unsigned char *row = (const unsigned char *)rows + i * table->row_bytes;
            if (column->kind == TABLE_TEXT) {
                column_encode_texts(enc, table_texts(column, row), 1);
                continue;
            }
            int64_t number = number_of(column, row);
            int64_t moved = (int64_t)((uint64_t)number - (uint64_t)before);
            column_encode_i64(enc, &moved, 1);
            before = number;
        }
    }
}

static void get_cell(struct column_decoder *dec,
                     const struct table_column *column,
                     unsigned char *row,
                     uint64_t *before)
{
    if (column->kind == TABLE_TEXT) {
        const char **text = column_decode_texts(dec, 1);
        if (text != NULL) {
            memcpy(row + column->offset, text, sizeof *text);
        }
        return;
    }
    *before += (uint64_t)column_decode_signed(dec);
    if (column->kind == TABLE_FLAG) {
        bool flag = *before != 0;
        memcpy(row + column->offset, &flag, sizeof flag);
    } else {
        memcpy(row + column->offset, before, sizeof *before);
    }
}

/* A cell takes a byte at least: a damaged count asks for no more than the bytes can hold. */
static void *get_table(struct column_decoder *dec, const struct row_table *table, size_t *count)
{
    *count = column_decode_count(dec);
    bool fits = *count <= (size_t)(dec->end - dec->at);
    unsigned char *rows =
        dec->failed || !fits ? NULL : arena_calloc(dec->arena, *count + 1, table->row_bytes);
    dec->failed = dec->failed || rows == NULL;
    for (size_t c = 0; c < table->column_count && !dec->failed; c++) {
        uint64_t before = 0;
        for (size_t i = 0; i < *count && !dec->failed; i++) {
            get_cell(dec, &table->columns[c], rows + i * table->row_bytes, &before);
        }
    }
    return rows;
}

static void put_double(struct column_encoder *enc, double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    column_encode_i64(enc, &bits, 1);
}

static double get_double(struct column_decoder *dec)
{
    int64_t bits = column_decode_signed(dec);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static const char *get_text(struct column_decoder *dec)
{
    const char **text = column_decode_texts(dec, 1);
    return text == NULL || text[0] == NULL ? "" : text[0];
}

/* ---- collectives ---- */

static void put_collectives(struct column_encoder *enc, const void *view)
{
    const struct ranks_collectives *from = view;
    put_table(enc, &table_collective, from->rows, from->row_count);
    put_table(enc, &table_collective_sum, from->sums, from->sum_count);
    column_encode_number(enc, from->rank_count);
    column_encode_i64(enc, from->ranks, from->rank_count);
    column_encode_i64(enc, from->communication_ns, from->rank_count);
    column_encode_i64(enc, from->hidden_ns, from->rank_count);
    column_encode_number(enc, from->sent_bytes != NULL);
    if (from->sent_bytes != NULL) {
        column_encode_i64(enc, from->sent_bytes, from->rank_count * from->rank_count);
    }
    put_double(enc, from->imbalance_send);
    put_double(enc, from->imbalance_receive);
}

static void get_collectives(struct column_decoder *dec, void *view)
{
    struct ranks_collectives *out = view;
    out->rows = get_table(dec, &table_collective, &out->row_count);
    out->sums = get_table(dec, &table_collective_sum, &out->sum_count);
    out->rank_count = column_decode_count(dec);
    out->ranks = column_decode_i64(dec, out->rank_count);
    out->communication_ns = column_decode_i64(dec, out->rank_count);
    out->hidden_ns = column_decode_i64(dec, out->rank_count);
    if (column_decode_number(dec) != 0) {
        out->sent_bytes = column_decode_i64(dec, out->rank_count * out->rank_count);
    }
    out->imbalance_send = get_double(dec);
    out->imbalance_receive = get_double(dec);
}

/* ---- verdicts ---- */

static void put_culprit(struct column_encoder *enc, const struct culprit_row *row)
{
    const int64_t numbers[] = {row->step, row->rank, row->margin_ns, (int64_t)row->cause,
                               (int64_t)row->kernel_count};
    column_encode_i64(enc, numbers, sizeof numbers / sizeof *numbers);
    column_encode_i64(enc, row->excess_ns, CAUSE_COUNT);
    for (size_t k = 0; k < row->kernel_count; k++) {
        column_encode_texts(enc, &row->kernels[k].name, 1);
        column_encode_i64(enc, &row->kernels[k].excess_ns, 1);
    }
}

static void get_culprit(struct column_decoder *dec, struct culprit_row *row)
{
    const int64_t *numbers = column_decode_i64(dec, 5);
    const int64_t *excess_ns = column_decode_i64(dec, CAUSE_COUNT);
    if (numbers == NULL || excess_ns == NULL || numbers[3] < 0 || numbers[3] >= CAUSE_COUNT ||
        numbers[4] < 0 || numbers[4] > CULPRIT_KERNELS_MAX) {
        dec->failed = true;
        return;
    }
    *row = (struct culprit_row){.step = numbers[0],
                                .rank = numbers[1],
                                .margin_ns = numbers[2],
                                .cause = (enum rank_cause)numbers[3],
                                .kernel_count = (size_t)numbers[4]};
    memcpy(row->excess_ns, excess_ns, sizeof row->excess_ns);
    for (size_t k = 0; k < row->kernel_count; k++) {
        row->kernels[k].name = get_text(dec);
        row->kernels[k].excess_ns = column_decode_signed(dec);
    }
}

static void put_verdict(struct column_encoder *enc, const void *view)
{
    const struct ranks_verdict *from = view;
    const int64_t numbers[] = {from->reference,      from->island_count,  from->twice_count,
                               from->left_out_steps, (int64_t)from->kind, from->rank,
                               (int64_t)from->cause, from->culprit_steps, from->lost_ns,
                               from->zero_ns,        from->end_ns};
    size_t cells = from->rank_count * from->step_count;
    column_encode_i64(enc, numbers, sizeof numbers / sizeof *numbers);
    column_encode_texts(enc, &from->text, 1);
    put_table(enc, &table_clock, from->clocks, from->rank_count);
    column_encode_number(enc, from->step_count);
    column_encode_i64(enc, from->steps, from->step_count);
    column_encode_i64(enc, from->step_ns, cells);
    column_encode_i64(enc, from->wait_ns, cells);
    column_encode_i64(enc, from->work_ns, cells);
    column_encode_i64(enc, from->step_start_ns, from->step_count);
    column_encode_i64(enc, from->step_end_ns, from->step_count);
    for (size_t s = 0; s < from->step_count; s++) {
        put_culprit(enc, &from->culprits[s]);
    }
    column_encode_number(enc, from->recurrence_count);
    for (size_t i = 0; i < from->recurrence_count; i++) {
        column_encode_i64(enc, &from->recurrence[i].rank, 1);
        column_encode_i64(enc, &from->recurrence[i].steps, 1);
    }
}

static void get_rest_of_verdict(struct column_decoder *dec, struct ranks_verdict *out)
{
    out->culprits = arena_calloc(dec->arena, out->step_count + 1, sizeof *out->culprits);
    dec->failed = dec->failed || out->culprits == NULL;
    for (size_t s = 0; s < out->step_count && !dec->failed; s++) {
        get_culprit(dec, &out->culprits[s]);
    }
    out->recurrence_count = column_decode_count(dec);
    bool fits = out->recurrence_count <= out->rank_count;
    out->recurrence =
        !fits ? NULL : arena_calloc(dec->arena, out->recurrence_count + 1, sizeof *out->recurrence);
    dec->failed = dec->failed || out->recurrence == NULL;
    for (size_t i = 0; i < out->recurrence_count && !dec->failed; i++) {
        out->recurrence[i].rank = column_decode_signed(dec);
        out->recurrence[i].steps = column_decode_signed(dec);
    }
}

static void get_verdict(struct column_decoder *dec, void *view)
{
    struct ranks_verdict *out = view;
    const int64_t *numbers = column_decode_i64(dec, 11);
    if (numbers == NULL || numbers[4] < 0 || numbers[4] > VERDICT_SCATTERED || numbers[6] < 0 ||
        numbers[6] >= CAUSE_COUNT) {
        dec->failed = true;
        return;
    }
    *out = (struct ranks_verdict){.reference = numbers[0],
                                  .island_count = numbers[1],
                                  .twice_count = numbers[2],
                                  .left_out_steps = numbers[3],
                                  .kind = (enum rank_verdict)numbers[4],
                                  .rank = numbers[5],
                                  .cause = (enum rank_cause)numbers[6],
                                  .culprit_steps = numbers[7],
                                  .lost_ns = numbers[8],
                                  .zero_ns = numbers[9],
                                  .end_ns = numbers[10]};
    out->text = get_text(dec);
    out->clocks = get_table(dec, &table_clock, &out->rank_count);
    out->step_count = column_decode_count(dec);
    size_t cells = out->rank_count * out->step_count;
    out->steps = column_decode_i64(dec, out->step_count);
    out->step_ns = column_decode_i64(dec, cells);
    out->wait_ns = column_decode_i64(dec, cells);
    out->work_ns = column_decode_i64(dec, cells);
    out->step_start_ns = column_decode_i64(dec, out->step_count);
    out->step_end_ns = column_decode_i64(dec, out->step_count);
    get_rest_of_verdict(dec, out);
}

/* ---- the table ---- */

/* In a transaction of the caller. */
static bool write_bytes(struct store *store,
                        const struct run_view_key *key,
                        const void *bytes,
                        size_t len,
                        struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, store->writer,
               "INSERT INTO run_view (run_id, kind, span, inputs, bytes)"
               " SELECT id, ?2, ?3, ?4, ?5 FROM run WHERE name = ?1"
               " ON CONFLICT (run_id, kind, span) DO UPDATE SET inputs = excluded.inputs,"
               " bytes = excluded.bytes");
    db_put_text(&st, key->run);
    db_put_int(&st, (int64_t)key->view + key->part);
    db_put_int(&st, key->span);
    db_put_text(&st, key->inputs);
    db_put_blob(&st, bytes, len);
    return db_run(&st, err);
}

typedef void put_view(struct column_encoder *enc, const void *view);

static bool pack_view(put_view *put, const void *view, void **bytes, size_t *len, struct err *err)
{
    struct column_encoder enc;
    column_encode_init(&enc);
    put(&enc, view);
    bool ok = column_encode_finish(&enc, bytes, len, err);
    column_encode_free(&enc);
    return ok;
}

static bool write_view(struct store *store,
                       const struct run_view_key *key,
                       put_view *put,
                       const void *view,
                       struct err *err)
{
    void *bytes = NULL;
    size_t len = 0;
    bool ok = pack_view(put, view, &bytes, &len, err) && store_write_begin(store, STORE_BATCH, err);
    if (ok) {
        ok = store_write_end(store, write_bytes(store, key, bytes, len, err), err);
    }
    free(bytes);
    return ok;
}

static bool read_view(struct store_snapshot *snapshot,
                      struct arena *arena,
                      const struct run_view_key *key,
                      size_t view_bytes,
                      void (*get)(struct column_decoder *, void *),
                      void **out,
                      struct err *err)
{
    struct column_decoder dec;
    struct db *db = NULL;
    struct db_stmt st;
    bool found = false;
    bool ok = true;
    *out = NULL;
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    db_prepare(&st, db,
               "SELECT v.bytes FROM run_view AS v JOIN run AS r ON r.id = v.run_id"
               " WHERE r.name = ? AND v.kind = ? AND v.span = ? AND v.inputs = ?");
    db_put_text(&st, key->run);
    db_put_int(&st, (int64_t)key->view + key->part);
    db_put_int(&st, key->span);
    db_put_text(&st, key->inputs);
    if (db_next(&st)) {
        size_t len = 0;
        const void *bytes = db_peek_blob(&st, &len);
        found = column_decode_init(&dec, arena, bytes, len, err);
        ok = found;
    }
    ok = db_done(&st, err) && ok;
    if (!found) {
        return ok;
    }
    *out = arena_calloc(arena, 1, view_bytes);
    dec.failed = *out == NULL;
    if (*out != NULL) {
        get(&dec, *out);
    }
    return column_decode_finish(&dec, err) && ok;
}

bool store_ranks_verdict(struct store_snapshot *snapshot,
                         struct arena *arena,
                         const struct run_view_key *key,
                         struct ranks_verdict **out,
                         struct err *err)
{
    void *view = NULL;
    bool ok = read_view(snapshot, arena, key, sizeof **out, get_verdict, &view, err);
    *out = view;
    return ok;
}

bool store_ranks_verdict_put(struct store *store,
                             const struct run_view_key *key,
                             const struct ranks_verdict *verdict,
                             struct err *err)
{
    return write_view(store, key, put_verdict, verdict, err);
}

bool store_ranks_collectives(struct store_snapshot *snapshot,
                             struct arena *arena,
                             const struct run_view_key *key,
                             struct ranks_collectives **out,
                             struct err *err)
{
    void *view = NULL;
    bool ok = read_view(snapshot, arena, key, sizeof **out, get_collectives, &view, err);
    *out = view;
    return ok;
}

bool store_ranks_collectives_put(struct store *store,
                                 const struct run_view_key *key,
                                 const struct ranks_collectives *collectives,
                                 struct err *err)
{
    return write_view(store, key, put_collectives, collectives, err);
}

/* ---- lanes ---- */

static void put_lane(struct column_encoder *enc, const void *view)
{
    const struct rank_lane *from = view;
    column_encode_i64(enc, &from->rank, 1);
    for (int l = 0; l < LANE_LAYER_COUNT; l++) {
        const struct lane_spans *spans = &from->layers[l];
        int64_t before = 0;
        column_encode_number(enc, spans->count);
        for (size_t i = 0; i < spans->count; i++) {
            const int64_t moved[] = {saturating_sub(spans->start_ns[i], before),
                                     saturating_sub(spans->end_ns[i], spans->start_ns[i])};
            column_encode_i64(enc, &moved[0], 1);
            column_encode_i64(enc, &moved[1], 1);
            before = spans->start_ns[i];
        }
    }
}

static void get_lane(struct column_decoder *dec, void *view)
{
    struct rank_lane *out = view;
    out->rank = column_decode_signed(dec);
    for (int l = 0; l < LANE_LAYER_COUNT && !dec->failed; l++) {
        struct lane_spans *spans = &out->layers[l];
        size_t count = column_decode_count(dec);
        int64_t start_ns = 0;
        if (count > (size_t)(dec->end - dec->at)) {
            dec->failed = true;
            return;
        }
        spans->start_ns = arena_calloc(dec->arena, count + 1, sizeof *spans->start_ns);
        spans->end_ns = arena_calloc(dec->arena, count + 1, sizeof *spans->end_ns);
        dec->failed = dec->failed || spans->start_ns == NULL || spans->end_ns == NULL;
        for (size_t i = 0; i < count && !dec->failed; i++) {
            start_ns = saturating_add(start_ns, column_decode_signed(dec));
            spans->start_ns[i] = start_ns;
            spans->end_ns[i] = saturating_add(start_ns, column_decode_signed(dec));
            spans->count = i + 1;
        }
    }
}

bool store_ranks_lane(struct store_snapshot *snapshot,
                      struct arena *arena,
                      const struct run_view_key *key,
                      struct rank_lane **out,
                      struct err *err)
{
    void *view = NULL;
    bool ok = read_view(snapshot, arena, key, sizeof **out, get_lane, &view, err);
    *out = view;
    return ok;
}

bool store_ranks_lanes_put(struct store *store,
                           const struct run_view_key *key,
                           const struct rank_lane *lanes,
                           size_t count,
                           struct err *err)
{
    struct run_view_key part = *key;
    bool ok = store_write_begin(store, STORE_BATCH, err);
    if (!ok) {
        return false;
    }
    for (size_t i = 0; ok && i < count; i++) {
        void *bytes = NULL;
        size_t len = 0;
        part.part = key->part + (int64_t)i;
        ok = pack_view(put_lane, &lanes[i], &bytes, &len, err) &&
             write_bytes(store, &part, bytes, len, err);
        free(bytes);
    }
    return store_write_end(store, ok, err);
}
