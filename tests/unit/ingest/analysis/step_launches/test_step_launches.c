/* Launches by step and stream of a small trace, worked out by hand [CAU-2e]. */
#include "ingest/analysis/step_launches/step_launches.h"
#include "tests/unit/ingest/analysis/causes_builder.h"

static void a_row_a_step_and_stream(void **state)
{
    struct fixture f;
    struct trace_index index;
    void *out = NULL;
    size_t count = 0;
    begin(&f);
    host(&f, "user_annotation", EVENT_USER_ANNOTATION, "ProfilerStep#1", 0, 50, TRACE_NO_ID);
    call(&f, "cudaLaunchKernel", 10, 12, 1);
    call(&f, "cudaLaunchKernel", 60, 62, 3);
    kernel(&f, 7, 15, 25, 1);
    kernel(&f, 7, 30, 40, 1);
    kernel(&f, 7, 61, 70, 3);
    kernel(&f, 8, 65, 70, 3);
    kernel(&f, 8, 80, 90, TRACE_NO_ID); /* no call: in no row */
    assert_true(index_build(&index, f.build.trace));
    assert_true(step_launches_analyse(&index, 5 * US, &f.arena, &out, &count));
    const struct step_launches_row *rows = out;
    assert_int_equal(count, 3);
    assert_string_equal(rows[0].step, "ProfilerStep#1");
    assert_int_equal(rows[0].launches, 2);
    assert_int_equal(rows[0].delay_ns, (3 + 18) * US);
    assert_null(rows[1].step);
    assert_int_equal(rows[2].stream, 8);
    index_free(&index);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_row_a_step_and_stream)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
