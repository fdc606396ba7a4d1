#include "ingest/formats/kineto_path_scan.h"

bool kineto_path_scan_base(struct kineto_paths *paths,
                           struct kineto_event *event,
                           int64_t *values,
                           const char *begin,
                           const char *end)
{
    return scan_path(paths, event, values, begin, end);
}
