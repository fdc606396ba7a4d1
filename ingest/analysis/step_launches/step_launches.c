#include "ingest/analysis/step_launches/step_launches.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

#define TABLE_DEF "ingest/model/tables/causes/step_launches.def"
#define TABLE_ROW struct step_launches_row
#include "ingest/model/tables/describe.h"

static void add(const struct trace_index *index, uint32_t work, struct step_launches_row *row)
{
    const struct trace_events *events = &index->trace->events;
    uint32_t call = index->launch[work];
    int64_t call_end_ns = saturating_add(events->ts_ns[call], trace_dur_ns(events, call));
    int64_t delay_ns = i64_max(0, saturating_sub(events->ts_ns[work], call_end_ns));
    row->launches++;
    row->device_ns = saturating_add(row->device_ns, trace_dur_ns(events, work));
    row->delay_ns = saturating_add(row->delay_ns, delay_ns);
}

bool step_launches_analyse(const struct trace_index *index,
                           int64_t zero_ns,
                           struct arena *arena,
                           void **out,
                           size_t *count)
{
    const struct trace *trace = index->trace;
    struct step_launches_row *rows = arena_calloc(arena, index->launched_count + 1ul, sizeof *rows);
    /* Behind the row of each step (last: of none) on the stream at hand, or on an earlier one. */
    size_t *row_end = scratch_calloc(index->step_count + 1ul, sizeof *row_end);
    bool ok = row_end != NULL && rows != NULL;
    for (uint32_t s = 0; ok && s < index->stream_count; s++) {
        const struct index_stream *stream = &index->streams[s];
        size_t first_row = *count;
        for (uint32_t i = stream->work.first; ok && i < stream->work.end; i++) {
            uint32_t work = index->device_work[i];
            uint32_t step = index->step[work] == INDEX_NONE ? index->step_count : index->step[work];
            if (index->launch[work] == INDEX_NONE) {
                continue;
            }
            if (row_end[step] <= first_row) {
                rows[*count] = (struct step_launches_row){
                    .device = stream->device,
                    .stream = stream->stream,
                    .start_ns = saturating_sub(trace->events.ts_ns[work], zero_ns)};
                if (step < index->step_count) {
                    uint32_t name = trace->events.name[index->steps[step].event];
                    rows[*count].step = arena_strndup(arena, strtab_text(trace->strings, name),
                                                      strtab_len(trace->strings, name));
                    ok = rows[*count].step != NULL;
                }
                row_end[step] = ++*count;
            }
            add(index, work, &rows[row_end[step] - 1]);
        }
    }
    scratch_free(row_end);
    *out = rows;
    return ok;
}
