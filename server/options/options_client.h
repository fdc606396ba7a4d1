/* Setters of options that lead elsewhere: those of `gate`, `reanalyse`, `upload` and
 * `watch`, which ask a server, and the address of Perfetto. As those in options.c. */
#ifndef KS_SERVER_OPTIONS_OPTIONS_CLIENT_H
#define KS_SERVER_OPTIONS_OPTIONS_CLIENT_H

#include "server/options/options.h"

bool option_set_server(struct options *o, const char *text, const char **form) KS_MUST_USE;
bool option_set_tag(struct options *o, const char *text, const char **form) KS_MUST_USE;
/* "tag:TAG" */
bool option_set_baseline(struct options *o, const char *text, const char **form) KS_MUST_USE;
/* The server knows the metrics: only the form is checked. */
bool option_set_condition(struct options *o, const char *text, const char **form) KS_MUST_USE;
bool option_set_p(struct options *o, const char *text, const char **form) KS_MUST_USE;
bool option_set_trace(struct options *o, const char *text, const char **form) KS_MUST_USE;
bool option_set_perfetto(struct options *o, const char *text, const char **form) KS_MUST_USE;

#endif
