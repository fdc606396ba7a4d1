/* Collectives of a run, matched over its ranks [RANK-1]; its clocks [RANK-2]. */
#include "api/handlers.h"
#include "api/ranks/common.h"
#include "api/table/rows.h"
#include "api/table/table_view.h"

#include <string.h>

#define LIMIT_DEFAULT 100

/* What stands beside the rows. */
enum { BESIDE_SUMMARY = 1, BESIDE_EXPERTS = 2, BESIDE_OVERLAP = 4, BESIDE_ALL = 7 };

struct answer {
    struct table_view view;
    struct ranks_verdict *verdict;
    struct ranks_collectives *collectives;
    unsigned beside; /* BESIDE_… */
};

/* ---- collectives ---- */

static void write_experts(struct json_write *w, const struct ranks_collectives *from)
{
    jw_key(w, "experts");
    if (from->sent_bytes == NULL) {
        jw_null(w);
        return;
    }
    jw_object_begin(w);
    jw_key_array_begin(w, "ranks");
    for (size_t i = 0; i < from->rank_count; i++) {
        jw_int(w, from->ranks[i]);
    }
    jw_array_end(w);
    jw_key_array_begin(w, "sent_bytes");
    for (size_t i = 0; i < from->rank_count; i++) {
        jw_array_begin(w);
        for (size_t k = 0; k < from->rank_count; k++) {
            jw_int(w, from->sent_bytes[i * from->rank_count + k]);
        }
        jw_array_end(w);
    }
    jw_array_end(w);
    jw_key_double(w, "imbalance_send", from->imbalance_send);
    jw_key_double(w, "imbalance_receive", from->imbalance_receive);
    jw_object_end(w);
}

/* Of the time in which a rank's device communicates, what other kernels hide. */
static void write_overlap(struct json_write *w, const struct ranks_collectives *from)
{
    jw_key_array_begin(w, "overlap");
    for (size_t i = 0; i < from->rank_count; i++) {
        int64_t hidden_ns = from->hidden_ns[i];
        int64_t exposed_ns = rows_sub(from->communication_ns[i], hidden_ns);
        jw_object_begin(w);
        jw_key_int(w, "rank", from->ranks[i]);
        jw_key_int(w, "communication_ns", from->communication_ns[i]);
        jw_key_int(w, "hidden_ns", hidden_ns);
        jw_key_int(w, "exposed_ns", exposed_ns);
        jw_key_double(w, "exposed_ratio", rows_known_share(exposed_ns, from->communication_ns[i]));
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_members(struct json_write *w, const void *answer_void)
{
    const struct answer *answer = answer_void;
    const struct ranks_collectives *from = answer->collectives;
    table_view_members(w, &answer->view, NULL);
    if ((answer->beside & BESIDE_SUMMARY) != 0) {
        field_rows(w, "summary", &table_collective_sum, from->sums, from->sum_count);
    }
    if ((answer->beside & BESIDE_EXPERTS) != 0) {
        write_experts(w, from);
    }
    if ((answer->beside & BESIDE_OVERLAP) != 0) {
        write_overlap(w, from);
    }
    ranks_warnings(w, answer->verdict);
}

static void write_parts(struct field_out *out, const void *answer_void, const void *row_void)
{
    const struct answer *answer = answer_void;
    const struct collective_row *row = row_void;
    const struct ranks_collectives *from = answer->collectives;
    if (out->notation != FIELD_JSON || from->parts == NULL) {
        return;
    }
    struct json_write *w = out->json;
    jw_key_array_begin(w, "ranks");
    for (uint32_t p = from->first[row->instance]; p < from->first[row->instance + 1]; p++) {
        const struct collective_part *part = &from->parts[p];
        jw_object_begin(w);
        jw_key_int(w, "rank", part->rank);
        jw_key_int(w, "trace", part->trace);
        jw_key_int(w, "event", part->event);
        jw_key_int(w, "start_ns", part->start_ns);
        jw_key_int(w, "duration_ns", part->duration_ns);
        jw_key_int(w, "wait_ns", part->wait_ns);
        jw_object_end(w);
    }
    jw_array_end(w);
}

/* ?parts=: words, comma-separated; "none"; without it all. */
static bool read_beside(const struct api_call *call, unsigned *beside, struct err *err)
{
    static const char *const words[] = {"summary", "experts", "overlap"};
    const char *list = query_string_word(&call->query, "parts");
    *beside = list == NULL ? BESIDE_ALL : 0;
    if (list == NULL || strcmp(list, "none") == 0) {
        return true;
    }
    for (const char *at = list; at != NULL;) {
        size_t len = strcspn(at, ",");
        size_t k = 0;
        while (k < 3 && (strlen(words[k]) != len || strncmp(words[k], at, len) != 0)) {
            k++;
        }
        if (k == 3) {
            return err_set(err, ERR_BAD_REQUEST,
                           "The parameter parts is \"%.60s\": it must be none, or some of "
                           "summary, experts and overlap, comma-separated",
                           list);
        }
        *beside |= 1U << k;
        at = at[len] == ',' ? at + len + 1 : NULL;
    }
    return true;
}

/* ?kind=, ?group= and ?sequence= choose rows. */
static size_t choose_rows(struct collective_row *rows,
                          size_t count,
                          int64_t sequence,
                          const struct api_call *call)
{
    const char *kind = query_string_word(&call->query, "kind");
    const char *group = query_string_get(&call->query, "group");
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool fits =
            (kind == NULL || strcmp(rows[i].kind, kind) == 0) &&
            (group == NULL || (rows[i].group != NULL && strcmp(rows[i].group, group) == 0)) &&
            (sequence == INT64_MIN || rows[i].sequence == sequence);
        rows[kept] = rows[i];
        kept += fits;
    }
    return kept;
}

bool ranks_collectives_get(struct api_call *call, struct err *err)
{
    static const char *const clocks[] = {"aligned", "raw", NULL};
    struct answer answer = {.view = {.table = &table_collective,
                                     .stem = "collectives",
                                     .write_members = write_members,
                                     .write_row_end = write_parts}};
    struct ranks_wanted wanted = {.verdict = &answer.verdict,
                                  .collectives = &answer.collectives,
                                  .with_parts = call_flag(call, "detail")};
    size_t clock = 0;
    int64_t sequence = INT64_MIN;
    if (!table_view_read(&answer.view, call, "start_ns", LIMIT_DEFAULT, err) ||
        !table_params_choice(call, "clock", clocks, &clock, err) ||
        !read_beside(call, &answer.beside, err) ||
        !query_string_int(&call->query, "sequence", -INT64_MAX, INT64_MAX, &sequence, err)) {
        return false;
    }
    wanted.is_raw = clock == 1;
    if (!ranks_read(call, &wanted, err)) {
        return false;
    }
    struct ranks_collectives *from = answer.collectives;
    size_t count = choose_rows(from->rows, from->row_count, sequence, call);
    if (!table_view_run(&answer.view, call, from->rows, count, err)) {
        return false;
    }
    answer.view.context = &answer;
    return table_view_answer(&answer.view, call);
}

/* ---- clocks ---- */

static void write_clock_members(struct json_write *w, const void *answer_void)
{
    const struct answer *answer = answer_void;
    table_view_members(w, &answer->view, NULL);
    jw_key_known_int(w, "reference", answer->verdict->reference);
    ranks_warnings(w, answer->verdict);
}

bool ranks_clock_get(struct api_call *call, struct err *err)
{
    struct answer answer = {
        .view = {.table = &table_clock, .stem = "clock", .write_members = write_clock_members}};
    struct ranks_wanted wanted = {.verdict = &answer.verdict};
    if (!table_view_read(&answer.view, call, "rank", 0, err) || !ranks_read(call, &wanted, err) ||
        !table_view_run(&answer.view, call, answer.verdict->clocks, answer.verdict->rank_count,
                        err)) {
        return false;
    }
    answer.view.context = &answer;
    return table_view_answer(&answer.view, call);
}
