#include "ingest/base/memory/arena.h"

#include "ingest/base/memory/heap.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_FIRST_BYTES ((size_t)16 << 10)
#define BLOCK_LARGEST_BYTES ((size_t)256 << 10)
#define ALIGN_BYTES _Alignof(max_align_t)

struct arena_block {
    struct arena_block *next;
    size_t used;
    size_t cap;
    max_align_t data[];
};

void arena_init(struct arena *arena, size_t max_bytes)
{
    *arena = (struct arena){.max_bytes = max_bytes};
}

static size_t bytes_left(const struct arena *arena)
{
    size_t ceiling = arena->max_bytes == 0 ? SIZE_MAX : arena->max_bytes;
    return ceiling - arena->held_bytes;
}

/* Blocks double, so that a small arena stays small and a large one asks for memory seldom. What
 * would fill much of a block has one of its own: behind it the rest would mostly be lost. */
static size_t block_bytes(const struct arena *arena, size_t size)
{
    size_t want = BLOCK_FIRST_BYTES;
    while (want < arena->held_bytes && want < BLOCK_LARGEST_BYTES) {
        want *= 2;
    }
    if (want > bytes_left(arena)) {
        want = bytes_left(arena);
    }
    size_t need = sizeof(struct arena_block) + size;
    return need > want / 4 ? need : want;
}

static struct arena_block *add_block(struct arena *arena, size_t size)
{
    size_t bytes = block_bytes(arena, size);
    if (bytes > bytes_left(arena)) {
        return NULL;
    }
    struct arena_block *block = heap_use_large_pages(malloc(bytes), bytes);
    if (block == NULL) {
        return NULL;
    }
    block->used = 0;
    block->cap = bytes - sizeof *block;
    arena->held_bytes += bytes;

    struct arena_block *head = arena->head;
    bool head_has_more_room = head != NULL && head->cap - head->used > block->cap - size;
    if (head_has_more_room) {
        block->next = head->next;
        head->next = block;
    } else {
        block->next = head;
        arena->head = block;
    }
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    size_t rounded = (size + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
    if (rounded == 0) {
        rounded = ALIGN_BYTES;
    }
    struct arena_block *block = arena->head;
    if (block == NULL || block->cap - block->used < rounded) {
        block = add_block(arena, rounded);
        if (block == NULL) {
            return NULL;
        }
    }
    void *out = (char *)block->data + block->used;
    block->used += rounded;
    arena->used_bytes += rounded;
    return out;
}

void *arena_calloc(struct arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    void *out = arena_alloc(arena, count * size);
    if (out != NULL) {
        memset(out, 0, count * size);
    }
    return out;
}

void *arena_grow(struct arena *arena, void *array, size_t count, size_t *cap, size_t size)
{
    if (count < *cap) {
        return array;
    }
    size_t more = *cap < 4 ? 8 : *cap * 2;
    void *grown = arena_calloc(arena, more, size);
    if (grown != NULL) {
        if (count > 0) {
            memcpy(grown, array, count * size);
        }
        *cap = more;
    }
    return grown;
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
    if (len == SIZE_MAX) {
        return NULL;
    }
    char *out = arena_alloc(arena, len + 1);
    if (out == NULL) {
        return NULL;
    }
    if (len != 0) {
        memcpy(out, text, len);
    }
    out[len] = '\0';
    return out;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

void arena_free(struct arena *arena)
{
    struct arena_block *block = arena->head;
    while (block != NULL) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    arena_init(arena, arena->max_bytes);
}
