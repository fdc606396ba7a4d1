/* The declared tables are stored as this version of the schema says. */
#include "ingest/base/containers/fnv.h"
#include "ingest/model/tables.h"
#include "ingest/store/db/schema.h"
#include "tests/unit/ingest/store/store_fixture.h"

#include <string.h>

/* Blocks of rows hold the stored columns one after the other: other columns mean other blocks. When
 * this fails, raise SCHEMA_VERSION and write both numbers here. */
static void stored_columns_are_those_of_the_version(void **state)
{
    (void)state;
    const int version = 16;
    const uint64_t stored = 0x61D379967CF19E74;
    uint64_t hash = 0xCBF29CE484222325;
    size_t count = 0;
    const struct row_table *const *tables = tables_all(&count);
    for (size_t t = 0; t < count; t++) {
        for (size_t i = 0; i < tables[t]->column_count && tables[t]->name[0] != '\0'; i++) {
            const struct table_column *column = &tables[t]->columns[i];
            if (column->is_stored) {
                char kind = (char)('a' + (int)column->kind);
                hash = fnv_add(hash, tables[t]->name, strlen(tables[t]->name));
                hash = fnv_add(hash, column->field, strlen(column->field));
                hash = fnv_add(hash, &kind, 1);
            }
        }
    }
    if (hash != stored || SCHEMA_VERSION != version) {
        fail_msg("the stored columns of schema %d are 0x%llX", SCHEMA_VERSION,
                 (unsigned long long)hash);
    }
}

/* A name leads to one column: what answers, `sort` and CSV call it. */
static void names_are_unique(void **state)
{
    (void)state;
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
        cmocka_unit_test(stored_columns_are_those_of_the_version),
        cmocka_unit_test(names_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
