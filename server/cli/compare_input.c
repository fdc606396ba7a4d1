#include "server/cli/compare_input.h"

#include "ingest/base/text/affix.h"
#include "server/cli/file_list.h"
#include "server/cli/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HARDWARE_FILE "topo_component.csv"

/* ---- which files ---- */

static bool is_table(const char *name)
{
    return text_ends(name, "_perf_data.csv");
}

static bool list_files(const char *path, struct file_list *files, struct err *err)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return err_set_errno(err, ERR_IO, errno, "%s", path);
    }
    if (!S_ISDIR(status.st_mode)) {
        return file_list_add(files, path, err);
    }
    return file_list_find(files, path, is_table, err) &&
           (files->count > 0 || file_list_find(files, path, file_list_is_trace, err)) &&
           (files->count > 0 ||
            err_set(err, ERR_BAD_INPUT, "%s holds no trace and no *_perf_data.csv", path));
}

const char *compare_input_hardware_beside(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *directory =
        slash == NULL ? "." : arena_strndup(arena, path, (size_t)(slash - path));
    struct stat status;
    const char *beside = directory == NULL ? NULL : file_list_join(arena, directory, HARDWARE_FILE);
    return beside != NULL && stat(beside, &status) == 0 && S_ISREG(status.st_mode) ? beside : NULL;
}

/* ---- what they hold ---- */

static bool load_file(struct compare_input *input,
                      struct arena *arena,
                      const char *path,
                      const struct options *options,
                      enum pipeline_detail details,
                      struct err *err)
{
    const struct pipeline_options wanted = {.input_limits = limits_of_input(&options->limits),
                                            .details = details,
                                            .max_events = options->limits.events,
                                            .marker = options->marker,
                                            .hardware_path =
                                                compare_input_hardware_beside(arena, path)};
    if (!pipeline_run(path, text_file_name(path), &wanted, NULL,
                      &input->outputs[input->output_count], err)) {
        return err_context(err, "%s", path);
    }
    input->output_count++;
    return true;
}

static void collect_output(struct compare_input *input, const struct pipeline_output *output)
{
    for (size_t i = 0; i < output->item_count; i++) {
        const struct trace_results *results = output->items[i].results;
        if (results->cycle_count > 0) {
            input->results[input->result_count++] = results;
        }
    }
}

static void find_only_trace(struct compare_input *input, size_t count)
{
    for (size_t i = 0; count == 1 && i < input->output_count; i++) {
        const struct pipeline_output *output = &input->outputs[i];
        if (output->item_count == 1 && (output->items[0].results->views >> VIEW_OPERATOR & 1U)) {
            input->trace = output->items[0].results;
            input->details = output->items[0].details;
        }
    }
}

static bool collect_results(struct compare_input *input, struct err *err)
{
    size_t room = 0;
    /* Nothing loaded, nothing to collect. */
    if (input->outputs == NULL || input->output_count == 0) {
        return true;
    }
    for (size_t i = 0; i < input->output_count; i++) {
        room += input->outputs[i].item_count;
    }
    input->results = calloc(room + 1, sizeof(void *));
    if (input->results == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the results of %zu traces", room);
    }
    for (size_t i = 0; i < input->output_count; i++) {
        collect_output(input, &input->outputs[i]);
    }
    find_only_trace(input, room);
    return true;
}

bool compare_input_load(struct compare_input *input,
                        const char *path,
                        const struct options *options,
                        struct err *err)
{
    struct arena arena;
    struct file_list files = {.arena = &arena};
    *input = (struct compare_input){0};
    arena_init(&arena, 0);
    bool ok = list_files(path, &files, err);
    if (ok) {
        input->outputs = calloc(files.count + 1, sizeof *input->outputs);
        ok = input->outputs != NULL ||
             err_set(err, ERR_NO_MEMORY, "no memory for %zu files", files.count);
    }
    enum pipeline_detail details = files.count == 1 ? PIPELINE_CAUSES : PIPELINE_NO_DETAILS;
    for (size_t i = 0; ok && i < files.count; i++) {
        ok = load_file(input, &arena, files.paths[i], options, details, err);
    }
    ok = ok && collect_results(input, err);
    arena_free(&arena);
    if (!ok) {
        compare_input_free(input);
    }
    return ok;
}

bool compare_input_is_comparable(const struct compare_input *input,
                                 const char *path,
                                 struct err *err)
{
    size_t items = 0;
    size_t tables = 0;
    for (size_t i = 0; i < input->output_count; i++) {
        const struct pipeline_output *output = &input->outputs[i];
        items += output->item_count;
        for (size_t k = 0; k < output->item_count; k++) {
            tables += output->items[k].results->views >> VIEW_UTILISATION & 1U;
        }
    }
    return tables == 0 || tables < items ||
           err_set(err, ERR_BAD_INPUT,
                   "%s is a kernel table, which has no cycles: only traces are compared", path);
}

bool compare_input_has_cycles(const struct compare_input *input, const char *path, struct err *err)
{
    return input->result_count > 0 ||
           err_set(err, ERR_BAD_INPUT,
                   "%s has no cycles to compare: call prof.step() in the loop that is profiled, or "
                   "name the function of a cycle with --marker",
                   path);
}

void compare_input_free(struct compare_input *input)
{
    for (size_t i = 0; i < input->output_count; i++) {
        pipeline_output_free(&input->outputs[i]);
    }
    free(input->outputs);
    free(input->results);
    *input = (struct compare_input){0};
}
