/* parts of an address space are opened from any section on, whatever the size of pages; voxel files are read so. On AArch64
 * scripts/cross runs this with pages of 4, 16 and 64 KiB. */
#include "base/large_pages.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "feeler/voxel_file.h"
#include "support/fixtures.h"
#include "support/test.h"

/* As a kernel whose pages have the size that is reported; qemu reports 64 KiB, but takes 4. */
int mprotect(void *from, size_t size, int how)
{
    if ((uintptr_t)from % (uintptr_t)sysconf(_SC_PAGESIZE)) return errno = EINVAL, -1;
    return (int)syscall(SYS_mprotect, from, size, how);
}

enum { SECTION = 4096, SECTIONS = 70 };

static void sections_open_one_by_one(void **state)
{
    (void)state;
    uint8_t *space = flr_pages_reserve(SECTIONS * SECTION);
    assert_non_null(space);
    for (int i = 0; i < SECTIONS; i += 3) {
        uint8_t *section = space + i * SECTION;
        assert_true(flr_pages_open(section, SECTION));
        assert_int_equal(section[0] | section[SECTION - 1], 0);
        memset(section, i + 1, SECTION);
    }
    /* opening again leaves what is there */
    assert_true(flr_pages_open(space, SECTIONS * SECTION));
    for (int i = 0; i < SECTIONS; i++)
        assert_int_equal(space[i * SECTION + SECTION - 1], i % 3 ? 0 : i + 1);
    flr_pages_free(space, SECTIONS * SECTION);
}

static void voxel_files_come_back(void **state)
{
    (void)state;
    flr_test_part part;
    flr_test_part_make(&part, FLR_TEST_TORUS, 1, 0.0008, true);
    char path[64];
    snprintf(path, sizeof path, "/tmp/test_large_pages.%ld.flrvox", (long)getpid());
    flr_error error;
    assert_ok(flr_voxfile_write(flr_env_real(), path, part.voxmap, part.shell, &error), error);
    flr_voxmap *voxmap;
    flr_shell *shell;
    assert_ok(flr_voxfile_open(flr_env_real(), path, FLR_VOXFILE_LOAD, &voxmap, &shell, &error),
              error);
    const flr_voxmap_info now = flr_voxmap_get_info(voxmap),
                          before = flr_voxmap_get_info(part.voxmap);
    assert_int_equal(now.stats.surface_voxels, before.stats.surface_voxels);
    assert_int_equal(shell->total, part.shell->total);
    assert_ok(flr_voxfile_verify(voxmap, 1, &error), error);
    flr_shell_destroy(shell);
    flr_voxmap_destroy(voxmap);
    unlink(path);
    flr_test_part_free(&part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_open_one_by_one),
        cmocka_unit_test(voxel_files_come_back),
    };
    return cmocka_run_group_tests_name("large_pages", tests, NULL, NULL);
}
