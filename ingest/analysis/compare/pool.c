/* Rows are numbered as they come, then keys and roles are put in order and renumbered:
 *
 *     texts   "oncpu" 7                        strtab
 *     keys    {function 7, metric 9, device 2} key_map, then ascending by text
 *     places  {function 7, device 2}           key_map
 *     roles   {side, kind, pid}                key_map, then ascending */
#include "ingest/analysis/compare/pool.h"

#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/strtab.h"
#include "ingest/index/sort.h"

#include <string.h>

static const char missing_text[] = "N/A";

/* The text looked up last and its id: rows of one function stand together and share the text. */
struct last_text {
    const char *text;
    uint32_t id;
};

struct build {
    struct pool *pool;
    struct arena *arena;
    struct strtab *texts;
    struct last_text function, metric, device;
    int64_t device_pid; /* of the device looked up last */
    int device_side;
    uint32_t no_metric; /* text id that stands for "no metric" */
    struct key_map keys;
    struct key_map places;
    struct key_map roles;
    struct key_map numbers;
};

static uint32_t text_id(struct build *build, struct last_text *last, const char *text)
{
    if (text != last->text) {
        last->id = strtab_intern(build->texts, text, strlen(text));
        last->text = text;
    }
    return last->id;
}

static uint32_t device_id(struct build *build, int side, const struct cycle_use_row *use)
{
    const char *device = use->device == NULL ? missing_text : use->device;
    char shared[DEVICE_TEXT_BYTES];
    if (device != build->device.text || use->pid != build->device_pid ||
        side != build->device_side) {
        const char *text =
            device_order_shared(&build->pool->devices, side, use->pid, device, shared);
        build->device.id = strtab_intern(build->texts, text, strlen(text));
        build->device.text = device;
        build->device_pid = use->pid;
        build->device_side = side;
    }
    return build->device.id;
}

static struct key key_of(uint32_t a, uint32_t b, int64_t wide)
{
    return (struct key){{a, b, (uint32_t)((uint64_t)wide >> 32), (uint32_t)wide}};
}

/* ---- rows ---- */

static bool allocate_rows(struct pool_rows *rows, size_t count)
{
    rows->key = scratch_alloc(count, sizeof *rows->key);
    rows->role = scratch_alloc(count, sizeof *rows->role);
    rows->cycle = scratch_alloc(count, sizeof *rows->cycle);
    rows->beta = scratch_alloc(count, sizeof *rows->beta);
    rows->mu = scratch_alloc(count, sizeof *rows->mu);
    rows->duration_us = scratch_alloc(count, sizeof *rows->duration_us);
    rows->type = scratch_alloc(count, sizeof *rows->type);
    rows->order = scratch_alloc(count, sizeof *rows->order);
    return rows->key != NULL && rows->role != NULL && rows->cycle != NULL && rows->beta != NULL &&
           rows->mu != NULL && rows->duration_us != NULL && rows->type != NULL &&
           rows->order != NULL;
}

static uint8_t type_of(const char *type)
{
    if (type == NULL) {
        return POOL_OTHER;
    }
    if (strcmp(type, "gpu_compute") == 0 || strcmp(type, "gpu_comm") == 0) {
        return POOL_KERNEL;
    }
    return strcmp(type, "operator") == 0 ? POOL_OPERATOR : POOL_OTHER;
}

static bool add_row(struct build *build,
                    enum comparison_side side,
                    const struct trace_results *trace,
                    uint32_t first_cycle,
                    const struct cycle_use_row *use)
{
    struct pool_rows *rows = &build->pool->rows[side];
    const char *function = use->function == NULL ? "" : use->function;
    uint32_t function_id = text_id(build, &build->function, function);
    uint32_t device = device_id(build, (int)side, use);
    uint32_t metric_id =
        use->metric == NULL ? build->no_metric : text_id(build, &build->metric, use->metric);
    enum cycle_kind kind = trace->cycles[use->cycle].kind;
    uint32_t place = key_map_add(&build->places, (struct key){{function_id, device, 0, 0}});
    uint32_t key = key_map_add(&build->keys, (struct key){{function_id, metric_id, device, place}});
    uint32_t role = key_map_add(&build->roles, key_of((uint32_t)side, (uint32_t)kind, use->pid));
    if (function_id == STRTAB_NONE || device == STRTAB_NONE || metric_id == STRTAB_NONE ||
        place == KEY_MAP_NONE || key == KEY_MAP_NONE || role == KEY_MAP_NONE) {
        return false;
    }
    size_t at = rows->count++;
    rows->key[at] = key;
    rows->role[at] = role;
    rows->cycle[at] = first_cycle + (uint32_t)use->cycle;
    rows->beta[at] = use->beta_pct;
    rows->mu[at] = use->mu_pct;
    rows->duration_us[at] = use->duration_us;
    rows->type[at] = type_of(use->type);
    return true;
}

static bool add_cycles(struct build *build,
                       enum comparison_side side,
                       size_t trace_index,
                       const struct trace_results *trace,
                       uint32_t first_cycle)
{
    struct pool_cycle *cycles = build->pool->cycles[side] + first_cycle;
    for (size_t i = 0; i < trace->cycle_count; i++) {
        struct key key = key_of((uint32_t)trace_index, 0, trace->cycles[i].number);
        uint32_t number = key_map_add(&build->numbers, key);
        if (number == KEY_MAP_NONE) {
            return false;
        }
        cycles[i] = (struct pool_cycle){.number = number, .dur_us = trace->cycles[i].dur_us};
    }
    return true;
}

static bool count_side(const struct compare_side *side, size_t *rows, size_t *cycles)
{
    *rows = 0;
    *cycles = 0;
    for (size_t i = 0; i < side->trace_count; i++) {
        *rows += side->traces[i]->cycle_use_count;
        *cycles += side->traces[i]->cycle_count;
    }
    return *rows < UINT32_MAX && *cycles < UINT32_MAX && side->trace_count < UINT32_MAX;
}

static bool add_side(struct build *build,
                     enum comparison_side which,
                     const struct compare_side *side,
                     struct err *err)
{
    struct pool *pool = build->pool;
    size_t row_count;
    size_t cycle_count;
    if (!count_side(side, &row_count, &cycle_count)) {
        return err_set(err, ERR_TOO_LARGE, "a side of the comparison has too many rows");
    }
    pool->cycles[which] = scratch_alloc(cycle_count, sizeof *pool->cycles[which]);
    bool ok = pool->cycles[which] != NULL && allocate_rows(&pool->rows[which], row_count);
    uint32_t first_cycle = 0;
    key_map_free(&build->numbers);
    for (size_t t = 0; ok && t < side->trace_count; t++) {
        const struct trace_results *trace = side->traces[t];
        ok = add_cycles(build, which, t, trace, first_cycle);
        for (size_t i = 0; ok && i < trace->cycle_use_count; i++) {
            const struct cycle_use_row *use = &trace->cycle_uses[i];
            bool in_range = use->cycle >= 0 && (uint64_t)use->cycle < trace->cycle_count;
            ok = !in_range || add_row(build, which, trace, first_cycle, use);
        }
        first_cycle += (uint32_t)trace->cycle_count;
    }
    pool->number_count[which] = build->numbers.count;
    return ok || err_set(err, ERR_NO_MEMORY, "out of memory");
}

/* ---- keys in order ---- */

static int compare_texts(uint32_t a, uint32_t b, const void *ctx)
{
    return strcmp(strtab_text(ctx, a), strtab_text(ctx, b));
}

/* text id -> its place among all texts in order of code points */
static uint32_t *rank_texts(const struct strtab *texts)
{
    uint32_t count = strtab_count(texts);
    uint32_t *sorted = scratch_alloc(count, sizeof *sorted);
    uint32_t *rank = scratch_alloc(count, sizeof *rank);
    for (uint32_t i = 0; sorted != NULL && i < count; i++) {
        sorted[i] = i;
    }
    bool ok = sorted != NULL && rank != NULL && sort_stable(sorted, count, compare_texts, texts);
    for (uint32_t i = 0; ok && i < count; i++) {
        rank[sorted[i]] = i;
    }
    scratch_free(sorted);
    if (!ok) {
        scratch_free(rank);
        return NULL;
    }
    return rank;
}

struct key_order {
    const struct key *keys;
    const uint32_t *rank;
};

static int compare_keys(uint32_t a, uint32_t b, const void *ctx)
{
    const struct key_order *order = ctx;
    for (size_t i = 0; i < 3; i++) {
        uint32_t x = order->rank[order->keys[a].id[i]];
        uint32_t y = order->rank[order->keys[b].id[i]];
        if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return 0;
}

/* Each text once in the arena; NULL without memory. */
static const char **copy_texts(const struct build *build)
{
    uint32_t count = strtab_count(build->texts);
    const char **copies = scratch_alloc(count, sizeof *copies);
    for (uint32_t i = 0; copies != NULL && i < count; i++) {
        copies[i] =
            arena_strndup(build->arena, strtab_text(build->texts, i), strtab_len(build->texts, i));
        if (copies[i] == NULL) {
            scratch_free(copies);
            return NULL;
        }
    }
    return copies;
}

static void renumber(struct pool *pool, const uint32_t *new_number)
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        for (size_t i = 0; i < pool->rows[side].count; i++) {
            pool->rows[side].key[i] = new_number[pool->rows[side].key[i]];
        }
    }
}

static bool order_keys(struct build *build)
{
    struct pool *pool = build->pool;
    uint32_t count = build->keys.count;
    uint32_t *sorted = scratch_alloc(count, sizeof *sorted);
    uint32_t *new_number = scratch_alloc(count, sizeof *new_number);
    uint32_t *rank = rank_texts(build->texts);
    const char **copies = copy_texts(build);
    pool->keys = scratch_alloc(count, sizeof *pool->keys);
    for (uint32_t i = 0; sorted != NULL && i < count; i++) {
        sorted[i] = i;
    }
    const struct key_order order = {build->keys.keys, rank};
    bool ok = sorted != NULL && new_number != NULL && rank != NULL && copies != NULL &&
              pool->keys != NULL && sort_stable(sorted, count, compare_keys, &order);
    for (uint32_t i = 0; ok && i < count; i++) {
        const uint32_t *id = build->keys.keys[sorted[i]].id;
        new_number[sorted[i]] = i;
        pool->keys[i] = (struct pool_key){.function = copies[id[0]],
                                          .metric = copies[id[1]],
                                          .device = copies[id[2]],
                                          .place = id[3],
                                          .has_metric = id[1] != build->no_metric};
    }
    if (ok) {
        pool->key_count = count;
        renumber(pool, new_number);
    }
    SCRATCH_FREE(copies, rank, new_number, sorted);
    return ok;
}

/* ---- roles in order ---- */

static struct pool_role role_of(const struct key *key)
{
    uint64_t pid = (uint64_t)key->id[2] << 32 | key->id[3];
    return (struct pool_role){.side = (enum comparison_side)key->id[0],
                              .kind = (enum cycle_kind)key->id[1],
                              .pid = (int64_t)pid,
                              .host = NULL};
}

static int compare_roles(uint32_t a, uint32_t b, const void *ctx)
{
    const struct key *keys = ctx;
    struct pool_role x = role_of(&keys[a]);
    struct pool_role y = role_of(&keys[b]);
    if (x.side != y.side) {
        return x.side < y.side ? -1 : 1;
    }
    if (x.kind != y.kind) {
        return x.kind < y.kind ? -1 : 1;
    }
    return (x.pid > y.pid) - (x.pid < y.pid);
}

static bool order_roles(struct build *build)
{
    struct pool *pool = build->pool;
    uint32_t count = build->roles.count;
    uint32_t *sorted = scratch_alloc(count, sizeof *sorted);
    uint32_t *new_number = scratch_alloc(count, sizeof *new_number);
    pool->roles = scratch_alloc(count, sizeof *pool->roles);
    for (uint32_t i = 0; sorted != NULL && i < count; i++) {
        sorted[i] = i;
    }
    bool ok = sorted != NULL && new_number != NULL && pool->roles != NULL &&
              sort_stable(sorted, count, compare_roles, build->roles.keys);
    for (uint32_t i = 0; ok && i < count; i++) {
        pool->roles[i] = role_of(&build->roles.keys[sorted[i]]);
        new_number[sorted[i]] = i;
    }
    for (int side = 0; ok && side < SIDE_COUNT; side++) {
        for (size_t i = 0; i < pool->rows[side].count; i++) {
            pool->rows[side].role[i] = new_number[pool->rows[side].role[i]];
        }
    }
    pool->role_count = ok ? count : 0;
    SCRATCH_FREE(new_number, sorted);
    return ok;
}

/* ---- rows in order ---- */

/* The first host name in the order of the rows. */
static bool take_hosts(struct build *build, const struct compare_side sides[SIDE_COUNT])
{
    struct pool *pool = build->pool;
    for (int which = 0; which < SIDE_COUNT; which++) {
        const int64_t *role = pool->rows[which].role;
        for (size_t t = 0; t < sides[which].trace_count; t++) {
            const struct trace_results *trace = sides[which].traces[t];
            for (size_t i = 0; i < trace->cycle_use_count; i++) {
                const struct cycle_use_row *use = &trace->cycle_uses[i];
                if (use->cycle < 0 || (uint64_t)use->cycle >= trace->cycle_count) {
                    continue;
                }
                struct pool_role *to = &pool->roles[*role++];
                const char *host = use->host == NULL ? "" : use->host;
                if (to->host == NULL) {
                    to->host = arena_strdup(build->arena, host);
                }
                if (to->host == NULL) {
                    return false;
                }
            }
        }
    }
    return true;
}

static bool order_rows(struct pool *pool)
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        struct pool_rows *rows = &pool->rows[side];
        for (size_t i = 0; i < rows->count; i++) {
            rows->order[i] = (uint32_t)i;
        }
        if (!sort_by_key(rows->order, rows->count, rows->key) ||
            !sort_by_key(rows->order, rows->count, rows->role)) {
            return false;
        }
        for (size_t i = 0; i < rows->count; i++) {
            struct pool_role *role = &pool->roles[rows->role[rows->order[i]]];
            role->first = role->count == 0 ? i : role->first;
            role->count++;
        }
    }
    return true;
}

/* ---- all ---- */

static bool fill(struct build *build, const struct compare_side sides[SIDE_COUNT], struct err *err)
{
    build->texts = strtab_create();
    if (build->texts == NULL) {
        return err_set(err, ERR_NO_MEMORY, "out of memory");
    }
    build->no_metric = strtab_intern(build->texts, missing_text, strlen(missing_text));
    if (!device_order_build(&build->pool->devices, sides)) {
        return err_set(err, ERR_NO_MEMORY, "out of memory");
    }
    for (int side = 0; side < SIDE_COUNT; side++) {
        if (!add_side(build, (enum comparison_side)side, &sides[side], err)) {
            return false;
        }
    }
    return (build->no_metric != STRTAB_NONE && order_keys(build) && order_roles(build) &&
            take_hosts(build, sides) && order_rows(build->pool)) ||
           err_set(err, ERR_NO_MEMORY, "out of memory");
}

bool pool_build(struct pool *pool,
                struct arena *arena,
                const struct compare_side sides[SIDE_COUNT],
                struct err *err)
{
    *pool = (struct pool){0};
    struct build build = {.pool = pool, .arena = arena};
    bool ok = fill(&build, sides, err);
    strtab_destroy(build.texts);
    key_map_free(&build.keys);
    key_map_free(&build.places);
    key_map_free(&build.roles);
    key_map_free(&build.numbers);
    if (!ok) {
        pool_free(pool);
    }
    return ok;
}

void pool_free(struct pool *pool)
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        struct pool_rows *rows = &pool->rows[side];
        SCRATCH_FREE(rows->key, rows->role, rows->cycle, rows->beta, rows->mu, rows->duration_us,
                     rows->type, rows->order, pool->cycles[side]);
    }
    SCRATCH_FREE(pool->keys, pool->roles);
    device_order_free(&pool->devices);
    *pool = (struct pool){0};
}
