#include "ingest/store/access/token_rows.h"
#include "ingest/store/schema/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PATH_BYTES 4096

struct token_registry {
    struct store *store; /* NULL: another process has it */
    struct db *db;       /* beside that process; NULL: the store is ours */
};

static bool path_of(char path[PATH_BYTES], const char *data_dir)
{
    int len = snprintf(path, PATH_BYTES, "%s/kinetoscope.db", data_dir);
    return len > 0 && len < PATH_BYTES;
}

bool token_registry_may_be(const char *data_dir)
{
    char path[PATH_BYTES];
    return path_of(path, data_dir) && access(path, F_OK) == 0;
}

static bool check_schema(struct db *db, struct err *err)
{
    int64_t version = 0;
    return schema_version(db, &version, err) &&
           (version == SCHEMA_VERSION || version == SCHEMA_VERSION + 1 ||
            err_set(err, ERR_UNAVAILABLE,
                    "the data directory is in use by a server of another version, or by one that "
                    "is just starting; try again, or stop it first"));
}

static bool open_beside(struct token_registry *registry, const char *data_dir, struct err *err)
{
    char path[PATH_BYTES];
    if (!path_of(path, data_dir)) {
        return err_set(err, ERR_BAD_REQUEST, "the path of the data directory is too long");
    }
    return db_open(&registry->db, path, DB_WRITER, err) && check_schema(registry->db, err);
}

/* Tokens need nothing of the data directory, and a small change no turn of the server's. */
static bool open_on_server(struct token_registry *registry, const char *url, struct err *err)
{
    return db_open_url(&registry->db, url, DB_BESIDE, err) && check_schema(registry->db, err);
}

bool token_registry_open(struct token_registry **out,
                         const char *data_dir,
                         const char *database_url,
                         const struct log *log,
                         struct err *err)
{
    struct token_registry *registry = calloc(1, sizeof *registry);
    if (registry == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the tokens");
    }
    if (database_url != NULL) {
        if (!open_on_server(registry, database_url, err)) {
            token_registry_close(registry);
            return false;
        }
        *out = registry;
        return true;
    }
    struct err first = ERR_INIT;
    bool ok = store_open(&registry->store, data_dir, log, &first);
    if (!ok && first.code == ERR_UNAVAILABLE && token_registry_may_be(data_dir)) {
        ok = open_beside(registry, data_dir, err);
    } else if (!ok) {
        *err = first;
    }
    if (!ok) {
        token_registry_close(registry);
        return false;
    }
    *out = registry;
    return true;
}

void token_registry_close(struct token_registry *registry)
{
    if (registry != NULL) {
        store_close(registry->store);
        db_close(registry->db);
        free(registry);
    }
}

bool token_registry_list(struct token_registry *registry,
                         struct arena *arena,
                         struct store_token **rows,
                         size_t *count,
                         struct err *err)
{
    return registry->store != NULL ? store_tokens(registry->store, arena, rows, count, err)
                                   : token_rows_list(registry->db, arena, rows, count, err);
}

bool token_registry_add(struct token_registry *registry,
                        const struct store_token *token,
                        struct err *err)
{
    if (registry->store != NULL) {
        return store_token_add(registry->store, token, err);
    }
    return db_begin(registry->db, err) &&
           db_end(registry->db, token_rows_add(registry->db, token, err), err);
}

bool token_registry_revoke(struct token_registry *registry, const char *name, struct err *err)
{
    if (registry->store != NULL) {
        return store_token_revoke(registry->store, name, err);
    }
    return db_begin(registry->db, err) &&
           db_end(registry->db, token_rows_revoke(registry->db, name, err), err);
}
