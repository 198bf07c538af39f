/* what every unit test may use */
#include "support/test.h"

#include <ftw.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"

flr_test_random flr_test_random_begin(const char *test_name)
{
    const char *text = getenv("FLR_TEST_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : 1;
    print_message("%s: FLR_TEST_SEED=%llu\n", test_name, (unsigned long long)seed);
    /* not by the step of the generator: the next seed would give the same numbers, one later */
    return (flr_test_random){0x9E3779B97F4A7C15u + 0x1234567 + (seed - 1) * 0xD1342543DE82EF95u};
}

/* splitmix64 */
uint64_t flr_test_random_u64(flr_test_random *random)
{
    uint64_t z = random->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

double flr_test_random_range(flr_test_random *random, double low, double high)
{
    return low + (high - low) * ((double)(flr_test_random_u64(random) >> 11) * 0x1p-53);
}

uint32_t flr_test_random_below(flr_test_random *random, uint32_t bound)
{
    return (uint32_t)((flr_test_random_u64(random) >> 32) * bound >> 32);
}

const char *flr_test_models_dir(void)
{
    static char path[1024];
    const char *given = getenv("FLR_MODELS_DIR");
    snprintf(path, sizeof path, "%s", given ? given : FLR_SOURCE_DIR "/../shared/models");
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode) ? path : NULL;
}

char *flr_test_folder(void)
{
    const char *parent = getenv("TMPDIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/feeler-test-XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(path)) fail_msg("cannot make a folder %s", path);
    return strdup(path);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

void flr_test_folder_remove(char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

static int64_t count_reads(flr_env *env)
{
    (void)env;
    static _Atomic int64_t reads;
    return 1000000 * (atomic_fetch_add_explicit(&reads, 1, memory_order_relaxed) + 1);
}

flr_env *flr_test_counting_env(void)
{
    static flr_env_ops ops;
    static flr_env env = {&ops};
    ops = *flr_env_real()->ops;
    ops.clock = count_reads;
    return &env;
}
