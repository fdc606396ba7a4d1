/* Members of the objects that a recording of rocprofv3 is made of. */
#ifndef KS_FORMATS_ROCPROF_VALUES_H
#define KS_FORMATS_ROCPROF_VALUES_H

#include "ingest/formats/json/walk.h"

#include <stdint.h>

int64_t rocprof_number(const struct json_value *object, const char *name, int64_t none);
/* 7 of {"name": {"member": 7}}; RELAY_NONE: it has none. */
int64_t rocprof_inner_number(const struct json_value *object, const char *name, const char *member);

#endif
