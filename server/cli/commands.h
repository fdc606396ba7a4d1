/* The commands. Each prints its own errors and returns the exit code: 0 done, 1 failed, 2 wrong
 * usage, 3 a --fail-if condition held. */
#ifndef KS_SERVER_CLI_COMMANDS_H
#define KS_SERVER_CLI_COMMANDS_H

#include "server/options/options.h"

#define EXIT_DONE 0
#define EXIT_FAILED 1
#define EXIT_USAGE 2
#define EXIT_FAIL_IF 3

int command_serve(const struct options *options);
int command_ingest(const struct options *options);
int command_report(const struct options *options);
int command_compare(const struct options *options);
int command_cycles(const struct options *options);
int command_backup(const struct options *options);
int command_restore(const struct options *options);
int command_copy(const struct options *options);
int command_token(const struct options *options);
int command_upload(const struct options *options);
int command_watch(const struct options *options);
int command_gate(const struct options *options);
int command_reanalyse(const struct options *options);
int command_version(const struct options *options);
int command_help(const struct options *options);

#endif
