#include "ingest/base/text/buf.h"
#include "ingest/input/tar.h"
#include "ingest/input/zip.h"
#include "tests/unit/unit.h"

#include <string.h>
#include <unistd.h>

static const struct input_limits no_limits;

static void put_number(struct buf *out, uint64_t value, int size)
{
    for (int i = 0; i < size; i++) {
        char byte = (char)(i < 8 ? value >> 8 * i & 0xFF : 0);
        buf_append(out, &byte, 1);
    }
}

/* What a local header and an entry of the directory share, from the version on. */
static void put_common(struct buf *out, const char *name, const char *text, unsigned method)
{
    put_number(out, 20, 2);
    put_number(out, 0, 2); /* flags */
    put_number(out, method, 2);
    put_number(out, 0, 8); /* time, checksum */
    put_number(out, strlen(text), 4);
    put_number(out, strlen(text), 4);
    put_number(out, strlen(name), 2);
    put_number(out, 0, 2);
}

static uint64_t put_local(struct buf *out, const char *name, const char *text, unsigned method)
{
    uint64_t at = out->len;
    buf_puts(out, "PK\x03\x04");
    put_common(out, name, text, method);
    buf_puts(out, name);
    buf_puts(out, text);
    return at;
}

static void
put_entry(struct buf *out, const char *name, const char *text, unsigned method, uint64_t local_at)
{
    buf_puts(out, "PK\x01\x02");
    put_number(out, 20, 2);
    put_common(out, name, text, method);
    put_number(out, 0, 10); /* comment, disk, attributes */
    put_number(out, local_at, 4);
    buf_puts(out, name);
}

static void put_end(struct buf *out, uint64_t directory_at, unsigned count)
{
    uint64_t size = out->len - directory_at;
    buf_puts(out, "PK\x05\x06");
    put_number(out, 0, 4);
    put_number(out, count, 2);
    put_number(out, count, 2);
    put_number(out, size, 4);
    put_number(out, directory_at, 4);
    put_number(out, 0, 2);
}

static bool list_member(struct tar *tar, struct buf *listing)
{
    struct err err = ERR_INIT;
    struct input *in = NULL;
    const char *window = NULL;
    size_t len = 1;
    bool ok = tar_member(tar, &in, &err);
    while (ok && len > 0) {
        ok = input_next(in, 0, &window, &len, &err);
        buf_append(listing, window, ok ? len : 0);
    }
    input_close(in);
    return ok;
}

/* "path=text\n" of each file, "path!\n" of each fault. False: not read to its end. */
static bool
list_all(const struct buf *bytes, const struct input_limits *limits, struct buf *listing)
{
    char path[] = "/tmp/test_zip-XXXXXX";
    int fd = mkstemp(path);
    struct err err = ERR_INIT;
    struct zip *zip = NULL;
    struct input *in = NULL;
    struct tar *tar = NULL;
    struct tar_entry entry;
    bool has_entry = true;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes->ptr, bytes->len), bytes->len);
    (void)close(fd);
    bool ok = zip_open(&zip, &in, path, limits, &err) && tar_open(&tar, in, &err);
    while (ok && has_entry) {
        ok = tar_next(tar, &entry, &has_entry, &err);
        if (ok && has_entry) {
            buf_printf(listing, "%s%c", entry.path, entry.fault == NULL ? '=' : '!');
            ok = entry.fault != NULL || list_member(tar, listing);
            buf_puts(listing, "\n");
        }
    }
    tar_close(tar);
    input_close(in);
    zip_close(zip);
    (void)unlink(path);
    return ok;
}

static void make_two(struct buf *out)
{
    uint64_t one = put_local(out, "one.json", "[1]", 0);
    uint64_t two = put_local(out, "../b/two.json", "[2, 2]", 0);
    uint64_t directory = out->len;
    put_entry(out, "one.json", "[1]", 0, one);
    put_entry(out, "../b/two.json", "[2, 2]", 0, two);
    put_end(out, directory, 2);
}

static void test_reads_as_tar(void **state)
{
    struct buf bytes;
    struct buf listing;
    buf_init(&bytes, 1 << 20);
    buf_init(&listing, 1 << 20);
    make_two(&bytes);
    assert_true(zip_recognises(bytes.ptr, bytes.len));
    assert_true(list_all(&bytes, &no_limits, &listing));
    buf_append(&listing, "", 1);
    assert_string_equal(listing.ptr, "one.json=[1]\nb/two.json=[2, 2]\n");
    buf_free(&bytes);
    buf_free(&listing);
}

/* Any cut: no crash, and what stands before it is there. */
static void test_cut_anywhere(void **state)
{
    struct buf whole;
    buf_init(&whole, 1 << 20);
    make_two(&whole);
    for (size_t len = 4; len < whole.len; len++) {
        struct buf cut;
        struct buf listing;
        buf_init(&cut, 1 << 20);
        buf_init(&listing, 1 << 20);
        buf_append(&cut, whole.ptr, len);
        bool ok = list_all(&cut, &no_limits, &listing);
        buf_append(&listing, "", 1);
        if (len >= 30 + strlen("one.json[1]")) {
            assert_true(ok);
            assert_memory_equal(listing.ptr, "one.json=[1]\n", strlen("one.json=[1]\n"));
        }
        buf_free(&cut);
        buf_free(&listing);
    }
    buf_free(&whole);
}

/* Many entries may lie on the same bytes. */
static void test_limits_hold_for_all(void **state)
{
    struct buf bytes;
    struct buf listing;
    const struct input_limits limits = {.decompressed_bytes = 30};
    buf_init(&bytes, 1 << 20);
    buf_init(&listing, 1 << 20);
    uint64_t one = put_local(&bytes, "a", "0123456789", 0);
    uint64_t directory = bytes.len;
    for (int i = 0; i < 4; i++) {
        put_entry(&bytes, "a", "0123456789", 0, one);
    }
    put_end(&bytes, directory, 4);
    assert_true(list_all(&bytes, &no_limits, &listing));
    assert_false(list_all(&bytes, &limits, &listing));
    buf_free(&bytes);
    buf_free(&listing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_as_tar),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_limits_hold_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
