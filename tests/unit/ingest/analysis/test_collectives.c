#include "ingest/analysis/analysis.h"
#include "ingest/analysis/classify/collective_kinds.h"
#include "ingest/tb_plugin/rules.h"
#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"
#include "tests/unit/ingest/store/store_fixture.h"

#define HOST "\"pid\": 100, \"tid\": 1"
#define DEVICE "\"pid\": 0, \"tid\": 7"
#define CALL(id, correlation, ts)                                                    \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernelExC\", " \
    "\"pid\": 100, \"tid\": 1, \"ts\": " #ts ", \"dur\": 2, \"args\": {" id          \
    "\"correlation\": " #correlation "}}"
#define EVENT(cat, name, where, ts, dur, args)                                              \
    "{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name "\", " where ", \"ts\": " #ts \
    ", \"dur\": " #dur ", \"args\": {" args "}}"
#define ALL_REDUCE                                                                            \
    "\"Collective name\": \"allreduce\", \"In msg nelems\": 1000, \"Out msg nelems\": 1000, " \
    "\"dtype\": \"BFloat16\", \"Group size\": 8, \"Process Group Name\": \"tp\""
#define NCCL_KERNEL "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

struct analysed {
    struct format_bundle bundle;
    struct trace_results *results;
    struct trace_results *plugin; /* by the plugin's rules */
};

static const struct trace_results *analyse(struct analysed *a, const char *events)
{
    static const char FORM[] = "{\"traceEvents\": [%s]}";
    struct err err = ERR_INIT;
    size_t cap = strlen(events) + sizeof FORM;
    char *text = malloc(cap);
    assert_non_null(text);
    (void)snprintf(text, cap, FORM, events);
    a->bundle = read_text(text);
    free(text);
    assert_true(analysis_run(a->bundle.items[0].model, &a->results, &err));
    assert_true(tb_plugin_analyse(a->bundle.items[0].model, NULL, &a->plugin, &err));
    return a->results;
}

static void done(struct analysed *a)
{
    results_destroy(a->results);
    results_destroy(a->plugin);
    format_bundle_free(&a->bundle);
}

static void range_is(
    const struct collective_log *log, uint32_t op, uint32_t range, int64_t start_us, int64_t end_us)
{
    assert_true(range < log->ops[op].range_count);
    assert_int_equal(log->ranges[log->ops[op].first_range + range].start, start_us * 1000);
    assert_int_equal(log->ranges[log->ops[op].first_range + range].end, end_us * 1000);
}

/* ---- names ---- */

static void kinds_have_one_spelling(void **state)
{
    static const char *const SAME[][2] = {
        {"allreduce", "all_reduce"},
        {"all_reduce", "all_reduce"},
        {"allreduce_coalesced", "all_reduce"},
        {"all_reduce_barrier", "all_reduce"},
        {"_allgather_base", "all_gather"},
        {"all_gather_into_tensor_coalesced", "all_gather"},
        {"_reduce_scatter_base", "reduce_scatter"},
        {"reduce_scatter_tensor_coalesced", "reduce_scatter"},
        {"all_to_allv", "all_to_all"},
        {"_broadcast_oop", "broadcast"},
        {"_reduce_oop", "reduce"},
        {"send 0->1", "send"},
        {"recv 1<-0", "recv"},
        {"gather", "gather"},
        {"scatter", "scatter"},
    };
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++) {
        assert_string_equal(collective_kind(SAME[i][0]), SAME[i][1]);
    }
    assert_null(collective_kind("all_reduce_note"));
    assert_null(collective_kind("wait"));
    assert_null(collective_kind(""));
    assert_string_equal(collective_kind_of_operator("nccl:_all_gather_base"), "all_gather");
    assert_string_equal(collective_kind_of_operator("hccl:allreduce"), "all_reduce");
    assert_null(collective_kind_of_operator("nccl:note"));
    assert_null(collective_kind_of_operator("aten:all_reduce"));
}

static void kernels_of_libraries_are_known(void **state)
{
    static const char *const KERNELS[][2] = {
        {"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "all_reduce"},
        {"ncclKernel_ReduceScatter_RING_LL_Sum___nv_bfloat16(ncclDevComm*)", "reduce_scatter"},
        {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "send_recv"},
        {"ncclDevKernel_Broadcast_RING_LL(ncclDevComm*)", "broadcast"},
        {"ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevComm*)", "reduce"},
        {"ncclSymkDevKernel_AllGather_LL", "all_gather"},
        {"ncclDevKernel_Generic_4(ncclDevComm*, channelMasks, ncclWork*)", "other"},
        {"hcom_allReduce__503_0_1", "all_reduce"},
        {"HcomAllGather", "all_gather"},
        {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)", "all_reduce"},
    };
    for (size_t i = 0; i < sizeof KERNELS / sizeof *KERNELS; i++) {
        assert_string_equal(collective_kind_of_kernel(KERNELS[i][0]), KERNELS[i][1]);
    }
    assert_string_equal(collective_kind_of_kernel("multimem_all_gather_kernel"), "all_gather");
    assert_string_equal(collective_kind_of_kernel("deep_ep::internode_ll::combine"), "other");
}

static void types_have_sizes(void **state)
{
    assert_int_equal(collective_dtype_bytes("Float"), 4);
    assert_int_equal(collective_dtype_bytes("BFloat16"), 2);
    assert_int_equal(collective_dtype_bytes("Float8_e4m3fn"), 1);
    assert_int_equal(collective_dtype_bytes("ComplexDouble"), 16);
    assert_int_equal(collective_dtype_bytes("float"), 0);
}

/* ---- arguments ---- */

static void arguments_are_read(void **state)
{
    struct format_bundle bundle = read_text("{\"traceEvents\": [" EVENT(
        "cpu_op", "aten::add", HOST, 0, 1,
        "\"External id\": 1") "," EVENT("cpu_op", "record_param_comms", HOST, 2, 1,
                                        ALL_REDUCE) "," EVENT("kernel", NCCL_KERNEL, DEVICE, 3, 1,
                                                              "\"Collective name\": \"send\", "
                                                              "\"Process Group ID\": 3, \"dtype\": "
                                                              "null") "]}");
    const struct trace *trace = bundle.items[0].model;
    assert_int_equal(trace->collective_count, 2);
    const struct collective_args *args = trace->collectives;
    assert_int_equal(args[0].event, 1);
    assert_string_equal(string_at(trace, args[0].name), "allreduce");
    assert_string_equal(string_at(trace, args[0].dtype), "BFloat16");
    assert_string_equal(string_at(trace, args[0].group), "tp");
    assert_int_equal(args[0].group_size, 8);
    assert_int_equal(args[0].in_count, 1000);
    assert_int_equal(args[1].event, 2);
    assert_string_equal(string_at(trace, args[1].group), "3");
    assert_int_equal(args[1].dtype, STRTAB_NONE);
    assert_int_equal(args[1].group_size, TRACE_NO_ID);
    assert_int_equal(args[1].out_count, TRACE_NO_ID);
    format_bundle_free(&bundle);
}

/* ---- what is one collective ---- */

#define STEP EVENT("user_annotation", "ProfilerStep#3", HOST, 0, 1000, "\"External id\": 1")

static void host_marks_and_kernel_are_one(void **state)
{
    struct analysed a;
    const struct trace_results *r = analyse(
        &a,
        STEP "," EVENT("cpu_op", "c10d::allreduce_", HOST, 5, 60, "\"External id\": 8") "," EVENT("cpu_op", "record_param_comms", HOST, 10, 50, "\"External id\": 9, " ALL_REDUCE) "," EVENT(
            "user_annotation", "nccl:all_reduce", HOST, 20, 30,
            "\"External id\": 10") "," EVENT("gpu_user_annotation", "nccl:all_reduce", DEVICE, 99,
                                             302,
                                             "\"External id\": 10") "," CALL("\"External id\": 9, ",
                                                                             77,
                                                                             25) "," EVENT("kernel",
                                                                                           NCCL_KERNEL,
                                                                                           DEVICE,
                                                                                           100, 300,
                                                                                           "\"Exter"
                                                                                           "nal "
                                                                                           "id\": "
                                                                                           "9, "
                                                                                           "\"corre"
                                                                                           "lation"
                                                                                           "\": "
                                                                                           "77,"
                                                                                           " " ALL_REDUCE) "," EVENT("cpu_op",
                                                                                                                     "record_param_comms",
                                                                                                                     HOST,
                                                                                                                     70,
                                                                                                                     5,
                                                                                                                     "\"External id\": 11, \"Collective name\": \"wait\""));
    assert_int_equal(r->collective_count, 1);
    const struct collective_log *log = r->comm_log;
    assert_int_equal(log->op_count, 1);
    assert_string_equal(log->ops[0].name, "all_reduce");
    assert_int_equal(log->ops[0].size_bytes, 2000);
    assert_int_equal(log->ops[0].step, 0);
    assert_string_equal(log->ops[0].group, "tp");
    assert_int_equal(log->ops[0].group_size, 8);
    assert_int_equal(log->ops[0].range_count, 1);
    range_is(log, 0, 0, 100, 400);

    assert_int_equal(r->steps[0].cost_ns[TIME_KERNEL], 0);
    assert_true(r->steps[0].cost_ns[TIME_COMMUNICATION] >= 300000);
    assert_true(r->has_kernel);
    assert_true((r->views & 1u << VIEW_KERNEL) != 0);
    /* the plugin's rule counts the annotations by their id, and the kernel as computation */
    assert_int_equal(a.plugin->steps[0].cost_ns[TIME_KERNEL], 300000);
    assert_int_equal(a.plugin->comm_log->op_count, 1);
    done(&a);
}

static void a_launch_inside_the_mark_joins_without_ids(void **state)
{
    struct analysed a;
    const struct trace_results *r = analyse(
        &a, EVENT("cpu_op", "record_param_comms", HOST, 10, 50, ALL_REDUCE) "," CALL(
                "", 77, 25) "," EVENT("kernel", NCCL_KERNEL, DEVICE, 100, 300,
                                      "\"correlation\": 77") "," CALL("", 78,
                                                                      30) "," /* a copy that the
                                                                                 operator makes */
        EVENT("kernel", "CatArrayBatchedCopy", DEVICE, 500, 20,
              "\"correlation\": 78") "," CALL("", 79, 70) "," /* behind the mark */
        EVENT("kernel", "ncclDevKernel_AllGather_RING_LL(x)", DEVICE, 600, 10,
              "\"correlation\": 79"));
    const struct collective_log *log = r->comm_log;
    assert_int_equal(log->op_count, 2);
    assert_int_equal(log->ops[0].range_count, 1);
    range_is(log, 0, 0, 90, 390); /* positions count from the first event */
    assert_string_equal(log->ops[1].name, "all_gather");
    assert_int_equal(log->ops[1].size_bytes, 0);
    assert_null(log->ops[1].group);
    range_is(log, 1, 0, 590, 600);
    done(&a);
}

/* PyTorch 1.13 to 2.0: ids that are copies of correlations join nothing, even where a mark has the
 * number. */
static void copies_of_correlations_join_nothing(void **state)
{
    struct analysed a;
    const struct trace_results *r = analyse(
        &a,
        EVENT("user_annotation", "nccl:all_reduce", HOST, 0, 10, "\"External id\": 77") "," EVENT(
            "user_annotation", "nccl:all_to_all", HOST, 20, 30,
            "\"External id\": 5, \"Input Dims\": [[1024]], \"Input type\": "
            "[\"int\"]") "," CALL("\"External id\": 77, ", 77,
                                  25) "," EVENT("kernel",
                                                "ncclKernel_SendRecv_RING_SIMPLE_"
                                                "Sum_int8_t(ncclWorkElem)",
                                                DEVICE, 100, 40,
                                                "\"External id\": 77, "
                                                "\"correlation\": 77"));
    const struct collective_log *log = r->comm_log;
    assert_int_equal(log->op_count, 2);
    assert_string_equal(log->ops[0].name, "all_reduce");
    range_is(log, 0, 0, 0, 10);                          /* no device work: the host's interval */
    assert_string_equal(log->ops[1].name, "all_to_all"); /* not what the kernel is named */
    assert_int_equal(log->ops[1].size_bytes, 4096);
    range_is(log, 1, 0, 100, 140);
    done(&a);
}

static void kernels_alone_are_collectives(void **state)
{
    struct analysed a;
    const struct trace_results *r = analyse(
        &a,
        EVENT("cpu_op", "aten::mm", HOST, 0, 10, "\"External id\": 2") "," EVENT(
            "kernel", "gemm", DEVICE, 20, 10,
            "\"correlation\": 1") "," EVENT("kernel", NCCL_KERNEL, DEVICE, 50, 10,
                                            "\"correlation\": 2") "," EVENT("kernel",
                                                                            "ncclDevKernel_Generic_"
                                                                            "4(x)",
                                                                            DEVICE, 80, 10,
                                                                            "\"correlation\": 3, "
                                                                            "\"Collective "
                                                                            "name\": "
                                                                            "\"_reduce_scatter_"
                                                                            "base\", "
                                                                            "\"dtype\": \"Float\", "
                                                                            "\"In msg nelems\": 0, "
                                                                            "\"Out msg "
                                                                            "nelems\": 6") "," EVENT("kernel",
                                                                                                     "my_fused_"
                                                                                                     "kernel",
                                                                                                     DEVICE,
                                                                                                     95,
                                                                                                     5,
                                                                                                     "\"correlation"
                                                                                                     "\": 4, "
                                                                                                     "\"Collective "
                                                                                                     "name\": "
                                                                                                     "\"moe_"
                                                                                                     "dispatch\""));
    const struct collective_log *log = r->comm_log;
    assert_int_equal(log->op_count, 2); /* the third kernel is of no class communication */
    assert_string_equal(log->ops[0].name, "all_reduce");
    assert_int_equal(log->ops[0].step, 0); /* the whole trace */
    assert_string_equal(log->ops[1].name, "reduce_scatter");
    assert_int_equal(log->ops[1].size_bytes, 24);
    assert_null(a.plugin->comm_log);
    assert_true(r->has_communication);
    assert_false(a.plugin->has_communication);
    done(&a);
}

static void marks_inside_a_mark_belong_to_it(void **state)
{
    struct analysed a;
    const struct trace_results *r = analyse(
        &a,
        EVENT("cpu_op", "record_param_comms", HOST, 0, 100, "\"External id\": 1, \"Collective name\": \"barrier\"") "," EVENT(
            "cpu_op", "record_param_comms", HOST, 10, 50,
            "\"External id\": 2, " ALL_REDUCE) "," EVENT("user_annotation", "nccl:all_reduce", HOST,
                                                         20, 30,
                                                         "\"External id\": 3") "," EVENT("cpu_op",
                                                                                         "record_"
                                                                                         "param_"
                                                                                         "comms",
                                                                                         "\"pid\": "
                                                                                         "100, "
                                                                                         "\"tid\": "
                                                                                         "2",
                                                                                         10, 50,
                                                                                         "\"Externa"
                                                                                         "l id\": "
                                                                                         "4,"
                                                                                         " " ALL_REDUCE) "," EVENT("kernel",
                                                                                                                   NCCL_KERNEL,
                                                                                                                   DEVICE,
                                                                                                                   200,
                                                                                                                   10,
                                                                                                                   "\"External id\": 2, \"correlation\": 9"));
    const struct collective_log *log = r->comm_log;
    assert_int_equal(log->op_count, 2);
    assert_string_equal(log->ops[0].name, "barrier");
    range_is(log, 0, 0, 200, 210);
    assert_string_equal(log->ops[1].name, "all_reduce"); /* of another thread */
    range_is(log, 1, 0, 10, 60);
    done(&a);
}

static void device_annotations_stand_for_kernels(void **state)
{
    struct analysed a;
    const struct trace_results *r = analyse(
        &a,
        EVENT("user_annotation", "nccl:all_reduce", HOST, 0, 10, "\"External id\": 3") "," EVENT(
            "gpu_user_annotation", "nccl:all_reduce", DEVICE, 50, 25,
            "\"External id\": 3") "," EVENT("gpu_user_annotation", "nccl:broadcast", DEVICE, 80, 5,
                                            "\"External id\": 4"));
    const struct collective_log *log = r->comm_log;
    assert_int_equal(log->op_count, 2);
    assert_int_equal(log->ops[0].range_count, 1);
    range_is(log, 0, 0, 50, 75);
    assert_string_equal(log->ops[1].name, "broadcast");
    range_is(log, 1, 0, 80, 85);
    done(&a);
}

/* Unlike the plugin's rule, which counts kernels by their operator's id, whatever they are named.
 */
static void only_the_class_makes_communication(void **state)
{
    struct analysed a;
    const struct trace_results *r =
        analyse(&a, EVENT("cpu_op", "gloo:all_reduce", HOST, 0, 10, "\"External id\": 3") "," EVENT(
                        "cpu_op", "nccl:all_reduce", HOST, 20, 10,
                        "\"External id\": 4") "," EVENT("kernel", "one_shot_kernel", DEVICE, 40, 10,
                                                        "\"External id\": 4, \"correlation\": 9"));
    assert_null(a.plugin->comm_log); /* two libraries */
    const struct collective_log *log = r->comm_log;
    assert_int_equal(log->op_count, 2);
    range_is(log, 0, 0, 0, 10);
    range_is(log, 1, 0, 20, 30); /* the mark, for it has no device work */
    assert_int_equal(log->ops[1].range_count, 1);
    done(&a);
}

static void steps_go_by_the_launch(void **state)
{
    struct analysed a;
    const struct trace_results *r = analyse(
        &a,
        EVENT("user_annotation", "ProfilerStep#1", HOST, 0, 100, "") "," EVENT(
            "user_annotation", "ProfilerStep#2", HOST, 100, 100,
            "") "," CALL("", 1,
                         90) "," EVENT("kernel", NCCL_KERNEL, DEVICE, 120, 10,
                                       "\"correlation\": 1") "," CALL("", 2,
                                                                      150) "," EVENT("kernel",
                                                                                     NCCL_KERNEL,
                                                                                     DEVICE, 190,
                                                                                     60,
                                                                                     "\"correlation"
                                                                                     "\": 2"));
    const struct collective_log *log = r->comm_log;
    assert_int_equal(log->op_count, 2);
    assert_int_equal(log->ops[0].step, 0);
    assert_int_equal(log->ops[1].step, 1);
    done(&a);
}

static void traces_without_collectives_have_none(void **state)
{
    struct analysed a;
    const struct trace_results *r = analyse(
        &a,
        EVENT("cpu_op", "aten::mm", HOST, 0, 10, "\"External id\": 2") "," EVENT(
            "cpu_op", "record_param_comms", HOST, 20, 5,
            "\"Collective name\": \"wait\"") "," EVENT("cpu_op", "nccl:all_reduce_note", HOST, 30,
                                                       5,
                                                       "\"External id\": 3") "," EVENT("kernel",
                                                                                       "gemm",
                                                                                       DEVICE, 20,
                                                                                       10,
                                                                                       "\"External "
                                                                                       "id\": 2, "
                                                                                       "\"correlati"
                                                                                       "on\": 1"));
    assert_int_equal(r->collective_count, 0);
    assert_null(r->comm_log);
    done(&a);
}

/* ---- stored ---- */

static void logs_are_stored(void **state)
{
    struct fixture *f = *state;
    struct analysed a;
    const struct trace_results *r =
        analyse(&a, EVENT("cpu_op", "nccl:all_reduce", HOST, 0, 10, "\"External id\": 3") "," EVENT(
                        "kernel", NCCL_KERNEL, DEVICE, 40, 10, "\"correlation\": 9, " ALL_REDUCE));
    int64_t job = add_job(f, "run", "w.pt.trace.json", "{}", false);
    int64_t id = publish(f, job, "w", "", r);
    int64_t derived_id = 0;
    assert_ok(f, store_derived_write(f->store, id, a.plugin, &derived_id, &f->err));
    done(&a);

    struct collective_log *log = NULL;
    assert_ok(f, READ(f->store, store_comm_log, &f->arena, derived_id, &log, &f->err));
    assert_int_equal(log->op_count, 1);
    assert_string_equal(log->ops[0].name, "nccl:all_reduce");
    assert_null(log->ops[0].group);
    assert_ok(f, READ(f->store, store_comm_log, &f->arena, id, &log, &f->err));
    assert_int_equal(log->op_count, 2);
    assert_int_equal(log->ops[0].group_size, 0);
    assert_string_equal(log->ops[1].name, "all_reduce");
    assert_string_equal(log->ops[1].group, "tp");
    assert_int_equal(log->ops[1].group_size, 8);
    assert_int_equal(log->ops[1].size_bytes, 2000);
    range_is(log, 1, 0, 40, 50);

    struct store_trace *trace = NULL;
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, id, &trace, &f->err));
    assert_int_equal(trace->collective_count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_have_one_spelling),
        cmocka_unit_test(kernels_of_libraries_are_known),
        cmocka_unit_test(types_have_sizes),
        cmocka_unit_test(arguments_are_read),
        cmocka_unit_test(host_marks_and_kernel_are_one),
        cmocka_unit_test(a_launch_inside_the_mark_joins_without_ids),
        cmocka_unit_test(copies_of_correlations_join_nothing),
        cmocka_unit_test(kernels_alone_are_collectives),
        cmocka_unit_test(marks_inside_a_mark_belong_to_it),
        cmocka_unit_test(device_annotations_stand_for_kernels),
        cmocka_unit_test(only_the_class_makes_communication),
        cmocka_unit_test(steps_go_by_the_launch),
        cmocka_unit_test(traces_without_collectives_have_none),
        cmocka_unit_test_setup_teardown(logs_are_stored, set_up_store, tear_down_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
