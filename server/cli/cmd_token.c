/* token: who may use a server, made, listed and revoked beside it. */
#include "ingest/base/secret.h"
#include "ingest/store/store_access.h"
#include "server/cli/commands.h"
#include "server/cli/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROJECTS_MAX_BYTES ((size_t)OPTIONS_PROJECTS_MAX * (STORE_PROJECT_MAX_BYTES + 4) + 8)
#define LINE_MAX_BYTES ((size_t)32 << 10)
#define DATE_BYTES 24

/* ---- add ---- */

static bool keep(struct token_registry *registry,
                 const struct options *options,
                 const char *secret,
                 struct err *err)
{
    struct buf projects;
    char sha256_hex[SHA256_HEX_BYTES];
    buf_init(&projects, PROJECTS_MAX_BYTES);
    for (size_t i = 0; i < options->project_count; i++) {
        store_projects_add(&projects, options->projects[i]);
    }
    const struct store_token token = {.name = options->files[1],
                                      .role = options->role,
                                      .sha256_hex = sha256_hex,
                                      .projects = projects.len == 0 ? "[]" : projects.ptr};
    bool ok = (!projects.failed || err_set(err, ERR_NO_MEMORY, "no memory for the projects")) &&
              secret_hash(secret, sha256_hex, err) && token_registry_add(registry, &token, err);
    buf_free(&projects);
    return ok;
}

/* The token stands alone on standard output, so that a script can take it. */
static bool add(struct token_registry *registry, const struct options *options, struct err *err)
{
    char secret[SECRET_BYTES];
    if (!store_token_name_check(options->files[1], err) ||
        !secret_make(secret, STORE_TOKEN_PREFIX, err) || !keep(registry, options, secret, err)) {
        return false;
    }
    (void)printf("%s\n", secret);
    if (isatty(STDERR_FILENO) == 1) {
        (void)fprintf(stderr, "It is not shown again. Scripts send it as Authorization: Bearer "
                              "TOKEN; a browser asks for it.\n");
    }
    return true;
}

/* ---- list ---- */

static void put_date(struct buf *line, const char *label, int64_t unix_s)
{
    char date[DATE_BYTES] = "";
    time_t when = (time_t)unix_s;
    struct tm utc;
    if (unix_s != 0 && gmtime_r(&when, &utc) != NULL) {
        (void)strftime(date, sizeof date, "%Y-%m-%d", &utc);
        buf_printf(line, "  %s %s", label, date);
    }
}

/* `projects` is a JSON array of names that need no escapes. */
static void put_projects(struct buf *line, const struct store_token *token)
{
    if (token->role == ACCESS_ROLE_ADMIN) {
        buf_puts(line, "  every project");
        return;
    }
    const char *before = "  ";
    for (const char *at = token->projects; (at = strchr(at, '"')) != NULL;) {
        size_t len = strcspn(++at, "\"");
        buf_puts(line, before);
        buf_append(line, at, len);
        before = ",";
        at += len + (at[len] == '"');
    }
}

static void print_token(const struct store_token *token)
{
    struct buf line;
    buf_init(&line, LINE_MAX_BYTES);
    buf_printf(&line, "%-8s  ", access_role_text(token->role));
    text_clean(&line, token->name);
    put_projects(&line, token);
    put_date(&line, "made", token->created_at_s);
    put_date(&line, "used", token->last_used_at_s);
    put_date(&line, "revoked", token->revoked_at_s);
    (void)printf("%s\n", line.failed ? "" : line.ptr);
    buf_free(&line);
}

static bool list(struct token_registry *registry, struct err *err)
{
    struct arena arena;
    struct store_token *tokens = NULL;
    size_t count = 0;
    arena_init(&arena, 0);
    bool ok = token_registry_list(registry, &arena, &tokens, &count, err);
    for (size_t i = 0; ok && i < count; i++) {
        print_token(&tokens[i]);
    }
    if (ok && count == 0 && isatty(STDERR_FILENO) == 1) {
        (void)fprintf(stderr, "There is no token. To make one: kinetoscope token add NAME --role "
                              "viewer\n");
    }
    arena_free(&arena);
    return ok;
}

int command_token(const struct options *options)
{
    const struct log log = {stderr, LOG_WARN, LOG_TEXT};
    struct token_registry *registry = NULL;
    struct err err = ERR_INIT;
    const char *word = options->files[0];
    bool ok = token_registry_open(&registry, options->data_dir, options->database_url, &log, &err);
    if (ok && strcmp(word, "add") == 0) {
        ok = add(registry, options, &err);
    } else if (ok && strcmp(word, "revoke") == 0) {
        ok = token_registry_revoke(registry, options->files[1], &err);
    } else if (ok) {
        ok = list(registry, &err);
    }
    token_registry_close(registry);
    if (!ok) {
        text_print_error(stderr, NULL, &err);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}
