/* Python pickles of plain data, read without Python: containers, texts and numbers. An opcode that
 * could name or call anything is refused, so that no pickle can make this program do something
 * [FMT-4.1]. */
#ifndef KS_FORMATS_MEMORY_SNAPSHOT_PICKLE_H
#define KS_FORMATS_MEMORY_SNAPSHOT_PICKLE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pickle_kind {
    PICKLE_NULL,
    PICKLE_BOOL,
    PICKLE_INT,
    PICKLE_REAL,
    PICKLE_TEXT,
    PICKLE_LIST, /* tuples too */
    PICKLE_DICT
};

struct pickle_value {
    uint8_t kind; /* enum pickle_kind */
    uint32_t len; /* of a text */
    union {
        int64_t number; /* PICKLE_INT, PICKLE_BOOL */
        double real;
        const char *text; /* in the file's bytes; not checked to be UTF-8 */
        uint32_t container;
    };
};

/* Lists, tuples, and dictionaries as key, value, key, value. Many values may refer to one. */
struct pickle_container {
    struct pickle_value *items;
    uint32_t count, cap;
    bool is_dict, is_tuple;
};

struct pickle {
    struct pickle_container *containers;
    uint32_t container_count;
    size_t container_cap;
    struct pickle_value root;
    size_t len; /* bytes that it takes, its STOP with them */
};

/* `bytes` must outlive the pickle. ERR_BAD_INPUT with the offset of what is refused: an opcode, a
 * break; ERR_TOO_LARGE beyond `budget_bytes` (0: none); ERR_NO_MEMORY. Free it in either case. */
bool pickle_read(struct pickle *pickle,
                 const char *bytes,
                 size_t len,
                 size_t budget_bytes,
                 struct err *err) KS_MUST_USE;
void pickle_free(struct pickle *pickle);

/* NULL unless the value is one. */
const struct pickle_container *pickle_list(const struct pickle *pickle,
                                           const struct pickle_value *value);
/* The value under a key, of repeated ones the last; NULL: none, or no dictionary. Looks through the
 * last PICKLE_KEYS_MAX members: what is read here has few. */
#define PICKLE_KEYS_MAX 256
const struct pickle_value *
pickle_get(const struct pickle *pickle, const struct pickle_value *dict, const char *key);
int64_t pickle_int(const struct pickle_value *value, int64_t none); /* `value` may be NULL */
bool pickle_text_is(const struct pickle_value *value, const char *text);

#endif
