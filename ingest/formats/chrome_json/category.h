/* What a category name means [TB-3b]. */
#ifndef KS_FORMATS_CHROME_JSON_CATEGORY_H
#define KS_FORMATS_CHROME_JSON_CATEGORY_H

#include "ingest/model/trace.h"

#include <stddef.h>

/* The kind of a complete event of this category, whatever its case; EVENT_OTHER for unknown ones.
 */
enum event_kind kineto_category_kind(const char *text, size_t len);
/* EVENT_FLOW_FWDBWD or EVENT_FLOW: what an s, t or f event of this category is. The case counts. */
enum event_kind kineto_category_flow_kind(const char *text, size_t len);

#endif
