#include "ingest/formats/csv/text_pool.h"

#include "ingest/base/text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_TEXTS 256
#define REPLACEMENT "\xEF\xBF\xBD"

bool text_pool_init(struct text_pool *pool, struct arena *arena)
{
    *pool = (struct text_pool){.arena = arena, .ids = strtab_create()};
    buf_init(&pool->scratch, SIZE_MAX / 2);
    return pool->ids != NULL;
}

void text_pool_free(struct text_pool *pool)
{
    strtab_destroy(pool->ids);
    free(pool->texts);
    buf_free(&pool->scratch);
    *pool = (struct text_pool){.arena = NULL};
}

/* --- cleaning --- */

static bool is_plain(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] == '\0' || (unsigned char)bytes[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

static void append_clean(struct text_pool *pool, const char *at, const char *end)
{
    while (at < end) {
        uint32_t c;
        size_t len = utf8_decode(at, (size_t)(end - at), &c);
        pool->nul_count += c == 0;
        if (c == 0 || c == UTF8_INVALID) {
            buf_append(&pool->scratch, REPLACEMENT, sizeof REPLACEMENT - 1);
        } else {
            buf_append(&pool->scratch, at, len);
        }
        at += len;
    }
}

/* --- texts --- */

/* Room for the text of one more id. */
static bool reserve(struct text_pool *pool)
{
    if (strtab_count(pool->ids) < pool->capacity) {
        return true;
    }
    size_t wanted = pool->capacity == 0 ? FIRST_TEXTS : pool->capacity * 2;
    const char **grown = realloc((void *)pool->texts, wanted * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    memset((void *)(grown + pool->capacity), 0, (wanted - pool->capacity) * sizeof *grown);
    pool->texts = grown;
    pool->capacity = wanted;
    return true;
}

const char *text_pool_add(struct text_pool *pool, const char *bytes, size_t len)
{
    if (!is_plain(bytes, len)) {
        buf_clear(&pool->scratch);
        append_clean(pool, bytes, bytes + len);
        if (pool->scratch.failed) {
            return NULL;
        }
        bytes = pool->scratch.ptr;
        len = pool->scratch.len;
    }
    uint32_t id = reserve(pool) ? strtab_intern(pool->ids, bytes, len) : STRTAB_NONE;
    if (id == STRTAB_NONE) {
        return NULL;
    }
    if (pool->texts[id] == NULL) {
        pool->texts[id] = arena_strndup(pool->arena, bytes, len);
    }
    return pool->texts[id];
}

size_t text_pool_bytes(const struct text_pool *pool)
{
    return strtab_bytes(pool->ids) + pool->capacity * sizeof *pool->texts;
}
