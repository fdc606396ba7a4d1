/* One block of memory an answer; a table of chains finds them, a list has them in order of use.
 * Who sends an answer holds it: it is freed when the last one gives it back. */
#include "server/http/response_cache.h"

#include "ingest/base/containers/fnv.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Views are some kilobytes: at 16 MB there are a few thousand. */
#define CHAINS 1024U
#define SHARE_OF_ONE 16U

struct entry {
    struct cached_response answer; /* first: a pointer to it is one to the entry */
    struct entry *next;            /* of its chain */
    struct entry *newer;           /* in order of use */
    struct entry *older;
    uint64_t hash;
    size_t bytes;
    size_t key_len;
    unsigned holders; /* those who send it, and the table while it is in it */
    char text[];      /* key, etag, lines, content */
};

struct response_cache {
    uint64_t max_bytes;
    uint64_t hash_seed;   /* so that nobody can ask for a thousand URLs of one chain */
    pthread_mutex_t lock; /* guards what follows */
    uint64_t version;
    uint64_t bytes;
    struct entry *newest;
    struct entry *oldest;
    struct entry *chains[CHAINS];
};

/* ---- keys ---- */

/* The parts with a NUL behind each, so that no two keys are the same text. */
struct key_text {
    const char *parts[3];
    size_t lens[3];
    char gzipped;
    size_t len;
    uint64_t hash;
};

static struct key_text text_of(const struct response_cache *cache,
                               const struct response_cache_key *key)
{
    struct key_text text = {.parts = {key->reader, key->path, key->query},
                            .gzipped = key->gzipped ? 'z' : '-',
                            .len = 1,
                            .hash = cache->hash_seed};
    for (size_t i = 0; i < 3; i++) {
        text.lens[i] = strlen(text.parts[i]) + 1;
        text.len += text.lens[i];
        text.hash = fnv_add(text.hash, text.parts[i], text.lens[i]);
    }
    text.hash = fnv_add(text.hash, &text.gzipped, 1);
    return text;
}

static char *write_key(char *out, const struct key_text *key)
{
    for (size_t i = 0; i < 3; i++) {
        memcpy(out, key->parts[i], key->lens[i]);
        out += key->lens[i];
    }
    *out = key->gzipped;
    return out + 1;
}

static bool is_key(const struct entry *entry, const struct key_text *key)
{
    if (entry->hash != key->hash || entry->key_len != key->len) {
        return false;
    }
    const char *at = entry->text;
    for (size_t i = 0; i < 3; i++) {
        if (memcmp(at, key->parts[i], key->lens[i]) != 0) {
            return false;
        }
        at += key->lens[i];
    }
    return *at == key->gzipped;
}

/* ---- entries; the lock is held ---- */

static struct entry **chain_of(struct response_cache *cache, uint64_t hash)
{
    return &cache->chains[hash % CHAINS];
}

static struct entry *find(struct response_cache *cache, const struct key_text *key)
{
    struct entry *entry = *chain_of(cache, key->hash);
    while (entry != NULL && !is_key(entry, key)) {
        entry = entry->next;
    }
    return entry;
}

static void leave_order(struct response_cache *cache, struct entry *entry)
{
    *(entry->newer == NULL ? &cache->newest : &entry->newer->older) = entry->older;
    *(entry->older == NULL ? &cache->oldest : &entry->older->newer) = entry->newer;
}

static void become_newest(struct response_cache *cache, struct entry *entry)
{
    entry->newer = NULL;
    entry->older = cache->newest;
    *(cache->newest == NULL ? &cache->oldest : &cache->newest->newer) = entry;
    cache->newest = entry;
}

static void release(struct entry *entry)
{
    if (--entry->holders == 0) {
        free(entry);
    }
}

static void drop(struct response_cache *cache, struct entry *entry)
{
    struct entry **link = chain_of(cache, entry->hash);
    while (*link != entry) {
        link = &(*link)->next;
    }
    *link = entry->next;
    leave_order(cache, entry);
    cache->bytes -= entry->bytes;
    release(entry);
}

static void add(struct response_cache *cache, struct entry *entry)
{
    struct entry **chain = chain_of(cache, entry->hash);
    entry->next = *chain;
    *chain = entry;
    become_newest(cache, entry);
    cache->bytes += entry->bytes;
    while (cache->bytes > cache->max_bytes) {
        drop(cache, cache->oldest);
    }
}

/* ---- answers ---- */

const struct cached_response *response_cache_acquire(struct response_cache *cache,
                                                     const struct response_cache_key *key,
                                                     uint64_t version)
{
    struct key_text text = text_of(cache, key);
    (void)pthread_mutex_lock(&cache->lock);
    struct entry *entry = cache->version == version ? find(cache, &text) : NULL;
    if (entry != NULL) {
        entry->holders++;
        leave_order(cache, entry);
        become_newest(cache, entry);
    }
    (void)pthread_mutex_unlock(&cache->lock);
    return entry == NULL ? NULL : &entry->answer;
}

void response_cache_release(struct response_cache *cache, const struct cached_response *answer)
{
    struct entry *entry = (struct entry *)(uintptr_t)answer;
    (void)pthread_mutex_lock(&cache->lock);
    release(entry);
    (void)pthread_mutex_unlock(&cache->lock);
}

static struct entry *copy_of(const struct key_text *key, const struct cached_response *answer)
{
    size_t etag_len = strlen(answer->etag) + 1;
    size_t bytes = sizeof(struct entry) + key->len + etag_len + answer->lines_len + answer->len;
    struct entry *entry = malloc(bytes);
    if (entry == NULL) {
        return NULL;
    }
    *entry = (struct entry){
        .answer = *answer, .hash = key->hash, .bytes = bytes, .key_len = key->len, .holders = 1};
    char *etag = write_key(entry->text, key);
    char *lines = etag + etag_len;
    char *content = lines + answer->lines_len;
    memcpy(etag, answer->etag, etag_len);
    memcpy(lines, answer->lines, answer->lines_len);
    memcpy(content, answer->bytes, answer->len);
    entry->answer.etag = etag;
    entry->answer.lines = lines;
    entry->answer.bytes = content;
    return entry;
}

static void drop_all(struct response_cache *cache)
{
    struct entry *entry = cache->oldest;
    while (entry != NULL) {
        struct entry *newer = entry->newer;
        drop(cache, entry);
        entry = newer;
    }
}

void response_cache_put(struct response_cache *cache,
                        const struct response_cache_key *key,
                        uint64_t version,
                        const struct cached_response *answer)
{
    struct key_text text = text_of(cache, key);
    bool fits = answer->len <= cache->max_bytes / SHARE_OF_ONE;
    struct entry *entry = fits ? copy_of(&text, answer) : NULL;
    if (entry == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&cache->lock);
    if (version > cache->version) {
        drop_all(cache);
        cache->version = version;
    }
    bool is_wanted = version == cache->version && find(cache, &text) == NULL;
    if (is_wanted) {
        add(cache, entry);
    }
    (void)pthread_mutex_unlock(&cache->lock);
    if (!is_wanted) {
        free(entry);
    }
}

uint64_t response_cache_bytes(struct response_cache *cache)
{
    (void)pthread_mutex_lock(&cache->lock);
    uint64_t bytes = cache->bytes;
    (void)pthread_mutex_unlock(&cache->lock);
    return bytes;
}

/* ---- life ---- */

bool response_cache_create(struct response_cache **out, uint64_t max_bytes, struct err *err)
{
    struct response_cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL || pthread_mutex_init(&cache->lock, NULL) != 0) {
        free(cache);
        return err_set(err, ERR_NO_MEMORY, "No memory to keep answers");
    }
    cache->max_bytes = max_bytes;
    /* Without a random number it is an easier hash, and nothing else. */
    (void)!getrandom(&cache->hash_seed, sizeof cache->hash_seed, GRND_NONBLOCK);
    *out = cache;
    return true;
}

void response_cache_free(struct response_cache *cache)
{
    if (cache != NULL) {
        drop_all(cache);
        (void)pthread_mutex_destroy(&cache->lock);
        free(cache);
    }
}
