/* --help: everything it says comes from the command's description */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "feeler/version.h"
#include "output.h"

enum { HELP_WIDTH = 80, OPTION_COLUMN = 24 };

void flr_wrap(const char *text, int width, void (*line)(void *context, const char *text, int size),
              void *context)
{
    while (*text) {
        // one line of the source: a paragraph, or a line to keep
        size_t length = strcspn(text, "\n");
        const char *end = text + length;
        if (!strncmp(text, "  ", 2) || !length) {
            line(context, text, (int)length);
        } else {
            while (text < end) {
                size_t take = (size_t)(end - text);
                if (take > (size_t)width) {
                    take = (size_t)width;
                    while (take && text[take] != ' ') take--;
                    if (!take) take = strcspn(text, " \n");
                }
                line(context, text, (int)take);
                text += take;
                while (text < end && *text == ' ') text++;
            }
        }
        text = *end ? end + 1 : end;
    }
}

static void print_wrapped(const char *text, int column)
{
    flr_put_wrapped(text, column, HELP_WIDTH);
}

static void print_option(const flr_option *option)
{
    char head[128];
    char letter[8] = "    ";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    int size = snprintf(head, sizeof head, "  %s--%s%s%s", letter, option->name,
                        option->argument ? " " : "", option->argument ? option->argument : "");
    printf("%s", head);
    if (size + 2 > OPTION_COLUMN)
        printf("\n%*s", OPTION_COLUMN, "");
    else
        printf("%*s", OPTION_COLUMN - size, "");
    print_wrapped(option->help, -OPTION_COLUMN);
}

static void heading(const flr_cli *cli, const char *text)
{
    printf("\n%s%s%s\n", flr_bold(cli), text, flr_plain(cli));
}

/* ---- as JSON, for programs that wrap feeler ---- */

static json_t *text_or_null(const char *text) { return text ? flr_json_text(text) : json_null(); }

static void push_options(json_t *list, const flr_option *options)
{
    for (const flr_option *o = options; o && o->name; o++) {
        json_t *entry = flr_json_object();
        char letter[2] = {o->letter, 0};
        flr_json_set(entry, "name", flr_json_text(o->name));
        flr_json_set(entry, "letter", text_or_null(o->letter ? letter : NULL));
        flr_json_set(entry, "argument", text_or_null(o->argument));
        flr_json_set(entry, "help", flr_json_text(o->help));
        flr_json_push(list, entry);
    }
}

static void print_command_json(flr_cli *cli, const flr_command *command)
{
    json_t *document = flr_json_object();
    flr_json_set(document, "name", flr_json_text(command->name));
    flr_json_set(document, "summary", flr_json_text(command->summary));
    flr_json_set(document, "description", flr_json_text(command->description));
    json_t *list = flr_json_array();
    push_options(list, command->options);
    push_options(list, flr_common_options);
    flr_json_set(document, "options", list);
    list = flr_json_array();
    for (const flr_example *e = command->examples; e->line; e++)
        flr_json_push(list, flr_json_text(e->line));
    flr_json_set(document, "examples", list);
    flr_json_print(cli, document);
}

static void print_overview_json(flr_cli *cli)
{
    json_t *document = flr_json_object(), *list = flr_json_array();
    for (const flr_command *const *c = flr_commands; *c; c++) {
        json_t *entry = flr_json_object();
        flr_json_set(entry, "name", flr_json_text((*c)->name));
        flr_json_set(entry, "summary", flr_json_text((*c)->summary));
        flr_json_push(list, entry);
    }
    flr_json_set(document, "version", flr_json_text(FLR_VERSION));
    flr_json_set(document, "commands", list);
    flr_json_print(cli, document);
}

/* ---- as text ---- */

void flr_help_command(flr_cli *cli, const flr_command *command)
{
    if (cli->json) {
        print_command_json(cli, command);
        return;
    }
    printf("%sfeeler %s%s: %s\n", flr_bold(cli), command->name, flr_plain(cli), command->summary);
    heading(cli, "Usage");
    for (const char *const *u = command->usage; *u; u++)
        printf("  feeler %s%s%s\n", command->name, **u ? " " : "", *u);
    putchar('\n');
    print_wrapped(command->description, 0);

    if (command->options && command->options->name) {
        heading(cli, "Options");
        for (const flr_option *o = command->options; o->name; o++) print_option(o);
    }
    heading(cli, "Common options");
    for (const flr_option *o = flr_common_options; o->name; o++) print_option(o);

    heading(cli, "Examples");
    for (const flr_example *e = command->examples; e->line; e++)
        printf("  # %s\n  %s\n", e->says, e->line);

    heading(cli, "Exit codes");
    const flr_exit_text *exits = command->exits ? command->exits : flr_default_exits;
    for (; exits->says; exits++) {
        printf("  %d  ", exits->code);
        print_wrapped(exits->says, -5);
    }
}

void flr_help_overview(flr_cli *cli)
{
    if (cli->json) {
        print_overview_json(cli);
        return;
    }
    printf("%sfeeler%s " FLR_VERSION ": tells how much room there is between CAD parts, and lets "
           "you feel it\n",
           flr_bold(cli), flr_plain(cli));
    heading(cli, "Usage");
    puts("  feeler COMMAND [options] [arguments]");
    heading(cli, "Commands");
    for (const flr_command *const *c = flr_commands; *c; c++)
        printf("  %-12s%s\n", (*c)->name, (*c)->summary);
    heading(cli, "Start here");
    puts("  feeler demo\n"
         "  feeler make ball --out ball\n"
         "  feeler info ball/scene.json --png ball.png\n"
         "  feeler check ball/scene.json");
    puts("\nfeeler COMMAND --help tells all about one command. Sizes are written with their unit:\n"
         "0.35mm, 2in, 1.5m. Exit codes: 0 done, 1 failed, 2 wrong command line, 3 bad input.");
}
