/* A plane of an XSpace: its maps of names, its lines, and their events with what they say
 * [FMT-2.1].
 */
#ifndef KS_FORMATS_PROTOBUF_PLANE_H
#define KS_FORMATS_PROTOBUF_PLANE_H

#include "ingest/base/attr.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/text/json_write.h"
#include "ingest/base/text/strtab.h"
#include "ingest/formats/protobuf/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLANE_CORRELATION_BYTES 64

enum plane_kind { PLANE_OTHER, PLANE_HOST, PLANE_GPU, PLANE_TPU };

struct plane {
    enum plane_kind kind;
    int64_t device; /* /device:GPU:7 is 7 */
    const char *name;
    struct strtab *texts;
    struct id_map names, displays; /* of event metadata -> string id */
    struct id_map stats;           /* of statistics' metadata -> string id */
};

struct plane_line {
    const char *name;
    int64_t id, timestamp_ns;
    struct wire events; /* what is left of the line */
};

struct plane_event {
    const char *name, *display_name;
    int64_t offset_ps, duration_ps;
    bool is_aggregate;
    struct wire fields;                        /* all of it, for its arguments */
    char correlation[PLANE_CORRELATION_BYTES]; /* a number or a text; "": none */
    const char *hlo_op, *hlo_module;           /* of device work; "": not said */
    bool has_memcpy, has_memset, has_step_num;
    int64_t step_num;
};

/* Where the plane is damaged; NULL: nowhere. */
const unsigned char *plane_check(struct wire plane);
/* False without memory. Close it in either case. */
bool plane_open(struct plane *plane, struct wire wire) KS_MUST_USE;
void plane_close(struct plane *plane);

/* `lines` is the plane's message. False behind the last line. */
bool plane_next_line(struct plane *plane, struct wire *lines, struct plane_line *line);
bool plane_next_event(const struct plane *plane,
                      struct plane_line *line,
                      struct plane_event *event);
/* The event's statistics as arguments; the launch as PyTorch's profiler writes it. */
void plane_write_args(const struct plane *plane,
                      const struct plane_event *event,
                      struct json_write *w);
/* What the plane says of its device, as PyTorch's profiler would: XLA knows the maker, no model. */
void plane_write_device(const struct plane *plane, struct wire wire, struct json_write *w);
int64_t plane_count_events(struct wire plane);
/* Of the plane Task Environment, when the recording began; of others the smallest time of a line.
 */
void plane_find_times(struct wire wire, int64_t *start_ns, int64_t *first_ns);

#endif
