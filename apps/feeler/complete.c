/* completion scripts for bash, zsh and fish, from the same descriptions as --help */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

const char *const flr_shells[] = {"bash", "zsh", "fish", NULL};

/* calls `each` for a command's own options, then the common ones */
static void each_option(FILE *out, const flr_command *command,
                        void (*each)(FILE *out, const flr_command *c, const flr_option *o))
{
    for (const flr_option *o = command->options; o && o->name; o++) each(out, command, o);
    for (const flr_option *o = flr_common_options; o->name; o++) each(out, command, o);
}

static void put_choices(FILE *out, const char *const *choices)
{
    for (const char *const *c = choices; *c; c++) fprintf(out, "%s%s", c == choices ? "" : " ", *c);
}

static void put_words(FILE *out, const flr_command *command)
{
    const char *words[FLR_WORDS_MAX];
    size_t count = command->words(words, FLR_WORDS_MAX);
    for (size_t i = 0; i < count; i++) fprintf(out, "%s%s", i ? " " : "", words[i]);
}

/* text inside single quotes; `also` is escaped by a backslash, as zsh wants */
static void put_quoted(FILE *out, const char *text, const char *also)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            fputs("'\\''", out);
        else if (strchr(also, *c))
            fprintf(out, "\\%c", *c);
        else
            fputc(*c, out);
    }
}

/* ---- bash ---- */

static void bash_value(FILE *out, const flr_command *command, const flr_option *option)
{
    if (option->type == FLR_OPTION_FLAG) return;
    fprintf(out, "    '%s --%s'", command->name, option->name);
    if (option->letter) fprintf(out, "|'%s -%c'", command->name, option->letter);
    if (option->choices) {
        fputs(") _feeler_words '", out);
        put_choices(out, option->choices);
        fputs("'", out);
    } else {
        fprintf(out, ") %s",
                option->type == FLR_OPTION_PATH     ? "_feeler_paths -f"
                : option->type == FLR_OPTION_FOLDER ? "_feeler_paths -d"
                                                    : ":");
    }
    fputs("; return ;;\n", out);
}

static void bash_name(FILE *out, const flr_command *command, const flr_option *option)
{
    (void)command;
    fprintf(out, " --%s", option->name);
}

static void put_bash(FILE *out)
{
    fputs("# bash completion for feeler\n"
          "_feeler_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
          "_feeler_paths() {\n"
          "  compopt -o filenames 2>/dev/null\n"
          "  mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
          "}\n"
          "_feeler() {\n"
          "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "  COMPREPLY=()\n"
          "  # bash takes --option=value for three words\n"
          "  if [[ $cur == = ]]; then cur=\n"
          "  elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}\n"
          "  fi\n"
          "  if ((COMP_CWORD == 1)); then\n"
          "    _feeler_words '",
          out);
    for (const flr_command *const *c = flr_commands; *c; c++) fprintf(out, "%s ", (*c)->name);
    fputs("--help --version'\n"
          "    return\n"
          "  fi\n"
          "  local command=${COMP_WORDS[1]}\n"
          "  case \"$command $prev\" in\n",
          out);
    for (const flr_command *const *c = flr_commands; *c; c++) each_option(out, *c, bash_value);
    fputs("  esac\n"
          "  if [[ $cur == -* ]]; then\n"
          "    case $command in\n",
          out);
    for (const flr_command *const *c = flr_commands; *c; c++) {
        fprintf(out, "      %s) _feeler_words '", (*c)->name);
        each_option(out, *c, bash_name);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n"
          "    return\n"
          "  fi\n"
          "  case $command in\n",
          out);
    for (const flr_command *const *c = flr_commands; *c; c++) {
        if ((*c)->argument == FLR_ARGUMENT_FILE) {
            fprintf(out, "    %s) _feeler_paths -f ;;\n", (*c)->name);
        } else if ((*c)->argument == FLR_ARGUMENT_WORD) {
            fprintf(out, "    %s) _feeler_words '", (*c)->name);
            put_words(out, *c);
            fputs("' ;;\n", out);
        }
    }
    fputs("  esac\n"
          "}\n"
          "complete -F _feeler feeler\n",
          out);
}

/* ---- zsh ---- */

static void zsh_option(FILE *out, const flr_command *command, const flr_option *option)
{
    (void)command;
    bool flag = option->type == FLR_OPTION_FLAG;
    fputs(" \\\n        ", out);
    if (option->letter)
        fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name, option->letter,
                flag ? "" : "+", option->name, flag ? "" : "=");
    else
        fprintf(out, "'--%s%s[", option->name, flag ? "" : "=");
    put_quoted(out, option->help, "[]:\\");
    fputs("]", out);
    if (!flag) {
        fprintf(out, ":%s:", option->argument);
        if (option->choices) {
            fputs("(", out);
            put_choices(out, option->choices);
            fputs(")", out);
        } else if (option->type == FLR_OPTION_PATH) {
            fputs("_files", out);
        } else if (option->type == FLR_OPTION_FOLDER) {
            fputs("_files -/", out);
        }
    }
    fputs("'", out);
}

static void put_zsh(FILE *out)
{
    fputs("#compdef feeler\n"
          "# zsh completion for feeler\n"
          "_feeler() {\n"
          "  if (( CURRENT == 2 )); then\n"
          "    local -a commands\n"
          "    commands=(\n",
          out);
    for (const flr_command *const *c = flr_commands; *c; c++) {
        fprintf(out, "      '%s:", (*c)->name);
        put_quoted(out, (*c)->summary, ":\\");
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    _describe -t commands 'feeler command' commands\n"
          "    return\n"
          "  fi\n"
          "  local command=$words[2]\n"
          "  shift words\n"
          "  (( CURRENT-- ))\n"
          "  case $command in\n",
          out);
    for (const flr_command *const *c = flr_commands; *c; c++) {
        fprintf(out, "    %s)\n      _arguments", (*c)->name);
        each_option(out, *c, zsh_option);
        if ((*c)->argument == FLR_ARGUMENT_FILE) {
            fputs(" \\\n        '*:file:_files'", out);
        } else if ((*c)->argument == FLR_ARGUMENT_WORD) {
            fputs(" \\\n        '*:name:(", out);
            put_words(out, *c);
            fputs(")'", out);
        }
        fputs(" ;;\n", out);
    }
    fputs(
        "  esac\n"
        "}\n"
        "# from fpath this file is the function's body; sourced, it only registers it\n"
        "if [[ $funcstack[1] == _feeler ]]; then _feeler \"$@\"; else compdef _feeler feeler; fi\n",
        out);
}

/* ---- fish ---- */

static void fish_option(FILE *out, const flr_command *command, const flr_option *option)
{
    fprintf(out, "complete -c feeler -n '__feeler_is %s' -l %s", command->name, option->name);
    if (option->letter) fprintf(out, " -s %c", option->letter);
    if (option->choices) {
        fputs(" -x -a '", out);
        put_choices(out, option->choices);
        fputs("'", out);
    } else if (option->type == FLR_OPTION_PATH) {
        fputs(" -r -F", out);
    } else if (option->type == FLR_OPTION_FOLDER) {
        fputs(" -x -a '(__fish_complete_directories)'", out);
    } else if (option->type != FLR_OPTION_FLAG) {
        fputs(" -x", out);
    }
    fputs(" -d '", out);
    for (const char *c = option->help; *c; c++)
        fprintf(out, *c == '\'' || *c == '\\' ? "\\%c" : "%c", *c);
    fputs("'\n", out);
}

static void put_fish(FILE *out)
{
    fputs("# fish completion for feeler\n"
          "function __feeler_is\n"
          "  set -l words (commandline -opc)\n"
          "  test (count $words) -ge 2; and test $words[2] = $argv[1]\n"
          "end\n"
          "complete -c feeler -f\n"
          "complete -c feeler -n __fish_use_subcommand -l help -d 'show what feeler can do'\n"
          "complete -c feeler -n __fish_use_subcommand -l version -d 'show the version'\n",
          out);
    for (const flr_command *const *c = flr_commands; *c; c++) {
        fprintf(out, "complete -c feeler -n __fish_use_subcommand -a %s -d '", (*c)->name);
        for (const char *s = (*c)->summary; *s; s++)
            fprintf(out, *s == '\'' || *s == '\\' ? "\\%c" : "%c", *s);
        fputs("'\n", out);
        each_option(out, *c, fish_option);
        if ((*c)->argument == FLR_ARGUMENT_FILE) {
            fprintf(out, "complete -c feeler -n '__feeler_is %s' -F\n", (*c)->name);
        } else if ((*c)->argument == FLR_ARGUMENT_WORD) {
            fprintf(out, "complete -c feeler -n '__feeler_is %s' -a '", (*c)->name);
            put_words(out, *c);
            fputs("'\n", out);
        }
    }
}

char *flr_completion_script(const char *shell)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    if (!strcmp(shell, "bash"))
        put_bash(out);
    else if (!strcmp(shell, "zsh"))
        put_zsh(out);
    else if (!strcmp(shell, "fish"))
        put_fish(out);
    if (fclose(out) != 0 || !size) {
        free(text);
        return NULL;
    }
    return text;
}
