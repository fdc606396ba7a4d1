#include "ingest/formats/memory_snapshot/pickle.h"

#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"

#include <stdlib.h>
#include <string.h>

/* Deeper nesting is no snapshot's [FMT-0.4]. */
#define MARKS_MAX 64

struct values {
    struct pickle_value *items;
    size_t count, cap;
};

struct machine {
    struct pickle *out;
    const unsigned char *bytes;
    size_t len;
    size_t at;     /* behind the opcode */
    size_t opcode; /* its place */
    struct values stack;
    size_t marks[MARKS_MAX];
    size_t mark_count;
    struct id_map memo_of; /* number in the file -> place in `memo` */
    struct values memo;
    size_t used_bytes, budget_bytes;
    struct err *err;
};

/* ---- errors ---- */

static bool refuse(struct machine *m, const char *what)
{
    return err_set_at(m->err, ERR_BAD_INPUT, m->opcode, "the pickle is refused: opcode %02x %s",
                      m->bytes[m->opcode], what);
}

static bool misfit(struct machine *m)
{
    return refuse(m, "does not fit what stands before it");
}

static bool no_memory(struct machine *m)
{
    return err_set(m->err, ERR_NO_MEMORY, "no memory for a pickle");
}

/* ---- bytes ---- */

static const unsigned char *take(struct machine *m, size_t count)
{
    if (count > m->len - m->at) {
        (void)err_set_at(m->err, ERR_BAD_INPUT, m->len,
                         "the pickle breaks off: a snapshot is read from its end");
        return NULL;
    }
    const unsigned char *bytes = m->bytes + m->at;
    m->at += count;
    return bytes;
}

static bool take_number(struct machine *m, size_t count, bool is_signed, int64_t *number)
{
    const unsigned char *bytes = take(m, count);
    uint64_t value = 0;
    for (size_t i = 0; bytes != NULL && i < count; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    if (bytes != NULL && is_signed && count > 0 && count < 8 && (bytes[count - 1] & 0x80) != 0) {
        value |= ~(uint64_t)0 << (8 * count);
    }
    *number = (int64_t)value;
    return bytes != NULL;
}

/* ---- the stack ---- */

static bool account(struct machine *m, size_t bytes)
{
    m->used_bytes += bytes;
    return m->budget_bytes == 0 || m->used_bytes <= m->budget_bytes ||
           err_set_at(m->err, ERR_TOO_LARGE, m->opcode,
                      "the pickle takes more than the memory budget of %zu MB (--ingest-memory)",
                      m->budget_bytes >> 20);
}

static bool add(struct machine *m, struct values *values, struct pickle_value value)
{
    size_t cap = values->cap;
    struct pickle_value *grown =
        scratch_grow(values->items, values->count, &values->cap, sizeof *grown);
    if (grown == NULL) {
        return no_memory(m);
    }
    values->items = grown;
    grown[values->count++] = value;
    return account(m, (values->cap - cap) * sizeof *grown);
}

static bool push(struct machine *m, struct pickle_value value)
{
    return add(m, &m->stack, value);
}

static struct pickle_value *top(struct machine *m)
{
    return m->stack.count == 0 ? NULL : &m->stack.items[m->stack.count - 1];
}

static bool push_int(struct machine *m, size_t bytes, bool is_signed)
{
    struct pickle_value value = {.kind = PICKLE_INT};
    return take_number(m, bytes, is_signed, &value.number) && push(m, value);
}

static bool push_long(struct machine *m)
{
    int64_t bytes;
    if (!take_number(m, 1, false, &bytes)) {
        return false;
    }
    return bytes > 8 ? refuse(m, "holds a number of more than 8 bytes")
                     : push_int(m, (size_t)bytes, true);
}

static bool push_real(struct machine *m)
{
    const unsigned char *bytes = take(m, 8);
    uint64_t bits = 0;
    struct pickle_value value = {.kind = PICKLE_REAL};
    for (size_t i = 0; bytes != NULL && i < 8; i++) {
        bits = bits << 8 | bytes[i];
    }
    memcpy(&value.real, &bits, sizeof bits);
    return bytes != NULL && push(m, value);
}

static bool push_text(struct machine *m, size_t length_bytes)
{
    int64_t len;
    if (!take_number(m, length_bytes, false, &len)) {
        return false;
    }
    const unsigned char *text = take(m, (size_t)len);
    const struct pickle_value value = {
        .kind = PICKLE_TEXT, .len = (uint32_t)len, .text = (const char *)text};
    return text != NULL && push(m, value);
}

/* ---- containers ---- */

static bool push_container(struct machine *m, bool is_dict, bool is_tuple)
{
    struct pickle *out = m->out;
    size_t cap = out->container_cap;
    struct pickle_container *grown =
        scratch_grow(out->containers, out->container_count, &out->container_cap, sizeof *grown);
    if (grown == NULL || out->container_count == UINT32_MAX) {
        return no_memory(m);
    }
    out->containers = grown;
    grown[out->container_count] =
        (struct pickle_container){.items = NULL, .is_dict = is_dict, .is_tuple = is_tuple};
    const struct pickle_value value = {.kind = is_dict ? PICKLE_DICT : PICKLE_LIST,
                                       .container = out->container_count++};
    return account(m, (out->container_cap - cap) * sizeof *grown) && push(m, value);
}

static bool extend(struct machine *m,
                   struct pickle_container *to,
                   const struct pickle_value *items,
                   size_t count)
{
    if (count > UINT32_MAX / 2 - to->count) {
        return no_memory(m);
    }
    if (to->count + count > to->cap) {
        size_t cap =
            to->count + count > 2 * (size_t)to->cap ? to->count + count : 2 * (size_t)to->cap;
        struct pickle_value *grown = realloc(to->items, cap * sizeof *grown);
        if (grown == NULL) {
            return no_memory(m);
        }
        if (!account(m, (cap - to->cap) * sizeof *grown)) {
            to->items = grown;
            return false;
        }
        to->items = grown;
        to->cap = (uint32_t)cap;
    }
    if (count > 0) {
        memcpy(to->items + to->count, items, count * sizeof *items);
    }
    to->count += (uint32_t)count;
    return true;
}

/* The list or dictionary on the stack below `count` items, which go into it. */
static bool take_items(struct machine *m, size_t count, bool is_dict)
{
    if (m->stack.count < count + 1 || (is_dict && count % 2 != 0)) {
        return misfit(m);
    }
    size_t first = m->stack.count - count;
    const struct pickle_value *target = &m->stack.items[first - 1];
    if (target->kind != (is_dict ? PICKLE_DICT : PICKLE_LIST) ||
        m->out->containers[target->container].is_tuple) {
        return misfit(m);
    }
    m->stack.count = first;
    return extend(m, &m->out->containers[target->container], m->stack.items + first, count);
}

static bool take_marked(struct machine *m, bool is_dict)
{
    if (m->mark_count == 0) {
        return misfit(m);
    }
    size_t first = m->marks[--m->mark_count];
    return first > m->stack.count ? misfit(m) : take_items(m, m->stack.count - first, is_dict);
}

static bool make_tuple(struct machine *m, size_t count)
{
    if (m->stack.count < count) {
        return misfit(m);
    }
    size_t first = m->stack.count - count;
    if (!push_container(m, false, true)) {
        return false;
    }
    struct pickle_value tuple = *top(m);
    m->stack.count = first;
    return extend(m, &m->out->containers[tuple.container], m->stack.items + first, count) &&
           push(m, tuple);
}

static bool make_marked_tuple(struct machine *m)
{
    if (m->mark_count == 0 || m->marks[m->mark_count - 1] > m->stack.count) {
        return misfit(m);
    }
    size_t first = m->marks[--m->mark_count];
    return make_tuple(m, m->stack.count - first);
}

static bool mark(struct machine *m)
{
    if (m->mark_count == MARKS_MAX) {
        return refuse(m, "nests deeper than 64 levels");
    }
    m->marks[m->mark_count++] = m->stack.count;
    return true;
}

/* ---- the memo ---- */

static bool memoize(struct machine *m, int64_t number)
{
    const struct pickle_value *value = top(m);
    struct id_slot *slot = value == NULL ? NULL : id_map_add(&m->memo_of, number);
    if (value == NULL) {
        return misfit(m);
    }
    if (slot == NULL) {
        return no_memory(m);
    }
    if (slot->value != ID_MAP_NONE) {
        m->memo.items[slot->value] = *value;
        return true;
    }
    slot->value = (uint32_t)m->memo.count;
    return add(m, &m->memo, *value) && account(m, 2 * sizeof *slot);
}

static bool put_memo(struct machine *m, size_t bytes)
{
    int64_t number;
    return take_number(m, bytes, false, &number) && memoize(m, number);
}

static bool get_memo(struct machine *m, size_t bytes)
{
    int64_t number;
    if (!take_number(m, bytes, false, &number)) {
        return false;
    }
    const struct id_slot *slot = id_map_find(&m->memo_of, number);
    return slot == NULL ? misfit(m) : push(m, m->memo.items[slot->value]);
}

/* ---- opcodes ---- */

static bool protocol(struct machine *m)
{
    int64_t version;
    return take_number(m, 1, false, &version) &&
           ((version >= 2 && version <= 5) || refuse(m, "names a protocol that is not read"));
}

static bool run_opcode(struct machine *m, unsigned char opcode)
{
    switch (opcode) {
    case 0x80:
        return protocol(m);
    case 0x95:
        return take(m, 8) != NULL;
    case '(':
        return mark(m);
    case '}':
        return push_container(m, true, false);
    case ']':
        return push_container(m, false, false);
    case ')':
        return push_container(m, false, true);
    case 'N':
        return push(m, (struct pickle_value){.kind = PICKLE_NULL});
    case 0x88:
    case 0x89:
        return push(m, (struct pickle_value){.kind = PICKLE_BOOL, .number = opcode == 0x88});
    case 'J':
        return push_int(m, 4, true);
    case 'K':
        return push_int(m, 1, false);
    case 'M':
        return push_int(m, 2, false);
    case 0x8a:
        return push_long(m);
    case 'G':
        return push_real(m);
    case 0x8c:
        return push_text(m, 1);
    case 'X':
        return push_text(m, 4);
    case 0x94:
        return memoize(m, (int64_t)m->memo_of.count);
    case 'q':
        return put_memo(m, 1);
    case 'r':
        return put_memo(m, 4);
    case 'h':
        return get_memo(m, 1);
    case 'j':
        return get_memo(m, 4);
    case 'a':
        return take_items(m, 1, false);
    case 'e':
        return take_marked(m, false);
    case 's':
        return take_items(m, 2, true);
    case 'u':
        return take_marked(m, true);
    case 0x85:
    case 0x86:
    case 0x87:
        return make_tuple(m, (size_t)opcode - 0x84);
    case 't':
        return make_marked_tuple(m);
    default:
        return refuse(m,
                      "is not one of plain data: only lists, dictionaries, texts and numbers are "
                      "read");
    }
}

static bool run(struct machine *m)
{
    for (;;) {
        m->opcode = m->at;
        const unsigned char *opcode = take(m, 1);
        if (opcode == NULL) {
            return false;
        }
        if (*opcode == '.') {
            if (m->stack.count == 0) {
                return misfit(m);
            }
            m->out->root = *top(m);
            m->out->len = m->at;
            return true;
        }
        if (!run_opcode(m, *opcode)) {
            return false;
        }
    }
}

bool pickle_read(
    struct pickle *pickle, const char *bytes, size_t len, size_t budget_bytes, struct err *err)
{
    struct machine m = {.out = pickle,
                        .bytes = (const unsigned char *)bytes,
                        .len = len,
                        .budget_bytes = budget_bytes,
                        .err = err};
    *pickle = (struct pickle){.containers = NULL};
    id_map_init(&m.memo_of);
    bool ok = run(&m);
    id_map_free(&m.memo_of);
    SCRATCH_FREE(m.memo.items, m.stack.items);
    return ok;
}

void pickle_free(struct pickle *pickle)
{
    for (uint32_t i = 0; i < pickle->container_count; i++) {
        free(pickle->containers[i].items);
    }
    scratch_free(pickle->containers);
    *pickle = (struct pickle){.containers = NULL};
}

/* ---- looking into it ---- */

const struct pickle_container *pickle_list(const struct pickle *pickle,
                                           const struct pickle_value *value)
{
    return value != NULL && value->kind == PICKLE_LIST ? &pickle->containers[value->container]
                                                       : NULL;
}

const struct pickle_value *
pickle_get(const struct pickle *pickle, const struct pickle_value *dict, const char *key)
{
    if (dict == NULL || dict->kind != PICKLE_DICT) {
        return NULL;
    }
    const struct pickle_container *items = &pickle->containers[dict->container];
    uint32_t pairs = items->count / 2;
    for (uint32_t i = 0; i < pairs && i < PICKLE_KEYS_MAX; i++) {
        uint32_t at = (pairs - 1 - i) * 2;
        if (pickle_text_is(&items->items[at], key)) {
            return &items->items[at + 1];
        }
    }
    return NULL;
}

int64_t pickle_int(const struct pickle_value *value, int64_t none)
{
    return value != NULL && value->kind == PICKLE_INT ? value->number : none;
}

bool pickle_text_is(const struct pickle_value *value, const char *text)
{
    size_t len = strlen(text);
    return value != NULL && value->kind == PICKLE_TEXT && value->len == len &&
           memcmp(value->text, text, len) == 0;
}
