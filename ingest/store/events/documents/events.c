/* One event, asked for by its number. */
#include "ingest/store/events/documents/print.h"
#include "ingest/store/events/fields.h"
#include "ingest/store/events/reader.h"
#include "ingest/store/internal.h"
#include "ingest/store/store_events.h"

/* The block of the event, its cursor at the event. */
static bool read_block_of(struct db *db,
                          struct event_reader *reader,
                          uint32_t event,
                          struct loaded_block *loaded,
                          struct err *err)
{
    struct db_stmt st;
    struct err second = ERR_INIT;
    bool ok = true;
    db_prepare(&st, db,
               "SELECT" EVENT_BLOCK_COLUMNS " FROM event_block"
               " WHERE log_id = ? AND first_event <= ? ORDER BY first_event DESC LIMIT 1");
    db_put_int(&st, reader->log_id);
    db_put_int(&st, event);
    if (db_next(&st)) {
        event_block_row_read(&loaded->row, &st);
        ok = loaded_block_read_texts(loaded, &st, err) &&
             loaded_block_read_bytes(loaded, reader, &st, err);
    }
    ok = db_done(&st, ok ? err : &second) && ok;
    uint32_t first_event = loaded->row.first_event;
    if (ok && (first_event > event || event - first_event >= loaded->block.event_count)) {
        ok = err_set(err, ERR_STORE, "event %u is missing", event);
    }
    for (uint32_t i = first_event; ok && i <= event; i++) {
        ok = block_cursor_next(&loaded->cursor);
    }
    return ok;
}

/* Only the texts of this event: those of the others stay NULL. */
static bool read_own_texts(struct db *db,
                           struct event_reader *reader,
                           struct loaded_block *loaded,
                           struct err *err)
{
    const struct block_template *template = loaded->cursor.template;
    const struct event_template *of = &template->stored->template;
    uint32_t value = 0;
    loaded->slices =
        arena_calloc(&loaded->arena, (size_t)loaded->texts.count + 1, sizeof *loaded->slices);
    if (loaded->slices == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for an event");
    }
    for (uint32_t i = 0; i < of->slot_count; i++) {
        if (of->slots[i].kind == EVENT_SLOT_TEXT) {
            int64_t local = block_value(template, value, loaded->cursor.row);
            struct json_slice text;
            if (!stored_texts_get(&reader->texts, db, &loaded->texts.ids[local], 1, &text, err)) {
                return false;
            }
            text.text = arena_strndup(&loaded->arena, text.text, text.len);
            if (text.text == NULL) {
                return err_set(err, ERR_NO_MEMORY, "no memory for an event");
            }
            loaded->slices[local] = text;
        }
        value += event_slot_values((enum event_slot_kind)of->slots[i].kind);
    }
    return true;
}

static const char *print_json(const struct event_reader *reader,
                              const struct loaded_block *loaded,
                              struct arena *arena)
{
    const struct block_template *template = loaded->cursor.template;
    struct printed_template printed;
    struct arena scratch;
    struct buf out;
    const char *json = NULL;
    arena_init(&scratch, 0);
    buf_init(&out, SIZE_MAX / 2);
    if (printed_template_make(&printed, &scratch, &reader->templates, template->stored)) {
        event_print(&out, &printed, template, loaded->cursor.row, loaded->slices);
        json = out.failed ? NULL : arena_strndup(arena, out.ptr, out.len);
    }
    buf_free(&out);
    arena_free(&scratch);
    return json;
}

static bool answer(struct db *db,
                   struct event_reader *reader,
                   struct loaded_block *loaded,
                   struct arena *arena,
                   uint32_t event,
                   struct store_event *out,
                   struct err *err)
{
    struct event_value fields[EVENT_FIELD_COUNT];
    if (event >= reader->event_count) {
        return err_set(err, ERR_NOT_FOUND, "trace %lld has no event %u, only %u events",
                       (long long)reader->trace_id, event, reader->event_count);
    }
    if (!read_block_of(db, reader, event, loaded, err) ||
        !read_own_texts(db, reader, loaded, err)) {
        return false;
    }
    loaded_block_fields(loaded, fields);
    out->event = event;
    out->json = print_json(reader, loaded, arena);
    return (out->json != NULL && event_fields_copy(out, arena, fields, reader->base_ns)) ||
           err_set(err, ERR_NO_MEMORY, "no memory for an event");
}

bool store_event_get(struct store_snapshot *snapshot,
                     struct arena *arena,
                     int64_t trace_id,
                     uint32_t event,
                     struct store_event *out,
                     struct err *err)
{
    struct db *db;
    struct event_reader reader;
    struct loaded_block loaded;
    bool ok = event_reader_begin(&reader, snapshot, trace_id, &db, err);
    if (ok) {
        loaded_block_init(&loaded);
        ok = answer(db, &reader, &loaded, arena, event, out, err);
        loaded_block_free(&loaded);
        event_reader_close(&reader);
    }
    return ok;
}
