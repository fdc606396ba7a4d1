/* Input whose bytes somebody makes as they are asked for. */
#include "ingest/base/text/buf.h"
#include "ingest/input/input.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define PIECES 300

struct maker {
    char piece[20000];
    int made;
    int fails_at; /* -1: never */
};

static size_t piece_text(char *out, size_t room, int number)
{
    size_t len = (size_t)(number * 7919 % 19000) + 1;
    for (size_t i = 0; i < len && i < room; i++) {
        out[i] = (char)('a' + (number + (int)i) % 26);
    }
    return len;
}

static bool next_piece(void *context, const char **bytes, size_t *len, struct err *err)
{
    struct maker *maker = context;
    if (maker->made == maker->fails_at) {
        return err_set(err, ERR_STORE, "piece %d is missing", maker->made);
    }
    *bytes = maker->piece;
    *len = maker->made == PIECES ? 0 : piece_text(maker->piece, sizeof maker->piece, maker->made++);
    return true;
}

static void pieces_are_put_together(void **state)
{
    static struct maker maker = {.fails_at = -1};
    const struct input_stream stream = {&maker, next_piece, INPUT_PLAIN};
    struct input *in = NULL;
    struct err err = ERR_INIT;
    struct buf want;
    struct buf got;
    char piece[20000];
    buf_init(&want, SIZE_MAX / 2);
    buf_init(&got, SIZE_MAX / 2);
    for (int i = 0; i < PIECES; i++) {
        buf_append(&want, piece, piece_text(piece, sizeof piece, i));
    }
    assert_true(input_open_stream(&in, &stream, &err));
    assert_null(input_path(in));
    assert_int_equal(input_bytes_total(in), 0);
    const char *window = NULL;
    size_t len = 0;
    do {
        assert_true(input_next(in, 0, &window, &len, &err));
        buf_append(&got, window, len);
    } while (len > 0);
    assert_true(want.len > INPUT_BLOCK_BYTES);
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.ptr, want.ptr, want.len);
    assert_int_equal(input_bytes_read(in), want.len);
    input_close(in);
    buf_free(&want);
    buf_free(&got);
}

static void an_error_of_the_maker_is_told(void **state)
{
    static struct maker maker = {.fails_at = 200};
    const struct input_stream stream = {&maker, next_piece, INPUT_PLAIN};
    struct input *in = NULL;
    struct err err = ERR_INIT;
    const char *window = NULL;
    size_t len = 1;
    assert_true(input_open_stream(&in, &stream, &err));
    while (input_next(in, 0, &window, &len, &err)) {
        assert_true(len > 0);
    }
    assert_int_equal(err.code, ERR_STORE);
    assert_string_equal(err.msg, "piece 200 is missing");
    input_close(in);
}

/* Closing while the maker still has much to give. */
static void it_can_be_closed_at_any_time(void **state)
{
    static struct maker maker = {.fails_at = -1};
    const struct input_stream stream = {&maker, next_piece, INPUT_PLAIN};
    struct input *in = NULL;
    struct err err = ERR_INIT;
    assert_true(input_open_stream(&in, &stream, &err));
    input_close(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_put_together),
        cmocka_unit_test(an_error_of_the_maker_is_told),
        cmocka_unit_test(it_can_be_closed_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
