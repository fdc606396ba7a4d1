#include "api/query_string.h"
#include "api/route.h"
#include "tests/unit/api/api_fixture.h"

#include <jansson.h>

static struct route_match find(const char *method, const char *path)
{
    struct route_match match;
    route_find(method, path, &match);
    return match;
}

static void finds_routes(void **state)
{
    struct route_match match = find("PUT", "/api/v1/runs/a%2Fb/traces/x.json");
    assert_non_null(match.route);
    assert_true(match.route->writes);
    assert_int_equal(match.params[0].len, 5);
    assert_memory_equal(match.params[0].text, "a%2Fb", 5);
    assert_int_equal(match.params[1].len, 6);

    match = find("GET", "/api/v1/traces/7/raw");
    assert_non_null(match.route);
    assert_false(match.route->writes);
    assert_int_equal(match.params[0].len, 1);
    assert_null(match.params[1].text);
    assert_ptr_equal(find("HEAD", "/api/v1/traces/7/raw").route, match.route);

    match = find("PUT", "/api/v1/runs/r/traces/");
    assert_non_null(match.route);
    assert_int_equal(match.params[1].len, 0);
}

static void misses_what_is_not_there(void **state)
{
    static const char *const paths[] = {
        "/",
        "/api/v1",
        "/api/v1/",
        "/api/v1/runsx",
        "/api/v1/runs/a/b",
        "/api/v1/traces/7/raw/",
        "/healthz/",
        "/api/v1/traces/7/tree/0/1",
        "/data/plugin/pytorch_profiler/memories",
        "/data/plugin/pytorch_profiler/distributed",
    };
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        struct route_match match = find("GET", paths[i]);
        assert_null(match.route);
        assert_string_equal(match.allow, "");
    }
}

static void lists_what_is_allowed(void **state)
{
    struct route_match match = find("PUT", "/api/v1/runs/r");
    assert_null(match.route);
    assert_string_equal(match.allow, "GET, HEAD, PATCH, DELETE, OPTIONS");
    match = find("PUT", "/api/v1/runs/r/traces");
    assert_null(match.route);
    assert_string_equal(match.allow, "GET, HEAD, POST, OPTIONS");
    assert_null(find("HEAD", "/api/v1/comparisons/1/nothing").route);
}

static void knows_what_writes(void **state)
{
    static const struct {
        const char *method;
        const char *path;
        bool writes;
    } cases[] = {
        {"GET", "/api/v1/runs", false},          {"HEAD", "/api/v1/runs", false},
        {"OPTIONS", "/api/v1/runs", false},      {"DELETE", "/api/v1/runs/r", true},
        {"PATCH", "/api/v1/traces/1", true},     {"PUT", "/api/v1/runs/r/traces/f", true},
        {"POST", "/api/v1/runs/r/traces", true}, {"POST", "/no/such/thing", true},
        {"BREW", "/api/v1/runs", true},          {"GET", "/no/such/thing", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct route_match match = find(cases[i].method, cases[i].path);
        const struct api_request request = {
            .method = cases[i].method, .path = cases[i].path, .query = "", .match = &match};
        assert_int_equal(api_request_writes(&request), cases[i].writes);
    }
    size_t count = 0;
    const struct route *routes = route_table(&count);
    for (size_t i = 0; i < count; i++) {
        bool computes = strcmp(routes[i].pattern, "/api/v1/gate") == 0 ||
                        strcmp(routes[i].pattern, "/api/v1/history/changes") == 0 ||
                        strcmp(routes[i].pattern, "/mcp") == 0;
        assert_int_equal(routes[i].writes, strcmp(routes[i].method, "GET") != 0 && !computes);
    }
}

static void owns_its_paths(void **state)
{
    assert_true(api_owns_path("/api/v1/runs"));
    assert_true(api_owns_path("/api"));
    assert_true(api_owns_path("/data/plugin/pytorch_profiler/runs"));
    assert_true(api_owns_path("/metrics"));
    assert_false(api_owns_path("/"));
    assert_false(api_owns_path("/apixyz"));
    assert_false(api_owns_path("/metrics/x"));
    assert_false(api_owns_path("/data/plugin/other/runs"));
}

static void answers_without_a_route(void **state)
{
    struct fixture *f = *state;
    struct fake_request fake = {.body = ""};
    assert_problem(f, get(f, "/api/v1/nothing"), 404, "not_found");
    assert_body_has(f, "/api/v1/nothing");
    assert_problem(f, send_body(f, "PUT", "/api/v1/runs", ""), 405, "method_not_allowed");
    assert_string_equal(response_header(f, "Allow"), "GET, HEAD, OPTIONS");
    assert_problem(f, send_body(f, "PUT", "/api/v1/runs/r/traces", "{}"), 405,
                   "method_not_allowed");
    assert_body_has(f, "add a slash at the end");
    assert_problem(f, send_body(f, "POST", "/api/v1/runs/r/traces/", "{}"), 405,
                   "method_not_allowed");
    assert_body_has(f, "without the slash at its end");
    assert_problem(f, send_body(f, "PUT", "/api/v1/run/r/traces/t.json", "{}"), 404, "not_found");
    assert_body_has(f, "/api/v1/runs/RUN/traces/");
    assert_status(f, send_request(f, &fake, "OPTIONS", "/api/v1/runs/r"), 204);
    assert_string_equal(response_header(f, "Allow"), "GET, HEAD, PATCH, DELETE, OPTIONS");
    assert_problem(f, get(f, "/api/v1/runs/%zz"), 400, "bad_request");
    assert_problem(f, get(f, "/api/v1/runs?q=%4"), 400, "bad_request");
}

/* ---- the description ---- */

static json_t *description(struct fixture *f)
{
    assert_status(f, get(f, "/api/v1/openapi.json"), 200);
    json_error_t error;
    json_t *doc = json_loadb(body_text(f), f->response.body.len, 0, &error);
    if (doc == NULL) {
        print_message("line %d: %s\n", error.line, error.text);
    }
    assert_non_null(doc);
    return doc;
}

static void lower(char out[16], const char *method)
{
    size_t len = strlen(method);
    assert_true(len < 16);
    for (size_t i = 0; i <= len; i++) {
        out[i] = (char)(method[i] >= 'A' && method[i] <= 'Z' ? method[i] + 32 : method[i]);
    }
}

static void every_route_is_described(void **state)
{
    struct fixture *f = *state;
    json_t *doc = description(f);
    const json_t *paths = json_object_get(doc, "paths");
    size_t count = 0;
    const struct route *routes = route_table(&count);
    for (size_t i = 0; i < count; i++) {
        char method[16];
        lower(method, routes[i].method);
        const json_t *operation =
            json_object_get(json_object_get(paths, routes[i].pattern), method);
        if (operation == NULL) {
            print_message("%s %s is not described\n", routes[i].method, routes[i].pattern);
        }
        assert_non_null(operation);
        assert_string_equal(json_string_value(json_object_get(operation, "summary")),
                            routes[i].summary);
    }
    json_decref(doc);
}

static void every_description_is_a_route(void **state)
{
    struct fixture *f = *state;
    json_t *doc = description(f);
    const char *path = NULL;
    const char *method = NULL;
    json_t *item = NULL;
    json_t *operation = NULL;
    size_t described = 0;
    size_t count = 0;
    const struct route *routes = route_table(&count);
    json_object_foreach(json_object_get(doc, "paths"), path, item)
    {
        json_object_foreach(item, method, operation)
        {
            bool found = false;
            for (size_t i = 0; i < count; i++) {
                found = found || (strcmp(routes[i].pattern, path) == 0 &&
                                  strcasecmp(routes[i].method, method) == 0);
            }
            if (!found) {
                print_message("%s %s is no route\n", method, path);
            }
            assert_true(found);
            described++;
        }
    }
    assert_int_equal(described, count);
    json_decref(doc);
}

/* ---- parameters ---- */

static const json_t *resolved(const json_t *doc, const json_t *parameter)
{
    static const char prefix[] = "#/components/parameters/";
    const char *ref = json_string_value(json_object_get(parameter, "$ref"));
    if (ref == NULL) {
        return parameter;
    }
    assert_memory_equal(ref, prefix, sizeof prefix - 1);
    const json_t *components = json_object_get(doc, "components");
    return json_object_get(json_object_get(components, "parameters"), ref + sizeof prefix - 1);
}

static bool route_knows_name(const struct route *route, const char *name)
{
    struct query_param param = {.name = name, .value = ""};
    const struct query_string query = {.params = &param, .count = 1};
    struct err err = ERR_INIT;
    return route_knows(route, &query, &err);
}

static size_t count_words(const char *list)
{
    size_t count = *list != '\0';
    for (; *list != '\0'; list++) {
        count += *list == ' ';
    }
    return count;
}

/* The table of routes and the description list the same query parameters. */
static void parameters_are_described(void **state)
{
    struct fixture *f = *state;
    json_t *doc = description(f);
    const json_t *paths = json_object_get(doc, "paths");
    size_t count = 0;
    const struct route *routes = route_table(&count);
    for (size_t i = 0; i < count; i++) {
        char method[16];
        lower(method, routes[i].method);
        const json_t *operation =
            json_object_get(json_object_get(paths, routes[i].pattern), method);
        assert_true((routes[i].query == NULL) != (strncmp(routes[i].pattern, "/api/", 5) == 0));
        size_t described = 0;
        size_t at = 0;
        const json_t *item = NULL;
        json_array_foreach(json_object_get(operation, "parameters"), at, item)
        {
            const json_t *parameter = resolved(doc, item);
            const char *name = json_string_value(json_object_get(parameter, "name"));
            if (strcmp(json_string_value(json_object_get(parameter, "in")), "query") != 0) {
                continue;
            }
            described++;
            if (!route_knows_name(&routes[i], name)) {
                print_message("%s %s refuses %s\n", routes[i].method, routes[i].pattern, name);
                fail();
            }
        }
        if (routes[i].query != NULL && count_words(routes[i].query) != described) {
            print_message("%s %s: the description lacks one of %s\n", routes[i].method,
                          routes[i].pattern, routes[i].query);
            fail();
        }
    }
    json_decref(doc);
}

static void refuses_unknown_parameters(void **state)
{
    struct fixture *f = *state;
    assert_problem(f, get(f, "/api/v1/runs?limt=3"), 400, "bad_request");
    assert_body_has(f, "\\\"limt\\\": known are sort, order, q, limit, offset");
    assert_problem(f, get(f, "/api/v1/me?x"), 400, "bad_request");
    assert_body_has(f, "takes no parameters");
    assert_status(f, get(f, "/api/v1/runs?limit=3&q="), 200);
    /* A probe or a script of the removed plugin may add what it likes. */
    assert_status(f, get(f, "/healthz?x=1"), 200);
    assert_status(f, get(f, "/data/plugin/pytorch_profiler/runs?x=1"), 200);
}

/* Every "$ref" of the document leads somewhere. */
static void check_refs(const json_t *doc, json_t *value)
{
    const char *key = NULL;
    json_t *item = NULL;
    size_t at = 0;
    json_array_foreach(value, at, item)
    {
        check_refs(doc, item);
    }
    json_object_foreach(value, key, item)
    {
        if (strcmp(key, "$ref") != 0) {
            check_refs(doc, item);
            continue;
        }
        char kind[32];
        char name[64];
        assert_int_equal(sscanf(json_string_value(item), "#/components/%31[^/]/%63s", kind, name),
                         2);
        const json_t *components = json_object_get(doc, "components");
        assert_non_null(json_object_get(json_object_get(components, kind), name));
    }
}

static void references_lead_somewhere(void **state)
{
    struct fixture *f = *state;
    json_t *doc = description(f);
    check_refs(doc, doc);
    json_decref(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_routes),
        cmocka_unit_test(misses_what_is_not_there),
        cmocka_unit_test(lists_what_is_allowed),
        cmocka_unit_test(knows_what_writes),
        cmocka_unit_test(owns_its_paths),
        cmocka_unit_test_setup_teardown(answers_without_a_route, set_up_api, tear_down_api),
        cmocka_unit_test_setup_teardown(every_route_is_described, set_up_api, tear_down_api),
        cmocka_unit_test_setup_teardown(every_description_is_a_route, set_up_api, tear_down_api),
        cmocka_unit_test_setup_teardown(parameters_are_described, set_up_api, tear_down_api),
        cmocka_unit_test_setup_teardown(refuses_unknown_parameters, set_up_api, tear_down_api),
        cmocka_unit_test_setup_teardown(references_lead_somewhere, set_up_api, tear_down_api),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
