/* Damaged zstd: what arrives and what is said do not depend on the size of the reads. */
#include "ingest/base/text/buf.h"
#include "ingest/input/input.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <zstd.h>

struct verdict {
    struct buf bytes;
    char text[sizeof(((struct err *)0)->msg)]; /* of the error, or why the input is cut */
};

static struct verdict read_in_blocks(const struct buf *file, size_t block_bytes)
{
    struct verdict verdict = {.text = ""};
    struct input *in = NULL;
    struct err err = ERR_INIT;
    const char *window = NULL;
    const char *why = NULL;
    size_t len = 1;
    buf_init(&verdict.bytes, SIZE_MAX);
    assert_true(input_open_memory(&in, file->ptr, file->len, block_bytes, &err));
    while (len != 0 && input_next(in, 0, &window, &len, &err)) {
        buf_append(&verdict.bytes, window, len);
    }
    why = input_cut(in, &why) ? why : err.msg;
    (void)snprintf(verdict.text, sizeof verdict.text, "%s", why);
    input_close(in);
    return verdict;
}

static void assert_same_in_all_blocks(const struct buf *file, const char *why)
{
    static const size_t block_sizes[] = {1, 2, 7, 61, 4096};
    struct verdict whole = read_in_blocks(file, 0);
    if (why != NULL) {
        assert_string_equal(whole.text, why);
    }
    for (size_t b = 0; b < COUNT_OF(block_sizes); b++) {
        struct verdict parts = read_in_blocks(file, block_sizes[b]);
        assert_string_equal(parts.text, whole.text);
        assert_int_equal(parts.bytes.len, whole.bytes.len);
        assert_memory_equal(parts.bytes.ptr, whole.bytes.ptr, whole.bytes.len);
        buf_free(&parts.bytes);
    }
    buf_free(&whole.bytes);
}

/* Its header says 232 bytes, its only block has three. */
static const char short_frame[] = "\x28\xB5\x2F\xFD\x20\xE8\x19\0\0{\"n";

static void a_raw_block_short_of_its_frame_is_damage_in_any_block(void **state)
{
    const struct buf file = {.ptr = (char *)(uintptr_t)short_frame, .len = sizeof short_frame - 1};
    assert_same_in_all_blocks(&file, "damaged zstd data");
}

/* A raw block, a run of one byte and a packed block; each byte of the frame in turn is another. */
static void the_size_of_the_blocks_does_not_decide_what_is_damaged(void **state)
{
    static const char *const parts[] = {"{\"name\": 1, \"x\"", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                        "{\"ts\": 1}, {\"ts\": 2}, {\"ts\": 3}, {\"ts\": 4}"};
    char frame[512];
    ZSTD_CCtx *ctx = ZSTD_createCCtx();
    ZSTD_outBuffer out = {.dst = frame, .size = sizeof frame};
    assert_non_null(ctx);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        ZSTD_inBuffer in = {.src = parts[i], .size = strlen(parts[i])};
        ZSTD_EndDirective end = i + 1 == COUNT_OF(parts) ? ZSTD_e_end : ZSTD_e_flush;
        assert_int_equal(ZSTD_compressStream2(ctx, &out, &in, end), 0);
    }
    (void)ZSTD_freeCCtx(ctx);
    for (size_t at = 4; at < out.pos; at++) {
        for (int bit = 0; bit < 8; bit++) {
            const struct buf file = {.ptr = frame, .len = out.pos};
            frame[at] = (char)(frame[at] ^ (1 << bit));
            assert_same_in_all_blocks(&file, NULL);
            frame[at] = (char)(frame[at] ^ (1 << bit));
        }
        const struct buf cut = {.ptr = frame, .len = at};
        assert_same_in_all_blocks(&cut, "the zstd data breaks off");
    }
}

/* No step is larger than what waits for the decoder, but a frame to skip may be. */
static void a_frame_to_skip_may_be_larger_than_any_block(void **state)
{
    const size_t skip_bytes = (size_t)700 << 10;
    static const char head[] = "\x50\x2A\x4D\x18\0\xF0\x0A";
    struct buf file;
    buf_init(&file, SIZE_MAX);
    buf_append(&file, head, sizeof head);
    char *room = buf_reserve(&file, skip_bytes);
    assert_non_null(room);
    memset(room, 'x', skip_bytes);
    file.len += skip_bytes;
    room = buf_reserve(&file, 100);
    assert_non_null(room);
    file.len += ZSTD_compress(room, 100, "[]", 2, 1);
    struct verdict whole = read_in_blocks(&file, 0);
    assert_int_equal(whole.bytes.len, 2);
    assert_string_equal(whole.text, "");
    buf_free(&whole.bytes);
    buf_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_raw_block_short_of_its_frame_is_damage_in_any_block),
        cmocka_unit_test(the_size_of_the_blocks_does_not_decide_what_is_damaged),
        cmocka_unit_test(a_frame_to_skip_may_be_larger_than_any_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
