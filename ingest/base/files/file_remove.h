/* Removing a file without waiting for its space. */
#ifndef KS_BASE_FILE_REMOVE_H
#define KS_BASE_FILE_REMOVE_H

#include "ingest/base/attr.h"

/* As unlink, but of a file of more than 4 MB only the name is gone on return: the system takes half
 * a second to free a gigabyte, and does so on a thread of its own. */
int file_remove(const char *path) KS_MUST_USE;

#endif
