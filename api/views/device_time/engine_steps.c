/* Steps of a serving engine: prefill, decode and mixed ones, with their device work [DEV-4]. */
#include "api/handlers.h"
#include "api/table/row_query.h"
#include "api/table/table_answer.h"
#include "api/table/table_params.h"
#include "api/timeline/common.h"
#include "api/views/device_time/members.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LIMIT_DEFAULT 100
#define RESOLUTION_BYTES 48

enum column {
    COLUMN_INDEX,
    COLUMN_ANNOTATION,
    COLUMN_ENGINE,
    COLUMN_PHASE,
    COLUMN_REQUESTS,
    COLUMN_TOKENS,
    COLUMN_CONTEXT_REQUESTS,
    COLUMN_CONTEXT_TOKENS,
    COLUMN_GENERATION_REQUESTS,
    COLUMN_GENERATION_TOKENS,
    COLUMN_ATTENTION_FLOPS,
    COLUMN_START,
    COLUMN_DURATION,
    COLUMN_HOST_GAP,
    COLUMN_DEVICE_GAP,
    COLUMN_DEVICE_BUSY,
    COLUMN_DEVICE_TIME,
    COLUMN_DEVICE_EVENTS,
    COLUMN_COUNT
};

static const char *const columns[COLUMN_COUNT + 1] = {
    "index",
    "annotation",
    "engine",
    "phase",
    "requests",
    "tokens",
    "context_requests",
    "context_tokens",
    "generation_requests",
    "generation_tokens",
    "attention_flops_per_layer",
    "start_ns",
    "duration_ns",
    "host_gap_ns",
    "device_gap_ns",
    "device_busy_ns",
    "device_ns",
    "device_events",
    NULL,
};
/* In order of time unless asked otherwise. */
static const char *const ascending_columns[] = {"index", "annotation", "engine",
                                                "phase", "start_ns",   NULL};

struct table {
    struct engine_steps steps;
    size_t *chosen; /* rows of the phase and engine asked for */
    size_t chosen_count;
    struct table_params params;
    struct row_query_page shown;
};

static const struct engine_step *row_at(const struct table *table, size_t at)
{
    return &table->steps.rows[table->chosen[at]];
}

static const char *name_of(const void *table, size_t at)
{
    return row_at(table, at)->annotation;
}

static int64_t number_of(const struct engine_step *row, enum column column)
{
    switch (column) {
    case COLUMN_REQUESTS:
        return row->said.requests;
    case COLUMN_TOKENS:
        return row->said.tokens;
    case COLUMN_CONTEXT_REQUESTS:
        return row->said.context.requests;
    case COLUMN_CONTEXT_TOKENS:
        return row->said.context.tokens;
    case COLUMN_GENERATION_REQUESTS:
        return row->said.generation.requests;
    case COLUMN_GENERATION_TOKENS:
        return row->said.generation.tokens;
    case COLUMN_ATTENTION_FLOPS:
        return row->attention_flops_per_layer;
    case COLUMN_START:
        return row->start_ns;
    case COLUMN_DURATION:
        return row->duration_ns;
    case COLUMN_HOST_GAP:
        return row->host_gap_ns;
    case COLUMN_DEVICE_GAP:
        return row->device_gap_ns;
    case COLUMN_DEVICE_BUSY:
        return row->device_busy_ns;
    case COLUMN_DEVICE_TIME:
        return row->device_ns;
    default:
        return row->device_events;
    }
}

static struct row_query_value value_of(const void *table_void, size_t at, size_t column)
{
    const struct table *table = table_void;
    const struct engine_step *row = row_at(table, at);
    switch ((enum column)column) {
    case COLUMN_INDEX:
        return row_query_number((int64_t)table->chosen[at]);
    case COLUMN_ANNOTATION:
        return row_query_text(row->annotation);
    case COLUMN_ENGINE:
        return row_query_text(engine_text(row->said.engine));
    case COLUMN_PHASE:
        return row_query_text(engine_phase_text(row->said.phase));
    default:
        return row_query_known_number(number_of(row, (enum column)column));
    }
}

/* ---- rows ---- */

struct side_names {
    const char *requests, *tokens, *kv, *sqsq, *sqsk;
};

static void
write_side(struct field_out *out, const struct side_names *names, const struct engine_side *side)
{
    field_known_int(out, names->requests, side->requests);
    field_known_int(out, names->tokens, side->tokens);
    field_known_int(out, names->kv, side->kv);
    field_known_int(out, names->sqsq, side->sqsq);
    field_known_int(out, names->sqsk, side->sqsk);
}

static void write_json_classes(struct json_write *w, const struct engine_classes *classes)
{
    jw_key(w, "classes");
    jw_object_begin(w);
    for (size_t i = 0; i < classes->count; i++) {
        jw_key_int(w, classes->items[i].name, classes->items[i].device_ns);
    }
    jw_object_end(w);
}

/* An object; in CSV one cell, `class=device_ns` between blanks. */
static void write_classes(struct field_out *out, const struct engine_classes *classes)
{
    struct buf text;
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

static void write_said(struct field_out *out, const struct engine_annotation *said)
{
    static const struct side_names context = {"context_requests", "context_tokens", "context_kv",
                                              "context_sqsq", "context_sqsk"};
    static const struct side_names generation = {"generation_requests", "generation_tokens",
                                                 "generation_kv", "generation_sqsq",
                                                 "generation_sqsk"};
    field_text(out, "engine", engine_text(said->engine));
    field_bool(out, "detailed", said->is_detailed);
    field_text(out, "phase", engine_phase_text(said->phase));
    field_known_int(out, "requests", said->requests);
    field_known_int(out, "tokens", said->tokens);
    write_side(out, &context, &said->context);
    write_side(out, &generation, &said->generation);
    field_known_int(out, "attention_pairs", said->attention_pairs);
}

static void write_row(struct field_out *out, const void *table_void, size_t at)
{
    const struct table *table = table_void;
    const struct engine_step blank = {.annotation = ""};
    bool is_blank = at == TABLE_BLANK_ROW;
    size_t index = is_blank ? 0 : table->chosen[table->shown.rows[at]];
    const struct engine_step *row = is_blank ? &blank : &table->steps.rows[index];
    char resolution[RESOLUTION_BYTES];
    (void)snprintf(resolution, sizeof resolution, "%" PRId64 "x%" PRId64, row->said.width,
                   row->said.height);
    field_row_begin(out);
    field_int(out, "index", (int64_t)index);
    field_text(out, "annotation", row->annotation);
    write_said(out, &row->said);
    field_known_int(out, "attention_flops_per_layer", row->attention_flops_per_layer);
    field_known_int(out, "padded_batch", row->said.padded_batch);
    field_text(out, "resolution", row->said.width == ENGINE_UNKNOWN ? NULL : resolution);
    field_int(out, "start_ns", row->start_ns);
    field_int(out, "duration_ns", row->duration_ns);
    field_known_int(out, "host_gap_ns", row->host_gap_ns);
    field_known_int(out, "device_start_ns", row->device_start_ns);
    field_known_int(out, "device_end_ns", row->device_end_ns);
    field_known_int(out, "device_gap_ns", row->device_gap_ns);
    field_int(out, "device_busy_ns", row->device_busy_ns);
    field_int(out, "device_ns", row->device_ns);
    field_int(out, "device_events", row->device_events);
    write_classes(out, &row->classes);
    field_row_end(out);
}

/* ---- answer ---- */

static void write_phase(struct json_write *w, const struct engine_phase_total *total)
{
    jw_object_begin(w);
    jw_key_string(w, "phase", engine_phase_text(total->phase));
    jw_key_int(w, "steps", total->steps);
    jw_key_int(w, "requests", total->requests);
    if (total->tokens == ENGINE_UNKNOWN) {
        jw_key_null(w, "tokens");
    } else {
        jw_key_int(w, "tokens", total->tokens);
    }
    jw_key_int(w, "duration_ns", total->duration_ns);
    jw_key_int(w, "device_ns", total->device_ns);
    write_json_classes(w, &total->classes);
    jw_object_end(w);
}

void engine_steps_members(struct json_write *w, const struct engine_steps *steps)
{
    if (steps->count == 0) {
        jw_key_null(w, "engine");
    } else {
        jw_key_string(w, "engine", engine_text(steps->engine));
    }
    jw_key(w, "phases");
    jw_array_begin(w);
    for (size_t i = 0; i < steps->phase_count; i++) {
        write_phase(w, &steps->phases[i]);
    }
    jw_array_end(w);
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    table_params_members(w, &table->params.page, table->shown.total, NULL);
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

static bool choose_rows(struct table *table,
                        struct api_call *call,
                        const struct choice *choice,
                        struct err *err)
{
    table->chosen = arena_calloc(call_arena(call), table->steps.count + 1, sizeof *table->chosen);
    if (table->chosen == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the steps of an engine");
    }
    for (size_t i = 0; i < table->steps.count; i++) {
        const struct engine_annotation *said = &table->steps.rows[i].said;
        if ((choice->phase == 0 || said->phase == choice->phase - 1) &&
            (choice->engine == 0 || said->engine == choice->engine - 1)) {
            table->chosen[table->chosen_count++] = i;
        }
    }
    return true;
}

bool engine_steps_get(struct api_call *call, struct err *err)
{
    struct table table = {.chosen_count = 0};
    struct store_trace *trace = NULL;
    struct engine_attention attention;
    struct choice choice;
    if (!table_params_read(&table.params, call, ascending_columns, "index", LIMIT_DEFAULT, err) ||
        !read_attention(call, &attention, err) || !read_choice(call, &choice, err) ||
        !timeline_trace(&trace, call, err) ||
        !(device_read_engine_steps(call->api->jobs, trace->id, &attention, call_arena(call),
                                   &table.steps, err) ||
          timeline_gone(err)) ||
        !choose_rows(&table, call, &choice, err)) {
        return false;
    }
    const struct row_query_source source = {&table, table.chosen_count, columns, name_of, value_of};
    if (!row_query_run(&table.shown, call, &table.params.page, &source, err)) {
        return false;
    }
    const struct table_answer answer = {"engine-steps", &table, table.shown.count, write_row,
                                        write_members};
    table_answer(call, table.params.csv, &answer);
    return true;
}
