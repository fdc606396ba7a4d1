/* Members of answers, shared by /api/v1 and `kinetoscope report --format json`. */
#ifndef KS_API_VIEWS_DEVICE_TIME_MEMBERS_H
#define KS_API_VIEWS_DEVICE_TIME_MEMBERS_H

#include "api/table/field.h"
#include "ingest/jobs/on_request/analyses.h"

/* Write members into an open object. */
void device_time_members(struct json_write *w, const struct device_time *times);
void engine_steps_members(struct json_write *w, const struct engine_steps *steps);

/* A row of the table of slices. */
void slices_row(struct field_out *out, enum slices_group by, const struct slices_row *row);

#endif
