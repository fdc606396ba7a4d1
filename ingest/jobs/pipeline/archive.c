#include "ingest/jobs/pipeline/archive.h"

#include "ingest/input/tar.h"
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

bool pipeline_is_archive(struct input *in, bool *is_archive, struct err *err)
{
    const char *window;
    size_t len = 0;
    bool ok = input_peek(in, &window, &len, err);
    *is_archive = ok && tar_recognises(window, len);
    return ok;
}

/* ---- names ---- */

static bool read_names(struct archive *archive, struct input *in, struct err *err)
{
    struct tar_entry entry;
    bool has_entry = true;
    bool ok = tar_open(&archive->tar, in, err);
    while (ok && has_entry) {
        ok = tar_next(archive->tar, &entry, &has_entry, err);
        if (ok && has_entry && entry.fault == NULL) {
            ok = member_names_add(&archive->names, entry.path, err) &&
                 ascend_folders_note(&archive->folders, archive->tar, &entry, err);
        }
    }
    tar_close(archive->tar);
    archive->tar = NULL;
    input_close(in);
    return ok && member_names_settle(&archive->names, err);
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
        called.worker = folder->name;
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

static bool
read_archive(struct archive *archive, struct input *names_of, const char *path, struct err *err)
{
    struct input *in;
    pipeline_set_stage(archive->way, STAGE_READING);
    if (!read_names(archive, names_of, err) || !input_open_file(&in, path, err)) {
        return false;
    }
    input_limit(in, &archive->way->input_limits);
    pipeline_report(archive->way, in);
    bool ok = read_members(archive, in, err);
    input_close(in);
    return ok && (archive->read_count > 0 || refuse_empty(archive, err));
}

bool pipeline_archive(const struct pipeline_way *way,
                      struct input *in,
                      const char *path,
                      struct err *err)
{
    struct archive archive = {.way = way, .first_failure = ERR_INIT};
    member_names_init(&archive.names);
    bool ok = read_archive(&archive, in, path, err);
    member_names_free(&archive.names);
    ascend_folders_free(&archive.folders);
    return ok;
}
