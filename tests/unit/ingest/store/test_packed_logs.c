/* Results with their logs packed on the way are those with columns: the same bytes go into the
 * store. */
#include "ingest/analysis/analysis.h"
#include "ingest/store/store.h"
#include "tests/unit/ingest/analysis/memory_builder.h"

#include <stdlib.h>

#define RECORDS 500

/* Operators on two threads, with memory records, launches and kernels; `module`: in one. */
static void make_trace(struct build *b, bool with_module, bool decimal)
{
    build_begin(b);
    if (with_module) {
        build_module(b, "nn.Module: Net", 0, 1000000, 1, 0);
    }
    for (int64_t i = 0; i < RECORDS; i++) {
        int64_t start_us = 10 + i * 100;
        int64_t tid = 1 + i % 2;
        build_op(b, "aten::add", tid, start_us, start_us + 80, i + 1);
        build_op(b, "aten::empty", tid, start_us + 10, start_us + 30, i + 10000);
        build_runtime(b, 1, start_us + 40, start_us + 45, i + 1, i + 1);
        build_kernel(b, "k", start_us + 50, start_us + 60, i + 1);
        build_memory(b, (struct build_record){.tid = tid,
                                              .at_us = start_us + 20,
                                              .addr = 4096 + i % 7,
                                              .size_bytes = i % 3 == 0 ? -512 : 512,
                                              .allocated_bytes = i * 512,
                                              .reserved_bytes = i * 1024,
                                              .device_type = (int32_t)(i % 2)});
    }
    b->trace->decimal_times = decimal;
}

static void check_log(const struct trace_results *packed,
                      const struct trace_results *columns,
                      enum result_log log,
                      const void *as_columns,
                      const void *no_columns)
{
    struct packed_log wanted = {.bytes = NULL};
    assert_null(no_columns);
    assert_null(columns->packed[log].bytes);
    if (as_columns == NULL) {
        assert_null(packed->packed[log].bytes);
        return;
    }
    assert_true(store_encode_log(log, as_columns, &wanted));
    assert_int_equal(packed->packed[log].len, wanted.len);
    assert_memory_equal(packed->packed[log].bytes, wanted.bytes, wanted.len);
    free(wanted.bytes);
}

static void check_logs(const struct trace_results *packed, const struct trace_results *columns)
{
    check_log(packed, columns, RESULT_CALL_TREE, columns->call_tree, packed->call_tree);
    check_log(packed, columns, RESULT_MEMORY_LOG, columns->memory_log, packed->memory_log);
    check_log(packed, columns, RESULT_GPU_COUNTERS, columns->gpu_counters, packed->gpu_counters);
    assert_int_equal(packed->module_count, columns->module_count);
    assert_int_equal(packed->operator_count[0], columns->operator_count[0]);
}

static void check(bool with_module, bool decimal)
{
    struct err err = ERR_INIT;
    struct build b;
    struct trace_results *packed = NULL;
    struct trace_results *columns = NULL;
    make_trace(&b, with_module, decimal);
    assert_true(analysis_run(b.trace, &columns, &err));
    assert_true(analysis_run_with(b.trace, &(struct analysis_wants){.pack = store_encode_log},
                                  &packed, &err));
    assert_non_null(columns->call_tree);
    assert_non_null(columns->memory_log);
    check_logs(packed, columns);
    results_destroy(packed);
    results_destroy(columns);
    build_end(&b);
}

static void packed_logs_are_the_columns(void **state)
{
    check(false, false);
    check(true, false);
}

static void the_plugins_figures_too(void **state)
{
    check(false, true);
    check(true, true);
}

static bool refuse(enum result_log log, const void *columns, struct packed_log *out)
{
    (void)columns;
    (void)out;
    return log == RESULT_CALL_TREE ? store_encode_log(log, columns, out) : false;
}

static void a_packer_without_memory_ends_it(void **state)
{
    struct err err = ERR_INIT;
    struct build b;
    struct trace_results *results = NULL;
    make_trace(&b, false, false);
    assert_false(
        analysis_run_with(b.trace, &(struct analysis_wants){.pack = refuse}, &results, &err));
    assert_int_equal(err.code, ERR_NO_MEMORY);
    assert_null(results);
    build_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_logs_are_the_columns),
        cmocka_unit_test(the_plugins_figures_too),
        cmocka_unit_test(a_packer_without_memory_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
