/* reanalyse: has a server analyse stored uploads again. */
#include "ingest/base/text/json_small.h"
#include "ingest/base/text/json_write.h"
#include "server/cli/commands.h"
#include "server/cli/text.h"
#include "server/client/http_client.h"
#include "server/client/remote.h"

#include <stdio.h>

#define BODY_MAX_BYTES ((size_t)64 << 10)

static void write_body(struct buf *body, const struct options *options)
{
    struct json_write w;
    jw_init(&w, body, false);
    jw_object_begin(&w);
    if (options->run != NULL) {
        jw_key_string(&w, "run", options->run);
    }
    if (options->trace_count > 0) {
        jw_key_array_begin(&w, "traces");
        for (size_t i = 0; i < options->trace_count; i++) {
            jw_int(&w, options->trace_ids[i]);
        }
        jw_array_end(&w);
    }
    jw_object_end(&w);
}

static void print(long long queued, long long left)
{
    (void)printf("%lld upload%s analysed again", queued, queued == 1 ? " is" : "s are");
    if (left > 0) {
        (void)printf(left == 1 ? ", %lld stays as it is: its bytes were not kept"
                               : ", %lld stay as they are: their bytes were not kept",
                     left);
    }
    (void)printf("\n");
}

static bool ask(const struct options *options, struct err *err)
{
    const struct remote remote = {options->server_url, options->token, 0};
    struct buf body;
    struct buf answer;
    buf_init(&body, BODY_MAX_BYTES);
    buf_init(&answer, REMOTE_ANSWER_MAX_BYTES);
    write_body(&body, options);
    bool ok = (!body.failed || err_set(err, ERR_NO_MEMORY, "no memory for the request")) &&
              remote_ask(&remote, "POST", "/api/v1/reanalyse", body.ptr, &answer, err);
    json_t *told = ok ? json_small_parse(answer.ptr, answer.len, 0, "The answer", err) : NULL;
    if (told != NULL) {
        print(json_integer_value(json_object_get(told, "queued")),
              json_integer_value(json_object_get(told, "left")));
    }
    ok = told != NULL;
    json_decref(told);
    buf_free(&answer);
    buf_free(&body);
    return ok;
}

int command_reanalyse(const struct options *options)
{
    struct err err = ERR_INIT;
    if (options->run != NULL && options->trace_count > 0) {
        (void)err_set(&err, ERR_BAD_REQUEST, "name a --run or a --trace, not both");
        text_print_error(stderr, NULL, &err);
        return EXIT_USAGE;
    }
    if (!http_client_is_built(&err) || !ask(options, &err)) {
        text_print_error(stderr, NULL, &err);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}
