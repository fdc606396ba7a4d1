#include "ingest/jobs/raw_text.h"

#include "ingest/input/input.h"

#include <stdlib.h>

struct raw_text {
    struct input *in;
};

bool raw_text_open(struct raw_text **out, const char *path, struct err *err)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to read an upload");
    }
    if (!input_open_file(&(*out)->in, path, err)) {
        free(*out);
        *out = NULL;
        return false;
    }
    return true;
}

bool raw_text_next(struct raw_text *text, const char **bytes, size_t *len, struct err *err)
{
    return input_next(text->in, 0, bytes, len, err);
}

void raw_text_close(struct raw_text *text)
{
    if (text != NULL) {
        input_close(text->in);
        free(text);
    }
}
