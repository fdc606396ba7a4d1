/* The names in memory follow what changes in the store, and find what a look at all rows does. */
#include "ingest/store/store_access.h"
#include "tests/unit/ingest/store/store_fixture.h"

#define MANY_TRACES 130 /* so many that the points of their run are made later */

static int64_t found(struct fixture *f, const struct store_page *page)
{
    struct store_run *rows;
    size_t count;
    struct store_total total;
    assert_ok(f, READ(f->store, store_runs, &f->arena, page, &rows, &count, &total, &f->err));
    assert_int_equal(count, total.rows);
    return total.rows;
}

static int64_t find(struct fixture *f, const char *text)
{
    return found(f, &(struct store_page){.q = text});
}

static void add(struct fixture *f, const char *run, const char *file)
{
    (void)add_trace(f, run, file, "w", "", file);
}

static void tag(struct fixture *f, const char *run, const char *tags)
{
    assert_ok(f, store_run_patch(f->store, run, tags, NULL, NULL, &f->err));
}

static void what_changes_is_found_at_once(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(find(f, "bert"), 0);
    add(f, "Bert-large", "a");
    assert_int_equal(find(f, "bert"), 1);
    assert_int_equal(find(f, "main"), 0);
    add(f, "resnet", "b");
    add(f, "albert", "c");
    tag(f, "resnet", "[\"branch=Main\"]");
    assert_int_equal(find(f, "ERT"), 2);
    assert_int_equal(find(f, "=main"), 1);
    tag(f, "resnet", "[\"x\", \"two\"]");
    assert_int_equal(find(f, "main"), 0);
    assert_int_equal(find(f, "two"), 1);
    assert_ok(f, store_run_delete(f->store, "albert", &f->err));
    assert_int_equal(find(f, "ert"), 1);
    add(f, "albert", "c");
    assert_int_equal(find(f, "ert"), 2);
    assert_int_equal(find(f, "e"), 3);
}

static void neither_project_nor_two_texts_at_once(void **state)
{
    struct fixture *f = *state;
    add(f, "one", "a");
    add(f, "two", "b");
    tag(f, "one", "[\"left\", \"right\"]");
    assert_ok(f, store_run_move(f->store, "two", "Team/left", &f->err));
    assert_int_equal(find(f, "left"), 1);
    assert_int_equal(find(f, "onel"), 0);
    assert_int_equal(find(f, "tr"), 0);
    assert_int_equal(find(f, "t, r"), 0);
    assert_int_equal(find(f, "t\nr"), 0);
    assert_int_equal(find(f, "[\""), 0);
    assert_int_equal(find(f, "o"), 2);
    assert_int_equal(found(f, &(struct store_page){.q = "o", .projects = "[]"}), 1);
    assert_int_equal(found(f, &(struct store_page){.q = "o", .projects = "[\"Team\"]"}), 1);
    assert_int_equal(found(f, &(struct store_page){.q = "o", .projects = "[\"a\", \"Team/left\"]"}),
                     2);
    assert_int_equal(found(f, &(struct store_page){.q = "o", .project = "Team/left"}), 1);
    assert_int_equal(found(f, &(struct store_page){.q = "o", .project = "team/left"}), 0);
}

/* A server of another version may move a run without noting it at once. */
static void the_row_says_who_may_read(void **state)
{
    struct fixture *f = *state;
    struct store_run *rows;
    size_t count;
    struct store_total total;
    struct store_page page = {.q = "o", .projects = "[]"};
    add(f, "one", "a");
    assert_int_equal(found(f, &page), 1);
    assert_ok(f, db_exec(f->store->writer, "UPDATE run SET project = 'Team'", &f->err));
    assert_ok(f, READ(f->store, store_runs, &f->arena, &page, &rows, &count, &total, &f->err));
    assert_int_equal(count, 0);
}

/* The points of such a run wait until they are read. */
static void tags_of_a_run_with_many_traces(void **state)
{
    struct fixture *f = *state;
    char file[16];
    for (int i = 0; i < MANY_TRACES; i++) {
        (void)snprintf(file, sizeof file, "f%d", i);
        add(f, "many", file);
    }
    assert_int_equal(find(f, "later"), 0);
    tag(f, "many", "[\"later\"]");
    assert_int_equal(find(f, "later"), 1);
}

/* An expression is looked for in the rows of the database. */
static void as_in_the_rows(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"A b", "\"quoted\"", "back\\slash", "Ümlaut", "100%_x"};
    static const char *const tags[] = {"[\"T 1\"]", "[\"say \\\"t\\\"\"]", "[]",
                                       "[\"\\u00fc\", \"/\"]"};
    static const char *const asked[] = {"a",  "B", "\"", "quoted", "slash", "ü",     "Ü",
                                        "%_", "t", "1",  "/",      "say",   "mlaut", " "};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        add(f, names[i], names[i]);
        tag(f, names[i], tags[i % 4]);
        for (size_t k = 0; k < sizeof asked / sizeof asked[0]; k++) {
            char expression[32];
            (void)snprintf(expression, sizeof expression, "/%s/", asked[k]);
            assert_int_equal(find(f, asked[k]), find(f, expression));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_changes_is_found_at_once, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(neither_project_nor_two_texts_at_once, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(the_row_says_who_may_read, set_up_store, tear_down_store),
        cmocka_unit_test_setup_teardown(tags_of_a_run_with_many_traces, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(as_in_the_rows, set_up_store, tear_down_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
