/* gate: asks a server whether a run is worse than its baseline [HIST-4]. */
#include "ingest/base/text/json_small.h"
#include "ingest/base/text/json_write.h"
#include "server/cli/commands.h"
#include "server/cli/text.h"
#include "server/client/http_client.h"
#include "server/client/remote.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define BODY_MAX_BYTES ((size_t)256 << 10)

static void
write_texts(struct json_write *w, const char *key, const char *const *texts, size_t count)
{
    jw_key_array_begin(w, key);
    for (size_t i = 0; i < count; i++) {
        jw_string(w, texts[i]);
    }
    jw_array_end(w);
}

static const char *candidate_of(const struct options *options)
{
    return options->file_count > 0 ? options->files[0] : options->run;
}

static void write_body(struct buf *body, const struct options *options)
{
    struct json_write w;
    jw_init(&w, body, false);
    jw_object_begin(&w);
    jw_key_object_begin(&w, "candidate");
    jw_key_string(&w, "run", candidate_of(options));
    jw_object_end(&w);
    if (options->run_project != NULL) {
        jw_key_string(&w, "project", options->run_project);
    }
    write_texts(&w, "tag", options->tags, options->tag_count);
    write_texts(&w, "fail_if", options->fail_ifs, options->fail_if_count);
    if (options->gate_p > 0) {
        jw_key_double(&w, "p", options->gate_p);
    }
    jw_object_end(&w);
}

/* ---- text ---- */

static double number_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static void put_value(struct buf *out, const json_t *value, const char *unit)
{
    char figure[TEXT_FIGURE_BYTES];
    double number = number_of(value);
    if (isnan(number)) {
        (void)snprintf(figure, sizeof figure, "-");
    } else if (strcmp(unit, "ns") == 0) {
        text_time(figure, number);
    } else if (strcmp(unit, "bytes") == 0) {
        text_bytes(figure, number);
    } else {
        (void)snprintf(figure, sizeof figure, "%.4g", number);
    }
    buf_puts(out, figure);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

static void put_row(struct buf *out, const json_t *row)
{
    const json_t *baseline = json_object_get(row, "baseline");
    const char *unit = text_of(row, "unit");
    double change = number_of(json_object_get(row, "change"));
    double p = number_of(json_object_get(row, "p"));
    buf_puts(out, "  ");
    text_clean(out, text_of(row, "metric"));
    buf_puts(out, ": ");
    text_clean(out, text_of(row, "verdict"));
    buf_puts(out, ", ");
    put_value(out, json_object_get(row, "candidate"), unit);
    buf_puts(out, " against ");
    put_value(out, json_object_get(baseline, "mean"), unit);
    buf_printf(out, " (mean of %.0f)", json_number_value(json_object_get(baseline, "n")));
    if (!isnan(change)) {
        buf_printf(out, ", %+.2f%%", 100 * change);
    }
    buf_puts(out, ", limit ");
    text_clean(out, text_of(row, "limit"));
    if (!isnan(p)) {
        buf_printf(out, ", p %.3g", p);
    }
    buf_puts(out, "\n    ");
    text_clean(out, text_of(row, "url"));
    buf_putc(out, '\n');
}

static void put_text(struct buf *out, const json_t *gate)
{
    size_t index = 0;
    const json_t *row = NULL;
    buf_puts(out, "gate: ");
    text_clean(out, text_of(gate, "verdict"));
    buf_putc(out, '\n');
    json_array_foreach(json_object_get(gate, "rows"), index, row)
    {
        put_row(out, row);
    }
}

/* ---- the command ---- */

static bool write_out(const struct options *options, const struct buf *text, struct err *err)
{
    FILE *file = options->output_dir == NULL ? stdout : fopen(options->output_dir, "wb");
    if (file == NULL) {
        return err_set_errno(err, ERR_IO, errno, "%s", options->output_dir);
    }
    bool ok = !text->failed && fwrite(text->ptr, 1, text->len, file) == text->len;
    ok = fflush(file) == 0 && ok;
    if (file != stdout) {
        ok = fclose(file) == 0 && ok;
    }
    return ok || err_set(err, ERR_IO, "the verdict could not be written");
}

/* The verdict comes from the JSON; other forms are asked for beside it. */
static bool ask(const struct options *options, struct buf *text, int *exit_code, struct err *err)
{
    static const char *const forms[] = {[REPORT_MARKDOWN] = "/api/v1/gate?format=markdown",
                                        [REPORT_JUNIT] = "/api/v1/gate?format=junit"};
    const struct remote remote = {options->server_url, options->token, 0};
    struct buf body;
    struct buf answer;
    buf_init(&body, BODY_MAX_BYTES);
    buf_init(&answer, REMOTE_ANSWER_MAX_BYTES);
    write_body(&body, options);
    bool ok = (!body.failed || err_set(err, ERR_BAD_REQUEST, "the conditions are too long")) &&
              remote_ask(&remote, "POST", "/api/v1/gate?format=json", body.ptr, &answer, err);
    json_t *gate = ok ? json_small_parse(answer.ptr, answer.len, 0, "The answer", err) : NULL;
    if (ok && gate == NULL) {
        err->code = ERR_UNAVAILABLE; /* of this server: the request was right */
    }
    ok = gate != NULL;
    if (ok) {
        *exit_code = json_integer_value(json_object_get(gate, "exit_code")) == EXIT_FAIL_IF
                         ? EXIT_FAIL_IF
                         : EXIT_DONE;
    }
    if (ok && options->format == REPORT_TEXT) {
        put_text(text, gate);
    } else if (ok && options->format == REPORT_JSON) {
        buf_append(text, answer.ptr, answer.len);
        buf_putc(text, '\n');
    } else if (ok) {
        ok = remote_ask(&remote, "POST", forms[options->format], body.ptr, text, err);
    }
    json_decref(gate);
    buf_free(&answer);
    buf_free(&body);
    return ok;
}

int command_gate(const struct options *options)
{
    struct err err = ERR_INIT;
    struct buf text;
    int exit_code = EXIT_FAILED;
    if (candidate_of(options) == NULL) {
        (void)err_set(&err, ERR_BAD_REQUEST,
                      "no candidate named; the form is: kinetoscope gate RUN --base tag:TAG");
        text_print_error(stderr, NULL, &err);
        return EXIT_USAGE;
    }
    buf_init(&text, REMOTE_ANSWER_MAX_BYTES);
    bool ok = http_client_is_built(&err) && ask(options, &text, &exit_code, &err) &&
              write_out(options, &text, &err);
    buf_free(&text);
    if (!ok) {
        text_print_error(stderr, NULL, &err);
        return err.code == ERR_BAD_REQUEST ? EXIT_USAGE : EXIT_FAILED;
    }
    return exit_code;
}
