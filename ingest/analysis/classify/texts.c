#include "ingest/analysis/classify/texts.h"

#include "ingest/base/memory/scratch.h"

bool texts_init(struct texts *texts, struct arena *arena, const struct names *names)
{
    *texts = (struct texts){.arena = arena, .names = names};
    texts->count = names->flags_cap;
    texts->copies = scratch_calloc(texts->count, sizeof *texts->copies);
    return texts->copies != NULL;
}

void texts_free(struct texts *texts)
{
    scratch_free((void *)texts->copies);
    *texts = (struct texts){0};
}

const char *texts_copy(struct texts *texts, uint32_t id)
{
    if (id < texts->count && texts->copies[id] != NULL) {
        return texts->copies[id];
    }
    const char *copy =
        arena_strndup(texts->arena, names_text(texts->names, id), names_len(texts->names, id));
    if (id < texts->count) {
        texts->copies[id] = copy;
    }
    return copy;
}
