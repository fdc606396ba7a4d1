#include "ingest/store/db/text_cache.h"

#include <stdbool.h>
#include <stdlib.h>

#define SLOTS_FIRST ((size_t)256)

void text_cache_init(struct text_cache *cache, struct db *db, struct arena *arena, int64_t trace_id)
{
    *cache = (struct text_cache){.db = db,
                                 .arena = arena,
                                 .sql = "SELECT value FROM text WHERE trace_id = ? AND id = ?",
                                 .owner_id = trace_id};
}

void text_cache_init_comparison(struct text_cache *cache,
                                struct db *db,
                                struct arena *arena,
                                int64_t group_id)
{
    *cache = (struct text_cache){
        .db = db,
        .arena = arena,
        .sql = "SELECT value FROM comparison_text WHERE comparison_id = ? AND id = ?",
        .owner_id = group_id};
}

void text_cache_free(struct text_cache *cache)
{
    free(cache->slots);
    cache->slots = NULL;
    cache->slot_count = 0;
}

/* Ids are dense, so that their low bits spread well. */
static struct text_cache_slot *find_slot(const struct text_cache *cache, int64_t id)
{
    size_t at = (size_t)id & (cache->slot_count - 1);
    while (cache->slots[at].id_plus_1 != 0 && cache->slots[at].id_plus_1 != id + 1) {
        at = (at + 1) & (cache->slot_count - 1);
    }
    return &cache->slots[at];
}

/* At most half full. */
static bool make_room(struct text_cache *cache)
{
    if (cache->used * 2 < cache->slot_count) {
        return true;
    }
    struct text_cache old = *cache;
    cache->slot_count = old.slot_count == 0 ? SLOTS_FIRST : old.slot_count * 2;
    cache->slots = calloc(cache->slot_count, sizeof *cache->slots);
    if (cache->slots == NULL) {
        *cache = old;
        return false;
    }
    for (size_t i = 0; i < old.slot_count; i++) {
        if (old.slots[i].id_plus_1 != 0) {
            *find_slot(cache, old.slots[i].id_plus_1 - 1) = old.slots[i];
        }
    }
    free(old.slots);
    return true;
}

static const char *read_text(struct text_cache *cache, int64_t id, struct db_stmt *asker)
{
    struct db_stmt st;
    struct err err = ERR_INIT;
    const char *text = NULL;
    db_prepare(&st, cache->db, cache->sql);
    db_put_int(&st, cache->owner_id);
    db_put_int(&st, id);
    bool found = db_next(&st);
    if (found) {
        text = db_get_text(&st, cache->arena);
    }
    bool ok = db_done(&st, &err);
    if (ok && !found) {
        ok = err_set(&err, ERR_STORE, "text %lld of a trace or comparison is missing",
                     (long long)id);
    }
    if (!ok && !asker->failed) {
        asker->failed = true;
        asker->failure = err;
    }
    return text;
}

const char *text_cache_get(struct text_cache *cache, struct db_stmt *st)
{
    bool is_null = db_get_is_null(st);
    int64_t id = db_get_int(st);
    if (is_null || st->failed) {
        return NULL;
    }
    if (!make_room(cache)) {
        db_fail_memory(st);
        return NULL;
    }
    struct text_cache_slot *slot = find_slot(cache, id);
    if (slot->id_plus_1 == 0) {
        slot->text = read_text(cache, id, st);
        slot->id_plus_1 = id + 1;
        cache->used++;
    }
    return slot->text;
}
