#include "ingest/formats/relay/kernel_metrics.h"

#include "ingest/base/memory/scratch.h"

#include <math.h>
#include <string.h>

#define TEXT_BYTES_MAX ((size_t)4 << 20)

bool relay_metrics_init(struct relay_metrics *metrics)
{
    *metrics = (struct relay_metrics){.texts = strtab_create()};
    key_map_init(&metrics->groups);
    return metrics->texts != NULL;
}

void relay_metrics_free(struct relay_metrics *metrics)
{
    key_map_free(&metrics->groups);
    strtab_destroy(metrics->texts);
    scratch_free(metrics->rows);
}

static struct relay_metric_sum *row_of(struct relay_metrics *metrics, const struct key *key)
{
    uint32_t group = key_map_add(&metrics->groups, *key);
    if (group == KEY_MAP_NONE || group < metrics->count) {
        return group == KEY_MAP_NONE ? NULL : &metrics->rows[group];
    }
    struct relay_metric_sum *grown =
        scratch_grow(metrics->rows, metrics->count, &metrics->cap, sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    metrics->rows = grown;
    grown[metrics->count] = (struct relay_metric_sum){.calls = 0};
    return &grown[metrics->count++];
}

void relay_metrics_add(struct relay_metrics *metrics,
                       const char *kernel,
                       size_t kernel_len,
                       const char *metric,
                       double value,
                       int64_t dur_ns)
{
    if (!isfinite(value) || metrics->failed) {
        return;
    }
    const struct key key = {{strtab_intern(metrics->texts, kernel, kernel_len),
                             strtab_intern(metrics->texts, metric, strlen(metric)), 0, 0}};
    struct relay_metric_sum *row =
        key.id[0] == STRTAB_NONE || key.id[1] == STRTAB_NONE ? NULL : row_of(metrics, &key);
    metrics->failed = row == NULL;
    if (row == NULL) {
        return;
    }
    double time_ns = dur_ns > 0 ? (double)dur_ns : 0.0;
    row->min = row->calls == 0 || value < row->min ? value : row->min;
    row->max = row->calls == 0 || value > row->max ? value : row->max;
    row->calls++;
    row->sum += value;
    row->sum_by_time += value * time_ns;
    row->time_ns += time_ns;
}

void relay_metrics_write(const struct relay_metrics *metrics, struct json_write *w)
{
    size_t begin = w->out->len;
    jw_key_array_begin(w, "kernel_metrics");
    for (size_t i = 0; i < metrics->count && w->out->len - begin < TEXT_BYTES_MAX; i++) {
        const struct relay_metric_sum *row = &metrics->rows[i];
        const struct key *key = &metrics->groups.keys[i];
        double mean = row->sum / (double)row->calls;
        jw_object_begin(w);
        jw_key_string(w, "kernel", strtab_text(metrics->texts, key->id[0]));
        jw_key_string(w, "metric", strtab_text(metrics->texts, key->id[1]));
        jw_key_int(w, "calls", row->calls);
        jw_key_double(w, "mean", mean);
        jw_key_double(w, "mean_by_time", row->time_ns > 0 ? row->sum_by_time / row->time_ns : mean);
        jw_key_double(w, "min", row->min);
        jw_key_double(w, "max", row->max);
        jw_object_end(w);
    }
    jw_array_end(w);
}
