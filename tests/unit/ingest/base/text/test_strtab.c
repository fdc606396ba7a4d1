#include "ingest/base/text/strtab.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static struct strtab *new_table(void)
{
    struct strtab *tab = strtab_create();
    assert_non_null(tab);
    return tab;
}

static void id_0_is_the_empty_string(void **state)
{
    struct strtab *tab = new_table();
    assert_int_equal(strtab_count(tab), 1);
    assert_int_equal(strtab_intern(tab, "", 0), 0);
    assert_int_equal(strtab_intern(tab, NULL, 0), 0);
    assert_int_equal(strtab_find(tab, "x", 0), 0);
    assert_string_equal(strtab_text(tab, 0), "");
    assert_int_equal(strtab_len(tab, 0), 0);
    strtab_destroy(tab);
    strtab_destroy(NULL);
}

static void unknown_ids_have_no_text(void **state)
{
    struct strtab *tab = new_table();
    assert_null(strtab_text(tab, STRTAB_NONE));
    assert_null(strtab_text(tab, 1));
    assert_int_equal(strtab_len(tab, STRTAB_NONE), 0);
    strtab_destroy(tab);
}

static void find_does_not_add(void **state)
{
    struct strtab *tab = new_table();
    assert_true(strtab_find(tab, "aten::add", 9) == STRTAB_NONE);
    assert_int_equal(strtab_count(tab), 1);
    uint32_t id = strtab_intern(tab, "aten::add", 9);
    assert_int_equal(id, 1);
    assert_int_equal(strtab_find(tab, "aten::add", 9), id);
    assert_true(strtab_find(tab, "aten::ad", 8) == STRTAB_NONE);
    strtab_destroy(tab);
}

/* Every length, and at every length a change of each single byte: all are different strings. The
 * text is copied to the end of its own allocation, so that AddressSanitizer sees any read beyond
 * it. */
static void each_byte_counts_at_every_length(void **state)
{
    enum { LEN_MAX = 70 };
    struct strtab *tab = new_table();
    uint32_t expected = 1;
    for (size_t len = 1; len <= LEN_MAX; len++) {
        char *text = malloc(len);
        assert_non_null(text);
        memset(text, 'k', len);
        assert_int_equal(strtab_intern(tab, text, len), expected++);
        for (size_t at = 0; at < len; at++) {
            text[at] = (char)0x81;
            assert_true(strtab_find(tab, text, len) == STRTAB_NONE);
            assert_int_equal(strtab_intern(tab, text, len), expected++);
            text[at] = 'k';
        }
        free(text);
    }
    assert_int_equal(strtab_count(tab), expected);
    strtab_destroy(tab);
}

static void nul_bytes_are_bytes(void **state)
{
    struct strtab *tab = new_table();
    static const char zeros[32] = {0};
    for (uint32_t len = 0; len < 32; len++) {
        assert_int_equal(strtab_intern(tab, zeros, len), len);
    }
    for (uint32_t len = 0; len < 32; len++) {
        assert_int_equal(strtab_find(tab, zeros, len), len);
        assert_int_equal(strtab_len(tab, len), len);
    }
    strtab_destroy(tab);
}

/* Through many growths ids and texts stay, and the addresses of the texts do too. */
static void many_strings_keep_ids_and_addresses(void **state)
{
    enum { COUNT = 100000 };
    struct strtab *tab = new_table();
    const char **texts = malloc(COUNT * sizeof *texts);
    assert_non_null(texts);
    char text[64];
    for (uint32_t i = 0; i < COUNT; i++) {
        int len = snprintf(text, sizeof text, "void at::native::kernel<%u>", (unsigned)i);
        uint32_t id = strtab_intern(tab, text, (size_t)len);
        assert_int_equal(id, i + 1);
        texts[i] = strtab_text(tab, id);
    }
    assert_int_equal(strtab_count(tab), COUNT + 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        int len = snprintf(text, sizeof text, "void at::native::kernel<%u>", (unsigned)i);
        assert_int_equal(strtab_find(tab, text, (size_t)len), i + 1);
        assert_ptr_equal(strtab_text(tab, i + 1), texts[i]);
        assert_string_equal(texts[i], text);
        assert_int_equal(strtab_len(tab, i + 1), len);
    }
    assert_true(strtab_bytes(tab) > (size_t)COUNT * 30);
    assert_true(strtab_bytes(tab) < (size_t)COUNT * 150);
    free(texts);
    strtab_destroy(tab);
}

static void long_strings_are_kept_whole(void **state)
{
    static const size_t lens[] = {8191, 8192, 8193, 65535, 65536, 1000000, 3000000};
    struct strtab *tab = new_table();
    char *text = malloc(3000000);
    assert_non_null(text);
    for (size_t i = 0; i < 3000000; i++) {
        text[i] = (char)('a' + i % 23);
    }
    for (size_t i = 0; i < COUNT_OF(lens); i++) {
        uint32_t id = strtab_intern(tab, text, lens[i]);
        assert_int_equal(id, i + 1);
        assert_int_equal(strtab_len(tab, id), lens[i]);
        assert_memory_equal(strtab_text(tab, id), text, lens[i]);
        assert_int_equal(strtab_text(tab, id)[lens[i]], 0);
    }
    free(text);
    strtab_destroy(tab);
}

static void a_text_of_the_table_can_be_interned_again(void **state)
{
    struct strtab *tab = new_table();
    uint32_t id = strtab_intern(tab, "Memcpy HtoD (Pinned -> Device)", 30);
    assert_int_equal(strtab_intern(tab, strtab_text(tab, id), 30), id);
    uint32_t part = strtab_intern(tab, strtab_text(tab, id), 11);
    assert_string_equal(strtab_text(tab, part), "Memcpy HtoD");
    strtab_destroy(tab);
}

/* What another thread sees: the texts of then at the same places, whatever is added meanwhile. */
static void a_snapshot_stays_while_the_table_grows(void **state)
{
    enum { BEFORE = 700, TEXTS = 3000 };
    struct strtab *tab = new_table();
    char text[32];
    for (int i = 0; i < BEFORE; i++) {
        int len = snprintf(text, sizeof text, "text %d", i);
        (void)strtab_intern(tab, text, (size_t)len);
    }
    const struct strtab *then = strtab_snapshot(tab);
    for (int i = BEFORE; i < TEXTS; i++) {
        int len = snprintf(text, sizeof text, "text %d", i);
        (void)strtab_intern(tab, text, (size_t)len);
    }
    assert_int_equal(strtab_count(then), BEFORE + 1);
    assert_null(strtab_text(then, BEFORE + 1));
    for (uint32_t id = 0; id <= BEFORE; id++) {
        assert_ptr_equal(strtab_text(then, id), strtab_text(tab, id));
        assert_int_equal(strtab_len(then, id), strtab_len(tab, id));
    }
    assert_int_equal(strtab_count(strtab_snapshot(tab)), TEXTS + 1);
    strtab_destroy(tab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(id_0_is_the_empty_string),
        cmocka_unit_test(unknown_ids_have_no_text),
        cmocka_unit_test(find_does_not_add),
        cmocka_unit_test(each_byte_counts_at_every_length),
        cmocka_unit_test(nul_bytes_are_bytes),
        cmocka_unit_test(many_strings_keep_ids_and_addresses),
        cmocka_unit_test(long_strings_are_kept_whole),
        cmocka_unit_test(a_text_of_the_table_can_be_interned_again),
        cmocka_unit_test(a_snapshot_stays_while_the_table_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
