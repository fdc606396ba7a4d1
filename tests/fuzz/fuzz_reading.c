#include "tests/fuzz/fuzz_reading.h"

#include "ingest/analysis/analysis.h"
#include "ingest/analysis/compare/compare.h"
#include "ingest/analysis/cycles/cycles.h"
#include "ingest/analysis/kernel_utilisation/kernel_utilisation.h"
#include "ingest/index/index.h"
#include "ingest/input/input.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY_BUDGET_BYTES ((size_t)256 << 20)
#define LARGE_BLOCK_BYTES 4096
#define SMALL_BLOCK_BYTES 61
/* Longer inputs are read once: small blocks are many turns of two threads. */
#define READ_TWICE_BYTES 4000

/* ---- the lossless log ---- */

struct log_watch {
    uint32_t event_count;
    bool ended;
};

static bool take_batch(void *context,
                       const struct event_log *log,
                       const struct event_batch *batch,
                       struct err *err)
{
    (void)err;
    struct log_watch *watch = context;
    size_t values = 0;
    fuzz_require(batch->first_event == watch->event_count, "a batch begins where the last ended");
    fuzz_require(batch->event_count <= EVENT_BATCH_EVENTS, "a batch keeps its size");
    for (uint32_t i = 0; i < batch->event_count; i++) {
        fuzz_require(batch->templates[i] < log->template_count, "an event's template is there");
        const struct event_template *template = &log->templates[batch->templates[i]];
        size_t at = values;
        for (uint32_t k = 0; k < template->slot_count; k++) {
            const struct event_slot *slot = &template->slots[k];
            fuzz_require(slot->key == EVENT_KEY_NONE || slot->key < strtab_count(log->texts),
                         "a key is there");
            if (slot->kind == EVENT_SLOT_TEXT) {
                fuzz_require(at < batch->value_count && batch->values[at] > 0 &&
                                 batch->values[at] < strtab_count(log->texts),
                             "a text is there");
            }
            at += slot->kind == EVENT_SLOT_DECIMAL ? 2 : 1;
        }
        values += template->value_count;
        fuzz_require(at == values, "a template counts its values");
    }
    fuzz_require(values == batch->value_count, "a batch has the values of its events");
    watch->event_count += batch->event_count;
    return true;
}

static bool end_log(void *context, const struct event_log *log, struct err *err)
{
    (void)err;
    struct log_watch *watch = context;
    fuzz_require(!watch->ended && log->head != NULL, "a log ends once, with its head");
    fuzz_require(log->event_count == watch->event_count, "a log counts its events");
    watch->ended = true;
    return true;
}

/* ---- reading ---- */

bool fuzz_read(const uint8_t *bytes,
               size_t len,
               size_t block_bytes,
               struct format_bundle *bundle,
               struct err *err)
{
    struct log_watch watch = {.ended = false};
    const struct event_sink sink = {.context = &watch, .take = take_batch, .end = end_log};
    const struct format_options options = {
        .memory_budget_bytes = MEMORY_BUDGET_BYTES, .events = &sink, .operator_inputs = true};
    struct input *in = NULL;
    fuzz_require(input_open_memory(&in, bytes, len, block_bytes, err), "memory can be opened");
    bool good = format_read(in, &options, bundle, err);
    input_close(in);
    fuzz_require(good || err->msg[0] != '\0', "who refuses says why");
    fuzz_require(good == (bundle->item_count > 0),
                 "what was read has an item, what was not has none");
    return good;
}

/* ---- what stands behind ---- */

/* A file compared with itself. */
static void compare_with_itself(const struct trace_results *results)
{
    struct err err = ERR_INIT;
    struct arena arena;
    struct comparison_list list;
    const struct trace_results *traces[] = {results};
    const struct compare_side side = {.traces = traces, .trace_count = 1, .label = "same"};
    const struct compare_side sides[SIDE_COUNT] = {side, side};
    const struct compare_options options = {.title = "t",
                                            .base_pid = COMPARISON_NO_PID,
                                            .candidate_pid = COMPARISON_NO_PID,
                                            .kind = -1};
    arena_init(&arena, 0);
    if (!compare_run(&arena, sides, &options, &list, &err)) {
        fuzz_require(err.code != ERR_INTERNAL && err.msg[0] != '\0', "who refuses says why");
    }
    arena_free(&arena);
}

static void analyse_trace(const struct trace *trace)
{
    struct err err = ERR_INIT;
    struct trace_results *results = NULL;
    fuzz_require(analysis_run(trace, &results, &err), "every trace can be analysed");
    struct trace_index index;
    fuzz_require(index_build(&index, trace), "every trace can be indexed");
    fuzz_require(cycles_run(&index, NULL, results, &err), "every trace can be asked for cycles");
    index_free(&index);
    if (results->cycle_count > 0) {
        compare_with_itself(results);
    }
    results_destroy(results);
}

static void analyse_table(const struct kernel_table *table)
{
    struct err err = ERR_INIT;
    struct trace_results *results = NULL;
    fuzz_require(kernel_utilisation_run(table, &results, &err),
                 "every kernel table can be analysed");
    results_destroy(results);
}

void fuzz_analyse(const struct format_bundle *bundle)
{
    for (size_t i = 0; i < bundle->item_count; i++) {
        const struct format_item *item = &bundle->items[i];
        if (item->model != NULL) {
            analyse_trace(item->model);
        }
        if (item->kernel_table != NULL) {
            analyse_table(item->kernel_table);
        }
        if (item->results != NULL && item->results->cycle_count > 0) {
            compare_with_itself(item->results);
        }
    }
}

/* ---- comparing two readings ---- */

static uint64_t hash_column(uint64_t hash, const void *column, size_t count, size_t size)
{
    return count == 0 ? hash : fuzz_hash(hash, column, count * size);
}

static uint64_t hash_numbers(uint64_t hash, const struct trace_numbers *numbers, size_t count)
{
    hash = hash_column(hash, numbers->word, count, sizeof *numbers->word);
    return hash_column(hash, numbers->wide, numbers->wide_count, sizeof *numbers->wide);
}

static uint64_t hash_texts(uint64_t hash, const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->events.count; i++) {
        hash = fuzz_hash_text(hash, strtab_text(trace->strings, trace->events.name[i]));
        uint32_t category = trace->categories[trace_category(&trace->events, i)];
        hash = fuzz_hash_text(hash, strtab_text(trace->strings, category));
    }
    for (uint32_t i = 0; i < trace->label_count; i++) {
        hash = fuzz_hash_text(hash, strtab_text(trace->strings, trace->labels[i].label));
    }
    return hash;
}

uint64_t fuzz_hash_trace(const struct trace *trace)
{
    const struct trace_events *events = &trace->events;
    uint64_t hash = FUZZ_HASH_INIT;
    hash = hash_column(hash, events->ts_ns, events->count, sizeof *events->ts_ns);
    hash = hash_numbers(hash, &events->dur_ns, events->count);
    hash = hash_numbers(hash, &events->correlation, events->count);
    hash = hash_numbers(hash, &events->external_id, events->count);
    hash = hash_column(hash, events->args, events->count, sizeof *events->args);
    hash = hash_column(hash, events->track.low, events->count, sizeof *events->track.low);
    for (uint32_t i = 0; i < events->count; i++) {
        struct event_class class = *trace_event_class(events, i);
        class.category = 0; /* its text is what counts */
        hash = fuzz_hash(hash, &class, sizeof class);
    }
    for (size_t i = 0; i < WARNING_CODE_COUNT; i++) {
        const struct warning_count *warning = &trace->warnings.by_code[i];
        hash = fuzz_hash(hash, &warning->count, sizeof warning->count);
        if (warning->count > 0) {
            hash = fuzz_hash(hash, &warning->first_offset, sizeof warning->first_offset);
        }
    }
    return hash_texts(hash, trace);
}

/* Of what the readers of tables give: counts, names and the words about bad rows. */
static uint64_t hash_item(const struct format_item *item)
{
    uint64_t hash = fuzz_hash_text(FUZZ_HASH_INIT, item->worker);
    if (item->model != NULL) {
        return fuzz_hash_trace(item->model);
    }
    if (item->kernel_table != NULL) {
        const struct kernel_table *table = item->kernel_table;
        for (uint32_t i = 0; i < table->launch_count; i++) {
            hash = fuzz_hash_text(hash, strtab_text(table->strings, table->launches[i].name));
            hash = fuzz_hash(hash, &table->launches[i].dur_ns, sizeof table->launches[i].dur_ns);
        }
        for (size_t i = 0; i < table->bad_row_count; i++) {
            hash = fuzz_hash_text(hash, table->bad_rows[i]);
        }
    }
    if (item->results != NULL) {
        const struct trace_results *results = item->results;
        for (size_t i = 0; i < results->cycle_use_count; i++) {
            hash = fuzz_hash_text(hash, results->cycle_uses[i].function);
        }
        for (size_t i = 0; i < results->bad_row_count; i++) {
            hash = fuzz_hash_text(hash, results->bad_rows[i]);
        }
    }
    return hash;
}

/* The same again in small blocks. */
static void read_again(const uint8_t *bytes,
                       size_t len,
                       bool good,
                       const struct format_bundle *bundle,
                       const struct err *err)
{
    struct err again_err = ERR_INIT;
    struct format_bundle again;
    bool again_good = fuzz_read(bytes, len, SMALL_BLOCK_BYTES, &again, &again_err);
    fuzz_require(good == again_good, "the size of the blocks does not decide");
    fuzz_require(strcmp(err->msg, again_err.msg) == 0, "nor changes the reason");
    fuzz_require(bundle->item_count == again.item_count, "nor the number of items");
    for (size_t i = 0; i < bundle->item_count; i++) {
        fuzz_require(hash_item(&bundle->items[i]) == hash_item(&again.items[i]),
                     "nor what is read");
    }
    format_bundle_free(&again);
}

bool fuzz_read_and_analyse(const uint8_t *bytes, size_t len, struct format_bundle *bundle)
{
    struct err err = ERR_INIT;
    bool good = fuzz_read(bytes, len, LARGE_BLOCK_BYTES, bundle, &err);
    if (len <= READ_TWICE_BYTES) {
        read_again(bytes, len, good, bundle, &err);
    }
    fuzz_analyse(bundle);
    return good;
}
