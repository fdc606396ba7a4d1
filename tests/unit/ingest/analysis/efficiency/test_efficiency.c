/* Efficiency of small traces, and the critical path at the roofline, worked out by hand [CAU-4]. */
#include "ingest/analysis/critical_path/critical_path.h"
#include "ingest/analysis/efficiency/efficiency.h"
#include "ingest/formats/format.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define US INT64_C(1000)

static void assert_near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-12 * fabs(wanted))) {
        fail_msg("%.17g, wanted %.17g", value, wanted);
    }
}

struct fixture {
    struct format_bundle bundle;
    struct arena arena;
    const struct trace *trace;
};

/* A trace of an H100 with these events, read as for efficiency. */
static void begin(struct fixture *f, const char *events)
{
    char text[8192];
    struct err err = ERR_INIT;
    struct input *in = NULL;
    const struct format_options options = {.operator_inputs = true};
    int len = snprintf(text, sizeof text,
                       "{\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100 80GB HBM3\"}],"
                       " \"traceEvents\": [%s]}",
                       events);
    assert_in_range(len, 1, sizeof text - 1);
    assert_true(input_open_memory(&in, text, (size_t)len, 0, &err));
    assert_true(format_read(in, &options, &f->bundle, &err));
    input_close(in);
    f->trace = f->bundle.items[0].model;
    arena_init(&f->arena, 0);
}

static void end(struct fixture *f)
{
    arena_free(&f->arena);
    format_bundle_free(&f->bundle);
}

static struct efficiency by(struct fixture *f, enum efficiency_group group)
{
    struct efficiency efficiency;
    assert_true(efficiency_analyse(f->trace, group, NULL, &f->arena, &efficiency));
    return efficiency;
}

#define X(category, name, ts, dur, args)                           \
    "{\"ph\": \"X\", \"cat\": \"" category "\", \"name\": \"" name \
    "\", \"pid\": 1, \"tid\": 1, \"ts\": " #ts ", \"dur\": " #dur ", \"args\": {" args "}}"
#define LAUNCH(ts, correlation) \
    X("cuda_runtime", "cudaLaunchKernel", ts, 5, "\"correlation\": " #correlation)
#define KERNEL(name, ts, dur, correlation) \
    X("kernel", name, ts, dur, "\"device\": 0, \"stream\": 7, \"correlation\": " #correlation)
#define MM_TYPES "\"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\"]"

/* aten::linear launches nothing itself and has no formula: its product counts, once, with the union
 * of two kernels (200 to 210, 205 to 220). my::op counts without a formula, the launch outside of
 * operators as itself, and work without a launch in no row. */
static const char mixed[] =
    X("python_function", "nn.Module: Linear_0", 0, 100, "") "," X("user_annotation", "ProfilerStep#4", 0, 150, "") "," X(
        "cpu_op",
        "aten::linear",
        1,
        90,
        "") "," X("cpu_op",
                  "aten::mm",
                  10,
                  80,
                  "\"Input Dims\": [[64, 32], [32,  16]], \"Input Strides\": [[32, 1], [16, "
                  "1]], " MM_TYPES) "," LAUNCH(20,
                                               1) "," LAUNCH(30,
                                                             2) "," X("cpu_op",
                                                                      "my::op",
                                                                      120,
                                                                      20,
                                                                      "") "," LAUNCH(125,
                                                                                     3) "," LAUNCH(160,
                                                                                                   4) "," KERNEL("gemm",
                                                                                                                 200,
                                                                                                                 10,
                                                                                                                 1) "," KERNEL("gemm",
                                                                                                                               205,
                                                                                                                               15,
                                                                                                                               2) "," KERNEL("mine",
                                                                                                                                             230,
                                                                                                                                             30,
                                                                                                                                             3) "," KERNEL("other",
                                                                                                                                                           270,
                                                                                                                                                           5,
                                                                                                                                                           4) "," KERNEL("lost",
                                                                                                                                                                         290,
                                                                                                                                                                         10,
                                                                                                                                                                         9);

static void each_work_belongs_to_one_call(void **state)
{
    struct fixture f;
    begin(&f, mixed);
    struct efficiency efficiency = by(&f, EFFICIENCY_BY_OPERATOR);
    assert_int_equal(efficiency.count, 3);
    assert_string_equal(efficiency.rows[0].name, "aten::mm");
    assert_string_equal(efficiency.rows[1].name, "my::op");
    assert_string_equal(efficiency.rows[2].name, "cudaLaunchKernel");
    assert_int_equal(efficiency.rows[0].time_ns, 20 * US);
    assert_int_equal(efficiency.time_ns, 55 * US);
    assert_int_equal(efficiency.modelled_time_ns, 20 * US);
    assert_int_equal(efficiency.outside_events, 1);
    assert_int_equal(efficiency.outside_time_ns, 10 * US);
    end(&f);
}

/* 65,536 operations on 7,168 bytes at 989.4 TFLOP/s and 3.35 TB/s. */
static void a_row_says_what_the_device_could_do(void **state)
{
    struct fixture f;
    begin(&f, mixed);
    struct efficiency efficiency = by(&f, EFFICIENCY_BY_SHAPE);
    const struct efficiency_row *mm = &efficiency.rows[0];
    double roofline_ns = 7168 / 3.35e12 * 1e9;
    assert_string_equal(efficiency.device.name, "H100 80GB HBM3");
    assert_string_equal(mm->dims, "[[64,32],[32,16]]");
    assert_string_equal(mm->strides, "[[32,1],[16,1]]");
    assert_null(mm->concrete);
    assert_true(mm->flops == 65536 && mm->bytes == 7168 && mm->total_flops == 65536);
    assert_string_equal(mm->unit, "matrix");
    assert_string_equal(mm->precision, "bf16");
    assert_string_equal(mm->bound, "memory");
    assert_near(mm->roofline_ns, roofline_ns);
    assert_near(mm->headroom_ns, 20000 - roofline_ns);
    assert_near(mm->intensity, 65536.0 / 7168);
    assert_near(mm->flops_per_second, 65536 / 20e-6);
    assert_near(efficiency.mfu, 65536 / 989.4e12 / 100e-6);
    assert_true(efficiency.rows[1].flops == WIDE_NONE);
    assert_true(isnan(efficiency.rows[1].roofline_ns));
    assert_near(efficiency.rows[1].mfu, 0);
    end(&f);
}

/* The step lasts 150 us; the last launch is in none. */
static void groups_by_module_and_step(void **state)
{
    struct fixture f;
    begin(&f, mixed);
    struct efficiency modules = by(&f, EFFICIENCY_BY_MODULE);
    assert_int_equal(modules.count, 2);
    assert_string_equal(modules.rows[0].module, "nn.Module: Linear_0");
    assert_null(modules.rows[1].module);
    assert_int_equal(modules.rows[1].calls, 2);
    assert_null(modules.rows[1].name);
    struct efficiency steps = by(&f, EFFICIENCY_BY_STEP);
    assert_int_equal(steps.count, 2);
    assert_string_equal(steps.rows[0].step, "4");
    assert_int_equal(steps.rows[0].time_ns, 50 * US);
    assert_near(steps.rows[0].mfu, 65536 / 989.4e12 / 150e-6);
    assert_null(steps.rows[1].step);
    end(&f);
}

/* A float product whose kernel says tf32 is judged by that peak. */
static void kernels_tell_tf32(void **state)
{
    struct fixture f;
    begin(&f, X("cpu_op", "aten::mm", 0, 50,
                "\"Input Dims\": [[4096, 4096], [4096, 4096]], \"Input type\": [\"float\", "
                "\"float\"]") "," LAUNCH(20, 1) "," KERNEL("sm80_TF32_gemm", 60, 500, 1));
    struct efficiency efficiency = by(&f, EFFICIENCY_BY_OPERATOR);
    assert_string_equal(efficiency.rows[0].precision, "tf32");
    assert_string_equal(efficiency.rows[0].bound, "compute");
    assert_near(efficiency.rows[0].roofline_ns, 2.0 * 4096 * 4096 * 4096 / 494.7e12 * 1e9);
    end(&f);
}

/* Inputs are kept only for those who ask. */
static void inputs_are_read_on_request_alone(void **state)
{
    struct fixture f;
    begin(&f, mixed);
    uint32_t asked = f.trace->op_args[f.trace->events.args[3]].dims_json;
    assert_int_not_equal(asked, STRTAB_NONE);
    end(&f);
    struct err err = ERR_INIT;
    struct input *in = NULL;
    char text[4096];
    int len = snprintf(text, sizeof text, "{\"traceEvents\": [%s]}", mixed);
    assert_in_range(len, 1, sizeof text - 1);
    assert_true(input_open_memory(&in, text, (size_t)len, 0, &err));
    assert_true(format_read(in, NULL, &f.bundle, &err));
    input_close(in);
    const struct trace *trace = f.bundle.items[0].model;
    assert_int_equal(trace->op_args[trace->events.args[3]].dims_json, STRTAB_NONE);
    format_bundle_free(&f.bundle);
}

/* The call's work takes 100 us and could take 40.94 us at the roofline of its bytes; another 20 us
 * have none. Launched at 20, the kernel starts at 60: the path shrinks by what the kernel gains. */
static void a_kernel_at_its_roofline_shortens_the_path(void **state)
{
    struct fixture f;
    struct critical_path path;
    const struct path_scale scale = {.name = "copy", .at_roofline = true};
    const struct path_request request = {
        .options = {.annotation = ""}, .scales = &scale, .scale_count = 1, .top = 3};
    begin(&f, X("cpu_op", "aten::copy_", 0, 50,
                "\"Input Dims\": [[17145900], [17145900]], \"Input type\": [\"float\", "
                "\"float\"]") "," LAUNCH(20, 1) "," KERNEL("copy", 60, 100, 1));
    assert_true(critical_path_analyse(f.trace, 0, &request, &f.arena, &path));
    assert_int_equal(path.length_ns, 160 * US);
    /* 8 x 17,145,900 bytes at 3.35 TB/s are 40,945.43 ns. */
    assert_int_equal(path.scaled_length_ns, 60 * US + 40945);
    end(&f);
}

static bool read_peaks(const char *text, struct device_peaks_list *list)
{
    static const char path[] = "device_peaks.json";
    struct err err = ERR_INIT;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
    bool ok = device_peaks_read(path, list, &err);
    (void)unlink(path);
    return ok;
}

static void own_peaks_come_first(void **state)
{
    struct fixture f;
    struct device_peaks_list own;
    struct efficiency efficiency;
    begin(&f, mixed);
    assert_true(
        read_peaks("{\"H100\": {\"bandwidth_bytes_per_second\": 1e12, \"matrix\": {\"bf16\": "
                   "2e12, \"fp8\": null}, \"source\": \"ours\"}}",
                   &own));
    assert_true(efficiency_analyse(f.trace, EFFICIENCY_BY_OPERATOR, &own, &f.arena, &efficiency));
    assert_string_equal(efficiency.device.source, "ours");
    assert_string_equal(efficiency.rows[0].bound, "compute");
    assert_near(efficiency.rows[0].roofline_ns, 65536 / 2e12 * 1e9);
    device_peaks_free(&own);
    end(&f);
}

/* Bandwidth in TB/s of the sheets, 0: not known. */
static void devices_are_known_by_words_of_their_names(void **state)
{
    static const struct {
        const char *name, *key;
        double terabytes;
    } cases[] = {
        {"NVIDIA H200", "H200", 4.8},
        {"NVIDIA H100 80GB HBM3", "H100 80GB HBM3", 3.35},
        {"NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB", 1.555},
        {"NVIDIA A100-SXM4-80GB", "A100", 2.039},
        {"NVIDIA L4", "NVIDIA L4", 0.3},
        {"AMD Instinct MI300X", "MI300X", 5.3},
        {"AMD Instinct MI300X VF", "MI300X", 5.3},
        {"AMD Instinct MI210", "MI210", 1.6},
        {"NVIDIA L40S", NULL, 0},
        {"NVIDIA GH200 480GB", NULL, 0},
        {"NVIDIA H20", NULL, 0},
        {"", NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s", cases[i].name);
        struct device_properties device = {.has = DEVICE_HAS_NAME, .name = name};
        const struct trace trace = {.devices = &device, .device_count = 1};
        const struct device_peaks *peaks = device_peaks_find(&trace, NULL);
        if (cases[i].key == NULL) {
            assert_null(peaks);
        } else {
            assert_non_null(peaks);
            assert_string_equal(peaks->name, cases[i].key);
            assert_near(peaks->bandwidth_bytes_per_second, cases[i].terabytes * 1e12);
        }
    }
}

#define KERNEL_OF(device, ts, dur, correlation) \
    X("kernel", "gemm", ts, dur,                \
      "\"device\": " #device ", \"stream\": 7, \"correlation\": " #correlation)

/* The same product on each of two devices, which work from 200 to 220 together: 131,072 operations
 * in 20 us, of what both could do. */
static void two_devices_could_do_twice_as_much(void **state)
{
    static const char events[] =
        X("cpu_op", "aten::mm", 10, 20, "\"Input Dims\": [[64, 32], [32, 16]], " MM_TYPES) "," LAUNCH(15, 1) "," X(
            "cpu_op", "aten::mm", 40, 20,
            "\"Input Dims\": [[64, 32], [32, 16]], " MM_TYPES) "," LAUNCH(45,
                                                                          2) "," KERNEL_OF(0, 200,
                                                                                           10,
                                                                                           1) "," KERNEL_OF(1,
                                                                                                            205,
                                                                                                            15,
                                                                                                            2);
    struct fixture f;
    begin(&f, events);
    struct efficiency efficiency = by(&f, EFFICIENCY_BY_OPERATOR);
    assert_true(efficiency.rows[0].total_flops == 131072);
    assert_near(efficiency.mfu, 131072 / (2 * 989.4e12) / 20e-6);
    end(&f);
}

static void faults_of_a_file_of_peaks(void **state)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{\"A\": 5}",
        "{\"\": {}}",
        "{\"A\": {\"matrix\": 5}}",
        "{\"A\": {\"matrix\": {\"bf16\": \"fast\"}}}",
        "{\"A\": {\"bandwidth_bytes_per_second\": 0}}",
        "{\"A\": {}, \"A\": {}}",
    };
    struct device_peaks_list own;
    struct err err = ERR_INIT;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (read_peaks(bad[i], &own)) {
            fail_msg("%s are no peaks", bad[i]);
        }
        device_peaks_free(&own);
    }
    assert_false(device_peaks_read("no such file", &own, &err));
    assert_int_equal(err.code, ERR_IO);
    device_peaks_free(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_work_belongs_to_one_call),
        cmocka_unit_test(a_row_says_what_the_device_could_do),
        cmocka_unit_test(groups_by_module_and_step),
        cmocka_unit_test(kernels_tell_tf32),
        cmocka_unit_test(inputs_are_read_on_request_alone),
        cmocka_unit_test(a_kernel_at_its_roofline_shortens_the_path),
        cmocka_unit_test(own_peaks_come_first),
        cmocka_unit_test(devices_are_known_by_words_of_their_names),
        cmocka_unit_test(two_devices_could_do_twice_as_much),
        cmocka_unit_test(faults_of_a_file_of_peaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
