/* A trace given back as the document it was, block by block. It holds the file of its events, which
 * nobody changes, but no connection to the catalogue: a slow client may take minutes for the whole.
 */
#include "ingest/store/events/documents/print.h"
#include "ingest/store/events/reader.h"
#include "ingest/store/results_files.h"
#include "ingest/store/store_events.h"

#include <stdlib.h>

/* A piece is handed out when it has this many bytes; small enough to stay in the cache. */
#define PIECE_BYTES ((size_t)256 << 10)

enum export_part { EXPORT_HEAD, EXPORT_EVENTS, EXPORT_TAIL, EXPORT_DONE };

struct store_export {
    struct store *store;
    char key[RESULTS_KEY_BYTES];
    struct db *file; /* of this key */
    struct event_reader reader;
    struct printed_template *printed; /* by template, in the reader's arena; made when needed */
    int64_t start_ns;                 /* as the file counts */
    int64_t end_ns;
    bool is_whole; /* no range */
    enum export_part part;
    uint32_t next_event; /* behind the blocks that were read */
    bool has_block;
    bool has_written; /* an event */
    struct loaded_block loaded;
    struct buf out;
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory to give back a trace");
}

/* ---- opening ---- */

static void release_file(struct store_export *from)
{
    if (from->file != NULL) {
        results_file_release(from->store, from->key, from->file);
    }
}

static bool open_reader(struct store_export *from,
                        struct store_snapshot *snapshot,
                        int64_t trace_id,
                        struct err *err)
{
    struct db *catalogue;
    return store_snapshot_read(snapshot, &catalogue, err) &&
           results_file_find(catalogue, trace_id, RESULTS_EVENTS, from->key, err) &&
           (from->key[0] == '\0' ||
            results_file_acquire(from->store, catalogue, from->key, &from->file, err)) &&
           event_reader_open(&from->reader, catalogue, from->file, trace_id, err);
}

bool store_export_open(struct store_snapshot *snapshot,
                       int64_t trace_id,
                       int64_t start_ns,
                       int64_t end_ns,
                       struct store_export **out,
                       struct err *err)
{
    struct store_export *from = calloc(1, sizeof *from);
    if (from == NULL) {
        return no_memory(err);
    }
    from->store = snapshot->store;
    if (!open_reader(from, snapshot, trace_id, err)) {
        release_file(from);
        free(from);
        return false;
    }
    from->is_whole = start_ns == INT64_MIN && end_ns == INT64_MAX;
    from->start_ns = event_to_file_time(&from->reader, start_ns);
    from->end_ns = event_to_file_time(&from->reader, end_ns);
    loaded_block_init(&from->loaded);
    buf_init(&from->out, SIZE_MAX / 2);
    from->printed = arena_calloc(&from->reader.arena, (size_t)from->reader.templates.count + 1,
                                 sizeof *from->printed);
    if (from->printed == NULL) {
        store_export_close(from);
        return no_memory(err);
    }
    *out = from;
    return true;
}

void store_export_close(struct store_export *from)
{
    if (from == NULL) {
        return;
    }
    loaded_block_free(&from->loaded);
    buf_free(&from->out);
    event_reader_close(&from->reader);
    release_file(from);
    free(from);
}

/* ---- blocks ---- */

static bool is_needed(const struct store_export *from, const struct event_block_row *row)
{
    return from->is_whole || row->has_metadata ||
           (row->min_start_ns <= from->end_ns && row->max_end_ns >= from->start_ns);
}

/* Goes to the next block that is needed, past those that are not: of these, only the beginning of
 * the row is read. */
static bool find_block(struct store_export *from, struct db_stmt *st, struct err *err)
{
    struct loaded_block *loaded = &from->loaded;
    while (db_next(st)) {
        event_block_row_read(&loaded->row, st);
        if (loaded->row.first_event != from->next_event || loaded->row.event_count == 0) {
            return err_set(err, ERR_STORE, "event %u is missing", from->next_event);
        }
        from->next_event += loaded->row.event_count;
        if (is_needed(from, &loaded->row)) {
            from->has_block = true;
            return loaded_block_read_texts(loaded, st, err) &&
                   loaded_block_read_bytes(loaded, &from->reader, st, err);
        }
    }
    return true;
}

/* Whether the trace is still there. */
static bool check_trace(struct store_export *from, struct err *err)
{
    struct db *db;
    if (!store_read_begin_recent(from->store, &db, STORE_RECENT_MS, err)) {
        return false;
    }
    bool ok = event_reader_check(&from->reader, db, err);
    store_read_end(from->store, db);
    return ok;
}

static bool read_block(struct store_export *from, struct err *err)
{
    struct db_stmt st;
    struct err second = ERR_INIT;
    db_prepare(&st, from->file,
               "SELECT" EVENT_BLOCK_COLUMNS " FROM event_block"
               " WHERE log_id = ? AND first_event >= ? ORDER BY first_event");
    db_put_int(&st, from->reader.log_id);
    db_put_int(&st, from->next_event);
    bool ok = find_block(from, &st, err);
    ok = db_done(&st, ok ? err : &second) && ok;
    if (ok && !from->has_block && from->next_event != from->reader.event_count) {
        ok = err_set(err, ERR_STORE, "event %u is missing", from->next_event);
    }
    return ok && (!from->has_block ||
                  loaded_block_read_slices(&from->loaded, &from->reader, from->file, err));
}

static bool next_block(struct store_export *from, struct err *err)
{
    loaded_block_free(&from->loaded);
    from->has_block = false;
    bool ok = check_trace(from, err) && read_block(from, err);
    if (ok && !from->has_block) {
        from->part = EXPORT_TAIL;
    }
    return ok;
}

/* ---- text ---- */

static bool is_wanted(const struct store_export *from)
{
    struct event_value fields[EVENT_FIELD_COUNT];
    struct event_when when;
    if (from->is_whole) {
        return true;
    }
    loaded_block_fields(&from->loaded, fields);
    event_when_init(&when, fields);
    return when.is_metadata || event_overlaps(&when, from->start_ns, from->end_ns);
}

static uint32_t template_number(const struct store_export *from)
{
    const struct stored_template *stored = from->loaded.cursor.template->stored;
    return (uint32_t)(stored - from->reader.templates.templates);
}

static bool print_event(struct store_export *from)
{
    const struct block_template *template = from->loaded.cursor.template;
    struct event_reader *reader = &from->reader;
    struct printed_template *printed = &from->printed[template_number(from)];
    if (printed->before == NULL &&
        !printed_template_make(printed, &reader->arena, &reader->templates, template->stored)) {
        return false;
    }
    event_print(&from->out, printed, template, from->loaded.cursor.row, from->loaded.slices);
    return true;
}

static bool print_item(struct store_export *from)
{
    buf_append(&from->out, ",\n", from->has_written ? 2 : 0);
    from->has_written = true;
    return print_event(from);
}

static bool print_block(struct store_export *from, struct err *err)
{
    while (from->out.len < PIECE_BYTES) {
        if (!block_cursor_next(&from->loaded.cursor)) {
            from->has_block = false;
            return true;
        }
        if (is_wanted(from) && !print_item(from)) {
            return no_memory(err);
        }
    }
    return true;
}

static void print_head(struct store_export *from, const char *head)
{
    buf_puts(&from->out, "{");
    buf_puts(&from->out, head);
    buf_puts(&from->out, head[0] == '\0' ? "\"traceEvents\": [\n" : ", \"traceEvents\": [\n");
    from->part = EXPORT_EVENTS;
}

static bool read_head(struct store_export *from, struct err *err)
{
    struct db_stmt st;
    struct arena arena;
    struct err second = ERR_INIT;
    const char *head = "";
    arena_init(&arena, 0);
    bool ok = check_trace(from, err);
    db_prepare(&st, from->file, "SELECT head FROM event_log WHERE id = ?");
    db_put_int(&st, from->reader.log_id);
    if (ok && db_next(&st)) {
        ok = event_head_decode(&head, &arena, &st, err);
    }
    ok = db_done(&st, ok ? err : &second) && ok;
    if (ok) {
        print_head(from, head);
    }
    arena_free(&arena);
    return ok;
}

static bool go_on(struct store_export *from, struct err *err)
{
    switch (from->part) {
    case EXPORT_HEAD:
        return read_head(from, err);
    case EXPORT_EVENTS:
        return from->has_block ? print_block(from, err) : next_block(from, err);
    default:
        buf_puts(&from->out, from->has_written ? "\n]}\n" : "]}\n");
        from->part = EXPORT_DONE;
        return true;
    }
}

bool store_export_next(struct store_export *from, const char **text, size_t *len, struct err *err)
{
    buf_clear(&from->out);
    enum export_part part = from->part;
    while (from->part != EXPORT_DONE && from->out.len < PIECE_BYTES) {
        if (!go_on(from, err)) {
            return false;
        }
        if (from->part != part && from->out.len > 0) {
            break;
        }
        part = from->part;
    }
    *text = from->out.ptr;
    *len = from->out.len;
    return !from->out.failed || no_memory(err);
}

/* ---- events without their text ---- */

static void describe_event(const struct store_export *from, struct stored_event *out)
{
    const struct loaded_block *loaded = &from->loaded;
    const struct block_template *template = loaded->cursor.template;
    *out = (struct stored_event){
        .template_number = template_number(from),
        .template = &template->stored->template,
        .keys = from->reader.templates.keys,
        .columns = template->columns,
        .row = loaded->cursor.row,
        .text_ids = loaded->texts.ids,
    };
}

static bool next_event(void *context, struct stored_event *out, bool *found, struct err *err)
{
    struct store_export *from = context;
    *found = false;
    while (from->part == EXPORT_EVENTS) {
        if (!from->has_block) {
            if (!next_block(from, err)) {
                return false;
            }
        } else if (!block_cursor_next(&from->loaded.cursor)) {
            from->has_block = false;
        } else if (is_wanted(from)) {
            describe_event(from, out);
            *found = true;
            return true;
        }
    }
    return true;
}

static bool print_next(void *context, const char **text, size_t *len, struct err *err)
{
    struct store_export *from = context;
    buf_clear(&from->out);
    bool ok = print_event(from) && !from->out.failed;
    *text = from->out.ptr;
    *len = from->out.len;
    return ok || no_memory(err);
}

struct event_source store_export_events(struct store_export *from)
{
    return (struct event_source){.context = from,
                                 .event_count = from->reader.event_count,
                                 .next = next_event,
                                 .print = print_next};
}
