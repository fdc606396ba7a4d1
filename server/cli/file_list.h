/* The files below a directory. */
#ifndef KS_SERVER_CLI_FILE_LIST_H
#define KS_SERVER_CLI_FILE_LIST_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Begin with the arena and zeroes. */
struct file_list {
    struct arena *arena;
    const char **paths;
    size_t count, capacity;
};

/* ERR_TOO_LARGE beyond ten thousand files; ERR_NO_MEMORY. */
bool file_list_add(struct file_list *list, const char *path, struct err *err) KS_MUST_USE;
/* Adds every file below `directory` whose name `wanted` takes, and sorts the list. Links to
 * directories are not followed; one below that vanishes meanwhile is empty. ERR_IO: a directory
 * cannot be read. */
bool file_list_find(struct file_list *list,
                    const char *directory,
                    bool (*wanted)(const char *name),
                    struct err *err) KS_MUST_USE;
/* "directory/name" in the arena; NULL without memory. */
const char *file_list_join(struct arena *arena, const char *directory, const char *name);
/* The run that a file belongs to when nothing names one: "a/b/c.json" -> "b", in the arena;
 * "default" for a file of the working directory, which has no directory in its path. */
const char *file_list_run_of(struct arena *arena, const char *path);
/* Whether the name ends as JSON traces do: .json, .json.gz, .json.zst. */
bool file_list_is_trace(const char *name);

#endif
