#include "ingest/analysis/collectives/log.h"

#include "ingest/analysis/classify/times.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

struct type_size {
    const char *name;
    int64_t size_bytes;
};

static int64_t type_size(const char *name, size_t len)
{
    static const struct type_size sizes[] = {
        {"long int", 8},  {"float", 4},         {"int", 4},
        {"c10::Half", 2}, {"c10::BFloat16", 2}, {"unsigned char", 1},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (strlen(sizes[i].name) == len && memcmp(sizes[i].name, name, len) == 0) {
            return sizes[i].size_bytes;
        }
    }
    return 0;
}

/* The size of the next type of a list such as ['float', 'int']; 0 behind its end [TB-15.1c]. */
static int64_t next_type_size(const char **at)
{
    const char *begin = *at + strcspn(*at, "'\"");
    if (*begin == '\0') {
        *at = begin;
        return 0;
    }
    const char *end = strchr(begin + 1, *begin);
    if (end == NULL) {
        *at = begin + strlen(begin);
        return 0;
    }
    *at = end + 1;
    return type_size(begin + 1, (size_t)(end - begin - 1));
}

static int64_t multiply(int64_t a, int64_t b)
{
    if (a < 0 || b < 0) {
        return 0;
    }
    return b != 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}

/* The product of the numbers up to the closing bracket; 1 of none [TB-15.1c]. */
static int64_t shape_product(const char **at)
{
    int64_t product = 1;
    int64_t number = 0;
    bool in_number = false;
    for (; **at != '\0' && **at != ']'; (*at)++) {
        bool is_digit = **at >= '0' && **at <= '9';
        if (is_digit) {
            int64_t tens = multiply(number, 10);
            number = tens > INT64_MAX - 9 ? INT64_MAX : tens + (**at - '0');
        } else if (in_number) {
            product = multiply(product, number);
            number = 0;
        }
        in_number = is_digit;
    }
    return in_number ? multiply(product, number) : product;
}

int64_t collective_input_bytes(const char *shapes, const char *types)
{
    int64_t sum = 0;
    const char *type = types;
    const char *at = shapes;
    if (*at != '[') {
        return 0;
    }
    for (at++; *at != '\0' && *at != ']'; at++) {
        if (*at != '[') {
            continue;
        }
        at++;
        int64_t product = shape_product(&at);
        sum = saturating_add(sum, multiply(product, next_type_size(&type)));
        if (*at == '\0') {
            break;
        }
    }
    return sum;
}

int64_t collective_event_bytes(const struct event_classes *sel, uint32_t event)
{
    const struct trace *trace = sel->trace;
    uint32_t args = trace->events.args[event];
    enum event_kind kind = trace_kind(&trace->events, event);
    bool has_args = trace_has_op_args(kind) && args != TRACE_NO_ARGS && args < trace->op_args_count;
    if (!has_args || trace->op_args[args].input_types == STRTAB_NONE) {
        return 0;
    }
    return collective_input_bytes(strtab_text(trace->strings, trace->op_args[args].shape),
                                  strtab_text(trace->strings, trace->op_args[args].input_types));
}

/* ---- ranges ---- */

ORDER_BY(compare_ranges, struct collective_range, ORDER_UP(start), ORDER_DOWN(end))

static struct collective_range range_of(const struct event_classes *sel, uint32_t event)
{
    return (struct collective_range){times_position(sel, times_start(sel, event)),
                                     times_position(sel, times_end(sel, event))};
}

void collective_log_add_range(struct collective_log *log,
                              struct collective_op *op,
                              const struct event_classes *sel,
                              uint32_t event)
{
    log->ranges[op->first_range + op->range_count++] = range_of(sel, event);
}

void collective_log_sort_ranges(struct collective_log *log)
{
    for (uint32_t i = 0; i < log->op_count; i++) {
        qsort(log->ranges + log->ops[i].first_range, log->ops[i].range_count, sizeof *log->ranges,
              compare_ranges);
    }
}

/* ---- steps ---- */

static bool is_inside(const struct step *step, int64_t start, int64_t end)
{
    return start >= step->start && end <= step->end;
}

/* Both go forward: a collective inside a step belongs to it; one that begins behind the step asks
 * the next step; any other has none. */
void collective_log_find_steps(struct collective_log *log,
                               const struct event_classes *sel,
                               const uint32_t *events,
                               const struct steps *steps)
{
    const struct step *step = steps->items;
    const struct step *steps_end = steps->items + (steps->undefined ? 0 : steps->count);
    for (uint32_t i = 0; i < log->op_count; i++) {
        int64_t start = times_start(sel, events[i]);
        int64_t end = times_end(sel, events[i]);
        while (step < steps_end && start >= step->end && !is_inside(step, start, end)) {
            step++;
        }
        bool has_step = step < steps_end && is_inside(step, start, end);
        log->ops[i].step = has_step ? (int64_t)(step - steps->items) : COLLECTIVE_NO_STEP;
    }
}
