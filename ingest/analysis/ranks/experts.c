/* Who sends how much to whom in all-to-alls [RANK-1m]. */
#include "ingest/analysis/ranks/run_internal.h"
#include "ingest/base/memory/scratch.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* Peers looked at for one rank: what a real trace needs is far below. */
#define PEERS_MAX ((uint64_t)1 << 27)

/* A list of numbers from a text; `numbers` NULL: none, or unparsable. */
struct list {
    int64_t *numbers;
    size_t count;
    bool is_good;
};

struct sending {
    struct ranks_run *run;
    const struct rank_digest *digest;
    struct list *lists; /* by text of the digest; made when asked for */
    bool *has_list;
    int64_t *to; /* the rank's row of the matrix */
    uint64_t peers;
};

/* `[1, 2,3]`, whose bracket stands there; empty places between commas do not count. */
static bool read_list(const char *text, struct list *list)
{
    size_t cap = 0;
    *list = (struct list){.numbers = NULL};
    text++;
    while (*text != ']' && *text != '\0') {
        char *end = NULL;
        if (*text == ',' || isspace((unsigned char)*text) != 0) {
            text++;
            continue;
        }
        errno = 0;
        long long number = strtoll(text, &end, 10);
        if (end == text || errno != 0 || (*end != ',' && *end != ']')) {
            return true;
        }
        int64_t *numbers = scratch_grow(list->numbers, list->count, &cap, sizeof *numbers);
        if (numbers == NULL) {
            return false;
        }
        list->numbers = numbers;
        numbers[list->count++] = number;
        text = end;
    }
    list->is_good = *text == ']' && text[1] == '\0';
    return true;
}

static const struct list *list_of(struct sending *s, uint32_t text)
{
    if (!s->has_list[text]) {
        const char *at = s->digest->texts[text];
        s->has_list[text] = true;
        if (*at == '[' && !read_list(at, &s->lists[text])) {
            return NULL;
        }
    }
    return &s->lists[text];
}

/* floor(bytes x part / whole) bit by bit, so that no product overflows; part <= whole. */
static int64_t share_of(int64_t bytes, int64_t part, int64_t whole)
{
    const uint64_t by = (uint64_t)whole;
    uint64_t quotient = 0;
    uint64_t rest = 0;
    if (part == 0 || bytes <= INT64_MAX / part) {
        return bytes * part / whole;
    }
    for (int bit = 62; bit >= 0; bit--) {
        rest = rest << 1;
        quotient = quotient << 1 | (rest >= by);
        rest -= rest >= by ? by : 0;
        if (((uint64_t)bytes >> bit & 1) != 0) {
            rest += (uint64_t)part;
            quotient += rest >= by;
            rest -= rest >= by ? by : 0;
        }
    }
    return (int64_t)quotient;
}

static void add_share(struct sending *s, size_t peer, int64_t bytes)
{
    s->to[peer] = saturating_add(s->to[peer], bytes);
}

/* A negative split, or a sum beyond 64 bits, is none. */
static bool sum_of(const struct list *split, int64_t *sum)
{
    *sum = 0;
    for (size_t i = 0; i < split->count; i++) {
        if (split->numbers[i] < 0 || *sum > INT64_MAX - split->numbers[i]) {
            return false;
        }
        *sum += split->numbers[i];
    }
    return true;
}

static void send_parts(struct sending *s,
                       const struct rank_collective *item,
                       const struct list *split,
                       const struct list *peers)
{
    const struct ranks_run *run = s->run;
    size_t peer_count = peers == NULL ? run->member_count : peers->count;
    int64_t sum = (int64_t)peer_count;
    bool is_even = split->count == 0;
    if ((!is_even && (split->count != peer_count || !sum_of(split, &sum))) || sum == 0 ||
        item->in_bytes < 0) {
        return;
    }
    s->peers += peer_count;
    for (size_t k = 0; k < peer_count && s->peers <= PEERS_MAX; k++) {
        int64_t bytes = share_of(item->in_bytes, is_even ? 1 : split->numbers[k], sum);
        const struct id_slot *slot =
            peers == NULL ? NULL : id_map_find(&run->member_of_rank, peers->numbers[k]);
        if (peers == NULL || slot != NULL) {
            add_share(s, peers == NULL ? k : slot->value, bytes);
        }
    }
}

static bool send_one(struct sending *s, const struct rank_collective *item)
{
    const struct list *split = list_of(s, item->in_split);
    const struct list *peers = NULL;
    if (split != NULL && item->group_ranks != RANK_NO_TEXT) {
        peers = list_of(s, item->group_ranks);
        if (peers == NULL || !peers->is_good) {
            return peers != NULL;
        }
    }
    if (split != NULL && split->is_good) {
        send_parts(s, item, split, peers);
    }
    return split != NULL;
}

static bool carries_split(const struct rank_collective *item)
{
    return item->kind == RANK_ALL_TO_ALL && item->in_split != RANK_NO_TEXT;
}

static bool make_matrix(struct ranks_run *run)
{
    if (run->sent_bytes == NULL) {
        run->sent_bytes =
            scratch_calloc(run->member_count * run->member_count, sizeof *run->sent_bytes);
    }
    return run->sent_bytes != NULL;
}

bool ranks_add_experts(struct ranks_run *run, size_t member, const struct rank_digest *digest)
{
    struct sending s = {.run = run, .digest = digest};
    bool ok = true;
    for (uint32_t i = 0; ok && i < digest->collective_count; i++) {
        if (!carries_split(&digest->collectives[i])) {
            continue;
        }
        if (s.lists == NULL) {
            s.lists = scratch_calloc(digest->text_count, sizeof *s.lists);
            s.has_list = scratch_calloc(digest->text_count, sizeof *s.has_list);
            ok = s.lists != NULL && s.has_list != NULL && make_matrix(run);
            s.to = ok ? run->sent_bytes + member * run->member_count : NULL;
        }
        ok = ok && send_one(&s, &digest->collectives[i]);
    }
    for (uint32_t i = 0; s.lists != NULL && i < digest->text_count; i++) {
        scratch_free(s.lists[i].numbers);
    }
    SCRATCH_FREE(s.lists, s.has_list);
    return ok;
}
