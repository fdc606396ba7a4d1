#include "server/guard/client_address.h"
#include "tests/unit/unit.h"

static void the_address_that_a_trusted_proxy_names(void **state)
{
    static const char *const trusted[] = {"10.0.0.1", "10.0.0.2"};
    static const struct {
        const char *peer;
        const char *forwarded_for;
        const char *expect;
    } rows[] = {
        {"1.2.3.4", NULL, "1.2.3.4"},
        {"1.2.3.4", "5.6.7.8", "1.2.3.4"},
        {"10.0.0.1", NULL, "10.0.0.1"},
        {"10.0.0.1", "", "10.0.0.1"},
        {"10.0.0.1", "5.6.7.8", "5.6.7.8"},
        {"10.0.0.1", " 5.6.7.8 ", "5.6.7.8"},
        {"10.0.0.1", "9.9.9.9, 5.6.7.8", "5.6.7.8"},
        {"10.0.0.1", "5.6.7.8, 10.0.0.2", "5.6.7.8"},
        {"10.0.0.1", "10.0.0.2,10.0.0.1", "10.0.0.2"},
        {"10.0.0.1", "2001:db8::1", "2001:db8::1"},
        {"10.0.0.1", "evil\"name", "10.0.0.1"},
        {"10.0.0.1", "1111111111111111111111111111111111111111111111111111", "10.0.0.1"},
        {"10.0.0.1", ",,,", "10.0.0.1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char out[CLIENT_ADDRESS_BYTES];
        client_address(out, rows[i].peer, &rows[i].forwarded_for, rows[i].forwarded_for != NULL,
                       trusted, COUNT_OF(trusted));
        assert_string_equal(out, rows[i].expect);
    }
}

/* A client's own line stands before the one that the proxy adds. */
static void the_last_line_counts(void **state)
{
    static const char *const trusted[] = {"10.0.0.1", "10.0.0.2"};
    static const struct {
        const char *lines[3];
        size_t count;
        const char *expect;
    } rows[] = {
        {{"9.9.9.9", "5.6.7.8"}, 2, "5.6.7.8"},
        {{"9.9.9.9", "5.6.7.8", "10.0.0.2"}, 3, "5.6.7.8"},
        {{"9.9.9.9, 5.6.7.8", "10.0.0.2,10.0.0.1"}, 2, "5.6.7.8"},
        {{"9.9.9.9", ""}, 2, "9.9.9.9"},
        {{"9.9.9.9", "not an address!"}, 2, "10.0.0.1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char out[CLIENT_ADDRESS_BYTES];
        client_address(out, "10.0.0.1", rows[i].lines, rows[i].count, trusted, COUNT_OF(trusted));
        assert_string_equal(out, rows[i].expect);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_address_that_a_trusted_proxy_names),
        cmocka_unit_test(the_last_line_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
