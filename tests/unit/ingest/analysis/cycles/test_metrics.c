/* Counters during events: which series, how many samples, what they are divided by. */
#include "tests/unit/ingest/analysis/cycles/cycle_fixture.h"

static void three_samples_are_measured(void **state)
{
    struct scene s;
    scene_begin(&s);
    scene_turns(&s, 7);
    scene_slice(&s, "runq", 7, 1010, 20);
    scene_slice(&s, "runq", 7, 1050, 4);
    static const double values[] = {10, 20, 60, 40};
    static const double times[] = {1010, 1020, 1030, 1090};
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        scene_sample(&s, "CAT_CPU", "host_cpu_usage", "x", times[i], values[i]);
    }
    const struct trace_results *r = scene_run(&s, NULL);
    const struct cycle_use_row *row = scene_row(r, 1, "runq", "host_cpu_usage");
    /* Over the first slice 10, 20, 60: mean 30, variance 1400 / 3; the second one lies on the line
     * from 60 at 1030 to 40 at 1090: 160 / 3 and 52, mean 158 / 3, variance 4 / 9. */
    assert_near(row->mu_pct, cycle_text((20 * 30.0 + 4 * 158.0 / 3) / 24));
    assert_near(row->sigma_pct, cycle_text(sqrt((20 * 1400.0 / 3 + 4 * 4.0 / 9) / 24)));
    assert_string_equal(row->interpolation, "*");
    assert_int_equal(row->instances, 2);
    assert_int_equal(r->counter_count, 1);
    assert_int_equal(r->counters[0].samples, 4);
    assert_near(r->counters[0].mean, 32.5);
    assert_near(r->counters[0].min, 10);
    assert_near(r->counters[0].max, 60);
    assert_near(r->counters[0].std, sqrt((506.25 + 156.25 + 756.25 + 56.25) / 4));
    scene_end(&s);
}

/* Only what lies in the cycle is seen, and beyond it the nearest sample holds. */
static void few_samples_are_interpolated_in_the_window(void **state)
{
    struct scene s;
    scene_begin(&s);
    scene_turns(&s, 7);
    scene_slice(&s, "runq", 7, 1210, 10);
    scene_slice(&s, "runq", 7, 1410, 10);
    scene_sample(&s, "CAT_CPU", "host_cpu_usage", "x", 1150, 99);
    scene_sample(&s, "CAT_CPU", "host_cpu_usage", "x", 1215, 50);
    scene_sample(&s, "CAT_CPU", "host_cpu_usage", "x", 1255, 70);
    scene_sample(&s, "CAT_MEMORY", "host_mem_usage", "x", 1600, 5);
    const struct trace_results *r = scene_run(&s, NULL);
    const struct cycle_use_row *row = scene_row(r, 2, "runq", "host_cpu_usage");
    assert_near(row->mu_pct, (50 + 52.5) / 2);
    assert_near(row->sigma_pct, 1.25);
    assert_string_equal(row->interpolation, "**");
    assert_null(scene_find(r, 3, "runq", "host_cpu_usage"));
    assert_string_equal(scene_row(r, 3, "runq", NULL)->interpolation, " ");
    scene_end(&s);
}

/* Two processes with busy cores 9 and 10: 19 is nearest to 16, a tie between 8 and 16 goes to 8. */
static void cores_are_estimated_from_the_cycle(void **state)
{
    struct scene s;
    scene_begin(&s);
    scene_turns(&s, 7);
    scene_slice(&s, "runq", 7, 1010, 20);
    scene_slice(&s, "runq", 7, 1210, 20);
    scene_sample(&s, "CAT_PROCESS", "process_cpu_usage_7", "p", 1020, 850);
    scene_sample(&s, "CAT_PROCESS", "process_cpu_usage_8", "p", 1020, 1000);
    scene_sample(&s, "CAT_PROCESS", "process_cpu_usage_7", "p", 1220, 150);
    scene_sample(&s, "CAT_PROCESS", "process_cpu_usage_8", "p", 1220, 1000);
    const struct trace_results *r = scene_run(&s, NULL);
    assert_near(scene_row(r, 1, "runq", "process_cpu_usage")->mu_pct, 850.0 / 16);
    assert_near(scene_row(r, 2, "runq", "process_cpu_usage")->mu_pct, 150.0 / 8);
    scene_end(&s);
}

static void a_process_without_a_series_takes_the_common_one(void **state)
{
    struct scene s;
    scene_begin(&s);
    scene_turns(&s, 7);
    scene_slice(&s, "mmap", 7, 1010, 20);
    scene_slice(&s, "mmap", 7, 1210, 20);
    scene_sample(&s, "CAT_PROCESS", "process_mem_rss_5.2e+05", "p", 1020, 11);
    scene_sample(&s, "CAT_PROCESS", "process_mem_rss_7", "p", 1020, 22);
    scene_sample(&s, "CAT_PROCESS", "process_mem_rss_8", "p", 1220, 33);
    const struct trace_results *r = scene_run(&s, NULL);
    assert_near(scene_row(r, 1, "mmap", "process_mem_rss")->mu_pct, 2200);
    assert_null(scene_find(r, 2, "mmap", "process_mem_rss"));
    scene_end(&s);
}

static void devices_have_counters_of_their_own(void **state)
{
    struct scene s;
    scene_begin(&s);
    scene_turns(&s, 7);
    scene_launch(&s, 7, 1010, 2, 5);
    scene_kernel(&s, "k", 7, 1020, 20, 5);
    scene_sample(&s, "CAT_XPU", "gpu_usage", "CAT_XPU_0", 1030, 30);
    scene_sample(&s, "CAT_XPU", "gpu_usage", "CAT_XPU_1", 1030, 90);
    scene_sample(&s, "CAT_NET", "net_tx_rate", "eth0", 1030, 7);
    const struct trace_results *r = scene_run(&s, NULL);
    assert_near(scene_row(r, 1, "k", "gpu_usage")->mu_pct, 30);
    assert_null(scene_find(r, 1, "k", "net_tx_rate"));
    assert_int_equal(r->counter_count, 2);
    scene_end(&s);
}

/* Joined where they overlap: the length weighs, duration and count stay those of the slices. */
static void slices_on_processors_are_joined(void **state)
{
    struct scene s;
    scene_begin(&s);
    scene_turns(&s, 7);
    scene_slice(&s, "oncpu", 7, 1010, 20);
    scene_slice(&s, "OnCpu worker", 7, 1020, 20);
    scene_slice(&s, "oncpu", 7, 1040, 10);
    for (int i = 0; i <= 40; i += 10) {
        scene_sample(&s, "CAT_CPU", "cpu_temp", "x", 1010 + i, i);
    }
    const struct trace_results *r = scene_run(&s, NULL);
    const struct cycle_use_row *row = scene_row(r, 1, "oncpu", "cpu_temp");
    assert_near(row->duration_us, 50);
    assert_int_equal(row->instances, 3);
    /* [1010, 1040]: 0, 10, 20, 30. [1040, 1050]: 30 and 40, interpolated. */
    assert_near(row->mu_pct, 100 * (30 * 15.0 + 10 * 35.0) / 40);
    assert_string_equal(row->interpolation, "*");
    scene_end(&s);
}

static void the_hardware_file_gives_sizes_and_devices(void **state)
{
    struct hardware_host host = {
        .name = "n1", .cpu_freq_mhz = 4000, .cpu_cores = 50, .memory_bytes = 1000};
    struct hardware_gpu gpu = {.host = "n1", .index = 6, .memory_bytes = 500};
    struct hardware_process process = {.host = "n1", .pid = 7, .gpu_index = 6};
    struct hardware hardware = {.hosts = &host,
                                .host_count = 1,
                                .gpus = &gpu,
                                .gpu_count = 1,
                                .processes = &process,
                                .process_count = 1};
    struct cycles_options options = {.hardware = &hardware};
    struct err err = ERR_INIT;
    struct scene s;
    scene_begin(&s);
    scene_add(&s,
              "{\"ph\": \"i\", \"cat\": \"x\", \"name\": \"n\", \"pid\": \"n1(7)\", \"ts\": 1}");
    scene_turns(&s, 7);
    scene_slice(&s, "oncpu", 7, 1010, 20);
    scene_launch(&s, 7, 1010, 2, 5);
    scene_event(&s, "Kernel", "k", 7, "stream 7", 1020, 20,
                "{\"device\": \"0\", \"correlation\": 5}");
    scene_sample(&s, "CAT_CPU", "cpu_frequency", "x", 1030, 3000);
    scene_sample(&s, "CAT_PROCESS", "process_cpu_usage", "x", 1030, 100);
    scene_sample(&s, "CAT_PROCESS", "process_mem_usage", "x", 1030, 8);
    scene_sample(&s, "CAT_XPU", "gpu_mem_used", "CAT_XPU_6", 1030, 50);
    assert_true(scene_try(&s, &options, &err));
    const struct trace_results *r = s.results;
    assert_near(scene_row(r, 1, "oncpu", "cpu_frequency")->mu_pct, 75);
    assert_near(scene_row(r, 1, "oncpu", "process_cpu_usage")->mu_pct, 2);
    assert_near(scene_row(r, 1, "oncpu", "process_mem_usage")->mu_pct, 0.008);
    assert_string_equal(scene_row(r, 1, "oncpu", "process_mem_usage")->host, "n1");
    assert_near(scene_row(r, 1, "k", "gpu_mem_used")->mu_pct, 10);
    assert_string_equal(scene_row(r, 1, "k", "gpu_mem_used")->device, "GPU 6");
    scene_end(&s);
}

/* With several hosts in a cycle each looks at its own counters, those without a name at
 * localhost's. */
static void hosts_are_told_apart(void **state)
{
    struct scene s;
    scene_begin(&s);
    for (int i = 0; i < 3; i++) {
        scene_call(&s, "turn", 7, "main", 1000 + 200 * i, 100);
    }
    static const char *const hosts[] = {"a", "localhost"};
    for (int i = 0; i < 2; i++) {
        scene_add(
            &s,
            "{\"ph\": \"X\", \"cat\": \"c\", \"name\": \"runq\", \"pid\": %d, \"tid\": \"x\", "
            "\"ts\": 1010, \"dur\": 20, \"args\": {\"hostname\": \"%s\"}}",
            20 + i, hosts[i]);
    }
    scene_add(&s, "{\"ph\": \"C\", \"cat\": \"c\", \"name\": \"host_cpu_usage\", \"ts\": 1020, "
                  "\"args\": {\"value\": 10, \"hostname\": \"a\"}}");
    scene_add(
        &s,
        "{\"ph\": \"C\", \"cat\": \"c\", \"name\": \"host_mem_usage\", \"pid\": 99, \"ts\": 1020, "
        "\"args\": {\"value\": \"30\"}}");
    const struct trace_results *r = scene_run(&s, NULL);
    const struct cycle_use_row *row = scene_row(r, 1, "runq", "host_cpu_usage");
    assert_int_equal(row->pid, 20);
    assert_near(row->mu_pct, 10);
    row = scene_row(r, 1, "runq", "host_mem_usage");
    assert_int_equal(row->pid, 21);
    assert_near(row->mu_pct, 30);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_samples_are_measured),
        cmocka_unit_test(few_samples_are_interpolated_in_the_window),
        cmocka_unit_test(cores_are_estimated_from_the_cycle),
        cmocka_unit_test(a_process_without_a_series_takes_the_common_one),
        cmocka_unit_test(devices_have_counters_of_their_own),
        cmocka_unit_test(slices_on_processors_are_joined),
        cmocka_unit_test(the_hardware_file_gives_sizes_and_devices),
        cmocka_unit_test(hosts_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
