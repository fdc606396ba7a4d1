#include "ingest/input/tar.h"

#include "ingest/input/tar_header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Long names and pax records, which precede a header as files of their own, are no longer. */
#define EXTRA_MAX_BYTES ((size_t)1 << 20)
/* Enough to tell a container by its magic. */
#define MAGIC_MAX_BYTES 4u

struct tar {
    struct input *in;
    const char *window;
    size_t len;
    size_t at;
    bool ended;      /* nothing follows the window */
    uint64_t offset; /* of window[at] in the archive */

    uint64_t left; /* of the bytes of the member */
    size_t pad;    /* behind them */
    struct buf path;
    struct tar_extras extras;
    bool lost;      /* behind a damaged header: the next good one is looked for */
    bool zero_seen; /* the block before was the first half of the end mark */
    bool over;
    struct err fault;
};

bool tar_open(struct tar **out, struct input *in, struct err *err)
{
    struct tar *tar = calloc(1, sizeof *tar);
    if (tar == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to read an archive");
    }
    tar->in = in;
    buf_init(&tar->path, TAR_PATH_MAX_BYTES);
    buf_init(&tar->extras.path, TAR_PATH_MAX_BYTES);
    *out = tar;
    return true;
}

void tar_close(struct tar *tar)
{
    if (tar != NULL) {
        buf_free(&tar->path);
        buf_free(&tar->extras.path);
        free(tar);
    }
}

/* ---- bytes ---- */

static size_t available(const struct tar *tar)
{
    return tar->len - tar->at;
}

/* Until the window holds `want` bytes (a few) or the input has ended. */
static bool fill(struct tar *tar, size_t want, struct err *err)
{
    while (available(tar) < want && !tar->ended) {
        size_t keep = available(tar);
        if (!input_next(tar->in, keep, &tar->window, &tar->len, err)) {
            return false;
        }
        tar->at = 0;
        tar->ended = tar->len == keep;
    }
    return true;
}

static void advance(struct tar *tar, size_t len)
{
    tar->at += len;
    tar->offset += len;
}

/* Fewer than `len` bytes are skipped only at the input's end. */
static bool skip(struct tar *tar, uint64_t *len, struct err *err)
{
    while (*len > 0) {
        if (!fill(tar, 1, err)) {
            return false;
        }
        size_t step = available(tar) < *len ? available(tar) : (size_t)*len;
        if (step == 0) {
            return true;
        }
        advance(tar, step);
        *len -= step;
    }
    return true;
}

/* ---- faults ---- */

static bool tell_fault(struct tar *tar, struct tar_entry *entry, bool *has_entry)
{
    *entry =
        (struct tar_entry){.path = tar->path.len == 0 ? "" : tar->path.ptr, .fault = &tar->fault};
    *has_entry = true;
    return true;
}

static bool break_off(struct tar *tar, struct tar_entry *entry, bool *has_entry, const char *where)
{
    const char *why = NULL;
    bool cut = input_cut(tar->in, &why);
    tar->over = true;
    (void)err_set_at(&tar->fault, ERR_BAD_INPUT, tar->offset, "the archive breaks off %s%s%s",
                     where, cut ? ": " : "", cut ? why : "");
    return tell_fault(tar, entry, has_entry);
}

/* ---- what precedes a header ---- */

static void forget_extras(struct tar *tar)
{
    buf_clear(&tar->extras.path);
    tar->extras.has_size = false;
    tar->extras.is_sparse = false;
}

static size_t pad_of(uint64_t size_bytes)
{
    size_t rest = (size_t)(size_bytes % TAR_BLOCK_BYTES);
    return rest == 0 ? 0 : TAR_BLOCK_BYTES - rest;
}

/* The bytes of a long name or of pax records, taken where they lie in the window. *whole false: the
 * input ends within them. */
static bool
read_extra(struct tar *tar, const struct tar_header *header, bool *whole, struct err *err)
{
    size_t len = (size_t)header->size_bytes;
    size_t padded = len + pad_of(len);
    if (!fill(tar, padded, err)) {
        return false;
    }
    *whole = available(tar) >= padded;
    if (!*whole) {
        return true;
    }
    const char *bytes = tar->window + tar->at;
    if (header->kind == TAR_LONG_NAME) {
        const char *end = memchr(bytes, '\0', len);
        buf_clear(&tar->extras.path);
        buf_append(&tar->extras.path, bytes, end == NULL ? len : (size_t)(end - bytes));
    } else {
        tar_extras_read(&tar->extras, bytes, len);
    }
    advance(tar, padded);
    return true;
}

/* ---- headers ---- */

/* Puts the path together; false when it is longer than paths may be. */
static bool set_path(struct tar *tar, const char *block, bool *hidden)
{
    struct buf raw;
    buf_init(&raw, TAR_PATH_MAX_BYTES);
    if (tar->extras.path.len > 0) {
        buf_append(&raw, tar->extras.path.ptr, tar->extras.path.len);
    } else {
        tar_header_path(block, &raw);
    }
    buf_clear(&tar->path);
    bool fits = !raw.failed && !tar->extras.path.failed;
    tar_clean_path(raw.len == 0 ? "" : raw.ptr, raw.len, &tar->path, hidden);
    buf_free(&raw);
    return fits && !tar->path.failed;
}

/* The map of an old sparse file stands between its header and its bytes. */
static bool skip_sparse_map(struct tar *tar, bool goes_on, struct err *err)
{
    while (goes_on) {
        if (!fill(tar, TAR_BLOCK_BYTES, err)) {
            return false;
        }
        if (available(tar) < TAR_BLOCK_BYTES) {
            return true;
        }
        goes_on = tar_sparse_goes_on(tar->window + tar->at);
        advance(tar, TAR_BLOCK_BYTES);
    }
    return true;
}

/* What to do with the block that was read. */
enum step { STEP_ON, STEP_ANSWER, STEP_FAILED };

static enum step answer_fault(struct tar *tar, struct tar_entry *entry, const char *what)
{
    bool has_entry;
    (void)err_set_at(&tar->fault, ERR_BAD_INPUT, tar->offset, "%s", what);
    (void)tell_fault(tar, entry, &has_entry);
    return STEP_ANSWER;
}

/* A header of a file, or of something else with a path. */
static enum step take_member(struct tar *tar,
                             const char *block,
                             const struct tar_header *header,
                             struct tar_entry *entry,
                             struct err *err)
{
    bool hidden = false;
    bool has_path = set_path(tar, block, &hidden);
    bool is_sparse = header->kind == TAR_SPARSE || tar->extras.is_sparse;
    tar->left = tar->extras.has_size ? tar->extras.size_bytes : header->size_bytes;
    tar->left = header->kind == TAR_NO_DATA ? 0 : tar->left;
    tar->pad = pad_of(tar->left);
    forget_extras(tar);
    advance(tar, TAR_BLOCK_BYTES);
    bool is_file =
        header->kind == TAR_FILE || header->kind == TAR_SPARSE || header->kind == TAR_OTHER_VOLUME;
    if (!is_file || hidden || tar->left == 0) {
        return STEP_ON;
    }
    if (header->kind == TAR_SPARSE && !skip_sparse_map(tar, header->more_sparse_blocks, err)) {
        return STEP_FAILED;
    }
    if (is_sparse) {
        return answer_fault(tar, entry,
                            "sparse files are not read: pack it again without --sparse");
    }
    if (header->kind == TAR_OTHER_VOLUME) {
        return answer_fault(tar, entry, "the file begins in another volume of the archive");
    }
    if (!has_path) {
        return answer_fault(tar, entry, "the path is too long");
    }
    *entry = (struct tar_entry){.path = tar->path.len == 0 ? "" : tar->path.ptr,
                                .size_bytes = tar->left};
    return STEP_ANSWER;
}

static enum step get_lost(struct tar *tar, struct tar_entry *entry, const char *what)
{
    tar->lost = true;
    buf_clear(&tar->path);
    forget_extras(tar);
    enum step step = answer_fault(tar, entry, what);
    advance(tar, TAR_BLOCK_BYTES);
    return step;
}

static enum step
take_header(struct tar *tar, const char *block, struct tar_entry *entry, struct err *err)
{
    struct tar_header header;
    bool whole = true;
    if (!tar_header_read(block, &header)) {
        return get_lost(tar, entry, "the header of a file has a size that is no number");
    }
    bool is_extra = header.kind == TAR_LONG_NAME || header.kind == TAR_EXTENDED;
    if (!is_extra) {
        return take_member(tar, block, &header, entry, err);
    }
    if (header.size_bytes > EXTRA_MAX_BYTES) {
        return get_lost(tar, entry, "the name or the attributes of a file take more than 1 MiB");
    }
    advance(tar, TAR_BLOCK_BYTES);
    if (!read_extra(tar, &header, &whole, err)) {
        return STEP_FAILED;
    }
    if (!whole) {
        bool has_entry;
        (void)break_off(tar, entry, &has_entry, "within the name of a file");
        return STEP_ANSWER;
    }
    return STEP_ON;
}

static enum step
take_block(struct tar *tar, const char *block, struct tar_entry *entry, struct err *err)
{
    if (tar_header_is_zero(block)) {
        tar->over = tar->zero_seen;
        tar->zero_seen = true;
        advance(tar, TAR_BLOCK_BYTES);
        return STEP_ON;
    }
    bool is_header = tar_header_checksum_holds(block);
    if (!is_header && tar->zero_seen && !tar->lost) {
        tar->over = true; /* garbage behind an end mark of one block */
        return STEP_ON;
    }
    tar->zero_seen = false;
    if (!is_header && tar->lost) {
        advance(tar, TAR_BLOCK_BYTES);
        return STEP_ON;
    }
    if (!is_header) {
        return get_lost(tar, entry,
                        "the archive is damaged here: what follows up to the next good header is "
                        "not read");
    }
    tar->lost = false;
    return take_header(tar, block, entry, err);
}

/* Over what is left of the member. */
static bool leave_member(struct tar *tar, bool *broken, struct err *err)
{
    uint64_t pad = tar->pad;
    if (!skip(tar, &tar->left, err)) {
        return false;
    }
    *broken = tar->left > 0;
    tar->pad = 0;
    return *broken || skip(tar, &pad, err);
}

bool tar_next(struct tar *tar, struct tar_entry *entry, bool *has_entry, struct err *err)
{
    bool broken = false;
    *has_entry = false;
    while (!tar->over) {
        if (!leave_member(tar, &broken, err)) {
            return false;
        }
        if (broken) {
            return break_off(tar, entry, has_entry, "in this file");
        }
        if (!fill(tar, TAR_BLOCK_BYTES, err)) {
            return false;
        }
        if (available(tar) < TAR_BLOCK_BYTES) {
            tar->over = true;
            if (tar->zero_seen || tar->lost) {
                return true;
            }
            buf_clear(&tar->path);
            return break_off(tar, entry, has_entry, "without its end mark: files may be missing");
        }
        enum step step = take_block(tar, tar->window + tar->at, entry, err);
        if (step != STEP_ON) {
            *has_entry = step == STEP_ANSWER;
            return *has_entry;
        }
    }
    return true;
}

/* ---- a member's bytes ---- */

static bool next_piece(void *context, const char **bytes, size_t *len, struct err *err)
{
    struct tar *tar = context;
    *len = 0;
    if (tar->left == 0) {
        return true;
    }
    if (!fill(tar, 1, err)) {
        return false;
    }
    *bytes = tar->window + tar->at;
    *len = available(tar) < tar->left ? available(tar) : (size_t)tar->left;
    advance(tar, *len);
    tar->left -= *len;
    return true;
}

bool tar_member(struct tar *tar, struct input **out, struct err *err)
{
    size_t want = tar->left < MAGIC_MAX_BYTES ? (size_t)tar->left : MAGIC_MAX_BYTES;
    if (!fill(tar, want, err)) {
        return false;
    }
    size_t len = available(tar) < want ? available(tar) : want;
    struct input_stream stream = {.context = tar,
                                  .next = next_piece,
                                  .container = input_container_of(tar->window + tar->at, len)};
    if (!input_open_stream(out, &stream, err)) {
        return false;
    }
    const struct input_limits limits = input_limits_of(tar->in);
    input_limit(*out, &limits);
    return true;
}
