/* The one table of options and commands, which parsing, --help and the manual page read. */
#ifndef KS_SERVER_OPTIONS_OPTIONS_TABLE_H
#define KS_SERVER_OPTIONS_OPTIONS_TABLE_H

#include "server/options/options.h"

#include <stdbool.h>
#include <stddef.h>

#define OPTION_FOR(command) (1U << (command))
#define OPTION_ENV_PREFIX "KINETOSCOPE_"
#define OPTION_ENV_BYTES 64

enum option_kind { KIND_FLAG, KIND_VALUE };

/* Under which heading the help of a command with many options lists one. */
enum option_group {
    GROUP_OTHER,
    GROUP_ADDRESS,
    GROUP_ACCESS,
    GROUP_DATA,
    GROUP_ANALYSIS,
    GROUP_LIMITS,
    GROUP_OPERATION,
    GROUP_COUNT
};

/* A name may stand in several rows: it means something else to other commands. */
struct option {
    const char *name;
    enum option_kind kind;
    unsigned commands; /* OPTION_FOR(...) */
    const char *form;  /* of the value, in help; NULL for a flag */
    const char *help;  /* with the default in parentheses */
    bool (*set)(struct options *options, const char *text, const char **form);
    enum option_group group;
};

struct option_command {
    const char *name;
    const char *usage; /* behind "kinetoscope " */
    const char *help;
    size_t files_min, files_max;
};

extern const struct option option_table[];
extern const size_t option_count;
extern const struct option_command command_table[COMMAND_COUNT];

bool option_is_of(const struct option *option, enum options_command command);
/* The environment variable of an option. */
void option_env_name(const struct option *option, char name[OPTION_ENV_BYTES]);

#endif
