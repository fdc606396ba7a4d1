/* Kernels of graphs go to the calls that recorded them: in order, past calls that left none, by
 * stream, or not at all [DEV-3]. */
#include "ingest/analysis/captures/align.h"
#include "ingest/index/engine_annotation.h"
#include "tests/unit/unit.h"

// clang-format off
// clang-format on
#include <string.h>

#define WORK_MAX 8

/* Of one root; a call takes a nanosecond. Letters name kernels, M copies, S sets memory. */
struct fixture {
    struct capture capture;
    struct capture_launch launches[32];
    struct capture_root roots[4];
    struct align_work work[WORK_MAX];
    const struct capture_launch *calls[WORK_MAX];
    size_t count;
};

static const char *const kernels[] = {"a", "b", "c"};

static void add_root(struct fixture *f, const char *calls)
{
    struct capture *capture = &f->capture;
    struct capture_root *root = &f->roots[capture->root_count++];
    capture->launches = f->launches;
    capture->roots = f->roots;
    root->first = capture->launch_count;
    for (; *calls != '\0'; calls++) {
        int64_t at = (int64_t)capture->launch_count;
        enum capture_records records = *calls == 'M'   ? CAPTURE_COPY
                                       : *calls == 'S' ? CAPTURE_SET
                                                       : CAPTURE_KERNEL;
        f->launches[capture->launch_count++] = (struct capture_launch){
            .records = records,
            .kernel = records == CAPTURE_KERNEL ? kernels[*calls - 'a'] : NULL,
            .start_ns = at,
            .end_ns = at + 1};
    }
    root->end = capture->launch_count;
    root->limit_ns = (int64_t)root->end;
    capture->tried[capture->tried_count++] = *root;
}

/* Lower-case letters are kernels of stream 0, upper-case ones of stream 1. */
static void set_work(struct fixture *f, const char *work)
{
    f->count = strlen(work);
    for (size_t i = 0; i < f->count; i++) {
        const char *name = work[i] == 'M'   ? "Memcpy DtoD"
                           : work[i] == 'S' ? "__amd_rocclr_fillBufferAligned"
                           : work[i] < 'a'  ? kernels[work[i] - 'A']
                                            : kernels[work[i] - 'a'];
        f->work[i] = (struct align_work){name, work[i] >= 'A' && work[i] <= 'C'};
    }
}

static enum alignment align(struct fixture *f, size_t rank, int64_t budget)
{
    enum alignment out = ALIGN_COUNT;
    assert_true(align_graph(&f->capture, f->work, f->count, rank, &budget, f->calls, &out));
    return out;
}

static void assert_calls(const struct fixture *f, const size_t *want)
{
    for (size_t i = 0; i < f->count; i++) {
        assert_ptr_equal(f->calls[i], &f->launches[want[i]]);
    }
}

static void one_root_is_walked_in_order(void **state)
{
    struct fixture f = {.count = 0};
    add_root(&f, "abMSc");
    set_work(&f, "abMSc");
    assert_int_equal(align(&f, ALIGN_NO_RANK, 1000), ALIGN_EQUAL);
    assert_calls(&f, (const size_t[]){0, 1, 2, 3, 4});
    set_work(&f, "aSc");
    assert_int_equal(align(&f, ALIGN_NO_RANK, 1000), ALIGN_SKIPPING);
    assert_calls(&f, (const size_t[]){0, 3, 4});
    set_work(&f, "ca");
    assert_int_equal(align(&f, ALIGN_NO_RANK, 1000), ALIGN_FAILED);
    /* Whatever there is to compare has an end. */
    set_work(&f, "abMSc");
    assert_int_equal(align(&f, ALIGN_NO_RANK, 3), ALIGN_FAILED);
}

static void of_several_roots_the_best_counts(void **state)
{
    struct fixture f = {.count = 0};
    add_root(&f, "cab"); /* 0 to 2 */
    add_root(&f, "ab");  /* 3, 4 */
    add_root(&f, "bc");  /* 5, 6 */
    set_work(&f, "ab");
    assert_int_equal(align(&f, ALIGN_NO_RANK, 1000), ALIGN_EQUAL);
    assert_calls(&f, (const size_t[]){3, 4});
    /* With a rank that root alone. */
    assert_int_equal(align(&f, 0, 1000), ALIGN_SKIPPING);
    assert_calls(&f, (const size_t[]){1, 2});
    assert_int_equal(align(&f, 2, 1000), ALIGN_FAILED);
}

static void streams_have_queues_of_their_own(void **state)
{
    struct fixture f = {.count = 0};
    /* Recorded stream after stream, run side by side. */
    add_root(&f, "abcca");
    set_work(&f, "aCbAc");
    assert_int_equal(align(&f, ALIGN_NO_RANK, 1000), ALIGN_SKIPPING);
    assert_calls(&f, (const size_t[]){0, 3, 1, 4, 2});
    set_work(&f, "aCbAA");
    assert_int_equal(align(&f, ALIGN_NO_RANK, 1000), ALIGN_FAILED);
}

static void calls_that_end_late_are_not_of_the_root(void **state)
{
    struct fixture f = {.count = 0};
    add_root(&f, "abc");
    f.launches[1].end_ns = 99;
    set_work(&f, "ac");
    assert_int_equal(align(&f, ALIGN_NO_RANK, 1000), ALIGN_EQUAL);
    assert_calls(&f, (const size_t[]){0, 2});
}

static void the_smallest_capture_that_is_enough_is_chosen(void **state)
{
    int64_t small[] = {4, 8};
    int64_t large[] = {16, 6};
    const struct capture sized[] = {
        {.sizes = small, .size_count = 2}, {.sizes = large, .size_count = 2}, {.size_count = 0}};
    const struct capture bare[] = {{.size_count = 0}, {.size_count = 0}};
    assert_ptr_equal(capture_choose(sized, 3, 3), &sized[0]);
    assert_ptr_equal(capture_choose(sized, 3, 5), &sized[1]);
    assert_ptr_equal(capture_choose(sized, 3, 16), &sized[1]);
    assert_null(capture_choose(sized, 3, 17));
    assert_null(capture_choose(sized, 3, ENGINE_UNKNOWN));
    assert_ptr_equal(capture_choose(bare, 1, ENGINE_UNKNOWN), &bare[0]);
    assert_null(capture_choose(bare, 2, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_root_is_walked_in_order),
        cmocka_unit_test(of_several_roots_the_best_counts),
        cmocka_unit_test(streams_have_queues_of_their_own),
        cmocka_unit_test(calls_that_end_late_are_not_of_the_root),
        cmocka_unit_test(the_smallest_capture_that_is_enough_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
