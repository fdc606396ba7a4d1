/* The builder against a slow model of itself: random traces, every item of every level. */
#include "ingest/base/text/buf.h"
#include "tests/unit/ingest/analysis/timeline/timeline_fixture.h"

#define ROUNDS 8
#define THREADS 3
#define EVENTS_MAX 12000u
#define LABELS_MAX 16
#define START_NS INT64_C(1000000)

/* Durations and starts of different scales, so that all levels have something to merge and
 * something to leave. */
struct recipe {
    uint32_t event_count;
    uint32_t grid_ns; /* times are multiples of it: coarse grids make many equal ones */
    uint32_t span_ns;
    uint32_t dur_ns;
};

static const struct recipe RECIPES[ROUNDS] = {
    {300, 1000, 40000, 8000},       {3000, 1, 3000000, 2000},   {9000, 1, 9000000, 300},
    {5000, 100, 40000000, 5000},    {4000, 1000, 4000, 900},    {3000, 1, 900000000, 40000},
    {EVENTS_MAX, 7, 28000000, 300}, {2500, 1000, 100000, 20000}};

struct random_item {
    uint32_t event;
    uint32_t thread;
    int64_t start_ns;
    int64_t dur_ns;
    uint32_t lane;
    int64_t busy_ns;
};

struct model {
    struct random_item items[EVENTS_MAX + 1];
    uint32_t count;
    double values[EVENTS_MAX + 1]; /* of counters, by event */
    int64_t value_start_ns[EVENTS_MAX + 1];
    uint32_t value_events[EVENTS_MAX + 1];
    uint32_t value_count;
};

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static void put_time(struct buf *text, const char *key, int64_t ns)
{
    buf_printf(text, ",\"%s\":%lld.%03d", key, (long long)(ns / 1000), (int)(ns % 1000));
}

static void put_event(struct buf *text, char phase, uint32_t thread, int64_t ts_ns)
{
    buf_printf(text, ",{\"ph\":\"%c\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":%u", phase, 5 + thread);
    put_time(text, "ts", START_NS + ts_ns);
}

/* Slices and instants on threads, a counter of one series, begins and ends that never overlap. */
static void
make_events(const struct recipe *recipe, uint64_t seed, struct buf *text, struct model *model)
{
    uint64_t state = seed;
    uint32_t grid = recipe->grid_ns;
    model->count = 0;
    model->value_count = 0;
    for (uint32_t event = 1; event <= recipe->event_count; event++) {
        uint32_t what = next_random(&state) % 10;
        int64_t start_ns = next_random(&state) % recipe->span_ns / grid * grid;
        int64_t dur_ns = next_random(&state) % recipe->dur_ns / grid * grid;
        dur_ns = next_random(&state) % 16 == 0 ? dur_ns * 20 : dur_ns;
        uint32_t thread = next_random(&state) % THREADS;
        if (what == 0) {
            put_event(text, 'C', thread, start_ns);
            double value = next_random(&state) % 1000;
            buf_printf(text, ",\"name\":\"load\",\"args\":{\"v\":%.0f}}", value);
            model->values[model->value_count] = value;
            model->value_start_ns[model->value_count] = start_ns;
            model->value_events[model->value_count++] = event;
            continue;
        }
        put_event(text, what == 1 ? 'i' : 'X', thread, start_ns);
        buf_printf(text, ",\"name\":\"n%u\"", next_random(&state) % 5);
        if (what != 1) {
            put_time(text, "dur", dur_ns);
        }
        buf_putc(text, '}');
        model->items[model->count++] = (struct random_item){
            event, thread, start_ns, what == 1 ? TIMELINE_INSTANT : dur_ns, 0, 0};
    }
}

/* By thread, start, longest first, file order. */
static int by_order(const void *a, const void *b)
{
    const struct random_item *x = a;
    const struct random_item *y = b;
    if (x->thread != y->thread) {
        return x->thread < y->thread ? -1 : 1;
    }
    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    if (x->dur_ns != y->dur_ns) {
        return x->dur_ns > y->dur_ns ? -1 : 1;
    }
    return x->event < y->event ? -1 : 1;
}

static int64_t end_of(const struct random_item *item)
{
    return item->start_ns + (item->dur_ns < 0 ? 0 : item->dur_ns);
}

/* Lowest lane that no open slice has and that is below all that contain it: told apart one by one.
 */
static void find_lane(struct model *model, uint32_t number)
{
    static bool is_taken[TIMELINE_LANES_MAX];
    struct random_item *item = &model->items[number];
    uint32_t lane = 0;
    memset(is_taken, 0, sizeof is_taken);
    item->busy_ns = end_of(item) - item->start_ns;
    for (uint32_t i = number; i > 0 && model->items[i - 1].thread == item->thread; i--) {
        const struct random_item *other = &model->items[i - 1];
        bool is_open = end_of(other) > item->start_ns || other->start_ns == item->start_ns;
        if (is_open) {
            is_taken[other->lane] = true;
            bool contains = end_of(other) >= end_of(item);
            lane = contains && other->lane >= lane ? other->lane + 1 : lane;
        }
    }
    while (lane < TIMELINE_LANES_MAX - 1 && is_taken[lane]) {
        lane++;
    }
    assert_true(lane < TIMELINE_LANES_MAX - 1); /* the recipes do not fill that many */
    item->lane = lane;
}

/* The track that shows a thread of the model: track 0 is the fixture's own. */
static uint32_t track_of(const struct model *model, uint32_t thread)
{
    bool is_used[THREADS] = {false};
    uint32_t track = 1;
    for (uint32_t i = 0; i < model->count; i++) {
        is_used[model->items[i].thread] = true;
    }
    for (uint32_t t = 0; t < thread; t++) {
        track += is_used[t];
    }
    return track;
}

static void check_level_0(const struct seen *seen, const struct model *model)
{
    size_t at = 1; /* behind the fixture's own slice */
    for (uint32_t i = 0; i < model->count; i++, at++) {
        const struct random_item *item = &model->items[i];
        const struct seen_item *found = &seen->items[at];
        assert_int_equal(found->level, 0);
        assert_int_equal(found->track, track_of(model, item->thread));
        assert_int_equal(found->event, item->event);
        assert_int_equal(found->start_ns, item->start_ns);
        assert_int_equal(found->dur_ns, item->dur_ns);
        assert_int_equal(found->lane, item->lane);
        assert_int_equal(found->busy_ns, item->busy_ns);
    }
    assert_true(at == seen->item_count || seen->items[at].level == 1);
}

/* ---- coarse levels ---- */

/* What stands in one cell of one lane, from the level before. */
static struct seen_item merge_cell(
    const struct seen_item *from, size_t count, size_t first, int64_t width_ns, bool *is_done)
{
    struct seen_item out = from[first];
    int64_t cell = (out.start_ns - INT64_MIN / 2) / width_ns;
    int64_t end_ns = out.start_ns + (out.dur_ns < 0 ? 0 : out.dur_ns);
    int64_t busy_of_label[LABELS_MAX] = {0};
    busy_of_label[out.label] = out.busy_ns;
    uint32_t order[LABELS_MAX] = {out.label};
    size_t labels = 1;
    for (size_t i = first + 1; i < count && from[i].track == out.track; i++) {
        const struct seen_item *item = &from[i];
        bool is_same = !is_done[i] && item->lane == out.lane && item->dur_ns < width_ns &&
                       (item->start_ns - INT64_MIN / 2) / width_ns == cell;
        if (!is_same) {
            continue;
        }
        is_done[i] = true;
        int64_t item_end_ns = item->start_ns + (item->dur_ns < 0 ? 0 : item->dur_ns);
        end_ns = item_end_ns > end_ns ? item_end_ns : end_ns;
        out.dur_ns = end_ns - out.start_ns;
        out.busy_ns += item->busy_ns;
        out.count += item->count;
        bool is_known = false;
        for (size_t k = 0; k < labels; k++) {
            is_known = is_known || order[k] == item->label;
        }
        if (!is_known) {
            order[labels++] = item->label;
        }
        busy_of_label[item->label] += item->busy_ns;
    }
    out.label = order[0];
    for (size_t k = 1; k < labels; k++) {
        out.label = busy_of_label[order[k]] > busy_of_label[out.label] ? order[k] : out.label;
    }
    return out;
}

static size_t level_begin(const struct seen *seen, uint32_t level)
{
    size_t at = 0;
    while (at < seen->item_count && seen->items[at].level < level) {
        at++;
    }
    return at;
}

static void check_coarse_level(const struct seen *seen, uint32_t level)
{
    int64_t width_ns = seen->timeline->levels[level].width_ns;
    size_t first = level_begin(seen, level - 1);
    size_t end = level_begin(seen, level);
    size_t found = end;
    bool *is_done = calloc(end - first + 1, sizeof *is_done);
    assert_non_null(is_done);
    for (size_t i = 0; i < end - first; i++) {
        struct seen_item expected = seen->items[first + i];
        if (is_done[i]) {
            continue;
        }
        if (expected.dur_ns < width_ns) {
            expected = merge_cell(seen->items + first, end - first, i, width_ns, is_done);
        }
        expected.level = level;
        assert_true(found < seen->item_count);
        assert_memory_equal(&expected, &seen->items[found], sizeof expected);
        found++;
    }
    assert_int_equal(found, level_begin(seen, level + 1));
    free(is_done);
}

/* Values of the model that lie in the cell of a point, one by one. */
static void check_points(const struct seen *seen, const struct model *model)
{
    for (size_t i = 0; i < seen->point_count; i++) {
        const struct seen_point *point = &seen->points[i];
        int64_t width_ns = seen->timeline->levels[point->level].width_ns;
        width_ns = width_ns == 0 ? 1 : width_ns;
        double min = (double)INFINITY;
        double max = -(double)INFINITY;
        double last = 0;
        int64_t first_ns = INT64_MAX;
        int64_t last_ns = INT64_MIN;
        for (uint32_t v = 0; v < model->value_count; v++) {
            int64_t start_ns = model->value_start_ns[v];
            bool is_alone = point->level == 0 && model->value_events[v] != point->event;
            if (is_alone || (start_ns - INT64_MIN / 2) / width_ns !=
                                (point->start_ns - INT64_MIN / 2) / width_ns) {
                continue;
            }
            min = fmin(min, model->values[v]);
            max = fmax(max, model->values[v]);
            last = start_ns >= last_ns ? model->values[v] : last;
            last_ns = start_ns >= last_ns ? start_ns : last_ns;
            first_ns = start_ns < first_ns ? start_ns : first_ns;
        }
        assert_int_equal(point->start_ns, first_ns);
        assert_true(point->min == min && point->max == max && point->last == last);
    }
}

static void test_random_traces(void **state)
{
    static struct model model;
    uint32_t levels = 0;
    uint64_t most_merged = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct seen seen;
        struct buf text;
        buf_init(&text, (size_t)8 << 20);
        make_events(&RECIPES[round], round + 1, &text, &model);
        seen_read(&seen, text.ptr);
        buf_free(&text);
        qsort(model.items, model.count, sizeof *model.items, by_order);
        for (uint32_t i = 0; i < model.count; i++) {
            find_lane(&model, i);
        }
        check_level_0(&seen, &model);
        for (uint32_t level = 1; level < seen.timeline->level_count; level++) {
            check_coarse_level(&seen, level);
            uint64_t count = seen.timeline->levels[level].item_count;
            most_merged = count > most_merged ? count : most_merged;
        }
        check_points(&seen, &model);
        levels += seen.timeline->level_count;
        seen_free(&seen);
    }
    assert_true(levels > 2 * ROUNDS);
    assert_true(most_merged > TIMELINE_BLOCK_ITEMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_traces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
