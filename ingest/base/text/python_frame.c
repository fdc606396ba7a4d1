#include "ingest/base/text/python_frame.h"

#include "ingest/base/text/affix.h"

#include <string.h>

/* The last "(34): " counts: a path may hold parentheses. */
bool python_frame_read(const char *name, struct python_frame *out)
{
    size_t len = strlen(name);
    for (size_t i = len < 4 ? 0 : len - 3; i > 1; i--) {
        if (name[i - 1] != ')' || name[i] != ':' || name[i + 1] != ' ') {
            continue;
        }
        size_t first = i - 1;
        while (first > 0 && text_is_digit(name[first - 1])) {
            first--;
        }
        if (first > 1 && first < i - 1 && name[first - 1] == '(') {
            *out = (struct python_frame){.file = name,
                                         .file_len = first - 1,
                                         .line = name + first,
                                         .line_len = i - 1 - first,
                                         .function = name + i + 2};
            return true;
        }
    }
    return false;
}

/* ---- whose a frame is ---- */

/* The first part of a path, a folder or a file. In order of the alphabet. */
static const char *const libraries[] = {
    "_collections_abc",
    "_weakrefset",
    "abc",
    "ast",
    "asyncio",
    "bdb",
    "codecs",
    "collections",
    "concurrent",
    "contextlib",
    "copy",
    "copyreg",
    "ctypes",
    "dataclasses",
    "datetime",
    "enum",
    "functools",
    "gzip",
    "hashlib",
    "importlib",
    "inspect",
    "json",
    "logging",
    "multiprocessing",
    "numpy",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "pkgutil",
    "queue",
    "random",
    "re",
    "runpy",
    "selectors",
    "shutil",
    "socket",
    "socketserver",
    "ssl",
    "string",
    "subprocess",
    "tempfile",
    "textwrap",
    "threading",
    "tokenize",
    "torch",
    "torchaudio",
    "torchvision",
    "traceback",
    "triton",
    "typing",
    "unittest",
    "urllib",
    "uuid",
    "warnings",
    "weakref",
};
static const char *const installed[] = {"site-packages/", "dist-packages/", "lib/python"};

static bool is_library_file(const char *file, size_t len)
{
    const char *slash = memchr(file, '/', len);
    size_t first_len = slash == NULL ? len : (size_t)(slash - file);
    bool is_file = slash == NULL && len > 3 && memcmp(file + len - 3, ".py", 3) == 0;
    first_len -= is_file ? 3 : 0;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        if (strlen(libraries[i]) == first_len && memcmp(libraries[i], file, first_len) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof installed / sizeof installed[0]; i++) {
        const char *found = strstr(file, installed[i]);
        if (found != NULL && (size_t)(found - file) < len) {
            return true;
        }
    }
    return false;
}

bool python_frame_is_library(const char *name)
{
    struct python_frame frame;
    if (*name == '<') {
        return true;
    }
    return python_frame_read(name, &frame) && is_library_file(frame.file, frame.file_len);
}

/* ---- what is shown ---- */

size_t python_frame_stem(const char *name, size_t len, const char **tail)
{
    static const char mark[] = " at 0x";
    size_t end = len;
    bool is_closed = end > 0 && name[end - 1] == '>';
    end -= is_closed;
    size_t first = end;
    while (first > 0 &&
           (text_is_digit(name[first - 1]) || (name[first - 1] >= 'a' && name[first - 1] <= 'f'))) {
        first--;
    }
    size_t mark_len = sizeof mark - 1;
    bool has_mark =
        first < end && first >= mark_len && memcmp(name + first - mark_len, mark, mark_len) == 0;
    *tail = has_mark && is_closed ? ">" : "";
    return has_mark ? first - mark_len : len;
}

void python_frame_print(struct buf *out, const char *name)
{
    struct python_frame frame;
    if (!python_frame_read(name, &frame)) {
        buf_puts(out, name);
        return;
    }
    size_t base = frame.file_len;
    while (base > 0 && frame.file[base - 1] != '/') {
        base--;
    }
    buf_puts(out, frame.function);
    buf_puts(out, "  ");
    buf_append(out, frame.file + base, frame.file_len - base);
    buf_putc(out, ':');
    buf_append(out, frame.line, frame.line_len);
}
