#include "ingest/jobs/pipeline.h"
#include "server/commands.h"
#include "server/report.h"
#include "server/text.h"

#include <stdio.h>
#include <string.h>

#define REPORT_MAX_BYTES ((size_t)1 << 30)

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static void write_report(const struct options *options,
                         const char *file_name,
                         const struct pipeline_output *output,
                         struct buf *text)
{
    switch (options->format) {
    case REPORT_JSON:
        report_json(file_name, output, text);
        break;
    case REPORT_TEXT:
    case REPORT_MARKDOWN:
    case REPORT_CSV:
        report_prose(file_name, output, options->format == REPORT_MARKDOWN, text);
        break;
    }
}

static void print_error(const char *path, const struct err *err)
{
    struct buf text;
    buf_init(&text, REPORT_MAX_BYTES);
    text_clean(&text, path);
    buf_puts(&text, ": ");
    text_clean(&text, err->msg);
    if (err->byte_off != ERR_NO_OFFSET) {
        buf_printf(&text, " (at byte %llu)", (unsigned long long)err->byte_off);
    }
    (void)fprintf(stderr, "kinetoscope: %s\n", text.ptr);
    buf_free(&text);
}

int command_report(const struct options *options)
{
    const char *path = options->files[0];
    const char *file_name = base_name(path);
    struct err err = ERR_INIT;
    struct pipeline_output output = {0};
    if (!pipeline_run(path, file_name, NULL, NULL, &output, &err)) {
        print_error(path, &err);
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
