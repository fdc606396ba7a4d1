/* Help for people at a terminal, from the one table. */
#include "server/options/options_table.h"

#include <ctype.h>
#include <string.h>

static void help_option(FILE *stream, const struct option *option, size_t width)
{
    char left[64];
    (void)snprintf(left, sizeof left, "--%s %s", option->name,
                   option->form == NULL ? "" : option->form);
    (void)fprintf(stream, "  %-*s  %s\n", (int)width + 3, left, option->help);
}

/* The options of one group, below its title. */
static void help_group(FILE *stream,
                       enum options_command about,
                       enum option_group group,
                       const char *title,
                       size_t width)
{
    bool any = false;
    for (size_t i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        if (option_is_of(option, about) && option->group == group) {
            if (!any && title != NULL) {
                (void)fprintf(stream, " %s:\n", title);
            }
            help_option(stream, option, width);
            any = true;
        }
    }
}

/* A list that no longer fits in one look has headings. */
#define UNGROUPED_MAX 12

static void help_options(FILE *stream, enum options_command about)
{
    static const char *const titles[GROUP_COUNT] = {
        [GROUP_ADDRESS] = "Address",   [GROUP_ACCESS] = "Access", [GROUP_DATA] = "Data",
        [GROUP_ANALYSIS] = "Analysis", [GROUP_LIMITS] = "Limits", [GROUP_OPERATION] = "Operation"};
    size_t width = 0;
    size_t count = 0;
    for (size_t i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        size_t len = strlen(option->name) + (option->form == NULL ? 0 : strlen(option->form));
        bool is_its = option_is_of(option, about);
        width = is_its && len > width ? len : width;
        count += is_its;
    }
    for (size_t i = 0; count <= UNGROUPED_MAX && i < option_count; i++) {
        if (option_is_of(&option_table[i], about)) {
            help_option(stream, &option_table[i], width);
        }
    }
    for (int group = GROUP_OTHER; count > UNGROUPED_MAX && group < GROUP_COUNT; group++) {
        help_group(stream, about, (enum option_group)group, titles[group], width);
    }
}

static bool has_options(enum options_command about)
{
    for (size_t i = 0; i < option_count; i++) {
        if (option_is_of(&option_table[i], about)) {
            return true;
        }
    }
    return false;
}

static void help_overview(FILE *stream)
{
    (void)fprintf(
        stream,
        "Kinetoscope: a team's dashboard for accelerator traces.\n\nExamples:\n"
        "  kinetoscope serve                                  a server on "
        "http://127.0.0.1:8080\n"
        "  curl -T worker0.pt.trace.json.gz http://127.0.0.1:8080/api/v1/runs/first/traces/\n"
        "  kinetoscope report worker0.pt.trace.json.gz        one trace, in the terminal\n"
        "  kinetoscope compare before.json.gz after.json.gz   what changed\n\nUsage:\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        (void)fprintf(stream, "  kinetoscope %-37s  %s\n", command_table[i].usage,
                      command_table[i].help);
    }
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (has_options((enum options_command)i)) {
            (void)fprintf(stream, "\nOptions of %s:\n", command_table[i].name);
            help_options(stream, (enum options_command)i);
        }
    }
    (void)fprintf(stream,
                  "\nEach option --some-name is also the environment variable " OPTION_ENV_PREFIX
                  "SOME_NAME.\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 a --fail-if "
                  "gate fired.\n");
}

void options_help(FILE *stream, enum options_command about)
{
    if (about == COMMAND_HELP) {
        help_overview(stream);
        return;
    }
    (void)fprintf(stream, "Usage: kinetoscope %s\n%c%s.\n", command_table[about].usage,
                  toupper((unsigned char)command_table[about].help[0]),
                  command_table[about].help + 1);
    if (has_options(about)) {
        (void)fprintf(stream, "\nOptions:\n");
        help_options(stream, about);
    }
}
