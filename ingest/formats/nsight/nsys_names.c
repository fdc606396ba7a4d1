#include "ingest/formats/nsight/nsys_names.h"

#include <inttypes.h>
#include <stdlib.h>

struct names {
    int64_t *ids; /* ascending, each once */
    uint32_t *texts;
    size_t count;
};

static int by_value(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* The ids that launches have: StringIds holds every text of the recording, of which few are names
 * of kernels. */
static bool collect_ids(const int64_t *name_ids, uint32_t count, struct names *names)
{
    names->ids = malloc(((size_t)count + 1) * sizeof *names->ids);
    for (uint32_t i = 0; names->ids != NULL && i < count; i++) {
        if (name_ids[i] != NSYS_NAME_KNOWN) {
            names->ids[names->count++] = name_ids[i];
        }
    }
    if (names->ids == NULL) {
        return false;
    }
    qsort(names->ids, names->count, sizeof *names->ids, by_value);
    size_t unique = 0;
    for (size_t i = 0; i < names->count; i++) {
        if (unique == 0 || names->ids[unique - 1] != names->ids[i]) {
            names->ids[unique++] = names->ids[i];
        }
    }
    names->count = unique;
    names->texts = malloc((unique + 1) * sizeof *names->texts);
    for (size_t i = 0; names->texts != NULL && i < unique; i++) {
        names->texts[i] = STRTAB_NONE;
    }
    return names->texts != NULL;
}

static uint32_t *text_of(const struct names *names, int64_t id)
{
    const int64_t *found = bsearch(&id, names->ids, names->count, sizeof id, by_value);
    return found == NULL ? NULL : &names->texts[found - names->ids];
}

static bool
read_text(struct kernel_rows *rows, const struct names *names, sqlite3_stmt *row, struct err *err)
{
    uint32_t *text = text_of(names, sqlite3_column_int64(row, 0));
    if (text == NULL || *text != STRTAB_NONE) {
        return true;
    }
    const unsigned char *value = sqlite3_column_text(row, 1);
    return value == NULL || kernel_rows_text(rows, (const char *)value,
                                             (size_t)sqlite3_column_bytes(row, 1), text, err);
}

static bool read_texts(const struct nsys_database *db,
                       struct kernel_rows *rows,
                       const struct names *names,
                       struct err *err)
{
    bool has_table;
    bool more = true;
    sqlite3_stmt *statement = NULL;
    if (!nsys_database_has_table(db, "StringIds", &has_table, err)) {
        return false;
    }
    bool ok =
        !has_table || nsys_database_prepare(db, "SELECT id, value FROM StringIds", &statement, err);
    for (uint64_t count = 0; ok && more && has_table; count++) {
        ok = nsys_database_step(db, statement, &more, err) &&
             (!more || read_text(rows, names, statement, err));
        if (count > db->size_bytes / NSYS_ROW_BYTES_MIN) {
            ok = err_set(err, ERR_BAD_INPUT, "the database is damaged: StringIds does not end");
        }
    }
    (void)sqlite3_finalize(statement);
    return ok;
}

/* Launches get their names; those that have none are left out. */
static bool give_names(struct kernel_rows *rows,
                       const int64_t *name_ids,
                       const struct names *names,
                       struct err *err)
{
    struct kernel_table *table = rows->table;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < table->launch_count; i++) {
        struct kernel_table_launch launch = table->launches[i];
        if (name_ids[i] != NSYS_NAME_KNOWN) {
            launch.name = *text_of(names, name_ids[i]);
        }
        if (launch.name != STRTAB_NONE) {
            table->launches[kept++] = launch;
        } else if (!kernel_rows_bad_record(rows, err,
                                           "the kernel that starts at %" PRId64
                                           " ns: its name %" PRId64 " is not in StringIds",
                                           launch.start_ns, name_ids[i])) {
            return false;
        }
    }
    table->launch_count = kept;
    return true;
}

bool nsys_names_resolve(const struct nsys_database *db,
                        struct kernel_rows *rows,
                        const int64_t *name_ids,
                        struct err *err)
{
    struct names names = {.ids = NULL};
    bool ok = collect_ids(name_ids, rows->table->launch_count, &names) ||
              err_set(err, ERR_NO_MEMORY, "no memory for the names of kernels");
    ok = ok && read_texts(db, rows, &names, err) && give_names(rows, name_ids, &names, err);
    free(names.ids);
    free(names.texts);
    return ok;
}
