#include "ingest/formats/ascend/kernel_details.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/text/affix.h"
#include "ingest/formats/json/text.h"
#include "ingest/formats/relay/relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COLUMNS_MAX 128
#define TEXT_BYTES_MAX ((size_t)1 << 30)

bool kernel_details_init(struct kernel_details *details)
{
    *details =
        (struct kernel_details){.names = scratch_calloc(COLUMNS_MAX, sizeof *details->names)};
    buf_init(&details->text, TEXT_BYTES_MAX);
    return relay_metrics_init(&details->metrics) && details->names != NULL;
}

void kernel_details_free(struct kernel_details *details)
{
    buf_free(&details->text);
    SCRATCH_FREE(details->names, details->rows);
    relay_metrics_free(&details->metrics);
}

/* Shares and times of the AI cores: they are measured. */
static bool is_metric(const char *column)
{
    return text_begins(column, "aic") || text_begins(column, "aiv") || text_begins(column, "cube_");
}

static bool is_number(const char *column)
{
    static const char *const others[] = {"Block Dim", "Mix Block Dim", "Wait Time(us)"};
    return is_metric(column) || TEXT_IS_ONE_OF(column, others);
}

/* Where the event stands and what it is, which its slice says. */
static bool is_in_slice(const char *column)
{
    static const char *const said[] = {"Step Id",   "Model ID",       "Task ID",      "Stream ID",
                                       "Device_id", "Start Time(us)", "Duration(us)", "Name"};
    return TEXT_IS_ONE_OF(column, said);
}

/* Names of columns are known in any case. */
static void name_column(struct ascend_cell *name)
{
    static const char *const known[] = {
        "Step Id",          "Model ID",      "Task ID",      "Stream ID",     "Device_id",
        "Start Time(us)",   "Duration(us)",  "Name",         "Type",          "Block Dim",
        "Accelerator Core", "Mix Block Dim", "Input Shapes", "Output Shapes", "Wait Time(us)"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcasecmp(name->text, known[i]) == 0) {
            (void)snprintf(name->text, sizeof name->text, "%s", known[i]);
        }
    }
}

static bool is_said(const struct ascend_cell *cell)
{
    return cell->text[0] != '\0' && strcmp(cell->text, "N/A") != 0;
}

/* ---- reading ---- */

struct row_facts {
    struct ascend_cell name, core;
    int64_t start_ns, dur_ns;
};

static bool is_column(const struct kernel_details *details, int at, const char *name)
{
    return at < details->name_count && strcmp(details->names[at].text, name) == 0;
}

static void
read_facts(const struct kernel_details *details, struct ascend_csv csv, struct row_facts *facts)
{
    bool is_last = false;
    struct ascend_cell cell;
    *facts = (struct row_facts){.start_ns = RELAY_NONE, .dur_ns = 0};
    for (int at = 0; !is_last; at++) {
        ascend_csv_cell(&csv, &cell, &is_last);
        if (is_column(details, at, "Name")) {
            facts->name = cell;
        } else if (is_column(details, at, "Accelerator Core")) {
            facts->core = cell;
        } else if (is_column(details, at, "Start Time(us)")) {
            facts->start_ns = ascend_us(cell.text, strlen(cell.text), RELAY_NONE);
        } else if (is_column(details, at, "Duration(us)")) {
            facts->dur_ns = ascend_us(cell.text, strlen(cell.text), 0);
        }
    }
}

/* Steps over the row. */
static void
sum_metrics(struct kernel_details *details, struct ascend_csv *csv, const struct row_facts *facts)
{
    bool is_last = false;
    struct ascend_cell cell;
    bool counts = strcmp(facts->core.text, "HCCL") != 0 && facts->name.text[0] != '\0';
    for (int at = 0; !is_last; at++) {
        ascend_csv_cell(csv, &cell, &is_last);
        if (counts && at < details->name_count && is_metric(details->names[at].text) &&
            is_said(&cell)) {
            relay_metrics_add(&details->metrics, facts->name.text, strlen(facts->name.text),
                              details->names[at].text, strtod(cell.text, NULL), facts->dur_ns);
        }
    }
}

ORDER_BY(by_start, struct detail_row, ORDER_UP(start_ns), ORDER_UP(at))

static bool add_row(struct kernel_details *details, int64_t start_ns, size_t at)
{
    struct detail_row *grown =
        scratch_grow(details->rows, details->count, &details->cap, sizeof *grown);
    details->rows = grown == NULL ? details->rows : grown;
    if (grown != NULL) {
        grown[details->count++] = (struct detail_row){.start_ns = start_ns, .at = at};
    }
    return grown != NULL;
}

bool kernel_details_take(struct kernel_details *details, const char *bytes, size_t len)
{
    bool is_last = len == 0;
    bool ok = true;
    if (details->text.len > 0) {
        return true; /* a folder has one such table */
    }
    buf_append(&details->text, bytes, len);
    if (details->text.failed) {
        return false;
    }
    struct ascend_csv csv = ascend_csv_of(details->text.ptr, len);
    while (!is_last && details->name_count < COLUMNS_MAX) {
        ascend_csv_cell(&csv, &details->names[details->name_count], &is_last);
        name_column(&details->names[details->name_count++]);
    }
    while (!is_last) {
        struct ascend_cell cell;
        ascend_csv_cell(&csv, &cell, &is_last);
    }
    while (ok && csv.at < csv.end) {
        struct row_facts facts;
        size_t at = (size_t)(csv.at - details->text.ptr);
        read_facts(details, csv, &facts);
        sum_metrics(details, &csv, &facts);
        ok = facts.start_ns == RELAY_NONE || add_row(details, facts.start_ns, at);
    }
    if (details->count > 0) {
        qsort(details->rows, details->count, sizeof *details->rows, by_start);
    }
    return ok && !details->metrics.failed;
}

/* ---- asking ---- */

static struct ascend_csv row_text(const struct kernel_details *details,
                                  const struct detail_row *row)
{
    return (struct ascend_csv){.at = details->text.ptr + row->at,
                               .end = details->text.ptr + details->text.len};
}

/* Longer names are cut in a cell. */
static bool has_name(const struct kernel_details *details,
                     const struct detail_row *row,
                     const char *name,
                     size_t name_len)
{
    struct row_facts facts;
    read_facts(details, row_text(details, row), &facts);
    size_t len = strlen(facts.name.text);
    return len > 0 && memcmp(facts.name.text, name, len < name_len ? len : name_len) == 0 &&
           (len == name_len || (len == sizeof facts.name.text - 1 && name_len > len));
}

static size_t first_from(const struct kernel_details *details, int64_t start_ns)
{
    size_t low = 0;
    ORDER_SEARCH(low, details->count, at, details->rows[at].start_ns < start_ns);
    return low;
}

const struct detail_row *kernel_details_find(const struct kernel_details *details,
                                             const char *name,
                                             size_t name_len,
                                             int64_t start_ns)
{
    if (start_ns <= INT64_MIN + 1 || start_ns == INT64_MAX) {
        return NULL;
    }
    const struct detail_row *found = NULL;
    for (size_t i = first_from(details, start_ns - 1);
         i < details->count && details->rows[i].start_ns <= start_ns + 1; i++) {
        const struct detail_row *row = &details->rows[i];
        bool is_nearer = found == NULL || row->start_ns == start_ns;
        if (is_nearer && has_name(details, row, name, name_len)) {
            found = row;
        }
    }
    return found;
}

static void write_cell(struct json_write *w, const char *column, const struct ascend_cell *cell)
{
    char *end = NULL;
    int64_t whole;
    if (is_number(column) && json_text_parse_int(cell->text, strlen(cell->text), &whole)) {
        jw_key_int(w, column, whole);
        return;
    }
    double value = is_number(column) ? strtod(cell->text, &end) : 0.0;
    if (end != NULL && *end == '\0' && end != cell->text) {
        jw_key_double(w, column, value);
    } else {
        jw_key_string(w, column, cell->text);
    }
}

void kernel_details_write(const struct kernel_details *details,
                          const struct detail_row *row,
                          struct json_write *w)
{
    struct ascend_csv csv = row_text(details, row);
    bool is_last = false;
    struct ascend_cell cell;
    for (int at = 0; !is_last; at++) {
        ascend_csv_cell(&csv, &cell, &is_last);
        const char *column = at < details->name_count ? details->names[at].text : "Name";
        if (column[0] != '\0' && !is_in_slice(column) && is_said(&cell)) {
            write_cell(w, column, &cell);
        }
    }
}
