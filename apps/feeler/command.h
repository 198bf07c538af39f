/* command.h: what a subcommand of feeler is. Everything a user reads about it comes from its one
 * static description: --help (help.c), the man page (man.c), completion (complete.c), the list of
 * examples that the tests run. Add a command: write cmd_NAME.c, declare it at the end here, put it
 * into the table in command.c. */
#ifndef FLR_COMMAND_H
#define FLR_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "feeler/base.h"
#include "feeler/env.h"

/* what the process answers; documented in docs/commands.md */
enum {
    FLR_EXIT_OK = 0,
    FLR_EXIT_FAILED = 1,
    FLR_EXIT_USAGE = 2,
    FLR_EXIT_INPUT = 3,
    FLR_EXIT_STALLED = 4,  /* the control thread of a controller */
    FLR_EXIT_STOPPED = 130 /* by Ctrl-C, as shells count it */
};

/* The value of an option and its C type in the command's values struct. */
typedef enum flr_option_type {
    FLR_OPTION_FLAG,    /* bool */
    FLR_OPTION_SIZE,    /* double, metres; the user writes 0.35mm */
    FLR_OPTION_UNIT,    /* double, metres per unit; the user writes mm or a number of metres */
    FLR_OPTION_NUMBER,  /* double, within min and max */
    FLR_OPTION_INTEGER, /* int64_t, within min and max */
    FLR_OPTION_BYTES,   /* uint64_t; the user writes 4GiB or 500MB */
    FLR_OPTION_CHOICE,  /* int, index into choices */
    FLR_OPTION_PATH,    /* const char *, a file */
    FLR_OPTION_FOLDER,  /* const char *, a folder */
    FLR_OPTION_TEXT     /* const char * */
} flr_option_type;

typedef struct flr_option {
    const char *name; /* long name without dashes; NULL ends a table */
    char letter;      /* short name; 0: none */
    flr_option_type type;
    const char *argument;       /* what stands for the value in the help; NULL for a flag */
    const char *help;           /* one sentence or two, no period at the end of a single one */
    size_t offset;              /* of the value in the values struct */
    const char *const *choices; /* NULL-ended; for completion also where type is not CHOICE */
    double min, max;            /* of a number, or of a size in metres; max 0: no limit */
    const char *formerly; /* its name in an earlier version, to refuse it helpfully; NULL: none */
} flr_option;

/* Rows of a table of options: a flag, and an option with a value. `at`: where the value is; after the help may follow .letter, .min,
 * .max, .choices. */
#define FLR_SWITCH(at, option, ...)                                                                \
    {                                                                                              \
        .name = option, .offset = at, .help = __VA_ARGS__                                          \
    }
#define FLR_OPTION(kind, at, option, stands_for, ...)                                              \
    {                                                                                              \
        .name = option, .type = FLR_OPTION_##kind, .argument = stands_for, .offset = at,           \
        .help = __VA_ARGS__                                                                        \
    }

/* Rows that several commands have. */
#define FLR_NO_CACHE_OPTION(at)                                                                    \
    FLR_SWITCH(at, "no-cache", "neither look for voxels in the cache nor store them there")
#define FLR_MEMORY_OPTION(at)                                                                      \
    FLR_OPTION(BYTES, at, "memory", "SIZE",                                                        \
               "so much memory for the voxels of parts that stay, 1MiB or more; the rest is "      \
               "read from the cache when parts come near; default: all of them are in memory")
#define FLR_THREADS_OPTION(at)                                                                     \
    FLR_OPTION(INTEGER, at, "threads", "N",                                                        \
               "default: one per processor; the result does not depend on it", .letter = 't',      \
               .min = 1, .max = 1024)

/* Every values struct begins with these; see flr_common_options. */
typedef struct flr_common {
    bool json, quiet, verbose, progress, help, version;
} flr_common;

/* What an argument that is not an option can be, for completion. */
typedef enum flr_argument_kind {
    FLR_ARGUMENT_NONE,
    FLR_ARGUMENT_FILE,
    FLR_ARGUMENT_WORD /* one of flr_command.words() */
} flr_argument_kind;

typedef struct flr_example {
    const char *line; /* typed as it stands, in a folder where `feeler make ball --out ball` ran */
    const char *says; /* what it is good for */
} flr_example;

typedef struct flr_exit_text {
    int code;
    const char *says;
} flr_exit_text;

typedef struct flr_command flr_command;

/* One run of the program. */
typedef struct flr_cli {
    flr_env *env;
    const flr_command *command; /* NULL before one is known */
    bool json, quiet, verbose;
    int64_t start_ns;            /* when it began */
    bool colour_out, colour_err; /* escape codes are allowed there */
    bool progress;               /* stderr is a terminal and not quiet */
    bool progress_lines;         /* progress as JSON, for programs */
    int columns;                 /* width of the terminal that stdout is; 0: it is none */
} flr_cli;

struct flr_command {
    const char *name;
    const char *summary;         /* one line, lower case, no period */
    const char *const *usage;    /* NULL-ended lines, each after "feeler NAME " */
    const char *description;     /* paragraphs with an empty line between; lines that begin with
                                     two spaces are kept as they are */
    const flr_option *options;   /* ended by name NULL; its own ones, without the common */
    const flr_example *examples; /* ended by line NULL; at least one */
    const flr_exit_text *exits;  /* ended by says NULL; NULL: flr_default_exits */
    flr_argument_kind argument;
    size_t (*words)(const char **words, size_t capacity); /* for FLR_ARGUMENT_WORD */
    int min_arguments, max_arguments;                     /* max -1: any number */
    const char *argument_missing; /* what to say when there are too few: "a mesh file" */
    size_t values_size;           /* of the values struct, which begins with flr_common */
    const void *defaults;         /* NULL: all zero */
    int (*run)(flr_cli *cli, const void *values, int count, char **arguments);
};

/* All commands, in the order of the help; NULL-ended. */
extern const flr_command *const flr_commands[];
extern const flr_option flr_common_options[];
extern const flr_exit_text flr_default_exits[];

/* The largest values struct a command may have. */
enum { FLR_VALUES_MAX = 512, FLR_WORDS_MAX = 64 };

/* By name; NULL if there is none. */
const flr_command *flr_command_find(const char *name);

/* The whole program: picks the command, reads its options, runs it. Returns the exit code. */
int flr_command_main(flr_cli *cli, int argc, char **argv);

/* ---- help.c ---- */
void flr_help_overview(flr_cli *cli);
void flr_help_command(flr_cli *cli, const flr_command *command);

/* Calls `line` for each piece of `text` broken at spaces to at most `width` columns; an empty
 * piece stands between paragraphs; a paragraph that begins with two spaces is kept as it is. */
void flr_wrap(const char *text, int width, void (*line)(void *context, const char *text, int size),
              void *context);

/* ---- man.c ---- */
/* Into a folder that exists: feeler.1 and one feeler-NAME.1 per command; the completion scripts. */
flr_result flr_man_write(flr_env *env, const char *folder, flr_error *error);
flr_result flr_completion_write(flr_env *env, const char *folder, flr_error *error);

/* ---- complete.c ---- */
extern const char *const flr_shells[]; /* "bash", "zsh", "fish", NULL */
/* The completion script as text on the heap (free); NULL when out of memory or no such shell. */
char *flr_completion_script(const char *shell);

/* ---- the commands, one file each ---- */
extern const flr_command flr_cmd_make, flr_cmd_check, flr_cmd_info, flr_cmd_convert,
    flr_cmd_voxelize, flr_cmd_cache, flr_cmd_contacts, flr_cmd_probe, flr_cmd_sweep, flr_cmd_run,
    flr_cmd_replay, flr_cmd_report, flr_cmd_serve, flr_cmd_join, flr_cmd_demo, flr_cmd_scene,
    flr_cmd_clash, flr_cmd_verify, flr_cmd_plan, flr_cmd_study, flr_cmd_mcp;
extern const flr_command flr_cmd_bench, flr_cmd_device, flr_cmd_doctor, flr_cmd_completion,
    flr_cmd_help, flr_cmd_version;

#endif
