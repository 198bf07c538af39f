/* voxel files: what is written comes back; damaged and foreign files are reported; nothing crashes */
#include "feeler/voxel_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include "feeler/sim.h"
#include "feeler/voxels.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/reseal.h"
#include "support/test.h"
#include "voxel/voxfile_format.h"

static flr_error error;

/* ---- a small part, and its file in memory ---- */

static flr_voxmap *the_voxmap;
static flr_shell *the_shell;
static flr_sim *the_sim;
static flr_env *the_disk; /* simulated, without faults */
static uint8_t *the_file; /* bytes, at a page */
static size_t the_size;

static flr_env *make_disk(uint64_t seed, flr_sim **sim)
{
    flr_sim_def def = flr_default_sim_def();
    def.seed = seed;
    *sim = flr_sim_create(&def);
    assert_non_null(*sim);
    flr_address address;
    flr_address_parse("10.0.0.1", 0, &address, NULL);
    return flr_sim_node(*sim, address);
}

static void build(unsigned bits, bool features, flr_voxmap **voxmap, flr_shell **shell)
{
    flr_test_shape shape = {0};
    flr_test_shape_torus(&shape, 0.01, 0.004, 24, 12);
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = 0.001;
    def.bits = bits;
    def.range = 4;
    def.features = features;
    def.threads = 1;
    assert_ok(flr_voxelize(flr_env_real(), flr_test_shape_mesh(&shape), &def, voxmap, shell, NULL,
                           &error),
              error);
    flr_test_shape_free(&shape);
}

static uint8_t *page_copy(const uint8_t *bytes, size_t size, size_t room)
{
    uint8_t *copy = aligned_alloc(4096, (room + 4095) / 4096 * 4096);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    return copy;
}

static int set_up(void **state)
{
    (void)state;
    build(4, true, &the_voxmap, &the_shell);
    the_disk = make_disk(1, &the_sim);
    assert_ok(flr_voxfile_write(the_disk, "/part.flrvox", the_voxmap, the_shell, &error), error);
    flr_blob blob;
    assert_ok(flr_file_read_all(the_disk, "/part.flrvox", 1 << 30, &blob, &error), error);
    the_size = blob.size;
    the_file = page_copy(blob.bytes, blob.size, blob.size + 65536);
    flr_blob_free(&blob);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    flr_voxmap_destroy(the_voxmap);
    flr_shell_destroy(the_shell);
    flr_sim_destroy(the_sim);
    free(the_file);
    return 0;
}

static flr_result parse(const uint8_t *bytes, size_t size, unsigned flags)
{
    flr_voxmap *voxmap = NULL;
    flr_shell *shell = NULL;
    flr_result result = flr_voxfile_parse("x", bytes, size, flags, &voxmap, &shell, &error);
    if (result != FLR_OK) {
        assert_null(voxmap);
        assert_null(shell);
        assert_eq(strncmp(error.message, "x: ", 3), 0);
    }
    flr_voxmap_destroy(voxmap);
    flr_shell_destroy(shell);
    return result;
}

static void assert_says(const char *words)
{
    if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
}

/* ---- there and back ---- */

static void assert_same(const flr_voxmap *a, const flr_voxmap *b, const flr_shell *s,
                        const flr_shell *t)
{
    assert_int_equal(a->header->size, b->header->size);
    assert_memory_equal(a->header, b->header, a->header->size);
    assert_int_equal(s->bytes, t->bytes);
    assert_memory_equal(((const flr_shell_owner *)s)->header, ((const flr_shell_owner *)t)->header,
                        s->bytes);
    assert_int_equal(s->total, t->total);
    assert_int_equal(s->point_count, t->point_count);
    assert_memory_equal(s->by_label, t->by_label, sizeof s->by_label);
    assert_memory_equal(s->centre, t->centre, sizeof s->centre);
    assert_memory_equal(s->x, t->x, s->point_count * sizeof *s->x);
    assert_memory_equal(s->normal, t->normal, s->point_count * sizeof *s->normal);
}

static void comes_back_as_it_was(void **state)
{
    (void)state;
    char *folder = flr_test_folder(), path[600], again[600];
    snprintf(path, sizeof path, "%s/a.flrvox", folder);
    snprintf(again, sizeof again, "%s/b.flrvox", folder);
    for (int i = 0; i < 6; i++) {
        flr_voxmap *voxmap, *opened;
        flr_shell *shell, *points;
        build(i % 3 == 2 ? 8 : 4, i % 3 == 1, &voxmap, &shell);
        assert_ok(flr_voxfile_write(flr_env_real(), path, voxmap, shell, &error), error);
        unsigned flags = (i < 3 ? 0 : FLR_VOXFILE_LOAD) | (i % 2 ? FLR_VOXFILE_VERIFY : 0);
        assert_ok(flr_voxfile_open(flr_env_real(), path, flags, &opened, &points, &error), error);
        assert_same(voxmap, opened, shell, points);
        assert_ok(flr_voxfile_verify(opened, 2, &error), error);

        // a file opened is a file that can be written, and the same bytes
        assert_ok(flr_voxfile_write(flr_env_real(), again, opened, points, &error), error);
        flr_blob a, b;
        assert_ok(flr_file_read_all(flr_env_real(), path, 1 << 30, &a, &error), error);
        assert_ok(flr_file_read_all(flr_env_real(), again, 1 << 30, &b, &error), error);
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.bytes, b.bytes, a.size);

        // each keeps the file alive for itself, also when its name is gone
        assert_ok(flr_path_remove(flr_env_real(), path, &error), error);
        if (i % 2) {
            flr_voxmap_destroy(opened);
            assert_memory_equal(points->x, shell->x, shell->point_count * sizeof *shell->x);
            flr_shell_destroy(points);
        } else {
            flr_shell_destroy(points);
            assert_memory_equal(opened->header, voxmap->header, voxmap->header->size);
            flr_voxmap_destroy(opened);
        }
        flr_blob_free(&a);
        flr_blob_free(&b);
        flr_voxmap_destroy(voxmap);
        flr_shell_destroy(shell);
    }
    flr_test_folder_remove(folder);
}

static void the_shell_may_be_left_out(void **state)
{
    (void)state;
    flr_voxmap *voxmap;
    flr_shell *shell = the_shell;
    assert_ok(flr_voxfile_write(the_disk, "/alone", the_voxmap, NULL, &error), error);
    assert_ok(flr_voxfile_open(the_disk, "/alone", 0, &voxmap, &shell, &error), error);
    assert_null(shell);
    flr_voxfile_info info;
    assert_true(flr_voxfile_get_info(voxmap, &info));
    assert_int_equal(info.section_count, 1);
    assert_int_equal(info.sections[0].kind, FLR_SECTION_VOXMAP);
    assert_int_equal(info.sections[0].size, the_voxmap->header->size);
    assert_true(info.verified);
    flr_voxmap_destroy(voxmap);

    // nor need it be asked for
    assert_ok(flr_voxfile_open(the_disk, "/part.flrvox", 0, &voxmap, NULL, &error), error);
    assert_true(flr_voxfile_get_info(voxmap, &info));
    assert_int_equal(info.section_count, 2);
    assert_int_equal(info.size, the_size);
    flr_voxmap_destroy(voxmap);

    // what is built is from no file, and always sound
    assert_false(flr_voxfile_get_info(the_voxmap, &info));
    assert_ok(flr_voxfile_verify(the_voxmap, 0, &error), error);
}

/* ---- damage ---- */

/* Changes the file somehow; what must be undone lies in [*low, *high) of the original. */
static size_t mutate(flr_test_random *random, uint8_t *bytes, size_t *low, size_t *high)
{
    size_t size = the_size, at = flr_test_random_below(random, (uint32_t)the_size), end = at + 1;
    switch (flr_test_random_below(random, 6)) {
    case 0: // one bit
        bytes[at] ^= (uint8_t)(1u << flr_test_random_below(random, 8));
        break;
    case 1: // some bytes
        end = at + 1 + flr_test_random_below(random, 100);
        if (end > the_size) end = the_size;
        for (size_t i = at; i < end; i++) bytes[i] = (uint8_t)flr_test_random_u64(random);
        break;
    case 2: // cut off
        size = at;
        break;
    case 3: // longer, by zeros or by chance
        size += 1 + flr_test_random_below(random, 5000);
        memset(bytes + the_size, flr_test_random_below(random, 2) ? 0 : 7, size - the_size);
        break;
    case 4: { // two pages swapped
        size_t pages = the_size / 4096, a = at / 4096,
               b = flr_test_random_below(random, (uint32_t)pages);
        uint8_t page[4096];
        if (a > b) {
            size_t c = a;
            a = b, b = c;
        }
        memcpy(page, bytes + a * 4096, 4096);
        memmove(bytes + a * 4096, bytes + b * 4096, 4096);
        memcpy(bytes + b * 4096, page, 4096);
        at = a * 4096, end = (b + 1) * 4096;
        break;
    }
    default: // a run of zeros, as a disk leaves it that lost a sector
        at = at / 512 * 512;
        end = at + 512;
        memset(bytes + at, 0, 512);
    }
    *low = at, *high = end;
    return size;
}

static void every_mutation_is_found(void **state)
{
    (void)state;
#ifdef FLR_SANITIZED
    enum { wanted = 20000 };
#else
    enum { wanted = 100000 };
#endif
    flr_test_random random = flr_test_random_begin("voxfile_mutations");
    uint8_t *bytes = page_copy(the_file, the_size, the_size + 65536);
    unsigned same = 0, found = 0;
    while (found < wanted) {
        size_t low, high, size = mutate(&random, bytes, &low, &high);
        if (size == the_size && memcmp(bytes + low, the_file + low, high - low) == 0) {
            same++;
            continue;
        }
        flr_result result = parse(bytes, size, FLR_VOXFILE_VERIFY);
        if (result != FLR_BAD_INPUT && result != FLR_UNSUPPORTED)
            fail_msg("a mutation of [%zu, %zu), %zu bytes of %zu, goes unnoticed", low, high, size,
                     the_size);
        found++;
        memcpy(bytes + low, the_file + low, high - low);
    }
    printf("%u mutations of a file of %zu bytes found; %u changed nothing\n", found, the_size,
           same);
    assert_int_equal(parse(bytes, the_size, FLR_VOXFILE_VERIFY), FLR_OK);
    free(bytes);
}

static void foreign_files_are_told(void **state)
{
    (void)state;
    assert_int_equal(parse((const uint8_t *)"", 0, 0), FLR_BAD_INPUT);
    assert_says("is not a voxel file");
    static const uint8_t stl[200] = "solid cube\n facet normal 0 0 1";
    assert_int_equal(parse(stl, sizeof stl, 0), FLR_BAD_INPUT);
    assert_says("is not a voxel file");
    assert_int_equal(parse(the_file, 4095, 0), FLR_BAD_INPUT);
    assert_says("cut off");
    assert_int_equal(parse(the_file, the_size - 1, 0), FLR_BAD_INPUT);
    assert_says("should have");

    uint8_t *bytes = page_copy(the_file, the_size, the_size);
    flr_voxfile_header *header = (flr_voxfile_header *)bytes;
    header->version++;
    flr_test_reseal(bytes, the_size);
    assert_int_equal(parse(bytes, the_size, 0), FLR_UNSUPPORTED);
    assert_says("version");
    header->version--;
    header->byte_order = 0x04030201;
    flr_test_reseal(bytes, the_size);
    assert_int_equal(parse(bytes, the_size, 0), FLR_UNSUPPORTED);
    assert_says("byte order");
    free(bytes);

    flr_voxmap *voxmap;
    assert_int_equal(flr_voxfile_open(flr_env_real(), "/nowhere/x", 0, &voxmap, NULL, &error),
                     FLR_NOT_FOUND);
    assert_int_equal(flr_voxfile_open(flr_env_real(), "/", 0, &voxmap, NULL, &error),
                     FLR_BAD_INPUT);
}

/* ---- forged files: the checksums are right, the content is anything ---- */

/* Asks everything of what was accepted; the sanitizers watch. */
static void query(flr_test_random *random, const uint8_t *bytes, size_t size)
{
    flr_voxmap *voxmap = NULL;
    flr_shell *shell = NULL;
    if (flr_voxfile_parse("x", bytes, size, 0, &voxmap, &shell, &error) != FLR_OK) return;
    flr_voxmap_info info = flr_voxmap_get_info(voxmap);
    unsigned sum = 0;
    for (int i = 0; i < 200; i++) {
        int64_t at[3];
        for (int k = 0; k < 3; k++)
            at[k] = (int64_t)(flr_test_random_u64(random) % (info.size[k] + 2)) - 1;
        for (int field = 0; field < FLR_FIELD_COUNT; field++)
            sum += flr_voxmap_mark_at(voxmap, (flr_field)field, at[0], at[1], at[2]);
    }
    if (shell)
        for (uint32_t c = 0; c < shell->chunk_count; c++)
            for (uint32_t k = 0; k < shell->chunks[c].padded; k++) {
                flr_vec3 p = flr_shell_point(shell, c, shell->chunks[c].first + k, 0.001);
                sum += p.x > 0;
            }
    assert_lt(sum, UINT32_MAX);
    flr_voxmap_destroy(voxmap);
    flr_shell_destroy(shell);
}

static void forged_files_lead_nowhere(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("voxfile_forged");
    const flr_voxfile_header *header = (const flr_voxfile_header *)the_file;
    // header, voxmap header and directory, shell header and tables: where numbers matter
    const flr_voxmap_header *v = (const flr_voxmap_header *)(the_file + header->sections[0].offset);
    const flr_shell_header *s = (const flr_shell_header *)(the_file + header->sections[1].offset);
    size_t places[4][2] = {{0, 400},
                           {header->sections[0].offset, sizeof *v},
                           {header->sections[0].offset, v->directory},
                           {header->sections[1].offset, s->x}};
    for (int i = 0; i < 5000; i++) {
        uint8_t *bytes = page_copy(the_file, the_size, the_size);
        const size_t *place = places[flr_test_random_below(&random, 4)];
        for (unsigned n = 1 + flr_test_random_below(&random, 3); n; n--) {
            static const uint64_t numbers[] = {
                0,          1,          4096,       0x7FFFFFFF,
                0x80000000, 0xFFFFFFFF, UINT64_MAX, UINT64_MAX - 4095,
                INT64_MAX};
            uint64_t number = numbers[flr_test_random_below(&random, 9)];
            if (flr_test_random_below(&random, 2)) number = flr_test_random_u64(&random) >> 40;
            size_t at = place[0] + flr_test_random_below(&random, (uint32_t)place[1] / 4) * 4;
            memcpy(bytes + at, &number, flr_test_random_below(&random, 2) ? 4 : 8);
        }
        flr_test_reseal(bytes, the_size);
        query(&random, bytes, the_size);
        free(bytes);
    }
    query(&random, the_file, the_size); // and what is sound is asked, too
}

/* ---- a disk with faults ---- */

static flr_result write_then_open(flr_env *env, unsigned flags)
{
    flr_voxmap *voxmap = NULL;
    flr_shell *shell = NULL;
    flr_result result = flr_voxfile_write(env, "/x.flrvox", the_voxmap, the_shell, &error);
    if (result == FLR_OK)
        result = flr_voxfile_open(env, "/x.flrvox", flags, &voxmap, &shell, &error);
    if (result == FLR_OK) assert_same(the_voxmap, voxmap, the_shell, shell);
    flr_voxmap_destroy(voxmap);
    flr_shell_destroy(shell);
    return result;
}

static bool count_names(void *context, const char *name)
{
    (void)name;
    ++*(int *)context;
    return true;
}

static void no_fault_of_the_disk_leaves_half_a_file(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        bool through = false;
        for (uint64_t n = 1; !through; n++) {
            flr_sim *sim;
            flr_env *env = make_disk(n, &sim);
            flr_sim_disk disk = {.fail_at = n,
                                 .how = how == 1 ? FLR_SIM_DISK_FULL : FLR_SIM_IO_ERROR,
                                 .short_read = 0.5};
            if (how == 2) disk.how = FLR_SIM_CRASH;
            flr_sim_set_disk(env, &disk);
            flr_result result = write_then_open(env, how == 3 ? FLR_VOXFILE_LOAD : 0);
            through = flr_sim_get_stats(sim).failures == 0;
            if (through) assert_int_equal(result, FLR_OK);
            // one that failed is there whole or not at all, and nothing lies beside it
            flr_sim_disk sound = {0};
            flr_sim_set_disk(env, &sound);
            if (!flr_sim_is_up(env)) flr_sim_restart(env);
            flr_path_info info;
            assert_ok(flr_path_look(env, "/x.flrvox", &info, &error), error);
            if (info.kind == FLR_PATH_FILE) {
                flr_voxmap *voxmap;
                assert_ok(
                    flr_voxfile_open(env, "/x.flrvox", FLR_VOXFILE_VERIFY, &voxmap, NULL, &error),
                    error);
                flr_voxmap_destroy(voxmap);
            }
            int names = 0;
            assert_ok(flr_path_list(env, "/", count_names, &names, &error), error);
            if (how != 2) assert_int_equal(names, info.kind == FLR_PATH_FILE);
            flr_sim_destroy(sim);
            assert_lt(n, 1000);
        }
    }
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    flr_sim *sim;
    flr_env *env = make_disk(3, &sim);
    flr_sim_disk disk = {.capacity = the_size / 2};
    flr_sim_set_disk(env, &disk);
    assert_int_equal(flr_voxfile_write(env, "/x", the_voxmap, the_shell, &error), FLR_IO);
    assert_says("disk is full");
    flr_sim_destroy(sim);
}

typedef struct place {
    char path[600];
    unsigned flags;
} place;

static flr_result write_and_open(void *context, flr_error *why)
{
    const place *at = context;
    flr_voxmap *voxmap;
    flr_shell *shell;
    flr_result result = flr_voxfile_write(flr_env_real(), at->path, the_voxmap, the_shell, why);
    if (result == FLR_OK)
        result = flr_voxfile_open(flr_env_real(), at->path, at->flags, &voxmap, &shell, why);
    if (result != FLR_OK) return result;
    flr_voxmap_destroy(voxmap);
    flr_shell_destroy(shell);
    return FLR_OK;
}

static void survives_without_memory(void **state)
{
    (void)state;
    char *folder = flr_test_folder();
    place at = {.flags = 0};
    snprintf(at.path, sizeof at.path, "%s/x", folder);
    flr_fail_alloc_each(write_and_open, &at);
    at.flags = FLR_VOXFILE_LOAD;
    flr_fail_alloc_each(write_and_open, &at);
    flr_test_folder_remove(folder);
}

/* ---- large files ---- */

/* A voxmap of `planes` marked chunks per field, all zeros, which take no memory; freed with munmap. */
static flr_voxmap large_voxmap(uint64_t hypers)
{
    flr_voxmap_header h = *the_voxmap->header;
    uint64_t nodes = hypers / 512, planes = hypers * 80, end = 4096;
    h.grid.hypers[0] = (uint32_t)nodes * 8, h.grid.hypers[1] = h.grid.hypers[2] = 8;
    h.roots[0] = (uint32_t)nodes, h.roots[1] = h.roots[2] = 1;
    for (int i = 0; i <= FLR_FIELD_COUNT; i++) {
        flr_tree_place *p = i < FLR_FIELD_COUNT ? &h.fields[i] : &h.chunks;
        *p = (flr_tree_place){.node_count = nodes};
        p->hyper_count = i < FLR_FIELD_COUNT ? hypers : 0;
        p->plane_count = i < FLR_FIELD_COUNT ? planes : hypers;
        p->root = end, end += (nodes * 4 + 4095) / 4096 * 4096;
        p->nodes = end, end += nodes * 2048 / 4096 * 4096 + 4096;
        p->hypers = end, end += p->hyper_count * 2048;
    }
    h.directory = end;
    for (int i = 0; i <= FLR_FIELD_COUNT; i++) {
        flr_tree_place *p = i < FLR_FIELD_COUNT ? &h.fields[i] : &h.chunks;
        p->planes = end, end += p->plane_count * 256;
    }
    h.size = end;
    flr_voxmap_header *block =
        mmap(NULL, end, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(block, MAP_FAILED);
    *block = h;
    // a hyperchunk far from the beginning
    ((uint32_t *)((uint8_t *)block + h.fields[FLR_FIELD_SURFACE].nodes))[1] = 300;
    return (flr_voxmap){.header = block, .mapping = block, .mapping_size = end};
}

/* Writes only what is not zero, so that the file has holes. */
static void write_sparse(const char *path, const flr_voxmap *voxmap)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    static uint8_t zeros[FLR_VOXFILE_BLOCK];
    uint64_t total = voxmap->header->size,
             blocks = (total + FLR_VOXFILE_BLOCK - 1) / FLR_VOXFILE_BLOCK;
    flr_voxfile_header h = {.byte_order = 0x01020304,
                            .version = FLR_VOXMAP_VERSION,
                            .block_size = FLR_VOXFILE_BLOCK,
                            .section_count = 1,
                            .block_count = blocks};
    memcpy(h.magic, FLR_VOXFILE_MAGIC, 8);
    size_t table_size = (sizeof h + blocks * sizeof(flr_hash) + 4095) / 4096 * 4096 - sizeof h;
    flr_hash *table = calloc(1, table_size), zero = flr_hash_bytes(zeros, sizeof zeros);
    assert_non_null(table);
    for (uint64_t i = 0; i < blocks; i++) table[i] = zero;
    table[0] = flr_hash_bytes(voxmap->header, FLR_VOXFILE_BLOCK);
    if (total % FLR_VOXFILE_BLOCK)
        table[blocks - 1] = flr_hash_bytes(zeros, total % FLR_VOXFILE_BLOCK);
    h.data = sizeof h + table_size;
    h.size = h.data + total;
    h.sections[0] = (flr_voxfile_section){FLR_SECTION_VOXMAP, 0, h.data, total};
    h.table_hash = flr_hash_bytes(table, table_size);
    h.header_hash = flr_hash_bytes(&h, sizeof h);
    assert_int_equal(fwrite(&h, sizeof h, 1, file), 1);
    assert_int_equal(fwrite(table, table_size, 1, file), 1);
    assert_int_equal(fwrite(voxmap->header, FLR_VOXFILE_BLOCK, 1, file), 1);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(ftruncate(fileno(file), (off_t)h.size), 0);
    fclose(file);
    free(table);
}

static void patch(const char *path, uint64_t at, uint32_t value)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static void large_files_open_in_milliseconds(void **state)
{
    (void)state;
    char *folder = flr_test_folder(), path[600];
    snprintf(path, sizeof path, "%s/large.flrvox", folder);
    flr_voxmap large = large_voxmap(15360), *opened;
    write_sparse(path, &large);
    flr_env *env = flr_env_real();
    flr_voxfile_info info;
    int64_t took[3];
    for (int i = 0; i < 2; i++) { // the first time the system has to find the pages
        int64_t begin = flr_clock_ns(env);
        assert_ok(flr_voxfile_open(env, path, 0, &opened, NULL, &error), error);
        took[i] = flr_clock_ns(env) - begin;
        assert_true(flr_voxfile_get_info(opened, &info));
        assert_gt(info.size, 1000000000);
        assert_false(info.verified);
        if (i == 0) flr_voxmap_destroy(opened);
    }
    took[2] = flr_clock_ns(env);
    assert_ok(flr_voxfile_verify(opened, 0, &error), error);
    took[2] = flr_clock_ns(env) - took[2];
    assert_true(flr_voxfile_get_info(opened, &info));
    assert_true(info.verified);
    flr_voxmap_destroy(opened);
    printf("%.2f GB, %.0f MB of directory: opened in %.1f ms, then %.1f ms, verified in %.0f ms\n",
           (double)info.size * 1e-9, (double)large.header->directory * 1e-6, (double)took[0] * 1e-6,
           (double)took[1] * 1e-6, (double)took[2] * 1e-6);

    // damage in the upper levels of the directory is found at once
    const uint64_t data = info.sections[0].offset;
    const flr_tree_place *tree = &large.header->fields[FLR_FIELD_SURFACE];
    patch(path, data + tree->nodes + 100, 1);
    assert_int_equal(flr_voxfile_open(env, path, 0, &opened, NULL, &error), FLR_BAD_INPUT);
    assert_says("checksum at byte");
    patch(path, data + tree->nodes + 100, 0);

    // below, the worst entry there can be leads a query to zeros, and verifying finds it
    patch(path, data + tree->hypers + UINT64_C(300) * 2048, UINT32_C(0x7FFFFFFF));
    patch(path, data + tree->hypers + UINT64_C(300) * 2048 + 4, UINT32_C(0xFFFFFFFF));
    assert_ok(flr_voxfile_open(env, path, 0, &opened, NULL, &error), error);
    for (int x = 0; x < 16; x++)
        assert_in_set(flr_voxmap_mark_at(opened, FLR_FIELD_SURFACE, 64 + x, 7, 7),
                      ((LargestIntegralType[]){0, 255}), 2);
    assert_int_equal(flr_voxfile_verify(opened, 0, &error), FLR_BAD_INPUT);
    assert_says("checksum at byte");
    flr_voxmap_destroy(opened);
    patch(path, data + tree->hypers + UINT64_C(300) * 2048, 0);
    patch(path, data + tree->hypers + UINT64_C(300) * 2048 + 4, 0);

    // damage among the marks is found by verifying
    patch(path, data + large.header->directory + 10000000, 1);
    assert_ok(flr_voxfile_open(env, path, 0, &opened, NULL, &error), error);
    assert_int_equal(flr_voxfile_verify(opened, 0, &error), FLR_BAD_INPUT);
    assert_says("checksum at byte");
    assert_true(flr_voxfile_get_info(opened, &info));
    assert_false(info.verified);
    flr_voxmap_destroy(opened);
    for (int flag = FLR_VOXFILE_VERIFY; flag <= FLR_VOXFILE_LOAD; flag++)
        assert_int_equal(flr_voxfile_open(env, path, (unsigned)flag, &opened, NULL, &error),
                         FLR_BAD_INPUT);
    munmap(large.mapping, large.mapping_size);
    flr_test_folder_remove(folder);
}

/* ---- files that are damaged while they are open ---- */

static void open_in(const char *path, unsigned flags, flr_voxmap **voxmap)
{
    assert_ok(flr_voxfile_write(flr_env_real(), path, the_voxmap, NULL, &error), error);
    assert_ok(flr_voxfile_open(flr_env_real(), path, flags, voxmap, NULL, &error), error);
    assert_ok(flr_voxfile_verify(*voxmap, 0, &error), error);
}

static uint64_t sum_of(const flr_voxmap *voxmap)
{
    const uint8_t *bytes = (const uint8_t *)voxmap->header;
    uint64_t sum = 0, size = the_voxmap->header->size;
    for (uint64_t i = 0; i < size; i++) sum += bytes[i];
    return sum;
}

/* A mapped one reads as zeros and says so; a loaded one is as it was. */
static void a_file_cut_short_ends_nobody(void **state)
{
    (void)state;
    char *folder = flr_test_folder(), path[600];
    snprintf(path, sizeof path, "%s/x.flrvox", folder);
    const uint64_t sound = sum_of(the_voxmap);
    flr_voxfile_info info;
    flr_voxmap *voxmap;
    open_in(path, 0, &voxmap);
    assert_eq(sum_of(voxmap), sound);
    assert_int_equal(truncate(path, 0), 0);
    assert_eq(sum_of(voxmap), 0);
    assert_int_equal(flr_voxfile_verify(voxmap, 0, &error), FLR_BAD_INPUT);
    assert_says("became shorter or could not be read");
    assert_true(flr_voxfile_get_info(voxmap, &info));
    assert_false(info.verified);
    assert_gt(info.size, 0);
    flr_voxmap_destroy(voxmap);

    for (int zeroed = 0; zeroed < 2; zeroed++) {
        open_in(path, FLR_VOXFILE_LOAD, &voxmap);
        assert_true(flr_voxfile_get_info(voxmap, &info));
        assert_true(info.verified);
        assert_int_equal(truncate(path, 0), 0);
        if (zeroed) assert_int_equal(truncate(path, (off_t)info.size), 0);
        assert_eq(sum_of(voxmap), sound);
        assert_ok(flr_voxfile_verify(voxmap, 0, &error), error);
        flr_voxmap_destroy(voxmap);
    }
    flr_test_folder_remove(folder);
}

/* A sound file that is too large is refused; a damaged one is damaged, however large it says it is. */
static void a_limit_holds_for_loading(void **state)
{
    (void)state;
    flr_voxmap *voxmap = NULL;
    assert_int_equal(flr_voxfile_open_within(the_disk, "/part.flrvox", FLR_VOXFILE_LOAD,
                                             the_size - 1, &voxmap, NULL, &error),
                     FLR_TOO_LARGE);
    assert_null(voxmap);
    assert_ok(flr_voxfile_open_within(the_disk, "/part.flrvox", FLR_VOXFILE_LOAD, the_size, &voxmap,
                                      NULL, &error),
              error);
    flr_voxmap_destroy(voxmap);
    char *folder = flr_test_folder(), path[600];
    snprintf(path, sizeof path, "%s/x.flrvox", folder);
    assert_ok(flr_voxfile_write(flr_env_real(), path, the_voxmap, NULL, &error), error);
    assert_int_equal(truncate(path, (off_t)1 << 42), 0); /* of holes */
    voxmap = NULL;
    assert_int_equal(flr_voxfile_open_within(flr_env_real(), path, FLR_VOXFILE_LOAD, the_size,
                                             &voxmap, NULL, &error),
                     FLR_BAD_INPUT);
    assert_null(voxmap);
    flr_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_as_it_was),
        cmocka_unit_test(the_shell_may_be_left_out),
        cmocka_unit_test(every_mutation_is_found),
        cmocka_unit_test(foreign_files_are_told),
        cmocka_unit_test(forged_files_lead_nowhere),
        cmocka_unit_test(no_fault_of_the_disk_leaves_half_a_file),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(survives_without_memory),
        cmocka_unit_test(large_files_open_in_milliseconds),
        cmocka_unit_test(a_file_cut_short_ends_nobody),
        cmocka_unit_test(a_limit_holds_for_loading),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
