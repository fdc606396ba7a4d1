#include "ingest/analysis/stacks/flame.h"

#include "ingest/analysis/stacks/flame_internal.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/python_frame.h"

#include <string.h>

#define UNLAUNCHED "(launch not recorded)"
#define ROOT 0u
#define NO_NODE UINT32_MAX

struct figures {
    int64_t self_ns[FLAME_SIDES];
    int64_t calls[FLAME_SIDES];
};

/* Node n > 0 has the key n - 1: the node around it, its name, its kind. Nodes stand behind what is
 * around them. */
struct flame {
    struct flame_options options;
    struct frame_names names; /* with the lines of functions, as shown */
    struct strtab *lineless;  /* names without lines, by which the nodes of two traces meet */
    uint32_t *lineless_of;    /* by name: in `lineless`, STRTAB_NONE until asked for */
    size_t lineless_cap;
    struct key_map keys;
    uint32_t *shown; /* by node: in `names` */
    size_t shown_cap;
    struct figures *figures; /* by node */
    size_t figures_cap;
    int64_t steps[FLAME_SIDES];
};

/* A trace that is being added. */
struct adding {
    struct flame *flame;
    unsigned side;
    struct trace_index index;
    struct call_paths paths;
    uint32_t *name_of; /* by string id of the trace: in flame->names */
    uint32_t *node_of_path;
    uint32_t *node_of; /* by event */
};

struct flame *flame_create(const struct flame_options *options)
{
    struct flame *flame = scratch_calloc(1, sizeof *flame);
    if (flame == NULL) {
        return NULL;
    }
    flame->options = *options;
    key_map_init(&flame->keys);
    flame->lineless = strtab_create();
    flame->shown = scratch_grow(NULL, 0, &flame->shown_cap, sizeof *flame->shown);
    flame->figures = scratch_grow(NULL, 0, &flame->figures_cap, sizeof *flame->figures);
    if (!frame_names_init(&flame->names) || flame->lineless == NULL || flame->shown == NULL ||
        flame->figures == NULL) {
        flame_destroy(flame);
        return NULL;
    }
    flame->shown[ROOT] = 0;
    flame->figures[ROOT] = (struct figures){.self_ns = {0}};
    return flame;
}

void flame_destroy(struct flame *flame)
{
    if (flame != NULL) {
        frame_names_free(&flame->names);
        strtab_destroy(flame->lineless);
        scratch_free(flame->lineless_of);
        key_map_free(&flame->keys);
        SCRATCH_FREE(flame->shown, flame->figures, flame);
    }
}

/* ---- nodes ---- */

/* A function that moved within its file is the same. STRTAB_NONE without memory. */
static uint32_t without_line(struct flame *flame, uint32_t shown)
{
    const char *name = strtab_text(flame->names.texts, shown);
    struct python_frame frame;
    if (!python_frame_read(name, &frame)) {
        return strtab_intern(flame->lineless, name, strtab_len(flame->names.texts, shown));
    }
    struct buf *text = &flame->names.text;
    buf_clear(text);
    buf_append(text, name, frame.file_len);
    buf_puts(text, ": ");
    buf_puts(text, frame.function);
    return text->failed ? STRTAB_NONE : strtab_intern(flame->lineless, text->ptr, text->len);
}

/* Each name is read once. */
static uint32_t lineless(struct flame *flame, uint32_t shown)
{
    while (shown >= flame->lineless_cap) {
        size_t old_cap = flame->lineless_cap;
        uint32_t *grown =
            scratch_grow(flame->lineless_of, old_cap, &flame->lineless_cap, sizeof *grown);
        if (grown == NULL) {
            return STRTAB_NONE;
        }
        memset(grown + old_cap, 0xFF, (flame->lineless_cap - old_cap) * sizeof *grown);
        flame->lineless_of = grown;
    }
    if (flame->lineless_of[shown] == STRTAB_NONE) {
        flame->lineless_of[shown] = without_line(flame, shown);
    }
    return flame->lineless_of[shown];
}

/* NO_NODE without memory. */
static uint32_t
node_within(struct flame *flame, uint32_t around, uint32_t shown, enum flame_kind kind)
{
    uint32_t name = shown == STRTAB_NONE ? STRTAB_NONE : lineless(flame, shown);
    uint32_t known = flame->keys.count;
    uint32_t number =
        name == STRTAB_NONE
            ? KEY_MAP_NONE
            : key_map_add(&flame->keys, (struct key){{around, name, (uint32_t)kind, 0}});
    if (number == KEY_MAP_NONE || number < known) {
        return number == KEY_MAP_NONE ? NO_NODE : number + 1;
    }
    uint32_t node = number + 1;
    uint32_t *texts = scratch_grow(flame->shown, node, &flame->shown_cap, sizeof *texts);
    flame->shown = texts == NULL ? flame->shown : texts;
    struct figures *figures =
        scratch_grow(flame->figures, node, &flame->figures_cap, sizeof *figures);
    flame->figures = figures == NULL ? flame->figures : figures;
    if (texts == NULL || figures == NULL) {
        return NO_NODE;
    }
    texts[node] = shown;
    figures[node] = (struct figures){.self_ns = {0}};
    return node;
}

static uint32_t name_of(struct adding *a, uint32_t event)
{
    const struct trace *trace = a->index.trace;
    uint32_t text = trace->events.name[event];
    if (a->name_of[text] == STRTAB_NONE) {
        a->name_of[text] = frame_names_add(&a->flame->names, strtab_text(trace->strings, text),
                                           strtab_len(trace->strings, text));
    }
    return a->name_of[text];
}

/* ---- frames ---- */

static bool is_node(const struct adding *a, uint32_t path, const char *name)
{
    const struct flame_options *options = &a->flame->options;
    bool is_module = a->paths.module[path] == path;
    switch (options->by) {
    case FLAME_BY_PYTHON:
        return is_module || !options->folds_libraries || !python_frame_is_library(name);
    case FLAME_BY_MODULE:
        return is_module;
    case FLAME_BY_OPERATOR:
        break;
    }
    return false;
}

/* A path stands behind the one around it. */
static bool place_paths(struct adding *a)
{
    uint32_t count = a->paths.keys.count + 1;
    a->node_of_path = scratch_alloc(count, sizeof *a->node_of_path);
    if (a->node_of_path == NULL) {
        return false;
    }
    a->node_of_path[CALL_PATH_NONE] = ROOT;
    for (uint32_t path = 1; path < count; path++) {
        const char *name = call_paths_frame(&a->paths, path);
        uint32_t around = a->node_of_path[call_paths_parent(&a->paths, path)];
        a->node_of_path[path] = around;
        if (is_node(a, path, name)) {
            bool is_module = a->paths.module[path] == path;
            uint32_t shown = frame_names_add(&a->flame->names, name, strlen(name));
            a->node_of_path[path] =
                node_within(a->flame, around, shown, is_module ? FLAME_MODULE : FLAME_PYTHON);
            if (a->node_of_path[path] == NO_NODE) {
                return false;
            }
        }
    }
    return true;
}

/* ---- events ---- */

static bool counts(const struct adding *a, uint32_t event)
{
    int64_t step = a->flame->options.step;
    return step == 0 ||
           (a->index.step[event] != INDEX_NONE && (int64_t)a->index.step[event] + 1 == step);
}

static void add_time(struct adding *a, uint32_t node, int64_t ns, bool is_call)
{
    struct figures *figures = &a->flame->figures[node];
    figures->self_ns[a->side] = saturating_add(figures->self_ns[a->side], ns);
    figures->calls[a->side] += is_call;
}

/* In the frames around it, and in what is around it within the innermost of them. */
static uint32_t node_around(const struct adding *a, uint32_t event)
{
    uint32_t parent = a->index.parent[event];
    uint32_t path = a->paths.of[event];
    bool shares_frame = parent != INDEX_NONE && a->paths.of[parent] == path;
    return shares_frame ? a->node_of[parent] : a->node_of_path[path];
}

static bool place_host_event(struct adding *a, uint32_t event)
{
    enum index_class class = index_class(&a->index, event);
    bool by_host = a->flame->options.weight == FLAME_HOST;
    bool is_frame = index_is_frame(class);
    bool is_call = index_is_call(class) && by_host;
    bool is_own = class == INDEX_OPERATOR || is_call;
    uint32_t node = is_frame ? a->node_of_path[a->paths.of[event]] : node_around(a, event);
    if (is_own) {
        node =
            node_within(a->flame, node, name_of(a, event), is_call ? FLAME_CALL : FLAME_OPERATOR);
    }
    a->node_of[event] = node;
    if (node == NO_NODE) {
        return false;
    }
    /* A recorder's span is no work. */
    if (by_host && class != INDEX_SPAN && counts(a, event)) {
        add_time(a, node, a->index.self_ns[event], is_own || is_frame);
    }
    return true;
}

static bool place_host(struct adding *a)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < a->index.count; i++) {
        uint32_t event = a->index.in_order[i];
        ok = index_class(&a->index, event) >= INDEX_KERNEL || place_host_event(a, event);
    }
    return ok;
}

static bool place_device_work(struct adding *a)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < a->index.device_count; i++) {
        uint32_t event = a->index.device_work[i];
        uint32_t launcher = index_launcher(&a->index, event);
        uint32_t around = NO_NODE;
        if (!counts(a, event)) {
            continue;
        }
        if (launcher == INDEX_NONE) {
            uint32_t shown = frame_names_add(&a->flame->names, UNLAUNCHED, strlen(UNLAUNCHED));
            around = node_within(a->flame, ROOT, shown, FLAME_UNLAUNCHED);
        } else {
            around = a->node_of[launcher];
        }
        uint32_t node = around == NO_NODE
                            ? NO_NODE
                            : node_within(a->flame, around, name_of(a, event), FLAME_KERNEL);
        ok = node != NO_NODE;
        if (ok) {
            add_time(a, node, trace_dur_ns(&a->index.trace->events, event), true);
        }
    }
    return ok;
}

bool flame_add(struct flame *flame, const struct trace *trace, unsigned side)
{
    struct adding a = {.flame = flame, .side = side};
    bool ok = index_build(&a.index, trace) &&
              call_paths_build(&a.paths, &a.index, flame->options.modules);
    a.name_of = scratch_none(strtab_count(trace->strings));
    a.node_of = scratch_calloc(trace->events.count, sizeof *a.node_of);
    ok = ok && a.name_of != NULL && a.node_of != NULL && place_paths(&a) && place_host(&a) &&
         (flame->options.weight == FLAME_HOST || place_device_work(&a));
    flame->steps[side] = a.index.step_count;
    SCRATCH_FREE(a.name_of, a.node_of, a.node_of_path);
    call_paths_free(&a.paths);
    index_free(&a.index);
    return ok;
}

/* ---- for the answer ---- */

const char *flame_kind_text(enum flame_kind kind)
{
    static const char *const texts[] = {
        [FLAME_PYTHON] = "python", [FLAME_MODULE] = "module", [FLAME_OPERATOR] = "operator",
        [FLAME_CALL] = "call",     [FLAME_KERNEL] = "kernel", [FLAME_UNLAUNCHED] = "unlaunched",
        [FLAME_OTHER] = "other",   [FLAME_TOP] = "root",
    };
    return texts[kind];
}

uint32_t flame_text_count(const struct flame *flame)
{
    return strtab_count(flame->names.texts);
}

uint32_t flame_node_count(const struct flame *flame)
{
    return flame->keys.count + 1;
}

struct flame_raw_node flame_raw_node(const struct flame *flame, uint32_t node)
{
    const struct figures *figures = &flame->figures[node];
    struct flame_raw_node out = {.parent = FLAME_NO_PARENT, .kind = FLAME_TOP, .key_name = ""};
    memcpy(out.self_ns, figures->self_ns, sizeof out.self_ns);
    memcpy(out.calls, figures->calls, sizeof out.calls);
    out.text = flame->shown[node];
    out.name = "";
    if (node != ROOT) {
        const uint32_t *id = flame->keys.keys[node - 1].id;
        out.parent = id[0];
        out.key_name = strtab_text(flame->lineless, id[1]);
        out.kind = (enum flame_kind)id[2];
        out.name = strtab_text(flame->names.texts, out.text);
    }
    return out;
}

const struct flame_options *flame_options_of(const struct flame *flame)
{
    return &flame->options;
}

int64_t flame_steps(const struct flame *flame, unsigned side)
{
    return flame->steps[side];
}
