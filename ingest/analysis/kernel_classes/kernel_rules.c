#include "ingest/analysis/kernel_classes/kernel_rules.h"

#include "ingest/base/memory/scratch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 65536
#define RULES_MAX 1000
#define NAME_MAX_BYTES 64
#define BLANKS " \t\r\n"

static const char name_letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
static const char kind_prefix[] = "kind=";

static bool is_name(const char *text)
{
    size_t len = strspn(text, name_letters);
    return len > 0 && len <= NAME_MAX_BYTES && text[len] == '\0';
}

static bool read_matrix(const char *word, enum matrix_rule *out)
{
    static const char *const words[] = {
        [MATRIX_RULE_UNUSED] = "no",
        [MATRIX_RULE_USED] = "yes",
        [MATRIX_RULE_BY_NAME] = "auto",
        [MATRIX_RULE_UNKNOWN] = "-",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i]) == 0) {
            *out = (enum matrix_rule)i;
            return true;
        }
    }
    return false;
}

static void to_lower(char *text)
{
    static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char lower[] = "abcdefghijklmnopqrstuvwxyz";
    for (; *text != '\0'; text++) {
        const char *at = strchr(upper, *text);
        if (at != NULL) {
            *text = lower[at - upper];
        }
    }
}

/* Appends a pattern to the blank-separated ones in `patterns`, which has room for the line. */
static void add_pattern(char *patterns, const char *pattern)
{
    size_t len = strlen(patterns);
    if (len > 0) {
        patterns[len++] = ' ';
    }
    memcpy(patterns + len, pattern, strlen(pattern) + 1);
}

static bool keep(struct arena *arena, const char *text, const char **out, struct err *err)
{
    *out = arena_strdup(arena, text);
    return *out != NULL || err_set(err, ERR_NO_MEMORY, "no memory for the rules");
}

/* What follows class and matrix unit on a line. */
static bool read_words(struct kernel_rules *rules,
                       struct kernel_rule *rule,
                       char **rest,
                       char *patterns,
                       struct err *err)
{
    const size_t prefix_bytes = sizeof kind_prefix - 1;
    for (char *word; (word = strtok_r(NULL, BLANKS, rest)) != NULL;) {
        if (strncmp(word, kind_prefix, prefix_bytes) != 0) {
            to_lower(word);
            add_pattern(patterns, word);
            continue;
        }
        if (rule->kind != NULL || !is_name(word + prefix_bytes)) {
            return err_set(err, ERR_BAD_INPUT,
                           "a line has one kind at most, of up to 64 letters, digits and "
                           "underscores, not \"%.80s\"",
                           word + prefix_bytes);
        }
        if (!keep(&rules->arena, word + prefix_bytes, &rule->kind, err)) {
            return false;
        }
    }
    return *patterns != '\0' ||
           err_set(err, ERR_BAD_INPUT, "there is no pattern behind class and matrix unit");
}

static bool add_rule(struct kernel_rules *rules, char *line, char *patterns, struct err *err)
{
    char *rest = NULL;
    const char *class = strtok_r(line, BLANKS, &rest);
    const char *matrix = class == NULL ? NULL : strtok_r(NULL, BLANKS, &rest);
    if (class == NULL) {
        return true;
    }
    if (rules->count == RULES_MAX) {
        return err_set(err, ERR_BAD_INPUT, "there are more than %d rules", RULES_MAX);
    }
    struct kernel_rule *rule = &rules->rules[rules->count];
    *rule = (struct kernel_rule){.kind = NULL};
    *patterns = '\0';
    if (!is_name(class)) {
        return err_set(err, ERR_BAD_INPUT,
                       "a class has at most 64 letters, digits and underscores, not \"%.80s\"",
                       class);
    }
    if (matrix == NULL || !read_matrix(matrix, &rule->matrix)) {
        return err_set(err, ERR_BAD_INPUT,
                       "a line is: class yes|no|auto|- pattern... [kind=NAME]; the second word "
                       "says whether the kernels use matrix units");
    }
    if (!read_words(rules, rule, &rest, patterns, err) ||
        !keep(&rules->arena, class, &rule->class, err) ||
        !keep(&rules->arena, patterns, &rule->patterns, err)) {
        return false;
    }
    rules->count++;
    return true;
}

static bool read_lines(struct kernel_rules *rules, FILE *stream, char *buffers, struct err *err)
{
    char *line = buffers;
    char *patterns = buffers + LINE_MAX_BYTES;
    struct sha256 *hash = sha256_create();
    bool ok = hash != NULL || err_set(err, ERR_NO_MEMORY, "no memory for the rules");
    for (unsigned number = 1; ok && fgets(line, LINE_MAX_BYTES, stream) != NULL; number++) {
        bool is_whole = strchr(line, '\n') != NULL || feof(stream);
        sha256_update(hash, line, strlen(line));
        line[strcspn(line, "#")] = '\0';
        ok = is_whole ? add_rule(rules, line, patterns, err)
                      : err_set(err, ERR_BAD_INPUT, "it is too long");
        ok = ok || err_context(err, "line %u", number);
    }
    if (ok && ferror(stream)) {
        ok = err_set_errno(err, ERR_IO, errno, "it cannot be read");
    }
    if (ok) {
        sha256_final_hex(hash, rules->sha256_hex);
    }
    sha256_destroy(hash);
    return ok;
}

static bool read_stream(struct kernel_rules *rules, FILE *stream, struct err *err)
{
    char *buffers = scratch_alloc(2, LINE_MAX_BYTES);
    rules->rules = arena_calloc(&rules->arena, RULES_MAX, sizeof *rules->rules);
    bool ok = buffers != NULL && rules->rules != NULL
                  ? read_lines(rules, stream, buffers, err)
                  : err_set(err, ERR_NO_MEMORY, "no memory for the rules");
    scratch_free(buffers);
    return ok;
}

bool kernel_rules_read(const char *path, struct kernel_rules *rules, struct err *err)
{
    *rules = (struct kernel_rules){.count = 0};
    arena_init(&rules->arena, 0);
    FILE *stream = fopen(path, "r");
    if (stream == NULL) {
        return err_set_errno(err, ERR_IO, errno, "kernel classes %.200s", path);
    }
    bool ok = read_stream(rules, stream, err);
    (void)fclose(stream);
    return ok || err_context(err, "kernel classes %.200s", path);
}

void kernel_rules_free(struct kernel_rules *rules)
{
    arena_free(&rules->arena);
    *rules = (struct kernel_rules){.count = 0};
}
