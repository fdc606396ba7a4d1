#include "ingest/store/objects/s3/client.h"

#include "ingest/base/monotonic.h"
#include "ingest/base/thread.h"
#include "ingest/store/objects/s3/signature.h"
#include "ingest/store/objects/s3/target.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CONNECT_MS 3000L
#define IDLE_HANDLES_MAX 16
#define FIRST_PAUSE_MS 50
#define PAUSE_MAX_MS 2000
#define BODY_BYTES_MAX ((size_t)4 << 20)
#define HEADERS_MAX 8
#define TIME_BYTES sizeof "20130524T000000Z"

struct s3_client {
    struct s3_target target;
    int64_t retry_ms;
    int64_t stall_ms;
    pthread_mutex_t lock; /* guards what follows */
    CURL *idle[IDLE_HANDLES_MAX];
    size_t idle_count;
    uint64_t dice;
};

/* One request under way. */
struct sending {
    struct s3_client *client;
    const struct s3_request *request;
    struct s3_answer *answer;
    struct err *err;
    bool ok;
    size_t sent_bytes;
    size_t filled_bytes; /* of request->bytes */
    bool overflows;      /* more came than was asked for */
    char server_date[64];
};

/* ---- the client ---- */

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void init_curl(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

bool s3_client_create(struct s3_client **out,
                      const char *rest,
                      const struct objects_options *options,
                      struct err *err)
{
    (void)pthread_once(&curl_once, init_curl);
    struct s3_client *client = calloc(1, sizeof *client);
    if (client == NULL || pthread_mutex_init(&client->lock, NULL) != 0) {
        free(client);
        return err_set(err, ERR_NO_MEMORY, "no memory for the objects");
    }
    client->retry_ms = options->retry_ms;
    client->stall_ms = options->stall_ms;
    client->dice = (uint64_t)monotonic_ms() | 1;
    if (!s3_target_read(&client->target, rest, err)) {
        s3_client_destroy(client);
        return false;
    }
    *out = client;
    return true;
}

void s3_client_destroy(struct s3_client *client)
{
    if (client != NULL) {
        while (client->idle_count > 0) {
            curl_easy_cleanup(client->idle[--client->idle_count]);
        }
        (void)pthread_mutex_destroy(&client->lock);
        free(client);
    }
}

const char *s3_client_prefix(const struct s3_client *client)
{
    return client->target.prefix;
}

/* A handle keeps its connection. */
static CURL *take_handle(struct s3_client *client)
{
    CURL *curl = NULL;
    (void)pthread_mutex_lock(&client->lock);
    if (client->idle_count > 0) {
        curl = client->idle[--client->idle_count];
    }
    (void)pthread_mutex_unlock(&client->lock);
    return curl == NULL ? curl_easy_init() : curl;
}

static void return_handle(struct s3_client *client, CURL *curl)
{
    curl_easy_reset(curl);
    (void)pthread_mutex_lock(&client->lock);
    bool kept = client->idle_count < IDLE_HANDLES_MAX;
    if (kept) {
        client->idle[client->idle_count++] = curl;
    }
    (void)pthread_mutex_unlock(&client->lock);
    if (!kept) {
        curl_easy_cleanup(curl);
    }
}

/* ---- answers ---- */

void s3_answer_free(struct s3_answer *answer)
{
    buf_free(&answer->body);
}

const char *s3_element(const char **at, const char *name, size_t *len)
{
    char open[64];
    (void)snprintf(open, sizeof open, "<%s>", name);
    const char *begin = *at == NULL ? NULL : strstr(*at, open);
    if (begin == NULL) {
        return NULL;
    }
    begin += strlen(open);
    const char *end = strchr(begin, '<');
    if (end == NULL) {
        return NULL;
    }
    *len = (size_t)(end - begin);
    *at = end;
    return begin;
}

static bool has_code(const struct s3_answer *answer, const char *code)
{
    const char *at = answer->body.ptr;
    size_t len;
    const char *found = s3_element(&at, "Code", &len);
    return found != NULL && len == strlen(code) && memcmp(found, code, len) == 0;
}

/* Complete keeps the connection alive with spaces and may end with an error after its 200. */
static bool has_error(const struct s3_answer *answer)
{
    return answer->body.len > 0 && strstr(answer->body.ptr, "<Error>") != NULL;
}

/* ---- what libcurl calls ---- */

static size_t give_body(char *out, size_t size, size_t count, void *context)
{
    struct sending *sending = context;
    size_t left = sending->request->body_len - sending->sent_bytes;
    size_t take = size * count < left ? size * count : left;
    if (take > 0) {
        memcpy(out, (const char *)sending->request->body + sending->sent_bytes, take);
    }
    sending->sent_bytes += take;
    return take;
}

/* A connection that was closed while it idled: libcurl sends the body once more, by itself. */
static int seek_body(void *context, curl_off_t offset, int origin)
{
    struct sending *sending = context;
    if (origin != SEEK_SET || offset < 0 || (size_t)offset > sending->request->body_len) {
        return CURL_SEEKFUNC_CANTSEEK;
    }
    sending->sent_bytes = (size_t)offset;
    sending->answer->tries++;
    return CURL_SEEKFUNC_OK;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct sending *sending = context;
    const struct s3_request *request = sending->request;
    size_t len = size * count;
    long status = sending->answer->status;
    if (request->bytes == NULL || (status != 206 && status != 200)) {
        buf_append(&sending->answer->body, bytes, len);
        return sending->answer->body.failed ? 0 : len;
    }
    if (len > request->len - sending->filled_bytes) {
        sending->overflows = true;
        return 0;
    }
    memcpy((char *)request->bytes + sending->filled_bytes, bytes, len);
    sending->filled_bytes += len;
    return len;
}

static bool header_value(const char *line, size_t len, const char *name, char *out, size_t cap)
{
    size_t name_len = strlen(name);
    if (len <= name_len || curl_strnequal(line, name, name_len) == 0) {
        return false;
    }
    const char *from = line + name_len;
    const char *end = line + len;
    while (from < end && *from == ' ') {
        from++;
    }
    while (end > from && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' ')) {
        end--;
    }
    (void)snprintf(out, cap, "%.*s", (int)(end - from), from);
    return true;
}

static size_t take_header(char *line, size_t size, size_t count, void *context)
{
    struct sending *sending = context;
    struct s3_answer *answer = sending->answer;
    size_t len = size * count;
    char text[32];
    int status;
    if (len < 256 && strncmp(line, "HTTP/", 5) == 0) {
        /* "HTTP/1.1 206 Partial Content" */
        const char *space = memchr(line, ' ', len);
        status = space == NULL ? 0 : (int)strtol(space, NULL, 10);
        answer->status = status;
        answer->tag[0] = '\0';
        answer->length = 0;
    } else if (header_value(line, len, "etag:", answer->tag, sizeof answer->tag) ||
               header_value(line, len, "date:", sending->server_date,
                            sizeof sending->server_date)) {
        return len;
    } else if (header_value(line, len, "content-length:", text, sizeof text)) {
        answer->length = strtoull(text, NULL, 10);
    }
    return len;
}

static int look_on(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct sending *sending = context;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return sending->request->cancel != NULL && atomic_load(sending->request->cancel) ? 1 : 0;
}

/* ---- one try ---- */

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for a request to the objects");
}

/* All headers of one try, in the order of their names; `values` holds the made-up ones. */
struct head {
    struct s3_header headers[HEADERS_MAX];
    size_t count;
    char time[TIME_BYTES];
    char payload[SHA256_HEX_BYTES];
    char checksum[SHA256_BASE64_BYTES];
    char range[64];
};

static void add(struct head *head, const char *name, const char *value)
{
    head->headers[head->count++] = (struct s3_header){name, value};
}

static bool fill_head(struct head *head, const struct sending *sending)
{
    const struct s3_request *request = sending->request;
    const struct s3_target *target = &sending->client->target;
    unsigned char digest[SHA256_BYTES];
    time_t now = time(NULL);
    struct tm utc;
    if (!sha256_of(request->body == NULL ? "" : request->body, request->body_len, digest) ||
        gmtime_r(&now, &utc) == NULL ||
        strftime(head->time, sizeof head->time, "%Y%m%dT%H%M%SZ", &utc) == 0) {
        return false;
    }
    sha256_to_hex(digest, head->payload);
    sha256_to_base64(digest, head->checksum);
    head->count = 0;
    add(head, "host", target->host);
    if (request->if_absent) {
        add(head, "if-none-match", "*");
    }
    if (request->bytes != NULL) {
        (void)snprintf(head->range, sizeof head->range, "bytes=%" PRIu64 "-%" PRIu64,
                       request->offset, request->offset + request->len - 1);
        add(head, "range", head->range);
    }
    if (request->has_checksum) {
        add(head, "x-amz-checksum-sha256", head->checksum);
    }
    add(head, "x-amz-content-sha256", head->payload);
    add(head, "x-amz-date", head->time);
    if (target->session_token[0] != '\0') {
        add(head, "x-amz-security-token", target->session_token);
    }
    return true;
}

static bool append_line(struct curl_slist **list, const char *name, const char *value)
{
    struct buf line;
    buf_init(&line, (size_t)16 << 10);
    buf_printf(&line, "%s: %s", name, value);
    struct curl_slist *grown = line.failed ? NULL : curl_slist_append(*list, line.ptr);
    buf_free(&line);
    if (grown == NULL) {
        return false;
    }
    *list = grown;
    return true;
}

/* *lines: what the caller frees, also on false. */
static bool make_lines(const struct sending *sending, const char *path, struct curl_slist **lines)
{
    const struct s3_target *target = &sending->client->target;
    struct head head;
    struct buf authorization;
    if (!fill_head(&head, sending)) {
        return false;
    }
    const struct s3_signing signing = {
        .method = sending->request->method,
        .path = path,
        .query = sending->request->query == NULL ? "" : sending->request->query,
        .headers = head.headers,
        .header_count = head.count,
        .payload_sha256 = head.payload,
        .time = head.time,
        .region = target->region,
        .access_key = target->access_key,
        .secret_key = target->secret_key,
    };
    buf_init(&authorization, (size_t)8 << 10);
    bool ok =
        s3_sign(&signing, &authorization) && append_line(lines, "authorization", authorization.ptr);
    for (size_t i = 0; ok && i < head.count; i++) {
        ok = append_line(lines, head.headers[i].name, head.headers[i].value);
    }
    buf_free(&authorization);
    struct curl_slist *grown = ok ? curl_slist_append(*lines, "Expect:") : NULL;
    *lines = grown == NULL ? *lines : grown;
    return grown != NULL;
}

static void set_method(CURL *curl, struct sending *sending)
{
    const struct s3_request *request = sending->request;
    if (strcmp(request->method, "HEAD") == 0) {
        (void)curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    } else if (strcmp(request->method, "PUT") == 0 || strcmp(request->method, "POST") == 0) {
        (void)curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
        (void)curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
        (void)curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_body);
        (void)curl_easy_setopt(curl, CURLOPT_READDATA, sending);
        (void)curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, seek_body);
        (void)curl_easy_setopt(curl, CURLOPT_SEEKDATA, sending);
        (void)curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->body_len);
        (void)curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, 512L << 10);
    } else {
        (void)curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
    }
}

static void set_up(CURL *curl, struct sending *sending, const char *url, struct curl_slist *lines)
{
    long stall_s = (long)((sending->client->stall_ms + 999) / 1000);
    (void)curl_easy_setopt(curl, CURLOPT_URL, url);
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, lines);
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    (void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, stall_s);
    (void)curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 256L << 10);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, sending);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERDATA, sending);
    (void)curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_on);
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFODATA, sending);
    set_method(curl, sending);
}

static void begin_try(struct sending *sending)
{
    struct s3_answer *answer = sending->answer;
    sending->sent_bytes = 0;
    sending->filled_bytes = 0;
    sending->overflows = false;
    sending->server_date[0] = '\0';
    answer->status = 0;
    answer->tries++;
    buf_clear(&answer->body);
}

/* False: no answer came, *code says why. */
static bool try_once(struct sending *sending, CURLcode *code)
{
    struct buf path;
    struct buf url;
    struct curl_slist *lines = NULL;
    const struct s3_request *request = sending->request;
    const struct s3_target *target = &sending->client->target;
    CURL *curl = take_handle(sending->client);
    begin_try(sending);
    buf_init(&path, (size_t)8 << 10);
    buf_init(&url, (size_t)16 << 10);
    s3_target_path(target, request->key, &path);
    buf_printf(&url, "%s%s%s%s", target->origin, path.ptr == NULL ? "" : path.ptr,
               request->query == NULL ? "" : "?", request->query == NULL ? "" : request->query);
    *code = CURLE_OUT_OF_MEMORY;
    if (curl != NULL && !path.failed && !url.failed && make_lines(sending, path.ptr, &lines)) {
        set_up(curl, sending, url.ptr, lines);
        *code = curl_easy_perform(curl);
    }
    if (curl != NULL) {
        return_handle(sending->client, curl);
    }
    curl_slist_free_all(lines);
    buf_free(&url);
    buf_free(&path);
    return *code == CURLE_OK;
}

/* ---- what a try says ---- */

static bool is_whole_range(const struct sending *sending)
{
    const struct s3_request *request = sending->request;
    const struct s3_answer *answer = sending->answer;
    if (request->bytes == NULL || answer->status / 100 != 2) {
        return true;
    }
    bool is_asked_for = answer->status == 206 || request->offset == 0;
    return is_asked_for && sending->filled_bytes == request->len;
}

static bool decides(const struct sending *sending)
{
    const struct s3_answer *answer = sending->answer;
    int status = answer->status;
    return (status / 100 == 2 && !has_error(answer) && is_whole_range(sending)) || status == 404 ||
           status == 412 || status == 501;
}

static bool may_pass(const struct sending *sending)
{
    const struct s3_answer *answer = sending->answer;
    int status = answer->status;
    return status >= 500 || status == 429 || status == 408 ||
           (status / 100 == 2 && !is_whole_range(sending)) ||
           (status / 100 == 2 && has_error(answer) && !has_code(answer, "NoSuchUpload")) ||
           (status == 409 && has_code(answer, "OperationAborted")) ||
           (status == 400 &&
            (has_code(answer, "RequestTimeout") || has_code(answer, "IncompleteBody")));
}

static bool fail_of_code(struct sending *sending, CURLcode code)
{
    const struct s3_target *target = &sending->client->target;
    if (code == CURLE_OUT_OF_MEMORY) {
        return no_memory(sending->err);
    }
    return err_set(sending->err, ERR_UNAVAILABLE, "the objects at %.200s do not answer: %s",
                   target->origin,
                   code == CURLE_OPERATION_TIMEDOUT ? "nothing came for too long"
                   : sending->overflows             ? "more bytes came than were asked for"
                                                    : curl_easy_strerror(code));
}

static bool fail_of_clock(struct sending *sending)
{
    time_t theirs = curl_getdate(sending->server_date, NULL);
    long long apart_s = theirs < 0 ? 0 : (long long)(time(NULL) - theirs);
    return err_set(sending->err, ERR_UNAVAILABLE,
                   "the objects at %.200s refuse this machine's clock: it is %lld s %s theirs; set "
                   "it right (NTP), then try again",
                   sending->client->target.origin, apart_s < 0 ? -apart_s : apart_s,
                   apart_s < 0 ? "behind" : "ahead of");
}

static bool fail_of_status(struct sending *sending)
{
    const struct s3_answer *answer = sending->answer;
    const char *at = answer->body.ptr;
    size_t code_len = 0;
    size_t message_len = 0;
    const char *code = s3_element(&at, "Code", &code_len);
    at = answer->body.ptr;
    const char *message = s3_element(&at, "Message", &message_len);
    if (has_code(answer, "RequestTimeTooSkewed")) {
        return fail_of_clock(sending);
    }
    if (!is_whole_range(sending)) {
        return err_set(
            sending->err, ERR_UNAVAILABLE, "the objects at %.200s gave %zu bytes of a range of %zu",
            sending->client->target.origin, sending->filled_bytes, sending->request->len);
    }
    const char *advice = answer->status == 403
                             ? "; check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and "
                               "the rights of the key"
                             : "";
    return err_set(sending->err, ERR_UNAVAILABLE, "the objects at %.120s answer %d%s%.*s%s%.*s%s",
                   sending->client->target.origin, answer->status, code == NULL ? "" : " ",
                   (int)(code_len < 60 ? code_len : 60), code == NULL ? "" : code,
                   message == NULL ? "" : ": ", (int)(message_len < 120 ? message_len : 120),
                   message == NULL ? "" : message, advice);
}

/* ---- tries ---- */

/* Anything up to twice the pause that doubles, so that many clients do not come back together. */
static int64_t pause_ms(struct s3_client *client, unsigned tries)
{
    int64_t base_ms = FIRST_PAUSE_MS;
    while (tries-- > 1 && base_ms < PAUSE_MAX_MS) {
        base_ms *= 2;
    }
    (void)pthread_mutex_lock(&client->lock);
    client->dice ^= client->dice << 13;
    client->dice ^= client->dice >> 7;
    client->dice ^= client->dice << 17;
    int64_t more_ms = (int64_t)(client->dice % (uint64_t)base_ms);
    (void)pthread_mutex_unlock(&client->lock);
    return base_ms / 2 + more_ms;
}

static bool is_cancelled(const struct s3_request *request)
{
    return request->cancel != NULL && atomic_load(request->cancel);
}

static void sleep_ms(int64_t ms)
{
    const struct timespec pause = {.tv_sec = (time_t)(ms / 1000),
                                   .tv_nsec = (long)(ms % 1000) * 1000000};
    (void)nanosleep(&pause, NULL);
}

static void *run_sending(void *argument)
{
    struct sending *sending = argument;
    const struct s3_request *request = sending->request;
    int64_t until_ms = monotonic_ms() + (request->once ? 0 : sending->client->retry_ms);
    for (;;) {
        CURLcode code;
        bool answered = try_once(sending, &code);
        if (answered && decides(sending)) {
            sending->ok = true;
            return NULL;
        }
        int64_t pause = pause_ms(sending->client, sending->answer->tries);
        /* A first try may have stalled for longer than all tries together may take. */
        bool has_time = monotonic_ms() + pause < until_ms || sending->answer->tries == 1;
        bool again = (answered ? may_pass(sending) : code != CURLE_OUT_OF_MEMORY) && has_time &&
                     !request->once && !is_cancelled(request);
        if (!again) {
            sending->ok = answered ? fail_of_status(sending) : fail_of_code(sending, code);
            return NULL;
        }
        sleep_ms(pause);
    }
}

bool s3_send(struct s3_client *client,
             const struct s3_request *request,
             struct s3_answer *answer,
             struct err *err)
{
    struct sending sending = {.client = client, .request = request, .answer = answer, .err = err};
    *answer = (struct s3_answer){0};
    buf_init(&answer->body, BODY_BYTES_MAX);
    if (thread_call(run_sending, &sending) != 0) {
        return err_set(err, ERR_NO_MEMORY, "no resources for a request to the objects");
    }
    return sending.ok;
}
