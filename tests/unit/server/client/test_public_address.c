/* Addresses that a webhook may reach, and those that it must not. */
#include "server/client/public_address.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

static bool is_public(const char *text)
{
    struct sockaddr_storage address = {0};
    struct sockaddr_in ipv4 = {.sin_family = AF_INET};
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &ipv4.sin_addr) == 1) {
        memcpy(&address, &ipv4, sizeof ipv4);
    } else {
        assert_int_equal(inet_pton(AF_INET6, text, &ipv6.sin6_addr), 1);
        memcpy(&address, &ipv6, sizeof ipv6);
    }
    return public_address_is((const struct sockaddr *)&address);
}

static void private_networks_are_not_public(void **state)
{
    static const char *const addresses[] = {
        "0.0.0.0",      "10.0.0.1",        "100.64.0.1",      "100.127.255.255", "127.0.0.1",
        "127.9.9.9",    "169.254.169.254", "172.16.0.1",      "172.31.255.255",  "192.0.0.8",
        "192.0.2.1",    "192.88.99.1",     "192.168.255.255", "198.18.0.1",      "198.19.255.255",
        "198.51.100.1", "203.0.113.9",     "224.0.0.1",       "240.0.0.1",       "255.255.255.255"};
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        if (is_public(addresses[i])) {
            fail_msg("%s", addresses[i]);
        }
    }
}

static void others_are(void **state)
{
    static const char *const addresses[] = {
        "1.1.1.1",        "9.255.255.255",   "11.0.0.0",  "100.63.0.1",   "100.128.0.0",
        "172.15.255.255", "172.32.0.0",      "192.0.1.1", "192.167.0.1",  "198.17.0.1",
        "198.20.0.0",     "223.255.255.255", "2600::1",   "2001:4860::1", "2a00:1450::5"};
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        if (!is_public(addresses[i])) {
            fail_msg("%s", addresses[i]);
        }
    }
}

/* Also what stands for an IPv4 address, whichever: a relay might reach a private network. */
static void ipv6_is_public_where_it_is_global(void **state)
{
    static const char *const addresses[] = {
        "::",      "::1",         "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::10.0.0.1",
        "fe80::1", "fc00::1",     "fd12::1",          "ff02::1",        "2001:db8::1",
        "2001::1", "2001:1ff::1", "2002:7f00:1::",    "3fff:fff::1"};
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        if (is_public(addresses[i])) {
            fail_msg("%s", addresses[i]);
        }
    }
}

static void other_families_are_not(void **state)
{
    const struct sockaddr address = {.sa_family = AF_UNIX};
    assert_false(public_address_is(&address));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_networks_are_not_public),
        cmocka_unit_test(others_are),
        cmocka_unit_test(ipv6_is_public_where_it_is_global),
        cmocka_unit_test(other_families_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
