#include "server/auth/access.h"

#include "ingest/base/monotonic.h"
#include "ingest/base/wall_clock.h"
#include "server/auth/access_tokens.h"
#include "server/auth/credentials.h"
#include "server/auth/token_file.h"
#include "server/auth/wrong_tokens.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

/* So long another process's change may go unnoticed. */
#define LOOK_AGAIN_MS 250
/* One whose token is unknown may have just got it, of another process or server. */
#define LOOK_FOR_UNKNOWN_MS 20
/* So long the store may fail to say who is known; a catalogue on a server that is away fails after
 * a minute of its own (store/internal.h). */
#define UNSAID_MS 5000
#define DAY_S 86400
#define SESSION_PREFIX "kss_"

/* A token file as it was read. */
struct file_state {
    struct arena arena;
    struct store_token *tokens;
    size_t count;
    struct stat seen;
};

struct access {
    const char *token_file;
    struct store *store;
    bool allow_anonymous;
    bool may_be_open; /* when there is no token */
    const struct log *log;
    struct wrong_tokens *wrong;
    pthread_mutex_t lock; /* guards what follows */
    struct file_state file;
    struct access_tokens *tokens; /* the newest */
    int64_t looked_at_ms;
    int64_t said_at_ms; /* what the store said of them last */
    bool is_unsaid;     /* the last look at the store failed */
    uint64_t version;   /* store_tokens_version of them */
};

/* ---- the file ---- */

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_size == b->st_size && a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* Looked at before it is read: what is written in between is found the next time. */
static bool read_file(struct access *access, struct err *err)
{
    struct file_state fresh = {.count = 0};
    arena_init(&fresh.arena, 0);
    bool there = stat(access->token_file, &fresh.seen) == 0;
    if (!token_file_read(access->token_file, &fresh.arena, &fresh.tokens, &fresh.count, err)) {
        arena_free(&fresh.arena);
        if (there) {
            access->file.seen = fresh.seen; /* not complained of again */
        }
        return false;
    }
    arena_free(&access->file.arena);
    access->file = fresh;
    return true;
}

static bool file_has_changed(const struct access *access)
{
    struct stat now;
    return access->token_file != NULL && stat(access->token_file, &now) == 0 &&
           !is_same_file(&now, &access->file.seen);
}

/* ---- the newest tokens; the lock is held ---- */

static void release(struct access_tokens *tokens)
{
    if (tokens != NULL && --tokens->holders == 0) {
        access_tokens_free(tokens);
    }
}

static bool renew(struct access *access, struct err *err)
{
    struct access_tokens *fresh = NULL;
    uint64_t version = access->store == NULL ? 0 : store_tokens_version(access->store);
    if (!access_tokens_make(&fresh, access->file.tokens, access->file.count, access->store, err)) {
        return false;
    }
    access->version = version;
    const struct access_tokens *old = access->tokens;
    if (old != NULL && old->mark == fresh->mark && old->any == fresh->any) {
        access_tokens_free(fresh);
        return true;
    }
    if (old != NULL) {
        log_write(access->log, LOG_INFO, "the tokens have changed: %zu are valid", fresh->count);
    }
    fresh->holders = 1;
    release(access->tokens);
    access->tokens = fresh;
    return true;
}

/* A broken file leaves the tokens as they were; so does a store that does not answer, for a while.
 */
static void look_now(struct access *access, bool reads_file)
{
    struct err of_file = ERR_INIT;
    struct err of_store = ERR_INIT;
    if (reads_file && !read_file(access, &of_file)) {
        log_write(access->log, LOG_ERROR, "the tokens of %s stay as they were: %s",
                  access->token_file, of_file.msg);
    }
    bool is_said = renew(access, &of_store);
    if (!is_said && !access->is_unsaid) {
        log_write(access->log, LOG_ERROR,
                  "tokens and sessions of the catalogue are refused until it answers: %s",
                  of_store.msg);
    } else if (is_said && access->is_unsaid) {
        log_write(access->log, LOG_INFO, "the catalogue says again which tokens are valid");
    }
    access->is_unsaid = !is_said;
    access->said_at_ms = is_said ? monotonic_ms() : access->said_at_ms;
}

static void look_again(struct access *access, int64_t after_ms)
{
    int64_t now_ms = monotonic_ms();
    bool own_change =
        access->store != NULL && store_tokens_version(access->store) != access->version;
    if (!own_change && now_ms - access->looked_at_ms < after_ms) {
        return;
    }
    access->looked_at_ms = now_ms;
    look_now(access, file_has_changed(access));
}

/* The visit holds them instead of those that it has. */
static void hold_newest(struct access *access, struct access_visit *visit, int64_t after_ms)
{
    (void)pthread_mutex_lock(&access->lock);
    look_again(access, after_ms);
    release(visit->tokens);
    visit->tokens = access->tokens;
    visit->tokens->holders++;
    visit->is_unsaid = access->is_unsaid && monotonic_ms() - access->said_at_ms > UNSAID_MS;
    (void)pthread_mutex_unlock(&access->lock);
}

/* ---- life ---- */

bool access_create(struct access **out, const struct access_options *options, struct err *err)
{
    struct access *access = calloc(1, sizeof *access);
    if (access == NULL || pthread_mutex_init(&access->lock, NULL) != 0) {
        free(access);
        return err_set(err, ERR_NO_MEMORY, "No memory for the tokens");
    }
    access->token_file = options->token_file;
    access->store = options->store;
    access->allow_anonymous = options->allow_anonymous;
    access->may_be_open = options->allow_anonymous || options->on_loopback;
    access->log = options->log;
    arena_init(&access->file.arena, 0);
    access->looked_at_ms = monotonic_ms();
    access->said_at_ms = access->looked_at_ms;
    if (!wrong_tokens_create(&access->wrong, options->store, options->log, err) ||
        (access->token_file != NULL && !read_file(access, err)) || !renew(access, err)) {
        access_free(access);
        return false;
    }
    *out = access;
    return true;
}

void access_free(struct access *access)
{
    if (access != NULL) {
        release(access->tokens);
        arena_free(&access->file.arena);
        wrong_tokens_free(access->wrong);
        (void)pthread_mutex_destroy(&access->lock);
        free(access);
    }
}

bool access_has_tokens(struct access *access)
{
    struct access_visit visit = {.tokens = NULL};
    hold_newest(access, &visit, LOOK_AGAIN_MS);
    bool any = visit.tokens->any;
    access_leave(access, &visit);
    return any;
}

void access_reload(struct access *access)
{
    (void)pthread_mutex_lock(&access->lock);
    look_now(access, access->token_file != NULL);
    (void)pthread_mutex_unlock(&access->lock);
}

/* ---- who asks ---- */

static void become_nobody(const struct access *access, struct access_visit *visit)
{
    bool asks = visit->tokens->any;
    visit->subject = (struct api_subject){.role = ACCESS_ROLE_NOBODY, .asks_for_tokens = true};
    if (!asks && access->may_be_open) {
        visit->subject = (struct api_subject){.role = ACCESS_ROLE_ADMIN};
    } else if (access->allow_anonymous) {
        visit->subject.role = ACCESS_ROLE_VIEWER;
        visit->subject.projects = "[]";
    }
}

/* Noted to the day, so that reading writes next to nothing; and what cannot be noted is no reason
 * to refuse anybody. */
static void note_use(const struct access *access, struct access_token *token)
{
    int64_t now_s = wall_clock_s();
    int64_t day = now_s / DAY_S;
    if (token->id != 0 && !store_is_away(access->store) &&
        atomic_exchange(&token->last_used_day, day) != day) {
        struct err err = ERR_INIT;
        if (!store_token_used(access->store, token->id, now_s, &err)) {
            log_write(access->log, LOG_WARN, "the use of a token is not noted: %s", err.msg);
        }
    }
}

static void become(const struct access *access,
                   struct access_visit *visit,
                   struct access_token *token,
                   bool has_session)
{
    visit->subject = (struct api_subject){.name = token->name,
                                          .role = token->role,
                                          .projects = token->projects,
                                          .has_session = has_session,
                                          .asks_for_tokens = true};
    note_use(access, token);
}

static struct access_token *
look_for(struct access *access, struct access_visit *visit, const char sha256_hex[SHA256_HEX_BYTES])
{
    hold_newest(access, visit, LOOK_FOR_UNKNOWN_MS);
    return access_tokens_find(visit->tokens, sha256_hex);
}

/* Whether the store can be asked for tokens, or needs not. */
static bool can_tell(const struct access *access,
                     const struct access_visit *visit,
                     const struct access_token *token,
                     struct err *err)
{
    bool is_away = access->store != NULL && store_is_away(access->store);
    bool needs_store =
        token == NULL ? is_away || visit->is_unsaid : token->id != 0 && visit->is_unsaid;
    return !needs_store || err_set(err, ERR_UNAVAILABLE,
                                   "The database does not answer, and with it nobody says whether "
                                   "this token is valid; try again");
}

/* The right token of someone who was wrong too often is refused as well, or guessing would cost
 * nothing; only what nobody can guess passes. */
static bool enter_by_token(struct access *access,
                           const char *client,
                           const char *text,
                           struct access_visit *visit,
                           bool *stopped,
                           struct err *err)
{
    char sha256_hex[SHA256_HEX_BYTES];
    if (!secret_hash(text, sha256_hex, err)) {
        return false;
    }
    struct access_token *token = access_tokens_find(visit->tokens, sha256_hex);
    bool is_strong = token != NULL && token->id != 0;
    if (!is_strong && !wrong_tokens_allow(access->wrong, client)) {
        return err_set(err, ERR_TOO_MANY,
                       "Wrong tokens came from your address too often; wait some seconds");
    }
    token = token == NULL ? look_for(access, visit, sha256_hex) : token;
    if (!can_tell(access, visit, token, err)) {
        return false;
    }
    if (token == NULL) {
        *stopped = wrong_tokens_note(access->wrong, client);
        return err_set(err, ERR_UNAUTHORIZED, "The token is not one that this server knows");
    }
    become(access, visit, token, false);
    return true;
}

/* A session that is over is no failure: nobody guesses one, and the page of a browser has many
 * questions at once. */
static bool enter_by_session(struct access *access,
                             const char *secret,
                             struct access_visit *visit,
                             struct err *err)
{
    char sha256_hex[SHA256_HEX_BYTES];
    char token_sha256_hex[SHA256_HEX_BYTES];
    if (!secret_hash(secret, sha256_hex, err) ||
        !store_session_find(access->store, sha256_hex, wall_clock_s(), token_sha256_hex, err)) {
        return false;
    }
    bool is_there = token_sha256_hex[0] != '\0';
    struct access_token *token =
        is_there ? access_tokens_find(visit->tokens, token_sha256_hex) : NULL;
    token = is_there && token == NULL ? look_for(access, visit, token_sha256_hex) : token;
    if (is_there && !can_tell(access, visit, token, err)) {
        return false;
    }
    if (token != NULL) {
        become(access, visit, token, true);
    }
    return true;
}

bool access_enter(struct access *access,
                  const struct access_claim *claim,
                  struct access_visit *visit,
                  bool *stopped,
                  struct err *err)
{
    char text[CREDENTIALS_MAX_BYTES];
    *visit = (struct access_visit){.subject = {.role = ACCESS_ROLE_ADMIN}};
    *stopped = false;
    if (access == NULL) {
        return true;
    }
    hold_newest(access, visit, LOOK_AGAIN_MS);
    become_nobody(access, visit);
    if (!visit->subject.asks_for_tokens) {
        return true;
    }
    if (claim->authorization != NULL) {
        return credentials_token(claim->authorization, text)
                   ? enter_by_token(access, claim->client, text, visit, stopped, err)
                   : err_set(err, ERR_UNAUTHORIZED,
                             "The header is Authorization: Bearer TOKEN, or Basic with the token "
                             "as the password");
    }
    return access->store == NULL || !credentials_session(claim->cookie, text) ||
           enter_by_session(access, text, visit, err);
}

bool access_check(const struct api_subject *subject, enum access_role needed, struct err *err)
{
    if (subject->role >= needed) {
        return true;
    }
    if (subject->name == NULL) {
        return err_set(err, ERR_UNAUTHORIZED,
                       "This server asks for a token: send the header Authorization: Bearer TOKEN");
    }
    return err_set(err, ERR_FORBIDDEN, "This needs the role %s; the token has the role %s",
                   access_role_text(needed), access_role_text(subject->role));
}

void access_leave(struct access *access, struct access_visit *visit)
{
    if (access != NULL && visit->tokens != NULL) {
        (void)pthread_mutex_lock(&access->lock);
        release(visit->tokens);
        (void)pthread_mutex_unlock(&access->lock);
        visit->tokens = NULL;
    }
}

/* ---- sessions ---- */

static bool
begin_session(struct access *access, const char *token, char secret[SECRET_BYTES], struct err *err)
{
    char sha256_hex[SHA256_HEX_BYTES];
    char token_sha256_hex[SHA256_HEX_BYTES];
    int64_t now_s = wall_clock_s();
    return secret_make(secret, SESSION_PREFIX, err) && secret_hash(secret, sha256_hex, err) &&
           secret_hash(token, token_sha256_hex, err) &&
           store_session_add(access->store, sha256_hex, token_sha256_hex, now_s,
                             now_s + ACCESS_SESSION_S, err);
}

bool access_log_in(struct access *access,
                   const char *client,
                   const char *token,
                   char secret[SECRET_BYTES],
                   struct access_visit *visit,
                   bool *stopped,
                   struct err *err)
{
    *visit = (struct access_visit){.subject = {.role = ACCESS_ROLE_NOBODY}};
    *stopped = false;
    if (access == NULL || access->store == NULL) {
        return err_set(err, ERR_NOT_FOUND, "This server has no sessions");
    }
    hold_newest(access, visit, LOOK_AGAIN_MS);
    return enter_by_token(access, client, token, visit, stopped, err) &&
           begin_session(access, token, secret, err);
}

bool access_log_out(struct access *access, const char *cookie, struct err *err)
{
    char secret[CREDENTIALS_MAX_BYTES];
    char sha256_hex[SHA256_HEX_BYTES];
    if (access == NULL || access->store == NULL || !credentials_session(cookie, secret)) {
        return true;
    }
    return secret_hash(secret, sha256_hex, err) &&
           store_session_end(access->store, sha256_hex, err);
}
