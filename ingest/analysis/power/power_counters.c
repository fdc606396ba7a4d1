#include "ingest/analysis/power/power_counters.h"

#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A counter while its samples are counted. */
struct series {
    uint32_t name, key; /* string ids: of the event, of its member */
    uint32_t track;
    double scale;          /* to watt or megahertz; 0: neither */
    uint32_t first, count; /* of `order` */
    struct power_counter said;
    bool is_clock;
};

struct finding {
    const struct trace_index *index;
    struct arena *arena;
    struct series *series;
    size_t series_count, series_cap;
    size_t measuring;    /* of power or a clock */
    struct key_map keys; /* name, key, track -> place in `series` */
    uint32_t *of;        /* by row of trace.counters: its series */
    uint32_t *order;     /* rows series by series, by time */
};

/* ---- what a name says ---- */

#define TEXT_BYTES 200
/* Series beyond these are not looked at: no recorder writes as many. */
#define POWER_SERIES_MAX 4096

/* Lower case, cut to what decides. */
static void lower(char out[TEXT_BYTES], const char *name, const char *key)
{
    (void)snprintf(out, TEXT_BYTES, "%.96s %.96s", name, key);
    for (char *c = out; *c != '\0'; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
}

static bool has_any(const char *text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strstr(text, *words) != NULL) {
            return true;
        }
    }
    return false;
}

/* A unit stands alone: "(mw)", "power mw", not "mwait". */
static bool has_unit(const char *text, const char *unit)
{
    size_t len = strlen(unit);
    for (const char *at = strstr(text, unit); at != NULL; at = strstr(at + 1, unit)) {
        bool begins = at == text || !isalnum((unsigned char)at[-1]);
        if (begins && !isalnum((unsigned char)at[len])) {
            return true;
        }
    }
    return false;
}

static void read_kind(struct series *series, const char *text)
{
    static const char *const powers[] = {"power", "watt", NULL};
    static const char *const not_drawn[] = {"limit",  "cap",   "state", "throttl",
                                            "factor", "brake", NULL};
    static const char *const clocks[] = {"sclk",      "sm clock",  "gpu clock", "core clock",
                                         "core freq", "gfx clock", NULL};
    if (has_any(text, powers) && !has_any(text, not_drawn)) {
        bool is_micro =
            has_unit(text, "uw") || has_unit(text, "microwatt") || has_unit(text, "microwatts");
        bool is_milli =
            has_unit(text, "mw") || has_unit(text, "milliwatt") || has_unit(text, "milliwatts");
        series->scale = is_micro ? 1e-6 : is_milli ? 1e-3 : 1;
    } else if (has_any(text, clocks) && !has_any(text, not_drawn)) {
        series->is_clock = true;
        series->scale = has_unit(text, "hz") ? 1e-6 : has_unit(text, "ghz") ? 1e3 : 1;
    }
}

/* Of a part of a device or of something else: not what the device draws. */
static bool is_of_part(const struct series *series, const struct strtab *strings)
{
    static const char *const parts[] = {"mem", "hbm", "cpu", "soc", "dram", NULL};
    char text[TEXT_BYTES];
    lower(text, strtab_text(strings, series->name), strtab_text(strings, series->key));
    return has_any(text, parts);
}

/* The number behind a word for a device, or in brackets; -1: none. */
static int64_t number_in(const char *text)
{
    static const char *const words[] = {"gpu", "device", "npu", "card", "["};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        for (const char *at = strstr(text, words[i]); at != NULL; at = strstr(at + 1, words[i])) {
            const char *digits = at + strlen(words[i]);
            digits += strspn(digits, " _:[#");
            int64_t number = 0;
            size_t len = strspn(digits, "0123456789");
            for (size_t j = 0; j < len && j < 6; j++) {
                number = 10 * number + (digits[j] - '0');
            }
            if (len > 0) {
                return number;
            }
        }
    }
    return -1;
}

static bool has_work(const struct trace_index *index, int64_t device)
{
    for (uint32_t i = 0; i < index->stream_count; i++) {
        if (index->streams[i].device == device) {
            return true;
        }
    }
    return false;
}

static int64_t only_device(const struct trace_index *index)
{
    for (uint32_t i = 1; i < index->stream_count; i++) {
        if (index->streams[i].device != index->streams[0].device) {
            return INT64_MIN;
        }
    }
    return index->stream_count == 0 ? INT64_MIN : index->streams[0].device;
}

static int64_t device_of(const struct trace_index *index, const char *text, uint32_t track_number)
{
    const struct trace_track *track = &index->trace->tracks[track_number];
    int64_t said = number_in(text);
    if (said >= 0) {
        return said;
    }
    if (track->pid_int_valid && has_work(index, track->pid_int)) {
        return track->pid_int;
    }
    if (!track->pid_int_valid && track->tid_int_valid) {
        return track->tid_int;
    }
    return only_device(index);
}

/* ---- samples by series ---- */

static bool add_series(struct finding *f, uint32_t place, const struct trace_counter *row)
{
    const struct trace *trace = f->index->trace;
    struct series *grown = scratch_grow(f->series, place, &f->series_cap, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    f->series = grown;
    struct series *series = &grown[place];
    *series = (struct series){.name = trace->events.name[row->event],
                              .key = row->series,
                              .track = trace_event_track(&trace->events, row->event)};
    f->series_count = place + 1ul;
    char text[TEXT_BYTES];
    lower(text, strtab_text(trace->strings, series->name),
          strtab_text(trace->strings, series->key));
    read_kind(series, text);
    series->scale = f->measuring < POWER_SERIES_MAX ? series->scale : 0;
    if (series->scale != 0) {
        series->said.device = device_of(f->index, text, series->track);
        f->measuring++;
    }
    return true;
}

/* Which series each row belongs to. */
static bool tell_apart(struct finding *f)
{
    const struct trace *trace = f->index->trace;
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace->counter_count; i++) {
        const struct trace_counter *row = &trace->counters[i];
        const struct key key = {{trace->events.name[row->event], row->series,
                                 trace_event_track(&trace->events, row->event), 0}};
        uint32_t known = f->keys.count;
        f->of[i] = key_map_add(&f->keys, key);
        ok = f->of[i] != KEY_MAP_NONE && (f->of[i] < known || add_series(f, f->of[i], row));
        bool counts = ok && f->series[f->of[i]].scale != 0 && isfinite(row->value) &&
                      row->value >= 0 &&
                      (trace_event_class(&trace->events, row->event)->flags & EVENT_NO_TS) == 0;
        if (counts) {
            f->series[f->of[i]].count++;
        } else {
            f->of[i] = KEY_MAP_NONE;
        }
    }
    return ok;
}

static bool order_samples(struct finding *f)
{
    const struct trace *trace = f->index->trace;
    int64_t *at_ns = scratch_alloc(trace->counter_count, sizeof *at_ns);
    uint32_t *all = scratch_alloc(trace->counter_count, sizeof *all);
    uint32_t count = 0;
    uint32_t first = 0;
    bool ok = at_ns != NULL && all != NULL;
    for (size_t i = 0; ok && i < f->series_count; i++) {
        f->series[i].first = first;
        first += f->series[i].count;
        f->series[i].count = 0;
    }
    for (uint32_t i = 0; ok && i < trace->counter_count; i++) {
        at_ns[i] = trace->events.ts_ns[trace->counters[i].event];
        if (f->of[i] != KEY_MAP_NONE) {
            all[count++] = i;
        }
    }
    ok = ok && sort_by_key(all, count, at_ns);
    for (uint32_t i = 0; ok && i < count; i++) {
        struct series *series = &f->series[f->of[all[i]]];
        f->order[series->first + series->count++] = all[i];
    }
    SCRATCH_FREE(at_ns, all);
    return ok;
}

/* ---- curves ---- */

int64_t power_curve_sampled_ns(const struct power_curve *curve, int64_t start_ns, int64_t end_ns)
{
    if (curve->count == 0) {
        return 0;
    }
    int64_t from_ns = i64_max(start_ns, curve->at_ns[0]);
    int64_t to_ns = i64_min(end_ns, curve->at_ns[curve->count - 1]);
    return i64_max(0, saturating_sub(to_ns, from_ns));
}

static double sum_until(const struct power_curve *curve, int64_t at_ns)
{
    size_t high = order_i64_below(curve->at_ns, curve->count, sizeof *curve->at_ns, 0, at_ns, true);
    if (high == 0 || high == curve->count) {
        return high == 0 ? 0 : curve->sum[high - 1];
    }
    size_t low = high - 1;
    double part = (double)saturating_sub(at_ns, curve->at_ns[low]) /
                  (double)saturating_sub(curve->at_ns[high], curve->at_ns[low]);
    return curve->sum[low] + part * (curve->sum[high] - curve->sum[low]);
}

double power_curve_integral(const struct power_curve *curve, int64_t start_ns, int64_t end_ns)
{
    if (curve->count == 0 || end_ns <= start_ns) {
        return 0;
    }
    return sum_until(curve, end_ns) - sum_until(curve, start_ns);
}

/* Of samples at one time the last counts. */
static bool
make_curve(const struct finding *f, const struct series *series, struct power_curve *curve)
{
    const struct trace *trace = f->index->trace;
    double value = 0;
    uint32_t count = 0;
    curve->at_ns = arena_alloc(f->arena, (series->count + 1ul) * sizeof *curve->at_ns);
    curve->sum = arena_alloc(f->arena, (series->count + 1ul) * sizeof *curve->sum);
    if (curve->at_ns == NULL || curve->sum == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < series->count; i++) {
        const struct trace_counter *row = &trace->counters[f->order[series->first + i]];
        int64_t at_ns = trace->events.ts_ns[row->event];
        if (count == 0 || at_ns > curve->at_ns[count - 1]) {
            curve->at_ns[count] = at_ns;
            curve->sum[count] =
                count == 0 ? 0
                           : curve->sum[count - 1] +
                                 value * (double)saturating_sub(at_ns, curve->at_ns[count - 1]);
            count++;
        }
        value = row->value * series->scale;
    }
    curve->count = count < 2 ? 0 : count;
    return true;
}

static struct power_device *find_device(struct power_devices *devices, int64_t device)
{
    for (size_t i = 0; i < devices->count; i++) {
        if (devices->items[i].device == device) {
            return &devices->items[i];
        }
    }
    if (devices->count == POWER_DEVICES_MAX) {
        return NULL;
    }
    devices->items[devices->count] = (struct power_device){.device = device};
    return &devices->items[devices->count++];
}

/* The first series of a device and kind that is not of a part of it, else the first. */
static bool take_series(const struct finding *f, bool of_parts, struct power_devices *devices)
{
    bool ok = true;
    for (size_t i = 0; ok && i < f->series_count; i++) {
        struct series *series = &f->series[i];
        if (series->scale == 0 || series->said.device == INT64_MIN ||
            is_of_part(series, f->index->trace->strings) != of_parts) {
            continue;
        }
        struct power_device *device = find_device(devices, series->said.device);
        struct power_curve *curve = device == NULL     ? NULL
                                    : series->is_clock ? &device->megahertz
                                                       : &device->watts;
        if (curve != NULL && curve->count == 0) {
            ok = make_curve(f, series, curve);
            series->said.is_used = ok && curve->count > 0;
        }
    }
    return ok;
}

static bool describe(const struct finding *f, int64_t zero_ns, struct power *out)
{
    const struct trace *trace = f->index->trace;
    out->counters = arena_calloc(f->arena, f->series_count + 1, sizeof *out->counters);
    if (out->counters == NULL) {
        return false;
    }
    for (size_t i = 0; i < f->series_count; i++) {
        struct series *series = &f->series[i];
        if (series->scale == 0 || series->count == 0) {
            continue;
        }
        char text[TEXT_BYTES];
        (void)snprintf(text, sizeof text, "%.96s %.96s", strtab_text(trace->strings, series->name),
                       strtab_text(trace->strings, series->key));
        const uint32_t *rows = f->order + series->first;
        int64_t first_ns = trace->events.ts_ns[trace->counters[rows[0]].event];
        int64_t last_ns = trace->events.ts_ns[trace->counters[rows[series->count - 1]].event];
        series->said.measures = series->is_clock ? "clock" : "power";
        series->said.name = arena_strdup(f->arena, text);
        series->said.samples = series->count;
        series->said.first_ns = saturating_sub(first_ns, zero_ns);
        series->said.last_ns = saturating_sub(last_ns, zero_ns);
        if (series->said.name == NULL) {
            return false;
        }
        out->counters[out->counter_count++] = series->said;
    }
    return true;
}

/* Those with a curve of power, in order of their numbers: an insertion sort of few. */
static void keep_measured(struct power_devices *devices)
{
    size_t kept = 0;
    for (size_t i = 0; i < devices->count; i++) {
        struct power_device device = devices->items[i];
        if (device.watts.count == 0) {
            continue;
        }
        size_t at = kept++;
        while (at > 0 && devices->items[at - 1].device > device.device) {
            devices->items[at] = devices->items[at - 1];
            at--;
        }
        devices->items[at] = device;
    }
    devices->count = kept;
}

bool power_devices_find(const struct trace_index *index,
                        int64_t zero_ns,
                        struct arena *arena,
                        struct power *out,
                        struct power_devices *devices)
{
    struct finding f = {.index = index, .arena = arena};
    uint32_t rows = index->trace->counter_count;
    key_map_init(&f.keys);
    *devices = (struct power_devices){
        .items = arena_calloc(arena, POWER_DEVICES_MAX, sizeof *devices->items)};
    f.of = scratch_alloc(rows, sizeof *f.of);
    f.order = scratch_alloc(rows, sizeof *f.order);
    bool ok = devices->items != NULL && f.of != NULL && f.order != NULL && tell_apart(&f) &&
              order_samples(&f) && take_series(&f, false, devices) &&
              take_series(&f, true, devices) && describe(&f, zero_ns, out);
    keep_measured(devices);
    SCRATCH_FREE(f.of, f.order, f.series);
    key_map_free(&f.keys);
    return ok;
}
