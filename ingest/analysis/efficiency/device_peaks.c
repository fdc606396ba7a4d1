#include "ingest/analysis/efficiency/device_peaks.h"

#include "ingest/base/text/json_small.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define UNKNOWN (double)NAN
#define LISTED(precision) (1U << FORMULA_##precision)
#define MATRIX_LISTED                                                                         \
    (LISTED(FP16) | LISTED(BF16) | LISTED(TF32) | LISTED(FP32) | LISTED(FP64) | LISTED(FP8) | \
     LISTED(INT8))
#define VECTOR_LISTED (LISTED(FP16) | LISTED(BF16) | LISTED(FP32) | LISTED(FP64))

/* Matrix, then vector units: fp16, bf16, tf32, fp32, fp64, fp8, int8, fp4. */
static const struct device_peaks built_in[] = {
    {"H200",
     "NVIDIA H200 datasheet",
     4.8E12,
     {{989.4E12, 989.4E12, 494.7E12, 67E12, 67E12, 1978.9E12, 1978.9E12, UNKNOWN},
      {67E12, 67E12, UNKNOWN, 67E12, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}},
     {MATRIX_LISTED, VECTOR_LISTED}},
    {"H100 80GB HBM3",
     "NVIDIA H100 datasheet (half of its sparse figures)",
     3.35E12,
     {{989.4E12, 989.4E12, 494.7E12, 67E12, 67E12, 1978.9E12, 1978.9E12, UNKNOWN},
      {67E12, 67E12, UNKNOWN, 67E12, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}},
     {MATRIX_LISTED, VECTOR_LISTED}},
    {"H100 SXM",
     "NVIDIA H100 datasheet (half of its sparse figures)",
     3.35E12,
     {{989.4E12, 989.4E12, 494.7E12, 67E12, 67E12, 1978.9E12, 1978.9E12, UNKNOWN},
      {67E12, 67E12, UNKNOWN, 67E12, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}},
     {MATRIX_LISTED, VECTOR_LISTED}},
    {"A100-SXM4-40GB",
     "NVIDIA A100 datasheet",
     1.555E12,
     {{312E12, 312E12, 156E12, 19.5E12, 19.5E12, UNKNOWN, 624E12, UNKNOWN},
      {19.5E12, 19.5E12, UNKNOWN, 19.5E12, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}},
     {MATRIX_LISTED, VECTOR_LISTED}},
    {"A100",
     "NVIDIA A100 datasheet",
     2.039E12,
     {{312E12, 312E12, 156E12, 19.5E12, 19.5E12, UNKNOWN, 624E12, UNKNOWN},
      {19.5E12, 19.5E12, UNKNOWN, 19.5E12, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}},
     {MATRIX_LISTED, VECTOR_LISTED}},
    {"NVIDIA L4",
     "NVIDIA L4 datasheet",
     0.3E12,
     {{121E12, 121E12, 60E12, 30.3E12, UNKNOWN, 242E12, 242E12, UNKNOWN},
      {30.3E12, 30.3E12, UNKNOWN, 30.3E12, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}},
     {MATRIX_LISTED, VECTOR_LISTED}},
    {"MI300X",
     "AMD MI300X data sheet",
     5.3E12,
     {{1307.4E12, 1307.4E12, 653.7E12, 163.4E12, 163.4E12, 2614.9E12, 2614.9E12, UNKNOWN},
      {163.4E12, 163.4E12, UNKNOWN, 163.4E12, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}},
     {MATRIX_LISTED, VECTOR_LISTED}},
    {"MI300A",
     "AMD MI300A data sheet",
     5.3E12,
     {{980.6E12, 980.6E12, 490.3E12, 122.6E12, 122.6E12, 1961.2E12, 1961.2E12, UNKNOWN},
      {122.6E12, 122.6E12, UNKNOWN, 122.6E12, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}},
     {MATRIX_LISTED, VECTOR_LISTED}},
    {"MI350X",
     "AMD MI350X brochure",
     8E12,
     {{2309.6E12, 2309.6E12, UNKNOWN, 144.2E12, 72.1E12, 4614E12, 4614E12, UNKNOWN},
      {144.2E12, 144.2E12, UNKNOWN, 144.2E12, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}},
     {MATRIX_LISTED, VECTOR_LISTED}},
    {"MI210",
     "AMD MI210 brochure",
     1.6E12,
     {{181E12, 181E12, UNKNOWN, 45.3E12, 45.3E12, UNKNOWN, 181E12, UNKNOWN},
      {22.6E12, 22.6E12, UNKNOWN, 22.6E12, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}},
     {MATRIX_LISTED, VECTOR_LISTED}},
};

/* ---- of a trace ---- */

static bool is_in_word(char c)
{
    return isalnum((unsigned char)c) != 0;
}

/* An L40S is no L4, and a GH200 no H200. */
static bool has_words(const char *name, const char *words)
{
    for (const char *at = strstr(name, words); at != NULL; at = strstr(at + 1, words)) {
        if ((at == name || !is_in_word(at[-1])) && !is_in_word(at[strlen(words)])) {
            return true;
        }
    }
    return false;
}

static const struct device_peaks *
find_among(const struct trace *trace, const struct device_peaks *peaks, size_t count, bool by_words)
{
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct device_properties *device = &trace->devices[i];
        bool has_name = (device->has & DEVICE_HAS_NAME) != 0 && device->name != NULL;
        for (size_t at = 0; has_name && at < count; at++) {
            if (by_words ? has_words(device->name, peaks[at].name)
                         : strstr(device->name, peaks[at].name) != NULL) {
                return &peaks[at];
            }
        }
    }
    return NULL;
}

const struct device_peaks *device_peaks_find(const struct trace *trace,
                                             const struct device_peaks_list *own)
{
    const struct device_peaks *found =
        own == NULL ? NULL : find_among(trace, own->items, own->count, false);
    return found != NULL ? found
                         : find_among(trace, built_in, sizeof built_in / sizeof *built_in, true);
}

/* ---- the file ---- */

static bool bad(struct err *err, const char *key, const char *what)
{
    return err_set(err, ERR_BAD_INPUT, "the devices' peaks: \"%.100s\": %s", key, what);
}

/* A number above 0, or null; NaN also when it is not there. */
static bool read_number(json_t *object, const char *name, double *out)
{
    json_t *value = json_object_get(object, name);
    *out = (double)NAN;
    if (value == NULL || json_is_null(value)) {
        return true;
    }
    *out = json_number_value(value);
    return json_is_number(value) && *out > 0;
}

static bool read_unit(json_t *device, enum formula_unit unit, struct device_peaks *out)
{
    json_t *object = json_object_get(device, formula_unit_text(unit));
    for (int i = 0; i < FORMULA_PRECISION_COUNT; i++) {
        const char *name = formula_precision_text((enum formula_precision)i);
        bool is_listed = json_object_get(object, name) != NULL;
        out->listed[unit] |= is_listed ? 1U << i : 0;
        if (!read_number(object, name, &out->peak[unit][i])) {
            return false;
        }
    }
    return object == NULL || json_is_object(object);
}

static bool read_device(
    const char *key, json_t *device, struct arena *arena, struct device_peaks *out, struct err *err)
{
    const char *source = json_string_value(json_object_get(device, "source"));
    out->name = arena_strdup(arena, key);
    out->source = source == NULL ? NULL : arena_strdup(arena, source);
    if (out->name == NULL || (source != NULL && out->source == NULL)) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the devices' peaks");
    }
    if (*key == '\0' || !json_is_object(device)) {
        return bad(err, key, "a part of a device's name, and an object");
    }
    if (!read_number(device, "bandwidth_bytes_per_second", &out->bandwidth_bytes_per_second) ||
        !read_unit(device, FORMULA_MATRIX, out) || !read_unit(device, FORMULA_VECTOR, out)) {
        return bad(err, key, "peaks are numbers above 0 or null, in \"matrix\" and \"vector\"");
    }
    return true;
}

static bool read_devices(json_t *root, struct device_peaks_list *list, struct err *err)
{
    const char *key;
    json_t *device;
    if (!json_is_object(root)) {
        return err_set(err, ERR_BAD_INPUT, "the devices' peaks are a JSON object");
    }
    list->items = arena_calloc(&list->arena, json_object_size(root) + 1, sizeof *list->items);
    if (list->items == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the devices' peaks");
    }
    json_object_foreach(root, key, device)
    {
        if (!read_device(key, device, &list->arena, &list->items[list->count++], err)) {
            return false;
        }
    }
    return true;
}

static bool read_text(const char *path, char *text, size_t *len, struct err *err)
{
    FILE *stream = fopen(path, "r");
    if (stream == NULL) {
        return err_set(err, ERR_IO, "cannot open the devices' peaks %s", path);
    }
    *len = fread(text, 1, FILE_BYTES_MAX, stream);
    bool ok = ferror(stream) == 0 && feof(stream) != 0;
    (void)fclose(stream);
    return ok || err_set(err, ERR_IO, "cannot read the devices' peaks %s (at most 1 MB)", path);
}

bool device_peaks_read(const char *path, struct device_peaks_list *list, struct err *err)
{
    size_t len = 0;
    arena_init(&list->arena, 0);
    list->items = NULL;
    list->count = 0;
    char *text = malloc(FILE_BYTES_MAX);
    if (text == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the devices' peaks");
    }
    bool ok = read_text(path, text, &len, err);
    json_t *root =
        ok ? json_small_parse(text, len, JSON_REJECT_DUPLICATES, "The devices' peaks", err) : NULL;
    ok = root != NULL && read_devices(root, list, err);
    json_decref(root);
    free(text);
    return ok;
}

void device_peaks_free(struct device_peaks_list *list)
{
    arena_free(&list->arena);
    list->items = NULL;
    list->count = 0;
}
