/* What names say about collectives by our rule: one spelling for what libraries, PyTorch and
 * kernels spell in many ways.
 *
 *     all_reduce  reduce_scatter  all_gather  all_to_all  broadcast  reduce  gather  scatter  send
 *     recv  send_recv  barrier  coalesced
 *
 * Public facts: PyTorch names operators `nccl:_all_gather_base`, `nccl:send 0->1`, and collectives
 * in the arguments of `record_param_comms` allreduce, _allgather_base, all_to_allv
 * (ParamCommsUtils, ProcessGroupNCCL; torch_mlu: the same with `cncl:`). Kernels: NCCL
 * `ncclAllReduceRingLLKernel_…` (to 2.7), `ncclKernel_AllReduce_RING_LL_Sum_float(…)` (to 2.18),
 * `ncclDevKernel_AllReduce_Sum_f32_…`, `ncclSymkDevKernel_AllReduce_…` (2.27, symmetric memory);
 * RCCL the same and `ncclDevKernel_Generic(…)`, whose name does not tell the kind; HCCL
 * `hcom_allReduce__503_0_1`, `HcomAllGather`; vLLM, SGLang and AITER `cross_device_reduce_1stage`,
 * an all-reduce of their own.
 *
 * A kernel's name is a hint only: NCCL runs other collectives in a kernel that is named for one
 * (NVIDIA/nccl issues 739, 2196), so that what the host says goes first. */
#ifndef KS_ANALYSIS_CLASSIFY_COLLECTIVE_KINDS_H
#define KS_ANALYSIS_CLASSIFY_COLLECTIVE_KINDS_H

#include <stdbool.h>
#include <stdint.h>

/* `Collective name`, or an operator's name behind its library. NULL: no collective that we know. */
const char *collective_kind(const char *name);
/* `nccl:all_reduce`, libraries nccl, gloo, cncl, hccl, rccl, xccl, ucc, mpi. NULL: no such
 * operator. */
const char *collective_kind_of_operator(const char *name);
/* Of a kernel of class communication. "other": the name does not tell the kind. */
const char *collective_kind_of_kernel(const char *name);
/* Whether a `Collective name` is a call that moves nothing: wait, init. */
bool collective_is_bookkeeping(const char *name);
/* Bytes of an element of `dtype`, a ScalarType of PyTorch: Float, BFloat16. 0: unknown. */
int64_t collective_dtype_bytes(const char *dtype);

#endif
