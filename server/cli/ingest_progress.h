/* One line on a terminal that shows how far a file is. */
#ifndef KS_SERVER_CLI_INGEST_PROGRESS_H
#define KS_SERVER_CLI_INGEST_PROGRESS_H

#include "ingest/jobs/queue/jobs.h"

#include <stdio.h>

/* Draws over what was drawn before. */
void ingest_progress_show(FILE *terminal, const char *file_name, const struct jobs_status *status);
void ingest_progress_clear(FILE *terminal);

#endif
