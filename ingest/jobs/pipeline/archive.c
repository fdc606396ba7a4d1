#include "ingest/jobs/pipeline/archive.h"

#include "ingest/input/tar.h"
#include "ingest/input/zip.h"
#include "ingest/jobs/pipeline/ascend_folders.h"
#include "ingest/jobs/pipeline/member_names.h"

#include <string.h>

/* From here on it is not the member that is at fault but the machine or who takes the traces. */
#define FIRST_FATAL_STATUS 500

struct archive {
    const struct pipeline_way *way;
    struct tar *tar;
    struct member_names names;
    struct ascend_folders folders;
    size_t next_name;
    size_t read_count; /* members that gave traces */
    size_t failure_count;
    struct err first_failure; /* with its member's path before it */
    bool same_code;           /* all failures have that of the first */
};

static bool look(struct input *in, bool *is_tar, bool *is_zip, struct err *err)
{
    const char *window;
    size_t len = 0;
    bool ok = input_peek(in, &window, &len, err);
    *is_tar = ok && tar_recognises(window, len);
    *is_zip = ok && zip_recognises(window, len) && input_container(in) == INPUT_PLAIN;
    return ok;
}

bool pipeline_is_archive(struct input *in, bool *is_archive, struct err *err)
{
    bool is_tar;
    bool is_zip;
    bool ok = look(in, &is_tar, &is_zip, err);
    *is_archive = is_tar || is_zip;
    return ok;
}

/* ---- the file ---- */

/* An archive file; a zip reads as the tar of its files. */
struct archive_file {
    struct input *in;
    struct zip *zip; /* NULL: a tar */
};

static void close_file(struct archive_file *file)
{
    input_close(file->in);
    zip_close(file->zip);
}

/* Of a file that is none, `is_archive` is false, and `in` its own bytes. On false it is closed. */
static bool open_file(struct archive_file *file,
                      const char *path,
                      const struct input_limits *limits,
                      bool *is_archive,
                      struct err *err)
{
    bool is_tar = false;
    bool is_zip = false;
    *file = (struct archive_file){.zip = NULL};
    if (!input_open_file(&file->in, path, err)) {
        return false;
    }
    input_limit(file->in, limits);
    bool ok = look(file->in, &is_tar, &is_zip, err);
    *is_archive = is_tar || is_zip;
    if (ok && is_zip) {
        input_close(file->in);
        ok = zip_open(&file->zip, &file->in, path, limits, err);
    }
    if (!ok) {
        close_file(file);
    }
    return ok;
}

/* ---- names ---- */

/* `folders`: NULL: not asked for. */
static bool list_names(struct input *in,
                       struct member_names *names,
                       struct ascend_folders *folders,
                       struct err *err)
{
    struct tar *tar = NULL;
    struct tar_entry entry;
    bool has_entry = true;
    bool ok = tar_open(&tar, in, err);
    while (ok && has_entry) {
        ok = tar_next(tar, &entry, &has_entry, err);
        if (ok && has_entry && entry.fault == NULL) {
            ok = member_names_add(names, entry.path, err) &&
                 (folders == NULL || ascend_folders_note(folders, tar, &entry, err));
        }
    }
    tar_close(tar);
    return ok && member_names_settle(names, err);
}

static bool read_names(struct archive *archive, struct input *in, struct err *err)
{
    bool ok = list_names(in, &archive->names, &archive->folders, err);
    ascend_folders_settle(&archive->folders);
    return ok;
}

/* ---- members ---- */

static bool
fail_member(struct archive *archive, const char *member, const struct err *error, struct err *err)
{
    const struct pipeline_sink *sink = archive->way->sink;
    if (err_http_status(error->code) >= FIRST_FATAL_STATUS) {
        *err = *error;
        return *member == '\0' ? false : err_context(err, "%s", member);
    }
    if (archive->failure_count++ == 0) {
        archive->first_failure = *error;
        archive->same_code = true;
        if (*member != '\0') {
            (void)err_context(&archive->first_failure, "%s", member);
        }
    }
    archive->same_code = archive->same_code && error->code == archive->first_failure.code;
    return sink->failed(sink->context, member, error, err);
}

static bool read_opened(struct archive *archive,
                        struct input *in,
                        const struct pipeline_name *name,
                        struct err *err)
{
    bool is_archive = false;
    if (!pipeline_is_archive(in, &is_archive, err)) {
        input_close(in);
        return false;
    }
    if (is_archive) {
        input_close(in);
        return err_set(err, ERR_UNSUPPORTED,
                       "an archive within an archive is not read: upload it on its own");
    }
    return pipeline_file(archive->way, in, name, err);
}

/* The trace of a folder, with the tables that were read before. */
static bool read_folder(struct archive *archive,
                        struct input *member,
                        struct ascend_folder *folder,
                        bool is_view,
                        const struct pipeline_name *name,
                        struct err *err)
{
    struct input *in = NULL;
    if (!is_view) {
        return read_opened(archive, member, name, err);
    }
    if (folder->is_read) {
        input_close(member);
        return err_set(err, ERR_BAD_INPUT, "the folder has another trace_view.json, which is read");
    }
    folder->is_read = true;
    if (!ascend_tables_open(folder->tables, member, &in, err)) {
        return false;
    }
    bool ok = pipeline_file(archive->way, in, name, err);
    ascend_tables_close(folder->tables);
    return ok;
}

static bool read_member(struct archive *archive, const struct member_name *name, struct err *err)
{
    struct pipeline_name called = {
        .file_name = name->path, .worker = name->worker, .member = name->path};
    struct err error = ERR_INIT;
    struct input *in;
    struct ascend_folder *folder = ascend_folders_of(&archive->folders, name->path);
    bool is_view = false;
    if (folder != NULL) {
        if (!ascend_folder_takes(folder, name->path, &is_view)) {
            return true;
        }
        called.worker = folder->worker == NULL ? name->worker : folder->worker;
    }
    if (tar_member(archive->tar, &in, &error) &&
        (folder == NULL ? read_opened(archive, in, &called, &error)
                        : read_folder(archive, in, folder, is_view, &called, &error))) {
        archive->read_count++;
        return true;
    }
    return fail_member(archive, name->path, &error, err);
}

static bool take_entry(struct archive *archive, const struct tar_entry *entry, struct err *err)
{
    if (entry->fault != NULL) {
        return fail_member(archive, entry->path, entry->fault, err);
    }
    if (archive->next_name == archive->names.count) {
        return err_set(err, ERR_IO, "the archive has changed while it was read");
    }
    const struct member_name *name = &archive->names.names[archive->next_name++];
    return name->worker == NULL || read_member(archive, name, err);
}

/* Tells of folders that the profiler has not worked up. */
static bool fail_raw_folders(struct archive *archive, struct err *err)
{
    struct err error = ERR_INIT;
    bool ok = true;
    (void)err_set(&error, ERR_BAD_INPUT,
                  "the folder has neither trace_view.json nor a database of the profiler: call "
                  "torch_npu.profiler.profiler.analyse() with it, and upload it again");
    for (size_t i = 0; ok && i < archive->folders.count; i++) {
        const struct ascend_folder *folder = &archive->folders.items[i];
        ok = !ascend_folder_is_raw(folder) || fail_member(archive, folder->path, &error, err);
    }
    return ok;
}

static bool read_members(struct archive *archive, struct input *in, struct err *err)
{
    struct tar_entry entry;
    bool has_entry = true;
    bool ok = tar_open(&archive->tar, in, err);
    while (ok && has_entry) {
        pipeline_set_stage(archive->way, STAGE_READING);
        ok = tar_next(archive->tar, &entry, &has_entry, err) &&
             (!has_entry || take_entry(archive, &entry, err));
    }
    tar_close(archive->tar);
    return ok;
}

/* ---- the whole ---- */

static bool refuse_empty(const struct archive *archive, struct err *err)
{
    const struct err *first = &archive->first_failure;
    if (archive->failure_count == 0) {
        return err_set(err, ERR_BAD_INPUT, "the archive holds no file");
    }
    return err_set(err, archive->same_code ? first->code : ERR_BAD_INPUT,
                   archive->failure_count == 1 ? "nothing of the archive could be read: %s"
                                               : "nothing of the archive could be read: first, %s",
                   first->msg);
}

/* `read` of the archive's bytes, which are opened for it. */
static bool with_file(struct archive *archive,
                      const char *path,
                      bool (*read)(struct archive *archive, struct input *in, struct err *err),
                      struct err *err)
{
    struct archive_file file;
    bool is_archive = false;
    if (!open_file(&file, path, &archive->way->input_limits, &is_archive, err)) {
        return false;
    }
    pipeline_report(archive->way, file.in);
    bool ok = read(archive, file.in, err);
    close_file(&file);
    return ok;
}

bool pipeline_archive(const struct pipeline_way *way,
                      struct input *in,
                      const char *path,
                      struct err *err)
{
    struct archive archive = {.way = way, .first_failure = ERR_INIT};
    input_close(in);
    member_names_init(&archive.names);
    pipeline_set_stage(way, STAGE_READING);
    bool ok = with_file(&archive, path, read_names, err) &&
              with_file(&archive, path, read_members, err) && fail_raw_folders(&archive, err) &&
              (archive.read_count > 0 || refuse_empty(&archive, err));
    member_names_free(&archive.names);
    ascend_folders_free(&archive.folders);
    return ok;
}

/* ---- one member ---- */

/* The member's place in the archive; SIZE_MAX: none. */
static bool
find_worker(struct archive_file *file, const char *worker, size_t *place, struct err *err)
{
    struct member_names names;
    member_names_init(&names);
    bool ok = list_names(file->in, &names, NULL, err);
    *place = SIZE_MAX;
    for (size_t i = 0; ok && i < names.count && *place == SIZE_MAX; i++) {
        const char *name = names.names[i].worker;
        *place = name != NULL && strcmp(name, worker) == 0 ? i : SIZE_MAX;
    }
    member_names_free(&names);
    return ok && (*place != SIZE_MAX ||
                  err_set(err, ERR_NOT_FOUND, "the archive has no file of the worker %s", worker));
}

static bool read_place(struct archive_file *file,
                       size_t place,
                       bool (*read)(void *context, struct input *in, struct err *err),
                       void *context,
                       struct err *err)
{
    struct tar *tar = NULL;
    struct tar_entry entry;
    struct input *in = NULL;
    bool has_entry = true;
    bool ok = tar_open(&tar, file->in, err);
    for (size_t i = 0; ok && has_entry;) {
        ok = tar_next(tar, &entry, &has_entry, err);
        if (ok && has_entry && entry.fault == NULL && i++ == place) {
            ok = tar_member(tar, &in, err) && read(context, in, err);
            break;
        }
    }
    input_close(in);
    tar_close(tar);
    return ok;
}

bool pipeline_read_worker(const char *path,
                          const char *worker,
                          const struct input_limits *limits,
                          bool (*read)(void *context, struct input *in, struct err *err),
                          void *context,
                          struct err *err)
{
    struct archive_file file;
    bool is_archive = false;
    size_t place = 0;
    if (!open_file(&file, path, limits, &is_archive, err)) {
        return false;
    }
    if (!is_archive) {
        bool read_well = read(context, file.in, err);
        close_file(&file);
        return read_well;
    }
    bool ok = find_worker(&file, worker, &place, err);
    close_file(&file);
    if (!ok || !open_file(&file, path, limits, &is_archive, err)) {
        return false;
    }
    ok = read_place(&file, place, read, context, err);
    close_file(&file);
    return ok;
}
