/* Which operators may use Tensor Cores or the matrix units of other vendors, told from names: by
 * the plugin's list and by ours, which knows today's PyTorch. And which kernels do by the plugin's
 * list, which ends with the Ampere generation; the rules of kernel classes know the others. Names
 * are NUL-terminated. */
#ifndef KS_ANALYSIS_CLASSIFY_TENSOR_CORE_H
#define KS_ANALYSIS_CLASSIFY_TENSOR_CORE_H

#include <stdbool.h>

/* The name contains one of the plugin's 18 fragments [TB-5f]. */
bool tensor_core_plugin_kernel(const char *name);
/* The exact name is in the plugin's list [TB-5.4]. */
bool tensor_core_plugin_operator(const char *name);

/* Ours: the plugin's list and the operators and autograd nodes that today's PyTorch has for the
 * same work. */
bool tensor_core_operator(const char *name);

#endif
