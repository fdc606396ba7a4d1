/* Who may do what. The first line of an input is the Authorization header, and the Cookie too; the
 * rest is the file of tokens. */
#include "server/auth/access.h"
#include "server/auth/credentials.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void enter(struct access *access, const char *header)
{
    struct err err = ERR_INIT;
    struct access_visit visit;
    char session[CREDENTIALS_MAX_BYTES];
    bool stopped = false;
    const struct access_claim claim = {
        .client = "127.0.0.1", .authorization = header, .cookie = header};
    if (credentials_session(header, session)) {
        fuzz_require(strstr(header, session) != NULL, "a session stands in its header");
    }
    if (!access_enter(access, &claim, &visit, &stopped, &err)) {
        fuzz_require(err.msg[0] != '\0', "who refuses says why");
        access_leave(access, &visit);
        return;
    }
    bool more = true;
    for (enum access_role role = ACCESS_ROLE_NOBODY; role <= ACCESS_ROLE_ADMIN; role++) {
        bool may = access_check(&visit.subject, role, &err);
        fuzz_require(more || !may, "who may do more may do less");
        more = may;
    }
    access_leave(access, &visit);
}

int fuzz_one_input(const uint8_t *bytes, size_t len)
{
    struct err err = ERR_INIT;
    struct access *access = NULL;
    const uint8_t *end = len == 0 ? NULL : memchr(bytes, '\n', len);
    if (end == NULL) {
        return 0;
    }
    size_t header_len = (size_t)(end - bytes);
    const struct access_options options = {.token_file = fuzz_file(end + 1, len - header_len - 1)};
    if (!access_create(&access, &options, &err)) {
        fuzz_require(err.msg[0] != '\0', "who refuses says why");
        return 0;
    }
    char *header = fuzz_text(bytes, header_len);
    enter(access, header);
    free(header);
    access_free(access);
    return 0;
}
