#include "server/guard/sockets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

static bool is_on_port(int fd, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_UNSPEC};
    socklen_t len = sizeof address;
    return getsockname(fd, (struct sockaddr *)&address, &len) == 0 &&
           address.sin_family == AF_INET && ntohs(address.sin_port) == port;
}

void sockets_each(uint16_t port, bool (*visit)(int fd, void *context), void *context)
{
    DIR *open_files = opendir("/proc/self/fd");
    if (open_files == NULL) {
        return;
    }
    bool more = true;
    for (const struct dirent *entry = readdir(open_files); more && entry != NULL;
         entry = readdir(open_files)) {
        char *end;
        long fd = strtol(entry->d_name, &end, 10);
        if (end != entry->d_name && *end == '\0' && is_on_port((int)fd, port)) {
            more = visit((int)fd, context);
        }
    }
    (void)closedir(open_files);
}

static bool end_reading(int fd, void *context)
{
    (void)context;
    (void)shutdown(fd, SHUT_RD);
    return true;
}

void sockets_end_reading(uint16_t port)
{
    sockets_each(port, end_reading, NULL);
}
