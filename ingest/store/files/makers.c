/* Connections in which files are begun, and files that are small enough to stand in their row. */
#include "ingest/store/files/paths.h"
#include "ingest/store/schema/schema.h"

#include <stdlib.h>
#include <zstd.h>

#define PACK_LEVEL 1

struct maker {
    struct db *db;
    int64_t page_bytes;
    struct ZSTD_CCtx_s *zstd;
    struct maker *next;
};

/* ---- makers ---- */

static void free_maker(struct maker *maker)
{
    if (maker != NULL) {
        db_close(maker->db);
        (void)ZSTD_freeCCtx(maker->zstd);
        free(maker);
    }
}

static struct maker *new_maker(struct err *err)
{
    struct maker *maker = calloc(1, sizeof *maker);
    if (maker == NULL || (maker->zstd = ZSTD_createCCtx()) == NULL) {
        free(maker);
        (void)err_set(err, ERR_NO_MEMORY, "no memory for a file of results");
        return NULL;
    }
    (void)ZSTD_CCtx_setParameter(maker->zstd, ZSTD_c_compressionLevel, PACK_LEVEL);
    (void)ZSTD_CCtx_setParameter(maker->zstd, ZSTD_c_checksumFlag, 1);
    if (!db_open(&maker->db, ":memory:", DB_IN_MEMORY, err) ||
        !db_exec(maker->db, results_schema_sql, err) ||
        !db_read_int(maker->db, "PRAGMA page_size", &maker->page_bytes, err)) {
        free_maker(maker);
        return NULL;
    }
    return maker;
}

static struct maker *take_idle(struct results_files *files)
{
    (void)pthread_mutex_lock(&files->lock);
    struct maker *maker = files->makers;
    if (maker != NULL) {
        files->makers = maker->next;
        files->maker_count--;
    }
    (void)pthread_mutex_unlock(&files->lock);
    return maker;
}

bool results_maker_take(struct results_files *files, struct maker **out, struct err *err)
{
    struct maker *maker = take_idle(files);
    maker = maker != NULL ? maker : new_maker(err);
    if (maker == NULL || !db_exec(maker->db, "BEGIN", err)) {
        free_maker(maker);
        return false;
    }
    *out = maker;
    return true;
}

void results_maker_give_back(struct results_files *files, struct maker *maker)
{
    struct err ignored = ERR_INIT;
    if (maker == NULL) {
        return;
    }
    if (db_in_transaction(maker->db) && !db_exec(maker->db, "ROLLBACK", &ignored)) {
        free_maker(maker);
        return;
    }
    (void)pthread_mutex_lock(&files->lock);
    bool stays = files->maker_count < RESULTS_MAKERS_MAX;
    if (stays) {
        maker->next = files->makers;
        files->makers = maker;
        files->maker_count++;
    }
    (void)pthread_mutex_unlock(&files->lock);
    if (!stays) {
        free_maker(maker);
    }
}

void results_makers_free(struct results_files *files)
{
    for (struct maker *maker = take_idle(files); maker != NULL; maker = take_idle(files)) {
        free_maker(maker);
    }
}

struct db *results_maker_db(struct maker *maker)
{
    return maker->db;
}

/* ---- what they made ---- */

bool results_maker_size(struct maker *maker, size_t *bytes, struct err *err)
{
    int64_t pages = 0;
    bool ok = db_read_int(maker->db, "PRAGMA page_count", &pages, err);
    *bytes = (size_t)(pages * maker->page_bytes);
    return ok;
}

bool results_maker_image(struct maker *maker, void **image, size_t *bytes, struct err *err)
{
    sqlite3_int64 count = 0;
    /* Read through the pager: what the open transaction wrote is in it. */
    *image = sqlite3_serialize(db_handle(maker->db), "main", &count, 0);
    *bytes = (size_t)count;
    return *image != NULL || err_set(err, ERR_NO_MEMORY, "no memory for a file of results");
}

bool results_maker_pack(
    struct maker *maker, void **packed, size_t *packed_bytes, size_t *bytes, struct err *err)
{
    void *image;
    if (!results_maker_image(maker, &image, bytes, err)) {
        return false;
    }
    size_t room = ZSTD_compressBound(*bytes);
    *packed = malloc(room);
    bool ok = *packed != NULL;
    if (ok) {
        *packed_bytes = ZSTD_compress2(maker->zstd, *packed, room, image, *bytes);
        ok = !ZSTD_isError(*packed_bytes);
    }
    sqlite3_free(image);
    if (!ok) {
        free(*packed);
        *packed = NULL;
    }
    return ok || err_set(err, ERR_NO_MEMORY, "no memory to pack a file of results");
}

bool results_open_packed(struct db **db, const void *packed, size_t packed_bytes, struct err *err)
{
    unsigned long long bytes =
        packed_bytes == 0 ? 0 : ZSTD_getFrameContentSize(packed, packed_bytes);
    if (bytes == 0 || bytes > RESULTS_UNPACKED_MAX) {
        return err_set(err, ERR_STORE, "the results of this trace are damaged");
    }
    void *image = sqlite3_malloc64(bytes);
    if (image == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the results of a trace");
    }
    if (ZSTD_decompress(image, (size_t)bytes, packed, packed_bytes) != bytes) {
        sqlite3_free(image);
        return err_set(err, ERR_STORE, "the results of this trace are damaged");
    }
    return db_open_image(db, image, (size_t)bytes, err);
}
