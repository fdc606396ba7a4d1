#include "ingest/formats/protobuf/packets.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/input/inflate.h"

#include <stdio.h>
#include <string.h>

#define BOOTTIME 6 /* the trace's clock */
#define SEQUENCE_CLOCK_FIRST 64
#define SEQUENCE_CLOCK_LAST 127
#define TEXT_BYTES_MAX ((size_t)1 << 20)
#define NO_SEQUENCE UINT32_MAX
/* What compressed packets may grow to [FMT-6.1a]. */
#define INFLATED_MOST 16
#define INFLATED_BYTES_MAX ((size_t)256 << 20)

bool packets_init(struct packets *packets)
{
    *packets = (struct packets){.texts = strtab_create()};
    key_map_init(&packets->interned);
    key_map_init(&packets->clock_of);
    key_map_init(&packets->last_of);
    return packets->texts != NULL;
}

void packets_free(struct packets *packets)
{
    strtab_destroy(packets->texts);
    id_map_free(&packets->sequence_of);
    id_map_free(&packets->track_of);
    key_map_free(&packets->interned);
    key_map_free(&packets->clock_of);
    key_map_free(&packets->last_of);
    SCRATCH_FREE(packets->sequences, packets->names, packets->clocks, packets->lasts,
                 packets->tracks, packets->events);
}

static void *fail(struct packets *packets)
{
    packets->failed = true;
    return NULL;
}

static uint32_t intern(struct packets *packets, const struct wire *text)
{
    size_t len = wire_len(text) < TEXT_BYTES_MAX ? wire_len(text) : TEXT_BYTES_MAX;
    uint32_t id = strtab_intern(packets->texts, len == 0 ? "" : wire_text(text), len);
    packets->failed = packets->failed || id == STRTAB_NONE;
    return id == STRTAB_NONE ? 0 : id;
}

/* ---- sequences and names ---- */

static struct packet_sequence *sequence_of(struct packets *packets, uint64_t id, uint32_t *number)
{
    struct id_slot *slot = id_map_add(&packets->sequence_of, (int64_t)id);
    if (slot == NULL) {
        return fail(packets);
    }
    if (slot->value == ID_MAP_NONE) {
        struct packet_sequence *grown = scratch_grow(packets->sequences, packets->sequence_count,
                                                     &packets->sequence_cap, sizeof *grown);
        if (grown == NULL) {
            return fail(packets);
        }
        packets->sequences = grown;
        slot->value = (uint32_t)packets->sequence_count;
        grown[packets->sequence_count++] =
            (struct packet_sequence){.generation = packets->generations++};
    }
    *number = slot->value;
    return &packets->sequences[slot->value];
}

static uint32_t *name_of(struct packets *packets, uint32_t generation, uint64_t iid)
{
    const struct key key = {{generation, (uint32_t)iid, (uint32_t)(iid >> 32), 0}};
    uint32_t number = key_map_add(&packets->interned, key);
    if (number == KEY_MAP_NONE) {
        return fail(packets);
    }
    while (packets->name_count <= number) {
        uint32_t *grown =
            scratch_grow(packets->names, packets->name_count, &packets->name_cap, sizeof *grown);
        if (grown == NULL) {
            return fail(packets);
        }
        packets->names = grown;
        grown[packets->name_count++] = 0;
    }
    return &packets->names[number];
}

/* {1 iid, 2 name} */
static void read_name(struct packets *packets, uint32_t generation, struct wire entry)
{
    struct wire_field field;
    uint64_t iid = 0;
    uint32_t text = 0;
    while (wire_next(&entry, &field)) {
        if (wire_is(&field, 1, WIRE_NUMBER)) {
            iid = field.value;
        } else if (wire_is(&field, 2, WIRE_BYTES)) {
            text = intern(packets, &field.inside);
        }
    }
    uint32_t *name = name_of(packets, generation, iid);
    if (name != NULL) {
        *name = text;
    }
}

static void read_interned(struct packets *packets, uint32_t generation, struct wire interned)
{
    const uint32_t event_names = 2;
    struct wire_field field;
    while (wire_next(&interned, &field)) {
        if (wire_is(&field, event_names, WIRE_BYTES)) {
            read_name(packets, generation, field.inside);
        }
    }
}

static void read_defaults(struct packet_sequence *sequence, struct wire defaults)
{
    const uint32_t track_uuid = 11;
    struct wire_field field;
    sequence->has_clock = false;
    sequence->has_track = false;
    while (wire_next(&defaults, &field)) {
        struct wire_field inner;
        if (wire_is(&field, PACKET_CLOCK, WIRE_NUMBER)) {
            sequence->has_clock = true;
            sequence->clock = field.value;
        }
        while (wire_is(&field, PACKET_EVENT, WIRE_BYTES) && wire_next(&field.inside, &inner)) {
            if (wire_is(&inner, track_uuid, WIRE_NUMBER)) {
                sequence->has_track = true;
                sequence->track = inner.value;
            }
        }
    }
}

/* ---- clocks ---- */

static struct packet_clock *
clock_of(struct packets *packets, uint64_t id, uint32_t sequence, uint32_t *number)
{
    bool is_own = id >= SEQUENCE_CLOCK_FIRST && id <= SEQUENCE_CLOCK_LAST;
    const struct key key = {
        {(uint32_t)id, (uint32_t)(id >> 32), is_own ? sequence : NO_SEQUENCE, 0}};
    *number = key_map_add(&packets->clock_of, key);
    if (*number == KEY_MAP_NONE) {
        return fail(packets);
    }
    while (packets->clock_count <= *number) {
        struct packet_clock *grown =
            scratch_grow(packets->clocks, packets->clock_count, &packets->clock_cap, sizeof *grown);
        if (grown == NULL) {
            return fail(packets);
        }
        packets->clocks = grown;
        grown[packets->clock_count++] = (struct packet_clock){.multiplier = 1};
    }
    return &packets->clocks[*number];
}

struct clock_reading {
    uint64_t id;
    int64_t value, multiplier;
    bool is_incremental;
};

static struct clock_reading read_clock(struct wire clock)
{
    struct clock_reading reading = {.multiplier = 1};
    struct wire_field field;
    while (wire_next(&clock, &field)) {
        if (wire_is(&field, 1, WIRE_NUMBER)) {
            reading.id = field.value;
        } else if (wire_is(&field, 2, WIRE_NUMBER)) {
            reading.value = (int64_t)field.value;
        } else if (wire_is(&field, 3, WIRE_NUMBER)) {
            reading.is_incremental = field.value != 0;
        } else if (wire_is(&field, 4, WIRE_NUMBER)) {
            reading.multiplier = (int64_t)field.value;
        }
    }
    reading.value = saturating_mul(reading.value, reading.multiplier);
    return reading;
}

static void set_clock(struct packets *packets,
                      const struct clock_reading *reading,
                      uint32_t sequence,
                      bool has_boot,
                      int64_t boot_ns)
{
    uint32_t number;
    struct packet_clock *clock = clock_of(packets, reading->id, sequence, &number);
    if (clock == NULL) {
        return;
    }
    clock->is_incremental = reading->is_incremental;
    clock->multiplier = reading->multiplier;
    clock->base = reading->value;
    clock->generation++;
    if (has_boot) {
        clock->has_offset = true;
        clock->offset = saturating_sub(boot_ns, reading->value);
    }
}

static void read_snapshot(struct packets *packets, uint32_t sequence, struct wire snapshot)
{
    struct wire again = snapshot;
    struct wire_field field;
    bool has_boot = false;
    int64_t boot_ns = 0;
    while (wire_next(&snapshot, &field)) {
        if (wire_is(&field, 1, WIRE_BYTES)) {
            const struct clock_reading reading = read_clock(field.inside);
            has_boot = has_boot || reading.id == BOOTTIME;
            boot_ns = reading.id == BOOTTIME ? reading.value : boot_ns;
        }
    }
    while (wire_next(&again, &field)) {
        if (wire_is(&field, 1, WIRE_BYTES)) {
            const struct clock_reading reading = read_clock(field.inside);
            set_clock(packets, &reading, sequence, has_boot, boot_ns);
        }
    }
}

/* The last value of an incremental clock on a sequence, since its snapshot. */
static int64_t *last_of(struct packets *packets,
                        uint32_t clock_number,
                        const struct packet_clock *clock,
                        uint32_t sequence)
{
    const struct key key = {{clock_number, clock->generation, sequence, 0}};
    uint32_t number = key_map_add(&packets->last_of, key);
    if (number == KEY_MAP_NONE) {
        return fail(packets);
    }
    while (packets->last_count <= number) {
        int64_t *grown =
            scratch_grow(packets->lasts, packets->last_count, &packets->last_cap, sizeof *grown);
        if (grown == NULL) {
            return fail(packets);
        }
        packets->lasts = grown;
        grown[packets->last_count++] = clock->base;
    }
    return &packets->lasts[number];
}

static int64_t time_of(struct packets *packets, uint64_t clock_id, uint32_t sequence, int64_t value)
{
    uint32_t number;
    const struct packet_clock *clock = clock_of(packets, clock_id, sequence, &number);
    if (clock == NULL || clock->generation == 0) {
        return value;
    }
    value = saturating_mul(value, clock->multiplier);
    if (clock->is_incremental) {
        int64_t *last = last_of(packets, number, clock, sequence);
        if (last == NULL) {
            return value;
        }
        value = saturating_add(value, *last);
        *last = value;
    }
    bool is_shifted = clock_id != BOOTTIME && clock->has_offset;
    return is_shifted ? saturating_add(value, clock->offset) : value;
}

/* ---- tracks ---- */

static uint32_t track_of(struct packets *packets, uint64_t uuid)
{
    struct id_slot *slot = id_map_add(&packets->track_of, (int64_t)uuid);
    if (slot == NULL) {
        (void)fail(packets);
        return 0;
    }
    if (slot->value == ID_MAP_NONE) {
        struct packet_track *grown =
            scratch_grow(packets->tracks, packets->track_count, &packets->track_cap, sizeof *grown);
        if (grown == NULL) {
            (void)fail(packets);
            return 0;
        }
        packets->tracks = grown;
        slot->value = (uint32_t)packets->track_count;
        grown[packets->track_count++] = (struct packet_track){RELAY_NONE, RELAY_NONE, 0};
    }
    return slot->value;
}

/* A process {1 pid, 6 name} or a thread {1 pid, 2 tid, 5 name}. */
static void
read_owner(struct packets *packets, struct packet_track *track, struct wire owner, bool is_thread)
{
    struct wire_field field;
    while (wire_next(&owner, &field)) {
        if (wire_is(&field, 1, WIRE_NUMBER)) {
            track->pid = (int64_t)field.value;
        } else if (is_thread && wire_is(&field, 2, WIRE_NUMBER)) {
            track->tid = (int64_t)field.value;
        } else if (wire_is(&field, is_thread ? 5 : 6, WIRE_BYTES)) {
            track->name = intern(packets, &field.inside);
        }
    }
}

static void read_track(struct packets *packets, struct wire descriptor)
{
    struct packet_track track = {RELAY_NONE, RELAY_NONE, 0};
    struct wire_field field;
    uint64_t uuid = 0;
    while (wire_next(&descriptor, &field)) {
        if (wire_is(&field, 1, WIRE_NUMBER)) {
            uuid = field.value;
        } else if (wire_is(&field, 2, WIRE_BYTES)) {
            track.name = intern(packets, &field.inside);
        } else if (wire_is(&field, 3, WIRE_BYTES) || wire_is(&field, 4, WIRE_BYTES)) {
            read_owner(packets, &track, field.inside, field.number == 4);
        }
    }
    uint32_t number = track_of(packets, uuid);
    if (!packets->failed) {
        packets->tracks[number] = track;
    }
}

/* ---- events ---- */

enum { EVENT_TYPE = 9, EVENT_NAME_IID = 10, EVENT_TRACK = 11, EVENT_NAME = 23 };

static void read_event(struct packets *packets,
                       const struct packet_sequence *sequence,
                       struct wire wire,
                       int64_t t_ns)
{
    struct track_event event = {.t_ns = t_ns, .position = packets->position};
    struct wire_field field;
    uint64_t track = sequence->has_track ? sequence->track : 0;
    bool has_name = false;
    while (wire_next(&wire, &field)) {
        if (wire_is(&field, EVENT_TYPE, WIRE_NUMBER)) {
            event.type = field.value <= TRACK_EVENT_COUNTER ? (uint8_t)field.value : 0;
        } else if (wire_is(&field, EVENT_TRACK, WIRE_NUMBER)) {
            track = field.value;
        } else if (wire_is(&field, EVENT_NAME, WIRE_BYTES)) {
            event.name = intern(packets, &field.inside);
            has_name = true;
        } else if (wire_is(&field, EVENT_NAME_IID, WIRE_NUMBER) && !has_name) {
            const uint32_t *name = name_of(packets, sequence->generation, field.value);
            event.name = name == NULL ? 0 : *name;
        } else if (wire_is(&field, 30, WIRE_NUMBER)) {
            event.value = (double)(int64_t)field.value;
        } else if (wire_is(&field, 44, WIRE_NUMBER)) {
            memcpy(&event.value, &field.value, sizeof event.value);
        }
    }
    event.track = track_of(packets, track);
    struct track_event *grown =
        scratch_grow(packets->events, packets->event_count, &packets->event_cap, sizeof *grown);
    if (grown == NULL) {
        (void)fail(packets);
        return;
    }
    packets->events = grown;
    grown[packets->event_count++] = event;
}

/* ---- packets ---- */

static bool is_beside(uint32_t number)
{
    static const uint32_t fields[] = {
        3, PACKET_TIME, PACKET_SEQUENCE, PACKET_FLAGS, 42, PACKET_CLOCK, 79, 87};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (fields[i] == number) {
            return true;
        }
    }
    return false;
}

static bool is_read(uint32_t number)
{
    return number == PACKET_CLOCKS || number == PACKET_EVENT || number == PACKET_INTERNED ||
           number == PACKET_COMPRESSED || number == PACKET_DEFAULTS || number == PACKET_TRACK;
}

/* What a packet holds; messages that are not there have no bytes. */
struct packet {
    uint64_t sequence, flags, time, clock;
    bool has_clock, is_known;
    bool has_event, has_defaults, is_compressed;
    uint32_t lowest; /* of the fields that are not read */
    struct wire event, defaults, snapshot, track;
};

static struct packet read_packet(struct wire wire)
{
    struct packet packet = {.lowest = UINT32_MAX};
    struct wire_field field;
    while (wire_next(&wire, &field)) {
        packet.is_known = packet.is_known || is_read(field.number);
        if (!is_read(field.number) && !is_beside(field.number) && field.number < packet.lowest) {
            packet.lowest = field.number;
        }
        switch (field.number) {
        case PACKET_SEQUENCE:
            packet.sequence = field.value;
            break;
        case PACKET_FLAGS:
            packet.flags = field.value;
            break;
        case PACKET_TIME:
            packet.time = field.value;
            break;
        case PACKET_CLOCK:
            packet.clock = field.value;
            packet.has_clock = true;
            break;
        case PACKET_EVENT:
            packet.event = field.inside;
            packet.has_event = true;
            break;
        case PACKET_DEFAULTS:
            packet.defaults = field.inside;
            packet.has_defaults = true;
            break;
        case PACKET_CLOCKS:
            packet.snapshot = field.inside;
            break;
        case PACKET_TRACK:
            packet.track = field.inside;
            break;
        case PACKET_COMPRESSED:
            packet.is_compressed = true;
            break;
        default:
            break;
        }
    }
    return packet;
}

static void skip(const struct packet *packet, struct relay *relay)
{
    char what[RELAY_WHAT_BYTES];
    if (!packet->is_known && packet->lowest != UINT32_MAX) {
        (void)snprintf(what, sizeof what, "packet field %u", (unsigned)packet->lowest);
        relay_skip(relay, what, "a packet of a kind that is not read", 1);
    }
}

/* Whether there are compressed packets in it, which are left to the caller. */
static bool take(struct packets *packets, struct wire wire, struct relay *relay)
{
    const uint64_t cleared = 1;
    const struct packet packet = read_packet(wire);
    struct wire_field field;
    uint32_t number = 0;
    struct packet_sequence *sequence = sequence_of(packets, packet.sequence, &number);
    packets->position++;
    if (sequence == NULL) {
        return false;
    }
    if ((packet.flags & cleared) != 0) {
        *sequence = (struct packet_sequence){.generation = packets->generations++};
    }
    if (packet.snapshot.at != packet.snapshot.end) {
        read_snapshot(packets, number, packet.snapshot);
    }
    while (wire_next(&wire, &field)) {
        if (wire_is(&field, PACKET_INTERNED, WIRE_BYTES)) {
            read_interned(packets, sequence->generation, field.inside);
        }
    }
    if (packet.has_defaults) {
        read_defaults(sequence, packet.defaults);
    }
    if (packet.track.at != packet.track.end) {
        read_track(packets, packet.track);
    }
    if (packet.has_event) {
        uint64_t clock = packet.has_clock      ? packet.clock
                         : sequence->has_clock ? sequence->clock
                                               : BOOTTIME;
        int64_t t_ns = time_of(packets, clock, number, (int64_t)packet.time);
        read_event(packets, sequence, packet.event, t_ns);
    }
    skip(&packet, relay);
    return packet.is_compressed;
}

static void skip_compressed(struct relay *relay, const char *reason)
{
    relay_skip(relay, "packet field 50", reason, 1);
}

/* Names are copied and events hold no bytes, so what is inflated can go at once. */
static void take_compressed(struct packets *packets, struct wire zlib, struct relay *relay)
{
    size_t wanted = wire_len(&zlib) * INFLATED_MOST;
    size_t cap = wanted < INFLATED_BYTES_MAX ? wanted : INFLATED_BYTES_MAX;
    char *bytes = scratch_calloc(cap + 1, 1); /* ISA-L counts bytes of damage that it never wrote */
    size_t len = 0;
    bool is_whole = false;
    struct wire_field field;
    if (bytes == NULL || !inflate_zlib(zlib.at, wire_len(&zlib), bytes, cap, &len, &is_whole)) {
        skip_compressed(relay, "the compressed packets are damaged");
        scratch_free(bytes);
        return;
    }
    struct wire inflated = wire_of(bytes, len);
    while (!packets->failed && wire_next(&inflated, &field)) {
        if (wire_is(&field, 1, WIRE_BYTES) && take(packets, field.inside, relay)) {
            skip_compressed(relay, "packets that are compressed twice are not read");
        }
    }
    if (!is_whole || inflated.failed) {
        skip_compressed(relay, "compressed packets break off, or grow beyond 16 times");
    }
    scratch_free(bytes);
}

void packets_take(struct packets *packets, struct wire wire, struct relay *relay)
{
    struct wire_field field;
    bool has_more = take(packets, wire, relay);
    while (has_more && !packets->failed && wire_next(&wire, &field)) {
        if (wire_is(&field, PACKET_COMPRESSED, WIRE_BYTES)) {
            take_compressed(packets, field.inside, relay);
        }
    }
}
