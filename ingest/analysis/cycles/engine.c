#include "ingest/analysis/cycles/engine.h"

#include <stdio.h>
#include <string.h>

#define STEPS_MIN 3

struct tally {
    uint32_t count;
    uint32_t first; /* position */
    int64_t total_ns;
};

struct tallies {
    struct tally of[ENGINE_COUNT][ENGINE_PHASE_COUNT];
    uint32_t count;
    bool is_detailed;
};

static bool
read_step(const struct cycle_events *events, uint32_t at, struct engine_annotation *said)
{
    return index_engine_step(events->index, events->row[at], said);
}

/* Once there is a detailed one, only those count [DEV-4c]. */
static struct tallies count_steps(const struct cycle_events *events)
{
    struct tallies tallies = {.count = 0};
    struct engine_annotation said;
    for (uint32_t at = 0; at < events->count; at++) {
        if (!read_step(events, at, &said) || (tallies.is_detailed && !said.is_detailed)) {
            continue;
        }
        if (said.is_detailed && !tallies.is_detailed) {
            tallies = (struct tallies){.is_detailed = true};
        }
        struct tally *tally = &tallies.of[said.engine][said.phase];
        int64_t dur_ns = saturating_sub(cycle_end_ns(events, at), cycle_start_ns(events, at));
        tally->first = tally->count == 0 ? at : tally->first;
        tally->total_ns = saturating_add(tally->total_ns, dur_ns);
        tally->count++;
        tallies.count++;
    }
    return tallies;
}

static struct cycle_engine
name_phase(const struct tallies *tallies, enum engine engine, enum engine_phase phase)
{
    struct cycle_engine out = {
        .engine = engine, .phase = phase, .is_detailed = tallies->is_detailed};
    (void)snprintf(out.text, sizeof out.text, "%s:%s", engine_text(engine),
                   engine_phase_text(phase));
    return out;
}

static bool takes_more(const struct tally *a, const struct tally *b)
{
    return a->count > 0 && (b->count == 0 || a->total_ns > b->total_ns ||
                            (a->total_ns == b->total_ns && a->first < b->first));
}

bool cycle_engine_find(struct cycle_engine *out, const struct cycle_events *events)
{
    const struct tallies tallies = count_steps(events);
    const struct tally *best = &tallies.of[0][0];
    *out = name_phase(&tallies, 0, 0);
    for (int engine = 0; engine < ENGINE_COUNT; engine++) {
        for (int phase = 0; phase < ENGINE_PHASE_COUNT; phase++) {
            const struct tally *tally = &tallies.of[engine][phase];
            if (takes_more(tally, best)) {
                best = tally;
                *out = name_phase(&tallies, (enum engine)engine, (enum engine_phase)phase);
            }
        }
    }
    return tallies.count >= STEPS_MIN;
}

bool cycle_engine_named(struct cycle_engine *out,
                        const struct cycle_events *events,
                        const char *text)
{
    const struct tallies tallies = count_steps(events);
    for (int engine = 0; engine < ENGINE_COUNT; engine++) {
        for (int phase = 0; phase < ENGINE_PHASE_COUNT; phase++) {
            *out = name_phase(&tallies, (enum engine)engine, (enum engine_phase)phase);
            if (strcmp(out->text, text) == 0) {
                return tallies.of[engine][phase].count > 0;
            }
        }
    }
    return false;
}

bool cycle_engine_is_step(const struct cycle_engine *engine,
                          const struct cycle_events *events,
                          uint32_t at)
{
    struct engine_annotation said;
    return read_step(events, at, &said) && said.engine == engine->engine &&
           said.phase == engine->phase && (said.is_detailed || !engine->is_detailed);
}

enum cycle_kind cycle_engine_kind(const struct cycle_engine *engine)
{
    static const enum cycle_kind kinds[ENGINE_PHASE_COUNT] = {
        [ENGINE_PREFILL] = CYCLE_PREFILL,     [ENGINE_DECODE] = CYCLE_DECODE,
        [ENGINE_MIXED] = CYCLE_MIXED,         [ENGINE_IDLE] = CYCLE_IDLE,
        [ENGINE_DENOISING] = CYCLE_DIFFUSION,
    };
    return kinds[engine->phase];
}
