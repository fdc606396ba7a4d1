/* The scan along known paths, for key_path.c; tests compile it once more without vectors. */
#ifndef KS_FORMATS_CHROME_JSON_SCAN_KEY_PATH_SCAN_H
#define KS_FORMATS_CHROME_JSON_SCAN_KEY_PATH_SCAN_H

#include "ingest/base/bytes.h"
#include "ingest/base/text/num.h"
#include "ingest/base/text/utf8.h"
#include "ingest/formats/chrome_json/scan/key_path.h"

/* Numbers of more digits are left to others: up to here they are within 64 bits. Times since the
 * epoch have 16 before the point and three behind. */
#define PLAIN_DIGITS_MAX 19U

/* --- numbers --- */

/* The digits behind the first `count`, whose number is *number. */
static inline unsigned take_more_digits(const char *at, unsigned count, uint64_t *number)
{
    while (count <= PLAIN_DIGITS_MAX && json_is_digit(at[count])) {
        *number = *number * 10 + (uint64_t)(at[count++] - '0');
    }
    return count;
}

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
    *number = 0;
    return take_more_digits(at, 0, number);
}

#endif

static inline bool take_so_many_digits(const char *at, unsigned count, uint64_t *number)
{
    return take_digits(at, number) == count;
}

/* A value, and what the log has for it. */
struct path_value {
    struct json_value *value;
    int64_t logged[2];
    enum event_slot_kind kind;
};

static inline void set_number(const char *begin,
                              const char *behind,
                              int64_t number,
                              unsigned fraction_digits,
                              struct path_value *out)
{
    bool is_decimal = fraction_digits != 0;
    *out->value =
        (struct json_value){.ptr = begin,
                            .len = (uint32_t)(behind - begin),
                            .kind = JSON_KIND_NUMBER,
                            .flags = is_decimal ? JSON_PARSED | JSON_DECIMAL : JSON_PARSED,
                            .digits = (uint8_t)fraction_digits,
                            .number = number};
    out->logged[0] = number;
    out->logged[1] = fraction_digits;
    out->kind = is_decimal ? EVENT_SLOT_DECIMAL : EVENT_SLOT_INT;
}

/* A number as profilers write it: without its point, and how many digits are behind that. *at is
 * then behind it, where the next text tells whether the window has all of it. False: whatever
 * else. */
static inline bool read_number(const char **at, int64_t *out, unsigned *fraction_digits)
{
    bool is_negative = **at == '-';
    const char *digits = *at + is_negative;
    uint64_t number;
    uint64_t part;
    unsigned whole = take_digits(digits, &number);
    const char *behind = digits + whole;
    unsigned fraction = 0;
    if (whole - 1 >= PLAIN_DIGITS_MAX || (*digits == '0' && (whole > 1 || is_negative))) {
        return false;
    }
    if (*behind == '.') {
        fraction = take_digits(behind + 1, &part);
        if (fraction == 0 || whole + fraction > PLAIN_DIGITS_MAX) {
            return false;
        }
        behind += 1 + fraction;
        number = number * num_powers_of_ten[fraction] + part;
    }
    if ((*behind | 0x20) == 'e' || number > INT64_MAX) {
        return false;
    }
    *at = behind;
    *out = is_negative ? -(int64_t)number : (int64_t)number;
    *fraction_digits = fraction;
    return true;
}

static inline bool take_number(const char **at, struct path_value *out)
{
    const char *begin = *at;
    int64_t number;
    unsigned fraction;
    if (!read_number(at, &number, &fraction)) {
        return false;
    }
    /* Twice, for without a fraction most of it is constant. */
    if (KS_LIKELY(fraction == 0)) {
        set_number(begin, *at, number, 0, out);
    } else {
        set_number(begin, *at, number, fraction, out);
    }
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

/* Whether anybody asks for the values of this step. */
static inline bool is_wanted(const struct key_paths *paths, const struct kineto_step *step)
{
    return KS_LIKELY(paths->texts->log != NULL) || step->place != KINETO_VALUES - 1;
}

/* Whatever it is, by the strict scan. */
static inline bool take_any(struct key_paths *paths,
                            const struct kineto_step *step,
                            const char **at,
                            const char *end,
                            struct path_value *out)
{
    struct json_scan scan = {.at = *at, .end = end};
    uint32_t logged = 0;
    if (json_scan_value(&scan, out->value) != JSON_OK || scan.control != NULL ||
        !utf8_is_valid(*at, (size_t)(scan.at - *at))) {
        return false;
    }
    *at = scan.at;
    out->value->number = ~step->last; /* does not repeat */
    if (event_value_int(out->value, out->logged)) {
        out->kind = EVENT_SLOT_INT;
        return true;
    }
    if (event_value_decimal(out->value, out->logged)) {
        out->kind = EVENT_SLOT_DECIMAL;
        return true;
    }
    out->kind = EVENT_SLOT_TEXT;
    paths->no_memory =
        is_wanted(paths, step) && !kineto_texts_add(paths->texts, out->value, &logged);
    out->logged[0] = logged;
    return !paths->no_memory;
}

/* Whether these bytes (readable for a block, whose mask has a bit for each of them) stand at `at`,
 * where a block can be read; short ones may end behind the window. */
static inline bool
has_bytes(const char *at, const char *end, const char *bytes, uint32_t len, uint32_t mask)
{
    if ((~bytes_block_equals(at, bytes) & mask) != 0) {
        return false;
    }
    return KS_LIKELY(len <= BYTES_BLOCK) ||
           (end - at >= (ptrdiff_t)len && bytes_equal(at, bytes, len));
}

/* A string or list: known ones by their bytes. */
static inline bool take_text(struct key_paths *paths,
                             const struct kineto_step *step,
                             const char **at,
                             const char *end,
                             struct path_value *out)
{
    const char *raw = *at;
    struct kineto_texts *texts = paths->texts;
    const char *behind = *raw == '"' ? string_end(raw, end) : nested_end(raw, end);
    uint32_t id =
        behind == NULL ? KINETO_TEXT_NONE : kineto_texts_recall(texts, raw, (size_t)(behind - raw));
    if (id == KINETO_TEXT_NONE) {
        return take_any(paths, step, at, end, out);
    }
    const struct kineto_text *text = &texts->texts[id];
    *out->value = text->value;
    out->value->ptr = raw + text->quote_bytes;
    out->logged[0] = text->logged;
    *at = raw + text->len;
    return true;
}

static inline bool take_other(struct key_paths *paths,
                              const struct kineto_step *step,
                              const char **at,
                              const char *end,
                              struct path_value *out)
{
    out->kind = EVENT_SLOT_TEXT;
    return **at == '"' || **at == '[' || **at == '{' ? take_text(paths, step, at, end, out)
                                                     : take_any(paths, step, at, end, out);
}

/* How often a value may still change before its numbers count as blanks. */
static inline void note_value(struct kineto_step *step, const struct json_value *value)
{
    if (value->number != step->last) {
        step->last = value->number;
        step->changes_left -= step->changes_left > 0 ? 1U : 0U;
    }
}

/* --- the path --- */

static inline bool has_text(const struct kineto_step *step, const char *at, const char *end)
{
    return has_bytes(at, end, step->text, step->len, step->mask);
}

/* Whether a value stands behind the step's text; more space belongs to a longer one. */
static inline bool leads_on(const struct kineto_step *step, const char *at)
{
    return step->end_plus_1 != 0 || (unsigned char)at[step->len] > ' ';
}

/* The step of the list that fits, which becomes its first; NULL: none. */
static struct kineto_step *find_step_at(struct kineto_step **first, const char *at, const char *end)
{
    struct kineto_step **link = first;
    for (struct kineto_step *step = *link; step != NULL; step = *link) {
        if (has_text(step, at, end) && leads_on(step, at)) {
            *link = step->sibling;
            step->sibling = *first;
            *first = step;
            return step;
        }
        link = &step->sibling;
    }
    return NULL;
}

/* Counters are looked into by those who need all members. */
static inline bool is_counter(const struct json_value *phase)
{
    return phase->kind == JSON_KIND_STRING && phase->len > 0 && *phase->ptr == 'C';
}

/* The event ends at `at`. */
static inline bool end_path(struct key_paths *paths,
                            const struct kineto_step *step,
                            struct kineto_event *event,
                            int64_t *values,
                            const char *begin,
                            const char *at)
{
    const struct key_path_end *end = &paths->ends[step->end_plus_1 - 1];
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

/* The phase and category in the step's text at `at`; answers behind what the log has of them. */
static inline int64_t *put_constants(const struct kineto_step *step,
                                     const char *at,
                                     struct kineto_event *event,
                                     int64_t *to)
{
    for (uint32_t i = 0; i < step->constant_count; i++) {
        const struct kineto_constant *constant = &step->constants[i];
        struct json_value *value = &event->values[constant->place];
        *value = constant->value;
        value->ptr = at + constant->offset;
        *to++ = constant->logged;
    }
    return to;
}

static inline void note_blank(struct key_paths *paths,
                              const struct kineto_step *step,
                              const char *begin,
                              const char *end,
                              const struct json_value *value,
                              ptrdiff_t place_in_log)
{
    bool is_blank = step->may_vary && step->changes_left == 0 && (value->flags & JSON_PARSED) != 0;
    if (is_blank && paths->blank_count < KINETO_BLANKS_MAX) {
        paths->blanks[paths->blank_count++] =
            (struct kineto_blank){.begin = begin,
                                  .end = end,
                                  .value = (uint16_t)place_in_log,
                                  .place = (uint8_t)step->place,
                                  .is_decimal = (value->flags & JSON_DECIMAL) != 0};
    }
}

/* The value at *at, whatever it is. */
static inline bool take_value(struct key_paths *paths,
                              struct kineto_step *step,
                              const char **at,
                              const char *end,
                              struct path_value *out)
{
    bool may_be_number = json_is_digit(**at) || **at == '-';
    if (!(may_be_number && take_number(at, out)) && !take_other(paths, step, at, end, out)) {
        return false;
    }
    note_value(step, out->value);
    return true;
}

static inline bool scan_path(struct key_paths *paths,
                             struct kineto_event *event,
                             int64_t *values,
                             const char *begin,
                             const char *end)
{
    struct kineto_step **next = &paths->first;
    int64_t *to = values;
    const char *at = begin;
    paths->blank_count = 0;
    for (;;) {
        struct kineto_step *step = *next;
        if (KS_UNLIKELY(step == NULL || !has_text(step, at, end))) {
            step = find_step_at(next, at, end);
            if (KS_UNLIKELY(step == NULL)) {
                return false;
            }
        }
        const char *raw = at + step->len;
        if (step->is_special) {
            to = put_constants(step, at, event, to);
            if (step->end_plus_1 != 0) {
                return raw <= end && end_path(paths, step, event, values, begin, raw);
            }
        }
        if (KS_UNLIKELY(raw >= end)) {
            return false;
        }
        struct json_value *value = &event->values[step->place];
        if (KS_UNLIKELY((unsigned char)*raw <= ' ')) {
            /* The one that fits becomes the first. */
            to -= step->constant_count;
            if (find_step_at(next, at, end) == NULL) {
                return false;
            }
            continue;
        }
        at = raw;
        struct path_value taken;
        taken.value = value;
        if (!take_value(paths, step, &at, end, &taken)) {
            return false;
        }
        note_blank(paths, step, raw, at, value, to - values);
        *to++ = taken.logged[0];
        if (taken.kind == EVENT_SLOT_DECIMAL) {
            *to++ = taken.logged[1];
        }
        next = &step->next[taken.kind];
    }
}

#endif
