#include "server/options/listen.h"

#include "server/guard/origin.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static bool is_everything(const char *host)
{
    return *host == '\0' || strcmp(host, "*") == 0 || strcmp(host, "0.0.0.0") == 0;
}

bool listen_resolve(const char *host, char address[LISTEN_ADDRESS_BYTES], struct err *err)
{
    if (is_everything(host)) {
        memcpy(address, "0.0.0.0", sizeof "0.0.0.0");
        return true;
    }
    const struct addrinfo wanted = {
        .ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    int failure = getaddrinfo(host, NULL, &wanted, &found);
    if (failure != 0) {
        return err_set(err, ERR_BAD_REQUEST,
                       "--listen %.100s: no IPv4 address of that name (%s); the form is "
                       "HOST:PORT, as 127.0.0.1:8080",
                       host, gai_strerror(failure));
    }
    struct sockaddr_in in;
    memcpy(&in, found->ai_addr, sizeof in);
    freeaddrinfo(found);
    if (inet_ntop(AF_INET, &in.sin_addr, address, LISTEN_ADDRESS_BYTES) == NULL) {
        return err_set(err, ERR_INTERNAL, "--listen %.100s: the address cannot be printed", host);
    }
    return true;
}

bool listen_allowed(const struct options *options,
                    const char *address,
                    bool has_tokens,
                    struct err *err)
{
    if (origin_is_loopback(address) || has_tokens || options->token_file != NULL ||
        options->allow_anonymous) {
        return true;
    }
    return err_set(err, ERR_BAD_REQUEST,
                   "--listen %s:%u reaches beyond this machine: make a token first (kinetoscope "
                   "token add NAME --role admin), or give --token-file FILE, or --allow-anonymous "
                   "if everyone who reaches the port may do everything",
                   address, (unsigned)options->listen_port);
}

void listen_url(const struct options *options, uint16_t port, char url[OPTIONS_URL_BYTES])
{
    const char *host = is_everything(options->listen_host) ? "localhost" : options->listen_host;
    (void)snprintf(url, OPTIONS_URL_BYTES, "http://%s:%u%s", host, (unsigned)port,
                   options->base_path);
}
