/* A progress line on a terminal. */
#ifndef KS_SERVER_CLI_INGEST_PROGRESS_H
#define KS_SERVER_CLI_INGEST_PROGRESS_H

#include "ingest/jobs/queue/jobs.h"

#include <stdio.h>

/* Redraws the line. */
void ingest_progress_show(FILE *terminal, const char *file_name, const struct jobs_status *status);
void ingest_progress_clear(FILE *terminal);

#endif
