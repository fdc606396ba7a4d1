#include "server/auth/access.h"
#include "server/auth/credentials.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* sha256 of "view", "up" and "root" */
#define HASH_VIEW "2bcb43cbc8f6b7ef66331532881143fcbae60a879db3a8fb853f645bb24c2b3c"
#define HASH_UP "75a288c0d6898c5f7b054590845978a82a3ad79fcce3d43ff68a7501e5a91ee9"
#define HASH_ROOT "4813494D137E1631BBA301D5ACAB6E7BB7AA74CE1185D456565EF51D737677B2"

static void rewrite(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static char *write_file(const char *text)
{
    char *path = strdup("/tmp/ks_access_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    rewrite(path, text);
    return path;
}

static struct access *
open_access(const char *token_file, struct store *store, bool anonymous, bool loopback)
{
    const struct access_options options = {.token_file = token_file,
                                           .store = store,
                                           .allow_anonymous = anonymous,
                                           .on_loopback = loopback};
    struct access *access = NULL;
    struct err err = ERR_INIT;
    if (!access_create(&access, &options, &err)) {
        print_message("%s\n", err.msg);
    }
    assert_non_null(access);
    return access;
}

/* What comes of this header: the role, or the error as a negative number. */
static int
enter_from(struct access *access, const char *client, const char *authorization, const char *cookie)
{
    const struct access_claim claim = {client, authorization, cookie};
    struct access_visit visit;
    struct err err = ERR_INIT;
    bool stopped = false;
    bool ok = access_enter(access, &claim, &visit, &stopped, &err);
    int result = ok ? (int)visit.subject.role : -(int)err.code;
    access_leave(access, &visit);
    return result;
}

static int enter(struct access *access, const char *authorization)
{
    return enter_from(access, "10.0.0.1", authorization, NULL);
}

static const char tokens[] = "# people\n"
                             "viewer   ann  " HASH_VIEW "\n"
                             "\n"
                             "uploader  ci\t" HASH_UP " a,b-c  # the nightly job\n"
                             "admin root " HASH_ROOT "\r\n";

static void a_file_gives_roles(void **state)
{
    char *path = write_file(tokens);
    struct access *access = open_access(path, NULL, false, true);
    assert_true(access_has_tokens(access));
    static const struct {
        const char *authorization;
        int expect;
    } rows[] = {
        {NULL, ACCESS_ROLE_NOBODY},
        {"Bearer nonsense", -ERR_UNAUTHORIZED},
        {"Bearer ", -ERR_UNAUTHORIZED},
        {"view", -ERR_UNAUTHORIZED},
        {"Bearer view", ACCESS_ROLE_VIEWER},
        {"bearer  view", ACCESS_ROLE_VIEWER},
        {"Bearer up", ACCESS_ROLE_UPLOADER},
        {"Bearer root", ACCESS_ROLE_ADMIN},
        /* anyone:view, :up and no colon */
        {"Basic YW55b25lOnZpZXc=", ACCESS_ROLE_VIEWER},
        {"Basic OnVw", ACCESS_ROLE_UPLOADER},
        {"Basic dmlldw==", -ERR_UNAUTHORIZED},
        {"Basic *", -ERR_UNAUTHORIZED},
        {"Basic ", -ERR_UNAUTHORIZED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(enter(access, rows[i].authorization), rows[i].expect);
    }
    const struct access_claim claim = {"10.0.0.1", "Bearer up", NULL};
    struct access_visit visit;
    struct err err = ERR_INIT;
    bool stopped = false;
    assert_true(access_enter(access, &claim, &visit, &stopped, &err));
    assert_string_equal(visit.subject.name, "ci");
    assert_string_equal(visit.subject.projects, "[\"a\", \"b-c\"]");
    assert_true(access_check(&visit.subject, ACCESS_ROLE_UPLOADER, &err));
    assert_false(access_check(&visit.subject, ACCESS_ROLE_ADMIN, &err));
    assert_int_equal(err.code, ERR_FORBIDDEN);
    access_leave(access, &visit);
    access_free(access);
    (void)unlink(path);
    free(path);
}

static void nobody_is_somebody_only_where_it_is_said(void **state)
{
    char *path = write_file(tokens);
    struct access *access = open_access(NULL, NULL, false, true);
    assert_int_equal(enter(access, NULL), ACCESS_ROLE_ADMIN);
    assert_int_equal(enter(access, "Bearer whatever"), ACCESS_ROLE_ADMIN);
    assert_false(access_has_tokens(access));
    access_free(access);
    /* Beyond loopback the absence of tokens opens nothing by itself. */
    access = open_access(NULL, NULL, false, false);
    assert_int_equal(enter(access, NULL), ACCESS_ROLE_NOBODY);
    access_free(access);
    access = open_access(NULL, NULL, true, false);
    assert_int_equal(enter(access, NULL), ACCESS_ROLE_ADMIN);
    access_free(access);
    access = open_access(path, NULL, true, false);
    assert_int_equal(enter(access, NULL), ACCESS_ROLE_VIEWER);
    assert_int_equal(enter(access, "Bearer wrong"), -ERR_UNAUTHORIZED);
    const struct access_claim claim = {.client = "10.0.0.1"};
    struct access_visit visit;
    struct err err = ERR_INIT;
    bool stopped = false;
    assert_true(access_enter(access, &claim, &visit, &stopped, &err));
    assert_string_equal(visit.subject.projects, "[]");
    assert_null(visit.subject.name);
    access_leave(access, &visit);
    access_free(access);
    assert_int_equal(enter(NULL, NULL), ACCESS_ROLE_ADMIN);
    (void)unlink(path);
    free(path);
}

static void bad_files_name_the_line(void **state)
{
    static const struct {
        const char *text;
        const char *expect;
    } rows[] = {
        {"", "no token"},
        {"# nothing\n", "no token"},
        {"viewer ann\n", "line 1"},
        {"\nviewer ann 12\n", "line 2"},
        {"owner ann " HASH_VIEW "\n", "viewer, uploader or admin"},
        {"viewer ann " HASH_VIEW " a b\n", "line 1"},
        {"viewer ann " HASH_VIEW " a,<b>\n", "line 1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *path = write_file(rows[i].text);
        const struct access_options options = {.token_file = path};
        struct access *access = NULL;
        struct err err = ERR_INIT;
        assert_false(access_create(&access, &options, &err));
        assert_non_null(strstr(err.msg, rows[i].expect));
        (void)unlink(path);
        free(path);
    }
    const struct access_options options = {.token_file = "/nonexistent/tokens"};
    struct access *access = NULL;
    struct err err = ERR_INIT;
    assert_false(access_create(&access, &options, &err));
    assert_int_equal(err.code, ERR_IO);
}

static void a_changed_file_is_read_again(void **state)
{
    char *path = write_file("viewer ann " HASH_VIEW "\n");
    struct access *access = open_access(path, NULL, false, true);
    assert_int_equal(enter(access, "Bearer up"), -ERR_UNAUTHORIZED);
    rewrite(path, "uploader ci " HASH_UP "\n");
    access_reload(access);
    assert_int_equal(enter(access, "Bearer up"), ACCESS_ROLE_UPLOADER);
    assert_int_equal(enter(access, "Bearer view"), -ERR_UNAUTHORIZED);
    rewrite(path, "nonsense\n");
    access_reload(access);
    assert_int_equal(enter(access, "Bearer up"), ACCESS_ROLE_UPLOADER);
    /* Without being told, by its time or size. */
    rewrite(path, "admin somebody " HASH_ROOT "\n");
    for (int i = 0; i < 100 && enter(access, "Bearer root") != (int)ACCESS_ROLE_ADMIN; i++) {
        const struct timespec nap = {.tv_nsec = 50000000};
        (void)nanosleep(&nap, NULL);
    }
    assert_int_equal(enter_from(access, "10.0.0.9", "Bearer root", NULL), ACCESS_ROLE_ADMIN);
    access_free(access);
    (void)unlink(path);
    free(path);
}

static void who_is_wrong_too_often_waits(void **state)
{
    char *path = write_file(tokens);
    struct access *access = open_access(path, NULL, false, true);
    int last = 0;
    for (int i = 0; i < 30 && last != -ERR_TOO_MANY; i++) {
        last = enter(access, "Bearer wrong");
    }
    assert_int_equal(last, -ERR_TOO_MANY);
    /* Else a guess would be told by being let in. */
    assert_int_equal(enter(access, "Bearer view"), -ERR_TOO_MANY);
    assert_int_equal(enter_from(access, "10.0.0.2", "Bearer view", NULL), ACCESS_ROLE_VIEWER);
    assert_int_equal(enter(access, NULL), ACCESS_ROLE_NOBODY);
    access_free(access);
    (void)unlink(path);
    free(path);
}

/* ---- with a store ---- */

struct fixture {
    char dir[32];
    struct store *store;
    char hash[SHA256_HEX_BYTES];
    char secret[SECRET_BYTES];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct err err = ERR_INIT;
    memcpy(f->dir, "/tmp/ks_access_XXXXXX", sizeof "/tmp/ks_access_XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    assert_true(store_open(&f->store, f->dir, NULL, &err));
    assert_true(secret_make(f->secret, STORE_TOKEN_PREFIX, &err));
    assert_true(secret_hash(f->secret, f->hash, &err));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char command[64];
    store_close(f->store);
    (void)snprintf(command, sizeof command, "rm -rf %s", f->dir);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static void add_token(struct fixture *f)
{
    struct err err = ERR_INIT;
    const struct store_token token = {.name = "browser",
                                      .role = ACCESS_ROLE_UPLOADER,
                                      .sha256_hex = f->hash,
                                      .projects = "[\"a\"]"};
    assert_true(store_token_add(f->store, &token, &err));
}

static void the_first_token_closes_the_door_for_good(void **state)
{
    struct fixture *f = *state;
    struct access *access = open_access(NULL, f->store, false, true);
    struct err err = ERR_INIT;
    char header[SECRET_BYTES + 8];
    (void)snprintf(header, sizeof header, "Bearer %s", f->secret);
    assert_int_equal(enter(access, NULL), ACCESS_ROLE_ADMIN);
    add_token(f);
    assert_int_equal(enter(access, NULL), ACCESS_ROLE_NOBODY);
    assert_int_equal(enter(access, header), ACCESS_ROLE_UPLOADER);
    /* What nobody can guess passes also where others have guessed. */
    for (int i = 0; i < 15; i++) {
        (void)enter(access, "Bearer wrong");
    }
    assert_int_equal(enter(access, header), ACCESS_ROLE_UPLOADER);
    assert_true(store_token_revoke(f->store, "browser", &err));
    assert_int_equal(enter_from(access, "10.0.0.2", header, NULL), -ERR_UNAUTHORIZED);
    assert_int_equal(enter(access, NULL), ACCESS_ROLE_NOBODY);
    access_free(access);
}

static void a_browser_logs_in_and_out(void **state)
{
    struct fixture *f = *state;
    add_token(f);
    struct access *access = open_access(NULL, f->store, false, true);
    struct access_visit visit;
    struct err err = ERR_INIT;
    bool stopped = false;
    char secret[SECRET_BYTES];
    char cookie[SECRET_BYTES + 64];
    assert_false(access_log_in(access, "10.0.0.1", "nonsense", secret, &visit, &stopped, &err));
    assert_int_equal(err.code, ERR_UNAUTHORIZED);
    access_leave(access, &visit);
    assert_true(access_log_in(access, "10.0.0.1", f->secret, secret, &visit, &stopped, &err));
    access_leave(access, &visit);
    (void)snprintf(cookie, sizeof cookie, "other=1; " CREDENTIALS_COOKIE "=%s; x=2", secret);
    assert_int_equal(enter_from(access, "10.0.0.1", NULL, cookie), ACCESS_ROLE_UPLOADER);
    assert_int_equal(enter_from(access, "10.0.0.1", NULL, CREDENTIALS_COOKIE "=kss_nonsense"),
                     ACCESS_ROLE_NOBODY);
    assert_int_equal(enter_from(access, "10.0.0.1", NULL, CREDENTIALS_COOKIE "="),
                     ACCESS_ROLE_NOBODY);
    assert_true(access_log_out(access, cookie, &err));
    assert_int_equal(enter_from(access, "10.0.0.1", NULL, cookie), ACCESS_ROLE_NOBODY);
    /* A session ends with its token. */
    assert_true(access_log_in(access, "10.0.0.1", f->secret, secret, &visit, &stopped, &err));
    access_leave(access, &visit);
    (void)snprintf(cookie, sizeof cookie, CREDENTIALS_COOKIE "=%s", secret);
    assert_int_equal(enter_from(access, "10.0.0.1", NULL, cookie), ACCESS_ROLE_UPLOADER);
    assert_true(store_token_revoke(f->store, "browser", &err));
    assert_int_equal(enter_from(access, "10.0.0.1", NULL, cookie), ACCESS_ROLE_NOBODY);
    access_free(access);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_gives_roles),
        cmocka_unit_test(nobody_is_somebody_only_where_it_is_said),
        cmocka_unit_test(bad_files_name_the_line),
        cmocka_unit_test(a_changed_file_is_read_again),
        cmocka_unit_test(who_is_wrong_too_often_waits),
        cmocka_unit_test_setup_teardown(the_first_token_closes_the_door_for_good, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_browser_logs_in_and_out, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
