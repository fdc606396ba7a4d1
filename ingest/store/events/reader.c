#include "ingest/store/events/reader.h"

#include "ingest/store/results_files.h"

/* ---- the log ---- */

static bool has_no_events(int64_t trace_id, struct err *err)
{
    return err_set(err, ERR_GONE,
                   "trace %lld was stored without its events; upload it again to have them",
                   (long long)trace_id);
}

/* Derived figures have the events of their trace, and its start. */
static bool
read_base(struct event_reader *reader, struct db *catalogue, int64_t trace_id, struct err *err)
{
    struct db_stmt st;
    if (!store_check_figures(catalogue, trace_id, err)) {
        return false;
    }
    db_prepare(&st, catalogue,
               "SELECT m.first_event_ns FROM trace AS t"
               " JOIN trace AS m ON m.id = coalesce(t.derived_of, t.id) WHERE t.id = ?");
    db_put_int(&st, trace_id);
    reader->base_ns = db_next(&st) ? db_get_int(&st) : 0;
    return db_done(&st, err);
}

static bool read_log(struct event_reader *reader, struct db *file, struct err *err)
{
    struct db_stmt st;
    bool found = false;
    bool ok = true;
    db_prepare(&st, file,
               "SELECT event_count, text_count, templates FROM event_log"
               " WHERE id = ? AND templates IS NOT NULL");
    db_put_int(&st, reader->log_id);
    if (db_next(&st)) {
        size_t len;
        found = true;
        reader->event_count = (uint32_t)db_get_int(&st);
        reader->text_count = (uint32_t)db_get_int(&st);
        const void *bytes = db_peek_blob(&st, &len);
        ok = event_templates_decode(&reader->templates, &reader->arena, bytes, len, err);
    }
    struct err second = ERR_INIT;
    ok = db_done(&st, ok ? err : &second) && ok;
    return ok && (found || has_no_events(reader->trace_id, err));
}

bool event_reader_open(struct event_reader *reader,
                       struct db *catalogue,
                       struct db *file,
                       int64_t trace_id,
                       struct err *err)
{
    *reader = (struct event_reader){.trace_id = trace_id, .log_id = RESULTS_LOG_ID};
    if (!read_base(reader, catalogue, trace_id, err)) {
        return false;
    }
    arena_init(&reader->arena, 0);
    if (file == NULL ? !has_no_events(trace_id, err) : !read_log(reader, file, err)) {
        arena_free(&reader->arena);
        return false;
    }
    stored_texts_init(&reader->texts, reader->log_id);
    return true;
}

bool event_reader_begin(struct event_reader *reader,
                        struct store_snapshot *snapshot,
                        int64_t trace_id,
                        struct db **file,
                        struct err *err)
{
    struct db *catalogue;
    return store_snapshot_read(snapshot, &catalogue, err) &&
           store_check_figures(catalogue, trace_id, err) &&
           store_snapshot_file(snapshot, trace_id, RESULTS_EVENTS, file, err) &&
           event_reader_open(reader, catalogue, *file, trace_id, err);
}

void event_reader_close(struct event_reader *reader)
{
    stored_texts_free(&reader->texts);
    arena_free(&reader->arena);
}

bool event_reader_check(const struct event_reader *reader, struct db *db, struct err *err)
{
    struct err gone = ERR_INIT;
    if (store_check_figures(db, reader->trace_id, &gone)) {
        return true;
    }
    if (gone.code != ERR_NOT_FOUND) {
        *err = gone;
        return false;
    }
    return err_set(err, ERR_NOT_FOUND, "trace %lld was removed while it was read",
                   (long long)reader->trace_id);
}

bool event_head_decode(const char **head, struct arena *arena, struct db_stmt *st, struct err *err)
{
    struct column_decoder dec;
    size_t len;
    const void *bytes = db_peek_blob(st, &len);
    if (!column_decode_init(&dec, arena, bytes, len, err)) {
        return false;
    }
    const char **texts = column_decode_texts(&dec, 1);
    dec.failed = dec.failed || texts == NULL || texts[0] == NULL;
    *head = dec.failed ? "" : texts[0];
    return column_decode_finish(&dec, err);
}

/* ---- blocks ---- */

void event_block_row_read(struct event_block_row *row, struct db_stmt *st)
{
    row->first_event = (uint32_t)db_get_int(st);
    row->event_count = (uint32_t)db_get_int(st);
    row->min_start_ns = db_get_int(st);
    row->max_end_ns = db_get_int(st);
    row->has_metadata = db_get_bool(st);
}

void loaded_block_init(struct loaded_block *loaded)
{
    *loaded = (struct loaded_block){.slices = NULL};
    arena_init(&loaded->arena, 0);
}

void loaded_block_free(struct loaded_block *loaded)
{
    arena_free(&loaded->arena);
    loaded_block_init(loaded);
}

bool loaded_block_read_texts(struct loaded_block *loaded, struct db_stmt *st, struct err *err)
{
    size_t len;
    const void *bytes = db_peek_blob(st, &len);
    return block_texts_decode(&loaded->texts, &loaded->arena, bytes, len, err);
}

bool loaded_block_read_bytes(struct loaded_block *loaded,
                             const struct event_reader *reader,
                             struct db_stmt *st,
                             struct err *err)
{
    size_t len;
    const void *bytes = db_peek_blob(st, &len);
    if (!event_block_decode(&loaded->block, &loaded->arena, &reader->templates,
                            loaded->row.event_count, loaded->texts.count, bytes, len, err)) {
        return false;
    }
    loaded->cursor.block = &loaded->block;
    loaded->cursor.rows = arena_calloc(&loaded->arena, (size_t)loaded->block.template_count + 1,
                                       sizeof *loaded->cursor.rows);
    return loaded->cursor.rows != NULL ||
           err_set(err, ERR_NO_MEMORY, "no memory for a block of events");
}

bool loaded_block_read_slices(struct loaded_block *loaded,
                              struct event_reader *reader,
                              struct db *db,
                              struct err *err)
{
    size_t count = loaded->texts.count;
    struct json_slice *slices = arena_calloc(&loaded->arena, count + 1, sizeof *slices);
    if (slices == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a block of events");
    }
    loaded->slices = slices;
    return stored_texts_get(&reader->texts, db, loaded->texts.ids, count, slices, err);
}

/* ---- events ---- */

void loaded_block_fields(const struct loaded_block *loaded,
                         struct event_value fields[EVENT_FIELD_COUNT])
{
    const struct block_template *template = loaded->cursor.template;
    const struct event_shape *shape = &template->stored->shape;
    uint32_t row = loaded->cursor.row;
    if (shape->is_whole) {
        struct json_slice whole = {.text = ""};
        if (loaded->slices != NULL) {
            whole = loaded->slices[block_value(template, 0, row)];
        }
        event_fields_of_whole(fields, whole.text, whole.len);
        return;
    }
    for (int field = 0; field < EVENT_FIELD_COUNT; field++) {
        uint32_t at = shape->value[field];
        struct event_value *value = &fields[field];
        *value = (struct event_value){
            .is_there = at != EVENT_NO_VALUE, .kind = shape->kind[field], .text = ""};
        if (!value->is_there) {
            continue;
        }
        value->number = block_value(template, at, row);
        if (value->kind == EVENT_SLOT_DECIMAL) {
            value->digits = block_value(template, at + 1, row);
        } else if (value->kind == EVENT_SLOT_TEXT && loaded->slices != NULL) {
            value->text = loaded->slices[value->number].text;
            value->len = loaded->slices[value->number].len;
        }
    }
}

bool event_overlaps(const struct event_when *when, int64_t start_ns, int64_t end_ns)
{
    return when->has_start && when->start_ns <= end_ns && event_when_end(when) >= start_ns;
}

int64_t event_to_file_time(const struct event_reader *reader, int64_t ns)
{
    int64_t base_ns = reader->base_ns;
    if (ns == INT64_MAX || (base_ns > 0 && ns > INT64_MAX - base_ns)) {
        return INT64_MAX;
    }
    if (ns == INT64_MIN || (base_ns < 0 && ns < INT64_MIN - base_ns)) {
        return INT64_MIN;
    }
    return ns + base_ns;
}

int64_t event_from_file_time(int64_t ns, int64_t base_ns)
{
    if (base_ns < 0 && ns > INT64_MAX + base_ns) {
        return INT64_MAX;
    }
    if (base_ns > 0 && ns < INT64_MIN + base_ns) {
        return INT64_MIN;
    }
    return ns - base_ns;
}
