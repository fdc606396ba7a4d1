/* Cycles as CSV and JSON. */
#include "api/views/cycles_text.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#define TEXT_BYTES_MAX ((size_t)1 << 16)

#define HEADER                                                                                 \
    "cycle,pid,hostname,beta_pct,function_name,metric_name,device,func_type,mu_pct,sigma_pct," \
    "duration,interpolation_status,anchor_name,anchor_dur_us,cycle_start_ts,instances_count,"  \
    "simple_name,cycle_kind\n"

static struct cycle_row cycles[] = {
    {.number = 3,
     .kind = CYCLE_PREFILL,
     .anchor = "run",
     .start_ns = INT64_C(1763001580008344250),
     .dur_us = 1500.5},
    {.number = 5, .kind = CYCLE_DECODE, .anchor = "=run", .start_ns = -1500, .dur_us = 2},
};

static struct cycle_use_row uses[] = {
    {.cycle = 0,
     .pid = 7,
     .host = "n1",
     .function = "void k<4, float>(int)",
     .simple_name = "k",
     .type = "gpu_compute",
     .metric = "gpu_usage",
     .device = "GPU 7",
     .beta_pct = 12.3456,
     .mu_pct = 204324328554.3763,
     .sigma_pct = 0,
     .duration_us = 185.25,
     .interpolation = "**",
     .instances = 2},
    {.cycle = 1,
     .pid = -1,
     .host = "",
     .function = "runq",
     .simple_name = "runq",
     .type = "runq",
     .metric = NULL,
     .device = NULL,
     .beta_pct = 0.0001,
     .mu_pct = (double)NAN,
     .sigma_pct = (double)NAN,
     .duration_us = 1,
     .interpolation = " ",
     .instances = 1},
};

static struct counter_row counters[] = {{.name = "gpu_usage",
                                         .host = "n1",
                                         .samples = 4,
                                         .mean = 1.5,
                                         .min = 0,
                                         .max = 3,
                                         .std = 0.25}};

static struct trace_results everything(void)
{
    return (struct trace_results){.cycle_source = CYCLES_MARKER,
                                  .cycles = cycles,
                                  .cycle_count = COUNT_OF(cycles),
                                  .cycle_uses = uses,
                                  .cycle_use_count = COUNT_OF(uses),
                                  .counters = counters,
                                  .counter_count = COUNT_OF(counters)};
}

static void assert_text(void (*write)(struct buf *, const struct trace_results *),
                        const struct trace_results *results,
                        const char *want)
{
    struct buf out;
    buf_init(&out, TEXT_BYTES_MAX);
    write(&out, results);
    assert_false(out.failed);
    assert_string_equal(out.ptr, want);
    buf_free(&out);
}

static void json_from(struct buf *out, const struct trace_results *results)
{
    cycles_json(out, 250, results);
}

static void csv_is_the_perf_data_table(void **state)
{
    struct trace_results results = everything();
    assert_text(cycles_csv, &results,
                HEADER
                "3,7,n1,12.3456,\"void k<4, float>(int)\",gpu_usage,GPU 7,gpu_compute,"
                "204324328554.3763,0.0000,185.2500,**,run,1500.5000,1763001580008344.2500,2,k,"
                "prefill\n"
                "5,-1,,0.0001,runq,N/A,,runq,,,1.0000,\" \",'=run,2.0000,-1.5000,1,runq,"
                "decode\n");
}

static void json_has_cycles_rows_and_counters(void **state)
{
    struct trace_results results = everything();
    assert_text(
        json_from, &results,
        "{\"source\": \"marker\", \"cycles\": ["
        "{\"number\": 3, \"kind\": \"prefill\", \"anchor\": \"run\", \"start_ns\": "
        "1763001580008344000, "
        "\"duration_ns\": 1500500.0}, "
        "{\"number\": 5, \"kind\": \"decode\", \"anchor\": \"=run\", \"start_ns\": -1750, "
        "\"duration_ns\": 2000.0}], \"rows\": ["
        "{\"cycle\": 3, \"pid\": 7, \"hostname\": \"n1\", \"beta_pct\": 12.3456, "
        "\"function_name\": \"void k<4, float>(int)\", \"simple_name\": \"k\", \"metric_name\": "
        "\"gpu_usage\", \"device\": \"GPU 7\", \"func_type\": \"gpu_compute\", \"mu_pct\": "
        "204324328554.3763, \"sigma_pct\": 0.0, \"duration_ns\": 185250.0, "
        "\"interpolation_status\": "
        "\"**\", \"instances_count\": 2}, "
        "{\"cycle\": 5, \"pid\": -1, \"hostname\": \"\", \"beta_pct\": 0.0001, \"function_name\": "
        "\"runq\", \"simple_name\": \"runq\", \"metric_name\": null, \"device\": null, "
        "\"func_type\": \"runq\", \"mu_pct\": null, \"sigma_pct\": null, \"duration_ns\": 1000.0, "
        "\"interpolation_status\": \" \", \"instances_count\": 1}], \"counters\": ["
        "{\"name\": \"gpu_usage\", \"hostname\": \"n1\", \"samples\": 4, \"mean\": 1.5, \"min\": "
        "0.0, \"max\": 3.0, \"std\": 0.25}]}");
}

static void nothing_is_a_header_and_empty_lists(void **state)
{
    struct trace_results results = {.cycle_source = CYCLES_NONE};
    assert_text(cycles_csv, &results, HEADER);
    assert_text(json_from, &results,
                "{\"source\": \"none\", \"cycles\": [], \"rows\": [], \"counters\": []}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_is_the_perf_data_table),
        cmocka_unit_test(json_has_cycles_rows_and_counters),
        cmocka_unit_test(nothing_is_a_header_and_empty_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
