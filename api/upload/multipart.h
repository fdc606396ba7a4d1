/* Parses multipart/form-data (RFC 7578) as it arrives, in one bounded window of memory however
 * large the parts are.
 *
 *     while (multipart_next(m, &part, &has_part, &err) && has_part)
 *         while (multipart_data(m, &bytes, &len, &err) && len > 0)
 *             ... */
#ifndef KS_API_UPLOAD_MULTIPART_H
#define KS_API_UPLOAD_MULTIPART_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct multipart;

/* The source of the body: returns up to `len` bytes, 0 at the end, < 0 when the client is gone. */
struct multipart_source {
    int64_t (*read)(void *state, void *bytes, size_t len);
    void *state;
};

struct multipart_part {
    const char *name;      /* of the form field; "" when absent */
    const char *file_name; /* NULL: the part is a plain field */
};

/* `content_type` is the header with the boundary. Errors: ERR_BAD_REQUEST, ERR_NO_MEMORY. */
bool multipart_create(struct multipart **out,
                      const char *content_type,
                      struct multipart_source source,
                      struct err *err) KS_MUST_USE;
void multipart_destroy(struct multipart *m); /* NULL is allowed */
/* Skips the rest of this part and goes to the next one. Texts live until the next call.
 * ERR_BAD_REQUEST: not a form, or cut off; ERR_CLIENT_GONE. */
bool multipart_next(struct multipart *m,
                    struct multipart_part *part,
                    bool *has_part,
                    struct err *err) KS_MUST_USE;
/* Returns the next bytes of the part, valid until the next call; *len is 0 at its end. */
bool multipart_data(struct multipart *m, const char **bytes, size_t *len, struct err *err)
    KS_MUST_USE;

#endif
