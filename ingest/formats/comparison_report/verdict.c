#include "ingest/formats/comparison_report/verdict.h"

#include "ingest/formats/csv/scan.h"
#include "ingest/formats/json/scan.h"

#include <string.h>

static const struct {
    const char *words;
    enum comparison_verdict verdict;
} verdicts[] = {
    {"No significant difference", VERDICT_NO_DIFFERENCE},
    {"The two differ", VERDICT_DIFFERENT},
    {"Not enough data to test", VERDICT_UNDECIDED},
    {"Undecided", VERDICT_UNDECIDED},
};

/* Behind the words, NULL: they are not there. */
static const char *behind(const char *at, const char *end, const char *words)
{
    size_t len = strlen(words);
    for (; (size_t)(end - at) >= len; at++) {
        if (memcmp(at, words, len) == 0) {
            return at + len;
        }
    }
    return NULL;
}

static struct csv_cell word_at(const char *at, const char *end)
{
    const char *first = at;
    while (at < end && (json_is_digit(*at) || (*at >= 'a' && *at <= 'z') ||
                        (*at == '.' && at + 1 < end && json_is_digit(at[1])))) {
        at++;
    }
    return (struct csv_cell){.text = first, .len = (size_t)(at - first)};
}

/* "< 0.001" is read as 0, which is written so again. */
static void set_figure(const char *at, const char *end, const char *words, double *figure)
{
    double read;
    const char *number = behind(at, end, words);
    if (number != NULL && end - number > 2 && memcmp(number, "= ", 2) == 0) {
        number += 2;
    }
    if (number != NULL && number < end && *number == '<') {
        *figure = 0;
        return;
    }
    struct csv_cell word = number == NULL ? (struct csv_cell){.text = ""} : word_at(number, end);
    if (csv_printed_number(&word, &read)) {
        *figure = read;
    }
}

static void set_kind(const char *at, const char *end, enum cycle_kind *kind)
{
    const char *name = behind(at, end, "Kind of cycle compared: ");
    struct csv_cell word = name == NULL ? (struct csv_cell){.text = ""} : word_at(name, end);
    for (int i = 0; i < CYCLE_KIND_COUNT; i++) {
        if (csv_cell_equals(&word, cycle_kind_name((enum cycle_kind)i))) {
            *kind = (enum cycle_kind)i;
        }
    }
}

bool report_verdict_line(const char *line, size_t len, struct comparison *comparison)
{
    const char *end = line + len;
    set_kind(line, end, &comparison->kind);
    /* Reports of earlier versions say "p" and "by ranks". */
    set_figure(line, end, "(p ", &comparison->cycle_p);
    set_figure(line, end, "by ranks ", &comparison->cycle_u);
    set_figure(line, end, "(t-test p ", &comparison->cycle_p);
    set_figure(line, end, "Mann-Whitney p ", &comparison->cycle_u);
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++) {
        size_t words_len = strlen(verdicts[i].words);
        if (len >= words_len && memcmp(line, verdicts[i].words, words_len) == 0) {
            comparison->verdict = verdicts[i].verdict;
            return true;
        }
    }
    return false;
}
