#include "ingest/formats/comparison_report/findings.h"

#include "ingest/base/text/affix.h"
#include "ingest/formats/csv/scan.h"
#include "ingest/formats/json/scan.h"
#include "ingest/model/results/comparison.h"

#include <math.h>
#include <string.h>

#define FIGURES_MAX 4

/* --- figures in a sentence --- */

static bool is_word(char c)
{
    char lower = text_lower(c);
    return json_is_digit(c) || (lower >= 'a' && lower <= 'z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* Behind the number at `at`: digits, and points and commas between digits. */
static const char *skip_number(const char *at, const char *end)
{
    while (at < end && (json_is_digit(*at) ||
                        ((*at == '.' || *at == ',') && at + 1 < end && json_is_digit(at[1])))) {
        at++;
    }
    return at;
}

static const char *skip_word(const char *at, const char *end)
{
    while (at < end && is_word(*at)) {
        at++;
    }
    return at;
}

/* The figures of a sentence, in order; nan and inf are figures. */
static size_t figures_in(const char *at, const char *end, double figures[FIGURES_MAX])
{
    size_t count = 0;
    while (at < end && count < FIGURES_MAX) {
        bool is_negative = *at == '-';
        const char *first = is_negative || *at == '+' ? at + 1 : at;
        if (first == end || !is_word(*first)) {
            at++;
            continue;
        }
        bool is_digit = json_is_digit(*first);
        const char *behind = is_digit ? skip_number(first, end) : skip_word(first, end);
        struct csv_cell word = {.text = first, .len = (size_t)(behind - first)};
        bool is_figure = is_digit ? csv_printed_number(&word, &figures[count])
                                  : csv_number(&word, &figures[count]);
        if (csv_cell_equals(&word, "nan")) {
            figures[count] = (double)NAN;
            is_figure = true;
        }
        if (is_figure && is_negative) {
            figures[count] = -figures[count];
        }
        count += is_figure;
        at = is_digit ? skip_word(behind, end) : behind;
    }
    return count;
}

/* --- bullets --- */

/* How many backticks follow each other at `at`. */
static size_t tick_run(const char *at, const char *end)
{
    size_t run = 0;
    while (at + run < end && at[run] == '`') {
        run++;
    }
    return run;
}

/* The last run of just so many backticks that begins in [at, end); NULL: there is none. */
static const char *last_run(const char *at, const char *end, size_t run)
{
    const char *found = NULL;
    while (at < end) {
        size_t here = tick_run(at, end);
        found = here == run ? at : found;
        at += here > 0 ? here : 1;
    }
    return found;
}

/* What two runs of so many backticks enclose; blanks set the text off from more than one. */
static struct csv_cell enclosed(const char *open, const char *close, size_t run)
{
    struct csv_cell text = {.text = open + run, .len = (size_t)(close - open) - run};
    return run > 1 ? csv_trim(text) : text;
}

/* Two names in backticks, the first of which may hold backticks itself. */
static bool
names_in(const char *at, const char *end, struct csv_cell *function, struct csv_cell *device)
{
    const char *open = memchr(at, '`', (size_t)(end - at));
    while (end > at && end[-1] != '`') {
        end--;
    }
    if (open == NULL || open + 1 >= end) {
        return false;
    }
    size_t run = tick_run(open, end);
    size_t device_run = 1;
    while (end - device_run > open && end[-1 - (ptrdiff_t)device_run] == '`') {
        device_run++;
    }
    const char *device_close = end - device_run;
    const char *device_open = last_run(open + run, device_close, device_run);
    const char *close = device_open == NULL ? NULL : last_run(open + run, device_open, run);
    if (close == NULL) {
        return false;
    }
    *function = enclosed(open, close, run);
    *device = enclosed(device_open, device_close, device_run);
    return true;
}

/* The name that the line begins with; the answer is behind it, NULL: it has none. */
static const char *name_in(const char *at, const char *end, struct csv_cell *name)
{
    const char *open = memchr(at, '`', (size_t)(end - at));
    size_t run = open == NULL ? 0 : tick_run(open, end);
    for (const char *close = open + run; run > 0 && close < end;) {
        size_t here = tick_run(close, end);
        if (here == run) {
            *name = enclosed(open, close, run);
            return close + run;
        }
        close += here > 0 ? here : 1;
    }
    return NULL;
}

static bool add_finding(struct report_findings *findings,
                        struct text_pool *texts,
                        const char *at,
                        const char *end)
{
    struct csv_cell function;
    struct csv_cell device;
    if (!names_in(at, end, &function, &device)) {
        return true;
    }
    findings->is_full = findings->list.count == FINDINGS_MAX;
    if (findings->is_full) {
        return true;
    }
    struct comparison_finding *finding = row_list_add(&findings->list);
    if (finding == NULL) {
        return false;
    }
    *finding = (struct comparison_finding){
        .function = text_pool_add(texts, function.text, function.len),
        .device = text_pool_add(texts, device.text, device.len),
        .beta_pct = {(double)NAN, (double)NAN},
        .delta_beta = (double)NAN,
        .p_beta = (double)NAN,
    };
    return finding->function != NULL && finding->device != NULL;
}

static bool add_metric(struct comparison_finding *finding,
                       struct text_pool *texts,
                       const char *at,
                       const char *end)
{
    struct csv_cell name;
    const char *behind = name_in(at, end, &name);
    if (behind == NULL || finding->metric_count == FINDING_METRICS_MAX) {
        return true;
    }
    double figures[FIGURES_MAX];
    size_t count = figures_in(behind, end, figures);
    const char *metric = text_pool_add(texts, name.text, name.len);
    size_t place = finding->metric_count++;
    finding->metrics[place].metric = metric;
    for (size_t side = 0; side < SIDE_COUNT; side++) {
        finding->metrics[place].mu[side] = side < count ? figures[side] : (double)NAN;
    }
    return metric != NULL;
}

static void set_figures(struct comparison_finding *finding, const char *at, const char *end)
{
    double figures[FIGURES_MAX];
    size_t count = figures_in(at, end, figures);
    for (size_t side = 0; side < SIDE_COUNT && side < count; side++) {
        finding->beta_pct[side] = figures[side];
    }
    finding->delta_beta = count > 2 ? figures[2] : (double)NAN;
    finding->p_beta = count > 3 ? figures[3] : (double)NAN;
}

void report_findings_init(struct report_findings *findings)
{
    *findings = (struct report_findings){.list = {.row_bytes = sizeof(struct comparison_finding)}};
}

bool report_findings_line(struct report_findings *findings,
                          struct text_pool *texts,
                          const char *line,
                          size_t len)
{
    const char *end = line + len;
    const char *bullet = line;
    while (bullet < end && *bullet == ' ') {
        bullet++;
    }
    if (end - bullet < 2 || bullet[0] != '-' || bullet[1] != ' ') {
        return true;
    }
    const char *at = bullet + 2;
    bool has_name = end - at > 3 && memcmp(at, "**`", 3) == 0;
    if (bullet == line) {
        return !has_name || add_finding(findings, texts, at, end);
    }
    if (findings->list.count == 0 || findings->is_full) {
        return true;
    }
    struct comparison_finding *last =
        (struct comparison_finding *)(void *)findings->list.rows + (findings->list.count - 1);
    if (has_name) {
        return add_metric(last, texts, at, end);
    }
    if (isnan(last->beta_pct[SIDE_BASE]) && memchr(at, '%', (size_t)(end - at)) != NULL) {
        set_figures(last, at, end);
    }
    return true;
}
