/* A model of servers that share a catalogue: they claim, renew, pause, end, restart and publish in
 * a random order, by a clock of the test. No job is published twice, and all come to an end. */
#include "ingest/store/db/db.h"
#include "ingest/store/nodes/leases.h"
#include "ingest/store/schema/schema.h"
#include "tests/unit/ingest/store/store_fixture.h"

#define SERVERS 3
#define JOBS 12
#define STEPS 400
#define SEEDS 12
#define HELD_MAX 4
#define NAMES 7

struct server {
    struct db *db;
    char node[8];
    struct lease held[HELD_MAX];
    size_t held_count;
    int64_t silent_until_s; /* it neither renews nor hears what it has lost */
};

struct model {
    struct fixture *f;
    uint64_t random;
    int64_t now_s;
    struct server servers[SERVERS];
    int64_t jobs[JOBS];
    int64_t fences[JOBS];
    int published[JOBS];
};

/* ---- the clock ---- */

static int64_t clock_s;

static void tell_clock(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    sqlite3_result_int64(context, clock_s);
}

static void begin_clock(struct model *model, struct db *db)
{
    if (!tests_on_server()) {
        assert_int_equal(sqlite3_create_function(db_handle(db), "unixepoch", 0, SQLITE_UTF8, NULL,
                                                 tell_clock, NULL, NULL),
                         SQLITE_OK);
    } else if (db == model->servers[0].db) {
        assert_ok(model->f,
                  db_exec(db,
                          "CREATE TABLE test_clock AS SELECT 0::bigint AS now_s;"
                          "CREATE OR REPLACE FUNCTION unixepoch() RETURNS bigint LANGUAGE sql"
                          " VOLATILE AS $$ SELECT now_s FROM test_clock $$",
                          &model->f->err));
    }
}

static void set_clock(struct model *model, int64_t now_s)
{
    clock_s = model->now_s = now_s;
    if (tests_on_server()) {
        char sql[64];
        (void)snprintf(sql, sizeof sql, "UPDATE test_clock SET now_s = %lld", (long long)now_s);
        assert_ok(model->f, db_exec(model->servers[0].db, sql, &model->f->err));
    }
}

/* ---- the model ---- */

/* xorshift64* */
static unsigned pick(struct model *model, unsigned count)
{
    model->random ^= model->random >> 12;
    model->random ^= model->random << 25;
    model->random ^= model->random >> 27;
    return (unsigned)((model->random * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % count;
}

static int64_t ask(struct model *model, const char *sql, int64_t id)
{
    struct db_stmt st;
    db_prepare(&st, model->servers[0].db, sql);
    db_put_int(&st, id);
    int64_t value = db_next(&st) ? db_get_int(&st) : -1;
    assert_ok(model->f, db_done(&st, &model->f->err));
    return value;
}

static size_t number_of(const struct model *model, int64_t job_id)
{
    size_t i = 0;
    while (model->jobs[i] != job_id) {
        i++;
        assert_true(i < JOBS);
    }
    return i;
}

static void begin_transaction(struct model *model, struct server *server)
{
    assert_ok(model->f, db_begin(server->db, &model->f->err));
}

static void end_transaction(struct model *model, struct server *server)
{
    assert_ok(model->f, db_commit(server->db, &model->f->err));
}

static void note_claim(struct model *model, struct server *server, struct lease lease)
{
    if (lease.job_id == 0) {
        return;
    }
    size_t i = number_of(model, lease.job_id);
    assert_true(lease.fence > model->fences[i]);
    model->fences[i] = lease.fence;
    assert_int_equal(model->published[i], 0);
    assert_int_equal(ask(model,
                         "SELECT count(*) FROM job AS j JOIN job AS e ON e.run = j.run AND"
                         " e.file_name = j.file_name AND e.id < j.id AND e.state = 'queued'"
                         " WHERE j.id = ?",
                         lease.job_id),
                     0);
    server->held[server->held_count++] = lease;
}

static void claim(struct model *model, struct server *server)
{
    struct lease lease;
    if (server->held_count == HELD_MAX) {
        return;
    }
    begin_transaction(model, server);
    assert_ok(model->f, lease_fail_crashing(server->db, &model->f->err));
    assert_ok(model->f, lease_claim(server->db, server->node, &lease, &model->f->err));
    if (pick(model, 8) == 0) { /* the server ends before its commit */
        assert_ok(model->f, db_rollback(server->db, &model->f->err));
        return;
    }
    end_transaction(model, server);
    note_claim(model, server, lease);
}

/* While another's claim is not committed yet. */
static void claim_beside(struct model *model, struct server *server, struct server *other)
{
    struct lease first;
    struct lease second;
    if (!tests_on_server() || server == other || server->held_count == HELD_MAX ||
        other->held_count == HELD_MAX) {
        return;
    }
    begin_transaction(model, server);
    assert_ok(model->f, lease_claim(server->db, server->node, &first, &model->f->err));
    begin_transaction(model, other);
    assert_ok(model->f, lease_claim(other->db, other->node, &second, &model->f->err));
    assert_true(first.job_id == 0 || first.job_id != second.job_id);
    end_transaction(model, other);
    end_transaction(model, server);
    note_claim(model, server, first);
    note_claim(model, other, second);
}

static void renew(struct model *model, struct server *server)
{
    struct lease *leases;
    size_t count;
    size_t kept = 0;
    if (server->silent_until_s > model->now_s) {
        return;
    }
    begin_transaction(model, server);
    assert_ok(model->f, lease_renew(server->db, server->node, &model->f->arena, &leases, &count,
                                    &model->f->err));
    end_transaction(model, server);
    for (size_t i = 0; i < server->held_count; i++) {
        bool has = false;
        for (size_t at = 0; at < count; at++) {
            has = has || leases[at].job_id == server->held[i].job_id;
        }
        if (has) {
            server->held[kept++] = server->held[i];
        }
    }
    server->held_count = kept;
}

static void publish_one(struct model *model, struct server *server)
{
    bool done = false;
    if (server->held_count == 0) {
        return;
    }
    struct lease lease = server->held[--server->held_count];
    begin_transaction(model, server);
    assert_ok(model->f, lease_end(server->db, server->node, &lease, &done, &model->f->err));
    end_transaction(model, server);
    size_t i = number_of(model, lease.job_id);
    model->published[i] += done;
    assert_true(model->published[i] <= 1);
    assert_true(!done || lease.fence == model->fences[i]);
}

static void end_server(struct model *model, struct server *server, enum lease_end_kind kind)
{
    server->held_count = 0;
    server->silent_until_s = 0;
    begin_transaction(model, server);
    assert_ok(model->f, lease_give_back(server->db, server->node, 0, kind, &model->f->err));
    end_transaction(model, server);
}

static void step(struct model *model)
{
    struct server *server = &model->servers[pick(model, SERVERS)];
    switch (pick(model, 16)) {
    case 0:
    case 1:
    case 2:
        set_clock(model, model->now_s + pick(model, 12));
        break;
    case 3:
        server->silent_until_s = model->now_s + pick(model, 90);
        break;
    case 4:
        end_server(model, server, pick(model, 2) == 0 ? LEASE_CRASHED : LEASE_UNUSED);
        break;
    case 5:
        server->held_count = 0; /* it forgets, and never comes back as that */
        break;
    case 6:
        claim_beside(model, server, &model->servers[pick(model, SERVERS)]);
        break;
    case 7:
    case 8:
        publish_one(model, server);
        break;
    case 9:
    case 10:
    case 11:
        claim(model, server);
        break;
    default:
        renew(model, server);
        break;
    }
}

/* ---- the tests ---- */

static struct db *connect_server(struct fixture *f)
{
    char text[TEST_PATH_BYTES + 32];
    struct db *db = NULL;
    const char *url = database_of(f, text);
    if (url != NULL) {
        assert_ok(f, db_open_url(&db, url, DB_BESIDE, &f->err));
    } else {
        (void)snprintf(text, sizeof text, "%s/kinetoscope.db", f->dir);
        assert_ok(f, db_open(&db, text, DB_WRITER, &f->err));
    }
    return db;
}

static void add_jobs(struct model *model)
{
    for (size_t i = 0; i < JOBS; i++) {
        struct db_stmt st;
        char name[16];
        (void)snprintf(name, sizeof name, "f%zu", i % NAMES);
        db_prepare(&st, model->servers[0].db,
                   "INSERT INTO job (run, file_name, sha256, size_bytes, replace, state,"
                   " received_at_s) VALUES ('r', ?, '', 1, 1, 'queued', 1) RETURNING id");
        db_put_text(&st, name);
        assert_ok(model->f, db_run_returning(&st, &model->jobs[i], &model->f->err));
    }
}

/* All servers work, and nobody ends any more. */
static void come_to_an_end(struct model *model)
{
    for (int round = 0; round < 4 * JOBS; round++) {
        set_clock(model, model->now_s + STORE_LEASE_S + 1);
        for (size_t i = 0; i < SERVERS; i++) {
            struct server *server = &model->servers[i];
            server->silent_until_s = 0;
            if (round < 2 && server->held_count == 0) {
                end_server(model, server, LEASE_CRASHED);
            }
            claim(model, server);
            publish_one(model, server);
        }
    }
    for (size_t i = 0; i < JOBS; i++) {
        int64_t done =
            ask(model, "SELECT count(*) FROM job WHERE id = ? AND state = 'done'", model->jobs[i]);
        int64_t crashed = ask(model,
                              "SELECT count(*) FROM job WHERE id = ? AND state = 'failed' AND"
                              " attempts >= 3",
                              model->jobs[i]);
        assert_int_equal(done + crashed, 1);
        assert_int_equal(done, model->published[i]);
    }
}

static void no_job_is_published_twice(void **state)
{
    struct fixture *f = *state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct model model = {.f = f, .random = seed * UINT64_C(0x9E3779B97F4A7C15)};
        for (size_t i = 0; i < SERVERS; i++) {
            model.servers[i].db = connect_server(f);
            (void)snprintf(model.servers[i].node, sizeof model.servers[i].node, "n%zu", i);
        }
        if (!tests_on_server() || seed == 1) {
            for (size_t i = 0; i < SERVERS; i++) {
                begin_clock(&model, model.servers[i].db);
            }
        }
        set_clock(&model, 1000);
        add_jobs(&model);
        for (int i = 0; i < STEPS; i++) {
            step(&model);
        }
        come_to_an_end(&model);
        for (size_t i = 0; i < SERVERS; i++) {
            db_close(model.servers[i].db);
        }
    }
}

/* ---- equal uploads ---- */

static int64_t add_equal(struct fixture *f, const struct store_job *job, bool expect_new)
{
    int64_t id = 0;
    bool is_new = !expect_new;
    assert_ok(f, store_job_add(f->store, job, &id, &is_new, &f->err));
    assert_int_equal(is_new, expect_new);
    return id;
}

static void of_equal_uploads_one_is_queued(void **state)
{
    struct fixture *f = *state;
    char sha256_hex[SHA256_HEX_BYTES];
    commit_bytes(f, "bytes", sha256_hex);
    struct store_job job = {.run = "run",
                            .file_name = "file",
                            .sha256_hex = sha256_hex,
                            .size_bytes = 5,
                            .rank = STORE_NO_RANK};
    int64_t id = add_equal(f, &job, true);
    assert_int_equal(add_equal(f, &job, false), id);
    /* Whatever tells them apart. */
    struct store_job other = job;
    other.rank = 1;
    assert_int_not_equal(add_equal(f, &other, true), id);
    other = job;
    other.marker = "step";
    (void)add_equal(f, &other, true);
    other = job;
    other.file_name = "another";
    (void)add_equal(f, &other, true);
    other = job;
    other.may_have_twin = true;
    (void)add_equal(f, &other, true);
    /* One that has ended is no twin any more. */
    const struct err failure = {
        .code = ERR_BAD_INPUT, .msg = "nonsense", .byte_off = ERR_NO_OFFSET};
    assert_ok(f, store_job_arrived(f->store, id, sha256_hex, &f->err));
    assert_ok(f, store_job_failed(f->store, id, &failure, &f->err));
    commit_bytes(f, "bytes", sha256_hex);
    int64_t next = add_equal(f, &job, true);
    assert_int_not_equal(next, id);
    assert_int_equal(add_equal(f, &job, false), next);
}

/* ---- servers of two versions ---- */

static void change(struct fixture *f, const char *sql, int64_t value)
{
    assert_ok(f, store_write_begin(f->store, STORE_DURABLE, &f->err));
    assert_ok(f,
              store_write_end(f->store, db_run_id(f->store->writer, sql, value, &f->err), &f->err));
}

static int64_t claimed_by_another(struct fixture *f)
{
    struct lease lease;
    assert_ok(f, store_write_begin(f->store, STORE_DURABLE, &f->err));
    assert_ok(f, store_write_end(
                     f->store, lease_claim(f->store->writer, "another", &lease, &f->err), &f->err));
    return lease.job_id;
}

/* What a newer program has analysed is queued again: an older one neither takes it, nor publishes
 * over it what it was at meanwhile. */
static void results_of_a_newer_program_stay(void **state)
{
    struct fixture *f = *state;
    static const char set_version[] = "UPDATE upload SET analysis_version = ? WHERE published = 1";
    struct trace_results results = {.device_type = "GPU", .views = 1};
    int64_t job_id = add_job(f, "run", "file", "bytes", false);
    int64_t trace_id = publish(f, job_id, "worker", "1", &results);
    change(f, set_version, ANALYSIS_VERSION + 1);
    change(f, "UPDATE job SET state = 'queued' WHERE id = ?", job_id);
    struct store_ingest *ingest;
    assert_ok(f, store_ingest_begin(f->store, job_id, &ingest, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "worker", "1", "chrome-trace", &results, &f->err));
    assert_fails(f, store_ingest_publish(ingest, &f->err), ERR_CONFLICT);
    assert_int_equal(trace_of_job(f, job_id), trace_id);
    int64_t derived_id;
    assert_fails(f, store_derived_write(f->store, trace_id, &results, &derived_id, &f->err),
                 ERR_UNAVAILABLE);
    change(f, "UPDATE job SET node = 'gone', lease_until_s = 0, attempts = 0 WHERE id = ?", job_id);
    assert_int_equal(claimed_by_another(f), 0);
    /* Nor does it queue it, on request or at a start with other rules. */
    change(f, "UPDATE job SET state = 'done' WHERE id = ?", job_id);
    struct store_again_batch batch = {.after_id = 0};
    const struct store_again all = {.run = NULL};
    assert_ok(f, store_queue_again(f->store, &f->arena, &all, &batch, &f->err));
    assert_int_equal(batch.count + batch.left, 0);
    change(f, "UPDATE trace SET has_kernel = 1 WHERE id = ?", trace_id);
    assert_ok(f, store_follow_rules(f->store, "others", &f->err));
    assert_int_equal(claimed_by_another(f), 0);
    change(f, set_version, ANALYSIS_VERSION);
    assert_ok(
        f, store_queue_again(f->store, &f->arena, &all, &(struct store_again_batch){0}, &f->err));
    assert_int_equal(claimed_by_another(f), job_id);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_job_is_published_twice),
        TEST(results_of_a_newer_program_stay),
        TEST(of_equal_uploads_one_is_queued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
