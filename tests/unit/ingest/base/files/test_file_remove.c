#include "ingest/base/files/file_remove.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGE_BYTES ((off_t)8 << 20)

static void make_file(char path[], off_t bytes)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, bytes), 0);
    assert_int_equal(close(fd), 0);
}

static void small_and_large_files_go(void **state)
{
    static const off_t sizes[] = {0, 1, LARGE_BYTES};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        char path[] = "/tmp/kinetoscope-remove-XXXXXX";
        make_file(path, sizes[i]);
        assert_int_equal(file_remove(path), 0);
        assert_int_equal(access(path, F_OK), -1);
    }
}

/* The link to a large file goes, not the file. */
static void links_go_alone(void **state)
{
    char path[] = "/tmp/kinetoscope-remove-XXXXXX";
    char link[sizeof path + sizeof "-link"];
    make_file(path, LARGE_BYTES);
    memcpy(link, path, sizeof path);
    memcpy(link + sizeof path - 1, "-link", sizeof "-link");
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(file_remove(link), 0);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(file_remove(path), 0);
}

static void failures_are_those_of_unlink(void **state)
{
    assert_int_equal(file_remove("/tmp/kinetoscope-remove-nowhere/file"), -1);
    assert_int_equal(errno, ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_and_large_files_go),
        cmocka_unit_test(links_go_alone),
        cmocka_unit_test(failures_are_those_of_unlink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
