/* Arrays of numbers, written by hand. */
#include "api/table/columns.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void ints_as_printf_writes_them(void **state)
{
    int64_t values[400];
    size_t count = 0;
    for (int64_t power = 1; power < INT64_MAX / 10; power *= 10) {
        const int64_t near[] = {power - 1, power, power + 1, -power, -power - 1, power * 5 + 3};
        memcpy(values + count, near, sizeof near);
        count += sizeof near / sizeof near[0];
    }
    values[count++] = INT64_MAX;
    values[count++] = INT64_MIN;
    struct buf want;
    struct buf got;
    struct json_write w;
    buf_init(&want, SIZE_MAX / 2);
    buf_init(&got, SIZE_MAX / 2);
    buf_puts(&want, "{\"n\": [");
    for (size_t i = 0; i < count; i++) {
        buf_printf(&want, "%s%lld", i == 0 ? "" : ",", (long long)values[i]);
    }
    buf_puts(&want, "]}");
    jw_init(&w, &got, false);
    jw_object_begin(&w);
    columns_ints(&w, "n", values, count);
    jw_object_end(&w);
    assert_string_equal(got.ptr, want.ptr);
    buf_free(&want);
    buf_free(&got);
}

static void other_columns(void **state)
{
    static const int64_t known[] = {-1, 0, 5, -1};
    static const uint32_t uints[] = {0, 9, 10, 99, 100, UINT32_MAX};
    const double doubles[] = {
        0.0, -0.0, 2.5, 300, -7, 1e300, 9007199254740993.0, 0.1, (double)NAN, (double)INFINITY};
    struct buf got;
    struct json_write w;
    buf_init(&got, SIZE_MAX / 2);
    jw_init(&w, &got, false);
    jw_object_begin(&w);
    columns_known_ints(&w, "a", known, 4, -1);
    columns_uints(&w, "b", uints, 6);
    columns_doubles(&w, "c", doubles, 10);
    columns_ints(&w, "d", NULL, 0);
    jw_object_end(&w);
    assert_string_equal(got.ptr,
                        "{\"a\": [null,0,5,null], \"b\": [0,9,10,99,100,4294967295], \"c\": "
                        "[0,0,2.5,300,-7,1e+300,9007199254740992.0,0.1,null,null], \"d\": []}");
    assert_false(got.failed);
    buf_free(&got);
}

static void a_full_buffer_fails(void **state)
{
    static const int64_t values[] = {1, 2, 3};
    struct buf got;
    struct json_write w;
    buf_init(&got, 30);
    jw_init(&w, &got, false);
    jw_array_begin(&w);
    columns_ints(&w, "a", values, 3);
    assert_true(got.failed);
    buf_free(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ints_as_printf_writes_them),
        cmocka_unit_test(other_columns),
        cmocka_unit_test(a_full_buffer_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
