#include "ingest/formats/database/nsys_ranges.h"

#include "ingest/base/text/affix.h"

#include <inttypes.h>
#include <stdio.h>

#define STEP_NAME_BYTES 40
#define NUMBER_DIGITS_MAX 18

/* ---- names ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

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
    while (len > 0 && (is_digit(name[len - 1]) || name[len - 1] == '#' || name[len - 1] == ' ')) {
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
    while (first > 0 && is_digit(name[first - 1])) {
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

void nsys_range_add(struct nsys_steps *steps,
                    struct relay *relay,
                    struct relay_event *range,
                    int64_t thread)
{
    add_step(steps, relay, range, thread);
    range->category = "recorder_range";
    relay_add(relay, range);
}
