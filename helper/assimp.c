/* the readers of libassimp */
#include "assimp.h"

#include <assimp/cfileio.h>
#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/importerdesc.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <assimp/version.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "placement.h"
#include "unit.h"

static const char *ending_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : "";
}

bool flr_assimp_format(const char *ending, char *name, size_t size)
{
    // where assimp has no name for an ending, or two
    static const char *const plain[][2] = {{"glb", "glTF"},    {"gltf", "glTF"}, {"dae", "COLLADA"},
                                           {"zae", "COLLADA"}, {"3mf", "3MF"},   {"x3d", "X3D"},
                                           {"amf", "AMF"},     {"3ds", "3DS"}};
    char dotted[32];
    snprintf(dotted, sizeof dotted, ".%s", ending);
    if (!ending[0] || !aiIsExtensionSupported(dotted)) return false;
    const struct aiImporterDesc *description = aiGetImporterDesc(ending);
    snprintf(name, size, "%s", description ? description->mName : ending);
    char *importer = strstr(name, " Importer");
    if (importer) *importer = 0;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; ++i)
        if (strcasecmp(ending, plain[i][0]) == 0) snprintf(name, size, "%s", plain[i][1]);
    return true;
}

void flr_assimp_endings(char *text, size_t size)
{
    // "*.3ds;*.obj" becomes "3ds obj"
    struct aiString list = {0}; // assimp appends to it
    aiGetExtensionList(&list);
    size_t length = 0;
    for (const char *c = list.data; *c && length + 1 < size; ++c)
        if (*c == ';')
            text[length++] = ' ';
        else if (*c != '*' && !(*c == '.' && c > list.data && c[-1] == '*'))
            text[length++] = *c;
    text[length] = 0;
}

void flr_assimp_version(char *text, size_t size)
{
    snprintf(text, size, "assimp %u.%u", aiGetVersionMajor(), aiGetVersionMinor());
}

/* ---- files, as assimp sees them: the input and what it names beside it, in memory ---- */

typedef struct memory_file {
    struct aiFile file; /* first, so that one pointer is both */
    const uint8_t *bytes;
    uint8_t *owned; /* NULL for the input */
    size_t size, at;
} memory_file;

typedef struct memory_files {
    struct aiFileIO io;
    const flr_import_job *job;
    char missing[256]; /* a file that the input names and that cannot be opened */
} memory_files;

static size_t file_read(struct aiFile *file, char *to, size_t size, size_t count)
{
    memory_file *memory = (memory_file *)file;
    if (size == 0 || count == 0) return 0;
    size_t whole = (memory->size - memory->at) / size;
    if (whole > count) whole = count;
    memcpy(to, memory->bytes + memory->at, whole * size);
    memory->at += whole * size;
    return whole;
}

static size_t file_write(struct aiFile *file, const char *from, size_t size, size_t count)
{
    (void)file, (void)from, (void)size, (void)count;
    return 0;
}

static size_t file_tell(struct aiFile *file) { return ((memory_file *)file)->at; }

static size_t file_size(struct aiFile *file) { return ((memory_file *)file)->size; }

static void file_flush(struct aiFile *file) { (void)file; }

static aiReturn file_seek(struct aiFile *file, size_t offset, enum aiOrigin origin)
{
    memory_file *memory = (memory_file *)file;
    size_t base = origin == aiOrigin_CUR ? memory->at : origin == aiOrigin_END ? memory->size : 0;
    // offsets are signed in disguise
    size_t target = base + offset;
    if (target > memory->size) return aiReturn_FAILURE;
    memory->at = target;
    return aiReturn_SUCCESS;
}

/* no absolute path, and none that goes up */
static bool is_beneath(const char *name)
{
    if (name[0] == '/') return false;
    for (const char *at = name; *at; at += strcspn(at, "/"), at += *at == '/')
        if (strcspn(at, "/") == 2 && at[0] == '.' && at[1] == '.') return false;
    return true;
}

/* reads a file in or below the input's folder, never one outside it: the sandbox sees to links */
static uint8_t *read_beside(const memory_files *files, const char *name, size_t *size)
{
    struct stat info;
    if (files->job->folder < 0 || !is_beneath(name)) return NULL;
    int descriptor = openat(files->job->folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) return NULL;
    uint8_t *bytes = NULL;
    if (fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode)) {
        size_t room = 0, want = (size_t)info.st_size, have = 0;
        bytes = flr_collect_grow(NULL, &room, want + 1, 1);
        for (ssize_t got = 1; got > 0 && have<want; have += got> 0 ? (size_t)got : 0)
            got = read(descriptor, bytes + have, want - have);
        *size = have;
    }
    close(descriptor);
    return bytes;
}

static struct aiFile *open_file(struct aiFileIO *io, const char *name, const char *mode)
{
    memory_files *files = (memory_files *)io;
    if (strpbrk(mode, "wa+")) return NULL;
    while (strncmp(name, "./", 2) == 0) name += 2;
    memory_file opened = {.file = {.ReadProc = file_read,
                                   .WriteProc = file_write,
                                   .TellProc = file_tell,
                                   .FileSizeProc = file_size,
                                   .SeekProc = file_seek,
                                   .FlushProc = file_flush}};
    if (strcmp(name, files->job->name) == 0) {
        opened.bytes = files->job->bytes;
        opened.size = files->job->size;
    } else {
        opened.bytes = opened.owned = read_beside(files, name, &opened.size);
        if (!opened.owned) {
            snprintf(files->missing, sizeof files->missing, "%s", name);
            return NULL;
        }
    }
    size_t room = 0;
    memory_file *memory = flr_collect_grow(NULL, &room, 1, sizeof *memory);
    *memory = opened;
    return &memory->file;
}

static void close_file(struct aiFileIO *io, struct aiFile *file)
{
    (void)io;
    free(((memory_file *)file)->owned);
    free(file);
}

/* ---- the scene ---- */

static flr_matrix from_assimp(const struct aiMatrix4x4 *a)
{
    return (flr_matrix){{{(double)a->a1, (double)a->a2, (double)a->a3, (double)a->a4},
                         {(double)a->b1, (double)a->b2, (double)a->b3, (double)a->b4},
                         {(double)a->c1, (double)a->c2, (double)a->c3, (double)a->c4}}};
}

/* A shape that was collected: the meshes of a node, and what its placement does beyond a rigid motion. */
typedef struct assimp_shape {
    const struct aiNode *node; /* whose meshes these are */
    flr_matrix change;
    uint32_t number;
} assimp_shape;

typedef struct assimp_walk {
    const struct aiScene *scene;
    flr_collect *collect;
    double unit;
    bool linear; /* colours are linear, not sRGB */
    assimp_shape *shapes;
    size_t shape_count, shape_room;
} assimp_walk;

/* one mesh of a shape, in the shape's frame */
static void add_mesh(assimp_walk *w, const struct aiMesh *mesh, const flr_matrix *change)
{
    flr_collect *collect = w->collect;
    size_t room = 0;
    uint32_t *index = flr_collect_grow(NULL, &room, mesh->mNumVertices + 1, sizeof *index);
    for (unsigned i = 0; i < mesh->mNumVertices; ++i) {
        double v[3] = {(double)mesh->mVertices[i].x, (double)mesh->mVertices[i].y,
                       (double)mesh->mVertices[i].z};
        double p[3];
        for (int k = 0; k < 3; ++k)
            p[k] = (change->m[k][0] * v[0] + change->m[k][1] * v[1] + change->m[k][2] * v[2]) *
                   w->unit;
        index[i] = flr_collect_vertex(collect, (flr_vec3){p[0], p[1], p[2]});
    }
    // a mirrored node would turn the surface inside out
    bool mirrored = flr_matrix_determinant(change) < 0;
    for (unsigned i = 0; i < mesh->mNumFaces; ++i) {
        const struct aiFace *face = &mesh->mFaces[i];
        if (face->mNumIndices < 3) {
            ++collect->content.head.lines_dropped;
            continue;
        }
        const unsigned *v = face->mIndices;
        if (face->mNumIndices > 3 || v[0] >= mesh->mNumVertices || v[1] >= mesh->mNumVertices ||
            v[2] >= mesh->mNumVertices) {
            flr_collect_malformed(collect, "a face points at a vertex that is not there");
            continue;
        }
        flr_collect_triangle(collect, index[v[0]], index[v[mirrored ? 2 : 1]],
                             index[v[mirrored ? 1 : 2]]);
    }
    free(index);
}

/* names in angle brackets, and those of nodes of COLLADA without one, are assimp's inventions */
static bool is_given(const char *name)
{
    return name[0] && name[0] != '<' && strncmp(name, "$ColladaAutoName$", 17) != 0;
}

static const char *name_of(const assimp_walk *w, const struct aiNode *node)
{
    const char *name = node->mName.data;
    if (is_given(name)) return name;
    if (node->mNumMeshes == 0 || node->mMeshes[0] >= w->scene->mNumMeshes) return "";
    name = w->scene->mMeshes[node->mMeshes[0]]->mName.data;
    return is_given(name) ? name : "";
}

static double gamma_of(double linear)
{
    return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
}

/* the colour of most of a node's triangles; FLR_STREAM_NONE where no material states one */
static uint32_t colour_of(const assimp_walk *w, const struct aiNode *node)
{
    const struct aiMesh *largest = NULL;
    for (unsigned i = 0; i < node->mNumMeshes; ++i) {
        if (node->mMeshes[i] >= w->scene->mNumMeshes) continue;
        const struct aiMesh *mesh = w->scene->mMeshes[node->mMeshes[i]];
        if (!largest || mesh->mNumFaces > largest->mNumFaces) largest = mesh;
    }
    if (!largest || largest->mMaterialIndex >= w->scene->mNumMaterials) return FLR_STREAM_NONE;
    const struct aiMaterial *material = w->scene->mMaterials[largest->mMaterialIndex];
    struct aiString name = {0};
    struct aiColor4D c;
    // what assimp makes up where the file has no material
    if (aiGetMaterialString(material, AI_MATKEY_NAME, &name) == aiReturn_SUCCESS &&
        strcmp(name.data, "DefaultMaterial") == 0)
        return FLR_STREAM_NONE;
    if (aiGetMaterialColor(material, AI_MATKEY_COLOR_DIFFUSE, &c) != aiReturn_SUCCESS)
        return FLR_STREAM_NONE;
    double r = (double)c.r, g = (double)c.g, b = (double)c.b;
    return w->linear ? flr_collect_colour(gamma_of(r), gamma_of(g), gamma_of(b))
                     : flr_collect_colour(r, g, b);
}

static bool same_meshes(const struct aiNode *a, const struct aiNode *b)
{
    return a->mNumMeshes == b->mNumMeshes &&
           memcmp(a->mMeshes, b->mMeshes, a->mNumMeshes * sizeof *a->mMeshes) == 0;
}

/* the number of a node's shape, which is collected where it is met for the first time */
static uint32_t shape_of(assimp_walk *w, const struct aiNode *node, const flr_matrix *change,
                         const char *name)
{
    for (size_t i = 0; i < w->shape_count; ++i)
        if (same_meshes(w->shapes[i].node, node) &&
            memcmp(&w->shapes[i].change, change, sizeof *change) == 0)
            return w->shapes[i].number;
    w->shapes = flr_collect_grow(w->shapes, &w->shape_room, w->shape_count + 1, sizeof *w->shapes);
    uint32_t number = flr_collect_shape(w->collect, name);
    w->shapes[w->shape_count++] = (assimp_shape){node, *change, number};
    for (unsigned i = 0; i < node->mNumMeshes; ++i)
        if (node->mMeshes[i] < w->scene->mNumMeshes)
            add_mesh(w, w->scene->mMeshes[node->mMeshes[i]], change);
    return number;
}

static void add_node(assimp_walk *w, const struct aiNode *node, const flr_matrix *T_mesh_parent,
                     uint32_t parent)
{
    flr_matrix T_parent_node = from_assimp(&node->mTransformation);
    flr_matrix T_mesh_node = flr_matrix_multiply(T_mesh_parent, &T_parent_node);
    const char *name = name_of(w, node);
    flr_stream_node made = {.parent = parent,
                            .group = FLR_STREAM_NONE,
                            .colour = FLR_STREAM_NONE,
                            .T_root_node = flr_matrix_pose(&T_mesh_node, w->unit)};
    if (node->mNumMeshes > 0 && node->mMeshes[0] < w->scene->mNumMeshes) {
        flr_matrix change = flr_matrix_reshaping(&T_mesh_node, &made.T_root_node);
        made.group = shape_of(w, node, &change, name);
        made.colour = colour_of(w, node);
    }
    // the root that assimp puts above everything is no part of the file
    bool wrapper = !node->mParent && made.group == FLR_STREAM_NONE;
    uint32_t number = wrapper ? FLR_STREAM_NONE : flr_collect_node(w->collect, name, made);
    for (unsigned i = 0; i < node->mNumChildren; ++i)
        add_node(w, node->mChildren[i], &T_mesh_node, number);
}

/* Readers of formats with z up (3DS, DXF, …) turn their scene to y up. Coordinates shall stay as
 * they are in the file, so that turn is undone. */
static flr_matrix undo_turn(const struct aiScene *scene, const char *ending)
{
    static const char *const turned[] = {"3ds", "prj", "dxf", "ase", "ask", "blend"};
    flr_matrix identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    flr_matrix back = {{{1, 0, 0, 0}, {0, 0, -1, 0}, {0, 1, 0, 0}}};
    flr_matrix root = from_assimp(&scene->mRootNode->mTransformation);
    flr_matrix rest = flr_matrix_multiply(&back, &root);
    if (memcmp(&rest, &identity, sizeof rest) != 0) {
        // -0 and rounding
        for (int i = 0; i < 12; ++i)
            if (fabs(rest.m[i / 4][i % 4] - identity.m[i / 4][i % 4]) > 1e-6) return identity;
    }
    for (size_t i = 0; i < sizeof turned / sizeof *turned; ++i)
        if (strcasecmp(ending, turned[i]) == 0) return back;
    return identity;
}

/* the number that was meant by a 32-bit one: 0.1, not 0.10000000149 */
static double shortest_double(float value)
{
    char text[32];
    snprintf(text, sizeof text, "%.7g", (double)value);
    return strtod(text, NULL);
}

/* FBX counts in centimetres times a factor */
static double unit_of_fbx(const struct aiScene *scene)
{
    const struct aiMetadata *data = scene->mMetaData;
    for (unsigned i = 0; data && i < data->mNumProperties; ++i) {
        if (strcmp(data->mKeys[i].data, "UnitScaleFactor") != 0) continue;
        double factor = 0;
        if (data->mValues[i].mType == AI_DOUBLE) factor = *(double *)data->mValues[i].mData;
        if (data->mValues[i].mType == AI_FLOAT)
            factor = shortest_double(*(float *)data->mValues[i].mData);
        if (factor > 1e-12 && factor < 1e12) return factor / 100;
    }
    return 0.01;
}

/* Returns metres per unit of the scene as assimp gives it. */
static double choose_unit(const flr_import_job *job, const struct aiScene *scene,
                          flr_stream_head *head)
{
    const char *ending = ending_of(job->name);
    double stated = strcasecmp(ending, "fbx") == 0
                        ? unit_of_fbx(scene)
                        : flr_unit_of_file(ending, job->bytes, job->size);
    head->unit = job->unit > 0 ? job->unit : stated > 0 ? stated : 0.001;
    head->unit_from_file = job->unit <= 0 && stated > 0;
    // of all readers, that of COLLADA alone has gone to metres already
    bool metric = strcasecmp(ending, "dae") == 0 || strcasecmp(ending, "zae") == 0;
    return metric ? head->unit / stated : head->unit;
}

static uint64_t count_polygons(const struct aiScene *scene)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < scene->mNumMeshes; ++i)
        for (unsigned j = 0; j < scene->mMeshes[i]->mNumFaces; ++j)
            count += scene->mMeshes[i]->mFaces[j].mNumIndices > 3;
    return count;
}

flr_result flr_assimp_read(const flr_import_job *job, flr_collect *collect)
{
    memory_files files = {.io = {.OpenProc = open_file, .CloseProc = close_file}, .job = job};
    struct aiPropertyStore *properties = aiCreatePropertyStore();
    if (!properties) flr_collect_out_of_memory();
    aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, 1);
    aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_COLLADA_USE_COLLADA_NAMES, 1);
    aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_FBX_PRESERVE_PIVOTS, 0);
    const struct aiScene *scene = aiImportFileExWithProperties(job->name, 0, &files.io, properties);
    aiReleasePropertyStore(properties);
    if (!scene) {
        const char *reason = aiGetErrorString();
        if (files.missing[0])
            return flr_collect_fail(
                collect, FLR_BAD_INPUT,
                "needs the file %s beside it, which cannot be read (%.200s); put it "
                "there",
                files.missing, reason);
        // what assimp says when the content is not what the name promises
        bool other = !reason[0] || strstr(reason, "No suitable reader");
        return flr_collect_fail(collect, FLR_BAD_INPUT, "cannot be read as %s: %.300s" FLR_ADVICE,
                                collect->content.format,
                                other ? "it is damaged or something else" : reason);
    }
    double unit = choose_unit(job, scene, &collect->content.head);
    if (!(job->unit > 0) &&
        flr_unit_note_unknown(collect, ending_of(job->name), job->bytes, job->size))
        collect->content.head.unit_from_file = false;
    collect->content.head.polygons_split = count_polygons(scene);
    scene = aiApplyPostProcessing(scene, aiProcess_Triangulate);
    if (!scene || !scene->mRootNode)
        return flr_collect_fail(collect, FLR_BAD_INPUT,
                                "its polygons cannot be cut into triangles" FLR_ADVICE);
    flr_matrix start = undo_turn(scene, ending_of(job->name));
    const char *ending = ending_of(job->name);
    bool gltf = strcasecmp(ending, "gltf") == 0 || strcasecmp(ending, "glb") == 0;
    collect->content.head.up = flr_up_of_file(ending, job->bytes, job->size);
    assimp_walk w = {.scene = scene, .collect = collect, .unit = unit, .linear = gltf};
    add_node(&w, scene->mRootNode, &start, FLR_STREAM_NONE);
    // the process ends next, so nobody needs the scene's memory back
    return FLR_OK;
}
