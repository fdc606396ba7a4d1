/* What a server elsewhere is sent, and what its answers mean. */
#include "ingest/store/store.h"
#include "server/client/http_client.h"
#include "server/client/remote.h"
#include "tests/unit/server/scripted_server.h"

#include <sys/stat.h>
#include <time.h>

#define CREATED                    \
    "HTTP/1.1 201 Created\r\n\r\n" \
    "{\"traces\": [{\"url\": \"http://h/#/trace/1\"}]}"

static void write_file(char path[64], const char *name, const char *text, size_t repeat)
{
    char folder[] = "/tmp/kinetoscope-remote-XXXXXX";
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, 64, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (size_t i = 0; i < repeat; i++) {
        assert_true(fputs(text, file) >= 0);
    }
    assert_int_equal(fclose(file), 0);
}

static void remove_file(char path[64])
{
    assert_int_equal(unlink(path), 0);
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0);
}

struct put {
    bool ok;
    double seconds;
    struct err err;
    char url[64];
};

static struct put
put(struct scripted_server *server, const char *path, const char *name, unsigned retries)
{
    const struct remote remote = {server->url, "secret", retries};
    static const char *const tags[] = {"branch=a&b", "c"};
    const struct remote_upload upload = {.run = "a b",
                                         .path = path,
                                         .name = name,
                                         .project = "team/x",
                                         .rank = 3,
                                         .tags = tags,
                                         .tag_count = 2};
    struct put put = {.err = ERR_INIT};
    struct arena arena;
    struct timespec begin;
    struct timespec end;
    const char *url = "";
    arena_init(&arena, 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    put.ok = remote_put(&remote, &arena, &upload, &url, &put.err);
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    put.seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    (void)snprintf(put.url, sizeof put.url, "%s", url);
    arena_free(&arena);
    return put;
}

static struct put
put_small(const char *const *answers, size_t count, unsigned retries, size_t asked)
{
    struct scripted_server server;
    char path[64];
    write_file(path, "w.json", "{}", 1);
    scripted_begin(&server, answers, count);
    struct put done = put(&server, path, "w.json", retries);
    scripted_end(&server);
    assert_int_equal(server.asked, asked);
    scripted_free(&server);
    remove_file(path);
    return done;
}

static void a_file_goes_to_its_run_with_the_token(void **state)
{
    static const char *const answers[] = {CREATED};
    struct scripted_server server;
    char path[64];
    write_file(path, "w.json", "{}", 1);
    scripted_begin(&server, answers, 1);
    struct put done = put(&server, path, "w.json", 0);
    scripted_end(&server);
    assert_true(done.ok);
    assert_string_equal(done.url, "http://h/#/trace/1");
    const char *request = server.requests[0];
    assert_non_null(strstr(request, "PUT /api/v1/runs/a%20b/traces/w.json?project=team%2Fx&rank=3"
                                    "&tag=branch%3Da%26b&tag=c HTTP/1.1"));
    assert_non_null(strstr(request, "Authorization: Bearer secret"));
    assert_string_equal(strstr(request, "\r\n\r\n") + 4, "{}");
    scripted_free(&server);
    remove_file(path);
}

static void a_large_text_is_packed(void **state)
{
    static const char *const answers[] = {CREATED};
    struct scripted_server server;
    char path[64];
    write_file(path, "w.json", "          ", 10000);
    scripted_begin(&server, answers, 1);
    struct put done = put(&server, path, "w.json", 0);
    scripted_end(&server);
    assert_true(done.ok);
    assert_non_null(strstr(server.requests[0], "/traces/w.json.gz?"));
    assert_true(server.lengths[0] < 2000);
    const char *body = strstr(server.requests[0], "\r\n\r\n") + 4;
    assert_memory_equal(body, "\x1f\x8b", 2);
    scripted_free(&server);
    remove_file(path);
}

static void it_tries_again_while_the_server_is_busy_or_breaks_off(void **state)
{
    static const char *const answers[] = {"HTTP/1.1 503 Busy\r\n\r\n{\"detail\": \"later\"}",
                                          CREATED};
    static const char *const cut[] = {"", CREATED};
    assert_true(put_small(answers, 2, 1, 2).ok);
    assert_true(put_small(cut, 2, 1, 2).ok);
}

static void it_waits_as_long_as_the_server_asks(void **state)
{
    static const char *const answers[] = {"HTTP/1.1 429 Slow\r\nRetry-After: 2\r\n\r\n", CREATED};
    struct put done = put_small(answers, 2, 1, 2);
    assert_true(done.ok);
    assert_true(done.seconds >= 2);
}

static void it_gives_up_after_its_retries(void **state)
{
    static const char *const answers[] = {"HTTP/1.1 503 Busy\r\n\r\n{\"detail\": \"later\"}", "",
                                          CREATED};
    struct put done = put_small(answers, 3, 0, 1);
    assert_false(done.ok);
    assert_int_equal(done.err.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(done.err.msg, "503: later"));
}

static void what_is_refused_is_not_tried_again(void **state)
{
    static const struct {
        const char *answer;
        enum err_code code;
    } refusals[] = {
        {"HTTP/1.1 400 Bad\r\n\r\n{\"detail\": \"why\"}", ERR_BAD_REQUEST},
        {"HTTP/1.1 401 Who\r\n\r\n", ERR_FORBIDDEN},
        {"HTTP/1.1 302 Moved\r\nLocation: /\r\n\r\n", ERR_FORBIDDEN},
        {"HTTP/1.1 422 No\r\n\r\n{\"d", ERR_FORBIDDEN},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct put done = put_small(&refusals[i].answer, 1, 5, 1);
        assert_false(done.ok);
        assert_int_equal(done.err.code, refusals[i].code);
    }
}

static void only_regular_files_are_sent(void **state)
{
    struct scripted_server server;
    char path[64];
    write_file(path, "pipe", "", 0);
    scripted_begin(&server, NULL, 0);
    assert_int_equal(unlink(path), 0);
    struct put gone = put(&server, path, "pipe", 5);
    assert_false(gone.ok);
    assert_int_equal(gone.err.code, ERR_IO);
    assert_non_null(strstr(gone.err.msg, "No such file"));
    assert_int_equal(mkfifo(path, 0600), 0);
    struct put pipe = put(&server, path, "pipe", 5);
    assert_false(pipe.ok);
    assert_int_equal(pipe.err.code, ERR_IO);
    assert_non_null(strstr(pipe.err.msg, "regular"));
    scripted_end(&server);
    scripted_free(&server);
    remove_file(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_goes_to_its_run_with_the_token),
        cmocka_unit_test(a_large_text_is_packed),
        cmocka_unit_test(it_tries_again_while_the_server_is_busy_or_breaks_off),
        cmocka_unit_test(it_waits_as_long_as_the_server_asks),
        cmocka_unit_test(it_gives_up_after_its_retries),
        cmocka_unit_test(what_is_refused_is_not_tried_again),
        cmocka_unit_test(only_regular_files_are_sent),
    };
    struct err err = ERR_INIT;
    if (!http_client_is_built(&err)) {
        print_message("skipped: %s\n", err.msg);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
