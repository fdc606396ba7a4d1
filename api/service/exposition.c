#include "api/service/exposition.h"

#include <inttypes.h>
#include <string.h>

#define US_A_SECOND 1000000U

void exposition_head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP kinetoscope_%s %s\n# TYPE kinetoscope_%s %s\n", name, help, name, type);
}

void exposition_value(
    struct buf *out, const char *name, const char *type, const char *help, uint64_t value)
{
    exposition_head(out, name, type, help);
    buf_printf(out, "kinetoscope_%s %" PRIu64 "\n", name, value);
}

void exposition_histogram(struct buf *out,
                          const char *name,
                          const char *labels,
                          const struct exposition_histogram *histogram)
{
    uint64_t count = 0;
    for (size_t i = 0; i < histogram->bound_count; i++) {
        count += histogram->counts[i];
        buf_printf(out, "kinetoscope_%s_bucket{%sle=\"%" PRIu32 ".%03" PRIu32 "\"} %" PRIu64 "\n",
                   name, labels, histogram->bounds_ms[i] / 1000, histogram->bounds_ms[i] % 1000,
                   count);
    }
    count += histogram->counts[histogram->bound_count];
    buf_printf(out, "kinetoscope_%s_bucket{%sle=\"+Inf\"} %" PRIu64 "\n", name, labels, count);
    size_t labels_len = strlen(labels);
    int kept = labels_len == 0 ? 0 : (int)labels_len - 1; /* without the comma */
    const char *open = labels_len == 0 ? "" : "{";
    const char *close = labels_len == 0 ? "" : "}";
    buf_printf(out, "kinetoscope_%s_sum%s%.*s%s %" PRIu64 ".%06" PRIu64 "\n", name, open, kept,
               labels, close, histogram->sum_us / US_A_SECOND, histogram->sum_us % US_A_SECOND);
    buf_printf(out, "kinetoscope_%s_count%s%.*s%s %" PRIu64 "\n", name, open, kept, labels, close,
               count);
}
