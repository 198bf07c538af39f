/* output.h: what the user sees: text and JSON on stdout, messages and progress on stderr.
 *
 * stdout carries results only. With --json it carries exactly one JSON document. All text that
 * comes from outside (names of files, groups, parts) goes through flr_safe(), so that it cannot
 * drive the terminal. */
#ifndef FLR_OUTPUT_H
#define FLR_OUTPUT_H

#include <jansson.h>
#include <stdint.h>

#include "base/text.h" /* flr_noun() */
#include "command.h"
#include "feeler/math.h"
#include "mesh/reader.h" /* flr_count_print() */

/* ---- text ---- */

enum { FLR_SAFE_SIZE = 512 };

/* Control characters and broken UTF-8 replaced by '?', cut to fit; returns `safe`. FLR_SAFE and its like bring room for the
 * text, which is good until the end of the block. */
const char *flr_safe(const char *text, char safe[FLR_SAFE_SIZE]);
#define FLR_SAFE(text) flr_safe(text, (char[FLR_SAFE_SIZE]){0})

/* Prints to stdout; nothing with --json, so that commands can print freely. */
void flr_print(flr_cli *cli, const char *format, ...) FLR_PRINTF(2, 3);

/* The same, but not with --quiet. */
void flr_print_note(flr_cli *cli, const char *format, ...) FLR_PRINTF(2, 3);

/* Prints text broken at `width`, each line after `column` blanks; a negative column: the first
 * line stands there already. */
void flr_put_wrapped(const char *text, int column, int width);

/* The same for a sentence with foreign text in it, at the width of the terminal; not broken where
 * there is none. */
void flr_print_wrapped(flr_cli *cli, int column, const char *format, ...) FLR_PRINTF(3, 4);

/* 138_284 as "138 kB"; returns `text`. */
const char *flr_bytes_print(uint64_t bytes, char text[FLR_COUNT_TEXT_SIZE]);
#define FLR_BYTES_TEXT(bytes) flr_bytes_print(bytes, (char[FLR_COUNT_TEXT_SIZE]){0})

/* "25 x 25 x 12.5 mm", all three in the unit that suits the largest; returns `text`. */
enum { FLR_EXTENT_TEXT_SIZE = 96 };
const char *flr_extent_print(flr_vec3 size, char text[FLR_EXTENT_TEXT_SIZE]);
#define FLR_EXTENT_TEXT(size) flr_extent_print(size, (char[FLR_EXTENT_TEXT_SIZE]){0})

/* Escape codes for stdout, "" where not wanted. */
const char *flr_bold(const flr_cli *cli);
const char *flr_green(const flr_cli *cli);
const char *flr_yellow(const flr_cli *cli);
const char *flr_red(const flr_cli *cli);
const char *flr_plain(const flr_cli *cli);

/* ---- trouble ---- */

/* "feeler: <sentence>" on stderr, in yellow, about something that does not stop the work. */
void flr_warn(flr_cli *cli, const char *format, ...) FLR_PRINTF(2, 3);
void flr_warn_about(void *cli, const char *sentence); /* the same, for those who call back */

/* "feeler: <sentence>" on stderr, and with --json {"error": ...} as the document on stdout.
 * Returns `exit_code`. Call once, as the last thing a command prints. */
int flr_fail_with(flr_cli *cli, int exit_code, const flr_error *error);
int flr_fail_saying(flr_cli *cli, int exit_code, flr_result code, const char *format, ...)
    FLR_PRINTF(4, 5);
/* The command line is wrong: what follows is the format and what goes into it. */
#define FLR_REFUSE(cli, ...) flr_fail_saying(cli, FLR_EXIT_USAGE, FLR_BAD_ARGUMENT, __VA_ARGS__)

/* "feeler: <sentence>" on stderr alone: for one bad file among several. */
void flr_complain(flr_cli *cli, const flr_error *error);

/* The exit code for an input that could not be used: 3, or 1 when it is not the input's fault. */
int flr_exit_of_input(flr_result code);

/* Flushes stdout. FLR_EXIT_FAILED with a message when something could not be written, else
 * `exit_code`. */
int flr_finish_stdout(flr_cli *cli, int exit_code);

/* ---- progress: one line on stderr, only on a terminal; with --progress JSON, one line at a time ---- */

void flr_progress(flr_cli *cli, uint64_t done, uint64_t total, const char *format, ...)
    FLR_PRINTF(4, 5);
void flr_progress_end(flr_cli *cli); /* removes the line */

/* With --verbose each new text of flr_progress() is a line of its own, with the time, terminal or
 * not; and this is the last. */
void flr_tell_cost(flr_cli *cli);

/* ---- JSON ---- */

/* Values that cannot be written in JSON become null; broken UTF-8 becomes U+FFFD. */
json_t *flr_json_number(double value);
json_t *flr_json_text(const char *text);
json_t *flr_json_count(uint64_t count);
json_t *flr_json_vec3(flr_vec3 v); /* [x, y, z] */
json_t *flr_json_quat(flr_quat q); /* [w, x, y, z] */
json_t *flr_json_poses(const flr_pose *poses,
                       size_t count); /* [{"p": [x, y, z], "q": [w, x, y, z]}] */
json_t *flr_json_error(const flr_error *error, int exit_code);

/* Sets a key; takes over `value`; NULL (out of memory) ends the program with exit code 1. */
void flr_json_set(json_t *object, const char *key, json_t *value);
void flr_json_push(json_t *array, json_t *value);
json_t *flr_json_object(void);
json_t *flr_json_array(void);

/* Writes the document to stdout when --json was given, and frees it in any case; NULL allowed.
 * Numbers have the fewest digits that read back as the same. */
void flr_json_print(flr_cli *cli, json_t *document);

#endif
