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

static void check_export(const struct format_bundle *bundle)
{
    const struct kernel_table *table = table_of(bundle, "nsys-sqlite");
    assert_int_equal(table->launch_count, 6);
    assert_int_equal(table->bad_row_count, 0);
    const struct kernel_table_launch *launches = table->launches;
    static const int64_t starts_ns[] = {1000, 2000, 3000, 4000, 5000, 6000};
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(launches[i].start_ns, starts_ns[i]);
    }
    assert_int_equal(launches[0].kind, KERNEL_TABLE_MEMCPY);
    assert_string_equal(launch_name(table, 0), "[CUDA memcpy Host-to-Device]");
    assert_int_equal(launches[0].size_bytes, 4096);
    assert_int_equal(launches[1].kind, KERNEL_TABLE_KERNEL);
    assert_string_equal(launch_name(table, 1), "void f<int, 4>(int, float)");
    assert_int_equal(launches[1].dur_ns, 250);
    assert_int_equal(launches[1].stream, 7);
    assert_string_equal(text_at(table, launches[1].grid), "[64, 2, 1]");
    assert_string_equal(text_at(table, launches[1].block), "[256, 1, 1]");
    assert_true(launches[1].size_bytes == INT64_MIN);
    assert_true(isnan(launches[1].tensor));
    assert_string_equal(launch_name(table, 2), "g");
    assert_string_equal(launch_name(table, 3), "[CUDA memcpy Device-to-Host]");
    assert_string_equal(launch_name(table, 4), "[CUDA memcpy]");
    assert_int_equal(launches[5].kind, KERNEL_TABLE_MEMSET);
    assert_string_equal(launch_name(table, 5), "[CUDA memset]");
    assert_int_equal(launches[5].size_bytes, 512);
}

static void an_export_is_read_from_its_file(void **state)
{
    (void)state;
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
    (void)state;
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
    assert_false(read_bytes(bytes, len / 2, 0, &bundle, &err));
    assert_int_equal(files_in(folder), 2);
    assert_int_equal(unsetenv("TMPDIR"), 0);
    assert_int_equal(rmdir(folder), 0);
    free(bytes);
    drop_file(path);
}

static void strange_paths_are_no_uris(void **state)
{
    (void)state;
    char folder[] = "/tmp/kinetoscope-test-XXXXXX";
    char strange[128];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(strange, sizeof strange, "%s/a?mode=rwc#100%%25 b", folder);
    char *path = make_file(STRINGS KERNEL_TABLE KERNELS);
    assert_int_equal(rename(path, strange), 0);
    struct format_bundle bundle = read_path(strange);
    assert_int_equal(table_of(&bundle, "nsys-sqlite")->launch_count, 2);
    format_bundle_free(&bundle);
    assert_int_equal(unlink(strange), 0);
    assert_int_equal(rmdir(folder), 0);
    free(path);
}

static void columns_differ_between_versions(void **state)
{
    (void)state;
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
        const struct kernel_table *table = table_of(&bundle, "nsys-sqlite");
        assert_int_equal(table->launch_count, 1);
        assert_string_equal(launch_name(table, 0), rows[i].name);
        assert_int_equal(table->launches[0].dur_ns, 2);
        assert_true(table->launches[0].device == INT64_MIN);
        assert_int_equal(table->launches[0].grid, STRTAB_NONE);
        format_bundle_free(&bundle);
        drop_file(path);
    }
}

static void bad_rows_are_told_and_left_out(void **state)
{
    (void)state;
    static const char *const says[] = {
        "row 1 of CUPTI_ACTIVITY_KIND_KERNEL: start and end are no span of time",
        "row 2 of CUPTI_ACTIVITY_KIND_KERNEL: start and end are no span of time",
        "row 3 of CUPTI_ACTIVITY_KIND_KERNEL: it has no name",
        "the kernel that starts at 50 ns: its name 77 is not in StringIds",
    };
    char *path =
        make_file(STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName);"
                          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 5, 8),"
                          " ('soon', 20, 8), (30, 40, NULL), (50, 60, 77), (70, 80, 9)");
    struct format_bundle bundle = read_path(path);
    const struct kernel_table *table = table_of(&bundle, "nsys-sqlite");
    assert_int_equal(table->launch_count, 1);
    assert_string_equal(launch_name(table, 0), "g");
    assert_int_equal(table->bad_row_count, COUNT_OF(says));
    for (size_t i = 0; i < COUNT_OF(says); i++) {
        assert_string_equal(table->bad_rows[i], says[i]);
    }
    format_bundle_free(&bundle);
    drop_file(path);
}

static void other_databases_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        enum err_code code;
        const char *says;
    } rows[] = {
        {"CREATE TABLE person (name)", ERR_UNSUPPORTED, "no export of Nsight Systems"},
        {STRINGS, ERR_BAD_INPUT, "--trace=cuda"},
        {STRINGS KERNEL_TABLE, ERR_BAD_INPUT, "--trace=cuda"},
        {STRINGS KERNEL_TABLE COPIES, ERR_BAD_INPUT, "--trace=cuda"},
        {STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, finish)", ERR_BAD_INPUT,
         "no column"},
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
    (void)state;
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
        read_anything(damaged, len);
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
        cmocka_unit_test(bad_rows_are_told_and_left_out),
        cmocka_unit_test(other_databases_are_refused),
        cmocka_unit_test(damage_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
