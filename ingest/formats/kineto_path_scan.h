/* The scan along known paths, compiled once for each kind of processor: kineto_path_base.c,
 * kineto_path_avx2.c. */
#ifndef KS_FORMATS_KINETO_PATH_SCAN_H
#define KS_FORMATS_KINETO_PATH_SCAN_H

#include "ingest/base/bytes.h"
#include "ingest/base/num.h"
#include "ingest/formats/kineto_path.h"

/* Numbers of more digits are left to others: up to here nothing overflows. */
#define PLAIN_DIGITS_MAX 18U

/* --- numbers --- */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* The number of eight digits, each a byte from 0 to 9, the first one lowest: neighbours are joined
 * to pairs, pairs to fours, fours to the whole. */
static inline uint64_t join_digits(uint64_t digits)
{
    digits = (digits * 10 + (digits >> 8)) & 0x00FF00FF00FF00FFU;
    digits = (digits * 100 + (digits >> 16)) & 0x0000FFFF0000FFFFU;
    return (digits * 10000 + (digits >> 32)) & 0xFFFFFFFFU;
}

/* The digits at `at`: how many, and their number unless they are more than PLAIN_DIGITS_MAX. Reads
 * up to 24 bytes. */
static inline unsigned take_digits(const char *at, uint64_t *number)
{
    uint64_t sum = 0;
    unsigned count = 0;
    for (;;) {
        uint64_t digits = bytes_load64(at + count) ^ 0x3030303030303030U;
        /* A carry spoils only what is behind the first byte that is no digit. */
        uint64_t others = ((digits + 0x7676767676767676U) | digits) & 0x8080808080808080U;
        if (others != 0) {
            unsigned more = (unsigned)__builtin_ctzll(others) / 8;
            if (more > 0) {
                sum = sum * num_powers_of_ten[more] + join_digits(digits << (64 - 8 * more));
            }
            *number = sum;
            return count + more;
        }
        count += 8;
        if (count > PLAIN_DIGITS_MAX) {
            return count;
        }
        sum = sum * 100000000 + join_digits(digits);
    }
}

#else

static inline unsigned take_digits(const char *at, uint64_t *number)
{
    uint64_t sum = 0;
    unsigned count = 0;
    while (count <= PLAIN_DIGITS_MAX && json_is_digit(at[count])) {
        sum = sum * 10 + (uint64_t)(at[count++] - '0');
    }
    *number = sum;
    return count;
}

#endif

/* A number as profilers write it; *at is then behind it. False: whatever else. */
static inline bool take_number(const char **at, const char *end, struct json_value *value)
{
    const char *begin = *at;
    bool is_negative = *begin == '-';
    const char *digits = begin + is_negative;
    uint64_t number = 0;
    unsigned whole = take_digits(digits, &number);
    unsigned fraction = 0;
    const char *behind = digits + whole;
    if (whole - 1 >= PLAIN_DIGITS_MAX || (*digits == '0' && (whole > 1 || is_negative))) {
        return false;
    }
    if (*behind == '.') {
        uint64_t part = 0;
        fraction = take_digits(behind + 1, &part);
        if (fraction == 0 || whole + fraction > PLAIN_DIGITS_MAX) {
            return false;
        }
        number = number * num_powers_of_ten[fraction] + part;
        behind += 1 + fraction;
    }
    if (behind >= end || (*behind | 0x20) == 'e') {
        return false;
    }
    value->ptr = begin;
    value->len = (uint32_t)(behind - begin);
    value->kind = JSON_KIND_NUMBER;
    value->flags = fraction == 0 ? JSON_PARSED : JSON_PARSED | JSON_DECIMAL;
    value->digits = (uint8_t)fraction;
    value->number = is_negative ? -(int64_t)number : (int64_t)number;
    *at = behind;
    return true;
}

/* --- texts --- */

/* Behind the closing quote of the string at `at`; NULL: it is not plain, or the window ends. */
static inline const char *string_end(const char *at, const char *end)
{
    for (at++; at < end; at += BYTES_BLOCK) {
        uint32_t specials = bytes_block_specials(at);
        if (specials != 0) {
            at += bytes_first(specials);
            return at < end && *at == '"' ? at + 1 : NULL;
        }
    }
    return NULL;
}

/* All bits from an odd one of those set (with it) to the next (without it). */
static inline uint32_t between_pairs(uint32_t bits)
{
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    return bits ^ bits << 16;
}

/* Behind the bracket that closes the one at `at`, if the value is proper JSON; NULL: it cannot be
 * told as simply. */
static inline const char *nested_end(const char *at, const char *end)
{
    uint32_t in_string = 0; /* all ones when the block begins in one */
    uint32_t depth = 0;
    for (; at < end; at += BYTES_BLOCK) {
        struct bytes_masks masks = bytes_block_masks(at);
        uint32_t inside = between_pairs(masks.quotes) ^ in_string;
        in_string = 0 - (inside >> 31);
        for (uint32_t bits = masks.brackets; bits != 0; bits &= bits - 1) {
            unsigned place = bytes_first(bits);
            /* The low bits of [ { are 3, of ] } 5, of \ | 4. */
            unsigned which = (unsigned char)at[place] & 7U;
            if (which == 4) {
                return NULL;
            }
            bool counts = (inside >> place & 1) == 0;
            depth += counts ? 4 - which : 0;
            if (counts && depth == 0) {
                at += place + 1;
                return at <= end ? at : NULL;
            }
        }
    }
    return NULL;
}

/* The value of this id, whose bytes are at `raw`. */
static inline void set_known(const struct kineto_text *text,
                             uint32_t id,
                             const char *raw,
                             uint32_t len,
                             struct json_value *value)
{
    bool is_string = text->kind == JSON_KIND_STRING;
    value->ptr = raw + is_string;
    value->len = len - 2U * is_string;
    value->kind = text->kind;
    value->flags = text->flags | JSON_KNOWN;
    value->number = id;
}

/* A value that is no plain number, and what the log has for it. */
struct path_value {
    struct json_value *value;
    int64_t logged[2];
    enum event_slot_kind kind;
};

/* Whether anybody asks for the values of this step. */
static inline bool is_wanted(const struct kineto_paths *paths, const struct kineto_step *step)
{
    return KS_LIKELY(paths->texts->log != NULL) || step->place != KINETO_VALUES - 1;
}

/* Whatever it is, by the strict scan. */
static inline bool take_any(struct kineto_paths *paths,
                            const struct kineto_step *step,
                            const char **at,
                            const char *end,
                            struct path_value *out)
{
    struct json_scan scan = {.at = *at, .end = end};
    uint32_t logged = 0;
    if (json_scan_value(&scan, out->value) != JSON_OK || scan.control != NULL) {
        return false;
    }
    *at = scan.at;
    if (event_value_int(out->value, out->logged)) {
        out->kind = EVENT_SLOT_INT;
        return true;
    }
    if (event_value_decimal(out->value, out->logged)) {
        out->kind = EVENT_SLOT_DECIMAL;
        return true;
    }
    out->kind = EVENT_SLOT_TEXT;
    if (!is_wanted(paths, step)) {
        return true;
    }
    paths->no_memory = !kineto_texts_add(paths->texts, out->value, &logged);
    out->logged[0] = logged;
    return !paths->no_memory;
}

/* A string or list: known ones by their bytes. */
static inline bool take_text(struct kineto_paths *paths,
                             struct kineto_step *step,
                             const char **at,
                             const char *end,
                             struct path_value *out)
{
    const char *raw = *at;
    struct kineto_texts *texts = paths->texts;
    if (step->last_len > 0 && (size_t)(end - raw) >= step->last_len &&
        bytes_equal(raw, step->last, step->last_len)) {
        const struct kineto_text *text = &texts->texts[step->last_id];
        set_known(text, step->last_id, raw, step->last_len, out->value);
        out->logged[0] = text->logged;
        *at = raw + step->last_len;
        return true;
    }
    const char *behind = *raw == '"' ? string_end(raw, end) : nested_end(raw, end);
    uint32_t id =
        behind == NULL ? KINETO_TEXT_NONE : kineto_texts_recall(texts, raw, (size_t)(behind - raw));
    if (id == KINETO_TEXT_NONE) {
        return take_any(paths, step, at, end, out);
    }
    const struct kineto_text *text = &texts->texts[id];
    step->last = strtab_text(texts->raw, id);
    step->last_len = (uint32_t)(behind - raw);
    step->last_id = id;
    set_known(text, id, raw, step->last_len, out->value);
    out->logged[0] = text->logged;
    *at = behind;
    return true;
}

static inline bool take_other(struct kineto_paths *paths,
                              struct kineto_step *step,
                              const char **at,
                              const char *end,
                              struct path_value *out)
{
    out->kind = EVENT_SLOT_TEXT;
    return **at == '"' || **at == '[' || **at == '{' ? take_text(paths, step, at, end, out)
                                                     : take_any(paths, step, at, end, out);
}

/* --- the path --- */

/* Whether the step's text stands at `at`, which is at most at the window's end; its own end may be
 * behind it. */
static inline bool has_text(const struct kineto_step *step, const char *at, const char *end)
{
    if ((~bytes_block_equals(at, step->text) & step->mask) != 0) {
        return false;
    }
    return KS_LIKELY(step->len <= BYTES_BLOCK) ||
           ((size_t)(end - at) >= step->len && bytes_equal(at, step->text, step->len));
}

/* Whether a value stands behind the step's text; more space belongs to a longer one. */
static inline bool leads_on(const struct kineto_step *step, const char *at)
{
    return step->end_plus_1 != 0 || (unsigned char)at[step->len] > ' ';
}

/* The step of the list that fits, which becomes its first; 0: none. */
static uint32_t
find_step_at(struct kineto_step *steps, uint32_t *first, const char *at, const char *end)
{
    uint32_t *link = first;
    for (uint32_t number = *link; number != 0; number = *link) {
        struct kineto_step *step = &steps[number];
        if (has_text(step, at, end) && leads_on(step, at)) {
            *link = step->sibling;
            step->sibling = *first;
            *first = number;
            return number;
        }
        link = &step->sibling;
    }
    return 0;
}

static inline uint32_t
follow(struct kineto_step *steps, uint32_t *first, const char *at, const char *end)
{
    const struct kineto_step *step = &steps[*first];
    return KS_LIKELY(*first != 0 && has_text(step, at, end) && leads_on(step, at))
               ? *first
               : find_step_at(steps, first, at, end);
}

/* Counters are looked into by those who need all members. */
static inline bool is_counter(const struct json_value *phase)
{
    return phase->kind == JSON_KIND_STRING && phase->len > 0 && *phase->ptr == 'C';
}

/* The event ends at `at`. */
static inline bool end_path(struct kineto_paths *paths,
                            const struct kineto_step *step,
                            struct kineto_event *event,
                            int64_t *values,
                            const char *begin,
                            const char *at)
{
    const struct kineto_path_end *end = &paths->ends[step->end_plus_1 - 1];
    if (is_counter(&event->fields[FIELD_PH])) {
        return false;
    }
    event->members = NULL;
    event->begin = begin;
    event->end = at;
    event->has_args = end->has_args;
    event->has_fields = end->has_fields;
    event->duplicate_keys = 0;
    event->control_values = 0;
    if (end->args_are_object) {
        event->fields[FIELD_ARGS] =
            (struct json_value){.ptr = begin, .len = 1, .kind = JSON_KIND_OBJECT};
    }
    if (end->order != NULL) {
        memcpy(paths->unordered, values, end->value_count * sizeof *values);
        for (uint32_t i = 0; i < end->value_count; i++) {
            values[end->order[i]] = paths->unordered[i];
        }
    }
    paths->end = end;
    return true;
}

static inline bool scan_path(struct kineto_paths *paths,
                             struct kineto_event *event,
                             int64_t *values,
                             const char *begin,
                             const char *end)
{
    struct kineto_step *steps = paths->steps;
    uint32_t *next = &steps[0].next[0];
    int64_t *to = values;
    const char *at = begin;
    for (;;) {
        uint32_t number = follow(steps, next, at, end);
        struct kineto_step *step = &steps[number];
        at += step->len;
        if (step->end_plus_1 != 0) {
            return at <= end && end_path(paths, step, event, values, begin, at);
        }
        if (KS_UNLIKELY(number == 0 || at >= end)) {
            return false;
        }
        struct json_value *value = &event->values[step->place];
        if ((json_is_digit(*at) || *at == '-') && take_number(&at, end, value)) {
            *to++ = value->number;
            *to = value->digits;
            to += value->digits != 0;
            next = &step->next[value->digits == 0 ? EVENT_SLOT_INT : EVENT_SLOT_DECIMAL];
            continue;
        }
        struct path_value other = {.value = value};
        if (!take_other(paths, step, &at, end, &other)) {
            return false;
        }
        *to++ = other.logged[0];
        *to = other.logged[1];
        to += other.kind == EVENT_SLOT_DECIMAL;
        next = &step->next[other.kind];
    }
}

#endif
