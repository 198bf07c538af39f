/* the checked mesh stream: what is written comes back, and every broken rule is noticed */
#include "mesh/mesh_stream.h"
#include "support/fail_alloc.h"
#include "support/test.h"

#include <math.h>

/* ---- bytes in memory ---- */

typedef struct bytes {
    uint8_t *data;
    size_t size, at;
    size_t step; /* most bytes per read; 0: all */
} bytes;

static bool bytes_write(void *context, const void *from, size_t count)
{
    bytes *b = context;
    b->data = realloc(b->data, b->size + count);
    assert_non_null(b->data);
    memcpy(b->data + b->size, from, count);
    b->size += count;
    return true;
}

static flr_result bytes_read(void *context, void *to, size_t count, size_t *got, flr_error *error)
{
    (void)error;
    bytes *b = context;
    if (b->step && count > b->step) count = b->step;
    if (count > b->size - b->at) count = b->size - b->at;
    memcpy(to, b->data + b->at, count);
    b->at += count;
    *got = count;
    return FLR_OK;
}

static flr_result read_back(bytes *b, uint64_t limit, flr_stream_content *content, flr_error *error)
{
    b->at = 0;
    return flr_stream_read((flr_stream_source){bytes_read, b}, "part.step", limit, content, error);
}

/* ---- a small stream and its pieces ---- */

static flr_vec3 vertices[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static flr_triangle triangles[] = {{{0, 2, 1}}, {{0, 1, 3}}, {{0, 3, 2}}, {{1, 2, 3}}};
static flr_mesh_group groups[] = {{0, 0, 1, {{1, 2, 3}, {1, 0, 0, 0}}, 0.25},
                                  {5, 1, 3, {{0, 0, 0}, {0, 1, 0, 0}}, 0}};
static char names[] = "base\0lid";

static flr_stream_content sample(void)
{
    return (flr_stream_content){.head = {.vertex_count = 4,
                                         .triangle_count = 4,
                                         .group_count = 2,
                                         .names_size = sizeof names,
                                         .unit = 0.0254,
                                         .unit_from_file = true,
                                         .triangles_in_file = 11,
                                         .vertices_in_file = 12,
                                         .polygons_split = 13,
                                         .dropped_nonfinite = 14,
                                         .dropped_malformed = 15,
                                         .lines_dropped = 16},
                                .vertices = vertices,
                                .triangles = triangles,
                                .groups = groups,
                                .names = names};
}

static bytes write_content(const flr_stream_content *content)
{
    bytes b = {0};
    flr_stream_writer w = {.write = bytes_write, .context = &b};
    assert_true(flr_stream_start(&w));
    assert_true(flr_stream_message(&w, FLR_STREAM_FORMAT, FLR_OK, "STEP"));
    assert_true(flr_stream_content_write(&w, content));
    assert_true(flr_stream_message(&w, FLR_STREAM_WARNING, FLR_OK, "something \x01 odd"));
    assert_true(flr_stream_end(&w));
    return b;
}

/* reading must fail with FLR_CRASHED and `word` in the sentence; nothing may stay allocated */
static void expect_broken(bytes *b, const char *word)
{
    flr_stream_content content;
    flr_error error = {0};
    flr_result result = read_back(b, UINT64_MAX, &content, &error);
    if (result != FLR_CRASHED || !strstr(error.message, word) ||
        strncmp(error.message, "part.step: ", 11) != 0)
        fail_msg("%s, wanted '%s': %s", flr_result_name(result), word, error.message);
    assert_null(content.vertices);
    assert_null(content.names);
    free(b->data);
}

static void expect_content_broken(const flr_stream_content *content, const char *word)
{
    bytes b = write_content(content);
    expect_broken(&b, word);
}

/* field by field, because of the padding */
static void assert_heads_equal(const flr_stream_head *a, const flr_stream_head *b)
{
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_int_equal(a->triangle_count, b->triangle_count);
    assert_int_equal(a->group_count, b->group_count);
    assert_int_equal(a->names_size, b->names_size);
    assert_eq(a->unit, b->unit);
    assert_int_equal(a->unit_from_file, b->unit_from_file);
    assert_int_equal(a->triangles_in_file, b->triangles_in_file);
    assert_int_equal(a->vertices_in_file, b->vertices_in_file);
    assert_int_equal(a->polygons_split, b->polygons_split);
    assert_int_equal(a->dropped_nonfinite, b->dropped_nonfinite);
    assert_int_equal(a->dropped_malformed, b->dropped_malformed);
    assert_int_equal(a->lines_dropped, b->lines_dropped);
}

static void assert_groups_equal(const flr_mesh_group *a, const flr_mesh_group *b, int count)
{
    for (int i = 0; i < count; ++i) {
        assert_int_equal(a[i].name, b[i].name);
        assert_int_equal(a[i].first_triangle, b[i].first_triangle);
        assert_int_equal(a[i].triangle_count, b[i].triangle_count);
        assert_true(a[i].chord >= b[i].chord && a[i].chord <= b[i].chord);
        assert_memory_equal(&a[i].T_mesh_group, &b[i].T_mesh_group, sizeof a->T_mesh_group);
    }
}

/* ---- tests ---- */

static flr_stream_node nodes[] = {
    {0, FLR_STREAM_NONE, FLR_STREAM_NONE, FLR_STREAM_NONE, false, {{0, 0, 0}, {1, 0, 0, 0}}},
    {5, 0, 1, 0xff8000, true, {{1, 2, 3}, {0, 1, 0, 0}}},
    {5, 0, 1, FLR_STREAM_NONE, false, {{4, 5, 6}, {1, 0, 0, 0}}}};

static flr_stream_content sample_tree(void)
{
    flr_stream_content content = sample();
    content.nodes = nodes;
    content.head.node_count = 3;
    content.head.up = 2;
    content.head.faces_skipped = 7;
    return content;
}

static void tree_round_trip(void **state)
{
    (void)state;
    flr_stream_content in = sample_tree(), out;
    flr_error error;
    bytes b = write_content(&in);
    assert_ok(read_back(&b, UINT64_MAX, &out, &error), error);
    assert_int_equal(out.head.node_count, 3);
    assert_int_equal(out.head.up, 2);
    assert_int_equal(out.head.faces_skipped, 7);
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(out.nodes[i].name, nodes[i].name);
        assert_int_equal(out.nodes[i].parent, nodes[i].parent);
        assert_int_equal(out.nodes[i].group, nodes[i].group);
        assert_int_equal(out.nodes[i].colour, nodes[i].colour);
        assert_int_equal(out.nodes[i].hidden, nodes[i].hidden);
        assert_memory_equal(&out.nodes[i].T_root_node, &nodes[i].T_root_node, sizeof(flr_pose));
    }
    assert_int_equal(out.notes_size, strlen("something ? odd") + 1);
    assert_string_equal(out.notes, "something ? odd");
    flr_stream_content_free(&out);
    free(b.data);
}

static void bad_nodes(void **state)
{
    (void)state;
    static const struct {
        flr_stream_node node;
        const char *word;
    } cases[] = {
        {{99, 0, 1, 0, false, {{0, 0, 0}, {1, 0, 0, 0}}}, "name"},
        {{0, 1, 1, 0, false, {{0, 0, 0}, {1, 0, 0, 0}}}, "parent"},
        {{0, 2, 1, 0, false, {{0, 0, 0}, {1, 0, 0, 0}}}, "parent"},
        {{0, 0, 2, 0, false, {{0, 0, 0}, {1, 0, 0, 0}}}, "shape"},
        {{0, 0, 1, 0x1000000, false, {{0, 0, 0}, {1, 0, 0, 0}}}, "colour"},
        {{0, 0, 1, 0, false, {{0, 0, 0}, {1, 1, 0, 0}}}, "turn"},
        {{0, 0, 1, 0, false, {{2e9, 0, 0}, {1, 0, 0, 0}}}, "placement"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        flr_stream_node list[3] = {nodes[0], cases[i].node, nodes[2]};
        flr_stream_content in = sample_tree();
        in.nodes = list;
        expect_content_broken(&in, cases[i].word);
    }
}

static void round_trip(void **state)
{
    (void)state;
    flr_stream_content in = sample(), out;
    flr_error error;
    static const size_t steps[] = {0, 1, 7, 100};
    for (size_t i = 0; i < 4; ++i) {
        bytes b = write_content(&in);
        b.step = steps[i];
        assert_ok(read_back(&b, UINT64_MAX, &out, &error), error);
        assert_heads_equal(&in.head, &out.head);
        assert_memory_equal(out.vertices, vertices, sizeof vertices);
        assert_memory_equal(out.triangles, triangles, sizeof triangles);
        assert_groups_equal(out.groups, groups, 2);
        assert_memory_equal(out.names, names, sizeof names);
        assert_string_equal(out.format, "STEP");
        assert_int_equal(out.warnings, 1);
        assert_string_equal(out.warning, "something ? odd");
        flr_stream_content_free(&out);
        free(b.data);
    }
}

/* more than one block of vertices and triangles */
static void many_blocks(void **state)
{
    (void)state;
    flr_stream_content in = sample(), out;
    size_t count = 2 * FLR_STREAM_MAX_CHUNK + 3;
    in.vertices = calloc(count, sizeof *in.vertices);
    in.triangles = calloc(count, sizeof *in.triangles);
    assert_true(in.vertices);
    assert_true(in.triangles);
    for (size_t i = 0; i < count; ++i) {
        in.vertices[i].x = (double)i;
        in.triangles[i].v[1] = (uint32_t)(count - 1 - i);
    }
    flr_mesh_group one = {0, 0, (uint32_t)count, {{0, 0, 0}, {1, 0, 0, 0}}, 0};
    in.groups = &one;
    in.head.group_count = 1;
    in.head.vertex_count = in.head.triangle_count = count;
    bytes b = write_content(&in);
    flr_error error;
    assert_ok(read_back(&b, UINT64_MAX, &out, &error), error);
    assert_memory_equal(out.vertices, in.vertices, count * sizeof *in.vertices);
    assert_memory_equal(out.triangles, in.triangles, count * sizeof *in.triangles);
    flr_stream_content_free(&out);
    free(in.vertices);
    free(in.triangles);
    free(b.data);
}

/* what the helper says is reported, under the code that it gives */
static void error_messages(void **state)
{
    (void)state;
    static const struct {
        uint32_t code;
        flr_result result;
    } cases[] = {{FLR_BAD_INPUT, FLR_BAD_INPUT}, {FLR_UNSUPPORTED, FLR_UNSUPPORTED},
                 {FLR_TOO_LARGE, FLR_TOO_LARGE}, {FLR_NO_MEMORY, FLR_NO_MEMORY},
                 {FLR_OK, FLR_BAD_INPUT},        {FLR_CRASHED, FLR_BAD_INPUT},
                 {0xffffffff, FLR_BAD_INPUT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        bytes b = {0};
        flr_stream_writer w = {.write = bytes_write, .context = &b};
        flr_stream_content out;
        flr_error error;
        flr_stream_start(&w);
        flr_stream_message(&w, FLR_STREAM_ERROR, (flr_result)cases[i].code, "no\033 good");
        flr_stream_end(&w);
        assert_int_equal(read_back(&b, UINT64_MAX, &out, &error), cases[i].result);
        assert_string_equal(error.message, "part.step: no? good");
        free(b.data);
    }
}

/* cut off anywhere: FLR_CLOSED, and nothing stays allocated */
static void truncated(void **state)
{
    (void)state;
    flr_stream_content in = sample(), out;
    bytes b = write_content(&in);
    size_t whole = b.size;
    for (b.size = 0; b.size < whole; ++b.size) {
        flr_error error;
        assert_int_equal(read_back(&b, UINT64_MAX, &out, &error), FLR_CLOSED);
        assert_null(out.vertices);
    }
    free(b.data);
}

/* any byte changed is noticed: hashes cover all but the start, whose bytes are all checked */
static void changed_bytes(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("changed_bytes");
    flr_stream_content in = sample(), out;
    bytes b = write_content(&in);
    for (size_t i = 0; i < b.size; ++i) {
        uint8_t change = (uint8_t)(1 + flr_test_random_below(&random, 255));
        flr_error error;
        b.data[i] ^= change;
        flr_result result = read_back(&b, 1 << 20, &out, &error);
        if (result == FLR_OK) fail_msg("byte %zu may change unnoticed", i);
        b.data[i] ^= change;
    }
    free(b.data);
}

static void bad_start(void **state)
{
    (void)state;
    flr_stream_content in = sample(), out;
    flr_error error;
    bytes b = write_content(&in);
    b.data[0] = 'F';
    expect_broken(&b, "not a mesh stream");
    b = write_content(&in);
    b.data[12] = 1;
    expect_broken(&b, "reserved");
    b = write_content(&in);
    b.data[8] = 77;
    assert_int_equal(read_back(&b, UINT64_MAX, &out, &error), FLR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "version 77"));
    free(b.data);
    b = write_content(&in);
    b.data[FLR_STREAM_START_SIZE + 4] = 9;
    expect_broken(&b, "wrong number");
    b = write_content(&in);
    b.data[FLR_STREAM_START_SIZE + FLR_STREAM_HEAD_SIZE + 8] ^= 1;
    expect_broken(&b, "wrong hash");
    b = write_content(&in);
    assert_true(bytes_write(&b, "x", 1));
    expect_broken(&b, "bytes after the end");
}

static void bad_head(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint64_t value;
        const char *word;
    } cases[] = {
        {offsetof(flr_stream_head, vertex_count), 0, "vertex count"},
        {offsetof(flr_stream_head, vertex_count), UINT32_MAX, "vertex count"},
        {offsetof(flr_stream_head, triangle_count), 0, "triangle count"},
        {offsetof(flr_stream_head, triangle_count), UINT64_MAX, "triangle count"},
        {offsetof(flr_stream_head, group_count), 0, "group count"},
        {offsetof(flr_stream_head, group_count), FLR_STREAM_MAX_GROUPS + 1, "group count"},
        {offsetof(flr_stream_head, names_size), 0, "names"},
        {offsetof(flr_stream_head, names_size), FLR_STREAM_MAX_NAMES + 1, "names"},
        {offsetof(flr_stream_head, node_count), FLR_STREAM_MAX_NODES + 1, "node count"},
        {offsetof(flr_stream_head, up), 4, "axis"},
        {offsetof(flr_stream_head, unit), 0, "unit"},
        {offsetof(flr_stream_head, unit), 0x7ff8000000000000, "unit"},
        {offsetof(flr_stream_head, unit), 0xbff0000000000000, "unit"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        flr_stream_content in = sample();
        memcpy((char *)&in.head + cases[i].offset, &cases[i].value, 8);
        // written by hand, since the writer would follow the false counts
        bytes b = {0};
        flr_stream_writer w = {.write = bytes_write, .context = &b};
        uint64_t numbers[FLR_STREAM_MESH_SIZE / 8] = {in.head.vertex_count,
                                                      in.head.triangle_count,
                                                      in.head.group_count,
                                                      in.head.names_size,
                                                      0,
                                                      1};
        memcpy(&numbers[4], &in.head.unit, 8);
        numbers[12] = in.head.node_count;
        numbers[13] = in.head.up;
        flr_stream_start(&w);
        flr_stream_put(&w, FLR_STREAM_MESH, numbers, sizeof numbers);
        expect_broken(&b, cases[i].word);
    }
    // a flag that is none
    bytes b = {0};
    flr_stream_writer w = {.write = bytes_write, .context = &b};
    uint64_t numbers[FLR_STREAM_MESH_SIZE / 8] = {1, 1, 1, 1, 0x3ff0000000000000, 2};
    flr_stream_start(&w);
    flr_stream_put(&w, FLR_STREAM_MESH, numbers, sizeof numbers);
    expect_broken(&b, "neither 0 nor 1");
}

static void bad_content(void **state)
{
    (void)state;
    flr_mesh_group changed[2];
    flr_stream_content in = sample();
    in.groups = changed;
#define EXPECT_GROUP(change, word)                                                                 \
    memcpy(changed, groups, sizeof groups);                                                        \
    change;                                                                                        \
    expect_content_broken(&in, word)
    EXPECT_GROUP(changed[1].name = sizeof names, "name out of range");
    EXPECT_GROUP(changed[1].first_triangle = 2, "follow");
    EXPECT_GROUP(changed[1].triangle_count = 2, "cover");
    EXPECT_GROUP(changed[1].triangle_count = UINT32_MAX, "cover");
    EXPECT_GROUP(changed[0].T_mesh_group.q.w = 1.1, "unit length");
    EXPECT_GROUP(changed[0].T_mesh_group.q.w = (double)NAN, "unit length");
    EXPECT_GROUP(changed[0].T_mesh_group.p.x = (double)INFINITY, "placement");
    EXPECT_GROUP(changed[0].chord = -1, "chord");
    EXPECT_GROUP(changed[0].chord = (double)NAN, "chord");
    EXPECT_GROUP(changed[0].T_mesh_group.p.y = 2e9, "placement");
    EXPECT_GROUP(changed[0].T_mesh_group.p.z = (double)NAN, "placement");

    static const double bad[] = {(double)NAN, (double)INFINITY, -1.1e9};
    for (int i = 0; i < 9; ++i) {
        flr_vec3 points[4];
        memcpy(points, vertices, sizeof points);
        double *coordinate = i % 3 == 0 ? &points[2].x : i % 3 == 1 ? &points[2].y : &points[2].z;
        *coordinate = bad[i / 3];
        in = sample();
        in.vertices = points;
        expect_content_broken(&in, "coordinate");
    }
    for (int i = 0; i < 3; ++i) {
        flr_triangle wrong[4];
        memcpy(wrong, triangles, sizeof wrong);
        wrong[3].v[i] = 4;
        in = sample();
        in.triangles = wrong;
        expect_content_broken(&in, "index");
    }
    char open_names[] = {'b', 'a', 's', 'e', 0, 'l', 'i', 'd', 's'};
    in = sample();
    in.names = open_names;
    expect_content_broken(&in, "terminated");
}

/* blocks out of order, of wrong size, too many */
static void bad_blocks(void **state)
{
    (void)state;
    flr_stream_content in = sample();
    uint8_t zeros[FLR_STREAM_MAX_TEXT + 100] = {0};
    static const struct {
        uint32_t type;
        size_t size;
        const char *word;
    } first[] = {
        {FLR_STREAM_NAMES, 9, "expected"},       {FLR_STREAM_VERTICES, 24, "expected"},
        {FLR_STREAM_END, 8, "expected"},         {99, 0, "expected"},
        {FLR_STREAM_MESH, 95, "wrong size"},     {FLR_STREAM_MESSAGE, 7, "wrong size"},
        {FLR_STREAM_MESSAGE, 8, "unknown kind"}, {FLR_STREAM_MESSAGE, sizeof zeros, "wrong size"}};
    for (size_t i = 0; i < sizeof first / sizeof *first; ++i) {
        bytes b = {0};
        flr_stream_writer w = {.write = bytes_write, .context = &b};
        flr_stream_start(&w);
        flr_stream_put(&w, first[i].type, zeros, first[i].size);
        expect_broken(&b, first[i].word);
    }

    // after the mesh block: each of wrong size
    static const struct {
        int skip; /* blocks of the sample before it */
        uint32_t type;
        size_t size;
        const char *word;
    } later[] = {{1, FLR_STREAM_NAMES, 8, "wrong size"},
                 {2, FLR_STREAM_GROUPS, 72, "wrong size"},
                 {3, FLR_STREAM_VERTICES, 25, "wrong size"},
                 {3, FLR_STREAM_VERTICES, 0, "wrong size"},
                 {3, FLR_STREAM_VERTICES, 120, "more data"},
                 {3, FLR_STREAM_TRIANGLES, 12, "expected"},
                 {4, FLR_STREAM_TRIANGLES, 11, "wrong size"},
                 {4, FLR_STREAM_TRIANGLES, 60, "more data"},
                 {5, FLR_STREAM_TRIANGLES, 12, "expected"},
                 {5, FLR_STREAM_END, 9, "wrong size"},
                 {5, FLR_STREAM_END, 8, "length"},
                 {1, FLR_STREAM_MESSAGE, 0, "late error"}};
    uint8_t group_bytes[2 * FLR_STREAM_GROUP_SIZE] = {0};
    bytes whole = write_content(&in);
    // the bytes of the sample's groups, found behind start, format, mesh and names
    size_t at = FLR_STREAM_START_SIZE + (32 + 12) + (32 + FLR_STREAM_MESH_SIZE) +
                (32 + sizeof names) + FLR_STREAM_HEAD_SIZE;
    memcpy(group_bytes, whole.data + at, sizeof group_bytes);
    uint8_t mesh_bytes[FLR_STREAM_MESH_SIZE];
    memcpy(mesh_bytes, whole.data + FLR_STREAM_START_SIZE + 44 + FLR_STREAM_HEAD_SIZE,
           sizeof mesh_bytes);
    free(whole.data);
    for (size_t i = 0; i < sizeof later / sizeof *later; ++i) {
        bytes b = {0};
        flr_stream_writer w = {.write = bytes_write, .context = &b};
        flr_stream_start(&w);
        flr_stream_put(&w, FLR_STREAM_MESH, mesh_bytes, sizeof mesh_bytes);
        if (later[i].skip > 1) flr_stream_put(&w, FLR_STREAM_NAMES, names, sizeof names);
        if (later[i].skip > 2)
            flr_stream_put(&w, FLR_STREAM_GROUPS, group_bytes, sizeof group_bytes);
        if (later[i].skip > 3) flr_stream_put(&w, FLR_STREAM_VERTICES, vertices, sizeof vertices);
        if (later[i].skip > 4)
            flr_stream_put(&w, FLR_STREAM_TRIANGLES, triangles, sizeof triangles);
        if (later[i].type == FLR_STREAM_MESSAGE)
            flr_stream_message(&w, FLR_STREAM_ERROR, FLR_BAD_INPUT, "too late");
        else
            flr_stream_put(&w, later[i].type, zeros, later[i].size);
        expect_broken(&b, later[i].word);
    }

    // the chord of a group
    bytes b = {0};
    flr_stream_writer w = {.write = bytes_write, .context = &b};
    group_bytes[15] = 0xbf; // a negative number
    flr_stream_start(&w);
    flr_stream_put(&w, FLR_STREAM_MESH, mesh_bytes, sizeof mesh_bytes);
    flr_stream_put(&w, FLR_STREAM_NAMES, names, sizeof names);
    flr_stream_put(&w, FLR_STREAM_GROUPS, group_bytes, sizeof group_bytes);
    expect_broken(&b, "chord");

    // messages without end
    bytes many = {0};
    flr_stream_writer chatter = {.write = bytes_write, .context = &many};
    flr_stream_start(&chatter);
    for (int i = 0; i <= FLR_STREAM_MAX_MESSAGES; ++i)
        flr_stream_message(&chatter, FLR_STREAM_WARNING, FLR_OK, "hello");
    expect_broken(&many, "too many messages");
}

/* what is promised beyond the limit is refused before any of it is read */
static void too_large(void **state)
{
    (void)state;
    flr_stream_content in = sample(), out;
    flr_error error;
    bytes b = write_content(&in);
    assert_int_equal(read_back(&b, 250, &out, &error), FLR_TOO_LARGE);
    assert_non_null(strstr(error.message, "4 triangles"));
    free(b.data);
}

/* a source that fails is passed on; a sink that fails stops the writer */
static flr_result no_read(void *context, void *to, size_t count, size_t *got, flr_error *error)
{
    (void)context, (void)to, (void)count, (void)got;
    return flr_fail(error, FLR_TIMEOUT, "late");
}

static bool no_write(void *context, const void *from, size_t count)
{
    (void)context, (void)from, (void)count;
    return false;
}

static void failing_ends(void **state)
{
    (void)state;
    flr_stream_content in = sample(), out;
    flr_error error;
    assert_int_equal(flr_stream_read((flr_stream_source){no_read, NULL}, "x", 1, &out, &error),
                     FLR_TIMEOUT);
    flr_stream_writer w = {.write = no_write};
    assert_false(flr_stream_start(&w));
    assert_false(flr_stream_content_write(&w, &in));
    assert_false(flr_stream_end(&w));
}

static flr_result read_sample(void *context, flr_error *error)
{
    flr_stream_content out;
    flr_result result = read_back(context, UINT64_MAX, &out, error);
    if (result == FLR_OK) flr_stream_content_free(&out);
    return result;
}

static void allocation_failures(void **state)
{
    (void)state;
    flr_stream_content in = sample();
    bytes b = write_content(&in);
    assert_ge(flr_fail_alloc_each(read_sample, &b), 4);
    free(b.data);
}

/* A helper that promises much and stops early costs what it sent, however large the block at hand says it is. */
static void memory_follows_what_arrives(void **state)
{
    (void)state;
    enum { NAMES = 1 << 20, GROUPS = 20000, VERTICES = 200000 };
    flr_stream_content in = sample();
    in.head.names_size = NAMES, in.head.group_count = GROUPS;
    in.head.vertex_count = VERTICES, in.head.triangle_count = VERTICES;
    in.names = calloc(NAMES, 1);
    in.groups = calloc(GROUPS, sizeof *in.groups);
    in.vertices = calloc(VERTICES, sizeof *in.vertices);
    in.triangles = calloc(VERTICES, sizeof *in.triangles);
    assert_true(in.names);
    assert_true(in.groups);
    assert_true(in.vertices);
    assert_true(in.triangles);
    for (uint32_t i = 0; i < GROUPS; i++)
        in.groups[i] = (flr_mesh_group){0, i * 10, 10, {{0, 0, 0}, {1, 0, 0, 0}}, 0};
    bytes b = write_content(&in);
    size_t whole = b.size;
    uint64_t limit = 0;
    for (size_t cut = 100; cut < whole + whole / 8; cut += 1 + cut / 8) {
        b.size = cut < whole ? cut : whole;
        flr_stream_content out;
        flr_error error;
        flr_fail_alloc_peak_begin();
        flr_result result = read_back(&b, UINT64_MAX, &out, &error);
        uint64_t peak = flr_fail_alloc_peak();
        assert_int_equal(result, b.size < whole ? FLR_CLOSED : FLR_OK);
        if (result == FLR_OK) flr_stream_content_free(&out);
        limit = 8 * (uint64_t)b.size > 8 << 10 ? 8 * (uint64_t)b.size : 8 << 10;
        if (peak > limit)
            fail_msg("%llu bytes of memory for %zu", (unsigned long long)peak, b.size);
    }
    assert_eq(limit, 8 * (uint64_t)whole);
    free(b.data);
    flr_stream_content_free(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(tree_round_trip),
        cmocka_unit_test(bad_nodes),
        cmocka_unit_test(many_blocks),
        cmocka_unit_test(error_messages),
        cmocka_unit_test(truncated),
        cmocka_unit_test(changed_bytes),
        cmocka_unit_test(bad_start),
        cmocka_unit_test(bad_head),
        cmocka_unit_test(bad_content),
        cmocka_unit_test(bad_blocks),
        cmocka_unit_test(too_large),
        cmocka_unit_test(failing_ends),
        cmocka_unit_test(allocation_failures),
        cmocka_unit_test(memory_follows_what_arrives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
