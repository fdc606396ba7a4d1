/* Energy of small traces, worked out by hand [CAU-7]. */
#include "ingest/analysis/power/power.h"
#include "tests/unit/ingest/analysis/causes_builder.h"

static void sample(struct fixture *f,
                   const char *name,
                   const char *series,
                   int64_t pid,
                   int64_t at_us,
                   double value)
{
    struct build *b = &f->build;
    build_event(b,
                (struct trace_event){.ts_ns = at_us * US,
                                     .correlation = TRACE_NO_ID,
                                     .external_id = TRACE_NO_ID,
                                     .track = build_track(b, pid, 0),
                                     .args = TRACE_NO_ARGS,
                                     .kind = EVENT_OTHER,
                                     .phase = 'C'},
                name);
    const struct trace_counter row = {
        .event = b->trace->events.count - 1, .series = build_text(b, series), .value = value};
    assert_true(trace_add_counter(b->trace, &row));
}

static void copy(struct fixture *f, int64_t stream, int64_t start_us, int64_t end_us)
{
    kernel(f, stream, start_us, end_us, TRACE_NO_ID);
    struct trace_events *events = &f->build.trace->events;
    events->name[events->count - 1] = build_text(&f->build, "Memcpy HtoD (Pageable -> Device)");
}

static void near(double left, double right)
{
    assert_true(fabs(left - right) < 1e-9);
}

/* The example of the specification. */
static void example(struct fixture *f)
{
    sample(f, "GPU 0", "power (W)", 55, 0, 100);
    kernel(f, 7, 0, 150, TRACE_NO_ID);
    copy(f, 8, 50, 100);
    sample(f, "GPU 0", "power (W)", 55, 100, 300);
    sample(f, "GPU 0", "power (W)", 55, 200, 50);
    sample(f, "GPU 0", "power limit (W)", 55, 0, 700);
    sample(f, "GPU 0", "sclk", 55, 0, 1500);
    sample(f, "GPU 0", "sclk", 55, 200, 900);
}

static struct power power_of(struct fixture *f, enum power_group by)
{
    struct power power;
    assert_true(power_analyse(f->build.trace, 0, NULL, by, &f->arena, &power));
    return power;
}

static void a_device_and_its_counters(void **state)
{
    struct fixture f;
    begin(&f);
    example(&f);
    struct power power = power_of(&f, POWER_BY_DEVICE);
    assert_int_equal(power.counter_count, 2);
    assert_string_equal(power.counters[0].name, "GPU 0 power (W)");
    assert_true(power.counters[0].is_used);
    assert_int_equal(power.counters[0].samples, 3);
    assert_string_equal(power.counters[1].measures, "clock");
    assert_int_equal(power.count, 1);
    near(power.rows[0].energy_j, 0.04);
    near(power.rows[0].mean_w, 200);
    near(power.rows[0].clock_mhz, 1500);
    near(power.rows[0].share, 1);
    assert_int_equal(power.rows[0].sampled_ns, 200 * US);
    near(power.energy_j, 0.04);
    end(&f);
}

static void classes_share_the_power(void **state)
{
    struct fixture f;
    begin(&f);
    example(&f);
    struct power power = power_of(&f, POWER_BY_CLASS);
    assert_int_equal(power.count, 3);
    assert_string_equal(power.rows[0].name, "gemm");
    near(power.rows[0].energy_j, 0.0225);
    assert_int_equal(power.rows[0].time_ns, 150 * US);
    near(power.rows[0].mean_w, 0.0225 / 125e-6);
    assert_string_equal(power.rows[1].name, "idle");
    near(power.rows[1].energy_j, 0.015);
    assert_string_equal(power.rows[2].name, "memcpy");
    near(power.rows[2].energy_j, 0.0025);
    assert_int_equal(power.rows[2].time_ns, 50 * US);
    end(&f);
}

/* Step 1 has 60 us of 100 W, step 2 40 us of 100 W and 100 us of 300 W, though it goes on to 250.
 */
static void steps_by_their_interval(void **state)
{
    struct fixture f;
    begin(&f);
    host(&f, "user_annotation", EVENT_USER_ANNOTATION, "ProfilerStep#1", 0, 60, TRACE_NO_ID);
    host(&f, "user_annotation", EVENT_USER_ANNOTATION, "ProfilerStep#2", 60, 250, TRACE_NO_ID);
    example(&f);
    struct power power = power_of(&f, POWER_BY_STEP);
    assert_int_equal(power.count, 2);
    near(power.rows[0].energy_j, 0.006);
    near(power.rows[1].energy_j, 0.034);
    assert_int_equal(power.rows[1].time_ns, 190 * US);
    assert_int_equal(power.rows[1].sampled_ns, 140 * US);
    near(power.rows[1].mean_w, 0.034 / 140e-6);
    near(power.rows[1].share, 0.85);
    assert_int_equal(power.rows[0].tokens, INT64_MIN);
    assert_int_equal(power.tokens, 0);
    end(&f);
}

/* 32 tokens in the first 100 us: 10 mJ. Milliwatts, and the device as the process. */
static void tokens_of_a_serving_engine(void **state)
{
    struct fixture f;
    begin(&f);
    host(&f, "user_annotation", EVENT_USER_ANNOTATION, "execute_context_0(0)_generation_32(32)", 0,
         100, TRACE_NO_ID);
    sample(&f, "", "power mW", 0, 0, 100000);
    kernel(&f, 7, 0, 150, TRACE_NO_ID);
    sample(&f, "", "power mW", 0, 200, 0);
    struct power power = power_of(&f, POWER_BY_STEP);
    assert_int_equal(power.count, 1);
    assert_int_equal(power.rows[0].tokens, 32);
    near(power.rows[0].token_j, 0.01 / 32);
    assert_int_equal(power.tokens, 32);
    near(power.token_j, 0.01 / 32);
    end(&f);
}

/* The part of a device, one sample alone, a value that cannot be, and a device without counters. */
static void what_does_not_count(void **state)
{
    struct fixture f;
    begin(&f);
    kernel(&f, 7, 0, 150, TRACE_NO_ID);
    sample(&f, "GPU 0 HBM", "power", 55, 0, 1);
    sample(&f, "GPU 0 HBM", "power", 55, 100, 1);
    sample(&f, "GPU 0", "power", 55, 0, 10);
    sample(&f, "GPU 0", "power", 55, 50, -5);
    sample(&f, "GPU 0", "power", 55, 100, 10);
    sample(&f, "GPU 3", "power", 55, 0, 10);
    struct power power = power_of(&f, POWER_BY_DEVICE);
    assert_int_equal(power.counter_count, 3);
    assert_false(power.counters[0].is_used);
    assert_true(power.counters[1].is_used);
    assert_int_equal(power.counters[1].samples, 2);
    assert_false(power.counters[2].is_used);
    assert_int_equal(power.count, 1);
    near(power.energy_j, 0.001);
    end(&f);
    begin(&f);
    kernel(&f, 7, 0, 150, TRACE_NO_ID);
    power = power_of(&f, POWER_BY_CLASS);
    assert_int_equal(power.count, 0);
    assert_int_equal(power.counter_count, 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_and_its_counters), cmocka_unit_test(classes_share_the_power),
        cmocka_unit_test(steps_by_their_interval),   cmocka_unit_test(tokens_of_a_serving_engine),
        cmocka_unit_test(what_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
