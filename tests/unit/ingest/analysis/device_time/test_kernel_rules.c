/* Rules of one's own for the classes of device work: a file of them, and each fault it may have. */
#include "ingest/analysis/kernel_classes/kernel_classes.h"
#include "ingest/analysis/kernel_classes/kernel_rules.h"
#include "tests/unit/unit.h"

// clang-format off
// clang-format on
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char path[] = "kernel_rules.txt";

static bool read_text(const char *text, struct kernel_rules *rules, struct err *err)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
    *err = (struct err)ERR_INIT;
    bool ok = kernel_rules_read(path, rules, err);
    (void)unlink(path);
    return ok;
}

static void own_rules_come_first(void **state)
{
    static const char text[] = "# of our team\n"
                               "\n"
                               "communication no get_dispatch_layout kind=deepep\n"
                               "ours yes ^MyGemm*fp8 other_name # and why\n"
                               "gemm auto plain\n"
                               "gemm - nobody_knows\n";
    struct kernel_rules rules;
    struct kernel_class class;
    struct err err;
    assert_true(read_text(text, &rules, &err));
    assert_int_equal(rules.count, 4);
    assert_int_equal(strlen(rules.sha256_hex), 64);
    assert_true(kernel_class_of(&rules, "void get_dispatch_layout<8>", &class));
    assert_string_equal(class.name, "communication");
    assert_string_equal(class.communication_kind, "deepep");
    assert_true(kernel_class_of(&rules, "mygemm_x_FP8", &class));
    assert_string_equal(class.name, "ours");
    assert_int_equal(class.matrix_unit, MATRIX_UNIT_USED);
    assert_true(kernel_class_of(&rules, "plain_wgmma", &class));
    assert_int_equal(class.matrix_unit, MATRIX_UNIT_USED);
    assert_true(kernel_class_of(&rules, "nobody_knows_wgmma", &class));
    assert_int_equal(class.matrix_unit, MATRIX_UNIT_UNKNOWN);
    /* What no rule of one's own fits goes by the built-in ones. */
    assert_true(kernel_class_of(&rules, "softmax_warp_forward", &class));
    assert_string_equal(class.name, "softmax");
    kernel_rules_free(&rules);
}

static void a_kind_may_be_left_out(void **state)
{
    struct kernel_rules rules;
    struct kernel_class class;
    struct err err;
    assert_true(read_text("communication no my_nccl my_wire\ngemm no mm kind=x", &rules, &err));
    assert_true(kernel_class_of(&rules, "my_nccl", &class));
    assert_string_equal(class.communication_kind, "nccl");
    assert_true(kernel_class_of(&rules, "my_wire", &class));
    assert_string_equal(class.communication_kind, "other");
    assert_true(kernel_class_of(&rules, "mm", &class));
    assert_null(class.communication_kind);
    kernel_rules_free(&rules);
}

static void faults_name_their_line(void **state)
{
    static const struct {
        const char *text, *words;
    } faults[] = {
        {"gemm yes a\ngemm maybe b\n", "line 2: a line is"},
        {"gemm\n", "line 1: a line is"},
        {"gemm yes\n", "line 1: there is no pattern"},
        {"gemm yes kind=x\n", "line 1: there is no pattern"},
        {"\n\nge-mm yes a\n", "line 3: a class has"},
        {"communication no a kind=\n", "line 1: a line has one kind at most"},
        {"communication no a kind=b kind=c\n", "line 1: a line has one kind at most"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct kernel_rules rules;
        struct err err;
        assert_false(read_text(faults[i].text, &rules, &err));
        assert_int_equal(err.code, ERR_BAD_INPUT);
        assert_non_null(strstr(err.msg, faults[i].words));
        kernel_rules_free(&rules);
    }
}

static void there_is_an_end_to_rules(void **state)
{
    static char text[1001 * 9 + 1];
    struct kernel_rules rules;
    struct err err;
    for (int i = 0; i < 1001; i++) {
        memcpy(text + (size_t)i * 9, "gemm - a\n", 10);
    }
    assert_false(read_text(text, &rules, &err));
    assert_non_null(strstr(err.msg, "line 1001: there are more than 1000 rules"));
    kernel_rules_free(&rules);
    assert_false(kernel_rules_read("no/such/file", &rules, &err));
    assert_int_equal(err.code, ERR_IO);
    kernel_rules_free(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_rules_come_first),
        cmocka_unit_test(a_kind_may_be_left_out),
        cmocka_unit_test(faults_name_their_line),
        cmocka_unit_test(there_is_an_end_to_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
