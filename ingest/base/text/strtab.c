/* An open-addressing hash table over strings that lie in bump chunks:
 *
 *     slots    { hash, len, id + 1 }   linear probing, at most half full
 *     entries  { text, len }           by id
 *     chunks   "\0aten::add\0..."      from an arena
 *
 * This is the hottest path of the parsers: a lookup touches one slot, one entry and the string.
 * Bytes are hashed and compared eight at a time; the last load overlaps the one before, so that
 * nothing beyond the text is read. */
#include "ingest/base/text/strtab.h"

#include "ingest/base/bytes.h"
#include "ingest/base/memory/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST ((size_t)1024)
#define ENTRIES_FIRST ((size_t)512)
#define CHUNK_BYTES ((size_t)64 << 10)
/* Longer strings get memory of their own, else the rest of a chunk would be lost too often. */
#define CHUNK_STRING_BYTES (CHUNK_BYTES / 8)

struct slot {
    uint64_t hash;
    uint32_t len;
    uint32_t id_plus_1; /* 0: free */
};

struct entry {
    const char *text;
    size_t len;
};

struct strtab {
    struct slot *slots;
    size_t slot_mask;
    struct entry *entries;
    size_t entry_cap;
    size_t count;
    uint64_t seed;
    struct arena arena;
    char *chunk;
    size_t chunk_left_bytes;
    struct strtab *snapshot; /* its entries are `entries`, or an older copy of their beginning */
};

static inline uint64_t mix(uint64_t state, uint64_t word, uint64_t factor)
{
    uint64_t product = (state ^ word) * factor;
    return product << 29 | product >> 35;
}

static inline uint64_t hash_bytes(const char *text, size_t len, uint64_t seed)
{
    const uint64_t factor_b = 0xC2B2AE3D27D4EB4FU; /* odd, bits spread */
    uint64_t a = seed ^ len;
    uint64_t b = ~seed;
    if (len < 8) {
        a = mix(a, bytes_load_short(text, len), BYTES_SPREAD);
    } else {
        /* Two lanes, because each multiplication waits for the one before it in its lane. */
        size_t at = 0;
        for (; len - at > 16; at += 16) {
            a = mix(a, bytes_load64(text + at), BYTES_SPREAD);
            b = mix(b, bytes_load64(text + at + 8), factor_b);
        }
        a = mix(a, bytes_load64(len < 16 ? text : text + len - 16), BYTES_SPREAD);
        b = mix(b, bytes_load64(text + len - 8), factor_b);
    }
    uint64_t hash = (a ^ (b << 32 | b >> 32)) * BYTES_SPREAD;
    return hash ^ hash >> 32;
}

static inline bool equal_bytes(const char *a, const char *b, size_t len)
{
    if (len < 8) {
        return bytes_load_short(a, len) == bytes_load_short(b, len);
    }
    for (size_t at = 0; at < len - 8; at += 8) {
        if (bytes_load64(a + at) != bytes_load64(b + at)) {
            return false;
        }
    }
    return bytes_load64(a + len - 8) == bytes_load64(b + len - 8);
}

/* The slot that holds the text, or the free slot where it belongs. */
static inline size_t slot_of(const struct strtab *tab, const char *text, size_t len, uint64_t hash)
{
    size_t at = (size_t)hash & tab->slot_mask;
    for (;;) {
        const struct slot *slot = &tab->slots[at];
        if (slot->id_plus_1 == 0) {
            return at;
        }
        if (slot->hash == hash && slot->len == len &&
            equal_bytes(tab->entries[slot->id_plus_1 - 1].text, text, len)) {
            return at;
        }
        at = (at + 1) & tab->slot_mask;
    }
}

static bool grow_slots(struct strtab *tab)
{
    size_t old_count = tab->slot_mask + 1;
    size_t new_count = old_count * 2;
    struct slot *slots = calloc(new_count, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < old_count; i++) {
        if (tab->slots[i].id_plus_1 == 0) {
            continue;
        }
        size_t at = (size_t)tab->slots[i].hash & (new_count - 1);
        while (slots[at].id_plus_1 != 0) {
            at = (at + 1) & (new_count - 1);
        }
        slots[at] = tab->slots[i];
    }
    free(tab->slots);
    tab->slots = slots;
    tab->slot_mask = new_count - 1;
    return true;
}

static bool grow_entries(struct strtab *tab)
{
    bool is_lent = tab->snapshot != NULL && tab->snapshot->entries == tab->entries;
    struct entry *entries =
        realloc(is_lent ? NULL : tab->entries, tab->entry_cap * 2 * sizeof *entries);
    if (entries == NULL) {
        return false;
    }
    if (is_lent) {
        memcpy(entries, tab->entries, tab->count * sizeof *entries);
    }
    tab->entries = entries;
    tab->entry_cap *= 2;
    return true;
}

static const char *keep_text(struct strtab *tab, const char *text, size_t len)
{
    if (len >= CHUNK_STRING_BYTES) {
        return arena_strndup(&tab->arena, text, len);
    }
    if (tab->chunk_left_bytes < len + 1) {
        char *chunk = arena_alloc(&tab->arena, CHUNK_BYTES + STRTAB_READABLE_BYTES);
        if (chunk == NULL) {
            return NULL;
        }
        tab->chunk = chunk;
        tab->chunk_left_bytes = CHUNK_BYTES;
    }
    char *out = tab->chunk;
    if (len != 0) {
        memcpy(out, text, len);
    }
    out[len] = '\0';
    tab->chunk += len + 1;
    tab->chunk_left_bytes -= len + 1;
    return out;
}

static uint32_t add(struct strtab *tab, const char *text, size_t len, uint64_t hash)
{
    if (len > UINT32_MAX || tab->count == STRTAB_NONE) {
        return STRTAB_NONE;
    }
    if (tab->count == tab->entry_cap && !grow_entries(tab)) {
        return STRTAB_NONE;
    }
    if (tab->count >= (tab->slot_mask + 1) / 2 && !grow_slots(tab)) {
        return STRTAB_NONE;
    }
    const char *kept = keep_text(tab, text, len);
    if (kept == NULL) {
        return STRTAB_NONE;
    }
    uint32_t id = (uint32_t)tab->count++;
    tab->entries[id] = (struct entry){.text = kept, .len = len};
    tab->slots[slot_of(tab, text, len, hash)] =
        (struct slot){.hash = hash, .len = (uint32_t)len, .id_plus_1 = id + 1};
    return id;
}

struct strtab *strtab_create(void)
{
    struct strtab *tab = calloc(1, sizeof *tab);
    if (tab == NULL) {
        return NULL;
    }
    arena_init(&tab->arena, 0);
    tab->slots = calloc(SLOTS_FIRST, sizeof *tab->slots);
    tab->slot_mask = SLOTS_FIRST - 1;
    tab->entries = malloc(ENTRIES_FIRST * sizeof *tab->entries);
    tab->entry_cap = ENTRIES_FIRST;
    /* The address differs from run to run, so that nobody can prepare a file of colliding names. */
    tab->seed = (uint64_t)(uintptr_t)tab * BYTES_SPREAD;
    if (tab->slots == NULL || tab->entries == NULL || strtab_intern(tab, "", 0) != 0) {
        strtab_destroy(tab);
        return NULL;
    }
    return tab;
}

static void take_snapshot_back(struct strtab *tab)
{
    if (tab->snapshot != NULL && tab->snapshot->entries != tab->entries) {
        free(tab->snapshot->entries);
    }
}

void strtab_destroy(struct strtab *tab)
{
    if (tab == NULL) {
        return;
    }
    arena_free(&tab->arena);
    take_snapshot_back(tab);
    free(tab->snapshot);
    free(tab->entries);
    free(tab->slots);
    free(tab);
}

uint32_t strtab_intern(struct strtab *tab, const char *text, size_t len)
{
    uint64_t hash = hash_bytes(text, len, tab->seed);
    const struct slot *slot = &tab->slots[slot_of(tab, text, len, hash)];
    if (KS_LIKELY(slot->id_plus_1 != 0)) {
        return slot->id_plus_1 - 1;
    }
    return add(tab, text, len, hash);
}

struct strtab *strtab_snapshot(struct strtab *tab)
{
    take_snapshot_back(tab);
    if (tab->snapshot == NULL) {
        tab->snapshot = calloc(1, sizeof *tab->snapshot);
    }
    if (tab->snapshot != NULL) {
        tab->snapshot->entries = tab->entries;
        tab->snapshot->count = tab->count;
    }
    return tab->snapshot;
}

uint32_t strtab_find(const struct strtab *tab, const char *text, size_t len)
{
    uint64_t hash = hash_bytes(text, len, tab->seed);
    const struct slot *slot = &tab->slots[slot_of(tab, text, len, hash)];
    return slot->id_plus_1 == 0 ? STRTAB_NONE : slot->id_plus_1 - 1;
}

const char *strtab_text(const struct strtab *tab, uint32_t id)
{
    return id < tab->count ? tab->entries[id].text : NULL;
}

size_t strtab_len(const struct strtab *tab, uint32_t id)
{
    return id < tab->count ? tab->entries[id].len : 0;
}

uint32_t strtab_count(const struct strtab *tab)
{
    return (uint32_t)tab->count;
}

size_t strtab_bytes(const struct strtab *tab)
{
    return sizeof *tab + (tab->slot_mask + 1) * sizeof *tab->slots +
           tab->entry_cap * sizeof *tab->entries + tab->arena.held_bytes;
}
