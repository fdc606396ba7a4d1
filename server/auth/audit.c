#include "server/auth/audit.h"

void audit(const struct log *log,
           const struct api_subject *subject,
           const char *client,
           const char *action,
           const struct http_request *req,
           const char *path)
{
    const struct log_field fields[] = {
        {.name = "who", .kind = LOG_FIELD_TEXT, .text = subject->name},
        {.name = "client", .kind = LOG_FIELD_TEXT, .text = client},
        {.name = "action", .kind = LOG_FIELD_TEXT, .text = action},
        {.name = "method", .kind = LOG_FIELD_TEXT, .text = req->method},
        {.name = "path", .kind = LOG_FIELD_TEXT, .text = path},
        {.name = "status", .kind = LOG_FIELD_INT, .number = req->status},
    };
    log_record(log, LOG_INFO, "audit", fields, sizeof fields / sizeof fields[0]);
}

void audit_stopped(const struct log *log, const char *client, bool stopped)
{
    const struct log_field fields[] = {
        {.name = "client", .kind = LOG_FIELD_TEXT, .text = client},
    };
    if (stopped) {
        log_record(log, LOG_WARN, "too many wrong tokens", fields, 1);
    }
}
