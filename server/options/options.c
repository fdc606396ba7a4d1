#include "server/options/options.h"

#include "ingest/model/results/comparison.h"
#include "server/options/fail_if.h"
#include "server/options/options_client.h"
#include "server/options/options_table.h"
#include "server/options/options_value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#define FOR(command) OPTION_FOR(command)

/* ---- one setter an option ---- */

static bool set_path(const char **out, const char *text, const char **form)
{
    *form = "a path";
    *out = text;
    return *text != '\0';
}

static bool set_objects(const char **out, const char *text, const char **form)
{
    *form = "file:///folder or s3://bucket/prefix";
    *out = text;
    return strncmp(text, "file:///", 8) == 0 || strncmp(text, "s3://", 5) == 0;
}

static bool set_database(const char **out, const char *text, const char **form)
{
    *form = "postgresql://USER@HOST/NAME";
    *out = text;
    return strncmp(text, "postgresql://", 13) == 0 || strncmp(text, "postgres://", 11) == 0;
}

static bool set_short(const char **out, const char *text, size_t max_bytes, const char **form)
{
    *form = "a short text";
    *out = text;
    return *text != '\0' && strlen(text) < max_bytes;
}

/* Defines the setter of an option that is one value. */
#define SETS(name, value)                                                    \
    static bool name(struct options *o, const char *text, const char **form) \
    {                                                                        \
        return value;                                                        \
    }

SETS(set_listen, value_listen(text, o->listen_host, &o->listen_port, form))
SETS(set_data_dir, set_path(&o->data_dir, text, form))
SETS(set_token_file, set_path(&o->token_file, text, form))
SETS(set_static_dir, set_path(&o->static_dir, text, form))
SETS(set_allow_anonymous, value_yes_no(text, &o->allow_anonymous, form))
SETS(set_base_path, value_base_path(text, o->base_path, form))
SETS(set_public_url, value_url(text, o->public_url, form))
SETS(set_max_upload, value_size(text, &o->max_upload_bytes, form))

#define SET_LIMIT(field, option, scope, is_size, preset, least, most, form, help)            \
    static bool set_##field(struct options *o, const char *text, const char **wanted)        \
    {                                                                                        \
        const struct value_range range = {is_size, least, most};                             \
        *wanted = (is_size) ? "a size from " #least " to " #most " bytes, such as 32K or 1T" \
                            : "a number from " #least " to " #most;                          \
        return value_limit(text, &range, &o->limits.field);                                  \
    }
LIMITS_LIST(SET_LIMIT)

static bool set_trusted_proxy(struct options *o, const char *text, const char **form)
{
    struct in_addr address;
    *form = "an IPv4 address; at most 16 of them";
    if (o->trusted_proxy_count == OPTIONS_PROXIES_MAX || inet_pton(AF_INET, text, &address) != 1) {
        return false;
    }
    o->trusted_proxies[o->trusted_proxy_count++] = text;
    return true;
}

SETS(set_ingest_workers, value_count(text, &o->ingest_workers, form))
SETS(set_ingest_memory, value_size(text, &o->ingest_memory_bytes, form))
SETS(set_retain_raw, value_yes_no(text, &o->retain_raw, form))
SETS(set_objects_url, set_objects(&o->objects_url, text, form))
SETS(set_database_url, set_database(&o->database_url, text, form))
SETS(set_node_name, set_short(&o->node_name, text, 64, form))
SETS(set_node_address, set_short(&o->node_address, text, 256, form))
SETS(set_to_data_dir, set_path(&o->to_data_dir, text, form))
SETS(set_to_objects_url, set_objects(&o->to_objects_url, text, form))
SETS(set_to_database_url, set_database(&o->to_database_url, text, form))
SETS(set_objects_cache, value_size(text, &o->objects_cache_bytes, form))

static bool set_log_level(struct options *o, const char *text, const char **form)
{
    *form = "error, warn, info or debug";
    return log_level_parse(text, &o->log_level);
}

static bool set_log_format(struct options *o, const char *text, const char **form)
{
    *form = "text or json";
    return log_format_parse(text, &o->log_format);
}

SETS(set_drain_seconds, value_count(text, &o->drain_seconds, form))

static bool set_run(struct options *o, const char *text, const char **form)
{
    *form = "a name";
    o->run = text;
    return *text != '\0';
}

static bool set_run_project(struct options *o, const char *text, const char **form)
{
    struct err err = ERR_INIT;
    *form = "1 to 64 letters without accents, digits, and . _ - /";
    o->run_project = text;
    return store_project_check(text, &err);
}

static bool set_role(struct options *o, const char *text, const char **form)
{
    *form = "viewer, uploader or admin";
    return access_role_parse(text, &o->role);
}

static bool set_project(struct options *o, const char *text, const char **form)
{
    struct err ignored = ERR_INIT;
    *form = "1 to 64 letters without accents, digits, and . _ - /; at most 64 projects";
    if (o->project_count == OPTIONS_PROJECTS_MAX || !store_project_check(text, &ignored)) {
        return false;
    }
    o->projects[o->project_count++] = text;
    return true;
}

SETS(set_format, value_format(text, o->command, &o->format, form))
SETS(set_base_pid, value_pid(text, &o->base_pid, form))
SETS(set_candidate_pid, value_pid(text, &o->candidate_pid, form))
SETS(set_kind, value_kind(text, &o->kind, form))
SETS(set_labels, value_labels(text, o->base_label, o->candidate_label, form))
SETS(set_output, set_path(&o->output_dir, text, form))

static bool set_fail_if(struct options *o, const char *text, const char **form)
{
    *form = "NAME>N or NAME>N%, NAME one of step_time, suspicion, kernel_time, operator_time, "
            "kernel:<name>, or 'step_time>N% and p<P', P above 0 and at most 1; at most 16 of them";
    if (o->fail_if_count == OPTIONS_FAIL_IFS_MAX || !fail_if_is_valid(text)) {
        return false;
    }
    o->fail_ifs[o->fail_if_count++] = text;
    return true;
}

static bool set_marker(struct options *o, const char *text, const char **form)
{
    *form = "the name of a function";
    o->marker = text;
    return *text != '\0';
}

SETS(set_rank, value_rank(text, &o->rank, form))

static bool set_source_url(struct options *o, const char *text, const char **form)
{
    o->source_url = text;
    return value_source_url(text, form);
}

SETS(set_kernel_classes, set_path(&o->kernel_classes_path, text, form))
SETS(set_devices, set_path(&o->devices_path, text, form))
SETS(set_hardware, set_path(&o->hardware_path, text, form))
SETS(set_licenses, value_yes_no(text, &o->licenses, form))
SETS(set_webhooks, set_path(&o->webhooks_path, text, form))
SETS(set_webhooks_private, value_yes_no(text, &o->webhooks_private, form))
SETS(set_every, value_count(text, &o->every_s, form))
SETS(set_once, value_yes_no(text, &o->once, form))
SETS(set_man, value_yes_no(text, &o->prints_man, form))

#define SERVING FOR(COMMAND_SERVE)
#define STORING (FOR(COMMAND_SERVE) | FOR(COMMAND_INGEST))
#define READING (STORING | FOR(COMMAND_REPORT) | FOR(COMMAND_COMPARE) | FOR(COMMAND_CYCLES))
#define SENDING (FOR(COMMAND_UPLOAD) | FOR(COMMAND_WATCH))
#define ASKING (SENDING | FOR(COMMAND_GATE) | FOR(COMMAND_REANALYSE))
#define COPYING FOR(COMMAND_COPY)
#define KEEPING (STORING | FOR(COMMAND_BACKUP) | FOR(COMMAND_RESTORE) | FOR(COMMAND_TOKEN))

const struct option option_table[] = {
    {"listen", KIND_VALUE, FOR(COMMAND_SERVE), "HOST:PORT", "where to listen (127.0.0.1:8080)",
     set_listen, GROUP_ADDRESS},
    {"data-dir", KIND_VALUE, KEEPING, "DIR", "where everything is kept (./kinetoscope-data)",
     set_data_dir, GROUP_DATA},
    {"token-file", KIND_VALUE, FOR(COMMAND_SERVE), "FILE",
     "who may do what, beside `kinetoscope token`: lines of `role name sha256-of-token "
     "[project,...]`, roles viewer, uploader, admin; read again when it changes",
     set_token_file, GROUP_ACCESS},
    {"allow-anonymous", KIND_FLAG, FOR(COMMAND_SERVE), NULL,
     "without any token everyone who reaches the port may do everything; with tokens, who has "
     "none may read what belongs to no project",
     set_allow_anonymous, GROUP_ACCESS},
    {"public-url", KIND_VALUE, FOR(COMMAND_SERVE), "URL",
     "the address that users open, when a proxy stands before the server", set_public_url,
     GROUP_ADDRESS},
    {"base-path", KIND_VALUE, FOR(COMMAND_SERVE), "/PREFIX", "everything stands below this path",
     set_base_path, GROUP_ADDRESS},
    {"max-upload", KIND_VALUE, FOR(COMMAND_SERVE), "SIZE", "largest file that is taken (64G)",
     set_max_upload, GROUP_LIMITS},
#define LIMIT_OPTION(field, option, scope, is_size, preset, least, most, form, help) \
    {option, KIND_VALUE, scope, form, help, set_##field, GROUP_LIMITS},
    LIMITS_LIST(LIMIT_OPTION){"trusted-proxy", KIND_VALUE, FOR(COMMAND_SERVE), "ADDRESS",
                              "may have any number of connections, and its X-Forwarded-For names "
                              "the client; may be given several times",
                              set_trusted_proxy, GROUP_ADDRESS},
    {"ingest-workers", KIND_VALUE, STORING, "N",
     "files analysed at once (one less than the processors)", set_ingest_workers, GROUP_ANALYSIS},
    {"ingest-memory", KIND_VALUE, STORING, "SIZE",
     "memory for traces under analysis, all together (half of the machine's)", set_ingest_memory,
     GROUP_ANALYSIS},
    {"retain-raw", KIND_VALUE, STORING, "yes|no", "keep the uploaded files after analysis (yes)",
     set_retain_raw, GROUP_DATA},
    {"objects-url", KIND_VALUE, STORING, "URL",
     "keep uploads and results in s3://bucket/prefix, with AWS_ACCESS_KEY_ID, "
     "AWS_SECRET_ACCESS_KEY, AWS_REGION and, elsewhere than at Amazon, AWS_ENDPOINT_URL_S3 "
     "from the environment; or in file:///folder (--data-dir)",
     set_objects_url, GROUP_DATA},
    {"objects-cache", KIND_VALUE, STORING, "SIZE",
     "uploads and results of --objects-url that --data-dir keeps as well (10G)", set_objects_cache,
     GROUP_DATA},
    {"database-url", KIND_VALUE, STORING | FOR(COMMAND_TOKEN), "URL",
     "keep runs, jobs, tags, notes and tokens in PostgreSQL, postgresql://USER@HOST/NAME, which "
     "servers with one --objects-url share; a password comes from PGPASSWORD or ~/.pgpass (SQLite "
     "in --data-dir)",
     set_database_url, GROUP_DATA},
    {"node-name", KIND_VALUE, FOR(COMMAND_SERVE), "NAME",
     "what GET /api/v1/nodes calls this server of a --database-url (the name of the machine)",
     set_node_name, GROUP_DATA},
    {"node-address", KIND_VALUE, FOR(COMMAND_SERVE), "ADDRESS",
     "where the others reach it, for those who read that list", set_node_address, GROUP_DATA},
    {"data-dir", KIND_VALUE, COPYING, "DIR", "that of the source (./kinetoscope-data)",
     set_data_dir, GROUP_DATA},
    {"database-url", KIND_VALUE, COPYING, "URL", "that of the source, if it has one",
     set_database_url, GROUP_DATA},
    {"objects-url", KIND_VALUE, COPYING, "URL", "that of the source, if it has one",
     set_objects_url, GROUP_DATA},
    {"to-data-dir", KIND_VALUE, COPYING, "DIR", "the --data-dir of the copy", set_to_data_dir,
     GROUP_DATA},
    {"to-database-url", KIND_VALUE, COPYING, "URL",
     "its --database-url, of a new database (SQLite in --to-data-dir)", set_to_database_url,
     GROUP_DATA},
    {"to-objects-url", KIND_VALUE, COPYING, "URL",
     "its --objects-url; that of the source: its objects stay where they are, and the source is "
     "not to be served afterwards (--to-data-dir)",
     set_to_objects_url, GROUP_DATA},
    {"kernel-classes", KIND_VALUE, FOR(COMMAND_SERVE), "FILE",
     "rules of your own for the classes of kernels, tried before the built-in ones: lines of "
     "`class "
     "yes|no|auto|- pattern... [kind=NAME]`",
     set_kernel_classes, GROUP_ANALYSIS},
    {"devices", KIND_VALUE, FOR(COMMAND_SERVE), "FILE",
     "peaks of your own devices, before the built-in ones, as JSON: {\"part of a name\": "
     "{\"bandwidth_bytes_per_second\": n, \"matrix\": {\"bf16\": n}, \"vector\": {\"fp32\": n}, "
     "\"source\": \"...\"}}",
     set_devices, GROUP_ANALYSIS},
    {"source-url", KIND_VALUE, FOR(COMMAND_SERVE), "TEMPLATE",
     "where the lines of Python frames can be read, such as "
     "https://git/x/blob/main/{path}#L{line}: the page links to them",
     set_source_url, GROUP_ANALYSIS},
    {"perfetto-url", KIND_VALUE, FOR(COMMAND_SERVE), "URL",
     "the page to which \"Open in Perfetto\" hands a trace, in the user's browser "
     "(https://ui.perfetto.dev)",
     option_set_perfetto, GROUP_OPERATION},
    {"webhooks", KIND_VALUE, FOR(COMMAND_SERVE), "FILE",
     "whom to tell of regressions: lines of `URL METRIC [project=] [tag=] [run=] [device=] [p=] "
     "[min_magnitude=] [window=] [format=json|slack] [secret=]`",
     set_webhooks, GROUP_OPERATION},
    {"webhooks-private", KIND_FLAG, FOR(COMMAND_SERVE), NULL,
     "webhooks may reach addresses of private networks", set_webhooks_private, GROUP_OPERATION},
    {"log-level", KIND_VALUE, STORING, "LEVEL", "error, warn, info or debug (info)", set_log_level,
     GROUP_OPERATION},
    {"log-format", KIND_VALUE, STORING, "FORMAT", "text, or json: an object a line (text)",
     set_log_format, GROUP_OPERATION},
    {"drain-seconds", KIND_VALUE, FOR(COMMAND_SERVE), "N", "graceful shutdown timeout (30)",
     set_drain_seconds, GROUP_OPERATION},
    {"static-dir", KIND_VALUE, FOR(COMMAND_SERVE), "DIR",
     "serve the page from this directory, while developing it", set_static_dir, GROUP_OPERATION},
    {"run", KIND_VALUE, FOR(COMMAND_INGEST) | SENDING, "NAME",
     "the run that the files belong to (the name of each file's directory)", set_run, GROUP_OTHER},
    {"project", KIND_VALUE, FOR(COMMAND_INGEST) | SENDING, "NAME",
     "the project of the run, when it is new (none)", set_run_project, GROUP_OTHER},
    {"rank", KIND_VALUE, FOR(COMMAND_INGEST) | FOR(COMMAND_UPLOAD), "N",
     "the rank of the process that wrote the file (what the file or its name says)", set_rank,
     GROUP_OTHER},
    {"role", KIND_VALUE, FOR(COMMAND_TOKEN), "ROLE",
     "of a new token: viewer (reads), uploader (also uploads and edits), admin (also deletes, and "
     "reads every project)",
     set_role, GROUP_OTHER},
    {"project", KIND_VALUE, FOR(COMMAND_TOKEN), "PROJECT",
     "a project whose runs a new token may read; may be given several times", set_project,
     GROUP_OTHER},
    {"format", KIND_VALUE, FOR(COMMAND_REPORT), "FORMAT", "text, json or markdown (text)",
     set_format, GROUP_OTHER},
    {"base-pid", KIND_VALUE, FOR(COMMAND_COMPARE), "N", "the process of BASE (every one)",
     set_base_pid, GROUP_OTHER},
    {"candidate-pid", KIND_VALUE, FOR(COMMAND_COMPARE), "N", "the process of CANDIDATE (every one)",
     set_candidate_pid, GROUP_OTHER},
    {"kind", KIND_VALUE, FOR(COMMAND_COMPARE), "KIND",
     "cycles to compare: step, prefill, decode, layer, mixed, idle or diffusion (every kind)",
     set_kind, GROUP_OTHER},
    {"labels", KIND_VALUE, FOR(COMMAND_COMPARE), "A,B", "what to call the sides (base,candidate)",
     set_labels, GROUP_OTHER},
    {"format", KIND_VALUE, FOR(COMMAND_COMPARE), "FORMAT", "text, json, csv or markdown (text)",
     set_format, GROUP_OTHER},
    {"output", KIND_VALUE, FOR(COMMAND_COMPARE), "DIR", "write a file a pair into this directory",
     set_output, GROUP_OTHER},
    {"fail-if", KIND_VALUE, FOR(COMMAND_COMPARE), "'NAME>N[%]'",
     "exit with 3 when it grew by more: step_time, suspicion, kernel_time, operator_time, "
     "kernel:<name>; 'step_time>5% and p<0.05': and the test of the steps says it is no chance; "
     "may "
     "be given several times",
     set_fail_if, GROUP_OTHER},
    {"marker", KIND_VALUE, FOR(COMMAND_COMPARE) | FOR(COMMAND_CYCLES) | FOR(COMMAND_INGEST),
     "FUNCTION", "the function whose calls are the cycles (found)", set_marker, GROUP_OTHER},
    {"hardware", KIND_VALUE, FOR(COMMAND_CYCLES), "FILE",
     "what the host has (topo_component.csv beside the trace)", set_hardware, GROUP_OTHER},
    {"format", KIND_VALUE, FOR(COMMAND_CYCLES), "FORMAT", "text, json or csv (text)", set_format,
     GROUP_OTHER},
    {"server", KIND_VALUE, ASKING, "URL",
     "the server to ask (http://127.0.0.1:8080); its token is in KINETOSCOPE_TOKEN",
     option_set_server, GROUP_OTHER},
    {"url", KIND_VALUE, ASKING, "URL", "the same", option_set_server, GROUP_OTHER},
    {"tag", KIND_VALUE, SENDING, "TAG",
     "a tag for the run, such as branch=main; may be given several times", option_set_tag,
     GROUP_OTHER},
    {"every", KIND_VALUE, FOR(COMMAND_WATCH), "N", "seconds between two looks (5)", set_every,
     GROUP_OTHER},
    {"once", KIND_FLAG, FOR(COMMAND_WATCH), NULL, "end when all that is there is uploaded",
     set_once, GROUP_OTHER},
    {"run", KIND_VALUE, FOR(COMMAND_GATE), "NAME", "the candidate, when no word names it", set_run,
     GROUP_OTHER},
    {"base", KIND_VALUE, FOR(COMMAND_GATE), "tag:TAG",
     "the baseline: runs with this tag, such as tag:branch=main; may be given several times",
     option_set_baseline, GROUP_OTHER},
    {"tag", KIND_VALUE, FOR(COMMAND_GATE), "TAG", "the same as --base tag:TAG", option_set_tag,
     GROUP_OTHER},
    {"project", KIND_VALUE, FOR(COMMAND_GATE), "NAME", "runs of this project only", set_run_project,
     GROUP_OTHER},
    {"fail-if", KIND_VALUE, FOR(COMMAND_GATE), "'METRIC>N[%] [and p<P]'",
     "fail when it is worse by more (step_time>5%), with a p of its own 'step_time>5% and p<0.05'; "
     "may be given several times",
     option_set_condition, GROUP_OTHER},
    {"p", KIND_VALUE, FOR(COMMAND_GATE), "N",
     "a failure is at most this probable by chance (0.01), where --fail-if does not say",
     option_set_p, GROUP_OTHER},
    {"format", KIND_VALUE, FOR(COMMAND_GATE), "FORMAT", "text, json, markdown or junit (text)",
     set_format, GROUP_OTHER},
    {"output", KIND_VALUE, FOR(COMMAND_GATE), "FILE", "write the verdict into this file",
     set_output, GROUP_OTHER},
    {"run", KIND_VALUE, FOR(COMMAND_REANALYSE), "NAME", "the uploads of this run only", set_run,
     GROUP_OTHER},
    {"trace", KIND_VALUE, FOR(COMMAND_REANALYSE), "ID",
     "the upload with this trace only; may be given several times", option_set_trace, GROUP_OTHER},
    {"licenses", KIND_FLAG, FOR(COMMAND_VERSION), NULL,
     "print the licences of all that is built in", set_licenses, GROUP_OTHER},
    {"man", KIND_FLAG, FOR(COMMAND_HELP), NULL, "the manual page, as roff: see man(1)", set_man,
     GROUP_OTHER},
};

#define OPTION_COUNT (sizeof option_table / sizeof option_table[0])
const size_t option_count = OPTION_COUNT;

const struct option_command command_table[COMMAND_COUNT] = {
    [COMMAND_SERVE] = {"serve", "serve [OPTION]...", "serve the page and the interface", 0, 0},
    [COMMAND_INGEST] = {"ingest", "ingest [OPTION]... FILE...",
                        "load files and archives without a server", 1, SIZE_MAX},
    [COMMAND_REPORT] = {"report", "report [OPTION]... FILE", "analyse one file to stdout", 1, 1},
    [COMMAND_COMPARE] = {"compare", "compare [OPTION]... BASE CANDIDATE",
                         "find what differs between two traces", 2, 2},
    [COMMAND_CYCLES] = {"cycles", "cycles [OPTION]... TRACE",
                        "print what each function took of each cycle", 1, 1},
    [COMMAND_BACKUP] = {"backup", "backup [OPTION]... FILE",
                        "everything into one file, also while a server serves it (- for stdout)", 1,
                        1},
    [COMMAND_RESTORE] = {"restore", "restore [OPTION]... FILE",
                         "a backup into a new or empty --data-dir", 1, 1},
    [COMMAND_COPY] = {"copy", "copy [OPTION]... --to-data-dir DIR",
                      "everything into another place, also while a server serves it", 0, 0},
    [COMMAND_TOKEN] = {"token", "token add|list|revoke [NAME]",
                       "make, list and revoke tokens, also while a server runs", 1, 2},
    [COMMAND_UPLOAD] = {"upload", "upload [OPTION]... PATH...",
                        "send files, or those of directories, to a server; print their links", 1,
                        SIZE_MAX},
    [COMMAND_WATCH] = {"watch", "watch [OPTION]... DIR",
                       "send what a profiler writes into a directory, until it is stopped", 1, 1},
    [COMMAND_GATE] = {"gate", "gate [OPTION]... RUN",
                      "exit with 3 if a run is worse than its baseline on a server", 0, 1},
    [COMMAND_REANALYSE] = {"reanalyse", "reanalyse [OPTION]...",
                           "have a server analyse stored uploads again, in the background", 0, 0},
    [COMMAND_VERSION] = {"version", "version [--licenses]", "print the version", 0, 0},
    [COMMAND_HELP] = {"help", "help [COMMAND|--man]", "explain a command, or print the manual page",
                      0, 1},
};

/* ---- parsing ---- */

struct parse {
    struct options *options;
    int argc;
    char **argv;
    int at;
    struct err *err;
};

static bool command_parse(const char *word, enum options_command *command)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(word, command_table[i].name) == 0) {
            *command = (enum options_command)i;
            return true;
        }
    }
    return false;
}

static void set_defaults(struct options *options)
{
    *options = (struct options){
        .command = COMMAND_SERVE,
        .help_about = COMMAND_HELP,
        .listen_host = "127.0.0.1",
        .listen_port = 8080,
        .data_dir = "./kinetoscope-data",
        .max_upload_bytes = (uint64_t)64 << 30,
        .limits = LIMITS_DEFAULT,
        .retain_raw = true,
        .objects_cache_bytes = (uint64_t)10 << 30,
        .log_level = LOG_INFO,
        .log_format = LOG_TEXT,
        .drain_seconds = 30,
        .format = REPORT_TEXT,
        .base_pid = COMPARISON_NO_PID,
        .candidate_pid = COMPARISON_NO_PID,
        .kind = OPTIONS_ANY_KIND,
        .rank = STORE_NO_RANK,
        .base_label = "base",
        .candidate_label = "candidate",
        .server_url = "http://127.0.0.1:8080",
        .every_s = 5,
        .perfetto_url = "https://ui.perfetto.dev",
    };
}

bool option_is_of(const struct option *option, enum options_command command)
{
    return (option->commands & FOR(command)) != 0;
}

void option_env_name(const struct option *option, char name[OPTION_ENV_BYTES])
{
    size_t len = (size_t)snprintf(name, OPTION_ENV_BYTES, OPTION_ENV_PREFIX "%s", option->name);
    for (size_t i = sizeof OPTION_ENV_PREFIX - 1; i < len && i < OPTION_ENV_BYTES; i++) {
        int upper = toupper((unsigned char)name[i]);
        name[i] = (char)(upper == '-' ? '_' : upper);
    }
}

/* Options of other commands are left alone: one environment serves all commands. */
static bool read_environment(struct parse *parse, const char *(*env)(const char *name))
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &option_table[i];
        char name[OPTION_ENV_BYTES];
        option_env_name(option, name);
        const char *text = env(name);
        const char *form = "";
        bool used = text != NULL && *text != '\0' && option_is_of(option, parse->options->command);
        if (used && !option->set(parse->options, text, &form)) {
            return err_set(parse->err, ERR_BAD_REQUEST, "%s=%.100s: expected %s", name, text, form);
        }
    }
    /* Not an option: the words of a command line are seen by everybody on the machine. */
    const char *token = env("KINETOSCOPE_TOKEN");
    parse->options->token = token != NULL && *token != '\0' ? token : NULL;
    return true;
}

/* An option can mean different things to different commands. */
static const struct option *find_option(enum options_command command, const char *name, size_t len)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &option_table[i];
        if (option_is_of(option, command) && strlen(option->name) == len &&
            strncmp(option->name, name, len) == 0) {
            return option;
        }
    }
    return NULL;
}

/* The value behind "=", or the next word; a flag needs none. */
static const char *take_value(struct parse *parse, const struct option *option, const char *equals)
{
    if (equals != NULL) {
        return equals + 1;
    }
    if (option->kind == KIND_FLAG) {
        return "yes";
    }
    return parse->at + 1 < parse->argc ? parse->argv[++parse->at] : NULL;
}

static bool parse_option(struct parse *parse, const char *word)
{
    const char *name = word + 2;
    const char *equals = strchr(name, '=');
    size_t len = equals == NULL ? strlen(name) : (size_t)(equals - name);
    enum options_command command = parse->options->command;
    const struct option *option = find_option(command, name, len);
    if (option == NULL) {
        return err_set(parse->err, ERR_BAD_REQUEST,
                       "unknown option --%.*s; `kinetoscope %s --help` lists those of %s",
                       (int)(len < 100 ? len : 100), name, command_table[command].name,
                       command_table[command].name);
    }
    const char *text = take_value(parse, option, equals);
    if (text == NULL) {
        return err_set(parse->err, ERR_BAD_REQUEST, "--%s needs a value: --%s %s", option->name,
                       option->name, option->form);
    }
    const char *form = "";
    if (!option->set(parse->options, text, &form)) {
        return err_set(parse->err, ERR_BAD_REQUEST, "--%s %.100s: expected %s", option->name, text,
                       form);
    }
    return true;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static bool parse_words(struct parse *parse)
{
    struct options *options = parse->options;
    int kept = parse->at;
    int first_file = kept;
    bool only_files = false;
    for (; parse->at < parse->argc; parse->at++) {
        char *word = parse->argv[parse->at];
        if (!only_files && strcmp(word, "--") == 0) {
            only_files = true;
        } else if (!only_files && is_help(word)) {
            options->help_about = options->command;
            options->command = COMMAND_HELP;
            options->file_count = 0;
            return true;
        } else if (!only_files && strncmp(word, "--", 2) == 0) {
            if (!parse_option(parse, word)) {
                return false;
            }
        } else if (!only_files && word[0] == '-' && word[1] != '\0') {
            return err_set(parse->err, ERR_BAD_REQUEST,
                           "unknown option %.100s; options are written --like-this", word);
        } else {
            parse->argv[kept++] = word;
        }
    }
    options->files = parse->argv + first_file;
    options->file_count = (size_t)(kept - first_file);
    return true;
}

static bool check_token_words(const struct options *options, struct err *err)
{
    const char *word = options->file_count == 0 ? "" : options->files[0];
    bool is_add = strcmp(word, "add") == 0;
    size_t words = strcmp(word, "list") == 0 ? 1 : is_add || strcmp(word, "revoke") == 0 ? 2 : 0;
    if (words == 0 || options->file_count != words) {
        return err_set(err, ERR_BAD_REQUEST,
                       "the forms are: kinetoscope token add NAME --role ROLE, token list, token "
                       "revoke NAME");
    }
    return !is_add || options->role != ACCESS_ROLE_NOBODY ||
           err_set(err, ERR_BAD_REQUEST,
                   "the role of the token is missing: --role viewer, uploader or admin");
}

static bool check_files(struct parse *parse)
{
    struct options *options = parse->options;
    size_t count = options->file_count;
    const char *usage = command_table[options->command].usage;
    if (options->command == COMMAND_HELP && count > 0) {
        return command_parse(options->files[0], &options->help_about) ||
               err_set(parse->err, ERR_BAD_REQUEST, "unknown command %.100s; try: kinetoscope help",
                       options->files[0]);
    }
    if (options->command == COMMAND_TOKEN) {
        return check_token_words(options, parse->err);
    }
    if (count > 0 && command_table[options->command].files_max == 0) {
        return err_set(parse->err, ERR_BAD_REQUEST,
                       "unexpected %.100s; the form is: kinetoscope %s", options->files[0], usage);
    }
    if (options->command == COMMAND_COPY && options->to_data_dir == NULL) {
        return err_set(parse->err, ERR_BAD_REQUEST, "the target is missing: --to-data-dir DIR");
    }
    size_t least = command_table[options->command].files_min;
    size_t most = command_table[options->command].files_max;
    const char *fault = count == 0  ? "no file named"
                        : most == 1 ? "one file at a time"
                                    : "two files or directories are "
                                      "compared";
    if (count < least || count > most) {
        return err_set(parse->err, ERR_BAD_REQUEST, "%s; the form is: kinetoscope %s", fault,
                       usage);
    }
    return options->rank == STORE_NO_RANK || count == 1 ||
           err_set(parse->err, ERR_BAD_REQUEST,
                   "--rank is for one file: of several, ranks come from their names");
}

bool options_parse(struct options *options,
                   int argc,
                   char **argv,
                   const char *(*env)(const char *name),
                   struct err *err)
{
    struct parse parse = {options, argc, argv, 1, err};
    set_defaults(options);
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        options->command = COMMAND_VERSION;
        parse.at = 2;
    } else if (argc <= 1 || is_help(argv[1])) {
        /* A bare call may be anybody's first: it makes no directory and listens nowhere. */
        options->command = COMMAND_HELP;
        return true;
    } else if (argc > 1 && argv[1][0] != '-') {
        if (!command_parse(argv[1], &options->command)) {
            return err_set(err, ERR_BAD_REQUEST, "unknown command %.100s; try: kinetoscope help",
                           argv[1]);
        }
        parse.at = 2;
    }
    return read_environment(&parse, env) && parse_words(&parse) &&
           (options->command == COMMAND_HELP && options->help_about != COMMAND_HELP
                ? true
                : check_files(&parse));
}
