#include "ingest/formats/database/nsys_ranges.h"

#include "ingest/base/text/affix.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STEP_NAME_BYTES 40
#define NUMBER_DIGITS_MAX 18

/* ---- names ---- */

static bool equals_any_case(const char *text, size_t len, const char *lower)
{
    for (size_t i = 0; i < len; i++) {
        if (lower[i] == '\0' || text_lower(text[i]) != lower[i]) {
            return false;
        }
    }
    return lower[len] == '\0';
}

/* Which word of a step the name is, from 1, without the number at its end; 0: none. */
static uint32_t word_of(const char *name, size_t len)
{
    static const char *const words[] = {"step", "iteration", "iter", "profilerstep"};
    while (len > 0 &&
           (text_is_digit(name[len - 1]) || name[len - 1] == '#' || name[len - 1] == ' ')) {
        len--;
    }
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (equals_any_case(name, len, words[i])) {
            return i + 1;
        }
    }
    return 0;
}

/* The number at the end of a name; `none` where there is none. */
static int64_t number_of(const char *name, size_t len, int64_t none)
{
    size_t first = len;
    int64_t number = 0;
    while (first > 0 && text_is_digit(name[first - 1])) {
        first--;
    }
    if (first == len || len - first > NUMBER_DIGITS_MAX) {
        return none;
    }
    for (size_t i = first; i < len; i++) {
        number = number * 10 + (name[i] - '0');
    }
    return number;
}

/* ---- steps ---- */

static struct key key_of(int64_t thread, uint32_t word)
{
    return (struct key){{(uint32_t)thread, (uint32_t)((uint64_t)thread >> 32), word, 0}};
}

void nsys_steps_free(struct nsys_steps *steps)
{
    key_map_free(&steps->seen);
    key_map_free(&steps->steps);
}

/* The first word that a thread has twice is that of its steps: others lie in these, or around. */
bool nsys_steps_note(struct nsys_steps *steps, int64_t thread, const char *name, size_t len)
{
    uint32_t word = word_of(name, len);
    const struct key key = key_of(thread, word);
    const struct key has_steps = key_of(thread, 0);
    if (word == 0 || key_map_find(&steps->steps, has_steps) != KEY_MAP_NONE) {
        return true;
    }
    if (key_map_find(&steps->seen, key) == KEY_MAP_NONE) {
        return key_map_add(&steps->seen, key) != KEY_MAP_NONE;
    }
    return key_map_add(&steps->steps, key) != KEY_MAP_NONE &&
           key_map_add(&steps->steps, has_steps) != KEY_MAP_NONE;
}

static void add_step(struct nsys_steps *steps,
                     struct relay *relay,
                     const struct relay_event *range,
                     int64_t thread)
{
    uint32_t word = word_of(range->name, range->name_len);
    struct relay_event step = *range;
    char name[STEP_NAME_BYTES];
    if (word == 0 || key_map_find(&steps->steps, key_of(thread, word)) == KEY_MAP_NONE) {
        return;
    }
    (void)snprintf(name, sizeof name, "ProfilerStep#%" PRId64,
                   number_of(range->name, range->name_len, steps->count));
    steps->count++;
    step.role = RELAY_STEP;
    step.category = "recorder_step";
    relay_set_name(&step, name);
    relay_add(relay, &step);
}

/* ---- what PyTorch's emit_nvtx writes behind an operator's name ---- */

/* "aten::mm, seq = 12, op_id = 3, sizes = [[2, 3], []], input_op_ids = [(1,0)]": each part may be
 * missing, the order is this. */
struct nvtx_operator {
    size_t name_len;
    int64_t sequence; /* RELAY_NONE: not said */
    const char *sizes;
    size_t sizes_len; /* 0: not said */
};

/* Where the text `mark` begins; `len` where it is not there. */
static size_t find_mark(const char *text, size_t from, size_t len, const char *mark)
{
    size_t mark_len = strlen(mark);
    for (size_t i = from; i + mark_len <= len; i++) {
        if (text[i] == ',' && memcmp(text + i, mark, mark_len) == 0) {
            return i;
        }
    }
    return len;
}

bool emit_nvtx_is_sizes(const char *text, size_t len)
{
    size_t depth = 0;
    char before = ',';
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool has_begun = before == '[' || before == ',';
        if (c == ' ') {
            continue;
        }
        bool fits = c == '['   ? has_begun && depth < 3 && (depth > 0 || i == 0)
                    : c == ']' ? depth > 0 && before != ','
                    : c == ',' ? depth > 0 && !has_begun
                               : text_is_digit(c) && depth > 0 && before != ']' &&
                                     (has_begun || (text[i - 1] != ' ' && before != '0'));
        if (!fits) {
            return false;
        }
        depth = c == '[' ? depth + 1 : c == ']' ? depth - 1 : depth;
        if (c != '0' || !text_is_digit(before)) {
            before = c;
        }
    }
    return len > 0 && depth == 0;
}

static struct nvtx_operator split_name(const char *text, size_t len)
{
    static const char seq[] = ", seq = ";
    static const char id[] = ", op_id = ";
    static const char sizes[] = ", sizes = ";
    struct nvtx_operator found = {.sequence = RELAY_NONE};
    size_t ids_at = find_mark(text, 0, len, ", input_op_ids = ");
    size_t sizes_at = find_mark(text, 0, ids_at, sizes);
    size_t id_at = find_mark(text, 0, sizes_at, id);
    size_t seq_at = find_mark(text, 0, id_at, seq);
    found.name_len = seq_at;
    if (seq_at < id_at) {
        size_t at = seq_at + strlen(seq);
        size_t digits = id_at - at;
        found.sequence = number_of(text + at, digits, RELAY_NONE);
    }
    if (sizes_at < ids_at &&
        emit_nvtx_is_sizes(text + sizes_at + strlen(sizes), ids_at - sizes_at - strlen(sizes))) {
        found.sizes = text + sizes_at + strlen(sizes);
        found.sizes_len = ids_at - sizes_at - strlen(sizes);
    }
    return found;
}

void nsys_range_add(struct nsys_steps *steps,
                    struct relay *relay,
                    struct relay_event *range,
                    int64_t thread)
{
    add_step(steps, relay, range, thread);
    const struct nvtx_operator operator= split_name(range->name, range->name_len);
    range->category = "recorder_range";
    range->name_len = operator.name_len> 0 ? operator.name_len : range->name_len;
    relay_begin(relay, range);
    if (operator.sequence != RELAY_NONE) {
        jw_key_int(&relay->args, "Sequence number", operator.sequence);
    }
    if (operator.sizes_len> 0) {
        jw_key(&relay->args, "Input Dims");
        jw_raw(&relay->args, operator.sizes, operator.sizes_len);
    }
    relay_end(relay);
}
