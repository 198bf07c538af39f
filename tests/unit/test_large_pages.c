/* parts of an address space are opened from any section on, whatever the size of pages; voxel files are read so. On AArch64
 * scripts/cross runs this with pages of 4, 16 and 64 KiB. */
#include "base/large_pages.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "feeler/voxel_file.h"
#include "support/fixtures.h"
#include "support/test.h"

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
    flr_voxfile_def def = flr_default_voxfile_def();
    def.voxmap = part.voxmap, def.shell = part.shell;
    assert_ok(flr_voxfile_write(flr_env_real(), path, &def, &error), error);
    flr_voxfile *file;
    const flr_voxfile_options options = flr_default_voxfile_options();
    assert_ok(flr_voxfile_open(flr_env_real(), path, &options, &file, &error), error);
    assert_true(flr_hash_equal(flr_voxmap_hash(flr_voxfile_voxmap(file)),
                               flr_voxmap_hash(part.voxmap)));
    flr_voxfile_close(file);
    unlink(path);
    flr_test_part_free(&part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_open_one_by_one),
        cmocka_unit_test(voxel_files_come_back),
    };
    return flr_test_run(tests);
}
