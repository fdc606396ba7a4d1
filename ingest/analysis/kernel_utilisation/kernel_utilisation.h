/* From a kernel table to its figures: per launch, per kernel, and over all: what api/openapi.json
 * promises of kernel-utilisation. */
#ifndef KS_ANALYSIS_KERNEL_UTILISATION_KERNEL_UTILISATION_H
#define KS_ANALYSIS_KERNEL_UTILISATION_KERNEL_UTILISATION_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/kernel_table.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stddef.h>

/* The part of a kernel's name that tells what it does: return type, template and argument lists
 * off, and the namespaces at::native::, cutlass:: and unnamed ones; other namespaces stay. Of
 * CUTLASS's launchers (Kernel<...>, device_kernel<...>) the first template argument's own name
 * stays. Never empty for a name that is not: what cannot be cleaned stays as it is. In the arena;
 * NULL without memory. */
const char *kernel_utilisation_clean_name(struct arena *arena, const char *full_name, size_t len);

/* The class of a launch or kernel; NaN: not measured. */
enum use_class kernel_utilisation_classify(double tensor, double dram, double sm);

/* Fills results: has_kernel_use and everything kernel_utilisation_*, transfers, bad_rows, warnings;
 * also kernels (by full name, so that the kernel view works), device_type "GPU", event_count (rows
 * that were read), start_ns, duration_ns, views. The caller frees *out with results_destroy; it
 * does not refer to the table. Errors: ERR_NO_MEMORY. */
bool kernel_utilisation_run(const struct kernel_table *table,
                            struct trace_results **out,
                            struct err *err) KS_MUST_USE;

#endif
