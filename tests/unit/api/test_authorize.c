/* A stranger walks the whole table of routes: what belongs to a project of others is for him what
 * is not there, to the last byte. */
#include "api/route.h"
#include "tests/unit/api/api_fixture.h"

#include <inttypes.h>

#define HIDDEN "hidden"
#define ABSENT "absent"
#define TARGET_BYTES 1024

static const struct api_subject owner = {
    .name = "owner", .role = ACCESS_ROLE_UPLOADER, .projects = "[\"theirs\"]"};
static const struct api_subject stranger = {
    .name = "stranger", .role = ACCESS_ROLE_UPLOADER, .projects = "[\"ours\"]"};

struct world {
    struct fixture *f;
    int64_t trace_id, job_id, comparison_id;
};

static int ask(struct fixture *f,
               const struct api_subject *subject,
               const char *method,
               const char *target,
               const char *body)
{
    struct fake_request fake = {.body = body, .body_len = strlen(body)};
    fake.request.content_length = (int64_t)strlen(body);
    fake.request.subject = subject;
    return send_request(f, &fake, method, target);
}

static int64_t number_behind(const struct fixture *f, const char *key)
{
    const char *at = strstr(body_text(f), key);
    assert_non_null(at);
    return strtoll(at + strlen(key), NULL, 10);
}

/* A table of cycles in which a function takes about `share` percent. */
static void make_table(char *out, size_t room, int share)
{
    size_t len = (size_t)snprintf(
        out, room,
        "cycle,pid,hostname,beta_pct,function_name,metric_name,device,func_type,mu_pct,sigma_pct,"
        "duration,interpolation_status,anchor_name,anchor_dur_us,cycle_start_ts,instances_count,"
        "simple_name\n");
    for (int cycle = 1; cycle <= 6; cycle++) {
        len += (size_t)snprintf(out + len, room - len,
                                "%d,14,host,%d.%d,attention,gpu_usage,GPU 0,kernel,%d.0,0.1,%d.0,*,"
                                "step,1000.0,%d.0,2,attention\n",
                                cycle, share, cycle % 3, 50 + share, share * 10,
                                1000000000 + cycle * 2000);
    }
}

static int64_t upload_table(struct fixture *f, const char *name, int share)
{
    char table[4096];
    char target[TARGET_BYTES];
    make_table(table, sizeof table, share);
    (void)snprintf(target, sizeof target, "/api/v1/runs/" HIDDEN "/traces/%s?project=theirs", name);
    assert_status(f, ask(f, &owner, "PUT", target, table), 201);
    return number_behind(f, "\"id\": ");
}

static int set_up_world(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    void *fixture = NULL;
    char body[128];
    assert_int_equal(set_up_api(&fixture), 0);
    world->f = fixture;
    struct fixture *f = world->f;
    struct trace_results results = hand_results();
    (void)publish(f, "open", "o.pt.trace.json", "w0", "1", "open bytes", &results);
    int64_t base = upload_table(f, "base_perf_data.csv", 10);
    world->trace_id = upload_table(f, "candidate_perf_data.csv", 20);
    (void)publish(f, HIDDEN, "h.1.pt.trace.json", "w0", "1", "hidden bytes", &results);
    (void)snprintf(body, sizeof body, "{\"base\": %" PRId64 ", \"candidate\": %" PRId64 "}", base,
                   world->trace_id);
    assert_status(f, ask(f, &owner, "POST", "/api/v1/comparisons", body), 201);
    world->comparison_id = number_behind(f, "\"id\": ");
    /* The first job is that of the hand-made open trace. */
    world->job_id = 2;
    *state = world;
    return 0;
}

static int tear_down_world(void **state)
{
    struct world *world = *state;
    void *fixture = world->f;
    int failed = tear_down_api(&fixture);
    free(world);
    return failed;
}

static int64_t id_of(const struct world *world, enum route_target target)
{
    return target == TARGET_COMPARISON ? world->comparison_id
           : target == TARGET_JOB      ? world->job_id
                                       : world->trace_id;
}

/* The pattern with its parameters filled in, and what the target names in the query. */
static void make_target(char *out, const struct route *route, const char *run, int64_t id)
{
    size_t len = 0;
    for (const char *at = route->pattern; *at != '\0'; at++) {
        if (*at != '{') {
            out[len++] = *at;
            continue;
        }
        const char *end = strchr(at, '}');
        bool is_run = strncmp(at, "{run}", 5) == 0;
        bool is_id = strncmp(at, "{id}", 4) == 0;
        len += (size_t)(is_run  ? snprintf(out + len, TARGET_BYTES - len, "%s", run)
                        : is_id ? snprintf(out + len, TARGET_BYTES - len, "%" PRId64, id)
                                : snprintf(out + len, TARGET_BYTES - len, "0"));
        at = end;
    }
    out[len] = '\0';
    if (route->target == TARGET_SIDES) {
        (void)snprintf(out + len, TARGET_BYTES - len, "?base=%" PRId64 "&candidate=%" PRId64, id,
                       id);
    } else if (route->target == TARGET_RUN_ARGUMENTS) {
        (void)snprintf(out + len, TARGET_BYTES - len,
                       "?run=%s&worker=w0&span=1&view=Overview&exp_run=%s&exp_worker=w0&exp_span=1",
                       run, run);
    }
}

/* The text without the name or number that was asked for. */
static char *without(const char *text, const char *word)
{
    char *out = calloc(strlen(text) + 1, 1);
    size_t len = 0;
    size_t word_len = strlen(word);
    assert_non_null(out);
    while (*text != '\0') {
        if (strncmp(text, word, word_len) == 0) {
            text += word_len;
        } else {
            out[len++] = *text++;
        }
    }
    return out;
}

static char *answer_to(struct world *world, const struct route *route, const char *run, int64_t id)
{
    char target[TARGET_BYTES];
    char word[32];
    make_target(target, route, run, id);
    int status = ask(world->f, &stranger, route->method, target, "{\"note\": \"mine\"}");
    if (status != 404) {
        print_message("%s %s: %d %s\n", route->method, target, status, body_text(world->f));
    }
    assert_int_equal(status, 404);
    (void)snprintf(word, sizeof word, "%" PRId64, id);
    char *less = without(body_text(world->f), run);
    char *least = without(less, word);
    free(less);
    return least;
}

static void what_is_hidden_answers_as_what_is_not_there(void **state)
{
    struct world *world = *state;
    size_t count = 0;
    size_t walked = 0;
    const struct route *routes = route_table(&count);
    for (size_t i = 0; i < count; i++) {
        const struct route *route = &routes[i];
        bool names = route->target >= TARGET_RUN && route->target != TARGET_UPLOAD;
        assert_int_not_equal(route->target, TARGET_UNDECLARED);
        if (!names) {
            continue;
        }
        char *hidden = answer_to(world, route, HIDDEN, id_of(world, route->target));
        char *absent = answer_to(world, route, ABSENT, 987654);
        assert_string_equal(hidden, absent);
        free(hidden);
        free(absent);
        walked++;
    }
    assert_true(walked > 40);
}

/* Else the walk would ask for nothing. */
static void its_owner_finds_it(void **state)
{
    struct world *world = *state;
    static const enum route_target targets[] = {TARGET_TRACE, TARGET_JOB, TARGET_COMPARISON};
    static const char *const names[] = {"traces", "jobs", "comparisons"};
    for (size_t i = 0; i < COUNT_OF(targets); i++) {
        char target[TARGET_BYTES];
        (void)snprintf(target, sizeof target, "/api/v1/%s/%" PRId64, names[i],
                       id_of(world, targets[i]));
        assert_status(world->f, ask(world->f, &owner, "GET", target, ""), 200);
        assert_status(world->f, ask(world->f, &stranger, "GET", target, ""), 404);
    }
    assert_status(world->f, ask(world->f, &owner, "GET", "/api/v1/runs/" HIDDEN, ""), 200);
}

static void lists_leave_it_out(void **state)
{
    struct world *world = *state;
    struct fixture *f = world->f;
    static const char *const lists[] = {
        "/api/v1/runs",
        "/api/v1/runs?q=hidden",
        "/api/v1/runs?sort=name&limit=0",
        "/api/v1/comparisons",
        "/data/plugin/pytorch_profiler/runs",
    };
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        assert_status(f, ask(f, &stranger, "GET", lists[i], ""), 200);
        assert_false(body_has(f, HIDDEN));
        assert_false(body_has(f, "attention"));
    }
    assert_status(f, ask(f, &stranger, "GET", "/api/v1/runs", ""), 200);
    assert_body_has(f, "\"total\": 1");
    assert_status(f, ask(f, &stranger, "GET", "/api/v1/comparisons", ""), 200);
    assert_body_has(f, "\"total\": 0");
    assert_status(f, ask(f, &stranger, "GET", "/metrics", ""), 200);
    assert_body_has(f, "\nkinetoscope_runs 1\n");
    assert_body_has(f, "\nkinetoscope_traces 1\n");
    assert_status(f, ask(f, &owner, "GET", "/api/v1/runs", ""), 200);
    assert_body_has(f, "\"total\": 2");
    assert_status(f, ask(f, &owner, "GET", "/api/v1/comparisons", ""), 200);
    assert_body_has(f, "\"total\": 1");
    assert_status(f, ask(f, NULL, "GET", "/metrics", ""), 200);
    assert_body_has(f, "\nkinetoscope_runs 2\n");
}

static void bodies_name_nothing_that_is_hidden(void **state)
{
    struct world *world = *state;
    struct fixture *f = world->f;
    char body[256];
    (void)snprintf(body, sizeof body, "{\"base\": %" PRId64 ", \"candidate\": %" PRId64 "}",
                   world->trace_id, world->trace_id);
    assert_problem(f, ask(f, &stranger, "POST", "/api/v1/comparisons", body), 404, "not_found");
    assert_problem(f,
                   ask(f, &stranger, "POST", "/api/v1/comparisons",
                       "{\"base\": {\"run\": \"hidden\"}, \"candidate\": {\"run\": \"hidden\"}}"),
                   404, "not_found");
    assert_body_has(f, "Run \\\"hidden\\\" not found");
}

static void a_taken_name_is_not_available(void **state)
{
    struct world *world = *state;
    struct fixture *f = world->f;
    size_t reads = 0;
    struct fake_request fake = {.body = "bytes", .body_len = 5, .reads = &reads};
    fake.request.content_length = 5;
    fake.request.subject = &stranger;
    assert_problem(f,
                   send_request(f, &fake, "PUT", "/api/v1/runs/hidden/traces/base_perf_data.csv"),
                   403, "forbidden");
    assert_body_has(f, "not available");
    assert_false(body_has(f, "theirs"));
    assert_int_equal(reads, 0);
    fake.headers[0] = "Content-Type";
    fake.headers[1] = "multipart/form-data; boundary=x";
    assert_problem(f, send_request(f, &fake, "POST", "/api/v1/runs/hidden/traces"), 403,
                   "forbidden");
    assert_int_equal(reads, 0);
    assert_problem(f, ask(f, &stranger, "PUT", "/api/v1/runs/new/traces/f?project=theirs", "x"),
                   403, "forbidden");
    assert_problem(f, ask(f, &stranger, "PUT", "/api/v1/runs/new/traces/f?project=%3Cb%3E", "x"),
                   400, "bad_request");
    assert_problem(f, ask(f, &stranger, "PUT", "/api/v1/runs/open/traces/f?project=ours", "x"), 409,
                   "conflict");
}

/* The bytes are kept once, which nobody is told. */
static void the_same_bytes_elsewhere_tell_nothing(void **state)
{
    struct world *world = *state;
    struct fixture *f = world->f;
    char table[4096];
    make_table(table, sizeof table, 10);
    assert_status(
        f,
        ask(f, &stranger, "PUT", "/api/v1/runs/mine/traces/base_perf_data.csv?project=ours", table),
        201);
    assert_body_has(f, "\"run\": \"mine\"");
}

static void runs_move_between_projects_that_one_reads(void **state)
{
    struct world *world = *state;
    struct fixture *f = world->f;
    static const struct api_subject both = {
        .name = "both", .role = ACCESS_ROLE_UPLOADER, .projects = "[\"theirs\", \"ours\"]"};
    assert_problem(f, ask(f, &owner, "PATCH", "/api/v1/runs/hidden", "{\"project\": \"ours\"}"),
                   403, "forbidden");
    assert_problem(f, ask(f, &owner, "PATCH", "/api/v1/runs/hidden", "{\"project\": \"a b\"}"), 400,
                   "bad_request");
    assert_status(f, ask(f, &both, "PATCH", "/api/v1/runs/hidden", "{\"project\": \"ours\"}"), 200);
    assert_body_has(f, "\"project\": \"ours\"");
    assert_status(f, ask(f, &stranger, "GET", "/api/v1/runs/hidden", ""), 200);
    assert_status(f, ask(f, &owner, "GET", "/api/v1/runs/hidden", ""), 404);
    char target[128];
    (void)snprintf(target, sizeof target, "/api/v1/comparisons/%" PRId64, world->comparison_id);
    assert_status(f, ask(f, &stranger, "GET", target, ""), 200);
    assert_status(f, ask(f, &owner, "GET", target, ""), 404);
    /* What was compared is gone, and stays the project's. */
    assert_status(f, ask(f, NULL, "DELETE", "/api/v1/runs/hidden", ""), 204);
    assert_status(f, ask(f, &stranger, "GET", target, ""), 200);
    assert_status(f, ask(f, &owner, "GET", target, ""), 404);
}

/* ---- tokens, and who asks ---- */

static void tokens_are_told_once(void **state)
{
    struct world *world = *state;
    struct fixture *f = world->f;
    assert_status(f,
                  ask(f, NULL, "POST", "/api/v1/tokens",
                      "{\"name\": \"ci\", \"role\": \"uploader\", \"projects\": [\"a\", \"a\"]}"),
                  201);
    assert_body_has(f, "\"token\": \"kst_");
    assert_body_has(f, "\"projects\": [\"a\"]");
    assert_string_equal(response_header(f, "Cache-Control"), "no-store");
    assert_problem(
        f, ask(f, NULL, "POST", "/api/v1/tokens", "{\"name\": \"ci\", \"role\": \"viewer\"}"), 409,
        "conflict");
    static const char *const bad[] = {
        "[]",
        "{}",
        "{\"name\": \"x\"}",
        "{\"name\": \"x\", \"role\": \"root\"}",
        "{\"name\": \"\", \"role\": \"viewer\"}",
        "{\"name\": \"a\\r\\nb\", \"role\": \"viewer\"}",
        "{\"name\": \"x\", \"role\": \"viewer\", \"projects\": \"a\"}",
        "{\"name\": \"x\", \"role\": \"viewer\", \"projects\": [1]}",
        "{\"name\": \"x\", \"role\": \"viewer\", \"projects\": [\"<b>\"]}",
        "{\"name\": \"x\", \"role\": \"viewer\", \"hash\": \"a\"}",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_problem(f, ask(f, NULL, "POST", "/api/v1/tokens", bad[i]), 400, "bad_request");
    }
    assert_status(f, ask(f, NULL, "GET", "/api/v1/tokens", ""), 200);
    assert_body_has(f, "\"name\": \"ci\", \"role\": \"uploader\"");
    assert_body_has(f, "\"revoked_at\": null");
    assert_false(body_has(f, "kst_"));
    assert_false(body_has(f, "sha256"));
    assert_status(f, ask(f, NULL, "DELETE", "/api/v1/tokens/ci", ""), 204);
    assert_problem(f, ask(f, NULL, "DELETE", "/api/v1/tokens/ci", ""), 404, "not_found");
}

static void one_is_told_who_one_is(void **state)
{
    struct world *world = *state;
    struct fixture *f = world->f;
    assert_status(f, ask(f, &stranger, "GET", "/api/v1/me", ""), 200);
    assert_body_has(f, "\"name\": \"stranger\", \"role\": \"uploader\", \"projects\": [\"ours\"], "
                       "\"every_project\": false, \"anonymous\": false");
    assert_status(f, ask(f, NULL, "GET", "/api/v1/me", ""), 200);
    assert_body_has(f, "\"name\": null, \"role\": \"admin\", \"projects\": [], "
                       "\"every_project\": true, \"anonymous\": true");
}

static void roles_of_routes(void **state)
{
    static const struct {
        const char *method;
        const char *path;
        enum access_role role;
        const char *action;
    } rows[] = {
        {"GET", "/healthz", ACCESS_ROLE_NOBODY, NULL},
        {"GET", "/api/v1/me", ACCESS_ROLE_NOBODY, NULL},
        {"GET", "/api/v1/runs", ACCESS_ROLE_VIEWER, NULL},
        {"HEAD", "/api/v1/runs", ACCESS_ROLE_VIEWER, NULL},
        {"GET", "/metrics", ACCESS_ROLE_VIEWER, NULL},
        {"PUT", "/api/v1/runs/r/traces/f", ACCESS_ROLE_UPLOADER, "upload"},
        {"POST", "/api/v1/runs/r/traces", ACCESS_ROLE_UPLOADER, "upload"},
        {"PATCH", "/api/v1/runs/r", ACCESS_ROLE_UPLOADER, "change"},
        {"POST", "/api/v1/comparisons", ACCESS_ROLE_UPLOADER, "compare"},
        {"DELETE", "/api/v1/runs/r", ACCESS_ROLE_ADMIN, "delete"},
        {"DELETE", "/api/v1/comparisons/1", ACCESS_ROLE_ADMIN, "delete"},
        {"GET", "/api/v1/tokens", ACCESS_ROLE_ADMIN, NULL},
        {"POST", "/api/v1/tokens", ACCESS_ROLE_ADMIN, "add token"},
        {"DELETE", "/api/v1/tokens/x", ACCESS_ROLE_ADMIN, "revoke token"},
        {"POST", "/api/v1/reanalyse", ACCESS_ROLE_ADMIN, "analyse again"},
        {"BREW", "/api/v1/runs", ACCESS_ROLE_UPLOADER, NULL},
        {"GET", "/api/v1/nothing", ACCESS_ROLE_VIEWER, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct route_match match;
        route_find(rows[i].method, rows[i].path, &match);
        const struct api_request request = {
            .method = rows[i].method, .path = rows[i].path, .match = &match};
        assert_int_equal(api_request_role(&request), rows[i].role);
        const char *action = api_request_action(&request);
        assert_int_equal(action == NULL, rows[i].action == NULL);
        if (action != NULL) {
            assert_string_equal(action, rows[i].action);
        }
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up_world, tear_down_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_hidden_answers_as_what_is_not_there),
        TEST(its_owner_finds_it),
        TEST(lists_leave_it_out),
        TEST(bodies_name_nothing_that_is_hidden),
        TEST(a_taken_name_is_not_available),
        TEST(the_same_bytes_elsewhere_tell_nothing),
        TEST(runs_move_between_projects_that_one_reads),
        TEST(tokens_are_told_once),
        TEST(one_is_told_who_one_is),
        cmocka_unit_test(roles_of_routes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
