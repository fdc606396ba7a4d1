#include "ingest/analysis/classify/collective_kinds.h"

#include "ingest/base/text/affix.h"

#include <stddef.h>
#include <string.h>

/* Longer names than this are cut: no kind stands so far behind. */
#define FOLDED_BYTES 128

struct kind {
    const char *folded; /* lower case, letters and digits only */
    const char *name;
};

/* What is part of another stands behind it. */
static const struct kind KINDS[] = {
    {"sparseallreduce", "all_reduce"},
    {"crossdevicereduce", "all_reduce"},
    {"allreduce", "all_reduce"},
    {"reducescatter", "reduce_scatter"},
    {"allgather", "all_gather"},
    {"alltoall", "all_to_all"},
    {"sendrecv", "send_recv"},
    {"broadcast", "broadcast"},
    {"barrier", "barrier"},
    {"gather", "gather"},
    {"scatter", "scatter"},
    {"reduce", "reduce"},
    {"send", "send"},
    {"receive", "recv"},
    {"recv", "recv"},
    {"coalesced", "coalesced"},
};
#define KIND_COUNT (sizeof KINDS / sizeof *KINDS)

/* Lower-case letters and digits of a text up to one of `stops`. */
static void fold(const char *text, const char *stops, char out[FOLDED_BYTES])
{
    size_t len = 0;
    for (; *text != '\0' && strchr(stops, *text) == NULL && len + 1 < FOLDED_BYTES; text++) {
        char c = text_lower(*text);
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            out[len++] = c;
        }
    }
    out[len] = '\0';
}

static const char *skip_prefix(const char *text, const char *prefix)
{
    size_t len = strlen(prefix);
    return strncmp(text, prefix, len) == 0 ? text + len : NULL;
}

/* Whether only endings follow that tell how the operation is called, not which one it is. */
static bool are_variants(const char *rest)
{
    static const char *const VARIANTS[] = {"intotensor", "tensor", "coalesced", "sparse", "single",
                                           "barrier",    "base",   "oop",       "v"};
    while (*rest != '\0') {
        const char *next = NULL;
        for (size_t i = 0; next == NULL && i < sizeof VARIANTS / sizeof *VARIANTS; i++) {
            next = skip_prefix(rest, VARIANTS[i]);
        }
        if (next == NULL) {
            return false;
        }
        rest = next;
    }
    return true;
}

const char *collective_kind(const char *name)
{
    char folded[FOLDED_BYTES];
    fold(name, " ", folded);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        const char *rest = skip_prefix(folded, KINDS[i].folded);
        if (rest != NULL && are_variants(rest)) {
            return KINDS[i].name;
        }
    }
    return NULL;
}

const char *collective_kind_of_operator(const char *name)
{
    static const char *const LIBRARIES[] = {
        "nccl:", "gloo:", "cncl:", "hccl:", "rccl:", "xccl:", "ucc:", "mpi:"};
    for (size_t i = 0; i < sizeof LIBRARIES / sizeof *LIBRARIES; i++) {
        const char *operation = skip_prefix(name, LIBRARIES[i]);
        if (operation != NULL) {
            return collective_kind(operation);
        }
    }
    return NULL;
}

const char *collective_kind_of_kernel(const char *name)
{
    char folded[FOLDED_BYTES];
    fold(name, "(<", folded);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strstr(folded, KINDS[i].folded) != NULL) {
            return KINDS[i].name;
        }
    }
    return "other";
}

bool collective_is_bookkeeping(const char *name)
{
    return strcmp(name, "wait") == 0 || strcmp(name, "init") == 0;
}

int64_t collective_dtype_bytes(const char *dtype)
{
    static const struct {
        const char *name;
        int64_t size_bytes;
    } SIZES[] = {
        {"Float", 4},
        {"Half", 2},
        {"BFloat16", 2},
        {"Double", 8},
        {"Byte", 1},
        {"Char", 1},
        {"Bool", 1},
        {"Short", 2},
        {"Int", 4},
        {"Long", 8},
        {"UInt16", 2},
        {"UInt32", 4},
        {"UInt64", 8},
        {"ComplexHalf", 4},
        {"ComplexFloat", 8},
        {"ComplexDouble", 16},
        {"Float8_e5m2", 1},
        {"Float8_e4m3fn", 1},
        {"Float8_e5m2fnuz", 1},
        {"Float8_e4m3fnuz", 1},
        {"Float8_e8m0fnu", 1},
    };
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        if (strcmp(SIZES[i].name, dtype) == 0) {
            return SIZES[i].size_bytes;
        }
    }
    return 0;
}
