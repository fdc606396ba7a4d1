/* SQL over the tables of a trace, and these tables as a file. */
#include "api/handlers.h"
#include "api/table/csv.h"
#include "api/table/table_params.h"
#include "ingest/store/store_sql.h"

#include <unistd.h>

#define ROWS_DEFAULT 1000
#define PIECE_BYTES ((size_t)64 << 10)

/* ---- rows ---- */

static void write_value(struct json_write *w, const struct store_sql_value *value)
{
    switch (value->kind) {
    case STORE_SQL_INT:
        jw_int(w, value->integer);
        break;
    case STORE_SQL_REAL:
        jw_double(w, value->real);
        break;
    case STORE_SQL_TEXT:
        jw_string(w, value->text);
        break;
    case STORE_SQL_NULL:
        jw_null(w);
        break;
    }
}

static void write_names(struct json_write *w, const char *const *names, size_t count)
{
    jw_key_array_begin(w, "columns");
    for (size_t i = 0; i < count; i++) {
        jw_string(w, names[i]);
    }
    jw_array_end(w);
}

static void write_json(struct api_call *call, const struct store_sql_answer *answer)
{
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    write_names(&w, answer->columns, answer->column_count);
    jw_key_array_begin(&w, "rows");
    for (size_t row = 0; row < answer->row_count; row++) {
        jw_array_begin(&w);
        for (size_t i = 0; i < answer->column_count; i++) {
            write_value(&w, &answer->values[row * answer->column_count + i]);
        }
        jw_array_end(&w);
    }
    jw_array_end(&w);
    jw_key_bool(&w, "truncated", answer->truncated);
    jw_object_end(&w);
}

static void write_cell(struct csv_write *csv, const struct store_sql_value *value)
{
    switch (value->kind) {
    case STORE_SQL_INT:
        csv_int(csv, value->integer);
        break;
    case STORE_SQL_REAL:
        csv_double(csv, value->real);
        break;
    case STORE_SQL_TEXT:
        csv_text(csv, value->text);
        break;
    case STORE_SQL_NULL:
        csv_text(csv, NULL);
        break;
    }
}

static void write_csv(struct api_call *call, const struct store_sql_answer *answer)
{
    struct csv_write csv;
    call->response->status = 200;
    call->response->content_type = "text/csv; charset=utf-8";
    call_add_attachment(call, "sql.csv");
    call_sends_parts(call);
    csv_write_init(&csv, &call->response->body);
    for (size_t i = 0; i < answer->column_count; i++) {
        csv_text(&csv, answer->columns[i]);
    }
    csv_row_end(&csv);
    for (size_t row = 0; row < answer->row_count; row++) {
        for (size_t i = 0; i < answer->column_count; i++) {
            write_cell(&csv, &answer->values[row * answer->column_count + i]);
        }
        csv_row_end(&csv);
    }
}

/* ---- the tables ---- */

static bool answer_tables(struct api_call *call, struct err *err)
{
    struct store_sql_table *tables = NULL;
    size_t count = 0;
    if (!store_sql_tables(call_arena(call), &tables, &count, err)) {
        return false;
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key_array_begin(&w, "tables");
    for (size_t i = 0; i < count; i++) {
        jw_object_begin(&w);
        jw_key_string(&w, "name", tables[i].name);
        jw_key_string(&w, "rows", tables[i].doc);
        write_names(&w, tables[i].columns, tables[i].column_count);
        jw_object_end(&w);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    return true;
}

bool sql_get(struct api_call *call, struct err *err)
{
    static const char *const formats[] = {"json", "csv", NULL};
    struct store_sql_answer answer;
    size_t format = 0;
    int64_t id = 0;
    int64_t limit = ROWS_DEFAULT;
    const char *sql = query_string_word(&call->query, "q");
    if (!call_trace_id(call, &id, err) ||
        !table_params_choice(call, "format", formats, &format, err) ||
        !query_string_int(&call->query, "limit", 1, STORE_SQL_ROWS_MAX, &limit, err)) {
        return false;
    }
    if (sql == NULL) {
        return answer_tables(call, err);
    }
    if (!store_sql_select(call->snapshot, call_arena(call), id, sql, limit, &answer, err)) {
        return false;
    }
    if (format == 1) {
        write_csv(call, &answer);
    } else {
        write_json(call, &answer);
    }
    return true;
}

/* ---- the file ---- */

struct sending {
    int fd;
    char piece[PIECE_BYTES]; /* a request's stack is small */
};

static bool send_piece(struct api_response *response, struct buf *out)
{
    struct sending *sending = response->stream_state;
    ssize_t len = read(sending->fd, sending->piece, sizeof sending->piece);
    if (len > 0) {
        buf_append(out, sending->piece, (size_t)len);
    } else if (len < 0) {
        out->failed = true;
    }
    return len > 0;
}

static void end_sending(struct api_response *response)
{
    struct sending *sending = response->stream_state;
    (void)close(sending->fd);
}

bool results_file_get(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct sending *sending = arena_calloc(call_arena(call), 1, sizeof *sending);
    if (sending == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to send a file");
    }
    if (!call_trace_id(call, &id, err) ||
        !store_sql_export(call->snapshot, id, &sending->fd, err)) {
        return false;
    }
    struct api_response *response = call->response;
    response->status = 200;
    response->content_type = "application/vnd.sqlite3";
    response->stream = send_piece;
    response->stream_end = end_sending;
    response->stream_state = sending;
    call_add_attachment(call, call_format(call, "trace-%lld.db", (long long)id));
    return true;
}
