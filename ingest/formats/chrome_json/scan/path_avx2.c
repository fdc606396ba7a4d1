/* Compiled with -mavx2; called only where the processor has it. */
#include "ingest/formats/chrome_json/scan/form_scan.h"
#include "ingest/formats/chrome_json/scan/path_scan.h"

bool kineto_path_scan_avx2(struct kineto_paths *paths,
                           struct kineto_event *event,
                           int64_t *values,
                           const char *begin,
                           const char *end)
{
    return scan_path(paths, event, values, begin, end);
}

const char *kineto_form_scan_avx2(struct kineto_form *form,
                                  const char *begin,
                                  const char *end,
                                  int64_t *values,
                                  int64_t numbers[KINETO_USES])
{
    return scan_form(form, begin, end, values, numbers);
}
