#include "api/call.h"
#include "api/table/render.h"
#include "api/tb_plugin/common.h"
#include "api/tb_plugin/handlers.h"
#include "ingest/base/text/num.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define TOTAL_BYTES 48

static double step_total_us(const struct trace_results *results, const struct step_row *step)
{
    return results->steps_undefined
               ? PLUGIN_UNDEFINED_TOTAL
               : plugin_us(plugin_ticks(results), step->end_ns - step->start_ns);
}

static double mean_total_us(const struct trace_results *results)
{
    double sum = 0;
    for (size_t i = 0; i < results->step_count; i++) {
        sum += step_total_us(results, &results->steps[i]);
    }
    return results->step_count == 0 ? 0 : sum / (double)results->step_count;
}

static double mean_cost_us(const struct trace_results *results, enum time_category role)
{
    double sum = 0;
    for (size_t i = 0; i < results->step_count; i++) {
        sum += plugin_us(plugin_ticks(results), results->steps[i].cost_ns[role]);
    }
    return results->step_count == 0 ? 0 : sum / (double)results->step_count;
}

static void put_step_columns(struct json_write *w, const struct trace_results *results)
{
    jw_key_array_begin(w, "columns");
    plugin_put_column(w, "string", "Step", NULL);
    for (unsigned role = 0; role < TIME_CATEGORY_COUNT; role++) {
        if (!render_shows_time_category(results, (enum time_category)role)) {
            continue;
        }
        plugin_put_column(w, "number", time_category_label((enum time_category)role), NULL);
        jw_object_begin(w);
        jw_key_string(w, "type", "string");
        jw_key_string(w, "role", "tooltip");
        jw_key_object_begin(w, "p");
        jw_key_string(w, "html", "true");
        jw_object_end(w);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void put_tooltip(struct json_write *w,
                        const struct trace_results *results,
                        const struct step_row *step,
                        enum time_category role,
                        struct buf *html)
{
    char total[TOTAL_BYTES] = PLUGIN_UNDEFINED_TOTAL_TEXT;
    char cost[TOTAL_BYTES];
    char percent[NUM_TEXT_BYTES];
    const struct plugin_unit unit = plugin_ticks(results);
    int64_t cost_ticks = step->cost_ns[role];
    if (!results->steps_undefined) {
        (void)plugin_us_text(total, sizeof total, unit, step->end_ns - step->start_ns);
    }
    (void)plugin_us_text(cost, sizeof cost, unit, cost_ticks);
    (void)num_repr(percent,
                   plugin_percent(plugin_us(unit, cost_ticks), step_total_us(results, step)));
    buf_clear(html);
    buf_puts(html, "<div class=\"visualization-tooltip\" style=\"white-space: nowrap;\">Step ");
    buf_puts(html, step->name);
    buf_printf(html, "<br>Total: %sus<br><b>%s: %sus</b><br>Percentage: %s%%</div>", total,
               time_category_label(role), cost, percent);
    jw_string_n(w, html->ptr, html->len);
}

static void put_step_rows(struct json_write *w, const struct trace_results *results)
{
    struct buf html;
    buf_init(&html, 1 << 16);
    jw_key_array_begin(w, "rows");
    for (size_t i = 0; i < results->step_count; i++) {
        const struct step_row *step = &results->steps[i];
        jw_array_begin(w);
        jw_string(w, step->name);
        for (unsigned role = 0; role < TIME_CATEGORY_COUNT; role++) {
            if (render_shows_time_category(results, (enum time_category)role)) {
                plugin_put_us(w, plugin_ticks(results), step->cost_ns[role]);
                put_tooltip(w, results, step, (enum time_category)role, &html);
            }
        }
        jw_array_end(w);
    }
    jw_array_end(w);
    buf_free(&html);
}

static void put_performance(struct json_write *w, const struct trace_results *results)
{
    double total_us = mean_total_us(results);
    jw_key_array_begin(w, "performance");
    jw_object_begin(w);
    jw_key_string(w, "name", "Average Step Time");
    jw_key_string(w, "description", "");
    jw_key(w, "value");
    plugin_put_rounded(w, total_us);
    jw_key_int(w, "extra", 100);
    jw_key_array_begin(w, "children");
    for (unsigned role = 0; role < TIME_CATEGORY_COUNT; role++) {
        if (!render_shows_time_category(results, (enum time_category)role)) {
            continue;
        }
        double cost_us = mean_cost_us(results, (enum time_category)role);
        jw_object_begin(w);
        jw_key_string(w, "name", time_category_label((enum time_category)role));
        jw_key_string(w, "description", "");
        jw_key(w, "value");
        plugin_put_rounded(w, cost_us);
        jw_key_double(w, "extra", plugin_percent(cost_us, total_us));
        jw_object_end(w);
    }
    jw_array_end(w);
    jw_object_end(w);
    jw_array_end(w);
}

static void put_html_text(struct buf *html, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            buf_puts(html, "&amp;");
            break;
        case '<':
            buf_puts(html, "&lt;");
            break;
        case '>':
            buf_puts(html, "&gt;");
            break;
        case '"':
            buf_puts(html, "&quot;");
            break;
        default:
            buf_putc(html, *text);
            break;
        }
    }
}

static void put_recommendations(struct json_write *w, const struct trace_results *results)
{
    struct buf html;
    buf_init(&html, 1 << 20);
    buf_puts(&html, "<ul>");
    for (size_t i = 0; i < results->recommendation_count; i++) {
        buf_puts(&html, "<li>");
        put_html_text(&html, results->recommendations[i].text);
        buf_puts(&html, "</li>");
    }
    if (results->recommendation_count == 0) {
        buf_puts(&html, "<li>N/A</li>");
    }
    buf_puts(&html, "</ul>");
    jw_key(w, "recommendations");
    jw_string_n(w, html.ptr, html.len);
    buf_free(&html);
}

static void put_titled(struct json_write *w, const char *title, const char *value)
{
    jw_object_begin(w);
    jw_key_string(w, "title", title);
    jw_key_string(w, "value", value);
    jw_object_end(w);
}

static const char *device_label(const struct trace_results *results)
{
    return results->mlu ? "MLU" : "GPU";
}

static void put_environments(struct json_write *w,
                             const struct trace_results *results,
                             const struct plugin_run *run)
{
    char workers[24];
    (void)snprintf(workers, sizeof workers, "%zu", plugin_worker_count(run));
    jw_key_array_begin(w, "environments");
    put_titled(w, "Number of Worker(s)", workers);
    put_titled(w, "Device Type", render_shows_device(results) ? device_label(results) : "CPU");
    jw_array_end(w);
}

/* A row of the summary whose value is a number and its unit [TB-10f]. */
static void put_measured(struct json_write *w, const char *title, double value, const char *unit)
{
    char number[NUM_TEXT_BYTES];
    char text[NUM_TEXT_BYTES + 8];
    (void)num_repr(number, num_round_digits(value, 2));
    (void)snprintf(text, sizeof text, "%s %s", number, unit);
    put_titled(w, title, text);
}

static void put_device(struct json_write *w, const struct device_row *device, const char *label)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%s %" PRId64 ":", label, device->id);
    put_titled(w, text, "");
    if (device->name != NULL) {
        put_titled(w, "Name", device->name);
    }
    if (!isnan(device->memory_bytes)) {
        put_measured(w, "Memory", device->memory_bytes / (double)(1 << 30), "GB");
    }
    if (device->capability != NULL) {
        put_titled(w, "Compute Capability", device->capability);
    }
    if (!isnan(device->utilisation)) {
        (void)snprintf(text, sizeof text, "%s Utilization", label);
        put_measured(w, text, 100 * device->utilisation, "%");
    }
    if (!isnan(device->sm_efficiency)) {
        put_measured(w, "Est. SM Efficiency", 100 * device->sm_efficiency, "%");
    }
    if (!isnan(device->occupancy_pct)) {
        put_measured(w, "Est. Achieved Occupancy", device->occupancy_pct, "%");
    }
    if (!isnan(device->tensor_share)) {
        put_measured(w, "Kernel Time using Tensor Cores", 100 * device->tensor_share, "%");
    }
}

static void put_devices(struct json_write *w, const struct trace_results *results)
{
    const char *label = device_label(results);
    char title[32];
    (void)snprintf(title, sizeof title, "%s Summary", label);
    jw_key_object_begin(w, "gpu_metrics");
    jw_key_string(w, "title", title);
    jw_key_array_begin(w, "data");
    for (size_t i = 0; i < results->device_count; i++) {
        if (i > 0) {
            put_titled(w, "<hr/>", "");
        }
        put_device(w, &results->devices[i], label);
    }
    jw_array_end(w);
    jw_key_string(
        w, "tooltip",
        "Utilization: share of the steps in which at least one kernel ran.\n"
        "Est. SM Efficiency: how many of the multiprocessors the kernels could fill, as a "
        "mean over the steps.\n"
        "Est. Achieved Occupancy: active warps as a share of those that fit, as a mean "
        "weighted by the kernels' durations.\n"
        "Kernel Time using Tensor Cores: share of the operators' kernel time that "
        "Tensor Core kernels took.");
    jw_object_end(w);
}

bool plugin_overview(struct api_call *call, struct err *err)
{
    struct plugin_request request;
    if (!plugin_begin(call, "overview", NULL, &request, err) || request.answered) {
        return request.answered;
    }
    const struct trace_results *results = request.results;
    struct json_write w = call_json_long(call, true);
    jw_object_begin(&w);
    jw_key_object_begin(&w, "steps");
    put_step_columns(&w, results);
    put_step_rows(&w, results);
    jw_object_end(&w);
    put_performance(&w, results);
    put_recommendations(&w, results);
    put_environments(&w, results, &request.run);
    if (results->device_count > 0) {
        put_devices(&w, results);
    }
    jw_object_end(&w);
    return true;
}
