#include "ingest/formats/memory_timeline/memory_timeline.h"

#include "ingest/base/saturating.h"
#include "ingest/formats/json/walk.h"
#include "ingest/formats/reader.h"
#include "ingest/formats/relay/relay.h"

#include <string.h>

#define CATEGORIES 8
#define BEFORE (-1) /* the time of what existed before the recording */

static const char *const categories[CATEGORIES] = {
    "parameter",  "optimizer_state", "input",           "temporary",
    "activation", "gradient",        "autograd_detail", "unknown",
};

struct row {
    int64_t t_ns, action, bytes, category;
};

struct reader {
    struct json_walk walk;
    const char *begin;
    int64_t first_ns; /* the smallest time that is not BEFORE */
    int64_t sums[CATEGORIES];
};

/* ---- rows ---- */

/* False for what is no list of four numbers. */
static bool parse_row(const struct json_value *value, struct row *row)
{
    int64_t *const fields[] = {&row->t_ns, &row->action, &row->bytes, &row->category};
    struct json_walk walk = json_walk_of(value);
    struct json_value item;
    size_t count = 0;
    if (!json_walk_enter(&walk, '[')) {
        return false;
    }
    while (json_walk_item(&walk) && json_walk_value(&walk, &item)) {
        if (count == sizeof fields / sizeof *fields || item.kind != JSON_KIND_NUMBER) {
            return false;
        }
        *fields[count++] = json_walk_int(&item, 0);
    }
    return count == sizeof fields / sizeof *fields;
}

bool memory_timeline_recognises(const char *window, size_t len)
{
    struct json_walk walk = {.at = window, .end = window + len};
    struct json_value first;
    struct row row;
    return json_walk_enter(&walk, '[') && json_walk_is(&walk, '[') &&
           json_walk_value(&walk, &first) && parse_row(&first, &row);
}

static bool next_row(struct json_walk *walk, struct row *row, bool *fits)
{
    struct json_value value;
    if (!json_walk_item(walk) || !json_walk_value(walk, &value)) {
        return false;
    }
    *fits = value.kind == JSON_KIND_ARRAY && parse_row(&value, row) && row->category >= 0 &&
            row->category < CATEGORIES;
    return true;
}

/* ---- on the way ---- */

/* A counter of everything that is there after the row. Times of rows from before the recording are
 * those of its start; their name tells them from it. */
static void relay_row(struct relay *relay, struct reader *reader, const struct row *row)
{
    struct relay_event event = relay_blank(RELAY_MEMORY);
    bool is_before = row->t_ns == BEFORE;
    int64_t *sum = &reader->sums[row->category];
    event.name = is_before ? "memory before" : "memory";
    event.name_len = strlen(event.name);
    event.process = "memory";
    event.start_ns = is_before ? reader->first_ns : row->t_ns;
    *sum = saturating_add(*sum, row->bytes);
    relay_begin(relay, &event);
    for (size_t i = 0; i < CATEGORIES; i++) {
        jw_key_int(&relay->args, categories[i], reader->sums[i]);
    }
    relay_end(relay);
}

static bool more(void *context, struct relay *relay, bool *ended, struct err *err)
{
    struct reader *reader = context;
    struct row row;
    bool fits;
    (void)err;
    if (!next_row(&reader->walk, &row, &fits)) {
        if (reader->walk.failed) {
            warning_add(&relay->warnings, WARN_TRUNCATED,
                        (uint64_t)(reader->walk.at - reader->begin));
        } else if (json_walk_trails(&reader->walk)) {
            warning_add(&relay->warnings, WARN_TRAILING,
                        (uint64_t)(reader->walk.at - reader->begin));
        }
        *ended = true;
        return true;
    }
    if (fits) {
        relay_row(relay, reader, &row);
    } else {
        relay_skip(relay, "damaged row", "it is not time, action, bytes and a known category", 1);
    }
    return true;
}

static int64_t find_first(struct json_walk walk)
{
    int64_t first_ns = INT64_MAX;
    struct row row;
    bool fits;
    while (next_row(&walk, &row, &fits)) {
        if (fits && row.t_ns != BEFORE) {
            first_ns = i64_min(first_ns, row.t_ns);
        }
    }
    return first_ns == INT64_MAX ? 0 : first_ns;
}

bool memory_timeline_read(const struct whole *whole,
                          const struct format_options *options,
                          struct trace **out,
                          struct err *err)
{
    struct reader reader = {.walk = {.at = whole->bytes, .end = whole->bytes + whole->len},
                            .begin = whole->bytes};
    struct relay relay;
    if (!json_walk_enter(&reader.walk, '[')) {
        return err_set_at(err, ERR_BAD_INPUT, 0, "the memory timeline has no rows");
    }
    reader.first_ns = find_first(reader.walk);
    relay_init(&relay, "torch.profiler");
    bool ok = relay_read(&relay, more, &reader, options, out, err);
    relay_free(&relay);
    return ok;
}
