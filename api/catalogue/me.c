/* Who asks: for the page, and for people who wonder what a token is good for. */
#include "api/call.h"
#include "api/handlers.h"
#include "ingest/store/store_access.h"

#include <string.h>

bool me_get(struct api_call *call, struct err *err)
{
    (void)err;
    static const struct api_subject everyone = {.role = ACCESS_ROLE_ADMIN};
    const struct api_subject *subject =
        call->request->subject == NULL ? &everyone : call->request->subject;
    const char *projects = subject->projects == NULL ? "[]" : subject->projects;
    struct json_write w = call_json(call, false);
    call_add_header(call, "Cache-Control", "no-store");
    jw_object_begin(&w);
    jw_key_string(&w, "name", subject->name);
    jw_key_string(&w, "role", access_role_text(subject->role));
    jw_key(&w, "projects");
    jw_raw(&w, projects, strlen(projects));
    jw_key_bool(&w, "every_project", subject->projects == NULL);
    jw_key_bool(&w, "anonymous", subject->name == NULL);
    jw_key_bool(&w, "session", subject->has_session);
    jw_key_bool(&w, "asks_for_tokens", subject->asks_for_tokens);
    jw_key_string(&w, "source_url", call->api->options.source_url);
    jw_key_string(&w, "perfetto_url", call->api->options.perfetto_url);
    jw_object_end(&w);
    return true;
}
