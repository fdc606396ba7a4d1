#include "ingest/jobs/pipeline/member_names.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/formats/format.h"
#include "ingest/jobs/pipeline/rank_name.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_MAX_BYTES ((size_t)128 << 20)

/* How much of its path a member's worker has. */
enum depth { DEPTH_BASE, DEPTH_DIRECTORY, DEPTH_DIRECTORIES, DEPTH_PATH };

/* A member while the names are being settled. */
struct candidate {
    struct member_name *name;
    const char *base;   /* the worker that the base name gives */
    const char *span;   /* its digits, "" when none */
    const char *worker; /* at the depth of its group */
};

void member_names_init(struct member_names *names)
{
    *names = (struct member_names){.count = 0};
    arena_init(&names->arena, NAMES_MAX_BYTES);
}

void member_names_free(struct member_names *names)
{
    scratch_free(names->names);
    arena_free(&names->arena);
}

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the names in an archive");
}

bool member_names_add(struct member_names *names, const char *path, struct err *err)
{
    if (names->count == MEMBER_NAMES_MAX) {
        return err_set(err, ERR_BAD_INPUT, "the archive has more than %u files: upload it in parts",
                       MEMBER_NAMES_MAX);
    }
    struct member_name *grown =
        scratch_grow(names->names, names->count, &names->capacity, sizeof *grown);
    if (grown == NULL) {
        return no_memory(err);
    }
    names->names = grown;
    const char *copy = arena_strdup(&names->arena, path);
    names->names[names->count] = (struct member_name){.path = copy};
    names->count += copy != NULL;
    return copy != NULL || no_memory(err);
}

/* ---- comparing ---- */

ORDER_BY(by_path, struct candidate, ORDER_TEXT(name->path), ORDER_UP(name))

ORDER_BY(by_base, struct candidate, ORDER_TEXT(base))

ORDER_BY(by_worker, struct candidate, ORDER_TEXT(worker), ORDER_TEXT(span))

/* ---- one worker's members ---- */

/* The directory of a path ends here; the path itself when it has none. */
static const char *end_of_directories(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash;
}

static const char *last_directory(const char *path)
{
    const char *end = end_of_directories(path);
    const char *begin = end;
    while (begin > path && begin[-1] != '/') {
        begin--;
    }
    return begin;
}

static const char *worker_at(struct arena *arena, const struct candidate *member, enum depth depth)
{
    const char *path = member->name->path;
    const char *end = end_of_directories(path);
    if (depth == DEPTH_PATH) {
        return path;
    }
    if (depth == DEPTH_BASE || end == path) {
        return member->base;
    }
    const char *begin = depth == DEPTH_DIRECTORY ? last_directory(path) : path;
    size_t dir_len = (size_t)(end - begin);
    size_t base_len = strlen(member->base);
    char *worker = arena_alloc(arena, dir_len + base_len + 2);
    if (worker != NULL) {
        memcpy(worker, begin, dir_len);
        worker[dir_len] = '/';
        memcpy(worker + dir_len + 1, member->base, base_len + 1);
    }
    return worker;
}

/* What a directory says of the rank must not be lost. */
static bool rank_depth(struct arena *arena, const struct candidate *member, enum depth *depth)
{
    const char *directory = worker_at(arena, member, DEPTH_DIRECTORY);
    const char *directories = worker_at(arena, member, DEPTH_DIRECTORIES);
    if (directory == NULL || directories == NULL) {
        return false;
    }
    if (rank_of_name(member->base) != RANK_NAME_NONE ||
        rank_of_name(directories) == RANK_NAME_NONE) {
        *depth = DEPTH_BASE;
    } else {
        *depth = rank_of_name(directory) != RANK_NAME_NONE ? DEPTH_DIRECTORY : DEPTH_DIRECTORIES;
    }
    return true;
}

static bool are_distinct(struct candidate *members, size_t count)
{
    qsort(members, count, sizeof *members, by_worker);
    for (size_t i = 1; i < count; i++) {
        if (by_worker(&members[i - 1], &members[i]) == 0) {
            return false;
        }
    }
    return true;
}

/* All are of one base name's worker. */
static bool settle_group(struct arena *arena, struct candidate *members, size_t count)
{
    enum depth depth = DEPTH_BASE;
    for (size_t i = 0; i < count; i++) {
        enum depth needed;
        if (!rank_depth(arena, &members[i], &needed)) {
            return false;
        }
        depth = needed > depth ? needed : depth;
    }
    for (;; depth++) {
        for (size_t i = 0; i < count; i++) {
            members[i].worker = worker_at(arena, &members[i], depth);
            if (members[i].worker == NULL) {
                return false;
            }
        }
        if (are_distinct(members, count) || depth == DEPTH_PATH) {
            break;
        }
    }
    for (size_t i = 0; i < count; i++) {
        members[i].name->worker = members[i].worker;
    }
    return true;
}

/* ---- all ---- */

static bool split_base(struct arena *arena, struct candidate *member)
{
    char *worker;
    char *span;
    if (!format_split_name(member->name->path, &worker, &span)) {
        return false;
    }
    member->base = arena_strdup(arena, worker);
    member->span = arena_strdup(arena, span);
    free(worker);
    free(span);
    return member->base != NULL && member->span != NULL;
}

/* Leaves those that count; of equal paths the last. */
static size_t drop_superseded(struct candidate *members, size_t count)
{
    size_t kept = 0;
    qsort(members, count, sizeof *members, by_path);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count || strcmp(members[i].name->path, members[i + 1].name->path) != 0) {
            members[kept++] = members[i];
        }
    }
    return kept;
}

static bool settle(struct member_names *names, struct candidate *members)
{
    struct arena *arena = &names->arena;
    for (size_t i = 0; i < names->count; i++) {
        members[i].name = &names->names[i];
    }
    size_t count = drop_superseded(members, names->count);
    for (size_t i = 0; i < count; i++) {
        if (!split_base(arena, &members[i])) {
            return false;
        }
    }
    qsort(members, count, sizeof *members, by_base);
    for (size_t begin = 0; begin < count;) {
        size_t end = begin + 1;
        while (end < count && by_base(&members[begin], &members[end]) == 0) {
            end++;
        }
        if (!settle_group(arena, members + begin, end - begin)) {
            return false;
        }
        begin = end;
    }
    return true;
}

bool member_names_settle(struct member_names *names, struct err *err)
{
    struct candidate *members = calloc(names->count + 1, sizeof *members);
    bool ok = members != NULL && settle(names, members);
    free(members);
    return ok || no_memory(err);
}
