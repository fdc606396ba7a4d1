#include "api/table/table_answer.h"

void table_answer_begin_csv(struct api_call *call, const char *stem)
{
    call->response->status = 200;
    call->response->content_type = "text/csv; charset=utf-8";
    buf_clear(&call->response->body);
    const char *file_name = call_format(call, "%s.csv", stem);
    if (file_name != NULL) {
        call_add_attachment(call, file_name);
    }
    call_sends_parts(call);
}

static void answer_csv(struct api_call *call, const struct table_answer *answer)
{
    struct csv_write csv;
    table_answer_begin_csv(call, answer->stem);
    csv_write_init(&csv, &call->response->body);
    struct field_out out = {.notation = FIELD_CSV_HEADER, .csv = &csv};
    answer->write_row(&out, answer->table, TABLE_BLANK_ROW);
    out.notation = FIELD_CSV;
    for (size_t i = 0; i < answer->count; i++) {
        answer->write_row(&out, answer->table, i);
    }
}

void table_answer(struct api_call *call, bool csv, const struct table_answer *answer)
{
    if (csv) {
        answer_csv(call, answer);
        return;
    }
    struct json_write w = call_json_long(call, false);
    struct field_out out = {.notation = FIELD_JSON, .json = &w};
    jw_object_begin(&w);
    jw_key_array_begin(&w, "rows");
    for (size_t i = 0; i < answer->count; i++) {
        answer->write_row(&out, answer->table, i);
    }
    jw_array_end(&w);
    answer->write_members(&w, answer->table);
    jw_object_end(&w);
}
