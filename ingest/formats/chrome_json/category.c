#include "ingest/formats/chrome_json/category.h"

#include "ingest/base/text/affix.h"
#include "ingest/formats/json/scan.h"

#include <string.h>

static const struct {
    const char *text;
    enum event_kind kind;
} categories[] = {
    {"cpu_op", EVENT_OPERATOR},
    {"operator", EVENT_OPERATOR},
    /* Of readers of formats/ [FMT-0.5]: a range somebody marked, the operator that device work
     * names, the step that a range is. */
    {"recorder_range", EVENT_OPERATOR},
    {"recorder_op", EVENT_OPERATOR},
    {"recorder_step", EVENT_USER_ANNOTATION},
    {"runtime", EVENT_RUNTIME},
    {"cuda_runtime", EVENT_RUNTIME},
    {"mtia_runtime", EVENT_RUNTIME},
    {"glow_runtime", EVENT_RUNTIME},
    {"xpu_runtime", EVENT_RUNTIME},
    {"privateuse1_runtime", EVENT_RUNTIME},
    {"mlu_runtime", EVENT_RUNTIME},
    {"kernel", EVENT_KERNEL},
    {"communication", EVENT_KERNEL}, /* what a reader of formats/ knows to be a collective */
    {"memcpy", EVENT_MEMCPY},
    {"gpu_memcpy", EVENT_MEMCPY},
    {"mlu_memcpy", EVENT_MEMCPY},
    {"memset", EVENT_MEMSET},
    {"gpu_memset", EVENT_MEMSET},
    {"mlu_memset", EVENT_MEMSET},
    {"trace", EVENT_TRACE_SPAN},
    {"python", EVENT_PYTHON},
    {"python_function", EVENT_PYTHON_FUNCTION},
    {"memory", EVENT_MEMORY},
    {"user_annotation", EVENT_USER_ANNOTATION},
    {"gpu_user_annotation", EVENT_GPU_USER_ANNOTATION},
    {"mlu_user_annotation", EVENT_GPU_USER_ANNOTATION},
    {"cuda_driver", EVENT_DRIVER},
    {"xpu_driver", EVENT_DRIVER},
    {"privateuse1_driver", EVENT_DRIVER},
    {"mtia_ccp_events", EVENT_DEVICE_ROW},
};

static bool equals_ignoring_case(const char *text, const char *lower, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text_lower(text[i]) != lower[i]) {
            return false;
        }
    }
    return lower[len] == '\0';
}

enum event_kind kineto_category_kind(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++) {
        if (strlen(categories[i].text) == len &&
            equals_ignoring_case(text, categories[i].text, len)) {
            return categories[i].kind;
        }
    }
    return EVENT_OTHER;
}

enum event_kind kineto_category_flow_kind(const char *text, size_t len)
{
    bool links_backward = (len == 6 && memcmp(text, "fwdbwd", 6) == 0) ||
                          (len == 16 && memcmp(text, "forward_backward", 16) == 0);
    return links_backward ? EVENT_FLOW_FWDBWD : EVENT_FLOW;
}
