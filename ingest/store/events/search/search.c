/* Events in which a text is found. First the texts are looked through, each once; then only those
 * blocks are read that have one of the texts found, or may have the number:
 *
 *     q -> text_match -> bits by text id -> blocks -> rows that match -> the first ones by start */
#include "ingest/store/events/documents/json_string.h"
#include "ingest/store/events/encode.h"
#include "ingest/store/events/fields.h"
#include "ingest/store/events/reader.h"
#include "ingest/store/events/search/text_match.h"
#include "ingest/store/internal.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BITS 64u
/* Of an event without a start: behind all others. */
#define NO_START INT64_MAX

/* An event that was found; its texts by id. */
struct found {
    int64_t start_ns; /* as the file counts */
    uint32_t event;
    uint32_t key; /* slot in which the text was found; not of whole events */
    const struct stored_template *template;
    struct event_value fields[EVENT_FIELD_COUNT]; /* texts: `number` is the id */
    uint32_t whole_id;                            /* of a whole event: its text */
};

struct search {
    struct event_reader reader;
    struct text_match match;
    uint64_t *bits;  /* of the texts that match */
    const char *key; /* of the one argument that is looked at; NULL: all that is searched */
    int64_t start_ns;
    int64_t end_ns;
    bool is_unbounded;
    /* the first ones by start, then number: the last of them on top of a heap */
    struct found *heap;
    size_t heap_count;
    size_t limit;
    size_t total;
    size_t count_max;
    /* of the block being read */
    struct loaded_block loaded;
    uint32_t **keys; /* by template: for each row the slot that matches + 1, or 0 */
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory to search events");
}

/* ---- texts ---- */

static bool match_segments(struct search *search, struct db *db, struct err *err)
{
    struct db_stmt st;
    struct err second = ERR_INIT;
    bool ok = true;
    db_prepare(&st, db, "SELECT first_id, bytes FROM event_text WHERE log_id = ?");
    db_put_int(&st, search->reader.log_id);
    while (ok && db_next(&st)) {
        struct text_segment segment;
        size_t len;
        uint32_t first_id = (uint32_t)db_get_int(&st);
        const void *bytes = db_peek_blob(&st, &len);
        ok = text_segment_decode(&segment, first_id, bytes, len, err);
        if (!ok) {
            break;
        }
        if (first_id > search->reader.text_count ||
            segment.count > search->reader.text_count - first_id) {
            ok = err_set(err, ERR_STORE, "stored texts of events are damaged");
        } else {
            text_match_segment(&search->match, &segment, search->bits);
        }
        text_segment_free(&segment);
    }
    ok = db_done(&st, ok ? err : &second) && ok;
    return ok && (!text_match_failed(&search->match) || no_memory(err));
}

static bool has_bit(const struct search *search, uint32_t id)
{
    return id < search->reader.text_count &&
           (search->bits[id / WORD_BITS] >> id % WORD_BITS & 1) != 0;
}

/* ---- what is kept ---- */

static bool is_behind(const struct found *a, const struct found *b)
{
    return a->start_ns != b->start_ns ? a->start_ns > b->start_ns : a->event > b->event;
}

static void swap(struct found *a, struct found *b)
{
    struct found kept = *a;
    *a = *b;
    *b = kept;
}

static void sift_up(struct found *heap, size_t at)
{
    while (at > 0 && is_behind(&heap[at], &heap[(at - 1) / 2])) {
        swap(&heap[at], &heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static void sift_down(struct found *heap, size_t count)
{
    size_t at = 0;
    for (;;) {
        size_t last = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            last = is_behind(&heap[child], &heap[last]) ? child : last;
        }
        if (last == at) {
            return;
        }
        swap(&heap[at], &heap[last]);
        at = last;
    }
}

static void keep(struct search *search, const struct found *found)
{
    if (search->heap_count < search->limit) {
        search->heap[search->heap_count] = *found;
        sift_up(search->heap, search->heap_count++);
    } else if (search->limit > 0 && is_behind(&search->heap[0], found)) {
        search->heap[0] = *found;
        sift_down(search->heap, search->heap_count);
    }
}

/* Ascending. */
static void sort_found(struct search *search)
{
    for (size_t left = search->heap_count; left > 1; left--) {
        swap(&search->heap[0], &search->heap[left - 1]);
        sift_down(search->heap, left - 1);
    }
}

/* ---- one block ---- */

/* An argument's key, in its quotes. */
static bool is_asked(const struct search *search, const char *key, size_t len)
{
    return search->key == NULL || (len == strlen(search->key) + 2 &&
                                   memcmp(key + 1, search->key, strlen(search->key)) == 0);
}

static bool slot_is_asked(const struct search *search, const struct event_slot *slot)
{
    const char *key = search->reader.templates.keys[slot->key];
    return search->key == NULL ? event_slot_is_searched(slot, key)
                               : slot->in_args && is_asked(search, key, strlen(key));
}

static bool may_match(const struct search *search)
{
    const struct block_texts *texts = &search->loaded.texts;
    const struct text_match *match = &search->match;
    if (match->is_number &&
        zone_map_has(&texts->numbers, number_whole_part(match->number, match->digits))) {
        return true;
    }
    for (uint32_t i = 0; i < texts->count; i++) {
        if ((texts->flags[i] & BLOCK_TEXT_WHOLE) != 0 ||
            ((texts->flags[i] & BLOCK_TEXT_SEARCHED) != 0 && has_bit(search, texts->ids[i]))) {
            return true;
        }
    }
    return false;
}

static bool value_matches(const struct search *search,
                          uint8_t kind,
                          const struct event_column *at,
                          uint32_t row)
{
    const struct text_match *match = &search->match;
    int64_t value = at->values[(size_t)row * at->stride];
    if (kind == EVENT_SLOT_TEXT) {
        return has_bit(search, search->loaded.texts.ids[value]);
    }
    if (!match->is_number || value != match->number) {
        return false;
    }
    int64_t digits = kind == EVENT_SLOT_INT ? 0 : at[1].values[(size_t)row * at[1].stride];
    return digits == match->digits;
}

/* Marks the rows of a template in which this slot matches and no one before it did. */
static void match_slot(const struct search *search,
                       const struct block_template *template,
                       uint32_t slot,
                       const struct event_column *column,
                       uint32_t *keys)
{
    uint8_t kind = template->stored->template.slots[slot].kind;
    bool is_constant = column->stride == 0 && (kind != EVENT_SLOT_DECIMAL || column[1].stride == 0);
    if (template->event_count == 0 || (is_constant && !value_matches(search, kind, column, 0))) {
        return;
    }
    for (uint32_t row = 0; row < template->event_count; row++) {
        if (keys[row] == 0 && value_matches(search, kind, column, row)) {
            keys[row] = slot + 1;
        }
    }
}

/* The name comes first, whatever stands before it. */
static bool match_template(struct search *search, uint32_t local, struct err *err)
{
    const struct block_template *template = &search->loaded.block.templates[local];
    const struct event_template *of = &template->stored->template;
    const struct event_shape *shape = &template->stored->shape;
    uint32_t *keys =
        arena_calloc(&search->loaded.arena, (size_t) template->event_count + 1, sizeof *keys);
    search->keys[local] = keys;
    if (keys == NULL) {
        return no_memory(err);
    }
    for (int pass = 0; pass < 2 && !shape->is_whole; pass++) {
        uint32_t value = 0;
        for (uint32_t i = 0; i < of->slot_count; i++) {
            const struct event_slot *slot = &of->slots[i];
            bool is_name = value == shape->value[EVENT_NAME];
            if (is_name == (pass == 0) && slot_is_asked(search, slot)) {
                match_slot(search, template, i, &template->columns[value], keys);
            }
            value += event_slot_values((enum event_slot_kind)slot->kind);
        }
    }
    return true;
}

static bool needs_slices(const struct event_block *block)
{
    for (uint32_t k = 0; k < block->template_count; k++) {
        const struct event_shape *shape = &block->templates[k].stored->shape;
        bool has_text_time = (shape->value[EVENT_TS] != EVENT_NO_VALUE &&
                              shape->kind[EVENT_TS] == EVENT_SLOT_TEXT) ||
                             (shape->value[EVENT_DUR] != EVENT_NO_VALUE &&
                              shape->kind[EVENT_DUR] == EVENT_SLOT_TEXT);
        if (shape->is_whole || has_text_time) {
            return true;
        }
    }
    return false;
}

/* ---- events that are one text ---- */

/* The key whose value matches, among the members of an object; `in_args`: all count. */
static bool match_members(
    struct search *search, const char *text, size_t len, bool in_args, struct json_slice *key)
{
    struct json_members members;
    struct json_slice value;
    json_members_begin(&members, text, len);
    while (json_members_next(&members, key, &value)) {
        enum event_field field = event_field_of(key->text, key->len);
        bool is_searched =
            in_args ? is_asked(search, key->text, key->len)
                    : search->key == NULL && (field == EVENT_NAME || field == EVENT_CATEGORY);
        if (is_searched && text_match_test(&search->match, value.text, value.len)) {
            return true;
        }
        struct json_slice args_key = {.text = "\"args\""};
        bool is_args = !in_args && key->len == strlen(args_key.text) &&
                       memcmp(key->text, args_key.text, key->len) == 0;
        if (is_args && match_members(search, value.text, value.len, true, &args_key)) {
            *key = args_key;
            return true;
        }
    }
    return false;
}

/* ---- all blocks ---- */

/* The event at the cursor, if it matches and is in the range. */
static void take_event(struct search *search, uint32_t event)
{
    const struct loaded_block *loaded = &search->loaded;
    const struct block_cursor *cursor = &loaded->cursor;
    size_t local = (size_t)(cursor->template - loaded->block.templates);
    struct found found = {.event = event, .template = cursor->template->stored};
    struct event_when when;
    struct json_slice key;
    if (found.template->shape.is_whole) {
        int64_t at = block_value(cursor->template, 0, cursor->row);
        found.whole_id = loaded->texts.ids[at];
        if (!match_members(search, loaded->slices[at].text, loaded->slices[at].len, false, &key)) {
            return;
        }
    } else if (search->keys[local][cursor->row] == 0) {
        return;
    } else {
        found.key = search->keys[local][cursor->row] - 1;
    }
    loaded_block_fields(loaded, found.fields);
    event_when_init(&when, found.fields);
    found.start_ns = when.has_start ? when.start_ns : NO_START;
    if (!search->is_unbounded && !event_overlaps(&when, search->start_ns, search->end_ns)) {
        return;
    }
    for (int field = 0; field < EVENT_FIELD_COUNT && !found.template->shape.is_whole; field++) {
        struct event_value *value = &found.fields[field];
        if (value->is_there && value->kind == EVENT_SLOT_TEXT) {
            value->number = loaded->texts.ids[value->number];
        }
    }
    search->total++;
    keep(search, &found);
}

static bool search_block(struct search *search, struct db *db, struct db_stmt *st, struct err *err)
{
    struct loaded_block *loaded = &search->loaded;
    if (!loaded_block_read_texts(loaded, st, err)) {
        return false;
    }
    if (!may_match(search)) {
        return true;
    }
    if (!loaded_block_read_bytes(loaded, &search->reader, st, err) ||
        (needs_slices(&loaded->block) &&
         !loaded_block_read_slices(loaded, &search->reader, db, err))) {
        return false;
    }
    search->keys = arena_calloc(&loaded->arena, (size_t)loaded->block.template_count + 1,
                                sizeof *search->keys);
    if (search->keys == NULL) {
        return no_memory(err);
    }
    for (uint32_t k = 0; k < loaded->block.template_count; k++) {
        if (!match_template(search, k, err)) {
            return false;
        }
    }
    uint32_t event = loaded->row.first_event;
    while (search->total < search->count_max && block_cursor_next(&loaded->cursor)) {
        take_event(search, event++);
    }
    return true;
}

static bool search_blocks(struct search *search, struct db *db, struct err *err)
{
    struct db_stmt st;
    struct err second = ERR_INIT;
    bool ok = true;
    db_prepare(&st, db,
               "SELECT" EVENT_BLOCK_COLUMNS " FROM event_block WHERE log_id = ?"
               " ORDER BY first_event");
    db_put_int(&st, search->reader.log_id);
    while (ok && search->total < search->count_max && db_next(&st)) {
        struct event_block_row *row = &search->loaded.row;
        event_block_row_read(row, &st);
        if (search->is_unbounded ||
            (row->min_start_ns <= search->end_ns && row->max_end_ns >= search->start_ns)) {
            ok = search_block(search, db, &st, err);
        }
        loaded_block_free(&search->loaded);
    }
    return db_done(&st, ok ? err : &second) && ok;
}

/* ---- the answer ---- */

/* Reads the texts of what was found: one event at a time, because the texts of all might be many.
 */
static bool copy_hit(struct search *search,
                     struct db *db,
                     struct arena *arena,
                     struct found *found,
                     struct store_event_hit *out,
                     struct err *err)
{
    struct stored_texts *texts = &search->reader.texts;
    const struct stored_template *template = found->template;
    uint32_t ids[EVENT_FIELD_COUNT];
    struct json_slice slices[EVENT_FIELD_COUNT];
    struct json_slice key = {.text = "", .len = 0};
    size_t count = 0;
    if (template->shape.is_whole) {
        ids[count++] = found->whole_id;
    }
    for (int field = 0; field < EVENT_FIELD_COUNT && !template->shape.is_whole; field++) {
        if (found->fields[field].is_there && found->fields[field].kind == EVENT_SLOT_TEXT) {
            ids[count++] = (uint32_t)found->fields[field].number;
        }
    }
    if (!stored_texts_get(texts, db, ids, count, slices, err)) {
        return false;
    }
    if (template->shape.is_whole) {
        event_fields_of_whole(found->fields, slices[0].text, slices[0].len);
        (void)match_members(search, slices[0].text, slices[0].len, false, &key);
    } else {
        const char *text = search->reader.templates.keys[template->template.slots[found->key].key];
        key = (struct json_slice){.text = text, .len = strlen(text)};
        count = 0;
        for (int field = 0; field < EVENT_FIELD_COUNT; field++) {
            struct event_value *value = &found->fields[field];
            if (value->is_there && value->kind == EVENT_SLOT_TEXT) {
                value->text = slices[count].text;
                value->len = slices[count++].len;
            }
        }
    }
    out->event.event = found->event;
    out->key = json_string_copy(arena, key.text, key.len);
    return (out->key != NULL &&
            event_fields_copy(&out->event, arena, found->fields, search->reader.base_ns)) ||
           no_memory(err);
}

static bool copy_hits(struct search *search,
                      struct db *db,
                      struct arena *arena,
                      struct store_event_hit **hits,
                      struct err *err)
{
    sort_found(search);
    *hits = arena_calloc(arena, search->heap_count + 1, sizeof **hits);
    if (*hits == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < search->heap_count; i++) {
        if (!copy_hit(search, db, arena, &search->heap[i], &(*hits)[i], err)) {
            return false;
        }
    }
    return true;
}

static bool make_room(struct search *search, struct err *err)
{
    size_t words = (size_t)search->reader.text_count / WORD_BITS + 1;
    size_t events = search->reader.event_count;
    search->limit = search->limit < events ? search->limit : events;
    search->limit = search->limit < search->count_max ? search->limit : search->count_max;
    search->bits = calloc(words, sizeof *search->bits);
    search->heap = calloc(search->limit + 1, sizeof *search->heap);
    return (search->bits != NULL && search->heap != NULL) || no_memory(err);
}

static bool run(struct search *search,
                struct db *db,
                struct arena *arena,
                const char *q,
                struct store_event_hit **hits,
                struct err *err)
{
    bool ok = text_match_init(&search->match, q, err) && make_room(search, err) &&
              match_segments(search, db, err) && search_blocks(search, db, err) &&
              copy_hits(search, db, arena, hits, err);
    loaded_block_free(&search->loaded);
    text_match_free(&search->match);
    free(search->bits);
    free(search->heap);
    return ok;
}

bool store_events_search(struct store_snapshot *snapshot,
                         struct arena *arena,
                         int64_t trace_id,
                         const struct store_event_query *query,
                         struct store_event_hit **hits,
                         size_t *count,
                         size_t *total,
                         struct err *err)
{
    struct search *search = arena_calloc(arena, 1, sizeof *search);
    struct db *db;
    if (search == NULL) {
        return no_memory(err);
    }
    search->key = query->key;
    search->limit = query->limit;
    search->count_max = query->count_max;
    bool ok = event_reader_begin(&search->reader, snapshot, trace_id, &db, err);
    if (ok) {
        search->is_unbounded = query->start_ns == INT64_MIN && query->end_ns == INT64_MAX;
        search->start_ns = event_to_file_time(&search->reader, query->start_ns);
        search->end_ns = event_to_file_time(&search->reader, query->end_ns);
        loaded_block_init(&search->loaded);
        ok = run(search, db, arena, query->q, hits, err);
        *count = search->heap_count;
        *total = search->total;
        event_reader_close(&search->reader);
    }
    return ok;
}
