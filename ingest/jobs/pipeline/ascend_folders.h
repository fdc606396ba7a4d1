/* Folders of the Ascend PyTorch Profiler in an archive: one folder is one trace, whose worker is
 * the folder's name [FMT-1.1]. A folder is known by its suffix `_ascend_pt`, by
 * ASCEND_PROFILER_OUTPUT in it, or by a trace_view.json or the profiler's database beside its
 * tables. The tables are read while names are, its trace_view.json, or where there is none its
 * database, with the other members. */
#ifndef KS_JOBS_PIPELINE_ASCEND_FOLDERS_H
#define KS_JOBS_PIPELINE_ASCEND_FOLDERS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/ascend/tables.h"
#include "ingest/input/tar.h"

#include <stdbool.h>
#include <stddef.h>

struct ascend_folder {
    char *path;         /* in the archive; "": its root */
    const char *worker; /* NULL: of no name */
    struct ascend_tables *tables;
    size_t table_count;
    bool is_named; /* by its suffix, or by ASCEND_PROFILER_OUTPUT */
    bool has_trace, has_database;
    bool is_read; /* its trace */
};

struct ascend_folders {
    struct ascend_folder *items;
    size_t count;
    size_t cap;
};

void ascend_folders_free(struct ascend_folders *folders);
/* Takes note of a member, and reads it if it is a table. Errors: those of input_next,
 * ERR_NO_MEMORY.
 */
bool ascend_folders_note(struct ascend_folders *folders,
                         struct tar *tar,
                         const struct tar_entry *entry,
                         struct err *err) KS_MUST_USE;
/* Once all members are noted: gives folders of one name their paths as workers, and tells a trace
 * without tables of those that lie elsewhere. */
void ascend_folders_settle(struct ascend_folders *folders);
/* The folder of a member; NULL: none. */
struct ascend_folder *ascend_folders_of(const struct ascend_folders *folders, const char *path);
/* Whether this member is the folder's trace. */
bool ascend_folder_takes(const struct ascend_folder *folder, const char *path, bool *is_view);
/* Whether the folder has nothing that could be a trace, though it is one of the profiler. */
bool ascend_folder_is_raw(const struct ascend_folder *folder);

#endif
