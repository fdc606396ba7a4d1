#include "ingest/formats/comparison_report/title.h"

#include "ingest/formats/csv/markdown_row.h"
#include "ingest/formats/csv/scan.h"
#include "ingest/formats/json/scan.h"

#include <string.h>

#define TITLE_WORDS "Performance Comparison"
#define PID_WORD "PID:"

static const char *find(const char *at, const char *end, const char *words)
{
    size_t len = strlen(words);
    for (; (size_t)(end - at) >= len; at++) {
        if (memcmp(at, words, len) == 0) {
            return at;
        }
    }
    return NULL;
}

bool report_title_is(const char *line, size_t len)
{
    return len > 0 && *line == '#' && find(line, line + len, TITLE_WORDS) != NULL;
}

/* The parenthesis that closes the line, if it names processes. */
static struct csv_cell pids_in(const char *at, const char *end)
{
    struct csv_cell none = {.text = end};
    if (at == end || end[-1] != ')') {
        return none;
    }
    const char *open = end - 1;
    while (open > at && *open != '(') {
        open--;
    }
    if (*open != '(' || find(open, end, PID_WORD) == NULL) {
        return none;
    }
    return (struct csv_cell){open, (size_t)(end - open)};
}

/* Behind the digits, and a sign, at `at`. */
static const char *skip_integer(const char *at, const char *end)
{
    at += at < end && *at == '-';
    while (at < end && json_is_digit(*at)) {
        at++;
    }
    return at;
}

static void set_pids(const char *at, const char *end, struct comparison *comparison)
{
    size_t count = 0;
    while (count < SIDE_COUNT && (at = find(at, end, PID_WORD)) != NULL) {
        at += strlen(PID_WORD);
        while (at < end && *at == ' ') {
            at++;
        }
        const char *behind = skip_integer(at, end);
        struct csv_cell number = {.text = at, .len = (size_t)(behind - at)};
        count += csv_integer(&number, &comparison->roles[count].pid);
    }
    if (count == 1) {
        comparison->roles[SIDE_CANDIDATE].pid = comparison->roles[SIDE_BASE].pid;
    }
}

/* The title as its writer had it; NULL without memory. */
static const char *add_title(struct text_pool *texts, struct csv_cell id)
{
    struct buf plain;
    buf_init(&plain, SIZE_MAX / 2);
    for (const char *at = id.text; at < id.text + id.len; at++) {
        size_t len = 0;
        char meant = markdown_entity_at(at, id.text + id.len, &len);
        if (meant == 0) {
            meant = *at;
            len = 1;
        }
        buf_putc(&plain, meant);
        at += len - 1;
    }
    const char *title =
        plain.failed ? NULL : text_pool_add(texts, plain.len == 0 ? "" : plain.ptr, plain.len);
    buf_free(&plain);
    return title;
}

bool report_title_read(const char *line,
                       size_t len,
                       struct text_pool *texts,
                       struct comparison *comparison)
{
    struct csv_cell whole = csv_trim((struct csv_cell){.text = line, .len = len});
    const char *end = whole.text + whole.len;
    const char *words = find(whole.text, end, TITLE_WORDS);
    if (words == NULL) {
        return true;
    }
    struct csv_cell pids = pids_in(words, end);
    set_pids(pids.text, end, comparison);
    const char *title = words + strlen(TITLE_WORDS);
    title += title < pids.text && *title == ':';
    struct csv_cell id = csv_trim((struct csv_cell){title, (size_t)(pids.text - title)});
    comparison->strict = find(whole.text, words, "Strict") != NULL;
    comparison->title = add_title(texts, id);
    return comparison->title != NULL;
}
