/* meshes from bytes in tests */
#include "support/meshes.h"

#include "support/guarantees.h"

/* a copy of exactly this size, so that the address sanitizer sees any step beyond */
static uint8_t *copy_exact(const void *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) fail_msg("out of memory");
    if (size) memcpy(copy, bytes, size);
    return copy;
}

static flr_result parse(const char *name, const void *bytes, size_t size, bool tolerant,
                        flr_mesh **mesh, flr_mesh_report *report, flr_error *error)
{
    flr_mesh_options options = flr_default_mesh_options();
    options.tolerant = tolerant;
    uint8_t *copy = copy_exact(bytes, size);
    flr_result result = flr_mesh_parse(name, copy, size, &options, mesh, report, error);
    free(copy);
    if (result == FLR_OK) {
        const char *broken = flr_broken_guarantee(*mesh);
        if (broken) fail_msg("%s: %s", name, broken);
    } else if (strncmp(error->message, name, strlen(name)) != 0) {
        fail_msg("'%s' does not begin with '%s'", error->message, name);
    }
    return result;
}

flr_mesh *flr_test_parse(const char *name, const void *bytes, size_t size, bool tolerant,
                         flr_mesh_report *report)
{
    flr_mesh *mesh = NULL;
    flr_error error;
    assert_ok(parse(name, bytes, size, tolerant, &mesh, report, &error), error);
    return mesh;
}

flr_mesh *flr_test_parse_text(const char *name, const char *text, bool tolerant,
                              flr_mesh_report *report)
{
    return flr_test_parse(name, text, strlen(text), tolerant, report);
}

void flr_test_refuse(const char *name, const void *bytes, size_t size, bool tolerant,
                     flr_result code, const char *part)
{
    flr_mesh *mesh = NULL;
    flr_error error;
    flr_result result = parse(name, bytes, size, tolerant, &mesh, NULL, &error);
    if (result == FLR_OK) fail_msg("%s was read; expected: %s", name, part);
    assert_null(mesh);
    assert_int_equal(result, code);
    assert_int_equal(error.code, code);
    if (!strstr(error.message, part)) fail_msg("'%s' does not hold '%s'", error.message, part);
}

void flr_test_refuse_text(const char *name, const char *text, bool tolerant, const char *part)
{
    flr_test_refuse(name, text, strlen(text), tolerant, FLR_BAD_INPUT, part);
}

size_t flr_test_prefixes(const char *name, const void *bytes, size_t size)
{
    size_t read = 0;
    for (size_t cut = 0; cut <= size; cut++) {
        for (unsigned tolerant = 0; tolerant < 2; tolerant++) {
            flr_mesh *mesh = NULL;
            flr_error error;
            flr_result result = parse(name, bytes, cut, tolerant, &mesh, NULL, &error);
            if (result == FLR_OK && !tolerant) read++;
            flr_mesh_destroy(mesh);
        }
    }
    return read;
}

void flr_test_assert_same_mesh(const flr_mesh *a, const flr_mesh *b)
{
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_int_equal(a->triangle_count, b->triangle_count);
    assert_memory_equal(a->vertices, b->vertices, a->vertex_count * sizeof *a->vertices);
    assert_memory_equal(a->triangles, b->triangles, a->triangle_count * sizeof *a->triangles);
    assert_true(flr_hash_equal(flr_mesh_hash(a), flr_mesh_hash(b)));
}

/* ---- bytes ---- */

void flr_test_put(flr_test_bytes *to, const void *bytes, size_t size)
{
    to->bytes = realloc(to->bytes, to->size + size + 1);
    if (!to->bytes) fail_msg("out of memory");
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

void flr_test_put_text(flr_test_bytes *to, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert_in_range(length, 0, sizeof text - 1);
    flr_test_put(to, text, (size_t)length);
}

void flr_test_put_int(flr_test_bytes *to, uint64_t value, unsigned size, bool big)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> 8 * (big ? size - 1 - i : i));
    flr_test_put(to, bytes, size);
}

void flr_test_put_float(flr_test_bytes *to, float value, bool big)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    flr_test_put_int(to, bits, 4, big);
}

void flr_test_put_double(flr_test_bytes *to, double value, bool big)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    flr_test_put_int(to, bits, 8, big);
}
