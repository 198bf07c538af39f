/* convert_csv.h: recordings as text, one line per frame. */
#ifndef FLR_CONVERT_CSV_H
#define FLR_CONVERT_CSV_H

#include "command.h"

/* Recordings end in .mcap, tables in .csv. */
bool flr_is_recording(const char *path);
bool flr_is_csv(const char *path);

/* Does it and tells; returns the exit code. */
int flr_convert_csv(flr_cli *cli, const char *from, const char *to);

#endif
