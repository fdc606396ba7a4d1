/* The comparison with a form, for template.c; tests compile it once more without vectors. */
#ifndef KS_FORMATS_CHROME_JSON_SCAN_TEMPLATE_SCAN_H
#define KS_FORMATS_CHROME_JSON_SCAN_TEMPLATE_SCAN_H

#include "ingest/formats/chrome_json/scan/key_path_scan.h"
#include "ingest/formats/chrome_json/scan/template.h"
#include "ingest/formats/json/text.h"

#define FORESEEN_DIGITS_MAX 16U

/* Whether it is one that profilers write; others are looked at one by one. */
static inline bool is_usual(enum kineto_use use, int64_t number, unsigned fraction_digits)
{
    static const int64_t time_max[] = {JSON_TIME_MAX_NS / 1000, JSON_TIME_MAX_NS / 100,
                                       JSON_TIME_MAX_NS / 10, JSON_TIME_MAX_NS};
    const int64_t least_id = -((int64_t)1 << 62);
    if (use <= KINETO_USE_DUR) {
        return fraction_digits <= 3 && number >= 0 && number < time_max[fraction_digits];
    }
    return use == KINETO_USE_NONE || number > least_id;
}

/* A number with as many digits as the last one. Nothing of it is looked at to find what is behind
 * it, so that the comparison goes on before it is worked out. The next piece begins with what can
 * stand behind a number. */
static inline bool
read_as_last(const struct kineto_piece *piece, const char **at, int64_t *out, unsigned *fraction)
{
    unsigned whole = piece->whole_digits;
    const char *begin = *at;
    uint64_t number = 0;
    uint64_t part = 0;
    if (KS_UNLIKELY(whole == 0 || !take_so_many_digits(begin, whole, &number) ||
                    (*begin == '0' && whole > 1))) {
        return false;
    }
    *fraction = 0;
    *at = begin + whole;
    if (piece->is_decimal) {
        *fraction = piece->fraction_digits;
        if (begin[whole] != '.' || !take_so_many_digits(begin + whole + 1, *fraction, &part)) {
            return false;
        }
        *at = begin + whole + 1 + *fraction;
        number = number * num_powers_of_ten[*fraction] + part;
    }
    *out = (int64_t)number;
    return number <= INT64_MAX;
}

/* A number with other digits, which are then expected. */
static inline bool
read_anew(struct kineto_piece *piece, const char **at, int64_t *out, unsigned *fraction)
{
    const char *begin = *at;
    if (!read_number(at, out, fraction) || (*fraction != 0) != piece->is_decimal) {
        return false;
    }
    size_t behind_whole = *fraction == 0 ? 0 : 1 + *fraction;
    size_t whole = (size_t)(*at - begin) - behind_whole;
    /* What has a sign or many digits is not foreseen. */
    bool is_foreseen =
        *begin != '-' && whole <= FORESEEN_DIGITS_MAX && *fraction <= FORESEEN_DIGITS_MAX;
    piece->whole_digits = is_foreseen ? (uint8_t)whole : 0;
    piece->fraction_digits = (uint8_t)*fraction;
    return true;
}

/* The number behind the piece. */
static inline bool fill_blank(struct kineto_piece *piece,
                              const char **at,
                              int64_t *values,
                              int64_t numbers[KINETO_USES])
{
    static const int64_t time_scales[] = {1000, 100, 10, 1};
    const char *begin = *at;
    int64_t number;
    unsigned fraction;
    if (!read_as_last(piece, at, &number, &fraction)) {
        *at = begin;
        if (!read_anew(piece, at, &number, &fraction)) {
            return false;
        }
    }
    if (KS_UNLIKELY(!is_usual(piece->use, number, fraction))) {
        return false;
    }
    values[piece->value] = number;
    if (piece->is_decimal) {
        values[piece->value + 1] = fraction;
    }
    numbers[piece->use] = piece->use <= KINETO_USE_DUR ? number * time_scales[fraction] : number;
    return true;
}

static inline void copy_values(const struct scan_template *form, int64_t *to)
{
    for (uint32_t i = 0; i < form->value_count; i += SCAN_TEMPLATE_VALUES) {
        memcpy(to + i, form->values + i, SCAN_TEMPLATE_VALUES * sizeof *to);
    }
}

static inline const char *scan_by_template(struct scan_template *form,
                                           const char *begin,
                                           const char *end,
                                           int64_t *values,
                                           int64_t numbers[KINETO_USES])
{
    const char *at = begin;
    copy_values(form, values);
    memcpy(numbers, form->row.numbers, sizeof form->row.numbers);
    for (uint32_t i = 0; i < form->blank_count; i++) {
        struct kineto_piece *piece = &form->pieces[i];
        if (!has_bytes(at, end, piece->text, piece->len, piece->mask)) {
            return NULL;
        }
        at += piece->len;
        if (KS_UNLIKELY(at >= end) || !fill_blank(piece, &at, values, numbers)) {
            return NULL;
        }
    }
    if (!has_bytes(at, end, form->last, form->last_len, form->last_mask)) {
        return NULL;
    }
    at += form->last_len;
    return at <= end ? at : NULL;
}

#endif
