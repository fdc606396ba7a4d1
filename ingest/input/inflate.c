#include "ingest/input/inflate.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>

/* ISA-L counts bytes in 32 bits. */
#define STEP_BYTES ((size_t)1 << 30)

static uint32_t step(size_t left)
{
    return (uint32_t)(left < STEP_BYTES ? left : STEP_BYTES);
}

static bool is_sound(int code)
{
    return code == ISAL_DECOMP_OK || code == ISAL_END_INPUT || code == ISAL_OUT_OVERFLOW;
}

bool inflate_zlib(
    const void *bytes, size_t len, char *out, size_t cap, size_t *out_len, bool *is_whole)
{
    struct inflate_state *state = calloc(1, sizeof *state);
    size_t taken = 0;
    int code = ISAL_DECOMP_OK;
    bool moves = true;
    *out_len = 0;
    *is_whole = false;
    if (state == NULL) {
        return false;
    }
    isal_inflate_init(state);
    state->crc_flag = ISAL_ZLIB;
    while (moves && is_sound(code) && !*is_whole && *out_len < cap) {
        const size_t give = step(len - taken);
        const size_t room = step(cap - *out_len);
        state->next_in = (uint8_t *)(uintptr_t)bytes + taken;
        state->avail_in = (uint32_t)give;
        state->next_out = (uint8_t *)out + *out_len;
        state->avail_out = (uint32_t)room;
        code = isal_inflate(state);
        moves = state->avail_in < give || state->avail_out < room;
        taken += give - state->avail_in;
        *out_len += room - state->avail_out;
        *is_whole = state->block_state == ISAL_BLOCK_FINISH;
    }
    free(state);
    return is_sound(code);
}
