/* The command line and the environment. Every option `--some-name` is also KINETOSCOPE_SOME_NAME;
 * the command line wins. Parsing, help and the manual page read the same table in
 * options.c. */
#ifndef KS_SERVER_OPTIONS_OPTIONS_H
#define KS_SERVER_OPTIONS_OPTIONS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/log.h"
#include "ingest/store/store.h"
#include "ingest/store/store_access.h"
#include "server/options/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum options_command {
    COMMAND_SERVE,
    COMMAND_INGEST,
    COMMAND_REPORT,
    COMMAND_COMPARE,
    COMMAND_CYCLES,
    COMMAND_BACKUP,
    COMMAND_RESTORE,
    COMMAND_COPY,
    COMMAND_TOKEN,
    COMMAND_UPLOAD,
    COMMAND_WATCH,
    COMMAND_GATE,
    COMMAND_REANALYSE,
    COMMAND_VERSION,
    COMMAND_HELP,
    COMMAND_COUNT
};

enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_MARKDOWN, REPORT_CSV, REPORT_JUNIT };

#define OPTIONS_HOST_BYTES 256
#define OPTIONS_BASE_PATH_BYTES 128
#define OPTIONS_URL_BYTES 512
#define OPTIONS_LABEL_BYTES 64
#define OPTIONS_FAIL_IFS_MAX 16
#define OPTIONS_PROXIES_MAX 16
#define OPTIONS_PROJECTS_MAX 64
#define OPTIONS_TAGS_MAX 32
#define OPTIONS_TRACES_MAX 256
#define OPTIONS_ANY_KIND (-1)

struct options {
    enum options_command command;
    enum options_command
        help_about; /* COMMAND_HELP: COMMAND_HELP for the overview, or the command */
    bool prints_man;

    char listen_host[OPTIONS_HOST_BYTES]; /* as written: a name, an IPv4 address, "" or "*" for all
                                           */
    uint16_t listen_port;
    const char *data_dir;
    const char *token_file; /* NULL: none */
    bool allow_anonymous;
    char base_path[OPTIONS_BASE_PATH_BYTES]; /* "" or "/prefix" */
    char perfetto_url[OPTIONS_URL_BYTES];    /* to which the page hands traces */
    char public_url[OPTIONS_URL_BYTES];      /* without trailing slash; "" when not given */
    const char *static_dir;                  /* NULL: the embedded page */
    uint64_t max_upload_bytes;
    struct limits limits;
    const char *trusted_proxies[OPTIONS_PROXIES_MAX]; /* as written */
    unsigned trusted_proxy_count;
    unsigned ingest_workers;      /* 0: chosen by the number of processors */
    uint64_t ingest_memory_bytes; /* 0: half of the machine's */
    bool retain_raw;
    bool webhooks_private;   /* webhooks may reach private addresses */
    const char *objects_url; /* NULL: uploads are kept in data_dir */
    uint64_t objects_cache_bytes;
    const char *database_url;             /* NULL: the catalogue is embedded in data_dir */
    const char *node_name, *node_address; /* NULL: not given */
    const char *to_data_dir;              /* where `copy` writes: the same of its target */
    const char *to_objects_url;
    const char *to_database_url;
    const char *source_url;          /* with {path}, checked; NULL: none */
    const char *kernel_classes_path; /* NULL: the built-in rules alone */
    const char *devices_path;        /* NULL: the built-in peaks alone */
    const char *webhooks_path;       /* NULL: none */
    enum log_level log_level;
    enum log_format log_format;
    unsigned drain_seconds; /* time that a stop gives to requests and jobs under way */

    enum access_role role;                      /* of a new token; ACCESS_ROLE_NOBODY: not given */
    const char *projects[OPTIONS_PROJECTS_MAX]; /* of a new token, checked */
    size_t project_count;

    const char *run;         /* NULL: from the file's directory */
    const char *run_project; /* of a new run, checked; NULL: none */
    enum report_format format;
    bool licenses;

    int64_t base_pid; /* COMPARISON_NO_PID when not given, as is the next */
    int64_t candidate_pid;
    int kind; /* enum cycle_kind, or OPTIONS_ANY_KIND */
    char base_label[OPTIONS_LABEL_BYTES];
    char candidate_label[OPTIONS_LABEL_BYTES];
    const char *output_dir;                     /* for `gate` a file; NULL: everything to stdout */
    const char *fail_ifs[OPTIONS_FAIL_IFS_MAX]; /* as written; see fail_if.h */
    size_t fail_if_count;
    const char *marker;        /* NULL: find it */
    int64_t rank;              /* STORE_NO_RANK */
    const char *hardware_path; /* NULL: topo_component.csv beside the trace, if present */

    char server_url[OPTIONS_URL_BYTES]; /* that the client commands ask; no slash at its end */
    const char *token;                  /* for it: KINETOSCOPE_TOKEN; NULL: none */
    const char *tags[OPTIONS_TAGS_MAX];
    size_t tag_count;
    int64_t trace_ids[OPTIONS_TRACES_MAX]; /* of `reanalyse` */
    size_t trace_count;
    double gate_p;    /* 0: the server's */
    unsigned every_s; /* between two looks of `watch` */
    bool once;        /* `watch` ends when all is uploaded */

    char *const *files; /* what follows the options in argv; for `token` its word and a name */
    size_t file_count;
};

/* Parses. False for wrong usage (ERR_BAD_REQUEST): the message names the option and shows the right
 * form. `env` is getenv, or a test's own function. Texts belong to argv and the environment.
 * Reorders argv: files come last. */
bool options_parse(struct options *options,
                   int argc,
                   char **argv,
                   const char *(*env)(const char *name),
                   struct err *err) KS_MUST_USE;
/* Help on one command, or the overview for COMMAND_HELP. */
void options_help(FILE *stream, enum options_command about);
/* kinetoscope(1) in roff, from the same table. */
void options_man(FILE *stream);

#endif
