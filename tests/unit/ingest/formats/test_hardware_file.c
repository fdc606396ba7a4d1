#include "ingest/base/text/buf.h"
#include "ingest/formats/perf_data/hardware_file.h"
#include "tests/unit/ingest/formats/table_fixture.h"

#include <unistd.h>

/* Reads the text from a file of its own. */
static bool read_hardware(const char *text, struct hardware *hardware, struct err *err)
{
    char path[] = "/tmp/hardware_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_true(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    assert_int_equal(close(file), 0);
    bool good = hardware_file_read(path, hardware, err);
    assert_int_equal(unlink(path), 0);
    return good;
}

struct component {
    const char *category;
    const char *config;
    const char *inventory;
};

static void put_json(struct buf *out, const char *json)
{
    buf_puts(out, ",\"");
    for (; *json != '\0'; json++) {
        buf_puts(out, *json == '"' ? "\"" : "");
        buf_putc(out, *json);
    }
    buf_putc(out, '"');
}

/* Reads these rows behind a header. */
static void read_components(const struct component *rows, size_t count, struct hardware *hardware)
{
    struct buf text;
    struct err err = ERR_INIT;
    buf_init(&text, SIZE_MAX);
    buf_puts(&text, "\xEF\xBB\xBFname,category,config,inventory\n");
    for (size_t i = 0; i < count; i++) {
        buf_printf(&text, "part,%s", rows[i].category);
        put_json(&text, rows[i].config);
        put_json(&text, rows[i].inventory);
        buf_putc(&text, '\n');
    }
    buf_puts(&text, "part,CAT_CPU\npart,CAT_CPU,\"open");
    assert_true(read_hardware(text.ptr, hardware, &err));
    buf_free(&text);
}

#define ENV(host) "{\"env\": {\"hostname\": \"" host "\"}}"

static void components_are_read(void **state)
{
    static const struct component rows[] = {
        {"CAT_CPU", ENV("h1"), "{\"macro\": {\"cores\": 32, \"freq\": \"4000 MHz\"}}"},
        {"CAT_CPU", ENV("h1"), "{\"macro\": {\"cores\": 16, \"freq\": \"about 2500.9\"}}"},
        {"CAT_CPU", ENV("h1"), "{\"macro\": {\"cores\": 0, \"freq\": \"fast\"}}"},
        {"CAT_MEMORY", ENV("h1"), "{\"macro\": {\"size\": 1024}}"},
        {"CAT_MEMORY", ENV("h1"), "{\"macro\": {\"size\": \"512 MB\"}}"},
        {"CAT_XPU", ENV("h2"), "{\"macro\": {\"index\": 5, \"memory_capacity\": 85899345920}}"},
        {"CAT_XPU", ENV("h2"), "{\"macro\": {\"index\": 0}}"},
        {"CAT_PROCESS", ENV("h2"), "{\"macro\": {\"pid\": 520152, \"gpu_index\": 7}}"},
        {"CAT_NET", ENV("h3"), "{\"macro\": {\"speed\": 5}}"},
    };
    struct hardware hardware;
    read_components(rows, COUNT_OF(rows), &hardware);
    assert_int_equal(hardware.host_count, 3);
    assert_string_equal(hardware.hosts[0].name, "h1");
    assert_near(hardware.hosts[0].cpu_freq_mhz, 2500, 0); /* the last one said */
    assert_int_equal(hardware.hosts[0].cpu_cores, 48);
    assert_near(hardware.hosts[0].memory_bytes, 1536.0 * 1024 * 1024, 0);
    assert_string_equal(hardware.hosts[1].name, "h2");
    assert_near(hardware.hosts[1].cpu_freq_mhz, 0, 0);
    assert_int_equal(hardware.gpu_count, 2);
    assert_string_equal(hardware.gpus[0].host, "h2");
    assert_int_equal(hardware.gpus[0].index, 5);
    assert_near(hardware.gpus[0].memory_bytes, 85899345920.0, 0);
    assert_int_equal(hardware.gpus[1].index, 0);
    assert_near(hardware.gpus[1].memory_bytes, 0, 0);
    assert_int_equal(hardware.process_count, 1);
    assert_string_equal(hardware.processes[0].host, "h2");
    assert_int_equal(hardware.processes[0].pid, 520152);
    assert_int_equal(hardware.processes[0].gpu_index, 7);
    arena_free(&hardware.arena);
}

static void rows_that_say_nothing_are_left_out(void **state)
{
    static const struct component rows[] = {
        {"CAT_CPU", "{\"env\": {}}", "{\"macro\": {\"cores\": 1}}"},
        {"CAT_CPU", ENV(""), "{\"macro\": {\"cores\": 1}}"},
        {"CAT_CPU", "{broken", "{\"macro\": {\"cores\": 1}}"},
        {"CAT_CPU", "", ""},
        {"CAT_CPU", ENV("h"), "{\"macro\": 5}"},
        {"CAT_XPU", ENV("h"), "{\"macro\": {\"index\": null}}"},
        {"CAT_XPU", ENV("h"), "{\"macro\": {\"index\": -1}}"},
        {"CAT_PROCESS", ENV("h"), "{\"macro\": {\"pid\": 1}}"},
        {"CAT_CPU", ENV("h"), "{\"macro\": {\"cores\": 1e300, \"freq\": -5}}"},
    };
    struct hardware hardware;
    read_components(rows, COUNT_OF(rows), &hardware);
    assert_int_equal(hardware.host_count, 1);
    assert_int_equal(hardware.hosts[0].cpu_cores, 0);
    assert_near(hardware.hosts[0].cpu_freq_mhz, 0, 0);
    assert_int_equal(hardware.gpu_count, 0);
    assert_int_equal(hardware.process_count, 0);
    arena_free(&hardware.arena);
}

static void other_files_are_refused(void **state)
{
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"", "column \"category\""},
        {"a,b,c\n", "column \"category\""},
        {"category,config\n", "column \"inventory\""},
        {"{\"traceEvents\": []}", "column \"category\""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct hardware hardware;
        struct err err = ERR_INIT;
        assert_false(read_hardware(cases[i].text, &hardware, &err));
        assert_int_equal(err.code, ERR_BAD_INPUT);
        assert_non_null(strstr(err.msg, cases[i].says));
        arena_free(&hardware.arena);
    }
    struct hardware hardware;
    struct err err = ERR_INIT;
    assert_false(hardware_file_read("/nowhere/topo_component.csv", &hardware, &err));
    assert_non_null(strstr(err.msg, "/nowhere/topo_component.csv"));
    arena_free(&hardware.arena);
}

static void the_reference_file_is_read(void **state)
{
    char path[4096];
    struct hardware hardware;
    struct err err = ERR_INIT;
    const char *reference = getenv("KINETOSCOPE_REFERENCE");
    (void)snprintf(path, sizeof path, "%s/data/cycles/vllm_marker_normal/topo_component.csv",
                   reference != NULL ? reference : KS_TEST_DIR "/../../shared");
    bool good = hardware_file_read(path, &hardware, &err);
    if (!good && access(path, R_OK) != 0) {
        print_message("%s is not there: set KINETOSCOPE_REFERENCE\n", path);
        arena_free(&hardware.arena);
        skip();
        return;
    }
    assert_true(good);
    assert_int_equal(hardware.host_count, 1);
    assert_string_equal(hardware.hosts[0].name, "host0");
    assert_near(hardware.hosts[0].cpu_freq_mhz, 4000, 0);
    assert_int_equal(hardware.hosts[0].cpu_cores, 64);
    assert_near(hardware.hosts[0].memory_bytes, 4 * 131072.0 * 1024 * 1024, 0);
    assert_int_equal(hardware.gpu_count, 2);
    assert_int_equal(hardware.process_count, 1);
    assert_int_equal(hardware.processes[0].pid, 520152);
    arena_free(&hardware.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_are_read),
        cmocka_unit_test(rows_that_say_nothing_are_left_out),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(the_reference_file_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
