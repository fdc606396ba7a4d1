/* Cycles and what functions took of them come out of the store as they went in. */
#include "ingest/store/internal.h"
#include "ingest/store/results/packed/cycle_use_codec.h"
#include "tests/unit/ingest/analysis/row_checks.h"
#include "tests/unit/ingest/store/trace_file.h"

#define CYCLES 3
#define USES 5
#define COUNTERS 3

struct sample {
    struct trace_results results;
    struct cycle_row cycles[CYCLES];
    struct cycle_use_row uses[USES];
    struct counter_row counters[COUNTERS];
};

static void fill_uses(struct sample *s, int *n, int *r)
{
    static const char *const texts[] = {"", NULL, "GPU 0 (virtual)", "a \"quoted\", name", "*"};
    for (int i = 0; i < USES; i++) {
        struct cycle_use_row *row = &s->uses[i];
        row->cycle = next_number(n);
        row->pid = next_number(n);
        row->host = texts[i];
        row->function = texts[(i + 1) % 5];
        row->simple_name = texts[(i + 2) % 5];
        row->type = texts[(i + 3) % 5];
        row->metric = texts[(i + 4) % 5];
        row->device = texts[(i * 2) % 5];
        row->beta_pct = next_real(r);
        row->mu_pct = next_real(r);
        row->sigma_pct = next_real(r);
        row->duration_us = next_real(r);
        row->interpolation = texts[(i * 3) % 5];
        row->instances = next_number(n);
    }
}

static struct sample *make_sample(void)
{
    int n = 0;
    int r = 0;
    struct sample *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (int i = 0; i < CYCLES; i++) {
        s->cycles[i] = (struct cycle_row){.number = next_number(&n),
                                          .kind = (enum cycle_kind)(i + 1),
                                          .anchor = i == 1 ? NULL : "ProfilerStep",
                                          .start_ns = next_number(&n),
                                          .dur_us = next_real(&r)};
    }
    fill_uses(s, &n, &r);
    for (int i = 0; i < COUNTERS; i++) {
        s->counters[i] = (struct counter_row){.name = i == 0 ? NULL : "gpu_util",
                                              .host = i == 1 ? NULL : "host",
                                              .samples = next_number(&n),
                                              .mean = next_real(&r),
                                              .min = next_real(&r),
                                              .max = next_real(&r),
                                              .std = next_real(&r)};
    }
    s->results.device_type = "GPU";
    s->results.cycle_source = CYCLES_MARKER;
    s->results.cycles = s->cycles;
    s->results.cycle_count = CYCLES;
    s->results.cycle_uses = s->uses;
    s->results.cycle_use_count = USES;
    s->results.counters = s->counters;
    s->results.counter_count = COUNTERS;
    return s;
}

static void check_cycle(const struct cycle_row *a, const struct cycle_row *b)
{
    INT(number);
    INT(kind);
    TEXT(anchor);
    INT(start_ns);
    REAL(dur_us);
}

static void check_use(const struct cycle_use_row *a, const struct cycle_use_row *b)
{
    INT(cycle);
    INT(pid);
    TEXT(host);
    TEXT(function);
    TEXT(simple_name);
    TEXT(type);
    TEXT(metric);
    TEXT(device);
    REAL(beta_pct);
    REAL(mu_pct);
    REAL(sigma_pct);
    REAL(duration_us);
    TEXT(interpolation);
    INT(instances);
}

static void check_counter(const struct counter_row *a, const struct counter_row *b)
{
    TEXT(name);
    TEXT(host);
    INT(samples);
    REAL(mean);
    REAL(min);
    REAL(max);
    REAL(std);
}

static void check_all(struct fixture *f, int64_t id, const struct sample *s)
{
    struct trace_results *out;
    assert_ok(f, READ(f->store, store_cycles, &f->arena, id, &out, &f->err));
    assert_int_equal(out->cycle_source, CYCLES_MARKER);
    assert_int_equal(out->cycle_count, CYCLES);
    assert_int_equal(out->cycle_use_count, USES);
    assert_int_equal(out->counter_count, COUNTERS);
    for (int i = 0; i < CYCLES; i++) {
        check_cycle(&s->cycles[i], &out->cycles[i]);
    }
    for (int i = 0; i < USES; i++) {
        check_use(&s->uses[i], &out->cycle_uses[i]);
    }
    for (int i = 0; i < COUNTERS; i++) {
        check_counter(&s->counters[i], &out->counters[i]);
    }
    assert_ok(f, READ(f->store, store_overview, &f->arena, id, &out, &f->err));
    assert_int_equal(out->cycle_source, CYCLES_MARKER);
    assert_int_equal(out->cycle_count, CYCLES);
    assert_int_equal(out->cycle_use_count, USES);
    assert_null(out->cycles);
    assert_null(out->cycle_uses);
}

static void every_field_comes_back(void **state)
{
    struct fixture *f = *state;
    struct sample *s = make_sample();
    int64_t id = publish(f, add_job(f, "r", "f", "bytes", false), "w", "", &s->results);
    check_all(f, id, s);
    close_store(f);
    open_store(f);
    check_all(f, id, s);
    free(s);
}

static void traces_without_cycles_have_none(void **state)
{
    struct fixture *f = *state;
    struct trace_results *out;
    int64_t id = add_trace(f, "r", "f", "w", "", "x");
    assert_ok(f, READ(f->store, store_cycles, &f->arena, id, &out, &f->err));
    assert_int_equal(out->cycle_source, CYCLES_NONE);
    assert_int_equal(out->cycle_count + out->cycle_use_count + out->counter_count, 0);
    assert_fails(f, READ(f->store, store_cycles, &f->arena, id + 1, &out, &f->err), ERR_NOT_FOUND);
}

/* The figures as the plugin rounds them have no cycles of their own. */
static void only_the_exact_figures_have_cycles(void **state)
{
    struct fixture *f = *state;
    struct sample *s = make_sample();
    struct trace_results rounded = {.device_type = "GPU"};
    struct trace_results *out;
    int64_t id = publish(f, add_job(f, "r", "f", "bytes", false), "w", "", &s->results);
    int64_t derived_id = 0;
    assert_ok(f, store_derived_write(f->store, id, &rounded, &derived_id, &f->err));
    check_all(f, id, s);
    assert_int_not_equal(derived_id, id);
    assert_ok(f, READ(f->store, store_cycles, &f->arena, derived_id, &out, &f->err));
    assert_int_equal(out->cycle_count + out->cycle_use_count, 0);
    free(s);
}

#define MANY 30000

static void long_traces_come_back(void **state)
{
    struct fixture *f = *state;
    struct cycle_use_row *uses = calloc(MANY, sizeof *uses);
    char(*functions)[12] = calloc(MANY / 10, sizeof *functions);
    assert_non_null(uses);
    assert_non_null(functions);
    for (int i = 0; i < MANY; i++) {
        char *function = functions[i % (MANY / 10)];
        (void)snprintf(function, sizeof functions[0], "f%d", i % (MANY / 10));
        uses[i] = (struct cycle_use_row){.cycle = i / 1000,
                                         .pid = 17,
                                         .function = function,
                                         .beta_pct = (double)i / 8,
                                         .mu_pct = (double)NAN,
                                         .instances = i};
    }
    struct trace_results results = {
        .device_type = "GPU", .cycle_uses = uses, .cycle_use_count = MANY};
    struct trace_results *out;
    int64_t id = publish(f, add_job(f, "r", "f", "bytes", false), "w", "", &results);
    assert_ok(f, READ(f->store, store_cycles, &f->arena, id, &out, &f->err));
    assert_int_equal(out->cycle_use_count, MANY);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(out->cycle_uses[i].instances, i);
        assert_string_equal(out->cycle_uses[i].function, uses[i].function);
        assert_same_real(out->cycle_uses[i].beta_pct, uses[i].beta_pct);
    }
    /* The same text is the same copy. */
    assert_ptr_equal(out->cycle_uses[0].function, out->cycle_uses[MANY / 10].function);
    struct arena small;
    struct err err = ERR_INIT;
    arena_init(&small, MANY * sizeof *uses);
    assert_false(READ(f->store, store_cycles, &small, id, &out, &err));
    assert_int_equal(err.code, ERR_NO_MEMORY);
    arena_free(&small);
    free(functions);
    free(uses);
}

/* Enumerations index tables of names: a number that none has must not come through. */
static void damaged_numbers_stay_in_bounds(void **state)
{
    struct fixture *f = *state;
    struct sample *s = make_sample();
    struct trace_results *out;
    int64_t id = publish(f, add_job(f, "r", "f", "bytes", false), "w", "", &s->results);
    assert_ok(f, db_exec(f->store->writer, "UPDATE trace SET cycle_source = -1", &f->err));
    assert_ok(f, READ(f->store, store_cycles, &f->arena, id, &out, &f->err));
    assert_int_equal(out->cycle_source, CYCLES_TABLE);
    free(s);
}

/* In the place of the trace's packed rows. */
static void put_block(struct fixture *f, const void *bytes, size_t len)
{
    struct db *db = open_trace_file(f);
    struct db_stmt st;
    db_prepare(&st, db, "UPDATE block SET bytes = ? WHERE kind = 'cycle_use'");
    db_put_blob(&st, bytes, len);
    assert_ok(f, db_run(&st, &f->err));
    assert_int_equal(db_changes(db), 1);
    db_close(db);
}

enum spoil { SPOIL_NOTHING, SPOIL_TEXT_ID, SPOIL_NO_TEXT, SPOIL_ROWS, SPOIL_TEXTS, SPOIL_REALS };

/* One row with the text "a" throughout. */
static void put_spoilt(struct fixture *f, enum spoil spoil)
{
    static const char *const a[] = {"a"};
    static const char *const none[] = {NULL};
    struct column_encoder enc;
    void *bytes;
    size_t len;
    int64_t text_id = spoil == SPOIL_TEXT_ID ? 2 : 1;
    column_encode_init(&enc);
    column_encode_number(&enc, spoil == SPOIL_ROWS ? UINT32_MAX : 1);
    column_encode_number(&enc, spoil == SPOIL_TEXTS ? UINT32_MAX : 1);
    column_encode_texts(&enc, spoil == SPOIL_NO_TEXT ? none : a, 1);
    column_encode_i64(&enc, &(int64_t){0}, 1); /* pid */
    column_encode_i64(&enc, &text_id, 1);
    column_encode_bytes(&enc, (const uint8_t[8]){0}, 8);
    for (int column = 0; column < 5; column++) {
        column_encode_i64(&enc, &text_id, 1);
    }
    column_encode_bytes(&enc, (const uint8_t[24]){0}, spoil == SPOIL_REALS ? 23 : 24);
    column_encode_i64(&enc, &text_id, 1);
    if (spoil != SPOIL_REALS) {
        column_encode_i64(&enc, &(int64_t){9}, 1); /* instances */
        column_encode_i64(&enc, &(int64_t){0}, 1); /* cycle */
    }
    assert_ok(f, column_encode_finish(&enc, &bytes, &len, &f->err));
    put_block(f, bytes, len);
    free(bytes);
    column_encode_free(&enc);
}

static void damaged_rows_are_refused(void **state)
{
    struct fixture *f = *state;
    struct sample *s = make_sample();
    struct trace_results *out;
    int64_t id = publish(f, add_job(f, "r", "f", "bytes", false), "w", "", &s->results);
    put_spoilt(f, SPOIL_NOTHING);
    assert_ok(f, READ(f->store, store_cycles, &f->arena, id, &out, &f->err));
    assert_int_equal(out->cycle_use_count, 1);
    assert_string_equal(out->cycle_uses[0].interpolation, "a");
    assert_int_equal(out->cycle_uses[0].instances, 9);
    for (int spoil = SPOIL_TEXT_ID; spoil <= SPOIL_REALS; spoil++) {
        put_spoilt(f, (enum spoil)spoil);
        assert_fails(f, READ(f->store, store_cycles, &f->arena, id, &out, &f->err), ERR_STORE);
    }
    put_block(f, "no such bytes", 13);
    assert_fails(f, READ(f->store, store_cycles, &f->arena, id, &out, &f->err), ERR_STORE);
    free(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store_of_files, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_field_comes_back),
        TEST(traces_without_cycles_have_none),
        TEST(only_the_exact_figures_have_cycles),
        TEST(long_traces_come_back),
        TEST(damaged_numbers_stay_in_bounds),
        TEST(damaged_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
