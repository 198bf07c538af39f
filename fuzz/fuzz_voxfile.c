/* voxel files: whatever is accepted can be asked anything
 *
 * An input is a list of changes to a small file that is made here, so that the corpus survives changes of the format.
 * Then the checksums are put right, as a forger would: otherwise nearly every input would end at the first of them.
 *
 *     byte 0      bit 0: leave the checksums wrong; bit 1: a file with features and 8 bits; bit 2: cut off; bits 3 and 4: and
 *                 page it, which takes longest
 *     bytes 1, 2  where it is cut off, in 32nds of a page from the start
 *     then        7 bytes per change: part of the file, place in it (2), new value (4) */
#include <stdlib.h>
#include <string.h>

#include "contact/paging.h"
#include "feeler/pager.h"
#include "feeler/sim.h"
#include "feeler/voxels.h"
#include "fuzz/support/memory.h"
#include "tests/support/reseal.h"
#include "voxel/voxfile_format.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static flr_blob files[2];

static flr_blob make_file(bool rich)
{
    static flr_vec3 vertices[] = {{0, 0, 0}, {0.004, 0, 0}, {0, 0.004, 0}, {0, 0, 0.004}};
    static flr_triangle triangles[] = {{{0, 2, 1}}, {{0, 1, 3}}, {{0, 3, 2}}, {{1, 2, 3}}};
    flr_mesh mesh = {.vertices = vertices,
                     .vertex_count = 4,
                     .triangles = triangles,
                     .triangle_count = 4,
                     .bounds = {{0, 0, 0}, {0.004, 0.004, 0.004}}};
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = 0.001;
    def.range = 1;
    def.features = rich;
    def.bits = rich ? 8 : 4;
    flr_sim_def world = flr_default_sim_def();
    flr_sim *sim = flr_sim_create(&world);
    flr_address address = {.family = 4, .ip = {10, 0, 0, 1}};
    flr_env *env = sim ? flr_sim_node(sim, address) : NULL;
    flr_voxmap *voxmap;
    flr_shell *shell;
    flr_blob blob;
    if (!env || flr_voxelize(env, &mesh, &def, &voxmap, &shell, NULL, NULL) != FLR_OK ||
        flr_voxfile_write(env, "/x", voxmap, shell, NULL) != FLR_OK ||
        flr_file_read_all(env, "/x", 1 << 24, &blob, NULL) != FLR_OK)
        abort();
    flr_voxmap_destroy(voxmap);
    flr_shell_destroy(shell);
    flr_sim_destroy(sim);
    return blob;
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    for (int i = 0; i < 2; i++) files[i] = make_file(i);
    return 0;
}

/* Puts the value into a part: header, voxmap's header, its directory, shell's header, its tables, anywhere. */
static void change(uint8_t *bytes, const flr_blob *original, const uint8_t *step)
{
    const flr_voxfile_header *h = (const flr_voxfile_header *)original->bytes;
    const flr_voxfile_section *v = &h->sections[0], *s = &h->sections[1];
    const flr_voxmap_header *voxmap = (const flr_voxmap_header *)(original->bytes + v->offset);
    const flr_shell_header *shell = (const flr_shell_header *)(original->bytes + s->offset);
    const uint64_t parts[6][2] = {{0, 200},
                                  {v->offset, sizeof *voxmap},
                                  {v->offset, voxmap->directory},
                                  {s->offset, sizeof *shell},
                                  {s->offset, shell->x},
                                  {0, original->size}};
    const uint64_t *part = parts[step[0] % 6];
    uint64_t place = (uint64_t)(step[1] | step[2] << 8) * 4 % (part[1] / 4 * 4);
    memcpy(bytes + part[0] + place, step + 3, 4);
}

static void ask_voxmap(const flr_voxmap *voxmap)
{
    flr_voxmap_info info = flr_voxmap_get_info(voxmap);
    uint64_t random = 1;
    unsigned most = (1u << info.bits) - 1;
    for (int i = 0; i < 300; i++) {
        int64_t at[3];
        for (int axis = 0; axis < 3; axis++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            at[axis] = (int64_t)((random >> 20) % (info.size[axis] + 2)) - 1;
        }
        for (int field = 0; field < FLR_FIELD_COUNT; field++)
            if (flr_voxmap_mark_at(voxmap, (flr_field)field, at[0], at[1], at[2]) > most) abort();
        flr_voxmap_mark(voxmap, FLR_FIELD_SURFACE,
                        flr_vec3_make((double)at[0], (double)at[1] * 1e-3, (double)at[2]));
    }
}

static void ask_shell(const flr_shell *shell)
{
    uint32_t points = 0;
    for (uint32_t c = 0; c < shell->chunk_count; c++)
        for (uint32_t k = 0; k < shell->chunks[c].padded; k++, points++)
            flr_shell_point(shell, c, shell->chunks[c].first + k, 0.001);
    if (points != shell->point_count) abort();
    flr_shell_opening(shell, 0.001);
}

/* Reads as if there were a part whose steps look at everything, then looks. */
static void read_all(flr_pager *pager)
{
    static flr_shell shell = {.radius = 1};
    static flr_shell_hyper hyper = {.radius = 1};
    const flr_contact_table *table = flr_pager_table(pager);
    flr_paging *paging = table->paging;
    flr_paging_user user;
    shell.hypers = &hyper, shell.hyper_count = 1;
    flr_paging_join(paging, &user);
    flr_paging_view *view = flr_latest_begin(paging->view);
    view->world = user.number;
    view->count = 1;
    view->parts[0] = (flr_paging_part){.shell = &shell, .T_voxmap_shell = flr_pose_identity()};
    flr_latest_publish(paging->view);
    flr_pager_service(pager, 64);
    flr_paging_begin(paging);
    if (flr_paging_ready(paging, &shell, flr_pose_identity(), 0))
        for (int i = 0; i < 300; i++)
            flr_table_mark(&table->fields[0],
                           flr_vec3_make(i * 7 % 67 - 1.5, i * 11 % 67 - 1.5, i * 13 % 67 - 1.5));
    flr_paging_end(paging);
    flr_paging_leave(paging, &user);
}

/* The same file by a pager, from a disk: what it opens can be asked about any place, and read. */
static void page(const uint8_t *bytes, size_t size)
{
    flr_sim_def machine = flr_default_sim_def();
    flr_address address = {.family = 4, .ip = {10, 0, 0, 1}};
    flr_sim *sim = flr_sim_create(&machine);
    flr_pager_def def = flr_default_pager_def();
    flr_pager *pager = NULL;
    flr_file *file;
    flr_error error;
    def.env = flr_sim_node(sim, address), def.path = "/fuzz", def.budget = 1 << 20;
    def.features = size % 2;
    if (flr_file_open(def.env, "/fuzz", FLR_FILE_CREATE, &file, NULL) != FLR_OK) abort();
    flr_file_write(file, 0, bytes, size, NULL);
    flr_file_close(file);
    if (flr_pager_open(&def, &pager, &error) == FLR_OK) {
        flr_voxmap_info info = flr_voxmap_get_info(flr_pager_voxmap(pager));
        for (int i = 0; i < 50; i++) {
            flr_vec3 at = flr_vec3_make(i * 7 % 23 - 4, i * 11 % 23 - 4, i * 13 % 23 - 4);
            flr_pager_look(pager, flr_vec3_scale(at, info.voxel));
        }
        read_all(pager);
        flr_pager_close(pager);
    } else if (pager || strncmp(error.message, "/fuzz: ", 7) != 0) {
        abort();
    }
    flr_sim_destroy(sim);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 3) return 0;
    const flr_blob *original = &files[bytes[0] >> 1 & 1];
    bool damaged = bytes[0] & 1;
    size_t length = original->size, cut = (size_t)(bytes[1] | bytes[2] << 8) * 128;
    if (bytes[0] & 4 && cut < length) length = cut;
    uint8_t *all = aligned_alloc(64, (original->size + 63) / 64 * 64);
    /* another copy, only as long as it says, so that the sanitizer sees a look beyond its end */
    uint8_t *copy = aligned_alloc(64, length ? (length + 63) / 64 * 64 : 64);
    if (!all || !copy) abort();
    memcpy(all, original->bytes, original->size);
    for (size_t i = 3; i + 7 <= size && i < 3 + 7 * 64; i += 7) change(all, original, bytes + i);
    memcpy(copy, all, length);
    free(all);
    bool changed = length != original->size || memcmp(copy, original->bytes, length) != 0;
    if (!damaged) flr_test_reseal(copy, length);

    flr_voxmap *voxmap = NULL;
    flr_shell *shell = NULL;
    flr_error error;
    flr_fuzz_memory_begin(length, FLR_FUZZ_FIXED);
    flr_result result = flr_voxfile_parse("fuzz", copy, length, 0, &voxmap, &shell, &error);
    flr_fuzz_memory_end();
    if (result == FLR_OK) {
        if (damaged && changed)
            abort(); /* every change is found where the checksums are not mended */
        ask_voxmap(voxmap);
        if (shell) ask_shell(shell);
    } else if (voxmap || shell || !changed || strncmp(error.message, "fuzz: ", 6) != 0) {
        abort();
    }
    flr_voxmap_destroy(voxmap);
    flr_shell_destroy(shell);
    if ((bytes[0] & 24) == 24) page(copy, length);
    free(copy);
    return 0;
}
