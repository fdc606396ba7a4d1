#include "ingest/formats/nsight/ncu_launches.h"

#include "ingest/formats/nsight/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_BYTES 60
#define FIRST_CAPACITY 64
#define NO_DURATION INT64_MIN

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for a kernel table");
}

bool ncu_launches_open(struct ncu_launches *launches, size_t budget_bytes, struct err *err)
{
    *launches = (struct ncu_launches){.places = NULL};
    if (!kernel_rows_open(&launches->rows, budget_bytes, err)) {
        return false;
    }
    launches->keys = strtab_create();
    launches->metrics = strtab_create();
    if (launches->keys == NULL || launches->metrics == NULL) {
        ncu_launches_close(launches);
        return no_memory(err);
    }
    return true;
}

void ncu_launches_close(struct ncu_launches *launches)
{
    kernel_rows_close(&launches->rows);
    strtab_destroy(launches->keys);
    strtab_destroy(launches->metrics);
    free(launches->places);
    free(launches->metric_launch);
    *launches = (struct ncu_launches){.places = NULL};
}

/* ---- launches ---- */

static bool grow(void **items, uint32_t *capacity, uint32_t wanted, size_t size)
{
    if (wanted <= *capacity) {
        return true;
    }
    uint32_t more = *capacity == 0 ? FIRST_CAPACITY : *capacity;
    while (more < wanted) {
        if (more > UINT32_MAX / 2) {
            return false;
        }
        more *= 2;
    }
    void *grown = realloc(*items, (size_t)more * size);
    if (grown == NULL) {
        return false;
    }
    memset((char *)grown + (size_t)*capacity * size, 0, (size_t)(more - *capacity) * size);
    *items = grown;
    *capacity = more;
    return true;
}

static bool
add_launch(struct ncu_launches *launches, uint32_t kernel, struct ncu_place place, struct err *err)
{
    struct kernel_table_launch launch = kernel_rows_blank();
    uint32_t count = launches->rows.table->launch_count;
    void *places = launches->places;
    bool ok = grow(&places, &launches->place_capacity, count + 1, sizeof place);
    launches->places = places;
    if (!ok) {
        return no_memory(err);
    }
    launch.name = kernel;
    launch.dur_ns = NO_DURATION;
    launches->places[count] = place;
    return kernel_rows_add(&launches->rows, &launch, err);
}

bool ncu_launches_get(struct ncu_launches *launches,
                      const struct ncu_launch_key *key,
                      uint32_t kernel,
                      struct ncu_place place,
                      uint32_t *launch,
                      bool *is_new,
                      struct err *err)
{
    uint32_t count = launches->rows.table->launch_count;
    const struct ncu_launch_key new_key = {
        .id = count, .process = STRTAB_NONE, .kernel = STRTAB_NONE};
    uint32_t id =
        strtab_intern(launches->keys, (const char *)(key == NULL ? &new_key : key), sizeof *key);
    if (id == STRTAB_NONE) {
        return no_memory(err);
    }
    *launch = id - 1;
    *is_new = *launch == count;
    return !*is_new || add_launch(launches, kernel, place, err);
}

/* ---- metrics ---- */

struct known {
    const char *name;
    enum ncu_role role;
};

static enum ncu_role role_of(const struct known *known, size_t count, const char *name, size_t len)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(known[i].name) == len && memcmp(known[i].name, name, len) == 0) {
            return known[i].role;
        }
    }
    return NCU_OTHER;
}

/* By name, and as the section tables of newer and older versions call them. */
static enum ncu_role main_role(const char *name, size_t len)
{
    static const struct known known[] = {
        {"gpu__time_duration.sum", NCU_DURATION},
        {"Duration", NCU_DURATION},
        {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", NCU_TENSOR},
        {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", NCU_DRAM},
        {"DRAM Throughput", NCU_DRAM},
        {"SOL DRAM", NCU_DRAM},
        {"SOL FB", NCU_DRAM},
        {"sm__throughput.avg.pct_of_peak_sustained_elapsed", NCU_SM},
        {"Compute (SM) Throughput", NCU_SM},
        {"Compute (SM) [%]", NCU_SM},
        {"SM [%]", NCU_SM},
        {"SOL SM", NCU_SM},
    };
    return role_of(known, sizeof known / sizeof known[0], name, len);
}

/* Metrics that measure the same in other words, for launches that lack the main one. */
static enum ncu_role kindred_role(const char *name, size_t len)
{
    static const struct known known[] = {
        {"gpu__time_duration.avg", NCU_DURATION},
        {"gpu__time_duration.max", NCU_DURATION},
        {"dram__throughput.avg.pct_of_peak_sustained_elapsed", NCU_DRAM},
    };
    return role_of(known, sizeof known / sizeof known[0], name, len);
}

static bool is_percent(const struct csv_cell *unit)
{
    return unit->len == 0 || csv_cell_equals(unit, "%");
}

bool ncu_metric_find(struct ncu_launches *launches,
                     const struct csv_cell *name,
                     const struct csv_cell *unit,
                     struct ncu_metric *metric,
                     struct err *err)
{
    char base[QUANTITY_UNIT_BYTES];
    struct csv_cell trimmed = csv_trim(*name);
    struct csv_cell in = csv_trim(*unit);
    metric->role = main_role(trimmed.text, trimmed.len);
    metric->factor = quantity_base_unit(in.text, in.len, base);
    if (metric->role == NCU_DURATION) {
        metric->factor = in.len == 0 ? 1 : quantity_time_ns(in.text, in.len);
    } else if (metric->role != NCU_OTHER && !is_percent(&in)) {
        metric->role = NCU_OTHER;
    }
    return kernel_rows_text(&launches->rows, trimmed.text, trimmed.len, &metric->name, err) &&
           kernel_rows_text(&launches->rows, base, strlen(base), &metric->base_unit, err);
}

/* Whether the launch has this metric already; if not, it is noted that it now has. */
static bool note_metric(struct ncu_launches *launches,
                        uint32_t launch,
                        const struct ncu_metric *metric,
                        bool *has_it)
{
    const uint32_t key[2] = {metric->name, metric->base_unit};
    uint32_t id = strtab_intern(launches->metrics, (const char *)key, sizeof key);
    void *items = launches->metric_launch;
    bool ok = id != STRTAB_NONE &&
              grow(&items, &launches->metric_capacity, id + 1, sizeof *launches->metric_launch);
    launches->metric_launch = items;
    if (ok) {
        *has_it = launches->metric_launch[id] == launch + 1;
        launches->metric_launch[id] = launch + 1;
    }
    return ok;
}

static bool add_metric(struct ncu_launches *launches,
                       uint32_t launch,
                       const struct ncu_metric *metric,
                       double value,
                       struct err *err)
{
    bool has_it = false;
    if (!note_metric(launches, launch, metric, &has_it)) {
        return no_memory(err);
    }
    const struct kernel_table_metric row = {.launch = launch,
                                            .name = metric->name,
                                            .unit = metric->base_unit,
                                            .value = value * metric->factor};
    return has_it || !isfinite(row.value) || kernel_rows_add_metric(&launches->rows, &row, err);
}

static double *use_of(struct kernel_table_launch *launch, enum ncu_role role)
{
    switch (role) {
    case NCU_TENSOR:
        return &launch->tensor;
    case NCU_DRAM:
        return &launch->dram;
    default:
        return &launch->sm;
    }
}

static void set_duration(struct kernel_table_launch *launch, double value, double unit_ns)
{
    int64_t dur_ns;
    if (launch->dur_ns == NO_DURATION && unit_ns > 0 && quantity_to_ns(value, unit_ns, &dur_ns)) {
        launch->dur_ns = dur_ns;
    }
}

static void set_use(struct kernel_table_launch *launch, enum ncu_role role, double percent)
{
    double *use = use_of(launch, role);
    if (isnan(*use) && percent >= 0) {
        *use = percent / 100;
    }
}

bool ncu_launches_set(struct ncu_launches *launches,
                      uint32_t launch,
                      const struct ncu_metric *metric,
                      const struct csv_cell *value,
                      struct ncu_place place,
                      struct err *err)
{
    double number;
    struct kernel_table_launch *row = &launches->rows.table->launches[launch];
    enum quantity quantity = quantity_read(value->text, value->len, &number);
    if (quantity == QUANTITY_MISSING || (quantity == QUANTITY_NONE && metric->role == NCU_OTHER)) {
        return true;
    }
    if (quantity == QUANTITY_NONE) {
        int shown = (int)(value->len < SHOWN_BYTES ? value->len : SHOWN_BYTES);
        return kernel_rows_bad(&launches->rows, place.line, place.byte_off, err,
                               "\"%.*s\" is no number", shown, value->text);
    }
    switch (metric->role) {
    case NCU_OTHER:
        return add_metric(launches, launch, metric, number, err);
    case NCU_DURATION:
        set_duration(row, number, metric->factor);
        return true;
    default:
        set_use(row, metric->role, number);
        return true;
    }
}

/* ---- the end ---- */

static void use_kindred_metrics(struct kernel_table *table)
{
    for (uint32_t i = 0; i < table->metric_count; i++) {
        const struct kernel_table_metric *metric = &table->metrics[i];
        struct kernel_table_launch *launch = &table->launches[metric->launch];
        enum ncu_role role = kindred_role(strtab_text(table->strings, metric->name),
                                          strtab_len(table->strings, metric->name));
        if (role == NCU_DURATION) {
            set_duration(launch, metric->value, 1);
        } else if (role != NCU_OTHER) {
            set_use(launch, role, metric->value);
        }
    }
}

/* Launches with a duration move to the front; *moved_to tells by old index where each is now,
 * STRTAB_NONE for those that went. */
static bool drop_launches(struct ncu_launches *launches, uint32_t *moved_to, struct err *err)
{
    struct kernel_table *table = launches->rows.table;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < table->launch_count; i++) {
        struct kernel_table_launch launch = table->launches[i];
        moved_to[i] = STRTAB_NONE;
        if (launch.dur_ns != NO_DURATION) {
            moved_to[i] = kept;
            table->launches[kept++] = launch;
        } else if (!kernel_rows_bad(&launches->rows, launches->places[i].line,
                                    launches->places[i].byte_off, err,
                                    "a launch of %.*s has no duration: profile with --metrics "
                                    "gpu__time_duration.sum",
                                    SHOWN_BYTES, strtab_text(table->strings, launch.name))) {
            return false;
        }
    }
    table->launch_count = kept;
    return true;
}

/* Stable; linear, for a table may hold millions of metrics. */
static bool sort_metrics(struct kernel_table *table)
{
    uint32_t *next = calloc((size_t)table->launch_count + 1, sizeof *next);
    struct kernel_table_metric *sorted = malloc(table->metric_capacity * sizeof *sorted);
    bool ok = next != NULL && sorted != NULL;
    for (uint32_t i = 0; ok && i < table->metric_count; i++) {
        next[table->metrics[i].launch + 1]++;
    }
    for (uint32_t i = 0; ok && i < table->launch_count; i++) {
        next[i + 1] += next[i];
    }
    for (uint32_t i = 0; ok && i < table->metric_count; i++) {
        sorted[next[table->metrics[i].launch]++] = table->metrics[i];
    }
    free(next);
    if (!ok) {
        free(sorted);
        return false;
    }
    free(table->metrics);
    table->metrics = sorted;
    return true;
}

static bool move_metrics(struct kernel_table *table, const uint32_t *moved_to)
{
    uint32_t kept = 0;
    bool is_sorted = true;
    for (uint32_t i = 0; i < table->metric_count; i++) {
        struct kernel_table_metric metric = table->metrics[i];
        metric.launch = moved_to[metric.launch];
        if (metric.launch != STRTAB_NONE) {
            is_sorted =
                is_sorted && (kept == 0 || table->metrics[kept - 1].launch <= metric.launch);
            table->metrics[kept++] = metric;
        }
    }
    table->metric_count = kept;
    return is_sorted || sort_metrics(table);
}

bool ncu_launches_finish(struct ncu_launches *launches, struct err *err)
{
    struct kernel_table *table = launches->rows.table;
    uint32_t *moved_to = malloc(((size_t)table->launch_count + 1) * sizeof *moved_to);
    if (moved_to == NULL) {
        return no_memory(err);
    }
    use_kindred_metrics(table);
    bool ok =
        drop_launches(launches, moved_to, err) && (move_metrics(table, moved_to) || no_memory(err));
    free(moved_to);
    return ok;
}
