#include "ingest/formats/database/recordings.h"

#include "ingest/formats/reader.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "SQLite format 3"

bool recordings_recognise(const char *window, size_t len)
{
    return len >= sizeof MAGIC && memcmp(window, MAGIC, sizeof MAGIC) == 0;
}

struct kind {
    const char *format;
    const char *recorder;
    recording_reader *read;
};

/* NULL: a database of something else. */
static const struct kind *kind_of(struct tables *tables)
{
    static const struct kind ascend = {"ascend-db", "torch_npu", ascend_recording_read};
    static const struct kind rpd = {"rpd", "rocmProfileData", rpd_recording_read};
    static const struct kind rocpd = {"rocpd-db", "rocprofv3", rocpd_recording_read};
    static const struct kind nsys = {"nsys-sqlite", "Nsight Systems", nsys_recording_read};
    char name[TABLES_NAME_BYTES];
    if (tables_has(tables, "TASK") && tables_has(tables, "STRING_IDS")) {
        return &ascend;
    }
    if (tables_has(tables, "rocpd_op") && tables_has(tables, "rocpd_api")) {
        return &rpd;
    }
    if (tables_find(tables, "rocpd_kernel_dispatch", name)) {
        return &rocpd;
    }
    static const char *const of_nsys[] = {"StringIds", "NVTX_EVENTS", "OSRT_API",
                                          "CUDA_GPU_MEMORY_USAGE_EVENTS"};
    bool is_nsys = tables_find(tables, "CUPTI_", name);
    for (size_t i = 0; i < sizeof of_nsys / sizeof *of_nsys; i++) {
        is_nsys = is_nsys || tables_has(tables, of_nsys[i]);
    }
    return is_nsys ? &nsys : NULL;
}

static bool read_opened(struct recording *recording,
                        const struct format_options *options,
                        struct format_item *item,
                        const char **format,
                        struct err *err)
{
    struct err why = ERR_INIT;
    recording->tables.is_damaged = database_is_cut(&recording->tables.db);
    bool has = false;
    if (!database_has_table(&recording->tables.db, "StringIds", &has, &why)) {
        *err = why;
        return false;
    }
    const struct kind *kind = kind_of(&recording->tables);
    if (kind == NULL) {
        return err_set(err, ERR_UNSUPPORTED,
                       "this is an SQLite database, but no recording: it has neither the tables of "
                       "Nsight Systems nor those of rocprofv3, rocmProfileData or Ascend");
    }
    relay_init(&recording->relay, kind->recorder);
    *format = kind->format;
    bool ok = (id_texts_init(&recording->texts) ||
               err_set(err, ERR_NO_MEMORY, "no memory for the texts of a database")) &&
              kind->read(recording, options, &item->model, err);
    id_texts_free(&recording->texts);
    relay_free(&recording->relay);
    return ok;
}

bool recordings_read(struct text_stream *stream,
                     const struct format_options *options,
                     struct format_bundle *bundle,
                     struct err *err)
{
    struct recording *recording = calloc(1, sizeof *recording);
    struct format_item item = {.worker = NULL};
    const char *format = NULL;
    if (recording == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a recording");
    }
    bool ok = database_open(&recording->tables.db, stream, err) &&
              read_opened(recording, options, &item, &format, err);
    database_close(&recording->tables.db);
    free(recording);
    if (!ok || !format_bundle_one(bundle, item, err)) {
        return false;
    }
    bundle->format = format;
    return true;
}
