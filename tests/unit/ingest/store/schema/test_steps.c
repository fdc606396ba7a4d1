/* Steps from one schema to the next (schema/steps.h), on both engines. */
#include "ingest/base/text/buf.h"
#include "ingest/store/files/paths.h"
#include "ingest/store/schema/schema.h"
#include "ingest/store/schema/steps.h"
#include "ingest/store/schema/sums.h"
#include "tests/unit/ingest/store/store_fixture.h"

#include <pthread.h>

#define TEXT_BYTES ((size_t)8 << 20)

/* What a version after this one may do; `base_sql` is how a new database of it has the same. */
static const struct schema_step additions[] = {
    {SCHEMA_VERSION + 1,
     "CREATE TABLE thing (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id INTEGER NOT NULL REFERENCES"
     " run (id) ON DELETE CASCADE, name TEXT NOT NULL, share ANY, bytes BLOB) STRICT;"
     "CREATE INDEX thing_name ON thing (name) WHERE share IS NOT NULL",
     THEN_NOTHING},
    {SCHEMA_VERSION + 2, "", THEN_NOTHING},
    {SCHEMA_VERSION + 3,
     "ALTER TABLE session ADD COLUMN added INTEGER NOT NULL DEFAULT 7;"
     "ALTER TABLE session ADD COLUMN said TEXT;"
     "UPDATE session SET said = 'before'",
     THEN_NOTHING},
};
#define ADDITIONS (sizeof additions / sizeof additions[0])

/* ---- databases ---- */

/* A database beside the fixture's store, of a name of its own. */
static struct db *open_named(struct fixture *f, const char *name, bool is_first)
{
    struct db *db;
    char path[TEST_PATH_BYTES + 32];
    if (tests_on_server()) {
        (void)snprintf(path, sizeof path, "%s?options=-csearch_path%%3Dks_steps_%ld_%s",
                       getenv("KINETOSCOPE_TEST_DATABASE_URL"), (long)getpid(), name);
        assert_ok(f, db_open_url(&db, path, is_first ? DB_WRITER : DB_BESIDE, &f->err));
        return db;
    }
    (void)snprintf(path, sizeof path, "%.900s/%s.db", f->dir, name);
    assert_ok(f, db_open(&db, path, DB_WRITER, &f->err));
    return db;
}

static void create(struct fixture *f, struct db *db)
{
    assert_ok(f, db_begin(db, &f->err));
    assert_ok(f, db_end(db, schema_create(db, &f->err), &f->err));
}

static int64_t number(struct fixture *f, struct db *db, const char *sql)
{
    struct db_stmt st;
    db_prepare(&st, db, sql);
    int64_t value = db_next(&st) ? db_get_int(&st) : -1;
    assert_ok(f, db_done(&st, &f->err));
    return value;
}

static int64_t version_of(struct fixture *f, struct db *db)
{
    int64_t version = 0;
    assert_ok(f, schema_read_version(db, &version, &f->err));
    return version;
}

/* Columns, indexes and keys, a line each, in an order that knows no order of columns. */
static char *describe(struct fixture *f, struct db *db)
{
    struct db_stmt st;
    struct buf text;
    size_t len;
    buf_init(&text, TEXT_BYTES);
    db_prepare(
        &st, db,
        db_is_server(db)
            ? "SELECT line FROM (SELECT table_name || '.' || column_name || ' ' || data_type"
              " || ' ' || is_nullable || ' ' || coalesce(column_default, '') || ' ' ||"
              " is_identity AS line FROM information_schema.columns WHERE table_schema ="
              " current_schema() UNION ALL SELECT replace(indexdef, current_schema() || '.',"
              " '') FROM pg_indexes WHERE schemaname = current_schema() UNION ALL SELECT"
              " conrelid::regclass::text || ' ' || pg_get_constraintdef(oid) FROM"
              " pg_constraint WHERE connamespace = current_schema()::regnamespace UNION ALL SELECT"
              " replace(pg_get_triggerdef(g.oid) || ' ' || p.prosrc, current_schema() || '.', '')"
              " FROM pg_trigger AS g JOIN pg_proc AS p ON p.oid = g.tgfoid JOIN pg_class AS c ON"
              " c.oid = g.tgrelid WHERE NOT g.tgisinternal AND c.relnamespace ="
              " current_schema()::regnamespace) AS a"
              " ORDER BY line COLLATE \"C\""
            : "SELECT line FROM (SELECT t.name || '.' || c.name || ' ' || c.type || ' ' ||"
              " c.\"notnull\" || ' ' || coalesce(c.dflt_value, '') || ' ' || c.pk AS line"
              " FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c WHERE"
              " t.schema = 'main' UNION ALL SELECT t.name || ' strict ' || t.strict || ' ' ||"
              " t.wr FROM pragma_table_list AS t WHERE t.schema = 'main' UNION ALL SELECT"
              " sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL "
              "UNION ALL"
              " SELECT t.name || ' -> ' || k.\"table\" || ' ' || k.\"from\" || ' ' ||"
              " k.on_delete FROM pragma_table_list AS t JOIN"
              " pragma_foreign_key_list(t.name) AS k WHERE t.schema = 'main') AS a"
              " ORDER BY line");
    while (db_next(&st)) {
        buf_puts(&text, db_peek_text(&st, &len));
        buf_puts(&text, "\n");
    }
    assert_ok(f, db_done(&st, &f->err));
    assert_false(text.failed);
    assert_non_null(strstr(text.ptr, "run"));
    return buf_take(&text, &len);
}

static char *replaced(const char *text, const char *old, const char *with)
{
    struct buf out;
    size_t len;
    const char *at = strstr(text, old);
    assert_non_null(at);
    buf_init(&out, TEXT_BYTES);
    buf_append(&out, text, (size_t)(at - text));
    buf_puts(&out, with);
    buf_puts(&out, at + strlen(old));
    return buf_take(&out, &len);
}

/* ---- tests ---- */

/* tests/fixtures/schema_base.sql holds the schema of SCHEMA_BASE, all of schema/N_*.sql as it was
 * then. */
static char *base_schema(void)
{
    size_t len;
    struct buf text;
    char block[4096];
    buf_init(&text, TEXT_BYTES);
    FILE *file = fopen(KS_TEST_DIR "/fixtures/schema_base.sql", "re");
    assert_non_null(file);
    for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;) {
        buf_append(&text, block, got);
    }
    (void)fclose(file);
    return buf_take(&text, &len);
}

static void make_base(struct fixture *f, struct db *db, const char *schema, int64_t version)
{
    assert_ok(f, db_begin(db, &f->err));
    bool ok =
        db_exec_schema(db, schema, &f->err) &&
        (!db_is_server(db) ||
         (db_exec(db, "CREATE TABLE kinetoscope (version bigint NOT NULL, id text NOT NULL)",
                  &f->err) &&
          db_exec(db, "INSERT INTO kinetoscope SELECT 0, 'x'", &f->err))) &&
        (version == SCHEMA_BASE || (sums_make(db, &f->err) && schema_free_values(db, &f->err))) &&
        schema_set_version(db, version, &f->err);
    assert_ok(f, db_end(db, ok, &f->err));
}

static void steps_from_the_base_make_todays_schema(void **state)
{
    struct fixture *f = *state;
    struct db *old = open_named(f, "base", true);
    struct db *new = open_named(f, "new", true);
    char *schema = base_schema();
    make_base(f, old, schema, SCHEMA_BASE);
    create(f, new);
    assert_ok(f, db_exec(old,
                         "INSERT INTO run (name, project, newest_upload_id, trace_count,"
                         " size_bytes) VALUES ('a', 'p', 1, 2, 30), ('b', 'p', 2, 3, 40),"
                         " ('c', '', 0, 0, 0)",
                         &f->err));
    assert_ok(f, schema_apply_steps(old, schema_steps, schema_step_count, &f->err));
    assert_int_equal(number(f, old,
                            "SELECT items * 10000 + traces * 1000 + size_bytes FROM kept_sum WHERE"
                            " kind = 'run' AND project = 'p'"),
                     25070);
    assert_int_equal(number(f, old, "SELECT count(*) FROM kept_sum"), 1);
    assert_int_equal(version_of(f, old), SCHEMA_VERSION);
    char *by_steps = describe(f, old);
    char *at_once = describe(f, new);
    assert_string_equal(by_steps, at_once);
    free(by_steps);
    free(at_once);
    free(schema);
    db_close(old);
    db_close(new);
}

/* The same with steps as they may come. */
static void added_by_steps_is_as_made_at_once(void **state)
{
    struct fixture *f = *state;
    struct db *old = open_named(f, "steps", true);
    struct db *new = open_named(f, "whole", true);
    char *with_columns =
        replaced(schema_sql, "    sha256       TEXT PRIMARY KEY,    -- of the cookie's secret",
                 "    added INTEGER NOT NULL DEFAULT 7, said TEXT,\n    sha256       TEXT PRIMARY "
                 "KEY,    -- of the cookie's secret");
    struct buf whole;
    buf_init(&whole, TEXT_BYTES);
    buf_printf(&whole, "%s\n%s;", with_columns, additions[0].sql);
    create(f, old);
    assert_ok(f, db_exec(old,
                         "INSERT INTO session (sha256, token_sha256, created_at_s, expires_at_s)"
                         " VALUES ('a', 'b', 1, 2)",
                         &f->err));
    assert_ok(f, schema_apply_steps(old, additions, ADDITIONS, &f->err));
    make_base(f, new, whole.ptr, SCHEMA_VERSION + 3);
    char *by_steps = describe(f, old);
    char *at_once = describe(f, new);
    assert_string_equal(by_steps, at_once);
    assert_int_equal(version_of(f, old), SCHEMA_VERSION + 3);
    assert_int_equal(number(f, old, "SELECT count(*) FROM schema_step"), 4);
    assert_int_equal(number(f, old, "SELECT max(version) FROM schema_step"), SCHEMA_VERSION + 3);
    assert_int_equal(
        number(f, old, "SELECT count(*) FROM session WHERE added = 7 AND said = 'before'"), 1);
    /* Again, nothing is to be done. */
    assert_ok(f, schema_apply_steps(old, additions, ADDITIONS, &f->err));
    assert_int_equal(number(f, old, "SELECT count(*) FROM schema_step"), 4);
    buf_free(&whole);
    free(with_columns);
    free(by_steps);
    free(at_once);
    db_close(old);
    db_close(new);
}

static void a_step_that_fails_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct db *db = open_named(f, "fails", true);
    const struct schema_step bad[] = {
        additions[0],
        {SCHEMA_VERSION + 2,
         "CREATE TABLE half (id INTEGER PRIMARY KEY) STRICT;"
         "INSERT INTO no_such_table VALUES (1)",
         THEN_NOTHING},
    };
    create(f, db);
    assert_fails(f, schema_apply_steps(db, bad, 2, &f->err), ERR_STORE);
    assert_non_null(strstr(f->err.msg, "bringing the database to schema"));
    f->err = (struct err)ERR_INIT;
    assert_int_equal(version_of(f, db), SCHEMA_VERSION + 1);
    char *text = describe(f, db);
    assert_null(strstr(text, "half"));
    assert_non_null(strstr(text, "thing"));
    free(text);
    assert_ok(f, schema_apply_steps(db, additions, ADDITIONS, &f->err));
    assert_int_equal(version_of(f, db), SCHEMA_VERSION + 3);
    db_close(db);
}

static void a_gap_is_refused(void **state)
{
    struct fixture *f = *state;
    struct db *db = open_named(f, "gap", true);
    create(f, db);
    assert_fails(f, schema_apply_steps(db, additions + 1, 1, &f->err), ERR_STORE);
    assert_non_null(strstr(f->err.msg, "there is no step"));
    f->err = (struct err)ERR_INIT;
    assert_int_equal(version_of(f, db), SCHEMA_VERSION);
    db_close(db);
}

struct racer {
    struct db *db;
    struct err err;
    bool ok;
};

static void *race(void *argument)
{
    struct racer *racer = argument;
    racer->ok = schema_apply_steps(racer->db, additions, ADDITIONS, &racer->err);
    return NULL;
}

static void servers_that_start_at_once_share_the_steps(void **state)
{
    struct fixture *f = *state;
    pthread_t threads[2];
    struct racer racers[2] = {{.err = ERR_INIT}, {.err = ERR_INIT}};
    racers[0].db = open_named(f, "race", true);
    create(f, racers[0].db);
    racers[1].db = open_named(f, "race", false);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        if (!racers[i].ok) {
            print_message("%s\n", racers[i].err.msg);
        }
        assert_true(racers[i].ok);
    }
    assert_int_equal(number(f, racers[0].db, "SELECT count(*) FROM schema_step"), 4);
    db_close(racers[1].db);
    db_close(racers[0].db);
}

/* The catalogue of the fixture's store, beside it. */
static void change(struct fixture *f, const struct schema_step *steps, size_t count)
{
    char url[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES + 32];
    struct db *db;
    (void)snprintf(path, sizeof path, "%.900s/kinetoscope.db", f->dir);
    assert_ok(f, tests_on_server() ? db_open_url(&db, database_of(f, url), DB_BESIDE, &f->err)
                                   : db_open(&db, path, DB_WRITER, &f->err));
    assert_ok(f, schema_apply_steps(db, steps, count, &f->err));
    db_close(db);
}

/* This program, when the next one has made its step; and when the one after that has. */
static void a_program_works_one_schema_ahead(void **state)
{
    struct fixture *f = *state;
    (void)add_trace(f, "r", "before", "w", "", "a");
    change(f, additions, 1);
    /* While it runs, and after a start. */
    (void)add_trace(f, "r", "meanwhile", "w", "", "b");
    close_store(f);
    open_store(f);
    (void)add_trace(f, "r", "after", "w", "", "c");
    change(f, additions + 1, 1);
    close_store(f);
    assert_false(try_open_store(f, NULL));
    assert_int_equal(f->err.code, ERR_STORE);
    assert_non_null(strstr(f->err.msg, "start the newer program"));
}

static void set_file_version(struct fixture *f, int64_t trace_id, int version)
{
    struct db *db;
    char key[RESULTS_KEY_BYTES];
    char path[STORE_PATH_BYTES];
    char sql[64];
    assert_ok(f, store_read_begin(f->store, &db, &f->err));
    assert_ok(f, results_file_find(db, trace_id, RESULTS_TABLES, key, &f->err));
    store_read_end(f->store, db);
    assert_ok(f, results_path(f->store, key, path, &f->err));
    results_files_forget(f->store->files, key);
    assert_ok(f, db_open(&db, path, DB_MAKER, &f->err));
    (void)snprintf(sql, sizeof sql, "PRAGMA user_version = %d", version);
    assert_ok(f, db_exec(db, sql, &f->err));
    db_close(db);
}

/* What another version has written is refused in words, never read as if it were ours. */
static void a_file_of_another_version_is_not_read(void **state)
{
    struct fixture *f = *state;
    struct trace_results *out;
    f->store->files->in_row_bytes = 0;
    int64_t id = add_trace(f, "r", "f", "w", "", "x");
    assert_ok(f, READ(f->store, store_overview, &f->arena, id, &out, &f->err));
    set_file_version(f, id, RESULTS_VERSION + 1);
    assert_fails(f, READ(f->store, store_overview, &f->arena, id, &out, &f->err), ERR_UNAVAILABLE);
    f->err = (struct err)ERR_INIT;
    set_file_version(f, id, RESULTS_VERSION - 1);
    assert_fails(f, READ(f->store, store_overview, &f->arena, id, &out, &f->err), ERR_GONE);
    f->err = (struct err)ERR_INIT;
    set_file_version(f, id, RESULTS_VERSION);
    assert_ok(f, READ(f->store, store_overview, &f->arena, id, &out, &f->err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(steps_from_the_base_make_todays_schema, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(added_by_steps_is_as_made_at_once, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(a_step_that_fails_leaves_nothing, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(a_gap_is_refused, set_up_store, tear_down_store),
        cmocka_unit_test_setup_teardown(servers_that_start_at_once_share_the_steps, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(a_program_works_one_schema_ahead, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(a_file_of_another_version_is_not_read, set_up_store,
                                        tear_down_store),
    };
    return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}
