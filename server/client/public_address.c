#include "server/client/public_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static bool is_public_ipv4(uint32_t address)
{
    static const struct {
        uint32_t net;
        unsigned bits;
    } reserved[] = {
        {0x00000000, 8},                                     /* this network */
        {0x0A000000, 8},                                     /* private */
        {0x64400000, 10},                                    /* shared by carriers */
        {0x7F000000, 8},                                     /* loopback */
        {0xA9FE0000, 16},                                    /* link-local */
        {0xAC100000, 12},                                    /* private */
        {0xC0000000, 24},                                    /* protocols */
        {0xC0000200, 24},                                    /* documentation, as the other two */
        {0xC0586300, 24},                                    /* relays to IPv6 */
        {0xC0A80000, 16},                                    /* private */
        {0xC6120000, 15},                                    /* benchmarks */
        {0xC6336400, 24}, {0xCB007100, 24}, {0xE0000000, 3}, /* multicast, reserved, broadcast */
    };
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        unsigned host_bits = 32 - reserved[i].bits;
        if (address >> host_bits == reserved[i].net >> host_bits) {
            return false;
        }
    }
    return true;
}

/* Global unicast alone, without what stands for other addresses in it. */
static bool is_public_ipv6(const unsigned char address[16])
{
    bool is_global = (address[0] & 0xE0) == 0x20;
    bool is_protocol = address[0] == 0x20 && address[1] == 0x01 && address[2] < 0x02;
    bool is_documentation = memcmp(address, "\x20\x01\x0D\xB8", 4) == 0 ||
                            (address[0] == 0x3F && address[1] == 0xFF && address[2] < 0x10);
    bool is_6to4 = address[0] == 0x20 && address[1] == 0x02;
    return is_global && !is_protocol && !is_documentation && !is_6to4;
}

bool public_address_is(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in ipv4;
        memcpy(&ipv4, address, sizeof ipv4);
        return is_public_ipv4(ntohl(ipv4.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 ipv6;
        memcpy(&ipv6, address, sizeof ipv6);
        return is_public_ipv6(ipv6.sin6_addr.s6_addr);
    }
    return false;
}
