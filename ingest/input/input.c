/* Windows over blocks that a thread fills. A block's memory:
 *
 *     [headroom .......... keep][data .............. block_bytes][padding]
 *                          ^ window: the kept bytes are copied before the new ones
 *
 * Blocks are used in a circle and counted without wrapping: block number n lies in blocks[n %
 * INPUT_BLOCKS]. The thread fills number `filled`; the caller works on number `taken - 1`; those
 * below `released` are free. What is kept beyond the headroom moves to the spill, where windows
 * grow in place until they get small. */
#include "ingest/input/input.h"

#include "ingest/base/thread.h"
#include "ingest/input/decode.h"
#include "ingest/input/source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct block {
    char *memory;
    size_t len;
};

struct spill {
    char *memory;
    size_t cap;
};

struct input {
    char *path; /* NULL: memory */
    struct source source;
    struct decode decode; /* the thread's until `ended` */
    size_t block_bytes;
    struct block blocks[INPUT_BLOCKS];

    pthread_t thread;
    bool thread_runs;
    pthread_mutex_t mutex;
    pthread_cond_t has_filled;
    pthread_cond_t has_released;
    /* under the mutex */
    uint64_t filled;
    uint64_t released;
    bool stop;
    bool ended;                 /* nothing more is filled */
    _Atomic uint64_t *progress; /* see input_report */
    bool failed;
    struct err err; /* when failed */

    /* the caller's */
    uint64_t taken;
    const char *window;
    size_t window_len;
    struct spill spill;
    bool end_seen;
};

static char *block_data(const struct input *in, uint64_t number)
{
    return in->blocks[number % INPUT_BLOCKS].memory + INPUT_HEADROOM_BYTES;
}

/* --- the reader thread --- */

static bool wait_for_free_block(struct input *in, uint64_t *number)
{
    (void)pthread_mutex_lock(&in->mutex);
    while (!in->stop && in->filled - in->released == INPUT_BLOCKS) {
        (void)pthread_cond_wait(&in->has_released, &in->mutex);
    }
    bool go_on = !in->stop;
    *number = in->filled;
    (void)pthread_mutex_unlock(&in->mutex);
    return go_on;
}

static void
publish(struct input *in, uint64_t number, size_t len, bool ended, const struct err *err)
{
    (void)pthread_mutex_lock(&in->mutex);
    in->blocks[number % INPUT_BLOCKS].len = len;
    if (len != 0) {
        in->filled = number + 1;
    }
    if (err->code != ERR_NONE) {
        in->failed = true;
        in->err = *err;
    }
    in->ended = ended;
    if (in->progress != NULL) {
        atomic_store(in->progress, input_bytes_read(in));
    }
    (void)pthread_mutex_unlock(&in->mutex);
    (void)pthread_cond_signal(&in->has_filled);
}

static void *run_reader(void *arg)
{
    struct input *in = arg;
    struct err err = ERR_INIT;
    bool ended = false;
    uint64_t number;
    while (!ended && wait_for_free_block(in, &number)) {
        size_t len = 0;
        bool good = decode_fill(&in->decode, block_data(in, number), in->block_bytes, &len, &err);
        ended = !good || len < in->block_bytes;
        publish(in, number, len, ended, &err);
    }
    return NULL;
}

static bool start_reader(struct input *in, struct err *err)
{
    int code = thread_start(&in->thread, run_reader, in);
    if (code != 0) {
        return err_set_errno(err, ERR_NO_MEMORY, code, "the reader thread cannot be started");
    }
    in->thread_runs = true;
    return true;
}

/* --- opening and closing --- */

static struct input *create(void)
{
    struct input *in = calloc(1, sizeof *in);
    if (in == NULL) {
        return NULL;
    }
    bool has_mutex = pthread_mutex_init(&in->mutex, NULL) == 0;
    bool has_filled = has_mutex && pthread_cond_init(&in->has_filled, NULL) == 0;
    bool has_released = has_filled && pthread_cond_init(&in->has_released, NULL) == 0;
    if (has_released) {
        return in;
    }
    if (has_filled) {
        (void)pthread_cond_destroy(&in->has_filled);
    }
    if (has_mutex) {
        (void)pthread_mutex_destroy(&in->mutex);
    }
    free(in);
    return NULL;
}

static bool allocate_blocks(struct input *in)
{
    for (size_t i = 0; i < INPUT_BLOCKS; i++) {
        in->blocks[i].memory = malloc(INPUT_HEADROOM_BYTES + in->block_bytes + INPUT_PADDING_BYTES);
        if (in->blocks[i].memory == NULL) {
            return false;
        }
    }
    in->window = block_data(in, 0);
    return true;
}

static void destroy(struct input *in)
{
    for (size_t i = 0; i < INPUT_BLOCKS; i++) {
        free(in->blocks[i].memory);
    }
    free(in->spill.memory);
    free(in->path);
    source_close(&in->source);
    (void)pthread_cond_destroy(&in->has_released);
    (void)pthread_cond_destroy(&in->has_filled);
    (void)pthread_mutex_destroy(&in->mutex);
    free(in);
}

/* `in` with an open source becomes *out, or is destroyed. */
static bool start(struct input **out, struct input *in, size_t block_bytes, struct err *err)
{
    in->block_bytes = block_bytes;
    if (!decode_open(&in->decode, &in->source, err)) {
        destroy(in);
        return false;
    }
    bool good = allocate_blocks(in) || err_set(err, ERR_NO_MEMORY, "no memory for the input");
    if (!good || !start_reader(in, err)) {
        decode_close(&in->decode);
        destroy(in);
        return false;
    }
    *out = in;
    return true;
}

bool input_open_file(struct input **out, const char *path, struct err *err)
{
    *out = NULL;
    struct input *in = create();
    if (in == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the input");
    }
    if (!source_open_file(&in->source, path, err)) {
        destroy(in);
        return false;
    }
    in->path = strdup(path);
    if (in->path == NULL) {
        destroy(in);
        return err_set(err, ERR_NO_MEMORY, "no memory for the input");
    }
    return start(out, in, INPUT_BLOCK_BYTES, err);
}

bool input_open_growing(struct input **out,
                        int fd,
                        const struct input_growth *growth,
                        struct err *err)
{
    *out = NULL;
    struct input *in = create();
    if (in == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the input");
    }
    if (!source_open_growing(&in->source, fd, growth, err)) {
        destroy(in);
        return false;
    }
    return start(out, in, INPUT_BLOCK_BYTES, err);
}

bool input_open_memory(
    struct input **out, const void *bytes, size_t len, size_t block_bytes, struct err *err)
{
    *out = NULL;
    struct input *in = create();
    if (in == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the input");
    }
    size_t size = block_bytes == 0 ? INPUT_BLOCK_BYTES : block_bytes;
    source_open_memory(&in->source, bytes, len, size);
    return start(out, in, size, err);
}

bool input_open_stream(struct input **out, const struct input_stream *stream, struct err *err)
{
    *out = NULL;
    struct input *in = create();
    if (in == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the input");
    }
    source_open_stream(&in->source, stream);
    return start(out, in, INPUT_BLOCK_BYTES, err);
}

void input_limit(struct input *in, const struct input_limits *limits)
{
    atomic_store(&in->decode.max_bytes, limits->decompressed_bytes);
    atomic_store(&in->decode.max_ratio, limits->ratio);
}

struct input_limits input_limits_of(const struct input *in)
{
    return (struct input_limits){.decompressed_bytes = atomic_load(&in->decode.max_bytes),
                                 .ratio = atomic_load(&in->decode.max_ratio)};
}

void input_close(struct input *in)
{
    if (in == NULL) {
        return;
    }
    atomic_store_explicit(&in->source.stop, true, memory_order_relaxed);
    (void)pthread_mutex_lock(&in->mutex);
    in->stop = true;
    (void)pthread_cond_signal(&in->has_released);
    (void)pthread_mutex_unlock(&in->mutex);
    if (in->thread_runs) {
        (void)pthread_join(in->thread, NULL);
    }
    decode_close(&in->decode);
    destroy(in);
}

/* --- windows --- */

static bool wait_for_filled_block(struct input *in, size_t *len)
{
    (void)pthread_mutex_lock(&in->mutex);
    while (in->filled == in->taken && !in->ended) {
        (void)pthread_cond_wait(&in->has_filled, &in->mutex);
    }
    bool has_block = in->filled != in->taken;
    *len = has_block ? in->blocks[in->taken % INPUT_BLOCKS].len : 0;
    (void)pthread_mutex_unlock(&in->mutex);
    return has_block;
}

/* The thread is woken when it has several blocks to fill: each time costs both sides something. */
static void release_blocks(struct input *in, uint64_t below)
{
    (void)pthread_mutex_lock(&in->mutex);
    in->released = below;
    bool has_room = in->filled - below <= INPUT_BLOCKS / 2;
    (void)pthread_mutex_unlock(&in->mutex);
    if (has_room) {
        (void)pthread_cond_signal(&in->has_released);
    }
}

static void join_in_headroom(struct input *in, const char *kept, size_t keep, size_t len)
{
    char *window = block_data(in, in->taken) - keep;
    memcpy(window, kept, keep);
    free(in->spill.memory);
    in->spill = (struct spill){0};
    in->window = window;
    in->window_len = keep + len;
    in->taken++;
    release_blocks(in, in->taken - 1);
}

/* Makes the spill hold the kept bytes, with room for `len` more and the padding; NULL without
 * memory. Its size doubles, so that an item of any size is copied a few times only. */
static char *spill_kept(struct input *in, const char *kept, size_t keep, size_t len)
{
    struct spill *spill = &in->spill;
    size_t need = keep + len + INPUT_PADDING_BYTES;
    uintptr_t begin = (uintptr_t)spill->memory;
    bool within = spill->memory != NULL && (uintptr_t)kept - begin < spill->cap;
    if (within && (uintptr_t)kept - begin + need <= spill->cap) {
        return spill->memory + ((uintptr_t)kept - begin);
    }
    if (within && need <= spill->cap / 2) {
        memmove(spill->memory, kept, keep);
        return spill->memory;
    }
    char *memory = need > SIZE_MAX / 2 ? NULL : malloc(need * 2);
    if (memory == NULL) {
        return NULL;
    }
    memcpy(memory, kept, keep);
    free(spill->memory);
    *spill = (struct spill){.memory = memory, .cap = need * 2};
    return memory;
}

static bool
join_in_spill(struct input *in, const char *kept, size_t keep, size_t len, struct err *err)
{
    char *window = spill_kept(in, kept, keep, len);
    if (window == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for an item of %zu bytes", keep);
    }
    memcpy(window + keep, block_data(in, in->taken), len);
    in->window = window;
    in->window_len = keep + len;
    in->taken++;
    release_blocks(in, in->taken);
    return true;
}

bool input_next(struct input *in, size_t keep, const char **window, size_t *len, struct err *err)
{
    if (keep > in->window_len) {
        return err_set(err, ERR_INTERNAL, "%zu bytes to keep of a window of %zu", keep,
                       in->window_len);
    }
    const char *kept = in->window + (in->window_len - keep);
    size_t block_len;
    bool has_block = wait_for_filled_block(in, &block_len);
    if (!has_block && in->failed) {
        *err = in->err;
        return false;
    }
    if (!has_block) {
        in->end_seen = true;
        in->window = kept;
        in->window_len = keep;
    } else if (keep <= INPUT_HEADROOM_BYTES) {
        join_in_headroom(in, kept, keep, block_len);
    } else if (!join_in_spill(in, kept, keep, block_len, err)) {
        return false;
    }
    *window = in->window;
    *len = in->window_len;
    return true;
}

bool input_peek(struct input *in, const char **window, size_t *len, struct err *err)
{
    *window = in->window;
    bool has_block = wait_for_filled_block(in, len);
    if (!has_block && in->failed) {
        *err = in->err;
        return false;
    }
    if (has_block) {
        *window = block_data(in, in->taken);
    }
    return true;
}

/* --- questions --- */

enum input_container input_container(const struct input *in)
{
    return in->source.container;
}

const char *input_path(const struct input *in)
{
    return in->path;
}

uint64_t input_bytes_read(const struct input *in)
{
    return atomic_load_explicit(&in->source.read_bytes, memory_order_relaxed);
}

uint64_t input_bytes_total(const struct input *in)
{
    return in->source.total_bytes;
}

void input_report(struct input *in, _Atomic uint64_t *bytes_read, _Atomic uint64_t *bytes_total)
{
    atomic_store(bytes_total, input_bytes_total(in));
    (void)pthread_mutex_lock(&in->mutex);
    in->progress = bytes_read;
    atomic_store(bytes_read, input_bytes_read(in));
    (void)pthread_mutex_unlock(&in->mutex);
}

bool input_cut(const struct input *in, const char **why)
{
    /* Before the end the decoder is the thread's. */
    *why = in->end_seen ? in->decode.why : NULL;
    return in->end_seen && in->decode.cut;
}
