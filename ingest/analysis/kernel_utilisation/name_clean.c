/* The part of a demangled name that tells what the kernel does.
 *
 *     void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >(int, ...)
 *     type namespace   own name                     template list                       arguments
 *
 * The argument list, the return type, the lists and the namespaces that say nothing go.
 *
 * CUTLASS launches everything through templates that are called Kernel, Kernel2 or device_kernel;
 * of these the own name of the first template argument stays, or, where that is a mere guard for
 * architectures (enable_sm90_or_later<...>), of that one's first argument:
 *
 *     void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64>(Params)
 *                          cutlass_80_tensorop_s1688gemm_128x64
 */
#include "ingest/analysis/kernel_utilisation/kernel_utilisation.h"
#include "ingest/analysis/kernel_utilisation/name_tokens.h"

#include <string.h>

#define GUARDS_MAX 8

/* ---- which tokens are the qualified name ---- */

/* The index of the argument list: the last parentheses that follow a name and do not enclose a
 * function's own names (foo(int)::{lambda()#1}); tokens->count when there is none. */
static size_t find_arguments(const struct kernel_tokens *tokens)
{
    for (size_t i = tokens->count; i-- > 1;) {
        enum kernel_token_kind before = tokens->items[i - 1].kind;
        bool follows_name = before == TOKEN_WORD || before == TOKEN_ANGLE || before == TOKEN_CURLY;
        bool is_scope = i + 1 < tokens->count && tokens->items[i + 1].kind == TOKEN_COLONS;
        if (tokens->items[i].kind == TOKEN_PAREN && follows_name && !is_scope) {
            return i;
        }
    }
    return tokens->count;
}

static bool is_type_word(struct kernel_token token)
{
    static const char *const words[] = {
        "void",     "bool",   "char",  "short",  "int",    "long",       "float",      "double",
        "unsigned", "signed", "const", "static", "inline", "__global__", "__device__", "auto",
    };
    while (token.len > 0 &&
           (token.text[token.len - 1] == '*' || token.text[token.len - 1] == '&')) {
        token.len--;
    }
    for (size_t i = 0; token.kind == TOKEN_WORD && i < sizeof words / sizeof words[0]; i++) {
        if (kernel_token_is(&token, words[i])) {
            return true;
        }
    }
    return false;
}

/* The index behind the return type. Only functions from templates have one in their demangled
 * names, so blanks in a name without a list are the name's own, but for words that are types. */
static size_t skip_type(const struct kernel_tokens *tokens, size_t end)
{
    size_t begin = 0;
    while (begin + 2 < end && tokens->items[begin + 1].kind == TOKEN_BLANK &&
           is_type_word(tokens->items[begin])) {
        begin += 2;
    }
    size_t behind_blank = begin;
    bool has_list = false;
    for (size_t i = begin; i < end; i++) {
        if (tokens->items[i].kind == TOKEN_BLANK && i + 1 < end) {
            behind_blank = i + 1;
            has_list = false;
        }
        has_list = has_list || tokens->items[i].kind == TOKEN_ANGLE;
    }
    return has_list ? behind_blank : begin;
}

/* ---- writing what stays ---- */

struct out {
    char *text;
    size_t len;
};

static void put(struct out *out, const char *text, size_t len)
{
    memcpy(out->text + out->len, text, len);
    out->len += len;
}

/* Lambdas have many spellings, and their argument lists go too:
 * "{lambda(int)#2}", "[lambda(int) (instance 2)]" become "{lambda#2}". */
static void put_lambda(struct out *out, const struct kernel_token *token)
{
    static const char instance[] = "(instance ";
    const char *end = token->text + token->len;
    const char *number = NULL;
    for (const char *at = token->text; at < end; at++) {
        if (*at == '#') {
            number = at + 1;
        } else if ((size_t)(end - at) > strlen(instance) &&
                   memcmp(at, instance, strlen(instance)) == 0) {
            number = at + strlen(instance);
        }
    }
    if (token->len < strlen("{lambda}") || memcmp(token->text + 1, "lambda", 6) != 0) {
        put(out, token->text, token->len);
        return;
    }
    put(out, "{lambda", strlen("{lambda"));
    const char *digit = number == NULL ? end : number;
    if (digit < end && *digit >= '0' && *digit <= '9') {
        put(out, "#", 1);
    }
    for (; digit < end && *digit >= '0' && *digit <= '9'; digit++) {
        put(out, digit, 1);
    }
    put(out, "}", 1);
}

/* What compilers and profilers call a namespace without a name. */
static bool is_unnamed(const struct kernel_token *token)
{
    static const char *const beginnings[] = {
        "(anonymous", "<unnamed", "{anonymous",         "{unnamed",    "`anonymous",
        "<anonymous", "(unnamed", "_NV_ANON_NAMESPACE", "_GLOBAL__N_", "_INTERNAL_",
    };
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        if (kernel_token_begins(token, beginnings[i])) {
            return true;
        }
    }
    return false;
}

/* Whether the token begins a part of the qualified name. */
static bool begins_part(const struct kernel_tokens *tokens, size_t begin, size_t i)
{
    return i == begin || tokens->items[i - 1].kind == TOKEN_COLONS;
}

/* Brackets behind a blank belong to a name that people gave: "my kernel (second try)". */
static bool follows_blank(const struct kernel_tokens *tokens, size_t begin, size_t i)
{
    return i > begin && tokens->items[i - 1].kind == TOKEN_BLANK;
}

static void put_name(struct out *out, const struct kernel_tokens *tokens, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        const struct kernel_token *token = &tokens->items[i];
        bool is_first = begins_part(tokens, begin, i);
        bool is_scope = i + 1 < end && tokens->items[i + 1].kind == TOKEN_COLONS;
        if (is_first && is_scope && is_unnamed(token)) {
            i++;
        } else if (token->kind == TOKEN_CURLY || (token->kind == TOKEN_SQUARE && is_first)) {
            put_lambda(out, token);
        } else if (token->kind == TOKEN_WORD || token->kind == TOKEN_COLONS ||
                   token->kind == TOKEN_BLANK || follows_blank(tokens, begin, i)) {
            put(out, token->text, token->len);
        }
    }
    while (out->len > 0 && out->text[out->len - 1] == ' ') {
        out->len--;
    }
}

static bool is_word_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool says_something(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (is_word_byte(text[i])) {
            return true;
        }
    }
    return false;
}

static bool ends_in_colons(const struct out *out)
{
    return out->len >= 2 && memcmp(out->text + out->len - 2, "::", 2) == 0;
}

/* Without the namespaces that nearly all kernels of PyTorch or CUTLASS share. */
static void drop_namespaces(struct out *out)
{
    static const char *const namespaces[] = {"at::native::", "cutlass::"};
    bool found = true;
    while (found) {
        found = false;
        for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++) {
            size_t len = strlen(namespaces[i]);
            if (out->len > len && memcmp(out->text, namespaces[i], len) == 0 &&
                says_something(out->text + len, out->len - len)) {
                out->text += len;
                out->len -= len;
                found = true;
            }
        }
    }
}

/* ---- templates of CUTLASS that launch anything ---- */

static struct kernel_token first_argument(const struct kernel_token *list)
{
    const char *at = list->text + 1;
    const char *end = list->text + list->len;
    while (at < end && *at == ' ') {
        at++;
    }
    struct kernel_token argument = {TOKEN_WORD, at, 0};
    while (at != NULL && at < end && *at != ',' && *at != '>') {
        at = kernel_token_closing(*at) == '\0' ? at + 1 : kernel_token_behind(at, end);
    }
    argument.len = at == NULL ? 0 : (size_t)(at - argument.text);
    return argument;
}

/* The last word of a qualified name that has a template list, and the list; false: there is none.
 */
static bool
last_template(const struct kernel_tokens *tokens, size_t begin, size_t end, size_t *word)
{
    for (size_t i = end; i-- > begin + 1;) {
        if (tokens->items[i].kind == TOKEN_ANGLE && tokens->items[i - 1].kind == TOKEN_WORD) {
            *word = i - 1;
            return true;
        }
        if (tokens->items[i].kind == TOKEN_COLONS) {
            return false;
        }
    }
    return false;
}

static bool is_launcher(const struct kernel_tokens *tokens, size_t begin, size_t word)
{
    const struct kernel_token *name = &tokens->items[word];
    struct kernel_token argument = first_argument(&tokens->items[word + 1]);
    bool is_generic = kernel_token_is(name, "Kernel") || kernel_token_is(name, "Kernel2") ||
                      kernel_token_is(name, "device_kernel");
    bool is_cutlass = word >= begin + 2 && kernel_token_begins(&tokens->items[word - 2], "cutlass");
    return is_generic &&
           (is_cutlass || (word == begin && kernel_token_begins(&argument, "cutlass")));
}

/* The name that a type goes by, and its template list if it has one. */
static struct kernel_token own_name(const struct kernel_tokens *tokens, struct kernel_token *list)
{
    struct kernel_token name = {TOKEN_WORD, "", 0};
    *list = name;
    for (size_t i = 0; i < tokens->count; i++) {
        const struct kernel_token *token = &tokens->items[i];
        if (token->kind == TOKEN_WORD) {
            name = *token;
            *list = (struct kernel_token){TOKEN_WORD, "", 0};
        } else if (token->kind == TOKEN_ANGLE) {
            *list = *token;
        }
    }
    return name;
}

/* What a launcher with this template list launches; a length of 0: it does not say. */
static struct kernel_token launched_name(const struct kernel_token *list)
{
    struct kernel_token name = {TOKEN_WORD, "", 0};
    struct kernel_token inner = *list;
    for (int i = 0; i < GUARDS_MAX && inner.len > 0; i++) {
        struct kernel_tokens tokens;
        struct kernel_token argument = first_argument(&inner);
        if (!kernel_tokens_split(argument.text, argument.len, &tokens)) {
            return name;
        }
        name = own_name(&tokens, &inner);
        if (!kernel_token_begins(&name, "enable_")) {
            break;
        }
    }
    bool is_text =
        name.len > 0 && is_word_byte(*name.text) && !(*name.text >= '0' && *name.text <= '9');
    name.len = is_text ? name.len : 0;
    return name;
}

const char *kernel_utilisation_clean_name(struct arena *arena, const char *full_name, size_t len)
{
    struct kernel_tokens tokens;
    if (!kernel_tokens_split(full_name, len, &tokens) || tokens.count == 0) {
        return arena_strndup(arena, full_name, len);
    }
    size_t end = find_arguments(&tokens);
    size_t begin = skip_type(&tokens, end);
    size_t word;
    if (last_template(&tokens, begin, end, &word) && is_launcher(&tokens, begin, word)) {
        struct kernel_token launched = launched_name(&tokens.items[word + 1]);
        if (launched.len > 0) {
            return arena_strndup(arena, launched.text, launched.len);
        }
    }
    /* What is written is no longer than what it stands for, but for a lambda that was cut off. */
    char *text = arena_alloc(arena, len + 2);
    if (text == NULL) {
        return NULL;
    }
    struct out out = {.text = text};
    put_name(&out, &tokens, begin, end);
    drop_namespaces(&out);
    if (!says_something(out.text, out.len) || ends_in_colons(&out)) {
        memcpy(text, full_name, len);
        out = (struct out){text, len};
    }
    out.text[out.len] = '\0';
    return out.text;
}
