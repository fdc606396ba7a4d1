#include "api/comparison/text/environment.h"

#include "api/table/markdown_table.h"

#include <ctype.h>

#define UNKNOWN "unknown"
#define SIDE_COLUMNS 32

static bool is_known(const struct environment sides[SIDE_COUNT], enum environment_fact fact)
{
    return sides[SIDE_BASE].facts[fact] != NULL || sides[SIDE_CANDIDATE].facts[fact] != NULL;
}

static const char *text_of(const struct environment *side, enum environment_fact fact)
{
    return side->facts[fact] == NULL ? UNKNOWN : side->facts[fact];
}

/* ---- JSON ---- */

void environment_json_members(struct json_write *w, const struct environment sides[SIDE_COUNT])
{
    if (environment_is_known(sides)) {
        jw_key_bool(w, "comparable", environment_is_comparable(sides));
    } else {
        jw_key_null(w, "comparable");
    }
    jw_key_array_begin(w, "environment");
    for (int i = 0; i < ENVIRONMENT_FACT_COUNT; i++) {
        enum environment_fact fact = (enum environment_fact)i;
        if (!is_known(sides, fact)) {
            continue;
        }
        jw_object_begin(w);
        jw_key_string(w, "name", environment_fact_name(fact));
        jw_key_string(w, "label", environment_fact_label(fact));
        jw_key_string(w, "base", sides[SIDE_BASE].facts[fact]);
        jw_key_string(w, "candidate", sides[SIDE_CANDIDATE].facts[fact]);
        jw_key_string(w, "match", environment_match_name(environment_match(sides, fact)));
        jw_key_bool(w, "decisive", environment_is_decisive(fact));
        jw_object_end(w);
    }
    jw_array_end(w);
}

/* ---- a sentence ---- */

/* "World size" within a sentence. */
static void put_label(struct buf *out, enum environment_fact fact)
{
    const char *label = environment_fact_label(fact);
    buf_putc(out, (char)tolower((unsigned char)*label));
    buf_puts(out, label + 1);
}

void environment_sentence(struct buf *out, const struct environment sides[SIDE_COUNT])
{
    bool comparable = environment_is_comparable(sides);
    size_t named = 0;
    for (int i = 0; i < ENVIRONMENT_FACT_COUNT; i++) {
        enum environment_fact fact = (enum environment_fact)i;
        bool counts = comparable ? fact != ENVIRONMENT_STEPS : environment_is_decisive(fact);
        if (!counts || environment_match(sides, fact) != ENVIRONMENT_DIFFERENT) {
            continue;
        }
        if (named++ == 0) {
            buf_puts(out, comparable ? "Recorded in different environments: "
                                     : "The two are not comparable as they stand: ");
        } else {
            buf_puts(out, ", ");
        }
        put_label(out, fact);
        buf_puts(out, " (");
        markdown_table_line(out, sides[SIDE_BASE].facts[fact]);
        buf_puts(out, " against ");
        markdown_table_line(out, sides[SIDE_CANDIDATE].facts[fact]);
        buf_putc(out, ')');
    }
    buf_puts(out, named > 0 ? "." : "");
}

/* ---- for a terminal ---- */

void environment_plain(struct buf *out, const struct environment sides[SIDE_COUNT])
{
    if (!environment_is_known(sides)) {
        return;
    }
    buf_puts(out, "Environment (* differs)\n");
    for (int i = 0; i < ENVIRONMENT_FACT_COUNT; i++) {
        enum environment_fact fact = (enum environment_fact)i;
        if (!is_known(sides, fact)) {
            continue;
        }
        bool differs = environment_match(sides, fact) == ENVIRONMENT_DIFFERENT;
        buf_printf(out, "%c %-22s ", differs ? '*' : ' ', environment_fact_label(fact));
        size_t before = out->len;
        markdown_table_line(out, text_of(&sides[SIDE_BASE], fact));
        for (size_t used = out->len - before; used < SIDE_COLUMNS; used++) {
            buf_putc(out, ' ');
        }
        buf_putc(out, ' ');
        markdown_table_line(out, text_of(&sides[SIDE_CANDIDATE], fact));
        buf_putc(out, '\n');
    }
}

/* ---- Markdown ---- */

struct rows {
    const struct environment *sides;
    enum environment_fact facts[ENVIRONMENT_FACT_COUNT];
};

static void put_cell(const void *ctx, size_t row, size_t column, struct buf *out)
{
    const struct rows *rows = ctx;
    enum environment_fact fact = rows->facts[row];
    switch (column) {
    case 0:
        buf_puts(out, environment_fact_label(fact));
        break;
    case 1:
    case 2:
        buf_puts(out, text_of(&rows->sides[column - 1], fact));
        break;
    default:
        buf_puts(out, environment_match_name(environment_match(rows->sides, fact)));
        break;
    }
}

void environment_markdown(struct buf *out,
                          const struct environment sides[SIDE_COUNT],
                          const char *const labels[SIDE_COUNT])
{
    static const enum markdown_table_column columns[] = {MARKDOWN_TABLE_NAME, MARKDOWN_TABLE_NAME,
                                                         MARKDOWN_TABLE_NAME, MARKDOWN_TABLE_NAME};
    struct rows rows = {.sides = sides};
    size_t count = 0;
    for (int i = 0; i < ENVIRONMENT_FACT_COUNT; i++) {
        if (is_known(sides, (enum environment_fact)i)) {
            rows.facts[count++] = (enum environment_fact)i;
        }
    }
    if (count == 0) {
        return;
    }
    struct buf heads[SIDE_COUNT];
    for (int side = 0; side < SIDE_COUNT; side++) {
        buf_init(&heads[side], out->max_bytes);
        markdown_table_cell(&heads[side], labels[side]);
    }
    const char *const headers[] = {"Environment", heads[SIDE_BASE].ptr, heads[SIDE_CANDIDATE].ptr,
                                   "Match"};
    struct buf sentence;
    buf_init(&sentence, out->max_bytes);
    environment_sentence(&sentence, sides);
    if (sentence.len > 0) {
        buf_puts(out, "**");
        markdown_table_text(out, sentence.ptr);
        buf_puts(out, "**\n\n");
    }
    buf_free(&sentence);
    markdown_table_write(out, &(struct markdown_table){.row_count = count,
                                                       .column_count = 4,
                                                       .headers = headers,
                                                       .columns = columns,
                                                       .cell = put_cell,
                                                       .ctx = &rows});
    buf_putc(out, '\n');
    buf_free(&heads[SIDE_BASE]);
    buf_free(&heads[SIDE_CANDIDATE]);
}
