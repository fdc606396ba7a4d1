/* Blocks of events in the store. The first byte of an input chooses: the rest is a trace, whose
 * events are stored and come back (0); or what stands in the store before it is compressed: the
 * templates (1), the texts of a block (2), its columns (3), or, compressed, any of them (4). */
#include "ingest/input/input.h"
#include "ingest/store/events/decode.h"
#include "ingest/store/events/encode.h"
#include "tests/fuzz/fuzz_reading.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define WAYS 5
#define TEXT_COUNT 7

/* ---- a trace there and back ---- */

static void same_event(const struct block_cursor *cursor,
                       const struct block_texts *texts,
                       const struct event_template *template,
                       const int64_t *values)
{
    uint32_t v = 0;
    for (uint32_t k = 0; k < template->slot_count; k++) {
        bool is_text = template->slots[k].kind == EVENT_SLOT_TEXT;
        uint32_t end = v + (template->slots[k].kind == EVENT_SLOT_DECIMAL ? 2 : 1);
        for (; v < end; v++) {
            int64_t value = block_value(cursor->template, v, cursor->row);
            fuzz_require(!is_text || (value >= 0 && value < (int64_t)texts->count),
                         "a text is in the list of its block");
            fuzz_require((is_text ? (int64_t)texts->ids[value] : value) == values[v],
                         "a value comes back");
        }
    }
}

static void same_events(const struct event_block *block,
                        const struct block_texts *texts,
                        const struct stored_templates *templates,
                        const struct event_log *log,
                        const struct event_batch *batch)
{
    struct block_cursor cursor = {.block = block};
    const int64_t *values = batch->values;
    cursor.rows = calloc(block->template_count + 1, sizeof *cursor.rows);
    fuzz_require(cursor.rows != NULL, "memory for rows");
    for (uint32_t i = 0; i < batch->event_count; i++) {
        const struct event_template *template = &log->templates[batch->templates[i]];
        fuzz_require(block_cursor_next(&cursor), "a block has all its events");
        fuzz_require(cursor.template->stored == &templates->templates[batch->templates[i]],
                     "an event keeps its template");
        same_event(&cursor, texts, template, values);
        values += template->value_count;
    }
    fuzz_require(!block_cursor_next(&cursor), "and no other");
    free(cursor.rows);
}

static bool check_batch(void *context,
                        const struct event_log *log,
                        const struct event_batch *batch,
                        struct err *err)
{
    (void)context;
    struct arena arena;
    struct encoded_block stored;
    struct stored_templates templates;
    struct block_texts texts;
    struct event_block block;
    void *bytes = NULL;
    size_t len = 0;
    struct event_encoder *encoder = event_encoder_create();
    arena_init(&arena, 0);
    fuzz_require(encoder != NULL && event_encoder_encode(encoder, log, batch, &stored, err) &&
                     event_templates_encode(log, &bytes, &len, err),
                 "every batch is stored");
    fuzz_require(stored.first_event == batch->first_event &&
                     stored.event_count == batch->event_count,
                 "with its events");
    fuzz_require(event_templates_decode(&templates, &arena, bytes, len, err),
                 "templates come back");
    fuzz_require(block_texts_decode(&texts, &arena, stored.texts, stored.texts_len, err),
                 "texts come back");
    fuzz_require(event_block_decode(&block, &arena, &templates, stored.event_count, texts.count,
                                    stored.bytes, stored.bytes_len, err),
                 "a block comes back");
    same_events(&block, &texts, &templates, log, batch);
    event_encoder_destroy(encoder);
    free(stored.texts);
    free(stored.bytes);
    free(bytes);
    arena_free(&arena);
    return true;
}

static bool end_log(void *context, const struct event_log *log, struct err *err)
{
    (void)context;
    (void)log;
    (void)err;
    return true;
}

static void store_trace(const uint8_t *bytes, size_t len)
{
    struct err err = ERR_INIT;
    struct input *in = NULL;
    struct format_bundle bundle;
    const struct event_sink sink = {.take = check_batch, .end = end_log};
    const struct format_options options = {.events = &sink};
    fuzz_require(input_open_memory(&in, bytes, len, 4096, &err), "memory can be opened");
    (void)!format_read(in, &options, &bundle, &err);
    input_close(in);
    format_bundle_free(&bundle);
}

/* ---- hostile bytes ---- */

/* As the store has them: an integer and a text, a decimal alone, an event as one text. */
static void make_templates(struct stored_templates *templates, struct arena *arena)
{
    static struct event_slot first[] = {{.key = 1, .kind = EVENT_SLOT_INT},
                                        {.key = 2, .kind = EVENT_SLOT_TEXT}};
    static struct event_slot second[] = {{.key = 3, .kind = EVENT_SLOT_DECIMAL}};
    static struct event_slot third[] = {{.key = EVENT_KEY_NONE, .kind = EVENT_SLOT_TEXT}};
    struct event_template all[] = {{.slots = first, .slot_count = 2, .value_count = 2},
                                   {.slots = second, .slot_count = 1, .value_count = 2},
                                   {.slots = third, .slot_count = 1, .value_count = 1}};
    static const char *const keys[] = {"", "\"pid\"", "\"name\"", "\"ts\""};
    struct err err = ERR_INIT;
    struct event_log log = {
        .texts = strtab_create(), .templates = all, .template_count = 3, .head = ""};
    void *bytes = NULL;
    size_t len = 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        fuzz_require(strtab_intern(log.texts, keys[i], strlen(keys[i])) == i, "keys are numbered");
    }
    fuzz_require(event_templates_encode(&log, &bytes, &len, &err) &&
                     event_templates_decode(templates, arena, bytes, len, &err),
                 "templates come back");
    strtab_destroy(log.texts);
    free(bytes);
}

static void decode_columns(const void *bytes, size_t len, uint32_t event_count)
{
    struct err err = ERR_INIT;
    struct arena arena;
    struct stored_templates templates;
    struct event_block block;
    arena_init(&arena, 0);
    make_templates(&templates, &arena);
    if (event_block_decode(&block, &arena, &templates, event_count, TEXT_COUNT, bytes, len, &err)) {
        struct block_cursor cursor = {.block = &block};
        uint32_t events = 0;
        cursor.rows = calloc(block.template_count + 1, sizeof *cursor.rows);
        fuzz_require(cursor.rows != NULL, "memory for rows");
        while (block_cursor_next(&cursor)) {
            const struct event_template *template = &cursor.template->stored->template;
            for (uint32_t v = 0; v < template->value_count; v++) {
                int64_t value = block_value(cursor.template, v, cursor.row);
                bool is_text = template->slots[template->slot_count - 1].kind == EVENT_SLOT_TEXT &&
                               v + 1 == template->value_count;
                fuzz_require(!is_text || (value >= 0 && value < TEXT_COUNT), "texts are there");
            }
            events++;
        }
        fuzz_require(events == event_count, "a block has its events");
        free(cursor.rows);
    }
    arena_free(&arena);
}

static void decode_any(unsigned what, const void *bytes, size_t len, uint32_t event_count)
{
    struct err err = ERR_INIT;
    struct arena arena;
    struct stored_templates templates;
    struct block_texts texts;
    /* What a frame says that it unpacks to is asked for at once. */
    unsigned long long size = ZSTD_getFrameContentSize(bytes, len);
    if (size > (1U << 20) && size < ZSTD_CONTENTSIZE_ERROR) {
        return;
    }
    arena_init(&arena, 0);
    if (what == 1) {
        (void)!event_templates_decode(&templates, &arena, bytes, len, &err);
    } else if (what == 2) {
        (void)!block_texts_decode(&texts, &arena, bytes, len, &err);
    } else {
        decode_columns(bytes, len, event_count);
    }
    arena_free(&arena);
}

static void decode_compressed(unsigned what, const uint8_t *bytes, size_t len, uint32_t event_count)
{
    size_t room = ZSTD_compressBound(len);
    void *packed = malloc(room);
    fuzz_require(packed != NULL, "memory to compress");
    size_t packed_len = ZSTD_compress(packed, room, bytes, len, 1);
    fuzz_require(!ZSTD_isError(packed_len), "every input can be compressed");
    decode_any(what, packed, packed_len, event_count);
    free(packed);
}

int fuzz_one_input(const uint8_t *bytes, size_t len)
{
    if (len < 2) {
        return 0;
    }
    unsigned way = bytes[0] % WAYS;
    if (way == 0) {
        store_trace(bytes + 1, len - 1);
    } else if (way < WAYS - 1) {
        decode_compressed(way, bytes + 2, len - 2, bytes[1]);
    } else {
        decode_any(1 + bytes[1] % 3, bytes + 2, len - 2, bytes[1]);
    }
    return 0;
}
