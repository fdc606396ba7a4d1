/* How an agent uses this server, for those that read a file of skills. */
#include "api/agents/tools.h"
#include "api/call.h"
#include "api/handlers.h"

bool skill_get(struct api_call *call, struct err *err)
{
    struct buf *out = &call->response->body;
    const char *url = call->api->options.public_url;
    (void)err;
    call->response->status = 200;
    call->response->content_type = "text/markdown; charset=utf-8";
    buf_clear(out);
    buf_printf(
        out,
        "---\nname: kinetoscope\ndescription: Performance traces of a team (PyTorch profiler and "
        "others): where the time of a training or serving run goes, what changed between two runs, "
        "and whether a run is a regression.\n---\n\n# Kinetoscope at %s\n\n",
        url);
    buf_printf(out,
               "Model Context Protocol: `%s/mcp` (streamable HTTP, reads only; send a token as "
               "`Authorization: Bearer` where the server asks for one). Tools: ",
               url);
    agents_tools_names(out);
    buf_puts(out,
             ".\n\nWithout it, the same by HTTP; every answer is JSON, times are nanoseconds:\n\n");
    static const char *const lines[][2] = {
        {"runs?sort=uploaded_at&order=desc&limit=20", "runs; `figures.trace_id` names a trace"},
        {"traces/{id}/overview", "step time by category, devices, advice"},
        {"traces/{id}/operators?limit=20", "operators by device time"},
        {"traces/{id}/kernels?limit=20", "kernels by time"},
        {"traces/{id}/idle", "why devices stood still"},
        {"traces/{id}/sql?q=SELECT ...", "one SELECT over its tables"},
        {"diff/summary?base={id}&candidate={id}", "what changed"},
        {"history/changes?metric=step_time&tag=branch=main&p=series", "where a metric changed"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        buf_printf(out, "- `GET %s/api/v1/%s`: %s\n", url, lines[i][0], lines[i][1]);
    }
    buf_printf(out,
               "\nTo upload: `curl -T trace.json.gz %s/api/v1/runs/RUN/traces/`. To judge a run: "
               "`POST %s/api/v1/gate`. Everything else: `%s/api/v1/openapi.json`.\n\n"
               "## How to find what is slow\n\n"
               "1. `list_runs`, then `overview` of the trace: which category has the most time?\n"
               "2. Kernels have it: `kernels` and `operators`. Devices wait: `idle_causes`.\n"
               "3. Against an earlier run: `compare`, environment first. Over many: `history`.\n"
               "4. Say figures with their units, and give the link that ends each answer.\n",
               url, url, url);
    return true;
}
