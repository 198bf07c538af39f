/* the client of feeler-import: starts it, reads its stream, says in one sentence what went wrong */
#include "feeler/mesh.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "mesh/helper.h"
#include "mesh/import_content.h"

enum { PROBE_SECONDS = 10, DEFAULT_SECONDS = 120 };
static const uint64_t default_memory = UINT64_C(4) << 30;

/* ---- which files ---- */

/* endings that only the helper reads; the helper's own list (flr_import_probe) may be longer */
static const char *const foreign_endings[] = {
    "step", "stp",  "p21",  "iges", "igs", "brep", "brp", "gltf", "glb",   "3ds", "dae", "zae",
    "ac",   "ac3d", "3mf",  "amf",  "fbx", "off",  "x3d", "x3db", "blend", "dxf", "ifc", "lwo",
    "x",    "ms3d", "ogex", "b3d",  "cob", "xgl",  "zgl", "ase",  "nff",   "iqm", "smd", NULL};

/* what follows the last dot of the last part of the path; "" if there is none */
static const char *ending_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot + 1 : "";
}

bool flr_import_knows(const char *path)
{
    const char *ending = ending_of(path);
    for (const char *const *known = foreign_endings; *known; ++known)
        if (strcasecmp(ending, *known) == 0) return true;
    return false;
}

/* ---- where the helper is ---- */

/* the last part of `path` cut off `levels` times; false when there are not so many */
static bool cut(char *path, int levels)
{
    for (; levels > 0; --levels) {
        char *slash = strrchr(path, '/');
        if (!slash) return false;
        *slash = 0;
    }
    return true;
}

/* where the helper may be: each place is tried and kept for the sentence */
typedef struct import_search {
    char found[FLR_IMPORT_PATH_SIZE];
    char places[4 * FLR_ERROR_MESSAGE_SIZE]; /* "a, b, c" */
} import_search;

/* `file`, `levels` up, then `rest`: is there a program? */
static bool look(import_search *s, const char *file, int levels, const char *rest)
{
    char folder[FLR_IMPORT_PATH_SIZE];
    snprintf(folder, sizeof folder, "%s", file);
    if (!cut(folder, levels)) return false;
    int length = snprintf(s->found, sizeof s->found, "%s%s", folder, rest);
    if (length <= 0 || length >= (int)sizeof s->found) return false;
    if (access(s->found, X_OK) == 0) return true;
    // the folder, unless it was searched already
    cut(strcpy(folder, s->found), 1);
    if (!folder[0]) strcpy(folder, "/");
    size_t used = strlen(s->places), size = strlen(folder);
    for (const char *at = strstr(s->places, folder); at; at = strstr(at + 1, folder))
        if ((at[size] == ',' || !at[size]) && (at == s->places || at[-1] == ' ')) return false;
    if (used + size + 3 > sizeof s->places) return false;
    char *to = s->places + used;
    if (used) memcpy(to, ", ", 2), to += 2;
    memcpy(to, folder, size + 1);
    return false;
}

/* as built, then as installed: bin/ or lib/ or lib/<machine>/ beside libexec/ */
static bool look_around(import_search *s, const char *program, const char *library)
{
    static const char beside[] = "/feeler-import", installed[] = "/libexec/feeler/feeler-import";
    if (look(s, program, 1, beside) || look(s, program, 2, installed)) return true;
    if (library[0] && (look(s, library, 2, installed) || look(s, library, 3, installed)))
        return true;
    // built for one place, unpacked into another
    return look(s, FLR_LIBEXEC_DIR, 0, "/feeler/feeler-import") || look(s, "/usr", 0, installed) ||
           look(s, "/usr/local", 0, installed);
}

flr_result flr_import_find(const char *helper, char path[FLR_IMPORT_PATH_SIZE], flr_error *error)
{
    import_search s = {.places = ""};
    if (helper) {
        if (!look(&s, helper, 0, ""))
            return flr_fail(error, FLR_UNSUPPORTED, "%s: there is no import helper to run: %s",
                            helper, strerror(errno));
        strcpy(path, s.found);
        return FLR_OK;
    }
    char program[PATH_MAX] = "", library[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    // the loader may name the library by a link: where /usr is merged, /lib is /usr/lib
    Dl_info info = {0};
    if (dladdr((const void *)foreign_endings, &info) &&
        info.dli_fname && // none in a static program
        strchr(info.dli_fname, '/') && !realpath(info.dli_fname, library))
        library[0] = 0;
    if (!look_around(&s, program, library))
        return flr_fail(error, FLR_UNSUPPORTED,
                        "the import helper feeler-import is not installed; looked in %s. "
                        "Install the feeler package or build with FLR_IMPORT=ON",
                        s.places);
    strcpy(path, s.found);
    return FLR_OK;
}

/* ---- what went wrong ---- */

/* the first line of what the helper complained about */
static const char *complaint(flr_helper *helper)
{
    return helper->said[0] ? helper->said : "no reason given";
}

/* The stream is whole or broke off (`result`); `end` says how the process ended. */
static flr_result judge(flr_helper *helper, flr_helper_end end, uint64_t memory, flr_result result,
                        flr_error *error)
{
    const char *name = helper->name;
    unsigned long long mib = (unsigned long long)(memory >> 20);
    if (end.exited == FLR_STREAM_EXIT_MEMORY)
        return flr_fail(error, FLR_NO_MEMORY,
                        "%s: the import helper needed more than %llu MiB of memory and was "
                        "stopped; raise its memory limit, use a coarser chord tolerance or "
                        "convert the file to STL",
                        name, mib);
    if (result != FLR_OK && result != FLR_CLOSED) return result;
    if (end.signal == SIGXCPU) return flr_helper_fail_time(helper, error);
    if (end.signal == SIGKILL && !end.killed)
        return flr_fail(error, FLR_CRASHED,
                        "%s: the import helper was killed (signal 9) while reading, as happens "
                        "when the machine runs out of memory",
                        name);
    if (end.signal && !end.killed)
        return flr_fail(error, FLR_CRASHED,
                        "%s: the import helper crashed (signal %d) while reading; the file may be "
                        "damaged. Try exporting it again or convert it to STL.",
                        name, end.signal);
    if (end.exited == 127)
        return flr_fail(error, FLR_UNSUPPORTED, "%s: the import helper cannot start: %s", name,
                        complaint(helper));
    if (end.exited > 0)
        return flr_fail(error, FLR_CRASHED,
                        "%s: the import helper gave up with status %d while reading (%s); the file "
                        "may be damaged. Try exporting it again or convert it to STL.",
                        name, end.exited, complaint(helper));
    if (result == FLR_CLOSED)
        return flr_fail(error, FLR_CRASHED,
                        "%s: the import helper ended without a result; the file may be damaged. "
                        "Try exporting it again or convert it to STL.",
                        name);
    return FLR_OK;
}

/* ---- reading ---- */

static flr_result read_output(void *context, void *bytes, size_t count, size_t *got,
                              flr_error *error)
{
    return flr_helper_read(context, bytes, count, got, error);
}

static flr_result check_options(const flr_mesh_options *options, flr_error *error)
{
    if (!isfinite(options->unit) || options->unit < 0)
        return flr_fail(error, FLR_BAD_ARGUMENT, "the unit of a mesh must be positive, or 0");
    if (!isfinite(options->chord) || options->chord < 0)
        return flr_fail(error, FLR_BAD_ARGUMENT, "the chord tolerance must be positive, or 0");
    return FLR_OK;
}

/* is there a regular file of bearable size? The env words the refusals. */
static flr_result check_file(flr_env *env, const char *path, uint64_t limit, uint64_t *size,
                             flr_error *error)
{
    flr_file *file = NULL;
    flr_result result = flr_file_open(env, path, FLR_FILE_READ, &file, error);
    if (result != FLR_OK) return result;
    result = flr_file_size(file, size, error);
    flr_file_close(file);
    if (result != FLR_OK) return result;
    if (*size == 0)
        return flr_fail(error, FLR_BAD_INPUT, "%s: the file is empty; export it again", path);
    if (*size > limit)
        return flr_fail(error, FLR_TOO_LARGE, "%s: %llu bytes are more than the limit of %llu",
                        path, (unsigned long long)*size, (unsigned long long)limit);
    return FLR_OK;
}

/* the descriptor that the helper reads; a pipe in the file's place must not block us */
static flr_result open_input(const char *path, int *input, flr_error *error)
{
    struct stat info;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor < 0)
        return flr_fail(error, errno == ENOENT ? FLR_NOT_FOUND : FLR_IO, "%s: cannot open: %s",
                        path, strerror(errno));
    if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(descriptor);
        return flr_fail(error, FLR_BAD_INPUT, "%s: not a regular file", path);
    }
    *input = descriptor;
    return FLR_OK;
}

/* where files that the input names are looked for; -1 if it cannot be opened */
static int open_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    if (length >= sizeof folder) return -1;
    memcpy(folder, path, length);
    folder[length] = 0;
    return open(length ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* starts the helper on `path` and reads its stream */
static flr_result run(const char *helper_path, const char *path, const flr_mesh_options *options,
                      flr_stream_content *content, flr_error *error)
{
    unsigned seconds = options->helper_seconds ? options->helper_seconds : DEFAULT_SECONDS;
    uint64_t memory = options->helper_memory ? options->helper_memory : default_memory;
    const char *slash = strrchr(path, '/');
    char program[FLR_IMPORT_PATH_SIZE], name[PATH_MAX], unit[64], chord[64], time[64], space[64];
    char tolerant[] = "--tolerant";
    snprintf(program, sizeof program, "%s", helper_path);
    snprintf(name, sizeof name, "--name=%s", slash ? slash + 1 : path);
    snprintf(unit, sizeof unit, "--unit=%.17g", options->unit);
    snprintf(chord, sizeof chord, "--chord=%.17g", options->chord);
    snprintf(time, sizeof time, "--seconds=%u", seconds);
    snprintf(space, sizeof space, "--memory=%llu", (unsigned long long)memory);
    char *arguments[] = {
        program, name, unit, chord, time, space, options->tolerant ? tolerant : NULL, NULL};

    int input = -1;
    flr_result result = open_input(path, &input, error);
    if (result != FLR_OK) return result;
    int folder = open_folder(path);
    flr_helper helper;
    result = flr_helper_start(&helper, arguments, input, folder, path, seconds, error);
    close(input);
    if (folder >= 0) close(folder);
    if (result != FLR_OK) return result;

    helper.go_on = options->go_on;
    helper.context = options->context;
    flr_stream_source source = {read_output, &helper};
    result = flr_stream_read(source, path, memory, content, error);
    flr_helper_end end = flr_helper_stop(&helper);
    flr_result judged = judge(&helper, end, memory, result, error);
    if (result == FLR_OK && judged != FLR_OK) flr_stream_content_free(content);
    return judged;
}

static void fill_report(flr_mesh_report *report, const flr_stream_content *content)
{
    const flr_stream_head *head = &content->head;
    report->unit = head->unit;
    report->unit_from_file = head->unit_from_file;
    report->triangles_in_file = head->triangles_in_file;
    report->vertices_in_file = head->vertices_in_file;
    report->polygons_split = head->polygons_split;
    report->dropped_nonfinite = head->dropped_nonfinite;
    report->dropped_malformed = head->dropped_malformed;
    report->lines_dropped = head->lines_dropped;
    report->faces_skipped = head->faces_skipped;
    flr_text_copy(report->first_trouble, sizeof report->first_trouble, content->warning);
}

flr_result flr_import_content(flr_env *env, const char *path, const flr_mesh_options *options,
                              flr_stream_content *content, flr_mesh_report *report,
                              flr_import_info *info, flr_error *error)
{
    *report = (flr_mesh_report){.format = FLR_FORMAT_FOREIGN};
    if (info) *info = (flr_import_info){0};
    flr_result result = check_options(options, error);
    if (result == FLR_OK)
        result = check_file(env, path, options->size_limit, &report->bytes, error);
    if (result != FLR_OK) return result;

    char helper[FLR_IMPORT_PATH_SIZE];
    flr_error reason;
    result = flr_import_find(options->helper, helper, &reason);
    if (result != FLR_OK)
        return flr_fail(error, result, "%s: cannot be read by feeler itself, and %s", path,
                        reason.message);

    memset(content, 0, sizeof *content);
    result = run(helper, path, options, content, error);
    flr_text_copy(report->format_name, sizeof report->format_name,
                  content->format[0] ? content->format : flr_mesh_format_name(report->format));
    if (info) {
        memcpy(info->format, content->format, sizeof info->format);
        memcpy(info->warning, content->warning, sizeof info->warning);
        info->warnings = content->warnings;
    }
    if (result == FLR_OK) fill_report(report, content);
    return result;
}

flr_result flr_import_read(flr_env *env, const char *path, const flr_mesh_options *options,
                           flr_mesh **mesh, flr_mesh_report *report, flr_import_info *info,
                           flr_error *error)
{
    flr_mesh_options defaults = flr_default_mesh_options();
    flr_mesh_report own_report;
    flr_stream_content content;
    if (!options) options = &defaults;
    if (!report) report = &own_report;
    flr_result result = flr_import_content(env, path, options, &content, report, info, error);
    if (result != FLR_OK) return result;
    uint64_t limit = options->helper_memory ? options->helper_memory : default_memory;
    result = flr_content_mesh(&content, path, options->weld, limit, mesh, error);
    flr_stream_content_free(&content);
    return result;
}

/* ---- probing ---- */

/* the value of the line "key: value" in `text`, cleaned; "" if there is none */
static void find_line(const char *text, const char *key, char *value, size_t size)
{
    size_t length = strlen(key);
    value[0] = 0;
    for (const char *line = text; line && *line;) {
        const char *end = strchr(line, '\n');
        size_t line_length = end ? (size_t)(end - line) : strlen(line);
        if (line_length > length + 2 && strncmp(line, key, length) == 0 && line[length] == ':') {
            snprintf(value, size, "%.*s", (int)(line_length - length - 2), line + length + 2);
            flr_text_clean(value, strlen(value));
            return;
        }
        line = end ? end + 1 : NULL;
    }
}

/* runs `helper --probe` and keeps the beginning of what it prints */
static flr_result ask(char *path, char *answer, size_t size, flr_error *error)
{
    char option[] = "--probe";
    char *arguments[] = {path, option, NULL};
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (input < 0) return flr_fail(error, FLR_IO, "/dev/null: %s", strerror(errno));
    flr_helper helper;
    flr_result result = flr_helper_start(&helper, arguments, input, -1, path, PROBE_SECONDS, error);
    close(input);
    if (result != FLR_OK) return result;
    size_t have = 0, got = 1;
    while (result == FLR_OK && got > 0 && have < size - 1) {
        result = flr_helper_read(&helper, answer + have, size - 1 - have, &got, error);
        have += result == FLR_OK ? got : 0;
    }
    answer[have] = 0;
    flr_helper_end end = flr_helper_stop(&helper);
    return judge(&helper, end, default_memory, result, error);
}

flr_result flr_import_probe(flr_env *env, const char *helper, flr_import_state *state,
                            flr_error *error)
{
    (void)env;
    *state = (flr_import_state){0};
    char path[FLR_IMPORT_PATH_SIZE], answer[4096];
    flr_result result = flr_import_find(helper, path, error);
    if (result != FLR_OK) return result;
    memcpy(state->path, path, sizeof path);

    int64_t start = flr_clock_ns(flr_env_real());
    result = ask(path, answer, sizeof answer, error);
    if (result != FLR_OK) return result;
    find_line(answer, "versions", state->versions, sizeof state->versions);
    find_line(answer, "formats", state->formats, sizeof state->formats);
    find_line(answer, "sandbox", state->sandbox, sizeof state->sandbox);
    find_line(answer, "missing", state->missing, sizeof state->missing);
    if (!state->versions[0])
        return flr_fail(error, FLR_CRASHED, "%s: does not answer like feeler-import", path);
    state->starts = true;
    state->start_seconds = (double)(flr_clock_ns(flr_env_real()) - start) * 1e-9;
    return FLR_OK;
}
