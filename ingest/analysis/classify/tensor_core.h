/* Which kernels run on Tensor Cores (or the matrix units of other vendors) and which operators may,
 * told from names. Two lists: the plugin's, which ends with the Ampere generation and which its
 * routes must go on answering, and ours, which knows today's libraries. Names are NUL-terminated.
 */
#ifndef KS_ANALYSIS_CLASSIFY_TENSOR_CORE_H
#define KS_ANALYSIS_CLASSIFY_TENSOR_CORE_H

#include <stdbool.h>

/* The name contains one of the plugin's 18 fragments [TB-5f]. */
bool tensor_core_plugin_kernel(const char *name);
/* The exact name is in the plugin's list [TB-5.4]. */
bool tensor_core_plugin_operator(const char *name);

/* Ours: matrix instructions of sm70 to sm120 (wmma, mma, wgmma, tcgen05), cuBLAS, cuDNN, CUTLASS 2
 * and 3, nvjet, the flash attentions, quantised GEMMs, and MFMA / WMMA of ROCm. Names that say that
 * they use ordinary arithmetic (simt, ffma) are never Tensor Core kernels, whatever else they
 * contain. */
bool tensor_core_kernel(const char *name);
/* Ours: the plugin's list and the operators and autograd nodes that today's PyTorch has for the
 * same work. */
bool tensor_core_operator(const char *name);

#endif
