#include "api/api.h"
#include "ingest/jobs/jobs.h"
#include "ingest/store/store.h"
#include "server/access.h"
#include "server/commands.h"
#include "server/http/http.h"
#include "server/listen.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define REQUEST_GRACE_S 30

/* Parts in the order in which they start; they stop in the opposite one. */
struct server {
    const struct options *options;
    struct log log;
    sigset_t signals;
    char address[LISTEN_ADDRESS_BYTES];
    char local_url[OPTIONS_URL_BYTES];
    struct access *access;
    struct store *store;
    struct jobs *jobs;
    struct http *http;
    struct api api;
};

/* Signals are taken by sigwait in the main thread only, so every thread is to begin with them
 * blocked. */
static void block_signals(struct server *server)
{
    (void)sigemptyset(&server->signals);
    (void)sigaddset(&server->signals, SIGTERM);
    (void)sigaddset(&server->signals, SIGINT);
    (void)sigaddset(&server->signals, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, &server->signals, NULL);
}

static bool start_storage(struct server *server, struct err *err)
{
    const struct options *options = server->options;
    const struct jobs_options jobs_options = {
        .workers = options->ingest_workers,
        .memory_budget_bytes = options->ingest_memory_bytes,
        .retain_raw = options->retain_raw,
        .log = &server->log,
    };
    return store_open(&server->store, options->data_dir, &server->log, err) &&
           jobs_create(&server->jobs, server->store, &jobs_options, err);
}

static bool start_http(struct server *server, struct err *err)
{
    const struct options *options = server->options;
    const struct http_options http_options = {
        .listen_host = server->address,
        .listen_port = options->listen_port,
        .base_path = options->base_path,
        .static_dir = options->static_dir,
        .access = server->access,
        .log = &server->log,
        .handle = api_handle,
    };
    if (!http_start(&server->http, &http_options, err)) {
        return false;
    }
    listen_url(options, http_port(server->http), server->local_url);
    bool has_public = options->public_url[0] != '\0';
    server->api = (struct api){
        .store = server->store,
        .jobs = server->jobs,
        .options = {.public_url = has_public ? options->public_url : server->local_url,
                    .max_upload_bytes = options->max_upload_bytes,
                    .retain_raw = options->retain_raw,
                    .log = &server->log},
    };
    http_open(server->http, &server->api, server->api.options.public_url);
    return true;
}

static void announce(const struct server *server)
{
    const struct options *options = server->options;
    (void)printf("Kinetoscope " KS_VERSION " listening on %s  (data: %s)\n", server->local_url,
                 options->data_dir);
    if (options->public_url[0] != '\0') {
        (void)printf("Users open %s\n", options->public_url);
    }
    (void)fflush(stdout);
    if (options->allow_anonymous && options->token_file == NULL) {
        log_write(&server->log, LOG_WARN,
                  "everyone who reaches %s may read, upload and delete (--allow-anonymous)",
                  server->address);
    }
}

static void wait_for_signal(struct server *server)
{
    int signal_number = 0;
    (void)sigwait(&server->signals, &signal_number);
    log_write(&server->log, LOG_INFO,
              "signal %d: finishing running requests and jobs; a second signal ends at once",
              signal_number);
    /* The default action of a second one ends the process. */
    (void)pthread_sigmask(SIG_UNBLOCK, &server->signals, NULL);
}

static bool run(struct server *server, struct err *err)
{
    const char *token_file = server->options->token_file;
    if ((token_file != NULL && !access_load(&server->access, token_file, err)) ||
        !start_storage(server, err) || !start_http(server, err)) {
        return false;
    }
    announce(server);
    wait_for_signal(server);
    http_drain(server->http, REQUEST_GRACE_S);
    /* What still waits for a queued job is told to come back: the job stays for the next start. */
    jobs_stop(server->jobs);
    return true;
}

static void stop(struct server *server)
{
    http_stop(server->http);
    jobs_destroy(server->jobs);
    store_close(server->store);
    access_free(server->access);
}

int command_serve(const struct options *options)
{
    struct server server = {.options = options, .log = {stderr, options->log_level}};
    struct err err = ERR_INIT;
    if (!listen_resolve(options->listen_host, server.address, &err) ||
        !listen_allowed(options, server.address, &err)) {
        (void)fprintf(stderr, "kinetoscope: %s\n", err.msg);
        return EXIT_USAGE;
    }
    block_signals(&server);
    bool ok = run(&server, &err);
    stop(&server);
    if (!ok) {
        (void)fprintf(stderr, "kinetoscope: %s\n", err.msg);
        return EXIT_FAILED;
    }
    log_write(&server.log, LOG_INFO, "stopped");
    return EXIT_DONE;
}
