#include "server/client/http_client.h"

#include "server/client/public_address.h"

#if KS_HAS_CURL

#include <curl/curl.h>

#define CONNECT_TIMEOUT_S 10L
#define SILENCE_MAX_S 60L

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct buf *body = context;
    size_t room = body->max_bytes > body->len ? body->max_bytes - body->len : 0;
    size_t len = size * count;
    buf_append(body, bytes, len < room ? len : room);
    return len;
}

/* Called with the address that is connected to, after any resolution of names. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    const struct http_client_request *request = context;
    if (purpose != CURLSOCKTYPE_IPCXN ||
        (request->only_public && !public_address_is(&address->addr))) {
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype, address->protocol);
}

static void set_body(CURL *curl, const struct http_client_request *request)
{
    if (request->body != NULL) {
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_len);
    } else if (request->file != NULL) {
        (void)curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
        (void)curl_easy_setopt(curl, CURLOPT_READDATA, request->file);
        (void)curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->file_bytes);
    }
    /* After these, which choose methods of their own. */
    (void)curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

static void set_bounds(CURL *curl, const struct http_client_request *request)
{
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)request->timeout_s);
    if (request->timeout_s == 0) {
        (void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        (void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, SILENCE_MAX_S);
    }
    (void)curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    (void)curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, request);
    if (request->only_public) {
        (void)curl_easy_setopt(curl, CURLOPT_PROXY, "");
    }
}

static bool perform(CURL *curl,
                    const struct http_client_request *request,
                    const struct curl_slist *headers,
                    struct http_client_answer *answer,
                    struct err *err)
{
    char reason[CURL_ERROR_SIZE] = "";
    long status = 0;
    curl_off_t retry_after_s = 0;
    (void)curl_easy_setopt(curl, CURLOPT_URL, request->url);
    (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer->body);
    set_bounds(curl, request);
    set_body(curl, request);
    CURLcode code = curl_easy_perform(curl);
    if (code != CURLE_OK) {
        const char *hint = request->only_public && code == CURLE_COULDNT_CONNECT
                               ? " (addresses that are not public are refused)"
                               : "";
        return err_set(err, ERR_UNAVAILABLE, "%.200s: %.200s%s", request->url,
                       reason[0] != '\0' ? reason : curl_easy_strerror(code), hint);
    }
    (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry_after_s);
    answer->status = (int)status;
    answer->retry_after_s = (int64_t)retry_after_s;
    return !answer->body.failed || err_set(err, ERR_NO_MEMORY, "no memory for the answer");
}

bool http_client_ask(const struct http_client_request *request,
                     struct http_client_answer *answer,
                     struct err *err)
{
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "User-Agent: kinetoscope/" KS_VERSION);
    bool ok = curl != NULL && headers != NULL;
    for (size_t i = 0; ok && i < HTTP_CLIENT_HEADERS_MAX && request->headers[i] != NULL; i++) {
        ok = curl_slist_append(headers, request->headers[i]) != NULL;
    }
    ok = ok ? perform(curl, request, headers, answer, err)
            : err_set(err, ERR_NO_MEMORY, "no memory for a request");
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return ok;
}

bool http_client_is_built(struct err *err)
{
    (void)err;
    return true;
}

#else

bool http_client_ask(const struct http_client_request *request,
                     struct http_client_answer *answer,
                     struct err *err)
{
    (void)request;
    (void)answer;
    return http_client_is_built(err);
}

bool http_client_is_built(struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED,
                   "this build cannot send requests: install libcurl (libcurl4-openssl-dev) and "
                   "build again; meanwhile /kinetoscope.py of the server does the same");
}

#endif
