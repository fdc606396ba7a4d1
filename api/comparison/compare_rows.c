#include "api/comparison/compare_rows.h"

#include "api/table/table_params.h"
#include "ingest/store/db/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIGNIFICANT_MAX 0.05

static const char *const text_columns[] = {"function", "metric", "device", "presence", NULL};

enum column {
    COLUMN_SCORE,
    COLUMN_FUNCTION,
    COLUMN_METRIC,
    COLUMN_DEVICE,
    COLUMN_PRESENCE,
    COLUMN_BASE_BETA,
    COLUMN_CANDIDATE_BETA,
    COLUMN_DELTA_BETA,
    COLUMN_Z_BETA,
    COLUMN_P_BETA,
    COLUMN_U_BETA,
    COLUMN_BASE_MU,
    COLUMN_CANDIDATE_MU,
    COLUMN_DELTA_MU,
    COLUMN_Z_MU,
    COLUMN_Z_LOG_MU,
    COLUMN_P_MU,
    COLUMN_U_MU,
    COLUMN_Q_BETA,
    COLUMN_Q_MU,
    COLUMN_P_PRESENCE,
    COLUMN_Q_PRESENCE,
    COLUMN_BASE_CYCLES,
    COLUMN_CANDIDATE_CYCLES,
    COLUMN_COUNT
};

static const char *const columns[COLUMN_COUNT + 1] = {
    [COLUMN_SCORE] = "score",
    [COLUMN_FUNCTION] = "function",
    [COLUMN_METRIC] = "metric",
    [COLUMN_DEVICE] = "device",
    [COLUMN_PRESENCE] = "presence",
    [COLUMN_BASE_BETA] = "base_beta_pct",
    [COLUMN_CANDIDATE_BETA] = "candidate_beta_pct",
    [COLUMN_DELTA_BETA] = "delta_beta",
    [COLUMN_Z_BETA] = "z_beta",
    [COLUMN_P_BETA] = "p_beta",
    [COLUMN_U_BETA] = "u_beta",
    [COLUMN_BASE_MU] = "base_mu",
    [COLUMN_CANDIDATE_MU] = "candidate_mu",
    [COLUMN_DELTA_MU] = "delta_mu",
    [COLUMN_Z_MU] = "z_mu",
    [COLUMN_Z_LOG_MU] = "z_log_mu",
    [COLUMN_P_MU] = "p_mu",
    [COLUMN_U_MU] = "u_mu",
    [COLUMN_Q_BETA] = "q_beta",
    [COLUMN_Q_MU] = "q_mu",
    [COLUMN_P_PRESENCE] = "p_presence",
    [COLUMN_Q_PRESENCE] = "q_presence",
    [COLUMN_BASE_CYCLES] = "base_cycles",
    [COLUMN_CANDIDATE_CYCLES] = "candidate_cycles",
};

static const char *text_of(const struct comparison_row *row, enum column column)
{
    const char *text = column == COLUMN_FUNCTION ? row->function
                       : column == COLUMN_METRIC ? row->metric
                       : column == COLUMN_DEVICE ? row->device
                                                 : comparison_presence_name(row->presence);
    return text == NULL ? "" : text;
}

/* -1: not known. */
static double cycles_of(const struct comparison_row *row, enum comparison_side side)
{
    return row->cycles[side] < 0 ? (double)NAN : (double)row->cycles[side];
}

static double number_of(const struct comparison_row *row, enum column column)
{
    const double beta[] = {row->beta_pct[SIDE_BASE],
                           row->beta_pct[SIDE_CANDIDATE],
                           row->delta_beta,
                           row->z_beta,
                           row->p_beta,
                           row->u_beta};
    const double mu[] = {row->mu[SIDE_BASE], row->mu[SIDE_CANDIDATE], row->delta_mu,
                         row->z_mu,          row->z_log_mu,           row->p_mu,
                         row->u_mu};
    const double rest[] = {row->q_beta,
                           row->q_mu,
                           row->p_presence,
                           row->q_presence,
                           cycles_of(row, SIDE_BASE),
                           cycles_of(row, SIDE_CANDIDATE)};
    if (column >= COLUMN_Q_BETA) {
        return rest[column - COLUMN_Q_BETA];
    }
    if (column >= COLUMN_BASE_MU) {
        return mu[column - COLUMN_BASE_MU];
    }
    return column >= COLUMN_BASE_BETA ? beta[column - COLUMN_BASE_BETA] : row->score;
}

/* ---- filters ---- */

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

/* ---- order ---- */

struct keyed_row {
    const struct comparison_row *row; /* of the comparison: its place breaks ties */
    const char *text;                 /* NULL: the number decides */
    double number;                    /* NaN: last whatever the order */
    bool descending;
};

static int compare_rows(const void *a_void, const void *b_void)
{
    const struct keyed_row *a = a_void;
    const struct keyed_row *b = b_void;
    if (isnan(a->number) != isnan(b->number)) {
        return isnan(a->number) ? 1 : -1;
    }
    int order = a->text != NULL ? strcmp(a->text, b->text)
                                : (a->number > b->number) - (a->number < b->number);
    order = a->descending ? -order : order;
    return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

static void sort_rows(struct keyed_row *keyed, size_t count, enum column column, bool descending)
{
    bool by_text = column >= COLUMN_FUNCTION && column <= COLUMN_PRESENCE;
    for (size_t i = 0; i < count; i++) {
        keyed[i].text = by_text ? text_of(keyed[i].row, column) : NULL;
        keyed[i].number = by_text ? 0 : number_of(keyed[i].row, column);
        keyed[i].descending = descending;
    }
    qsort(keyed, count, sizeof *keyed, compare_rows);
}

static bool select_rows(struct compare_rows *out,
                        struct api_call *call,
                        const struct comparison *comparison,
                        const struct filter *filter,
                        enum column column,
                        struct err *err)
{
    struct arena *arena = call_arena(call);
    struct keyed_row *keyed = arena_calloc(arena, comparison->row_count + 1, sizeof *keyed);
    if (keyed == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the rows of the comparison");
    }
    for (size_t i = 0; i < comparison->row_count; i++) {
        if (keeps(filter, &comparison->rows[i])) {
            keyed[out->total++].row = &comparison->rows[i];
        }
    }
    if (query_string_word(&call->query, "sort") != NULL || !out->page.descending) {
        sort_rows(keyed, out->total, column, out->page.descending);
    }
    size_t offset = 0;
    out->count = table_params_slice(&out->page, out->total, &offset);
    out->rows = arena_calloc(arena, out->count + 1, sizeof *out->rows);
    if (out->rows == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the rows of the comparison");
    }
    for (size_t i = 0; i < out->count; i++) {
        out->rows[i] = *keyed[offset + i].row;
    }
    return true;
}

bool compare_rows_select(struct compare_rows *out,
                         struct api_call *call,
                         const struct comparison *comparison,
                         struct err *err)
{
    static const char *const answers[] = {"0", "1", NULL};
    size_t column = 0;
    size_t significant = 0;
    *out = (struct compare_rows){.count = 0};
    if (!table_params_choice(call, "sort", columns, &column, err) ||
        !table_params_choice(call, "significant", answers, &significant, err) ||
        !table_params_page(&out->page, call, text_columns, columns[COLUMN_SCORE], 0, err)) {
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
    bool ok = select_rows(out, call, comparison, &filter, (enum column)column, err);
    if (filter.searches) {
        match_free(&filter.matcher);
    }
    return ok;
}
