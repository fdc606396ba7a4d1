#include "ingest/formats/perf_data/hardware_file.h"

#include "ingest/base/text/json_small.h"
#include "ingest/formats/csv/row_list.h"
#include "ingest/formats/csv/scan.h"
#include "ingest/formats/json/scan.h"
#include "ingest/input/input.h"

#include <math.h>
#include <string.h>

#define BYTES_PER_MB (1024.0 * 1024.0)
#define HOSTS_MAX 4096 /* rows behind the last one are left out: hosts are searched */

enum column { CATEGORY, CONFIG, INVENTORY, COLUMN_COUNT };

struct reading {
    struct hardware *out;
    struct row_list hosts;
    struct row_list gpus;
    struct row_list processes;
    size_t columns[COLUMN_COUNT];
};

/* --- values of the JSON texts --- */

/* A number, or the first digits of a text ("4000 MHz"); NaN when there are none. */
static double number_in(const json_t *value)
{
    if (json_is_number(value)) {
        return json_number_value(value);
    }
    const char *text = json_string_value(value);
    const char *digit = text == NULL ? NULL : strpbrk(text, "0123456789");
    if (digit == NULL) {
        return (double)NAN;
    }
    double number = 0;
    for (; json_is_digit(*digit); digit++) {
        number = number * 10 + (*digit - '0');
    }
    return number;
}

static double amount_in(const json_t *macro, const char *key)
{
    double amount = number_in(json_object_get(macro, key));
    return amount > 0 && amount < 1e18 ? amount : 0;
}

static bool integer_in(const json_t *macro, const char *key, int64_t *number)
{
    double value = number_in(json_object_get(macro, key));
    if (!(value >= 0 && value < 9e15)) {
        return false;
    }
    *number = (int64_t)value;
    return true;
}

static const char *host_name_in(const json_t *config)
{
    const char *name =
        json_string_value(json_object_get(json_object_get(config, "env"), "hostname"));
    return name != NULL && *name != '\0' ? name : NULL;
}

/* A cell that is no JSON counts as an empty one. */
static json_t *parse_cell(const struct csv_cell *cell)
{
    struct err ignored = ERR_INIT;
    return json_small_parse(cell->text, cell->len, 0, "The cell", &ignored);
}

/* --- rows --- */

/* The host of this name, added when new; NULL without memory. */
static struct hardware_host *host_named(struct reading *reading, const char *name)
{
    struct hardware_host *hosts = (struct hardware_host *)(void *)reading->hosts.rows;
    for (size_t i = 0; i < reading->hosts.count; i++) {
        if (strcmp(hosts[i].name, name) == 0) {
            return &hosts[i];
        }
    }
    const char *copy = arena_strdup(&reading->out->arena, name);
    struct hardware_host *host = copy == NULL ? NULL : row_list_add(&reading->hosts);
    if (host != NULL) {
        host->name = copy;
    }
    return host;
}

static void add_processor(struct hardware_host *host, const json_t *macro)
{
    double cores = amount_in(macro, "cores");
    double freq_mhz = amount_in(macro, "freq");
    host->cpu_cores += cores < 1e6 ? (int64_t)cores : 0;
    if (freq_mhz > 0) {
        host->cpu_freq_mhz = freq_mhz;
    }
}

static bool add_gpu(struct reading *reading, const char *host, const json_t *macro)
{
    int64_t index;
    if (!integer_in(macro, "index", &index)) {
        return true;
    }
    struct hardware_gpu *gpu = row_list_add(&reading->gpus);
    if (gpu != NULL) {
        *gpu = (struct hardware_gpu){
            .host = host, .index = index, .memory_bytes = amount_in(macro, "memory_capacity")};
    }
    return gpu != NULL;
}

static bool add_process(struct reading *reading, const char *host, const json_t *macro)
{
    int64_t pid;
    int64_t gpu_index;
    if (!integer_in(macro, "pid", &pid) || !integer_in(macro, "gpu_index", &gpu_index)) {
        return true;
    }
    struct hardware_process *process = row_list_add(&reading->processes);
    if (process != NULL) {
        *process = (struct hardware_process){.host = host, .pid = pid, .gpu_index = gpu_index};
    }
    return process != NULL;
}

static bool add_component(struct reading *reading,
                          const struct csv_cell *category,
                          const char *host_name,
                          const json_t *macro)
{
    struct hardware_host *host = host_named(reading, host_name);
    if (host == NULL) {
        return false;
    }
    if (csv_cell_equals(category, "CAT_XPU")) {
        return add_gpu(reading, host->name, macro);
    }
    if (csv_cell_equals(category, "CAT_PROCESS")) {
        return add_process(reading, host->name, macro);
    }
    if (csv_cell_equals(category, "CAT_CPU")) {
        add_processor(host, macro);
    } else if (csv_cell_equals(category, "CAT_MEMORY")) {
        host->memory_bytes += amount_in(macro, "size") * BYTES_PER_MB;
    }
    return true;
}

static bool read_row(void *context, const struct csv_row *row, struct err *err)
{
    struct reading *reading = context;
    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (reading->columns[i] >= row->cell_count) {
            return true;
        }
    }
    const struct csv_cell *config_text = &row->cells[reading->columns[CONFIG]];
    const struct csv_cell *inventory_text = &row->cells[reading->columns[INVENTORY]];
    struct csv_cell category = csv_trim(row->cells[reading->columns[CATEGORY]]);
    json_t *config = parse_cell(config_text);
    json_t *inventory = parse_cell(inventory_text);
    const json_t *macro = json_object_get(inventory, "macro");
    const char *host = host_name_in(config);
    bool good = host == NULL || !json_is_object(macro) || reading->hosts.count == HOSTS_MAX ||
                add_component(reading, &category, host, macro);
    json_decref(config);
    json_decref(inventory);
    return good || err_set(err, ERR_NO_MEMORY, "no memory for the hardware file");
}

/* --- the file --- */

static bool read_header(struct reading *reading, struct csv_scan *scan, struct err *err)
{
    static const char *const names[COLUMN_COUNT] = {"category", "config", "inventory"};
    bool more;
    if (!csv_next(scan, &more, err)) {
        return false;
    }
    for (int i = 0; i < COLUMN_COUNT; i++) {
        reading->columns[i] = more ? csv_column(&scan->row, names[i]) : CSV_NO_COLUMN;
        if (reading->columns[i] == CSV_NO_COLUMN) {
            return err_set(err, ERR_BAD_INPUT,
                           "this is no hardware file: its first line has no column \"%s\" (needed "
                           "are category, config and inventory)",
                           names[i]);
        }
    }
    return true;
}

static bool read_rows(struct reading *reading, struct csv_scan *scan, struct err *err)
{
    if (!read_header(reading, scan, err) || !csv_each_row(scan, read_row, reading, err)) {
        return false;
    }
    struct hardware *out = reading->out;
    return (row_list_finish(&reading->hosts, &out->arena, &out->hosts, &out->host_count) &&
            row_list_finish(&reading->gpus, &out->arena, &out->gpus, &out->gpu_count) &&
            row_list_finish(&reading->processes, &out->arena, &out->processes,
                            &out->process_count)) ||
           err_set(err, ERR_NO_MEMORY, "no memory for the hardware file");
}

static bool read_input(struct input *in, struct hardware *out, struct err *err)
{
    struct text_stream stream;
    struct csv_scan scan;
    struct reading reading = {.out = out,
                              .hosts = {.row_bytes = sizeof(struct hardware_host)},
                              .gpus = {.row_bytes = sizeof(struct hardware_gpu)},
                              .processes = {.row_bytes = sizeof(struct hardware_process)}};
    if (!text_stream_open(&stream, in, err)) {
        return false;
    }
    text_stream_skip_mark(&stream);
    csv_open(&scan, &stream, ',', 1);
    bool good = read_rows(&reading, &scan, err);
    csv_close(&scan);
    row_list_free(&reading.hosts);
    row_list_free(&reading.gpus);
    row_list_free(&reading.processes);
    return good;
}

bool hardware_file_read(const char *path, struct hardware *out, struct err *err)
{
    struct input *in = NULL;
    *out = (struct hardware){.hosts = NULL};
    arena_init(&out->arena, 0);
    if (!input_open_file(&in, path, err)) {
        return false;
    }
    bool good = read_input(in, out, err);
    input_close(in);
    return good || err_context(err, "%s", path);
}
