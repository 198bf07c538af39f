/* doctor: what the machine has: processor, memory, folders, programs */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/memory.h"
#include "doctor.h"
#include "feeler/base.h"
#include "feeler/mesh.h"
#include "feeler/version.h"
#include "output.h"

char *flr_doctor_first_line(const char *path)
{
    // files of the kernel have no size, so they are read as a stream
    FILE *file = fopen(path, "re");
    if (!file) return NULL;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size = getline(&line, &capacity, file);
    fclose(file);
    if (size < 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = 0;
    return line;
}

/* what stands after "KEY :" or "KEY=" in a text file; "" if nowhere */
static void look_up(const char *path, const char *key, char *value, size_t size)
{
    value[0] = 0;
    FILE *file = fopen(path, "re");
    if (!file) return;
    char *line = NULL;
    size_t capacity = 0;
    while (!value[0] && getline(&line, &capacity, file) >= 0) {
        if (strncmp(line, key, strlen(key)) != 0) continue;
        const char *start = line + strlen(key);
        start += strspn(start, " \t:=\"");
        snprintf(value, size, "%.*s", (int)strcspn(start, "\"\n"), start);
    }
    free(line);
    fclose(file);
}

void flr_doctor_system(flr_doctor *doctor, flr_env *env)
{
    (void)env;
    char name[128], value[FLR_SAFE_SIZE];
    struct utsname kernel = {0};
    uname(&kernel);
    look_up("/etc/os-release", "PRETTY_NAME", name, sizeof name);
    snprintf(value, sizeof value, "feeler " FLR_VERSION " on %s, %s %s, %s",
             name[0] ? name : "an unknown system", kernel.sysname, kernel.release, kernel.machine);
    flr_doctor_say(doctor, "system", true, value, "", NULL);
}

/* processors this process may use, which is less than there are in containers */
static unsigned usable_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return (unsigned)CPU_COUNT(&set);
}

const char *flr_machine_print(char text[FLR_MACHINE_TEXT_SIZE])
{
    char model[160];
    look_up("/proc/cpuinfo", "model name", model, sizeof model);
    unsigned cores = usable_cores();
    snprintf(text, FLR_MACHINE_TEXT_SIZE, "%s, %u core%s usable, %s",
             model[0] ? model : "unknown processor", cores, flr_noun(cores, "", "s"),
             flr_simd_name(flr_simd_resolve(FLR_SIMD_BEST)));
    return text;
}

void flr_doctor_processor(flr_doctor *doctor, flr_env *env)
{
    (void)env;
    char model[160], value[FLR_SAFE_SIZE];
    look_up("/proc/cpuinfo", "model name", model, sizeof model);
    unsigned cores = usable_cores();
    snprintf(value, sizeof value, "%s, %u core%s usable", model[0] ? model : "unknown model", cores,
             flr_noun(cores, "", "s"));
    json_t *numbers = flr_json_object();
    flr_json_set(numbers, "cores", flr_json_count(cores));
    flr_doctor_say(doctor, "processor", cores >= 2, value,
                   "give feeler two cores or more: one belongs to the real-time loop alone",
                   numbers);
}

void flr_doctor_simd(flr_doctor *doctor, flr_env *env)
{
    (void)env;
    bool avx2 = false, avx512 = false, built = true;
#if defined(__x86_64__)
    avx2 = __builtin_cpu_supports("avx2") > 0;
    avx512 = __builtin_cpu_supports("avx512f") > 0 && __builtin_cpu_supports("avx512bw") > 0 &&
             __builtin_cpu_supports("avx512vl") > 0;
#endif
#ifdef FLR_NO_SIMD
    built = false;
#endif
    const char *best = avx512 ? "AVX-512 and AVX2" : avx2 ? "AVX2" : "neither AVX2 nor AVX-512";
    char value[128];
    snprintf(value, sizeof value, "the processor has %s%s", best,
             built ? "" : "; this feeler was built without");
    json_t *numbers = flr_json_object();
    flr_json_set(numbers, "avx2", json_boolean(avx2));
    flr_json_set(numbers, "avx512", json_boolean(avx512));
    flr_json_set(numbers, "built", json_boolean(built));
    flr_doctor_say(doctor, "simd", avx2 && built, value,
                   built ? "a processor with AVX2 tests about twice as many points per frame"
                         : "build with FLR_SIMD=ON, which is the default",
                   numbers);
}

void flr_doctor_memory(flr_doctor *doctor, flr_env *env)
{
    char text[64], value[200];
    // a container or a service may be allowed less than the machine has
    flr_memory memory = flr_memory_look(env);
    uint64_t total = memory.limit;
    look_up("/proc/meminfo", "MemAvailable", text, sizeof text);
    uint64_t available = strtoull(text, NULL, 10) * 1024;

    if (available > total) available = total;

    if (memory.limit < memory.machine)
        snprintf(value, sizeof value,
                 "a control group allows %s of the machine's %s, %s of it available",
                 FLR_BYTES_TEXT(total), FLR_BYTES_TEXT(memory.machine), FLR_BYTES_TEXT(available));
    else
        snprintf(value, sizeof value, "%s, %s of it available", FLR_BYTES_TEXT(total),
                 FLR_BYTES_TEXT(available));
    json_t *numbers = flr_json_object();
    flr_json_set(numbers, "total_bytes", flr_json_count(total));
    flr_json_set(numbers, "machine_bytes", flr_json_count(memory.machine));
    flr_json_set(numbers, "available_bytes", flr_json_count(available));
    flr_doctor_say(doctor, "memory", available >= 4000000000u, value,
                   "large scenes want 4 GB or more: close other programs or use larger voxels",
                   numbers);
}

void flr_doctor_huge_pages(flr_doctor *doctor, flr_env *env)
{
    (void)env;
    // the choice in force stands in brackets: "always [madvise] never"
    char *line = flr_doctor_first_line("/sys/kernel/mm/transparent_hugepage/enabled");
    char mode[32] = "not offered by this kernel";
    const char *open = line ? strchr(line, '[') : NULL;
    if (open) snprintf(mode, sizeof mode, "%.*s", (int)strcspn(open + 1, "]"), open + 1);
    bool fine = !strcmp(mode, "always") || !strcmp(mode, "madvise");
    char value[96];
    snprintf(value, sizeof value, "transparent huge pages: %s", mode);
    flr_doctor_say(doctor, "huge pages", fine, value,
                   "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled; lookups "
                   "in large voxel data then wait less for memory",
                   NULL);
    free(line);
}

/* $XDG_CACHE_HOME/feeler, else ~/.cache/feeler; false when neither is known */
static bool cache_folder(char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/') return snprintf(path, size, "%s/feeler", cache) < (int)size;
    return home && *home && snprintf(path, size, "%s/.cache/feeler", home) < (int)size;
}

/* makes a file there and takes it away again, and the folder too if it was not there before */
static flr_result try_folder(flr_env *env, const char *path, flr_error *error)
{
    flr_path_info info;
    flr_result result = flr_path_look(env, path, &info, error);
    if (result != FLR_OK) return result;
    result = flr_path_make_folder(env, path, error);
    if (result != FLR_OK) return result;
    char probe[4200];
    snprintf(probe, sizeof probe, "%s/doctor", path);
    flr_output *output;
    result = flr_output_begin(env, probe, &output, error);
    if (result == FLR_OK) {
        result = flr_output_write(output, "feeler", 6, error);
        flr_output_abandon(output);
    }
    if (info.kind == FLR_PATH_NONE) flr_path_remove(env, path, NULL);
    return result;
}

void flr_doctor_cache(flr_doctor *doctor, flr_env *env)
{
    char path[4096];
    if (!cache_folder(path, sizeof path)) {
        flr_doctor_say(doctor, "cache", false, "neither HOME nor XDG_CACHE_HOME is set",
                       "set one of them, so that voxels need not be made again every time", NULL);
        return;
    }
    flr_error error;
    bool fine = try_folder(env, path, &error) == FLR_OK;
    flr_doctor_say(doctor, "cache", fine, fine ? path : error.message,
                   "make the folder writable or set XDG_CACHE_HOME to one that is", NULL);
}

void flr_doctor_import(flr_doctor *doctor, flr_env *env)
{
    static flr_import_state state; // large
    flr_error error;
    memset(&state, 0, sizeof state);
    if (flr_import_probe(env, NULL, &state, &error) != FLR_OK) {
        flr_doctor_say(doctor, "import", false, error.message,
                       "STL, OBJ, PLY, ITRI, VRML and Inventor can be read without it; STEP, IGES, "
                       "glTF and the "
                       "others need feeler-import beside feeler or in libexec/feeler",
                       NULL);
        return;
    }
    char value[FLR_SAFE_SIZE];
    snprintf(value, sizeof value, "%.300s starts in %.0f ms", state.versions,
             1e3 * state.start_seconds);
    json_t *numbers = flr_json_object();
    flr_json_set(numbers, "path", flr_json_text(state.path));
    flr_json_set(numbers, "start_seconds", flr_json_number(state.start_seconds));
    flr_json_set(numbers, "formats", flr_json_text(state.formats));
    flr_json_set(numbers, "sandbox", flr_json_text(state.sandbox));
    flr_json_set(numbers, "missing", flr_json_text(state.missing));
    flr_doctor_say(doctor, "import", true, value, "", numbers);
    if (!state.missing[0]) {
        flr_doctor_say(doctor, "sandbox", true, state.sandbox, "", NULL);
        return;
    }
    snprintf(value, sizeof value, "the import helper runs without: %.300s", state.missing);
    flr_doctor_say(doctor, "sandbox", false, value,
                   "open foreign formats from people you trust only, or use a kernel that offers "
                   "this",
                   NULL);
}

void flr_doctor_terminal(flr_doctor *doctor, flr_env *env)
{
    (void)env;
    const char *terminal = getenv("TERM"), *no_colour = getenv("NO_COLOR");
    char value[160];
    snprintf(value, sizeof value, "%.60s; output %s a terminal; colours %s",
             terminal && *terminal ? terminal : "TERM is not set",
             isatty(STDOUT_FILENO) ? "goes to" : "does not go to",
             no_colour && *no_colour ? "switched off by NO_COLOR" : "on a terminal");
    flr_doctor_say(doctor, "terminal", true, value, "", NULL);
}
