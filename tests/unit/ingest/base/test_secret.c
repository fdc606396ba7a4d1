#include "ingest/base/secret.h"
#include "tests/unit/unit.h"

#include <string.h>

static void secrets_are_long_and_never_the_same(void **state)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char a[SECRET_BYTES];
    char b[SECRET_BYTES];
    struct err err = ERR_INIT;
    assert_true(secret_make(a, "kst_", &err));
    assert_true(secret_make(b, "kst_", &err));
    assert_int_equal(strlen(a), 4 + 43);
    assert_memory_equal(a, "kst_", 4);
    assert_int_equal(strspn(a + 4, digits), 43);
    assert_string_not_equal(a, b);
    assert_false(secret_make(a, "much_too_long", &err));
}

static void hashes_are_those_of_sha256sum(void **state)
{
    char view[SHA256_HEX_BYTES];
    char other[SHA256_HEX_BYTES];
    struct err err = ERR_INIT;
    assert_true(secret_hash("view", view, &err));
    assert_true(secret_hash("vieW", other, &err));
    assert_string_equal(view, "2bcb43cbc8f6b7ef66331532881143fcbae60a879db3a8fb853f645bb24c2b3c");
    assert_true(secret_hash_equal(view, view));
    assert_false(secret_hash_equal(view, other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_are_long_and_never_the_same),
        cmocka_unit_test(hashes_are_those_of_sha256sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
