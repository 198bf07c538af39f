/* feeler-import: reads one foreign file inside a sandbox and writes it as a mesh stream.
 *
 * feeler starts it with the file on descriptor 0, a pipe on 1, and the file's folder on 3. It is
 * not meant to be run by hand, except for `feeler-import --probe`. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assimp.h"
#include "collect.h"
#include "feeler/version.h"
#include "occt.h"
#include "sandbox.h"
#include "threemf.h"

enum { FOLDER = 3 };

typedef struct arguments {
    flr_import_job job;
    unsigned seconds;
    uint64_t memory;
    bool probe;
} arguments;

/* the value of "--key=value"; NULL if `argument` is something else */
static const char *value_of(const char *argument, const char *key)
{
    size_t length = strlen(key);
    return strncmp(argument, key, length) == 0 ? argument + length : NULL;
}

static bool parse(int count, char **texts, arguments *a)
{
    *a = (arguments){.job = {.folder = -1}, .seconds = 120, .memory = UINT64_C(4) << 30};
    for (int i = 1; i < count; ++i) {
        const char *value;
        if ((value = value_of(texts[i], "--name=")))
            a->job.name = value;
        else if ((value = value_of(texts[i], "--unit=")))
            a->job.unit = strtod(value, NULL);
        else if ((value = value_of(texts[i], "--chord=")))
            a->job.chord = strtod(value, NULL);
        else if ((value = value_of(texts[i], "--seconds=")))
            a->seconds = (unsigned)strtoul(value, NULL, 10);
        else if ((value = value_of(texts[i], "--memory=")))
            a->memory = strtoull(value, NULL, 10);
        else if (strcmp(texts[i], "--tolerant") == 0)
            a->job.tolerant = true;
        else if (strcmp(texts[i], "--probe") == 0)
            a->probe = true;
        else
            return false;
    }
    return a->probe || a->job.name;
}

/* answers the questions of `feeler doctor`, from inside the sandbox */
static int probe(void)
{
    char active[FLR_SANDBOX_TEXT_SIZE], missing[FLR_SANDBOX_TEXT_SIZE];
    char assimp[64], endings[1024];
    flr_sandbox_def def = {.seconds = 10, .memory = UINT64_C(4) << 30, .input = -1, .folder = -1};
    flr_sandbox_enter(&def, active, missing);
    flr_assimp_version(assimp, sizeof assimp);
    flr_assimp_endings(endings, sizeof endings);
    printf("versions: feeler-import " FLR_VERSION ", %s, %s\n", assimp, flr_occt_version());
    printf("formats: step stp iges igs brep %s\n", endings);
    printf("sandbox: %s\nmissing: %s\n", active, missing);
    return fflush(stdout) == 0 ? 0 : 1;
}

/* ---- the stream ---- */

static bool write_all(void *context, const void *bytes, size_t count)
{
    const int *descriptor = context;
    const char *from = bytes;
    while (count > 0) {
        ssize_t put = write(*descriptor, from, count);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        from += put;
        count -= (size_t)put;
    }
    return true;
}

/* libraries print to stdout, so the stream moves to a descriptor they do not know */
static int take_output(void)
{
    int output = fcntl(1, F_DUPFD_CLOEXEC, FOLDER + 1);
    if (output < 0 || dup2(2, 1) < 0) return -1;
    return output;
}

/* the whole file, mapped before the sandbox closes */
static bool map_input(flr_import_job *job)
{
    struct stat info;
    if (fstat(0, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return false;
    job->size = (size_t)info.st_size;
    void *bytes = mmap(NULL, job->size, PROT_READ, MAP_PRIVATE, 0, 0);
    if (bytes == MAP_FAILED) return false;
    job->bytes = bytes;
    return true;
}

static flr_result read_job(const flr_import_job *job, flr_occt_format format, flr_collect *collect)
{
    const char *dot = strrchr(job->name, '.');
    flr_result result = FLR_UNSUPPORTED;
    if (format != FLR_OCCT_NONE)
        result = flr_occt_read(job, format, collect);
    else if (dot && strcasecmp(dot, ".3mf") == 0)
        result = flr_threemf_read(job, collect);
    if (result == FLR_UNSUPPORTED) result = flr_assimp_read(job, collect);
    return result == FLR_OK ? flr_collect_finish(collect, job->tolerant) : result;
}

static int run(arguments *a)
{
    flr_import_job *job = &a->job;
    struct stat info;
    int output = take_output();
    if (output < 0 || !map_input(job)) {
        fprintf(stderr, "feeler-import: needs a file on descriptor 0 and a pipe on 1\n");
        return 2;
    }
    if (fstat(FOLDER, &info) == 0 && S_ISDIR(info.st_mode)) job->folder = FOLDER;

    static const char *const names[] = {"", "STEP", "IGES", "BREP"};
    static flr_collect collect;
    char *name = collect.content.format;
    const char *dot = strrchr(job->name, '.'), *ending = dot ? dot + 1 : "";
    flr_occt_format format = flr_occt_format_of(job, ending);
    snprintf(name, sizeof collect.content.format, "%s", names[format]);
    bool known = name[0] || flr_assimp_format(ending, name, sizeof collect.content.format);

    // IGES is opened by name, assimp's formats may name further files
    char active[FLR_SANDBOX_TEXT_SIZE], missing[FLR_SANDBOX_TEXT_SIZE];
    flr_sandbox_def def = {.seconds = a->seconds,
                           .memory = a->memory,
                           .input = 0,
                           .folder = job->folder,
                           .open = format == FLR_OCCT_IGES,
                           .open_beneath = format == FLR_OCCT_NONE};
    flr_sandbox_enter(&def, active, missing);

    flr_stream_writer writer = {.write = write_all, .context = &output};
    flr_result result;
    bool ok = flr_stream_start(&writer);
    if (known) {
        ok = ok && flr_stream_message(&writer, FLR_STREAM_FORMAT, FLR_OK, name);
        result = read_job(job, format, &collect);
    } else {
        result = flr_collect_fail(&collect, FLR_UNSUPPORTED,
                                  "no reader for files that end in '.%.40s'; convert it to STL, "
                                  "OBJ, PLY, STEP or glTF",
                                  ending);
    }
    if (result != FLR_OK) {
        ok = ok && flr_stream_message(&writer, FLR_STREAM_ERROR, result, collect.error);
    } else {
        if (collect.trouble[0])
            ok = ok && flr_stream_message(&writer, FLR_STREAM_WARNING, FLR_OK, collect.trouble);
        const flr_stream_content *content = &collect.content;
        for (size_t at = 0; ok && at < content->notes_size; at += strlen(content->notes + at) + 1)
            ok = flr_stream_message(&writer, FLR_STREAM_WARNING, FLR_OK, content->notes + at);
        ok = ok && flr_stream_content_write(&writer, content);
    }
    return ok && flr_stream_end(&writer) ? 0 : 1;
}

int main(int count, char **texts)
{
    arguments a;
    if (!parse(count, texts, &a)) {
        fprintf(stderr, "feeler-import " FLR_VERSION ": reads foreign mesh files for feeler, which "
                        "starts it.\nBy hand: feeler-import --probe\n");
        return 2;
    }
    // no destructors of large libraries, no leak check inside the sandbox
    _exit(a.probe ? probe() : run(&a));
}
