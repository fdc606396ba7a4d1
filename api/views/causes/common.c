#include "api/views/causes/common.h"

#include "api/table/table_params.h"

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
