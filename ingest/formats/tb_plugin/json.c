#include "ingest/formats/tb_plugin/json.h"

#include "ingest/base/text/json_small.h"
#include "ingest/formats/json/scan.h"
#include "ingest/formats/tb_plugin/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_BYTES_MAX ((ptrdiff_t)64 << 20)
#define WORKERS_MAX 1024
#define ANSWERS_MAX 64 /* one a route and grouping, in one worker */

struct reading {
    struct text_stream *stream;
    struct format_bundle *bundle;
    struct trace_results *results; /* of the last item */
    struct err *err;
    uint64_t line;     /* of stream->at, from 1 */
    uint64_t bad_line; /* the first one that is no answer; 0: none */
    uint64_t bad_offset;
    uint64_t bad_count;
};

static bool no_memory(struct reading *reading)
{
    return err_set(reading->err, ERR_NO_MEMORY, "no memory for the plugin's answers");
}

/* Steps to the next document; *more is false at the end. */
static bool next_document(struct reading *reading, bool *more)
{
    struct text_stream *stream = reading->stream;
    for (;;) {
        for (; stream->at < stream->end && json_is_space(*stream->at); stream->at++) {
            reading->line += *stream->at == '\n';
        }
        *more = stream->at < stream->end;
        if (*more || stream->ended) {
            return true;
        }
        if (!text_stream_more(stream, reading->err)) {
            return false;
        }
    }
}

/* The document at stream->at as a whole, or what is left of it; *status tells which. */
static bool
scan_document(struct reading *reading, struct json_value *value, enum json_status *status)
{
    struct text_stream *stream = reading->stream;
    for (;;) {
        struct json_scan scan = {.at = stream->at, .end = stream->end};
        *status = *stream->at == '{' ? json_scan_value(&scan, value) : JSON_BAD;
        bool give_up = stream->ended || stream->end - stream->at > DOCUMENT_BYTES_MAX;
        if (*status != JSON_MORE || give_up) {
            return true;
        }
        if (!text_stream_more(stream, reading->err)) {
            return false;
        }
    }
}

static bool skip_line(struct reading *reading)
{
    struct text_stream *stream = reading->stream;
    if (reading->bad_count++ == 0) {
        reading->bad_line = reading->line;
        reading->bad_offset = text_stream_offset(stream, stream->at);
    }
    for (;;) {
        const char *newline = memchr(stream->at, '\n', (size_t)(stream->end - stream->at));
        stream->at = newline == NULL ? stream->end : newline;
        if (newline != NULL || stream->ended) {
            return true;
        }
        if (!text_stream_more(stream, reading->err)) {
            return false;
        }
    }
}

static bool add_item(struct reading *reading)
{
    struct format_bundle *bundle = reading->bundle;
    struct format_item *items =
        realloc(bundle->items, (bundle->item_count + 1) * sizeof *bundle->items);
    if (items == NULL) {
        return no_memory(reading);
    }
    bundle->items = items;
    struct trace_results *results = results_create();
    if (results == NULL) {
        return no_memory(reading);
    }
    items[bundle->item_count++] = (struct format_item){.results = results};
    reading->results = results;
    results->uploaded_answers =
        arena_calloc(&results->arena, ANSWERS_MAX, sizeof *results->uploaded_answers);
    results->device_type = "GPU";
    return results->uploaded_answers != NULL || no_memory(reading);
}

static bool has_answer(const struct trace_results *results, const struct plugin_document *kind)
{
    for (size_t i = 0; i < results->uploaded_answer_count; i++) {
        const struct uploaded_answer_row *row = &results->uploaded_answers[i];
        if (strcmp(row->route, kind->route) == 0 && strcmp(row->group_by, kind->group_by) == 0) {
            return true;
        }
    }
    return false;
}

static bool add_document(struct reading *reading,
                         const struct plugin_document *kind,
                         const json_t *document,
                         const struct json_value *text)
{
    /* A worker's documents follow its overview; without overviews, a second one of a kind is the
     * next one's. */
    bool is_next = reading->results == NULL || has_answer(reading->results, kind) ||
                   (kind->kind == PLUGIN_OVERVIEW && reading->results->uploaded_answer_count > 0);
    if (is_next && reading->bundle->item_count == WORKERS_MAX) {
        return err_set(reading->err, ERR_TOO_LARGE, "line %llu: more than %d workers in one file",
                       (unsigned long long)reading->line, WORKERS_MAX);
    }
    if (is_next && !add_item(reading)) {
        return false;
    }
    struct trace_results *results = reading->results;
    if (results == NULL || results->uploaded_answer_count == ANSWERS_MAX) {
        return true;
    }
    const char *json = arena_strndup(&results->arena, text->ptr, text->len);
    if (json == NULL || !plugin_rows_add(results, kind, document)) {
        return no_memory(reading);
    }
    results->uploaded_answers[results->uploaded_answer_count++] = (struct uploaded_answer_row){
        .route = kind->route, .group_by = kind->group_by, .json = json};
    return true;
}

static uint64_t newlines_in(const struct json_value *text)
{
    uint64_t count = 0;
    const char *end = text->ptr + text->len;
    for (const char *at = text->ptr;
         at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) {
        count++;
    }
    return count;
}

static bool read_document(struct reading *reading)
{
    struct json_value text = {.ptr = NULL};
    enum json_status status = JSON_BAD;
    if (!scan_document(reading, &text, &status)) {
        return false;
    }
    json_t *document = NULL;
    if (status == JSON_OK && text.ptr != NULL) {
        struct err ignored = ERR_INIT;
        document = json_small_parse(text.ptr, text.len, 0, "The line", &ignored);
    }
    struct plugin_document kind = plugin_document_kind(document);
    bool good;
    if (kind.kind == PLUGIN_UNKNOWN) {
        good = skip_line(reading);
    } else {
        good = add_document(reading, &kind, document, &text);
        reading->stream->at = text.ptr + text.len;
        reading->line += newlines_in(&text);
    }
    json_decref(document);
    return good;
}

/* --- the whole --- */

static bool name_is_taken(const struct format_bundle *bundle, size_t before, const char *name)
{
    for (size_t i = 0; i < before; i++) {
        if (bundle->items[i].worker != NULL && strcmp(bundle->items[i].worker, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Each worker after its accelerator; what has no name of its own, or another's, after its place. */
static bool name_workers(struct format_bundle *bundle)
{
    for (size_t i = 0; i < bundle->item_count; i++) {
        struct format_item *item = &bundle->items[i];
        const char *name = plugin_rows_worker(item->results);
        char text[96];
        if (name != NULL && !name_is_taken(bundle, i, name)) {
            (void)snprintf(text, sizeof text, "%s", name);
        } else if (name != NULL || bundle->item_count > 1) {
            (void)snprintf(text, sizeof text, "%s (%zu)", name == NULL ? "worker" : name, i + 1);
        } else {
            continue;
        }
        item->worker = malloc(strlen(text) + 1);
        if (item->worker == NULL) {
            return false;
        }
        memcpy(item->worker, text, strlen(text) + 1);
    }
    return true;
}

static void warn_all(const struct reading *reading)
{
    const char *why;
    bool cut = input_cut(reading->stream->in, &why);
    for (size_t i = 0; i < reading->bundle->item_count; i++) {
        struct warnings *warnings = &reading->bundle->items[i].results->warnings;
        warning_add_times(warnings, WARN_BAD_LINE, reading->bad_offset, reading->bad_count);
        warning_add_times(warnings, WARN_COMPRESSED_CUT,
                          text_stream_offset(reading->stream, reading->stream->end), cut);
    }
}

static bool read_all(struct reading *reading)
{
    bool more;
    for (;;) {
        if (!next_document(reading, &more)) {
            return false;
        }
        if (!more) {
            break;
        }
        if (!read_document(reading)) {
            return false;
        }
    }
    if (reading->bundle->item_count == 0) {
        return err_set_at(reading->err, ERR_UNSUPPORTED, reading->bad_offset,
                          "line %llu is no answer of the TensorBoard plugin",
                          (unsigned long long)reading->bad_line);
    }
    warn_all(reading);
    return name_workers(reading->bundle) || no_memory(reading);
}

bool plugin_json_read(struct text_stream *stream, struct format_bundle *bundle, struct err *err)
{
    struct json_value blanks = {.ptr = stream->window,
                                .len = (uint32_t)(stream->at - stream->window)};
    struct reading reading = {
        .stream = stream, .bundle = bundle, .err = err, .line = 1 + newlines_in(&blanks)};
    *bundle = (struct format_bundle){.format = "plugin-json"};
    if (!read_all(&reading)) {
        format_bundle_free(bundle);
        return false;
    }
    return true;
}
