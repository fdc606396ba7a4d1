/* How upload, watch and gate end, and which files a directory has. */
#include "ingest/formats/format.h"
#include "ingest/store/store.h"
#include "server/cli/commands.h"
#include "server/cli/file_list.h"
#include "server/client/http_client.h"
#include "tests/unit/server/scripted_server.h"

#include <sys/stat.h>

#define CREATED "HTTP/1.1 201 Created\r\n\r\n{}"
#define REFUSED "HTTP/1.1 422 No\r\n\r\n{\"detail\": \"why\"}"

struct folder {
    char path[64];
    char file[96];
};

static void make_folder(struct folder *folder, const char *name)
{
    (void)snprintf(folder->path, sizeof folder->path, "/tmp/kinetoscope-cli-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    (void)snprintf(folder->file, sizeof folder->file, "%s/%s", folder->path, name);
    FILE *file = fopen(folder->file, "wb");
    assert_non_null(file);
    assert_true(fputs("{}", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void remove_folder(struct folder *folder)
{
    assert_int_equal(unlink(folder->file), 0);
    assert_int_equal(rmdir(folder->path), 0);
}

static struct options options_of(const struct scripted_server *server, char **path)
{
    struct options options = {.run = "r",
                              .rank = STORE_NO_RANK,
                              .files = path,
                              .file_count = 1,
                              .every_s = 1,
                              .once = true};
    (void)snprintf(options.server_url, sizeof options.server_url, "%s", server->url);
    return options;
}

static int run(int (*command)(const struct options *options), const char *answer, const char *name)
{
    struct scripted_server server;
    struct folder folder;
    make_folder(&folder, name);
    char *path = folder.path;
    scripted_begin(&server, &answer, 1);
    struct options options = options_of(&server, &path);
    int code = command(&options);
    scripted_end(&server);
    scripted_free(&server);
    remove_folder(&folder);
    return code;
}

static void upload_and_watch_fail_with_what_is_refused(void **state)
{
    assert_int_equal(run(command_upload, CREATED, "a.json"), EXIT_DONE);
    assert_int_equal(run(command_upload, REFUSED, "a.json"), EXIT_FAILED);
    assert_int_equal(run(command_watch, CREATED, "a.json"), EXIT_DONE);
    assert_int_equal(run(command_watch, REFUSED, "a.json"), EXIT_FAILED);
    assert_int_equal(run(command_upload, CREATED, "a.md"), EXIT_FAILED);
}

static int gate(const char *answer)
{
    struct scripted_server server;
    char name[] = "r";
    char *run = name;
    scripted_begin(&server, &answer, 1);
    struct options options = options_of(&server, &run);
    int code = command_gate(&options);
    scripted_end(&server);
    scripted_free(&server);
    return code;
}

static void a_gate_ends_as_the_server_judges(void **state)
{
    assert_int_equal(gate("HTTP/1.1 200 OK\r\n\r\n"
                          "{\"verdict\": \"pass\", \"exit_code\": 0, \"rows\": []}"),
                     EXIT_DONE);
    assert_int_equal(gate("HTTP/1.1 200 OK\r\n\r\n"
                          "{\"verdict\": \"fail\", \"exit_code\": 3, \"rows\": []}"),
                     EXIT_FAIL_IF);
    assert_int_equal(gate("HTTP/1.1 400 Bad\r\n\r\n{\"detail\": \"why\"}"), EXIT_USAGE);
    assert_int_equal(gate("HTTP/1.1 404 No\r\n\r\n"), EXIT_FAILED);
    assert_int_equal(gate("HTTP/1.1 200 OK\r\n\r\n{\"v"), EXIT_FAILED);
    assert_int_equal(gate(""), EXIT_FAILED);
}

static char vanishing[96];

/* Called for the files of a folder while its directories are still to be read. */
static bool wants_and_removes(const char *name)
{
    (void)rmdir(vanishing);
    return strcmp(name, "a.json") == 0;
}

static void a_folder_below_may_vanish_but_not_the_one_named(void **state)
{
    struct folder folder;
    struct arena arena;
    struct err err = ERR_INIT;
    make_folder(&folder, "a.json");
    (void)snprintf(vanishing, sizeof vanishing, "%s/below", folder.path);
    assert_int_equal(mkdir(vanishing, 0700), 0);
    arena_init(&arena, 0);
    struct file_list files = {.arena = &arena};
    assert_true(file_list_find(&files, folder.path, wants_and_removes, &err));
    assert_int_equal(files.count, 1);
    (void)rmdir(vanishing);
    assert_false(file_list_find(&files, vanishing, wants_and_removes, &err));
    assert_int_equal(err.code, ERR_IO);
    arena_free(&arena);
    remove_folder(&folder);
}

static void names_of_all_formats_are_known(void **state)
{
    static const char *const known[] = {"w.1.pt.trace.json.zst",
                                        "snapshot.pickle",
                                        "s.pkl.gz",
                                        "m.raw.gz",
                                        "r.sqlite",
                                        "p_0.db",
                                        "m.rpd",
                                        "h.xplane.pb",
                                        "t.pftrace",
                                        "t.perfetto-trace.gz",
                                        "s.speedscope.json",
                                        "p.hatchet",
                                        "c.folded",
                                        "k.csv",
                                        "f.tar.gz",
                                        "f.tgz",
                                        "f.zip",
                                        "w.json"};
    static const char *const unknown[] = {"r.nsys-rep", "README.md", "w.json.tmp",
                                          "x.gz",       "json",      ""};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!format_has_name(known[i])) {
            fail_msg("%s", known[i]);
        }
    }
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        if (format_has_name(unknown[i])) {
            fail_msg("%s", unknown[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest of_files[] = {
        cmocka_unit_test(a_folder_below_may_vanish_but_not_the_one_named),
        cmocka_unit_test(names_of_all_formats_are_known),
    };
    const struct CMUnitTest of_commands[] = {
        cmocka_unit_test(upload_and_watch_fail_with_what_is_refused),
        cmocka_unit_test(a_gate_ends_as_the_server_judges),
    };
    struct err err = ERR_INIT;
    int failed = cmocka_run_group_tests(of_files, NULL, NULL);
    return http_client_is_built(&err) ? failed + cmocka_run_group_tests(of_commands, NULL, NULL)
                                      : failed;
}
