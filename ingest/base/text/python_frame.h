/* Names of Python frames as PyTorch's profiler writes them:
 *
 *     model/net.py(34): forward                             a function: file, line, name
 *     <built-in method mm of type object at 0x7f4f7dff0640> a function without a file
 *     nn.Module: Linear_0                                   a module */
#ifndef KS_BASE_TEXT_PYTHON_FRAME_H
#define KS_BASE_TEXT_PYTHON_FRAME_H

#include "ingest/base/attr.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* The parts of the first kind; they point into the name. */
struct python_frame {
    const char *file;
    size_t file_len;
    const char *line; /* digits */
    size_t line_len;
    const char *function; /* to the end of the name */
};

/* False for other names. */
bool python_frame_read(const char *name, struct python_frame *out) KS_MUST_USE;

/* Whether a frame is of Python, PyTorch or a library beneath it, not of the program that was
 * profiled: built-in and generated code, packages that are installed, the standard library, torch,
 * numpy, triton. Modules are not. */
bool python_frame_is_library(const char *name);

/* The length of a name without ` at 0x…` at its end, which differs from run to run and from object
 * to object: with it the same line would be another frame each time. `*tail`: what follows, ">" or
 * "". */
size_t python_frame_stem(const char *name, size_t len, const char **tail);

/* `forward  net.py:34`; other names as they are. */
void python_frame_print(struct buf *out, const char *name);

#endif
