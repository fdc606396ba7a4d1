#include "ingest/jobs/pipeline/ascend_folders.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/affix.h"
#include "ingest/base/text/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX "_ascend_pt"
#define OUTPUT "ASCEND_PROFILER_OUTPUT"
#define VIEW "trace_view.json"
#define DATABASE "ascend_pytorch_profiler"
/* A larger table is left out, and so are tables beyond so many folders. */
#define TABLE_BYTES_MAX ((size_t)256 << 20)
#define TOO_LARGE "the table is larger than 256 MiB"
#define ELSEWHERE                                              \
    "the tables are not in the folder of trace_view.json: put" \
    " them there, and upload the whole folder"
#define FOLDERS_MAX 4096
#define BASE_BYTES 256

/* ---- names ---- */

/* The name of a file without what says that it is packed; members are unpacked by their content. */
static void base_name(const char *path, char base[BASE_BYTES])
{
    const char *slash = strrchr(path, '/');
    (void)snprintf(base, BASE_BYTES, "%s", slash == NULL ? path : slash + 1);
    size_t len = strlen(base);
    len -= text_ends(base, ".gz") ? strlen(".gz") : text_ends(base, ".zst") ? strlen(".zst") : 0;
    base[len] = '\0';
}

static bool is_view(const char *path)
{
    char base[BASE_BYTES];
    base_name(path, base);
    return text_is_any_case(base, VIEW);
}

/* Beside its own the profiler leaves those that it was made from, and one of another kind. */
static bool is_database(const char *path)
{
    char base[BASE_BYTES];
    base_name(path, base);
    return text_ends(base, ".db") && !text_is_any_case(base, "analysis.db");
}

static bool is_own_database(const char *path)
{
    char base[BASE_BYTES];
    base_name(path, base);
    return text_begins(base, DATABASE) && is_database(path);
}

static bool is_table(const char *path)
{
    char base[BASE_BYTES];
    base_name(path, base);
    return ascend_tables_know(base);
}

/* What else the profiler writes beside its trace, none of which is one. */
static bool is_other_output(const char *path)
{
    static const char *const others[] = {"api_statistic.csv",
                                         "communication_matrix.json",
                                         "data_preprocess.csv",
                                         "l2_cache.csv",
                                         "npu_module_mem.csv",
                                         "op_statistic.csv",
                                         "operator_details.csv",
                                         "pcie.csv",
                                         "hccs.csv",
                                         "nic.csv",
                                         "roce.csv",
                                         "soc_pmu.csv",
                                         "step_trace_time.csv",
                                         "task_time.csv",
                                         "analysis.db",
                                         "profiler_metadata.json"};
    char base[BASE_BYTES];
    base_name(path, base);
    return TEXT_IS_ONE_OF(base, others);
}

static bool is_part(const char *part, size_t len, const char *name)
{
    return len == strlen(name) && memcmp(part, name, len) == 0;
}

/* What the profiler records below a folder, before it is made into tables. */
static bool is_raw_part(const char *part, size_t len)
{
    return (len > 5 && memcmp(part, "PROF_", 5) == 0) || is_part(part, len, "FRAMEWORK") ||
           is_part(part, len, "logs");
}

/* How much of a path is its folder. False: it has none. */
static bool find_folder(const char *path, size_t *len, bool *is_named)
{
    const char *slash;
    *is_named = true;
    for (const char *part = path; (slash = strchr(part, '/')) != NULL; part = slash + 1) {
        size_t part_len = (size_t)(slash - part);
        if (text_ends_within(part, part_len, SUFFIX)) {
            *len = (size_t)(slash - path);
            return true;
        }
        if (is_part(part, part_len, OUTPUT)) {
            *len = part == path ? 0 : (size_t)(part - path) - 1;
            return true;
        }
    }
    slash = strrchr(path, '/');
    *len = slash == NULL ? 0 : (size_t)(slash - path);
    *is_named = false;
    return is_view(path) || is_table(path) || is_own_database(path) || is_other_output(path);
}

/* ---- the list ---- */

void ascend_folders_free(struct ascend_folders *folders)
{
    for (size_t i = 0; i < folders->count; i++) {
        free(folders->items[i].path);
        ascend_tables_free(folders->items[i].tables);
    }
    scratch_free(folders->items);
    *folders = (struct ascend_folders){.items = NULL};
}

static struct ascend_folder *
find(const struct ascend_folders *folders, const char *path, size_t len)
{
    for (size_t i = folders->count; i-- > 0;) { /* members of a folder stand together */
        struct ascend_folder *folder = &folders->items[i];
        if (strlen(folder->path) == len && memcmp(folder->path, path, len) == 0) {
            return folder;
        }
    }
    return NULL;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* NULL without memory. */
static struct ascend_folder *add(struct ascend_folders *folders, const char *path, size_t len)
{
    struct ascend_folder *grown =
        scratch_grow(folders->items, folders->count, &folders->cap, sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    folders->items = grown;
    struct ascend_folder *folder = &grown[folders->count];
    *folder = (struct ascend_folder){.path = strndup(path, len), .tables = ascend_tables_create()};
    folders->count++;
    return folder->path == NULL || folder->tables == NULL ? NULL : folder;
}

static bool is_folder(const struct ascend_folder *folder)
{
    return folder->is_named || folder->has_trace || folder->has_database;
}

bool ascend_folder_is_raw(const struct ascend_folder *folder)
{
    return folder->is_named && !folder->has_trace && !folder->has_database;
}

struct ascend_folder *ascend_folders_of(const struct ascend_folders *folders, const char *path)
{
    size_t len;
    bool is_named;
    const char *slash;
    struct ascend_folder *found =
        find_folder(path, &len, &is_named) ? find(folders, path, len) : NULL;
    for (const char *part = path; found == NULL && (slash = strchr(part, '/')) != NULL;
         part = slash + 1) {
        bool is_raw = is_raw_part(part, (size_t)(slash - part));
        found = is_raw ? find(folders, path, part == path ? 0 : (size_t)(part - path) - 1) : NULL;
    }
    return found != NULL && is_folder(found) ? found : NULL;
}

/* Directly in the folder, or in its output. */
static bool is_near(const struct ascend_folder *folder, const char *path)
{
    const char *rest = path + strlen(folder->path);
    rest += *rest == '/';
    rest += text_begins(rest, OUTPUT "/") ? strlen(OUTPUT "/") : 0;
    return strchr(rest, '/') == NULL;
}

bool ascend_folder_takes(const struct ascend_folder *folder, const char *path, bool *view)
{
    *view = is_view(path);
    return *view || (!folder->has_trace && is_database(path) && is_near(folder, path));
}

/* ---- tables ---- */

/* The bytes of the member. */
static bool read_table(struct tar *tar, struct buf *bytes, struct err *err)
{
    struct input *in = NULL;
    const char *window = NULL;
    size_t len = 1;
    bool ok = tar_member(tar, &in, err);
    while (ok && len > 0) {
        ok = input_next(in, 0, &window, &len, err);
        if (ok) {
            buf_append(bytes, window, len);
        }
    }
    input_close(in);
    return ok;
}

static bool
take_table(struct ascend_folder *folder, struct tar *tar, const char *path, struct err *err)
{
    char base[BASE_BYTES];
    struct buf bytes;
    buf_init(&bytes, TABLE_BYTES_MAX);
    base_name(path, base);
    folder->table_count++;
    bool ok = read_table(tar, &bytes, err);
    if (ok && bytes.failed) {
        ascend_tables_leave_out(folder->tables, base, TOO_LARGE, 1);
    } else if (ok && bytes.len > 0) {
        size_t len = bytes.len;
        char *padding = buf_room(&bytes, INPUT_PADDING_BYTES);
        if (padding != NULL) {
            memset(padding, 0, INPUT_PADDING_BYTES);
        }
        ok = (padding != NULL && ascend_tables_add(folder->tables, base, bytes.ptr, len)) ||
             err_set(err, ERR_NO_MEMORY, "no memory for the tables of a trace");
    }
    buf_free(&bytes);
    return ok;
}

bool ascend_folders_note(struct ascend_folders *folders,
                         struct tar *tar,
                         const struct tar_entry *entry,
                         struct err *err)
{
    size_t len;
    bool is_named;
    if (!find_folder(entry->path, &len, &is_named)) {
        return true;
    }
    struct ascend_folder *folder = find(folders, entry->path, len);
    if (folder == NULL && folders->count < FOLDERS_MAX) {
        folder = add(folders, entry->path, len);
        if (folder == NULL) {
            return err_set(err, ERR_NO_MEMORY, "no memory for the folders of an archive");
        }
    }
    if (folder == NULL) {
        return true;
    }
    folder->is_named = folder->is_named || is_named;
    folder->has_trace = folder->has_trace || is_view(entry->path);
    folder->has_database =
        folder->has_database || (is_database(entry->path) && is_near(folder, entry->path));
    return !is_table(entry->path) || take_table(folder, tar, entry->path, err);
}

/* ---- the whole ---- */

static bool has_twin(const struct ascend_folders *folders, const struct ascend_folder *folder)
{
    for (size_t i = 0; i < folders->count; i++) {
        const struct ascend_folder *other = &folders->items[i];
        if (other != folder && is_folder(other) &&
            strcmp(last_part(other->path), last_part(folder->path)) == 0) {
            return true;
        }
    }
    return false;
}

static void tell_of_tables(const struct ascend_folders *folders, struct ascend_folder *folder)
{
    for (size_t i = 0; i < folders->count; i++) {
        const struct ascend_folder *other = &folders->items[i];
        bool is_lost = !other->has_trace && !other->has_database && other->table_count > 0;
        if (is_lost) {
            ascend_tables_leave_out(folder->tables, *other->path == '\0' ? "tables" : other->path,
                                    ELSEWHERE, other->table_count);
        }
    }
}

void ascend_folders_settle(struct ascend_folders *folders)
{
    for (size_t i = 0; i < folders->count; i++) {
        struct ascend_folder *folder = &folders->items[i];
        if (!is_folder(folder)) {
            continue;
        }
        const char *name = has_twin(folders, folder) ? folder->path : last_part(folder->path);
        folder->worker = *name == '\0' ? NULL : name;
        if (folder->has_trace && folder->table_count == 0) {
            tell_of_tables(folders, folder);
        }
    }
}
