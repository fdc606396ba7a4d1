/* What the tests of the api share: a store in a folder of its own, jobs, and requests read from
 * memory. */
#ifndef KS_TEST_API_FIXTURE_H
#define KS_TEST_API_FIXTURE_H

#include "api/api.h"
#include "api/route.h"
#include "tests/unit/ingest/store/read.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_UPLOAD_BYTES ((uint64_t)1 << 20)

struct fixture {
    char dir[64];
    struct api api;
    struct api_response response;
    bool has_response;
    int64_t trace_id; /* of the hand-made trace, where a test has one */
};

/* A request that lies in memory; `connection` points back at it. */
struct fake_request {
    struct api_request request;
    const char *headers[8]; /* name, value, ..., NULL */
    const char *body;
    size_t body_len;
    size_t chunk_len;     /* bytes a read, 0: as many as are wanted */
    bool gone_at_the_end; /* reads fail after the body instead of ending */
    size_t *reads;        /* counts the calls, may be NULL */
    size_t at;
};

static inline const char *fake_header(const struct api_request *request, const char *name)
{
    const struct fake_request *fake = request->connection;
    for (size_t i = 0; fake->headers[i] != NULL; i += 2) {
        if (strcasecmp(fake->headers[i], name) == 0) {
            return fake->headers[i + 1];
        }
    }
    return NULL;
}

static inline int64_t fake_read(const struct api_request *request, void *bytes, size_t len)
{
    struct fake_request *fake = request->connection;
    size_t left = fake->body_len - fake->at;
    if (fake->reads != NULL) {
        ++*fake->reads;
    }
    if (left == 0) {
        return fake->gone_at_the_end ? -1 : 0;
    }
    len = len < left ? len : left;
    if (fake->chunk_len != 0 && len > fake->chunk_len) {
        len = fake->chunk_len;
    }
    memcpy(bytes, fake->body + fake->at, len);
    fake->at += len;
    return (int64_t)len;
}

static inline void drop_response(struct fixture *f)
{
    if (f->has_response) {
        api_response_free(&f->response);
    }
    f->has_response = false;
}

/* Sends the request; the answer lies in f->response until the next one. "path?query" is split here.
 */
static inline int
send_request(struct fixture *f, struct fake_request *fake, const char *method, const char *target)
{
    char path[2048];
    (void)snprintf(path, sizeof path, "%s", target);
    char *mark = strchr(path, '?');
    if (mark != NULL) {
        *mark = '\0';
    }
    fake->request.method = method;
    fake->request.path = path;
    struct route_match match;
    route_find(method, path, &match);
    fake->request.match = &match;
    fake->request.query = mark == NULL ? "" : mark + 1;
    fake->request.header = fake_header;
    fake->request.read_body = fake_read;
    fake->request.connection = fake;
    drop_response(f);
    api_handle(&f->api, &fake->request, &f->response);
    f->has_response = true;
    return f->response.status;
}

static inline int get(struct fixture *f, const char *target)
{
    struct fake_request fake = {.body = ""};
    return send_request(f, &fake, "GET", target);
}

static inline int
send_body(struct fixture *f, const char *method, const char *target, const char *body)
{
    struct fake_request fake = {.body = body, .body_len = strlen(body)};
    fake.request.content_length = (int64_t)strlen(body);
    return send_request(f, &fake, method, target);
}

static inline const char *body_text(const struct fixture *f)
{
    return f->response.body.ptr;
}

static inline const char *response_header(const struct fixture *f, const char *name)
{
    for (size_t i = 0; i < f->response.header_count; i++) {
        if (strcmp(f->response.headers[i].name, name) == 0) {
            return f->response.headers[i].value;
        }
    }
    return "";
}

static inline bool body_has(const struct fixture *f, const char *text)
{
    return strstr(f->response.body.ptr, text) != NULL;
}

#define assert_status(f, call, expected)                      \
    do {                                                      \
        int status_ = (call);                                 \
        if (status_ != (expected)) {                          \
            print_message("%d: %s\n", status_, body_text(f)); \
        }                                                     \
        assert_int_equal(status_, expected);                  \
    } while (0)

#define assert_body_has(f, text)                                     \
    do {                                                             \
        if (!body_has(f, text)) {                                    \
            print_message("%s\nis not in %s\n", text, body_text(f)); \
        }                                                            \
        assert_true(body_has(f, text));                              \
    } while (0)

#define assert_problem(f, call, expected, code)                                      \
    do {                                                                             \
        assert_status(f, call, expected);                                            \
        assert_string_equal((f)->response.content_type, "application/problem+json"); \
        assert_body_has(f, "\"code\": \"" code "\"");                                \
        assert_body_has(f, "\"detail\": \"");                                        \
    } while (0)

static inline void remove_tree(const char *path)
{
    DIR *dir = opendir(path);
    if (dir == NULL) {
        (void)unlink(path);
        return;
    }
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char below[512];
        bool is_own = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!is_own && snprintf(below, sizeof below, "%s/%s", path, entry->d_name) < 512) {
            remove_tree(below);
        }
    }
    (void)closedir(dir);
    (void)rmdir(path);
}

static inline int set_up_api(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct err err = ERR_INIT;
    assert_non_null(f);
    (void)snprintf(f->dir, sizeof f->dir, "/tmp/ks-api-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    assert_true(store_open(&f->api.store, f->dir, NULL, &err));
    const struct jobs_options options = {.workers = 1, .retain_raw = true};
    assert_true(jobs_create(&f->api.jobs, f->api.store, &options, &err));
    f->api.options.public_url = "http://traces.example:8080/prefix";
    f->api.options.max_upload_bytes = MAX_UPLOAD_BYTES;
    f->api.options.retain_raw = true;
    *state = f;
    return 0;
}

static inline int tear_down_api(void **state)
{
    struct fixture *f = *state;
    drop_response(f);
    jobs_destroy(f->api.jobs);
    store_close(f->api.store);
    remove_tree(f->dir);
    free(f);
    return 0;
}

/* Publishes hand-made results as a trace, past the jobs. `bytes` is what was uploaded. */
static inline int64_t publish_as(struct fixture *f,
                                 const char *format,
                                 const char *run,
                                 const char *file_name,
                                 const char *worker,
                                 const char *span_digits,
                                 const char *bytes,
                                 const struct trace_results *results)
{
    struct err err = ERR_INIT;
    struct store_blob *blob = NULL;
    struct store_ingest *ingest = NULL;
    struct arena arena;
    char sha256_hex[SHA256_HEX_BYTES];
    int64_t job_id = 0;
    int64_t *ids = NULL;
    size_t count = 0;
    uint64_t size_bytes = 0;
    arena_init(&arena, 0);
    assert_true(store_blob_create(f->api.store, &blob, &err));
    assert_true(store_blob_write(blob, bytes, strlen(bytes), &err));
    assert_true(store_blob_commit(blob, sha256_hex, &size_bytes, &err));
    const struct store_job job = {.run = run,
                                  .file_name = file_name,
                                  .sha256_hex = sha256_hex,
                                  .size_bytes = size_bytes,
                                  .rank = STORE_NO_RANK};
    assert_true(store_job_add(f->api.store, &job, &job_id, NULL, &err));
    assert_true(store_job_arrived(f->api.store, job_id, sha256_hex, &err));
    assert_true(store_ingest_begin(f->api.store, job_id, &ingest, &err));
    assert_true(store_ingest_trace(ingest, worker, span_digits, format, results, &err));
    assert_true(store_ingest_publish(ingest, &err));
    assert_true(READ(f->api.store, store_job_traces, &arena, job_id, &ids, &count, &err));
    assert_int_equal(count, 1);
    int64_t id = ids[0];
    arena_free(&arena);
    return id;
}

static inline int64_t publish(struct fixture *f,
                              const char *run,
                              const char *file_name,
                              const char *worker,
                              const char *span_digits,
                              const char *bytes,
                              const struct trace_results *results)
{
    return publish_as(f, "kineto", run, file_name, worker, span_digits, bytes, results);
}

/* ---- a trace made by hand: one device, two steps, two operators, two kernels ---- */

#define US ((int64_t)1000)

static struct step_row hand_steps[] = {
    {.name = "9",
     .start_ns = 0,
     .end_ns = 1000 * US,
     .cost_ns = {100 * US, 0, 0, 0, 50 * US, 0, 350 * US, 500 * US},
     .computation_ns = 100 * US,
     .launches = 3,
     .device_activities = 2},
    {.name = "10",
     .start_ns = 1000 * US,
     .end_ns = 1501 * US,
     .cost_ns = {300 * US, 0, 0, 0, 1 * US, 0, 200 * US, 0},
     .computation_ns = 300 * US,
     .launches = 1,
     .device_activities = 1},
};

static struct operator_row hand_operators[] = {
    {.name = "aten::add",
     .calls = 3,
     .host_total_ns = 30 * US,
     .host_self_ns = 20 * US,
     .device_total_ns = 40 * US,
     .device_self_ns = 40 * US,
     .host_min_ns = 5 * US,
     .host_max_ns = 15 * US},
    {.name = "aten::mm",
     .calls = 1,
     .host_total_ns = 70 * US,
     .host_self_ns = 60 * US,
     .device_total_ns = 120 * US,
     .device_self_ns = 120 * US,
     .tensor_total_ns = 60 * US,
     .tensor_self_ns = 60 * US,
     .tensor_eligible = true,
     .has_call_stack = true},
    {.name = "=evil\"<b>\xC3\xA4", .calls = 1, .host_total_ns = 1 * US, .host_self_ns = 1 * US},
};

static struct operator_row hand_stack_operators[] = {
    {.name = "aten::mm",
     .call_stack = "a.py(1): f",
     .calls = 1,
     .host_total_ns = 70 * US,
     .host_self_ns = 60 * US,
     .device_total_ns = 120 * US,
     .device_self_ns = 120 * US,
     .has_call_stack = true},
};

static struct operator_row hand_shape_operators[] = {
    {.name = "aten::mm",
     .input_shape = "[[2, 8], []]",
     .calls = 1,
     .host_total_ns = 70 * US,
     .host_self_ns = 60 * US,
     .device_total_ns = 120 * US,
     .device_self_ns = 120 * US,
     .tensor_eligible = true,
     .has_call_stack = true},
};

static struct kernel_row hand_kernels[] = {
    {.name = "gemm",
     .calls = 2,
     .total_ns = 301 * US,
     .min_ns = 100 * US,
     .max_ns = 201 * US,
     .p50_ns = 150 * US,
     .tensor_used = true,
     .blocks_per_sm = 1.255,
     .occupancy_pct = 33.3},
    {.name = "add", .calls = 1, .total_ns = 99 * US, .min_ns = 99 * US, .max_ns = 99 * US},
};

static struct kernel_launch_row hand_launches[] = {
    {.name = "gemm",
     .operator_name = "aten::mm",
     .config = {"[1, 2, 3]", "[4, 5, 6]", "32", "0"},
     .calls = 2,
     .total_ns = 301 * US,
     .min_ns = 100 * US,
     .max_ns = 201 * US,
     .tensor_used = true,
     .op_tensor_eligible = true,
     .blocks_per_sm = 1.25,
     .occupancy_pct = 33.3},
};

static struct device_row hand_devices[] = {
    {.id = 0,
     .name = "Tesla V100",
     .memory_bytes = 16.0 * 1024 * 1024 * 1024,
     .capability = "7.0",
     .utilisation = 0.25,
     .sm_efficiency = (double)NAN,
     .occupancy_pct = 33.3,
     .tensor_share = 0.75},
};

static struct recommendation_row hand_recommendations[] = {
    {.code = "utilisation", .text = "GPU 0 has low utilisation: < 50% & idle"},
};

static struct environment_row hand_environment[] = {{.name = "pytorch", .value = "2.1"}};

static struct missing_row hand_missing[] = {
    {.view = "memory", .reason = "No memory records.", .record = "profile_memory=True"},
};

static inline struct trace_results hand_results(void)
{
    struct trace_results r = {
        .device_type = "GPU",
        .event_count = 42,
        .start_ns = 1700000000000000123,
        .duration_ns = 1501 * US,
        .has_steps = true,
        .views = 1U << VIEW_OVERVIEW | 1U << VIEW_OPERATOR | 1U << VIEW_KERNEL | 1U << VIEW_TRACE,
        .has_runtime = true,
        .has_kernel = true,
        .has_blocks_per_sm = true,
        .has_occupancy = true,
        .operators_have_device = true,
        .device_ns = 170000,
        .tensor_pie_used = 0.8,
        .steps = hand_steps,
        .step_count = COUNT_OF(hand_steps),
        .kernels = hand_kernels,
        .kernel_count = COUNT_OF(hand_kernels),
        .kernel_launches = hand_launches,
        .kernel_launch_count = COUNT_OF(hand_launches),
        .devices = hand_devices,
        .device_count = COUNT_OF(hand_devices),
        .recommendations = hand_recommendations,
        .recommendation_count = COUNT_OF(hand_recommendations),
        .environment = hand_environment,
        .environment_count = COUNT_OF(hand_environment),
        .missing = hand_missing,
        .missing_count = COUNT_OF(hand_missing),
    };
    r.operators[OPERATOR_BY_NAME] = hand_operators;
    r.operator_count[OPERATOR_BY_NAME] = COUNT_OF(hand_operators);
    r.operators[OPERATOR_BY_NAME_SHAPE] = hand_shape_operators;
    r.operator_count[OPERATOR_BY_NAME_SHAPE] = COUNT_OF(hand_shape_operators);
    r.operators[OPERATOR_BY_NAME_STACK] = hand_stack_operators;
    r.operator_count[OPERATOR_BY_NAME_STACK] = COUNT_OF(hand_stack_operators);
    r.warnings.by_code[WARN_TRUNCATED] = (struct warning_count){.count = 1, .first_offset = 77};
    return r;
}

static inline int set_up_hand_made(void **state)
{
    if (set_up_api(state) != 0) {
        return 1;
    }
    struct fixture *f = *state;
    struct trace_results results = hand_results();
    f->trace_id = publish(f, "r/1", "w0.123.pt.trace.json", "w0", "123", "the bytes", &results);
    return 0;
}

static inline int get_of_trace(struct fixture *f, const char *rest)
{
    char target[512];
    (void)snprintf(target, sizeof target, "/api/v1/traces/%lld%s", (long long)f->trace_id, rest);
    return get(f, target);
}

#endif
