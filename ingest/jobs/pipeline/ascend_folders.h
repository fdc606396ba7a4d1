/* Folders of the Ascend PyTorch Profiler in an archive (`*_ascend_pt`): one folder is one trace,
 * whose worker is the folder's name [FMT-1.1]. Its tables are read while names are, its
 * trace_view.json, or where there is none its database, with the other members. */
#ifndef KS_JOBS_PIPELINE_ASCEND_FOLDERS_H
#define KS_JOBS_PIPELINE_ASCEND_FOLDERS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/ascend/tables.h"
#include "ingest/input/tar.h"

#include <stdbool.h>
#include <stddef.h>

struct ascend_folder {
    char *name;
    struct ascend_tables *tables;
    bool has_trace;
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
/* The folder of a member; NULL: none. */
struct ascend_folder *ascend_folders_of(const struct ascend_folders *folders, const char *path);
/* Whether this member is the folder's trace. */
bool ascend_folder_takes(const struct ascend_folder *folder, const char *path, bool *is_view);

#endif
