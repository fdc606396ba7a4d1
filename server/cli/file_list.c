#include "server/cli/file_list.h"

#include "ingest/base/order.h"
#include "ingest/base/text/affix.h"
#include "server/cli/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILES_MAX 10000

bool file_list_is_trace(const char *name)
{
    return text_ends(name, ".json") || text_ends(name, ".json.gz") || text_ends(name, ".json.zst");
}

bool file_list_add(struct file_list *list, const char *path, struct err *err)
{
    if (list->count == FILES_MAX) {
        return err_set(err, ERR_TOO_LARGE, "more than %d files; name a smaller directory",
                       FILES_MAX);
    }
    const char **paths =
        arena_grow(list->arena, list->paths, list->count, &list->capacity, sizeof *paths);
    const char *copy = arena_strdup(list->arena, path);
    if (paths == NULL || copy == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the names of the files");
    }
    list->paths = paths;
    paths[list->count++] = copy;
    return true;
}

const char *file_list_join(struct arena *arena, const char *directory, const char *name)
{
    size_t directory_len = strlen(directory);
    size_t name_len = strlen(name);
    char *path = arena_alloc(arena, directory_len + name_len + 2);
    if (path != NULL) {
        memcpy(path, directory, directory_len);
        path[directory_len] = '/';
        memcpy(path + directory_len + 1, name, name_len);
        path[directory_len + 1 + name_len] = '\0';
    }
    return path;
}

/* What stands in one directory: files that `wanted` takes, and further directories. Links to
 * directories are not followed, so that there is an end. One below another may vanish meanwhile. */
static bool read_directory(const char *directory,
                           bool is_below,
                           bool (*wanted)(const char *name),
                           struct file_list *directories,
                           struct file_list *files,
                           struct err *err)
{
    DIR *dir = opendir(directory);
    if (dir == NULL && errno == ENOENT && is_below) {
        return true;
    }
    if (dir == NULL) {
        return err_set_errno(err, ERR_IO, errno, "the directory cannot be read");
    }
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(dir)) != NULL;) {
        struct stat status;
        bool is_self = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        const char *path = is_self ? NULL : file_list_join(files->arena, directory, entry->d_name);
        if (path == NULL || lstat(path, &status) != 0) {
            continue;
        }
        if (S_ISDIR(status.st_mode)) {
            ok = file_list_add(directories, path, err);
        } else if (wanted(entry->d_name)) {
            ok = file_list_add(files, path, err);
        }
    }
    (void)closedir(dir);
    return ok;
}

bool file_list_find(struct file_list *files,
                    const char *path,
                    bool (*wanted)(const char *name),
                    struct err *err)
{
    struct file_list directories = {.arena = files->arena};
    if (!file_list_add(&directories, path, err)) {
        return false;
    }
    for (size_t i = 0; i < directories.count; i++) {
        if (!read_directory(directories.paths[i], i > 0, wanted, &directories, files, err)) {
            return err_context(err, "%s", directories.paths[i]);
        }
    }
    if (files->count > 0) {
        qsort(files->paths, files->count, sizeof *files->paths, order_text_at);
    }
    return true;
}

const char *file_list_run_of(struct arena *arena, const char *path)
{
    size_t len = (size_t)(text_file_name(path) - path);
    while (len > 0 && path[len - 1] == '/') {
        len--;
    }
    size_t begin = len;
    while (begin > 0 && path[begin - 1] != '/') {
        begin--;
    }
    const char *run = arena_strndup(arena, path + begin, len - begin);
    bool names_one = run != NULL && *run != '\0' && strcmp(run, ".") != 0 && strcmp(run, "..") != 0;
    return names_one ? run : "default";
}
