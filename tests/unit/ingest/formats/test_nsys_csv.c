#include "tests/unit/ingest/formats/kernel_table_fixture.h"

#define TRACE_HEADER                                                                              \
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem " \
    "(MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"
#define SUM_HEADER                                                                        \
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns)," \
    "Name\n"

static void a_trace_has_launches_copies_and_sets(void **state)
{
    struct format_bundle bundle = read_text(
        "Processing [run.sqlite] with [/opt/nsight/reports/cuda_gpu_trace.py]... \n\n"
        " ** CUDA GPU Trace (cuda_gpu_trace):\n\n" TRACE_HEADER
        "1000,500,1,,,,,,,,,,8.389,167.0,Pageable,Device,NVIDIA A100-SXM4-40GB (0),1,,7,"
        "[CUDA memcpy Host-to-Device]\n"
        "2000,250,2,64,2,1,256,1,1,32,0.000,0.000,,,,,NVIDIA A100-SXM4-40GB (0),1,,7,"
        "\"void f<int, 4>(int, float)\"\n"
        "2500,40,3,,,,,,,,,,0.000512,,Device,,NVIDIA A100-SXM4-40GB (0),1,,7,[CUDA memset]\n"
        "3000,750,4,1,1,1,32,1,1,16,0.000,0.000,,,,,NVIDIA A100-SXM4-40GB (1),1,,13,g\n");
    const struct kernel_table *table = table_of(&bundle, "nsys-csv");
    assert_int_equal(table->launch_count, 4);
    assert_int_equal(table->summary_count, 0);
    assert_int_equal(table->bad_row_count, 0);
    const struct kernel_table_launch *launches = table->launches;
    assert_int_equal(launches[0].kind, KERNEL_TABLE_MEMCPY);
    assert_int_equal(launches[0].size_bytes, 8389000);
    assert_int_equal(launches[0].grid, STRTAB_NONE);
    assert_string_equal(launch_name(table, 0), "[CUDA memcpy Host-to-Device]");
    assert_int_equal(launches[1].kind, KERNEL_TABLE_KERNEL);
    assert_string_equal(launch_name(table, 1), "void f<int, 4>(int, float)");
    assert_int_equal(launches[1].start_ns, 2000);
    assert_int_equal(launches[1].dur_ns, 250);
    assert_string_equal(text_at(table, launches[1].grid), "[64, 2, 1]");
    assert_string_equal(text_at(table, launches[1].block), "[256, 1, 1]");
    assert_true(launches[1].size_bytes == INT64_MIN);
    assert_true(isnan(launches[1].tensor));
    assert_int_equal(launches[2].kind, KERNEL_TABLE_MEMSET);
    assert_int_equal(launches[2].size_bytes, 512);
    assert_int_equal(launches[3].device, 1);
    assert_int_equal(launches[3].stream, 13);
    format_bundle_free(&bundle);
}

static void units_stand_in_the_heads(void **state)
{
    static const struct {
        const char *text;
        int64_t start_ns, dur_ns, size_bytes;
    } rows[] = {
        {"Start (us),Duration (us),Bytes (MiB),Strm,Name\n1.5,2.25,1,7,[CUDA memset]\n", 1500, 2250,
         1048576},
        {"Start(sec),Duration(nsec),Bytes(KB),Strm,Name\n0.001,\"1,250\",1.5,7,[CUDA memset]\n",
         1000000, 1250, 1500},
        {"Start (ms),Duration (msec),Bytes (B),Strm,Name\n1,2,3,7,[CUDA memset]\n", 1000000,
         2000000, 3},
        {"Start,Duration,Bytes (furlongs),Strm,Name\n1,2,3,7,[CUDA memset]\n", 1, 2, INT64_MIN},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct format_bundle bundle = read_text(rows[i].text);
        const struct kernel_table *table = table_of(&bundle, "nsys-csv");
        assert_int_equal(table->launch_count, 1);
        assert_true(table->launches[0].start_ns == rows[i].start_ns);
        assert_true(table->launches[0].dur_ns == rows[i].dur_ns);
        assert_true(table->launches[0].size_bytes == rows[i].size_bytes);
        assert_int_equal(table->launches[0].kind, KERNEL_TABLE_MEMSET);
        format_bundle_free(&bundle);
    }
}

static void a_summary_has_summaries(void **state)
{
    static const char *const headers[] = {
        SUM_HEADER,
        "Time(%),Total Time (us),Instances,Average,Median (us),Minimum (us),Maximum (us),StdDev,"
        "Name\n",
    };
    static const char *const rows[] = {
        "60.0,6000,3,2000.5,1900.0,1000,3100,10.2,\"void f<int, 4>(int)\"\n",
        "60.0,6,3,2000.5,1.9,1,3.1,10.2,\"void f<int, 4>(int)\"\n",
    };
    for (size_t i = 0; i < COUNT_OF(headers); i++) {
        char text[512];
        (void)snprintf(text, sizeof text, "%s%s40.0,4000,1,4000,,,,,g\n", headers[i], rows[i]);
        struct format_bundle bundle = read_text(text);
        const struct kernel_table *table = table_of(&bundle, "nsys-csv");
        assert_int_equal(table->launch_count, 0);
        assert_int_equal(table->summary_count, 2);
        const struct kernel_table_summary *f = &table->summaries[0];
        assert_string_equal(text_at(table, f->name), "void f<int, 4>(int)");
        assert_int_equal(f->launches, 3);
        assert_int_equal(f->total_ns, 6000);
        assert_int_equal(f->min_ns, 1000);
        assert_int_equal(f->max_ns, 3100);
        assert_near(f->mean_ns, 2000.5);
        assert_near(f->median_ns, 1900);
        assert_true(table->summaries[1].min_ns == INT64_MIN);
        assert_true(isnan(table->summaries[1].median_ns));
        format_bundle_free(&bundle);
    }
}

/* What `nsys stats` prints without --report. */
static const char all_tables[] =
    "Generating SQLite file run.sqlite from run.nsys-rep\n"
    "Processing [run.sqlite] with [/opt/nsight/reports/cuda_api_sum.py]... \n"
    "\n"
    " ** CUDA API Summary (cuda_api_sum):\n"
    "\n"
    "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
    "60.0,6000,6,1000,1000,900,1100,10,cudaMalloc\n"
    "\n"
    "Processing [run.sqlite] with [/opt/nsight/reports/cuda_gpu_kern_sum.py]... \n" SUM_HEADER
    "75.0,3000,3,1000,1000,900,1100,10,f\n"
    "25.0,1000,1,1000,1000,1000,1000,0,g\n"
    "Processing [run.sqlite] with [/opt/nsight/reports/cuda_gpu_mem_time_sum.py]... \n"
    "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\n"
    "100.0,500,1,500,500,500,500,0,[CUDA memcpy Host-to-Device]\n"
    "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation\n"
    "8.0,1,8.0,8.0,8.0,8.0,0,[CUDA memcpy Host-to-Device]\n"
    "SKIPPED: run.sqlite does not contain OpenMP event data.\n"
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Style,"
    "Range\n"
    "100.0,500,1,500,500,500,500,0,PushPop,:forward\n";

static void other_tables_are_passed_over(void **state)
{
    struct format_bundle bundle = read_text(all_tables);
    const struct kernel_table *table = table_of(&bundle, "nsys-csv");
    assert_int_equal(table->launch_count, 0);
    assert_int_equal(table->summary_count, 2);
    assert_int_equal(table->bad_row_count, 0);
    format_bundle_free(&bundle);
}

static void a_trace_goes_before_a_summary(void **state)
{
    char text[4096];
    (void)snprintf(text, sizeof text, "%s[6/8] Executing 'cuda_gpu_trace' stats report\n%s%s",
                   all_tables, TRACE_HEADER,
                   "0,1000,1,1,1,1,1,1,1,1,0,0,,,,,GPU (0),1,,7,f\n"
                   "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n"
                   "1,2,cuLaunchKernel,0,1298,1,1,20,python\n");
    struct format_bundle bundle = read_text(text);
    const struct kernel_table *table = table_of(&bundle, "nsys-csv");
    assert_int_equal(table->launch_count, 1);
    assert_int_equal(table->summary_count, 0);
    assert_int_equal(table->bad_row_count, 0);
    format_bundle_free(&bundle);
}

static void names_with_bare_commas_stay_whole(void **state)
{
    struct format_bundle bundle = read_text("Start,Duration,Strm,Name\n"
                                            "1,2,7,void f<int, 4>(int, float)\n");
    const struct kernel_table *table = table_of(&bundle, "nsys-csv");
    assert_string_equal(launch_name(table, 0), "void f<int, 4>(int, float)");
    format_bundle_free(&bundle);
}

static void bad_rows_are_told_and_left_out(void **state)
{
    static const char *const says[] = {
        "line 2: the duration is no time (f)",
        "line 3: the duration is no time (f)",
        "line 4: the row breaks off (1000)",
        "line 5: the row breaks off (some text)",
        "line 8: the number of instances is no count (f)",
        "line 9: the total is no time (f)",
    };
    struct format_bundle bundle = read_text("Start (ns),Duration (ns),Strm,Name\n"
                                            "1000,fast,7,f\n"
                                            "1000,-5,7,f\n"
                                            "1000,5\n"
                                            "some text\n"
                                            "2000,5,7,f\n" SUM_HEADER "1,10,none,1,1,1,1,1,f\n"
                                            "1,,5,1,1,1,1,1,f\n");
    const struct kernel_table *table = table_of(&bundle, "nsys-csv");
    assert_int_equal(table->launch_count, 1);
    assert_int_equal(table->bad_row_count, COUNT_OF(says));
    for (size_t i = 0; i < COUNT_OF(says); i++) {
        assert_string_equal(table->bad_rows[i], says[i]);
    }
    format_bundle_free(&bundle);
}

static void tables_without_kernels_are_refused(void **state)
{
    static const char *const texts[] = {SUM_HEADER, TRACE_HEADER, SUM_HEADER TRACE_HEADER};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct err err = ERR_INIT;
        struct format_bundle bundle;
        assert_false(read_bytes(texts[i], strlen(texts[i]), 0, &bundle, &err));
        assert_int_equal(err.code, ERR_BAD_INPUT);
        assert_non_null(strstr(err.msg, "cuda_gpu_trace"));
    }
}

static void damage_does_no_harm(void **state)
{
    damage_text(all_tables);
    damage_text(
        TRACE_HEADER
        "1000,500,1,,,,,,,,,,8.389,167.0,Pageable,Device,A100 (0),1,,7,[CUDA memcpy HtoD]\n"
        "2000,250,2,64,2,1,256,1,1,32,0.000,0.000,,,,,A100 (0),1,,7,\"void f<int>(int)\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_has_launches_copies_and_sets),
        cmocka_unit_test(units_stand_in_the_heads),
        cmocka_unit_test(a_summary_has_summaries),
        cmocka_unit_test(other_tables_are_passed_over),
        cmocka_unit_test(a_trace_goes_before_a_summary),
        cmocka_unit_test(names_with_bare_commas_stay_whole),
        cmocka_unit_test(bad_rows_are_told_and_left_out),
        cmocka_unit_test(tables_without_kernels_are_refused),
        cmocka_unit_test(damage_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
