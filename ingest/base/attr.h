/* Compiler attributes behind portable names. Each is empty where the compiler lacks it. */
#ifndef KS_BASE_ATTR_H
#define KS_BASE_ATTR_H

#if defined(__GNUC__) || defined(__clang__)
/* The result says whether the call worked; the caller must check it. */
#define KS_MUST_USE __attribute__((warn_unused_result))
/* Checks arguments like printf's: the format is argument `fmt`, the values begin at `first`. */
#define KS_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define KS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define KS_LIKELY(x) __builtin_expect(!!(x), 1)
/* Announces a read of `address`. */
#define KS_PREFETCH(address) __builtin_prefetch(address)
#else
#define KS_MUST_USE
#define KS_PRINTF(fmt, first)
#define KS_UNLIKELY(x) (x)
#define KS_LIKELY(x) (x)
#define KS_PREFETCH(address) ((void)(address))
#endif

#endif
