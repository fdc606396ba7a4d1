/* One program: the words after its name choose what it does. */
#include "ingest/base/memory/heap.h"
#include "server/cli/commands.h"
#include "server/cli/text.h"
#include "server/options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char *environment(const char *name)
{
    return getenv(name);
}

int main(int argc, char **argv)
{
    struct options options;
    struct err err = ERR_INIT;
    heap_init();
    if (!options_parse(&options, argc, argv, environment, &err)) {
        text_print_error(stderr, NULL, &err);
        return EXIT_USAGE;
    }
    if (options.command != COMMAND_COMPARE) {
        /* What is stored is its owner's alone, whatever the directory allows; the files of
         * `compare --output` are for others. */
        (void)umask(S_IRWXG | S_IRWXO);
    }
    switch (options.command) {
    case COMMAND_SERVE:
        return command_serve(&options);
    case COMMAND_INGEST:
        return command_ingest(&options);
    case COMMAND_REPORT:
        return command_report(&options);
    case COMMAND_COMPARE:
        return command_compare(&options);
    case COMMAND_CYCLES:
        return command_cycles(&options);
    case COMMAND_BACKUP:
        return command_backup(&options);
    case COMMAND_RESTORE:
        return command_restore(&options);
    case COMMAND_COPY:
        return command_copy(&options);
    case COMMAND_TOKEN:
        return command_token(&options);
    case COMMAND_UPLOAD:
        return command_upload(&options);
    case COMMAND_WATCH:
        return command_watch(&options);
    case COMMAND_GATE:
        return command_gate(&options);
    case COMMAND_REANALYSE:
        return command_reanalyse(&options);
    case COMMAND_VERSION:
        return command_version(&options);
    case COMMAND_HELP:
    case COMMAND_COUNT:
        break;
    }
    return command_help(&options);
}
