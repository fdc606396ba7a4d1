#include "api/agents/tools.h"

#include "api/agents/markdown.h"
#include "api/table/markdown_table.h"
#include "ingest/base/text/utf8.h"

#include <inttypes.h>
#include <string.h>

#define ARGS_MAX 6
#define SENTENCE_MAX_BYTES 700
/* Tables end here, so that what follows them has room. */
#define FIRST_TABLE_BYTES ((size_t)1900)
#define LAST_TABLE_BYTES ((size_t)3200)
#define LINK_MAX_BYTES ((size_t)640)
#define LIMIT_MAX 50

struct tool_arg {
    const char *name; /* NULL ends the list */
    const char *help;
    bool is_integer;
    bool is_required;
    bool in_path; /* instead of the query, where it has its own name */
};

struct telling {
    struct api_call *call;
    const json_t *args;
    const json_t *answer;
    struct buf *out;
};

struct tool {
    const char *name;
    const char *help;
    const char *path;  /* "{trace}" stands for the argument of that name */
    const char *query; /* that every call has */
    struct tool_arg args[ARGS_MAX + 1];
    void (*tell)(const struct telling *telling);
};

/* ---- what is told ---- */

static void put_link(const struct telling *t, const char *path)
{
    buf_printf(t->out, "\n%s/#/%.*s\n", t->call->api->options.public_url, (int)LINK_MAX_BYTES,
               path);
}

static int64_t integer_arg(const struct telling *t, const char *name)
{
    return json_integer_value(json_object_get(t->args, name));
}

static void put_trace_link(const struct telling *t, const char *view)
{
    char path[80];
    (void)snprintf(path, sizeof path, "traces/%" PRId64 "/%s", integer_arg(t, "trace"), view);
    put_link(t, path);
}

/* How many rows there are, where the answer has a page of them. */
static void put_total(const struct telling *t, const char *what)
{
    buf_printf(t->out, "%.0f %s in all.\n", json_number_value(json_object_get(t->answer, "total")),
               what);
}

static void tell_runs(const struct telling *t)
{
    static const struct agents_figure columns[] = {{"name", "run", AGENTS_TEXT},
                                                   {"figures.trace_id", "trace", AGENTS_INT},
                                                   {"figures.device", "device", AGENTS_TEXT},
                                                   {"figures.step_ns", "step", AGENTS_NS},
                                                   {"figures.utilisation", "busy", AGENTS_SHARE},
                                                   {"uploaded_at", "uploaded", AGENTS_TEXT},
                                                   {"tags", "tags", AGENTS_TEXT},
                                                   {NULL, NULL, AGENTS_TEXT}};
    put_total(t, "runs");
    agents_put_table(t->out, LAST_TABLE_BYTES, json_object_get(t->answer, "runs"), columns, NULL);
    put_link(t, "");
}

static void put_advice(const struct telling *t)
{
    size_t index = 0;
    const json_t *item = NULL;
    json_array_foreach(json_object_get(t->answer, "recommendations"), index, item)
    {
        const char *text = json_string_value(json_object_get(item, "text"));
        if (text != NULL && t->out->len + 2 * strlen(text) < LAST_TABLE_BYTES) {
            buf_puts(t->out, index == 0 ? "\nAdvice:\n- " : "- ");
            markdown_table_text(t->out, text);
            buf_putc(t->out, '\n');
        }
    }
}

static void tell_overview(const struct telling *t)
{
    static const struct agents_figure head[] = {{"trace.run", "run", AGENTS_TEXT},
                                                {"trace.worker", "worker", AGENTS_TEXT},
                                                {"trace.rank", "rank", AGENTS_INT},
                                                {"trace.duration_ns", "length", AGENTS_NS},
                                                {"steps", "steps", AGENTS_INT},
                                                {"average_step_ns", "mean step", AGENTS_NS},
                                                {"top_operator.name", "top operator", AGENTS_TEXT},
                                                {"top_kernel.name", "top kernel", AGENTS_TEXT},
                                                {NULL, NULL, AGENTS_TEXT}};
    static const struct agents_figure roles[] = {{"label", "of a step", AGENTS_TEXT},
                                                 {"mean_ns", "mean", AGENTS_NS},
                                                 {"share", "share", AGENTS_SHARE},
                                                 {NULL, NULL, AGENTS_TEXT}};
    static const struct agents_figure devices[] = {
        {"id", "device", AGENTS_INT},
        {"name", "name", AGENTS_TEXT},
        {"memory_bytes", "memory", AGENTS_BYTES},
        {"utilisation", "busy", AGENTS_SHARE},
        {"tensor_core_share", "matrix units", AGENTS_SHARE},
        {NULL, NULL, AGENTS_TEXT}};
    agents_put_figures(t->out, t->answer, head);
    agents_put_table(t->out, FIRST_TABLE_BYTES, json_object_get(t->answer, "roles"), roles, NULL);
    agents_put_table(t->out, LAST_TABLE_BYTES - 500, json_object_get(t->answer, "devices"), devices,
                     NULL);
    put_advice(t);
    put_trace_link(t, "overview");
}

static const struct agents_figure operator_columns[] = {
    {"name", "operator", AGENTS_TEXT},
    {"calls", "calls", AGENTS_INT},
    {"device_self_ns", "device self", AGENTS_NS},
    {"host_self_ns", "host self", AGENTS_NS},
    {"share", "share of device", AGENTS_SHARE},
    {NULL, NULL, AGENTS_TEXT}};

static const struct agents_figure kernel_columns[] = {
    {"name", "kernel", AGENTS_TEXT}, {"class", "class", AGENTS_TEXT},
    {"calls", "calls", AGENTS_INT},  {"total_ns", "total", AGENTS_NS},
    {"mean_ns", "mean", AGENTS_NS},  {"share", "share", AGENTS_SHARE},
    {NULL, NULL, AGENTS_TEXT}};

static void tell_operators(const struct telling *t)
{
    put_total(t, "operators");
    agents_put_table(t->out, LAST_TABLE_BYTES, json_object_get(t->answer, "rows"), operator_columns,
                     NULL);
    put_trace_link(t, "operators");
}

static void tell_kernels(const struct telling *t)
{
    put_total(t, "kernels");
    agents_put_table(t->out, LAST_TABLE_BYTES, json_object_get(t->answer, "rows"), kernel_columns,
                     NULL);
    put_trace_link(t, "kernels");
}

static void tell_idle(const struct telling *t)
{
    static const struct agents_figure head[] = {{"device", "device", AGENTS_INT},
                                                {"busy_ns", "busy", AGENTS_NS},
                                                {"idle_ns", "idle", AGENTS_NS},
                                                {NULL, NULL, AGENTS_TEXT}};
    static const struct agents_figure causes[] = {{"cause", "why idle", AGENTS_TEXT},
                                                  {"gaps", "gaps", AGENTS_INT},
                                                  {"idle_ns", "time", AGENTS_NS},
                                                  {"ratio", "share", AGENTS_SHARE},
                                                  {NULL, NULL, AGENTS_TEXT}};
    static const struct agents_figure host[] = {{"host", "what the host did", AGENTS_TEXT},
                                                {"idle_ns", "time", AGENTS_NS},
                                                {"ratio", "share", AGENTS_SHARE},
                                                {NULL, NULL, AGENTS_TEXT}};
    size_t index = 0;
    const json_t *device = NULL;
    json_array_foreach(json_object_get(t->answer, "devices"), index, device)
    {
        if (t->out->len < FIRST_TABLE_BYTES) {
            agents_put_figures(t->out, device, head);
            agents_put_table(t->out, LAST_TABLE_BYTES, json_object_get(device, "causes"), causes,
                             NULL);
            agents_put_table(t->out, LAST_TABLE_BYTES, json_object_get(device, "host"), host, NULL);
        }
    }
    put_trace_link(t, "idle");
}

static void put_sentence(const struct telling *t, const char *text)
{
    char cut[SENTENCE_MAX_BYTES];
    if (text != NULL) {
        int kept = (int)utf8_cut(text, strnlen(text, sizeof cut - 1));
        (void)snprintf(cut, sizeof cut, "%.*s", kept, text);
        markdown_table_text(t->out, cut);
        buf_putc(t->out, '\n');
    }
}

static void tell_compare(const struct telling *t)
{
    static const struct agents_figure columns[] = {{"label", "of a step", AGENTS_TEXT},
                                                   {"base_ns", "base", AGENTS_NS},
                                                   {"candidate_ns", "candidate", AGENTS_NS},
                                                   {"delta_ns", "change", AGENTS_NS},
                                                   {NULL, NULL, AGENTS_TEXT}};
    static const struct agents_figure environment[] = {{"label", "environment", AGENTS_TEXT},
                                                       {"base", "base", AGENTS_TEXT},
                                                       {"candidate", "candidate", AGENTS_TEXT},
                                                       {"match", "match", AGENTS_TEXT},
                                                       {NULL, NULL, AGENTS_TEXT}};
    char path[96];
    put_sentence(t, json_string_value(json_object_get(t->answer, "sentence")));
    agents_put_table(t->out, FIRST_TABLE_BYTES, json_object_get(t->answer, "waterfall"), columns,
                     NULL);
    agents_put_table(t->out, LAST_TABLE_BYTES, json_object_get(t->answer, "environment"),
                     environment, NULL);
    (void)snprintf(path, sizeof path, "diff?base=%" PRId64 "&candidate=%" PRId64,
                   integer_arg(t, "base"), integer_arg(t, "candidate"));
    put_link(t, path);
}

static void tell_window(const struct telling *t)
{
    static const struct agents_figure head[] = {{"duration_ns", "length", AGENTS_NS},
                                                {"events", "events", AGENTS_INT},
                                                {"roles.kernel", "kernels", AGENTS_NS},
                                                {"roles.communication", "communication", AGENTS_NS},
                                                {"roles.memcpy", "copies", AGENTS_NS},
                                                {"roles.runtime", "runtime", AGENTS_NS},
                                                {"roles.dataloader", "data loading", AGENTS_NS},
                                                {"roles.other", "other", AGENTS_NS},
                                                {NULL, NULL, AGENTS_TEXT}};
    char path[160];
    agents_put_figures(t->out, t->answer, head);
    agents_put_table(t->out, FIRST_TABLE_BYTES, agents_at(t->answer, "operators.rows"),
                     operator_columns, NULL);
    agents_put_table(t->out, LAST_TABLE_BYTES, agents_at(t->answer, "kernels.rows"), kernel_columns,
                     NULL);
    (void)snprintf(path, sizeof path, "traces/%" PRId64 "/timeline?start=%" PRId64 "&end=%" PRId64,
                   integer_arg(t, "trace"), integer_arg(t, "start_ns"), integer_arg(t, "end_ns"));
    put_link(t, path);
}

/* The page with the same runs; without them where their filters are too long for a link. */
static void put_history_link(const struct telling *t)
{
    static const char *const names[] = {"metric", "tag", "project", "run", "device"};
    const char *path = "history";
    for (size_t i = 0; path != NULL && i < sizeof names / sizeof names[0]; i++) {
        const char *value = json_string_value(json_object_get(t->args, names[i]));
        if (value != NULL) {
            const char *encoded = query_string_encode(call_arena(t->call), value);
            path = encoded == NULL
                       ? NULL
                       : call_format(t->call, "%s%c%s=%s", path,
                                     strchr(path, '?') == NULL ? '?' : '&', names[i], encoded);
        }
    }
    put_link(t, path != NULL && strlen(path) < LINK_MAX_BYTES ? path : "history");
}

static void tell_history(const struct telling *t)
{
    static const struct agents_figure changes[] = {
        {"run", "changed at run", AGENTS_TEXT},  {"trace", "trace", AGENTS_INT},
        {"mean_before", "before", AGENTS_VALUE}, {"mean_after", "after", AGENTS_VALUE},
        {"change", "change", AGENTS_SHARE},      {"worse", "worse", AGENTS_TEXT},
        {"known", "known", AGENTS_TEXT},         {NULL, NULL, AGENTS_TEXT}};
    static const struct agents_figure segments[] = {{"n", "points", AGENTS_INT},
                                                    {"mean", "mean", AGENTS_VALUE},
                                                    {"std", "deviation", AGENTS_VALUE},
                                                    {"median", "median", AGENTS_VALUE},
                                                    {NULL, NULL, AGENTS_TEXT}};
    const char *unit = json_string_value(json_object_get(t->answer, "unit"));
    buf_printf(t->out, "%.0f points; ", json_number_value(json_object_get(t->answer, "n")));
    buf_puts(t->out, json_integer_value(json_object_get(t->answer, "direction")) < 0
                         ? "larger is worse.\n"
                         : "larger is better.\n");
    agents_put_table(t->out, FIRST_TABLE_BYTES, json_object_get(t->answer, "changes"), changes,
                     unit);
    agents_put_table(t->out, LAST_TABLE_BYTES, json_object_get(t->answer, "segments"), segments,
                     unit);
    put_history_link(t);
}

/* ---- the tools ---- */

#define TRACE_ARG                                                         \
    {                                                                     \
        "trace", "Id of a trace, as list_runs gives it", true, true, true \
    }
#define ROWS_ARGS                                                    \
    {"q", "Only names that contain this text", false, false, false}, \
    {                                                                \
        "limit", "Rows, at most 50", true, false, false              \
    }

static const struct tool tools[] = {
    {"list_runs",
     "The runs, newest upload first, each with the id of its trace.",
     "/api/v1/runs",
     "sort=uploaded_at&order=desc",
     {ROWS_ARGS,
      {"tag", "Only runs with this tag, such as branch=main", false, false, false},
      {"project", "Only runs of this project", false, false, false}},
     tell_runs},
    {"overview",
     "Where the time of a trace goes: step time by category, devices, advice.",
     "/api/v1/traces/{trace}/overview",
     "",
     {TRACE_ARG},
     tell_overview},
    {"operators",
     "Operators of a trace by device time.",
     "/api/v1/traces/{trace}/operators",
     "",
     {TRACE_ARG, ROWS_ARGS},
     tell_operators},
    {"kernels",
     "Kernels of a trace by total time.",
     "/api/v1/traces/{trace}/kernels",
     "",
     {TRACE_ARG, ROWS_ARGS},
     tell_kernels},
    {"idle_causes",
     "Why devices stood still, and what the host did meanwhile.",
     "/api/v1/traces/{trace}/idle",
     "",
     {TRACE_ARG},
     tell_idle},
    {"compare",
     "What changed from one trace to another: a sentence, the step by category, the environment.",
     "/api/v1/diff/summary",
     "",
     {{"base", "Id of the trace before", true, true, false},
      {"candidate", "Id of the trace after", true, true, false}},
     tell_compare},
    {"window",
     "Figures of a window of time of a trace, on the clock of its timeline.",
     "/api/v1/traces/{trace}/window",
     "limit=8",
     {TRACE_ARG,
      {"start_ns", "Begin of the window", true, true, false},
      {"end_ns", "End of the window", true, true, false}},
     tell_window},
    {"history",
     "A metric over uploads: where it changed, and its level between changes.",
     "/api/v1/history/changes",
     "p=series",
     {{"metric",
       "step_time (the default), busy, exposed_communication, memory_peak, kernel:<name>, "
       "operator:<name>, class:<class>",
       false, false, false},
      {"tag", "Only runs with this tag", false, false, false},
      {"project", "Only runs of this project", false, false, false},
      {"run", "Only this run, or /expression/", false, false, false},
      {"device", "Only runs with a device of this type or name", false, false, false}},
     tell_history},
};
#define TOOL_COUNT (sizeof tools / sizeof tools[0])

static const struct tool *find_tool(const char *name)
{
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        if (strcmp(tools[i].name, name) == 0) {
            return &tools[i];
        }
    }
    return NULL;
}

void agents_tools_names(struct buf *out)
{
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        buf_printf(out, "%s`%s`", i == 0 ? "" : ", ", tools[i].name);
    }
}

bool agents_tools_have(const char *name)
{
    return find_tool(name) != NULL;
}

/* ---- their description ---- */

static void describe_args(struct json_write *w, const struct tool *tool)
{
    jw_object_begin(w);
    jw_key_string(w, "type", "object");
    jw_key_object_begin(w, "properties");
    for (const struct tool_arg *arg = tool->args; arg->name != NULL; arg++) {
        jw_key_object_begin(w, arg->name);
        jw_key_string(w, "type", arg->is_integer ? "integer" : "string");
        jw_key_string(w, "description", arg->help);
        jw_object_end(w);
    }
    jw_object_end(w);
    jw_key_array_begin(w, "required");
    for (const struct tool_arg *arg = tool->args; arg->name != NULL; arg++) {
        if (arg->is_required) {
            jw_string(w, arg->name);
        }
    }
    jw_array_end(w);
    jw_key_bool(w, "additionalProperties", false);
    jw_object_end(w);
}

void agents_tools_describe(struct json_write *w)
{
    jw_array_begin(w);
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        jw_object_begin(w);
        jw_key_string(w, "name", tools[i].name);
        jw_key_string(w, "description", tools[i].help);
        jw_key(w, "inputSchema");
        describe_args(w, &tools[i]);
        jw_key_object_begin(w, "annotations");
        jw_key_bool(w, "readOnlyHint", true);
        jw_object_end(w);
        jw_object_end(w);
    }
    jw_array_end(w);
}

/* ---- a call ---- */

static bool check_names(const struct tool *tool, const json_t *args, struct err *err)
{
    /* jansson's iterators take objects that they could change. */
    json_t *object = json_incref((json_t *)(uintptr_t)args);
    const char *unknown = NULL;
    for (void *at = json_object_iter(object); at != NULL && unknown == NULL;
         at = json_object_iter_next(object, at)) {
        const struct tool_arg *arg = tool->args;
        while (arg->name != NULL && strcmp(arg->name, json_object_iter_key(at)) != 0) {
            arg++;
        }
        unknown = arg->name == NULL ? json_object_iter_key(at) : NULL;
    }
    if (unknown != NULL) {
        (void)err_set(err, ERR_BAD_REQUEST, "%s takes no argument \"%.60s\"", tool->name, unknown);
    }
    json_decref(object);
    return unknown == NULL;
}

/* The text of an argument; NULL where it is not given. */
static bool read_arg(struct api_call *call,
                     const struct tool_arg *arg,
                     const json_t *args,
                     const char **text,
                     struct err *err)
{
    const json_t *value = json_object_get(args, arg->name);
    bool is_limit = strcmp(arg->name, "limit") == 0;
    *text = NULL;
    if (value == NULL || json_is_null(value)) {
        return !arg->is_required ||
               err_set(err, ERR_BAD_REQUEST, "The argument \"%s\" is missing", arg->name);
    }
    if (arg->is_integer ? !json_is_integer(value) : !json_is_string(value)) {
        return err_set(err, ERR_BAD_REQUEST, "The argument \"%s\" must be %s", arg->name,
                       arg->is_integer ? "an integer" : "a string");
    }
    int64_t number = json_integer_value(value);
    *text = arg->is_integer
                ? call_format(call, "%" PRId64, is_limit && number > LIMIT_MAX ? LIMIT_MAX : number)
                : query_string_encode(call_arena(call), json_string_value(value));
    return *text != NULL || err_set(err, ERR_NO_MEMORY, "No memory for an argument");
}

/* Path and query of the request behind a call. */
static bool build_request(struct api_call *call,
                          const struct tool *tool,
                          const json_t *args,
                          struct buf *path,
                          struct buf *query,
                          struct err *err)
{
    const char *hole = strchr(tool->path, '{');
    buf_append(path, tool->path, hole == NULL ? strlen(tool->path) : (size_t)(hole - tool->path));
    buf_puts(query, tool->query);
    for (const struct tool_arg *arg = tool->args; arg->name != NULL; arg++) {
        const char *text = NULL;
        if (!read_arg(call, arg, args, &text, err)) {
            return false;
        }
        if (text != NULL && arg->in_path) {
            buf_puts(path, text);
        } else if (text != NULL) {
            buf_printf(query, "%s%s=%s", query->len == 0 ? "" : "&", arg->name, text);
        } else if (strcmp(arg->name, "limit") == 0) {
            buf_printf(query, "%slimit=20", query->len == 0 ? "" : "&");
        }
    }
    buf_puts(path, hole == NULL ? "" : strchr(hole, '}') + 1);
    return (!path->failed && !query->failed) ||
           err_set(err, ERR_BAD_REQUEST, "The arguments are too long");
}

bool agents_tools_call(struct api_call *call,
                       const char *name,
                       const json_t *arguments,
                       struct buf *out,
                       struct err *err)
{
    const struct tool *tool = find_tool(name);
    struct buf path;
    struct buf query;
    if (arguments != NULL && !json_is_object(arguments)) {
        return err_set(err, ERR_BAD_REQUEST, "The arguments must be an object");
    }
    if (arguments != NULL && !check_names(tool, arguments, err)) {
        return false;
    }
    buf_init(&path, 256);
    buf_init(&query, (size_t)16 << 10);
    json_t *answer = build_request(call, tool, arguments, &path, &query, err)
                         ? call_within(call, path.ptr, query.len == 0 ? "" : query.ptr, err)
                         : NULL;
    if (answer != NULL) {
        const struct telling telling = {call, arguments, answer, out};
        tool->tell(&telling);
    }
    json_decref(answer);
    buf_free(&query);
    buf_free(&path);
    return answer != NULL &&
           (!out->failed || err_set(err, ERR_INTERNAL, "The answer does not fit"));
}
