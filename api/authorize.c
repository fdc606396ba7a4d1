#include "api/authorize.h"

const char *authorize_projects(const struct api_call *call)
{
    const struct api_subject *subject = call->request->subject;
    return subject == NULL ? NULL : subject->projects;
}

bool authorize_run(const struct api_call *call, const char *name, struct err *err)
{
    const char *projects = authorize_projects(call);
    return projects == NULL || store_run_readable(call->snapshot, name, projects, err);
}

bool authorize_trace(const struct api_call *call, int64_t id, struct err *err)
{
    const char *projects = authorize_projects(call);
    return projects == NULL || store_trace_readable(call->snapshot, id, projects, err);
}

typedef bool
readable_id(struct store_snapshot *snapshot, int64_t id, const char *projects, struct err *err);

static bool
check_id(const struct api_call *call, const char *what, readable_id *is_readable, struct err *err)
{
    int64_t id = 0;
    return call_id(call, what, &id, err) &&
           is_readable(call->snapshot, id, authorize_projects(call), err);
}

static bool check_sides(const struct api_call *call, struct err *err)
{
    static const char *const names[] = {"base", "candidate"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int64_t id = 0;
        struct err ignored = ERR_INIT;
        bool is_id = query_string_word(&call->query, names[i]) != NULL &&
                     query_string_int(&call->query, names[i], 0, INT64_MAX, &id, &ignored);
        if (is_id && !authorize_trace(call, id, err)) {
            return false;
        }
    }
    return true;
}

bool authorize_unknown_run(struct api_call *call, const char *name, struct err *err)
{
    const struct store_page page = {
        .sort = "name", .limit = 20, .projects = authorize_projects(call)};
    struct store_run *runs = NULL;
    size_t count = 0;
    struct store_total total;
    char names[CALL_NAMES_BYTES] = "";
    if (!store_runs(call->snapshot, call_arena(call), &page, &runs, &count, &total, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        call_add_name(names, runs[i].name);
    }
    if (total.rows > (int64_t)count) {
        call_add_name(names, "...");
    }
    return err_set(err, ERR_NOT_FOUND, "There is no run \"%.80s\"; there %s", name,
                   count == 0 ? "are none yet" : call_format(call, "are: %s", names));
}

static bool check_argument_runs(struct api_call *call, struct err *err)
{
    static const char *const names[] = {"run", "exp_run"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *run = query_string_get(&call->query, names[i]);
        if (run != NULL && *run != '\0' && !authorize_run(call, run, err)) {
            return err->code == ERR_NOT_FOUND ? authorize_unknown_run(call, run, err) : false;
        }
    }
    return true;
}

bool authorize_request(struct api_call *call, enum route_target target, struct err *err)
{
    if (authorize_projects(call) == NULL) {
        return true;
    }
    switch (target) {
    case TARGET_OPEN:
    case TARGET_SELF:
    case TARGET_LIST:
    case TARGET_TOKENS:
    case TARGET_UPLOADS:
    case TARGET_SERVICE:
    case TARGET_AGENTS:
    case TARGET_UPLOAD:
        return true;
    case TARGET_RUN:
    case TARGET_NOTE:
        return authorize_run(call, call->params[0], err);
    case TARGET_TRACE:
        return check_id(call, "trace", store_trace_readable, err);
    case TARGET_COMPARISON:
        return check_id(call, "comparison", store_comparison_readable, err);
    case TARGET_JOB:
        return check_id(call, "job", store_job_readable, err);
    case TARGET_SIDES:
        return check_sides(call, err);
    case TARGET_RUN_ARGUMENTS:
        return check_argument_runs(call, err);
    case TARGET_UNDECLARED:
        break;
    }
    return err_set(err, ERR_NOT_FOUND, "There is nothing at %.300s", call->request->path);
}
