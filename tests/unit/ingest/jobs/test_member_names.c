#include "ingest/jobs/pipeline/member_names.h"
#include "ingest/jobs/pipeline/rank_name.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

struct expected {
    const char *path;
    const char *worker;
};

static void expect(const struct expected *rows, size_t count)
{
    struct member_names names;
    struct err err = ERR_INIT;
    member_names_init(&names);
    for (size_t i = 0; i < count; i++) {
        assert_true(member_names_add(&names, rows[i].path, &err));
    }
    assert_true(member_names_settle(&names, &err));
    assert_int_equal(names.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(names.names[i].path, rows[i].path);
        if (rows[i].worker == NULL) {
            assert_null(names.names[i].worker);
        } else {
            assert_string_equal(names.names[i].worker, rows[i].worker);
        }
    }
    member_names_free(&names);
}

#define EXPECT(...)                                   \
    do {                                              \
        const struct expected rows[] = {__VA_ARGS__}; \
        expect(rows, sizeof rows / sizeof rows[0]);   \
    } while (0)

static void base_names_are_workers(void **state)
{
    EXPECT({"run/worker1.7.pt.trace.json.gz", "worker1"},
           {"run/worker0.7.pt.trace.json", "worker0"}, {"run/worker0.8.pt.trace.json", "worker0"},
           {"other/kernels.csv", "kernels"});
    expect(NULL, 0);
}

static void directories_tell_apart(void **state)
{
    EXPECT({"run/a/trace.json", "a/trace"}, {"run/b/trace.json", "b/trace"},
           {"run/b/only.json", "only"});
    /* spans of one worker stay together in its directory */
    EXPECT({"a/w.1.pt.trace.json", "a/w"}, {"b/w.1.pt.trace.json", "b/w"},
           {"b/w.2.pt.trace.json", "b/w"});
    EXPECT({"a/logs/t.json", "a/logs/t"}, {"b/logs/t.json", "b/logs/t"});
    EXPECT({"t.json", "t"}, {"a/t.json", "a/t"});
}

static void the_path_is_the_last_resort(void **state)
{
    EXPECT({"t.json", "t.json"}, {"t.json.gz", "t.json.gz"});
    EXPECT({"a/t.json", "a/t.json"}, {"a/t.csv", "a/t.csv"});
}

static void ranks_of_directories_are_kept(void **state)
{
    EXPECT({"run/rank_3/host_17.1.pt.trace.json", "rank_3/host_17"},
           {"run/rank_3/host_17.2.pt.trace.json", "rank_3/host_17"});
    EXPECT({"node1_rank3/logs/t.json", "node1_rank3/logs/t"});
    EXPECT({"rank_0/w_rank0.json", "w_rank0"}, {"rank_1/w_rank1.json", "w_rank1"});
}

static void the_later_of_one_path_counts(void **state)
{
    EXPECT({"a/t.json", NULL}, {"b.json", "b"}, {"a/t.json", NULL}, {"a/t.json", "t"});
}

static void many_are_refused(void **state)
{
    struct member_names names;
    struct err err = ERR_INIT;
    member_names_init(&names);
    for (unsigned i = 0; i < MEMBER_NAMES_MAX; i++) {
        char path[32];
        (void)snprintf(path, sizeof path, "rank%u/t.json", i);
        assert_true(member_names_add(&names, path, &err));
    }
    assert_true(member_names_settle(&names, &err));
    assert_string_equal(names.names[77].worker, "rank77/t");
    assert_false(member_names_add(&names, "one more", &err));
    assert_int_equal(err.code, ERR_BAD_INPUT);
    member_names_free(&names);
}

static void names_tell_ranks(void **state)
{
    static const struct {
        const char *name;
        int64_t rank;
    } rows[] = {{"rank3", 3},
                {"node1_rank_12", 12},
                {"frank/rank-4/t", 4},
                {"rank", RANK_NAME_NONE},
                {"rank_x", RANK_NAME_NONE},
                {"rank/3", RANK_NAME_NONE},
                {"worker3", RANK_NAME_NONE},
                {"rank2147483647", RANK_MAX},
                {"rank2147483648", RANK_NAME_NONE},
                {"rank99999999999999999999999", RANK_NAME_NONE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(rank_of_name(rows[i].name), rows[i].rank);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_names_are_workers),
        cmocka_unit_test(directories_tell_apart),
        cmocka_unit_test(the_path_is_the_last_resort),
        cmocka_unit_test(ranks_of_directories_are_kept),
        cmocka_unit_test(the_later_of_one_path_counts),
        cmocka_unit_test(many_are_refused),
        cmocka_unit_test(names_tell_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
