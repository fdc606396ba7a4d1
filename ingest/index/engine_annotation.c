#include "ingest/index/engine_annotation.h"

#include "ingest/base/saturating.h"
#include "ingest/base/text/affix.h"

#include <string.h>

/* ---- pieces of a form ---- */

/* Each takes what it knows from the front of *at, or leaves it. */
static bool take(const char **at, const char *text)
{
    size_t len = strlen(text);
    if (strncmp(*at, text, len) != 0) {
        return false;
    }
    *at += len;
    return true;
}

static bool take_number(const char **at, int64_t *out)
{
    if (!text_is_digit(**at)) {
        return false;
    }
    *out = 0;
    for (; text_is_digit(**at); (*at)++) {
        int64_t digit = **at - '0';
        *out = *out > (INT64_MAX - digit) / 10 ? INT64_MAX : *out * 10 + digit;
    }
    return true;
}

static const struct engine_side no_side = {0, 0, 0, 0, 0};
static const struct engine_side plain_side = {0, 0, ENGINE_UNKNOWN, ENGINE_UNKNOWN, ENGINE_UNKNOWN};

/* ---- vLLM ---- */

static bool take_sums(const char **at, struct engine_side *side)
{
    return take(at, "(sq") && take_number(at, &side->tokens) && take(at, "sk") &&
           take_number(at, &side->kv) && take(at, "sqsq") && take_number(at, &side->sqsq) &&
           take(at, "sqsk") && take_number(at, &side->sqsk) && take(at, ")");
}

static bool read_vllm_detailed(const char *at, struct engine_annotation *out)
{
    int64_t requests = 0;
    out->engine = ENGINE_VLLM;
    out->is_detailed = true;
    out->context = no_side;
    out->generation = no_side;
    return take(&at, "execute_") && take_number(&at, &requests) && take(&at, "_context_") &&
           take_number(&at, &out->context.requests) && take_sums(&at, &out->context) &&
           take(&at, "_generation_") && take_number(&at, &out->generation.requests) &&
           take_sums(&at, &out->generation);
}

static bool take_tokens(const char **at, struct engine_side *side)
{
    return take_number(at, &side->requests) && take(at, "(") && take_number(at, &side->tokens) &&
           take(at, ")");
}

static bool read_vllm(const char *at, struct engine_annotation *out)
{
    out->engine = ENGINE_VLLM;
    out->is_detailed = false;
    out->context = plain_side;
    out->generation = plain_side;
    return take(&at, "execute_context_") && take_tokens(&at, &out->context) &&
           take(&at, "_generation_") && take_tokens(&at, &out->generation);
}

/* ---- words between brackets: SGLang and ATOM ---- */

enum key {
    KEY_BS,
    KEY_TOKS,
    KEY_C,
    KEY_G,
    KEY_C_SQ,
    KEY_C_SK,
    KEY_C_SQSQ,
    KEY_C_SQSK,
    KEY_G_SQ,
    KEY_G_SK,
    KEY_G_SQSQ,
    KEY_G_SQSK,
    KEY_TOK,
    KEY_SK,
    KEY_SQSQ,
    KEY_SQSK,
    KEY_COUNT
};

static const char *const key_names[KEY_COUNT] = {
    "bs",   "toks", "c",      "g",      "c_sq", "c_sk", "c_sqsq", "c_sqsk",
    "g_sq", "g_sk", "g_sqsq", "g_sqsk", "tok",  "sk",   "sqsq",   "sqsk",
};

struct words {
    int64_t value[KEY_COUNT]; /* ENGINE_UNKNOWN: not there */
    int64_t padded_batch;     /* of `bs=117/128` */
};

static bool find_key(const char *word, size_t len, enum key *out)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        if (strlen(key_names[i]) == len && memcmp(key_names[i], word, len) == 0) {
            *out = (enum key)i;
            return true;
        }
    }
    return false;
}

/* `key=digits`, of bs also `key=digits/digits`; every other word counts for nothing. */
static void read_word(const char *word, const char *end, struct words *words)
{
    const char *equals = memchr(word, '=', (size_t)(end - word));
    enum key key = KEY_COUNT;
    int64_t value = 0;
    int64_t padded = ENGINE_UNKNOWN;
    if (equals == NULL || !find_key(word, (size_t)(equals - word), &key)) {
        return;
    }
    const char *at = equals + 1;
    if (!take_number(&at, &value)) {
        return;
    }
    if (key == KEY_BS && at < end && take(&at, "/") && !take_number(&at, &padded)) {
        return;
    }
    if (at == end) {
        words->value[key] = value;
        words->padded_batch = key == KEY_BS ? padded : words->padded_batch;
    }
}

/* Up to the last bracket. */
static bool read_words(const char *at, struct words *words)
{
    const char *end = strrchr(at, ']');
    for (int i = 0; i < KEY_COUNT; i++) {
        words->value[i] = ENGINE_UNKNOWN;
    }
    words->padded_batch = ENGINE_UNKNOWN;
    while (end != NULL && at < end) {
        const char *blank = memchr(at, ' ', (size_t)(end - at));
        const char *word_end = blank == NULL ? end : blank;
        read_word(at, word_end, words);
        at = word_end + (blank != NULL);
    }
    return end != NULL;
}

static int64_t value_or(const struct words *words, enum key key, int64_t otherwise)
{
    return words->value[key] == ENGINE_UNKNOWN ? otherwise : words->value[key];
}

static void fill_sglang_side(struct engine_side *side, const struct words *words, enum key first)
{
    side->tokens = value_or(words, first, 0);
    side->kv = value_or(words, first + 1, 0);
    side->sqsq = value_or(words, first + 2, 0);
    side->sqsk = value_or(words, first + 3, 0);
}

/* `kind` is DECODE or EXTEND where it is not MIXED. */
static void
fill_sglang(struct engine_annotation *out, const struct words *words, bool is_decode, bool is_mixed)
{
    int64_t batch = value_or(words, KEY_BS, 0);
    struct engine_side *side = is_decode ? &out->generation : &out->context;
    out->is_detailed =
        words->value[KEY_C_SQSQ] != ENGINE_UNKNOWN || words->value[KEY_G_SQSQ] != ENGINE_UNKNOWN;
    out->context = out->is_detailed ? no_side : plain_side;
    out->generation = out->context;
    if (!out->is_detailed) {
        side->requests = batch;
        side->tokens = is_decode ? batch : words->value[KEY_TOKS];
        return;
    }
    fill_sglang_side(&out->context, words, KEY_C_SQ);
    fill_sglang_side(&out->generation, words, KEY_G_SQ);
    if (is_mixed) {
        out->context.requests = value_or(words, KEY_C, 0);
        out->generation.requests = value_or(words, KEY_G, 0);
    } else {
        side->requests = batch;
    }
}

static bool read_sglang(const char *at, struct engine_annotation *out, bool *is_mixed)
{
    struct words words;
    if (!take(&at, "step[")) {
        return false;
    }
    bool is_decode = take(&at, "DECODE");
    *is_mixed = !is_decode && take(&at, "MIXED");
    if (!is_decode && !*is_mixed && !take(&at, "EXTEND")) {
        return false;
    }
    if ((*at != ' ' && *at != ']') || !read_words(at, &words)) {
        return false;
    }
    out->engine = ENGINE_SGLANG;
    fill_sglang(out, &words, is_decode, *is_mixed);
    return true;
}

static bool read_atom(const char *at, struct engine_annotation *out)
{
    struct words words;
    bool is_decode = take(&at, "decode[");
    if ((!is_decode && !take(&at, "prefill[")) || !read_words(at, &words)) {
        return false;
    }
    bool is_detailed =
        words.value[KEY_SQSQ] != ENGINE_UNKNOWN && words.value[KEY_SQSK] != ENGINE_UNKNOWN;
    struct engine_side *side = is_decode ? &out->generation : &out->context;
    out->engine = ENGINE_ATOM;
    out->is_detailed = is_detailed;
    out->padded_batch = words.padded_batch;
    out->context = is_detailed ? no_side : plain_side;
    out->generation = out->context;
    side->requests = value_or(&words, KEY_BS, 0);
    side->tokens = value_or(&words, KEY_TOK, is_detailed ? 0 : ENGINE_UNKNOWN);
    if (is_detailed) {
        side->kv = value_or(&words, KEY_SK, 0);
        side->sqsq = words.value[KEY_SQSQ];
        side->sqsk = words.value[KEY_SQSK];
    }
    return true;
}

/* ---- diffusion ---- */

static bool read_diffusion(const char *at, struct engine_annotation *out)
{
    out->engine = ENGINE_DIFFUSION;
    out->is_detailed = false;
    out->context = plain_side;
    out->generation = plain_side;
    return take(&at, "execute_diffusion_") && take_number(&at, &out->requests) && take(&at, "_") &&
           take_number(&at, &out->width) && take(&at, "x") && take_number(&at, &out->height);
}

/* ---- all ---- */

static enum engine_phase phase_of(const struct engine_annotation *step, bool is_mixed)
{
    bool reads = step->context.requests > 0;
    bool writes = step->generation.requests > 0;
    return is_mixed || (reads && writes) ? ENGINE_MIXED
           : reads                       ? ENGINE_PREFILL
           : writes                      ? ENGINE_DECODE
                                         : ENGINE_IDLE;
}

static void add_up(struct engine_annotation *out, bool is_mixed)
{
    const struct engine_side *c = &out->context;
    const struct engine_side *g = &out->generation;
    bool is_known = c->tokens != ENGINE_UNKNOWN && g->tokens != ENGINE_UNKNOWN;
    out->phase = phase_of(out, is_mixed);
    out->requests = saturating_add(c->requests, g->requests);
    out->tokens = is_known ? saturating_add(c->tokens, g->tokens) : ENGINE_UNKNOWN;
    if (out->is_detailed) {
        int64_t pairs = saturating_sub(saturating_add(c->sqsk, c->sqsk), c->sqsq);
        out->attention_pairs = saturating_add(pairs, saturating_add(g->sqsk, g->sqsk));
    }
}

bool engine_annotation_read(const char *name, struct engine_annotation *out)
{
    bool is_mixed = false;
    *out = (struct engine_annotation){.tokens = ENGINE_UNKNOWN,
                                      .attention_pairs = ENGINE_UNKNOWN,
                                      .padded_batch = ENGINE_UNKNOWN,
                                      .width = ENGINE_UNKNOWN,
                                      .height = ENGINE_UNKNOWN};
    if (read_diffusion(name, out)) {
        out->phase = ENGINE_DENOISING;
        return true;
    }
    out->width = ENGINE_UNKNOWN;
    if (!read_vllm_detailed(name, out) && !read_vllm(name, out) &&
        !read_sglang(name, out, &is_mixed) && !read_atom(name, out)) {
        return false;
    }
    add_up(out, is_mixed);
    return true;
}

const char *engine_text(enum engine engine)
{
    static const char *const texts[ENGINE_COUNT] = {"vllm", "sglang", "atom", "diffusion"};
    return texts[engine];
}

const char *engine_phase_text(enum engine_phase phase)
{
    static const char *const texts[ENGINE_PHASE_COUNT] = {"prefill", "decode", "mixed", "idle",
                                                          "diffusion"};
    return texts[phase];
}
