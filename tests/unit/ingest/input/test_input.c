#include "ingest/base/text/buf.h"
#include "ingest/input/input.h"
#include "tests/unit/unit.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define NO_CEILING SIZE_MAX

static const size_t block_sizes[] = {1, 7, 64, 4096, 0};

/* --- what the tests read --- */

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Text as traces have it: repetitive, but never the same for long. */
static struct buf make_text(size_t len)
{
    struct buf text;
    buf_init(&text, NO_CEILING);
    uint64_t seed = len + 1;
    while (text.len < len) {
        unsigned long long number = next_random(&seed) % 100000;
        buf_printf(&text, "{\"name\": \"aten::op_%llu\", \"ts\": %zu},\n", number, text.len);
    }
    text.len = len;
    assert_false(text.failed);
    return text;
}

static void append(struct buf *out, const void *bytes, size_t len)
{
    buf_append(out, bytes, len);
    assert_false(out->failed);
}

/* Deflates into `out`; with `finish` false the data ends on a byte and nothing closes it. */
static void deflate_text(struct buf *out, const char *text, size_t len, int gzip_flag, bool finish)
{
    struct isal_zstream *stream = calloc(1, sizeof *stream);
    uint8_t *level_buf = malloc(ISAL_DEF_LVL1_DEFAULT);
    size_t room_bytes = len + len / 8 + 4096;
    char *room = buf_reserve(out, room_bytes);
    assert_true(stream != NULL && level_buf != NULL && room != NULL);
    char *copy = malloc(len + 1); /* ISA-L's next_in is not const */
    assert_non_null(copy);
    if (len != 0) {
        memcpy(copy, text, len);
    }
    isal_deflate_init(stream);
    stream->level = 1;
    stream->level_buf = level_buf;
    stream->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
    stream->gzip_flag = (uint16_t)gzip_flag;
    stream->end_of_stream = finish;
    stream->flush = finish ? NO_FLUSH : FULL_FLUSH;
    stream->next_in = (uint8_t *)copy;
    stream->avail_in = (uint32_t)len;
    stream->next_out = (uint8_t *)room;
    stream->avail_out = (uint32_t)room_bytes;
    assert_int_equal(isal_deflate(stream), COMP_OK);
    assert_int_equal(stream->avail_in, 0);
    out->len += room_bytes - stream->avail_out;
    free(copy);
    free(level_buf);
    free(stream);
}

static void append_gzip(struct buf *out, const char *text, size_t len)
{
    deflate_text(out, text, len, IGZIP_GZIP, true);
}

static void append_le(struct buf *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        buf_putc(out, (char)(value >> (8 * i) & 0xFF));
    }
}

#define STORED_HEAD_BYTES 15 /* of a member: header and the head of its first block */

/* A member that stores the text in one block. */
static void append_stored(struct buf *out, const char *text, size_t len)
{
    append(out, "\x1F\x8B\x08\0\0\0\0\0\0\xFF\x01", 11);
    append_le(out, len, 2);
    append_le(out, ~(uint64_t)len, 2);
    append(out, text, len);
    char *copy = malloc(len + 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    append_le(out, crc32_gzip_refl(0, (uint8_t *)copy, len), 4);
    append_le(out, len, 4);
    free(copy);
}

/* A member with every optional field: extra, name, comment and the header's checksum. */
static void append_decorated(struct buf *out, const char *text, size_t len)
{
    struct buf member;
    buf_init(&member, NO_CEILING);
    append_stored(&member, text, len);
    uint8_t head[] = "\x1F\x8B\x08\x1E\0\0\0\0\0\xFF\x06\0extra!name.json\0a comment";
    append(out, head, sizeof head);
    append_le(out, crc32_gzip_refl(0, head, sizeof head) & 0xFFFF, 2);
    append(out, member.ptr + 10, member.len - 10);
    buf_free(&member);
}

static void append_zstd(struct buf *out, const char *text, size_t len)
{
    ZSTD_CCtx *ctx = ZSTD_createCCtx();
    assert_non_null(ctx);
    assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1)));
    size_t bound = ZSTD_compressBound(len);
    char *room = buf_reserve(out, bound);
    assert_non_null(room);
    size_t got = ZSTD_compress2(ctx, room, bound, text, len);
    assert_false(ZSTD_isError(got));
    out->len += got;
    (void)ZSTD_freeCCtx(ctx);
}

/* --- reading it --- */

struct result {
    struct buf bytes;
    bool failed;
    struct err err;
    bool cut;
    const char *why;
};

static void result_free(struct result *result)
{
    buf_free(&result->bytes);
}

/* How much of a window is kept: nothing, a few bytes, all of it, or a share of it. */
enum keep_rule { KEEP_NONE, KEEP_FEW, KEEP_ALL, KEEP_RANDOM, KEEP_RULES };

static size_t keep_of(enum keep_rule rule, size_t window_len, uint64_t *seed)
{
    switch (rule) {
    case KEEP_FEW:
        return window_len < 5 ? window_len : 5;
    case KEEP_ALL:
        return window_len;
    case KEEP_RANDOM:
        return (size_t)(next_random(seed) % (window_len + 1));
    case KEEP_NONE:
    case KEEP_RULES:
        break;
    }
    return 0;
}

static volatile char padding_sink;

/* Reads to the end or the error. Each window must be the kept bytes followed by new ones. */
static struct result read_to_end(struct input *in, enum keep_rule rule)
{
    struct result result = {.err = ERR_INIT};
    buf_init(&result.bytes, NO_CEILING);
    uint64_t seed = 99;
    size_t keep = 0;
    for (;;) {
        const char *window = NULL;
        size_t len = 0;
        result.failed = !input_next(in, keep, &window, &len, &result.err);
        if (result.failed) {
            break;
        }
        assert_true(len >= keep);
        assert_memory_equal(window, result.bytes.ptr + (result.bytes.len - keep), keep);
        padding_sink = window[len + INPUT_PADDING_BYTES - 1];
        if (len == keep) {
            const char *again = NULL;
            assert_true(input_next(in, keep, &again, &len, &result.err));
            assert_int_equal(len, keep);
            assert_memory_equal(again, result.bytes.ptr + (result.bytes.len - keep), keep);
            break;
        }
        append(&result.bytes, window + keep, len - keep);
        keep = keep_of(rule, len, &seed);
    }
    result.cut = input_cut(in, &result.why);
    return result;
}

static struct result read_memory(const struct buf *bytes, size_t block_bytes, enum keep_rule rule)
{
    struct input *in = NULL;
    struct err err = ERR_INIT;
    /* A copy of exact size, so that AddressSanitizer sees any read beyond it. */
    char *copy = malloc(bytes->len == 0 ? 1 : bytes->len);
    assert_non_null(copy);
    memcpy(copy, bytes->ptr, bytes->len);
    assert_true(input_open_memory(&in, copy, bytes->len, block_bytes, &err));
    struct result result = read_to_end(in, rule);
    input_close(in);
    free(copy);
    return result;
}

static void assert_bytes(const struct result *result, const char *expected, size_t len)
{
    assert_int_equal(result->bytes.len, len);
    assert_memory_equal(result->bytes.ptr, expected, len);
}

static void assert_prefix(const struct result *result, const struct buf *whole)
{
    assert_true(result->bytes.len <= whole->len);
    assert_memory_equal(result->bytes.ptr, whole->ptr, result->bytes.len);
}

/* --- the tests --- */

static struct buf make_container(enum input_container container, const struct buf *text)
{
    struct buf bytes;
    buf_init(&bytes, NO_CEILING);
    switch (container) {
    case INPUT_PLAIN:
        append(&bytes, text->ptr, text->len);
        break;
    case INPUT_GZIP:
        append_gzip(&bytes, text->ptr, text->len);
        break;
    case INPUT_ZSTD:
        append_zstd(&bytes, text->ptr, text->len);
        break;
    }
    return bytes;
}

static void all_bytes_arrive_whatever_the_blocks_and_the_keeping(void **state)
{
    static const size_t text_lens[] = {0, 1, 63, 64, 65, 3000, 20000};
    for (size_t t = 0; t < COUNT_OF(text_lens); t++) {
        struct buf text = make_text(text_lens[t]);
        for (int container = INPUT_PLAIN; container <= INPUT_ZSTD; container++) {
            struct buf bytes = make_container((enum input_container)container, &text);
            for (size_t b = text.len > 3000; b < COUNT_OF(block_sizes); b++) {
                for (int rule = KEEP_NONE; rule < KEEP_RULES; rule++) {
                    struct result result =
                        read_memory(&bytes, block_sizes[b], (enum keep_rule)rule);
                    assert_false(result.failed);
                    assert_false(result.cut);
                    assert_null(result.why);
                    assert_bytes(&result, text.ptr, text.len);
                    result_free(&result);
                }
            }
            buf_free(&bytes);
        }
        buf_free(&text);
    }
}

/* Beyond the headroom of 256 KiB windows move to larger memory and come back from it. */
static void more_than_the_headroom_can_be_kept(void **state)
{
    struct buf text = make_text((size_t)5 << 20);
    static const size_t sizes[] = {4096, 300000, 0};
    for (size_t b = 0; b < COUNT_OF(sizes); b++) {
        for (int rule = KEEP_ALL; rule < KEEP_RULES; rule++) {
            struct result result = read_memory(&text, sizes[b], (enum keep_rule)rule);
            assert_false(result.failed);
            assert_bytes(&result, text.ptr, text.len);
            result_free(&result);
        }
    }
    buf_free(&text);
}

static void keeps_around_the_headroom_are_exact(void **state)
{
    struct buf text = make_text((size_t)3 << 20);
    static const size_t keeps[] = {INPUT_HEADROOM_BYTES - 1, INPUT_HEADROOM_BYTES,
                                   INPUT_HEADROOM_BYTES + 1, INPUT_HEADROOM_BYTES * 2};
    for (size_t k = 0; k < COUNT_OF(keeps); k++) {
        struct input *in = NULL;
        struct err err = ERR_INIT;
        const char *window = NULL;
        size_t len = 0;
        assert_true(input_open_memory(&in, text.ptr, text.len, 0, &err));
        assert_true(input_next(in, 0, &window, &len, &err));
        size_t seen = len;
        while (seen < text.len) {
            assert_true(input_next(in, keeps[k], &window, &len, &err));
            assert_true(len > keeps[k]);
            assert_memory_equal(window, text.ptr + seen - keeps[k], len);
            seen += len - keeps[k];
        }
        assert_true(input_next(in, keeps[k], &window, &len, &err));
        assert_int_equal(len, keeps[k]);
        assert_memory_equal(window, text.ptr + text.len - keeps[k], len);
        input_close(in);
    }
    buf_free(&text);
}

static void more_cannot_be_kept_than_the_window_has(void **state)
{
    struct input *in = NULL;
    struct err err = ERR_INIT;
    const char *window = NULL;
    size_t len = 0;
    assert_true(input_open_memory(&in, "abcdef", 6, 4, &err));
    assert_false(input_next(in, 1, &window, &len, &err));
    assert_int_equal(err.code, ERR_INTERNAL);
    assert_true(input_next(in, 0, &window, &len, &err));
    assert_false(input_next(in, 5, &window, &len, &err));
    assert_true(input_next(in, 4, &window, &len, &err));
    assert_int_equal(len, 6);
    assert_memory_equal(window, "abcdef", 6);
    input_close(in);
}

static void containers_are_known_by_their_first_bytes(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        enum input_container container;
    } rows[] = {
        {"", 0, INPUT_PLAIN},
        {"{", 1, INPUT_PLAIN},
        {"\x1F", 1, INPUT_PLAIN},
        {"\x1F\x8B", 2, INPUT_GZIP},
        {"\x1F\x8C\x08", 3, INPUT_PLAIN},
        {"\x28\xB5\x2F\xFD", 4, INPUT_ZSTD},
        {"\x28\xB5\x2F", 3, INPUT_PLAIN},
        {"\x5E\x2A\x4D\x18", 4, INPUT_ZSTD},
        {"\x60\x2A\x4D\x18", 4, INPUT_PLAIN},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct input *in = NULL;
        struct err err = ERR_INIT;
        assert_true(input_open_memory(&in, rows[i].bytes, rows[i].len, 0, &err));
        assert_int_equal(input_container(in), rows[i].container);
        input_close(in);
    }
}

static void gzip_members_follow_each_other(void **state)
{
    struct buf text = make_text(4000);
    struct buf bytes;
    buf_init(&bytes, NO_CEILING);
    append_gzip(&bytes, text.ptr, 1000);
    append_gzip(&bytes, "", 0);
    append_decorated(&bytes, text.ptr + 1000, 500);
    append_stored(&bytes, text.ptr + 1500, 500);
    append_decorated(&bytes, text.ptr + 2000, 0);
    append_gzip(&bytes, text.ptr + 2000, 2000);
    for (size_t b = 0; b < COUNT_OF(block_sizes); b++) {
        struct result result = read_memory(&bytes, block_sizes[b], KEEP_FEW);
        assert_false(result.failed);
        assert_false(result.cut);
        assert_null(result.why);
        assert_bytes(&result, text.ptr, text.len);
        result_free(&result);
    }
    buf_free(&bytes);
    buf_free(&text);
}

static void zstd_frames_follow_each_other(void **state)
{
    struct buf text = make_text(4000);
    struct buf bytes;
    buf_init(&bytes, NO_CEILING);
    append(&bytes, "\x50\x2A\x4D\x18\x03\0\0\0any", 11);
    append_zstd(&bytes, text.ptr, 1000);
    append_zstd(&bytes, "", 0);
    append(&bytes, "\x5F\x2A\x4D\x18\0\0\0\0", 8);
    append_zstd(&bytes, text.ptr + 1000, 3000);
    for (size_t b = 0; b < COUNT_OF(block_sizes); b++) {
        struct result result = read_memory(&bytes, block_sizes[b], KEEP_FEW);
        assert_false(result.failed);
        assert_false(result.cut);
        assert_null(result.why);
        assert_bytes(&result, text.ptr, text.len);
        result_free(&result);
    }
    buf_free(&bytes);
    buf_free(&text);
}

static void bytes_behind_the_last_member_are_ignored_and_told(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
    } tails[] = {{"\0", 1}, {"\0\0\0\0\0\0\0\0", 8}, {"\x1F", 1}, {"garbage", 7}};
    struct buf text = make_text(500);
    for (int container = INPUT_GZIP; container <= INPUT_ZSTD; container++) {
        for (size_t t = 0; t < COUNT_OF(tails); t++) {
            for (size_t b = 0; b < COUNT_OF(block_sizes); b++) {
                struct buf bytes = make_container((enum input_container)container, &text);
                append(&bytes, tails[t].bytes, tails[t].len);
                struct result result = read_memory(&bytes, block_sizes[b], KEEP_NONE);
                assert_false(result.failed);
                assert_false(result.cut);
                assert_non_null(result.why);
                assert_bytes(&result, text.ptr, text.len);
                result_free(&result);
                buf_free(&bytes);
            }
        }
    }
    buf_free(&text);
}

/* Two members or frames cut at every offset: what was whole before is handed on. */
static void cut_data_ends_where_it_was_cut(void **state)
{
    static const size_t sizes[] = {7, 64, 0};
    struct buf text = make_text(600);
    for (int container = INPUT_GZIP; container <= INPUT_ZSTD; container++) {
        struct buf first = {.ptr = text.ptr, .len = 300};
        struct buf second = {.ptr = text.ptr + 300, .len = 300};
        struct buf bytes = make_container((enum input_container)container, &first);
        struct buf tail = make_container((enum input_container)container, &second);
        size_t boundary = bytes.len;
        append(&bytes, tail.ptr, tail.len);
        size_t magic_bytes = container == INPUT_GZIP ? 2 : 4;
        for (size_t cut = magic_bytes; cut < bytes.len; cut += unit_stride()) {
            struct buf part = {.ptr = bytes.ptr, .len = cut};
            struct result result = read_memory(&part, sizes[cut % COUNT_OF(sizes)], KEEP_FEW);
            assert_prefix(&result, &text);
            bool ends_between = cut >= boundary && cut < boundary + magic_bytes;
            if (result.failed) {
                assert_int_equal(result.err.code, ERR_BAD_INPUT);
                assert_true(strlen(result.err.msg) > 0);
                assert_int_equal(result.bytes.len, 0);
                assert_true(cut < boundary);
            } else {
                assert_int_equal(result.cut, !ends_between);
                assert_true(result.why != NULL || cut == boundary);
                assert_true(cut < boundary || result.bytes.len >= 300);
            }
            result_free(&result);
        }
        buf_free(&tail);
        buf_free(&bytes);
    }
    buf_free(&text);
}

/* Of stored data every byte before the cut can be told, so all of them must arrive. */
static void every_byte_before_the_cut_arrives(void **state)
{
    struct buf text = make_text(300);
    struct buf bytes;
    buf_init(&bytes, NO_CEILING);
    append_stored(&bytes, text.ptr, text.len);
    for (size_t cut = STORED_HEAD_BYTES + 1; cut < bytes.len; cut += unit_stride()) {
        for (size_t b = 0; b < COUNT_OF(block_sizes); b++) {
            struct buf part = {.ptr = bytes.ptr, .len = cut};
            struct result result = read_memory(&part, block_sizes[b], KEEP_NONE);
            size_t stored = cut - STORED_HEAD_BYTES;
            assert_false(result.failed);
            assert_true(result.cut);
            assert_bytes(&result, text.ptr, stored < text.len ? stored : text.len);
            result_free(&result);
        }
    }
    buf_free(&bytes);
    buf_free(&text);
}

/* Sound data, then a block of the reserved type: the damage costs nothing of what lies before it.
 */
static void every_byte_before_the_damage_arrives(void **state)
{
    static const size_t text_lens[] = {1, 300, 5000, 40000, 70000, 300000, 3000000};
    for (size_t t = 0; t < COUNT_OF(text_lens); t++) {
        struct buf text = make_text(text_lens[t]);
        struct buf bytes;
        buf_init(&bytes, NO_CEILING);
        deflate_text(&bytes, text.ptr, text.len, IGZIP_GZIP, false);
        append(&bytes, "\x07\x07\x07\x07", 4);
        for (size_t b = text.len > 5000 ? 3 : 0; b < COUNT_OF(block_sizes); b++) {
            struct result result = read_memory(&bytes, block_sizes[b], KEEP_NONE);
            assert_false(result.failed);
            assert_true(result.cut);
            assert_bytes(&result, text.ptr, text.len);
            result_free(&result);
        }
        buf_free(&bytes);
        buf_free(&text);
    }
}

/* Bits as deflate wants them: values from the low bit on, Huffman codes from the high bit on. */
struct bits {
    struct buf *out;
    unsigned pending;
    unsigned count;
};

static void put_bit(struct bits *bits, unsigned bit)
{
    bits->pending |= (bit & 1) << bits->count;
    if (++bits->count == 8) {
        buf_putc(bits->out, (char)bits->pending);
        bits->pending = 0;
        bits->count = 0;
    }
}

static void put_value(struct bits *bits, unsigned value, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        put_bit(bits, value >> i);
    }
}

static void put_code(struct bits *bits, unsigned code, unsigned width)
{
    for (unsigned i = width; i > 0; i--) {
        put_bit(bits, code >> (i - 1));
    }
}

/* Literals, then a copy that reaches before the beginning or has an unknown distance code: the copy
 * leaves no bytes behind, also where there is input enough for the decoder's fast loop. */
static void impossible_copies_leave_no_bytes(void **state)
{
    static const struct {
        size_t literals;
        unsigned distance_code;
    } rows[] = {{0, 0}, {1, 29}, {5, 29}, {200, 29}, {1, 30}, {200, 31}};
    char literals[200];
    memset(literals, 'a', sizeof literals);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf bytes;
        buf_init(&bytes, NO_CEILING);
        append(&bytes, "\x1F\x8B\x08\0\0\0\0\0\0\xFF", 10);
        struct bits bits = {.out = &bytes};
        put_value(&bits, 3, 3); /* last block, fixed codes */
        for (size_t j = 0; j < rows[i].literals; j++) {
            put_code(&bits, 0x30 + 'a', 8);
        }
        put_code(&bits, 0xC5, 8); /* a copy of 258 bytes */
        put_code(&bits, rows[i].distance_code, 5);
        for (int j = 0; j < 64; j++) {
            put_value(&bits, 0xFF, 8);
        }
        for (size_t b = 0; b < COUNT_OF(block_sizes); b++) {
            struct result result = read_memory(&bytes, block_sizes[b], KEEP_NONE);
            assert_int_equal(result.failed, rows[i].literals == 0);
            assert_int_equal(result.cut, rows[i].literals != 0);
            assert_bytes(&result, literals, rows[i].literals);
            result_free(&result);
        }
        buf_free(&bytes);
    }
}

/* All of the text is there before its checksum, however large the blocks are. */
static void wrong_checksums_are_told(void **state)
{
    struct buf text = make_text(2000);
    for (int container = INPUT_GZIP; container <= INPUT_ZSTD; container++) {
        for (size_t back = 1; back <= (container == INPUT_GZIP ? 8 : 4); back++) {
            struct buf bytes = make_container((enum input_container)container, &text);
            bytes.ptr[bytes.len - back] ^= 0x10;
            for (size_t b = 0; b < COUNT_OF(block_sizes); b++) {
                struct result result = read_memory(&bytes, block_sizes[b], KEEP_NONE);
                assert_false(result.failed);
                assert_true(result.cut);
                assert_non_null(strstr(result.why, "checksum"));
                assert_bytes(&result, text.ptr, text.len);
                result_free(&result);
            }
            buf_free(&bytes);
        }
    }
    buf_free(&text);
}

/* Random damage: the end always comes, and bytes that are not the text's are never passed off as
 * whole. */
static void random_damage_is_survived_and_noticed(void **state)
{
    uint64_t seed = 20240521;
    struct buf text = make_text(6000);
    struct buf first = {.ptr = text.ptr, .len = 3000};
    struct buf second = {.ptr = text.ptr + 3000, .len = 3000};
    for (int container = INPUT_GZIP; container <= INPUT_ZSTD; container++) {
        struct buf bytes = make_container((enum input_container)container, &first);
        struct buf tail = make_container((enum input_container)container, &second);
        append(&bytes, tail.ptr, tail.len);
        for (size_t round = 0; round < 3000; round += unit_stride()) {
            struct buf damaged;
            buf_init(&damaged, NO_CEILING);
            append(&damaged, bytes.ptr, bytes.len);
            for (uint64_t n = next_random(&seed) % 4 + 1; n > 0; n--) {
                size_t at = 4 + (size_t)(next_random(&seed) % (bytes.len - 4));
                damaged.ptr[at] = (char)(next_random(&seed) & 0xFF);
            }
            size_t block_bytes = round % 2 == 0 ? 0 : 512;
            struct result result = read_memory(&damaged, block_bytes, KEEP_FEW);
            bool same =
                result.bytes.len == text.len && memcmp(result.bytes.ptr, text.ptr, text.len) == 0;
            if (result.failed) {
                assert_int_equal(result.err.code, ERR_BAD_INPUT);
            } else {
                assert_true(same || result.why != NULL);
            }
            result_free(&result);
            buf_free(&damaged);
        }
        buf_free(&tail);
        buf_free(&bytes);
    }
    buf_free(&text);
}

static void random_bytes_behind_the_magic_are_survived(void **state)
{
    static const char *const magics[] = {"\x1F\x8B\x08", "\x28\xB5\x2F\xFD"};
    uint64_t seed = 7;
    for (size_t m = 0; m < COUNT_OF(magics); m++) {
        for (size_t round = 0; round < 3000; round += unit_stride()) {
            struct buf bytes;
            buf_init(&bytes, NO_CEILING);
            append(&bytes, magics[m], strlen(magics[m]));
            for (size_t i = 0; i < round % 300; i++) {
                buf_putc(&bytes, (char)(next_random(&seed) & 0xFF));
            }
            struct result result = read_memory(&bytes, round % 3 == 0 ? 64 : 0, KEEP_NONE);
            assert_true(result.failed || result.why != NULL || result.bytes.len != 0 ||
                        round % 300 > 8);
            result_free(&result);
            buf_free(&bytes);
        }
    }
}

static void an_input_may_be_closed_at_any_time(void **state)
{
    struct buf text = make_text((size_t)2 << 20);
    for (int container = INPUT_PLAIN; container <= INPUT_ZSTD; container++) {
        struct buf bytes = make_container((enum input_container)container, &text);
        for (int windows = 0; windows < 12; windows++) {
            for (size_t b = 1; b < COUNT_OF(block_sizes); b++) {
                struct input *in = NULL;
                struct err err = ERR_INIT;
                const char *window = NULL;
                size_t len = 0;
                assert_true(input_open_memory(&in, bytes.ptr, bytes.len, block_sizes[b], &err));
                for (int i = 0; i < windows; i++) {
                    assert_true(input_next(in, len, &window, &len, &err));
                    const char *why = NULL;
                    assert_false(input_cut(in, &why));
                }
                input_close(in);
            }
        }
        buf_free(&bytes);
    }
    input_close(NULL);
    buf_free(&text);
}

/* --- files --- */

#define PATH_BYTES 64

static void write_file(char path[PATH_BYTES], const struct buf *bytes)
{
    (void)snprintf(path, PATH_BYTES, "/tmp/ks_test_input_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t at = 0; at < bytes->len;) {
        ssize_t put = write(fd, bytes->ptr + at, bytes->len - at);
        assert_true(put > 0);
        at += (size_t)put;
    }
    assert_int_equal(close(fd), 0);
}

static void files_are_read_as_memory_is(void **state)
{
    static const size_t text_lens[] = {
        0, 1, 1000, INPUT_BLOCK_BYTES, INPUT_BLOCK_BYTES + 1, 7 * INPUT_BLOCK_BYTES + 123};
    for (size_t t = 0; t < COUNT_OF(text_lens); t++) {
        struct buf text = make_text(text_lens[t]);
        for (int container = INPUT_PLAIN; container <= INPUT_ZSTD; container++) {
            struct buf bytes = make_container((enum input_container)container, &text);
            char path[PATH_BYTES];
            write_file(path, &bytes);
            struct input *in = NULL;
            struct err err = ERR_INIT;
            assert_true(input_open_file(&in, path, &err));
            assert_int_equal(input_container(in), container);
            struct result result = read_to_end(in, KEEP_RANDOM);
            assert_false(result.failed);
            assert_false(result.cut);
            assert_bytes(&result, text.ptr, text.len);
            assert_int_equal(input_bytes_total(in), bytes.len);
            assert_int_equal(input_bytes_read(in), bytes.len);
            result_free(&result);
            input_close(in);
            assert_int_equal(unlink(path), 0);
            buf_free(&bytes);
        }
        buf_free(&text);
    }
}

static void what_is_no_readable_file_is_refused(void **state)
{
    static const struct {
        const char *path;
        enum err_code code;
    } rows[] = {
        {"/tmp/ks_test_input_there_is_none", ERR_NOT_FOUND},
        {"/etc/passwd/below_a_file", ERR_NOT_FOUND},
        {"/tmp", ERR_IO},
        {"/dev/null", ERR_IO},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct input *in = NULL;
        struct err err = ERR_INIT;
        assert_false(input_open_file(&in, rows[i].path, &err));
        assert_null(in);
        assert_int_equal(err.code, rows[i].code);
        assert_non_null(strstr(err.msg, rows[i].path));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_bytes_arrive_whatever_the_blocks_and_the_keeping),
        cmocka_unit_test(more_than_the_headroom_can_be_kept),
        cmocka_unit_test(keeps_around_the_headroom_are_exact),
        cmocka_unit_test(more_cannot_be_kept_than_the_window_has),
        cmocka_unit_test(containers_are_known_by_their_first_bytes),
        cmocka_unit_test(gzip_members_follow_each_other),
        cmocka_unit_test(zstd_frames_follow_each_other),
        cmocka_unit_test(bytes_behind_the_last_member_are_ignored_and_told),
        cmocka_unit_test(cut_data_ends_where_it_was_cut),
        cmocka_unit_test(every_byte_before_the_cut_arrives),
        cmocka_unit_test(every_byte_before_the_damage_arrives),
        cmocka_unit_test(impossible_copies_leave_no_bytes),
        cmocka_unit_test(wrong_checksums_are_told),
        cmocka_unit_test(random_damage_is_survived_and_noticed),
        cmocka_unit_test(random_bytes_behind_the_magic_are_survived),
        cmocka_unit_test(an_input_may_be_closed_at_any_time),
        cmocka_unit_test(files_are_read_as_memory_is),
        cmocka_unit_test(what_is_no_readable_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
