/* Blocks of events: every value comes back wherever its column begins to differ, and the range of
 * times is that of the events, however they write them. */
#include "ingest/store/events/decode.h"
#include "ingest/store/events/encode.h"
#include "ingest/store/events/time.h"
#include "tests/unit/unit.h"

#include <string.h>

/* ts, its digits, dur, its digits, name, args.n */
#define VALUES 6
#define EVENTS 1000

enum { TS, TS_DIGITS, DUR, DUR_DIGITS, NAME, NUMBER };

struct made {
    struct event_log log;
    struct event_template templates[2]; /* the second: no `dur`, the name written first */
    struct event_slot slots[2][4];
    uint32_t of[EVENTS];
    int64_t values[EVENTS * VALUES];
    struct event_batch batch;
};

static uint32_t text(struct made *made, const char *json)
{
    return strtab_intern(made->log.texts, json, strlen(json));
}

static struct made *make_log(void)
{
    struct made *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->log.texts = strtab_create();
    assert_non_null(made->log.texts);
    const struct event_slot ts = {.key = text(made, "\"ts\""), .kind = EVENT_SLOT_DECIMAL};
    const struct event_slot dur = {.key = text(made, "\"dur\""), .kind = EVENT_SLOT_DECIMAL};
    const struct event_slot name = {.key = text(made, "\"name\""), .kind = EVENT_SLOT_TEXT};
    const struct event_slot number = {
        .key = text(made, "\"n\""), .kind = EVENT_SLOT_INT, .in_args = true};
    memcpy(made->slots[0], (struct event_slot[]){ts, dur, name, number}, 4 * sizeof ts);
    memcpy(made->slots[1], (struct event_slot[]){name, ts, number}, 3 * sizeof ts);
    made->templates[0] = (struct event_template){
        .slots = made->slots[0], .slot_count = 4, .value_count = VALUES, .has_args = true};
    made->templates[1] = (struct event_template){
        .slots = made->slots[1], .slot_count = 3, .value_count = VALUES - 2, .has_args = true};
    made->log.templates = made->templates;
    made->log.template_count = 2;
    return made;
}

static void free_log(struct made *made)
{
    strtab_destroy(made->log.texts);
    free(made);
}

typedef void (*change_event)(struct made *made, uint32_t event, int64_t values[VALUES]);

/* Each third event is of the second template; `change` sees the values of all events. */
static void make_batch(struct made *made, uint32_t count, change_event change)
{
    made->batch =
        (struct event_batch){.event_count = count, .templates = made->of, .values = made->values};
    for (uint32_t i = 0; i < count; i++) {
        int64_t values[VALUES] = {
            1700000000000000 + (int64_t)i * 7, 3, 12, 3, text(made, "\"op\""), 5};
        int64_t *to = made->values + made->batch.value_count;
        change(made, i, values);
        made->of[i] = i % 3 == 2;
        if (made->of[i] == 0) {
            memcpy(to, values, sizeof values);
        } else {
            memcpy(to, (int64_t[]){values[NAME], values[TS], values[TS_DIGITS], values[NUMBER]},
                   (VALUES - 2) * sizeof *to);
        }
        made->batch.value_count += made->templates[made->of[i]].value_count;
    }
}

static void check_values(const struct made *made,
                         const struct event_block *block,
                         const struct block_texts *texts)
{
    static const int text_at[] = {NAME, 0};
    uint32_t rows[2] = {0};
    struct block_cursor cursor = {.block = block, .rows = rows};
    const int64_t *value = made->values;
    for (uint32_t i = 0; i < made->batch.event_count; i++) {
        assert_true(block_cursor_next(&cursor));
        uint32_t count = made->templates[made->of[i]].value_count;
        assert_int_equal(cursor.template->stored->template.value_count, count);
        for (uint32_t v = 0; v < count; v++) {
            int64_t got = block_value(cursor.template, v, cursor.row);
            got = (int)v == text_at[made->of[i]] ? texts->ids[got] : got;
            assert_true(got == *value++);
        }
    }
    assert_false(block_cursor_next(&cursor));
}

static void check_range(const struct made *made, const struct encoded_block *stored)
{
    int64_t min_ns = INT64_MAX;
    int64_t max_ns = INT64_MIN;
    bool has_metadata = false;
    const int64_t *value = made->values;
    for (uint32_t i = 0; i < made->batch.event_count; i++) {
        const int64_t *time = value + made->of[i];
        int64_t start_ns = 0;
        int64_t dur_ns = 0;
        bool has_start = event_time_number(time[0], time[1], &start_ns);
        bool has_dur = made->of[i] == 0 && event_time_number(time[2], time[3], &dur_ns);
        int64_t end_ns = start_ns + (has_dur && dur_ns > 0 ? dur_ns : 0);
        has_metadata = has_metadata || !has_start;
        min_ns = has_start && start_ns < min_ns ? start_ns : min_ns;
        max_ns = has_start && end_ns > max_ns ? end_ns : max_ns;
        value += made->templates[made->of[i]].value_count;
    }
    assert_true(stored->min_start_ns == min_ns && stored->max_end_ns == max_ns);
    assert_true(stored->has_metadata == has_metadata);
}

/* Twice by one encoder: nothing is left of the block before. */
static void check_block(struct made *made)
{
    struct event_encoder *encoder = event_encoder_create();
    assert_non_null(encoder);
    for (int round = 0; round < 2; round++) {
        struct err err = ERR_INIT;
        struct arena arena;
        struct encoded_block stored;
        struct stored_templates templates;
        struct block_texts texts;
        struct event_block block;
        void *bytes = NULL;
        size_t len = 0;
        arena_init(&arena, 0);
        assert_true(event_encoder_encode(encoder, &made->log, &made->batch, &stored, &err));
        assert_true(event_templates_encode(&made->log, &bytes, &len, &err));
        assert_true(event_templates_decode(&templates, &arena, bytes, len, &err));
        assert_true(block_texts_decode(&texts, &arena, stored.texts, stored.texts_len, &err));
        assert_true(event_block_decode(&block, &arena, &templates, stored.event_count, texts.count,
                                       stored.bytes, stored.bytes_len, &err));
        check_values(made, &block, &texts);
        check_range(made, &stored);
        free(stored.texts);
        free(stored.bytes);
        free(bytes);
        arena_free(&arena);
    }
    event_encoder_destroy(encoder);
}

static void as_it_is(struct made *made, uint32_t event, int64_t values[VALUES])
{
    (void)made;
    (void)event;
    (void)values;
}

static void other_from_the_middle(struct made *made, uint32_t event, int64_t values[VALUES])
{
    if (event >= EVENTS / 2) {
        values[NAME] = text(made, "\"other\"");
        values[NUMBER] = (int64_t)event * 1000003;
    }
}

static void other_at_the_end(struct made *made, uint32_t event, int64_t values[VALUES])
{
    if (event >= EVENTS - 3) {
        values[NAME] = text(made, "\"last\"");
        values[NUMBER] = INT64_MIN;
        values[DUR] = INT64_MAX;
    }
}

static void digits_change(struct made *made, uint32_t event, int64_t values[VALUES])
{
    (void)made;
    values[TS_DIGITS] = 1 + event % 19;
    values[DUR_DIGITS] = 1 + event % 7;
}

static void one_digit(struct made *made, uint32_t event, int64_t values[VALUES])
{
    (void)made;
    values[TS] = (int64_t)event * 31 - 5000;
    values[TS_DIGITS] = 1;
    values[DUR] = (int64_t)event - 300;
    values[DUR_DIGITS] = 2;
}

static void more_than_nanoseconds(struct made *made, uint32_t event, int64_t values[VALUES])
{
    (void)made;
    values[TS] = (int64_t)event * 1234567;
    values[TS_DIGITS] = 4;
    values[DUR_DIGITS] = 6;
}

static void beyond_every_time(struct made *made, uint32_t event, int64_t values[VALUES])
{
    (void)made;
    values[TS] = event % 10 == 0 ? INT64_MAX - event : event;
    values[DUR] = event % 7 == 0 ? INT64_MIN + event : event;
}

static void blocks_come_back(void **state)
{
    static const change_event changes[] = {
        as_it_is,  other_from_the_middle, other_at_the_end, digits_change,
        one_digit, more_than_nanoseconds, beyond_every_time};
    static const uint32_t counts[] = {1, 2, 3, 191, 192, 193, 194, 195, EVENTS};
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        for (size_t k = 0; k < COUNT_OF(counts); k++) {
            struct made *made = make_log();
            make_batch(made, counts[k], changes[i]);
            check_block(made);
            free_log(made);
        }
    }
}

static void expect_refused(struct made *made)
{
    struct err err = ERR_INIT;
    struct encoded_block stored;
    struct event_encoder *encoder = event_encoder_create();
    assert_non_null(encoder);
    assert_false(event_encoder_encode(encoder, &made->log, &made->batch, &stored, &err));
    assert_int_equal(err.code, ERR_INTERNAL);
    assert_null(stored.bytes);
    event_encoder_destroy(encoder);
    free_log(made);
}

/* A batch that does not fit its log is refused. */
static void what_does_not_fit_is_refused(void **state)
{
    struct made *made = make_log();
    make_batch(made, EVENTS, as_it_is);
    made->of[EVENTS - 1] = 2;
    expect_refused(made);
    made = make_log();
    make_batch(made, EVENTS, as_it_is);
    made->batch.value_count--;
    expect_refused(made);
    made = make_log();
    make_batch(made, EVENTS, as_it_is);
    made->values[made->batch.value_count - VALUES + NAME] = strtab_count(made->log.texts);
    expect_refused(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_come_back),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
