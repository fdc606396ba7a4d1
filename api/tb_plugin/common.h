/* What the routes of the removed TensorBoard plugin share: which trace is asked for, numbers
 * printed as Python prints them, columns. Answers are ASCII JSON with Python's separators. */
#ifndef KS_API_TB_PLUGIN_COMMON_H
#define KS_API_TB_PLUGIN_COMMON_H

#include "api/call.h"
#include "ingest/tb_plugin/run_views.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The run of a request with its traces. */
struct plugin_run {
    const char *name;
    const struct store_trace *traces; /* by worker, then span */
    size_t count;
    const struct communication *communication; /* by trace; NULL before plugin_find_views */
};

/* `run=`: ERR_BAD_REQUEST without it, ERR_NOT_FOUND with the names that are there. */
bool plugin_find_run(struct api_call *call, struct plugin_run *run, struct err *err) KS_MUST_USE;
/* `worker=` and `span=` within the run (the first span when none is named); the same errors. */
bool plugin_find_trace(struct api_call *call,
                       const struct plugin_run *run,
                       const struct store_trace **trace,
                       struct err *err) KS_MUST_USE;
/* The same for `exp_run=`, `exp_worker=` and `exp_span=`: what is compared with. */
bool plugin_find_other(struct api_call *call,
                       const struct store_trace **trace,
                       struct err *err) KS_MUST_USE;
/* Name of a trace's span in the plugin: "default" without digits in the file name, else its number.
 */
const char *plugin_span_text(struct api_call *call, const struct store_trace *trace);
size_t plugin_worker_count(const struct plugin_run *run);

/* A data route: the trace of the request and its results. When the upload held this answer word for
 * word, it is in the response already and *answered is true. */
struct plugin_request {
    struct plugin_run run;
    const struct store_trace *trace;
    int64_t figures_id;            /* under which the store answers with the plugin's figures */
    struct trace_results *results; /* without operators and kernels */
    size_t group;                  /* index in the groups given */
    bool answered;
};
/* `groups`: known values of `group_by=`, NULL-terminated, the first is the default; NULL: no
 * grouping. */
bool plugin_begin(struct api_call *call,
                  const char *route,
                  const char *const *groups,
                  struct plugin_request *request,
                  struct err *err) KS_MUST_USE;

/* Reads the traces of the run again, with the views that each has by the plugin's figures. */
bool plugin_find_views(struct api_call *call, struct plugin_run *run, struct err *err) KS_MUST_USE;

/* How a figure of the store becomes the plugin's microseconds. */
struct plugin_unit {
    bool decimal; /* the trace has decimals: doubles are printed (a zero is an integer even then) */
    int64_t per_us; /* 1000: nanoseconds */
};
/* Unit of steps, operators and launches, and of the kernels by name. */
struct plugin_unit plugin_ticks(const struct trace_results *results);
struct plugin_unit plugin_ns(const struct trace_results *results);

/* A step without bounds ends at -2^63 and starts at 2^63-1 [TB-1.1]: its length is beyond 64 bits,
 * and the mean, a double, is the next power of two. */
#define PLUGIN_UNDEFINED_TOTAL_TEXT "-18446744073709551615"
#define PLUGIN_UNDEFINED_TOTAL (-18446744073709551616.0)

/* Microseconds as a double. */
double plugin_us(struct plugin_unit unit, int64_t ticks);
/* A point in time as the file has it; `position` counts from the trace's start. */
size_t plugin_position_text(char *out,
                            size_t room,
                            const struct trace_results *results,
                            struct plugin_unit unit,
                            int64_t position);
/* Microseconds as the trace's own numbers: 754, or 754.0 where it has decimals. */
void plugin_put_us(struct json_write *w, struct plugin_unit unit, int64_t ticks);
/* The same of a sum over something: a zero is a double too, where the trace has decimals [TB-1.4].
 */
void plugin_put_sum_us(struct json_write *w, struct plugin_unit unit, int64_t ticks);
size_t plugin_us_text(char *out, size_t room, struct plugin_unit unit, int64_t ticks);
/* round(microseconds): an integer. */
void plugin_put_rounded_us(struct json_write *w, struct plugin_unit unit, int64_t ticks);
/* round(value) printed as an integer, however large. */
void plugin_put_rounded(struct json_write *w, double value);
/* round(100 * part / whole, 2); 0.0 when the whole is 0. */
double plugin_percent(double part, double whole);

/* {"type": type, "name": name[, "tooltip": tooltip]} */
void plugin_put_column(struct json_write *w,
                       const char *type,
                       const char *name,
                       const char *tooltip);
/* The columns of a pie (name, value) and the beginning of its rows, whose array stays open. */
void plugin_begin_pie_rows(struct json_write *w);

#endif
