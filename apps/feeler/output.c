/* text on stdout, messages and progress on stderr */
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "feeler/base.h"

/* ---- text ---- */

const char *flr_safe(const char *text, char safe[FLR_SAFE_SIZE])
{
    size_t used = 0;
    while (*text && used + 4 < FLR_SAFE_SIZE) {
        uint32_t code = 0;
        size_t size = flr_utf8_size(text, strlen(text), &code);
        if (size && !flr_utf8_is_control(code)) {
            memcpy(safe + used, text, size);
            used += size;
        } else {
            safe[used++] = '?';
        }
        text += size ? size : 1;
    }
    safe[used] = 0;
    return safe;
}

void flr_print(flr_cli *cli, const char *format, ...)
{
    if (cli->json) return;
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

void flr_print_note(flr_cli *cli, const char *format, ...)
{
    if (cli->json || cli->quiet) return;
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

typedef struct indented {
    int column;
    bool first; /* the next line stands at its column already */
} indented;

static void print_line(void *context, const char *text, int size)
{
    indented *where = context;
    printf("%*s%.*s\n", where->first || !size ? 0 : where->column, "", size, text);
    where->first = false;
}

void flr_put_wrapped(const char *text, int column, int width)
{
    indented where = {abs(column), column < 0};
    int room = width - where.column;
    flr_wrap(text, room > 30 ? room : 30, print_line, &where);
}

void flr_print_wrapped(flr_cli *cli, int column, const char *format, ...)
{
    if (cli->json) return;
    char text[FLR_SAFE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    flr_put_wrapped(FLR_SAFE(text), column, cli->columns ? cli->columns : 2 * FLR_SAFE_SIZE);
}

const char *flr_bytes_print(uint64_t bytes, char text[FLR_COUNT_TEXT_SIZE])
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 999.5 && unit < 4) value /= 1000, unit++;
    snprintf(text, FLR_COUNT_TEXT_SIZE, "%.3g %s", value, bytes == 1 ? "byte" : units[unit]);
    return text;
}

const char *flr_extent_print(flr_vec3 size, char text[FLR_EXTENT_TEXT_SIZE])
{
    double largest = fmax(size.x, fmax(size.y, size.z));
    double unit = largest >= 1 ? 1 : largest >= 1e-3 ? 1e-3 : 1e-6;
    snprintf(text, FLR_EXTENT_TEXT_SIZE, "%.5g x %.5g x %.5g %s", size.x / unit, size.y / unit,
             size.z / unit, flr_unit_name(unit));
    return text;
}

const char *flr_bold(const flr_cli *cli) { return cli->colour_out ? "\033[1m" : ""; }
const char *flr_green(const flr_cli *cli) { return cli->colour_out ? "\033[32m" : ""; }
const char *flr_yellow(const flr_cli *cli) { return cli->colour_out ? "\033[33m" : ""; }
const char *flr_red(const flr_cli *cli) { return cli->colour_out ? "\033[31m" : ""; }
const char *flr_plain(const flr_cli *cli) { return cli->colour_out ? "\033[0m" : ""; }

/* ---- trouble ---- */

static void say(flr_cli *cli, const char *colour, const char *sentence)
{
    flr_progress_end(cli);
    fflush(stdout); // keep the order when both go to one place
    fprintf(stderr, "%sfeeler:%s %s\n", cli->colour_err ? colour : "",
            cli->colour_err ? "\033[0m" : "", FLR_SAFE(sentence));
}

void flr_complain(flr_cli *cli, const flr_error *error) { say(cli, "\033[31m", error->message); }

void flr_warn(flr_cli *cli, const char *format, ...)
{
    flr_error sentence; // for its care about length
    va_list arguments;
    va_start(arguments, format);
    flr_fail_va(&sentence, FLR_OK, format, arguments);
    va_end(arguments);
    say(cli, "\033[33m", sentence.message);
}

void flr_warn_about(void *cli, const char *sentence) { flr_warn(cli, "%s", sentence); }

int flr_fail_with(flr_cli *cli, int exit_code, const flr_error *error)
{
    flr_complain(cli, error);
    if (cli->json) {
        json_t *document = flr_json_object();
        flr_json_set(document, "error", flr_json_error(error, exit_code));
        flr_json_print(cli, document);
    }
    return exit_code;
}

int flr_fail_saying(flr_cli *cli, int exit_code, flr_result code, const char *format, ...)
{
    flr_error error;
    va_list arguments;
    va_start(arguments, format);
    flr_fail_va(&error, code, format, arguments);
    va_end(arguments);
    return flr_fail_with(cli, exit_code, &error);
}

int flr_exit_of_input(flr_result code)
{
    switch (code) {
    case FLR_OK:
        return FLR_EXIT_OK;
    case FLR_IO:
    case FLR_NO_MEMORY:
        return FLR_EXIT_FAILED;
    case FLR_CANCELLED:
        return FLR_EXIT_STOPPED;
    default:
        return FLR_EXIT_INPUT;
    }
}

int flr_finish_stdout(flr_cli *cli, int exit_code)
{
    flr_progress_end(cli);
    errno = 0;
    bool bad = fflush(stdout) != 0;
    if (!bad && !ferror(stdout)) return exit_code;
    const char *why = errno == EPIPE ? "nobody reads it any more" : errno ? strerror(errno) : "";
    fprintf(stderr, "feeler: cannot write to standard output%s%s\n", *why ? ": " : "", why);
    return FLR_EXIT_FAILED;
}

/* ---- progress ---- */

static bool progress_shown;

/* with --verbose a line for each step that begins */
static void tell_step(flr_cli *cli, const char *label)
{
    static char last[256];
    if (!strcmp(last, label)) return;
    snprintf(last, sizeof last, "%s", label);
    flr_progress_end(cli);
    fprintf(stderr, "%8.3f s  %s\n", 1e-9 * (double)(flr_clock_ns(cli->env) - cli->start_ns),
            FLR_SAFE(label));
}

void flr_tell_cost(flr_cli *cli)
{
    if (!cli->verbose) return;
    char label[256];
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    snprintf(label, sizeof label, "done; at most %s of memory",
             FLR_BYTES_TEXT((uint64_t)usage.ru_maxrss * 1024));
    fflush(stdout); // keep the order when both go to one place
    tell_step(cli, label);
}

/* for programs: at most ten lines in a second */
static void tell_program(flr_cli *cli, uint64_t done, uint64_t total, const char *label)
{
    enum { EVERY_NS = 100000000 };
    static int64_t next;
    const int64_t now = flr_clock_ns(cli->env);
    if (now < next) return;
    next = now + EVERY_NS;
    json_t *line = flr_json_object();
    flr_json_set(line, "step", flr_json_text(label));
    flr_json_set(line, "done", flr_json_count(done));
    if (total) flr_json_set(line, "total", flr_json_count(total));
    char *text = json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII);
    if (text) fprintf(stderr, "%s\n", text);
    free(text);
    json_decref(line);
}

void flr_progress(flr_cli *cli, uint64_t done, uint64_t total, const char *format, ...)
{
    if (!cli->progress && !cli->progress_lines && !cli->verbose) return;
    char label[256], safe[FLR_SAFE_SIZE], bar[21];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(label, sizeof label, format, arguments);
    va_end(arguments);
    if (cli->verbose) tell_step(cli, label);
    if (cli->progress_lines) tell_program(cli, done, total, label);
    if (!cli->progress) return;

    size_t full = total ? (size_t)(20 * done / total) : 0;
    for (size_t i = 0; i < 20; i++) bar[i] = i < full ? '#' : '.';
    bar[20] = 0;

    // one line only: what does not fit is cut, not in the middle of a character
    struct winsize window = {0};
    ioctl(STDERR_FILENO, TIOCGWINSZ, &window);
    flr_safe(label, safe);
    size_t room = window.ws_col > 60 ? window.ws_col - 40u : 40;
    if (strlen(safe) > room) {
        while (room && ((unsigned char)safe[room] & 0xC0) == 0x80) room--;
        safe[room] = 0;
    }
    fprintf(stderr, "\r\033[K[%s] %" PRIu64 "/%" PRIu64 " %s", bar, done, total, safe);
    fflush(stderr);
    progress_shown = true;
}

void flr_progress_end(flr_cli *cli)
{
    if (!cli->progress || !progress_shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress_shown = false;
}
