/* Figures of a window of a trace: analysed of a part, stored of the whole, and the same. */
#include "api/table/rows.h"
#include "api/table/table_view.h"
#include "ingest/jobs/on_request/window.h"
#include "tests/unit/api/view_traces.h"

#define MEMORY_BYTES ((size_t)64 << 20)

static struct trace_results *
figures(struct fixture *f, int64_t id, int64_t start_us, int64_t end_us)
{
    struct trace_results *results = NULL;
    struct err err = ERR_INIT;
    assert_true(window_results(f->api.store, NULL, id, start_us * US, end_us * US, MEMORY_BYTES,
                               &results, &err));
    return results;
}

static void put_operators(struct buf *out, const struct operator_row *rows, size_t count)
{
    struct json_write w;
    struct field_out to = {.notation = FIELD_JSON, .json = &w};
    jw_init(&w, out, false);
    jw_array_begin(&w);
    for (size_t i = 0; i < count; i++) {
        field_row(&to, &table_operator, &rows[i], 0);
    }
    jw_array_end(&w);
}

static void put_kernels(struct buf *out, const struct kernel_row *rows, size_t count)
{
    struct json_write w;
    struct field_out to = {.notation = FIELD_JSON, .json = &w};
    jw_init(&w, out, false);
    jw_array_begin(&w);
    for (size_t i = 0; i < count; i++) {
        field_row(&to, &table_kernel, &rows[i], 0);
    }
    jw_array_end(&w);
}

static void put_steps(struct buf *out, const struct trace_results *results)
{
    struct json_write w;
    struct field_out to = {.notation = FIELD_JSON, .json = &w};
    jw_init(&w, out, false);
    jw_array_begin(&w);
    for (size_t i = 0; i < results->step_count; i++) {
        field_row(&to, &table_step, &results->steps[i], 0);
    }
    jw_array_end(&w);
}

/* All that tells two sets of figures apart. */
static void put_figures(struct buf *out, const struct trace_results *results)
{
    put_operators(out, results->operators[OPERATOR_BY_NAME],
                  results->operator_count[OPERATOR_BY_NAME]);
    put_kernels(out, results->kernels, results->kernel_count);
    put_steps(out, results);
    for (int role = 0; role < TIME_CATEGORY_COUNT; role++) {
        buf_printf(out, " %lld", (long long)results->role_ns[role]);
    }
    buf_printf(out, " %lld %lld %lld", (long long)results->start_ns,
               (long long)results->duration_ns, (long long)results->event_count);
}

static void the_whole_analysed_again_is_what_is_stored(void **state)
{
    struct fixture *f = *state;
    static const char *const traces[] = {VIEW_TRAINING, VIEW_CHANGED, VIEW_RANK(0, 1300, 90)};
    for (size_t i = 0; i < COUNT_OF(traces); i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "w%zu.pt.trace.json", i);
        int64_t id = upload(f, "r", name, traces[i]);
        const struct store_page all = {.limit = 0};
        struct arena arena;
        struct trace_results *stored = NULL;
        struct err err = ERR_INIT;
        struct buf want;
        struct buf got;
        int64_t total = 0;
        arena_init(&arena, 0);
        buf_init(&want, SIZE_MAX / 2);
        buf_init(&got, SIZE_MAX / 2);
        assert_true(READ(f->api.store, store_overview, &arena, id, &stored, &err));
        assert_true(READ(f->api.store, store_operators, &arena, id, OPERATOR_BY_NAME, NULL, NULL,
                         &all, &stored->operators[OPERATOR_BY_NAME],
                         &stored->operator_count[OPERATOR_BY_NAME], &total, &err));
        assert_true(READ(f->api.store, store_kernels, &arena, id, &all, &stored->kernels,
                         &stored->kernel_count, &total, &err));
        put_figures(&want, stored);
        struct trace_results *analysed = figures(f, id, 0, stored->duration_ns / US);
        put_figures(&got, analysed);
        assert_true(stored->kernel_count > 0);
        assert_string_equal(got.ptr, want.ptr);
        results_destroy(analysed);
        buf_free(&want);
        buf_free(&got);
        arena_free(&arena);
    }
}

/* linear 20 to 240, its launch 100 to 105, its kernel 150 to 210; gelu 400 to 440. */
static void a_part_has_what_lies_in_it(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload(f, "r", "w0.pt.trace.json", VIEW_CHANGED);
    assert_status(f, get_view(f, id, "window?start_ns=100000&end_ns=200000"), 200);
    assert_body_has(f, "{\"start_ns\": 100000, \"end_ns\": 200000, \"duration_ns\": 100000, "
                       "\"whole\": false, \"events\": ");
    assert_body_has(f, "\"roles\": {\"kernel\": 50000, \"memcpy\": 0, \"memset\": 0, "
                       "\"communication\": 0, \"runtime\": 5000, \"dataloader\": 0, "
                       "\"cpu_exec\": 45000, \"other\": 0, \"total\": 100000}");
    assert_body_has(f, "\"operators\": {\"total\": 1, \"rows\": [{\"name\": \"aten::linear\", "
                       "\"calls\": 1, \"host_total_ns\": 100000, \"host_self_ns\": 95000, ");
    assert_body_has(f, "\"device_self_ns\": 50000, ");
    assert_body_has(f, "\"kernels\": {\"total\": 1, \"rows\": [{\"name\": \"gemm\", \"calls\": 1, "
                       "\"total_ns\": 50000, \"share\": 1.0, ");
}

/* The launch lies before the window; the operator's id on the kernel tells whose it is. */
static void device_work_without_its_launch_goes_by_its_id(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload(f, "r", "w0.pt.trace.json", VIEW_CHANGED);
    struct trace_results *results = figures(f, id, 120, 300);
    const struct operator_row *rows = results->operators[OPERATOR_BY_NAME];
    assert_int_equal(results->operator_count[OPERATOR_BY_NAME], 1);
    assert_string_equal(rows[0].name, "aten::linear");
    assert_int_equal(rows[0].host_total_ns, 120 * US);
    assert_int_equal(rows[0].device_self_ns, 60 * US);
    assert_int_equal(results->kernel_count, 1);
    assert_int_equal(results->kernels[0].total_ns, 60 * US);
    results_destroy(results);
}

static void a_window_without_work_is_all_other(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload(f, "r", "w0.pt.trace.json", VIEW_CHANGED);
    /* within the step, behind everything, at a point */
    static const char *const windows[] = {
        "window?start_ns=500000&end_ns=600000",
        "window?start_ns=3000000&end_ns=3100000",
        "window?start_ns=-200000&end_ns=-100000",
    };
    for (size_t i = 0; i < COUNT_OF(windows); i++) {
        assert_status(f, get_view(f, id, windows[i]), 200);
        assert_body_has(f, "\"cpu_exec\": 0, \"other\": 100000, \"total\": 100000}");
        assert_body_has(f, "\"operators\": {\"total\": 0, \"rows\": []}");
        assert_body_has(f, "\"kernels\": {\"total\": 0, \"rows\": []}}");
    }
    assert_status(f, get_view(f, id, "window?start_ns=500000&end_ns=500000"), 200);
    assert_body_has(f, "\"other\": 0, \"total\": 0}");
}

/* Beyond its ends there is nothing, and so a larger window is the whole one too. */
static void the_whole_is_answered_from_what_is_stored(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload(f, "r", "w0.pt.trace.json", VIEW_CHANGED);
    assert_status(f, get_view(f, id, "window"), 200);
    assert_body_has(f, "{\"start_ns\": 0, \"end_ns\": 1000000, \"duration_ns\": 1000000, "
                       "\"whole\": true, \"events\": 6, \"roles\": {\"kernel\": 60000, ");
    assert_body_has(f, "\"cpu_exec\": 195000, \"other\": 740000, \"total\": 1000000}");
    assert_status(f, get_view(f, id, "window?start_ns=-500000&end_ns=1500000"), 200);
    assert_body_has(f, "\"whole\": true, ");
    assert_body_has(f, "\"other\": 1740000, \"total\": 2000000}");
    assert_status(f, get_view(f, id, "window?start_ns=1"), 200);
    assert_body_has(f, "\"whole\": false, ");
}

static void tables_are_sorted_and_cut(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload(f, "r", "w0.pt.trace.json", VIEW_CHANGED);
    assert_status(f, get_view(f, id, "window?limit=1&end_ns=900000"), 200);
    assert_body_has(f, "\"operators\": {\"total\": 3, \"rows\": [{\"name\": \"aten::linear\", ");
    assert_false(body_has(f, "aten::gelu"));
    assert_status(f, get_view(f, id, "window?limit=0&end_ns=900000"), 200);
    const char *gelu = strstr(body_text(f), "aten::gelu");
    const char *empty = strstr(body_text(f), "aten::empty");
    assert_non_null(gelu);
    assert_non_null(empty);
    assert_true(gelu < empty); /* 40 us of the host, and 20 */
    assert_status(f, get_view(f, id, "window?end_ns=900000&table=kernels&format=csv"), 200);
    assert_string_equal(f->response.content_type, "text/csv; charset=utf-8");
    assert_string_equal(response_header(f, "Content-Disposition"),
                        "attachment; filename=\"kernels.csv\"");
    assert_body_has(f, "name,calls,total_ns,share,");
    assert_body_has(f, "\r\ngemm,1,60000,1.0,");
    assert_status(f, get_view(f, id, "window?table=operators&format=csv&limit=2"), 200);
    assert_body_has(f, "\r\naten::linear,1,220000,195000,");
    assert_body_has(f, "\r\naten::gelu,1,40000,40000,");
    assert_false(body_has(f, "aten::empty"));
}

static void memory_is_bounded(void **state)
{
    struct fixture *f = *state;
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    buf_puts(&text, "{\"traceEvents\":[" VIEW_OP("aten::add", 1, 1000, 9000, 1));
    for (int i = 0; text.len < ((size_t)3 << 20); i++) {
        buf_printf(&text,
                   ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op %d\",\"pid\":1,"
                   "\"tid\":1,\"ts\":%d,\"dur\":1}",
                   i % 7, 1000 + i);
    }
    buf_puts(&text, "]}");
    f->api.options.max_upload_bytes = text.len;
    int64_t id = upload(f, "r", "w0.pt.trace.json", text.ptr);
    buf_free(&text);
    struct trace_results *results = NULL;
    struct err err = ERR_INIT;
    assert_false(window_results(f->api.store, NULL, id, 0, INT64_MAX, 1 << 20, &results, &err));
    assert_int_equal(err.code, ERR_TOO_LARGE);
    assert_non_null(strstr(err.msg, "ask for a shorter window"));
    assert_null(results);
    err = (struct err)ERR_INIT;
    assert_true(window_results(f->api.store, NULL, id, 0, 900 * US, 1 << 20, &results, &err));
    assert_int_equal(results->event_count, 901 + 1);
    results_destroy(results);
}

static void bad_windows_are_refused(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload(f, "r", "w0.pt.trace.json", VIEW_CHANGED);
    assert_problem(f, get_view(f, id, "window?start_ns=9&end_ns=8"), 400, "bad_request");
    assert_body_has(f, "start_ns=9 is not before end_ns=8");
    assert_problem(f, get_view(f, id, "window?start_ns=9223372036854775807"), 400, "bad_request");
    assert_body_has(f, "start_ns is \\\"9223372036854775807\\\"");
    assert_problem(f, get_view(f, id, "window?table=kernels"), 400, "bad_request");
    assert_problem(f, get_view(f, id, "window?format=csv"), 400, "bad_request");
    assert_problem(f, get_view(f, id + 1, "window"), 404, "not_found");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        API_TEST(the_whole_analysed_again_is_what_is_stored),
        API_TEST(a_part_has_what_lies_in_it),
        API_TEST(device_work_without_its_launch_goes_by_its_id),
        API_TEST(a_window_without_work_is_all_other),
        API_TEST(the_whole_is_answered_from_what_is_stored),
        API_TEST(tables_are_sorted_and_cut),
        API_TEST(memory_is_bounded),
        API_TEST(bad_windows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
