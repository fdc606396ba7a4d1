#include "api/views/causes/common.h"

#include "api/table/table_params.h"

#include <math.h>

bool causes_last_step(const struct api_call *call,
                      enum causes_last_step *last_step,
                      struct err *err)
{
    static const char *const words[] = {"keep", "drop", NULL};
    size_t choice = 0;
    bool ok = table_params_choice(call, "last_step", words, &choice, err);
    *last_step = choice == 0 ? CAUSES_KEEP_LAST_STEP : CAUSES_DROP_LAST_STEP;
    return ok;
}

void causes_known_int(struct json_write *w, const char *key, int64_t value)
{
    if (value == CAUSES_UNKNOWN) {
        jw_key_null(w, key);
    } else {
        jw_key_int(w, key, value);
    }
}

void causes_known_double(struct json_write *w, const char *key, double value)
{
    if (isnan(value)) {
        jw_key_null(w, key);
    } else {
        jw_key_double(w, key, value);
    }
}

void causes_event(struct json_write *w, const char *key, uint32_t event)
{
    causes_known_int(w, key, event == CAUSES_NONE ? CAUSES_UNKNOWN : (int64_t)event);
}
