/* The timeline: tracks, windows, one event, search, and the trace as a file. */
#include "tests/unit/api/view_traces.h"

/* Two threads, a stream, a counter; a launch and its kernel; text that has to be escaped. */
// clang-format off
#define TRACE \
    VIEW_HEAD \
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"python\"}}" \
    "," VIEW_EVENT("user_annotation", "ProfilerStep#1", 1, 1000, 1000, "") \
    "," VIEW_OP("aten::linear", 1, 1020, 220, 1) \
    "," VIEW_OP("aten::empty", 1, 1030, 20, 2) \
    "," VIEW_LAUNCH(1100, 7123, 1) \
    "," VIEW_KERNEL("gemm", 1150, 60, 7123, 1) \
    "," VIEW_EVENT("cpu_op", "say \\\"hi\\\"", 2, 1400.5, 40.25, "\"n\":17.250") \
    ",{\"ph\":\"i\",\"name\":\"mark\",\"pid\":1,\"tid\":2,\"ts\":1500,\"s\":\"t\"}" \
    ",{\"ph\":\"C\",\"name\":\"power\",\"pid\":1,\"ts\":1600,\"args\":{\"W\":2.5}}" \
    ",{\"ph\":\"C\",\"name\":\"power\",\"pid\":1,\"ts\":1700,\"args\":{\"W\":300}}]}"
// clang-format on

static int64_t upload_trace(struct fixture *f)
{
    return upload(f, "r", "w0.pt.trace.json", TRACE);
}

static void tracks_in_order(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_trace(f);
    assert_status(f, get_view(f, id, "timeline/tracks"), 200);
    assert_body_has(f, "{\"start_ns\": 0, \"end_ns\": 1000000, \"events\": 10, \"flows\": 1, "
                       "\"tracks\": [{\"id\": 0, \"kind\": \"thread\", \"process\": \"python");
    assert_body_has(f,
                    "\"pid\": \"1\", \"tid\": \"1\", \"lanes\": 3, \"members\": 1, \"items\": 4, "
                    "\"first_ns\": 0, \"end_ns\": 1000000, \"busy_ns\": 1000000}");
    assert_body_has(f,
                    "\"pid\": \"1\", \"tid\": \"2\", \"lanes\": 1, \"members\": 1, \"items\": 2, "
                    "\"first_ns\": 400500, \"end_ns\": 500000, \"busy_ns\": 40250}");
    assert_body_has(f, "{\"id\": 2, \"kind\": \"counter\", ");
    assert_body_has(f, "\"tid\": null, \"lanes\": 1, ");
    assert_body_has(f, "\"series\": [\"W\"]}");
    assert_body_has(f, "{\"id\": 3, \"kind\": \"stream\", ");
    assert_body_has(f, "\"steps\": [{\"name\": \"1\", \"start_ns\": 0, \"end_ns\": 1000000}]}");
}

static void a_window_is_columns(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_trace(f);
    assert_status(f, get_view(f, id, "timeline?start_ns=20000&end_ns=260000&tracks=0,3,0"), 200);
    assert_body_has(f,
                    "{\"start_ns\": 20000, \"end_ns\": 260000, \"width_px\": 1600, \"labels\": [");
    assert_body_has(f, "{\"name\": \"aten::linear\", \"category\": \"cpu_op\", \"role\": "
                       "\"cpu_exec\"}");
    assert_body_has(f, "{\"name\": \"gemm\", \"category\": \"kernel\", \"role\": \"kernel\"}");
    assert_body_has(f, "\"tracks\": [{\"id\": 0, \"pixel_ns\": 150, \"start_ns\": "
                       "[0,20000,30000,100000], \"dur_ns\": [1000000,220000,20000,5000], "
                       "\"lane\": [0,1,2,2], \"label\": [");
    assert_body_has(f, "], \"event\": [1,2,3,4]}, {\"id\": 3, \"pixel_ns\": 150, \"start_ns\": "
                       "[150000], \"dur_ns\": [60000], \"lane\": [0], \"label\": [");
    assert_body_has(f, "\"event\": [5]}]}");
    assert_false(body_has(f, "\"count\""));
}

/* What is shorter than a pixel is merged, and says of how many it is. */
static void short_slices_are_merged(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_trace(f);
    assert_status(f, get_view(f, id, "timeline?width_px=2&tracks=0"), 200);
    assert_body_has(f, "\"width_px\": 2, ");
    assert_body_has(f, "\"start_ns\": [0,20000,30000], \"dur_ns\": [1000000,220000,75000], "
                       "\"lane\": [0,1,2], ");
    assert_body_has(f, "\"event\": [1,2,3], \"count\": [1,1,2], \"busy_ns\": "
                       "[1000000,220000,25000]}]}");
}

static void counters_and_instants(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_trace(f);
    assert_status(f, get_view(f, id, "timeline?tracks=1,2"), 200);
    assert_body_has(f,
                    "\"start_ns\": [400500,500000], \"dur_ns\": [40250,null], \"lane\": [0,0], ");
    assert_body_has(f,
                    "{\"id\": 2, \"pixel_ns\": 625, \"points\": {\"start_ns\": [600000,700000], "
                    "\"lane\": [0,0], \"event\": [8,9], \"last\": [2.5,300], \"min\": [2.5,300], "
                    "\"max\": [2.5,300]}}]}");
    /* both ends belong to a window */
    assert_status(f, get_view(f, id, "timeline?tracks=1&start_ns=450000&end_ns=500000"), 200);
    assert_body_has(f, "\"start_ns\": [500000], \"dur_ns\": [null], ");
    assert_status(f, get_view(f, id, "timeline?tracks=1&start_ns=600000&end_ns=900000"), 200);
    assert_body_has(f, "\"labels\": [], \"tracks\": []}");
}

static void one_event(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_trace(f);
    assert_status(f, get_view(f, id, "events/6"), 200);
    assert_answer(f, "{\"event\": 6, \"name\": \"say \\\"hi\\\"\", \"category\": \"cpu_op\", "
                     "\"phase\": \"X\", \"start_ns\": 400500, \"dur_ns\": 40250, \"track\": 1, "
                     "\"lane\": 0, \"pid\": \"1\", \"tid\": \"2\", \"args\": {\"n\": 17.250}, "
                     "\"raw\": {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"say \\\"hi\\\"\", "
                     "\"pid\": 1, \"tid\": 2, \"ts\": 1400.5, \"dur\": 40.25, \"args\": {\"n\": "
                     "17.250}}, \"flows\": [], \"more_flows\": false, \"enclosing\": [], "
                     "\"launch_enclosing\": [], \"forward\": []}");
    /* a launch, its kernel, what stands around it */
    assert_status(f, get_view(f, id, "events/4"), 200);
    assert_body_has(f, "\"flows\": [{\"kind\": \"launch\", \"direction\": \"out\", \"event\": 5, "
                       "\"name\": \"gemm\", \"track\": 3, \"lane\": 0, \"start_ns\": 150000, "
                       "\"dur_ns\": 60000}], \"more_flows\": false, ");
    assert_body_has(f, "\"enclosing\": [{\"event\": 1, \"name\": \"ProfilerStep#1\", \"track\": 0, "
                       "\"lane\": 0, \"start_ns\": 0, \"dur_ns\": 1000000, \"category\": "
                       "\"user_annotation\"}, {\"event\": 2, ");
    assert_body_has(f, "\"launch_enclosing\": []");
    assert_status(f, get_view(f, id, "events/5"), 200);
    assert_body_has(f, "\"direction\": \"in\", \"event\": 4, \"name\": \"cudaLaunchKernel\", ");
    /* around the launch */
    assert_body_has(f, "\"enclosing\": [], \"launch_enclosing\": [{\"event\": 1, \"name\": "
                       "\"ProfilerStep#1\", ");
    assert_body_has(f, "\"name\": \"aten::linear\", \"track\": 0, \"lane\": 1, \"start_ns\": "
                       "20000, \"dur_ns\": 220000, \"category\": \"cpu_op\"}], \"forward\": []");
    /* metadata is on no track and has no time */
    assert_status(f, get_view(f, id, "events/0"), 200);
    assert_body_has(f, "\"phase\": \"M\", \"start_ns\": null, \"dur_ns\": null, \"track\": null, "
                       "\"lane\": null, ");
    assert_status(f, get_view(f, id, "events/7"), 200);
    assert_body_has(f, "\"start_ns\": 500000, \"dur_ns\": null, \"track\": 1, ");
    assert_body_has(f, "\"args\": {}, \"raw\": {\"ph\": \"i\", ");
}

static void unknown_events(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_trace(f);
    static const char *const numbers[] = {"events/10",         "events/-1",
                                          "events/x",          "events/",
                                          "events/4294967295", "events/99999999999999999999"};
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        assert_problem(f, get_view(f, id, numbers[i]), 404, "not_found");
    }
}

static void search_by_name_and_number(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_trace(f);
    assert_status(f, get_view(f, id, "search?q=ATEN::"), 200);
    assert_body_has(f,
                    "{\"q\": \"ATEN::\", \"total\": 2, \"total_is_lower_bound\": false, "
                    "\"names\": [{\"name\": \"aten::linear\", \"category\": \"cpu_op\", \"role\": "
                    "\"cpu_exec\", \"count\": 1, \"total_ns\": 220000}, {\"name\": "
                    "\"aten::empty\", ");
    assert_body_has(f, "\"hits\": [{\"event\": 2, \"name\": \"aten::linear\", \"category\": "
                       "\"cpu_op\", \"start_ns\": 20000, \"dur_ns\": 220000, \"key\": \"name\", "
                       "\"pid\": \"1\", \"tid\": \"1\"}, {\"event\": 3, ");
    /* the whole number: neither a part of it nor one that has it as a part */
    assert_status(f, get_view(f, id, "search?q=7123"), 200);
    assert_body_has(f, "\"total\": 2, ");
    assert_body_has(f, "\"names\": [], \"hits\": [{\"event\": 4, ");
    assert_body_has(f, "\"key\": \"correlation\", ");
    assert_status(f, get_view(f, id, "search?q=712"), 200);
    assert_body_has(f, "\"total\": 0, ");
    assert_status(f, get_view(f, id, "search?q=aten&limit=1"), 200);
    assert_body_has(f, "\"total\": 2, ");
    assert_false(body_has(f, "\"event\": 3"));
    assert_status(f, get_view(f, id, "search?q=aten&start_ns=60000"), 200);
    assert_body_has(f, "\"total\": 1, ");
}

/* Exact names first, then those that begin so, then the others; time decides among equals. */
static void names_that_fit_best_come_first(void **state)
{
    struct fixture *f = *state;
    int64_t id =
        upload(f, "r", "w0.pt.trace.json",
               VIEW_HEAD VIEW_OP("aten::mm", 1, 1000, 5, 1) "," VIEW_OP(
                   "mm_out", 1, 1010, 1,
                   2) "," VIEW_OP("mm", 1, 1020, 1, 3) "," VIEW_OP("bmm", 1, 1030, 9,
                                                                   4) "," VIEW_OP("mm_in", 1, 1040,
                                                                                  2, 5) "]}");
    assert_status(f, get_view(f, id, "search?q=Mm"), 200);
    static const char *const order[] = {"\"mm\"", "\"mm_in\"", "\"mm_out\"", "\"bmm\"",
                                        "\"aten::mm\""};
    const char *at = strstr(body_text(f), "\"names\"");
    assert_non_null(at);
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        const char *found = strstr(at, order[i]);
        assert_non_null(found);
        assert_true(i == 0 || found > at);
        at = found;
    }
}

/* The whole text of a stream. */
static struct buf stream_text(struct fixture *f)
{
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    while (f->response.stream(&f->response, &text)) {
        assert_false(text.failed);
    }
    assert_false(text.failed);
    return text;
}

static void the_trace_as_a_file(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_trace(f);
    assert_status(f, get_view(f, id, "trace.json.gz"), 200);
    assert_string_equal(f->response.content_type, "application/gzip");
    assert_true(f->response.stream_is_packed);
    assert_string_equal(response_header(f, "Content-Disposition"),
                        "attachment; filename=\"r.w0.trace.json.gz\"");
    struct buf text = stream_text(f);
    assert_non_null(strstr(text.ptr, "\"schemaVersion\": 1"));
    assert_non_null(strstr(text.ptr, "\"ts\": 1400.5, \"dur\": 40.25, \"args\": {\"n\": 17.250}}"));
    int64_t again = upload(f, "again", "w0.pt.trace.json", text.ptr);
    buf_free(&text);
    assert_status(f, get_view(f, again, "timeline/tracks"), 200);
    char *tracks = strdup(body_text(f));
    assert_status(f, get_view(f, id, "timeline/tracks"), 200);
    assert_string_equal(body_text(f), tracks);
    free(tracks);
    /* a part: metadata and what overlaps it */
    assert_status(f, get_view(f, id, "trace.json.gz?start_ns=150000&end_ns=210000"), 200);
    text = stream_text(f);
    assert_non_null(strstr(text.ptr, "process_name"));
    assert_non_null(strstr(text.ptr, "gemm"));
    assert_non_null(strstr(text.ptr, "aten::linear"));
    assert_null(strstr(text.ptr, "aten::empty"));
    assert_null(strstr(text.ptr, "power"));
    buf_free(&text);
}

static void file_names_are_harmless(void **state)
{
    struct fixture *f = *state;
    static const char *const names[][2] = {
        {"..%2F..%2Fetc", "attachment; filename=\"_._.._etc.w0.trace.json.gz\""},
        {"a%22%3B%20b", "attachment; filename=\"a_; b.w0.trace.json.gz\""},
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        int64_t id = upload(f, names[i][0], "w0.pt.trace.json", TRACE);
        assert_status(f, get_view(f, id, "trace.json.gz"), 200);
        assert_string_equal(response_header(f, "Content-Disposition"), names[i][1]);
    }
}

static void bad_parameters_are_named(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_trace(f);
    static const char *const requests[][2] = {
        {"timeline?start_ns=5&end_ns=5", "start_ns=5 is not before end_ns=5"},
        {"timeline?start_ns=soon", "The parameter start_ns is \\\"soon\\\""},
        {"timeline?width_px=0", "from 1 to 16384"},
        {"timeline?tracks=1,x", "tracks is \\\"1,x\\\": it must be numbers of tracks from 0 to 3"},
        {"timeline?tracks=4", "from 0 to 3"},
        {"timeline?tracks=1,", "from 0 to 3"},
        {"timeline?tracks=99999999999999999999999", "from 0 to 3"},
        {"search", "The parameter q is missing"},
        {"search?q=a&limit=10001", "from 1 to 10000"},
        {"trace.json.gz?start_ns=2&end_ns=1", "start_ns=2 is not before end_ns=1"},
    };
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        assert_problem(f, get_view(f, id, requests[i][0]), 400, "bad_request");
        assert_body_has(f, requests[i][1]);
    }
}

static const char *const resources[] = {"timeline/tracks", "timeline", "events/0",
                                        "search?q=a",      "window",   "trace.json.gz"};

static void an_upload_without_events_has_none_of_it(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload(f, "r", "ncu.txt",
                        "Kernel | Latency Tensor DRAM\nampere_sgemm_128x64_nn | 2048 0.5 0.2\n");
    for (size_t i = 0; i < COUNT_OF(resources); i++) {
        assert_problem(f, get_view(f, id, resources[i]), 404, "not_found");
        assert_body_has(f, "holds no events");
    }
}

/* As traces of older programs are. */
static void a_trace_without_its_events_is_to_be_uploaded_again(void **state)
{
    struct fixture *f = *state;
    struct trace_results *results = results_create();
    assert_non_null(results);
    results->device_type = "CPU";
    int64_t id = publish_as(f, "chrome-trace", "r", "w0.pt.trace.json", "w0", "", "{}", results);
    results_destroy(results);
    for (size_t i = 0; i < COUNT_OF(resources); i++) {
        assert_problem(f, get_view(f, id, resources[i]), 410, "gone");
        assert_body_has(f, "upload the file again");
    }
    assert_problem(f, get(f, "/data/plugin/pytorch_profiler/trace?run=r&worker=w0"), 410, "gone");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        API_TEST(tracks_in_order),
        API_TEST(a_window_is_columns),
        API_TEST(short_slices_are_merged),
        API_TEST(counters_and_instants),
        API_TEST(one_event),
        API_TEST(unknown_events),
        API_TEST(search_by_name_and_number),
        API_TEST(names_that_fit_best_come_first),
        API_TEST(the_trace_as_a_file),
        API_TEST(file_names_are_harmless),
        API_TEST(bad_parameters_are_named),
        API_TEST(an_upload_without_events_has_none_of_it),
        API_TEST(a_trace_without_its_events_is_to_be_uploaded_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
