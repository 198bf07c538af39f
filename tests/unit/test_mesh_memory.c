/* what the readers of meshes take in memory: at most 8 times the file, beside a fixed amount */
#include <math.h>

#include "feeler/mesh.h"
#include "support/fail_alloc.h"
#include "support/test.h"

enum {
    FACTOR = 8,
    FIXED = 16 << 10, /* the first tables */
    LARGEST = 1 << 20 /* of the files made here */
};

typedef struct text {
    char *bytes;
    size_t size, capacity;
} text;

static void put(text *to, const void *bytes, size_t size)
{
    if (to->size + size > to->capacity) {
        to->capacity = 2 * (to->size + size) + 4096;
        to->bytes = realloc(to->bytes, to->capacity);
        assert_non_null(to->bytes);
    }
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

static void print(text *to, const char *format, ...) FLR_PRINTF(2, 3);
static void print(text *to, const char *format, ...)
{
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    assert_ge(length, 0);
    assert_lt((size_t)length, sizeof line);
    put(to, line, (size_t)length);
}

/* Reads it strictly and tolerantly, with and without a weld distance, and checks what each took. Returns what the first
 * answered. */
static flr_result check(const char *name, const text *file, const char *what)
{
    flr_result first = FLR_OK;
    for (unsigned way = 0; way < 4; way++) {
        flr_mesh_options options = flr_default_mesh_options();
        options.tolerant = way & 1;
        options.weld = way & 2 ? 1e-5 : 0;
        flr_mesh *mesh = NULL;
        flr_error error;
        flr_fail_alloc_peak_begin();
        flr_result result = flr_mesh_parse(name, (const uint8_t *)file->bytes, file->size, &options,
                                           &mesh, NULL, &error);
        uint64_t peak = flr_fail_alloc_peak();
        if (result == FLR_OK) flr_mesh_destroy(mesh);
        if (peak > FACTOR * file->size + FIXED)
            fail_msg("%s, way %u: %llu bytes of memory for %zu, %.2f times", what, way,
                     (unsigned long long)peak, file->size, (double)peak / (double)file->size);
        if (way == 0) first = result;
        if (result == FLR_TOO_LARGE) assert_non_null(strstr(error.message, "of memory"));
    }
    return first;
}

/* a text that is repeated: what takes many times its bytes */
static const struct {
    const char *name, *before, *what, *behind;
} repeated[] = {
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2", " 3", "\n"},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1", " 2 4 3 1", "\n"},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3", "\nf 1 2 3 1 2 3 1", "\n"},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "g a\nf 1 2 3\ng b\nf 1 2 3\n", ""},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "g a\ng b\n", ""},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "v\n", ""},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "f\n", ""},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "v 1 1 1\n", ""},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 ", "# ", ""},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1", " x", ""},
    {"a.stl",
     "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
     "endloop\nendfacet\nendsolid\n",
     "solid\nendsolid\n", ""},
    {"a.ply",
     "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
     "property float z\nelement face 9999999\nproperty list uchar int vertex_indices\n"
     "end_header\n0 0 0 1 0 0 0 1 0\n",
     "4 0 1 2 1 ", ""},
};

static void repetitions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++)
        for (size_t count = 100; count < LARGEST / strlen(repeated[i].what);
             count = count * 5 / 2) {
            text file = {0};
            print(&file, "%s", repeated[i].before);
            for (size_t k = 0; k < count; k++)
                put(&file, repeated[i].what, strlen(repeated[i].what));
            print(&file, "%s", repeated[i].behind);
            check(repeated[i].name, &file, repeated[i].what);
            free(file.bytes);
        }
}

/* a binary PLY file whose corners take one byte each, or two */
static void lists_of_small_numbers(void **state)
{
    (void)state;
    for (unsigned bytes = 1; bytes <= 2; bytes++)
        for (unsigned corners = 3; corners < LARGEST; corners *= 3) {
            text file = {0};
            unsigned faces = corners < 1000 ? 2000 : 3;
            print(&file,
                  "ply\nformat binary_little_endian 1.0\nelement vertex 4\nproperty float x\n"
                  "property float y\nproperty float z\nelement face %u\n"
                  "property list uint %s vertex_indices\nend_header\n",
                  faces, bytes == 1 ? "uchar" : "ushort");
            static const float positions[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
            put(&file, positions, sizeof positions);
            for (unsigned f = 0; f < faces && file.size < LARGEST; f++) {
                put(&file, &corners, 4);
                for (unsigned k = 0; k < corners; k++)
                    put(&file, &(uint16_t){(uint16_t)(k % 4)}, bytes);
            }
            check("a.ply", &file, "lists of small numbers");
            free(file.bytes);
        }
}

/* a position that takes few bytes as text, another for each number */
static void print_position(text *to, unsigned i)
{
    unsigned x = i % 10, y = i / 10 % 10, z = i / 100;
    print(to, "v %u %u %u\n", x, y, z);
}

/* Files that somebody may have: they take more for their size than most, and must be read. */
static void what_is_right_is_read(void **state)
{
    (void)state;
    for (unsigned n = 3; n < 30000; n = n * 5 / 4 + 1) {
        // one outline as one face: with a notch, so that ears must be clipped, and without
        for (unsigned notch = 0; notch < 2; notch++) {
            text file = {0};
            if (notch && n >= 4096) continue;
            for (unsigned i = 0; i < n; i++) {
                double angle = 6.2831853 * i / n, radius = notch && i % 2 ? 300 : 999;
                print(&file, "v %.0f %.0f 0\n", radius * cos(angle), radius * sin(angle));
            }
            print(&file, "f");
            for (unsigned i = 0; i < n; i++) print(&file, " %u", i + 1);
            // as many corners in the same place as make no fan and no ear are cut anyway
            assert_ne(check("a.obj", &file, "an outline"), FLR_TOO_LARGE);
            free(file.bytes);
        }
        // every vertex once, in one face and in triangles of their own
        for (unsigned group = 0; group < 3; group++) {
            text file = {0};
            for (unsigned i = 0; i < 3 * n; i++) print_position(&file, i);
            for (unsigned i = 0; i < n; i++) {
                if (group) print(&file, "g %c\n", group == 1 ? 'a' + (int)(i % 2) : 'a');
                print(&file, "f %u %u %u\n", 3 * i + 1, 3 * i + 2, 3 * i + 3);
            }
            assert_int_equal(check("a.obj", &file, "triangles"), FLR_OK);
            free(file.bytes);
        }
        // facets that share no vertex
        text file = {0};
        char head[80] = {0};
        put(&file, head, sizeof head);
        put(&file, &n, 4);
        for (unsigned i = 0; i < n; i++) {
            const float facet[12] = {0, 0, 1,        (float)i, 0, 0, (float)i + 0.5f,
                                     0, 0, (float)i, 1,        0};
            put(&file, facet, sizeof facet);
            put(&file, "\0", 2);
        }
        assert_int_equal(check("a.stl", &file, "facets"), FLR_OK);
        free(file.bytes);
        // the shortest triangles of ITRI
        file = (text){0};
        print(&file, "%u\n", n);
        for (unsigned i = 0; i < n; i++) print(&file, "%u 0 0 0 %u 0 0 0 1 ", i, i);
        assert_int_equal(check("a.itri", &file, "ITRI"), FLR_OK);
        free(file.bytes);
    }
}

/* hexagonal prisms side by side: vertices in three faces of several corners each, named by two bytes */
static void faces_of_several_corners(void **state)
{
    (void)state;
    for (unsigned n = 1; n < 5000; n = n * 2 + 1) {
        text file = {0};
        print(&file,
              "ply\nformat binary_little_endian 1.0\nelement vertex %u\nproperty float x\n"
              "property float y\nproperty float z\nelement face %u\n"
              "property list uchar ushort vertex_indices\nend_header\n",
              12 * n, 8 * n);
        for (unsigned i = 0; i < 12 * n; i++) {
            const float position[3] = {(float)(i / 12 * 3) + cosf(1.0471975f * (float)(i % 6)),
                                       sinf(1.0471975f * (float)(i % 6)), i % 12 < 6 ? 0 : 1};
            put(&file, position, sizeof position);
        }
        for (unsigned i = 0; i < n; i++) {
            for (unsigned end = 0; end < 2; end++) {
                put(&file, "\6", 1);
                for (unsigned k = 0; k < 6; k++)
                    put(&file, &(uint16_t){(uint16_t)(12 * i + 6 * end + (end ? k : 5 - k))}, 2);
            }
            for (unsigned k = 0; k < 6; k++) {
                unsigned next = (k + 1) % 6;
                const uint16_t corners[4] = {(uint16_t)(12 * i + k), (uint16_t)(12 * i + next),
                                             (uint16_t)(12 * i + next + 6),
                                             (uint16_t)(12 * i + k + 6)};
                put(&file, "\4", 1);
                put(&file, corners, sizeof corners);
            }
        }
        assert_int_equal(check("a.ply", &file, "prisms"), FLR_OK);
        free(file.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repetitions),
        cmocka_unit_test(lists_of_small_numbers),
        cmocka_unit_test(what_is_right_is_read),
        cmocka_unit_test(faces_of_several_corners),
    };
    return cmocka_run_group_tests_name("mesh_memory", tests, NULL, NULL);
}
