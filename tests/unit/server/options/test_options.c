#include "ingest/model/results/comparison.h"
#include "server/options/options.h"
#include "server/options/options_value.h"
#include "tests/unit/unit.h"

#include <string.h>

#define WORDS_MAX 20

static const char *no_environment(const char *name)
{
    (void)name;
    return NULL;
}

struct parsed {
    struct options options;
    struct err err;
    char text[512]; /* what the options point into */
    char *argv[WORDS_MAX + 1];
};

/* Splits the line at blanks and parses it. */
static bool parse_with(struct parsed *p, const char *line, const char *(*env)(const char *))
{
    p->err = (struct err)ERR_INIT;
    (void)snprintf(p->text, sizeof p->text, "kinetoscope %s", line);
    int argc = 0;
    char *rest = NULL;
    for (char *word = strtok_r(p->text, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        assert_true(argc < WORDS_MAX);
        p->argv[argc++] = word;
    }
    p->argv[argc] = NULL;
    return options_parse(&p->options, argc, p->argv, env, &p->err);
}

static bool parse(struct parsed *p, const char *line)
{
    return parse_with(p, line, no_environment);
}

/* A bare call makes no directory and listens nowhere. */
static void without_words_it_helps(void **state)
{
    struct parsed p;
    assert_true(parse(&p, ""));
    assert_int_equal(p.options.command, COMMAND_HELP);
}

static void serving_has_defaults(void **state)
{
    struct parsed p;
    assert_true(parse(&p, "serve"));
    assert_int_equal(p.options.command, COMMAND_SERVE);
    assert_string_equal(p.options.listen_host, "127.0.0.1");
    assert_int_equal(p.options.listen_port, 8080);
    assert_string_equal(p.options.data_dir, "./kinetoscope-data");
    assert_true(p.options.max_upload_bytes == (uint64_t)64 << 30);
    assert_true(p.options.retain_raw);
    assert_null(p.options.objects_url);
    assert_false(p.options.allow_anonymous);
    assert_int_equal(p.options.log_level, LOG_INFO);
    assert_int_equal(p.options.log_format, LOG_TEXT);
    assert_int_equal(p.options.drain_seconds, 30);
    assert_string_equal(p.options.base_path, "");
    assert_true(parse(&p, "--data-dir /d"));
    assert_int_equal(p.options.command, COMMAND_SERVE);
}

static void serve_takes_all_its_options(void **state)
{
    struct parsed p;
    assert_true(parse(&p, "serve --listen 0.0.0.0:0 --data-dir=/d --token-file t --max-upload 1G "
                          "--ingest-workers 3"));
    assert_string_equal(p.options.listen_host, "0.0.0.0");
    assert_int_equal(p.options.listen_port, 0);
    assert_string_equal(p.options.data_dir, "/d");
    assert_string_equal(p.options.token_file, "t");
    assert_true(p.options.max_upload_bytes == (uint64_t)1 << 30);
    assert_int_equal(p.options.ingest_workers, 3);
    assert_true(parse(&p,
                      "serve --retain-raw no --log-level debug --base-path /a/b/ --allow-anonymous "
                      "--public-url https://x.example/a/b/ --static-dir static "
                      "--source-url https://git.example/b/{path}#L{line}"));
    assert_string_equal(p.options.source_url, "https://git.example/b/{path}#L{line}");
    assert_false(p.options.retain_raw);
    assert_int_equal(p.options.log_level, LOG_DEBUG);
    assert_string_equal(p.options.base_path, "/a/b");
    assert_true(p.options.allow_anonymous);
    assert_string_equal(p.options.public_url, "https://x.example/a/b");
    assert_string_equal(p.options.static_dir, "static");
    assert_int_equal(p.options.limits.retain_days | p.options.limits.quota_bytes |
                         p.options.limits.project_quota_bytes,
                     0);
    assert_true(parse(&p, "serve --retain-days 90 --quota 2T --project-quota 100G"));
    assert_int_equal(p.options.limits.retain_days, 90);
    assert_true(p.options.limits.quota_bytes == (uint64_t)2 << 40);
    assert_true(p.options.limits.project_quota_bytes == (uint64_t)100 << 30);
}

static void what_reads_a_file_has_its_limits(void **state)
{
    static const char *const words[] = {"serve", "ingest a", "report a", "compare a b", "cycles a"};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        struct parsed p;
        char line[200];
        assert_true(parse(&p, words[i]));
        assert_int_equal(p.options.limits.ratio, 1000);
        (void)snprintf(line, sizeof line, "%s --max-decompressed 1M --max-ratio 0 --max-events 7",
                       words[i]);
        assert_true(parse(&p, line));
        assert_int_equal(limits_of_input(&p.options.limits).decompressed_bytes, 1 << 20);
        assert_int_equal(limits_of_input(&p.options.limits).ratio, 0);
        assert_int_equal(p.options.limits.events, 7);
        (void)snprintf(line, sizeof line, "%s --max-url 1K", words[i]);
        assert_int_equal(parse(&p, line), i == 0);
    }
}

static const char *some_environment(const char *name)
{
    if (strcmp(name, "KINETOSCOPE_DATA_DIR") == 0) {
        return "/from/env";
    }
    if (strcmp(name, "KINETOSCOPE_ALLOW_ANONYMOUS") == 0) {
        return "true";
    }
    return strcmp(name, "KINETOSCOPE_MAX_UPLOAD") == 0 ? "500M" : NULL;
}

static void the_environment_stands_behind_the_command_line(void **state)
{
    struct parsed p;
    assert_true(parse_with(&p, "serve --max-upload 1K", some_environment));
    assert_string_equal(p.options.data_dir, "/from/env");
    assert_true(p.options.allow_anonymous);
    assert_int_equal(p.options.max_upload_bytes, 1024);
    /* What concerns another command does not matter. */
    assert_true(parse_with(&p, "report f", some_environment));
}

static const char *wrong_environment(const char *name)
{
    return strcmp(name, "KINETOSCOPE_LISTEN") == 0 ? "nowhere" : NULL;
}

static void wrong_usage_names_the_option(void **state)
{
    static const struct {
        const char *line;
        const char *expect;
    } rows[] = {
        {"dance", "unknown command dance"},
        {"help dance", "unknown command dance"},
        {"serve --nonsense", "unknown option --nonsense"},
        {"serve -x", "unknown option -x"},
        {"serve extra", "unexpected extra"},
        {"serve --run r", "unknown option --run"},
        {"serve --listen", "--listen HOST:PORT"},
        {"serve --listen 8080x", "--listen 8080x: expected HOST:PORT"},
        {"serve --listen [::1]:80", "IPv4 only"},
        {"serve --listen h:99999", "HOST:PORT"},
        {"serve --max-upload many", "--max-upload many: expected a size: 64G"},
        {"serve --max-upload -1", "expected a size"},
        {"serve --max-upload 99999999999T", "expected a size"},
        {"serve --retain-raw maybe", "yes or no"},
        {"serve --objects-url http://host/bucket", "s3://bucket/prefix"},
        {"serve --objects-url file://relative", "file:///folder"},
        {"serve --objects-cache much", "a size"},
        {"serve --retain-days forever", "a number from 0 to 100000"},
        {"serve --quota -1", "a size from 0"},
        {"ingest --project-quota 1G f", "unknown option --project-quota"},
        {"serve --log-level loud", "error, warn, info or debug"},
        {"serve --log-format xml", "text or json"},
        {"serve --drain-seconds -1", "a number from 0 to 1024"},
        {"serve --base-path prefix", "begins with a slash"},
        {"serve --base-path /a?b", "begins with a slash"},
        {"serve --public-url ftp://x", "https://host/prefix"},
        {"serve --public-url https://", "https://host/prefix"},
        {"serve --source-url javascript:alert({path})", "{path}"},
        {"serve --source-url https://git.example/x", "{path}"},
        {"serve --source-url https://{path}", "{path}"},
        {"serve --source-url https://git.example/<{path}", "{path}"},
        {"serve --ingest-workers 9999", "0 to 1024"},
        {"ingest", "kinetoscope ingest"},
        {"report", "kinetoscope report"},
        {"report a b", "one file at a time"},
        {"report a --format csv", "text, json or markdown"},
        {"compare a", "two files or directories"},
        {"compare a b c", "two files or directories"},
        {"compare a b --format xml", "text, json, csv or markdown"},
        {"compare a b --base-pid x", "the number of a process"},
        {"compare a b --kind turn", "step, prefill, decode, layer, mixed, idle or diffusion"},
        {"compare a b --labels same,same", "two short names"},
        {"compare a b --labels one", "two short names"},
        {"compare a b --fail-if step_time", "NAME>N or NAME>N%"},
        {"compare a b --fail-if other>5", "NAME>N or NAME>N%"},
        {"compare a b --hardware f", "unknown option --hardware"},
        {"cycles a --format markdown", "text, json or csv"},
        {"cycles", "no file named"},
        {"cycles a b", "one file at a time"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct parsed p;
        assert_false(parse(&p, rows[i].line));
        assert_non_null(strstr(p.err.msg, rows[i].expect));
    }
    struct parsed p;
    assert_false(parse_with(&p, "serve", wrong_environment));
    assert_non_null(strstr(p.err.msg, "KINETOSCOPE_LISTEN=nowhere"));
}

static void files_stand_anywhere(void **state)
{
    struct parsed p;
    assert_true(parse(&p, "ingest a --run r b --data-dir d -- --c"));
    assert_int_equal(p.options.command, COMMAND_INGEST);
    assert_string_equal(p.options.run, "r");
    assert_int_equal(p.options.file_count, 3);
    assert_string_equal(p.options.files[0], "a");
    assert_string_equal(p.options.files[1], "b");
    assert_string_equal(p.options.files[2], "--c");
    assert_true(parse(&p, "report f --format markdown"));
    assert_int_equal(p.options.format, REPORT_MARKDOWN);
    assert_string_equal(p.options.files[0], "f");
}

static void comparing_has_options_of_its_own(void **state)
{
    struct parsed p;
    assert_true(parse(&p, "compare a b"));
    assert_int_equal(p.options.command, COMMAND_COMPARE);
    assert_int_equal(p.options.format, REPORT_TEXT);
    assert_true(p.options.base_pid == COMPARISON_NO_PID);
    assert_int_equal(p.options.kind, OPTIONS_ANY_KIND);
    assert_string_equal(p.options.base_label, "base");
    assert_string_equal(p.options.candidate_label, "candidate");
    assert_true(parse(&p, "compare a b --base-pid 7 --candidate-pid=-8 --labels x,y --format csv "
                          "--kind decode --fail-if step_time>5% --fail-if kernel:a<b>>2"));
    assert_int_equal(p.options.format, REPORT_CSV);
    assert_int_equal(p.options.base_pid, 7);
    assert_int_equal(p.options.candidate_pid, -8);
    assert_int_equal(p.options.kind, CYCLE_DECODE);
    assert_string_equal(p.options.base_label, "x");
    assert_string_equal(p.options.candidate_label, "y");
    assert_int_equal(p.options.fail_if_count, 2);
    assert_string_equal(p.options.fail_ifs[1], "kernel:a<b>>2");
    assert_true(parse(&p, "cycles a --marker f --hardware h"));
    assert_int_equal(p.options.format, REPORT_TEXT);
    assert_string_equal(p.options.marker, "f");
    assert_string_equal(p.options.hardware_path, "h");
}

static const char *token_alone(const char *name)
{
    return strcmp(name, "KINETOSCOPE_TOKEN") == 0 ? "secret" : NULL;
}

static void asking_a_server_has_its_options(void **state)
{
    struct parsed p;
    assert_true(parse_with(&p,
                           "gate slow --base tag:a=b --tag c --server http://h:1/x/ --fail-if "
                           "kernel:a>b>2% --p 0.05 --format junit --output f",
                           token_alone));
    assert_int_equal(p.options.command, COMMAND_GATE);
    assert_string_equal(p.options.files[0], "slow");
    assert_int_equal(p.options.tag_count, 2);
    assert_string_equal(p.options.tags[0], "a=b");
    assert_string_equal(p.options.server_url, "http://h:1/x");
    assert_string_equal(p.options.token, "secret");
    assert_int_equal(p.options.format, REPORT_JUNIT);
    assert_true(p.options.gate_p > 0.049 && p.options.gate_p < 0.051);
    assert_true(parse(&p, "watch dir --once --every 1 --run r"));
    assert_true(p.options.once);
    assert_int_equal(p.options.every_s, 1);
    assert_null(p.options.token);
    assert_true(parse(&p, "reanalyse --trace 3 --trace 7 --run r"));
    assert_int_equal(p.options.command, COMMAND_REANALYSE);
    assert_int_equal(p.options.trace_count, 2);
    assert_int_equal(p.options.trace_ids[1], 7);
    assert_string_equal(p.options.run, "r");
    assert_false(parse(&p, "reanalyse --trace 0"));
    assert_false(parse(&p, "reanalyse --trace 1x"));
    assert_false(parse(&p, "reanalyse word"));
    assert_false(parse(&p, "gate r --p 1"));
    assert_false(parse(&p, "gate r --base a=b"));
    assert_false(parse(&p, "gate r --fail-if >5"));
    assert_false(parse(&p, "gate r --format csv"));
    assert_false(parse(&p, "report r --format junit"));
    assert_false(parse(&p, "upload"));
    assert_false(parse(&p, "upload a --server ftp://h"));
}

static void help_and_version_are_found_everywhere(void **state)
{
    struct parsed p;
    assert_true(parse(&p, "--help"));
    assert_int_equal(p.options.command, COMMAND_HELP);
    assert_int_equal(p.options.help_about, COMMAND_HELP);
    assert_true(parse(&p, "help report"));
    assert_int_equal(p.options.help_about, COMMAND_REPORT);
    assert_true(parse(&p, "ingest a -h"));
    assert_int_equal(p.options.command, COMMAND_HELP);
    assert_int_equal(p.options.help_about, COMMAND_INGEST);
    assert_true(parse(&p, "help"));
    assert_int_equal(p.options.help_about, COMMAND_HELP);
    assert_true(parse(&p, "--version"));
    assert_int_equal(p.options.command, COMMAND_VERSION);
    assert_true(parse(&p, "version --licenses"));
    assert_true(p.options.licenses);
}

static void sizes(void **state)
{
    uint64_t bytes;
    const char *form;
    assert_true(value_size("12", &bytes, &form) && bytes == 12);
    assert_true(value_size("2k", &bytes, &form) && bytes == 2048);
    assert_true(value_size("3MiB", &bytes, &form) && bytes == 3 << 20);
    assert_true(value_size("1TB", &bytes, &form) && bytes == (uint64_t)1 << 40);
    assert_true(value_size("7B", &bytes, &form) && bytes == 7);
    assert_false(value_size("", &bytes, &form));
    assert_false(value_size("G", &bytes, &form));
    assert_false(value_size("1.5G", &bytes, &form));
    assert_false(value_size("1GG", &bytes, &form));
}

static void places_to_listen(void **state)
{
    char host[OPTIONS_HOST_BYTES];
    uint16_t port;
    const char *form;
    assert_true(value_listen("9000", host, &port, &form) && port == 9000);
    assert_string_equal(host, "");
    assert_true(value_listen(":9000", host, &port, &form));
    assert_string_equal(host, "");
    assert_true(value_listen("*:1", host, &port, &form) && port == 1);
    assert_true(value_listen("name.example:65535", host, &port, &form) && port == 65535);
    assert_string_equal(host, "name.example");
    assert_false(value_listen("name", host, &port, &form));
    assert_false(value_listen("name:", host, &port, &form));
    assert_false(value_listen("", host, &port, &form));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_words_it_helps),
        cmocka_unit_test(serving_has_defaults),
        cmocka_unit_test(serve_takes_all_its_options),
        cmocka_unit_test(what_reads_a_file_has_its_limits),
        cmocka_unit_test(the_environment_stands_behind_the_command_line),
        cmocka_unit_test(wrong_usage_names_the_option),
        cmocka_unit_test(files_stand_anywhere),
        cmocka_unit_test(comparing_has_options_of_its_own),
        cmocka_unit_test(asking_a_server_has_its_options),
        cmocka_unit_test(help_and_version_are_found_everywhere),
        cmocka_unit_test(sizes),
        cmocka_unit_test(places_to_listen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
