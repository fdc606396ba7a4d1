/* Lenient parser for damaged JSON objects: repairs what a strict scan refuses where the intention
 * is plain, and counts each repair. Only rare objects need it, so speed does not matter; but its
 * work is bounded by the text it reads. */
#ifndef KS_FORMATS_JSON_LENIENT_H
#define KS_FORMATS_JSON_LENIENT_H

#include "ingest/base/attr.h"
#include "ingest/base/text/buf.h"
#include "ingest/formats/json/scan.h"
#include "ingest/model/warning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_lenient {
    const char *at;
    const char *end;
    const char *base;  /* offsets of warnings count from here ... */
    uint64_t base_off; /* ... where this is the offset */
    struct warnings found;
    /* Whether a text is a key that such objects have: tells where strings without closing quote
     * end. */
    bool (*is_known_key)(const char *key, size_t len);
    uint32_t depth;
    struct buf *out; /* for json_lenient_clean: takes what is read; else NULL */
};

/* Called for each member with `at` at its value, which it must read. */
typedef enum json_status (*json_member_fn)(struct json_lenient *lenient,
                                           const struct json_value *key,
                                           void *context);

/* The object at `at`, member by member. JSON_BAD: beyond repair. */
enum json_status
json_lenient_object(struct json_lenient *lenient, json_member_fn member, void *context) KS_MUST_USE;

/* Any value. */
enum json_status json_lenient_value(struct json_lenient *lenient,
                                    struct json_value *value) KS_MUST_USE;

/* Appends a value that json_lenient_value gave as proper JSON (json_clean.h), bare words as null,
 * N/A as a text. `how` is as it was there, but for `at`. */
void json_lenient_clean(const struct json_lenient *how,
                        const struct json_value *value,
                        struct buf *out);

#endif
