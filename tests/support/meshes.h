/* meshes.h: meshes from bytes in tests. */
#ifndef FLR_TEST_MESHES_H
#define FLR_TEST_MESHES_H

#include "feeler/mesh.h"
#include "support/test.h"

/* Reads bytes as a file of that name, fails the test if that fails or the mesh breaks a promise of
 * feeler/mesh.h. `report` may be NULL. The caller destroys the mesh. */
flr_mesh *flr_test_parse(const char *name, const void *bytes, size_t size, bool tolerant,
                         flr_mesh_report *report);

/* The same for a text. */
flr_mesh *flr_test_parse_text(const char *name, const char *text, bool tolerant,
                              flr_mesh_report *report);

/* Expects a refusal with this code, in a sentence that begins with the name and holds `part`. */
void flr_test_refuse(const char *name, const void *bytes, size_t size, bool tolerant,
                     flr_result code, const char *part);
void flr_test_refuse_text(const char *name, const char *text, bool tolerant, const char *part);

/* Every prefix of the bytes, strict and tolerant: is read to a good mesh, or refused in a sentence
 * that begins with the name. Returns how many the strict reader has read. */
size_t flr_test_prefixes(const char *name, const void *bytes, size_t size);

/* Equal vertices and triangles. */
void flr_test_assert_same_mesh(const flr_mesh *a, const flr_mesh *b);

/* Bytes put together piece by piece. Begin with all zero; free(bytes). */
typedef struct flr_test_bytes {
    unsigned char *bytes;
    size_t size;
} flr_test_bytes;

void flr_test_put(flr_test_bytes *to, const void *bytes, size_t size);
void flr_test_put_text(flr_test_bytes *to, const char *format, ...) FLR_PRINTF(2, 3);
/* little- or big-endian */
void flr_test_put_int(flr_test_bytes *to, uint64_t value, unsigned size, bool big);
void flr_test_put_float(flr_test_bytes *to, float value, bool big);
void flr_test_put_double(flr_test_bytes *to, double value, bool big);

#endif
