/* Compiled with -mavx2; called only where the processor has it. */
#include "ingest/formats/chrome_json/scan/key_path_scan.h"
#include "ingest/formats/chrome_json/scan/template_scan.h"

bool key_path_scan_avx2(struct key_paths *paths,
                        struct kineto_event *event,
                        int64_t *values,
                        const char *begin,
                        const char *end)
{
    return scan_path(paths, event, values, begin, end);
}

const char *scan_template_scan_avx2(struct scan_template *form,
                                    const char *begin,
                                    const char *end,
                                    int64_t *values,
                                    int64_t numbers[KINETO_USES])
{
    return scan_by_template(form, begin, end, values, numbers);
}
