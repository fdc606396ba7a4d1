/* Uploads and files of traces, some at a time by several threads. Each is written beside its place,
 * held against its hash or its length, synced, and then named: what has its name is whole. */
#include "ingest/base/files/write_all.h"
#include "ingest/base/thread.h"
#include "ingest/base/wall_clock.h"
#include "ingest/store/copy/copy_internal.h"
#include "ingest/store/files/paths.h"
#include "ingest/store/objects/blob_objects_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_ITEMS 64
#define THREADS 8
#define BUFFER_BYTES ((size_t)256 << 10)

/* An upload, or the file of a trace. */
struct item {
    char name[SHA256_HEX_BYTES]; /* the hash, or the key of the file */
    char sha256_hex[SHA256_HEX_BYTES];
    char from_key[OBJECT_KEY_BYTES]; /* of what is an object; "": a file */
    char to_key[OBJECT_KEY_BYTES];   /* of what is to be one; "": a file */
    char tag[OBJECT_TAG_BYTES];
    uint64_t size_bytes;
    bool is_upload;
    bool is_adopted; /* the object stays where it is */
    bool is_lost;    /* the source does not have it */
    struct object_info info;
};

struct page {
    struct copy *copy;
    struct item items[PAGE_ITEMS];
    size_t count;
    char last[SHA256_HEX_BYTES]; /* name that was read last, copied or not */
    pthread_mutex_t lock;        /* guards what follows, counts and progress among it */
    size_t next;
    struct err err;
};

/* ---- one item ---- */

static void tell(struct page *page, uint64_t bytes)
{
    struct copy *copy = page->copy;
    (void)pthread_mutex_lock(&page->lock);
    copy->done_bytes += bytes;
    if (copy->progress->tell_bytes != NULL) {
        copy->progress->tell_bytes(copy->progress->context, copy->done_bytes, copy->total_bytes);
    }
    (void)pthread_mutex_unlock(&page->lock);
}

/* A file in the target's incoming/, which the start of a server empties. */
static int make_file(const struct copy *copy, char path[STORE_PATH_BYTES], struct err *err)
{
    int len = snprintf(path, STORE_PATH_BYTES, "%s/incoming/copy-XXXXXX", copy->to.store->data_dir);
    if (len < 0 || len >= STORE_PATH_BYTES) {
        (void)err_set(err, ERR_IO, "a path in the data directory is too long");
        return -1;
    }
    int fd = mkstemp(path);
    if (fd < 0) {
        (void)err_set_errno(err, ERR_IO, errno, "creating %s", path);
    }
    return fd;
}

static bool path_of(const struct store *store,
                    const struct item *item,
                    char path[STORE_PATH_BYTES],
                    struct err *err)
{
    return item->is_upload ? store_blob_file_path(store, item->name, path, err)
                           : results_path(store, item->name, path, err);
}

/* -1 without an error: it is not there. */
static int open_file(const struct copy *copy, const struct item *item, struct err *err)
{
    char path[STORE_PATH_BYTES];
    if (!path_of(copy->from.store, item, path, err)) {
        return -1;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    /* A file of a trace that has just been published may still be on its way. */
    if (fd < 0 && errno == ENOENT && !item->is_upload &&
        results_incoming_path(copy->from.store, item->name, path, err)) {
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (fd < 0 && errno != ENOENT) {
        (void)err_set_errno(err, ERR_IO, errno, "opening %s", path);
    }
    return fd;
}

/* The same of an object, by way of a file without a name. */
static int open_object(const struct copy *copy, const struct item *item, struct err *err)
{
    char path[STORE_PATH_BYTES];
    uint64_t size_bytes;
    struct err cause = ERR_INIT;
    int fd = make_file(copy, path, err);
    if (fd < 0) {
        return -1;
    }
    (void)unlink(path);
    if (object_get(copy->from.objects, item->from_key, fd, &size_bytes, &cause) &&
        lseek(fd, 0, SEEK_SET) == 0) {
        return fd;
    }
    (void)close(fd);
    if (cause.code != ERR_NOT_FOUND) {
        *err = cause;
    }
    return -1;
}

/* Where the bytes go: an object, or a file beside its place. */
struct sink {
    struct object_put *put; /* NULL: a file */
    int fd;
    char path[STORE_PATH_BYTES];
    struct sha256 *hash;
    uint64_t bytes;
};

static bool
sink_open(struct sink *sink, const struct copy *copy, const struct item *item, struct err *err)
{
    *sink = (struct sink){.fd = -1, .hash = sha256_create()};
    if (sink->hash == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a copy");
    }
    if (item->to_key[0] != '\0') {
        return object_put_begin(copy->to.objects, item->to_key, &sink->put, err);
    }
    sink->fd = make_file(copy, sink->path, err);
    return sink->fd >= 0;
}

static bool sink_write(struct sink *sink, const char *bytes, size_t len, struct err *err)
{
    sha256_update(sink->hash, bytes, len);
    sink->bytes += len;
    return sink->put != NULL ? object_put_write(sink->put, bytes, len, err)
                             : write_all(sink->fd, bytes, len) ||
                                   err_set_errno(err, ERR_IO, errno, "writing %s", sink->path);
}

static bool pour(struct page *page, int from, struct sink *sink, char *buffer, struct err *err)
{
    for (;;) {
        ssize_t got = read(from, buffer, BUFFER_BYTES);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return err_set_errno(err, ERR_IO, errno, "reading what is copied");
        }
        if (got == 0) {
            return true;
        }
        if (!sink_write(sink, buffer, (size_t)got, err)) {
            return false;
        }
        tell(page, (uint64_t)got);
    }
}

/* A file of a trace that has other bytes counts as lost: it can be made again. */
static bool check(struct sink *sink, struct item *item, struct err *err)
{
    char found[SHA256_HEX_BYTES];
    sha256_final_hex(sink->hash, found);
    bool is_whole = strcmp(found, item->sha256_hex) == 0;
    item->is_lost = !item->is_upload && !is_whole;
    return item->is_lost || is_whole ||
           err_set(err, ERR_IO,
                   "the bytes of the upload %s are not those that came: the disk has damaged them;"
                   " upload the same file again, or delete its traces, then copy again",
                   item->name);
}

/* The folder of a path and what is above it. */
static bool make_folders(const struct copy *copy, const char *path, struct err *err)
{
    char folder[STORE_PATH_BYTES];
    size_t above = strlen(copy->to.store->data_dir) + 1;
    (void)snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + above, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (!store_make_dir(folder, err)) {
            return false;
        }
        *slash = '/';
    }
    return true;
}

static bool
name_file(const struct copy *copy, struct sink *sink, const struct item *item, struct err *err)
{
    char path[STORE_PATH_BYTES];
    if (!path_of(copy->to.store, item, path, err) || !make_folders(copy, path, err)) {
        return false;
    }
    if (fsync(sink->fd) != 0 || rename(sink->path, path) != 0) {
        return err_set_errno(err, ERR_IO, errno, "writing %s", path);
    }
    sink->path[0] = '\0';
    *strrchr(path, '/') = '\0';
    return store_sync_dir(path, err);
}

static bool
sink_finish(struct sink *sink, const struct copy *copy, struct item *item, struct err *err)
{
    if (!check(sink, item, err) || item->is_lost) {
        return item->is_lost;
    }
    if (sink->put == NULL) {
        return name_file(copy, sink, item, err);
    }
    struct object_put *put = sink->put;
    sink->put = NULL;
    return object_put_finish(put, &item->info, err);
}

static void sink_close(struct sink *sink)
{
    object_put_abort(sink->put);
    if (sink->fd >= 0) {
        (void)close(sink->fd);
    }
    if (sink->fd >= 0 && sink->path[0] != '\0') {
        (void)unlink(sink->path);
    }
    sha256_destroy(sink->hash);
}

static bool copy_item(struct page *page, struct item *item, char *buffer, struct err *err)
{
    struct sink sink;
    struct copy *copy = page->copy;
    int from =
        item->from_key[0] != '\0' ? open_object(copy, item, err) : open_file(copy, item, err);
    if (from < 0) {
        item->is_lost = err->code == ERR_NONE;
        return item->is_lost;
    }
    bool ok = sink_open(&sink, copy, item, err) && pour(page, from, &sink, buffer, err) &&
              sink_finish(&sink, copy, item, err);
    sink_close(&sink);
    (void)close(from);
    return ok;
}

/* ---- rows of objects at the target ---- */

static bool insert_live(struct db *db, const struct item *item, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "INSERT INTO object (key, state, since_s, sha256, size_bytes, tag) VALUES"
               " (?, 'live', ?, ?, ?, ?)");
    db_put_text(&st, item->to_key);
    db_put_int(&st, wall_clock_s());
    db_put_text(&st, item->name);
    db_put_int(&st, (int64_t)item->size_bytes);
    db_put_text(&st, item->tag);
    return db_run(&st, err);
}

/* Never of an object that is the source's: what is found so is discarded (copy_bytes_recover). */
static bool insert_row(struct db *db, const struct item *item, struct err *err)
{
    return item->is_adopted ? insert_live(db, item, err)
                            : blob_objects_note_writing(db, item->to_key, "", err);
}

/* One by one, so that a copy that is killed goes on behind the last. The page's lock is held. */
static bool set_live(struct db *db, const struct item *item, struct err *err)
{
    struct db_stmt st;
    if (item->to_key[0] == '\0' || item->is_lost) {
        return true; /* what may be under the key goes with the next copy, or the server's start */
    }
    if (!item->is_upload) {
        return db_run_text(db, "DELETE FROM object WHERE key = ?", item->to_key, err);
    }
    db_prepare(&st, db,
               "UPDATE object SET state = 'live', since_s = ?, sha256 = ?, size_bytes = ?, tag = ?"
               " WHERE key = ?");
    db_put_int(&st, wall_clock_s());
    db_put_text(&st, item->name);
    db_put_int(&st, (int64_t)item->info.size_bytes);
    db_put_text(&st, item->info.tag);
    db_put_text(&st, item->to_key);
    return db_run(&st, err);
}

/* ---- several at once ---- */

static void count(struct copy *copy, const struct item *item)
{
    if (!item->is_lost) {
        copy->counts->uploads += item->is_upload;
        copy->counts->files += !item->is_upload;
        copy->counts->bytes += item->size_bytes;
    }
}

static void *work(void *argument)
{
    struct page *page = argument;
    char *buffer = malloc(BUFFER_BYTES);
    struct err err = ERR_INIT;
    bool ok = buffer != NULL || err_set(&err, ERR_NO_MEMORY, "no memory for a copy");
    (void)pthread_mutex_lock(&page->lock);
    while (ok && page->next < page->count && page->err.code == ERR_NONE) {
        struct item *item = &page->items[page->next++];
        (void)pthread_mutex_unlock(&page->lock);
        ok = item->is_adopted || copy_item(page, item, buffer, &err);
        (void)pthread_mutex_lock(&page->lock);
        if (ok && !item->is_adopted) {
            ok = set_live(page->copy->to.store->writer, item, &err);
            count(page->copy, item);
        }
    }
    if (!ok && page->err.code == ERR_NONE) {
        page->err = err;
    }
    (void)pthread_mutex_unlock(&page->lock);
    free(buffer);
    return NULL;
}

/* What threads cannot be had for, this one does. */
static bool copy_items(struct page *page, struct err *err)
{
    pthread_t threads[THREADS];
    size_t started = 0;
    page->next = 0;
    while (started + 1 < THREADS && started + 1 < page->count &&
           thread_start(&threads[started], work, page) == 0) {
        started++;
    }
    (void)work(page);
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    if (page->err.code != ERR_NONE) {
        *err = page->err;
    }
    return page->err.code == ERR_NONE;
}

/* Of all items of a page that become objects, in one transaction. */
static bool insert_rows(struct page *page, struct err *err)
{
    struct db *db = page->copy->to.store->writer;
    bool ok = true;
    if (page->count == 0 || page->items[0].to_key[0] == '\0') {
        return true;
    }
    if (!db_begin(db, err)) {
        return false;
    }
    for (size_t i = 0; ok && i < page->count; i++) {
        ok = insert_row(db, &page->items[i], err);
    }
    return db_end(db, ok, err);
}

static bool next_writing(struct db *db, char key[OBJECT_KEY_BYTES], struct err *err)
{
    struct db_stmt st;
    size_t len;
    key[0] = '\0';
    db_prepare(&st, db, "SELECT key FROM object WHERE state = 'writing' LIMIT 1");
    if (db_next(&st)) {
        (void)snprintf(key, OBJECT_KEY_BYTES, "%s", db_peek_text(&st, &len));
    }
    return db_done(&st, err);
}

bool copy_bytes_recover(struct copy *copy, struct err *err)
{
    char key[OBJECT_KEY_BYTES];
    struct db *db = copy->to.store->writer;
    for (;;) {
        if (!next_writing(db, key, err)) {
            return false;
        }
        if (key[0] == '\0') {
            return true;
        }
        if (copy->to.objects == NULL || !object_discard(copy->to.objects, key, err) ||
            !db_run_text(db, "DELETE FROM object WHERE key = ?", key, err)) {
            return copy->to.objects != NULL ? false
                                            : err_set(err, ERR_CONFLICT,
                                                      "this copy was begun with objects: give its "
                                                      "--to-objects-url");
        }
    }
}

/* ---- what is to be copied ---- */

/* The object that the target has these bytes in; "": none. */
static bool
find_there(struct db *db, const char *sha256_hex, char key[OBJECT_KEY_BYTES], struct err *err)
{
    struct db_stmt st;
    size_t len;
    key[0] = '\0';
    db_prepare(&st, db, "SELECT key FROM object WHERE sha256 = ? AND state = 'live'");
    db_put_text(&st, sha256_hex);
    if (db_next(&st)) {
        (void)snprintf(key, OBJECT_KEY_BYTES, "%s", db_peek_text(&st, &len));
    }
    return db_done(&st, err);
}

/* Sets to_key of what is to become an object; *is_there: nothing is to be done. */
static bool place_object(struct copy *copy, struct item *item, bool *is_there, struct err *err)
{
    struct db *db = copy->to.store->writer;
    char there[OBJECT_KEY_BYTES];
    item->is_adopted = copy->is_same_objects && item->from_key[0] != '\0';
    if (!find_there(db, item->name, there, err)) {
        return false;
    }
    *is_there = there[0] != '\0' && (!item->is_adopted || strcmp(there, item->from_key) == 0);
    if (*is_there) {
        return true;
    }
    if (!item->is_adopted) {
        return blob_objects_make_key(item->to_key, err);
    }
    /* The source has replaced a damaged object since the last copy. */
    memcpy(item->to_key, item->from_key, sizeof item->to_key);
    return there[0] == '\0' || db_run_text(db, "DELETE FROM object WHERE key = ?", there, err);
}

/* The same of a file of a trace, which has one key everywhere. */
static bool place_result(struct copy *copy, struct item *item, bool *is_there, struct err *err)
{
    struct object_info info;
    struct err cause = ERR_INIT;
    results_object_key(item->name, item->to_key);
    *is_there = copy->is_same_objects && item->from_key[0] != '\0';
    if (*is_there) {
        return true;
    }
    bool found = object_head(copy->to.objects, item->to_key, &info, &cause);
    if (!found && cause.code != ERR_NOT_FOUND) {
        *err = cause;
        return false;
    }
    *is_there = found && info.size_bytes == item->size_bytes;
    return true;
}

static bool place(struct copy *copy, struct item *item, bool *is_there, struct err *err)
{
    char path[STORE_PATH_BYTES];
    struct stat info;
    if (copy->to.objects != NULL) {
        return item->is_upload ? place_object(copy, item, is_there, err)
                               : place_result(copy, item, is_there, err);
    }
    if (!path_of(copy->to.store, item, path, err)) {
        return false;
    }
    *is_there = stat(path, &info) == 0 && (uint64_t)info.st_size == item->size_bytes;
    return true;
}

/* What names bytes, in the order of the names. */
static const char uploads_sql[] =
    "SELECT n.sha256, n.size_bytes, o.key, o.tag, n.sha256 FROM"
    " (SELECT sha256, size_bytes FROM upload"
    " WHERE sha256 > ? ORDER BY sha256 LIMIT ?) AS n LEFT JOIN object AS o ON o.sha256 = n.sha256"
    " AND o.state IN ('live', 'dying') ORDER BY n.sha256";
static const char jobs_sql[] =
    "SELECT n.sha256, n.size_bytes, o.key, o.tag, n.sha256 FROM"
    " (SELECT sha256, size_bytes FROM job"
    " WHERE state IN ('queued', 'running') AND sha256 > ? ORDER BY sha256 LIMIT ?) AS n LEFT JOIN"
    " object AS o ON o.sha256 = n.sha256 AND o.state IN ('live', 'dying') ORDER BY n.sha256";
/* Of traces that can be seen, those that do not stand in their row. */
static const char files_sql[] =
    "SELECT f.key, f.size_bytes, CASE WHEN f.is_object <> 0 THEN 'results/' || substr(f.key, 1, 2)"
    " || '/' || substr(f.key, 3) || '.db' END, NULL, f.sha256"
    " FROM results_file AS f JOIN trace AS t ON t.id ="
    " f.trace_id JOIN upload AS u ON u.id = t.upload_id AND u.published = 1"
    " WHERE f.bytes IS NULL AND f.key > ? ORDER BY f.key LIMIT ?";

static void read_item(struct db_stmt *st, struct item *item)
{
    size_t len;
    const char *name = db_peek_text(st, &len);
    (void)snprintf(item->name, sizeof item->name, "%s", name == NULL ? "" : name);
    item->size_bytes = (uint64_t)db_get_int(st);
    const char *key = db_peek_text(st, &len);
    (void)snprintf(item->from_key, sizeof item->from_key, "%s", key == NULL ? "" : key);
    const char *tag = db_peek_text(st, &len);
    (void)snprintf(item->tag, sizeof item->tag, "%s", tag == NULL ? "" : tag);
    const char *hash = db_peek_text(st, &len);
    (void)snprintf(item->sha256_hex, sizeof item->sha256_hex, "%s", hash == NULL ? "" : hash);
}

/* The next items of a list, as far as the target lacks them; *rows: how many were looked at. */
static bool
read_page(struct page *page, struct db *db, const char *sql, size_t *rows, struct err *err)
{
    struct db_stmt st;
    struct err second = ERR_INIT;
    bool ok = true;
    char after[SHA256_HEX_BYTES];
    memcpy(after, page->last, sizeof after);
    page->count = 0;
    *rows = 0;
    db_prepare(&st, db, sql);
    db_put_text(&st, after);
    db_put_int(&st, PAGE_ITEMS);
    while (ok && db_next(&st)) {
        struct item *item = &page->items[page->count];
        bool is_there = false;
        *item = (struct item){.is_upload = sql != files_sql};
        read_item(&st, item);
        ++*rows;
        if (strcmp(item->name, page->last) == 0) {
            continue; /* several rows need the same bytes */
        }
        memcpy(page->last, item->name, sizeof page->last);
        ok = place(page->copy, item, &is_there, err);
        page->copy->counts->there += ok && is_there;
        page->copy->done_bytes += ok && is_there ? item->size_bytes : 0;
        page->count += ok && !is_there;
    }
    return db_done(&st, ok ? err : &second) && ok;
}

/* ---- what was lost ---- */

static bool is_named(struct db *db, const struct item *item, bool *named, struct err *err)
{
    struct db_stmt st;
    if (item->is_upload) {
        db_prepare(&st, db,
                   "SELECT EXISTS (SELECT 1 FROM upload WHERE sha256 = ?1) OR EXISTS (SELECT 1 FROM"
                   " job WHERE sha256 = ?1 AND state IN ('queued', 'running'))");
    } else {
        db_prepare(&st, db, "SELECT EXISTS (SELECT 1 FROM results_file WHERE key = ?)");
    }
    db_put_text(&st, item->name);
    *named = db_next(&st) && db_get_bool(&st);
    return db_done(&st, err);
}

/* Deleted meanwhile, or not kept (--retain-raw no), or lost by its disk. */
static bool look_at_lost(struct page *page, struct err *err)
{
    for (size_t i = 0; i < page->count; i++) {
        const struct item *item = &page->items[i];
        bool named = false;
        if (item->is_lost && !is_named(page->copy->from.store->writer, item, &named, err)) {
            return false;
        }
        page->copy->is_missing = page->copy->is_missing || (item->is_lost && !named);
        page->copy->counts->lost += item->is_lost && named;
    }
    return true;
}

static bool copy_list(struct page *page, struct db *db, const char *sql, struct err *err)
{
    size_t rows = PAGE_ITEMS;
    page->last[0] = '\0';
    while (rows == PAGE_ITEMS) {
        if (!read_page(page, db, sql, &rows, err) || !insert_rows(page, err) ||
            !copy_items(page, err) || !look_at_lost(page, err)) {
            return false;
        }
    }
    return true;
}

bool copy_bytes(struct copy *copy, struct db *db, struct err *err)
{
    struct page *page = calloc(1, sizeof *page);
    if (page == NULL || pthread_mutex_init(&page->lock, NULL) != 0) {
        free(page);
        return err_set(err, ERR_NO_MEMORY, "no memory for a copy");
    }
    page->copy = copy;
    page->err = (struct err)ERR_INIT;
    copy->is_missing = false;
    copy->done_bytes = 0;
    copy->counts->there = 0;
    copy->counts->lost = 0;
    bool ok = copy_list(page, db, uploads_sql, err) && copy_list(page, db, jobs_sql, err) &&
              copy_list(page, db, files_sql, err);
    (void)pthread_mutex_destroy(&page->lock);
    free(page);
    return ok;
}
