/* Answers kept to be sent again: found by the whole key, forgotten with the data, bounded. */
#include "server/http/response_cache.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAX_BYTES ((uint64_t)64 << 10)
#define VERSION 7U

static struct response_cache *create(uint64_t max_bytes)
{
    struct response_cache *cache = NULL;
    struct err err = ERR_INIT;
    assert_true(response_cache_create(&cache, max_bytes, &err));
    return cache;
}

static struct response_cache_key key_of(const char *path)
{
    return (struct response_cache_key){.reader = "", .path = path, .query = ""};
}

static void put(struct response_cache *cache,
                const struct response_cache_key *key,
                uint64_t version,
                const char *content)
{
    static const char lines[] = "A: b\r\nContent-Type: text/plain\r\n";
    const struct cached_response answer = {.etag = "\"e\"",
                                           .lines = lines,
                                           .lines_len = sizeof lines - 1,
                                           .content_lines_at = 6,
                                           .bytes = content,
                                           .len = strlen(content)};
    response_cache_put(cache, key, version, &answer);
}

static bool holds(struct response_cache *cache,
                  const struct response_cache_key *key,
                  uint64_t version,
                  const char *content)
{
    const struct cached_response *answer = response_cache_acquire(cache, key, version);
    if (answer == NULL) {
        return false;
    }
    assert_int_equal(answer->len, strlen(content));
    assert_memory_equal(answer->bytes, content, answer->len);
    response_cache_release(cache, answer);
    return true;
}

static void gives_back_what_it_was_given(void **state)
{
    struct response_cache *cache = create(MAX_BYTES);
    const struct response_cache_key key = key_of("/a");
    assert_null(response_cache_acquire(cache, &key, VERSION));
    put(cache, &key, VERSION, "content");
    const struct cached_response *answer = response_cache_acquire(cache, &key, VERSION);
    assert_non_null(answer);
    assert_string_equal(answer->etag, "\"e\"");
    assert_int_equal(answer->lines_len, 32);
    assert_memory_equal(answer->lines, "A: b\r\nContent-Type: text/plain\r\n", 32);
    assert_int_equal(answer->content_lines_at, 6);
    assert_int_equal(answer->len, 7);
    assert_memory_equal(answer->bytes, "content", 7);
    response_cache_release(cache, answer);
    response_cache_free(cache);
}

/* Each differs from the first in one thing, and none may be taken for another. */
static void tells_keys_apart(void **state)
{
    static const struct response_cache_key keys[] = {
        {"", "/a/b", "q=1", false},        {"", "/a/b", "q=1", true},
        {"", "/a/b", "q=2", false},        {"", "/a/b", "", false},
        {"", "/a/", "bq=1", false},        {"", "/a", "/bq=1", false},
        {"[\"p\"]", "/a/b", "q=1", false}, {"[\"r\"]", "/a/b", "q=1", false},
        {"/a/b", "", "q=1", false},
    };
    struct response_cache *cache = create(MAX_BYTES);
    char content[2] = "0";
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_null(response_cache_acquire(cache, &keys[i], VERSION));
        content[0] = (char)('0' + i);
        put(cache, &keys[i], VERSION, content);
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        content[0] = (char)('0' + i);
        assert_true(holds(cache, &keys[i], VERSION, content));
    }
    response_cache_free(cache);
}

static void forgets_with_the_data(void **state)
{
    struct response_cache *cache = create(MAX_BYTES);
    const struct response_cache_key a = key_of("/a");
    const struct response_cache_key b = key_of("/b");
    put(cache, &a, VERSION, "old");
    assert_null(response_cache_acquire(cache, &a, VERSION + 1));
    assert_true(holds(cache, &a, VERSION, "old"));
    put(cache, &b, VERSION + 1, "new");
    assert_null(response_cache_acquire(cache, &a, VERSION));
    assert_null(response_cache_acquire(cache, &a, VERSION + 1));
    assert_true(holds(cache, &b, VERSION + 1, "new"));
    /* One that was slow comes with what it read before the change. */
    put(cache, &a, VERSION, "old");
    assert_null(response_cache_acquire(cache, &a, VERSION));
    assert_null(response_cache_acquire(cache, &a, VERSION + 1));
    response_cache_free(cache);
    cache = create(MAX_BYTES);
    response_cache_free(cache);
}

static void keeps_the_first_of_two(void **state)
{
    struct response_cache *cache = create(MAX_BYTES);
    const struct response_cache_key key = key_of("/a");
    put(cache, &key, VERSION, "one");
    uint64_t bytes = response_cache_bytes(cache);
    put(cache, &key, VERSION, "two");
    assert_int_equal(response_cache_bytes(cache), bytes);
    assert_true(holds(cache, &key, VERSION, "one"));
    response_cache_free(cache);
}

/* An answer that is being sent outlives its place. */
static void holds_what_is_being_sent(void **state)
{
    struct response_cache *cache = create(MAX_BYTES);
    const struct response_cache_key key = key_of("/a");
    put(cache, &key, VERSION, "content");
    const struct cached_response *first = response_cache_acquire(cache, &key, VERSION);
    const struct cached_response *second = response_cache_acquire(cache, &key, VERSION);
    assert_ptr_equal(first, second);
    put(cache, &key, VERSION + 1, "later");
    response_cache_release(cache, second);
    assert_memory_equal(first->bytes, "content", 7);
    response_cache_release(cache, first);
    response_cache_free(cache);
}

static void uses_no_more_memory_than_it_may(void **state)
{
    struct response_cache *cache = create(MAX_BYTES);
    char path[32];
    char content[2001];
    memset(content, 'x', sizeof content - 1);
    content[sizeof content - 1] = '\0';
    const struct response_cache_key first = key_of("/first");
    put(cache, &first, VERSION, "used all the time");
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(path, sizeof path, "/%d", i);
        const struct response_cache_key key = key_of(path);
        put(cache, &key, VERSION, content);
        assert_true(holds(cache, &key, VERSION, content));
        assert_true(holds(cache, &first, VERSION, "used all the time"));
        assert_true(response_cache_bytes(cache) <= MAX_BYTES);
    }
    /* Used longest ago, gone first. */
    const struct response_cache_key old = key_of("/0");
    const struct response_cache_key recent = key_of("/980");
    assert_null(response_cache_acquire(cache, &old, VERSION));
    assert_true(holds(cache, &recent, VERSION, content));
    response_cache_free(cache);
}

static void leaves_out_what_is_too_large(void **state)
{
    struct response_cache *cache = create(MAX_BYTES);
    char *content = calloc(1, MAX_BYTES);
    assert_non_null(content);
    const struct response_cache_key key = key_of("/a");
    memset(content, 'x', MAX_BYTES / 16 + 1);
    put(cache, &key, VERSION, content);
    assert_null(response_cache_acquire(cache, &key, VERSION));
    assert_int_equal(response_cache_bytes(cache), 0);
    content[MAX_BYTES / 16] = '\0';
    put(cache, &key, VERSION, content);
    assert_true(holds(cache, &key, VERSION, content));
    free(content);
    response_cache_free(cache);
}

/* ---- threads ---- */

#define THREADS 4
#define TURNS 4000

struct busy {
    struct response_cache *cache;
    unsigned seed;
    bool good;
};

/* What is found says of which key and version it is. */
static void *be_busy(void *context)
{
    struct busy *busy = context;
    char path[16];
    char content[64];
    for (unsigned i = 0; i < TURNS; i++) {
        busy->seed = busy->seed * 1103515245U + 12345U;
        unsigned number = busy->seed >> 16U & 31U;
        uint64_t version = i / 500U;
        (void)snprintf(path, sizeof path, "/%u", number);
        int len = snprintf(content, sizeof content, "answer %u of %u", number, (unsigned)version);
        const struct response_cache_key key = key_of(path);
        const struct cached_response *answer = response_cache_acquire(busy->cache, &key, version);
        if (answer == NULL) {
            put(busy->cache, &key, version, content);
            continue;
        }
        busy->good = busy->good && answer->len == (size_t)len &&
                     memcmp(answer->bytes, content, answer->len) == 0;
        response_cache_release(busy->cache, answer);
    }
    return NULL;
}

static void serves_many_threads(void **state)
{
    struct response_cache *cache = create(4096); /* there is always one that has to go */
    struct busy busy[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        busy[i] = (struct busy){.cache = cache, .seed = i, .good = true};
        assert_int_equal(pthread_create(&threads[i], NULL, be_busy, &busy[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(busy[i].good);
    }
    assert_true(response_cache_bytes(cache) <= 4096);
    response_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_back_what_it_was_given),
        cmocka_unit_test(tells_keys_apart),
        cmocka_unit_test(forgets_with_the_data),
        cmocka_unit_test(keeps_the_first_of_two),
        cmocka_unit_test(holds_what_is_being_sent),
        cmocka_unit_test(uses_no_more_memory_than_it_may),
        cmocka_unit_test(leaves_out_what_is_too_large),
        cmocka_unit_test(serves_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
