#include "ingest/formats/protobuf/plane.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MAX 64
#define TEXT_BYTES_MAX ((size_t)1 << 20)
#define DEVICE_NAME_BYTES 64

/* Fields of the messages. */
enum { PLANE_NAME = 2, PLANE_LINES = 3, PLANE_EVENTS = 4, PLANE_STATS = 5, PLANE_OWN_STATS = 6 };
enum { LINE_ID = 1, LINE_NAME = 2, LINE_TIMESTAMP = 3, LINE_EVENTS = 4, LINE_DISPLAY = 11 };
enum {
    EVENT_METADATA = 1,
    EVENT_OFFSET = 2,
    EVENT_DURATION = 3,
    EVENT_STATS = 4,
    EVENT_OCCURRENCES = 5
};
enum {
    STAT_METADATA = 1,
    STAT_DOUBLE = 2,
    STAT_UINT = 3,
    STAT_INT = 4,
    STAT_TEXT = 5,
    STAT_REF = 7
};

/* ---- checking ---- */

static const unsigned char *check_line(struct wire line)
{
    struct wire_field field;
    while (wire_next(&line, &field)) {
        struct wire_field inner;
        while (wire_is(&field, LINE_EVENTS, WIRE_BYTES) && wire_next(&field.inside, &inner)) {
            struct wire_field stat;
            while (wire_is(&inner, EVENT_STATS, WIRE_BYTES) && wire_next(&inner.inside, &stat)) {
            }
            if (inner.kind == WIRE_BYTES && inner.inside.failed) {
                return inner.inside.at;
            }
        }
        if (field.kind == WIRE_BYTES && field.inside.failed) {
            return field.inside.at;
        }
    }
    return line.failed ? line.at : NULL;
}

static const unsigned char *check_map(struct wire entry)
{
    struct wire_field field;
    while (wire_next(&entry, &field)) {
        struct wire_field inner;
        while (wire_is(&field, 2, WIRE_BYTES) && wire_next(&field.inside, &inner)) {
        }
        if (field.kind == WIRE_BYTES && field.inside.failed) {
            return field.inside.at;
        }
    }
    return entry.failed ? entry.at : NULL;
}

const unsigned char *plane_check(struct wire plane)
{
    struct wire_field field;
    while (wire_next(&plane, &field)) {
        const unsigned char *damage = NULL;
        if (wire_is(&field, PLANE_LINES, WIRE_BYTES)) {
            damage = check_line(field.inside);
        } else if (field.kind == WIRE_BYTES &&
                   (field.number == PLANE_EVENTS || field.number == PLANE_STATS)) {
            damage = check_map(field.inside);
        }
        if (damage != NULL) {
            return damage;
        }
    }
    return plane.failed ? plane.at : NULL;
}

/* ---- maps ---- */

static uint32_t intern(struct plane *plane, const struct wire *text)
{
    size_t len = wire_len(text) < TEXT_BYTES_MAX ? wire_len(text) : TEXT_BYTES_MAX;
    return strtab_intern(plane->texts, len == 0 ? "" : wire_text(text), len);
}

static bool set(struct id_map *map, int64_t id, uint32_t text)
{
    struct id_slot *slot = text == STRTAB_NONE ? NULL : id_map_add(map, id);
    if (slot != NULL) {
        slot->value = text;
    }
    return slot != NULL;
}

/* A map entry: {1 key, 2 {1 id, 2 name, 4 display name}}. */
static bool add_entry(struct plane *plane, struct wire entry, bool is_event)
{
    struct wire_field field;
    int64_t id = 0;
    struct wire name = {.at = entry.end, .end = entry.end};
    struct wire display = name;
    while (wire_next(&entry, &field)) {
        if (wire_is(&field, 1, WIRE_NUMBER)) {
            id = (int64_t)field.value;
        }
        struct wire_field inner;
        while (wire_is(&field, 2, WIRE_BYTES) && wire_next(&field.inside, &inner)) {
            name = wire_is(&inner, 2, WIRE_BYTES) ? inner.inside : name;
            display = wire_is(&inner, 4, WIRE_BYTES) ? inner.inside : display;
        }
    }
    if (!is_event) {
        return set(&plane->stats, id, intern(plane, &name));
    }
    return set(&plane->names, id, intern(plane, &name)) &&
           set(&plane->displays, id, intern(plane, &display));
}

static void find_kind(struct plane *plane)
{
    static const struct {
        const char *prefix;
        enum plane_kind kind;
    } kinds[] = {{"/device:GPU:", PLANE_GPU}, {"/device:TPU:", PLANE_TPU}};
    plane->kind = strcmp(plane->name, "/host:CPU") == 0 ? PLANE_HOST : PLANE_OTHER;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t len = strlen(kinds[i].prefix);
        if (strncmp(plane->name, kinds[i].prefix, len) != 0) {
            continue;
        }
        const char *digits = plane->name + len;
        size_t count = strspn(digits, "0123456789");
        if (count > 0 && count < 10 && digits[count] == '\0') {
            plane->kind = kinds[i].kind;
            plane->device = strtol(digits, NULL, 10);
        }
    }
}

bool plane_open(struct plane *plane, struct wire wire)
{
    struct wire_field field;
    struct wire name = {.at = wire.end, .end = wire.end};
    *plane = (struct plane){.texts = strtab_create()};
    bool ok = plane->texts != NULL;
    while (ok && wire_next(&wire, &field)) {
        name = wire_is(&field, PLANE_NAME, WIRE_BYTES) ? field.inside : name;
        if (wire_is(&field, PLANE_EVENTS, WIRE_BYTES) || wire_is(&field, PLANE_STATS, WIRE_BYTES)) {
            ok = add_entry(plane, field.inside, field.number == PLANE_EVENTS);
        }
    }
    uint32_t id = ok ? intern(plane, &name) : STRTAB_NONE;
    plane->name = id == STRTAB_NONE ? "" : strtab_text(plane->texts, id);
    find_kind(plane);
    return id != STRTAB_NONE;
}

void plane_close(struct plane *plane)
{
    strtab_destroy(plane->texts);
    id_map_free(&plane->names);
    id_map_free(&plane->displays);
    id_map_free(&plane->stats);
    *plane = (struct plane){.texts = NULL};
}

static const char *text_of(const struct plane *plane, const struct id_map *map, int64_t id)
{
    const struct id_slot *slot = id_map_find(map, id);
    return slot == NULL ? "" : strtab_text(plane->texts, slot->value);
}

/* ---- lines ---- */

bool plane_next_line(struct plane *plane, struct wire *lines, struct plane_line *line)
{
    struct wire_field field;
    while (wire_next(lines, &field)) {
        if (!wire_is(&field, PLANE_LINES, WIRE_BYTES)) {
            continue;
        }
        struct wire fields = field.inside;
        struct wire_field inner;
        *line = (struct plane_line){.name = "", .events = field.inside};
        while (wire_next(&fields, &inner)) {
            if (wire_is(&inner, LINE_ID, WIRE_NUMBER)) {
                line->id = (int64_t)inner.value;
            } else if (wire_is(&inner, LINE_TIMESTAMP, WIRE_NUMBER)) {
                line->timestamp_ns = (int64_t)inner.value;
            } else if (wire_is(&inner, LINE_NAME, WIRE_BYTES)) {
                uint32_t id = intern(plane, &inner.inside);
                line->name = id == STRTAB_NONE ? "" : strtab_text(plane->texts, id);
            }
        }
        return true;
    }
    return false;
}

/* ---- events ---- */

struct stat {
    const char *name;
    struct wire_field value; /* number 0: none */
};

static struct stat read_stat(const struct plane *plane, struct wire wire)
{
    struct stat stat = {.name = ""};
    struct wire_field field;
    while (wire_next(&wire, &field)) {
        if (wire_is(&field, STAT_METADATA, WIRE_NUMBER)) {
            stat.name = text_of(plane, &plane->stats, (int64_t)field.value);
        } else if (field.number > STAT_METADATA && field.number <= STAT_REF) {
            stat.value = field;
        }
    }
    return stat;
}

static void write_correlation(const struct plane *plane,
                              const struct stat *stat,
                              char out[PLANE_CORRELATION_BYTES])
{
    if (stat->value.kind == WIRE_BYTES) {
        size_t len = wire_len(&stat->value.inside);
        len = len < PLANE_CORRELATION_BYTES - 1 ? len : PLANE_CORRELATION_BYTES - 1;
        memcpy(out, wire_text(&stat->value.inside), len);
        out[len] = '\0';
    } else if (stat->value.number == STAT_REF) {
        (void)snprintf(out, PLANE_CORRELATION_BYTES, "%.60s",
                       text_of(plane, &plane->stats, (int64_t)stat->value.value));
    } else if (stat->value.number == STAT_INT) {
        (void)snprintf(out, PLANE_CORRELATION_BYTES, "%" PRId64, (int64_t)stat->value.value);
    } else {
        (void)snprintf(out, PLANE_CORRELATION_BYTES, "%" PRIu64, stat->value.value);
    }
}

/* A text that lives as long as the plane; "" for what is none. */
static const char *stat_text(const struct plane *plane, const struct stat *stat)
{
    if (stat->value.number == STAT_REF) {
        return text_of(plane, &plane->stats, (int64_t)stat->value.value);
    }
    size_t len = stat->value.kind == WIRE_BYTES ? wire_len(&stat->value.inside) : 0;
    len = len < TEXT_BYTES_MAX ? len : TEXT_BYTES_MAX;
    uint32_t id =
        len == 0 ? STRTAB_NONE : strtab_intern(plane->texts, wire_text(&stat->value.inside), len);
    return id == STRTAB_NONE ? "" : strtab_text(plane->texts, id);
}

static void note_stat(const struct plane *plane, struct wire wire, struct plane_event *event)
{
    struct stat stat = read_stat(plane, wire);
    if (strcmp(stat.name, "correlation_id") == 0) {
        write_correlation(plane, &stat, event->correlation);
    } else if (strcmp(stat.name, "step_num") == 0) {
        event->has_step_num = true;
        event->step_num = stat.value.kind == WIRE_NUMBER ? (int64_t)stat.value.value : 0;
    } else if (strcmp(stat.name, "hlo_op") == 0) {
        event->hlo_op = stat_text(plane, &stat);
    } else if (strcmp(stat.name, "hlo_module") == 0) {
        event->hlo_module = stat_text(plane, &stat);
    }
    event->has_memcpy = event->has_memcpy || strcmp(stat.name, "memcpy_details") == 0;
    event->has_memset = event->has_memset || strcmp(stat.name, "memset_details") == 0;
}

static void read_event(const struct plane *plane, struct wire fields, struct plane_event *event)
{
    struct wire_field field;
    int64_t metadata = 0;
    *event = (struct plane_event){.fields = fields, .hlo_op = "", .hlo_module = ""};
    while (wire_next(&fields, &field)) {
        if (wire_is(&field, EVENT_STATS, WIRE_BYTES)) {
            note_stat(plane, field.inside, event);
        } else if (wire_is(&field, EVENT_METADATA, WIRE_NUMBER)) {
            metadata = (int64_t)field.value;
        } else if (wire_is(&field, EVENT_OFFSET, WIRE_NUMBER)) {
            event->offset_ps = (int64_t)field.value;
        } else if (wire_is(&field, EVENT_DURATION, WIRE_NUMBER)) {
            event->duration_ps = (int64_t)field.value;
        } else if (wire_is(&field, EVENT_OCCURRENCES, WIRE_NUMBER)) {
            event->is_aggregate = true;
        }
    }
    event->name = text_of(plane, &plane->names, metadata);
    event->display_name = text_of(plane, &plane->displays, metadata);
}

bool plane_next_event(const struct plane *plane, struct plane_line *line, struct plane_event *event)
{
    struct wire_field field;
    while (wire_next(&line->events, &field)) {
        if (wire_is(&field, LINE_EVENTS, WIRE_BYTES)) {
            read_event(plane, field.inside, event);
            return true;
        }
    }
    return false;
}

/* ---- arguments ---- */

/* "grid:8,1,1" in the text of a launch. */
static void write_dim(struct json_write *w, const char *text, const char *word, const char *key)
{
    const char *at = strstr(text, word);
    if (at == NULL) {
        return;
    }
    at += strlen(word);
    jw_key_array_begin(w, key);
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        long value = strtol(at, &end, 10);
        jw_int(w, value);
        at = end == NULL || *end != ',' ? "" : end + 1;
    }
    jw_array_end(w);
}

static void write_launch(struct json_write *w, const struct wire *text)
{
    char details[512];
    size_t len = wire_len(text) < sizeof details - 1 ? wire_len(text) : sizeof details - 1;
    memcpy(details, wire_text(text), len);
    details[len] = '\0';
    write_dim(w, details, "grid:", "grid");
    write_dim(w, details, "block:", "block");
    const char *occupancy = strstr(details, "occ_pct:");
    if (occupancy != NULL) {
        jw_key_double(w, "est. achieved occupancy %", strtod(occupancy + 8, NULL));
    }
}

static void write_stat(const struct plane *plane, const struct stat *stat, struct json_write *w)
{
    double real;
    switch (stat->value.number) {
    case STAT_DOUBLE:
        memcpy(&real, &stat->value.value, sizeof real);
        jw_key_double(w, stat->name, real);
        break;
    case STAT_UINT:
    case STAT_INT:
        jw_key_int(w, stat->name, (int64_t)stat->value.value);
        break;
    case STAT_REF:
        jw_key_string(w, stat->name, text_of(plane, &plane->stats, (int64_t)stat->value.value));
        break;
    case STAT_TEXT:
        if (stat->value.kind == WIRE_BYTES) {
            size_t len = wire_len(&stat->value.inside);
            jw_key(w, stat->name);
            jw_string_n(w, wire_text(&stat->value.inside),
                        len < TEXT_BYTES_MAX ? len : TEXT_BYTES_MAX);
        }
        break;
    default:
        break;
    }
}

/* Names that the trace itself gives a meaning. */
static bool is_taken(const char *name)
{
    static const char *const words[] = {"",      "device", "stream",      "correlation",
                                        "grid",  "block",  "External id", "external id",
                                        "bytes", "args"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(name, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

void plane_write_args(const struct plane *plane,
                      const struct plane_event *event,
                      struct json_write *w)
{
    struct wire fields = event->fields;
    struct wire_field field;
    size_t count = 0;
    while (count < ARGS_MAX && wire_next(&fields, &field)) {
        if (!wire_is(&field, EVENT_STATS, WIRE_BYTES)) {
            continue;
        }
        struct stat stat = read_stat(plane, field.inside);
        bool is_number = stat.value.kind == WIRE_NUMBER || stat.value.number == STAT_TEXT;
        count++;
        if (!is_number || is_taken(stat.name)) {
            continue;
        }
        write_stat(plane, &stat, w);
        if (strcmp(stat.name, "kernel_details") == 0 && stat.value.kind == WIRE_BYTES) {
            write_launch(w, &stat.value.inside);
        }
    }
}

/* ---- the device ---- */

void plane_write_device(const struct plane *plane, struct wire wire, struct json_write *w)
{
    static const char *const numbers[][2] = {{"core_count", "numSms"},
                                             {"memory_size", "totalGlobalMem"},
                                             {"compute_cap_major", "computeMajor"},
                                             {"compute_cap_minor", "computeMinor"}};
    struct wire_field field;
    jw_object_begin(w);
    jw_key_int(w, "id", plane->device);
    while (wire_next(&wire, &field)) {
        if (!wire_is(&field, PLANE_OWN_STATS, WIRE_BYTES)) {
            continue;
        }
        struct stat stat = read_stat(plane, field.inside);
        if (strcmp(stat.name, "device_vendor") == 0) {
            char name[DEVICE_NAME_BYTES];
            (void)snprintf(name, sizeof name, "%.50s GPU", stat_text(plane, &stat));
            jw_key_string(w, "name", name);
        }
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            if (strcmp(stat.name, numbers[i][0]) == 0 && stat.value.kind == WIRE_NUMBER) {
                jw_key_int(w, numbers[i][1], (int64_t)stat.value.value);
            }
        }
    }
    jw_object_end(w);
}

/* ---- counting ---- */

int64_t plane_count_events(struct wire plane)
{
    struct wire_field field;
    int64_t count = 0;
    while (wire_next(&plane, &field)) {
        struct wire_field inner;
        while (wire_is(&field, PLANE_LINES, WIRE_BYTES) && wire_next(&field.inside, &inner)) {
            struct wire_field member;
            bool is_aggregate = false;
            while (wire_is(&inner, LINE_EVENTS, WIRE_BYTES) && wire_next(&inner.inside, &member)) {
                is_aggregate = is_aggregate || wire_is(&member, EVENT_OCCURRENCES, WIRE_NUMBER);
            }
            count += wire_is(&inner, LINE_EVENTS, WIRE_BYTES) && !is_aggregate;
        }
    }
    return count;
}

void plane_find_times(struct wire wire, int64_t *start_ns, int64_t *first_ns)
{
    struct plane plane;
    struct wire_field field;
    bool ok = plane_open(&plane, wire);
    while (ok && wire_next(&wire, &field)) {
        struct wire_field inner;
        while (wire_is(&field, PLANE_LINES, WIRE_BYTES) && wire_next(&field.inside, &inner)) {
            if (wire_is(&inner, LINE_TIMESTAMP, WIRE_NUMBER) && (int64_t)inner.value < *first_ns) {
                *first_ns = (int64_t)inner.value;
            }
        }
        if (wire_is(&field, PLANE_OWN_STATS, WIRE_BYTES)) {
            struct stat stat = read_stat(&plane, field.inside);
            bool is_start = strcmp(stat.name, "profile_start_time") == 0;
            *start_ns =
                is_start && stat.value.kind == WIRE_NUMBER ? (int64_t)stat.value.value : *start_ns;
        }
    }
    plane_close(&plane);
}
