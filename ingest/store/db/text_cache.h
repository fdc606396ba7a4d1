/* Caches the texts of one trace or group of comparisons by id while rows are read: fetches and
 * copies each once, however many rows name it. */
#ifndef KS_STORE_DB_TEXT_CACHE_H
#define KS_STORE_DB_TEXT_CACHE_H

#include "ingest/base/memory/arena.h"
#include "ingest/store/db/db.h"

#include <stddef.h>
#include <stdint.h>

struct text_cache_slot {
    int64_t id_plus_1; /* 0: free */
    const char *text;
};

struct text_cache {
    struct db *db;
    struct arena *arena;
    const char *sql; /* selects the text of (owner, id) */
    int64_t owner_id;
    struct text_cache_slot *slots;
    size_t slot_count; /* 0 or a power of 2 */
    size_t used;
};

void text_cache_init(struct text_cache *cache,
                     struct db *db,
                     struct arena *arena,
                     int64_t trace_id);
/* For the group whose first comparison is `group_id`. */
void text_cache_init_comparison(struct text_cache *cache,
                                struct db *db,
                                struct arena *arena,
                                int64_t group_id);
void text_cache_free(struct text_cache *cache); /* the texts stay in the arena */
/* The text whose id is the next column of `st`; NULL for NULL. Failures go to the statement. */
const char *text_cache_get(struct text_cache *cache, struct db_stmt *st);

#endif
