/* Packets of a Perfetto trace: interned names, defaults, clocks and tracks, until only events with
 * a time, a track and a name are left. */
#ifndef KS_FORMATS_PROTOBUF_PACKETS_H
#define KS_FORMATS_PROTOBUF_PACKETS_H

#include "ingest/base/attr.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/text/strtab.h"
#include "ingest/formats/protobuf/wire.h"
#include "ingest/formats/relay/relay.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fields of a TracePacket. */
enum {
    PACKET_CLOCKS = 6,
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_COMPRESSED = 50,
    PACKET_CLOCK = 58,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60
};

enum { TRACK_EVENT_BEGIN = 1, TRACK_EVENT_END, TRACK_EVENT_INSTANT, TRACK_EVENT_COUNTER };

struct track_event {
    int64_t t_ns;
    uint32_t position; /* of its packet */
    uint32_t track;
    uint32_t name; /* string id */
    uint8_t type;
    double value; /* of a counter */
};

struct packet_track {
    int64_t pid, tid; /* RELAY_NONE: not said */
    uint32_t name;    /* string id; 0: none */
};

/* A sequence's state. */
struct packet_sequence {
    uint32_t generation; /* of its interned names: a cleared state begins another */
    bool has_clock, has_track;
    uint64_t clock, track;
};

struct packet_clock {
    bool is_incremental, has_offset;
    uint32_t generation; /* snapshots so far */
    int64_t multiplier, base, offset;
};

struct packets {
    struct strtab *texts;
    struct id_map sequence_of; /* id -> sequences */
    struct packet_sequence *sequences;
    size_t sequence_count, sequence_cap;
    struct key_map interned; /* generation, iid in two halves -> names */
    uint32_t *names;
    size_t name_count, name_cap;
    uint32_t generations;
    struct key_map clock_of; /* clock id, and sequence where it is the sequence's -> clocks */
    struct packet_clock *clocks;
    size_t clock_count, clock_cap;
    struct key_map last_of; /* clock, its generation, sequence -> last value */
    int64_t *lasts;
    size_t last_count, last_cap;
    struct id_map track_of; /* uuid -> tracks */
    struct packet_track *tracks;
    size_t track_count, track_cap;
    struct track_event *events;
    size_t event_count, event_cap;
    uint32_t position;
    bool failed; /* no memory */
};

bool packets_init(struct packets *packets) KS_MUST_USE;
void packets_free(struct packets *packets);
/* Takes one packet, and those that are compressed in it; what is not read is counted in the relay.
 */
void packets_take(struct packets *packets, struct wire wire, struct relay *relay);

#endif
