#include "ingest/formats/protobuf/xplane.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/affix.h"
#include "ingest/base/text/strtab.h"
#include "ingest/formats/protobuf/plane.h"
#include "ingest/formats/relay/relay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define EVENTS_AT_ONCE 64
#define PS_PER_NS 1000
#define STEP_NAME_BYTES 64
/* Times below this, about the year 1970 and 11 days, count from the recording's start. */
#define RELATIVE_NS_MAX ((int64_t)1000000000000000)

bool xplane_recognises(const char *window, size_t len)
{
    struct wire_field field;
    if (len < 4 || *window != 0x0a) {
        return false;
    }
    /* The first plane may be longer than the window. */
    struct wire plane = wire_of(window + 1, len - 1);
    uint64_t size;
    if (!wire_number(&plane, &size)) {
        return false;
    }
    plane.end = size < wire_len(&plane) ? plane.at + size : plane.end;
    while (wire_next(&plane, &field)) {
        bool is_name = wire_is(&field, 2, WIRE_BYTES) && wire_len(&field.inside) > 0;
        if (is_name) {
            const char *text = wire_text(&field.inside);
            size_t text_len = wire_len(&field.inside);
            return *text == '/' || (text_len == strlen("Task Environment") &&
                                    memcmp(text, "Task Environment", text_len) == 0);
        }
    }
    return false;
}

/* ---- the recording ---- */

/* Where a call stands. */
struct call {
    int64_t thread, start_ns, dur_ns;
    bool is_there, has_op; /* an operator took its place */
};

struct reader {
    const unsigned char *begin;
    struct wire *planes;
    size_t plane_count, plane_cap;
    size_t cut_at;               /* offset of the damage; SIZE_MAX: none */
    bool has_steps;              /* some device has them */
    struct strtab *correlations; /* of runtime calls: any text or number */
    struct call *calls;          /* by string id of their correlation */
    size_t call_count, call_cap;
    /* under way */
    size_t next_plane;
    struct plane plane;
    bool in_plane;
    struct wire lines;
    struct plane_line line;
    bool in_line;
    int64_t line_number, step_number, op_number;
};

static bool list_planes(struct reader *reader, const struct whole *whole, struct err *err)
{
    struct wire space = wire_of(whole->bytes, whole->len);
    struct wire_field field;
    reader->begin = space.at;
    reader->cut_at = SIZE_MAX;
    while (wire_next(&space, &field)) {
        if (!wire_is(&field, 1, WIRE_BYTES)) {
            continue;
        }
        const unsigned char *damage = plane_check(field.inside);
        if (damage != NULL) {
            reader->cut_at = (size_t)(damage - reader->begin);
            break;
        }
        struct wire *grown =
            scratch_grow(reader->planes, reader->plane_count, &reader->plane_cap, sizeof *grown);
        if (grown == NULL) {
            return err_set(err, ERR_NO_MEMORY, "no memory for the planes of a recording");
        }
        reader->planes = grown;
        grown[reader->plane_count++] = field.inside;
    }
    if (space.failed) {
        reader->cut_at = (size_t)(space.at - reader->begin);
    }
    return reader->plane_count > 0 ||
           err_set_at(err, ERR_BAD_INPUT, reader->cut_at == SIZE_MAX ? 0 : reader->cut_at,
                      "the recording of XLA has no plane that can be read");
}

/* ---- looking ahead: steps, and the calls that launched work ---- */

static bool is_runtime(const struct plane_event *event)
{
    static const char *const prefixes[] = {"hip", "cuda", "cu"};
    const char *name = event->name;
    if (event->correlation[0] == '\0') {
        return false;
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t len = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], len) != 0) {
            continue;
        }
        char next = name[len];
        if (next == '_' || (next >= 'A' && next <= 'Z')) {
            return true;
        }
    }
    return strncmp(name, "hsa_", 4) == 0;
}

static int64_t floor_ps_to_ns(int64_t ps)
{
    int64_t rounded = saturating_add(ps, PS_PER_NS / 2);
    int64_t ns = rounded / PS_PER_NS;
    return ns - (rounded % PS_PER_NS < 0 ? 1 : 0);
}

static int64_t start_of(const struct plane_line *line, const struct plane_event *event)
{
    return saturating_add(line->timestamp_ns, floor_ps_to_ns(event->offset_ps));
}

/* The first call with a correlation is the one that launched. */
static bool
note_call(struct reader *reader, const struct plane_line *line, const struct plane_event *event)
{
    uint32_t id =
        strtab_intern(reader->correlations, event->correlation, strlen(event->correlation));
    while (id != STRTAB_NONE && reader->call_count <= id) {
        struct call *grown =
            scratch_grow(reader->calls, reader->call_count, &reader->call_cap, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        reader->calls = grown;
        grown[reader->call_count++] = (struct call){.is_there = false};
    }
    if (id != STRTAB_NONE && !reader->calls[id].is_there) {
        reader->calls[id] =
            (struct call){line->id, start_of(line, event),
                          i64_max(0, floor_ps_to_ns(event->duration_ps)), true, false};
    }
    return id != STRTAB_NONE;
}

static bool look_at_line(struct reader *reader, const struct plane *plane, struct plane_line *line)
{
    struct plane_event event;
    bool is_steps = plane->kind != PLANE_HOST && strcmp(line->name, "Steps") == 0;
    while (plane_next_event(plane, line, &event)) {
        if (event.is_aggregate) {
            continue;
        }
        reader->has_steps = reader->has_steps || is_steps;
        if (plane->kind == PLANE_HOST && is_runtime(&event) && !note_call(reader, line, &event)) {
            return false;
        }
    }
    return true;
}

/* TPUs say nothing of themselves that PyTorch's profiler would say of a GPU. */
static bool
look_at_plane(struct reader *reader, struct wire wire, struct json_write *devices, struct err *err)
{
    struct plane plane;
    struct plane_line line;
    bool ok = plane_open(&plane, wire);
    struct wire lines = wire;
    while (ok && plane.kind != PLANE_OTHER && plane_next_line(&plane, &lines, &line)) {
        ok = look_at_line(reader, &plane, &line);
    }
    if (ok && plane.kind == PLANE_GPU) {
        plane_write_device(&plane, wire, devices);
    }
    plane_close(&plane);
    return ok || err_set(err, ERR_NO_MEMORY, "no memory for the names of a recording");
}

/* ---- roles ---- */

static bool contains(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* Names of HLO operations [FMT-2.2]. */
static bool is_hlo_collective(const char *name)
{
    static const char *const words[] = {
        "all-reduce",         "all-gather",           "reduce-scatter", "all-to-all",
        "collective-permute", "collective-broadcast", "send",           "recv"};
    name += *name == '%';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]);
        if (strncmp(name, words[i], len) == 0 &&
            (name[len] == '-' || name[len] == '.' || name[len] == '\0')) {
            return true;
        }
    }
    return false;
}

static enum relay_role role_on_stream(const struct plane_line *line,
                                      const struct plane_event *event)
{
    const char *parenthesis = strchr(line->name, '(');
    if (event->has_memcpy || text_begins_any_case(event->name, "memcpy")) {
        return RELAY_MEMCPY;
    }
    if (event->has_memset || text_begins_any_case(event->name, "memset")) {
        return RELAY_MEMSET;
    }
    if (parenthesis != NULL && contains(parenthesis, "Memcpy") &&
        !contains(parenthesis, "Kernel")) {
        return RELAY_MEMCPY;
    }
    return relay_is_communication(event->name, strlen(event->name)) ? RELAY_COMMUNICATION
                                                                    : RELAY_KERNEL;
}

static enum relay_role role_on_device(const struct reader *reader, const struct plane_event *event)
{
    const struct plane_line *line = &reader->line;
    if (reader->plane.kind == PLANE_TPU && strcmp(line->name, "XLA Ops") == 0) {
        return is_hlo_collective(event->name) ? RELAY_COMMUNICATION : RELAY_KERNEL;
    }
    if (strcmp(line->name, "Steps") == 0) {
        return RELAY_STEP;
    }
    bool is_stream = reader->plane.kind == PLANE_GPU && strncmp(line->name, "Stream #", 8) == 0;
    return is_stream ? role_on_stream(line, event) : RELAY_ANNOTATION;
}

static enum relay_role role_on_host(const struct reader *reader, const struct plane_event *event)
{
    if (is_runtime(event)) {
        return RELAY_RUNTIME;
    }
    if (event->has_step_num) {
        return reader->has_steps ? RELAY_ANNOTATION : RELAY_STEP;
    }
    return event->name[0] == '$' ? RELAY_HOST : RELAY_OPERATOR;
}

/* ---- relaying ---- */

static int64_t stream_of(const struct reader *reader)
{
    const char *hash = strchr(reader->line.name, '#');
    int64_t number = 0;
    if (hash == NULL) {
        return reader->line_number;
    }
    for (hash++; *hash >= '0' && *hash <= '9' && number < INT32_MAX; hash++) {
        number = number * 10 + (*hash - '0');
    }
    return number;
}

/* "3" is the step 3; steps of other names are numbered. */
static void
name_step(struct reader *reader, const struct plane_event *event, char name[STEP_NAME_BYTES])
{
    size_t digits = strspn(event->name, "0123456789");
    bool is_number = digits > 0 && event->name[digits] == '\0' && digits < 19;
    if (is_number) {
        (void)snprintf(name, STEP_NAME_BYTES, "ProfilerStep#%.19s", event->name);
    } else {
        int64_t number = event->has_step_num ? event->step_num : reader->step_number++;
        (void)snprintf(name, STEP_NAME_BYTES, "ProfilerStep#%" PRId64, number);
    }
}

static void set_place(const struct reader *reader, struct relay_event *event)
{
    bool is_device = reader->plane.kind != PLANE_HOST;
    event->process = reader->plane.name;
    event->tid = reader->line.id;
    if (is_device && event->role <= RELAY_MEMSET) {
        event->device = reader->plane.device;
        event->stream = stream_of(reader);
    }
    if (is_device && event->role == RELAY_ANNOTATION) {
        event->category = "gpu_user_annotation";
    }
}

/* The operation of the compiler that the work belongs to; "": not said. */
static const char *operation_of(const struct reader *reader,
                                const struct plane_event *from,
                                const struct relay_event *work)
{
    if (*from->hlo_op != '\0') {
        return from->hlo_op;
    }
    return reader->plane.kind == PLANE_TPU ? work->name : from->hlo_module;
}

/* The operation as an operator [FMT-0.5]: where the call stands that launched its work, or, without
 * one, at the work, with no time of the host. Returns the id that both share. */
static int64_t relay_operation(struct reader *reader,
                               struct relay *relay,
                               const struct plane_event *from,
                               const struct relay_event *work)
{
    struct relay_event op = relay_blank(RELAY_OPERATOR);
    struct call *call = work->is_linked ? &reader->calls[work->correlation] : NULL;
    relay_set_name(&op, operation_of(reader, from, work));
    if (op.name_len == 0) {
        return RELAY_NONE;
    }
    op.category = "recorder_op";
    op.external_id = ++reader->op_number;
    op.process = call == NULL ? "HLO operations" : "/host:CPU";
    op.tid = call == NULL ? reader->plane.device : call->thread;
    op.start_ns = call == NULL ? work->start_ns : call->start_ns;
    op.dur_ns = call == NULL || call->has_op ? 0 : call->dur_ns;
    if (call != NULL) {
        call->has_op = true;
    }
    relay_begin(relay, &op);
    jw_key_string(&relay->args, "hlo_module", *from->hlo_module == '\0' ? NULL : from->hlo_module);
    relay_end(relay);
    return op.external_id;
}

static void
link_call(const struct reader *reader, const struct plane_event *from, struct relay_event *event)
{
    if (from->correlation[0] != '\0') {
        uint32_t call =
            strtab_find(reader->correlations, from->correlation, strlen(from->correlation));
        event->is_linked = call != STRTAB_NONE;
        event->correlation = call == STRTAB_NONE ? RELAY_NONE : (int64_t)call;
    }
}

static void
relay_event_of(struct reader *reader, struct relay *relay, const struct plane_event *from)
{
    bool is_device = reader->plane.kind != PLANE_HOST;
    struct relay_event event =
        relay_blank(is_device ? role_on_device(reader, from) : role_on_host(reader, from));
    char step[STEP_NAME_BYTES];
    bool shows_display = event.role <= RELAY_COMMUNICATION && reader->plane.kind == PLANE_TPU;
    event.name = shows_display && *from->display_name != '\0' ? from->display_name : from->name;
    if (event.role == RELAY_STEP) {
        name_step(reader, from, step);
        event.name = step;
    }
    event.name_len = strlen(event.name);
    event.start_ns = start_of(&reader->line, from);
    event.dur_ns = floor_ps_to_ns(from->duration_ps);
    set_place(reader, &event);
    link_call(reader, from, &event);
    if (is_device && event.role <= RELAY_MEMSET) {
        event.external_id = relay_operation(reader, relay, from, &event);
    }
    relay_begin(relay, &event);
    plane_write_args(&reader->plane, from, &relay->args);
    relay_end(relay);
}

static void skip_plane(struct reader *reader, struct relay *relay)
{
    char what[RELAY_WHAT_BYTES];
    (void)snprintf(what, sizeof what, "plane %.120s", reader->plane.name);
    relay_skip(relay, what, "it is no plane of a device or of the host's threads",
               plane_count_events(reader->planes[reader->next_plane - 1]));
}

static bool begin_plane(struct reader *reader, struct relay *relay, struct err *err)
{
    struct wire wire = reader->planes[reader->next_plane++];
    plane_close(&reader->plane);
    if (!plane_open(&reader->plane, wire)) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the names of a recording");
    }
    reader->in_plane = reader->plane.kind != PLANE_OTHER;
    reader->lines = wire;
    reader->line_number = 0;
    reader->step_number = 0;
    if (!reader->in_plane) {
        skip_plane(reader, relay);
    }
    return true;
}

static void begin_line(struct reader *reader, struct relay *relay)
{
    reader->in_plane = plane_next_line(&reader->plane, &reader->lines, &reader->line);
    reader->in_line = reader->in_plane;
    if (reader->in_line && reader->plane.kind == PLANE_HOST) {
        struct relay_event of = relay_blank(RELAY_HOST);
        of.process = reader->plane.name;
        of.tid = reader->line.id;
        relay_label(relay, &of, "thread_name", reader->line.name);
    }
    reader->line_number++;
}

static void take_event(struct reader *reader, struct relay *relay)
{
    struct plane_event event;
    reader->in_line = plane_next_event(&reader->plane, &reader->line, &event);
    if (reader->in_line && event.is_aggregate) {
        relay_skip(relay, "aggregate events", "they have a count of occurrences and no time", 1);
    } else if (reader->in_line) {
        relay_event_of(reader, relay, &event);
    }
}

static bool more(void *context, struct relay *relay, bool *ended, struct err *err)
{
    struct reader *reader = context;
    for (int i = 0; i < EVENTS_AT_ONCE; i++) {
        if (reader->in_line) {
            take_event(reader, relay);
        } else if (reader->in_plane) {
            begin_line(reader, relay);
        } else if (reader->next_plane < reader->plane_count) {
            if (!begin_plane(reader, relay, err)) {
                return false;
            }
        } else {
            *ended = true;
            return true;
        }
    }
    return true;
}

/* ---- the whole ---- */

/* Where lines count from the recording's start, that is the trace's base. */
static void write_base(struct reader *reader, struct relay *relay)
{
    int64_t start_ns = 0;
    int64_t first_ns = INT64_MAX;
    for (size_t i = 0; i < reader->plane_count; i++) {
        plane_find_times(reader->planes[i], &start_ns, &first_ns);
    }
    if (start_ns > 0 && first_ns < RELATIVE_NS_MAX) {
        jw_key_int(&relay->head, "baseTimeNanoseconds", start_ns);
    }
}

static bool read_planes(struct reader *reader,
                        const struct format_options *options,
                        struct trace **out,
                        struct err *err)
{
    struct relay relay;
    bool ok = true;
    relay_init(&relay, "XLA");
    jw_key_array_begin(&relay.head, "deviceProperties");
    for (size_t i = 0; ok && i < reader->plane_count; i++) {
        ok = look_at_plane(reader, reader->planes[i], &relay.head, err);
    }
    jw_array_end(&relay.head);
    if (ok && reader->cut_at != SIZE_MAX) {
        warning_add(&relay.warnings, WARN_TRUNCATED, reader->cut_at);
    }
    if (ok) {
        write_base(reader, &relay);
        ok = relay_read(&relay, more, reader, options, out, err);
    }
    if (!ok && err->code == ERR_BAD_INPUT && relay.record_count == 0) {
        ok = err_set_at(err, ERR_BAD_INPUT, reader->cut_at == SIZE_MAX ? 0 : reader->cut_at,
                        "the recording of XLA has no event of a device or of the host");
    }
    plane_close(&reader->plane);
    relay_free(&relay);
    return ok;
}

bool xplane_read(const struct whole *whole,
                 const struct format_options *options,
                 struct trace **out,
                 struct err *err)
{
    struct reader reader = {.correlations = strtab_create()};
    bool ok = reader.correlations != NULL
                  ? list_planes(&reader, whole, err) && read_planes(&reader, options, out, err)
                  : err_set(err, ERR_NO_MEMORY, "no memory for a recording");
    SCRATCH_FREE(reader.planes, reader.calls);
    strtab_destroy(reader.correlations);
    return ok;
}
