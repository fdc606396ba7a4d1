/* The scan along known paths: whatever it accepts, the strict scan reads in the same way; with
 * and without vectors, at every alignment, with the window's end at every byte. */
#include "tests/unit/unit.h"

/* Once more without any vector unit. */
#define KS_BYTES_PLAIN
#include "ingest/formats/chrome_json/scan/key_path_scan.h"

#include <stdio.h>

#define PADDING_BYTES 64
#define ALIGNMENTS 33

static bool scan_plain(struct key_paths *paths,
                       struct kineto_event *event,
                       int64_t *values,
                       const char *begin,
                       const char *end)
{
    return scan_path(paths, event, values, begin, end);
}

struct variant {
    const char *name;
    bool (*scan)(struct key_paths *paths,
                 struct kineto_event *event,
                 int64_t *values,
                 const char *begin,
                 const char *end);
};

static size_t list_variants(struct variant variants[2])
{
    size_t count = 0;
    variants[count++] = (struct variant){"plain", scan_plain};
    variants[count++] = (struct variant){"base", key_paths_scan};
    return count;
}

/* --- what is known of events --- */

struct known {
    struct kineto_texts texts;
    struct key_paths paths;
    struct kineto_members members;
};

static struct known *begin_knowing(void)
{
    struct known *known = calloc(1, sizeof *known);
    assert_non_null(known);
    assert_true(kineto_texts_init(&known->texts, NULL));
    assert_true(key_paths_init(&known->paths, &known->texts));
    return known;
}

static void end_knowing(struct known *known)
{
    key_paths_free(&known->paths);
    kineto_texts_free(&known->texts);
    free(known);
}

/* The text at an alignment in memory of its own; the padding could go on with the text. */
static char *placed(const char *text, size_t len, size_t alignment, char **memory)
{
    static const char padding[] = "\"0}], 1}}\"";
    *memory = malloc(alignment + len + PADDING_BYTES);
    assert_non_null(*memory);
    char *out = *memory + alignment;
    memcpy(out, text, len);
    for (size_t i = 0; i < PADDING_BYTES; i++) {
        out[len + i] = padding[i % (sizeof padding - 1)];
    }
    return out;
}

static void learn(struct known *known, const char *text)
{
    struct kineto_event event;
    char *memory;
    const char *bad;
    size_t len = strlen(text);
    const char *begin = placed(text, len, 0, &memory);
    assert_int_equal(kineto_event_scan(&event, &known->members, begin, begin + len, &bad), JSON_OK);
    assert_true(key_paths_learn(&known->paths, &event, NULL));
    free(memory);
}

/* --- comparing --- */

static bool same_number(const struct json_value *fast, const struct json_value *strict)
{
    int64_t number[2] = {0, 0};
    if ((fast->flags & JSON_PARSED) == 0) {
        return true;
    }
    return fast->digits == 0 ? event_value_int(strict, number) && number[0] == fast->number
                             : event_value_decimal(strict, number) && number[0] == fast->number &&
                                   number[1] == fast->digits;
}

static bool same_value(const struct kineto_texts *texts,
                       const struct json_value *fast,
                       const struct json_value *strict)
{
    bool same = fast->ptr == strict->ptr && fast->len == strict->len &&
                fast->kind == strict->kind &&
                (fast->flags & ~(JSON_PARSED | JSON_KNOWN)) == strict->flags;
    if (same && (fast->flags & JSON_KNOWN) != 0) {
        bool is_string = fast->kind == JSON_KIND_STRING;
        uint32_t id = (uint32_t)fast->number;
        same = strtab_len(texts->raw, id) == fast->len + 2U * is_string &&
               memcmp(strtab_text(texts->raw, id), fast->ptr - is_string,
                      fast->len + 2U * is_string) == 0;
    }
    return same && same_number(fast, strict);
}

/* `args` that is an object is only said to be there. */
static bool same_event(const struct kineto_texts *texts,
                       const struct kineto_event *fast,
                       const struct kineto_event *strict)
{
    bool same = fast->begin == strict->begin && fast->end == strict->end &&
                fast->has_fields == strict->has_fields && fast->has_args == strict->has_args &&
                strict->duplicate_keys == 0 && strict->control_values == 0;
    for (int i = 0; same && i < FIELD_COUNT; i++) {
        bool is_object = i == FIELD_ARGS && fast->fields[i].kind == JSON_KIND_OBJECT;
        same = !kineto_event_has(fast, (enum field)i) ||
               (is_object && strict->fields[i].kind == JSON_KIND_OBJECT) ||
               same_value(texts, &fast->fields[i], &strict->fields[i]);
    }
    for (int i = 0; same && i < ARG_COUNT; i++) {
        same = !kineto_event_has_arg(fast, (enum arg)i) ||
               same_value(texts, &fast->args[i], &strict->args[i]);
    }
    return same;
}

/* Whether the text was known. */
static bool check(struct known *known, const struct variant *variant, const char *begin, size_t len)
{
    struct kineto_event fast;
    struct kineto_event strict;
    const char *bad;
    memset(&fast, 0, sizeof fast);
    if (!variant->scan(&known->paths, &fast, known->paths.values, begin, begin + len)) {
        assert_false(known->paths.no_memory);
        return false;
    }
    enum json_status status = kineto_event_scan(&strict, &known->members, begin, begin + len, &bad);
    if (status != JSON_OK || !same_event(&known->texts, &fast, &strict)) {
        fail_msg("%s: status %d: %.*s", variant->name, (int)status, (int)len, begin);
    }
    return true;
}

/* All variants agree; the answer is whether the text was known. */
static bool check_all(struct known *known, const char *text, size_t len, size_t alignment)
{
    struct variant variants[2];
    size_t count = list_variants(variants);
    char *memory;
    const char *begin = placed(text, len, alignment, &memory);
    bool first = check(known, &variants[0], begin, len);
    for (size_t i = 1; i < count; i++) {
        assert_int_equal(check(known, &variants[i], begin, len), first);
    }
    free(memory);
    return first;
}

/* --- the tests --- */

static const char *const events[] = {
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 1, \"tid\": \"7\", "
    "\"ts\": "
    "1623142623460111, \"dur\": 25, \"args\": {\"External id\": 2, \"Input Dims\": [[1, 2], [], "
    "[64, 3, 7, 7, 1000000]], \"Call stack\": \"a.py(1): f;b.py(22): a rather long name of a "
    "function;c.py(333): <module>\", \"Input type\": [\"float\", \"\", \"Int\"]}}",
    "{\"ph\": \"X\", \"ts\": 17.250, \"dur\": 0.5, \"args\": {\"grid\": [1, 2, 3], \"u\": {\"a\": "
    "[{}]}, \"est. achieved occupancy %\": 41.67, \"w\": true, \"n\": null}}",
    "{\"args\": {\"device\": -3, \"stream\": 7}, \"ph\": \"X\", \"ts\": 1, \"name\": \"k\"}",
    "{\n  \"ph\" : \"i\" ,\n  \"s\": \"g\", \"ts\":5, \"name\": \"say \\\"hi\\\" \\u00e9\"\n}",
    "{\"ph\": \"X\", \"ts\": 1e3, \"dur\": -0, \"id\": 12345678901234567890, \"args\": {}}",
    "{\"ph\": \"s\", \"id\": 9223372036854775807, \"pid\": 0, \"tid\": 0, \"ts\": -1, \"args\": "
    "null}",
    "{\"ph\":\"f\",\"id\":\"0x7f\",\"bp\":\"e\",\"ts\":999999999999999.999,\"cat\":\"\"}",
    "{\"ph\": \"X\", \"ts\": 1743647498123456.789, \"dur\": 9999999999999999999, \"id\": "
    "-9223372036854775808, \"args\": {\"a\": 9.223372036854775807, \"b\": "
    "922337203685477580.8, \"c\": 12345678901234567.890}}",
    "{\"ph\": \"X\", \"name\": \"\xC3\xA9\xE2\x82\xAC\", \"x\": [\"a\\\\\", \"[\", \"]\\\"\"], "
    "\"ts\": 0}",
};

static void events_are_known_once_learnt(void **state)
{
    for (size_t i = 0; i < COUNT_OF(events); i++) {
        struct known *known = begin_knowing();
        assert_false(check_all(known, events[i], strlen(events[i]), 0));
        learn(known, events[i]);
        for (size_t alignment = 0; alignment < ALIGNMENTS; alignment++) {
            if (!check_all(known, events[i], strlen(events[i]), alignment)) {
                fail_msg("not known: %s", events[i]);
            }
        }
        end_knowing(known);
    }
}

static void all_paths_are_known_side_by_side(void **state)
{
    struct known *known = begin_knowing();
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < COUNT_OF(events); i++) {
            assert_int_equal(check_all(known, events[i], strlen(events[i]), i), round);
            learn(known, events[i]);
        }
    }
    end_knowing(known);
}

/* A value that came again and again may become any other. */
static void repeated_values_may_change(void **state)
{
    static const char *const values[] = {"25",     "256",   "25.5",   "2",     "25e1",
                                         "-25",    "0",     "\"25\"", "\"2\"", "\"25 or 25\"",
                                         "[2, 5]", "[2]",   "null",   "true",  "17.250",
                                         "17.25",  "17.25", "{}",     "\"\""};
    struct known *known = begin_knowing();
    char text[2][128];
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        (void)snprintf(text[0], sizeof text[0], "{\"ph\": \"X\", \"dur\": %s, \"ts\": 1}",
                       values[i]);
        learn(known, text[0]);
    }
    for (size_t i = 0; i < COUNT_OF(values) * COUNT_OF(values); i++) {
        for (size_t which = 0; which < 2; which++) {
            size_t value = which == 0 ? i % COUNT_OF(values) : i / COUNT_OF(values);
            (void)snprintf(text[which], sizeof text[which],
                           "{\"ph\": \"X\", \"dur\": %s, \"ts\": 1}", values[value]);
        }
        for (size_t again = 0; again < 8; again++) {
            assert_true(check_all(known, text[0], strlen(text[0]), again));
        }
        assert_true(check_all(known, text[1], strlen(text[1]), i % ALIGNMENTS));
    }
    end_knowing(known);
}

/* What stands behind the window's end is never used, though it would fit. */
static void cut_events_are_not_known(void **state)
{
    struct known *known = begin_knowing();
    for (size_t i = 0; i < COUNT_OF(events); i++) {
        learn(known, events[i]);
    }
    for (size_t i = 0; i < COUNT_OF(events); i++) {
        size_t len = strlen(events[i]);
        for (size_t cut = 1; cut < len; cut++) {
            struct variant variants[2];
            size_t count = list_variants(variants);
            char *memory;
            const char *begin = placed(events[i], len, cut % ALIGNMENTS, &memory);
            for (size_t v = 0; v < count; v++) {
                struct kineto_event event;
                assert_false(variants[v].scan(&known->paths, &event, known->paths.values, begin,
                                              begin + cut));
            }
            free(memory);
        }
    }
    end_knowing(known);
}

/* Every byte changed: either no path fits, or the strict scan agrees. */
static void changed_events_are_read_as_by_the_strict_scan(void **state)
{
    static const char bytes[] = "\"\\{}[],: 0e.-x\t\x01|";
    struct known *known = begin_knowing();
    for (size_t i = 0; i < COUNT_OF(events); i++) {
        learn(known, events[i]);
    }
    for (size_t i = 0; i < COUNT_OF(events); i++) {
        char text[1024];
        size_t len = strlen(events[i]);
        assert_true(len < sizeof text);
        memcpy(text, events[i], len);
        for (size_t at = 0; at < len; at++) {
            for (size_t b = 0; b < sizeof bytes - 1; b++) {
                text[at] = bytes[b];
                (void)check_all(known, text, len, b);
            }
            text[at] = events[i][at];
        }
    }
    end_knowing(known);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

static const char *random_value(uint32_t *seed, char text[256])
{
    static const char *const words[] = {"true",  "false",       "null",        "[]",     "{}",
                                        "\"\"",  "[[1,2],[]]",  "\"a\\nb\"",   "-0.5",   "1e-7",
                                        "\"[\"", "[\"]\", {}]", "\"\\\\\"",    "0.10",   "-12",
                                        "[ 1 ]", "{\"a\": 1}",  "18446744073", "100.00", "\"}}\""};
    uint32_t which = next_random(seed) % 30;
    if (which < COUNT_OF(words)) {
        (void)snprintf(text, 256, "%s", words[which]);
    } else if (which < 25) {
        (void)snprintf(text, 256, "%u.%03u", next_random(seed) % 100000, next_random(seed) % 1000);
    } else {
        (void)snprintf(text, 256, "\"%.*s\"", (int)(next_random(seed) % 100),
                       "a text of many different lengths that is longer than some blocks of bytes "
                       "which are looked at together");
    }
    return text;
}

/* Keys are drawn without repetition, so that every event can be learnt. */
static size_t random_event(uint32_t *seed, char *out, size_t size)
{
    static const char *const keys[] = {"ph", "ts", "dur", "name", "cat", "pid", "tid", "other"};
    static const char *const args[] = {"External id", "Input Dims", "stream", "x", "Call stack"};
    const char *space = next_random(seed) % 4 == 0 ? " \n " : next_random(seed) % 2 ? " " : "";
    char value[256];
    uint32_t keys_in = (next_random(seed) % 4 << 4) | 2;
    uint32_t args_in = 1U << next_random(seed) % 5;
    size_t len = (size_t)snprintf(out, size, "{\"ph\":%s\"X\"", space);
    for (size_t i = 1; i < COUNT_OF(keys); i++) {
        if ((keys_in >> i & 1) != 0) {
            len += (size_t)snprintf(out + len, size - len, ",%s\"%s\":%s%s", space, keys[i], space,
                                    random_value(seed, value));
        }
        if (i == 4 && next_random(seed) % 4 != 0) {
            const char *comma = "";
            len += (size_t)snprintf(out + len, size - len, ",\"args\":%s{", space);
            for (size_t a = 0; a < COUNT_OF(args); a++) {
                if ((args_in >> a & 1) != 0) {
                    len += (size_t)snprintf(out + len, size - len, "%s\"%s\":%s", comma, args[a],
                                            random_value(seed, value));
                    comma = ",";
                }
            }
            len += (size_t)snprintf(out + len, size - len, "}");
        }
    }
    return len + (size_t)snprintf(out + len, size - len, "}");
}

static void random_events_are_read_as_by_the_strict_scan(void **state)
{
    uint32_t seed = 7;
    size_t known_count = 0;
    struct known *known = begin_knowing();
    for (int i = 0; i < 20000; i++) {
        char text[4096];
        size_t len = random_event(&seed, text, sizeof text);
        bool is_known = check_all(known, text, len, (size_t)i % ALIGNMENTS);
        known_count += is_known;
        if (!is_known && i % 3 == 0) {
            learn(known, text);
        }
        if (i % 16 == 0) {
            text[next_random(&seed) % len] = (char)(next_random(&seed) % 256);
            (void)check_all(known, text, len, 0);
        }
    }
    assert_true(known_count > 1000);
    end_knowing(known);
}

/* The log's values are those of the recorder's own way, also where `args` does not stand last. */
static void values_stand_in_the_order_of_the_log(void **state)
{
    static const char text[] =
        "{\"args\": {\"a\": 1, \"b\": 2.5}, \"ph\": 3, \"ts\": 4.75, \"dur\": 5}";
    static const int64_t expected[] = {3, 475, 2, 5, 1, 25, 1};
    struct variant variants[2];
    size_t count = list_variants(variants);
    struct known *known = begin_knowing();
    learn(known, text);
    for (size_t i = 0; i < count; i++) {
        struct kineto_event event;
        char *memory;
        const char *begin = placed(text, sizeof text - 1, i, &memory);
        assert_true(variants[i].scan(&known->paths, &event, known->paths.values, begin,
                                     begin + sizeof text - 1));
        assert_int_equal(known->paths.end->value_count, COUNT_OF(expected));
        assert_memory_equal(known->paths.values, expected, sizeof expected);
        free(memory);
    }
    end_knowing(known);
}

/* Counters are left to the strict scan, and so is what never ends to differ. */
static void what_is_not_learnt_stays_unknown(void **state)
{
    static const char counter[] = "{\"ph\": \"C\", \"ts\": 1, \"args\": {\"x\": 1}}";
    struct known *known = begin_knowing();
    learn(known, counter);
    assert_false(check_all(known, counter, sizeof counter - 1, 0));
    for (unsigned i = 0; i < 3 * KEY_PATH_STEPS_MAX; i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "{\"ph\": \"X\", \"k%u\": 1, \"l%u\": 1}", i, i);
        learn(known, text);
    }
    assert_true(known->paths.step_count <= KEY_PATH_STEPS_MAX);
    assert_true(key_paths_memory(&known->paths) < (size_t)8 << 20);
    learn(known, events[0]);
    (void)check_all(known, events[0], strlen(events[0]), 0);
    end_knowing(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_known_once_learnt),
        cmocka_unit_test(all_paths_are_known_side_by_side),
        cmocka_unit_test(repeated_values_may_change),
        cmocka_unit_test(cut_events_are_not_known),
        cmocka_unit_test(changed_events_are_read_as_by_the_strict_scan),
        cmocka_unit_test(random_events_are_read_as_by_the_strict_scan),
        cmocka_unit_test(values_stand_in_the_order_of_the_log),
        cmocka_unit_test(what_is_not_learnt_stays_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
