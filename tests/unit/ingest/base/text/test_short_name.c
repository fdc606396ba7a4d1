/* Names of kernels as the page shortens them. */
#include "ingest/base/text/short_name.h"
#include "tests/unit/unit.h"

#include <string.h>

static void names_keep_what_tells_them_apart(void **state)
{
    static const struct {
        const char *name;
        const char *expect;
    } rows[] = {
        {"sgemm_128x64_nn", "sgemm_128x64_nn"},
        {"void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, "
         "at::detail::Array<char*, 3> >(int, at::native::AddFunctor<float>)",
         "at::native::vectorized_elementwise_kernel<4, …> (AddFunctor)"},
        {"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
         "at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<"
         "float> > >(int)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast<float>)",
         "at::native::elementwise_kernel<128, 4, …> (MulFunctor)"},
        {"cub::Kernel<(Policy)3, float*>::operator()(int)",
         "cub::Kernel<(Policy)3, float*>::operator"},
        {"k<1, 2, 3, 4>()", "k<1, 2, 3, …>"},
        {"k<at::Half>", "k<at::Half>"},
        {"f(int) [clone .isra.0]", "f"},
        {"(anonymous namespace)::g(int)", "g"},
        {"Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"},
        {"enumerate(DataLoader)#next", "enumerate(DataLoader)#next"},
        {"vllm/worker.py(34): run", "run  worker.py:34"},
        {"a<b", "a<b"},
        {"<", "<"},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out;
        buf_init(&out, 1000);
        short_name(&out, rows[i].name);
        assert_string_equal(out.ptr, rows[i].expect);
        buf_free(&out);
    }
}

/* A signature as long as a vLLM one: a hundred thousand brackets, one after the other and nested.
 */
static void long_names_take_one_pass(void **state)
{
    size_t half = 100000;
    char *name = malloc(2 * half + 3);
    assert_non_null(name);
    name[0] = 'k';
    memset(name + 1, '<', half);
    memset(name + 1 + half, '>', half);
    name[2 * half + 1] = '\0';
    struct buf out;
    buf_init(&out, 1 << 20);
    short_name(&out, name);
    assert_string_equal(out.ptr, "k<…>");
    buf_free(&out);
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_keep_what_tells_them_apart),
        cmocka_unit_test(long_names_take_one_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
