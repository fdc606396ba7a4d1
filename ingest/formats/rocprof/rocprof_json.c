#include "ingest/formats/rocprof/rocprof_json.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/formats/json/walk.h"
#include "ingest/formats/reader.h"
#include "ingest/formats/relay/relay.h"
#include "ingest/formats/rocprof/process.h"
#include "ingest/formats/whole.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOOL "rocprofiler-sdk-tool"
#define PART_BYTES 64

struct part {
    struct rocprof_process place;
    int64_t pid;
    int number; /* in the list, from 1 */
};

/* The processes that have records, one trace each. */
struct recording {
    struct format_rest rest;
    struct whole whole;
    struct part *parts;
    size_t count, cap, next;
};

bool rocprof_json_recognises(const char *window, size_t len)
{
    struct json_walk walk = {.at = window, .end = window + len};
    struct json_value key;
    return json_walk_enter(&walk, '{') && json_walk_key(&walk, &key) &&
           json_walk_text_is(&key, TOOL);
}

/* ---- the list ---- */

static bool take_process(struct recording *recording,
                         const struct json_walk *walk,
                         const struct rocprof_look *look,
                         int number,
                         struct err *err)
{
    struct part *parts =
        scratch_grow(recording->parts, recording->count, &recording->cap, sizeof *parts);
    if (parts == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the processes of a recording");
    }
    recording->parts = parts;
    parts[recording->count++] = (struct part){.place = {.walk = *walk,
                                                        .begin = recording->whole.bytes,
                                                        .cut_at = WARNING_NO_OFFSET,
                                                        .trails_at = WARNING_NO_OFFSET},
                                              .pid = look->pid,
                                              .number = number};
    return true;
}

/* Behind the list: the rest of its object, and then nothing. */
static void find_end(struct recording *recording, struct json_walk *walk)
{
    struct rocprof_process *last = &recording->parts[recording->count - 1].place;
    struct json_value key;
    while (json_walk_key(walk, &key)) {
        (void)json_walk_skip(walk);
    }
    if (walk->failed) {
        last->cut_at = (uint64_t)(walk->at - recording->whole.bytes);
    } else if (json_walk_trails(walk)) {
        last->trails_at = (uint64_t)(walk->at - recording->whole.bytes);
    }
}

/* One without a record is no trace; where none has one, the first says so. */
static bool find_processes(struct recording *recording, struct err *err)
{
    const struct whole *whole = &recording->whole;
    struct json_walk walk = {.at = whole->bytes, .end = whole->bytes + whole->len};
    struct json_walk first = {.failed = true};
    struct json_value key;
    bool ok = true;
    int number = 0;
    if (json_walk_enter(&walk, '{') && json_walk_key(&walk, &key) && json_walk_enter(&walk, '[')) {
        while (ok && json_walk_item(&walk)) {
            struct json_walk here = walk;
            struct rocprof_look look;
            first = first.failed ? here : first;
            rocprof_process_look(&walk, &look);
            number++;
            ok = !look.has_record || take_process(recording, &here, &look, number, err);
        }
    }
    if (ok && recording->count == 0 && !first.failed) {
        const struct rocprof_look nothing = {.pid = RELAY_NONE};
        ok = take_process(recording, &first, &nothing, 1, err);
    }
    if (ok && recording->count > 0) {
        find_end(recording, &walk);
    }
    return ok && (recording->count > 0 ||
                  err_set_at(err, ERR_BAD_INPUT, 0, "the recording of rocprofv3 has no process"));
}

/* ---- one after the other ---- */

/* Numbers of processes are unique on a host, and a file may have those of several. */
static char *name_part(const struct recording *recording, size_t at)
{
    char text[PART_BYTES];
    const struct part *part = &recording->parts[at];
    bool is_unique = part->pid != RELAY_NONE;
    for (size_t i = 0; is_unique && i < at; i++) {
        is_unique = recording->parts[i].pid != part->pid;
    }
    if (is_unique) {
        (void)snprintf(text, sizeof text, "%" PRId64, part->pid);
    } else {
        (void)snprintf(text, sizeof text, "process %d", part->number);
    }
    return strdup(text);
}

static bool next_part(struct format_rest *rest,
                      const struct format_options *options,
                      struct format_item *item,
                      bool *ended,
                      struct err *err)
{
    struct recording *recording = (struct recording *)rest;
    size_t at = recording->next++;
    *ended = at >= recording->count;
    if (*ended) {
        return true;
    }
    if (recording->count > 1) {
        item->part = name_part(recording, at);
        if (item->part == NULL) {
            return err_set(err, ERR_NO_MEMORY, "no memory for the name of a process");
        }
    }
    return rocprof_process_read(&recording->parts[at].place, options, &item->model, err);
}

static void free_recording(struct format_rest *rest)
{
    struct recording *recording = (struct recording *)rest;
    whole_free(&recording->whole);
    scratch_free(recording->parts);
    free(recording);
}

bool rocprof_json_read(struct text_stream *stream,
                       const struct format_options *options,
                       struct format_bundle *bundle,
                       struct err *err)
{
    struct recording *recording = calloc(1, sizeof *recording);
    bool ended = false;
    if (recording == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a recording");
    }
    recording->rest = (struct format_rest){.next = next_part, .free = free_recording};
    bundle->rest = &recording->rest;
    bool ok = whole_read(&recording->whole, stream, options, err) &&
              find_processes(recording, err) && format_bundle_next(bundle, options, &ended, err);
    if (!ok) {
        format_bundle_free(bundle);
    }
    return ok;
}
