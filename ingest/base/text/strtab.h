/* Interned strings: equal bytes have equal ids. Ids count from 0; id 0 is the empty string. The
 * table keeps NUL-terminated copies for its lifetime; each is readable for at least
 * STRTAB_READABLE_BYTES, so that wide loads are safe. Not thread-safe. */
#ifndef KS_BASE_TEXT_STRTAB_H
#define KS_BASE_TEXT_STRTAB_H

#include "ingest/base/attr.h"

#include <stddef.h>
#include <stdint.h>

#define STRTAB_READABLE_BYTES 32
#define STRTAB_NONE UINT32_MAX /* "no string"; also returned without memory */

struct strtab;

struct strtab *strtab_create(void) KS_MUST_USE; /* NULL without memory */
void strtab_destroy(struct strtab *tab);        /* NULL is allowed */
/* Returns the id of these bytes; adds them when new. */
uint32_t strtab_intern(struct strtab *tab, const char *text, size_t len);
/* The texts as they are now, for one other thread that looks them up by id while this one adds
 * more. Belongs to `tab` and holds until the next call; strtab_find finds nothing in it. NULL
 * without memory. */
struct strtab *strtab_snapshot(struct strtab *tab);
/* The id of these bytes, or STRTAB_NONE when they are not in the table. */
uint32_t strtab_find(const struct strtab *tab, const char *text, size_t len);
/* The string of an id; for STRTAB_NONE, NULL. */
const char *strtab_text(const struct strtab *tab, uint32_t id);
size_t strtab_len(const struct strtab *tab, uint32_t id);
uint32_t strtab_count(const struct strtab *tab);
size_t strtab_bytes(const struct strtab *tab); /* memory held */

#endif
