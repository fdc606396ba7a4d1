#include "ingest/analysis/operations/transfers.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

/* "[3,7]": the other one of two; RANK_UNKNOWN: another list. */
static int64_t peer_in(const char *list, int64_t rank)
{
    int64_t values[2] = {0, 0};
    const char *at = list;
    for (size_t i = 0; i < 2; i++) {
        char *end = NULL;
        if (*at != (i == 0 ? '[' : ',') || isdigit((unsigned char)at[1]) == 0) {
            return RANK_UNKNOWN;
        }
        errno = 0;
        values[i] = strtoll(at + 1, &end, 10);
        if (errno != 0) {
            return RANK_UNKNOWN;
        }
        at = end;
    }
    bool is_one = *at == ']' && at[1] == '\0' && values[0] != values[1];
    if (!is_one || (values[0] != rank && values[1] != rank)) {
        return RANK_UNKNOWN;
    }
    return values[0] == rank ? values[1] : values[0];
}

struct step_at {
    int64_t start_ns, number;
};

static struct step_at *steps_by_start(const struct rank_digest *digest)
{
    struct step_at *steps = scratch_calloc((size_t)digest->step_count + 1, sizeof *steps);
    for (uint32_t i = 0; steps != NULL && i < digest->step_count; i++) {
        steps[i] = (struct step_at){digest->steps[i].start_ns, digest->steps[i].number};
    }
    if (steps != NULL && digest->step_count > 0) {
        qsort(steps, digest->step_count, sizeof *steps, order_i64_at);
    }
    return steps;
}

bool transfers_read(const struct rank_digest *digest,
                    int64_t rank,
                    struct arena *arena,
                    struct rank_transfer **out,
                    uint32_t *count)
{
    struct step_at *steps = steps_by_start(digest);
    size_t room = 0;
    *count = 0;
    for (uint32_t i = 0; i < digest->collective_count; i++) {
        room += digest->collectives[i].kind == RANK_SEND_RECEIVE;
    }
    *out = arena_calloc(arena, room + 1, sizeof **out);
    bool ok = steps != NULL && *out != NULL;
    for (uint32_t i = 0; ok && i < digest->collective_count; i++) {
        const struct rank_collective *item = &digest->collectives[i];
        if (item->kind != RANK_SEND_RECEIVE || item->group_ranks == RANK_NO_TEXT ||
            item->name == RANK_NO_TEXT) {
            continue;
        }
        bool is_send = strcasecmp(digest->texts[item->name], "send") == 0;
        bool is_known = is_send || strcasecmp(digest->texts[item->name], "recv") == 0;
        int64_t peer = peer_in(digest->texts[item->group_ranks], rank);
        size_t before =
            order_i64_below(steps, digest->step_count, sizeof *steps, 0, item->start_ns, true);
        if (is_known && peer != RANK_UNKNOWN && (before > 0 || digest->step_count == 0)) {
            (*out)[(*count)++] =
                (struct rank_transfer){.start_ns = item->start_ns,
                                       .duration_ns = item->duration_ns,
                                       .step = before > 0 ? steps[before - 1].number : 0,
                                       .peer = peer,
                                       .is_send = is_send};
        }
    }
    scratch_free(steps);
    return ok;
}

int transfers_type(bool is_send, uint32_t own, uint32_t peer)
{
    if (peer == own + 1) {
        return is_send ? OPERATION_FORWARD_SEND : OPERATION_BACKWARD_RECV;
    }
    if (own == peer + 1) {
        return is_send ? OPERATION_BACKWARD_SEND : OPERATION_FORWARD_RECV;
    }
    return -1;
}

bool transfers_named(const struct rank_operation *operations, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        switch (operations[i].type) {
        case OPERATION_BACKWARD_RECV:
        case OPERATION_BACKWARD_SEND:
        case OPERATION_FORWARD_RECV:
        case OPERATION_FORWARD_SEND:
            return true;
        default:
            break;
        }
    }
    return false;
}
