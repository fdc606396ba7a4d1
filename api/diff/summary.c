/* What changed between two traces, in one sentence: environments, the step and where its time goes,
 * the operator and the kernel that changed most. */
#include "api/comparison/environment.h"
#include "api/diff/common.h"
#include "api/handlers.h"
#include "ingest/base/text/short_name.h"
#include "ingest/query/compare/name_diff.h"
#include "ingest/query/compare/step_query.h"

#include <math.h>

#define SENTENCE_BYTES_MAX ((size_t)1 << 16)
#define CHANCE_ROUNDS_TO_0 0.0005
/* Below this share of the step a change is not worth a word. */
#define NOTABLE 0.001

struct summary {
    struct query_step_change change;
    struct name_diff operators, kernels;
    const struct name_diff_row *operator, * kernel; /* that changed most; NULL: none */
    double operator_ns, kernel_ns;                  /* by how much, per step or in total */
    bool operator_on_device;
};

/* ---- what changed most ---- */

static double per_unit(const struct summary *summary, int64_t ns, int side)
{
    const struct step_change *step = &summary->change.step;
    return step->per_step ? (double)ns / (double)step->steps[side] : (double)ns;
}

static double delta_of(const struct summary *summary,
                       const struct name_diff_row *row,
                       int64_t (*figure)(const struct name_figures *))
{
    return per_unit(summary, figure(&row->sides[SIDE_CANDIDATE]), SIDE_CANDIDATE) -
           per_unit(summary, figure(&row->sides[SIDE_BASE]), SIDE_BASE);
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

static const struct name_diff_row *largest(const struct summary *summary,
                                           const struct name_diff *diff,
                                           int64_t (*figure)(const struct name_figures *),
                                           double *delta)
{
    const struct name_diff_row *found = NULL;
    *delta = 0;
    for (size_t i = 0; i < diff->row_count; i++) {
        double own = delta_of(summary, &diff->rows[i], figure);
        if (fabs(own) > fabs(*delta)) {
            *delta = own;
            found = &diff->rows[i];
        }
    }
    return found;
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

static void put_name(struct buf *out,
                     const char *before,
                     const struct name_diff_row *row,
                     double delta_ns,
                     double notable_ns)
{
    if (row == NULL || fabs(delta_ns) < notable_ns) {
        return;
    }
    buf_puts(out, before);
    short_name(out, row->name);
    buf_puts(out, " (");
    put_time(out, delta_ns, true);
    buf_puts(out, row->presence == NAME_ADDED     ? ", new)"
                  : row->presence == NAME_REMOVED ? ", gone)"
                                                  : ")");
}

static void put_sentence(struct buf *out, const struct summary *summary)
{
    const struct step_change *step = &summary->change.step;
    const char *what = step->per_step ? "The step takes " : "The trace takes ";
    double base = step->step_ns[SIDE_BASE];
    double candidate = step->step_ns[SIDE_CANDIDATE];
    double notable_ns = NOTABLE * (base > candidate ? base : candidate);
    environment_sentence(out, summary->change.environment);
    buf_puts(out, out->len > 0 ? " " : "");
    buf_puts(out, what);
    put_time(out, candidate, false);
    buf_puts(out, " instead of ");
    put_time(out, base, false);
    if (base > 0) {
        buf_printf(out, " (%+.1f %%", (candidate - base) / base * 100);
        put_chance(out, step);
        buf_puts(out, ")");
    }
    put_category(out, step, notable_ns);
    put_name(out, "; the operator that changed most is ", summary->operator, summary->operator_ns,
             notable_ns);
    put_name(out, "; the kernel, ", summary->kernel, summary->kernel_ns, notable_ns);
    buf_puts(out, ".");
}

/* ---- the answer ---- */

static void put_pair(struct json_write *w, const double values[SIDE_COUNT])
{
    jw_key_double(w, "base_ns", values[SIDE_BASE]);
    jw_key_double(w, "candidate_ns", values[SIDE_CANDIDATE]);
    jw_key_double(w, "delta_ns", values[SIDE_CANDIDATE] - values[SIDE_BASE]);
}

static void put_step(struct json_write *w, const struct step_change *step)
{
    double base = step->step_ns[SIDE_BASE];
    jw_key(w, "step");
    jw_object_begin(w);
    jw_key_int(w, "base_steps", step->steps[SIDE_BASE]);
    jw_key_int(w, "candidate_steps", step->steps[SIDE_CANDIDATE]);
    put_pair(w, step->step_ns);
    jw_key_double(w, "change",
                  base == 0 ? (double)NAN : (step->step_ns[SIDE_CANDIDATE] - base) / base);
    jw_key_double(w, "p", step->p);
    jw_key_double(w, "u", step->u);
    jw_object_end(w);
    jw_key(w, "waterfall");
    jw_array_begin(w);
    for (int category = 0; category < TIME_CATEGORY_COUNT; category++) {
        jw_object_begin(w);
        jw_key_string(w, "category", time_category_name((enum time_category)category));
        jw_key_string(w, "label", time_category_label((enum time_category)category));
        put_pair(w, step->category_ns[category]);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static bool
load(struct summary *summary, struct api_call *call, const int64_t ids[SIDE_COUNT], struct err *err)
{
    struct store *store = call->api->store;
    struct arena *arena = call_arena(call);
    if (!query_step_change(store, arena, ids, &summary->change, err) ||
        !query_operator_diff(store, arena, ids, &summary->operators, err) ||
        !query_kernel_diff(store, arena, ids, &summary->kernels, err)) {
        return false;
    }
    const struct name_figures *sums = summary->operators.sums;
    summary->operator_on_device =
        sums[SIDE_BASE].device_ns != 0 || sums[SIDE_CANDIDATE].device_ns != 0;
    summary->operator=
        largest(summary, &summary->operators,
                summary->operator_on_device ? device_self_of : host_self_of, &summary->operator_ns);
    summary->kernel = largest(summary, &summary->kernels, device_of, &summary->kernel_ns);
    return true;
}

bool diff_summary_get(struct api_call *call, struct err *err)
{
    struct diff_traces traces;
    struct summary summary;
    struct buf sentence;
    if (!diff_traces_read(&traces, call, err) || !load(&summary, call, traces.ids, err)) {
        return false;
    }
    buf_init(&sentence, SENTENCE_BYTES_MAX);
    put_sentence(&sentence, &summary);
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    bool ok = diff_traces_members(&w, call, &traces, err);
    environment_json_members(&w, summary.change.environment);
    jw_key_string(&w, "sentence", sentence.failed ? "" : sentence.ptr);
    jw_key_string(&w, "per", summary.change.step.per_step ? "step" : "total");
    put_step(&w, &summary.change.step);
    jw_object_end(&w);
    buf_free(&sentence);
    return ok;
}
