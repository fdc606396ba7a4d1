#include "ingest/analysis/cycles/tracks.h"

#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/affix.h"

#include <string.h>

static bool is_host_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || text_is_digit(c) || c == '_' ||
           c == '.' || c == '-';
}

/* Digits from `at` on; false when there are none or too many. */
static bool digits(const char *text, size_t len, size_t at, size_t *end, int64_t *number)
{
    int64_t sum = 0;
    size_t i = at;
    for (; i < len && text_is_digit(text[i]); i++) {
        if (sum > (INT64_MAX - 9) / 10) {
            return false;
        }
        sum = sum * 10 + (text[i] - '0');
    }
    *end = i;
    *number = sum;
    return i > at;
}

int64_t cycle_number_behind(const char *text, const char *word)
{
    size_t word_len = strlen(word);
    size_t len = strlen(text);
    size_t end;
    int64_t number;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        if (digits(text, len, (size_t)(at - text) + word_len, &end, &number)) {
            return number;
        }
    }
    return -1;
}

size_t cycle_host_in_pid(const char *text, size_t len, size_t *begin)
{
    size_t end = len;
    if (end > 0 && text[end - 1] == ')') {
        size_t open = end - 1;
        while (open > 0 && text_is_digit(text[open - 1])) {
            open--;
        }
        if (open == end - 1 || open == 0 || text[open - 1] != '(') {
            return 0;
        }
        end = open - 1;
    }
    *begin = end;
    while (*begin > 0 && is_host_character(text[*begin - 1])) {
        (*begin)--;
    }
    return end - *begin;
}

/* The first `(digits)` [CMP-10.loading.1]. */
static bool pid_in_parentheses(const char *text, size_t len, int64_t *pid)
{
    for (size_t i = 0; i < len; i++) {
        size_t end;
        if (text[i] == '(' && digits(text, len, i + 1, &end, pid) && end < len &&
            text[end] == ')') {
            return true;
        }
    }
    return false;
}

static int64_t pid_of(const struct trace *trace, const struct trace_track *track)
{
    int64_t pid;
    if (track->pid_int_valid) {
        return track->pid_int;
    }
    bool found =
        track->pid_is_text && pid_in_parentheses(strtab_text(trace->strings, track->pid_text),
                                                 strtab_len(trace->strings, track->pid_text), &pid);
    return found ? pid : CYCLE_NO_PID;
}

static bool
host_of(const struct cycle_events *events, const struct trace_track *track, uint32_t *host)
{
    const struct trace *trace = events->trace;
    size_t begin;
    *host = CYCLE_NONE;
    /* Kineto's texts are headings such as "Spans". */
    if (!track->pid_is_text || events->is_kineto) {
        return true;
    }
    const char *text = strtab_text(trace->strings, track->pid_text);
    size_t len = cycle_host_in_pid(text, strtab_len(trace->strings, track->pid_text), &begin);
    if (len > 0) {
        *host = strtab_intern(events->hosts, text + begin, len);
    }
    return len == 0 || *host != STRTAB_NONE;
}

static bool read_track(struct cycle_events *events,
                       struct id_map *pids,
                       struct id_map *threads,
                       uint32_t number)
{
    const struct trace *trace = events->trace;
    const struct trace_track *from = &trace->tracks[number];
    struct cycle_track *to = &events->track[number];
    const char *tid = strtab_text(trace->strings, from->tid_text);
    struct id_slot *process = id_map_add(pids, pid_of(trace, from));
    struct id_slot *thread = id_map_add(threads, from->tid_text);
    if (process == NULL || thread == NULL || !host_of(events, from, &to->host)) {
        return false;
    }
    events->names_hosts = events->names_hosts || to->host != CYCLE_NONE;
    to->process = process->index;
    to->thread = thread->index;
    to->device = cycle_number_behind(tid, "device:");
    to->instance = cycle_number_behind(tid, "CAT_XPU_");
    events->pid[process->index] = process->key;
    return true;
}

bool cycle_tracks_read(struct cycle_events *events)
{
    struct id_map pids;
    struct id_map threads;
    uint32_t count = events->trace->track_count;
    id_map_init(&pids);
    id_map_init(&threads);
    events->track = scratch_alloc(count, sizeof *events->track);
    events->pid = scratch_alloc((size_t)count, sizeof *events->pid);
    bool ok = events->track != NULL && events->pid != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = read_track(events, &pids, &threads, i);
    }
    events->process_count = pids.count;
    events->thread_count = threads.count;
    id_map_free(&pids);
    id_map_free(&threads);
    return ok;
}
