#include "api/authorize.h"
#include "api/call.h"
#include "api/handlers.h"
#include "api/history/params.h"
#include "api/json_body.h"
#include "api/table/markdown_table.h"
#include "api/table/table_params.h"

#include <math.h>
#include <string.h>

#define CONDITIONS_MAX 100
#define TEXT_MAX_BYTES ((size_t)8 << 10)
#define EXIT_CODE_FAIL 3

/* ---- the body ---- */

/* A text, a list of texts, or nothing. */
static bool read_texts(struct api_call *call,
                       const json_t *value,
                       const char *what,
                       const char *const **texts,
                       size_t *count,
                       struct err *err)
{
    size_t given = json_is_array(value) ? json_array_size(value) : json_is_string(value);
    const char **all = arena_calloc(call_arena(call), given + 1, sizeof *all);
    *texts = all;
    *count = given;
    if (all == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the body");
    }
    if (given > CONDITIONS_MAX ||
        (given == 0 && value != NULL && !json_is_null(value) && !json_is_array(value))) {
        return err_set(err, ERR_BAD_REQUEST, "\"%s\" must be a text or a list of at most %d texts",
                       what, CONDITIONS_MAX);
    }
    for (size_t i = 0; i < given; i++) {
        const json_t *item = json_is_array(value) ? json_array_get(value, i) : value;
        if (!json_body_text(item, what, TEXT_MAX_BYTES, call_arena(call), &all[i], err)) {
            return false;
        }
    }
    return true;
}

static bool read_text(
    struct api_call *call, const json_t *body, const char *name, const char **text, struct err *err)
{
    const json_t *value = json_object_get(body, name);
    return value == NULL || json_is_null(value) ||
           json_body_text(value, name, TEXT_MAX_BYTES, call_arena(call), text, err);
}

static bool read_id(const json_t *body, const char *name, int64_t *id, struct err *err)
{
    const json_t *value = json_object_get(body, name);
    if (value == NULL || json_is_null(value)) {
        return true;
    }
    *id = json_integer_value(value);
    return *id > 0 || err_set(err, ERR_BAD_REQUEST, "\"%s\" must be an integer above 0", name);
}

static bool read_candidate(struct api_call *call,
                           json_t *candidate,
                           struct gate_request *request,
                           struct err *err)
{
    static const char *const known[] = {"run", "span", "trace", NULL};
    struct store_trace *trace = NULL;
    if (!json_body_knows(candidate, known, err) ||
        !read_text(call, candidate, "run", &request->run, err) ||
        !read_id(candidate, "span", &request->span, err) ||
        !read_id(candidate, "trace", &request->trace_id, err)) {
        return false;
    }
    if ((request->run != NULL) == (request->trace_id != 0)) {
        return err_set(err, ERR_BAD_REQUEST,
                       "\"candidate\" must name a run, and maybe its span, or a trace");
    }
    if (request->run != NULL) {
        return store_run_readable(call->snapshot, request->run, authorize_projects(call), err);
    }
    if (!authorize_trace(call, request->trace_id, err) ||
        !store_trace_get(call->snapshot, call_arena(call), request->trace_id, &trace, err)) {
        return false;
    }
    request->run = trace->run;
    return true;
}

static bool
read_request(struct api_call *call, json_t *body, struct gate_request *request, struct err *err)
{
    static const char *const known[] = {
        "candidate", "project",   "tag",        "device",        "fail_if", "p",
        "window",    "history_p", "min_points", "min_magnitude", NULL};
    static const char *const condition[] = {"step_time>5%"};
    struct store_series_filter *filter = &request->filter;
    double min_points = 3;
    *request = (struct gate_request){.rules = {.p = 0.01}};
    filter->projects = authorize_projects(call);
    if (!json_body_knows(body, known, err)) {
        return false;
    }
    if (!json_is_object(json_object_get(body, "candidate"))) {
        return err_set(err, ERR_BAD_REQUEST, "\"candidate\" must be an object");
    }
    if (!read_candidate(call, json_object_get(body, "candidate"), request, err) ||
        !read_text(call, body, "project", &filter->project, err) ||
        !read_text(call, body, "device", &filter->device, err) ||
        !read_texts(call, json_object_get(body, "tag"), "tag", &filter->tags, &filter->tag_count,
                    err) ||
        !read_texts(call, json_object_get(body, "fail_if"), "fail_if", &request->conditions,
                    &request->condition_count, err) ||
        !history_body_rules(body, "history_p", &request->history, err) ||
        !history_body_number(body, "p", &request->rules.p, err) ||
        !history_body_number(body, "min_points", &min_points, err)) {
        return false;
    }
    if (!(min_points >= 0 && min_points <= 1e9 && min_points == floor(min_points)) ||
        !(request->rules.p >= 0 && request->rules.p <= 1)) {
        return err_set(err, ERR_BAD_REQUEST,
                       "\"min_points\" must be an integer, \"p\" a number from 0 to 1");
    }
    request->rules.min_points = (int64_t)min_points;
    if (request->condition_count == 0) {
        request->conditions = condition;
        request->condition_count = 1;
    }
    return true;
}

/* ---- JSON ---- */

/* The page's view of the series. */
static void put_parameter(
    struct buf *url, struct api_call *call, char before, const char *name, const char *value)
{
    const char *encoded = value == NULL ? NULL : query_string_encode(call_arena(call), value);
    if (encoded != NULL) {
        buf_printf(url, "%c%s=%s", before, name, encoded);
    }
}

/* The series that the candidate was held against. */
static void put_url(struct json_write *w,
                    struct api_call *call,
                    const struct gate_request *request,
                    const char *metric)
{
    const struct store_series_filter *filter = &request->filter;
    struct buf url;
    buf_init(&url, (size_t)64 << 10);
    buf_printf(&url, "%s/#/history", call->api->options.public_url);
    put_parameter(&url, call, '?', "metric", metric);
    put_parameter(&url, call, '&', "project", filter->project);
    put_parameter(&url, call, '&', "device", filter->device);
    for (size_t i = 0; i < filter->tag_count; i++) {
        put_parameter(&url, call, '&', "tag", filter->tags[i]);
    }
    jw_key_string(w, "url", url.failed ? NULL : url.ptr);
    buf_free(&url);
}

static void write_row(struct json_write *w,
                      struct api_call *call,
                      const struct gate_request *request,
                      const struct gate_answer_row *row)
{
    const struct history_query_baseline *baseline = &row->baseline;
    jw_object_begin(w);
    jw_key_string(w, "metric", row->metric);
    jw_key_string(w, "unit", row->unit);
    jw_key_double(w, "candidate", row->candidate);
    jw_key_object_begin(w, "baseline");
    jw_key_int(w, "n", (int64_t)baseline->summary.count);
    jw_key_double(w, "mean", baseline->summary.mean);
    jw_key_double(w, "std", baseline->summary.std);
    jw_key_string(w, "first_run", baseline->first == NULL ? NULL : baseline->first->run);
    jw_key_string(w, "last_run", baseline->last == NULL ? NULL : baseline->last->run);
    jw_object_end(w);
    jw_key_double(w, "change", row->row.change);
    jw_key_double(w, "worse_by", row->row.worse_by);
    jw_key_string(w, "limit", row->limit);
    jw_key_double(w, "p", row->row.p);
    jw_key_string(w, "verdict", gate_verdict_text(row->row.verdict));
    put_url(w, call, request, row->metric);
    jw_object_end(w);
}

static void answer_json(struct api_call *call,
                        const struct gate_request *request,
                        const struct gate_answer *gate)
{
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key_string(&w, "verdict", gate_verdict_text(gate->verdict));
    jw_key_int(&w, "exit_code", gate->verdict == GATE_FAIL ? EXIT_CODE_FAIL : 0);
    jw_key_object_begin(&w, "candidate");
    jw_key_string(&w, "run", request->run);
    if (request->span != 0) {
        jw_key_int(&w, "span", request->span);
    }
    if (request->trace_id != 0) {
        jw_key_int(&w, "trace", request->trace_id);
    }
    jw_object_end(&w);
    jw_key_array_begin(&w, "rows");
    for (size_t i = 0; i < gate->row_count; i++) {
        write_row(&w, call, request, &gate->rows[i]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
}

/* ---- Markdown ---- */

/* A cell of a table; names of kernels hold anything. */
static void put_cell(struct buf *out, const char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (strchr("\\|<>&`*", *text) != NULL) {
            buf_puts(out, "\\");
        }
        if (c >= 0x20 && c != 0x7F) {
            buf_append(out, text, 1);
        } else {
            buf_puts(out, " ");
        }
    }
}

/* A figure or, where there is none, a dash. */
static void put_figure(struct buf *out, double value)
{
    if (isnan(value)) {
        buf_puts(out, "-");
    } else {
        buf_printf(out, "%.4g", value);
    }
}

static void put_change(struct buf *out, double change)
{
    if (isnan(change)) {
        buf_puts(out, "-");
    } else {
        buf_printf(out, "%+.2f%%", 100 * change);
    }
}

/* The value in a unit that people read. */
static void put_value(struct buf *out, double value, const char *unit)
{
    if (markdown_table_scaled(out, value, unit)) {
        return;
    }
    put_figure(out, value);
    if (!isnan(value) && strcmp(unit, "ratio") != 0) {
        buf_printf(out, " %s", unit);
    }
}

static const char *headline(enum gate_verdict verdict)
{
    return verdict == GATE_FAIL   ? "fail: worse than the baseline"
           : verdict == GATE_PASS ? "pass"
                                  : "no baseline yet: nothing to compare with";
}

static void
write_markdown(struct buf *out, const struct gate_request *request, const struct gate_answer *gate)
{
    buf_puts(out, "**Kinetoscope gate: ");
    buf_puts(out, headline(gate->verdict));
    buf_puts(out, "** (");
    put_cell(out, request->run);
    buf_puts(out, ")\n\n| metric | baseline mean ± std (n) | candidate | change | p | verdict |\n"
                  "|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < gate->row_count; i++) {
        const struct gate_answer_row *row = &gate->rows[i];
        const struct history_summary *baseline = &row->baseline.summary;
        buf_puts(out, "| ");
        put_cell(out, row->metric);
        buf_puts(out, " | ");
        put_value(out, baseline->mean, row->unit);
        buf_puts(out, " ± ");
        put_value(out, baseline->std, row->unit);
        buf_printf(out, " (%zu) | ", baseline->count);
        put_value(out, row->candidate, row->unit);
        buf_puts(out, " | ");
        put_change(out, row->row.change);
        buf_puts(out, " | ");
        put_figure(out, row->row.p);
        buf_printf(out, " | %s |\n", gate_verdict_text(row->row.verdict));
    }
}

/* ---- JUnit ---- */

static void put_xml(struct buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        const char *entity = *text == '&'   ? "&amp;"
                             : *text == '<' ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (entity != NULL) {
            buf_puts(out, entity);
        } else if (c >= 0x20 && c != 0x7F) {
            buf_append(out, text, 1);
        } else {
            buf_puts(out, " ");
        }
    }
}

static size_t count_verdicts(const struct gate_answer *gate, enum gate_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < gate->row_count; i++) {
        count += gate->rows[i].row.verdict == verdict;
    }
    return count;
}

static void write_junit(struct buf *out, const struct gate_answer *gate)
{
    buf_printf(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"kinetoscope gate\" "
               "tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n",
               gate->row_count, count_verdicts(gate, GATE_FAIL),
               count_verdicts(gate, GATE_NO_BASELINE));
    for (size_t i = 0; i < gate->row_count; i++) {
        const struct gate_answer_row *row = &gate->rows[i];
        buf_puts(out, "  <testcase classname=\"kinetoscope\" name=\"");
        put_xml(out, row->metric);
        buf_puts(out, "\">");
        if (row->row.verdict == GATE_FAIL) {
            buf_puts(out, "<failure message=\"");
            put_value(out, row->candidate, row->unit);
            buf_puts(out, " against ");
            put_value(out, row->baseline.summary.mean, row->unit);
            buf_puts(out, " (");
            put_change(out, row->row.change);
            buf_puts(out, "), limit ");
            put_xml(out, row->limit);
            buf_puts(out, ", p ");
            put_figure(out, row->row.p);
            buf_puts(out, "\"/>");
        } else if (row->row.verdict == GATE_NO_BASELINE) {
            buf_puts(out, "<skipped/>");
        }
        buf_puts(out, "</testcase>\n");
    }
    buf_puts(out, "</testsuite>\n");
}

/* ---- the answer ---- */

enum gate_format { FORMAT_JSON, FORMAT_MARKDOWN, FORMAT_JUNIT };

/* By ?format=, else by Accept. */
static bool choose_format(struct api_call *call, enum gate_format *format, struct err *err)
{
    static const char *const words[] = {"json", "markdown", "junit", NULL};
    const char *accept = call_header(call, "Accept");
    size_t choice = 0;
    if (!table_params_choice(call, "format", words, &choice, err)) {
        return false;
    }
    if (query_string_word(&call->query, "format") == NULL) {
        choice = strstr(accept, "text/markdown") != NULL ? FORMAT_MARKDOWN
                 : strstr(accept, "/xml") != NULL && strstr(accept, "text/html") == NULL
                     ? FORMAT_JUNIT
                     : FORMAT_JSON;
    }
    *format = (enum gate_format)choice;
    return true;
}

static bool answer(struct api_call *call, json_t *body, struct err *err)
{
    struct gate_request request;
    struct gate_answer gate;
    enum gate_format format = FORMAT_JSON;
    if (!choose_format(call, &format, err) || !read_request(call, body, &request, err) ||
        !history_query_gate(&gate, call->snapshot, call_arena(call), &request, err)) {
        return false;
    }
    if (format == FORMAT_JSON) {
        answer_json(call, &request, &gate);
        return true;
    }
    bool is_markdown = format == FORMAT_MARKDOWN;
    struct buf *out = &call->response->body;
    call->response->status = 200;
    call->response->content_type =
        is_markdown ? "text/markdown; charset=utf-8" : "application/xml; charset=utf-8";
    buf_clear(out);
    if (is_markdown) {
        write_markdown(out, &request, &gate);
    } else {
        write_junit(out, &gate);
    }
    return true;
}

bool gate_post(struct api_call *call, struct err *err)
{
    json_t *body = json_body_read(call->request, err);
    bool ok = body != NULL && answer(call, body, err);
    json_decref(body);
    return ok;
}
