#include "server/cli/commands.h"
#include "server/http/assets.h"

#include <stdio.h>

static bool print_licenses(void)
{
    const struct asset *licenses = assets_find("licenses.txt");
    return licenses != NULL && fwrite(licenses->bytes, 1, licenses->len, stdout) == licenses->len;
}

int command_version(const struct options *options)
{
    (void)printf("kinetoscope " KS_VERSION "\n");
    bool ok = !options->licenses || print_licenses();
    return ok && fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

int command_help(const struct options *options)
{
    if (options->prints_man) {
        options_man(stdout);
    } else {
        options_help(stdout, options->help_about);
    }
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}
