/* The contract of objects.h, held against a folder always, and against the bucket of
 * KINETOSCOPE_TEST_OBJECTS_URL where one is given (tests/checks/objects.py starts a server). */
#include "ingest/store/objects/objects.h"
#include "tests/unit/unit.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MB ((size_t)1 << 20)

struct fixture {
    struct objects *objects;
    char folder[64];
    char run[32]; /* first part of every key: a bucket keeps what earlier runs wrote */
    struct err err;
};

static int begin(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    char url[256];
    const char *given = getenv("KINETOSCOPE_TEST_OBJECTS_URL");
    f->err = (struct err)ERR_INIT;
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/ks_objects_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    (void)snprintf(f->run, sizeof f->run, "t%s", f->folder + strlen("/tmp/ks_objects_"));
    (void)snprintf(url, sizeof url, "file://%s/below", f->folder);
    const struct objects_options options = {.part_bytes = 5 * MB};
    bool ok = objects_open(&f->objects, given == NULL ? url : given, &options, &f->err);
    if (!ok) {
        fail_msg("%s", f->err.msg);
    }
    *state = f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;
    char command[128];
    objects_close(f->objects);
    (void)snprintf(command, sizeof command, "rm -rf %s", f->folder);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static void check(struct fixture *f, bool ok)
{
    if (!ok) {
        fail_msg("%s", f->err.msg);
    }
}

static void check_fails(struct fixture *f, bool ok, enum err_code code)
{
    assert_false(ok);
    if (f->err.code != code) {
        fail_msg("%s: %s", err_code_text(f->err.code), f->err.msg);
    }
    f->err = (struct err)ERR_INIT;
}

/* Bytes that differ everywhere, so that a part in the wrong place is seen. */
static char *make_bytes(size_t len)
{
    char *bytes = malloc(len + 1);
    uint32_t dice = 12345;
    assert_non_null(bytes);
    for (size_t i = 0; i < len; i++) {
        dice = dice * 1664525 + 1013904223;
        bytes[i] = (char)(dice >> 24);
    }
    return bytes;
}

static void key_of(const struct fixture *f, char key[OBJECT_KEY_BYTES], const char *name)
{
    (void)snprintf(key, OBJECT_KEY_BYTES, "%s/%s", f->run, name);
}

static void put(struct fixture *f, const char *key, const char *bytes, size_t len, size_t step)
{
    struct object_put *writing;
    struct object_info info;
    check(f, object_put_begin(f->objects, key, &writing, &f->err));
    for (size_t at = 0; at < len; at += step) {
        size_t left = len - at;
        check(f, object_put_write(writing, bytes + at, left < step ? left : step, &f->err));
    }
    check(f, object_put_finish(writing, &info, &f->err));
    assert_int_equal(info.size_bytes, len);
}

static void reads_as(struct fixture *f, const char *key, const char *bytes, size_t len)
{
    FILE *file = tmpfile();
    uint64_t size_bytes = 0;
    char *found = malloc(len + 1);
    assert_non_null(file);
    assert_non_null(found);
    check(f, object_get(f->objects, key, fileno(file), &size_bytes, &f->err));
    assert_int_equal(size_bytes, len);
    assert_int_equal(pread(fileno(file), found, len + 1, 0), len);
    assert_memory_equal(found, bytes, len);
    free(found);
    (void)fclose(file);
}

static void what_is_put_is_got(void **state)
{
    struct fixture *f = *state;
    const size_t sizes[] = {0, 1, 70000, 5 * MB, 5 * MB + 1, 23 * MB + 7};
    char *bytes = make_bytes(24 * MB);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        char key[OBJECT_KEY_BYTES];
        char name[32];
        struct object_info info;
        (void)snprintf(name, sizeof name, "size/%zu", i);
        key_of(f, key, name);
        put(f, key, bytes, sizes[i], i % 2 == 0 ? MB : 777777);
        reads_as(f, key, bytes, sizes[i]);
        check(f, object_head(f->objects, key, &info, &f->err));
        assert_int_equal(info.size_bytes, sizes[i]);
    }
    free(bytes);
}

static void any_range_is_read(void **state)
{
    struct fixture *f = *state;
    char key[OBJECT_KEY_BYTES];
    char *bytes = make_bytes(6 * MB);
    char *found = malloc(6 * MB);
    const struct {
        size_t offset, len;
    } ranges[] = {{0, 1}, {0, 6 * MB}, {5 * MB - 3, 6}, {6 * MB - 1, 1}, {12345, 0}};
    key_of(f, key, "range");
    put(f, key, bytes, 6 * MB, MB);
    for (size_t i = 0; i < COUNT_OF(ranges); i++) {
        check(f, object_range(f->objects, key, ranges[i].offset, found, ranges[i].len, &f->err));
        assert_memory_equal(found, bytes + ranges[i].offset, ranges[i].len);
    }
    check_fails(f, object_range(f->objects, key, 6 * MB, found, 1, &f->err), ERR_IO);
    key_of(f, key, "nothing");
    check_fails(f, object_range(f->objects, key, 0, found, 1, &f->err), ERR_NOT_FOUND);
    free(found);
    free(bytes);
}

static void what_is_not_finished_is_no_object(void **state)
{
    struct fixture *f = *state;
    struct object_put *writing;
    struct object_info info;
    char key[OBJECT_KEY_BYTES];
    char *bytes = make_bytes(12 * MB);
    key_of(f, key, "unfinished");
    check(f, object_put_begin(f->objects, key, &writing, &f->err));
    check(f, object_put_write(writing, bytes, 12 * MB, &f->err));
    check_fails(f, object_head(f->objects, key, &info, &f->err), ERR_NOT_FOUND);
    object_put_abort(writing);
    object_put_abort(NULL);
    check_fails(f, object_head(f->objects, key, &info, &f->err), ERR_NOT_FOUND);
    check(f, object_discard(f->objects, key, &f->err));
    check(f, object_discard(f->objects, key, &f->err));
    free(bytes);
}

/* A server without conditions replaces it: then the bytes are at least whole. */
static void a_key_is_written_once(void **state)
{
    struct fixture *f = *state;
    struct object_put *writing;
    struct object_info info;
    char key[OBJECT_KEY_BYTES];
    key_of(f, key, "once");
    put(f, key, "first", 5, 5);
    check(f, object_put_begin(f->objects, key, &writing, &f->err));
    check(f, object_put_write(writing, "second", 6, &f->err));
    check_fails(f, object_put_finish(writing, &info, &f->err), ERR_CONFLICT);
    reads_as(f, key, "first", 5);
}

static void what_is_deleted_is_gone(void **state)
{
    struct fixture *f = *state;
    char keys[3][OBJECT_KEY_BYTES];
    struct object_info info;
    key_of(f, keys[0], "gone/a");
    key_of(f, keys[1], "gone/b");
    key_of(f, keys[2], "gone/never-there");
    const char *const all[] = {keys[0], keys[1], keys[2]};
    put(f, keys[0], "abc", 3, 3);
    put(f, keys[1], "de", 2, 2);
    check(f, object_head(f->objects, keys[0], &info, &f->err));
    check(f, object_head(f->objects, keys[1], &info, &f->err));
    check(f, object_delete_many(f->objects, all, 3, &f->err));
    for (size_t i = 0; i < 3; i++) {
        check_fails(f, object_head(f->objects, keys[i], &info, &f->err), ERR_NOT_FOUND);
    }
}

struct writer {
    struct fixture *f;
    unsigned number;
    bool ok;
    struct err err;
};

static void *write_some(void *argument)
{
    struct writer *writer = argument;
    char *bytes = make_bytes(7 * MB);
    writer->ok = true;
    for (unsigned i = 0; writer->ok && i < 4; i++) {
        struct object_put *writing;
        struct object_info info;
        char key[OBJECT_KEY_BYTES];
        char name[32];
        size_t len = i == 0 ? 7 * MB : (size_t)1000 * (i + writer->number);
        (void)snprintf(name, sizeof name, "at-once/%u-%u", writer->number, i);
        key_of(writer->f, key, name);
        writer->ok = object_put_begin(writer->f->objects, key, &writing, &writer->err);
        if (writer->ok && !object_put_write(writing, bytes, len, &writer->err)) {
            object_put_abort(writing);
            writer->ok = false;
        }
        writer->ok = writer->ok && object_put_finish(writing, &info, &writer->err) &&
                     object_head(writer->f->objects, key, &info, &writer->err) &&
                     info.size_bytes == len;
    }
    free(bytes);
    return NULL;
}

static void many_write_at_once(void **state)
{
    struct fixture *f = *state;
    struct writer writers[6];
    pthread_t threads[6];
    for (unsigned i = 0; i < 6; i++) {
        writers[i] = (struct writer){.f = f, .number = i, .err = ERR_INIT};
        assert_int_equal(pthread_create(&threads[i], NULL, write_some, &writers[i]), 0);
    }
    for (unsigned i = 0; i < 6; i++) {
        (void)pthread_join(threads[i], NULL);
        if (!writers[i].ok) {
            fail_msg("%s", writers[i].err.msg);
        }
    }
}

static void only_keys_are_taken(void **state)
{
    struct fixture *f = *state;
    const char *const keys[] = {"",         "/a",   "a/",  "a//b",      "..",       "a/../b",
                                ".writing", "a/.b", "a b", "a\xC3\xA9", "1/2/3/4/5"};
    struct object_info info;
    char longest[OBJECT_KEY_BYTES + 1];
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        check_fails(f, object_head(f->objects, keys[i], &info, &f->err), ERR_BAD_REQUEST);
    }
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    check_fails(f, object_head(f->objects, longest, &info, &f->err), ERR_BAD_REQUEST);
}

static void the_place_answers(void **state)
{
    struct fixture *f = *state;
    check(f, objects_probe(f->objects, &f->err));
}

static void only_places_are_opened(void **state)
{
    struct fixture *f = *state;
    struct objects *objects;
    const char *const urls[] = {"",      "file://relative", "/folder", "http://host/bucket",
                                "s3://", "s3://Bucket",     "s3://b",  "s3://bucket/a//b"};
    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        check_fails(f, objects_open(&objects, urls[i], NULL, &f->err), ERR_BAD_REQUEST);
    }
    objects_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_put_is_got, begin, end),
        cmocka_unit_test_setup_teardown(any_range_is_read, begin, end),
        cmocka_unit_test_setup_teardown(what_is_not_finished_is_no_object, begin, end),
        cmocka_unit_test_setup_teardown(a_key_is_written_once, begin, end),
        cmocka_unit_test_setup_teardown(what_is_deleted_is_gone, begin, end),
        cmocka_unit_test_setup_teardown(many_write_at_once, begin, end),
        cmocka_unit_test_setup_teardown(only_keys_are_taken, begin, end),
        cmocka_unit_test_setup_teardown(the_place_answers, begin, end),
        cmocka_unit_test_setup_teardown(only_places_are_opened, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
