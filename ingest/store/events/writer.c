#include "ingest/store/events/writer.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/store/codec/column_codec.h"
#include "ingest/store/db/row_writer.h"
#include "ingest/store/events/decode.h"
#include "ingest/store/events/encode.h"
#include "ingest/store/events/search/stored_texts.h"

#include <stdlib.h>

struct event_writer {
    struct event_encoder *encoder;
    struct encoded_block *blocks; /* not written yet */
    size_t block_count;
    size_t block_capacity;
    size_t pending_bytes;
    uint32_t texts_written;
    struct column_encoder enc;
};

struct event_writer *event_writer_create(void)
{
    struct event_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        return NULL;
    }
    column_encode_init(&writer->enc);
    writer->encoder = event_encoder_create();
    if (writer->encoder == NULL) {
        event_writer_destroy(writer);
        return NULL;
    }
    return writer;
}

static void free_blocks(struct event_writer *writer)
{
    for (size_t i = 0; i < writer->block_count; i++) {
        free(writer->blocks[i].texts);
        free(writer->blocks[i].bytes);
    }
    writer->block_count = 0;
    writer->pending_bytes = 0;
}

void event_writer_destroy(struct event_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    free_blocks(writer);
    scratch_free(writer->blocks);
    event_encoder_destroy(writer->encoder);
    column_encode_free(&writer->enc);
    free(writer);
}

/* ---- rows ---- */

static void write_block(struct row_writer *rows, const struct encoded_block *block)
{
    row_begin(rows, "INSERT INTO event_block (log_id, first_event, event_count, min_start_ns,"
                    " max_end_ns, has_metadata, texts, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    row_put_int(rows, block->first_event);
    row_put_int(rows, block->event_count);
    row_put_int(rows, block->min_start_ns);
    row_put_int(rows, block->max_end_ns);
    row_put_int(rows, block->has_metadata);
    row_put_blob(rows, block->texts, block->texts_len);
    row_put_blob(rows, block->bytes, block->bytes_len);
    row_end(rows);
}

/* The texts from texts_written on that make a segment; the last one may be shorter. False: they are
 * too few as yet, or there is no memory. */
static bool write_segment(struct event_writer *writer,
                          struct row_writer *rows,
                          const struct strtab *texts,
                          bool is_last)
{
    void *bytes;
    size_t len;
    uint32_t first = writer->texts_written;
    uint32_t end = stored_texts_segment_end(texts, first, is_last);
    if (!rows->ok || end == first) {
        return false;
    }
    column_encode_clear(&writer->enc);
    stored_texts_encode(&writer->enc, texts, first, end);
    rows->ok = column_encode_finish(&writer->enc, &bytes, &len, rows->err);
    if (!rows->ok) {
        return false;
    }
    row_begin(rows, "INSERT INTO event_text (log_id, first_id, bytes) VALUES (?, ?, ?)");
    row_put_int(rows, first);
    row_put_blob(rows, bytes, len);
    row_end(rows);
    free(bytes);
    writer->texts_written = end;
    return rows->ok;
}

static void
write_end(struct event_writer *writer, struct row_writer *rows, const struct event_log *log)
{
    void *templates = NULL;
    void *head = NULL;
    size_t templates_len = 0;
    size_t head_len = 0;
    const char *head_text = log->head == NULL ? "" : log->head;
    column_encode_clear(&writer->enc);
    column_encode_texts(&writer->enc, &head_text, 1);
    rows->ok = rows->ok && event_templates_encode(log, &templates, &templates_len, rows->err) &&
               column_encode_finish(&writer->enc, &head, &head_len, rows->err);
    row_begin(rows, "UPDATE event_log SET event_count = ?2, text_count = ?3, templates = ?4,"
                    " head = ?5 WHERE id = ?1");
    row_put_int(rows, log->event_count);
    row_put_int(rows, writer->texts_written);
    row_put_blob(rows, templates, templates_len);
    row_put_blob(rows, head, head_len);
    row_end(rows);
    free(templates);
    free(head);
}

/* Texts stand before the blocks that use them. */
static bool write_pending(struct event_writer *writer,
                          struct results_file *file,
                          const struct event_log *log,
                          bool is_last,
                          struct err *err)
{
    struct row_writer rows;
    row_writer_init_file(&rows, file, writer->pending_bytes, err);
    while (write_segment(writer, &rows, log->texts, is_last)) {
    }
    for (size_t i = 0; i < writer->block_count; i++) {
        write_block(&rows, &writer->blocks[i]);
    }
    if (is_last) {
        write_end(writer, &rows, log);
    }
    free_blocks(writer);
    return row_writer_finish(&rows);
}

bool event_writer_flush(struct event_writer *writer,
                        struct results_file *file,
                        const struct event_log *log,
                        struct err *err)
{
    return write_pending(writer, file, log, false, err);
}

bool event_writer_end(struct event_writer *writer,
                      struct results_file *file,
                      const struct event_log *log,
                      struct err *err)
{
    return write_pending(writer, file, log, true, err);
}

/* ---- collecting ---- */

/* For one more. */
static bool make_room(struct event_writer *writer)
{
    struct encoded_block *grown =
        scratch_grow(writer->blocks, writer->block_count, &writer->block_capacity, sizeof *grown);
    writer->blocks = grown == NULL ? writer->blocks : grown;
    return grown != NULL;
}

bool event_writer_add(struct event_writer *writer,
                      const struct event_log *log,
                      const struct event_batch *batch,
                      struct err *err)
{
    if (!make_room(writer)) {
        return err_set(err, ERR_NO_MEMORY, "no memory to store events");
    }
    struct encoded_block *block = &writer->blocks[writer->block_count];
    if (!event_encoder_encode(writer->encoder, log, batch, block, err)) {
        return false;
    }
    writer->block_count++;
    writer->pending_bytes += block->texts_len + block->bytes_len;
    return true;
}

size_t event_writer_pending_bytes(const struct event_writer *writer)
{
    return writer->pending_bytes;
}
