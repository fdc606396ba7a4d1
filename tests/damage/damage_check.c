/* Damages traces in memory, again and again, and looks at what the reader still finds.
 *
 *     usage: damage_check ROUNDS SEED FILE...
 *
 * For each file ROUNDS times: (1) the text is cut at a random place: every event that ends before
 * the cut must be there, unchanged, and the trace must carry a warning; (2) a compressed file is
 * cut: the same for what can still be decompressed; (3) one byte is changed: every event before it
 * must be there, and of those behind it all but a few. Every model is analysed too; nothing may
 * crash (the sanitizers look on). Exit code 1 when something was lost that should not be.
 */
#include "ingest/analysis/analysis.h"
#include "ingest/base/text/buf.h"
#include "ingest/formats/format.h"
#include "ingest/input/input.h"
#include "ingest/model/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Events beside the damaged one that a changed byte may cost: its neighbours, where a bracket or a
 * quote was hit. */
#define MOST_LOST 2

struct range {
    size_t begin, end;
};

/* A file: its bytes, what they decompress to, and where each element of traceEvents stands in that.
 */
struct subject {
    const char *path;
    struct buf file, text;
    struct range *elements;
    size_t element_count;
    size_t array_begin, array_end; /* of the brackets; 0 and 0 where they cannot be told */
    bool compressed;
    struct format_bundle good;
};

static uint64_t random_state;

/* splitmix64 */
static uint64_t next_random(void)
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static bool read_file(const char *path, struct buf *out)
{
    FILE *file = fopen(path, "rb");
    char part[65536];
    size_t len;

    if (file == NULL) {
        return false;
    }
    while ((len = fread(part, 1, sizeof part, file)) > 0) {
        buf_append(out, part, len);
    }
    bool good = ferror(file) == 0;
    good = fclose(file) == 0 && good;
    return good && !out->failed;
}

/* All that the bytes decompress to. */
static bool decompress(const struct buf *file, size_t len, struct buf *out, bool *compressed)
{
    struct err err = ERR_INIT;
    struct input *in;
    const char *window;
    size_t window_len;

    if (!input_open_memory(&in, file->ptr, len, 0, &err)) {
        return false;
    }
    bool good;
    while ((good = input_next(in, 0, &window, &window_len, &err)) && window_len > 0) {
        buf_append(out, window, window_len);
    }
    *compressed = input_container(in) != INPUT_PLAIN;
    input_close(in);
    return good && !out->failed;
}

/* ---- where the events stand: a plain scanner for sound JSON, independent of the reader under test
 * ---- */

static size_t string_end(const char *text, size_t len, size_t quote)
{
    size_t i = quote + 1;
    while (i < len && text[i] != '"') {
        i += text[i] == '\\' ? 2 : 1;
    }
    return i < len ? i + 1 : len;
}

static size_t skip_space(const char *text, size_t len, size_t i)
{
    while (i < len && strchr(" \t\r\n", text[i]) != NULL) {
        i++;
    }
    return i;
}

/* The bracket that opens the list of events, or len. */
static size_t find_array(const char *text, size_t len)
{
    static const char key[] = "\"traceEvents\"";
    size_t i = skip_space(text, len, 0);

    if (i < len && text[i] == '[') {
        return i;
    }
    for (int depth = 0; i < len;) {
        if (text[i] == '"') {
            size_t end = string_end(text, len, i);
            if (depth == 1 && end - i == sizeof key - 1 && memcmp(text + i, key, end - i) == 0) {
                size_t colon = skip_space(text, len, end);
                return skip_space(text, len, colon + 1);
            }
            i = end;
            continue;
        }
        depth += text[i] == '{' || text[i] == '[';
        depth -= text[i] == '}' || text[i] == ']';
        i++;
    }
    return len;
}

static void add_element(struct subject *s, size_t begin, size_t end)
{
    if ((s->element_count & (s->element_count + 1)) == 0) {
        size_t room = 2 * (s->element_count + 1);
        s->elements = realloc(s->elements, room * sizeof *s->elements);
        if (s->elements == NULL) {
            abort();
        }
    }
    s->elements[s->element_count++] = (struct range){begin, end};
}

static void find_elements(struct subject *s)
{
    const char *text = s->text.ptr;
    size_t len = s->text.len, begin = 0, i = find_array(text, len);
    int depth = 0;

    s->array_begin = i;
    while (i < len) {
        char c = text[i];
        if (c == '"') {
            i = string_end(text, len, i);
            continue;
        }
        if ((c == '{' || c == '[') && depth++ == 1) {
            begin = i;
        }
        if ((c == '}' || c == ']') && --depth <= 1) {
            if (depth == 0) {
                break;
            }
            add_element(s, begin, i + 1);
        }
        i++;
    }
    s->array_end = i;
}

/* The number of events that end at or before `offset`. */
static size_t events_before(const struct subject *s, size_t offset)
{
    size_t n = 0;
    while (n < s->element_count && s->elements[n].end <= offset) {
        n++;
    }
    return n;
}

/* ---- comparing rows of two models: by text, as string ids differ ---- */

static bool same_text(const struct trace *a, uint32_t ia, const struct trace *b, uint32_t ib)
{
    const char *ta = strtab_text(a->strings, ia), *tb = strtab_text(b->strings, ib);
    return ta == NULL || tb == NULL ? ta == tb : strcmp(ta, tb) == 0;
}

/* Ids that were texts are numbered as they come, negatively: they have no value of their own. */
static bool same_id(int64_t a, int64_t b)
{
    return a == b || (a < 0 && b < 0 && a != TRACE_NO_ID && b != TRACE_NO_ID);
}

static bool same_track(const struct trace *a, uint32_t ia, const struct trace *b, uint32_t ib)
{
    const struct trace_track *ta = &a->tracks[ia], *tb = &b->tracks[ib];
    return same_text(a, ta->pid_text, b, tb->pid_text) &&
           same_text(a, ta->tid_text, b, tb->tid_text);
}

static bool same_op_args(const struct trace *a, uint32_t ia, const struct trace *b, uint32_t ib)
{
    const struct op_args *pa = &a->op_args[ia], *pb = &b->op_args[ib];
    return same_text(a, pa->shape, b, pb->shape) && same_text(a, pa->call_stack, b, pb->call_stack);
}

static bool same_kernel_args(const struct trace *a, uint32_t ia, const struct trace *b, uint32_t ib)
{
    const struct kernel_args *ka = &a->kernel_args[ia], *kb = &b->kernel_args[ib];
    return ka->device == kb->device && ka->stream == kb->stream &&
           ka->size_bytes == kb->size_bytes && same_text(a, ka->grid, b, kb->grid) &&
           same_text(a, ka->block, b, kb->block);
}

static bool same_args(const struct trace *a, uint32_t i, const struct trace *b, uint32_t j)
{
    uint32_t ia = a->events.args[i], ib = b->events.args[j];

    if (ia == TRACE_NO_ARGS || ib == TRACE_NO_ARGS) {
        return ia == ib;
    }
    switch (trace_kind(&a->events, i)) {
    case EVENT_OPERATOR:
    case EVENT_PYTHON:
    case EVENT_USER_ANNOTATION:
        return same_op_args(a, ia, b, ib);
    case EVENT_KERNEL:
    case EVENT_MEMCPY:
    case EVENT_MEMSET:
        return same_kernel_args(a, ia, b, ib);
    case EVENT_MEMORY:
        return a->memory_args[ia].size_bytes == b->memory_args[ib].size_bytes;
    default:
        return true;
    }
}

/* Whether the end of the record window counts is decided by the start of the iteration [TB-2e]:
 * damage there changes this row too. */
static bool is_window_end(const struct trace *trace, uint32_t i)
{
    return strcmp(strtab_text(trace->strings, trace->events.name[i]), "Record Window End") == 0;
}

static bool same_row(const struct trace *a, uint32_t i, const struct trace *b, uint32_t j)
{
    const struct trace_events *ea = &a->events, *eb = &b->events;
    if (is_window_end(a, i) && is_window_end(b, j)) {
        return true;
    }
    return ea->ts_ns[i] == eb->ts_ns[j] && trace_dur_ns(ea, i) == trace_dur_ns(eb, j) &&
           trace_kind(ea, i) == trace_kind(eb, j) && trace_flags(ea, i) == trace_flags(eb, j) &&
           trace_phase(ea, i) == trace_phase(eb, j) &&
           same_id(trace_correlation(ea, i), trace_correlation(eb, j)) &&
           same_id(trace_external_id(ea, i), trace_external_id(eb, j)) &&
           same_text(a, ea->name[i], b, eb->name[j]) &&
           same_text(a, a->categories[trace_category(ea, i)], b,
                     b->categories[trace_category(eb, j)]) &&
           same_track(a, trace_event_track(ea, i), b, trace_event_track(eb, j)) &&
           same_args(a, i, b, j);
}

static uint32_t same_from_begin(const struct trace *a, const struct trace *b)
{
    uint32_t most = a->events.count < b->events.count ? a->events.count : b->events.count, n = 0;
    while (n < most && same_row(a, n, b, n)) {
        n++;
    }
    return n;
}

static uint32_t same_from_end(const struct trace *a, const struct trace *b, uint32_t most)
{
    uint32_t n = 0;
    while (n < most && same_row(a, a->events.count - 1 - n, b, b->events.count - 1 - n)) {
        n++;
    }
    return n;
}

/* ---- one attempt ---- */

/* What was found in damaged bytes. `model` is NULL where nothing could be read. */
struct attempt {
    struct format_bundle bundle;
    const struct trace *model;
    bool warned;
};

static bool has_warning(const struct trace *trace)
{
    for (size_t i = 0; i < WARNING_CODE_COUNT; i++) {
        if (trace->warnings.by_code[i].count > 0) {
            return true;
        }
    }
    return false;
}

static void analyse(const struct trace *trace)
{
    struct err err = ERR_INIT;
    struct trace_results *results;
    if (analysis_run(trace, &results, &err)) {
        results_destroy(results);
    } else {
        fprintf(stderr, "analysis: %s\n", err.msg);
        abort();
    }
}

/* The log of events must have what the model has, whatever the damage. */
struct log_count {
    size_t events;
    bool ended;
};

static bool count_batch(void *context,
                        const struct event_log *log,
                        const struct event_batch *batch,
                        struct err *err)
{
    struct log_count *count = context;
    size_t values = 0;
    (void)err;
    for (uint32_t i = 0; i < batch->event_count; i++) {
        values += log->templates[batch->templates[i]].value_count;
    }
    if (values != batch->value_count || batch->first_event != count->events) {
        fprintf(stderr, "a batch of the log has %zu values instead of %zu\n", batch->value_count,
                values);
        abort();
    }
    count->events += batch->event_count;
    return true;
}

static bool end_log(void *context, const struct event_log *log, struct err *err)
{
    struct log_count *count = context;
    (void)log;
    (void)err;
    count->ended = true;
    return true;
}

static void check_log(const struct log_count *count, const struct trace *model)
{
    if (model != NULL && (!count->ended || count->events != model->events.count)) {
        fprintf(stderr, "%zu events in the log, %u in the model\n", count->events,
                (unsigned)model->events.count);
        abort();
    }
}

static void try_reading(struct attempt *attempt, const char *bytes, size_t len)
{
    /* The size of the reader's windows must not matter. */
    static const size_t block_sizes[] = {0, 4096, 61};
    size_t block = block_sizes[next_random() % (len < 50000 ? 3 : 2)];
    struct err err = ERR_INIT;
    struct input *in;
    struct log_count count = {.events = 0};
    const struct event_sink sink = {.context = &count, .take = count_batch, .end = end_log};
    const struct format_options options = {.events = &sink};

    memset(attempt, 0, sizeof *attempt);
    if (!input_open_memory(&in, bytes, len, block, &err)) {
        return;
    }
    if (format_read(in, &options, &attempt->bundle, &err) && attempt->bundle.item_count > 0) {
        attempt->model = attempt->bundle.items[0].model;
    }
    input_close(in);
    check_log(&count, attempt->model);
    if (attempt->model != NULL) {
        attempt->warned = has_warning(attempt->model);
        analyse(attempt->model);
    }
}

/* ---- the three kinds of damage; each returns the number of faults ---- */

static int check_prefix(const struct subject *s,
                        const char *bytes,
                        size_t len,
                        size_t text_len,
                        const char *what,
                        size_t at)
{
    const struct trace *good = s->good.items[0].model;
    size_t expected = events_before(s, text_len);
    struct attempt a;
    int faults = 0;

    try_reading(&a, bytes, len);
    size_t found = a.model == NULL ? 0 : same_from_begin(good, a.model);
    if (found < expected) {
        printf("%s: %s at %zu: %zu events unchanged, %zu end before\n", s->path, what, at, found,
               expected);
        faults++;
    }
    if (a.model != NULL && a.model->events.count > expected + 1) {
        printf("%s: %s at %zu: %u events, only %zu end before\n", s->path, what, at,
               a.model->events.count, expected);
        faults++;
    }
    if (a.model != NULL && !a.warned && text_len < s->array_end) {
        printf("%s: %s at %zu: no warning\n", s->path, what, at);
        faults++;
    }
    format_bundle_free(&a.bundle);
    return faults;
}

static int cut_text(const struct subject *s)
{
    size_t at = (size_t)(next_random() % s->text.len);
    return check_prefix(s, s->text.ptr, at, at, "cut", at);
}

static int cut_file(const struct subject *s)
{
    size_t at = (size_t)(next_random() % s->file.len);
    struct buf text;
    bool compressed;

    buf_init(&text, SIZE_MAX);
    /* False where not even the header is whole: then nothing is expected. */
    size_t len = decompress(&s->file, at, &text, &compressed) ? text.len : 0;
    buf_free(&text);
    return check_prefix(s, s->file.ptr, at, len, "cut of the compressed file", at);
}

struct losses {
    unsigned rounds[MOST_LOST + 2]; /* by number of events lost; the last: more */
    unsigned changed;               /* the event that was hit is lost or another */
    unsigned unreadable;            /* nothing could be read */
};

static int change_byte(const struct subject *s, char *copy, struct losses *losses)
{
    const struct trace *good = s->good.items[0].model;
    size_t at = (size_t)(next_random() % s->text.len);
    char before = copy[at], after;
    struct attempt a;
    int faults = 0;

    do {
        after = (char)(next_random() & 0xff);
    } while (after == before);
    copy[at] = after;
    try_reading(&a, copy, s->text.len);
    copy[at] = before;
    if (a.model == NULL) {
        /* Only where the text is no trace any more, or its one event was hit. */
        losses->unreadable++;
        if (at > s->array_begin && s->element_count > 1) {
            printf("%s: byte %zu 0x%02x -> 0x%02x: nothing was read\n", s->path, at,
                   (unsigned char)before, (unsigned char)after);
            faults++;
        }
        return faults;
    }
    uint32_t count = good->events.count, front = same_from_begin(good, a.model);
    uint32_t rest = a.model->events.count > front ? a.model->events.count - front : 0;
    uint32_t back = same_from_end(good, a.model, rest < count - front ? rest : count - front);
    bool inside = at > s->array_begin && at < s->array_end;
    /* The event that was hit may be lost or changed; that is no loss. */
    uint32_t missing = count - front - back, lost = missing - (inside && missing > 0);
    losses->rounds[lost > MOST_LOST ? MOST_LOST + 1 : lost]++;
    losses->changed += missing > 0;
    if (front < events_before(s, at)) {
        printf("%s: byte %zu 0x%02x -> 0x%02x: an event before it changed\n", s->path, at,
               (unsigned char)before, (unsigned char)after);
        faults++;
    }
    if (lost > MOST_LOST) {
        printf("%s: byte %zu 0x%02x -> 0x%02x: %u of %u events lost\n", s->path, at,
               (unsigned char)before, (unsigned char)after, lost, count);
        faults++;
    }
    if (lost > 0 && !a.warned) {
        printf("%s: byte %zu 0x%02x -> 0x%02x: %u events lost, no warning\n", s->path, at,
               (unsigned char)before, (unsigned char)after, lost);
        faults++;
    }
    format_bundle_free(&a.bundle);
    return faults;
}

/* ---- one file ---- */

static bool open_subject(struct subject *s, const char *path)
{
    struct attempt a;

    memset(s, 0, sizeof *s);
    s->path = path;
    buf_init(&s->file, SIZE_MAX);
    buf_init(&s->text, SIZE_MAX);
    if (!read_file(path, &s->file) ||
        !decompress(&s->file, s->file.len, &s->text, &s->compressed) || s->text.len == 0) {
        printf("%s: cannot be read\n", path);
        return false;
    }
    try_reading(&a, s->text.ptr, s->text.len);
    s->good = a.bundle;
    if (a.model == NULL) {
        printf("%s: no trace\n", path);
        return false;
    }
    find_elements(s);
    return true;
}

static void close_subject(struct subject *s)
{
    format_bundle_free(&s->good);
    free(s->elements);
    buf_free(&s->file);
    buf_free(&s->text);
}

static int check_rounds(const struct subject *s, unsigned rounds)
{
    struct losses losses = {0};
    char *copy = malloc(s->text.len);
    int faults = 0;

    if (copy == NULL) {
        abort();
    }
    memcpy(copy, s->text.ptr, s->text.len);
    for (unsigned i = 0; i < rounds; i++) {
        faults += cut_text(s);
        faults += s->compressed ? cut_file(s) : 0;
        faults += change_byte(s, copy, &losses);
    }
    free(copy);
    printf(
        "%s: %u events, %u rounds; changed bytes: event hit changed or lost %u, beside it lost 0: "
        "%u, 1: %u, 2: %u, more: %u, all: %u\n",
        s->path, s->good.items[0].model->events.count, rounds, losses.changed, losses.rounds[0],
        losses.rounds[1], losses.rounds[2], losses.rounds[3], losses.unreadable);
    return faults;
}

static int check_file(const char *path, unsigned rounds)
{
    struct subject s;
    int faults = 1;

    if (open_subject(&s, path)) {
        uint32_t count = s.good.items[0].model->events.count;
        if (count == s.element_count) {
            faults = check_rounds(&s, rounds);
        } else {
            printf("%s: %u events read, %zu in the file\n", path, count, s.element_count);
        }
    }
    close_subject(&s);
    return faults;
}

int main(int argc, char **argv)
{
    int faults = 0;

    if (argc < 4) {
        fprintf(stderr, "usage: damage_check ROUNDS SEED FILE...\n");
        return 2;
    }
    unsigned rounds = (unsigned)strtoul(argv[1], NULL, 10);
    for (int i = 3; i < argc; i++) {
        random_state = strtoull(argv[2], NULL, 10) + (unsigned)i;
        faults += check_file(argv[i], rounds);
    }
    printf("damage: %d files, %d faults\n", argc - 3, faults);
    return faults == 0 ? 0 : 1;
}
