#include "server/options/options_client.h"

#include "ingest/analysis/history/gate.h"
#include "ingest/base/text/affix.h"
#include "server/options/options_value.h"

#include <stdlib.h>

bool option_set_server(struct options *o, const char *text, const char **form)
{
    bool ok = value_url(text, o->server_url, form);
    *form = "the address of a server: http://host:8080";
    return ok;
}

bool option_set_tag(struct options *o, const char *text, const char **form)
{
    *form = "a tag, such as branch=main; at most 32 of them";
    if (o->tag_count == OPTIONS_TAGS_MAX || *text == '\0') {
        return false;
    }
    o->tags[o->tag_count++] = text;
    return true;
}

bool option_set_baseline(struct options *o, const char *text, const char **form)
{
    bool ok = text_begins(text, "tag:") && option_set_tag(o, text + 4, form);
    *form = "tag:TAG, such as tag:branch=main; at most 32 of them";
    return ok;
}

bool option_set_condition(struct options *o, const char *text, const char **form)
{
    struct gate_condition condition;
    *form =
        GATE_CONDITION_FORM ", such as 'step_time>5% and p<0.05' or 'kernel:<name>>10%', P above "
                            "0 and at most 1; at most 16 of them";
    if (o->fail_if_count == OPTIONS_FAIL_IFS_MAX || !gate_condition_parse(&condition, text)) {
        return false;
    }
    o->fail_ifs[o->fail_if_count++] = text;
    return true;
}

bool option_set_p(struct options *o, const char *text, const char **form)
{
    char *end = NULL;
    double p = strtod(text, &end);
    *form = "a probability between 0 and 1, such as 0.01";
    if (end == text || *end != '\0' || !(p > 0 && p < 1)) {
        return false;
    }
    o->gate_p = p;
    return true;
}

bool option_set_trace(struct options *o, const char *text, const char **form)
{
    *form = "the id of a trace; at most 256 of them";
    bool ok = o->trace_count < OPTIONS_TRACES_MAX &&
              value_number(text, 1, INT64_MAX, &o->trace_ids[o->trace_count]);
    o->trace_count += ok;
    return ok;
}

bool option_set_perfetto(struct options *o, const char *text, const char **form)
{
    bool ok = value_url(text, o->perfetto_url, form);
    *form = "the address of Perfetto's page: https://perfetto.example";
    return ok;
}
