/* Chrome trace JSON: read in two block sizes, analysed, asked for cycles. What a strict parser
 * refuses is refused here too, or carries a warning; what it accepts is not called repaired. */
#include "ingest/analysis/causes/idle.h"
#include "ingest/analysis/causes/launches.h"
#include "ingest/analysis/critical_path/critical_path.h"
#include "ingest/analysis/device_time/device_operators.h"
#include "ingest/analysis/device_time/device_time.h"
#include "ingest/analysis/efficiency/efficiency.h"
#include "ingest/analysis/power/power.h"
#include "ingest/analysis/slices/slices.h"
#include "ingest/analysis/stacks/flame.h"
#include "ingest/analysis/stacks/stacks.h"
#include "tests/fuzz/fuzz_reading.h"

#include <jansson.h>
#include <string.h>

static const enum warning_code repairs[] = {
    WARN_CONTROL_CHARACTER, WARN_BARE_NAN,  WARN_BACKSLASH, WARN_QUOTE, WARN_UTF8, WARN_SYNTAX,
    WARN_SKIPPED_BYTES,     WARN_TRUNCATED, WARN_TRAILING};

enum verdict { PROPER, IMPROPER, UNDECIDED };

/* Beyond its own bounds, or where a valid document has texts that it does not take, jansson's
 * refusal says nothing. */
static enum verdict judge(const char *text, size_t len)
{
    json_error_t error;
    json_t *document = json_loadb(text, len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error);
    if (document != NULL) {
        json_decref(document);
        return PROPER;
    }
    /* Half of a surrogate pair, written as an escape, is proper JSON; jansson refuses it in these
     * words. */
    static const char half_a_pair[] = "invalid Unicode '";
    if (strncmp(error.text, half_a_pair, sizeof half_a_pair - 1) == 0) {
        return UNDECIDED;
    }
    switch (json_error_code(&error)) {
    case json_error_numeric_overflow:
    case json_error_stack_overflow:
    case json_error_null_character:
    case json_error_null_byte_in_key:
    case json_error_out_of_memory:
    case json_error_invalid_utf8:
        return UNDECIDED;
    default:
        return IMPROPER;
    }
}

/* Events with commas between them are read without their brackets too. */
static bool is_bare_list(const uint8_t *bytes, size_t len)
{
    struct buf text;
    buf_init(&text, SIZE_MAX);
    buf_putc(&text, '[');
    buf_append(&text, (const char *)bytes, len);
    buf_putc(&text, ']');
    bool is_list = !text.failed && judge(text.ptr, text.len) != IMPROPER;
    buf_free(&text);
    return is_list;
}

static uint64_t count_repairs(const struct trace *trace)
{
    uint64_t count = 0;
    for (size_t i = 0; i < sizeof repairs / sizeof repairs[0]; i++) {
        count += trace->warnings.by_code[repairs[i]].count;
    }
    return count;
}

static uint64_t count_warnings(const struct trace *trace)
{
    uint64_t count = 0;
    for (size_t i = 0; i < WARNING_CODE_COUNT; i++) {
        count += trace->warnings.by_code[i].count;
    }
    return count;
}

static void check_warnings(const uint8_t *bytes, size_t len, const struct trace *trace)
{
    enum verdict verdict = judge((const char *)bytes, len);
    fuzz_require(verdict != IMPROPER || count_warnings(trace) > 0 || is_bare_list(bytes, len),
                 "what is no JSON carries a warning");
    fuzz_require(verdict != PROPER || count_repairs(trace) == 0,
                 "proper JSON is not called repaired");
}

/* ---- analyses on request ---- */

static void check_device_time(const struct trace *trace, struct arena *arena)
{
    struct device_time times;
    struct device_operators owners;
    const struct device_captures none = {.count = 0};
    int64_t sum_ns = 0;
    fuzz_require(device_time_analyse(trace, 0, NULL, NULL, arena, &times) &&
                     device_operators_analyse(trace, NULL, &none, arena, &owners),
                 "device time finds memory");
    for (size_t i = 0; i < owners.count; i++) {
        sum_ns = (int64_t)((uint64_t)sum_ns + (uint64_t)owners.rows[i].device_ns);
    }
    fuzz_require(sum_ns == owners.device_ns || owners.device_ns == INT64_MAX,
                 "every piece of work has one owner");
}

static void check_idle(const struct trace *trace, struct arena *arena)
{
    struct idle idle;
    struct launches launches;
    fuzz_require(idle_analyse(trace, 0, CAUSES_DROP_LAST_STEP, 5, arena, &idle) &&
                     idle_analyse(trace, 0, CAUSES_KEEP_LAST_STEP, 5, arena, &idle) &&
                     launches_analyse(trace, 0, CAUSES_KEEP_LAST_STEP, NULL, arena, &launches),
                 "causes find memory");
    for (size_t i = 0; i < idle.stream_count; i++) {
        const struct idle_lane *lane = &idle.streams[i];
        uint64_t host_ns = 0;
        for (int kind = 0; kind < HOST_KIND_COUNT; kind++) {
            host_ns += (uint64_t)lane->host_ns[kind];
        }
        fuzz_require(host_ns == (uint64_t)lane->idle_ns || lane->idle_ns == INT64_MAX,
                     "what the host did adds up to the idle time");
    }
}

static void check_gaps(const struct trace *trace, struct arena *arena)
{
    struct idle_gaps gaps;
    const struct idle_gaps_request request = {
        .start_ns = INT64_MIN, .end_ns = INT64_MAX, .limit = 3, .next_event = 1};
    int64_t count = 0;
    fuzz_require(idle_gaps_analyse(trace, 0, &request, arena, &gaps), "gaps find memory");
    for (size_t i = 0; i < gaps.device_count; i++) {
        count += (int64_t)gaps.devices[i].count;
    }
    fuzz_require(count + gaps.left_out == gaps.total, "every gap is there or left out");
}

static void check_power(const struct trace *trace, struct arena *arena)
{
    struct power power;
    double joule = 0;
    fuzz_require(power_analyse(trace, 0, NULL, POWER_BY_STEP, arena, &power) &&
                     power_analyse(trace, 0, NULL, POWER_BY_CLASS, arena, &power),
                 "power finds memory");
    for (size_t i = 0; i < power.count; i++) {
        joule += power.rows[i].energy_j;
    }
    fuzz_require(!(joule < power.energy_j * (1 - 1e-6)), "classes and idle time have all energy");
}

static void check_path(const struct trace *trace, struct arena *arena)
{
    struct critical_path path;
    const struct path_request whole = {
        .options = {.annotation = ""}, .top = 3, .edges = PATH_EDGES_ALL};
    fuzz_require(critical_path_analyse(trace, 0, &whole, arena, &path),
                 "the critical path finds memory");
    int64_t sum_ns = 0;
    for (size_t i = 0; i < path.edge_count; i++) {
        sum_ns += path.edges[i].is_on_path ? path.edges[i].weight_ns : 0;
    }
    fuzz_require(path.state != PATH_BUILT || sum_ns == path.length_ns,
                 "the weights of the path are its length");
}

static void check_efficiency(const struct trace *trace, struct arena *arena)
{
    struct efficiency rows;
    int64_t calls = 0;
    fuzz_require(efficiency_analyse(trace, EFFICIENCY_BY_SHAPE, NULL, arena, &rows),
                 "efficiency finds memory");
    for (size_t i = 0; i < rows.count; i++) {
        calls += rows.rows[i].calls;
    }
    fuzz_require(calls == rows.calls, "every call is in one row");
}

static void check_others(const struct trace *trace, struct arena *arena)
{
    const struct flame_options options = {.nodes_max = 100, .depth_max = 20};
    struct flame *flame = flame_create(&options);
    struct flame_graph graph;
    struct kernel_stacks stacks;
    struct slices slices;
    bool found;
    fuzz_require(flame != NULL && flame_add(flame, trace, 0) &&
                     flame_finish(flame, arena, &graph, &found) &&
                     kernel_stacks_analyse(trace, NULL, MODULES_BY_TYPE, arena, &stacks) &&
                     slices_analyse(trace, SLICES_BY_NAME, arena, &slices) &&
                     slices_analyse(trace, SLICES_BY_TRACK, arena, &slices),
                 "stacks and slices find memory");
    flame_destroy(flame);
}

static void check_on_request(const struct trace *trace)
{
    struct arena arena;
    arena_init(&arena, 0);
    check_device_time(trace, &arena);
    check_idle(trace, &arena);
    check_gaps(trace, &arena);
    check_power(trace, &arena);
    check_path(trace, &arena);
    check_efficiency(trace, &arena);
    check_others(trace, &arena);
    arena_free(&arena);
}

int fuzz_one_input(const uint8_t *bytes, size_t len)
{
    struct format_bundle bundle;
    if (fuzz_read_and_analyse(bytes, len, &bundle) && bundle.items[0].model != NULL) {
        check_warnings(bytes, len, bundle.items[0].model);
        check_on_request(bundle.items[0].model);
    }
    format_bundle_free(&bundle);
    return 0;
}
