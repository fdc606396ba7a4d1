/* Which operators may use Tensor Cores or the matrix units of other vendors, and which kernels do,
 * told from names. The lists of kernels [TB-5f] and of operators [TB-5.4] end with the Ampere
 * generation; the rules of kernel classes know other kernels. Names are NUL-terminated. */
#ifndef KS_ANALYSIS_CLASSIFY_TENSOR_CORE_H
#define KS_ANALYSIS_CLASSIFY_TENSOR_CORE_H

#include <stdbool.h>

/* The name contains one of 18 fragments [TB-5f]. */
bool tensor_core_listed_kernel(const char *name);
/* The exact name is in the list [TB-5.4]. */
bool tensor_core_listed_operator(const char *name);

/* That list, and the operators and autograd nodes that today's PyTorch has for the same work. */
bool tensor_core_operator(const char *name);

#endif
