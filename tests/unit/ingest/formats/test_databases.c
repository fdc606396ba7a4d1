#include "tests/unit/ingest/formats/kernel_table_fixture.h"

#include <dirent.h>
#include <sqlite3.h>
#include <unistd.h>
#include <zstd.h>

#define KERNEL_TABLE                                                                             \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, \"end\" INTEGER NOT NULL," \
    " deviceId INTEGER, contextId INTEGER, streamId INTEGER, gridX INTEGER, gridY INTEGER,"      \
    " gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, demangledName INTEGER,"     \
    " shortName INTEGER);"
#define STRINGS                                                                                \
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);"                    \
    "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (7, 'void f<int, 4>(int, float)')," \
    " (8, 'f'), (9, 'g'), (1000000007, 'an NVTX range');"
#define KERNELS                                         \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"     \
    " (3000, 3750, 0, 1, 13, 1, 1, 1, 32, 1, 1, 9, 9)," \
    " (2000, 2250, 0, 1, 7, 64, 2, 1, 256, 1, 1, 7, 8);"
#define COPIES                                                                          \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, \"end\" INTEGER, deviceId" \
    " INTEGER, streamId INTEGER, bytes INTEGER, copyKind INTEGER);"                     \
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1000, 1500, 0, 7, 4096, 1),"        \
    " (4000, 4100, 0, 7, 64, 2), (5000, 5100, 0, 7, 64, 99);"                           \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, \"end\" INTEGER, deviceId" \
    " INTEGER, streamId INTEGER, bytes INTEGER);"                                       \
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (6000, 6010, 0, 7, 512);"

/* A database made from this SQL, in a file of its own. */
static char *make_file(const char *sql)
{
    static const char pattern[] = "/tmp/kinetoscope-test-XXXXXX";
    char *path = malloc(sizeof pattern);
    assert_non_null(path);
    memcpy(path, pattern, sizeof pattern);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    char *why = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) {
        fail_msg("%s", why);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return path;
}

static void drop_file(char *path)
{
    (void)unlink(path);
    free(path);
}

static char *bytes_of(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *len = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*len);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *len, file), *len);
    (void)fclose(file);
    return bytes;
}

static const struct trace *trace_of(const struct format_bundle *bundle, const char *format)
{
    assert_int_equal(bundle->item_count, 1);
    assert_string_equal(bundle->format, format);
    assert_non_null(bundle->items[0].model);
    return bundle->items[0].model;
}

static uint32_t count_kind(const struct trace *trace, enum event_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < trace->events.count; i++) {
        count += trace_kind(&trace->events, i) == kind;
    }
    return count;
}

/* The first event of this kind. */
static uint32_t first_of(const struct trace *trace, enum event_kind kind)
{
    uint32_t event = 0;
    while (event < trace->events.count && trace_kind(&trace->events, event) != kind) {
        event++;
    }
    assert_true(event < trace->events.count);
    return event;
}

static const char *name_of(const struct trace *trace, uint32_t event)
{
    return strtab_text(trace->strings, trace->events.name[event]);
}

static void check_export(const struct format_bundle *bundle)
{
    const struct trace *trace = trace_of(bundle, "nsys-sqlite");
    assert_int_equal(count_kind(trace, EVENT_KERNEL), 2);
    assert_int_equal(count_kind(trace, EVENT_MEMCPY), 3);
    assert_int_equal(count_kind(trace, EVENT_MEMSET), 1);
    uint32_t kernel = first_of(trace, EVENT_KERNEL) + 1;
    const struct kernel_args *args = &trace->kernel_args[trace->events.args[kernel]];
    assert_string_equal(name_of(trace, kernel), "void f<int, 4>(int, float)");
    assert_int_equal(trace->events.ts_ns[kernel], 2000);
    assert_int_equal(trace_dur_ns(&trace->events, kernel), 250);
    assert_int_equal(args->stream, 7);
    assert_string_equal(strtab_text(trace->strings, args->grid), "[64, 2, 1]");
    uint32_t copy = first_of(trace, EVENT_MEMCPY);
    assert_string_equal(name_of(trace, copy), "[CUDA memcpy Host-to-Device]");
    assert_int_equal(trace->kernel_args[trace->events.args[copy]].size_bytes, 4096);
    assert_string_equal(trace->recorded->recorder, "Nsight Systems");
    assert_int_equal(trace->recorded->linked, 0);
}

static void an_export_is_read_from_its_file(void **state)
{
    char *path = make_file(STRINGS KERNEL_TABLE KERNELS COPIES);
    struct format_bundle bundle = read_path(path);
    check_export(&bundle);
    format_bundle_free(&bundle);
    drop_file(path);
}

static unsigned files_in(const char *folder)
{
    unsigned count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir) != NULL) {
        count++;
    }
    (void)closedir(dir);
    return count;
}

static void an_export_in_memory_is_copied_and_leaves_nothing(void **state)
{
    char folder[] = "/tmp/kinetoscope-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("TMPDIR", folder, 1), 0);
    size_t len;
    struct err err = ERR_INIT;
    struct format_bundle bundle;
    char *path = make_file(STRINGS KERNEL_TABLE KERNELS COPIES);
    char *bytes = bytes_of(path, &len);
    assert_true(read_bytes(bytes, len, 1000, &bundle, &err));
    check_export(&bundle);
    format_bundle_free(&bundle);
    size_t packed_size = ZSTD_compressBound(len);
    char *packed = malloc(packed_size);
    assert_non_null(packed);
    size_t packed_len = ZSTD_compress(packed, packed_size, bytes, len, 1);
    assert_false(ZSTD_isError(packed_len));
    assert_true(read_bytes(packed, packed_len, 0, &bundle, &err));
    check_export(&bundle);
    format_bundle_free(&bundle);
    free(packed);
    assert_false(read_bytes(bytes, 600, 0, &bundle, &err));
    assert_int_equal(files_in(folder), 2);
    assert_int_equal(unsetenv("TMPDIR"), 0);
    assert_int_equal(rmdir(folder), 0);
    free(bytes);
    drop_file(path);
}

static void strange_paths_are_no_uris(void **state)
{
    char folder[] = "/tmp/kinetoscope-test-XXXXXX";
    char strange[128];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(strange, sizeof strange, "%s/a?mode=rwc#100%%25 b", folder);
    char *path = make_file(STRINGS KERNEL_TABLE KERNELS);
    assert_int_equal(rename(path, strange), 0);
    struct format_bundle bundle = read_path(strange);
    assert_int_equal(count_kind(trace_of(&bundle, "nsys-sqlite"), EVENT_KERNEL), 2);
    format_bundle_free(&bundle);
    assert_int_equal(unlink(strange), 0);
    assert_int_equal(rmdir(folder), 0);
    free(path);
}

static void columns_differ_between_versions(void **state)
{
    static const struct {
        const char *sql;
        const char *name;
    } rows[] = {
        {STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, shortName);"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 3, 8)",
         "f"},
        {STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (name, start, end);"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (9, 1, 3)",
         "g"},
        {"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName TEXT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 3, 'void h<2>()')",
         "void h<2>()"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *path = make_file(rows[i].sql);
        struct format_bundle bundle = read_path(path);
        const struct trace *trace = trace_of(&bundle, "nsys-sqlite");
        assert_int_equal(count_kind(trace, EVENT_KERNEL), 1);
        assert_string_equal(name_of(trace, first_of(trace, EVENT_KERNEL)), rows[i].name);
        format_bundle_free(&bundle);
        drop_file(path);
    }
}

static void calls_ranges_and_graphs_are_read(void **state)
{
    char *path = make_file(
        STRINGS KERNEL_TABLE
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, nameId, globalTid, correlationId);"
        "INSERT INTO StringIds VALUES (20, 'cudaGraphLaunch_v10000');"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (5, 9, 20, 16777219, 44);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, streamId, "
        "correlationId, graphExecId);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (10, 30, 0, 7, 44, 3);"
        "CREATE TABLE NVTX_EVENTS (start, end, eventType, text, textId, globalTid);"
        "INSERT INTO NVTX_EVENTS VALUES (1, 20, 59, 'forward', NULL, 16777219),"
        " (2, NULL, 60, NULL, 1000000007, 16777219), (3, NULL, 34, 'here', NULL, 16777219),"
        " (4, NULL, 75, 'a domain', NULL, 16777219)");
    struct format_bundle bundle = read_path(path);
    const struct trace *trace = trace_of(&bundle, "nsys-sqlite");
    uint32_t call = first_of(trace, EVENT_RUNTIME);
    assert_string_equal(name_of(trace, call), "cudaGraphLaunch");
    assert_string_equal(name_of(trace, first_of(trace, EVENT_KERNEL)), "graph 3");
    assert_int_equal(count_kind(trace, EVENT_OPERATOR), 2);
    assert_int_equal(trace->recorded->linked, 1);
    assert_int_equal(trace->recorded->skipped_count, 1);
    assert_string_equal(trace->recorded->skipped[0].what, "range without end");
    uint32_t open = first_of(trace, EVENT_OPERATOR) + 1;
    assert_int_equal(trace_dur_ns(&trace->events, open), 28); /* to the end of the graph */
    format_bundle_free(&bundle);
    drop_file(path);
}

/* As torch.autograd.profiler.emit_nvtx(record_shapes=True) writes them. */
static void operators_of_emit_nvtx_have_shapes_and_sequence(void **state)
{
    static const struct {
        const char *range, *name, *dims;
    } rows[] = {
        {"aten::mm, seq = 12, op_id = 7, sizes = [[2, 30], [30, 4]], input_op_ids = [(1,0)]",
         "aten::mm", "[[2, 30], [30, 4]]"},
        {"aten::t, op_id = 7, sizes = [[2, 3], [], [0]]", "aten::t", "[[2, 3], [], [0]]"},
        {"MmBackward0, seq = 12", "MmBackward0", "[]"},
        {"aten::cat, sizes = [[[2, 3], [4, 5]], []]", "aten::cat", "[[[2, 3], [4, 5]], []]"},
        {"aten::x, sizes = [[2, 3]", "aten::x", "[]"},
        {"aten::x, sizes = [2, 03, 1 2]", "aten::x", "[]"},
        {"load, then wait", "load, then wait", "[]"},
        {", seq = 3", ", seq = 3", "[]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char sql[4096];
        (void)snprintf(sql, sizeof sql,
                       STRINGS KERNEL_TABLE
                       "CREATE TABLE NVTX_EVENTS (start, end, eventType, text, textId, globalTid);"
                       "INSERT INTO NVTX_EVENTS VALUES (1, 20, 59, '%s', NULL, 16777219)",
                       rows[i].range);
        char *path = make_file(sql);
        struct format_bundle bundle = read_path(path);
        const struct trace *trace = trace_of(&bundle, "nsys-sqlite");
        uint32_t event = first_of(trace, EVENT_OPERATOR);
        const struct op_args *args = &trace->op_args[trace->events.args[event]];
        assert_string_equal(name_of(trace, event), rows[i].name);
        assert_string_equal(strtab_text(trace->strings, args->shape), rows[i].dims);
        format_bundle_free(&bundle);
        drop_file(path);
    }
}

/* rocmProfileData, rocprofv3 and Ascend, by their tables. */
static void other_recorders_are_known_by_their_tables(void **state)
{
    static const struct {
        const char *format, *sql, *kernel;
    } rows[] = {
        {"rpd",
         "CREATE TABLE rocpd_string (id, string); INSERT INTO rocpd_string VALUES (1, 'gemm'),"
         " (2, 'KernelExecution'), (3, 'hipLaunchKernel');"
         "CREATE TABLE rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id);"
         "INSERT INTO rocpd_op VALUES (9, 2, 0, 20, 25, 1, 2);"
         "CREATE TABLE rocpd_api (id, pid, tid, start, end, apiName_id, args_id);"
         "INSERT INTO rocpd_api VALUES (5, 1, 1, 10, 12, 3, 0);"
         "CREATE TABLE rocpd_api_ops (api_id, op_id); INSERT INTO rocpd_api_ops VALUES (5, 9)",
         "gemm"},
        {"rocpd-db",
         "CREATE TABLE rocpd_string_a (id, string); INSERT INTO rocpd_string_a VALUES (1, 'hipX'),"
         " (2, 'HIP_API');"
         "CREATE TABLE rocpd_info_kernel_symbol_a (id, display_name, kernel_name);"
         "INSERT INTO rocpd_info_kernel_symbol_a VALUES (7, NULL, 'sum');"
         "CREATE TABLE rocpd_event_a (id, category_id, stack_id);"
         "INSERT INTO rocpd_event_a VALUES (1, 2, 40), (2, NULL, 40);"
         "CREATE TABLE rocpd_region_a (start, end, name_id, tid, event_id);"
         "INSERT INTO rocpd_region_a VALUES (10, 12, 1, 3, 1);"
         "CREATE TABLE rocpd_kernel_dispatch_a (start, end, agent_id, kernel_id, event_id);"
         "INSERT INTO rocpd_kernel_dispatch_a VALUES (20, 25, 2, 7, 2)",
         "sum"},
        {"ascend-db",
         "CREATE TABLE STRING_IDS (id, value); INSERT INTO STRING_IDS VALUES (1, 'MatMulV2'),"
         " (2, 'MatMul'), (3, 'AI_CORE'), (4, 'launch');"
         "CREATE TABLE TASK (startNs, endNs, deviceId, connectionId, globalTaskId, taskType);"
         "INSERT INTO TASK VALUES (20, 25, 2, 6, 1, 3);"
         "CREATE TABLE COMPUTE_TASK_INFO (globalTaskId, name, opType, taskType);"
         "INSERT INTO COMPUTE_TASK_INFO VALUES (1, 1, 2, 3);"
         "CREATE TABLE CANN_API (startNs, endNs, name, connectionId);"
         "INSERT INTO CANN_API VALUES (10, 12, 4, 6)",
         "MatMulV2"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *path = make_file(rows[i].sql);
        struct format_bundle bundle = read_path(path);
        const struct trace *trace = trace_of(&bundle, rows[i].format);
        uint32_t kernel = first_of(trace, EVENT_KERNEL);
        assert_string_equal(name_of(trace, kernel), rows[i].kernel);
        assert_int_equal(trace->kernel_args[trace->events.args[kernel]].device, 2);
        assert_int_equal(trace_dur_ns(&trace->events, kernel), 5);
        assert_int_equal(count_kind(trace, EVENT_RUNTIME), 1);
        assert_int_equal(trace->recorded->linked, 1);
        format_bundle_free(&bundle);
        drop_file(path);
    }
}

static void other_databases_are_refused(void **state)
{
    static const struct {
        const char *sql;
        enum err_code code;
        const char *says;
    } rows[] = {
        {"CREATE TABLE person (name)", ERR_UNSUPPORTED, "no recording"},
        {STRINGS, ERR_BAD_INPUT, "--trace=cuda"},
        {STRINGS KERNEL_TABLE, ERR_BAD_INPUT, "--trace=cuda"},
        /* nothing that runs code of the uploader's stands in for a table */
        {STRINGS "CREATE TABLE t (start, end, name);"
                 "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT * FROM t",
         ERR_BAD_INPUT, "--trace=cuda"},
        {STRINGS "CREATE VIRTUAL TABLE CUPTI_ACTIVITY_KIND_KERNEL USING fts5(start, end, name)",
         ERR_BAD_INPUT, "--trace=cuda"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err = ERR_INIT;
        struct input *in;
        struct format_bundle bundle;
        char *path = make_file(rows[i].sql);
        assert_true(input_open_file(&in, path, &err));
        assert_false(format_read(in, NULL, &bundle, &err));
        input_close(in);
        if (err.code != rows[i].code || strstr(err.msg, rows[i].says) == NULL) {
            fail_msg("row %d: %s: %s", (int)i, err_code_text(err.code), err.msg);
        }
        drop_file(path);
    }
}

static void damage_does_no_harm(void **state)
{
    size_t len;
    char *path = make_file(STRINGS KERNEL_TABLE KERNELS COPIES);
    char *bytes = bytes_of(path, &len);
    char *damaged = malloc(len);
    assert_non_null(damaged);
    for (size_t cut = 0; cut < len; cut += 1 + len / 60) {
        read_anything(bytes, cut);
    }
    unsigned state_of_chance = 1;
    for (unsigned round = 0; round < 400; round++) {
        memcpy(damaged, bytes, len);
        for (unsigned i = 0; i <= round % 8; i++) {
            state_of_chance = state_of_chance * 1103515245U + 12345U;
            size_t at = (state_of_chance >> 8) % len;
            damaged[at] = (char)(state_of_chance >> 3);
        }
        read_anything(damaged, len - round % 3 * (len / 4)); /* also cut */
    }
    free(damaged);
    free(bytes);
    drop_file(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_export_is_read_from_its_file),
        cmocka_unit_test(an_export_in_memory_is_copied_and_leaves_nothing),
        cmocka_unit_test(strange_paths_are_no_uris),
        cmocka_unit_test(columns_differ_between_versions),
        cmocka_unit_test(calls_ranges_and_graphs_are_read),
        cmocka_unit_test(operators_of_emit_nvtx_have_shapes_and_sequence),
        cmocka_unit_test(other_recorders_are_known_by_their_tables),
        cmocka_unit_test(other_databases_are_refused),
        cmocka_unit_test(damage_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
