#include "ingest/formats/nsight/kernel_text_table.h"

#include "ingest/base/text/affix.h"
#include "ingest/formats/csv/line_scan.h"
#include "ingest/formats/json/scan.h"
#include "ingest/formats/nsight/kernel_rows.h"
#include "ingest/formats/nsight/quantity.h"
#include "ingest/formats/sniff.h"

#include <math.h>
#include <string.h>

#define COLUMNS_MAX 8
#define SHOWN_BYTES 60
#define SEPARATORS_MAX 64 /* tried from the end of a row */

enum column { COLUMN_LATENCY, COLUMN_TENSOR, COLUMN_DRAM, COLUMN_SM, COLUMN_OTHER };

/* What the heading says. */
struct layout {
    enum column columns[COLUMNS_MAX];
    size_t count;
    double latency_unit_ns;
};

struct word {
    const char *text;
    size_t len;
};

/* ---- words ---- */

/* The next word in [*at, end); "|" only separates figures. A length of 0: there is none. */
static struct word next_word(const char **at, const char *end)
{
    while (*at < end && (json_is_space(**at) || **at == '|')) {
        (*at)++;
    }
    struct word word = {*at, 0};
    while (*at < end && !json_is_space(**at) && **at != '|') {
        (*at)++;
    }
    word.len = (size_t)(*at - word.text);
    return word;
}

static bool word_is(struct word word, const char *lower)
{
    size_t i = 0;
    while (i < word.len && lower[i] != '\0' && text_lower(word.text[i]) == lower[i]) {
        i++;
    }
    return i == word.len && lower[i] == '\0';
}

/* ---- the heading ---- */

static enum column column_of(struct word word)
{
    static const char *const names[] = {"latency", "tensor", "dram", "sm"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (word_is(word, names[i])) {
            return (enum column)i;
        }
    }
    return COLUMN_OTHER;
}

/* A unit in brackets, "(us)"; 0: the word is none. */
static double unit_of(struct word word)
{
    bool is_bracketed = word.len > 2 && (*word.text == '(' || *word.text == '[');
    return is_bracketed ? quantity_time_ns(word.text + 1, word.len - 2) : 0;
}

static bool read_heading(const char *at, size_t len, struct layout *layout)
{
    const char *end = at + len;
    bool has_use = false;
    bool has_latency = false;
    *layout = (struct layout){.latency_unit_ns = 1};
    if (!word_is(next_word(&at, end), "kernel")) {
        return false;
    }
    for (struct word word = next_word(&at, end); word.len > 0; word = next_word(&at, end)) {
        enum column column = column_of(word);
        double unit_ns = unit_of(word);
        if (unit_ns > 0) {
            layout->latency_unit_ns = unit_ns;
            continue;
        }
        /* "Kernel Name", a "Latency" before which nothing else stands */
        if (layout->count == COLUMNS_MAX || (column == COLUMN_OTHER && !has_latency)) {
            continue;
        }
        layout->columns[layout->count++] = column;
        has_latency = has_latency || column == COLUMN_LATENCY;
        has_use = has_use || column == COLUMN_TENSOR || column == COLUMN_DRAM;
    }
    return has_latency && has_use;
}

bool kernel_text_table_recognises(const char *window, size_t len)
{
    const char *end = window + (len < SNIFF_BYTES ? len : SNIFF_BYTES);
    while (window < end) {
        struct layout layout;
        const char *newline = memchr(window, '\n', (size_t)(end - window));
        const char *line_end = newline == NULL ? end : newline;
        if (read_heading(window, (size_t)(line_end - window), &layout)) {
            return true;
        }
        window = newline == NULL ? end : newline + 1;
    }
    return false;
}

/* ---- rows ---- */

struct figures {
    struct word words[COLUMNS_MAX];
    size_t count;
};

/* The figures behind a separator: words that are numbers, or say that there is none. */
static struct figures figures_at(const char *at, const char *end, size_t max)
{
    struct figures figures = {.count = 0};
    while (figures.count < max) {
        double value;
        struct word word = next_word(&at, end);
        if (word.len == 0 || quantity_read(word.text, word.len, &value) == QUANTITY_NONE) {
            break;
        }
        figures.words[figures.count++] = word;
    }
    return figures;
}

static bool is_separator(const char *begin, const char *at, const char *end)
{
    bool is_colons =
        *at == ':' && ((at > begin && at[-1] == ':') || (at + 1 < end && at[1] == ':'));
    return (*at == '|' || *at == ':') && !is_colons;
}

/* Where the name ends; NULL: there is no separator with a figure behind it. */
static const char *
split_row(const char *begin, const char *end, size_t max, struct figures *figures)
{
    const char *best = NULL;
    size_t tried = 0;
    for (const char *at = end; at > begin && tried < SEPARATORS_MAX;) {
        at--;
        if (!is_separator(begin, at, end)) {
            continue;
        }
        tried++;
        struct figures found = figures_at(at + 1, end, max);
        if (found.count > (best == NULL ? 0 : figures->count)) {
            best = at;
            *figures = found;
        }
        if (best != NULL && figures->count == max) {
            break;
        }
    }
    return best;
}

/* False: `why` says what is wrong. */
static bool read_figures(const struct layout *layout,
                         const struct figures *figures,
                         struct kernel_table_launch *launch,
                         const char **why)
{
    bool has_latency = false;
    for (size_t i = 0; i < figures->count; i++) {
        double value = (double)NAN;
        bool has_value =
            quantity_read(figures->words[i].text, figures->words[i].len, &value) == QUANTITY_NUMBER;
        double *use = layout->columns[i] == COLUMN_TENSOR ? &launch->tensor
                      : layout->columns[i] == COLUMN_DRAM ? &launch->dram
                                                          : &launch->sm;
        if (layout->columns[i] == COLUMN_LATENCY) {
            has_latency =
                has_value && quantity_to_ns(value, layout->latency_unit_ns, &launch->dur_ns);
        } else if (layout->columns[i] != COLUMN_OTHER && has_value) {
            *use = value;
            if (value < 0 || value > 1) {
                *why = "a utilisation is not between 0 and 1";
                return false;
            }
        }
    }
    *why = "the latency is no time";
    return has_latency;
}

/* Rules, such as stand below a heading. */
static bool is_ornament(const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (at[i] == '\0' || strchr("-=+|_ \t\r", at[i]) == NULL) {
            return false;
        }
    }
    return true;
}

static struct word trim(const char *begin, const char *end)
{
    while (begin < end && json_is_space(*begin)) {
        begin++;
    }
    while (end > begin && json_is_space(end[-1])) {
        end--;
    }
    return (struct word){begin, (size_t)(end - begin)};
}

static bool read_row(struct kernel_rows *rows,
                     const struct layout *layout,
                     const struct line_scan *line,
                     struct err *err)
{
    const char *end = line->text + line->len;
    const char *why = NULL;
    struct figures figures = {.count = 0};
    struct kernel_table_launch launch = kernel_rows_blank();
    const char *split = split_row(line->text, end, layout->count, &figures);
    struct word name = trim(line->text, split == NULL ? end : split);
    int shown = (int)(name.len < SHOWN_BYTES ? name.len : SHOWN_BYTES);
    if (line->is_too_long) {
        why = "the line is too long";
    } else if (split == NULL) {
        why = "no \"|\" or \":\" with a latency behind it";
    } else if (name.len == 0) {
        why = "the kernel has no name";
    } else if (read_figures(layout, &figures, &launch, &why)) {
        return kernel_rows_text(rows, name.text, name.len, &launch.name, err) &&
               kernel_rows_add(rows, &launch, err);
    }
    return kernel_rows_bad(rows, line->line, line->byte_off, err, "%s (%.*s)", why, shown,
                           name.text);
}

static bool read_rows(struct text_stream *stream, struct kernel_rows *rows, struct err *err)
{
    struct line_scan line;
    struct layout layout = {.count = 0};
    line_open(&line, stream, 1);
    for (;;) {
        bool more;
        struct layout heading;
        if (!line_next(&line, &more, err)) {
            return false;
        }
        if (!more) {
            return true;
        }
        if (!line.is_too_long && read_heading(line.text, line.len, &heading)) {
            layout = heading;
            continue;
        }
        bool is_row = layout.count > 0 && !is_ornament(line.text, line.len);
        if (is_row && !read_row(rows, &layout, &line, err)) {
            return false;
        }
    }
}

bool kernel_text_table_read(struct text_stream *stream,
                            const struct format_options *options,
                            struct format_bundle *bundle,
                            struct err *err)
{
    struct kernel_rows rows;
    if (!kernel_rows_open(&rows, options->memory_budget_bytes, err)) {
        return false;
    }
    bool ok = read_rows(stream, &rows, err);
    if (ok) {
        kernel_rows_note_stream(&rows, stream);
        ok = kernel_rows_finish(&rows, "the kernel table has a heading, but no row", bundle, err);
    }
    kernel_rows_close(&rows);
    return ok;
}
