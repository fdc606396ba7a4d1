#include "api/views/cycles_text.h"
#include "ingest/jobs/pipeline/pipeline.h"
#include "server/cli/commands.h"
#include "server/cli/compare_input.h"
#include "server/cli/report/report.h"
#include "server/cli/text.h"

#include <stdio.h>

#define CYCLES_MAX_BYTES ((size_t)4 << 30)

/* The first trace of the file that has cycles. NULL: none has. */
static const struct trace_results *results_with_cycles(const struct pipeline_output *output)
{
    for (size_t i = 0; i < output->item_count; i++) {
        if (output->items[i].results->cycle_use_count > 0) {
            return output->items[i].results;
        }
    }
    return NULL;
}

static bool print_cycles(const struct options *options, const struct trace_results *results)
{
    struct buf text;
    buf_init(&text, CYCLES_MAX_BYTES);
    if (options->format == REPORT_JSON) {
        cycles_json(&text, results->start_ns, results);
        buf_putc(&text, '\n');
    } else if (options->format == REPORT_CSV) {
        cycles_csv(&text, results);
    } else {
        report_cycles_text(results, &text);
    }
    bool ok =
        !text.failed && fwrite(text.ptr, 1, text.len, stdout) == text.len && fflush(stdout) == 0;
    buf_free(&text);
    return ok;
}

static int print_output(const struct options *options, const struct pipeline_output *output)
{
    const struct trace_results *results = results_with_cycles(output);
    if (results == NULL) {
        struct err err = ERR_INIT;
        (void)err_set(&err, ERR_BAD_INPUT, "%s",
                      options->marker == NULL
                          ? "no cycles found: there are no profiler steps, and no function is "
                            "called often enough to be a cycle; name one with --marker FUNCTION"
                          : "nothing that counts lies in the cycles of this function");
        text_print_error(stderr, options->files[0], &err);
        return EXIT_FAILED;
    }
    if (!print_cycles(options, results)) {
        (void)fprintf(stderr, "kinetoscope: the cycles could not be written\n");
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

int command_cycles(const struct options *options)
{
    const char *path = options->files[0];
    struct err err = ERR_INIT;
    struct arena arena;
    struct pipeline_output output = {0};
    int code = EXIT_FAILED;
    arena_init(&arena, 0);
    const struct pipeline_options wanted = {.input_limits = limits_of_input(&options->limits),
                                            .max_events = options->limits.events,
                                            .marker = options->marker,
                                            .hardware_path =
                                                options->hardware_path != NULL
                                                    ? options->hardware_path
                                                    : compare_input_hardware_beside(&arena, path)};
    if (pipeline_run(path, text_file_name(path), &wanted, NULL, &output, &err)) {
        code = print_output(options, &output);
        pipeline_output_free(&output);
    } else {
        text_print_error(stderr, path, &err);
    }
    arena_free(&arena);
    return code;
}
