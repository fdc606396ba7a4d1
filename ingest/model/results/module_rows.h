/* The hierarchy of nn.Module (or Lightning's modules) with what each took [TB-14]. Rows live as
 * results.h says. */
#ifndef KS_MODEL_RESULTS_MODULE_ROWS_H
#define KS_MODEL_RESULTS_MODULE_ROWS_H

#include <stdint.h>

#define MODULE_NO_PARENT INT64_C(-1)

/* Pre-order: parents before their children, siblings in the plugin's order. Times in ticks of the
 * results. Modules of one name and id share their figures, wherever they stand. */
struct module_row {
    const char *name; /* without the prefix `nn.Module: ` */
    int64_t module_id;
    int64_t parent; /* index of a row, MODULE_NO_PARENT at the top */
    int64_t occurrences;
    int64_t operators; /* real operators that are its direct children */
    int64_t host_total, host_self;
    int64_t device_total, device_self;
};

#endif
