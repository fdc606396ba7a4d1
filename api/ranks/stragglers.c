/* Who waits in which step of a run, and for whom [RANK-3]. */
#include "api/handlers.h"
#include "api/ranks/common.h"

#include <errno.h>
#include <stdlib.h>

#define CELLS_MAX 1000000

/* Places of an ascending list: [first, end). */
struct part {
    size_t first, end;
};

static bool read_bound(const char **text, int64_t *value)
{
    char *end = NULL;
    errno = 0;
    long long number =
        **text == '-' || (**text >= '0' && **text <= '9') ? strtoll(*text, &end, 10) : 0;
    bool ok = end != NULL && end != *text && errno == 0;
    *text = ok ? end : *text;
    *value = number;
    return ok;
}

/* ?ranks=a-b, ?steps=a-b: the numbers from a to b. */
static bool read_part(const struct api_call *call,
                      const char *name,
                      const int64_t *numbers,
                      size_t count,
                      struct part *part,
                      struct err *err)
{
    const char *text = query_string_word(&call->query, name);
    int64_t low = INT64_MIN;
    int64_t high = INT64_MAX;
    if (text != NULL) {
        bool ok = read_bound(&text, &low);
        high = low;
        if (ok && *text == '-') {
            text++;
            ok = read_bound(&text, &high);
        }
        if (!ok || *text != '\0') {
            return err_set(err, ERR_BAD_REQUEST, "%s is a number, or two: %s=0-63", name, name);
        }
    }
    *part = (struct part){0, count};
    while (part->first < count && numbers[part->first] < low) {
        part->first++;
    }
    while (part->end > part->first && numbers[part->end - 1] > high) {
        part->end--;
    }
    return true;
}

struct shown {
    const struct ranks_verdict *verdict;
    struct part ranks, steps;
};

static void
write_cells(struct json_write *w, const char *key, const struct shown *shown, const int64_t *cells)
{
    jw_key_array_begin(w, key);
    for (size_t r = shown->ranks.first; r < shown->ranks.end; r++) {
        jw_array_begin(w);
        for (size_t s = shown->steps.first; s < shown->steps.end; s++) {
            int64_t value = cells[r * shown->verdict->step_count + s];
            jw_known_int(w, value);
        }
        jw_array_end(w);
    }
    jw_array_end(w);
}

static void write_excess(struct json_write *w, const struct culprit_row *row)
{
    static const char *const keys[CAUSE_COUNT] = {"compute_ns", "memory_ns", "input_ns", "host_ns"};
    if (row->rank == INT64_MIN) {
        jw_key_null(w, "excess");
        return;
    }
    jw_key_object_begin(w, "excess");
    for (int c = 0; c < CAUSE_COUNT; c++) {
        jw_key_int(w, keys[c], row->excess_ns[c]);
    }
    jw_object_end(w);
}

static void write_culprit(struct json_write *w, const struct culprit_row *row)
{
    jw_object_begin(w);
    jw_key_int(w, "step", row->step);
    jw_key_known_int(w, "rank", row->rank);
    jw_key_known_int(w, "margin_ns", row->margin_ns);
    jw_key_string(w, "cause", row->rank == INT64_MIN ? NULL : rank_cause_name(row->cause));
    write_excess(w, row);
    jw_key_array_begin(w, "kernels");
    for (size_t k = 0; k < row->kernel_count; k++) {
        jw_object_begin(w);
        jw_key_string(w, "name", row->kernels[k].name);
        jw_key_int(w, "excess_ns", row->kernels[k].excess_ns);
        jw_object_end(w);
    }
    jw_array_end(w);
    jw_object_end(w);
}

static void write_recurrence(struct json_write *w, const struct ranks_verdict *verdict)
{
    jw_key_array_begin(w, "recurrence");
    for (size_t i = 0; i < verdict->recurrence_count; i++) {
        const struct recurrence_row *row = &verdict->recurrence[i];
        jw_object_begin(w);
        jw_key_int(w, "rank", row->rank);
        jw_key_int(w, "steps", row->steps);
        jw_key_double(w, "share", (double)row->steps / (double)verdict->step_count);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_verdict(struct json_write *w, const struct ranks_verdict *verdict)
{
    bool is_persistent = verdict->kind == VERDICT_PERSISTENT;
    jw_key_object_begin(w, "verdict");
    jw_key_string(w, "kind", rank_verdict_name(verdict->kind));
    jw_key_known_int(w, "rank", verdict->rank);
    jw_key_int(w, "steps", verdict->culprit_steps);
    jw_key_int(w, "of_steps", (int64_t)verdict->step_count);
    jw_key_int(w, "lost_ns", verdict->lost_ns);
    jw_key_string(w, "cause", is_persistent ? rank_cause_name(verdict->cause) : NULL);
    jw_key_string(w, "text", verdict->text);
    jw_object_end(w);
}

static void write_answer(struct api_call *call, const struct shown *shown)
{
    const struct ranks_verdict *verdict = shown->verdict;
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    write_verdict(&w, verdict);
    jw_key_array_begin(&w, "ranks");
    for (size_t r = shown->ranks.first; r < shown->ranks.end; r++) {
        jw_int(&w, verdict->clocks[r].rank);
    }
    jw_array_end(&w);
    jw_key_array_begin(&w, "traces");
    for (size_t r = shown->ranks.first; r < shown->ranks.end; r++) {
        jw_int(&w, verdict->clocks[r].trace);
    }
    jw_array_end(&w);
    jw_key_array_begin(&w, "steps");
    for (size_t s = shown->steps.first; s < shown->steps.end; s++) {
        jw_int(&w, verdict->steps[s]);
    }
    jw_array_end(&w);
    write_cells(&w, "step_ns", shown, verdict->step_ns);
    write_cells(&w, "wait_ns", shown, verdict->wait_ns);
    write_cells(&w, "work_ns", shown, verdict->work_ns);
    jw_key_array_begin(&w, "culprits");
    for (size_t s = shown->steps.first; s < shown->steps.end; s++) {
        write_culprit(&w, &verdict->culprits[s]);
    }
    jw_array_end(&w);
    write_recurrence(&w, verdict);
    ranks_warnings(&w, verdict);
    jw_object_end(&w);
}

bool ranks_stragglers_get(struct api_call *call, struct err *err)
{
    struct ranks_verdict *verdict = NULL;
    struct ranks_wanted wanted = {.verdict = &verdict};
    struct shown shown = {.verdict = NULL};
    if (!ranks_read(call, &wanted, err)) {
        return false;
    }
    shown.verdict = verdict;
    int64_t *ranks = arena_calloc(call_arena(call), verdict->rank_count + 1, sizeof *ranks);
    for (size_t r = 0; ranks != NULL && r < verdict->rank_count; r++) {
        ranks[r] = verdict->clocks[r].rank;
    }
    if (ranks == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the ranks of a run");
    }
    if (!read_part(call, "ranks", ranks, verdict->rank_count, &shown.ranks, err) ||
        !read_part(call, "steps", verdict->steps, verdict->step_count, &shown.steps, err)) {
        return false;
    }
    size_t cells = (shown.ranks.end - shown.ranks.first) * (shown.steps.end - shown.steps.first);
    if (cells > CELLS_MAX) {
        return err_set(err, ERR_TOO_LARGE,
                       "%zu cells of ranks and steps are more than an answer has: ask for a part "
                       "with ranks=0-63 or steps=0-99",
                       cells);
    }
    write_answer(call, &shown);
    return true;
}
