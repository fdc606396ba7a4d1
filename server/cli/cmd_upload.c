/* upload and watch: files to a server elsewhere, each with its link. */
#include "ingest/formats/format.h"
#include "server/cli/commands.h"
#include "server/cli/file_list.h"
#include "server/cli/text.h"
#include "server/client/http_client.h"
#include "server/client/remote.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define RETRIES 5U

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A line a file: its path, its link. The code of ERR_NONE when all went well. */
static enum err_code send_file(const struct options *options, const char *path)
{
    const struct remote remote = {options->server_url, options->token, RETRIES};
    struct arena arena;
    struct err err = ERR_INIT;
    struct buf line;
    const char *url = "";
    arena_init(&arena, 0);
    buf_init(&line, (size_t)64 << 10);
    const struct remote_upload upload = {
        .run = options->run != NULL ? options->run : file_list_run_of(&arena, path),
        .path = path,
        .name = text_file_name(path),
        .project = options->run_project,
        .rank = options->rank,
        .tags = options->tags,
        .tag_count = options->tag_count};
    bool ok = remote_put(&remote, &arena, &upload, &url, &err);
    if (ok) {
        text_clean(&line, path);
        buf_puts(&line, ": ");
        text_clean(&line, url);
        (void)printf("%s\n", line.ptr);
        (void)fflush(stdout);
    } else {
        text_print_error(stderr, path, &err);
    }
    buf_free(&line);
    arena_free(&arena);
    return ok ? ERR_NONE : err.code;
}

/* ---- upload ---- */

static bool send_below(const struct options *options, const char *path)
{
    struct arena arena;
    struct err err = ERR_INIT;
    struct file_list files = {.arena = &arena};
    if (!is_directory(path)) {
        return send_file(options, path) == ERR_NONE;
    }
    arena_init(&arena, 0);
    bool ok = file_list_find(&files, path, format_has_name, &err) &&
              (files.count > 0 || err_set(&err, ERR_NOT_FOUND, "no trace is there"));
    if (!ok) {
        text_print_error(stderr, path, &err);
    }
    for (size_t i = 0; i < files.count; i++) {
        ok = send_file(options, files.paths[i]) == ERR_NONE && ok;
    }
    arena_free(&arena);
    return ok;
}

int command_upload(const struct options *options)
{
    struct err err = ERR_INIT;
    bool ok = true;
    if (!http_client_is_built(&err)) {
        text_print_error(stderr, NULL, &err);
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < options->file_count; i++) {
        ok = send_below(options, options->files[i]) && ok;
    }
    return ok ? EXIT_DONE : EXIT_FAILED;
}

/* ---- watch ---- */

/* A file as one look found it. */
struct seen {
    const char *path;
    int64_t size_bytes;
    struct timespec changed;
    bool is_done; /* sent, or refused: not offered again while it stays as it is */
};

struct look {
    struct arena arena;
    struct seen *files; /* by path */
    size_t count;
};

static bool is_same(const struct seen *a, const struct seen *b)
{
    return a->size_bytes == b->size_bytes && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

static bool look_at(struct look *look, const char *directory, struct err *err)
{
    struct file_list files = {.arena = &look->arena};
    arena_init(&look->arena, 0);
    look->count = 0;
    if (!file_list_find(&files, directory, format_has_name, err)) {
        return false;
    }
    look->files = arena_calloc(&look->arena, files.count + 1, sizeof *look->files);
    if (look->files == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the names of the files");
    }
    for (size_t i = 0; i < files.count; i++) {
        struct stat status;
        if (stat(files.paths[i], &status) == 0) {
            look->files[look->count++] =
                (struct seen){files.paths[i], status.st_size, status.st_mtim, .is_done = false};
        }
    }
    return true;
}

/* Whether the file is as the look before found it: its writer is done. `*at` goes through that
 * look, as both are in order. */
static bool is_settled(const struct look *before, size_t *at, struct seen *file)
{
    while (*at < before->count && strcmp(before->files[*at].path, file->path) < 0) {
        (*at)++;
    }
    bool is_there = *at < before->count && strcmp(before->files[*at].path, file->path) == 0 &&
                    is_same(&before->files[*at], file);
    file->is_done = is_there && before->files[*at].is_done;
    return is_there;
}

/* Sends what has settled. Returns whether all is done; `*failed` becomes true for a file that did
 * not get there. One that the server could not be asked about is offered again in the next look,
 * unless there is none; an empty one is only being begun, unless there is none. */
static bool send_settled(const struct options *options,
                         const struct look *before,
                         struct look *now,
                         bool *failed)
{
    size_t at = 0;
    bool all = true;
    for (size_t i = 0; i < now->count; i++) {
        struct seen *file = &now->files[i];
        bool is_begun = options->once || file->size_bytes > 0;
        if (is_settled(before, &at, file) && !file->is_done && is_begun) {
            enum err_code code = send_file(options, file->path);
            *failed = *failed || code != ERR_NONE;
            file->is_done = options->once || code != ERR_UNAVAILABLE;
        }
        all = all && file->is_done;
    }
    return all;
}

int command_watch(const struct options *options)
{
    struct err err = ERR_INIT;
    struct look looks[2];
    bool failed = false;
    bool ok = http_client_is_built(&err);
    arena_init(&looks[0].arena, 0);
    looks[0].files = NULL;
    looks[0].count = 0;
    for (bool all = false; ok && !all;) {
        ok = look_at(&looks[1], options->files[0], &err);
        all = ok && send_settled(options, &looks[0], &looks[1], &failed) && options->once;
        arena_free(&looks[0].arena);
        looks[0] = looks[1];
        if (ok && !all) {
            const struct timespec pause = {.tv_sec = (time_t)options->every_s};
            (void)nanosleep(&pause, NULL);
        }
    }
    arena_free(&looks[0].arena);
    if (!ok) {
        text_print_error(stderr, NULL, &err);
    }
    return ok && !failed ? EXIT_DONE : EXIT_FAILED;
}
