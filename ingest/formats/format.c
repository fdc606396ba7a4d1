#include "ingest/formats/format.h"

#include "ingest/formats/kineto_reader.h"
#include "ingest/formats/plugin_json.h"
#include "ingest/formats/sniff.h"
#include "ingest/formats/text_stream.h"

#include <stdlib.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

/* At least SNIFF_BYTES, if the input has so many. */
static bool fill_first_window(struct text_stream *stream, struct err *err)
{
    while (!stream->ended && stream->end - stream->at < SNIFF_BYTES) {
        if (!text_stream_more(stream, err)) {
            return false;
        }
    }
    return true;
}

static bool skip_to_json(struct text_stream *stream, struct err *err)
{
    size_t mark_len = sizeof BYTE_ORDER_MARK - 1;
    if ((size_t)(stream->end - stream->at) >= mark_len &&
        memcmp(stream->at, BYTE_ORDER_MARK, mark_len) == 0) {
        stream->at += mark_len;
    }
    size_t len = (size_t)(stream->end - stream->at);
    size_t first = len < SNIFF_BYTES ? len : SNIFF_BYTES;
    const char *what = sniff_describe(stream->at, first);
    if (what != NULL && !sniff_names_trace(stream->at, first)) {
        return err_set(err, ERR_UNSUPPORTED,
                       len == 0 ? "the file is %s" : "this is no trace: it looks like %s", what);
    }
    while (json_is_space(*stream->at)) {
        stream->at++;
    }
    return true;
}

static bool read_chrome_trace(struct text_stream *stream,
                              size_t memory_budget_bytes,
                              struct format_bundle *bundle,
                              struct err *err)
{
    struct format_item *item = calloc(1, sizeof *item);
    if (item == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a trace");
    }
    if (!kineto_read(stream, memory_budget_bytes, &item->model, err)) {
        free(item);
        return false;
    }
    *bundle = (struct format_bundle){.format = "chrome-trace", .items = item, .item_count = 1};
    return true;
}

bool format_read(struct input *in,
                 size_t memory_budget_bytes,
                 struct format_bundle *bundle,
                 struct err *err)
{
    struct text_stream stream;
    *bundle = (struct format_bundle){.format = NULL};
    if (!text_stream_open(&stream, in, err) || !fill_first_window(&stream, err) ||
        !skip_to_json(&stream, err)) {
        return false;
    }
    if (sniff_is_plugin_answer(stream.at, (size_t)(stream.end - stream.at))) {
        return plugin_json_read(&stream, bundle, err);
    }
    return read_chrome_trace(&stream, memory_budget_bytes, bundle, err);
}

void format_bundle_free(struct format_bundle *bundle)
{
    for (size_t i = 0; i < bundle->item_count; i++) {
        free(bundle->items[i].worker);
        trace_destroy(bundle->items[i].model);
        results_destroy(bundle->items[i].results);
    }
    free(bundle->items);
    *bundle = (struct format_bundle){.format = NULL};
}
