#include "ingest/analysis/classify/names.h"

#include "ingest/analysis/classify/collective_kinds.h"
#include "ingest/analysis/classify/tensor_core.h"
#include "ingest/analysis/kernel_classes/kernel_classes.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/affix.h"

#include <string.h>

#define BACKWARD_PREFIX "autograd::engine::evaluate_function:"

bool names_init(struct names *names, const struct strtab *strings)
{
    *names = (struct names){.strings = strings, .base = strtab_count(strings)};
    names->flags_cap = names->base;
    names->flags = scratch_calloc(names->flags_cap, sizeof *names->flags);
    return names->flags != NULL;
}

bool names_copy(struct names *to, const struct names *from)
{
    if (!names_init(to, from->strings)) {
        return false;
    }
    memcpy(to->flags, from->flags, from->base * sizeof *to->flags);
    return true;
}

void names_free(struct names *names)
{
    strtab_destroy(names->extra);
    scratch_free(names->flags);
    *names = (struct names){0};
}

/* One more id of `extra` gets its place among the flags. */
static bool add_flags(struct names *names, uint32_t id)
{
    if (id < names->flags_cap) {
        return true;
    }
    size_t old_cap = names->flags_cap;
    uint32_t *flags = scratch_grow(names->flags, id, &names->flags_cap, sizeof *flags);
    if (flags == NULL) {
        return false;
    }
    memset(flags + old_cap, 0, (names->flags_cap - old_cap) * sizeof *flags);
    names->flags = flags;
    return true;
}

uint32_t names_intern(struct names *names, const char *text, size_t len)
{
    uint32_t id = strtab_find(names->strings, text, len);
    if (id != STRTAB_NONE) {
        return id;
    }
    if (names->extra == NULL) {
        names->extra = strtab_create();
    }
    uint32_t extra_id = names->extra == NULL ? STRTAB_NONE : strtab_intern(names->extra, text, len);
    bool fits = extra_id < STRTAB_NONE - names->base;
    return fits && add_flags(names, names->base + extra_id) ? names->base + extra_id : STRTAB_NONE;
}

const char *names_text(const struct names *names, uint32_t id)
{
    return id < names->base ? strtab_text(names->strings, id)
                            : strtab_text(names->extra, id - names->base);
}

size_t names_len(const struct names *names, uint32_t id)
{
    return id < names->base ? strtab_len(names->strings, id)
                            : strtab_len(names->extra, id - names->base);
}

static uint32_t collective_flag(const char *name)
{
    static const char *const OPS[] = {"broadcast", "reduce", "all_reduce", "all_gather",
                                      "reduce_scatter"};
    static const struct {
        const char *prefix;
        uint32_t flag;
    } LIBRARIES[] = {{"nccl:", NAME_NCCL}, {"gloo:", NAME_GLOO}, {"cncl:", NAME_CNCL}};

    for (size_t i = 0; i < sizeof LIBRARIES / sizeof *LIBRARIES; i++) {
        if (!text_begins(name, LIBRARIES[i].prefix)) {
            continue;
        }
        for (size_t op = 0; op < sizeof OPS / sizeof *OPS; op++) {
            if (strcmp(name + strlen(LIBRARIES[i].prefix), OPS[op]) == 0) {
                return LIBRARIES[i].flag;
            }
        }
    }
    return 0;
}

static uint32_t forward_flags(const char *name)
{
    if (strcmp(name, "DataParallel.forward") == 0) {
        return NAME_DP | NAME_NOT_REAL;
    }
    if (strcmp(name, "DistributedDataParallel.forward") == 0) {
        return NAME_DDP | NAME_NOT_REAL;
    }
    return text_begins(name, "Optimizer.") ? NAME_NOT_REAL : 0;
}

static bool is_loader(const char *name)
{
    return (text_begins(name, "enumerate(DataLoader)#") && text_ends(name, ".__next__")) ||
           text_begins(name, "enumerate(DataPipe)#");
}

static uint32_t flags_of(const char *name)
{
    char number[NAMES_STEP_NUMBER_BYTES];
    uint32_t flags = NAME_KNOWN | collective_flag(name) | forward_flags(name);
    if (text_begins(name, NAMES_STEP_PREFIX)) {
        bool has_number = names_step_number(name, number, sizeof number) != 0;
        flags |= has_number ? NAME_STEP | NAME_STEP_NUMBERED : NAME_STEP;
    }
    flags |= collective_kind_of_operator(name) != NULL ? NAME_OUR_COLLECTIVE : 0;
    flags |= is_loader(name) ? NAME_LOADER : 0;
    flags |= text_begins(name, "Optimizer.step") ? NAME_OPTIMIZER : 0;
    if (text_begins(name, BACKWARD_PREFIX)) {
        flags |= NAME_BACKWARD_ROOT;
        bool is_accumulate = strcmp(name, BACKWARD_PREFIX " torch::autograd::AccumulateGrad") == 0;
        flags |= is_accumulate ? NAME_ACCUMULATE_GRAD : 0;
    }
    return flags;
}

uint32_t names_find_flags(struct names *names, uint32_t id)
{
    const char *name = names_text(names, id);
    bool may_use =
        names->only_listed ? tensor_core_listed_operator(name) : tensor_core_operator(name);
    names->flags[id] |= flags_of(name) | (may_use ? (uint32_t)NAME_TENSOR_OPERATOR : 0);
    return names->flags[id];
}

uint32_t names_find_kernel_flags(struct names *names, uint32_t id)
{
    bool is_listed = tensor_core_listed_kernel(names_text(names, id));
    names->flags[id] |= NAME_KERNEL_KNOWN | (is_listed ? (uint32_t)NAME_TENSOR_KERNEL : 0);
    return names->flags[id];
}

bool names_read_kernel(struct names *names, uint32_t id, const struct kernel_rules *own)
{
    struct kernel_class class;
    if ((names->flags[id] & NAME_KERNEL_KNOWN) != 0) {
        return true;
    }
    if (!kernel_class_of(own, names_text(names, id), &class)) {
        return false;
    }
    uint32_t flags = names_find_kernel_flags(names, id);
    bool is_used = (flags & NAME_TENSOR_KERNEL) != 0 || class.matrix_unit == MATRIX_UNIT_USED;
    bool is_plain = !is_used && class.matrix_unit == MATRIX_UNIT_UNUSED;
    names->flags[id] |= is_used ? NAME_TENSOR_KERNEL : 0;
    names->flags[id] |= is_plain ? NAME_PLAIN_KERNEL : 0;
    names->flags[id] |= class.communication_kind != NULL ? NAME_COLLECTIVE_KERNEL : 0;
    return true;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Copies digits without leading zeros; single underscores between digits are allowed, as in Python.
 * Returns the length and moves `text` behind them; 0 when they do not fit or there are none. */
static size_t copy_digits(const char **text, char *out, size_t cap)
{
    const char *at = *text;
    size_t len = 0;
    while (text_is_digit(*at) || (*at == '_' && at != *text && text_is_digit(at[1]))) {
        bool counts = *at != '_' && (len != 0 || *at != '0');
        if (counts && len + 1 >= cap) {
            return 0;
        }
        if (counts) {
            out[len++] = *at;
        }
        at++;
    }
    if (at != *text && len == 0) {
        out[len++] = '0';
    }
    *text = at;
    return len;
}

size_t names_step_number(const char *name, char *out, size_t cap)
{
    const char *at = name + strlen(NAMES_STEP_PREFIX);
    while (is_space(*at)) {
        at++;
    }
    bool is_negative = *at == '-';
    if (*at == '-' || *at == '+') {
        at++;
    }
    out[0] = '-';
    size_t len = copy_digits(&at, out + 1, cap - 1);
    while (is_space(*at)) {
        at++;
    }
    if (len == 0 || *at != '\0') {
        return 0;
    }
    bool is_zero = len == 1 && out[1] == '0';
    if (is_negative && !is_zero) {
        out[len + 1] = '\0';
        return len + 1;
    }
    memmove(out, out + 1, len);
    out[len] = '\0';
    return len;
}
