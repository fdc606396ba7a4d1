#include "ingest/base/text/buf.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static void a_new_buffer_is_the_empty_string(void **state)
{
    struct buf buf;
    buf_init(&buf, 100);
    assert_string_equal(buf.ptr, "");
    assert_int_equal(buf.len, 0);
    buf_clear(&buf);
    buf_append(&buf, NULL, 0);
    buf_puts(&buf, "");
    assert_string_equal(buf.ptr, "");
    assert_false(buf.failed);
    buf_free(&buf);
    buf_free(&buf);
}

static void appends_add_up_and_stay_terminated(void **state)
{
    struct buf buf;
    buf_init(&buf, SIZE_MAX);
    char expected[4096] = "";
    for (int i = 0; i < 200; i++) {
        buf_putc(&buf, (char)('a' + i % 26));
        buf_puts(&buf, "-x");
        buf_append(&buf, "yz!", 2);
        buf_printf(&buf, "%d;", i);
        size_t at = strlen(expected);
        (void)snprintf(expected + at, sizeof expected - at, "%c-xyz%d;", 'a' + i % 26, i);
        assert_string_equal(buf.ptr, expected);
        assert_int_equal(buf.len, strlen(expected));
    }
    assert_false(buf.failed);
    buf_free(&buf);
}

#define DRAINED_MAX 65536

struct drained {
    char text[DRAINED_MAX];
    size_t len;
    size_t calls_left;
};

static bool take_away(void *context, struct buf *buf)
{
    struct drained *to = context;
    assert_true(buf->len >= 1000);
    assert_true(to->len + buf->len < DRAINED_MAX);
    memcpy(to->text + to->len, buf->ptr, buf->len);
    to->len += buf->len;
    buf_clear(buf);
    return to->calls_left-- > 0;
}

/* Every way to append meets a full buffer at some time. */
static void a_drained_buffer_stays_small_and_loses_nothing(void **state)
{
    struct drained drained = {.calls_left = SIZE_MAX};
    struct buf buf;
    struct buf whole;
    buf_init(&buf, SIZE_MAX);
    buf_init(&whole, SIZE_MAX);
    buf_drain_to(&buf, 1000, take_away, &drained);
    for (int i = 0; i < 2000; i++) {
        buf_printf(&whole, "%d of %s,", i, "many");
        buf_printf(&buf, "%d of %s,", i, "many");
        buf_puts(&whole, "text");
        buf_puts(&buf, "text");
        buf_putc(&whole, ';');
        buf_putc(&buf, ';');
        char *room = buf_room(&buf, 7);
        assert_non_null(room);
        memcpy(room, "a room.", 7);
        buf_add(&buf, 7);
        buf_puts(&whole, "a room.");
    }
    assert_false(buf.failed);
    assert_int_equal(buf.cap, 1024);
    assert_int_equal(drained.len + buf.len, whole.len);
    assert_memory_equal(drained.text, whole.ptr, drained.len);
    assert_string_equal(buf.ptr, whole.ptr + drained.len);
    buf_free(&whole);
    buf_free(&buf);
    assert_null(buf.drain);
}

static void a_buffer_that_cannot_be_drained_has_failed(void **state)
{
    struct drained drained = {.calls_left = 1};
    struct buf buf;
    buf_init(&buf, SIZE_MAX);
    buf_drain_to(&buf, 1000, take_away, &drained);
    for (int i = 0; i < 300; i++) {
        buf_puts(&buf, "0123456789");
    }
    assert_true(buf.failed);
    assert_true(drained.len < 2100);
    buf_free(&buf);
}

/* For every way to append: what fits exactly succeeds, one byte more fails and stays failed. */
enum way { WAY_APPEND, WAY_PUTS, WAY_PRINTF, WAY_RESERVE, WAY_ROOM, WAY_PUTC };

static void add(struct buf *buf, enum way way, const char *text)
{
    char *room;
    switch (way) {
    case WAY_APPEND:
        buf_append(buf, text, strlen(text));
        break;
    case WAY_PUTS:
        buf_puts(buf, text);
        break;
    case WAY_PRINTF:
        buf_printf(buf, "%s", text);
        break;
    case WAY_RESERVE:
        room = buf_reserve(buf, strlen(text));
        if (room != NULL) {
            for (; *text != '\0'; text++) {
                *room++ = *text;
                buf->len++;
            }
        }
        break;
    case WAY_ROOM:
        room = buf_room(buf, strlen(text));
        for (; room != NULL && *text != '\0'; text++) {
            *room++ = *text;
            buf_add(buf, 1);
        }
        break;
    case WAY_PUTC:
        for (; *text != '\0'; text++) {
            buf_putc(buf, *text);
        }
        break;
    }
}

static void the_ceiling_is_exact(void **state)
{
    static const size_t ceilings[] = {1, 2, 10, 63, 64, 65, 127, 128, 129, 1000};
    char text[1024];
    for (size_t c = 0; c < COUNT_OF(ceilings); c++) {
        for (int way = WAY_APPEND; way <= WAY_PUTC; way++) {
            struct buf buf;
            buf_init(&buf, ceilings[c]);
            memset(text, 'q', ceilings[c] - 1);
            text[ceilings[c] - 1] = '\0';
            add(&buf, (enum way)way, text);
            add(&buf, (enum way)way, "r");
            assert_false(buf.failed);
            assert_int_equal(buf.len, ceilings[c]);
            assert_int_equal(buf.ptr[ceilings[c]], 0);
            assert_true(buf.cap <= ceilings[c] + 1);

            add(&buf, (enum way)way, "s");
            assert_true(buf.failed);
            assert_int_equal(strlen(buf.ptr), ceilings[c]);
            buf_clear(&buf);
            assert_false(buf.failed);
            assert_string_equal(buf.ptr, "");
            add(&buf, (enum way)way, "t");
            assert_string_equal(buf.ptr, "t");
            buf_free(&buf);
        }
    }
}

static void after_a_failure_nothing_is_added(void **state)
{
    struct buf buf;
    buf_init(&buf, 8);
    buf_puts(&buf, "1234");
    buf_puts(&buf, "567890");
    assert_true(buf.failed);
    buf_putc(&buf, 'x');
    buf_printf(&buf, "%d", 1);
    assert_null(buf_reserve(&buf, 1));
    assert_string_equal(buf.ptr, "1234");
    size_t len = 99;
    assert_null(buf_take(&buf, &len));
    assert_int_equal(len, 0);
    assert_string_equal(buf.ptr, "");
    buf_free(&buf);
}

static void absurd_lengths_fail_without_overflow(void **state)
{
    struct buf buf;
    buf_init(&buf, SIZE_MAX);
    buf_puts(&buf, "abc");
    assert_null(buf_reserve(&buf, SIZE_MAX));
    assert_true(buf.failed);
    buf_clear(&buf);
    assert_null(buf_reserve(&buf, SIZE_MAX - 1));
    assert_true(buf.failed);
    buf_free(&buf);
}

static void reserved_room_stays_terminated_when_half_used(void **state)
{
    struct buf buf;
    buf_init(&buf, 1000);
    char *room = buf_reserve(&buf, 100);
    assert_non_null(room);
    memset(room, 'h', 4);
    buf.len += 4;
    assert_string_equal(buf.ptr, "hhhh");
    buf_puts(&buf, "way");
    assert_string_equal(buf.ptr, "hhhhway");
    buf_free(&buf);
}

static void room_is_terminated_behind_what_was_added(void **state)
{
    struct buf buf;
    buf_init(&buf, 1000);
    char *room = buf_room(&buf, 100);
    assert_non_null(room);
    memset(room, 'h', 100);
    buf_add(&buf, 4);
    assert_string_equal(buf.ptr, "hhhh");
    assert_null(buf_room(&buf, 1000));
    assert_true(buf.failed);
    assert_string_equal(buf.ptr, "hhhh");
    buf_free(&buf);
}

static void taken_bytes_belong_to_the_caller(void **state)
{
    struct buf buf;
    buf_init(&buf, 100);
    size_t len = 0;
    char *empty = buf_take(&buf, &len);
    assert_string_equal(empty, "");
    assert_int_equal(len, 0);
    free(empty);

    buf_puts(&buf, "first");
    char *first = buf_take(&buf, &len);
    assert_int_equal(len, 5);
    assert_int_equal(buf.len, 0);
    buf_puts(&buf, "second");
    assert_string_equal(first, "first");
    assert_string_equal(buf.ptr, "second");
    free(first);
    buf_free(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_buffer_is_the_empty_string),
        cmocka_unit_test(a_drained_buffer_stays_small_and_loses_nothing),
        cmocka_unit_test(a_buffer_that_cannot_be_drained_has_failed),
        cmocka_unit_test(appends_add_up_and_stay_terminated),
        cmocka_unit_test(the_ceiling_is_exact),
        cmocka_unit_test(after_a_failure_nothing_is_added),
        cmocka_unit_test(absurd_lengths_fail_without_overflow),
        cmocka_unit_test(reserved_room_stays_terminated_when_half_used),
        cmocka_unit_test(room_is_terminated_behind_what_was_added),
        cmocka_unit_test(taken_bytes_belong_to_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
