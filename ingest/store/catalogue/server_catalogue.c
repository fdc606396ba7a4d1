#include "ingest/store/catalogue/server_catalogue.h"

#include "ingest/base/secret.h"
#include "ingest/store/schema/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "catalogue-id"
#define NODE_FILE_NAME "node-id"

static bool
path_of(const struct store *store, const char *name, char path[STORE_PATH_BYTES], struct err *err)
{
    int len = snprintf(path, STORE_PATH_BYTES, "%s/%s", store->data_dir, name);
    return (len > 0 && len < STORE_PATH_BYTES) ||
           err_set(err, ERR_IO, "a path in the data directory is too long");
}

static bool write_id(const struct store *store, const char *name, const char *id, struct err *err)
{
    char path[STORE_PATH_BYTES];
    char line[STORE_NODE_BYTES + 1];
    int len = snprintf(line, sizeof line, "%s\n", id);
    if (!path_of(store, name, path, err)) {
        return false;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, line, (size_t)len) == len && fsync(fd) == 0;
    int errnum = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    return (ok || err_set_errno(err, ERR_IO, errnum, "writing %s", path)) &&
           store_sync_dir(store->data_dir, err);
}

/* "": there is no file. */
static bool read_id(const struct store *store, const char *name, char *id, int cap, struct err *err)
{
    char path[STORE_PATH_BYTES];
    id[0] = '\0';
    if (!path_of(store, name, path, err)) {
        return false;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return errno == ENOENT || err_set_errno(err, ERR_IO, errno, "reading %s", path);
    }
    if (fgets(id, cap, file) == NULL) {
        id[0] = '\0';
    }
    (void)fclose(file);
    id[strcspn(id, "\n")] = '\0';
    return true;
}

/* The file first: alone it is written anew at the next start. */
static bool create(struct store *store, struct err *err)
{
    char id[CATALOGUE_ID_BYTES];
    return schema_create(store->writer, err) && schema_read_id(store->writer, id, err) &&
           write_id(store, FILE_NAME, id, err);
}

bool server_catalogue_create(struct store *store, struct err *err)
{
    return db_begin(store->writer, err) && db_end(store->writer, create(store, err), err);
}

static bool has_files_elsewhere(struct store *store, bool *has, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, store->writer,
               "SELECT 1 FROM results_file WHERE bytes IS NULL AND is_object = 0 LIMIT 1");
    *has = db_next(&st);
    return db_done(&st, err);
}

/* A new data directory, which is a cache where all that the database names is objects. */
static bool join(struct store *store, const char *id, bool *joined, struct err *err)
{
    bool has_files = true;
    if (!has_files_elsewhere(store, &has_files, err)) {
        return false;
    }
    *joined = !has_files;
    return has_files || write_id(store, FILE_NAME, id, err);
}

bool server_catalogue_check(struct store *store, bool has_objects, struct err *err)
{
    char theirs[CATALOGUE_ID_BYTES];
    char ours[CATALOGUE_ID_BYTES];
    bool joined = false;
    return schema_read_id(store->writer, theirs, err) &&
           read_id(store, FILE_NAME, ours, sizeof ours, err) &&
           (!has_objects || ours[0] != '\0' || join(store, theirs, &joined, err)) &&
           (joined || strcmp(theirs, ours) == 0 ||
            err_set(err, ERR_CONFLICT,
                    "the database belongs to another data directory than %s, whose traces are "
                    "not in it; give both as they were, or, should that directory be lost, write "
                    "%s into the file " FILE_NAME " of this one",
                    store->data_dir, theirs));
}

bool server_catalogue_none(const struct store *store, struct err *err)
{
    char id[CATALOGUE_ID_BYTES];
    return read_id(store, FILE_NAME, id, sizeof id, err) &&
           (id[0] == '\0' ||
            err_set(err, ERR_CONFLICT,
                    "the catalogue of the data directory %s is on a server; start with the "
                    "--database-url that it had",
                    store->data_dir));
}

bool server_catalogue_node(struct store *store, struct err *err)
{
    char secret[SECRET_BYTES];
    if (!read_id(store, NODE_FILE_NAME, store->node, sizeof store->node, err)) {
        return false;
    }
    if (store->node[0] != '\0') {
        return true;
    }
    if (!secret_make(secret, "", err)) {
        return false;
    }
    (void)snprintf(store->node, sizeof store->node, "%s", secret);
    return write_id(store, NODE_FILE_NAME, store->node, err);
}
