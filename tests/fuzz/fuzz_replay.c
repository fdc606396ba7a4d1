/* Stands in for libFuzzer where there is none: runs a target over all files of the folders (or the
 * files) that are named.
 *
 *     usage: fuzz_TARGET PATH...     (a folder that is not there is empty) */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096
#define READ_BYTES 65536

static bool run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return false;
    }
    static char part[READ_BYTES];
    struct buf bytes;
    size_t len = 0;
    buf_init(&bytes, SIZE_MAX);
    while ((len = fread(part, 1, sizeof part, file)) > 0) {
        buf_append(&bytes, part, len);
    }
    bool good = ferror(file) == 0 && !bytes.failed;
    (void)fclose(file);
    /* A block of its own size: the sanitizer sees the first byte that is read too far. */
    uint8_t *exact = malloc(bytes.len == 0 ? 1 : bytes.len);
    fuzz_require(exact != NULL, "memory for the input");
    memcpy(exact, bytes.len == 0 ? "" : bytes.ptr, bytes.len);
    /* The last words before a crash say which file it was. */
    (void)fprintf(stderr, "%s\n", path);
    (void)LLVMFuzzerTestOneInput(exact, bytes.len);
    free(exact);
    buf_free(&bytes);
    return good;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The names in the folder, in an order that does not change. */
static char **list_folder(DIR *folder, size_t *count)
{
    char **names = NULL;
    *count = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        char **grown = realloc(names, (*count + 1) * sizeof *names);
        fuzz_require(grown != NULL, "memory for the names");
        names = grown;
        names[(*count)++] = fuzz_text((const uint8_t *)entry->d_name, strlen(entry->d_name));
    }
    if (names != NULL) {
        qsort(names, *count, sizeof *names, compare_names);
    }
    return names;
}

static bool run_path(const char *path, size_t *inputs)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        *inputs += errno == ENOTDIR;
        return errno == ENOENT || run_file(path);
    }
    bool good = true;
    size_t count = 0;
    char **names = list_folder(folder, &count);
    for (size_t i = 0; names != NULL && i < count; i++) {
        char below[PATH_BYTES];
        int len = snprintf(below, sizeof below, "%s/%s", path, names[i]);
        good = len > 0 && (size_t)len < sizeof below && run_file(below) && good;
        free(names[i]);
    }
    *inputs += count;
    free(names);
    (void)closedir(folder);
    return good;
}

int main(int argc, char **argv)
{
    bool good = true;
    size_t inputs = 0;
    for (int i = 1; i < argc; i++) {
        good = run_path(argv[i], &inputs) && good;
    }
    (void)printf("%zu inputs\n", inputs);
    return good && inputs > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
