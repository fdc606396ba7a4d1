#include "ingest/store/db/postgres/recall.h"

#include "ingest/base/containers/fnv.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CHAINS 1024U
#define KEY_HEAD 8
#define MAX_BYTES ((size_t)32 << 20)
/* Results of a small trace stand in a row of the catalogue, 256 kB as hex. */
#define ANSWER_MAX_BYTES ((size_t)1 << 20)
/* What is older says too little of the present. */
#define MAX_AGE_MS 300000

struct answer {
    char key[SHA256_HEX_BYTES];
    struct answer *next;          /* of its chain */
    struct answer *newer, *older; /* in order of their keeping */
    PGresult *result;
    size_t bytes;
    int64_t kept_at_ms;
};

struct recall {
    pthread_mutex_t lock; /* guards what follows */
    size_t bytes;
    struct answer *oldest, *newest;
    struct answer *chains[CHAINS];
};

struct recall *recall_create(void)
{
    struct recall *recall = calloc(1, sizeof *recall);
    if (recall != NULL && pthread_mutex_init(&recall->lock, NULL) != 0) {
        free(recall);
        recall = NULL;
    }
    return recall;
}

/* A key is a hash in hex: its first digits are as good as any. */
static struct answer **chain_of(struct recall *recall, const char key[SHA256_HEX_BYTES])
{
    return &recall->chains[fnv_add(0, key, KEY_HEAD) % CHAINS];
}

static struct answer **find(struct recall *recall, const char key[SHA256_HEX_BYTES])
{
    struct answer **link = chain_of(recall, key);
    while (*link != NULL && memcmp((*link)->key, key, SHA256_HEX_BYTES) != 0) {
        link = &(*link)->next;
    }
    return link;
}

static void drop(struct recall *recall, struct answer **link)
{
    struct answer *answer = *link;
    *link = answer->next;
    *(answer->newer == NULL ? &recall->newest : &answer->newer->older) = answer->older;
    *(answer->older == NULL ? &recall->oldest : &answer->older->newer) = answer->newer;
    recall->bytes -= answer->bytes;
    PQclear(answer->result);
    free(answer);
}

void recall_free(struct recall *recall)
{
    if (recall != NULL) {
        while (recall->oldest != NULL) {
            drop(recall, find(recall, recall->oldest->key));
        }
        (void)pthread_mutex_destroy(&recall->lock);
        free(recall);
    }
}

static void add(struct recall *recall, struct answer *answer)
{
    struct answer **chain = chain_of(recall, answer->key);
    answer->next = *chain;
    *chain = answer;
    answer->older = recall->newest;
    *(recall->newest == NULL ? &recall->oldest : &recall->newest->newer) = answer;
    recall->newest = answer;
    recall->bytes += answer->bytes;
    while (recall->bytes > MAX_BYTES) {
        drop(recall, find(recall, recall->oldest->key));
    }
}

static PGresult *copy_of(const PGresult *result)
{
    return PQcopyResult(result, PG_COPYRES_ATTRS | PG_COPYRES_TUPLES);
}

static struct answer *make(const char key[SHA256_HEX_BYTES], const PGresult *result)
{
    struct answer *answer = malloc(sizeof *answer);
    PGresult *copy = answer == NULL ? NULL : copy_of(result);
    if (copy == NULL) {
        free(answer);
        return NULL;
    }
    *answer = (struct answer){.result = copy, .bytes = sizeof *answer + PQresultMemorySize(copy)};
    memcpy(answer->key, key, SHA256_HEX_BYTES);
    return answer;
}

void recall_keep(struct recall *recall,
                 const char key[SHA256_HEX_BYTES],
                 const PGresult *result,
                 int64_t now_ms)
{
    struct answer *answer =
        PQresultMemorySize(result) > ANSWER_MAX_BYTES ? NULL : make(key, result);
    (void)pthread_mutex_lock(&recall->lock);
    struct answer **before = find(recall, key);
    if (*before != NULL) { /* no longer true, also where its successor is not kept */
        drop(recall, before);
    }
    if (answer != NULL) {
        answer->kept_at_ms = now_ms;
        add(recall, answer);
    }
    (void)pthread_mutex_unlock(&recall->lock);
}

PGresult *recall_find(struct recall *recall,
                      const char key[SHA256_HEX_BYTES],
                      int64_t now_ms,
                      int64_t *kept_at_ms)
{
    (void)pthread_mutex_lock(&recall->lock);
    const struct answer *answer = *find(recall, key);
    bool is_usable = answer != NULL && now_ms - answer->kept_at_ms <= MAX_AGE_MS;
    PGresult *copy = is_usable ? copy_of(answer->result) : NULL;
    *kept_at_ms = is_usable ? answer->kept_at_ms : 0;
    (void)pthread_mutex_unlock(&recall->lock);
    return copy;
}
