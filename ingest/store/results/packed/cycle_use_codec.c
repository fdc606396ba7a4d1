#include "ingest/store/results/packed/cycle_use_codec.h"

#include "ingest/base/text/strtab.h"
#include "ingest/model/tables.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define REAL_BYTES 8
#define KNOWN_TEXTS ((size_t)1024) /* a power of 2 */

/* ---- packing ---- */

struct known_text {
    const char *text; /* by address */
    uint32_t id;
};

struct packing {
    struct column_parts *parts;
    struct strtab *texts;
    struct known_text known[KNOWN_TEXTS]; /* texts come again and again, mostly as the same copy */
};

static uint32_t id_of(struct packing *p, const char *text)
{
    uint64_t address = (uint64_t)(uintptr_t)text;
    struct known_text *known = &p->known[(address >> 4 ^ address >> 14) % KNOWN_TEXTS];
    if (known->text != text) {
        *known = (struct known_text){text, strtab_intern(p->texts, text, strlen(text))};
    }
    p->parts->failed = p->parts->failed || known->id == STRTAB_NONE;
    return known->id;
}

/* Of the field at `offset` of `count` rows; so do all that follow. */
static void
see_texts(struct packing *p, const struct cycle_use_row *rows, size_t offset, size_t count)
{
    for (size_t i = 0; i < count && !p->parts->failed; i++) {
        const char *text;
        memcpy(&text, (const char *)&rows[i] + offset, sizeof text);
        if (text != NULL) {
            (void)id_of(p, text);
        }
    }
}

static void
put_ints(struct packing *p, const struct cycle_use_row *rows, size_t offset, uint32_t count)
{
    int64_t *values = p->parts->values;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&values[i], (const char *)&rows[i] + offset, sizeof values[i]);
    }
    column_parts_begin_column(p->parts);
    column_parts_values(p->parts, values, count);
}

/* Ids from 1 on; 0 is no text. */
static void
put_texts(struct packing *p, const struct cycle_use_row *rows, size_t offset, uint32_t count)
{
    int64_t *ids = p->parts->values;
    for (uint32_t i = 0; i < count; i++) {
        const char *text;
        memcpy(&text, (const char *)&rows[i] + offset, sizeof text);
        ids[i] = text == NULL ? 0 : (int64_t)id_of(p, text) + 1;
    }
    column_parts_begin_column(p->parts);
    column_parts_values(p->parts, ids, count);
}

/* The bits, lowest byte first. */
static void
put_reals(struct packing *p, const struct cycle_use_row *rows, size_t offset, uint32_t count)
{
    _Static_assert(sizeof *p->parts->values == REAL_BYTES, "a real fits where a value does");
    uint8_t *bytes = (uint8_t *)p->parts->values;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, (const char *)&rows[i] + offset, sizeof bits);
        for (unsigned k = 0; k < REAL_BYTES; k++) {
            bytes[i * REAL_BYTES + k] = (uint8_t)(bits >> (8 * k));
        }
    }
    column_parts_bytes(p->parts, bytes, count * REAL_BYTES);
}

static void put_all_texts(struct packing *p, const struct cycle_use_row *rows, size_t count)
{
    for (size_t i = 0; i < table_cycle_use.column_count; i++) {
        if (table_cycle_use.columns[i].kind == TABLE_SHARED) {
            see_texts(p, rows, table_cycle_use.columns[i].offset, count);
        }
    }
    uint32_t texts = strtab_count(p->texts);
    column_encode_number(&p->parts->enc, texts);
    for (uint32_t id = 0; id < texts; id++) {
        const char *text = strtab_text(p->texts, id);
        column_encode_texts(&p->parts->enc, &text, 1);
        column_parts_end_piece(p->parts);
    }
}

/* Each stored column of the rows. */
static void put_rows(struct packing *p, const struct cycle_use_row *rows, uint32_t count)
{
    for (size_t i = 0; i < table_cycle_use.column_count; i++) {
        const struct table_column *column = &table_cycle_use.columns[i];
        if (!column->is_stored) {
            continue;
        }
        if (column->kind == TABLE_SHARED) {
            put_texts(p, rows, column->offset, count);
        } else if (column->kind == TABLE_INT) {
            put_ints(p, rows, column->offset, count);
        } else {
            put_reals(p, rows, column->offset, count);
        }
    }
}

void cycle_use_encode(struct column_parts *parts, const void *results)
{
    const struct trace_results *from = results;
    size_t count = from->cycle_use_count;
    struct strtab *texts = strtab_create();
    struct packing *p = calloc(1, sizeof *p);
    parts->failed = parts->failed || p == NULL || texts == NULL || count > UINT32_MAX;
    if (!parts->failed) {
        p->parts = parts;
        p->texts = texts;
        column_encode_number(&parts->enc, count);
        put_all_texts(p, from->cycle_uses, count);
    }
    for (size_t first = 0, part; first < count && !parts->failed; first += part) {
        part = count - first < COLUMN_PART_VALUES ? count - first : COLUMN_PART_VALUES;
        put_rows(p, from->cycle_uses + first, (uint32_t)part);
    }
    free(p);
    strtab_destroy(texts);
}

/* ---- unpacking ---- */

struct unpacking {
    struct column_decoder *dec;
    const char **texts;
    uint32_t text_count;
};

static void read_ints(struct unpacking *u, struct cycle_use_row *rows, size_t offset, size_t count)
{
    const int64_t *column = column_decode_i64(u->dec, count);
    for (size_t i = 0; column != NULL && i < count; i++) {
        memcpy((char *)&rows[i] + offset, &column[i], sizeof column[i]);
    }
}

static void read_texts(struct unpacking *u, struct cycle_use_row *rows, size_t offset, size_t count)
{
    const uint32_t *column = column_decode_u32(u->dec, count, u->text_count + 1, false);
    for (size_t i = 0; column != NULL && i < count; i++) {
        const char *text = column[i] == 0 ? NULL : u->texts[column[i] - 1];
        memcpy((char *)&rows[i] + offset, &text, sizeof text);
    }
}

static void read_reals(struct unpacking *u, struct cycle_use_row *rows, size_t offset, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        const char *bytes = column_decode_peek(u->dec, REAL_BYTES);
        for (unsigned k = 0; bytes != NULL && k < REAL_BYTES; k++) {
            bits |= (uint64_t)(uint8_t)bytes[k] << (8 * k);
        }
        memcpy((char *)&rows[i] + offset, &bits, sizeof bits);
    }
}

static void read_rows(struct unpacking *u, struct cycle_use_row *rows, size_t count)
{
    for (size_t i = 0; i < table_cycle_use.column_count; i++) {
        const struct table_column *column = &table_cycle_use.columns[i];
        if (!column->is_stored) {
            continue;
        }
        if (column->kind == TABLE_SHARED) {
            read_texts(u, rows, column->offset, count);
        } else if (column->kind == TABLE_INT) {
            read_ints(u, rows, column->offset, count);
        } else {
            read_reals(u, rows, column->offset, count);
        }
    }
}

static void read_all_texts(struct unpacking *u)
{
    struct column_decoder *dec = u->dec;
    u->text_count = column_decode_count(dec);
    u->texts = column_decode_texts(dec, u->text_count);
    dec->failed = dec->failed || u->text_count == UINT32_MAX;
    for (uint32_t i = 0; i < u->text_count && !dec->failed; i++) {
        dec->failed = u->texts[i] == NULL;
    }
}

bool cycle_use_decode(struct column_decoder *dec, struct trace_results *out, struct err *err)
{
    struct arena *arena = dec->arena;
    struct arena columns;
    struct unpacking u = {.dec = dec};
    size_t count = column_decode_count(dec);
    read_all_texts(&u);
    /* A row has several bytes. */
    dec->failed = dec->failed || count > (size_t)(dec->end - dec->at);
    if (dec->failed) {
        return true;
    }
    struct cycle_use_row *rows = arena_calloc(arena, count, sizeof *rows);
    if (rows == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the cycles of a trace");
    }
    arena_init(&columns, 0);
    dec->arena = &columns;
    for (size_t first = 0, part; first < count && !dec->failed; first += part) {
        part = count - first < COLUMN_PART_VALUES ? count - first : COLUMN_PART_VALUES;
        read_rows(&u, rows + first, part);
        arena_free(&columns);
    }
    dec->arena = arena;
    out->cycle_uses = rows;
    out->cycle_use_count = count;
    return true;
}
