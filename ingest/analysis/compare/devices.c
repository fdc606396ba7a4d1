#include "ingest/analysis/compare/devices.h"

#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPU "GPU "
#define BETWEEN " / "
#define DIGITS_MAX 18

/* Devices by number and what stands behind it, "GPU 3 (virtual)" is 3 and " (virtual)". Other
 * texts are no devices by number: false. */
static bool number_of(const char *text, int64_t *number, const char **behind)
{
    if (text == NULL || strncmp(text, GPU, strlen(GPU)) != 0) {
        return false;
    }
    const char *digits = text + strlen(GPU);
    size_t len = strspn(digits, "0123456789");
    bool ends = digits[len] == '\0' || strcmp(digits + len, " (virtual)") == 0;
    if (len == 0 || len > DIGITS_MAX || !ends) {
        return false;
    }
    *number = strtoll(digits, NULL, 10);
    *behind = digits + len;
    return true;
}

/* ---- the order ---- */

ORDER_BY(compare_places, struct device_place, ORDER_UP(side), ORDER_UP(pid), ORDER_UP(number))

/* Each device once; numbers have at most 18 digits, so that two of them and a process make a key.
 */
struct collecting {
    struct device_order *order;
    size_t cap;
    struct key_map numbers;   /* of devices */
    struct key_map processes; /* pid -> number */
    struct key_map seen;
};

static struct key wide_key(int64_t value)
{
    return (struct key){{(uint32_t)((uint64_t)value >> 32), (uint32_t)value, 0, 0}};
}

static bool add_place(struct collecting *to, int side, int64_t pid, int64_t number)
{
    uint32_t process = key_map_add(&to->processes, wide_key(pid));
    uint32_t device = key_map_add(&to->numbers, wide_key(number));
    uint32_t before = to->seen.count;
    if (process == KEY_MAP_NONE || device == KEY_MAP_NONE ||
        key_map_add(&to->seen, (struct key){{(uint32_t)side, process, device, 0}}) ==
            KEY_MAP_NONE) {
        return false;
    }
    if (to->seen.count == before) {
        return true;
    }
    struct device_order *order = to->order;
    struct device_place *grown =
        scratch_grow(order->places, order->count, &to->cap, sizeof *order->places);
    if (grown == NULL) {
        return false;
    }
    order->places = grown;
    order->places[order->count++] =
        (struct device_place){.side = side, .pid = pid, .number = number};
    return true;
}

static bool add_trace(struct collecting *to, int side, const struct trace_results *trace)
{
    const char *last = NULL;
    int64_t last_pid = 0;
    for (size_t i = 0; i < trace->cycle_use_count; i++) {
        const struct cycle_use_row *use = &trace->cycle_uses[i];
        int64_t number;
        const char *behind;
        if (use->device == last && use->pid == last_pid) {
            continue;
        }
        last = use->device;
        last_pid = use->pid;
        if (number_of(use->device, &number, &behind) && !add_place(to, side, use->pid, number)) {
            return false;
        }
    }
    return true;
}

static bool has_table(const struct compare_side sides[SIDE_COUNT])
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        for (size_t i = 0; i < sides[side].trace_count; i++) {
            if (sides[side].traces[i]->cycle_source == CYCLES_TABLE) {
                return true;
            }
        }
    }
    return false;
}

bool device_order_build(struct device_order *order, const struct compare_side sides[SIDE_COUNT])
{
    *order = (struct device_order){.count = 0};
    if (has_table(sides)) {
        return true;
    }
    struct collecting to = {.order = order};
    bool ok = true;
    for (int side = 0; side < SIDE_COUNT; side++) {
        for (size_t i = 0; ok && i < sides[side].trace_count; i++) {
            ok = add_trace(&to, side, sides[side].traces[i]);
        }
    }
    key_map_free(&to.numbers);
    key_map_free(&to.processes);
    key_map_free(&to.seen);
    if (ok && order->count > 0) {
        qsort(order->places, order->count, sizeof *order->places, compare_places);
    }
    return ok;
}

void device_order_free(struct device_order *order)
{
    scratch_free(order->places);
    *order = (struct device_order){.count = 0};
}

/* The first place that is not before the wanted one. */
static size_t lower_bound(const struct device_order *order, const struct device_place *wanted)
{
    size_t low = 0;
    ORDER_SEARCH(low, order->count, at, compare_places(&order->places[at], wanted) < 0);
    return low;
}

/* Where the devices of a process begin. */
static size_t first_of(const struct device_order *order, int side, int64_t pid)
{
    return lower_bound(order, &(struct device_place){.side = side, .pid = pid, .number = 0});
}

/* ---- names ---- */

const char *device_order_shared(const struct device_order *order,
                                int side,
                                int64_t pid,
                                const char *text,
                                char shared[DEVICE_TEXT_BYTES])
{
    int64_t number;
    const char *behind;
    if (order->count == 0 || !number_of(text, &number, &behind)) {
        return text;
    }
    size_t at =
        lower_bound(order, &(struct device_place){.side = side, .pid = pid, .number = number});
    (void)snprintf(shared, DEVICE_TEXT_BYTES, GPU "%zu%s", at - first_of(order, side, pid), behind);
    return shared;
}

/* False: the process has fewer devices. */
static bool
number_at(const struct device_order *order, int side, int64_t pid, int64_t place, int64_t *number)
{
    uint64_t at = first_of(order, side, pid) + (uint64_t)place;
    if (at >= order->count || order->places[at].side != side || order->places[at].pid != pid) {
        return false;
    }
    *number = order->places[at].number;
    return true;
}

const char *device_order_name(const struct device_order *order,
                              const int64_t pids[SIDE_COUNT],
                              const char *shared,
                              char name[DEVICE_TEXT_BYTES])
{
    int64_t place;
    const char *behind;
    int64_t numbers[SIDE_COUNT] = {0, 0};
    if (order->count == 0 || !number_of(shared, &place, &behind)) {
        return shared;
    }
    bool has_base = number_at(order, SIDE_BASE, pids[SIDE_BASE], place, &numbers[SIDE_BASE]);
    bool has_candidate =
        number_at(order, SIDE_CANDIDATE, pids[SIDE_CANDIDATE], place, &numbers[SIDE_CANDIDATE]);
    if (has_base && has_candidate && numbers[SIDE_BASE] != numbers[SIDE_CANDIDATE]) {
        (void)snprintf(name, DEVICE_TEXT_BYTES, GPU "%" PRId64 "%s" BETWEEN GPU "%" PRId64 "%s",
                       numbers[SIDE_BASE], behind, numbers[SIDE_CANDIDATE], behind);
    } else {
        (void)snprintf(name, DEVICE_TEXT_BYTES, GPU "%" PRId64 "%s",
                       numbers[has_base ? SIDE_BASE : SIDE_CANDIDATE], behind);
    }
    return name;
}

const char *device_name_of_side(const char *name, int side, char part[DEVICE_TEXT_BYTES])
{
    const char *between = strstr(name, BETWEEN GPU);
    int64_t number;
    const char *behind;
    if (between == NULL || (size_t)(between - name) >= DEVICE_TEXT_BYTES ||
        strlen(between) >= DEVICE_TEXT_BYTES) {
        return name;
    }
    if (side == SIDE_BASE) {
        (void)snprintf(part, DEVICE_TEXT_BYTES, "%.*s", (int)(between - name), name);
    } else {
        (void)snprintf(part, DEVICE_TEXT_BYTES, "%s", between + strlen(BETWEEN));
    }
    return number_of(part, &number, &behind) ? part : name;
}
