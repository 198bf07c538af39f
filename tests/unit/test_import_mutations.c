/* damaged files through the real helper: never more than a sentence, and nothing left behind.
 * FLR_MUTATIONS=N sets how many damaged files are tried, FLR_MUTATIONS_SECONDS=N for how long at most;
 * FLR_KEEP_CRASHES=FOLDER collects those that end the helper. tests/reliability/files.sh runs it for long. */
#include "feeler/mesh.h"
#include "support/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HELPER FLR_BINARY_DIR "/feeler-import"
#define DATA   FLR_SOURCE_DIR "/tests/data/import"

enum { FILES_MAX = 32, SIZE_MAX_BYTES = 1 << 16, RUNS = 50 };

static struct sample {
    char name[64];
    uint8_t *bytes;
    size_t size;
} samples[FILES_MAX];
static size_t sample_count;
static char *folder;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct sample *)a)->name, ((const struct sample *)b)->name);
}

static void load_samples(const char *from)
{
    DIR *entries = opendir(from);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries));) {
        char path[1400];
        if (entry->d_name[0] == '.' || strstr(entry->d_name, ".bin")) continue;
        snprintf(path, sizeof path, "%s/%s", from, entry->d_name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        assert_lt(sample_count, FILES_MAX);
        snprintf(samples[sample_count].name, sizeof samples->name, "%.63s", entry->d_name);
        samples[sample_count].bytes = malloc(SIZE_MAX_BYTES);
        assert_non_null(samples[sample_count].bytes);
        samples[sample_count].size = fread(samples[sample_count].bytes, 1, SIZE_MAX_BYTES, file);
        fclose(file);
        ++sample_count;
    }
    closedir(entries);
    // the order of a folder is chance, that of the tests is not
    qsort(samples, sample_count, sizeof *samples, by_name);
}

static int prepare(void **state)
{
    (void)state;
    folder = flr_test_folder();
    if (access(HELPER, X_OK) != 0) return 0;
    char command[4096];
    snprintf(
        command, sizeof command,
        "mkdir '%s/cad' '%s/run' && '%s/tests/make_cad' '%s/cad' >/dev/null && cp '%s/box.bin' "
        "'%s/run/'",
        folder, folder, FLR_BINARY_DIR, folder, DATA, folder);
    if (system(command) != 0) return 1;
    load_samples(DATA);
    snprintf(command, sizeof command, "%s/cad", folder);
    load_samples(command);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < sample_count; ++i) free(samples[i].bytes);
    flr_test_folder_remove(folder);
    return 0;
}

/* one to eight changes: a bit, a byte, a digit, a run removed, doubled or overwritten, a cut */
static size_t damage(flr_test_random *random, uint8_t *bytes, size_t size)
{
    static const uint8_t edges[] = {0, 0xff, 0x7f, 0x80, '9', '-', '"', '<', '\n'};
    for (uint32_t n = 1 + flr_test_random_below(random, 8); n > 0 && size > 0; --n) {
        size_t at = flr_test_random_below(random, (uint32_t)size);
        size_t run = 1 + flr_test_random_below(random, 32);
        if (run > size - at) run = size - at;
        switch (flr_test_random_below(random, 8)) {
        case 0:
            bytes[at] ^= (uint8_t)(1u << flr_test_random_below(random, 8));
            break;
        case 1:
            bytes[at] = (uint8_t)flr_test_random_below(random, 256);
            break;
        case 2:
            bytes[at] = edges[flr_test_random_below(random, sizeof edges)];
            break;
        case 3:
            bytes[at] = (uint8_t)('0' + flr_test_random_below(random, 10));
            break;
        case 4:
            memmove(bytes + at, bytes + at + run, size - at - run);
            size -= run;
            break;
        case 5:
            memmove(bytes + at, bytes + (at > run ? at - run : 0), run);
            break;
        case 6:
            memset(bytes + at, 0xff, run < 4 ? run : 4);
            break;
        default:
            if (flr_test_random_below(random, 4) == 0) size = at;
        }
    }
    return size;
}

/* for looking into it afterwards */
static void keep_file(const char *where, int run, const char *name, const uint8_t *bytes,
                      size_t size)
{
    char path[1400];
    snprintf(path, sizeof path, "%s/%d-%s", where, run, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(bytes, 1, size, file);
    fclose(file);
}

static void mutations(void **state)
{
    (void)state;
    if (access(HELPER, X_OK) != 0) skip();
    flr_test_random random = flr_test_random_begin("mutations");
    const char *wanted = getenv("FLR_MUTATIONS");
    const char *seconds = getenv("FLR_MUTATIONS_SECONDS");
    int runs = wanted ? atoi(wanted) : RUNS, done = 0, counts[FLR_RESULT_COUNT] = {0};
    time_t end = seconds ? time(NULL) + atoi(seconds) : 0;
    static uint8_t bytes[SIZE_MAX_BYTES];
    for (int i = 0; i < runs && (!end || time(NULL) < end); ++i, ++done) {
        size_t which = (size_t)i % sample_count;
        memcpy(bytes, samples[which].bytes, samples[which].size);
        size_t size = damage(&random, bytes, samples[which].size);
        char path[1400];
        snprintf(path, sizeof path, "%s/run/%s", folder, samples[which].name);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        fwrite(bytes, 1, size, file);
        fclose(file);

        flr_mesh_options options = flr_default_mesh_options();
        options.helper = HELPER;
        options.helper_seconds = seconds ? 30 : 3; // beside much else a long run waits longer
        options.helper_memory = UINT64_C(1) << 30;
        options.tolerant = i % 2;
        flr_mesh *mesh = NULL;
        flr_error error = {0};
        flr_result result = flr_mesh_open(flr_env_real(), path, &options, &mesh, NULL, &error);
        ++counts[result];
        if (result == FLR_OK) {
            assert_gt(mesh->triangle_count, 0);
            flr_mesh_destroy(mesh);
        } else if (strncmp(error.message, path, strlen(path)) != 0) {
            fail_msg("run %d: the sentence does not name the file: %s", i, error.message);
        }
        const char *keep = getenv("FLR_KEEP_CRASHES");
        if (keep && (result == FLR_CRASHED || result == FLR_TIMEOUT)) {
            print_message("run %d: %s\n", i, error.message);
            keep_file(keep, i, samples[which].name, bytes, size);
        }
        // no process is left
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
        assert_int_equal(errno, ECHILD);
    }
    print_message("files: %d\n", done);
    for (int i = 0; i < FLR_RESULT_COUNT; ++i)
        if (counts[i]) print_message("%s: %d\n", flr_result_name((flr_result)i), counts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mutations)};
    return cmocka_run_group_tests(tests, prepare, clean_up);
}
