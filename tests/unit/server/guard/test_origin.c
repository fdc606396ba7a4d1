#include "server/guard/origin.h"
#include "tests/unit/unit.h"

static void loopback_names_this_machine(void **state)
{
    assert_true(origin_is_loopback("127.0.0.1"));
    assert_true(origin_is_loopback("127.8.9.10"));
    assert_true(origin_is_loopback("localhost"));
    assert_true(origin_is_loopback("LocalHost"));
    assert_true(origin_is_loopback("::1"));
    assert_false(origin_is_loopback("0.0.0.0"));
    assert_false(origin_is_loopback("10.0.0.1"));
    assert_false(origin_is_loopback("127.0.0.1.evil.example"));
    assert_false(origin_is_loopback("localhost.evil.example"));
}

static void foreign_hosts_are_refused(void **state)
{
    static const struct {
        const char *host;
        bool expect;
    } rows[] = {
        {"localhost:8080", true},
        {"localhost", true},
        {"localhost.", true},
        {"127.0.0.1:1", true},
        {"[::1]:8080", true},
        {"[::1]", true},
        {"traces.example:443", true},
        {"TRACES.example", true},
        {"evil.example", false},
        {"127.0.0.1.evil.example:8080", false},
        {"evil.example:8080@localhost", false},
        {"[::2]:8080", false},
        {"[::1", false},
        {"[::1]x", false},
        {":8080", false},
        {"", false},
        {NULL, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(origin_host_allowed(rows[i].host, "https://traces.example/kinetoscope"),
                         rows[i].expect);
    }
    assert_false(origin_host_allowed("traces.example", NULL));
    assert_false(origin_host_allowed("traces.example", ""));
}

static void hosts_that_no_page_of_elsewhere_has(void **state)
{
    static const struct {
        const char *host;
        bool expect;
    } rows[] = {
        {"gpu-box:8080", true},
        {"gpu-box", true},
        {"10.1.2.3:8080", true},
        {"[2001:db8::1]:8080", true},
        {"traces.example", true},
        {"localhost:8080", true},
        {"evil.example:8080", false},
        {"10.1.2.3.evil.example", false},
        {"gpu-box.evil.example.", false},
        {"evil.example:8080@gpu-box", false},
        {"", false},
        {NULL, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(origin_host_is_ours(rows[i].host, "https://traces.example/kinetoscope"),
                         rows[i].expect);
    }
}

static void foreign_pages_are_told_from_own_ones(void **state)
{
    const char *public_url = "https://traces.example/kinetoscope";
    assert_true(origin_is_own("http://localhost:8080", "localhost:8080", NULL));
    assert_false(origin_is_own("http://localhost:9090", "localhost:8080", NULL));
    assert_false(origin_is_own("http://evil.example", "localhost:8080", NULL));
    assert_false(origin_is_own("null", "localhost:8080", NULL));
    assert_false(origin_is_own("", "localhost:8080", NULL));
    assert_false(origin_is_own("http://localhost:8080", NULL, NULL));
    /* The proxy hands on its own idea of Host. */
    assert_true(origin_is_own("https://traces.example", "backend:8080", public_url));
    assert_true(origin_is_own("https://traces.example:443", "traces.example", NULL));
    assert_false(origin_is_own("https://traces.example.evil.example", "backend:8080", public_url));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loopback_names_this_machine),
        cmocka_unit_test(foreign_hosts_are_refused),
        cmocka_unit_test(hosts_that_no_page_of_elsewhere_has),
        cmocka_unit_test(foreign_pages_are_told_from_own_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
