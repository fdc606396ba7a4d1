#include "api/diff/change.h"

#include "api/comparison/text/environment.h"
#include "api/table/field.h"
#include "ingest/base/text/short_name.h"

#include <math.h>

#define SENTENCE_BYTES_MAX ((size_t)1 << 16)
#define CHANCE_ROUNDS_TO_0 0.0005
/* Below this share of the step a change is not worth a word. */
#define NOTABLE 0.001

/* ---- figures by name ---- */

static double per_unit(const struct query_change *change, int64_t ns, int side)
{
    const struct step_change *step = &change->change.step;
    return step->per_step ? (double)ns / (double)step->steps[side] : (double)ns;
}

static int64_t device_of(const struct name_figures *figures)
{
    return figures->device_ns;
}

static int64_t device_self_of(const struct name_figures *figures)
{
    return figures->device_self_ns;
}

static int64_t host_self_of(const struct name_figures *figures)
{
    return figures->host_self_ns;
}

bool trace_change_on_device(const struct query_change *change)
{
    const struct name_figures *sums = change->operators.sums;
    return sums[SIDE_BASE].device_ns != 0 || sums[SIDE_CANDIDATE].device_ns != 0;
}

static int64_t (*operator_figure(const struct query_change *change))(const struct name_figures *)
{
    return trace_change_on_device(change) ? device_self_of : host_self_of;
}

static struct trace_change_row row_of(const struct query_change *change,
                                      const struct name_diff_row *row,
                                      int64_t (*figure)(const struct name_figures *))
{
    struct trace_change_row out = {.row = row};
    for (int side = 0; side < SIDE_COUNT; side++) {
        out.ns[side] = per_unit(change, figure(&row->sides[side]), side);
    }
    out.delta_ns = out.ns[SIDE_CANDIDATE] - out.ns[SIDE_BASE];
    return out;
}

/* `rows` holds `count` rows, the largest change first, and room for one more below `limit`. Equal
 * ones keep the order in which they came. */
static size_t insert_row(struct trace_change_row *rows,
                         size_t count,
                         size_t limit,
                         const struct trace_change_row *row)
{
    size_t at = count;
    while (at > 0 && fabs(rows[at - 1].delta_ns) < fabs(row->delta_ns)) {
        at--;
    }
    if (at == limit) {
        return count;
    }
    for (size_t i = count < limit ? count : limit - 1; i > at; i--) {
        rows[i] = rows[i - 1];
    }
    rows[at] = *row;
    return count < limit ? count + 1 : limit;
}

static size_t largest(const struct query_change *change,
                      const struct name_diff *diff,
                      int64_t (*figure)(const struct name_figures *),
                      struct trace_change_row *rows,
                      size_t limit)
{
    size_t count = 0;
    for (size_t i = 0; i < diff->row_count; i++) {
        struct trace_change_row row = row_of(change, &diff->rows[i], figure);
        if (row.delta_ns != 0) {
            count = insert_row(rows, count, limit, &row);
        }
    }
    return count;
}

size_t trace_change_operators(const struct query_change *change,
                              struct trace_change_row *rows,
                              size_t limit)
{
    return largest(change, &change->operators, operator_figure(change), rows, limit);
}

size_t
trace_change_kernels(const struct query_change *change, struct trace_change_row *rows, size_t limit)
{
    return largest(change, &change->kernels, device_of, rows, limit);
}

/* ---- the sentence ---- */

static void put_time(struct buf *out, double ns, bool is_signed)
{
    static const struct {
        double from, unit;
        const char *name;
    } scales[] = {{1e9, 1e9, "s"}, {1e6, 1e6, "ms"}, {1e3, 1e3, "µs"}, {0, 1, "ns"}};
    size_t at = 0;
    while (fabs(ns) < scales[at].from) {
        at++;
    }
    double shown = ns / scales[at].unit;
    int decimals = scales[at].unit == 1 || fabs(shown) >= 100 ? 0 : fabs(shown) >= 10 ? 1 : 2;
    buf_printf(out, is_signed ? "%+.*f %s" : "%.*f %s", decimals, shown, scales[at].name);
}

static void put_chance(struct buf *out, const struct step_change *step)
{
    if (isnan(step->p)) {
        buf_puts(out, step->per_step ? "; not enough steps to test" : "");
    } else if (step->p < CHANCE_ROUNDS_TO_0) {
        buf_puts(out, ", p < 0.001");
    } else {
        buf_printf(out, ", p %.3f", step->p);
    }
}

/* The category that grew most, or that shrank most where `sign` is -1. */
static int largest_category(const struct step_change *step, double sign, double *delta)
{
    int found = 0;
    *delta = 0;
    for (int category = 0; category < TIME_CATEGORY_COUNT; category++) {
        const double *ns = step->category_ns[category];
        double own = ns[SIDE_CANDIDATE] - ns[SIDE_BASE];
        if (own * sign > *delta * sign) {
            *delta = own;
            found = category;
        }
    }
    return found;
}

static void put_category(struct buf *out, const struct step_change *step, double notable_ns)
{
    double change_ns = step->step_ns[SIDE_CANDIDATE] - step->step_ns[SIDE_BASE];
    double delta_ns;
    int category = largest_category(step, change_ns < -notable_ns ? -1 : 1, &delta_ns);
    if (fabs(delta_ns) < notable_ns || delta_ns == 0) {
        return;
    }
    buf_printf(out, fabs(change_ns) >= notable_ns ? ", most of it in %s (" : ", within it %s (",
               time_category_label((enum time_category)category));
    put_time(out, delta_ns, true);
    buf_puts(out, ")");
}

static void
put_name(struct buf *out, const char *before, const struct trace_change_row *row, double notable_ns)
{
    if (row->row == NULL || fabs(row->delta_ns) < notable_ns) {
        return;
    }
    buf_puts(out, before);
    short_name(out, row->row->name);
    buf_puts(out, " (");
    put_time(out, row->delta_ns, true);
    buf_puts(out, row->row->presence == NAME_ADDED     ? ", added)"
                  : row->row->presence == NAME_REMOVED ? ", removed)"
                                                       : ")");
}

void trace_change_sentence(struct buf *out, const struct query_change *change)
{
    const struct step_change *step = &change->change.step;
    struct trace_change_row operator_row = {.row = NULL};
    struct trace_change_row kernel_row = {.row = NULL};
    (void)trace_change_operators(change, &operator_row, 1);
    (void)trace_change_kernels(change, &kernel_row, 1);
    const char *what = step->per_step ? "The step takes " : "The trace takes ";
    double base = step->step_ns[SIDE_BASE];
    double candidate = step->step_ns[SIDE_CANDIDATE];
    double notable_ns = NOTABLE * (base > candidate ? base : candidate);
    environment_sentence(out, change->change.environment);
    buf_puts(out, out->len > 0 ? " " : "");
    buf_puts(out, what);
    put_time(out, candidate, false);
    buf_puts(out, " instead of ");
    put_time(out, base, false);
    if (base > 0) {
        buf_printf(out, " (%+.1f%%", (candidate - base) / base * 100);
        put_chance(out, step);
        buf_puts(out, ")");
    }
    put_category(out, step, notable_ns);
    put_name(out, "; the operator that changed most is ", &operator_row, notable_ns);
    put_name(out, "; the kernel, ", &kernel_row, notable_ns);
    buf_puts(out, ".");
}

/* ---- JSON ---- */

static void put_pair(struct json_write *w, const double values[SIDE_COUNT])
{
    jw_key_double(w, "base_ns", values[SIDE_BASE]);
    jw_key_double(w, "candidate_ns", values[SIDE_CANDIDATE]);
    jw_key_double(w, "delta_ns", values[SIDE_CANDIDATE] - values[SIDE_BASE]);
}

static void put_step(struct json_write *w, const struct step_change *step)
{
    double base = step->step_ns[SIDE_BASE];
    jw_key_object_begin(w, "step");
    jw_key_int(w, "base_steps", step->steps[SIDE_BASE]);
    jw_key_int(w, "candidate_steps", step->steps[SIDE_CANDIDATE]);
    put_pair(w, step->step_ns);
    jw_key_double(w, "change",
                  base == 0 ? (double)NAN : (step->step_ns[SIDE_CANDIDATE] - base) / base);
    jw_key_double(w, "p", step->p);
    jw_key_double(w, "u", step->u);
    jw_object_end(w);
    jw_key_array_begin(w, "waterfall");
    for (int category = 0; category < TIME_CATEGORY_COUNT; category++) {
        jw_object_begin(w);
        jw_key_string(w, "category", time_category_name((enum time_category)category));
        jw_key_string(w, "label", time_category_label((enum time_category)category));
        put_pair(w, step->category_ns[category]);
        jw_object_end(w);
    }
    jw_array_end(w);
}

void trace_change_members(struct json_write *w, const struct query_change *change)
{
    struct buf sentence;
    buf_init(&sentence, SENTENCE_BYTES_MAX);
    environment_json_members(w, change->change.environment);
    trace_change_sentence(&sentence, change);
    jw_key_string(w, "sentence", sentence.failed ? "" : sentence.ptr);
    jw_key_string(w, "per", change->change.step.per_step ? "step" : "total");
    put_step(w, &change->change.step);
    buf_free(&sentence);
}

static void put_names(struct json_write *w,
                      const char *key,
                      const struct query_change *change,
                      const struct name_diff *diff,
                      int64_t (*figure)(const struct name_figures *))
{
    jw_key_array_begin(w, key);
    for (size_t i = 0; i < diff->row_count; i++) {
        struct trace_change_row row = row_of(change, &diff->rows[i], figure);
        if (row.delta_ns != 0) {
            jw_object_begin(w);
            jw_key_string(w, "name", row.row->name);
            jw_key_string(w, "presence", name_presence_text(row.row->presence));
            put_pair(w, row.ns);
            jw_object_end(w);
        }
    }
    jw_array_end(w);
}

void trace_change_name_members(struct json_write *w, const struct query_change *change)
{
    put_names(w, "operators", change, &change->operators, operator_figure(change));
    put_names(w, "kernels", change, &change->kernels, device_of);
}

/* ---- idle causes and efficiency ---- */

void trace_change_cause_members(struct json_write *w, const struct cause_change *causes)
{
    static const char *const names[SIDE_COUNT] = {
        [SIDE_BASE] = "base", [SIDE_CANDIDATE] = "candidate"};
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    jw_key_array_begin(w, "rows");
    for (size_t i = 0; i < causes->count; i++) {
        jw_object_begin(w);
        field_columns(&out, &table_cause_change, &causes->rows[i], 0);
        jw_object_end(w);
    }
    jw_array_end(w);
    jw_key_array_begin(w, "missing");
    for (size_t i = 0; i < causes->missing_count; i++) {
        const struct cause_missing *missing = &causes->missing[i];
        jw_object_begin(w);
        jw_key_string(w, "part", missing->part);
        jw_key_string(w, "side", names[missing->side]);
        jw_key_string(w, "reason", missing->reason);
        jw_object_end(w);
    }
    jw_array_end(w);
}
