/* Steps of a serving engine: prefill, decode and mixed ones, with their device work [DEV-4]. */
#include "api/handlers.h"
#include "api/table/table_view.h"
#include "api/timeline/common.h"
#include "api/views/device_time/members.h"

#include <inttypes.h>

#define LIMIT_DEFAULT 100

struct table {
    struct table_view view;
    struct engine_steps steps; /* its rows: those of the phase and engine that are asked for */
};

/* ---- rows ---- */

static void write_json_classes(struct json_write *w, const struct engine_classes *classes)
{
    jw_key_object_begin(w, "classes");
    for (size_t i = 0; i < classes->count; i++) {
        jw_key_int(w, classes->items[i].name, classes->items[i].device_ns);
    }
    jw_object_end(w);
}

/* An object; in CSV one cell, `class=device_ns` between blanks. */
static void write_classes(struct field_out *out, const void *table, const void *row)
{
    (void)table;
    struct buf text;
    if (out->notation == FIELD_CSV_HEADER) {
        csv_text(out->csv, "classes");
        return;
    }
    const struct engine_classes *classes = &((const struct engine_step *)row)->classes;
    if (out->notation == FIELD_JSON) {
        write_json_classes(out->json, classes);
        return;
    }
    buf_init(&text, 0);
    for (size_t i = 0; i < classes->count; i++) {
        buf_printf(&text, "%s%s=%" PRId64, i == 0 ? "" : " ", classes->items[i].name,
                   classes->items[i].device_ns);
    }
    buf_putc(&text, '\0');
    field_text(out, "classes", text.failed ? NULL : text.ptr);
    buf_free(&text);
}

/* ---- answer ---- */

static void write_phase(struct json_write *w, const struct engine_phase_total *total)
{
    jw_object_begin(w);
    jw_key_string(w, "phase", engine_phase_text(total->phase));
    jw_key_int(w, "steps", total->steps);
    jw_key_int(w, "requests", total->requests);
    jw_key_known_int(w, "tokens", total->tokens);
    jw_key_int(w, "duration_ns", total->duration_ns);
    jw_key_int(w, "device_ns", total->device_ns);
    write_json_classes(w, &total->classes);
    jw_object_end(w);
}

void engine_steps_members(struct json_write *w, const struct engine_steps *steps)
{
    if (steps->phase_count == 0) {
        jw_key_null(w, "engine");
    } else {
        jw_key_string(w, "engine", engine_text(steps->engine));
    }
    jw_key_array_begin(w, "phases");
    for (size_t i = 0; i < steps->phase_count; i++) {
        write_phase(w, &steps->phases[i]);
    }
    jw_array_end(w);
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    table_view_members(w, &table->view, NULL);
    engine_steps_members(w, &table->steps);
}

static bool
read_attention(const struct api_call *call, struct engine_attention *out, struct err *err)
{
    int64_t head_dim = 0;
    *out = (struct engine_attention){.heads = 0};
    if (!query_string_int(&call->query, "heads", 1, INT32_MAX, &out->heads, err) ||
        !query_string_int(&call->query, "head_dim", 1, INT32_MAX, &head_dim, err)) {
        return false;
    }
    out->head_dim_qk = head_dim;
    if (!query_string_int(&call->query, "head_dim_qk", 1, INT32_MAX, &out->head_dim_qk, err)) {
        return false;
    }
    out->head_dim_v = head_dim > 0 ? head_dim : out->head_dim_qk;
    if (!query_string_int(&call->query, "head_dim_v", 1, INT32_MAX, &out->head_dim_v, err)) {
        return false;
    }
    return (out->heads > 0) == (out->head_dim_qk > 0) ||
           err_set(err, ERR_BAD_REQUEST, "heads and head_dim (or head_dim_qk) go together");
}

/* `words[0]` stands for all. */
struct choice {
    size_t phase, engine;
};

static bool read_choice(const struct api_call *call, struct choice *out, struct err *err)
{
    static const char *const phases[] = {"",     "prefill",   "decode", "mixed",
                                         "idle", "diffusion", NULL};
    static const char *const engines[] = {"", "vllm", "sglang", "atom", "diffusion", NULL};
    return table_params_choice(call, "phase", phases, &out->phase, err) &&
           table_params_choice(call, "engine", engines, &out->engine, err);
}

/* Keeps the rows that are asked for, and sets what they have in answers alone. */
static bool choose_rows(struct engine_steps *steps,
                        struct api_call *call,
                        const struct choice *choice,
                        struct err *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < steps->count; i++) {
        const struct engine_annotation *said = &steps->rows[i].said;
        if ((choice->phase != 0 && said->phase != choice->phase - 1) ||
            (choice->engine != 0 && said->engine != choice->engine - 1)) {
            continue;
        }
        struct engine_step *row = &steps->rows[kept++];
        *row = steps->rows[i];
        row->index = (int64_t)i;
        row->resolution = NULL;
        if (row->said.width != ENGINE_UNKNOWN) {
            row->resolution =
                call_format(call, "%" PRId64 "x%" PRId64, row->said.width, row->said.height);
            if (row->resolution == NULL) {
                return err_set(err, ERR_NO_MEMORY, "no memory for the steps of an engine");
            }
        }
    }
    steps->count = kept;
    return true;
}

bool engine_steps_get(struct api_call *call, struct err *err)
{
    struct table table = {.view = {.table = &table_engine_step,
                                   .stem = "engine-steps",
                                   .write_row_end = write_classes,
                                   .write_members = write_members}};
    struct store_trace *trace = NULL;
    struct engine_attention attention;
    struct choice choice;
    if (!table_view_read(&table.view, call, "index", LIMIT_DEFAULT, err) ||
        !read_attention(call, &attention, err) || !read_choice(call, &choice, err) ||
        !timeline_trace(&trace, call, err) ||
        !(device_read_engine_steps(call->api->jobs, trace->id, &attention, call_arena(call),
                                   &table.steps, err) ||
          timeline_gone(err)) ||
        !choose_rows(&table.steps, call, &choice, err)) {
        return false;
    }
    table.view.context = &table;
    return table_view_run(&table.view, call, table.steps.rows, table.steps.count, err) &&
           table_view_answer(&table.view, call);
}
