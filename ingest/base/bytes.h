/* Bytes looked at many at a time: 16 with SSE2 or NEON, else 8 or one.
 *
 * Masks have a bit a byte, the first byte's lowest. The functions with `block` in their name read
 * BYTES_BLOCK bytes, which must be readable; those with `half`, half of it. */
#ifndef KS_BASE_BYTES_H
#define KS_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(KS_BYTES_PLAIN)
/* Tests compare the rest with what needs no vectors. */
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#define BYTES_BLOCK 32
/* 2^64 over the golden ratio, odd: the high bits of a product with it hang on all bits of a number.
 */
#define BYTES_SPREAD UINT64_C(0x9E3779B97F4A7C15)
#define BYTES_HALF_MASK 0xFFFFU

static inline uint64_t bytes_load64(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Texts of equal length below 8 have equal values exactly when their bytes are equal. Reads nothing
 * behind the text. */
static inline uint64_t bytes_load_short(const char *text, size_t len)
{
    if (len >= 4) {
        uint32_t first;
        uint32_t last;
        memcpy(&first, text, sizeof first);
        memcpy(&last, text + len - 4, sizeof last);
        return (uint64_t)first << 32 | last;
    }
    if (len == 0) {
        return 0;
    }
    uint64_t first = (unsigned char)text[0];
    uint64_t middle = (unsigned char)text[len / 2];
    uint64_t last = (unsigned char)text[len - 1];
    return first << 16 | middle << 8 | last;
}

/* --- blocks --- */

/* What a scanner asks of a block. */
struct bytes_masks {
    uint32_t quotes;   /* " */
    uint32_t brackets; /* [ ] { } \ | */
};

#if !defined(KS_BYTES_PLAIN) && defined(__SSE2__)

static inline uint32_t bytes_half_specials(const char *at)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
    const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i backslashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(controls, _mm_or_si128(quotes, backslashes)));
}

static inline uint32_t bytes_block_specials(const char *at)
{
    return bytes_half_specials(at) | bytes_half_specials(at + 16) << 16;
}

static inline struct bytes_masks bytes_half_masks(const char *at)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    const __m128i from_bracket =
        _mm_sub_epi8(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), _mm_set1_epi8('{'));
    const __m128i brackets =
        _mm_cmpeq_epi8(_mm_min_epu8(from_bracket, _mm_set1_epi8(2)), from_bracket);
    const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    return (struct bytes_masks){.quotes = (uint32_t)_mm_movemask_epi8(quotes),
                                .brackets = (uint32_t)_mm_movemask_epi8(brackets)};
}

static inline struct bytes_masks bytes_block_masks(const char *at)
{
    struct bytes_masks low = bytes_half_masks(at);
    struct bytes_masks high = bytes_half_masks(at + 16);
    return (struct bytes_masks){.quotes = low.quotes | high.quotes << 16,
                                .brackets = low.brackets | high.brackets << 16};
}

static inline uint32_t bytes_half_equals(const char *a, const char *b)
{
    const __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)a),
                                         _mm_loadu_si128((const __m128i *)(const void *)b));
    return (uint32_t)_mm_movemask_epi8(equal);
}

static inline uint32_t bytes_block_equals(const char *a, const char *b)
{
    return bytes_half_equals(a, b) | bytes_half_equals(a + 16, b + 16) << 16;
}

#elif !defined(KS_BYTES_PLAIN) && defined(__ARM_NEON) && defined(__aarch64__)

static inline uint8x16_t bytes_neon_load(const char *at)
{
    return vld1q_u8((const uint8_t *)(const void *)at);
}

/* A bit of each byte of the two, which are all ones or all zeros. */
static inline uint32_t bytes_neon_mask(uint8x16_t low, uint8x16_t high)
{
    static const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t weight = vld1q_u8(weights);
    uint8x16_t sums = vpaddq_u8(vandq_u8(low, weight), vandq_u8(high, weight));
    sums = vpaddq_u8(sums, sums);
    sums = vpaddq_u8(sums, sums);
    return vgetq_lane_u32(vreinterpretq_u32_u8(sums), 0);
}

static inline uint8x16_t bytes_neon_specials(uint8x16_t bytes)
{
    const uint8x16_t either =
        vorrq_u8(vceqq_u8(bytes, vdupq_n_u8('"')), vceqq_u8(bytes, vdupq_n_u8('\\')));
    return vorrq_u8(either, vcltq_u8(bytes, vdupq_n_u8(0x20)));
}

static inline uint8x16_t bytes_neon_brackets(uint8x16_t bytes)
{
    const uint8x16_t from_bracket = vsubq_u8(vorrq_u8(bytes, vdupq_n_u8(0x20)), vdupq_n_u8('{'));
    return vcleq_u8(from_bracket, vdupq_n_u8(2));
}

static inline uint32_t bytes_block_specials(const char *at)
{
    return bytes_neon_mask(bytes_neon_specials(bytes_neon_load(at)),
                           bytes_neon_specials(bytes_neon_load(at + 16)));
}

static inline struct bytes_masks bytes_block_masks(const char *at)
{
    const uint8x16_t low = bytes_neon_load(at);
    const uint8x16_t high = bytes_neon_load(at + 16);
    const uint8x16_t quote = vdupq_n_u8('"');
    return (struct bytes_masks){
        .quotes = bytes_neon_mask(vceqq_u8(low, quote), vceqq_u8(high, quote)),
        .brackets = bytes_neon_mask(bytes_neon_brackets(low), bytes_neon_brackets(high))};
}

static inline uint32_t bytes_half_equals(const char *a, const char *b)
{
    const uint8x16_t equal = vceqq_u8(bytes_neon_load(a), bytes_neon_load(b));
    return bytes_neon_mask(equal, equal) & BYTES_HALF_MASK;
}

static inline uint32_t bytes_block_equals(const char *a, const char *b)
{
    return bytes_half_equals(a, b) | bytes_half_equals(a + 16, b + 16) << 16;
}

#else

static inline uint32_t bytes_block_specials(const char *at)
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < BYTES_BLOCK; i++) {
        bool is_special = at[i] == '"' || at[i] == '\\' || (unsigned char)at[i] < 0x20;
        mask |= (uint32_t)is_special << i;
    }
    return mask;
}

static inline struct bytes_masks bytes_block_masks(const char *at)
{
    struct bytes_masks masks = {.quotes = 0};
    for (unsigned i = 0; i < BYTES_BLOCK; i++) {
        unsigned from_bracket = ((unsigned char)at[i] | 0x20U) - '{';
        masks.quotes |= (uint32_t)(at[i] == '"') << i;
        masks.brackets |= (uint32_t)(from_bracket <= 2) << i;
    }
    return masks;
}

static inline uint32_t bytes_half_equals(const char *a, const char *b)
{
    uint32_t mask = 0;
    if (((bytes_load64(a) ^ bytes_load64(b)) | (bytes_load64(a + 8) ^ bytes_load64(b + 8))) == 0) {
        return BYTES_HALF_MASK;
    }
    for (unsigned i = 0; i < BYTES_BLOCK / 2; i++) {
        mask |= (uint32_t)(a[i] == b[i]) << i;
    }
    return mask;
}

static inline uint32_t bytes_block_equals(const char *a, const char *b)
{
    return bytes_half_equals(a, b) | bytes_half_equals(a + 16, b + 16) << 16;
}

#endif

/* Whether one of BYTES_RUN bytes is no ASCII. */
#define BYTES_RUN 128

static inline bool bytes_run_has_high(const char *at)
{
#if !defined(KS_BYTES_PLAIN) && defined(__SSE2__)
    __m128i any = _mm_setzero_si128();
    for (int i = 0; i < BYTES_RUN; i += 16) {
        any = _mm_or_si128(any, _mm_loadu_si128((const __m128i *)(const void *)(at + i)));
    }
    return _mm_movemask_epi8(any) != 0;
#else
    uint64_t any = 0;
    for (int i = 0; i < BYTES_RUN; i += 8) {
        any |= bytes_load64(at + i);
    }
    return (any & 0x8080808080808080U) != 0;
#endif
}

/* The place of the lowest bit of a mask that has one. */
static inline unsigned bytes_first(uint32_t mask)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctz(mask);
#else
    unsigned place = 0;
    for (; (mask & 1) == 0; mask >>= 1) {
        place++;
    }
    return place;
#endif
}

/* --- texts --- */

/* Reads nothing behind either: the last load overlaps the one before. */
static inline bool bytes_equal(const char *a, const char *b, size_t len)
{
    if (len < 8) {
        return bytes_load_short(a, len) == bytes_load_short(b, len);
    }
    if (len < 16) {
        return ((bytes_load64(a) ^ bytes_load64(b)) |
                (bytes_load64(a + len - 8) ^ bytes_load64(b + len - 8))) == 0;
    }
    if (len < BYTES_BLOCK) {
        return (bytes_half_equals(a, b) & bytes_half_equals(a + len - 16, b + len - 16)) ==
               BYTES_HALF_MASK;
    }
    size_t at = 0;
    for (; len - at > (size_t)2 * BYTES_BLOCK; at += (size_t)2 * BYTES_BLOCK) {
        if ((bytes_block_equals(a + at, b + at) &
             bytes_block_equals(a + at + BYTES_BLOCK, b + at + BYTES_BLOCK)) != UINT32_MAX) {
            return false;
        }
    }
    if (len - at > BYTES_BLOCK && bytes_block_equals(a + at, b + at) != UINT32_MAX) {
        return false;
    }
    return bytes_block_equals(a + len - BYTES_BLOCK, b + len - BYTES_BLOCK) == UINT32_MAX;
}

#endif
