#include "ingest/store/access/token_rows.h"
#include "ingest/store/db/migrations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096

struct token_book {
    struct store *store; /* NULL: another process has it */
    struct db *db;       /* beside that process; NULL: the store is ours */
};

static bool path_of(char path[PATH_BYTES], const char *data_dir)
{
    int len = snprintf(path, PATH_BYTES, "%s/kinetoscope.db", data_dir);
    return len > 0 && len < PATH_BYTES;
}

bool token_book_may_be(const char *data_dir)
{
    char path[PATH_BYTES];
    return path_of(path, data_dir) && access(path, F_OK) == 0;
}

static bool check_schema(struct db *db, struct err *err)
{
    struct db_stmt st;
    int64_t version = 0;
    db_prepare(&st, db, "PRAGMA user_version");
    if (db_next(&st)) {
        version = db_get_int(&st);
    }
    return db_done(&st, err) &&
           (version == store_migrations[store_migration_count - 1].version ||
            err_set(err, ERR_UNAVAILABLE,
                    "the data directory is in use by a server of another version, or by one that "
                    "is just starting; try again, or stop it first"));
}

static bool open_beside(struct token_book *book, const char *data_dir, struct err *err)
{
    char path[PATH_BYTES];
    if (!path_of(path, data_dir)) {
        return err_set(err, ERR_BAD_REQUEST, "the path of the data directory is too long");
    }
    return db_open(&book->db, path, DB_WRITER, err) && check_schema(book->db, err);
}

bool token_book_open(struct token_book **out,
                     const char *data_dir,
                     const struct log *log,
                     struct err *err)
{
    struct token_book *book = calloc(1, sizeof *book);
    if (book == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the tokens");
    }
    struct err first = ERR_INIT;
    bool ok = store_open(&book->store, data_dir, log, &first);
    if (!ok && first.code == ERR_UNAVAILABLE && token_book_may_be(data_dir)) {
        ok = open_beside(book, data_dir, err);
    } else if (!ok) {
        *err = first;
    }
    if (!ok) {
        token_book_close(book);
        return false;
    }
    *out = book;
    return true;
}

void token_book_close(struct token_book *book)
{
    if (book != NULL) {
        store_close(book->store);
        db_close(book->db);
        free(book);
    }
}

bool token_book_list(struct token_book *book,
                     struct arena *arena,
                     struct store_token **rows,
                     size_t *count,
                     struct err *err)
{
    return book->store != NULL ? store_tokens(book->store, arena, rows, count, err)
                               : token_rows_list(book->db, arena, rows, count, err);
}

bool token_book_add(struct token_book *book, const struct store_token *token, struct err *err)
{
    if (book->store != NULL) {
        return store_token_add(book->store, token, err);
    }
    return db_exec(book->db, "BEGIN IMMEDIATE", err) &&
           db_end(book->db, token_rows_add(book->db, token, err), err);
}

bool token_book_revoke(struct token_book *book, const char *name, struct err *err)
{
    if (book->store != NULL) {
        return store_token_revoke(book->store, name, err);
    }
    return db_exec(book->db, "BEGIN IMMEDIATE", err) &&
           db_end(book->db, token_rows_revoke(book->db, name, err), err);
}
