#include "ingest/base/text/python_frame.h"
#include "tests/unit/unit.h"

#include <string.h>

static void reads_file_line_and_function(void **state)
{
    static const struct {
        const char *name, *file, *line, *function;
    } rows[] = {
        {"net.py(34): forward", "net.py", "34", "forward"},
        {"a (1)/net.py(7): <lambda>", "a (1)/net.py", "7", "<lambda>"},
        {"<string>(2): f", "<string>", "2", "f"},
        {"a(1): b(2): c", "a(1): b", "2", "c"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct python_frame frame;
        assert_true(python_frame_read(rows[i].name, &frame));
        assert_int_equal(frame.file_len, strlen(rows[i].file));
        assert_memory_equal(frame.file, rows[i].file, frame.file_len);
        assert_int_equal(frame.line_len, strlen(rows[i].line));
        assert_memory_equal(frame.line, rows[i].line, frame.line_len);
        assert_string_equal(frame.function, rows[i].function);
    }
}

static void other_names_are_no_frames(void **state)
{
    static const char *const names[] = {"",
                                        "(",
                                        "(1): f",
                                        "a(): f",
                                        "a(1)",
                                        "a(1): ",
                                        "a(1):f",
                                        "a1): f",
                                        "): ",
                                        "a(x1): f",
                                        "nn.Module: Linear_0",
                                        "void k(int)",
                                        "<built-in method mm of type object at 0x7f>"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct python_frame frame;
        assert_false(python_frame_read(names[i], &frame));
    }
}

static void tells_libraries_from_the_program(void **state)
{
    static const char *const libraries[] = {"torch/nn/modules/module.py(1747): _call_impl",
                                            "threading.py(982): run",
                                            "<built-in function linear>",
                                            "<frozen runpy>(88): _run_code",
                                            "/venv/lib/python3.12/site-packages/x/y.py(3): f",
                                            "json/decoder.py(1): g"};
    static const char *const own[] = {"train.py(34): forward",  "vllm/torch/worker.py(3): run",
                                      "jsonlike/a.py(1): g",    "nn.Module: Linear_0",
                                      "threading.pyx(1): f",    "(backward)",
                                      "a.py(1): site-packages/"};
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        assert_true(python_frame_is_library(libraries[i]));
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        assert_false(python_frame_is_library(own[i]));
    }
}

static void assert_stem(const char *name, const char *stem, const char *rest)
{
    const char *tail = NULL;
    size_t len = python_frame_stem(name, strlen(name), &tail);
    assert_int_equal(len, strlen(stem));
    assert_memory_equal(name, stem, len);
    assert_string_equal(tail, rest);
}

static void addresses_are_left_out(void **state)
{
    assert_stem("<built-in method to of Tensor object at 0x7d67180cc500>",
                "<built-in method to of Tensor object", ">");
    assert_stem("<bound f at 0x1", "<bound f", "");
    assert_stem("<f at 0x>", "<f at 0x>", "");
    assert_stem("<f of 0x12>", "<f of 0x12>", "");
    assert_stem("", "", "");
    assert_stem("abcdef", "abcdef", "");
}

static void prints_the_function_first(void **state)
{
    struct buf out;
    buf_init(&out, 1000);
    python_frame_print(&out, "vllm/v1/worker.py(34): forward");
    assert_string_equal(out.ptr, "forward  worker.py:34");
    buf_clear(&out);
    python_frame_print(&out, "nn.Module: Linear_0");
    assert_string_equal(out.ptr, "nn.Module: Linear_0");
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_file_line_and_function),
        cmocka_unit_test(other_names_are_no_frames),
        cmocka_unit_test(tells_libraries_from_the_program),
        cmocka_unit_test(addresses_are_left_out),
        cmocka_unit_test(prints_the_function_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
