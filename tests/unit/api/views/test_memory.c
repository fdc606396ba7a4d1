/* Memory of a trace: operators, blocks, curves. */
#include "tests/unit/api/view_traces.h"

#define EMPTY_BLOCKS                                                                          \
    "{\"name\": \"aten::linear (aten::empty)\", \"device\": \"GPU0\", \"size_bytes\": 1024, " \
    "\"address\": \"0x60\", \"allocated_ns\": 40000, \"released_ns\": null, "                 \
    "\"duration_ns\": null}"
#define LINEAR_BLOCK                                                                         \
    "{\"name\": \"aten::linear (aten::empty)\", \"device\": \"GPU0\", \"size_bytes\": 512, " \
    "\"address\": \"0x40\", \"allocated_ns\": 35000, \"released_ns\": 410000, "              \
    "\"duration_ns\": 375000}"

static int64_t upload_training(struct fixture *f)
{
    return upload(f, "r", "w0.1.pt.trace.json", VIEW_TRAINING);
}

static void operators_of_the_first_accelerator(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_training(f);
    assert_status(f, get_view(f, id, "memory"), 200);
    assert_body_has(
        f, "{\"rows\": [{\"name\": \"aten::empty\", \"calls\": 1, \"size_bytes\": 1536, "
           "\"self_size_bytes\": 1536, \"allocations\": 2, \"self_allocations\": 2, "
           "\"allocated_bytes\": 1536, \"self_allocated_bytes\": 1536}, {\"name\": "
           "\"aten::linear\", \"calls\": 1, \"size_bytes\": 1536, \"self_size_bytes\": 0, ");
    assert_body_has(f, "\"total\": 3, \"sort\": \"self_size_bytes\", \"order\": \"desc\", ");
    assert_body_has(f,
                    "\"sums\": {\"calls\": 3, \"self_size_bytes\": 1024, \"self_allocations\": 2, "
                    "\"self_allocated_bytes\": 1536}, \"start_ns\": null, \"end_ns\": null, "
                    "\"device\": \"GPU0\", \"devices\": [");
    assert_body_has(
        f, "{\"device\": \"CPU\", \"peak_bytes\": 8, \"peak_ns\": 415000, "
           "\"allocated_end_bytes\": 8, \"reserved_peak_bytes\": 0, \"records\": 1}, "
           "{\"device\": \"GPU0\", \"peak_bytes\": 1536, \"peak_ns\": 40000, "
           "\"allocated_end_bytes\": 1024, \"reserved_peak_bytes\": 2048, \"records\": 3}");
    assert_body_has(
        f, "\"unreleased\": {\"count\": 1, \"size_bytes\": 1024, \"rows\": [" EMPTY_BLOCKS "]}");
    assert_body_has(f, "\"at_peak\": [" EMPTY_BLOCKS ", " LINEAR_BLOCK "]}");
    assert_status(f, get_view(f, id, "memory?device=CPU"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"aten::relu\", \"calls\": 1, \"size_bytes\": 8, ");
    assert_body_has(f, "\"device\": \"CPU\", \"devices\"");
}

/* Both ends belong to a window; what stands out is told of the whole trace. */
static void a_window_narrows_rows(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_training(f);
    assert_status(f, get_view(f, id, "memory?start_ns=40000&end_ns=40000&sort=name"), 200);
    assert_body_has(f,
                    "{\"rows\": [{\"name\": \"aten::empty\", \"calls\": 1, \"size_bytes\": 1024, ");
    assert_body_has(f, "\"total\": 2, ");
    assert_body_has(f, "\"start_ns\": 40000, \"end_ns\": 40000, ");
    assert_body_has(f, "\"at_peak\": [" EMPTY_BLOCKS ", " LINEAR_BLOCK "]}");
    assert_status(f, get_view(f, id, "memory?start_ns=900000"), 200);
    assert_body_has(f, "{\"rows\": [], \"total\": 0, ");
    assert_status(f, get_view(f, id, "memory/events?end_ns=35000"), 200);
    assert_body_has(f, "\"allocated_ns\": 35000, \"released_ns\": null, ");
    assert_body_has(f, "\"total\": 1, ");
    assert_status(f, get_view(f, id, "memory/events?start_ns=410000"), 200);
    assert_body_has(f, "\"allocated_ns\": null, \"released_ns\": 410000, \"duration_ns\": null}");
}

static void tables_sort_search_and_page(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_training(f);
    assert_status(f, get_view(f, id, "memory?sort=name&order=desc&limit=1&offset=1"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"aten::linear\", ");
    assert_body_has(f, "\"total\": 3, \"sort\": \"name\", \"order\": \"desc\", \"q\": null, "
                       "\"limit\": 1, \"offset\": 1, ");
    assert_status(f, get_view(f, id, "memory?q=RELU"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"aten::relu\", ");
    assert_body_has(f, "\"total\": 1, ");
    assert_body_has(f, "\"sums\": {\"calls\": 3, "); /* over all of them */
    assert_status(f, get_view(f, id, "memory?q=/lin.*r$/"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"aten::linear\", ");
    /* what is not known comes last, whatever the order */
    assert_status(f, get_view(f, id, "memory/events?sort=duration_ns&order=asc"), 200);
    assert_body_has(f, "{\"rows\": [" LINEAR_BLOCK ", " EMPTY_BLOCKS "], ");
    assert_status(f, get_view(f, id, "memory/events?sort=duration_ns&order=desc"), 200);
    assert_body_has(f, "{\"rows\": [" LINEAR_BLOCK ", " EMPTY_BLOCKS "], ");
    assert_status(f, get_view(f, id, "memory/events?sort=allocated_ns"), 200);
    assert_body_has(f, "{\"rows\": [" LINEAR_BLOCK ", " EMPTY_BLOCKS "], ");
    assert_status(f, get_view(f, id, "memory/events?sort=size_bytes"), 200);
    assert_body_has(f, "{\"rows\": [" EMPTY_BLOCKS ", " LINEAR_BLOCK "], ");
}

static void tables_as_csv(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_training(f);
    assert_status(f, get_view(f, id, "memory/events?format=csv&sort=size_bytes&order=asc"), 200);
    assert_string_equal(f->response.content_type, "text/csv; charset=utf-8");
    assert_string_equal(response_header(f, "Content-Disposition"),
                        "attachment; filename=\"memory-events.csv\"");
    assert_string_equal(body_text(f),
                        "name,device,size_bytes,address,allocated_ns,released_ns,duration_ns\r\n"
                        "aten::linear (aten::empty),GPU0,512,0x40,35000,410000,375000\r\n"
                        "aten::linear (aten::empty),GPU0,1024,0x60,40000,,\r\n");
    assert_status(f, get_view(f, id, "memory?format=csv&q=relu"), 200);
    assert_string_equal(
        body_text(f), "name,calls,size_bytes,self_size_bytes,allocations,self_allocations,"
                      "allocated_bytes,self_allocated_bytes\r\naten::relu,1,-512,-512,0,0,0,0\r\n");
}

static void curves(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_training(f);
    assert_status(f, get_view(f, id, "memory/curve"), 200);
    assert_answer(f, "{\"devices\": [{\"device\": \"GPU0\", \"component\": null, \"points\": "
                     "[[35000, 512, 2048], [40000, "
                     "1536, 2048], [410000, 1024, 2048]], \"total_points\": 3, \"peak\": [40000, "
                     "1536], \"since_start\": false, \"components\": []}, {\"device\": \"CPU\", "
                     "\"component\": null, \"points\": [[415000, 8, "
                     "0]], \"total_points\": 1, \"peak\": [415000, 8], \"since_start\": false, "
                     "\"components\": []}]}");
}

#define RECORDS 300

/* Sampling keeps the peak, even a peak that makes the smallest triangle. */
static void sampled_curves_keep_the_peak(void **state)
{
    struct fixture *f = *state;
    struct buf text;
    buf_init(&text, MAX_UPLOAD_BYTES);
    buf_puts(&text, "{\"traceEvents\":[" VIEW_OP("aten::add", 1, 1000, 9000, 1));
    for (int i = 0; i < RECORDS; i++) {
        int allocated = i == 150 ? 100001 : i % 2 == 0 ? 1 : 100000;
        buf_printf(&text,
                   ",{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,"
                   "\"tid\":1,\"ts\":%d,\"args\":{\"Device Type\":1,\"Device Id\":0,\"Addr\":%d,"
                   "\"Bytes\":8,\"Total Allocated\":%d,\"Total Reserved\":100001}}",
                   1010 + i, i + 1, allocated);
    }
    buf_puts(&text, "]}");
    int64_t id = upload(f, "r", "w.pt.trace.json", text.ptr);
    buf_free(&text);
    for (int points = 4; points < 60; points += 7) {
        char rest[60];
        (void)snprintf(rest, sizeof rest, "memory/curve?points=%d", points);
        assert_status(f, get_view(f, id, rest), 200);
        assert_body_has(f, "[160000, 100001, 100001]");
        assert_body_has(f, "[10000, 1, 100001], ");
        assert_body_has(f, ", [309000, 100000, 100001]], \"total_points\": 300, ");
        int count = 1;
        for (const char *at = strstr(body_text(f), "], ["); at != NULL;
             at = strstr(at + 1, "], [")) {
            count++;
        }
        assert_in_range(count, points - 1, points);
    }
}

static void bad_requests(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_training(f);
    static const char *const bad[] = {
        "memory?start_ns=5&end_ns=4",
        "memory?start_ns=x",
        "memory?end_ns=1e3",
        "memory?device=GPU1",
        "memory?sort=colour",
        "memory?order=up",
        "memory?limit=-1",
        "memory?format=xml",
        "memory?q=/(/",
        "memory/events?start_ns=5&end_ns=4",
        "memory/events?sort=calls",
        "memory/events?device=gpu0",
        "memory/curve?points=3",
        "memory/curve?points=100001",
        "memory/curve?points=many",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_problem(f, get_view(f, id, bad[i]), 400, "bad_request");
    }
    (void)get_view(f, id, "memory?device=GPU1");
    assert_body_has(f, "CPU, GPU0");
    assert_problem(f, get_view(f, 99, "memory"), 404, "not_found");
    assert_problem(f, get_view(f, 99, "memory/events"), 404, "not_found");
    assert_problem(f, get_view(f, 99, "memory/curve"), 404, "not_found");
}

/* Says which option of the profiler would have recorded it. */
static void without_records(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload(f, "r", "w.pt.trace.json", VIEW_CHANGED);
    static const char *const views[] = {"memory", "memory/events", "memory/curve"};
    for (size_t i = 0; i < COUNT_OF(views); i++) {
        assert_problem(f, get_view(f, id, views[i]), 404, "not_found");
        assert_body_has(f, "profile_memory=True");
    }
}

/* Old profilers wrote neither addresses nor totals. */
static void records_without_totals(void **state)
{
    struct fixture *f = *state;
    int64_t id =
        upload(f, "r", "w.pt.trace.json",
               "{\"traceEvents\":[" VIEW_OP(
                   "aten::add", 1, 1000, 100,
                   1) ","
                      "{\"ph\":\"X\",\"cat\":\"Memory\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,"
                      "\"ts\":1010,\"dur\":0,\"args\":{\"Device Type\":0,\"Device Id\":-1,"
                      "\"Bytes\":64}}]}");
    assert_status(f, get_view(f, id, "memory"), 200);
    assert_body_has(f, "\"self_size_bytes\": 64, ");
    assert_body_has(
        f, "{\"device\": \"CPU\", \"peak_bytes\": null, \"peak_ns\": null, "
           "\"allocated_end_bytes\": null, \"reserved_peak_bytes\": null, \"records\": 1}");
    assert_body_has(f, "\"at_peak\": []");
    assert_status(f, get_view(f, id, "memory/curve"), 200);
    assert_answer(
        f,
        "{\"devices\": [{\"device\": \"CPU\", \"component\": null, \"points\": [[10000, 64, 0]], "
        "\"total_points\": 1, \"peak\": [10000, 64], \"since_start\": true, \"components\": []}]}");
    assert_status(f, get_view(f, id, "memory/events"), 200);
    assert_body_has(f, "{\"rows\": [], \"total\": 0, ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        API_TEST(operators_of_the_first_accelerator),
        API_TEST(a_window_narrows_rows),
        API_TEST(tables_sort_search_and_page),
        API_TEST(tables_as_csv),
        API_TEST(curves),
        API_TEST(sampled_curves_keep_the_peak),
        API_TEST(bad_requests),
        API_TEST(without_records),
        API_TEST(records_without_totals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
