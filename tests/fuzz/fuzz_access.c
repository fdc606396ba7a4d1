/* Who may do what. The first line of an input is the Authorization header, the rest the file of
 * tokens. */
#include "server/access.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct err err = ERR_INIT;
    struct access *access = NULL;
    const uint8_t *end = len == 0 ? NULL : memchr(bytes, '\n', len);
    if (end == NULL) {
        return 0;
    }
    size_t header_len = (size_t)(end - bytes);
    if (!access_load(&access, fuzz_file(end + 1, len - header_len - 1), &err)) {
        fuzz_require(err.msg[0] != '\0', "who refuses says why");
        return 0;
    }
    char *header = fuzz_text(bytes, header_len);
    bool more = true;
    for (enum access_role role = ACCESS_NOBODY; role <= ACCESS_ADMIN; role++) {
        bool may = access_check(access, header, role, &err);
        fuzz_require(more || !may, "who may do more may do less");
        more = may;
    }
    free(header);
    access_free(access);
    return 0;
}
