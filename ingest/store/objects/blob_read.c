/* Stored uploads for those who read them, and what was found wrong with them. */
#include "ingest/store/internal.h"
#include "ingest/store/objects/blob_check.h"
#include "ingest/store/objects/blob_objects.h"

#include <stdatomic.h>
#include <unistd.h>

static bool err_missing(const char *sha256_hex, struct err *err)
{
    return err_set(err, ERR_GONE,
                   "the uploaded file %.12s… is no longer kept; its results are still there; "
                   "upload the same file again under the same run and name to have it here, "
                   "unless the server keeps no uploads (--retain-raw no)",
                   sha256_hex);
}

bool store_blob_path(struct store *store,
                     struct arena *arena,
                     const char *sha256_hex,
                     const char **path,
                     struct err *err)
{
    char text[STORE_PATH_BYTES];
    if (!store_blob_file_path(store, sha256_hex, text, err)) {
        return false;
    }
    store_blob_given_out(store, sha256_hex);
    if (access(text, F_OK) != 0) {
        return err_missing(sha256_hex, err);
    }
    *path = arena_strdup(arena, text);
    return *path != NULL || err_set(err, ERR_NO_MEMORY, "no memory for a path");
}

bool store_blob_is_kept(struct store *store, const char *sha256_hex, bool *kept, struct err *err)
{
    char path[STORE_PATH_BYTES];
    if (!store_blob_file_path(store, sha256_hex, path, err)) {
        return false;
    }
    *kept = access(path, R_OK) == 0;
    return *kept || store->objects == NULL || blob_objects_hold(store, sha256_hex, kept, err);
}

static void note_fault(struct store *store, enum blob_state state, const char *sha256_hex)
{
    const struct log_field fields[] = {
        {.name = "sha256", .kind = LOG_FIELD_TEXT, .text = sha256_hex}};
    if (state == BLOB_DAMAGED) {
        atomic_fetch_add(&store->blob_faults.damaged, 1);
        log_record(store->log, LOG_WARN,
                   store->objects == NULL
                       ? "the disk has damaged a stored upload: upload the same "
                         "file again to mend it"
                       : "the objects have damaged or lost an upload: upload the "
                         "same file again to mend it",
                   fields, 1);
    } else {
        atomic_fetch_add(&store->blob_faults.missing, 1);
        log_record(store->log, LOG_INFO, "a stored upload was asked for and is not there", fields,
                   1);
    }
}

bool store_blob_checked_path(struct store *store,
                             struct arena *arena,
                             const char *sha256_hex,
                             uint64_t size_bytes,
                             const char **path,
                             struct err *err)
{
    char text[STORE_PATH_BYTES];
    struct blob_verdict verdict;
    if (!store_blob_file_path(store, sha256_hex, text, err) ||
        !blob_check(store->blob_checks, text, sha256_hex, size_bytes, &verdict, err)) {
        return false;
    }
    store_blob_given_out(store, sha256_hex);
    if (store->objects != NULL && verdict.state != BLOB_WHOLE) {
        struct err cause = ERR_INIT;
        if (blob_objects_fetch(store, sha256_hex, size_bytes, &cause)) {
            verdict.state = BLOB_WHOLE;
        } else if (cause.code == ERR_GONE) {
            verdict.state = BLOB_DAMAGED;
        } else if (cause.code != ERR_NOT_FOUND) {
            *err = cause;
            return false;
        }
    }
    if (verdict.is_new && verdict.state != BLOB_WHOLE) {
        note_fault(store, verdict.state, sha256_hex);
    }
    switch (verdict.state) {
    case BLOB_MISSING:
        return err_missing(sha256_hex, err);
    case BLOB_DAMAGED:
        return err_set(err, ERR_GONE,
                       "the server's %s damaged the uploaded file %.12s…; its results are "
                       "still there; upload the same file again under the same run and name to "
                       "mend it",
                       store->objects == NULL ? "disk has" : "objects have", sha256_hex);
    case BLOB_WHOLE:
        break;
    }
    *path = arena_strdup(arena, text);
    return *path != NULL || err_set(err, ERR_NO_MEMORY, "no memory for a path");
}

void store_blob_faults(const struct store *store, struct store_blob_faults *out)
{
    *out = (struct store_blob_faults){
        .damaged = atomic_load(&store->blob_faults.damaged),
        .missing = atomic_load(&store->blob_faults.missing),
        .mended = atomic_load(&store->blob_faults.mended),
    };
}
