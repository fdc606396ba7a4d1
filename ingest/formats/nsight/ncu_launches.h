/* Launches of Nsight Compute while their metrics arrive, one by one and perhaps in any order. */
#ifndef KS_FORMATS_NSIGHT_NCU_LAUNCHES_H
#define KS_FORMATS_NSIGHT_NCU_LAUNCHES_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/text/strtab.h"
#include "ingest/formats/csv/scan.h"
#include "ingest/formats/nsight/kernel_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a metric is to a launch. */
enum ncu_role { NCU_DURATION, NCU_TENSOR, NCU_DRAM, NCU_SM, NCU_OTHER };

/* A metric's name and unit, looked up once where they stand in a header. */
struct ncu_metric {
    enum ncu_role role;
    uint32_t name;      /* string ids of the table */
    uint32_t base_unit; /* without a prefix */
    double factor;      /* takes values to the base unit; of a duration to nanoseconds */
};

/* Where a launch was first met. */
struct ncu_place {
    uint64_t line;
    uint64_t byte_off;
};

struct ncu_launch_key {
    int64_t id;
    uint32_t process; /* string ids of the table */
    uint32_t kernel;
    uint64_t part; /* how many headers stand above it */
};

struct ncu_launches {
    struct kernel_rows rows;
    struct ncu_place *places; /* by launch */
    uint32_t place_capacity;
    struct strtab *keys;     /* launch n has id n + 1 */
    struct strtab *metrics;  /* pairs of name and unit */
    uint32_t *metric_launch; /* by id in `metrics`: the last launch that has it, plus 1 */
    uint32_t metric_capacity;
};

/* Errors of all: ERR_NO_MEMORY, ERR_TOO_LARGE (memory budget). */
bool ncu_launches_open(struct ncu_launches *launches,
                       size_t budget_bytes,
                       struct err *err) KS_MUST_USE;
void ncu_launches_close(struct ncu_launches *launches);

/* The launch of this key; *is_new: it was not there and is blank but for its name. A NULL key makes
 * a new one. */
bool ncu_launches_get(struct ncu_launches *launches,
                      const struct ncu_launch_key *key,
                      uint32_t kernel,
                      struct ncu_place place,
                      uint32_t *launch,
                      bool *is_new,
                      struct err *err) KS_MUST_USE;

bool ncu_metric_find(struct ncu_launches *launches,
                     const struct csv_cell *name,
                     const struct csv_cell *unit,
                     struct ncu_metric *metric,
                     struct err *err) KS_MUST_USE;
/* Gives a launch the value of a metric; the first of several counts. */
bool ncu_launches_set(struct ncu_launches *launches,
                      uint32_t launch,
                      const struct ncu_metric *metric,
                      const struct csv_cell *value,
                      struct ncu_place place,
                      struct err *err) KS_MUST_USE;

/* Fills gaps from kindred metrics, leaves launches without a duration out, and puts metrics in the
 * order of launches. */
bool ncu_launches_finish(struct ncu_launches *launches, struct err *err) KS_MUST_USE;

#endif
