/* Kernel names, made readable: the rule by which the page shortens them (static/js/lib/names.js).
 */
#ifndef KS_BASE_TEXT_SHORT_NAME_H
#define KS_BASE_TEXT_SHORT_NAME_H

#include "ingest/base/text/buf.h"

/* Appends the name without "void", argument list and the template arguments that say little, and in
 * parentheses the word among those that tells it apart:
 *
 *   void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, …>(int, …)
 *   at::native::vectorized_elementwise_kernel<4, …> (AddFunctor)
 *
 * Python frames as python_frame_print() has them. Names that are neither stay as they are.
 * O(length). */
void short_name(struct buf *out, const char *name);

#endif
