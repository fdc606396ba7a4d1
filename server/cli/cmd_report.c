#include "ingest/jobs/pipeline/pipeline.h"
#include "server/cli/commands.h"
#include "server/cli/report/report.h"
#include "server/cli/text.h"

#include <stdio.h>

#define REPORT_MAX_BYTES ((size_t)1 << 30)

static void write_report(const struct options *options,
                         const char *file_name,
                         const struct pipeline_output *output,
                         struct buf *text)
{
    const struct report_source source = {options->files[0], limits_of_input(&options->limits)};
    switch (options->format) {
    case REPORT_JSON:
        report_json(file_name, output, text);
        break;
    case REPORT_JUNIT:
    case REPORT_TEXT:
    case REPORT_MARKDOWN:
    case REPORT_CSV:
        report_prose(file_name, &source, output, options->format == REPORT_MARKDOWN, text);
        break;
    }
}

int command_report(const struct options *options)
{
    const char *path = options->files[0];
    const char *file_name = text_file_name(path);
    struct err err = ERR_INIT;
    struct pipeline_output output = {0};
    const struct pipeline_options wanted = {.input_limits = limits_of_input(&options->limits),
                                            .max_events = options->limits.events,
                                            .details = PIPELINE_ALL_DETAILS};
    if (!pipeline_run(path, file_name, &wanted, NULL, &output, &err)) {
        text_print_error(stderr, path, &err);
        return EXIT_FAILED;
    }
    struct buf text;
    buf_init(&text, REPORT_MAX_BYTES);
    write_report(options, file_name, &output, &text);
    pipeline_output_free(&output);
    bool ok =
        !text.failed && fwrite(text.ptr, 1, text.len, stdout) == text.len && fflush(stdout) == 0;
    if (!ok) {
        (void)fprintf(stderr, "kinetoscope: the report could not be written\n");
    }
    buf_free(&text);
    return ok ? EXIT_DONE : EXIT_FAILED;
}
