/* fuzz_mesh.h: what the targets of all mesh readers share. */
#ifndef FLR_FUZZ_MESH_H
#define FLR_FUZZ_MESH_H

#include <stdio.h>
#include <string.h>

#include "feeler/mesh.h"
#include "fuzz/support/memory.h"
#include "tests/support/guarantees.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static inline void flr_fuzz_expect(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

static inline flr_mesh *flr_fuzz_parse_once(const char *name, const uint8_t *bytes, size_t size,
                                            bool tolerant, double weld)
{
    flr_mesh_options options = flr_default_mesh_options();
    options.tolerant = tolerant;
    options.weld = weld;
    flr_mesh *mesh = NULL;
    flr_mesh_report report;
    flr_error error;
    flr_fuzz_memory_begin(size, FLR_FUZZ_FIXED);
    flr_result result = flr_mesh_parse(name, bytes, size, &options, &mesh, &report, &error);
    flr_fuzz_memory_end();
    if (result != FLR_OK) {
        // a refusal names the file, and leaves the output alone
        flr_fuzz_expect(!mesh, "a mesh in spite of a refusal");
        flr_fuzz_expect(!strncmp(error.message, name, strlen(name)), "a sentence without the name");
        return NULL;
    }
    const char *broken = flr_broken_guarantee(mesh);
    flr_fuzz_expect(!broken, broken);
    uint64_t dropped = report.dropped_nonfinite + report.dropped_malformed + report.bad_vertices;
    flr_fuzz_expect(tolerant || dropped == 0, "a strict reader left something out");
    flr_fuzz_expect(!tolerant || dropped == 0 || report.first_trouble[0], "trouble not reported");
    return mesh;
}

/* Strict, tolerant, tolerant with a weld distance: one of them, by the input, or all. What strict accepts, tolerant reads
 * alike. */
static inline int flr_fuzz_parse(const char *name, const uint8_t *bytes, size_t size)
{
    unsigned way = (unsigned)size;
    for (size_t i = 0; i < size; i += 1 + size / 16) way = way * 31 + bytes[i];
    if (way % 4 != 0) {
        flr_mesh_destroy(
            flr_fuzz_parse_once(name, bytes, size, way % 4 != 1, way % 4 == 3 ? 0.01 : 0));
        return 0;
    }
    flr_mesh *strict = flr_fuzz_parse_once(name, bytes, size, false, 0);
    flr_mesh *tolerant = flr_fuzz_parse_once(name, bytes, size, true, 0);
    if (strict) {
        flr_fuzz_expect(tolerant && flr_hash_equal(flr_mesh_hash(strict), flr_mesh_hash(tolerant)),
                        "strict and tolerant differ");
        flr_mesh_destroy(flr_fuzz_parse_once(name, bytes, size, true, 0.01));
    }
    flr_mesh_destroy(strict);
    flr_mesh_destroy(tolerant);
    return 0;
}

#endif
