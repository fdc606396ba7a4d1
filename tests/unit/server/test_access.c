#include "server/access.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* sha256 of "view", "up" and "root" */
#define HASH_VIEW "2bcb43cbc8f6b7ef66331532881143fcbae60a879db3a8fb853f645bb24c2b3c"
#define HASH_UP "75a288c0d6898c5f7b054590845978a82a3ad79fcce3d43ff68a7501e5a91ee9"
#define HASH_ROOT "4813494D137E1631BBA301D5ACAB6E7BB7AA74CE1185D456565EF51D737677B2"

static char *write_file(const char *text)
{
    char *path = strdup("/tmp/ks_access_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(close(fd), 0);
    return path;
}

static bool load(const char *text, struct access **access, struct err *err)
{
    char *path = write_file(text);
    bool ok = access_load(access, path, err);
    (void)unlink(path);
    free(path);
    return ok;
}

static const char tokens[] = "# people\n"
                             "viewer   ann  " HASH_VIEW "\n"
                             "\n"
                             "uploader  ci\t" HASH_UP "  # the nightly job\n"
                             "admin root " HASH_ROOT "\r\n";

static void roles_are_a_ladder(void **state)
{
    (void)state;
    struct access *access = NULL;
    struct err err = ERR_INIT;
    assert_true(load(tokens, &access, &err));
    static const struct {
        const char *authorization;
        enum access_role needed;
        enum err_code expect;
    } rows[] = {
        {NULL, ACCESS_NOBODY, ERR_NONE},
        {NULL, ACCESS_VIEWER, ERR_UNAUTHORIZED},
        {"Bearer nonsense", ACCESS_VIEWER, ERR_UNAUTHORIZED},
        {"Bearer ", ACCESS_VIEWER, ERR_UNAUTHORIZED},
        {"view", ACCESS_VIEWER, ERR_UNAUTHORIZED},
        {"Bearer view", ACCESS_VIEWER, ERR_NONE},
        {"bearer view", ACCESS_VIEWER, ERR_NONE},
        {"Bearer view", ACCESS_UPLOADER, ERR_FORBIDDEN},
        {"Bearer up", ACCESS_VIEWER, ERR_NONE},
        {"Bearer up", ACCESS_UPLOADER, ERR_NONE},
        {"Bearer up", ACCESS_ADMIN, ERR_FORBIDDEN},
        {"Bearer root", ACCESS_ADMIN, ERR_NONE},
        /* anyone:view, :up and no colon */
        {"Basic YW55b25lOnZpZXc=", ACCESS_VIEWER, ERR_NONE},
        {"Basic OnVw", ACCESS_UPLOADER, ERR_NONE},
        {"Basic dmlldw==", ACCESS_VIEWER, ERR_UNAUTHORIZED},
        {"Basic *", ACCESS_VIEWER, ERR_UNAUTHORIZED},
        {"Basic ", ACCESS_VIEWER, ERR_UNAUTHORIZED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err refused = ERR_INIT;
        bool ok = access_check(access, rows[i].authorization, rows[i].needed, &refused);
        assert_int_equal(ok, rows[i].expect == ERR_NONE);
        assert_int_equal(refused.code, rows[i].expect);
    }
    access_free(access);
}

static void without_tokens_everyone_may_everything(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    assert_true(access_check(NULL, NULL, ACCESS_ADMIN, &err));
}

static void bad_files_name_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *expect;
    } rows[] = {
        {"", "no token"},
        {"# nothing\n", "no token"},
        {"viewer ann\n", "line 1"},
        {"\nviewer ann 12\n", "line 2"},
        {"owner ann " HASH_VIEW "\n", "viewer, uploader or admin"},
        {"viewer ann " HASH_VIEW " more\n", "line 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct access *access = NULL;
        struct err err = ERR_INIT;
        assert_false(load(rows[i].text, &access, &err));
        assert_non_null(strstr(err.msg, rows[i].expect));
    }
    struct access *access = NULL;
    struct err err = ERR_INIT;
    assert_false(access_load(&access, "/nonexistent/tokens", &err));
    assert_int_equal(err.code, ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles_are_a_ladder),
        cmocka_unit_test(without_tokens_everyone_may_everything),
        cmocka_unit_test(bad_files_name_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
