#include "ingest/jobs/pipeline/pipeline.h"

#include "ingest/base/memory/heap.h"
#include "ingest/formats/perf_data/hardware_file.h"
#include "ingest/input/input.h"
#include "ingest/jobs/pipeline/archive.h"
#include "ingest/jobs/pipeline/file.h"

#include <stdlib.h>
#include <string.h>

const char *pipeline_stage_text(enum pipeline_stage stage)
{
    static const char *const texts[] = {[STAGE_QUEUED] = "queued",
                                        [STAGE_READING] = "reading",
                                        [STAGE_ANALYSING] = "analysing",
                                        [STAGE_STORING] = "storing",
                                        [STAGE_DONE] = "done"};
    return texts[stage];
}

/* ---- one trace after the other ---- */

static bool read_single_file(const struct pipeline_way *way,
                             struct input *in,
                             const char *file_name,
                             struct err *err)
{
    pipeline_report(way, in);
    return pipeline_file(way, in, &(struct pipeline_name){.file_name = file_name}, err);
}

static bool open_and_read(const struct pipeline_way *way,
                          const char *path,
                          const char *file_name,
                          struct err *err)
{
    struct input *in;
    bool is_archive = false;
    if (!input_open_file(&in, path, err)) {
        return false;
    }
    input_limit(in, &way->input_limits);
    if (!pipeline_is_archive(in, &is_archive, err)) {
        input_close(in);
        return false;
    }
    return is_archive ? pipeline_archive(way, in, path, err)
                      : read_single_file(way, in, file_name, err);
}

static struct pipeline_way way_of(const struct pipeline_options *options,
                                  struct pipeline_progress *progress,
                                  const struct pipeline_sink *sink)
{
    return (struct pipeline_way){.memory_budget_bytes = options->memory_budget_bytes,
                                 .input_limits = options->input_limits,
                                 .max_events = options->max_events,
                                 .kernel_rules = options->kernel_rules,
                                 .details = options->details,
                                 .cycles = {.marker = options->marker},
                                 .progress = progress,
                                 .sink = sink};
}

bool pipeline_stream(const char *path,
                     const char *file_name,
                     const struct pipeline_options *options,
                     struct pipeline_progress *progress,
                     const struct pipeline_sink *sink,
                     struct err *err)
{
    static const struct pipeline_options nothing_special = {0};
    const struct pipeline_options *wanted = options == NULL ? &nothing_special : options;
    struct pipeline_way way = way_of(wanted, progress, sink);
    struct hardware hardware;
    if (wanted->hardware_path == NULL) {
        return open_and_read(&way, path, file_name, err);
    }
    bool ok = hardware_file_read(wanted->hardware_path, &hardware, err);
    if (ok) {
        way.cycles.hardware = &hardware;
        ok = open_and_read(&way, path, file_name, err);
    }
    arena_free(&hardware.arena);
    return ok;
}

bool pipeline_growing(int fd,
                      const struct input_growth *growth,
                      const char *file_name,
                      const struct pipeline_options *options,
                      struct pipeline_progress *progress,
                      const struct pipeline_sink *sink,
                      struct err *err)
{
    struct pipeline_way way = way_of(options, progress, sink);
    struct input *in;
    if (!input_open_growing(&in, fd, growth, err)) {
        return false;
    }
    input_limit(in, &way.input_limits);
    return read_single_file(&way, in, file_name, err);
}

/* ---- all of them at once ---- */

static bool collect_trace(void *context,
                          struct pipeline_item *item,
                          const struct timeline *timeline,
                          struct err *err)
{
    struct pipeline_output *output = context;
    (void)timeline; /* not asked for */
    struct pipeline_item *items =
        realloc(output->items, (output->item_count + 1) * sizeof *output->items);
    if (items == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the results of a trace");
    }
    output->items = items;
    if (output->item_count == 0) {
        output->format = item->format;
    }
    items[output->item_count++] = *item;
    *item = (struct pipeline_item){.worker = NULL};
    return true;
}

static bool
collect_failure(void *context, const char *member, const struct err *error, struct err *err)
{
    struct pipeline_output *output = context;
    char *copy = strdup(member);
    struct pipeline_failure *failures =
        copy == NULL
            ? NULL
            : realloc(output->failures, (output->failure_count + 1) * sizeof *output->failures);
    if (failures == NULL) {
        free(copy);
        return err_set(err, ERR_NO_MEMORY, "no memory to tell what could not be read");
    }
    output->failures = failures;
    failures[output->failure_count++] = (struct pipeline_failure){.member = copy, .error = *error};
    return true;
}

bool pipeline_run(const char *path,
                  const char *file_name,
                  const struct pipeline_options *options,
                  struct pipeline_progress *progress,
                  struct pipeline_output *output,
                  struct err *err)
{
    struct pipeline_sink collector = {
        .context = output, .trace = collect_trace, .failed = collect_failure};
    *output = (struct pipeline_output){.format = NULL};
    bool ok = pipeline_stream(path, file_name, options, progress, &collector, err);
    if (!ok) {
        pipeline_output_free(output);
    }
    return ok;
}

void pipeline_output_free(struct pipeline_output *output)
{
    for (size_t i = 0; i < output->item_count; i++) {
        pipeline_item_free(&output->items[i]);
    }
    for (size_t i = 0; i < output->failure_count; i++) {
        free(output->failures[i].member);
    }
    free(output->items);
    free(output->failures);
    *output = (struct pipeline_output){.format = NULL};
}
