#include "server/webhooks/webhooks.h"

#include "api/query_string.h"
#include "ingest/base/monotonic.h"
#include "ingest/base/sha256.h"
#include "ingest/base/text/json_write.h"
#include "ingest/base/thread.h"
#include "ingest/base/wall_clock.h"
#include "ingest/store/store_nodes.h"
#include "ingest/store/store_webhooks.h"
#include "server/client/http_client.h"
#include "server/webhooks/webhook_lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_INTERVAL_MS INT64_C(1000)
/* A look rests four times as long as it took: lines over a large store leave most of a processor.
 */
#define REST_FACTOR 4
#define BODY_MAX_BYTES ((size_t)64 << 10)
#define TIMEOUT_S 10U
#define AT_ONCE 16
#define SIGNATURE_BYTES 128

struct webhooks {
    struct store *store;
    struct webhooks_options options;
    struct arena arena; /* of the lines */
    struct webhook_line lines[WEBHOOK_LINES_MAX];
    size_t line_count;
    uint64_t seen_version;
    bool has_looked;
    struct thread_sleeper thread;
    pthread_mutex_t lock;
    bool is_ending;
};

/* ---- what is told ---- */

static void put_parameter(
    struct buf *url, struct arena *arena, const char *before, const char *name, const char *value)
{
    const char *encoded = value == NULL ? NULL : query_string_encode(arena, value);
    if (encoded != NULL) {
        buf_printf(url, "%s%s=%s", before, name, encoded);
    }
}

/* The page of the series, as the gate's links lead to it. */
static void put_link(struct buf *url,
                     struct arena *arena,
                     const struct webhooks *hooks,
                     const struct webhook_line *line)
{
    buf_printf(url, "%s/#/history", hooks->options.public_url);
    put_parameter(url, arena, "?", "metric", line->metric);
    put_parameter(url, arena, "&", "project", line->filter.project);
    put_parameter(url, arena, "&", "run", line->filter.run);
    put_parameter(url, arena, "&", "device", line->filter.device);
    for (size_t i = 0; i < line->filter.tag_count; i++) {
        put_parameter(url, arena, "&", "tag", line->tags[i]);
    }
}

static void write_slack(struct json_write *w,
                        struct arena *arena,
                        const struct webhook_line *line,
                        const struct store_series_point *point,
                        const struct history_test *test,
                        const char *url)
{
    struct buf text;
    buf_init(&text, BODY_MAX_BYTES);
    buf_printf(&text, "Kinetoscope: %s is worse since %s: %.4g, was %.4g (%+.1f%%, p %.2g)\n%s",
               line->metric, point->run, test->mean_after, test->mean_before, 100 * test->change,
               test->p, url);
    const char *copy = text.failed ? NULL : arena_strndup(arena, text.ptr, text.len);
    buf_free(&text);
    jw_object_begin(w);
    jw_key_string(w, "text", copy);
    jw_object_end(w);
}

static void write_json(struct json_write *w,
                       const struct webhook_line *line,
                       const struct store_series_point *point,
                       const char *project,
                       const struct history_change *change,
                       size_t n,
                       const char *url)
{
    jw_object_begin(w);
    jw_key_string(w, "event", "regression");
    jw_key_string(w, "metric", line->metric);
    jw_key_string(w, "project", *project == '\0' ? NULL : project);
    jw_key_string(w, "run", point->run);
    jw_key_int(w, "trace", point->trace_id);
    jw_key_double(w, "time", point->time);
    jw_key_int(w, "index", (int64_t)change->index);
    jw_key_double(w, "before", change->test.mean_before);
    jw_key_double(w, "after", change->test.mean_after);
    jw_key_double(w, "change", change->test.change);
    jw_key_double(w, "p", change->test.p);
    jw_key_int(w, "n", (int64_t)n);
    jw_key_string(w, "url", url);
    jw_object_end(w);
}

static bool cross(struct webhooks *hooks,
                  struct store_snapshot *snapshot,
                  struct arena *arena,
                  const struct webhook_line *line,
                  const struct history_series *series,
                  const struct history_change *change,
                  struct err *err)
{
    const struct store_series_point *point = &series->points[change->index];
    struct store_run *run = NULL;
    struct buf body;
    struct buf url;
    struct json_write w;
    if (!store_run_get(snapshot, arena, point->run, &run, err)) {
        return err->code == ERR_NOT_FOUND; /* deleted since the series was read */
    }
    buf_init(&body, BODY_MAX_BYTES);
    buf_init(&url, BODY_MAX_BYTES);
    put_link(&url, arena, hooks, line);
    jw_init(&w, &body, false);
    if (line->is_slack) {
        write_slack(&w, arena, line, point, &change->test, url.ptr);
    } else {
        write_json(&w, line, point, run->project, change, series->count, url.ptr);
    }
    const struct store_delivery delivery = {.hook = line->sha256_hex,
                                            .place = line->place,
                                            .metric = line->metric,
                                            .run = point->run,
                                            .body = body.ptr};
    bool ok = (!body.failed && !url.failed) || err_set(err, ERR_NO_MEMORY, "no memory for a body");
    ok = ok && store_webhook_cross(hooks->store, &delivery, err);
    buf_free(&url);
    buf_free(&body);
    return ok;
}

/* ---- looking ---- */

static bool look_at_line(struct webhooks *hooks,
                         struct store_snapshot *snapshot,
                         struct arena *arena,
                         const struct webhook_line *line,
                         struct err *err)
{
    struct history_series series;
    struct history_changes found;
    if (!history_query_series(&series, snapshot, arena, line->metric, &line->filter, err) ||
        !history_query_changes(&found, arena, &series, &line->rules, err)) {
        return false;
    }
    for (size_t i = 0; i < found.change_count; i++) {
        const struct history_change *change = &found.changes[i];
        if (change->test.change * series.metric.direction < 0 &&
            !cross(hooks, snapshot, arena, line, &series, change, err)) {
            return false;
        }
    }
    return true;
}

static void look(struct webhooks *hooks)
{
    uint64_t version = store_version(hooks->store);
    if (hooks->has_looked && version == hooks->seen_version) {
        return;
    }
    hooks->seen_version = version;
    hooks->has_looked = true;
    for (size_t i = 0; i < hooks->line_count; i++) {
        struct arena arena;
        struct store_snapshot snapshot;
        struct err err = ERR_INIT;
        arena_init(&arena, 0);
        store_snapshot_init(&snapshot, hooks->store);
        if (!look_at_line(hooks, &snapshot, &arena, &hooks->lines[i], &err)) {
            log_write(hooks->options.log, LOG_WARN, "webhook to %s: the series cannot be read: %s",
                      hooks->lines[i].place, err.msg);
        }
        store_snapshot_close(&snapshot);
        arena_free(&arena);
    }
}

/* ---- sending ---- */

/* "X-Kinetoscope-Signature: sha256=<hex>" over the body, as receivers of other services know it. */
static bool sign(const char *secret, const char *body, char header[SIGNATURE_BYTES])
{
    unsigned char mac[SHA256_BYTES];
    char hex[SHA256_HEX_BYTES];
    if (!sha256_hmac(secret, strlen(secret), body, strlen(body), mac)) {
        return false;
    }
    sha256_to_hex(mac, hex);
    (void)snprintf(header, SIGNATURE_BYTES, "X-Kinetoscope-Signature: sha256=%s", hex);
    return true;
}

static bool send_body(const struct webhooks *hooks,
                      const struct webhook_line *line,
                      struct store_delivery *delivery,
                      struct err *err)
{
    char signature[SIGNATURE_BYTES];
    char id[64];
    struct http_client_answer answer = {0};
    (void)snprintf(id, sizeof id, "X-Kinetoscope-Delivery: %lld", (long long)delivery->id);
    struct http_client_request request = {
        .method = "POST",
        .url = line->url,
        .headers = {"Content-Type: application/json", "X-Kinetoscope-Event: regression", id},
        .body = delivery->body,
        .body_len = strlen(delivery->body),
        .timeout_s = TIMEOUT_S,
        .only_public = !hooks->options.may_reach_private};
    if (line->secret != NULL) {
        if (!sign(line->secret, delivery->body, signature)) {
            return err_set(err, ERR_INTERNAL, "the body cannot be signed");
        }
        request.headers[3] = signature;
    }
    /* What it answers is nobody's here. */
    buf_init(&answer.body, 0);
    bool ok = http_client_ask(&request, &answer, err);
    buf_free(&answer.body);
    delivery->status = ok ? answer.status : 0;
    return ok && ((answer.status >= 200 && answer.status < 300) ||
                  err_set(err, ERR_UNAVAILABLE, "it answers %d", answer.status));
}

static const struct webhook_line *find_line(const struct webhooks *hooks, const char *sha256_hex)
{
    for (size_t i = 0; i < hooks->line_count; i++) {
        if (strcmp(hooks->lines[i].sha256_hex, sha256_hex) == 0) {
            return &hooks->lines[i];
        }
    }
    return NULL;
}

/* The address of the hook may be a secret: what libcurl says of it stays in front of its path. */
static void hide_url(const struct webhook_line *line, struct err *err)
{
    size_t len = strlen(line->url);
    if (strncmp(err->msg, line->url, len < 200 ? len : 200) == 0) {
        struct err hidden = ERR_INIT;
        const char *rest = strstr(err->msg + (len < 200 ? len : 200), ": ");
        (void)err_set(&hidden, err->code, "%.200s%s", line->place, rest == NULL ? "" : rest);
        *err = hidden;
    }
}

/* [HIST-5b] Again after 1, 5, 25 minutes, then no more. */
static void attempt(struct webhooks *hooks, struct store_delivery *delivery)
{
    static const int64_t pauses_s[] = {60, 300, 1500};
    struct err err = ERR_INIT;
    const struct webhook_line *line = find_line(hooks, delivery->hook);
    bool ok = line != NULL ? send_body(hooks, line, delivery, &err)
                           : err_set(&err, ERR_GONE, "its line is no longer in the file");
    if (!ok && line != NULL) {
        hide_url(line, &err);
    }
    bool is_last =
        line == NULL || delivery->attempts >= (int64_t)(sizeof pauses_s / sizeof pauses_s[0]);
    delivery->state = ok ? DELIVERY_DELIVERED : is_last ? DELIVERY_GIVEN_UP : DELIVERY_WAITING;
    delivery->error = ok ? NULL : err.msg;
    if (!ok) {
        log_write(hooks->options.log, LOG_WARN, "webhook to %s for %s: %s%s", delivery->place,
                  delivery->run, err.msg, is_last ? "; given up" : "");
    }
    if (!ok && !is_last) {
        delivery->next_at_s = wall_clock_s() + pauses_s[delivery->attempts];
    }
    delivery->attempts++;
    struct err second = ERR_INIT;
    if (!store_webhook_attempted(hooks->store, delivery, &second)) {
        log_write(hooks->options.log, LOG_WARN, "the log of webhooks: %s", second.msg);
    }
}

static bool is_ending(struct webhooks *hooks)
{
    (void)pthread_mutex_lock(&hooks->lock);
    bool ending = hooks->is_ending;
    (void)pthread_mutex_unlock(&hooks->lock);
    return ending;
}

static void send_due(struct webhooks *hooks)
{
    struct arena arena;
    struct err err = ERR_INIT;
    struct store_delivery *rows = NULL;
    size_t count = 0;
    arena_init(&arena, 0);
    if (!store_webhook_due(hooks->store, &arena, wall_clock_s(), AT_ONCE, &rows, &count, &err)) {
        log_write(hooks->options.log, LOG_WARN, "the queue of webhooks: %s", err.msg);
        count = 0;
    }
    for (size_t i = 0; i < count && !is_ending(hooks); i++) {
        attempt(hooks, &rows[i]);
    }
    arena_free(&arena);
}

/* ---- the thread ---- */

static void *work(void *argument)
{
    struct webhooks *hooks = argument;
    while (!is_ending(hooks)) {
        int64_t began_ms = monotonic_ms();
        bool is_ours = store_has_duty(hooks->store, STORE_DUTY_WEBHOOKS);
        if (is_ours) {
            look(hooks);
        }
        int64_t took_ms = monotonic_ms() - began_ms;
        if (is_ours) {
            send_due(hooks);
        }
        int64_t rest_ms = took_ms * REST_FACTOR;
        struct timespec next =
            monotonic_after(rest_ms > LOOK_INTERVAL_MS ? rest_ms : LOOK_INTERVAL_MS);
        (void)pthread_mutex_lock(&hooks->lock);
        while (!hooks->is_ending &&
               pthread_cond_timedwait(&hooks->thread.wake, &hooks->lock, &next) == 0) {
        }
        (void)pthread_mutex_unlock(&hooks->lock);
    }
    return NULL;
}

static void destroy(struct webhooks *hooks)
{
    (void)pthread_mutex_destroy(&hooks->lock);
    arena_free(&hooks->arena);
    free(hooks);
}

bool webhooks_start(struct webhooks **out,
                    struct store *store,
                    const struct webhooks_options *options,
                    struct err *err)
{
    *out = NULL;
    if (options->path == NULL) {
        return true;
    }
    struct webhooks *hooks = http_client_is_built(err) ? calloc(1, sizeof *hooks) : NULL;
    if (hooks == NULL) {
        return err->code != ERR_NONE ? false
                                     : err_set(err, ERR_NO_MEMORY, "no memory for webhooks");
    }
    hooks->store = store;
    hooks->options = *options;
    arena_init(&hooks->arena, 0);
    if (pthread_mutex_init(&hooks->lock, NULL) != 0) {
        free(hooks);
        return err_set(err, ERR_NO_MEMORY, "no resources for webhooks");
    }
    if (!webhook_lines_read(options->path, &hooks->arena, hooks->lines, &hooks->line_count, err) ||
        !thread_sleeper_start(&hooks->thread, work, hooks, "no resources for webhooks", err)) {
        destroy(hooks);
        return false;
    }
    *out = hooks;
    return true;
}

void webhooks_stop(struct webhooks *hooks)
{
    if (hooks == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&hooks->lock);
    hooks->is_ending = true;
    (void)pthread_mutex_unlock(&hooks->lock);
    thread_sleeper_join(&hooks->thread, &hooks->lock);
    destroy(hooks);
}
