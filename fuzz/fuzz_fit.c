/* fits: whatever is accepted can be asked anything
 *
 * An input is a list of changes to a small file that is made here, so that the corpus survives changes of the format.
 * Then the hashes are put right, as a forger would.
 *
 *     byte 0      bit 0: leave the hashes wrong; bit 1: cut off; bits 2 and 3: and ask for a motion, which takes longest
 *     bytes 1, 2  where it is cut off, in 32nds
 *     then        7 bytes per change: place in the file (3, in units of 4 bytes), new value (4) */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit_file.h"
#include "fuzz/support/memory.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static flr_fit *whole;
static uint8_t *file;
static size_t file_size;

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    enum { N = 12 };
    static flr_vec3 vertices[2 * N];
    static flr_triangle triangles[4 * N - 4];
    uint32_t written = 0;
    /* a prism with N sides */
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t k = 0; k < 2; k++)
            vertices[2 * i + k] = flr_vec3_make(0.01 * cos(6.2831853 * i / N),
                                                0.01 * sin(6.2831853 * i / N), 0.005 * k);
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t a = 2 * i, b = 2 * ((i + 1) % N);
        triangles[written++] = (flr_triangle){{a, b, b + 1}};
        triangles[written++] = (flr_triangle){{a, b + 1, a + 1}};
        if (i == 0 || i == N - 1) continue;
        triangles[written++] = (flr_triangle){{0, b, a}};
        triangles[written++] = (flr_triangle){{1, a + 1, b + 1}};
    }
    const flr_mesh mesh = {.vertices = vertices,
                           .vertex_count = 2 * N,
                           .triangles = triangles,
                           .triangle_count = written,
                           .bounds = {{-0.01, -0.01, 0}, {0.01, 0.01, 0.005}}};
    if (flr_fit_build(&mesh, NULL, &whole, NULL) != FLR_OK) abort();
    flr_fit_header h;
    flr_fit_fill_header(whole, &h);
    file_size = sizeof h + whole->size;
    file = malloc(file_size);
    if (!file) abort();
    memcpy(file, &h, sizeof h);
    memcpy(file + sizeof h, whole->memory, whole->size);
    return 0;
}

static void ask(const flr_fit *fit, bool moves)
{
    flr_fit_pair *pair;
    flr_fit_contact contacts[16];
    flr_fit_result r;
    flr_fit_motion_result m;
    const flr_fit_params params = {.reach = 0.002, .max_distance = 1, .budget = 500};
    const flr_fit_motion_params limits = {.tolerance = 1e-6, .budget = 500};
    flr_fit_motion motion = {.from = flr_pose_identity(), .to = flr_pose_identity()};
    motion.from.p.x = 0.015, motion.to.p.x = 0.005;
    if (flr_fit_pair_create(whole, fit, &pair, NULL) != FLR_OK) return;
    flr_fit_pair_query(pair, motion.from, &params, contacts, 16, &r);
    if (moves) flr_fit_pair_motion(pair, &motion, &limits, &m);
    flr_fit_pair_destroy(pair);
    flr_fit_inside(fit, motion.to.p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 3) return 0;
    uint8_t *forged = malloc(file_size);
    if (!forged) return 0;
    memcpy(forged, file, file_size);
    size_t length = file_size;
    if (bytes[0] & 2) length = ((size_t)bytes[1] << 8 | bytes[2]) * 32 % file_size;
    for (size_t i = 3; i + 7 <= size; i += 7) {
        const size_t at =
            (bytes[i] | (size_t)bytes[i + 1] << 8 | (size_t)bytes[i + 2] << 16) % (file_size / 4);
        memcpy(forged + 4 * at, bytes + i + 3, 4);
    }
    if (!(bytes[0] & 1) && length > sizeof(flr_fit_header)) {
        flr_fit_header h;
        memcpy(&h, forged, sizeof h);
        h.content = flr_hash_bytes(forged + sizeof h, length - sizeof h);
        h.self = flr_hash_bytes(&h, offsetof(flr_fit_header, self));
        memcpy(forged, &h, sizeof h);
    }
    flr_fit *fit;
    flr_fuzz_memory_begin(length, FLR_FUZZ_FIXED);
    flr_result result = flr_fit_parse(forged, length, &fit, NULL);
    flr_fuzz_memory_end();
    if (result == FLR_OK) {
        ask(fit, (bytes[0] & 12) == 12);
        flr_fit_destroy(fit);
    }
    free(forged);
    return 0;
}
