#include "server/guard/throttle.h"
#include "tests/unit/unit.h"

#include <stdio.h>

static void ten_at_once_then_one_a_second(void **state)
{
    struct throttle *throttle = NULL;
    struct err err = ERR_INIT;
    assert_true(throttle_create(&throttle, &err));
    for (int i = 0; i < 10; i++) {
        assert_true(throttle_allows(throttle, "10.0.0.1", 1000));
        assert_int_equal(throttle_note(throttle, "10.0.0.1", 1000), i == 9);
    }
    assert_false(throttle_allows(throttle, "10.0.0.1", 1000));
    assert_true(throttle_allows(throttle, "10.0.0.2", 1000));
    assert_false(throttle_allows(throttle, "10.0.0.1", 1999));
    /* Being wrong while one may not try puts nothing off. */
    assert_false(throttle_note(throttle, "10.0.0.1", 1500));
    assert_true(throttle_allows(throttle, "10.0.0.1", 2000));
    assert_true(throttle_note(throttle, "10.0.0.1", 2000));
    assert_false(throttle_allows(throttle, "10.0.0.1", 2000));
    for (int i = 0; i < 10; i++) {
        assert_true(throttle_allows(throttle, "10.0.0.1", 60000));
        (void)throttle_note(throttle, "10.0.0.1", 60000);
    }
    assert_false(throttle_allows(throttle, "10.0.0.1", 60000));
    throttle_free(throttle);
}

/* Many others make a place free, but not that of one who has to wait. */
static void many_addresses_do_not_free_the_one(void **state)
{
    struct throttle *throttle = NULL;
    struct err err = ERR_INIT;
    assert_true(throttle_create(&throttle, &err));
    for (int i = 0; i < 10; i++) {
        (void)throttle_note(throttle, "10.0.0.1", 0);
    }
    for (int i = 0; i < 20000; i++) {
        char address[32];
        (void)snprintf(address, sizeof address, "11.0.%d.%d", i / 250, i % 250);
        (void)throttle_note(throttle, address, 0);
        assert_true(throttle_allows(throttle, address, 0));
    }
    assert_false(throttle_allows(throttle, "10.0.0.1", 0));
    throttle_free(throttle);
}

static void others_count_with_us(void **state)
{
    struct throttle *throttle = NULL;
    struct err err = ERR_INIT;
    assert_true(throttle_create(&throttle, &err));
    (void)throttle_note(throttle, "10.0.0.1", 1000);
    throttle_owes(throttle, "10.0.0.1", 9, 1000);
    assert_true(throttle_allows(throttle, "10.0.0.1", 1000));
    assert_true(throttle_note(throttle, "10.0.0.1", 1000));
    assert_false(throttle_allows(throttle, "10.0.0.1", 1000));
    throttle_owes(throttle, "10.0.0.1", 3, 1000);
    assert_false(throttle_allows(throttle, "10.0.0.1", 1000));
    throttle_owes(throttle, "10.0.0.2", 30, 1000);
    assert_false(throttle_allows(throttle, "10.0.0.2", 21000));
    assert_true(throttle_allows(throttle, "10.0.0.2", 22000));
    throttle_free(throttle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_at_once_then_one_a_second),
        cmocka_unit_test(many_addresses_do_not_free_the_one),
        cmocka_unit_test(others_count_with_us),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
