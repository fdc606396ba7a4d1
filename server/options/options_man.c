/* The manual page. What the table of options says comes from there; the rest is told here. */
#include "server/options/options_table.h"

#include <string.h>

/* ---- roff ---- */

/* A text on a line of its own: what roff would read as a request or an escape is text, and a part
 * in backticks is bold. */
static void put_text(FILE *stream, const char *text)
{
    bool is_bold = false;
    if (*text == '.' || *text == '\'') {
        (void)fputs("\\&", stream);
    }
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '\\':
            (void)fputs("\\e", stream);
            break;
        case '-':
            (void)fputs("\\-", stream);
            break;
        case '\'':
            (void)fputs("\\(aq", stream);
            break;
        case '^':
            (void)fputs("\\(ha", stream);
            break;
        case '~':
            (void)fputs("\\(ti", stream);
            break;
        case '`':
            is_bold = !is_bold;
            (void)fputs(is_bold ? "\\fB" : "\\fR", stream);
            break;
        default:
            (void)fputc(*text, stream);
        }
    }
}

static void put_line(FILE *stream, const char *text)
{
    put_text(stream, text);
    (void)fputc('\n', stream);
}

/* A term and what it means. */
static void put_term(FILE *stream, const char *term, const char *meaning)
{
    (void)fputs(".TP\n\\fB", stream);
    put_text(stream, term);
    (void)fputs("\\fR\n", stream);
    put_line(stream, meaning);
}

struct term {
    const char *term;
    const char *meaning;
};

static void put_terms(FILE *stream, const struct term *terms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put_term(stream, terms[i].term, terms[i].meaning);
    }
}

/* ---- sections ---- */

static void put_synopsis(FILE *stream)
{
    (void)fputs(".SH SYNOPSIS\n", stream);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        (void)fputs(i == 0 ? "" : ".br\n", stream);
        (void)fputs("\\fBkinetoscope\\fR ", stream);
        put_line(stream, command_table[i].usage);
    }
}

static void put_description(FILE *stream)
{
    (void)fputs(".SH DESCRIPTION\n", stream);
    put_line(
        stream,
        "Kinetoscope takes in traces of accelerators (PyTorch's profiler, Nsight), analyses them, "
        "keeps the results, and shows a team where the time goes: as pages in a browser, "
        "and as JSON.");
    put_line(stream, "Without a command it prints help; serve serves.");
    (void)fputs(".SH COMMANDS\n", stream);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        put_term(stream, command_table[i].name, command_table[i].help);
    }
}

static void put_commands_of(FILE *stream, const struct option *option)
{
    const char *before = ".\nTaken by ";
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (option_is_of(option, (enum options_command)i)) {
            (void)fprintf(stream, "%s\\fB%s\\fR", before, command_table[i].name);
            before = ", ";
        }
    }
    (void)fputs(".\n", stream);
}

static void put_options(FILE *stream)
{
    (void)fputs(".SH OPTIONS\n", stream);
    put_line(stream, "A default stands in parentheses. "
                     "SIZE is a number of bytes, with K, M, G or T for powers of 1024.");
    for (size_t i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        (void)fputs(".TP\n\\fB\\-\\-", stream);
        put_text(stream, option->name);
        (void)fputs("\\fR", stream);
        if (option->form != NULL) {
            (void)fputs(" \\fI", stream);
            put_text(stream, option->form);
            (void)fputs("\\fR", stream);
        }
        (void)fputc('\n', stream);
        put_text(stream, option->help);
        put_commands_of(stream, option);
    }
}

static bool is_first_of_name(size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (strcmp(option_table[i].name, option_table[at].name) == 0) {
            return false;
        }
    }
    return true;
}

static void put_environment(FILE *stream)
{
    (void)fputs(".SH ENVIRONMENT\n", stream);
    put_line(stream, "Each option is an environment variable too; the command line wins. A flag is "
                     "set by `yes`.");
    for (size_t i = 0; i < option_count; i++) {
        if (is_first_of_name(i)) {
            char name[OPTION_ENV_BYTES];
            char meaning[OPTION_ENV_BYTES + 8];
            option_env_name(&option_table[i], name);
            (void)snprintf(meaning, sizeof meaning, "`--%s`", option_table[i].name);
            put_term(stream, name, meaning);
        }
    }
    put_term(stream, "TMPDIR", "where `backup -` puts its copy of the database (/tmp)");
}

static void put_files(FILE *stream)
{
    static const struct term files[] = {
        {"DIR/kinetoscope.db", "the database: runs, tokens; with -wal and -shm beside it"},
        {"DIR/results/", "events, timelines and tables, a file a trace"},
        {"DIR/raw/", "the uploads, each under its SHA-256"},
        {"DIR/incoming/", "uploads under way; emptied at each start"},
        {"DIR/lock", "held by the process that has the directory open"},
        {"DIR/raw-of-lost-database-N/", "uploads found at a start without their database"},
    };
    (void)fputs(".SH FILES\n", stream);
    put_line(stream, "DIR is the directory of `--data-dir`.");
    put_terms(stream, files, sizeof files / sizeof files[0]);
}

static void put_exit_status(FILE *stream)
{
    static const struct term codes[] = {
        {"0", "done"},
        {"1", "failed: the message says what, where, and what to do"},
        {"2", "wrong usage"},
        {"3", "`compare`: what a `--fail-if` names grew by more than it allows"},
    };
    (void)fputs(".SH EXIT STATUS\n", stream);
    put_terms(stream, codes, sizeof codes / sizeof codes[0]);
}

static void put_examples(FILE *stream)
{
    static const struct term examples[] = {
        {"kinetoscope serve --listen 127.0.0.1:8080 --data-dir /srv/traces",
         "serve the page and the interface"},
        {"curl -T worker0.pt.trace.json.gz http://localhost:8080/api/v1/runs/my-run/traces/",
         "upload a trace"},
        {"kinetoscope report worker0.pt.trace.json.gz --format markdown",
         "analyse a file without a server"},
        {"kinetoscope compare before.json after.json --fail-if 'step_time>5%'",
         "in CI: exit with 3 when a step became slower by more"},
        {"kinetoscope token add laptop --role uploader --project vision",
         "make a token; it is printed once"},
        {"kinetoscope backup /backup/traces.tar",
         "everything into one file, also while a server runs"},
        {"kinetoscope copy --data-dir /srv/traces --to-data-dir /srv/new --to-database-url "
         "postgresql://ks@db/ks --to-objects-url s3://traces/ks",
         "the same into a database and a bucket; given again, what has come meanwhile"},
    };
    (void)fputs(".SH EXAMPLES\n", stream);
    put_terms(stream, examples, sizeof examples / sizeof examples[0]);
}

void options_man(FILE *stream)
{
    (void)fputs(".\\\" Printed by `kinetoscope help --man`.\n"
                ".TH KINETOSCOPE 1 \"\" \"kinetoscope " KS_VERSION "\" \"User Commands\"\n"
                ".SH NAME\n"
                "kinetoscope \\- a team's dashboard for accelerator traces\n",
                stream);
    put_synopsis(stream);
    put_description(stream);
    put_options(stream);
    put_environment(stream);
    put_files(stream);
    put_exit_status(stream);
    put_examples(stream);
    (void)fputs(".SH SEE ALSO\n", stream);
    put_line(
        stream,
        "The server describes its interface at /api/v1/openapi.json, its limits and metrics in "
        "the README files of its sources.");
    (void)fputs(".BR curl (1)\n", stream);
}
