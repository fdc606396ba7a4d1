/* backup, restore and copy: the words around what the store does. */
#include "ingest/base/monotonic.h"
#include "ingest/store/backup/backup.h"
#include "ingest/store/copy/copy.h"
#include "server/cli/commands.h"
#include "server/cli/text.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define PROGRESS_MS 200
/* Back to the line's beginning, and what stands behind the cursor goes. */
#define CLEAR_LINE "\r\033[K"

struct terminal {
    bool shows_progress;
    int64_t shown_at_ms;
};

static bool is_due(struct terminal *terminal)
{
    bool due = terminal->shows_progress && monotonic_ms() - terminal->shown_at_ms >= PROGRESS_MS;
    if (due) {
        terminal->shown_at_ms = monotonic_ms();
    }
    return due;
}

static void show(void *context, uint64_t bytes_done, uint64_t bytes_total)
{
    char done[TEXT_FIGURE_BYTES];
    char total[TEXT_FIGURE_BYTES];
    if (!is_due(context)) {
        return;
    }
    text_bytes(done, (double)bytes_done);
    text_bytes(total, (double)(bytes_total > bytes_done ? bytes_total : bytes_done));
    (void)fprintf(stderr, CLEAR_LINE "%s of %s", done, total);
    (void)fflush(stderr);
}

static int tell_end(const struct terminal *terminal,
                    bool ok,
                    const char *what,
                    const struct backup_counts *counts,
                    const struct err *err)
{
    char raw[TEXT_FIGURE_BYTES];
    char database[TEXT_FIGURE_BYTES];
    if (terminal->shows_progress) {
        (void)fputs(CLEAR_LINE, stderr);
    }
    if (!ok) {
        text_print_error(stderr, NULL, err);
        return EXIT_FAILED;
    }
    text_bytes(raw, (double)counts->raw_bytes);
    text_bytes(database, (double)counts->database_bytes);
    /* Standard output may be the archive. */
    (void)fprintf(stderr, "%s: %" PRIu64 " uploads, %s; database, %s\n", what, counts->raw_files,
                  raw, database);
    return EXIT_DONE;
}

int command_backup(const struct options *options)
{
    struct terminal terminal = {.shows_progress = isatty(STDERR_FILENO) == 1};
    struct backup_progress progress = {.context = &terminal, .tell = show};
    struct backup_counts counts;
    struct err err = ERR_INIT;
    if (strcmp(options->files[0], "-") == 0 && isatty(STDOUT_FILENO) == 1) {
        (void)fprintf(stderr, "kinetoscope: a backup is no text for a terminal; send it to a file "
                              "or another program\n");
        return EXIT_USAGE;
    }
    bool ok = store_backup(options->data_dir, options->files[0], &progress, &counts, &err);
    return tell_end(&terminal, ok, "backed up", &counts, &err);
}

int command_restore(const struct options *options)
{
    struct terminal terminal = {.shows_progress = isatty(STDERR_FILENO) == 1};
    struct backup_progress progress = {.context = &terminal, .tell = show};
    struct backup_counts counts;
    struct err err = ERR_INIT;
    bool ok = store_restore(options->files[0], options->data_dir, &progress, &counts, &err);
    return tell_end(&terminal, ok, "restored", &counts, &err);
}

static void show_rows(void *context, uint64_t rows)
{
    if (is_due(context)) {
        (void)fprintf(stderr, CLEAR_LINE "%" PRIu64 " rows of the catalogue", rows);
        (void)fflush(stderr);
    }
}

static void tell_copy(const struct copy_counts *counts)
{
    char bytes[TEXT_FIGURE_BYTES];
    text_bytes(bytes, (double)counts->bytes);
    (void)fprintf(stderr,
                  "copied: %" PRIu64 " uploads, %" PRIu64 " files of traces, %s; %" PRIu64
                  " were there; %" PRIu64 " rows\n",
                  counts->uploads, counts->files, bytes, counts->there, counts->rows);
    if (counts->lost > 0) {
        (void)fprintf(stderr, "%" PRIu64 " that the source names it does not have\n", counts->lost);
    }
    (void)fprintf(stderr, "What the source takes in from now on is not in the copy: stop its "
                          "server, give the same command again, then start one on the copy.\n");
}

int command_copy(const struct options *options)
{
    struct terminal terminal = {.shows_progress = isatty(STDERR_FILENO) == 1};
    const struct copy_progress progress = {&terminal, show, show_rows};
    const struct store_objects from_objects = {.url = options->objects_url};
    const struct store_objects to_objects = {.url = options->to_objects_url};
    const struct store_place from = {.data_dir = options->data_dir,
                                     .database_url = options->database_url,
                                     .objects =
                                         options->objects_url == NULL ? NULL : &from_objects};
    const struct store_place to = {.data_dir = options->to_data_dir,
                                   .database_url = options->to_database_url,
                                   .objects = options->to_objects_url == NULL ? NULL : &to_objects};
    struct copy_counts counts;
    struct err err = ERR_INIT;
    bool ok = store_copy(&from, &to, &progress, &counts, &err);
    if (terminal.shows_progress) {
        (void)fputs(CLEAR_LINE, stderr);
    }
    if (!ok) {
        text_print_error(stderr, NULL, &err);
        return EXIT_FAILED;
    }
    tell_copy(&counts);
    return EXIT_DONE;
}
