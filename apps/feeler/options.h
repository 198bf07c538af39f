/* options.h: reads a command line into a command's values struct. */
#ifndef FLR_OPTIONS_H
#define FLR_OPTIONS_H

#include "command.h"

/* Reads argv[0 … argc-1] (after the command's name). `values` has values_size bytes and is set to
 * the defaults first. What is no option goes to `arguments` (room for argc) in order, its number
 * to `*count`. Options and arguments may mix; "--" ends the options.
 * FLR_BAD_ARGUMENT with a sentence for a person otherwise. */
flr_result flr_options_parse(const flr_command *command, int argc, char **argv, void *values,
                             char **arguments, int *count, flr_error *error);

/* Is `--NAME` among the options, before a "--"? For what must be known even if parsing fails. */
bool flr_options_has_flag(int argc, char **argv, const char *name);

#endif
