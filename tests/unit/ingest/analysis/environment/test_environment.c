/* What two runs must have in common, from what their traces say. */
#include "ingest/analysis/environment/environment.h"
#include "tests/unit/unit.h"

struct fixture {
    struct arena arena;
    struct environment_row rows[16];
    struct device_row devices[4];
    struct trace_results results;
};

static int make(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){.results = {.steps = NULL}};
    arena_init(&fixture.arena, 0);
    fixture.results.environment = fixture.rows;
    fixture.results.devices = fixture.devices;
    *state = &fixture;
    return 0;
}

static int unmake(void **state)
{
    arena_free(&((struct fixture *)*state)->arena);
    return 0;
}

static void says(struct fixture *fixture, const char *name, const char *value)
{
    fixture->rows[fixture->results.environment_count++] =
        (struct environment_row){.name = name, .value = value};
}

static struct environment read_one(struct fixture *fixture)
{
    struct environment environment;
    const struct trace_results *const traces[] = {&fixture->results};
    assert_true(environment_of(traces, 1, &fixture->arena, &environment));
    return environment;
}

static void what_is_not_said_is_unknown(void **state)
{
    struct environment environment = read_one(*state);
    for (int i = 0; i < ENVIRONMENT_FACT_COUNT; i++) {
        assert_null(environment.facts[i]);
    }
}

static void facts_stand_in_words(void **state)
{
    struct fixture *fixture = *state;
    says(fixture, "cuda_driver_version", "12090");
    says(fixture, "hip_runtime_version", "60443483");
    says(fixture, "cupti_version", "22");
    says(fixture, "with_stack", "1");
    says(fixture, "record_shapes", "1");
    says(fixture, "with_flops", "0");
    says(fixture, "distributedInfo.world_size", "8");
    says(fixture, "distributedInfo.backend", "nccl");
    says(fixture, "distributedInfo.nccl_version", "2.21.5");
    says(fixture, "PyTorch Version", "2.7.0+cu126");
    fixture->devices[0] =
        (struct device_row){.name = "A", .memory_bytes = 42505273344.0, .capability = "8.0"};
    fixture->devices[1] = (struct device_row){.name = "A"};
    fixture->results.device_count = 2;
    fixture->results.has_steps = true;
    fixture->results.step_count = 6;
    struct environment environment = read_one(fixture);
    static const char *const expected[ENVIRONMENT_FACT_COUNT] = {"A",
                                                                 "2",
                                                                 "39.6 GiB",
                                                                 "8.0",
                                                                 "8",
                                                                 "nccl",
                                                                 "NCCL 2.21.5",
                                                                 "CUDA 12.9",
                                                                 "HIP 6.4.43483",
                                                                 "2.7.0+cu126",
                                                                 "CUPTI 22",
                                                                 "record_shapes, with_stack",
                                                                 "6"};
    for (int i = 0; i < ENVIRONMENT_FACT_COUNT; i++) {
        assert_string_equal(environment.facts[i], expected[i]);
    }
}

/* Numbers of devices and entries of the properties do not always go together. */
static void all_entries_name_a_device_without_one(void **state)
{
    struct fixture *fixture = *state;
    says(fixture, ENVIRONMENT_KEY_DEVICE, "MI300X");
    says(fixture, ENVIRONMENT_KEY_CAPABILITY, "9.4");
    assert_null(read_one(fixture).facts[ENVIRONMENT_DEVICE]);
    fixture->devices[0] = (struct device_row){.id = 2};
    fixture->results.device_count = 1;
    struct environment environment = read_one(fixture);
    assert_string_equal(environment.facts[ENVIRONMENT_DEVICE], "MI300X");
    assert_string_equal(environment.facts[ENVIRONMENT_CAPABILITY], "9.4");
}

static void traces_that_say_different_things_are_all_named(void **state)
{
    struct fixture *fixture = *state;
    struct trace_results other = fixture->results;
    struct environment_row rows[] = {{.name = "distributedInfo.backend", .value = "gloo"}};
    other.environment = rows;
    other.environment_count = 1;
    says(fixture, "distributedInfo.backend", "nccl");
    const struct trace_results *const traces[] = {&fixture->results, &other, &fixture->results};
    struct environment environment;
    assert_true(environment_of(traces, 3, &fixture->arena, &environment));
    assert_string_equal(environment.facts[ENVIRONMENT_BACKEND], "nccl / gloo");
}

static void decisive_facts_make_two_runs_incomparable(void **state)
{
    struct environment sides[2] = {{{NULL}}, {{NULL}}};
    assert_false(environment_is_known(sides));
    assert_true(environment_is_comparable(sides));
    sides[0].facts[ENVIRONMENT_WORLD_SIZE] = "8";
    assert_int_equal(environment_match(sides, ENVIRONMENT_WORLD_SIZE), ENVIRONMENT_UNKNOWN);
    assert_true(environment_is_comparable(sides));
    sides[1].facts[ENVIRONMENT_WORLD_SIZE] = "2";
    assert_int_equal(environment_match(sides, ENVIRONMENT_WORLD_SIZE), ENVIRONMENT_DIFFERENT);
    assert_false(environment_is_comparable(sides));
    sides[1].facts[ENVIRONMENT_WORLD_SIZE] = "8";
    sides[0].facts[ENVIRONMENT_DRIVER] = "CUDA 12.4";
    sides[1].facts[ENVIRONMENT_DRIVER] = "CUDA 12.9";
    assert_true(environment_is_comparable(sides));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_not_said_is_unknown, make, unmake),
        cmocka_unit_test_setup_teardown(facts_stand_in_words, make, unmake),
        cmocka_unit_test_setup_teardown(all_entries_name_a_device_without_one, make, unmake),
        cmocka_unit_test_setup_teardown(traces_that_say_different_things_are_all_named, make,
                                        unmake),
        cmocka_unit_test(decisive_facts_make_two_runs_incomparable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
