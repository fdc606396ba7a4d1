/* One block of memory an answer; a table of chains finds them, a list has them in order of use.
 * Who sends an answer holds it: it is freed when the last one gives it back. */
#include "server/http/kept.h"

#include "ingest/base/containers/fnv.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Views are some kilobytes: at 16 MB there are a few thousand. */
#define CHAINS 1024U
#define SHARE_OF_ONE 16U

struct entry {
    struct kept_answer answer; /* first: a pointer to it is one to the entry */
    struct entry *next;        /* of its chain */
    struct entry *newer;       /* in order of use */
    struct entry *older;
    uint64_t hash;
    size_t bytes;
    size_t key_len;
    unsigned holders; /* those who send it, and the table while it is in it */
    char text[];      /* key, etag, lines, content */
};

struct kept {
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
    char packed;
    size_t len;
    uint64_t hash;
};

static struct key_text text_of(const struct kept *kept, const struct kept_key *key)
{
    struct key_text text = {.parts = {key->reader, key->path, key->query},
                            .packed = key->packed ? 'z' : '-',
                            .len = 1,
                            .hash = kept->hash_seed};
    for (size_t i = 0; i < 3; i++) {
        text.lens[i] = strlen(text.parts[i]) + 1;
        text.len += text.lens[i];
        text.hash = fnv_add(text.hash, text.parts[i], text.lens[i]);
    }
    text.hash = fnv_add(text.hash, &text.packed, 1);
    return text;
}

static char *write_key(char *out, const struct key_text *key)
{
    for (size_t i = 0; i < 3; i++) {
        memcpy(out, key->parts[i], key->lens[i]);
        out += key->lens[i];
    }
    *out = key->packed;
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
    return *at == key->packed;
}

/* ---- entries; the lock is held ---- */

static struct entry **chain_of(struct kept *kept, uint64_t hash)
{
    return &kept->chains[hash % CHAINS];
}

static struct entry *find(struct kept *kept, const struct key_text *key)
{
    struct entry *entry = *chain_of(kept, key->hash);
    while (entry != NULL && !is_key(entry, key)) {
        entry = entry->next;
    }
    return entry;
}

static void leave_order(struct kept *kept, struct entry *entry)
{
    *(entry->newer == NULL ? &kept->newest : &entry->newer->older) = entry->older;
    *(entry->older == NULL ? &kept->oldest : &entry->older->newer) = entry->newer;
}

static void become_newest(struct kept *kept, struct entry *entry)
{
    entry->newer = NULL;
    entry->older = kept->newest;
    *(kept->newest == NULL ? &kept->oldest : &kept->newest->newer) = entry;
    kept->newest = entry;
}

static void let_go(struct entry *entry)
{
    if (--entry->holders == 0) {
        free(entry);
    }
}

static void drop(struct kept *kept, struct entry *entry)
{
    struct entry **link = chain_of(kept, entry->hash);
    while (*link != entry) {
        link = &(*link)->next;
    }
    *link = entry->next;
    leave_order(kept, entry);
    kept->bytes -= entry->bytes;
    let_go(entry);
}

static void add(struct kept *kept, struct entry *entry)
{
    struct entry **chain = chain_of(kept, entry->hash);
    entry->next = *chain;
    *chain = entry;
    become_newest(kept, entry);
    kept->bytes += entry->bytes;
    while (kept->bytes > kept->max_bytes) {
        drop(kept, kept->oldest);
    }
}

/* ---- answers ---- */

const struct kept_answer *kept_take(struct kept *kept, const struct kept_key *key, uint64_t version)
{
    struct key_text text = text_of(kept, key);
    (void)pthread_mutex_lock(&kept->lock);
    struct entry *entry = kept->version == version ? find(kept, &text) : NULL;
    if (entry != NULL) {
        entry->holders++;
        leave_order(kept, entry);
        become_newest(kept, entry);
    }
    (void)pthread_mutex_unlock(&kept->lock);
    return entry == NULL ? NULL : &entry->answer;
}

void kept_give_back(struct kept *kept, const struct kept_answer *answer)
{
    struct entry *entry = (struct entry *)(uintptr_t)answer;
    (void)pthread_mutex_lock(&kept->lock);
    let_go(entry);
    (void)pthread_mutex_unlock(&kept->lock);
}

static struct entry *copy_of(const struct key_text *key, const struct kept_answer *answer)
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

static void drop_all(struct kept *kept)
{
    struct entry *entry = kept->oldest;
    while (entry != NULL) {
        struct entry *newer = entry->newer;
        drop(kept, entry);
        entry = newer;
    }
}

void kept_put(struct kept *kept,
              const struct kept_key *key,
              uint64_t version,
              const struct kept_answer *answer)
{
    struct key_text text = text_of(kept, key);
    bool fits = answer->len <= kept->max_bytes / SHARE_OF_ONE;
    struct entry *entry = fits ? copy_of(&text, answer) : NULL;
    if (entry == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&kept->lock);
    if (version > kept->version) {
        drop_all(kept);
        kept->version = version;
    }
    bool is_wanted = version == kept->version && find(kept, &text) == NULL;
    if (is_wanted) {
        add(kept, entry);
    }
    (void)pthread_mutex_unlock(&kept->lock);
    if (!is_wanted) {
        free(entry);
    }
}

uint64_t kept_bytes(struct kept *kept)
{
    (void)pthread_mutex_lock(&kept->lock);
    uint64_t bytes = kept->bytes;
    (void)pthread_mutex_unlock(&kept->lock);
    return bytes;
}

/* ---- life ---- */

bool kept_create(struct kept **out, uint64_t max_bytes, struct err *err)
{
    struct kept *kept = calloc(1, sizeof *kept);
    if (kept == NULL || pthread_mutex_init(&kept->lock, NULL) != 0) {
        free(kept);
        return err_set(err, ERR_NO_MEMORY, "No memory to keep answers");
    }
    kept->max_bytes = max_bytes;
    /* Without a random number it is an easier hash, and nothing else. */
    (void)!getrandom(&kept->hash_seed, sizeof kept->hash_seed, GRND_NONBLOCK);
    *out = kept;
    return true;
}

void kept_free(struct kept *kept)
{
    if (kept != NULL) {
        drop_all(kept);
        (void)pthread_mutex_destroy(&kept->lock);
        free(kept);
    }
}
