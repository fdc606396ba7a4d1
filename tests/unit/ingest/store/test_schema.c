/* The declared tables are stored as this version of the schema says. */
#include "ingest/base/containers/fnv.h"
#include "ingest/model/tables.h"
#include "ingest/store/internal.h"
#include "ingest/store/schema/schema.h"
#include "tests/unit/ingest/store/store_fixture.h"

#include <string.h>

#define LIST_BYTES 4096

/* Whether `list`, "trace_id, position, name_id", has the word. */
static bool lists(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += len) {
        bool begins = at == list || at[-1] == ' ';
        if (begins && (at[len] == ',' || at[len] == '\0' || at[len] == ')')) {
            return true;
        }
    }
    return false;
}

/* "INSERT INTO table (trace_id, …) VALUES": what is between the brackets. */
static void inserted_columns(char list[LIST_BYTES], const struct row_table *table)
{
    const char *begin = strchr(table->insert_sql, '(') + 1;
    size_t len = (size_t)(strchr(begin, ')') - begin);
    assert_true(len < LIST_BYTES);
    memcpy(list, begin, len);
    list[len] = '\0';
}

static size_t count_words(const char *list)
{
    size_t count = 1;
    for (; *list != '\0'; list++) {
        count += *list == ',';
    }
    return count;
}

/* Whether the table is there. The catalogue gives a new row its id and its place in lists, and
 * users its note and tags. */
static bool check_table(struct db *db, const struct row_table *table)
{
    char list[LIST_BYTES];
    size_t count = 0;
    struct db_stmt st;
    struct err err = ERR_INIT;
    inserted_columns(list, table);
    db_prepare(&st, db,
               db_is_server(db)
                   ? "SELECT column_name FROM information_schema.columns WHERE table_schema ="
                     " current_schema() AND table_name = ?1 AND (?1 NOT IN ('trace', 'comparison')"
                     " OR column_name NOT IN ('id', 'note', 'tags', 'listed_at_s',"
                     " 'listed_bytes'))"
                   : "SELECT name FROM pragma_table_info(?1) WHERE ?1 NOT IN ('trace',"
                     " 'comparison') OR name NOT IN ('id', 'note', 'tags', 'listed_at_s', "
                     "'listed_bytes')");
    db_put_text(&st, table->name);
    for (; db_next(&st); count++) {
        size_t len = 0;
        const char *name = db_peek_text(&st, &len);
        if (!lists(list, name)) {
            fail_msg("%s.%s is in the schema, and no column of the table", table->name, name);
        }
    }
    assert_true(db_done(&st, &err));
    if (count != 0 && count != count_words(list)) {
        fail_msg("%s has %zu columns in the schema, not %s", table->name, count, list);
    }
    return count != 0;
}

static void schema_has_the_declared_columns(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct err err = ERR_INIT;
    struct db *db = NULL;
    struct db *file = NULL;
    size_t count = 0;
    const struct row_table *const *tables = tables_all(&count);
    assert_true(store_read_begin(store, &db, &err));
    assert_true(db_open(&file, ":memory:", DB_IN_MEMORY, &err));
    assert_true(db_exec(file, results_schema_sql, &err));
    for (size_t i = 0; i < count; i++) {
        if (tables[i]->insert_sql != NULL) {
            bool in_catalogue = check_table(db, tables[i]);
            bool in_file = check_table(file, tables[i]);
            assert_true(in_catalogue || in_file);
        }
    }
    db_close(file);
    store_read_end(store, db);
}

static bool is_in_blocks(const struct row_table *table)
{
    return table->name[0] != '\0' && table->insert_sql == NULL;
}

/* Blocks of rows hold the stored columns one after the other: other columns mean other blocks. When
 * this fails, raise RESULTS_VERSION (schema/schema.h says with what) and write both numbers here.
 */
static void stored_columns_are_those_of_the_version(void **state)
{
    const int version = 1;
    const uint64_t stored = 0xD0C0D18077604038;
    uint64_t hash = 0xCBF29CE484222325;
    size_t count = 0;
    const struct row_table *const *tables = tables_all(&count);
    for (size_t t = 0; t < count; t++) {
        for (size_t i = 0; is_in_blocks(tables[t]) && i < tables[t]->column_count; i++) {
            const struct table_column *column = &tables[t]->columns[i];
            if (column->is_stored) {
                char kind = (char)('a' + (int)column->kind);
                hash = fnv_add(hash, tables[t]->name, strlen(tables[t]->name));
                hash = fnv_add(hash, column->field, strlen(column->field));
                hash = fnv_add(hash, &kind, 1);
            }
        }
    }
    if (hash != stored || RESULTS_VERSION != version) {
        fail_msg("the stored columns of version %d are 0x%llX", RESULTS_VERSION,
                 (unsigned long long)hash);
    }
}

/* A name leads to one column: what answers, `sort` and CSV call it. */
static void names_are_unique(void **state)
{
    size_t count = 0;
    const struct row_table *const *tables = tables_all(&count);
    for (size_t t = 0; t < count; t++) {
        for (size_t i = 0; i < tables[t]->column_count; i++) {
            const struct table_column *column = &tables[t]->columns[i];
            assert_ptr_equal(table_column_find(tables[t], column->name), column);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(schema_has_the_declared_columns, set_up_store,
                                        tear_down_store),
        cmocka_unit_test(stored_columns_are_those_of_the_version),
        cmocka_unit_test(names_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
