#include "ingest/input/tar.h"
#include "ingest/input/tar_header.h"
#include "tests/unit/ingest/input/tar_builder.h"

#include <stdlib.h>
#include <zstd.h>

#define NO_CEILING SIZE_MAX
/* Each entry of an archive as a line. */
#define LISTING_MAX_BYTES 65536

struct archive {
    struct buf bytes;
    struct buf listing; /* "path=text\n", "path!fault\n" */
};

static void begin(struct archive *a)
{
    buf_init(&a->bytes, NO_CEILING);
    buf_init(&a->listing, LISTING_MAX_BYTES);
}

static void end(struct archive *a)
{
    buf_free(&a->bytes);
    buf_free(&a->listing);
}

static void list_text(struct archive *a, struct tar *tar)
{
    struct err err = ERR_INIT;
    struct input *in;
    const char *window;
    size_t len = 0;
    assert_true(tar_member(tar, &in, &err));
    do {
        assert_true(input_next(in, 0, &window, &len, &err));
        buf_append(&a->listing, window, len);
    } while (len > 0);
    input_close(in);
}

/* Lists the first `len` bytes of the archive; every second member is left alone. */
static const char *list_part(struct archive *a, size_t len, size_t block_bytes, bool all)
{
    struct err err = ERR_INIT;
    struct input *in;
    struct tar *tar;
    struct tar_entry entry;
    bool has_entry = true;
    bool reads = true;
    buf_clear(&a->listing);
    assert_true(input_open_memory(&in, a->bytes.ptr, len, block_bytes, &err));
    assert_true(tar_open(&tar, in, &err));
    for (;;) {
        assert_true(tar_next(tar, &entry, &has_entry, &err));
        if (!has_entry) {
            break;
        }
        buf_puts(&a->listing, entry.path);
        if (entry.fault != NULL) {
            assert_int_equal(entry.fault->code, ERR_BAD_INPUT);
            buf_printf(&a->listing, "!%.26s", entry.fault->msg);
        } else if (reads) {
            buf_puts(&a->listing, "=");
            list_text(a, tar);
        }
        reads = all || !reads;
        buf_puts(&a->listing, "\n");
    }
    assert_true(tar_next(tar, &entry, &has_entry, &err));
    assert_false(has_entry);
    tar_close(tar);
    input_close(in);
    assert_false(a->listing.failed);
    return a->listing.len == 0 ? "" : a->listing.ptr;
}

static const char *list(struct archive *a)
{
    return list_part(a, a->bytes.len, 0, true);
}

static void reads_members(void **state)
{
    struct archive a;
    begin(&a);
    tar_text(&a.bytes, "./rank_0/a.json", "one");
    tar_any(&a.bytes, (struct tar_spec){.name = "b.json", .prefix = "/very/long//prefix"}, "two",
            3);
    tar_any(&a.bytes, (struct tar_spec){.name = "c", .magic = "ustar  "}, "three", 5);
    tar_any(&a.bytes, (struct tar_spec){.name = "d", .magic = "\0\0\0\0\0\0\0"}, "four", 4);
    tar_any(&a.bytes, (struct tar_spec){.name = "e", .base_256 = true}, "five", 4);
    tar_any(&a.bytes, (struct tar_spec){.name = "f", .type = '7'}, "six", 3);
    tar_end(&a.bytes);
    static const char expected[] =
        "rank_0/a.json=one\nvery/long/prefix/b.json=two\nc=three\nd=four\n"
        "e=five\nf=six\n";
    assert_string_equal(list(&a), expected);
    static const size_t block_sizes[] = {1, 7, 64, 511, 513, 4096};
    for (size_t i = 0; i < sizeof block_sizes / sizeof block_sizes[0]; i++) {
        assert_string_equal(list_part(&a, a.bytes.len, block_sizes[i], true), expected);
    }
    /* members that nobody reads are skipped */
    assert_string_equal(list_part(&a, a.bytes.len, 64, false),
                        "rank_0/a.json=one\nvery/long/prefix/b.json\nc=three\nd\ne=five\nf\n");
    end(&a);
}

static void leaves_out_what_is_no_trace(void **state)
{
    static const char kinds[] = "1234569";
    struct archive a;
    begin(&a);
    for (size_t i = 0; i < sizeof kinds - 2; i++) {
        /* a size that no bytes follow */
        struct tar_spec spec = {.name = "x", .type = kinds[i], .size_bytes = 700};
        tar_header(&a.bytes, &spec);
    }
    tar_any(&a.bytes, (struct tar_spec){.name = "g", .type = 'g'}, "18 path=elsewhere\n", 18);
    tar_any(&a.bytes, (struct tar_spec){.name = "V", .type = 'V'}, "", 0);
    tar_any(&a.bytes, (struct tar_spec){.name = "D", .type = 'D'}, "Yfile\0\0", 7);
    tar_any(&a.bytes, (struct tar_spec){.name = "K", .type = 'K'}, "target", 6);
    tar_any(&a.bytes, (struct tar_spec){.name = "old/", .magic = "\0\0\0\0\0\0\0"}, "", 0);
    tar_text(&a.bytes, "._a.json", "resource fork");
    tar_text(&a.bytes, "run/.DS_Store", "icons");
    tar_text(&a.bytes, "run/.hidden/a.json", "hidden");
    tar_text(&a.bytes, "empty", "");
    tar_text(&a.bytes, "../../etc/../a.json", "text");
    tar_end(&a.bytes);
    assert_string_equal(list(&a), "etc/a.json=text\n");
    end(&a);
}

static void paths_are_text(void **state)
{
    struct archive a;
    begin(&a);
    tar_text(&a.bytes, "a\nb\x7F\xFF\xC3\xA4.json", "text");
    tar_end(&a.bytes);
    assert_string_equal(list(&a), "a_b__\xC3\xA4.json=text\n");
    end(&a);
}

static void takes_long_names(void **state)
{
    struct archive a;
    char path[301];
    char record[400];
    memset(path, 'p', 300);
    path[150] = '/';
    path[300] = '\0';
    begin(&a);
    tar_any(&a.bytes, (struct tar_spec){.name = "././@LongLink", .type = 'L'}, path, 301);
    tar_text(&a.bytes, "cut", "gnu");
    (void)snprintf(record, sizeof record, "19 comment=nothing\n310 path=%s\n", path);
    tar_any(&a.bytes, (struct tar_spec){.name = "PaxHeader", .type = 'x'}, record, strlen(record));
    tar_text(&a.bytes, "cut", "pax");
    tar_text(&a.bytes, "short", "none");
    tar_end(&a.bytes);
    char expected[1000];
    (void)snprintf(expected, sizeof expected, "%s=gnu\n%s=pax\nshort=none\n", path, path);
    assert_string_equal(list(&a), expected);
    assert_string_equal(list_part(&a, a.bytes.len, 1, true), expected);
    end(&a);
}

static void takes_sizes_from_records(void **state)
{
    struct archive a;
    begin(&a);
    static const char record[] = "11 size=700\n";
    tar_any(&a.bytes, (struct tar_spec){.name = "h", .type = 'x'}, record, sizeof record - 1);
    /* the wrong length of a record ends the records, not the archive */
    tar_text(&a.bytes, "a", "");
    static const char good[] = "12 size=700\n";
    tar_any(&a.bytes, (struct tar_spec){.name = "h", .type = 'x'}, good, sizeof good - 1);
    struct tar_spec spec = {.name = "b"};
    tar_header(&a.bytes, &spec);
    char text[701];
    memset(text, 't', 700);
    text[700] = '\0';
    tar_bytes(&a.bytes, text, 700);
    tar_end(&a.bytes);
    char expected[800];
    (void)snprintf(expected, sizeof expected, "b=%s\n", text);
    assert_string_equal(list(&a), expected);
    end(&a);
}

static void refuses_sparse_files(void **state)
{
    struct archive a;
    begin(&a);
    struct tar_spec spec = {.name = "holes", .type = 'S', .size_bytes = 4};
    tar_header(&a.bytes, &spec);
    a.bytes.ptr[482] = 1; /* two more blocks of the map */
    tar_checksum(a.bytes.ptr);
    char map[TAR_BLOCK] = "";
    map[504] = 1;
    buf_append(&a.bytes, map, sizeof map);
    map[504] = 0;
    buf_append(&a.bytes, map, sizeof map);
    tar_bytes(&a.bytes, "data", 4);
    static const char record[] = "22 GNU.sparse.major=1\n";
    tar_any(&a.bytes, (struct tar_spec){.name = "h", .type = 'x'}, record, sizeof record - 1);
    tar_text(&a.bytes, "pax", "data");
    tar_any(&a.bytes, (struct tar_spec){.name = "rest", .type = 'M'}, "data", 4);
    tar_text(&a.bytes, "whole", "text");
    tar_end(&a.bytes);
    assert_string_equal(list(&a),
                        "holes!sparse files are not read:\npax!sparse files are not read:\n"
                        "rest!the file begins in another\nwhole=text\n");
    end(&a);
}

static void goes_on_behind_damage(void **state)
{
    struct archive a;
    begin(&a);
    tar_text(&a.bytes, "a", "one");
    size_t header = a.bytes.len;
    tar_text(&a.bytes, "b", "two");
    tar_text(&a.bytes, "c", "three");
    tar_end(&a.bytes);
    a.bytes.ptr[header + 3] = 'x';
    assert_string_equal(list(&a), "a=one\n!the archive is damaged her\nc=three\n");
    /* a size that is no number, under a good checksum */
    a.bytes.ptr[header + 3] = '\0';
    memcpy(a.bytes.ptr + header + 124, "zzzzzzzzzzz", 11);
    tar_checksum(a.bytes.ptr + header);
    assert_string_equal(list(&a), "a=one\n!the header of a file has a\nc=three\n");
    /* and one that no file has */
    memcpy(a.bytes.ptr + header + 124, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 12);
    tar_checksum(a.bytes.ptr + header);
    assert_string_equal(list(&a), "a=one\n!the header of a file has a\nc=three\n");
    end(&a);
}

static void refuses_endless_names(void **state)
{
    struct archive a;
    begin(&a);
    struct tar_spec spec = {.name = "x", .type = 'L', .size_bytes = (uint64_t)1 << 40};
    tar_header(&a.bytes, &spec);
    tar_text(&a.bytes, "a", "one");
    char *name = malloc(TAR_PATH_MAX_BYTES + 1);
    assert_non_null(name);
    memset(name, 'n', TAR_PATH_MAX_BYTES + 1);
    tar_any(&a.bytes, (struct tar_spec){.name = "x", .type = 'L'}, name, TAR_PATH_MAX_BYTES + 1);
    free(name);
    tar_text(&a.bytes, "b", "two");
    tar_text(&a.bytes, "c", "three");
    tar_end(&a.bytes);
    const char *listing = list(&a);
    assert_non_null(strstr(listing, "!the name or the attributes"));
    assert_non_null(strstr(listing, "a=one\n"));
    assert_non_null(strstr(listing, "!the path is too long"));
    assert_non_null(strstr(listing, "c=three\n"));
    end(&a);
}

/* Wherever it breaks off: what was whole is there, and exactly one fault tells the rest. */
static void tells_where_it_breaks_off(void **state)
{
    struct archive a;
    begin(&a);
    tar_text(&a.bytes, "a", "one");
    char text[701];
    memset(text, 't', 700);
    text[700] = '\0';
    tar_text(&a.bytes, "b", text);
    size_t whole = a.bytes.len;
    tar_end(&a.bytes);
    for (size_t len = 0; len <= a.bytes.len; len += len % TAR_BLOCK == 0 ? 1 : 73) {
        const char *listing = list_part(&a, len, 64, true);
        bool has_a = strncmp(listing, "a=one\n", 6) == 0;
        const char *fault = strchr(listing, '!');
        assert_int_equal(has_a, len >= TAR_BLOCK + 3);
        if (len >= whole + TAR_BLOCK) {
            assert_null(fault);
            continue;
        }
        assert_non_null(fault);
        assert_null(strchr(fault + 1, '!'));
        bool within_b = len >= 3 * TAR_BLOCK && len < 3 * TAR_BLOCK + 700;
        assert_memory_equal(
            fault, within_b ? "!the archive breaks off in" : "!the archive breaks off ", 24);
        assert_int_equal(fault != listing && fault[-1] == 'b', within_b);
    }
    end(&a);
}

static void ends_at_its_mark(void **state)
{
    struct archive a;
    begin(&a);
    tar_text(&a.bytes, "a", "one");
    tar_end(&a.bytes);
    tar_text(&a.bytes, "behind", "not read");
    assert_string_equal(list(&a), "a=one\n");
    /* half a mark between members is stepped over, half a mark before garbage is the end */
    buf_clear(&a.bytes);
    static const char zeros[TAR_BLOCK] = "";
    tar_text(&a.bytes, "a", "one");
    buf_append(&a.bytes, zeros, sizeof zeros);
    tar_text(&a.bytes, "b", "two");
    buf_append(&a.bytes, zeros, sizeof zeros);
    tar_bytes(&a.bytes, "garbage", 7);
    tar_text(&a.bytes, "c", "three");
    assert_string_equal(list(&a), "a=one\nb=two\n");
    end(&a);
}

static void recognises_archives(void **state)
{
    struct archive a;
    begin(&a);
    tar_any(&a.bytes, (struct tar_spec){.name = "old", .magic = "\0\0\0\0\0\0\0"}, "x", 1);
    assert_true(tar_recognises(a.bytes.ptr, a.bytes.len));
    assert_false(tar_recognises(a.bytes.ptr, TAR_BLOCK - 1));
    a.bytes.ptr[0] = 'x';
    assert_false(tar_recognises(a.bytes.ptr, a.bytes.len));
    buf_clear(&a.bytes);
    tar_text(&a.bytes, "new", "x");
    a.bytes.ptr[0] = 'x';
    assert_true(tar_recognises(a.bytes.ptr, a.bytes.len)); /* damaged, but one */
    char text[TAR_BLOCK];
    memset(text, ' ', sizeof text);
    assert_false(tar_recognises(text, sizeof text));
    memset(text, '\0', sizeof text);
    assert_false(tar_recognises(text, sizeof text));
    end(&a);
}

static void undoes_containers(void **state)
{
    struct archive a;
    char packed[200];
    begin(&a);
    size_t len = ZSTD_compress(packed, sizeof packed, "text of a member", 16, 1);
    assert_false(ZSTD_isError(len));
    tar_any(&a.bytes, (struct tar_spec){.name = "a.zst"}, packed, len);
    tar_text(&a.bytes, "b", "xy");
    tar_end(&a.bytes);
    assert_string_equal(list(&a), "a.zst=text of a member\nb=xy\n");
    /* and the archive itself */
    size_t room = ZSTD_compressBound(a.bytes.len);
    char *whole = malloc(room);
    assert_non_null(whole);
    len = ZSTD_compress(whole, room, a.bytes.ptr, a.bytes.len, 1);
    assert_false(ZSTD_isError(len));
    buf_clear(&a.bytes);
    buf_append(&a.bytes, whole, len);
    free(whole);
    assert_string_equal(list(&a), "a.zst=text of a member\nb=xy\n");
    end(&a);
}

/* A cut container is an archive that breaks off, for the container's reason. */
static void tells_of_a_cut_container(void **state)
{
    enum { TEXT_BYTES = 300000 };
    struct archive a;
    uint32_t number = 1;
    begin(&a);
    char *text = malloc(TEXT_BYTES + 1);
    assert_non_null(text);
    for (size_t i = 0; i < TEXT_BYTES; i++) {
        number = number * 1664525 + 1013904223;
        text[i] = (char)('!' + (number >> 26));
    }
    text[TEXT_BYTES] = '\0';
    tar_text(&a.bytes, "a", "one");
    tar_text(&a.bytes, "b", text);
    tar_end(&a.bytes);
    free(text);
    size_t room = ZSTD_compressBound(a.bytes.len);
    char *whole = malloc(room);
    assert_non_null(whole);
    size_t len = ZSTD_compress(whole, room, a.bytes.ptr, a.bytes.len, 1);
    assert_false(ZSTD_isError(len));
    buf_clear(&a.bytes);
    buf_append(&a.bytes, whole, len - len / 4);
    free(whole);
    buf_free(&a.listing);
    buf_init(&a.listing, NO_CEILING);
    const char *listing = list(&a);
    assert_memory_equal(listing, "a=one\nb=", 8);
    assert_non_null(strstr(listing, "b!the archive breaks off"));
    end(&a);
}

/* A member's input may be given up at any point. */
static void members_may_be_left(void **state)
{
    struct archive a;
    struct err err = ERR_INIT;
    struct input *in;
    struct input *member;
    struct tar *tar;
    struct tar_entry entry;
    bool has_entry;
    begin(&a);
    char *text = malloc(300001);
    assert_non_null(text);
    memset(text, 't', 300000);
    text[300000] = '\0';
    tar_text(&a.bytes, "a", text);
    tar_text(&a.bytes, "b", "two");
    tar_end(&a.bytes);
    free(text);
    assert_true(input_open_memory(&in, a.bytes.ptr, a.bytes.len, 4096, &err));
    assert_true(tar_open(&tar, in, &err));
    assert_true(tar_next(tar, &entry, &has_entry, &err));
    assert_int_equal(entry.size_bytes, 300000);
    assert_true(tar_member(tar, &member, &err));
    input_close(member);
    assert_true(tar_next(tar, &entry, &has_entry, &err));
    assert_true(has_entry);
    assert_string_equal(entry.path, "b");
    tar_close(tar);
    input_close(in);
    end(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_members),
        cmocka_unit_test(leaves_out_what_is_no_trace),
        cmocka_unit_test(paths_are_text),
        cmocka_unit_test(takes_long_names),
        cmocka_unit_test(takes_sizes_from_records),
        cmocka_unit_test(refuses_sparse_files),
        cmocka_unit_test(goes_on_behind_damage),
        cmocka_unit_test(refuses_endless_names),
        cmocka_unit_test(tells_where_it_breaks_off),
        cmocka_unit_test(ends_at_its_mark),
        cmocka_unit_test(recognises_archives),
        cmocka_unit_test(undoes_containers),
        cmocka_unit_test(tells_of_a_cut_container),
        cmocka_unit_test(members_may_be_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
