#include "ingest/input/input.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void a_file_has_a_path_and_memory_none(void **state)
{
    static const char TEXT[] = "some text";
    char path[] = "/tmp/kinetoscope-path-XXXXXX";
    char name[sizeof path];
    struct input *in = NULL;
    struct err err = ERR_INIT;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, TEXT, sizeof TEXT - 1), sizeof TEXT - 1);
    assert_int_equal(close(fd), 0);
    memcpy(name, path, sizeof name);
    assert_true(input_open_file(&in, name, &err));
    /* The path is kept, not borrowed. */
    memset(name, 'x', sizeof name - 1);
    assert_string_equal(input_path(in), path);
    input_close(in);
    assert_int_equal(unlink(path), 0);
    assert_true(input_open_memory(&in, TEXT, sizeof TEXT - 1, 0, &err));
    assert_null(input_path(in));
    input_close(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_a_path_and_memory_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
