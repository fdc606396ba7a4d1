#include "ingest/formats/whole.h"

#include "ingest/formats/reader.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES ((size_t)1 << 20)

static bool make_room(struct whole *whole, size_t more, size_t *cap, struct err *err)
{
    size_t need = whole->len + more + INPUT_PADDING_BYTES;
    if (whole->bytes != NULL && need <= *cap) {
        return true;
    }
    size_t wanted = *cap == 0 ? FIRST_BYTES : *cap + *cap / 2;
    wanted = wanted < need ? need : wanted;
    char *bytes = realloc(whole->bytes, wanted);
    if (bytes == NULL) {
        (void)err_set(err, ERR_NO_MEMORY, "no memory for a file of %zu MB", wanted >> 20);
        return false;
    }
    whole->bytes = bytes;
    *cap = wanted;
    return true;
}

bool whole_read(struct whole *whole,
                struct text_stream *stream,
                const struct format_options *options,
                struct err *err)
{
    const char *window = stream->at;
    size_t len = (size_t)(stream->end - stream->at);
    size_t cap = 0;
    const char *why;
    *whole = (struct whole){.bytes = NULL};
    while (len > 0) {
        size_t budget = options->memory_budget_bytes;
        if (budget != 0 && whole->len + len > budget) {
            return err_set(err, ERR_TOO_LARGE,
                           "the file takes more than the memory budget of %zu MB "
                           "(--ingest-memory)",
                           budget >> 20);
        }
        if (!make_room(whole, len, &cap, err)) {
            return false;
        }
        memcpy(whole->bytes + whole->len, window, len);
        whole->len += len;
        if (!input_next(stream->in, 0, &window, &len, err)) {
            return false;
        }
    }
    whole->is_cut = input_cut(stream->in, &why);
    if (!make_room(whole, 0, &cap, err)) {
        return false;
    }
    memset(whole->bytes + whole->len, 0, INPUT_PADDING_BYTES);
    return true;
}

void whole_free(struct whole *whole)
{
    free(whole->bytes);
    *whole = (struct whole){.bytes = NULL};
}

bool whole_read_trace(struct text_stream *stream,
                      const struct format_options *options,
                      struct format_bundle *bundle,
                      whole_trace_fn *read,
                      struct err *err)
{
    struct whole whole;
    struct format_item item = {.worker = NULL};
    bool ok = whole_read(&whole, stream, options, err) && read(&whole, options, &item.model, err);
    whole_free(&whole);
    return ok && format_bundle_one(bundle, item, err);
}
