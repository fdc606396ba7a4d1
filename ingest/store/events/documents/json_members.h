/* The members of a JSON object that lies as text in the store: keys and values as slices of it.
 * Nothing is checked beyond what keeps the slices apart and inside the text. */
#ifndef KS_STORE_EVENTS_DOCUMENTS_JSON_MEMBERS_H
#define KS_STORE_EVENTS_DOCUMENTS_JSON_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

struct json_slice {
    const char *text;
    size_t len;
};

struct json_members {
    const char *at;
    const char *end;
};

/* Something that is no object has no members. */
void json_members_begin(struct json_members *members, const char *text, size_t len);
/* Keys keep their quotes. False at the end. */
bool json_members_next(struct json_members *members,
                       struct json_slice *key,
                       struct json_slice *value);

#endif
