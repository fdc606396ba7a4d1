#include "ingest/base/text/short_name.h"

#include "ingest/base/text/affix.h"
#include "ingest/base/text/python_frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define SHOWN_ARGUMENTS_MAX 3
#define SIMPLE_CHARACTERS_MAX 24
#define LONE_CHARACTERS_MAX 60

static const char anonymous[] = "(anonymous namespace)::";
static const char more[] = "…";

struct span {
    const char *begin, *end;
};

static size_t length(struct span text)
{
    return (size_t)(text.end - text.begin);
}

static struct span trim(struct span text)
{
    while (text.begin < text.end && *text.begin == ' ') {
        text.begin++;
    }
    while (text.end > text.begin && text.end[-1] == ' ') {
        text.end--;
    }
    return text;
}

/* ---- arguments of a template ---- */

/* The next one from *at, which stands behind "<" or ","; afterwards behind it, or behind the ">"
 * that ends the list. `last`: it was the last one. */
static struct span next_argument(const char **at, bool *last)
{
    const char *from = *at;
    size_t depth = 1;
    for (; **at != '\0'; (*at)++) {
        char c = **at;
        bool is_arrow = c == '>' && (*at)[-1] == '-';
        if (strchr("<({[", c) != NULL) {
            depth++;
        } else if (strchr(">)}]", c) != NULL && !is_arrow) {
            depth--;
        }
        if (depth == 0 || (depth == 1 && c == ',')) {
            break;
        }
    }
    struct span argument = {from, *at};
    *last = **at != ',';
    *at += **at != '\0';
    return trim(argument);
}

/* "(Type)17", a constant of an enumeration. */
static bool is_constant(struct span text)
{
    const char *at = text.begin;
    if (at == text.end || *at++ != '(') {
        return false;
    }
    const char *word = at;
    while (at < text.end && text_is_word(*at)) {
        at++;
    }
    if (at == word || at == text.end || *at++ != ')') {
        return false;
    }
    const char *digits = at;
    while (at < text.end && text_is_digit(*at)) {
        at++;
    }
    return at == text.end && at > digits;
}

/* "4", "float", "unsigned int", "float*". */
static bool is_simple(struct span text)
{
    if (text.end > text.begin && text.end[-1] == '*') {
        text.end--;
    }
    if (length(text) == 0 || length(text) > SIMPLE_CHARACTERS_MAX) {
        return false;
    }
    for (const char *at = text.begin; at < text.end; at++) {
        if (!text_is_word(*at) && *at != ' ') {
            return false;
        }
    }
    return true;
}

static bool is_qualified_name(struct span text)
{
    if (length(text) == 0 || length(text) > LONE_CHARACTERS_MAX) {
        return false;
    }
    for (const char *at = text.begin; at < text.end; at++) {
        if (!text_is_word(*at) && *at != ':') {
            return false;
        }
    }
    return true;
}

static bool is_closed(const char *at)
{
    bool last = false;
    while (!last) {
        (void)next_argument(&at, &last);
    }
    return at[-1] == '>';
}

/* Leading plain arguments say the variant; the first complex one ends the list. */
static const char *put_arguments(struct buf *out, const char *at)
{
    size_t count = 0;
    bool last = false;
    bool ended = false;
    while (!last) {
        struct span argument = next_argument(&at, &last);
        bool is_lone = count == 0 && last && is_qualified_name(argument);
        bool is_shown = is_lone || is_simple(argument) || is_constant(argument);
        if (!ended) {
            ended = !is_shown || count == SHOWN_ARGUMENTS_MAX;
            buf_puts(out, count == 0 ? "" : ", ");
            if (ended) {
                buf_puts(out, more);
            } else {
                buf_append(out, argument.begin, length(argument));
            }
            count++;
        }
    }
    return at;
}

/* ---- the hint ---- */

/* Templates that only carry another functor, and types that say nothing about the work. */
static bool is_wrapper(struct span word)
{
    static const char *const wrappers[] = {
        "BinaryFunctor",
        "UnaryFunctor",
        "AUnaryFunctor",
        "BUnaryFunctor",
        "ReduceOp",
        "func_wrapper_t",
        "TensorListMetadata",
        "Array",
        "Scalar",
        "operator",
        "lambda",
        "const",
        "unsigned",
        "signed",
        "long",
        "int",
        "float",
        "double",
        "char",
        "bool",
        "short",
        "impl",
        "Half",
        "BFloat16",
        "half",
        "__half",
        "memory",
        "anonymous",
        "namespace",
        "true",
        "false",
        "void",
    };
    static const char *const beginnings[] = {"gpu_kernel_impl", "TensorIterator"};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        size_t len = strlen(beginnings[i]);
        if (length(word) >= len && memcmp(word.begin, beginnings[i], len) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++) {
        if (strlen(wrappers[i]) == length(word) &&
            memcmp(word.begin, wrappers[i], length(word)) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_complex(struct span text)
{
    for (const char *at = text.begin; at < text.end; at++) {
        if (*at == '<' || *at == ':' || *at == '(') {
            return !is_constant(text);
        }
    }
    return false;
}

/* The first word of a complex argument that names work; not the namespace or class of one. */
static bool find_hint(struct span argument, struct span *hint)
{
    const char *at = argument.begin;
    while (at < argument.end) {
        if (!text_is_word(*at) || text_is_digit(*at)) {
            at++;
            continue;
        }
        struct span word = {at, at};
        while (word.end < argument.end && text_is_word(*word.end)) {
            word.end++;
        }
        bool is_scope = argument.end - word.end > 1 && word.end[0] == ':' && word.end[1] == ':';
        if (!is_scope && !is_wrapper(word)) {
            *hint = word;
            return true;
        }
        at = word.end;
    }
    return false;
}

static void put_hint(struct buf *out, const char *at)
{
    bool last = false;
    while (!last) {
        struct span argument = next_argument(&at, &last);
        struct span hint;
        if (is_complex(argument) && find_hint(argument, &hint)) {
            buf_puts(out, " (");
            buf_append(out, hint.begin, length(hint));
            buf_puts(out, ")");
            return;
        }
    }
}

/* ---- the name ---- */

/* Without "void", anonymous namespaces and the compiler's mark of a clone. */
static void strip(struct buf *out, const char *name)
{
    if (strncmp(name, "void ", 5) == 0) {
        name += 4 + strspn(name + 4, " ");
    }
    const char *next;
    while ((next = strstr(name, anonymous)) != NULL) {
        buf_append(out, name, (size_t)(next - name));
        name = next + strlen(anonymous);
    }
    const char *clone = strstr(name, "[clone ");
    size_t len = strlen(name);
    if (clone != NULL && name[len - 1] == ']') {
        len = (size_t)(clone - name);
        while (len > 0 && name[len - 1] == ' ') {
            len--;
        }
    }
    buf_append(out, name, len);
}

/* "::operator()" behind the arguments: the member that is called. */
static void put_member(struct buf *out, const char *at)
{
    size_t len = 0;
    if (at[0] != ':' || at[1] != ':') {
        return;
    }
    while (text_is_word(at[len]) || at[len] == ':' || at[len] == '~') {
        len++;
    }
    buf_append(out, at, len);
}

void short_name(struct buf *out, const char *name)
{
    struct python_frame frame;
    if (python_frame_read(name, &frame)) {
        python_frame_print(out, name);
        return;
    }
    struct buf stripped;
    buf_init(&stripped, out->max_bytes);
    strip(&stripped, name);
    const char *plain = stripped.failed ? name : stripped.ptr;
    const char *angle = strchr(plain, '<');
    const char *paren = strchr(plain, '(');
    bool is_template = angle != NULL && angle > plain && (paren == NULL || angle < paren);
    if (is_template && is_closed(angle + 1)) {
        buf_append(out, plain, (size_t)(angle + 1 - plain));
        const char *behind = put_arguments(out, angle + 1);
        buf_putc(out, '>');
        put_member(out, behind);
        put_hint(out, angle + 1);
    } else if (!is_template && paren != NULL && paren > plain && paren[-1] != ' ' &&
               strstr(plain, ")#") == NULL) {
        buf_append(out, plain, (size_t)(paren - plain));
    } else {
        buf_puts(out, plain);
    }
    buf_free(&stripped);
}
