#include "api/api.h"
#include "api/service/metrics.h"
#include "ingest/analysis/efficiency/device_peaks.h"
#include "ingest/analysis/kernel_classes/kernel_rules.h"
#include "ingest/base/monotonic.h"
#include "ingest/jobs/queue/jobs.h"
#include "ingest/store/store.h"
#include "server/auth/access.h"
#include "server/cli/commands.h"
#include "server/cli/text.h"
#include "server/guard/origin.h"
#include "server/http.h"
#include "server/options/listen.h"
#include "server/webhooks/webhooks.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* For those who are told after the time that their jobs wait for the next start. */
#define LAST_ANSWERS_S 1
#define DAY_S 86400

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
    struct metrics *metrics;
    struct webhooks *webhooks;
    struct kernel_rules kernel_rules;
    struct device_peaks_list device_peaks;
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
        .input_limits = limits_of_input(&options->limits),
        .max_events = options->limits.events,
        .max_queued = options->limits.queued_jobs,
        .retain_raw = options->retain_raw,
        .retention = {.max_age_s = (int64_t)options->limits.retain_days * DAY_S,
                      .quota_bytes = options->limits.quota_bytes,
                      .project_quota_bytes = options->limits.project_quota_bytes},
        .kernel_rules = &server->kernel_rules,
        .device_peaks = &server->device_peaks,
        .log = &server->log,
    };
    const struct store_objects objects = {.url = options->objects_url,
                                          .cache_bytes = options->objects_cache_bytes};
    const struct store_place place = {.data_dir = options->data_dir,
                                      .database_url = options->database_url,
                                      .node_name = options->node_name,
                                      .node_address = options->node_address,
                                      .objects = options->objects_url == NULL ? NULL : &objects};
    return store_open_at(&server->store, &place, &server->log, err) &&
           store_follow_rules(server->store, server->kernel_rules.sha256_hex, err) &&
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
        .limits = &options->limits,
        .trusted_proxies = options->trusted_proxies,
        .trusted_proxy_count = options->trusted_proxy_count,
        .log = &server->log,
        .handle = api_handle,
        .version = api_version,
    };
    if (!http_start(&server->http, &http_options, err)) {
        return false;
    }
    listen_url(options, http_port(server->http), server->local_url);
    bool has_public = options->public_url[0] != '\0';
    server->api = (struct api){
        .store = server->store,
        .jobs = server->jobs,
        .metrics = server->metrics,
        .options = {.public_url = has_public ? options->public_url : server->local_url,
                    .source_url = options->source_url,
                    .perfetto_url = options->perfetto_url,
                    .max_upload_bytes = options->max_upload_bytes,
                    .retain_raw = options->retain_raw,
                    .log = &server->log},
    };
    http_open(server->http, &server->api, server->api.options.public_url);
    return true;
}

static bool start_webhooks(struct server *server, struct err *err)
{
    const struct webhooks_options options = {
        .path = server->options->webhooks_path,
        .may_reach_private = server->options->webhooks_private,
        .public_url = server->api.options.public_url,
        .log = &server->log,
    };
    return webhooks_start(&server->webhooks, server->store, &options, err);
}

/* The tokens of the store are known only now. */
static bool start_access(struct server *server, struct err *err)
{
    const struct options *options = server->options;
    const struct access_options access_options = {
        .token_file = options->token_file,
        .store = server->store,
        .allow_anonymous = options->allow_anonymous,
        .on_loopback = origin_is_loopback(server->address),
        .log = &server->log,
    };
    return access_create(&server->access, &access_options, err) &&
           listen_allowed(options, server->address, access_has_tokens(server->access), err);
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
    if (options->allow_anonymous && !access_has_tokens(server->access)) {
        log_write(&server->log, LOG_WARN,
                  "everyone who reaches %s may read, upload and delete (--allow-anonymous)",
                  server->address);
    }
}

static void wait_for_signal(struct server *server)
{
    int signal_number = 0;
    /* Without a token file there is nothing to read again, and SIGHUP is a terminal that closed. */
    while (sigwait(&server->signals, &signal_number) == 0 && signal_number == SIGHUP &&
           server->options->token_file != NULL) {
        access_reload(server->access);
    }
    log_write(&server->log, LOG_INFO,
              "signal %d: finishing running requests and jobs; a second signal ends at once",
              signal_number);
    /* The default action of a second one ends the process. */
    (void)pthread_sigmask(SIG_UNBLOCK, &server->signals, NULL);
}

/* What waits goes to other servers. Requests first, and with them the jobs that they wait for; then
 * the job that runs for nobody. */
static void finish_running(struct server *server)
{
    int64_t until_ms = monotonic_ms() + (int64_t)server->options->drain_seconds * 1000;
    jobs_hand_over(server->jobs);
    bool answered = http_drain(server->http, server->options->drain_seconds);
    /* What still waits for a queued job is told to come back: the job stays for the next start. */
    jobs_stop(server->jobs);
    int64_t left_ms = until_ms - monotonic_ms();
    bool stored = jobs_drain(server->jobs, left_ms > 0 ? (int)left_ms : 0);
    answered = answered || http_break_off(server->http, LAST_ANSWERS_S);
    if (!stored || !answered) {
        log_write(&server->log, LOG_WARN, "stopped before %s",
                  stored ? "every request was answered"
                         : "every file was read: those begin again at the next start");
        /* Threads work on, so that nothing may be taken apart. The store is made for that. */
        _exit(EXIT_DONE);
    }
}

static bool read_kernel_rules(struct server *server, struct err *err)
{
    const char *path = server->options->kernel_classes_path;
    return path == NULL || kernel_rules_read(path, &server->kernel_rules, err);
}

static bool read_device_peaks(struct server *server, struct err *err)
{
    const char *path = server->options->devices_path;
    return path == NULL || device_peaks_read(path, &server->device_peaks, err);
}

static bool run(struct server *server, struct err *err)
{
    if (!read_kernel_rules(server, err) || !read_device_peaks(server, err) ||
        !metrics_create(&server->metrics, err) || !start_storage(server, err) ||
        !start_access(server, err) || !start_http(server, err) || !start_webhooks(server, err)) {
        return false;
    }
    announce(server);
    wait_for_signal(server);
    finish_running(server);
    return true;
}

static void stop(struct server *server)
{
    http_stop(server->http);
    webhooks_stop(server->webhooks);
    access_free(server->access);
    jobs_destroy(server->jobs);
    store_close(server->store);
    metrics_free(server->metrics);
    kernel_rules_free(&server->kernel_rules);
    device_peaks_free(&server->device_peaks);
}

int command_serve(const struct options *options)
{
    struct server server = {.options = options,
                            .log = {stderr, options->log_level, options->log_format}};
    struct err err = ERR_INIT;
    if (!listen_resolve(options->listen_host, server.address, &err) ||
        !listen_allowed(options, server.address,
                        options->database_url != NULL || token_registry_may_be(options->data_dir),
                        &err)) {
        text_print_error(stderr, NULL, &err);
        return EXIT_USAGE;
    }
    block_signals(&server);
    bool ok = run(&server, &err);
    stop(&server);
    if (!ok) {
        text_print_error(stderr, NULL, &err);
        return err.code == ERR_BAD_REQUEST ? EXIT_USAGE : EXIT_FAILED;
    }
    log_write(&server.log, LOG_INFO, "stopped");
    return EXIT_DONE;
}
