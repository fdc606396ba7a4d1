/* The archive of a backup, as it is written and read again; other tars are held against it by
 * tests/checks/backup.py. */
#include "ingest/store/backup/tar.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 512

static FILE *make_file(struct backup_tar *tar)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    *tar = (struct backup_tar){.fd = fileno(file), .path = "backup"};
    return file;
}

static void go_back(struct backup_tar *tar)
{
    assert_int_equal(lseek(tar->fd, 0, SEEK_SET), 0);
    *tar = (struct backup_tar){.fd = tar->fd, .path = "backup"};
}

static void members_come_back(void **state)
{
    static const char bytes[BLOCK + 1] = "some bytes";
    static const size_t sizes[] = {0, 1, BLOCK - 1, BLOCK, BLOCK + 1};
    struct backup_tar tar;
    struct err err = ERR_INIT;
    FILE *file = make_file(&tar);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_true(backup_tar_begin(&tar, "a/name", sizes[i], 1700000000, &err));
        assert_true(backup_tar_write(&tar, bytes, sizes[i], &err));
        assert_true(backup_tar_end_member(&tar, &err));
    }
    assert_true(backup_tar_finish(&tar, &err));
    go_back(&tar);
    char name[BACKUP_TAR_NAME_BYTES];
    char found[2 * BLOCK];
    uint64_t size_bytes;
    bool has_member;
    size_t got;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_true(backup_tar_next(&tar, name, &size_bytes, &has_member, &err));
        assert_true(has_member);
        assert_string_equal(name, "a/name");
        assert_int_equal(size_bytes, sizes[i]);
        assert_true(backup_tar_read(&tar, found, sizeof found, &got, &err));
        assert_int_equal(got, sizes[i]);
        assert_memory_equal(found, bytes, got);
        assert_true(backup_tar_read(&tar, found, sizeof found, &got, &err));
        assert_int_equal(got, 0);
    }
    assert_true(backup_tar_next(&tar, name, &size_bytes, &has_member, &err));
    assert_false(has_member);
    (void)fclose(file);
}

/* What eleven octal digits cannot say. */
static void large_sizes_come_back(void **state)
{
    static const uint64_t sizes[] = {((uint64_t)1 << 33) - 1, (uint64_t)1 << 33,
                                     (uint64_t)9999999999999, (uint64_t)1 << 62};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct backup_tar tar;
        struct err err = ERR_INIT;
        FILE *file = make_file(&tar);
        assert_true(backup_tar_begin(&tar, "large", sizes[i], 0, &err));
        assert_int_equal(lseek(tar.fd, 0, SEEK_CUR), (i == 0 ? 1 : 3) * BLOCK);
        go_back(&tar);
        char name[BACKUP_TAR_NAME_BYTES];
        uint64_t size_bytes;
        bool has_member;
        assert_true(backup_tar_next(&tar, name, &size_bytes, &has_member, &err));
        assert_true(has_member);
        assert_string_equal(name, "large");
        assert_int_equal(size_bytes, sizes[i]);
        (void)fclose(file);
    }
}

static void what_is_cut_or_changed_is_told(void **state)
{
    char name[BACKUP_TAR_NAME_BYTES];
    uint64_t size_bytes;
    bool has_member;
    /* The end of the checksum itself says nothing. */
    const off_t idle = 154;
    for (off_t at = 0; at < BLOCK; at += at + 7 == idle ? 14 : 7) {
        struct backup_tar tar;
        struct err err = ERR_INIT;
        FILE *file = make_file(&tar);
        assert_true(backup_tar_begin(&tar, "name", 5, 0, &err));
        assert_int_equal(pwrite(tar.fd, "\x7f", 1, at), 1);
        go_back(&tar);
        assert_false(backup_tar_next(&tar, name, &size_bytes, &has_member, &err));
        assert_int_equal(err.code, ERR_BAD_INPUT);
        assert_int_equal(ftruncate(tar.fd, at), 0);
        go_back(&tar);
        err.code = ERR_NONE;
        assert_false(backup_tar_next(&tar, name, &size_bytes, &has_member, &err));
        assert_int_equal(err.code, ERR_BAD_INPUT);
        (void)fclose(file);
    }
}

static void files_that_change_meanwhile_are_told(void **state)
{
    struct backup_tar tar;
    struct err err = ERR_INIT;
    FILE *file = make_file(&tar);
    assert_true(backup_tar_begin(&tar, "name", 2, 0, &err));
    assert_false(backup_tar_write(&tar, "abc", 3, &err));
    assert_int_equal(err.code, ERR_IO);
    assert_true(backup_tar_write(&tar, "a", 1, &err));
    assert_false(backup_tar_end_member(&tar, &err));
    (void)fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_back),
        cmocka_unit_test(large_sizes_come_back),
        cmocka_unit_test(what_is_cut_or_changed_is_told),
        cmocka_unit_test(files_that_change_meanwhile_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
