/* Two sides compared without a server. */
#include "api/comparison/text/text.h"
#include "api/diff/change.h"
#include "ingest/base/text/json_write.h"
#include "ingest/jobs/pipeline/details.h"
#include "ingest/query/compare/compare_query.h"
#include "server/cli/commands.h"
#include "server/cli/compare_input.h"
#include "server/cli/report/report.h"
#include "server/cli/text.h"
#include "server/options/fail_if.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_MAX_BYTES ((size_t)1 << 30)
#define TITLE_BYTES 600
#define PATH_BYTES 4096
#define NAME_MAX_BYTES 160
#define PLAIN_ROWS 20
#define PLAIN_PAIRS 5

struct compare {
    const struct options *options;
    struct arena arena;
    struct compare_input sides[SIDE_COUNT];
    char title[TITLE_BYTES];
    struct query_change change;  /* if has_change */
    struct cause_change causes;  /* likewise */
    bool has_change;             /* each side is one trace with operators */
    struct comparison_list list; /* empty if `untested` says why */
    struct err untested;
};

/* ---- loading and comparing ---- */

/* A directory may be written with a slash at its end. */
static const char *side_name(const char *path)
{
    const char *name = text_file_name(path);
    return *name == '\0' ? path : name;
}

/* Files of the same name are told apart by their directories. */
static void write_title(struct compare *compare)
{
    char *const *paths = compare->options->files;
    const char *names[SIDE_COUNT] = {side_name(paths[SIDE_BASE]), side_name(paths[SIDE_CANDIDATE])};
    bool is_same = strcmp(names[SIDE_BASE], names[SIDE_CANDIDATE]) == 0;
    (void)snprintf(compare->title, sizeof compare->title, "%.250s vs %.250s",
                   is_same ? paths[SIDE_BASE] : names[SIDE_BASE],
                   is_same ? paths[SIDE_CANDIDATE] : names[SIDE_CANDIDATE]);
}

static bool load_sides(struct compare *compare, struct err *err)
{
    const struct options *options = compare->options;
    write_title(compare);
    for (int side = 0; side < SIDE_COUNT; side++) {
        if (!compare_input_load(&compare->sides[side], options->files[side], options, err)) {
            return false;
        }
    }
    return true;
}

static void find_causes(struct compare *compare)
{
    struct cause_side sides[SIDE_COUNT] = {{NULL, NULL}, {NULL, NULL}};
    for (int side = 0; side < SIDE_COUNT; side++) {
        const struct pipeline_details *details = compare->sides[side].details;
        if (details != NULL) {
            sides[side] = (struct cause_side){&details->idle, &details->efficiency};
        }
    }
    query_cause_change(&compare->change.change.step, sides, &compare->causes);
}

static bool find_change(struct compare *compare, struct err *err)
{
    const struct trace_results *traces[SIDE_COUNT] = {compare->sides[SIDE_BASE].trace,
                                                      compare->sides[SIDE_CANDIDATE].trace};
    compare->has_change = traces[SIDE_BASE] != NULL && traces[SIDE_CANDIDATE] != NULL;
    if (!compare->has_change) {
        return true;
    }
    if (!query_change_of_results(traces, &compare->arena, &compare->change, err)) {
        return false;
    }
    find_causes(compare);
    return true;
}

/* Whether what is asked for needs the cycles of both sides. */
static bool needs_cycles(const struct compare *compare)
{
    const struct options *options = compare->options;
    return !compare->has_change || options->fail_if_count > 0 || options->output_dir != NULL ||
           options->format == REPORT_CSV;
}

static bool compare_cycles(struct compare *compare, struct err *err)
{
    const struct options *options = compare->options;
    struct query_side sides[SIDE_COUNT];
    const char *labels[SIDE_COUNT] = {options->base_label, options->candidate_label};
    for (int side = 0; side < SIDE_COUNT; side++) {
        const struct compare_input *input = &compare->sides[side];
        if (!compare_input_has_cycles(input, options->files[side], err)) {
            return false;
        }
        sides[side] = (struct query_side){
            .results = input->results, .count = input->result_count, .label = labels[side]};
    }
    return query_compare_results(&compare->arena, sides, compare->title, options->base_pid,
                                 options->candidate_pid, options->kind, &compare->list, err);
}

/* Neither side is blamed for what the other is. */
static bool are_comparable(const struct compare *compare, struct err *err)
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        if (!compare_input_is_comparable(&compare->sides[side], compare->options->files[side],
                                         err)) {
            return false;
        }
    }
    return true;
}

static bool run_comparison(struct compare *compare, struct err *err)
{
    if (!load_sides(compare, err) || !are_comparable(compare, err) || !find_change(compare, err)) {
        return false;
    }
    if (compare_cycles(compare, &compare->untested)) {
        return true;
    }
    compare->list = (struct comparison_list){.count = 0};
    *err = compare->untested;
    return !needs_cycles(compare) && compare->untested.code == ERR_BAD_INPUT;
}

/* ---- one text for all pairs ---- */

static void write_json(struct buf *out,
                       const struct compare *compare,
                       const struct comparison *const *items,
                       size_t count)
{
    struct json_write w;
    jw_init(&w, out, false);
    jw_object_begin(&w);
    if (compare->has_change) {
        jw_key_object_begin(&w, "change");
        trace_change_members(&w, &compare->change);
        trace_change_name_members(&w, &compare->change);
        jw_key_object_begin(&w, "causes");
        trace_change_cause_members(&w, &compare->causes);
        jw_object_end(&w);
        jw_object_end(&w);
    }
    jw_key_array_begin(&w, "comparisons");
    for (size_t i = 0; i < count; i++) {
        jw_object_begin(&w);
        comparison_json_members(&w, items[i]);
        jw_object_end(&w);
    }
    jw_array_end(&w);
    if (count == 0) {
        jw_key_string(&w, "untested", compare->untested.msg);
    }
    jw_object_end(&w);
    buf_putc(out, '\n');
}

static void write_plain(struct buf *out,
                        const struct compare *compare,
                        const struct comparison *const *items,
                        size_t count)
{
    for (size_t i = 0; i < count && i < PLAIN_PAIRS; i++) {
        buf_puts(out, i == 0 ? "" : "\n");
        comparison_plain(out, items[i], PLAIN_ROWS, !compare->has_change);
    }
    if (count > PLAIN_PAIRS) {
        buf_printf(out,
                   "\n%zu less suspicious pairs are left out; --output DIR writes a file for each, "
                   "--format csv prints all.\n",
                   count - PLAIN_PAIRS);
    }
}

static void write_text(struct buf *out,
                       const struct compare *compare,
                       const struct comparison *const *items,
                       size_t count)
{
    switch (compare->options->format) {
    case REPORT_JSON:
        write_json(out, compare, items, count);
        break;
    case REPORT_CSV:
        comparison_csv(out, items, count);
        break;
    case REPORT_MARKDOWN:
        for (size_t i = 0; i < count; i++) {
            buf_puts(out, i == 0 ? "" : "\n");
            comparison_markdown(out, items[i]);
        }
        break;
    case REPORT_JUNIT: /* of `gate` alone */
    case REPORT_TEXT:
        write_plain(out, compare, items, count);
        break;
    }
}

/* What changed, for people, before the tests of the cycles. */
static void write_change(struct buf *out, const struct compare *compare)
{
    enum report_format format = compare->options->format;
    if (!compare->has_change || format == REPORT_JSON || format == REPORT_CSV) {
        return;
    }
    report_change(out, compare->title, &compare->change, &compare->causes,
                  format == REPORT_MARKDOWN);
    if (compare->list.count == 0) {
        buf_puts(out, "\nNot enough data to test: ");
        text_clean(out, compare->untested.msg);
        buf_puts(out, ".");
    }
    buf_putc(out, '\n');
}

static bool print_all(const struct compare *compare, struct err *err)
{
    struct buf text;
    buf_init(&text, TEXT_MAX_BYTES);
    write_change(&text, compare);
    write_text(&text, compare, (const struct comparison *const *)compare->list.items,
               compare->list.count);
    bool ok =
        !text.failed && fwrite(text.ptr, 1, text.len, stdout) == text.len && fflush(stdout) == 0;
    buf_free(&text);
    return ok || err_set(err, ERR_IO, "the comparison could not be written");
}

/* ---- a file a pair ---- */

/* Only letters, digits, dot, dash and underline stay; `room` includes the NUL. */
static void append_name(char *name, size_t room, const char *text)
{
    size_t len = strlen(name);
    for (; *text != '\0' && len + 1 < room; text++) {
        bool is_plain = isalnum((unsigned char)*text) || strchr("_.-", *text) != NULL;
        name[len] = '_';
        if (is_plain) {
            name[len] = *text;
        }
        len++;
    }
    name[len] = '\0';
}

/* As [CMP-2e] names them, with the kind of the cycles where they are no steps. */
static void
name_file(const struct comparison *item, enum report_format format, char name[NAME_MAX_BYTES + 120])
{
    static const char *const endings[] = {[REPORT_TEXT] = "txt",
                                          [REPORT_JSON] = "json",
                                          [REPORT_MARKDOWN] = "md",
                                          [REPORT_CSV] = "csv",
                                          [REPORT_JUNIT] = "xml"};
    char tail[120];
    char kind[16] = "";
    if (item->kind != CYCLE_STEP) {
        (void)snprintf(kind, sizeof kind, "_%s", cycle_kind_name(item->kind));
    }
    if (item->strict) {
        (void)snprintf(tail, sizeof tail, "%s_pid%" PRId64 "_strict_comparison.%s", kind,
                       item->roles[SIDE_BASE].pid, endings[format]);
    } else {
        (void)snprintf(
            tail, sizeof tail, "%s_n_pid%" PRId64 "_vs_a_pid%" PRId64 "_cross_comparison.%s", kind,
            item->roles[SIDE_BASE].pid, item->roles[SIDE_CANDIDATE].pid, endings[format]);
    }
    name[0] = '\0';
    append_name(name, NAME_MAX_BYTES, item->title);
    append_name(name, NAME_MAX_BYTES + 120, tail);
}

static bool write_file(const char *path, const struct buf *text, struct err *err)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return err_set_errno(err, ERR_IO, errno, "%s", path);
    }
    bool ok = !text->failed && fwrite(text->ptr, 1, text->len, file) == text->len;
    ok = fclose(file) == 0 && ok;
    return ok || err_set(err, ERR_IO, "%s could not be written", path);
}

static bool write_files(const struct compare *compare, struct err *err)
{
    const char *directory = compare->options->output_dir;
    enum report_format format = compare->options->format;
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        return err_set_errno(err, ERR_IO, errno, "%s", directory);
    }
    for (size_t i = 0; i < compare->list.count; i++) {
        const struct comparison *item = compare->list.items[i];
        char name[NAME_MAX_BYTES + 120];
        char path[PATH_BYTES];
        struct buf text;
        name_file(item, format, name);
        int len = snprintf(path, sizeof path, "%s/%s", directory, name);
        if (len < 0 || (size_t)len >= sizeof path) {
            return err_set(err, ERR_BAD_REQUEST, "the path of the output directory is too long");
        }
        buf_init(&text, TEXT_MAX_BYTES);
        write_text(&text, compare, &item, 1);
        bool ok = write_file(path, &text, err);
        buf_free(&text);
        if (!ok) {
            return false;
        }
        (void)printf("%s\n", path);
    }
    return true;
}

/* ---- --fail-if ---- */

static bool check_fail_ifs(const struct compare *compare,
                           const struct comparison *item,
                           bool *any,
                           struct err *err)
{
    const struct options *options = compare->options;
    struct fail_if_side sides[SIDE_COUNT];
    for (int side = 0; side < SIDE_COUNT; side++) {
        sides[side] = (struct fail_if_side){.results = compare->sides[side].results,
                                            .count = compare->sides[side].result_count};
    }
    for (size_t i = 0; i < options->fail_if_count; i++) {
        bool fires = false;
        char why[FAIL_IF_TEXT_BYTES];
        if (!fail_if_check(options->fail_ifs[i], item, sides, &fires, why, err)) {
            return false;
        }
        if (fires) {
            (void)fprintf(stderr, "kinetoscope: --fail-if %s\n", why);
            *any = true;
        }
    }
    return true;
}

static void tell_left_out(const struct compare *compare)
{
    if (compare->list.left_out > 0) {
        (void)fprintf(stderr,
                      "kinetoscope: %zu less suspicious pairs are left out; name processes with "
                      "--base-pid and --candidate-pid\n",
                      (size_t)compare->list.left_out);
    }
}

int command_compare(const struct options *options)
{
    struct compare compare = {.options = options, .untested = ERR_INIT};
    struct err err = ERR_INIT;
    bool fired = false;
    arena_init(&compare.arena, 0);
    bool ok =
        run_comparison(&compare, &err) &&
        (options->output_dir == NULL ? print_all(&compare, &err) : write_files(&compare, &err));
    for (size_t i = 0; ok && i < compare.list.count; i++) {
        ok = check_fail_ifs(&compare, compare.list.items[i], &fired, &err);
    }
    if (!ok) {
        text_print_error(stderr, NULL, &err);
    }
    tell_left_out(&compare);
    for (int side = 0; side < SIDE_COUNT; side++) {
        compare_input_free(&compare.sides[side]);
    }
    arena_free(&compare.arena);
    return !ok ? EXIT_FAILED : fired ? EXIT_FAIL_IF : EXIT_DONE;
}
