/* Who may read and do what: tokens, the sessions of browsers, and the projects that runs belong to.
 * Of a token and of a session only the SHA-256 is kept. Threads and errors as in store.h. */
#ifndef KS_STORE_STORE_ACCESS_H
#define KS_STORE_STORE_ACCESS_H

#include "ingest/base/text/buf.h"
#include "ingest/store/store.h"

/* ---- projects ---- */

/* A run belongs to one project or, with "", to none: then every reader may read it. The projects of
 * a reader are a JSON array of names, beside which he reads the runs of no project; NULL: he reads
 * everything. Names are short words without anything that JSON, HTML or a shell would mind. */
#define STORE_PROJECT_MAX_BYTES 64
#define STORE_PROJECTS_MAX 256

/* ERR_BAD_REQUEST unless it is 1 to 64 of the letters A to Z and a to z, digits, and ". _ - /". */
bool store_project_check(const char *name, struct err *err) KS_MUST_USE;
/* Appends a name that was checked to a JSON array that `list` holds, which begins empty; names that
 * are in it are not added again. Without any, `list` stays empty: the array is then "[]". */
void store_projects_add(struct buf *list, const char *name);
/* Whether a reader of these projects may read what belongs to `project`. */
bool store_projects_have(const char *projects, const char *project);

/* ERR_NOT_FOUND, in the words for what is not there, when such a reader may not read it or when it
 * is not there. */
bool store_run_readable(struct store *store,
                        const char *name,
                        const char *projects,
                        struct err *err) KS_MUST_USE;
bool store_trace_readable(struct store *store, int64_t id, const char *projects, struct err *err)
    KS_MUST_USE;
bool store_job_readable(struct store *store, int64_t id, const char *projects, struct err *err)
    KS_MUST_USE;
/* A comparison is read by those who may read every trace in it; of traces that are gone counts the
 * project in which they were. */
bool store_comparison_readable(struct store *store,
                               int64_t id,
                               const char *projects,
                               struct err *err) KS_MUST_USE;

/* The project that the run of this name has, or will have when the jobs that are on their way are
 * done; NULL when the name is free. In the arena. */
bool store_run_project(struct store *store,
                       struct arena *arena,
                       const char *name,
                       const char **project,
                       struct err *err) KS_MUST_USE;
/* Moves a run with its jobs, and its part in comparisons. ERR_NOT_FOUND. */
bool store_run_move(struct store *store, const char *name, const char *project, struct err *err)
    KS_MUST_USE;

/* ---- tokens ---- */

/* Each role may do what those before it may. */
enum access_role {
    ACCESS_ROLE_NOBODY,
    ACCESS_ROLE_VIEWER,   /* reads */
    ACCESS_ROLE_UPLOADER, /* uploads, compares, sets tags, notes and projects */
    ACCESS_ROLE_ADMIN,    /* deletes, sees to tokens, reads every project */
};
/* "nobody", "viewer", "uploader", "admin" */
const char *access_role_text(enum access_role role);
/* False for a word that is none of the last three. */
bool access_role_parse(const char *word, enum access_role *role) KS_MUST_USE;

#define STORE_TOKEN_NAME_MAX_BYTES 100
#define STORE_TOKENS_MAX 4096 /* valid ones */
/* Before the random bits of a token that is made here. */
#define STORE_TOKEN_PREFIX "kst_"

struct store_token {
    int64_t id;
    const char *name;
    enum access_role role;
    const char *sha256_hex;
    const char *projects; /* JSON array; of an admin it means nothing */
    int64_t created_at_s;
    int64_t revoked_at_s;   /* 0: valid */
    int64_t last_used_at_s; /* to the day; 0: never */
};

/* ERR_BAD_REQUEST unless it is 1 to 100 bytes of UTF-8 without control characters. */
bool store_token_name_check(const char *name, struct err *err) KS_MUST_USE;
/* All that ever were, oldest first. */
bool store_tokens(struct store *store,
                  struct arena *arena,
                  struct store_token **rows,
                  size_t *count,
                  struct err *err) KS_MUST_USE;
/* Changes with every token that this process adds or revokes. */
uint64_t store_tokens_version(const struct store *store);
/* name, role, sha256_hex and projects. ERR_CONFLICT: a valid token has this name. */
bool store_token_add(struct store *store,
                     const struct store_token *token,
                     struct err *err) KS_MUST_USE;
/* The sessions that it began end with it. ERR_NOT_FOUND when no valid token has this name. */
bool store_token_revoke(struct store *store, const char *name, struct err *err) KS_MUST_USE;
bool store_token_used(struct store *store, int64_t id, int64_t now_s, struct err *err) KS_MUST_USE;

/* ---- sessions: a browser that logged in with a token ---- */

/* Those that are over go, and of one token all but the newest 100. */
bool store_session_add(struct store *store,
                       const char *sha256_hex,
                       const char *token_sha256_hex,
                       int64_t now_s,
                       int64_t expires_at_s,
                       struct err *err) KS_MUST_USE;
/* The hash of the token with which a session that lasts at `now_s` began; "" when there is none. */
bool store_session_find(struct store *store,
                        const char *sha256_hex,
                        int64_t now_s,
                        char token_sha256_hex[SHA256_HEX_BYTES],
                        struct err *err) KS_MUST_USE;
bool store_session_end(struct store *store, const char *sha256_hex, struct err *err) KS_MUST_USE;

/* ---- the tokens of a data directory, also while another process serves it ---- */

struct token_registry;

/* Opens the store, or, when another process has it open, its database beside that one: a small
 * write waits its turn, and the other process sees it. ERR_UNAVAILABLE when that process is of
 * another version. */
bool token_registry_open(struct token_registry **out,
                         const char *data_dir,
                         const struct log *log,
                         struct err *err) KS_MUST_USE;
bool token_registry_list(struct token_registry *registry,
                         struct arena *arena,
                         struct store_token **rows,
                         size_t *count,
                         struct err *err) KS_MUST_USE;
bool token_registry_add(struct token_registry *registry,
                        const struct store_token *token,
                        struct err *err) KS_MUST_USE;
bool token_registry_revoke(struct token_registry *registry,
                           const char *name,
                           struct err *err) KS_MUST_USE;
void token_registry_close(struct token_registry *registry); /* NULL is allowed */
/* Whether there is a database in this data directory, which may hold tokens. */
bool token_registry_may_be(const char *data_dir);

#endif
