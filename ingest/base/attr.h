/* Compiler attributes behind portable names: each is empty where the compiler does not know it. */
#ifndef KS_BASE_ATTR_H
#define KS_BASE_ATTR_H

#if defined(__GNUC__) || defined(__clang__)
/* The result says whether the call worked and must be looked at. */
#define KS_MUST_USE __attribute__((warn_unused_result))
/* Arguments are checked like printf's: the format is argument `fmt`, the values begin at `first`.
 */
#define KS_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define KS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define KS_LIKELY(x) __builtin_expect(!!(x), 1)
/* The memory at `address` is read soon. */
#define KS_PREFETCH(address) __builtin_prefetch(address)
#else
#define KS_MUST_USE
#define KS_PRINTF(fmt, first)
#define KS_UNLIKELY(x) (x)
#define KS_LIKELY(x) (x)
#define KS_PREFETCH(address) ((void)(address))
#endif

#endif
