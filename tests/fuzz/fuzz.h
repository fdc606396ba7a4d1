/* What the fuzz targets share. A target is one file with fuzz_one_input, linked with fuzz_thread.c
 * and either with libFuzzer (KS_FUZZ), which makes up inputs, or with fuzz_replay.c, which runs
 * those of a folder.
 *
 * A target aborts when something that must hold does not. */
#ifndef KS_FUZZ_FUZZ_H
#define KS_FUZZ_FUZZ_H

#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The target: runs one input on the stack that the code has in the server (fuzz_thread.c). Always
 * 0. */
int fuzz_one_input(const uint8_t *bytes, size_t len);
/* The entry that libFuzzer calls. Always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

_Noreturn void fuzz_fail(const char *what);

/* Aborts, saying what does not hold. */
static inline void fuzz_require(bool holds, const char *what)
{
    if (!holds) {
        fuzz_fail(what);
    }
}

/* A copy that ends with a NUL, for functions that take texts; freed by the caller. Never NULL. */
char *fuzz_text(const uint8_t *bytes, size_t len);

/* The path of a file of this process with just these bytes; rewritten by the next call, removed at
 * the end of the process. */
const char *fuzz_file(const uint8_t *bytes, size_t len);

/* FNV-1a, to compare what two readings gave. Begin with FUZZ_HASH_INIT. */
#define FUZZ_HASH_INIT UINT64_C(0xcbf29ce484222325)
uint64_t fuzz_hash(uint64_t hash, const void *bytes, size_t len);
/* A text, NULL too. */
uint64_t fuzz_hash_text(uint64_t hash, const char *text);

#endif
