/* Traces of our own for the tests of views: uploaded as files, whole microseconds, begin at 1000.
 *
 * One step of 1000 us on one GPU. Net (module) runs aten::linear (200 us), which calls aten::empty
 * (20 us) and a gemm of 50 us, and aten::relu (30 us). On another thread the backward of linear. */
#ifndef KS_TEST_VIEW_TRACES_H
#define KS_TEST_VIEW_TRACES_H

#include "tests/unit/api/api_fixture.h"

#define VIEW_GPU                                                        \
    "{\"id\":0,\"name\":\"Tesla V100\",\"totalGlobalMem\":17179869184," \
    "\"computeMajor\":7,\"computeMinor\":0}"

#define VIEW_EVENT(category, name, tid, ts, dur, args)                                     \
    "{\"ph\":\"X\",\"cat\":\"" category "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid \
    ",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{" args "}}"
#define VIEW_OP(name, tid, ts, dur, id) \
    VIEW_EVENT("cpu_op", name, tid, ts, dur, "\"External id\":" #id)
#define VIEW_MEMORY(ts, type, device, addr, bytes, allocated, reserved)                            \
    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,"       \
    "\"ts\":" #ts ",\"args\":{\"Device Type\":" #type ",\"Device Id\":" #device ",\"Addr\":" #addr \
    ",\"Bytes\":" #bytes ",\"Total Allocated\":" #allocated ",\"Total Reserved\":" #reserved "}}"
#define VIEW_LAUNCH(ts, correlation, id)                     \
    VIEW_EVENT("cuda_runtime", "cudaLaunchKernel", 1, ts, 5, \
               "\"correlation\":" #correlation ",\"External id\":" #id)
#define VIEW_KERNEL(name, ts, dur, correlation, id)                                          \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" #ts \
    ",\"dur\":" #dur ",\"args\":{\"device\":0,\"stream\":7,\"correlation\":" #correlation    \
    ",\"External id\":" #id "}}"

#define VIEW_HEAD "{\"schemaVersion\":1,\"deviceProperties\":[" VIEW_GPU "],\"traceEvents\":["

// clang-format off
#define VIEW_TRAINING \
    VIEW_HEAD \
    VIEW_EVENT("user_annotation", "ProfilerStep#1", 1, 1000, 1000, "") \
    "," VIEW_EVENT("python_function", "nn.Module: Net", 1, 1010, 500, "\"Python id\":1,\"Python parent id\":0,\"Python module id\":3") \
    "," VIEW_EVENT("python_function", "nn.Module: Linear", 1, 1015, 300, "\"Python id\":2,\"Python parent id\":1,\"Python module id\":4") \
    "," VIEW_EVENT("cpu_op", "aten::linear", 1, 1020, 200, "\"External id\":1,\"Call stack\":\"net.py(3): forward\"") \
    "," VIEW_OP("aten::empty", 1, 1030, 20, 2) \
    "," VIEW_MEMORY(1035, 1, 0, 64, 512, 512, 2048) \
    "," VIEW_MEMORY(1040, 1, 0, 96, 1024, 1536, 2048) \
    "," VIEW_LAUNCH(1100, 7, 1) \
    "," VIEW_KERNEL("gemm", 1150, 50, 7, 1) \
    "," VIEW_OP("aten::relu", 1, 1400, 30, 3) \
    "," VIEW_MEMORY(1410, 1, 0, 64, -512, 1024, 2048) \
    "," VIEW_MEMORY(1415, 0, -1, 128, 8, 8, 0) \
    "," VIEW_OP("LinearBackward0", 2, 1600, 100, 4) \
    ",{\"ph\":\"s\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":5,\"pid\":1,\"tid\":1,\"ts\":1020}" \
    ",{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":5,\"pid\":1,\"tid\":2,\"ts\":1600}]}"
// clang-format on

/* Without modules and memory; relu is gone, gelu came, the gemm took 60 us. */
#define VIEW_CHANGED                                                                             \
    VIEW_HEAD                                                                                    \
    VIEW_EVENT("user_annotation", "ProfilerStep#1", 1, 1000, 1000, "")                           \
    "," VIEW_OP("aten::linear", 1, 1020, 220, 1) "," VIEW_OP(                                    \
        "aten::empty", 1, 1030, 20,                                                              \
        2) "," VIEW_LAUNCH(1100, 7, 1) "," VIEW_KERNEL("gemm", 1150, 60, 7,                      \
                                                       1) "," VIEW_OP("aten::gelu", 1, 1400, 40, \
                                                                      3) "]}"

/* A worker of two: reduces from 1200 on, for `dur` us on the device. */
#define VIEW_RANK(rank, start, dur)                                                                                                              \
    "{\"schemaVersion\":1,\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":" #rank                                                             \
    ",\"world_size\":2},\"deviceProperties\":[" VIEW_GPU                                                                                         \
    "],\"traceEvents\":[" VIEW_EVENT("user_annotation", "ProfilerStep#1", 1, 1000, 1000, "") "," VIEW_OP(                                        \
        "aten::mm", 1, 1010, 50,                                                                                                                 \
        1) "," VIEW_LAUNCH(1020, 7,                                                                                                              \
                           1) "," VIEW_KERNEL("gemm", 1100, 150, 7,                                                                              \
                                              1) "," VIEW_EVENT("cpu_op", "nccl:all_reduce", 1,                                                  \
                                                                1200, 10,                                                                        \
                                                                "\"External id\":2,\"Input "                                                     \
                                                                "Dims\":[[256]],\"Input "                                                        \
                                                                "type\":[\"float\"]") "," VIEW_LAUNCH(1202,                                      \
                                                                                                      8,                                         \
                                                                                                      2) "," VIEW_KERNEL("ncclKernel_AllReduce", \
                                                                                                                         start,                  \
                                                                                                                         dur,                    \
                                                                                                                         8,                      \
                                                                                                                         2) "]}"

static inline int64_t
upload(struct fixture *f, const char *run, const char *file_name, const char *content)
{
    char target[300];
    (void)snprintf(target, sizeof target, "/api/v1/runs/%s/traces/%s", run, file_name);
    assert_status(f, send_body(f, "PUT", target, content), 201);
    const char *id = strstr(body_text(f), "\"id\": ");
    assert_non_null(id);
    return strtoll(id + strlen("\"id\": "), NULL, 10);
}

/* GET of a resource of a trace. */
static inline int get_view(struct fixture *f, int64_t trace_id, const char *rest)
{
    char target[400];
    (void)snprintf(target, sizeof target, "/api/v1/traces/%lld/%s", (long long)trace_id, rest);
    return get(f, target);
}

static inline void assert_answer(struct fixture *f, const char *expected)
{
    assert_string_equal(f->response.content_type, "application/json");
    assert_string_equal(body_text(f), expected);
}

#define API_TEST(test) cmocka_unit_test_setup_teardown(test, set_up_api, tear_down_api)

#endif
