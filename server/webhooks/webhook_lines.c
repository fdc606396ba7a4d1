#include "server/webhooks/webhook_lines.h"

#include "ingest/base/secret.h"
#include "ingest/base/text/affix.h"
#include "ingest/base/text/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 8192
#define WORDS_MAX 32
#define URL_MAX_BYTES 2048

/* ---- words ---- */

/* Takes one word off the line, in place; NULL at its end, or with *faulty where a quote stays open.
 */
static char *next_word(char **rest, bool *faulty)
{
    char *from = *rest + strspn(*rest, " \t");
    char *out = from;
    char *word = from;
    bool quoted = false;
    if (*from == '\0') {
        return NULL;
    }
    for (; *from != '\0' && (quoted || (*from != ' ' && *from != '\t')); from++) {
        if (*from == '"') {
            quoted = !quoted;
        } else {
            from += quoted && *from == '\\' && (from[1] == '"' || from[1] == '\\');
            *out++ = *from;
        }
    }
    *faulty = quoted;
    *rest = *from == '\0' ? from : from + 1;
    *out = '\0';
    return quoted ? NULL : word;
}

static bool split(char *line, char *words[WORDS_MAX], size_t *count)
{
    bool faulty = false;
    *count = 0;
    for (char *word; (word = next_word(&line, &faulty)) != NULL;) {
        if (*count == WORDS_MAX) {
            return false;
        }
        words[(*count)++] = word;
    }
    return !faulty;
}

/* ---- one line ---- */

static bool read_number(const char *text, double *value)
{
    char *end = NULL;
    *value = strtod(text, &end);
    return end != text && *end == '\0';
}

static bool read_url(struct webhook_line *line, struct arena *arena, const char *url)
{
    bool is_http = text_begins(url, "http://") || text_begins(url, "https://");
    const char *host = strstr(url, "://");
    if (!is_http || strlen(url) > URL_MAX_BYTES || host[3] == '\0' || strcspn(host + 3, "/") == 0) {
        return false;
    }
    /* Before a name and a password, which some addresses carry. */
    const char *end = host + 3 + strcspn(host + 3, "/?#");
    const char *at = memchr(host, '@', (size_t)(end - host));
    line->url = arena_strdup(arena, url);
    line->place = at == NULL ? arena_strndup(arena, url, (size_t)(end - url))
                             : arena_strndup(arena, at + 1, (size_t)(end - at - 1));
    return line->url != NULL && line->place != NULL;
}

static bool add_tag(struct webhook_line *line, const char *tag)
{
    if (line->filter.tag_count == WEBHOOK_TAGS_MAX) {
        return false;
    }
    line->tags[line->filter.tag_count++] = tag;
    return true;
}

static bool read_option(struct webhook_line *line, struct arena *arena, const char *word)
{
    const char *equals = strchr(word, '=');
    const char *value = equals == NULL ? NULL : arena_strdup(arena, equals + 1);
    double window = 0;
    if (value == NULL || *value == '\0') {
        return false;
    }
    if (text_begins(word, "project=")) {
        line->filter.project = value;
    } else if (text_begins(word, "tag=")) {
        return add_tag(line, value);
    } else if (text_begins(word, "run=")) {
        line->filter.run = value;
        line->filter.run_may_match = true;
    } else if (text_begins(word, "device=")) {
        line->filter.device = value;
    } else if (text_begins(word, "p=")) {
        line->rules.p_of_series = strcmp(value, HISTORY_P_OF_SERIES) == 0;
        return line->rules.p_of_series || read_number(value, &line->rules.p);
    } else if (text_begins(word, "min_magnitude=")) {
        return read_number(value, &line->rules.min_magnitude);
    } else if (text_begins(word, "window=")) {
        bool ok = read_number(value, &window) && window >= 2 && window <= HISTORY_WINDOW_MAX;
        line->rules.window = ok ? (size_t)window : 0;
        return ok;
    } else if (text_begins(word, "format=")) {
        line->is_slack = strcmp(value, "slack") == 0;
        return line->is_slack || strcmp(value, "json") == 0;
    } else if (text_begins(word, "secret=")) {
        line->secret = value;
    } else {
        return false;
    }
    return true;
}

/* Format and secret may change without any change being told once more. */
static bool hash_line(struct webhook_line *line, char *const *words, size_t count, struct err *err)
{
    struct buf text;
    buf_init(&text, (size_t)2 * LINE_MAX_BYTES);
    for (size_t i = 0; i < count; i++) {
        if (!text_begins(words[i], "secret=") && !text_begins(words[i], "format=")) {
            buf_puts(&text, words[i]);
            buf_putc(&text, '\n');
        }
    }
    bool ok = (!text.failed || err_set(err, ERR_NO_MEMORY, "no memory for a line")) &&
              secret_hash(text.ptr, line->sha256_hex, err);
    buf_free(&text);
    return ok;
}

static bool read_line(struct webhook_line *line, struct arena *arena, char *text, struct err *err)
{
    char *words[WORDS_MAX];
    size_t count = 0;
    struct history_metric metric;
    *line = (struct webhook_line){.filter = {.tags = line->tags}, .rules = HISTORY_RULES_DEFAULT};
    line->rules.p_of_series = true; /* a line looks at a series that grows, for ever */
    if (!split(text, words, &count) || count < 2 || !read_url(line, arena, words[0])) {
        return err_set(err, ERR_BAD_INPUT,
                       "the form is: http://host/path METRIC [project=] [tag=] "
                       "[run=] [device=] [p=] [min_magnitude=] [window=] "
                       "[format=json|slack] [secret=]");
    }
    line->metric = arena_strdup(arena, words[1]);
    if (line->metric == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a line");
    }
    if (!history_metric_find(words[1], strlen(words[1]), &metric)) {
        return err_set(err, ERR_BAD_INPUT, "there is no metric \"%.100s\"", words[1]);
    }
    for (size_t i = 2; i < count; i++) {
        if (!read_option(line, arena, words[i])) {
            return err_set(err, ERR_BAD_INPUT, "\"%.60s\" is not understood", words[i]);
        }
    }
    if (!history_rules_check(&line->rules, 0, err)) {
        err->code = ERR_BAD_INPUT; /* no request asked for it */
        return false;
    }
    return hash_line(line, words, count, err);
}

/* ---- the file ---- */

bool webhook_lines_read(const char *path,
                        struct arena *arena,
                        struct webhook_line lines[WEBHOOK_LINES_MAX],
                        size_t *count,
                        struct err *err)
{
    char text[LINE_MAX_BYTES];
    bool ok = true;
    *count = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return err_set_errno(err, ERR_IO, errno, "%s", path);
    }
    for (size_t number = 1; ok && fgets(text, sizeof text, file) != NULL; number++) {
        size_t len = strcspn(text, "\r\n");
        bool is_whole = text[len] != '\0' || feof(file) != 0;
        text[len] = '\0';
        if (text[0] == '#' || strspn(text, " \t") == len) {
            continue;
        }
        ok = is_whole ? *count < WEBHOOK_LINES_MAX ||
                            err_set(err, ERR_BAD_INPUT, "more than %d lines", WEBHOOK_LINES_MAX)
                      : err_set(err, ERR_BAD_INPUT, "longer than %d bytes", LINE_MAX_BYTES);
        if (ok && read_line(&lines[*count], arena, text, err)) {
            (*count)++;
        } else {
            ok = err_context(err, "%s, line %zu", path, number);
        }
    }
    ok = (ferror(file) == 0 || !ok || err_set(err, ERR_IO, "%s cannot be read", path)) && ok;
    (void)fclose(file);
    return ok;
}
