/* Asks the system to start writing a file, so that a later sync finds little left to do. */
#ifndef KS_STORE_DB_WRITE_BACK_H
#define KS_STORE_DB_WRITE_BACK_H

#include <stdint.h>

/* Only a beginning, of what the file has from `begin_bytes` on, which nobody waits for: what fails
 * shows when the file is synced. Does nothing where the system has no such call. */
void write_back_begin(int fd, uint64_t begin_bytes);

#endif
