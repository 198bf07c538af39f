/* scenarios.h: the scenarios as words on a command line: feeler make, feeler demo */
#ifndef FLR_SCENARIOS_H
#define FLR_SCENARIOS_H

#include "command.h"

/* Their names, for completion. */
size_t flr_scenarios_words(const char **words, size_t capacity);
/* Names and summaries, as text or JSON. Returns the exit code. */
int flr_scenarios_list(flr_cli *cli);
/* Says that there is none of that name, and which may be meant. Returns the exit code. */
int flr_scenarios_unknown(flr_cli *cli, const char *name);

#endif
