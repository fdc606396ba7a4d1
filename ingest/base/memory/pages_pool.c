/* The range as pieces, each in one state, with its tag at its first and at its last page:
 *
 *     page     0  1  2  3  4  5  6  7  8 ...
 *     piece    [USED ] [KEPT    ] [FRESH       ...]
 *     tags     2U 2U    3K    3K   ...
 *
 * so that a piece is found from its address and from either neighbour. No two free pieces of one
 * state stand beside each other. An array may be laid over several free ones. */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* madvise, MAP_ANONYMOUS */
#endif

#include "ingest/base/memory/pages_pool.h"

#if defined(__linux__)

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The large pages of x86-64, and of ARM with pages of 4 KB. */
#define LARGE_PAGE_BYTES ((size_t)2 << 20)
/* A page of its own costs about as much as five that come in a large one. */
#define SMALL_TOUCH_COST 5

enum state {
    STATE_FRESH, /* no memory yet, or no longer */
    STATE_KEPT,  /* free, with memory */
    STATE_USED
};

/* Pages times four, and the state. */
typedef uint32_t tag_t;

struct pages_pool {
    char *base; /* of the first page; a multiple of the large ones */
    tag_t *tags;
    void *mapped;
    size_t mapped_bytes;
    size_t page_bytes;
    uint32_t page_count;
    uint32_t first_free; /* no free page before this one */
    uint32_t used_pages;
    uint32_t kept_pages;
    uint32_t peak_pages; /* most in use since pages are kept */
    bool keeps;
    pthread_mutex_t lock;
};

/* --- pieces --- */

static enum state state_of(tag_t tag)
{
    return (enum state)(tag & 3U);
}

static uint32_t pages_of(tag_t tag)
{
    return tag >> 2;
}

static void put_piece(struct pages_pool *pool, uint32_t begin, uint32_t end, enum state state)
{
    if (begin == end) {
        return;
    }
    tag_t tag = (end - begin) << 2 | (tag_t)state;
    pool->tags[begin] = tag;
    pool->tags[end - 1] = tag;
}

static void count_state(struct pages_pool *pool, enum state state, uint32_t pages, bool more)
{
    uint32_t change = more ? pages : 0U - pages;
    if (state == STATE_USED) {
        pool->used_pages += change;
    } else if (state == STATE_KEPT) {
        pool->kept_pages += change;
    }
}

/* Puts [begin, end) into a state; it lies within the one piece that begins at `piece`. Where the
 * piece that it is in then begins. */
static uint32_t
change_within(struct pages_pool *pool, uint32_t piece, uint32_t begin, uint32_t end, enum state to)
{
    enum state from = state_of(pool->tags[piece]);
    uint32_t piece_end = piece + pages_of(pool->tags[piece]);
    count_state(pool, from, end - begin, false);
    count_state(pool, to, end - begin, true);
    put_piece(pool, piece, begin, from);
    put_piece(pool, end, piece_end, from);
    if (to != STATE_USED) {
        if (begin > 0 && state_of(pool->tags[begin - 1]) == to) {
            begin -= pages_of(pool->tags[begin - 1]);
        }
        if (end < pool->page_count && state_of(pool->tags[end]) == to) {
            end += pages_of(pool->tags[end]);
        }
        if (begin < pool->first_free) {
            pool->first_free = begin;
        }
    }
    put_piece(pool, begin, end, to);
    return begin;
}

/* --- memory --- */

static uint32_t large_pages(const struct pages_pool *pool)
{
    size_t pages = LARGE_PAGE_BYTES / pool->page_bytes;
    return pages == 0 ? 1 : (uint32_t)pages;
}

/* Memory of [begin, end) goes, which is within the fresh piece that begins at `piece`. Large pages
 * of which all is fresh now are named as a whole: Linux then forgets that they were ever in small
 * ones, and gives a large one at the next touch. */
static void return_pages(struct pages_pool *pool, uint32_t piece, uint32_t begin, uint32_t end)
{
    uint32_t piece_end = piece + pages_of(pool->tags[piece]);
    uint32_t large = large_pages(pool);
    uint32_t large_begin = begin - begin % large;
    uint32_t large_end = end + (large - end % large) % large;
    begin = large_begin >= piece ? large_begin : begin;
    end = large_end <= piece_end ? large_end : end;
    (void)madvise(pool->base + begin * pool->page_bytes, (end - begin) * pool->page_bytes,
                  MADV_DONTNEED);
}

/* Gives up to `pages` free pages with memory back to the system, the last ones first. */
static void return_kept(struct pages_pool *pool, uint32_t pages)
{
    uint32_t end = pool->page_count;
    while (pages != 0 && pool->kept_pages != 0) {
        tag_t tag = pool->tags[end - 1];
        uint32_t begin = end - pages_of(tag);
        if (state_of(tag) == STATE_KEPT) {
            uint32_t count = end - begin < pages ? end - begin : pages;
            begin = change_within(pool, begin, end - count, end, STATE_FRESH);
            return_pages(pool, begin, end - count, end);
            pages -= count;
        }
        end = begin;
    }
}

/* Stages behind the largest one need less than it, and part of that is what they all stand on. What
 * they do not is better left to whatever else lives then. */
static void return_excess(struct pages_pool *pool)
{
    uint32_t most = pool->keeps ? pool->peak_pages / 4 : 0;
    if (pool->kept_pages > most) {
        return_kept(pool, pool->kept_pages - most);
    }
}

/* The first touch of a large page with nothing in it gives memory to all of it. */
static uint32_t end_of_touch(const struct pages_pool *pool, uint32_t fresh_begin, uint32_t end)
{
    uint32_t fresh_end = fresh_begin + pages_of(pool->tags[fresh_begin]);
    uint32_t large = large_pages(pool);
    if (end % large == 0) {
        return end;
    }
    uint32_t large_begin = end - end % large;
    bool is_empty = large_begin >= fresh_begin && fresh_end - large_begin >= large;
    return is_empty ? large_begin + large : end;
}

/* --- finding and taking --- */

/* What the first touch of the first pages of a free piece costs: nothing where there is memory. A
 * large page with nothing in it is one fault, and cheaper to clear. */
static uint64_t touch_cost(const struct pages_pool *pool, uint32_t piece, uint32_t pages)
{
    tag_t tag = pool->tags[piece];
    if (state_of(tag) == STATE_KEPT) {
        return 0;
    }
    uint32_t large = large_pages(pool);
    uint32_t end = piece + pages;
    uint32_t large_begin = (piece + large - 1) / large * large;
    uint32_t large_end = (piece + pages_of(tag)) / large * large;
    large_end = end < large_end ? end : large_end;
    uint32_t in_large = large_begin < large_end ? large_end - large_begin : 0;
    return (uint64_t)(pages - in_large) * SMALL_TOUCH_COST + in_large;
}

/* What `pages` free pages in a row from this piece on cost; UINT64_MAX where there are not as many,
 * or where it would be `most` or more. */
static uint64_t
run_cost(const struct pages_pool *pool, uint32_t piece, uint32_t pages, uint64_t most)
{
    uint64_t cost = 0;
    while (pages != 0) {
        bool fits = piece < pool->page_count && state_of(pool->tags[piece]) != STATE_USED;
        if (!fits || cost >= most) {
            return UINT64_MAX;
        }
        uint32_t piece_pages = pages_of(pool->tags[piece]);
        uint32_t part = piece_pages < pages ? piece_pages : pages;
        cost += touch_cost(pool, piece, part);
        pages -= part;
        piece += piece_pages;
    }
    return cost;
}

/* Where `pages` free pages in a row cost least, the first such place; page_count where there are
 * none. */
static uint32_t find_run(const struct pages_pool *pool, uint32_t pages)
{
    uint32_t best = pool->page_count;
    uint64_t best_cost = UINT64_MAX;
    for (uint32_t at = pool->first_free; at < pool->page_count && best_cost != 0;
         at += pages_of(pool->tags[at])) {
        uint64_t cost = run_cost(pool, at, pages, best_cost);
        if (cost < best_cost) {
            best = at;
            best_cost = cost;
        }
    }
    return best;
}

/* Free pages [begin, end) become one piece in use. True when all of them were fresh. */
static bool take(struct pages_pool *pool, uint32_t begin, uint32_t end)
{
    uint32_t fresh = 0;
    uint32_t touch_end = end;
    for (uint32_t at = begin; at < end;) {
        uint32_t piece_end = at + pages_of(pool->tags[at]);
        uint32_t part_end = piece_end < end ? piece_end : end;
        if (state_of(pool->tags[at]) == STATE_FRESH) {
            fresh += part_end - at;
            touch_end = piece_end > end ? end_of_touch(pool, at, end) : end;
        }
        (void)change_within(pool, at, at, part_end, STATE_USED);
        at = part_end;
    }
    put_piece(pool, begin, end, STATE_USED);
    if (begin == pool->first_free) {
        pool->first_free = end;
    }
    if (pool->used_pages > pool->peak_pages) {
        pool->peak_pages = pool->used_pages;
    }
    if (fresh != 0) {
        return_kept(pool, fresh + (touch_end - end));
        if (touch_end != end) {
            (void)change_within(pool, end, end, touch_end, STATE_KEPT);
        }
    }
    return fresh == end - begin;
}

static uint32_t pages_for(const struct pages_pool *pool, size_t size_bytes)
{
    size_t pages = size_bytes / pool->page_bytes + (size_bytes % pool->page_bytes != 0);
    if (pages > pool->page_count) {
        return UINT32_MAX;
    }
    return pages == 0 ? 1 : (uint32_t)pages;
}

static uint32_t page_of(const struct pages_pool *pool, const void *array)
{
    return (uint32_t)((size_t)((const char *)array - pool->base) / pool->page_bytes);
}

void *pages_pool_alloc(struct pages_pool *pool, size_t size_bytes, bool *is_zero)
{
    uint32_t pages = pages_for(pool, size_bytes);
    (void)pthread_mutex_lock(&pool->lock);
    uint32_t begin = find_run(pool, pages);
    bool found = begin != pool->page_count;
    *is_zero = found && take(pool, begin, begin + pages);
    (void)pthread_mutex_unlock(&pool->lock);
    return found ? pool->base + begin * pool->page_bytes : NULL;
}

/* Free pages from `begin` on, however many pieces they are. */
static bool is_free(const struct pages_pool *pool, uint32_t begin, uint32_t pages)
{
    uint32_t free_pages = 0;
    while (free_pages < pages && begin + free_pages < pool->page_count &&
           state_of(pool->tags[begin + free_pages]) != STATE_USED) {
        free_pages += pages_of(pool->tags[begin + free_pages]);
    }
    return free_pages >= pages;
}

bool pages_pool_resize(struct pages_pool *pool, void *array, size_t size_bytes)
{
    uint32_t pages = pages_for(pool, size_bytes);
    uint32_t begin = page_of(pool, array);
    (void)pthread_mutex_lock(&pool->lock);
    uint32_t old_pages = pages_of(pool->tags[begin]);
    bool ok = true;
    if (pages < old_pages) {
        (void)change_within(pool, begin, begin + pages, begin + old_pages, STATE_KEPT);
        return_excess(pool);
    } else if (pages > old_pages) {
        ok = is_free(pool, begin + old_pages, pages - old_pages);
        if (ok) {
            (void)take(pool, begin + old_pages, begin + pages);
            put_piece(pool, begin, begin + pages, STATE_USED);
        }
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return ok;
}

size_t pages_pool_size(struct pages_pool *pool, const void *array)
{
    (void)pthread_mutex_lock(&pool->lock);
    size_t pages = pages_of(pool->tags[page_of(pool, array)]);
    (void)pthread_mutex_unlock(&pool->lock);
    return pages * pool->page_bytes;
}

void pages_pool_free(struct pages_pool *pool, void *array)
{
    uint32_t begin = page_of(pool, array);
    (void)pthread_mutex_lock(&pool->lock);
    (void)change_within(pool, begin, begin, begin + pages_of(pool->tags[begin]), STATE_KEPT);
    return_excess(pool);
    (void)pthread_mutex_unlock(&pool->lock);
}

void pages_pool_keep(struct pages_pool *pool, bool keeps)
{
    (void)pthread_mutex_lock(&pool->lock);
    pool->keeps = keeps;
    pool->peak_pages =
        keeps && pool->peak_pages > pool->used_pages ? pool->peak_pages : pool->used_pages;
    return_excess(pool);
    (void)pthread_mutex_unlock(&pool->lock);
}

struct pages_pool_use pages_pool_use(struct pages_pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    const struct pages_pool_use use = {.used_bytes = pool->used_pages * pool->page_bytes,
                                       .kept_bytes = pool->kept_pages * pool->page_bytes};
    (void)pthread_mutex_unlock(&pool->lock);
    return use;
}

bool pages_pool_owns(const struct pages_pool *pool, const void *array)
{
    uintptr_t offset = (uintptr_t)array - (uintptr_t)pool->base;
    return offset < pool->page_count * pool->page_bytes;
}

/* --- life --- */

/* The range, with what its begin may need to stand at a large page, and the tags behind it. */
static bool map_range(struct pages_pool *pool)
{
    size_t range_bytes = pool->page_count * pool->page_bytes;
    pool->mapped_bytes = LARGE_PAGE_BYTES + range_bytes + pool->page_count * sizeof(tag_t);
    pool->mapped = mmap(NULL, pool->mapped_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool->mapped == MAP_FAILED) {
        return false;
    }
    size_t beyond = (uintptr_t)pool->mapped % LARGE_PAGE_BYTES;
    pool->base = (char *)pool->mapped + (beyond == 0 ? 0 : LARGE_PAGE_BYTES - beyond);
    void *tags = pool->base + range_bytes;
    pool->tags = tags;
#if defined(MADV_HUGEPAGE)
    (void)madvise(pool->base, range_bytes, MADV_HUGEPAGE);
#endif
    put_piece(pool, 0, pool->page_count, STATE_FRESH);
    return true;
}

struct pages_pool *pages_pool_create(size_t range_bytes)
{
    long page_bytes = sysconf(_SC_PAGESIZE);
    struct pages_pool *pool = calloc(1, sizeof *pool);
    if (page_bytes <= 0 || pool == NULL) {
        free(pool);
        return NULL;
    }
    pool->page_bytes = (size_t)page_bytes;
    size_t most_pages = UINT32_MAX >> 2;
    size_t pages = range_bytes / pool->page_bytes;
    pool->page_count = (uint32_t)(pages < most_pages ? pages : most_pages);
    if (pool->page_count == 0 || !map_range(pool)) {
        free(pool);
        return NULL;
    }
    if (pthread_mutex_init(&pool->lock, NULL) != 0) {
        (void)munmap(pool->mapped, pool->mapped_bytes);
        free(pool);
        return NULL;
    }
    return pool;
}

void pages_pool_destroy(struct pages_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    (void)pthread_mutex_destroy(&pool->lock);
    (void)munmap(pool->mapped, pool->mapped_bytes);
    free(pool);
}

#endif
