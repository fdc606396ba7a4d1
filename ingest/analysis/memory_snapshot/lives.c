/* The lives of blocks, to be drawn: where each lies, and what of them a window shows. */
#include "ingest/analysis/memory_snapshot/memory_snapshot.h"
#include "ingest/analysis/memory_snapshot/replay.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A life that is thinner than a point of a screen counts as one. */
#define POINT_WIDE (1.0 / 1280)
#define POINT_TALL (1.0 / 320)

struct placed {
    int64_t address, low;
    double area; /* of the window; 0: not in it */
    uint32_t life;
};

/* ---- places ---- */

ORDER_BY(by_address, struct placed, ORDER_UP(address), ORDER_UP(life))

static int64_t bytes_of(const struct snapshot_life *life)
{
    return life->bytes > 0 ? life->bytes : 0;
}

/* Blocks that touch or overlap keep their distance; where no block ever was, nothing is left. */
static int64_t place(const struct snapshot_replay *replay, struct placed *placed)
{
    int64_t run_address = 0, run_low = 0, reach = INT64_MIN, top = 0;
    for (size_t i = 0; i < replay->life_count; i++) {
        placed[i] = (struct placed){.address = replay->lives[i].address, .life = (uint32_t)i};
    }
    qsort(placed, replay->life_count, sizeof *placed, by_address);
    for (size_t i = 0; i < replay->life_count; i++) {
        struct placed *at = &placed[i];
        int64_t bytes = bytes_of(&replay->lives[at->life]);
        int64_t end = saturating_add(at->address, bytes);
        if (i == 0 || at->address > reach) {
            run_address = at->address;
            run_low = top;
            reach = end;
        }
        at->low = saturating_add(run_low, saturating_sub(at->address, run_address));
        reach = end > reach ? end : reach;
        int64_t high = saturating_add(at->low, bytes);
        top = high > top ? high : top;
    }
    return top;
}

/* ---- the window ---- */

/* What a window shows of a life: parts of its width and its height. */
struct box {
    double left, right, low, high;
};

static double part(int64_t value, int64_t from, int64_t to)
{
    double at = ((double)value - (double)from) / ((double)to - (double)from);
    return at < 0 ? 0 : at > 1 ? 1 : at;
}

/* False: the life is not in the window. */
static bool clip(const struct snapshot_lives *lives,
                 const struct snapshot_life *life,
                 int64_t low,
                 struct box *out)
{
    const struct snapshot_window *window = &lives->window;
    int64_t high = saturating_add(low, bytes_of(life));
    if (life->first >= window->end_event || life->end < window->first_event ||
        low >= window->high_bytes || high <= window->low_bytes) {
        return false;
    }
    *out = (struct box){part(life->first, window->first_event, window->end_event),
                        part(life->end, window->first_event, window->end_event),
                        part(low, window->low_bytes, window->high_bytes),
                        part(high, window->low_bytes, window->high_bytes)};
    return true;
}

static double area_of(const struct box *box)
{
    return fmax(box->right - box->left, POINT_WIDE) * fmax(box->high - box->low, POINT_TALL);
}

ORDER_BY(by_area, struct placed, ORDER_DOWN(area), ORDER_UP(life))

/* A window without width or height gets one event, one byte. */
static void close_window(struct snapshot_lives *lives, const struct snapshot_window *asked)
{
    struct snapshot_window *window = &lives->window;
    *window = *asked;
    window->end_event = asked->end_event == SNAPSHOT_NONE ? lives->events : asked->end_event;
    window->high_bytes = asked->high_bytes == SNAPSHOT_NONE ? lives->top_bytes : asked->high_bytes;
    if (window->end_event <= window->first_event) {
        window->end_event = saturating_add(window->first_event, 1);
        window->first_event = window->end_event - 1;
    }
    if (window->high_bytes <= window->low_bytes) {
        window->high_bytes = saturating_add(window->low_bytes, 1);
        window->low_bytes = window->high_bytes - 1;
    }
}

/* ---- shades ---- */

/* Steps along a row: the sum of those up to a cell is how much of it is covered. */
static void add_step(double *steps, double at, double share)
{
    double whole = floor(at);
    size_t cell = (size_t)whole;
    steps[cell] += share * (1 - (at - whole));
    steps[cell + 1] += share * (at - whole);
}

#define STEPS (SNAPSHOT_SHADE_COLUMNS + 2)

static void shade(double *steps, const struct box *box)
{
    double low = box->low * SNAPSHOT_SHADE_ROWS;
    double high = box->high * SNAPSHOT_SHADE_ROWS;
    for (size_t row = (size_t)low; row < SNAPSHOT_SHADE_ROWS && (double)row < high; row++) {
        double share = fmin(high, (double)row + 1) - fmax(low, (double)row);
        add_step(steps + row * STEPS, box->left * SNAPSHOT_SHADE_COLUMNS, share);
        add_step(steps + row * STEPS, box->right * SNAPSHOT_SHADE_COLUMNS, -share);
    }
}

/* What is covered at all has one percent at least. */
static void sum_steps(const double *steps, uint8_t *shades)
{
    for (size_t row = 0; row < SNAPSHOT_SHADE_ROWS; row++) {
        double sum = 0;
        for (size_t column = 0; column < SNAPSHOT_SHADE_COLUMNS; column++) {
            sum += steps[row * STEPS + column];
            double percent = sum < 1e-9 ? 0 : fmin(100, ceil(sum * 100 - 1e-6));
            shades[row * SNAPSHOT_SHADE_COLUMNS + column] = (uint8_t)fmax(percent, sum >= 1e-9);
        }
    }
}

/* ---- lives ---- */

ORDER_BY(by_first, struct snapshot_life_row, ORDER_UP(first), ORDER_UP(end), ORDER_UP(low))

/* Frames of the rows get numbers in order of their first row. */
static bool number_frames(const struct memory_snapshot *snapshot,
                          struct arena *arena,
                          struct snapshot_lives *out)
{
    struct strtab *texts = strtab_create();
    bool ok = texts != NULL;
    out->frames = arena_calloc(arena, out->count + 1, sizeof *out->frames);
    ok = ok && out->frames != NULL;
    for (size_t i = 0; ok && i < out->count; i++) {
        const char *text = snapshot_frame_text(snapshot, out->rows[i].frame);
        size_t len = strlen(text);
        uint32_t id = strtab_intern(texts, text, len);
        ok = id != STRTAB_NONE;
        if (ok && id > out->frame_count) { /* id 0 is the empty text, which no frame is */
            out->frames[out->frame_count++] = arena_strndup(arena, text, len);
            ok = out->frames[out->frame_count - 1] != NULL;
        }
        out->rows[i].frame = ok && id > 0 ? id - 1 : 0;
    }
    strtab_destroy(texts);
    return ok;
}

static bool keep(const struct snapshot_replay *replay,
                 const struct placed *placed,
                 size_t kept,
                 struct arena *arena,
                 struct snapshot_lives *out)
{
    out->rows = arena_calloc(arena, kept + 1, sizeof *out->rows);
    for (size_t i = 0; out->rows != NULL && i < kept; i++) {
        const struct snapshot_life *life = &replay->lives[placed[i].life];
        out->rows[out->count++] = (struct snapshot_life_row){life->first, life->end, life->bytes,
                                                             placed[i].low, life->frame};
    }
    if (out->rows != NULL) {
        qsort(out->rows, out->count, sizeof *out->rows, by_first);
    }
    return out->rows != NULL;
}

/* The lives of the window from `kept` on: no row each, but a shade of all. */
static bool shade_rest(const struct snapshot_device *device,
                       const struct snapshot_replay *replay,
                       const struct placed *placed,
                       size_t kept,
                       struct arena *arena,
                       struct snapshot_lives *out)
{
    size_t cells = (size_t)SNAPSHOT_SHADE_ROWS * SNAPSHOT_SHADE_COLUMNS;
    double *steps = scratch_calloc((size_t)SNAPSHOT_SHADE_ROWS * STEPS, sizeof *steps);
    out->shades = arena_calloc(arena, cells, sizeof *out->shades);
    bool ok = steps != NULL && out->shades != NULL;
    for (size_t i = kept; ok && i < (size_t)out->in_window; i++) {
        const struct snapshot_life *life = &replay->lives[placed[i].life];
        struct box box;
        if (clip(out, life, placed[i].low, &box)) {
            shade(steps, &box);
        }
        if (snapshot_lives_then(device, replay, life, SNAPSHOT_AT_PEAK)) {
            out->left_out_bytes = saturating_add(out->left_out_bytes, life->bytes);
        }
    }
    if (ok) {
        sum_steps(steps, out->shades);
    }
    scratch_free(steps);
    return ok;
}

static bool choose(const struct snapshot_device *device,
                   const struct snapshot_replay *replay,
                   const struct snapshot_window *window,
                   struct arena *arena,
                   struct snapshot_lives *out)
{
    struct placed *placed = scratch_alloc(replay->life_count, sizeof *placed);
    if (placed == NULL) {
        return false;
    }
    out->top_bytes = place(replay, placed);
    close_window(out, window);
    for (size_t i = 0; i < replay->life_count; i++) {
        struct box box;
        if (clip(out, &replay->lives[placed[i].life], placed[i].low, &box)) {
            placed[i].area = area_of(&box);
            out->in_window++;
        }
    }
    qsort(placed, replay->life_count, sizeof *placed, by_area);
    size_t shown = (size_t)out->in_window;
    size_t kept = window->limit < shown ? window->limit : shown;
    bool ok = keep(replay, placed, kept, arena, out) &&
              (kept == shown || shade_rest(device, replay, placed, kept, arena, out));
    scratch_free(placed);
    return ok;
}

bool snapshot_lives_of(const struct memory_snapshot *snapshot,
                       const struct snapshot_device *device,
                       const struct snapshot_window *window,
                       struct arena *arena,
                       struct snapshot_lives *out)
{
    struct snapshot_replay replay;
    bool ok = snapshot_replay(device, &replay);
    *out =
        (struct snapshot_lives){.events = device->event_count, .total = (int64_t)replay.life_count};
    ok = ok && choose(device, &replay, window, arena, out) && number_frames(snapshot, arena, out);
    snapshot_replay_free(&replay);
    return ok;
}
