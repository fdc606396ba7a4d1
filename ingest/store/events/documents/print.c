#include "ingest/store/events/documents/print.h"

#include <string.h>

/* What is copied is mostly a few bytes, for which a call of memcpy() takes longer than whole steps:
 * up to a step more is read and written. */
#define KEY_STEP 16
#define NUMBER_STEP 8

static inline char *copy_key(char *to, const char *from, size_t len)
{
    for (size_t i = 0; i < len; i += KEY_STEP) {
        memcpy(to + i, from + i, KEY_STEP);
    }
    return to + len;
}

static inline char *copy_digits(char *to, const char *from, size_t len)
{
    for (size_t i = 0; i < len; i += NUMBER_STEP) {
        memcpy(to + i, from + i, NUMBER_STEP);
    }
    return to + len;
}

/* ---- templates ---- */

static void print_before(struct buf *out,
                         const struct event_template *template,
                         const char *const *keys,
                         uint32_t i)
{
    const struct event_slot *slot = &template->slots[i];
    bool opens_args = slot->in_args && (i == 0 || !template->slots[i - 1].in_args);
    if (slot->key == EVENT_KEY_NONE) {
        return;
    }
    buf_puts(out, i == 0 ? "{" : ", ");
    if (opens_args) {
        buf_puts(out, "\"args\": {");
    }
    buf_puts(out, keys[slot->key]);
    buf_puts(out, ": ");
}

static void print_behind(struct buf *out, const struct event_template *template)
{
    uint32_t count = template->slot_count;
    if (count > 0 && template->slots[0].key == EVENT_KEY_NONE) {
        return;
    }
    bool args_open = count > 0 && template->slots[count - 1].in_args;
    if (count == 0) {
        buf_puts(out, "{");
    }
    if (args_open) {
        buf_puts(out, "}");
    } else if (template->has_args) {
        buf_puts(out, count == 0 ? "\"args\": {}" : ", \"args\": {}");
    }
    buf_puts(out, "}");
}

bool printed_template_make(struct printed_template *out,
                           struct arena *arena,
                           const struct stored_templates *templates,
                           const struct stored_template *of)
{
    const struct event_template *template = &of->template;
    struct json_slice *before =
        arena_calloc(arena, (size_t) template->slot_count + 1, sizeof *before);
    if (before == NULL) {
        return false;
    }
    struct buf all;
    buf_init(&all, SIZE_MAX / 2);
    for (uint32_t i = 0; i <= template->slot_count; i++) {
        size_t start = all.len;
        if (i < template->slot_count) {
            print_before(&all, template, templates->keys, i);
        } else {
            print_behind(&all, template);
        }
        before[i].len = all.len - start;
    }
    for (size_t i = 0; i < KEY_STEP; i++) {
        buf_putc(&all, ' ');
    }
    const char *text = all.failed ? NULL : arena_strndup(arena, all.ptr, all.len);
    buf_free(&all);
    for (uint32_t i = 0; text != NULL && i <= template->slot_count; i++) {
        before[i].text = text;
        text += before[i].len;
    }
    out->before = text == NULL ? NULL : before;
    return text != NULL;
}

/* ---- numbers ---- */

static const char digit_pairs[] = "00010203040506070809"
                                  "10111213141516171819"
                                  "20212223242526272829"
                                  "30313233343536373839"
                                  "40414243444546474849"
                                  "50515253545556575859"
                                  "60616263646566676869"
                                  "70717273747576777879"
                                  "80818283848586878889"
                                  "90919293949596979899";

/* The digits of `value` so that they end at `end`; gives their begin. */
static inline char *digits_before(char *end, uint64_t value)
{
    while (value >= 100) {
        end -= 2;
        memcpy(end, &digit_pairs[value % 100 * 2], 2);
        value /= 100;
    }
    if (value >= 10) {
        end -= 2;
        memcpy(end, &digit_pairs[value * 2], 2);
    } else {
        *--end = (char)('0' + value);
    }
    return end;
}

char *event_print_int(char *at, int64_t value)
{
    char digits[PRINT_NUMBER_BYTES + NUMBER_STEP];
    char *end = digits + PRINT_NUMBER_BYTES;
    uint64_t magnitude = (uint64_t)value;
    memset(end, 0, NUMBER_STEP);
    if (value < 0) {
        *at++ = '-';
        magnitude = 0 - magnitude;
    }
    const char *first = digits_before(end, magnitude);
    return copy_digits(at, first, (size_t)(end - first));
}

char *event_print_decimal(char *at, int64_t value, int64_t digits)
{
    char text[PRINT_NUMBER_BYTES + NUMBER_STEP];
    char *end = text + PRINT_NUMBER_BYTES;
    uint64_t magnitude = (uint64_t)value;
    memset(end, 0, NUMBER_STEP);
    if (value < 0) {
        *at++ = '-';
        magnitude = 0 - magnitude;
    }
    char *first = digits_before(end, magnitude);
    while (end - first <= digits) {
        *--first = '0';
    }
    size_t whole = (size_t)(end - first) - (size_t)digits;
    at = copy_digits(at, first, whole);
    *at = '.';
    return copy_digits(at + 1, first + whole, (size_t)digits);
}

/* ---- events ---- */

/* Room for `len` more bytes and a NUL. buf_reserve would clear it all first. */
static inline char *room_for(struct buf *out, char *at, size_t len)
{
    out->len = (size_t)(at - out->ptr);
    if (KS_LIKELY(out->cap - out->len > len)) {
        return at;
    }
    return buf_reserve(out, len);
}

void event_print(struct buf *out,
                 const struct printed_template *printed,
                 const struct block_template *template,
                 uint32_t row,
                 const struct json_slice *slices)
{
    const struct event_template *of = &template->stored->template;
    const struct event_column *column = template->columns;
    const struct json_slice *before = printed->before;
    char *at = out->failed ? NULL : out->ptr + out->len;
    for (uint32_t i = 0; at != NULL && i < of->slot_count; i++, before++) {
        int64_t value = column->values[(size_t)row * column->stride];
        uint8_t kind = of->slots[i].kind;
        size_t len = kind == EVENT_SLOT_TEXT ? slices[value].len : PRINT_NUMBER_BYTES;
        at = room_for(out, at, before->len + len + KEY_STEP);
        if (at == NULL) {
            return;
        }
        at = copy_key(at, before->text, before->len);
        column++;
        if (kind == EVENT_SLOT_TEXT) {
            memcpy(at, slices[value].text, len);
            at += len;
        } else if (kind == EVENT_SLOT_INT) {
            at = event_print_int(at, value);
        } else {
            at = event_print_decimal(at, value, column->values[(size_t)row * column->stride]);
            column++;
        }
    }
    if (at != NULL && (at = room_for(out, at, before->len + KEY_STEP)) != NULL) {
        at = copy_key(at, before->text, before->len);
        out->len = (size_t)(at - out->ptr);
        out->ptr[out->len] = '\0';
    }
}
