/* Access: tokens, sessions of browsers, and the projects of runs. The store keeps only the SHA-256
 * of a token or session. Threads and errors as in store.h. */
#ifndef KS_STORE_STORE_ACCESS_H
#define KS_STORE_STORE_ACCESS_H

#include "ingest/base/text/buf.h"
#include "ingest/store/store.h"

/* ---- projects ---- */

/* A run belongs to one project, or to none (""); every reader may read a run without project. The
 * projects of a reader are a JSON array of names; NULL: the reader may read everything. Project
 * names contain nothing that JSON, HTML or a shell would escape. */
#define STORE_PROJECT_MAX_BYTES 64
#define STORE_PROJECTS_MAX 256

/* Checks a name: 1 to 64 of A to Z, a to z, digits, and ". _ - /". ERR_BAD_REQUEST otherwise. */
bool store_project_check(const char *name, struct err *err) KS_MUST_USE;
/* Appends a checked name to the JSON array in `list`, which begins empty; skips names that it
 * already has. Without any call, `list` stays empty, which means "[]". */
void store_projects_add(struct buf *list, const char *name);
/* Whether a reader of these projects may read what belongs to `project`. */
bool store_projects_have(const char *projects, const char *project);

/* Checks that a reader of these projects may read it. ERR_NOT_FOUND otherwise, with the same
 * message as for something that does not exist. */
bool store_run_readable(struct store_snapshot *snapshot,
                        const char *name,
                        const char *projects,
                        struct err *err) KS_MUST_USE;
bool store_trace_readable(struct store_snapshot *snapshot,
                          int64_t id,
                          const char *projects,
                          struct err *err) KS_MUST_USE;
bool store_job_readable(struct store_snapshot *snapshot,
                        int64_t id,
                        const char *projects,
                        struct err *err) KS_MUST_USE;
/* A reader needs access to every trace in the comparison. A deleted trace counts with the project
 * it had. */
bool store_comparison_readable(struct store_snapshot *snapshot,
                               int64_t id,
                               const char *projects,
                               struct err *err) KS_MUST_USE;

/* The project of the run with this name, now or after the unfinished jobs are done, in the arena.
 * NULL: no run has this name. */
bool store_run_project(struct store *store,
                       struct arena *arena,
                       const char *name,
                       const char **project,
                       struct err *err) KS_MUST_USE;
/* Moves a run to a project, with its jobs and its part in comparisons. ERR_NOT_FOUND. */
bool store_run_move(struct store *store, const char *name, const char *project, struct err *err)
    KS_MUST_USE;

/* ---- tokens ---- */

/* Access roles. Each may do what the roles before it may. */
enum access_role {
    ACCESS_ROLE_NOBODY,
    ACCESS_ROLE_VIEWER,   /* reads */
    ACCESS_ROLE_UPLOADER, /* uploads, compares, sets tags, notes and projects */
    ACCESS_ROLE_ADMIN,    /* deletes, manages tokens, reads every project */
};
/* "nobody", "viewer", "uploader", "admin" */
const char *access_role_text(enum access_role role);
/* False unless the word is one of the last three. */
bool access_role_parse(const char *word, enum access_role *role) KS_MUST_USE;

#define STORE_TOKEN_NAME_MAX_BYTES 100
#define STORE_TOKENS_MAX 4096 /* valid ones */
/* Prefix of the tokens that the program makes. */
#define STORE_TOKEN_PREFIX "kst_"

struct store_token {
    int64_t id;
    const char *name;
    enum access_role role;
    const char *sha256_hex;
    const char *projects; /* JSON array; ignored for admins */
    int64_t created_at_s;
    int64_t revoked_at_s;   /* 0: valid */
    int64_t last_used_at_s; /* to the day; 0: never */
};

/* Checks a name: 1 to 100 bytes of UTF-8 without control characters. ERR_BAD_REQUEST otherwise. */
bool store_token_name_check(const char *name, struct err *err) KS_MUST_USE;
/* All tokens, revoked ones too, oldest first. */
bool store_tokens(struct store *store,
                  struct arena *arena,
                  struct store_token **rows,
                  size_t *count,
                  struct err *err) KS_MUST_USE;
/* Changes whenever this process adds or revokes a token. */
uint64_t store_tokens_version(const struct store *store);
/* Stores name, role, sha256_hex and projects. ERR_CONFLICT: a valid token has this name. */
bool store_token_add(struct store *store,
                     const struct store_token *token,
                     struct err *err) KS_MUST_USE;
/* Revokes the token and ends its sessions. ERR_NOT_FOUND when no valid token has this name. */
bool store_token_revoke(struct store *store, const char *name, struct err *err) KS_MUST_USE;
bool store_token_used(struct store *store, int64_t id, int64_t now_s, struct err *err) KS_MUST_USE;

/* ---- sessions: a browser that logged in with a token ---- */

/* Adds a session. Removes expired sessions, and all but the newest 100 of this token. */
bool store_session_add(struct store *store,
                       const char *sha256_hex,
                       const char *token_sha256_hex,
                       int64_t now_s,
                       int64_t expires_at_s,
                       struct err *err) KS_MUST_USE;
/* The hash of the token that began this session; "" when no session with this hash is valid at
 * `now_s`. */
bool store_session_find(struct store *store,
                        const char *sha256_hex,
                        int64_t now_s,
                        char token_sha256_hex[SHA256_HEX_BYTES],
                        struct err *err) KS_MUST_USE;
bool store_session_end(struct store *store, const char *sha256_hex, struct err *err) KS_MUST_USE;

/* ---- wrong tokens, counted together by the servers that share a catalogue ---- */

#define STORE_ADDRESS_MAX_BYTES 47

struct store_wrong_tokens {
    char address[STORE_ADDRESS_MAX_BYTES + 1]; /* of a client */
    int64_t count;                             /* that are not forgiven: one a second is */
};

/* Adds to what is counted of these addresses, which are different ones. */
bool store_wrong_tokens_add(struct store *store,
                            const struct store_wrong_tokens *rows,
                            size_t count,
                            struct err *err) KS_MUST_USE;
/* Gives those that are not forgiven, the worst STORE_WRONG_TOKENS_MAX. */
bool store_wrong_tokens_read(struct store *store,
                             void (*take)(void *context, const struct store_wrong_tokens *row),
                             void *context,
                             struct err *err) KS_MUST_USE;
#define STORE_WRONG_TOKENS_MAX 4096

/* ---- tokens of a data directory, also while another process serves it ---- */

struct token_registry;

/* Opens the store; `database_url` NULL: an embedded one. If another process has it open, opens a
 * second connection to its database: a small write waits for its turn, and the other process sees
 * it. ERR_UNAVAILABLE: that process has another version. */
bool token_registry_open(struct token_registry **out,
                         const char *data_dir,
                         const char *database_url,
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
/* Whether this data directory has a database, which may hold tokens. */
bool token_registry_may_be(const char *data_dir);

#endif
