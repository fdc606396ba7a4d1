/* Answers kept to be sent again: found by the whole key, forgotten with the data, bounded. */
#include "server/http/kept.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((uint64_t)64 << 10)
#define VERSION 7U

static struct kept *create(uint64_t max_bytes)
{
    struct kept *kept = NULL;
    struct err err = ERR_INIT;
    assert_true(kept_create(&kept, max_bytes, &err));
    return kept;
}

static struct kept_key key_of(const char *path)
{
    return (struct kept_key){.reader = "", .path = path, .query = ""};
}

static void
put(struct kept *kept, const struct kept_key *key, uint64_t version, const char *content)
{
    static const char lines[] = "A: b\r\nContent-Type: text/plain\r\n";
    const struct kept_answer answer = {.etag = "\"e\"",
                                       .lines = lines,
                                       .lines_len = sizeof lines - 1,
                                       .content_lines_at = 6,
                                       .bytes = content,
                                       .len = strlen(content)};
    kept_put(kept, key, version, &answer);
}

static bool
holds(struct kept *kept, const struct kept_key *key, uint64_t version, const char *content)
{
    const struct kept_answer *answer = kept_take(kept, key, version);
    if (answer == NULL) {
        return false;
    }
    assert_int_equal(answer->len, strlen(content));
    assert_memory_equal(answer->bytes, content, answer->len);
    kept_give_back(kept, answer);
    return true;
}

static void gives_back_what_it_was_given(void **state)
{
    (void)state;
    struct kept *kept = create(MAX_BYTES);
    const struct kept_key key = key_of("/a");
    assert_null(kept_take(kept, &key, VERSION));
    put(kept, &key, VERSION, "content");
    const struct kept_answer *answer = kept_take(kept, &key, VERSION);
    assert_non_null(answer);
    assert_string_equal(answer->etag, "\"e\"");
    assert_int_equal(answer->lines_len, 32);
    assert_memory_equal(answer->lines, "A: b\r\nContent-Type: text/plain\r\n", 32);
    assert_int_equal(answer->content_lines_at, 6);
    assert_int_equal(answer->len, 7);
    assert_memory_equal(answer->bytes, "content", 7);
    kept_give_back(kept, answer);
    kept_free(kept);
}

/* Each differs from the first in one thing, and none may be taken for another. */
static void tells_keys_apart(void **state)
{
    (void)state;
    static const struct kept_key keys[] = {
        {"", "/a/b", "q=1", false},        {"", "/a/b", "q=1", true},
        {"", "/a/b", "q=2", false},        {"", "/a/b", "", false},
        {"", "/a/", "bq=1", false},        {"", "/a", "/bq=1", false},
        {"[\"p\"]", "/a/b", "q=1", false}, {"[\"r\"]", "/a/b", "q=1", false},
        {"/a/b", "", "q=1", false},
    };
    struct kept *kept = create(MAX_BYTES);
    char content[2] = "0";
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_null(kept_take(kept, &keys[i], VERSION));
        content[0] = (char)('0' + i);
        put(kept, &keys[i], VERSION, content);
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        content[0] = (char)('0' + i);
        assert_true(holds(kept, &keys[i], VERSION, content));
    }
    kept_free(kept);
}

static void forgets_with_the_data(void **state)
{
    (void)state;
    struct kept *kept = create(MAX_BYTES);
    const struct kept_key a = key_of("/a");
    const struct kept_key b = key_of("/b");
    put(kept, &a, VERSION, "old");
    assert_null(kept_take(kept, &a, VERSION + 1));
    assert_true(holds(kept, &a, VERSION, "old"));
    put(kept, &b, VERSION + 1, "new");
    assert_null(kept_take(kept, &a, VERSION));
    assert_null(kept_take(kept, &a, VERSION + 1));
    assert_true(holds(kept, &b, VERSION + 1, "new"));
    /* One that was slow comes with what it read before the change. */
    put(kept, &a, VERSION, "old");
    assert_null(kept_take(kept, &a, VERSION));
    assert_null(kept_take(kept, &a, VERSION + 1));
    kept_free(kept);
    kept = create(MAX_BYTES);
    kept_free(kept);
}

static void keeps_the_first_of_two(void **state)
{
    (void)state;
    struct kept *kept = create(MAX_BYTES);
    const struct kept_key key = key_of("/a");
    put(kept, &key, VERSION, "one");
    uint64_t bytes = kept_bytes(kept);
    put(kept, &key, VERSION, "two");
    assert_int_equal(kept_bytes(kept), bytes);
    assert_true(holds(kept, &key, VERSION, "one"));
    kept_free(kept);
}

/* An answer that is being sent outlives its place. */
static void holds_what_is_being_sent(void **state)
{
    (void)state;
    struct kept *kept = create(MAX_BYTES);
    const struct kept_key key = key_of("/a");
    put(kept, &key, VERSION, "content");
    const struct kept_answer *first = kept_take(kept, &key, VERSION);
    const struct kept_answer *second = kept_take(kept, &key, VERSION);
    assert_ptr_equal(first, second);
    put(kept, &key, VERSION + 1, "later");
    kept_give_back(kept, second);
    assert_memory_equal(first->bytes, "content", 7);
    kept_give_back(kept, first);
    kept_free(kept);
}

static void uses_no_more_memory_than_it_may(void **state)
{
    (void)state;
    struct kept *kept = create(MAX_BYTES);
    char path[32];
    char content[2001];
    memset(content, 'x', sizeof content - 1);
    content[sizeof content - 1] = '\0';
    const struct kept_key first = key_of("/first");
    put(kept, &first, VERSION, "used all the time");
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(path, sizeof path, "/%d", i);
        const struct kept_key key = key_of(path);
        put(kept, &key, VERSION, content);
        assert_true(holds(kept, &key, VERSION, content));
        assert_true(holds(kept, &first, VERSION, "used all the time"));
        assert_true(kept_bytes(kept) <= MAX_BYTES);
    }
    /* Used longest ago, gone first. */
    const struct kept_key old = key_of("/0");
    const struct kept_key recent = key_of("/980");
    assert_null(kept_take(kept, &old, VERSION));
    assert_true(holds(kept, &recent, VERSION, content));
    kept_free(kept);
}

static void leaves_out_what_is_too_large(void **state)
{
    (void)state;
    struct kept *kept = create(MAX_BYTES);
    char *content = calloc(1, MAX_BYTES);
    assert_non_null(content);
    const struct kept_key key = key_of("/a");
    memset(content, 'x', MAX_BYTES / 16 + 1);
    put(kept, &key, VERSION, content);
    assert_null(kept_take(kept, &key, VERSION));
    assert_int_equal(kept_bytes(kept), 0);
    content[MAX_BYTES / 16] = '\0';
    put(kept, &key, VERSION, content);
    assert_true(holds(kept, &key, VERSION, content));
    free(content);
    kept_free(kept);
}

/* ---- threads ---- */

#define THREADS 4
#define TURNS 4000

struct busy {
    struct kept *kept;
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
        const struct kept_key key = key_of(path);
        const struct kept_answer *answer = kept_take(busy->kept, &key, version);
        if (answer == NULL) {
            put(busy->kept, &key, version, content);
            continue;
        }
        busy->good = busy->good && answer->len == (size_t)len &&
                     memcmp(answer->bytes, content, answer->len) == 0;
        kept_give_back(busy->kept, answer);
    }
    return NULL;
}

static void serves_many_threads(void **state)
{
    (void)state;
    struct kept *kept = create(4096); /* there is always one that has to go */
    struct busy busy[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        busy[i] = (struct busy){.kept = kept, .seed = i, .good = true};
        assert_int_equal(pthread_create(&threads[i], NULL, be_busy, &busy[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(busy[i].good);
    }
    assert_true(kept_bytes(kept) <= 4096);
    kept_free(kept);
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
