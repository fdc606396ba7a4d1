/* Steps through JSON that lies in memory as a whole, from front to back, without a tree: enters
 * objects and arrays, and takes values as slices. Text that is cut short or no JSON ends every
 * loop, and `failed` says so; what was read before stands. */
#ifndef KS_FORMATS_JSON_WALK_H
#define KS_FORMATS_JSON_WALK_H

#include "ingest/base/attr.h"
#include "ingest/formats/json/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_walk {
    const char *at;
    const char *end; /* INPUT_PADDING_BYTES behind it are readable */
    bool failed;
};

/* The inside of a value that json_walk_value gave. */
struct json_walk json_walk_of(const struct json_value *value);
/* Whether a value of this kind stands here ('{', '[', '"'); blanks are skipped. */
bool json_walk_is(struct json_walk *walk, char first);
/* Steps over the opening bracket of the object or array that stands here. */
bool json_walk_enter(struct json_walk *walk, char bracket);
/* The same; a value of another kind is stepped over, and the answer is false. */
bool json_walk_enter_or_skip(struct json_walk *walk, char bracket);
/* In an object: steps to the value of the next member. False behind the last one, whose bracket is
 * stepped over. The value must be entered, taken or skipped. */
bool json_walk_key(struct json_walk *walk, struct json_value *key);
/* The same in an array. */
bool json_walk_item(struct json_walk *walk);
/* Whether anything but blanks stands behind; steps to it. */
bool json_walk_trails(struct json_walk *walk);
bool json_walk_value(struct json_walk *walk, struct json_value *value);
bool json_walk_skip(struct json_walk *walk);

/* The member of an object, by its name; false: it has none, or is no object. */
bool json_walk_find(const struct json_value *object, const char *name, struct json_value *out);

bool json_walk_text_is(const struct json_value *value, const char *text);
/* The integer of a number, or of a string that holds one; `none` for anything else. */
int64_t json_walk_int(const struct json_value *value, int64_t none);

#endif
