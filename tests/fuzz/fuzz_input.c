/* The containers: gzip, zstd and plain bytes, decoded in two block sizes. */
#include "ingest/input/input.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

#define LARGE_BLOCK_BYTES ((size_t)64 << 10)
#define SMALL_BLOCK_BYTES 97
/* A small input can unpack to gigabytes. */
#define DECODED_MAX_BYTES ((size_t)1 << 20)

struct decoded {
    uint64_t hash;
    size_t len;
    bool good;
    bool cut;
    struct err err;
};

/* Carries `keep` bytes of each window on to the next, as readers do. */
static struct decoded decode(const uint8_t *bytes, size_t len, size_t block_bytes, size_t keep)
{
    struct decoded out = {.hash = FUZZ_HASH_INIT, .good = true, .err = ERR_INIT};
    struct input *in = NULL;
    const char *window = NULL;
    size_t window_len = 0;
    size_t kept = 0;
    fuzz_require(input_open_memory(&in, bytes, len, block_bytes, &out.err), "memory can be opened");
    while (out.len < DECODED_MAX_BYTES) {
        out.good = input_next(in, kept, &window, &window_len, &out.err);
        if (!out.good || window_len == kept) {
            break;
        }
        size_t most = DECODED_MAX_BYTES - out.len;
        size_t fresh = window_len - kept < most ? window_len - kept : most;
        out.hash = fuzz_hash(out.hash, window + kept, fresh);
        out.len += fresh;
        kept = window_len < keep ? window_len : keep;
    }
    if (out.good && out.len < DECODED_MAX_BYTES) {
        const char *why = NULL;
        out.cut = input_cut(in, &why);
        fuzz_require(!out.cut || why != NULL, "what is cut says why");
        fuzz_require(input_container(in) != INPUT_PLAIN || (!out.cut && out.len == len),
                     "plain bytes come through whole");
        fuzz_require(input_bytes_read(in) <= input_bytes_total(in) && input_bytes_total(in) == len,
                     "the bytes of the file are counted");
    }
    input_close(in);
    return out;
}

int fuzz_one_input(const uint8_t *bytes, size_t len)
{
    struct decoded large = decode(bytes, len, LARGE_BLOCK_BYTES, 0);
    size_t keep = len == 0 ? 0 : bytes[len - 1];
    /* The small blocks are for small results: each is a turn of two threads. */
    if (large.len < (size_t)16 << 10) {
        struct decoded small = decode(bytes, len, SMALL_BLOCK_BYTES, keep);
        bool is_whole = large.good && !large.cut;
        fuzz_require(is_whole == (small.good && !small.cut),
                     "the size of the blocks does not decide what is damaged");
        /* How much of a block comes out before a fault within it is the decoder's choice. */
        fuzz_require(!is_whole || (large.len == small.len && large.hash == small.hash),
                     "nor changes what is decoded");
    }
    return 0;
}
