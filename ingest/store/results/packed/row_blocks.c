#include "ingest/store/results/packed/row_blocks.h"

#include "ingest/base/text/strtab.h"

#include <stdlib.h>
#include <string.h>

/* A block also ends when its texts take this much: call stacks can be long. */
#define BLOCK_ROWS ((size_t)4096)
#define BLOCK_TEXT_BYTES ((size_t)4 << 20)
/* Packed rows that take the time of one row that is written by itself. */
#define ROWS_OF_A_ROW 4
#define TEXT_COLUMNS_MAX ((size_t)8)

/* Columns of texts that a column is stored as. */
static size_t texts_of(const struct table_column *column)
{
    bool is_text = column->kind == TABLE_TEXT || column->kind == TABLE_SHARED;
    return !column->is_stored ? 0 : is_text ? 1 : column->kind == TABLE_SHARED_4 ? 4 : 0;
}

static bool is_real(const struct table_column *column)
{
    return column->kind == TABLE_REAL || column->kind == TABLE_REAL_OR_NULL;
}

/* ---- writing ---- */

bool row_packer_init(struct row_packer *packer)
{
    column_encode_init(&packer->enc);
    packer->values = malloc(BLOCK_ROWS * sizeof *packer->values);
    packer->ids = malloc(BLOCK_ROWS * TEXT_COLUMNS_MAX * sizeof *packer->ids);
    return packer->values != NULL && packer->ids != NULL;
}

void row_packer_free(struct row_packer *packer)
{
    column_encode_free(&packer->enc);
    free(packer->values);
    free(packer->ids);
}

static const unsigned char *row_at(const struct row_table *table, const void *rows, size_t at)
{
    return (const unsigned char *)rows + at * table->row_bytes;
}

/* Ids from 1 on; 0 is no text. Returns how many rows fit into the block; 0: no memory. */
static size_t number_texts(struct row_packer *packer,
                           struct strtab *texts,
                           const struct row_table *table,
                           const void *rows,
                           size_t count)
{
    size_t fits = count < BLOCK_ROWS ? count : BLOCK_ROWS;
    size_t at = 0;
    for (size_t bytes = 0; at < fits && bytes < BLOCK_TEXT_BYTES; at++) {
        uint32_t *id = packer->ids + at;
        for (size_t i = 0; i < table->column_count; i++) {
            const struct table_column *column = &table->columns[i];
            const char *const *values = table_texts(column, row_at(table, rows, at));
            for (size_t k = 0; k < texts_of(column); k++, id += BLOCK_ROWS) {
                size_t len = values[k] == NULL ? 0 : strlen(values[k]);
                uint32_t known = strtab_count(texts);
                *id = values[k] == NULL ? 0 : strtab_intern(texts, values[k], len) + 1;
                if (values[k] != NULL && *id == 0) {
                    return 0;
                }
                bytes += strtab_count(texts) > known ? len : 0;
            }
        }
    }
    return at;
}

static void put_columns(struct row_packer *packer,
                        const struct row_table *table,
                        const void *rows,
                        size_t count)
{
    const uint32_t *id = packer->ids;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        for (size_t k = 0; k < texts_of(column); k++, id += BLOCK_ROWS) {
            for (size_t at = 0; at < count; at++) {
                packer->values[at] = id[at];
            }
            column_encode_column(&packer->enc, packer->values, count);
        }
        if (!column->is_stored || texts_of(column) > 0) {
            continue;
        }
        for (size_t at = 0; at < count; at++) {
            const unsigned char *row = row_at(table, rows, at);
            if (is_real(column)) {
                memcpy(&packer->values[at], row + column->offset, sizeof *packer->values);
            } else {
                packer->values[at] = table_int(column, row);
            }
        }
        column_encode_column(&packer->enc, packer->values, count);
    }
}

/* Packs as many rows as a block takes; 0: no memory. */
static size_t
pack_block(struct row_packer *packer, const struct row_table *table, const void *rows, size_t count)
{
    struct strtab *texts = strtab_create();
    size_t packed = texts == NULL ? 0 : number_texts(packer, texts, table, rows, count);
    uint32_t text_count = packed == 0 ? 0 : strtab_count(texts);
    column_encode_clear(&packer->enc);
    column_encode_number(&packer->enc, text_count);
    for (uint32_t id = 0; id < text_count; id++) {
        const char *text = strtab_text(texts, id);
        column_encode_texts(&packer->enc, &text, 1);
    }
    put_columns(packer, table, rows, packed);
    strtab_destroy(texts);
    return packed;
}

void row_packer_write(struct row_packer *packer,
                      struct row_writer *writer,
                      const struct row_table *table,
                      int group,
                      const void *rows,
                      size_t count)
{
    for (size_t first = 0, packed; first < count && writer->ok; first += packed) {
        void *bytes = NULL;
        size_t len = 0;
        packed = pack_block(packer, table, row_at(table, rows, first), count - first);
        writer->ok = packed > 0 ? column_encode_finish(&packer->enc, &bytes, &len, writer->err)
                                : err_set(writer->err, ERR_NO_MEMORY, "no memory to store rows");
        row_begin(writer, "INSERT INTO row_block (trace_id, name, grouping, position, row_count,"
                          " bytes) VALUES (?, ?, ?, ?, ?, ?)");
        row_put_text(writer, table->name);
        row_put_int(writer, group);
        row_put_int(writer, (int64_t)first);
        row_put_int(writer, (int64_t)packed);
        row_put_blob(writer, bytes, len);
        writer->batch_rows += packed / ROWS_OF_A_ROW;
        row_end(writer);
        free(bytes);
    }
}

/* ---- reading ---- */

static bool is_damaged(struct err *err)
{
    return err_set(err, ERR_STORE, "stored rows are damaged");
}

static void put_key(struct db_stmt *st, const struct row_blocks *in)
{
    db_put_int(st, RESULTS_LOG_ID);
    db_put_text(st, in->table->name);
    db_put_int(st, in->group);
}

#define BLOCK_KEY " FROM row_block WHERE trace_id = ? AND name = ? AND grouping = ?"

static bool count_blocks(struct row_blocks *in, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, in->db, "SELECT count(*)" BLOCK_KEY);
    put_key(&st, in);
    in->block_count = db_next(&st) ? (size_t)db_get_int(&st) : 0;
    return db_done(&st, err);
}

static bool list_blocks(struct row_blocks *in, struct err *err)
{
    struct db_stmt st;
    bool is_sound = true;
    in->blocks = arena_calloc(in->arena, in->block_count + 1, sizeof *in->blocks);
    if (in->blocks == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the rows of a table");
    }
    db_prepare(&st, in->db, "SELECT position, row_count" BLOCK_KEY " ORDER BY position");
    put_key(&st, in);
    for (size_t i = 0; i < in->block_count && db_next(&st); i++) {
        int64_t first = db_get_int(&st);
        int64_t count = db_get_int(&st);
        is_sound = is_sound && first == (int64_t)in->row_count && count > 0 &&
                   count <= (int64_t)BLOCK_ROWS;
        in->blocks[i].first = in->row_count;
        in->blocks[i].count = is_sound ? (size_t)count : 0;
        in->row_count += in->blocks[i].count;
    }
    return db_done(&st, err) && (is_sound || is_damaged(err));
}

bool row_blocks_open(struct row_blocks *in,
                     struct db *db,
                     struct arena *arena,
                     const struct row_table *table,
                     int group,
                     struct err *err)
{
    *in = (struct row_blocks){
        .db = db, .arena = arena, .table = table, .group = group, .loaded = SIZE_MAX};
    return count_blocks(in, err) && list_blocks(in, err);
}

void row_blocks_close(struct row_blocks *in)
{
    free(in->rows);
    in->rows = NULL;
}

/* Copies the texts, but those of a block that was loaded before are there. False without memory. */
static bool read_texts(struct row_blocks *in, struct row_block *block, struct column_decoder *dec)
{
    bool is_new = block->texts == NULL;
    block->text_count = column_decode_count(dec);
    if (block->text_count > (size_t)(dec->end - dec->at)) {
        dec->failed = true;
        return true;
    }
    if (is_new) {
        block->texts = arena_calloc(in->arena, (size_t)block->text_count + 1, sizeof *block->texts);
    }
    for (uint32_t id = 0; block->texts != NULL && id < block->text_count && !dec->failed; id++) {
        size_t len = (size_t)column_decode_number(dec);
        const char *text = len == 0 ? NULL : column_decode_peek(dec, len - 1);
        dec->failed = dec->failed || text == NULL;
        if (is_new && !dec->failed) {
            block->texts[id] = arena_strndup(in->arena, text, len - 1);
            block->texts = block->texts[id] == NULL ? NULL : block->texts;
        }
    }
    return block->texts != NULL;
}

/* A number that an enumeration has not is read as its last one, or as unknown. */
static void set_field(const struct table_column *column, void *field, int64_t value)
{
    switch (column->kind) {
    case TABLE_FLAG:
        *(bool *)field = value != 0;
        break;
    case TABLE_BITS:
        *(uint32_t *)field = (uint32_t)value;
        break;
    case TABLE_WORD:
        *(uint32_t *)field =
            value < 0 || value > column->last ? (uint32_t)column->last : (uint32_t)value;
        break;
    case TABLE_MAYBE:
        *(uint32_t *)field =
            value < 0 || value > TABLE_MAYBE_YES ? TABLE_MAYBE_UNKNOWN : (uint32_t)value;
        break;
    default: /* a number, or the bits of a real */
        memcpy(field, &value, sizeof value);
        break;
    }
}

static const char *text_of(const struct row_block *block, int64_t id, struct column_decoder *dec)
{
    dec->failed = dec->failed || id < 0 || id > (int64_t)block->text_count;
    return dec->failed || id == 0 ? NULL : block->texts[id - 1];
}

static void read_columns(struct row_blocks *in, struct row_block *block, struct column_decoder *dec)
{
    for (size_t i = 0; i < in->table->column_count; i++) {
        const struct table_column *column = &in->table->columns[i];
        size_t texts = texts_of(column);
        for (size_t k = 0; column->is_stored && k < (texts > 0 ? texts : 1); k++) {
            unsigned stride = 0;
            const int64_t *values = column_decode_column(dec, block->count, &stride);
            unsigned char *field = in->rows + column->offset;
            for (size_t at = 0; !dec->failed && at < block->count; at++) {
                if (texts > 0) {
                    ((const char **)(void *)field)[k] = text_of(block, values[at * stride], dec);
                } else {
                    set_field(column, field, values[at * stride]);
                }
                field += in->table->row_bytes;
            }
        }
    }
}

static void set_positions(struct row_blocks *in, const struct row_block *block)
{
    const struct table_column *column = table_column_find(in->table, "position");
    for (size_t at = 0; column != NULL && at < block->count; at++) {
        int64_t position = (int64_t)(block->first + at);
        set_field(column, in->rows + at * in->table->row_bytes + column->offset, position);
    }
}

static bool
decode_block(struct row_blocks *in, size_t number, const void *bytes, size_t len, struct err *err)
{
    struct column_decoder dec;
    struct arena columns;
    struct row_block *block = &in->blocks[number];
    arena_init(&columns, 0);
    if (!column_decode_init(&dec, &columns, bytes, len, err)) {
        return false;
    }
    free(in->rows);
    in->rows = calloc(block->count, in->table->row_bytes);
    bool has_memory = in->rows != NULL && read_texts(in, block, &dec);
    if (has_memory) {
        read_columns(in, block, &dec);
        set_positions(in, block);
    }
    arena_free(&columns);
    bool is_sound = column_decode_finish(&dec, err);
    in->loaded = number;
    return has_memory ? is_sound : err_set(err, ERR_NO_MEMORY, "no memory for the rows of a table");
}

static bool load_block(struct row_blocks *in, size_t number, struct err *err)
{
    struct db_stmt st;
    in->loaded = SIZE_MAX;
    db_prepare(&st, in->db, "SELECT bytes" BLOCK_KEY " AND position = ?");
    put_key(&st, in);
    db_put_int(&st, (int64_t)in->blocks[number].first);
    bool ok = true;
    if (db_next(&st)) {
        size_t len = 0;
        const void *bytes = db_peek_blob(&st, &len);
        ok = decode_block(in, number, bytes, len, err);
    }
    return db_done(&st, err) && ok && (in->loaded == number || is_damaged(err));
}

static bool has_row(const struct row_block *block, size_t position)
{
    return position >= block->first && position - block->first < block->count;
}

/* Blocks differ in length: the last one that begins no later. */
static size_t find_block(const struct row_blocks *in, size_t position)
{
    size_t low = 0;
    for (size_t high = in->block_count; high - low > 1;) {
        size_t middle = low + (high - low) / 2;
        if (in->blocks[middle].first <= position) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

const void *row_blocks_row(struct row_blocks *in, size_t position, struct err *err)
{
    if ((in->loaded == SIZE_MAX || !has_row(&in->blocks[in->loaded], position)) &&
        !load_block(in, find_block(in, position), err)) {
        return NULL;
    }
    return row_at(in->table, in->rows, position - in->blocks[in->loaded].first);
}

bool row_blocks_read(struct db *db,
                     struct arena *arena,
                     const struct row_table *table,
                     void **rows,
                     size_t *count,
                     struct err *err)
{
    struct row_blocks in;
    bool ok = row_blocks_open(&in, db, arena, table, 0, err);
    *count = ok ? in.row_count : 0;
    *rows = *count == 0 ? NULL : arena_calloc(arena, *count, table->row_bytes);
    if (*count > 0 && *rows == NULL) {
        ok = err_set(err, ERR_NO_MEMORY, "no memory for the rows of a table");
        *count = 0;
    }
    for (size_t at = 0; ok && at < *count; at++) {
        const void *row = row_blocks_row(&in, at, err);
        ok = row != NULL;
        if (ok) {
            memcpy((unsigned char *)*rows + at * table->row_bytes, row, table->row_bytes);
        }
    }
    row_blocks_close(&in);
    return ok;
}
