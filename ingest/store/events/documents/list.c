/* Several events, asked for by their numbers. */
#include "ingest/store/events/fields.h"
#include "ingest/store/events/reader.h"
#include "ingest/store/internal.h"
#include "ingest/store/store_events.h"

/* Where the reading of a list stands. */
struct list_read {
    struct db *db;
    struct event_reader reader;
    struct loaded_block loaded;
    bool has_block;
    uint32_t next; /* event behind the cursor */
};

static bool read_block(struct list_read *list, uint32_t event, struct err *err)
{
    struct loaded_block *loaded = &list->loaded;
    struct db_stmt st;
    struct err second = ERR_INIT;
    bool ok = true;
    loaded_block_free(loaded);
    loaded_block_init(loaded);
    db_prepare(&st, list->db,
               "SELECT" EVENT_BLOCK_COLUMNS " FROM event_block"
               " WHERE log_id = ? AND first_event <= ? ORDER BY first_event DESC LIMIT 1");
    db_put_int(&st, list->reader.log_id);
    db_put_int(&st, event);
    if (db_next(&st)) {
        event_block_row_read(&loaded->row, &st);
        ok = loaded_block_read_texts(loaded, &st, err) &&
             loaded_block_read_bytes(loaded, &list->reader, &st, err);
    }
    ok = db_done(&st, ok ? err : &second) && ok;
    if (ok && event - loaded->row.first_event >= loaded->block.event_count) {
        ok = err_set(err, ERR_STORE, "event %lu is missing", (unsigned long)event);
    }
    list->has_block = ok && loaded_block_read_slices(loaded, &list->reader, list->db, err);
    list->next = loaded->row.first_event;
    return list->has_block;
}

static bool seek_to(struct list_read *list, uint32_t event, struct err *err)
{
    const struct loaded_block *loaded = &list->loaded;
    bool is_there = list->has_block && event >= list->next &&
                    event - loaded->row.first_event < loaded->block.event_count;
    if (event >= list->reader.event_count) {
        return err_set(err, ERR_NOT_FOUND, "trace %lld has no event %lu",
                       (long long)list->reader.trace_id, (unsigned long)event);
    }
    if (!is_there && !read_block(list, event, err)) {
        return false;
    }
    bool ok = true;
    for (; ok && list->next <= event; list->next++) {
        ok = block_cursor_next(&list->loaded.cursor);
    }
    return ok || err_set(err, ERR_STORE, "event %lu is missing", (unsigned long)event);
}

static bool read_all(struct list_read *list,
                     struct arena *arena,
                     const uint32_t *events,
                     size_t count,
                     struct store_event *out,
                     struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        struct event_value fields[EVENT_FIELD_COUNT];
        if (!seek_to(list, events[i], err)) {
            return false;
        }
        loaded_block_fields(&list->loaded, fields);
        out[i] = (struct store_event){.event = events[i]};
        if (!event_fields_copy(&out[i], arena, fields, list->reader.base_ns)) {
            return err_set(err, ERR_NO_MEMORY, "no memory for events");
        }
    }
    return true;
}

bool store_events_get(struct store_snapshot *snapshot,
                      struct arena *arena,
                      int64_t trace_id,
                      const uint32_t *events,
                      size_t count,
                      struct store_event *out,
                      struct err *err)
{
    struct list_read list = {.has_block = false};
    bool ok = event_reader_begin(&list.reader, snapshot, trace_id, &list.db, err);
    if (ok) {
        loaded_block_init(&list.loaded);
        ok = read_all(&list, arena, events, count, out, err);
        loaded_block_free(&list.loaded);
        event_reader_close(&list.reader);
    }
    return ok;
}
