#include "api/comparison/compare_rows.h"

#include "api/table/table_view.h"
#include "ingest/store/db/match.h"

#include <math.h>
#include <string.h>

#define SIGNIFICANT_MAX 0.05

static const char *const text_columns[] = {"function", "metric", "device", "presence", NULL};

struct filter {
    struct matcher matcher;
    bool searches, significant;
    const char *device, *metric; /* NULL: any */
};

/* The p-value corrected for the number of tests; as it is where there is none of them. */
static bool is_significant(const struct comparison_row *row)
{
    double beta = isnan(row->q_beta) ? row->p_beta : row->q_beta;
    double mu = isnan(row->q_mu) ? row->p_mu : row->q_mu;
    return beta < SIGNIFICANT_MAX || mu < SIGNIFICANT_MAX || row->q_presence < SIGNIFICANT_MAX;
}

static bool equals(const char *wanted, const char *text)
{
    return wanted == NULL || strcmp(wanted, text == NULL ? "" : text) == 0;
}

static bool keeps(const struct filter *filter, const struct comparison_row *row)
{
    return equals(filter->device, row->device) && equals(filter->metric, row->metric) &&
           (!filter->significant || is_significant(row)) &&
           (!filter->searches || match_test(&filter->matcher, row->function));
}

/* The rows that the filter keeps, in the arena and in stored order. */
static bool keep_rows(struct compare_rows *out,
                      struct arena *arena,
                      const struct comparison *comparison,
                      const struct filter *filter,
                      struct err *err)
{
    out->rows = arena_calloc(arena, comparison->row_count + 1, sizeof *out->rows);
    for (size_t i = 0; out->rows != NULL && i < comparison->row_count; i++) {
        if (keeps(filter, &comparison->rows[i])) {
            out->rows[out->total++] = comparison->rows[i];
        }
    }
    return out->rows != NULL ||
           err_set(err, ERR_NO_MEMORY, "No memory for the rows of the comparison");
}

/* Without `sort`, stored order is that of the scores. */
static bool choose_page(struct compare_rows *out, struct api_call *call, struct err *err)
{
    struct table_view view = {.table = &table_comparison_row, .params.page = out->page};
    const struct comparison_row *kept = out->rows;
    view.params.page.q = NULL; /* the filter has looked for it */
    if (query_string_word(&call->query, "sort") == NULL && out->page.descending) {
        size_t offset = 0;
        out->count = table_params_slice(&out->page, out->total, &offset);
        out->rows += offset;
        return true;
    }
    if (!table_view_run(&view, call, kept, out->total, err)) {
        return false;
    }
    out->count = view.count;
    out->rows = arena_calloc(call_arena(call), view.count + 1, sizeof *out->rows);
    for (size_t i = 0; out->rows != NULL && i < view.count; i++) {
        out->rows[i] = kept[view.shown[i]];
    }
    return out->rows != NULL ||
           err_set(err, ERR_NO_MEMORY, "No memory for the rows of the comparison");
}

bool compare_rows_select(struct compare_rows *out,
                         struct api_call *call,
                         const struct comparison *comparison,
                         struct err *err)
{
    static const char *const answers[] = {"0", "1", NULL};
    size_t significant = 0;
    *out = (struct compare_rows){.count = 0};
    if (!table_params_choice(call, "significant", answers, &significant, err) ||
        !table_params_page(&out->page, call, text_columns, "score", 0, err)) {
        return false;
    }
    struct filter filter = {
        .searches = out->page.q != NULL,
        .significant = significant == 1,
        .device = query_string_word(&call->query, "device"),
        .metric = query_string_word(&call->query, "metric"),
    };
    if (filter.searches && !match_init(&filter.matcher, out->page.q, err)) {
        return false;
    }
    bool ok = keep_rows(out, call_arena(call), comparison, &filter, err);
    if (filter.searches) {
        match_free(&filter.matcher);
    }
    return ok && choose_page(out, call, err);
}
