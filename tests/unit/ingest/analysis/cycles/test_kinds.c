/* Prefill, decode, step: how cycles get their kind, and what it means for their bounds. */
#include "tests/unit/ingest/analysis/cycles/cycle_fixture.h"

/* Turns of 100 us every 200 us, each with a call of the given name and a slice inside. */
static void add_turns(struct scene *s, const char *const *inside, int count)
{
    for (int i = 0; i < count; i++) {
        scene_call(s, "turn", 7, "main", 1000 + 200 * i, 100);
        scene_call(s, inside[i], 7, "main", 1010 + 200 * i, 50);
        scene_slice(s, "runq", 7, 1020 + 200 * i, 10);
    }
}

static void assert_kinds(const char *const *inside, int count, const char *want)
{
    struct scene s;
    scene_begin(&s);
    add_turns(&s, inside, count);
    const struct trace_results *r = scene_run(&s, "turn");
    assert_int_equal(r->cycle_count, strlen(want));
    for (size_t i = 0; i < r->cycle_count; i++) {
        char kind = *cycle_kind_name(r->cycles[i].kind);
        if (kind != want[i]) {
            fail_msg("cycle %zu is %c, not %c", i, kind, want[i]);
        }
    }
    scene_end(&s);
}

static void words_inside_tell_the_kind(void **state)
{
    assert_kinds((const char *[]){"x", "y", "z"}, 3, "sss");
    assert_kinds((const char *[]){"a_Forward_Extend", "decode_step", "Decode"}, 3, "pdd");
    assert_kinds((const char *[]){"LlamaDecoderLayer", "decoded", "predecoder"}, 3, "sss");
    assert_kinds((const char *[]){"forward_extend", "decode", "forward_extend"}, 3, "pdp");
    /* Where something is called `encode`, the plain name `decode` is text work. */
    assert_kinds((const char *[]){"Encode", "decode", "decode"}, 3, "sss");
    assert_kinds((const char *[]){"my.decode", "decode", "Encode"}, 3, "ddd");
}

static void cycles_without_a_word_take_a_neighbours_kind(void **state)
{
    assert_kinds((const char *[]){"forward_extend", "x", "y", "decode_x"}, 4, "pppd");
    assert_kinds((const char *[]){"decode_x", "x", "forward_extend"}, 3, "ddp");
    assert_kinds((const char *[]){"x", "forward_extend", "decode_x"}, 3, "ppd");
}

/* Of two without a kind at the beginning the first has no neighbour that has one: it goes, and its
 * number with it. */
static void cycles_without_a_neighbour_are_dropped(void **state)
{
    struct scene s;
    scene_begin(&s);
    add_turns(&s, (const char *[]){"x", "y", "decode_x"}, 3);
    const struct trace_results *r = scene_run(&s, "turn");
    assert_int_equal(r->cycle_count, 2);
    assert_int_equal(r->cycles[0].number, 2);
    assert_int_equal(r->cycles[0].kind, CYCLE_DECODE);
    scene_end(&s);
}

/* A prefill spans its call, from start to end, and breaks the chain of decodes. */
static void prefills_stand_outside_the_chain(void **state)
{
    struct scene s;
    scene_begin(&s);
    add_turns(&s, (const char *[]){"decode_x", "forward_extend", "decode_x", "decode_x"}, 4);
    scene_slice(&s, "mmap", 8, 900, 1000);
    const struct trace_results *r = scene_run(&s, "turn");
    static const double durations[] = {99, 100, 99, 199};
    for (int64_t i = 0; i < 4; i++) {
        assert_near(scene_row(r, i + 1, "mmap", NULL)->duration_us, durations[i]);
    }
    scene_end(&s);
}

/* 30 short calls and 3 that are longer than three of them: a tenth, not more. */
static void add_server(struct scene *s, int prefills, int decodes, double prefill_us)
{
    double at = 0;
    for (int i = 0; i < decodes; i++) {
        if (i < prefills) {
            scene_call(s, "extend", 7, "main", at, prefill_us);
            scene_slice(s, "runq", 7, at + 1, 1);
            at += prefill_us + 10;
        }
        scene_call(s, "turn", 7, "main", at, 100);
        scene_slice(s, "runq", 7, at + 1, 1);
        at += 110;
    }
}

static void a_rare_long_function_is_the_prefill(void **state)
{
    static const struct {
        int prefills, decodes;
        double prefill_us;
        enum cycle_kind first;
        size_t count;
    } cases[] = {
        {3, 30, 301, CYCLE_PREFILL, 33},
        {3, 30, 299, CYCLE_STEP, 30},
        {3, 29, 301, CYCLE_STEP, 29},
        {2, 30, 301, CYCLE_STEP, 30},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scene s;
        scene_begin(&s);
        add_server(&s, cases[i].prefills, cases[i].decodes, cases[i].prefill_us);
        const struct trace_results *r = scene_run(&s, NULL);
        assert_int_equal(r->cycles[0].kind, cases[i].first);
        assert_int_equal(r->cycle_count, cases[i].count);
        scene_end(&s);
    }
}

/* Ranks begin their prefills within half a duration of each other: one cycle over all of them. */
static void prefills_of_all_processes_are_grouped(void **state)
{
    struct scene s;
    scene_begin(&s);
    for (int i = 0; i < 3; i++) {
        double at = 1000 * i;
        scene_call(&s, "turn", 7, "a", at, 100);
        scene_call(&s, "forward_extend", 7, "a", at + 5, 50);
        scene_call(&s, "turn", 8, "b", at + 49, 300);
        scene_call(&s, "forward_extend", 8, "b", at + 55, 50);
        scene_slice(&s, "runq", 8, at + 60, 10);
    }
    const struct trace_results *r = scene_run(&s, "turn");
    assert_int_equal(r->cycle_count, 3);
    assert_int_equal(r->cycles[0].kind, CYCLE_PREFILL);
    assert_int_equal(r->cycles[1].start_ns, 1000000);
    assert_near(r->cycles[1].dur_us, 349);
    scene_end(&s);
}

static void much_longer_calls_are_prefills(void **state)
{
    struct scene s;
    scene_begin(&s);
    double at = 0;
    for (int i = 0; i < 10; i++) {
        double dur = i == 4 ? 9000 : 2000;
        scene_call(&s, "turn", 7, "main", at, dur);
        scene_slice(&s, "runq", 7, at + 1, 1);
        at += dur + 10;
    }
    const struct trace_results *r = scene_run(&s, NULL);
    assert_int_equal(r->cycle_count, 10);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(r->cycles[i].kind, i == 4 ? CYCLE_PREFILL : CYCLE_DECODE);
    }
    scene_end(&s);
}

/* Calls up to a millisecond say nothing by their duration. */
static void short_calls_have_no_kind_by_duration(void **state)
{
    struct scene s;
    scene_begin(&s);
    double at = 0;
    for (int i = 0; i < 10; i++) {
        double dur = i == 4 ? 9000 : 1000;
        scene_call(&s, "turn", 7, "main", at, dur);
        scene_slice(&s, "runq", 7, at + 1, 1);
        at += dur + 10;
    }
    const struct trace_results *r = scene_run(&s, NULL);
    assert_int_equal(r->cycles[4].kind, CYCLE_STEP);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_inside_tell_the_kind),
        cmocka_unit_test(cycles_without_a_word_take_a_neighbours_kind),
        cmocka_unit_test(cycles_without_a_neighbour_are_dropped),
        cmocka_unit_test(prefills_stand_outside_the_chain),
        cmocka_unit_test(a_rare_long_function_is_the_prefill),
        cmocka_unit_test(prefills_of_all_processes_are_grouped),
        cmocka_unit_test(much_longer_calls_are_prefills),
        cmocka_unit_test(short_calls_have_no_kind_by_duration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
