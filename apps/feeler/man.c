/* man pages, from the same descriptions as --help */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "feeler/version.h"

/* ---- roff ---- */

/* text as roff prints it: no escapes, no requests, hyphens that can be copied */
static void put_escaped(FILE *out, const char *text, size_t size)
{
    if (size && (text[0] == '.' || text[0] == '\'')) fputs("\\&", out);
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else
            fputc(text[i], out);
    }
}

static void put(FILE *out, const char *text) { put_escaped(out, text, strlen(text)); }

/* where put_line() stands in a description */
typedef struct roff {
    FILE *out;
    bool kept;    /* inside a block of lines to keep */
    bool started; /* something was written */
    bool gap;     /* an empty line came before */
} roff;

/* one line of a description: part of a paragraph, or a line to keep */
static void put_line(void *context, const char *text, int size)
{
    roff *r = context;
    bool keep = size >= 2 && text[0] == ' ' && text[1] == ' ';
    if (!size) {
        r->gap = true;
        return;
    }
    if (r->kept && !keep) fputs(".EE\n", r->out);
    if (r->started && (r->gap || keep != r->kept)) fputs(".PP\n", r->out);
    if (keep && !r->kept) fputs(".EX\n", r->out);
    put_escaped(r->out, text, (size_t)size);
    fputc('\n', r->out);
    r->kept = keep;
    r->started = true;
    r->gap = false;
}

/* paragraphs, and blocks of lines to keep */
static void put_wrapped(FILE *out, const char *text)
{
    roff r = {.out = out};
    flr_wrap(text, 72, put_line, &r);
    if (r.kept) fputs(".EE\n", out);
}

static void put_option(FILE *out, const flr_option *option)
{
    fputs(".TP\n", out);
    if (option->letter) fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", out);
    put(out, option->name);
    fputs("\\fR", out);
    if (option->argument) {
        fputs(" \\fI", out);
        put(out, option->argument);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    put_wrapped(out, option->help);
}

static void put_head(FILE *out, const char *page, const char *summary)
{
    fputs(".TH ", out);
    for (const char *c = page; *c; c++)
        if (*c == '-')
            fputs("\\-", out);
        else
            fputc(toupper((unsigned char)*c), out);
    fputs(" 1 " FLR_DATE " \"feeler " FLR_VERSION "\" \"feeler manual\"\n.SH NAME\n", out);
    put(out, page);
    fputs(" \\- ", out);
    put(out, summary);
    fputc('\n', out);
}

static void put_exits(FILE *out, const flr_exit_text *exits)
{
    fputs(".SH EXIT STATUS\n", out);
    for (; exits->says; exits++) {
        fprintf(out, ".TP\n\\fB%d\\fR\n", exits->code);
        put_wrapped(out, exits->says);
    }
}

static void put_environment(FILE *out)
{
    fputs(".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\n"
          "When set and not empty, no colours are used. They are used on a terminal only.\n",
          out);
}

/* ---- pages ---- */

static void put_command_page(FILE *out, const flr_command *command)
{
    char page[64];
    snprintf(page, sizeof page, "feeler-%s", command->name);
    put_head(out, page, command->summary);

    fputs(".SH SYNOPSIS\n", out);
    for (const char *const *u = command->usage; *u; u++) {
        fprintf(out, "%s.B feeler %s\n", u == command->usage ? "" : ".br\n", command->name);
        if (**u) {
            put(out, *u);
            fputc('\n', out);
        }
    }
    fputs(".SH DESCRIPTION\n", out);
    put_wrapped(out, command->description);
    fputs(".SH OPTIONS\n", out);
    for (const flr_option *o = command->options; o && o->name; o++) put_option(out, o);
    for (const flr_option *o = flr_common_options; o->name; o++) put_option(out, o);

    fputs(".SH EXAMPLES\n", out);
    for (const flr_example *e = command->examples; e->line; e++) {
        fputs(".TP\n", out);
        put(out, e->says);
        fputs("\n.EX\n", out);
        put(out, e->line);
        fputs("\n.EE\n", out);
    }
    put_exits(out, command->exits ? command->exits : flr_default_exits);
    put_environment(out);
    fputs(".SH SEE ALSO\n.BR feeler (1)\n", out);
}

static void put_main_page(FILE *out)
{
    put_head(out, "feeler", "how much room there is between CAD parts, and how it feels");
    fputs(".SH SYNOPSIS\n.B feeler\n.I COMMAND\n[options] [arguments]\n.SH DESCRIPTION\n", out);
    put_wrapped(
        out, "feeler takes CAD parts as they come, turns them into voxels and surface points, and "
             "tells whether they touch, how large the gap is, and how that feels in the hand.\n"
             "\n"
             "Sizes are written with their unit: 0.35mm, 2in, 1.5m. Results go to standard "
             "output, messages to standard error. With --json standard output carries exactly "
             "one JSON document, {\"error\": ...} when the command failed as a whole. Progress is "
             "shown on a terminal only.");
    fputs(".SH COMMANDS\n", out);
    for (const flr_command *const *c = flr_commands; *c; c++) {
        fprintf(out, ".TP\n.BR feeler\\-%s (1)\n", (*c)->name);
        put(out, (*c)->summary);
        fputc('\n', out);
    }
    fputs(".SH OPTIONS\n", out);
    for (const flr_option *o = flr_common_options; o->name; o++) put_option(out, o);
    put_exits(out, flr_default_exits);
    put_environment(out);
    fputs(".SH SEE ALSO\n", out);
    for (const flr_command *const *c = flr_commands; *c; c++)
        fprintf(out, ".BR feeler\\-%s (1)%s\n", (*c)->name, c[1] ? "," : "");
}

static flr_result write_text(flr_env *env, const char *folder, const char *name, const char *text,
                             size_t size, flr_error *error)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%s: the path is too long", folder);
    return flr_file_write_all(env, path, text, size, error);
}

/* the page of a command, or of feeler itself when `command` is NULL */
static flr_result write_page(flr_env *env, const char *folder, const flr_command *command,
                             flr_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return flr_fail_memory(error);
    if (command)
        put_command_page(out, command);
    else
        put_main_page(out);
    flr_result result = FLR_NO_MEMORY;
    char name[64];
    snprintf(name, sizeof name, "feeler%s%s.1", command ? "-" : "", command ? command->name : "");
    if (fclose(out) == 0)
        result = write_text(env, folder, name, text, size, error);
    else
        flr_fail_memory(error);
    free(text);
    return result;
}

flr_result flr_man_write(flr_env *env, const char *folder, flr_error *error)
{
    flr_result result = write_page(env, folder, NULL, error);
    for (const flr_command *const *c = flr_commands; result == FLR_OK && *c; c++)
        result = write_page(env, folder, *c, error);
    return result;
}

flr_result flr_completion_write(flr_env *env, const char *folder, flr_error *error)
{
    // the names under which the shells look for them
    static const char *const names[] = {"feeler", "_feeler", "feeler.fish"};
    flr_result result = FLR_OK;
    for (size_t i = 0; flr_shells[i] && result == FLR_OK; i++) {
        char *script = flr_completion_script(flr_shells[i]);
        if (!script) return flr_fail_memory(error);
        result = write_text(env, folder, names[i], script, strlen(script), error);
        free(script);
    }
    return result;
}
