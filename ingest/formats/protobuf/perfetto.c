#include "ingest/formats/protobuf/perfetto.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/formats/protobuf/packets.h"

#include <stdlib.h>

#define PACKETS_LOOKED_AT 3
#define EVENTS_AT_ONCE 64
/* Tracks without a thread of their own are numbered from here. */
#define TRACK_TID 1000000

static bool names_packet(struct wire packet)
{
    static const uint32_t known[] = {PACKET_CLOCKS,   PACKET_TIME,  PACKET_SEQUENCE,   PACKET_EVENT,
                                     PACKET_INTERNED, PACKET_FLAGS, PACKET_COMPRESSED, PACKET_CLOCK,
                                     PACKET_DEFAULTS, PACKET_TRACK};
    struct wire_field field;
    bool is_known = false;
    while (wire_next(&packet, &field)) {
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            is_known = is_known || known[i] == field.number;
        }
    }
    return is_known && !packet.failed;
}

bool perfetto_recognises(const char *window, size_t len)
{
    struct wire trace = wire_of(window, len);
    struct wire_field field;
    size_t count = 0;
    if (len == 0 || *window != 0x0a) {
        return false;
    }
    while (count < PACKETS_LOOKED_AT && wire_next(&trace, &field)) {
        if (!wire_is(&field, 1, WIRE_BYTES) || !names_packet(field.inside)) {
            return false;
        }
        count++;
    }
    return count == PACKETS_LOOKED_AT;
}

struct reader {
    struct packets packets;
    size_t next;            /* event, in order of time */
    uint32_t *open, *below; /* by track the innermost begin; by begin the one around it */
    bool labelled;
};

ORDER_BY(by_time, struct track_event, ORDER_UP(t_ns), ORDER_UP(position))

/* ---- relaying ---- */

static struct relay_event
blank(const struct reader *reader, const struct track_event *from, enum relay_role role)
{
    const struct packets *packets = &reader->packets;
    const struct packet_track *track = &packets->tracks[from->track];
    struct relay_event event = relay_blank(role);
    event.name = strtab_text(packets->texts, from->name);
    event.name_len = strtab_len(packets->texts, from->name);
    event.start_ns = from->t_ns;
    event.process = "tracks";
    event.pid = track->pid;
    event.tid = track->tid == RELAY_NONE ? TRACK_TID + (int64_t)from->track : track->tid;
    return event;
}

static void begin(struct reader *reader, uint32_t at)
{
    uint32_t track = reader->packets.events[at].track;
    reader->below[at] = reader->open[track];
    reader->open[track] = at;
}

static void end(struct reader *reader, struct relay *relay, const struct track_event *event)
{
    uint32_t at = reader->open[event->track];
    if (at == UINT32_MAX) {
        relay_skip(relay, "end without begin", "no slice is open on its track", 1);
        return;
    }
    struct relay_event slice = blank(reader, &reader->packets.events[at], RELAY_HOST);
    slice.dur_ns = saturating_sub(event->t_ns, slice.start_ns);
    reader->open[event->track] = reader->below[at];
    relay_add(relay, &slice);
}

static void add_counter(struct reader *reader, struct relay *relay, const struct track_event *from)
{
    struct relay_event event = blank(reader, from, RELAY_COUNTER);
    const struct packet_track *track = &reader->packets.tracks[from->track];
    if (event.name_len == 0) {
        event.name = strtab_text(reader->packets.texts, track->name);
        event.name_len = strtab_len(reader->packets.texts, track->name);
    }
    relay_begin(relay, &event);
    jw_key_double(&relay->args, "value", from->value);
    relay_end(relay);
}

static void take(struct reader *reader, struct relay *relay, uint32_t at)
{
    const struct track_event *event = &reader->packets.events[at];
    struct relay_event mark;
    switch (event->type) {
    case TRACK_EVENT_BEGIN:
        begin(reader, at);
        break;
    case TRACK_EVENT_END:
        end(reader, relay, event);
        break;
    case TRACK_EVENT_INSTANT:
        mark = blank(reader, event, RELAY_MARK);
        relay_add(relay, &mark);
        break;
    case TRACK_EVENT_COUNTER:
        add_counter(reader, relay, event);
        break;
    default:
        break;
    }
}

/* What stays open is drawn to the end of the trace, and in no total. */
static void leave_open(struct reader *reader, struct relay *relay)
{
    for (size_t track = 0; track < reader->packets.track_count; track++) {
        for (uint32_t at = reader->open[track]; at != UINT32_MAX; at = reader->below[at]) {
            struct relay_event event = blank(reader, &reader->packets.events[at], RELAY_OPEN);
            relay_add(relay, &event);
            relay_skip(relay, "begin without end", "drawn to the end of the trace, in no total", 1);
        }
    }
}

static void write_labels(struct reader *reader, struct relay *relay)
{
    for (uint32_t i = 0; i < reader->packets.track_count; i++) {
        const struct packet_track *track = &reader->packets.tracks[i];
        const struct track_event on = {.track = i};
        const struct relay_event of = blank(reader, &on, RELAY_HOST);
        if (track->name != 0) {
            relay_label(relay, &of, "thread_name", strtab_text(reader->packets.texts, track->name));
        }
    }
}

static bool more(void *context, struct relay *relay, bool *ended, struct err *err)
{
    struct reader *reader = context;
    size_t count = reader->packets.event_count;
    (void)err;
    if (!reader->labelled) {
        write_labels(reader, relay);
        reader->labelled = true;
    }
    for (int i = 0; i < EVENTS_AT_ONCE && reader->next < count; i++) {
        take(reader, relay, (uint32_t)reader->next++);
    }
    if (reader->next == count) {
        leave_open(reader, relay);
        *ended = true;
    }
    return true;
}

/* ---- the whole ---- */

/* Packets until the end, or until damage. */
static size_t take_packets(struct reader *reader, const struct whole *whole, struct relay *relay)
{
    struct wire trace = wire_of(whole->bytes, whole->len);
    const unsigned char *begin = trace.at;
    struct wire_field field;
    while (!reader->packets.failed && wire_next(&trace, &field)) {
        if (wire_is(&field, 1, WIRE_BYTES)) {
            packets_take(&reader->packets, field.inside, relay);
        }
    }
    return trace.failed ? (size_t)(trace.at - begin) : SIZE_MAX;
}

static bool order_events(struct reader *reader)
{
    struct packets *packets = &reader->packets;
    reader->open = scratch_none(packets->track_count);
    reader->below = scratch_none(packets->event_count);
    if (packets->event_count > 0) {
        qsort(packets->events, packets->event_count, sizeof *packets->events, by_time);
    }
    return reader->open != NULL && reader->below != NULL && !packets->failed;
}

static bool read_packets(struct reader *reader,
                         const struct whole *whole,
                         const struct format_options *options,
                         struct trace **out,
                         struct err *err)
{
    struct relay relay;
    relay_init(&relay, "perfetto");
    size_t cut_at = take_packets(reader, whole, &relay);
    bool ok = order_events(reader) || err_set(err, ERR_NO_MEMORY, "no memory for a recording");
    if (cut_at != SIZE_MAX) {
        warning_add(&relay.warnings, WARN_TRUNCATED, cut_at);
    }
    ok = ok && relay_read(&relay, more, reader, options, out, err);
    if (!ok && err->code == ERR_BAD_INPUT && relay.record_count == 0) {
        ok = err_set_at(err, ERR_BAD_INPUT, cut_at == SIZE_MAX ? 0 : cut_at,
                        "the Perfetto trace has no event of a track");
    }
    relay_free(&relay);
    return ok;
}

bool perfetto_read(const struct whole *whole,
                   const struct format_options *options,
                   struct trace **out,
                   struct err *err)
{
    struct reader reader = {.next = 0};
    bool ok = packets_init(&reader.packets)
                  ? read_packets(&reader, whole, options, out, err)
                  : err_set(err, ERR_NO_MEMORY, "no memory for a recording");
    packets_free(&reader.packets);
    SCRATCH_FREE(reader.open, reader.below);
    return ok;
}
