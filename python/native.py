"""What of feeler's C interface the Python package uses, for cffi. The compiler checks every line against the headers."""

from cffi import FFI

ffi = FFI()

DECLARATIONS = """
typedef int... flr_result;
typedef enum { FLR_OK, FLR_BAD_INPUT, FLR_BAD_ARGUMENT, FLR_NOT_FOUND, FLR_DENIED, FLR_IO, FLR_NO_MEMORY,
    FLR_TOO_LARGE, FLR_UNSUPPORTED, FLR_TIMEOUT, FLR_AGAIN, FLR_CLOSED, FLR_CANCELLED, FLR_CRASHED, ... } flr_results;
typedef struct { int code; char message[512]; ...; } flr_error;
typedef struct flr_env flr_env;
flr_env *flr_env_real(void);

typedef struct { double x, y, z; } flr_vec3;
typedef struct { double w, x, y, z; } flr_quat;
typedef struct { flr_vec3 p; flr_quat q; } flr_pose;
typedef struct { flr_vec3 low, high; } flr_box3;
typedef struct { flr_vec3 angular, linear; } flr_twist;
typedef struct { flr_vec3 torque, force; } flr_wrench;
typedef struct { uint64_t high, low; } flr_hash;

typedef struct { uint32_t v[3]; } flr_triangle;
typedef struct { const flr_vec3 *vertices; const flr_triangle *triangles; uint32_t vertex_count; uint32_t triangle_count;
    uint32_t group_count; flr_box3 bounds; ...; } flr_mesh;
typedef struct { const flr_vec3 *vertices; uint32_t vertex_count; const flr_triangle *triangles; uint32_t triangle_count;
    double scale; double weld; ...; } flr_mesh_def;
flr_mesh_def flr_default_mesh_def(void);
int flr_mesh_create(const flr_mesh_def *def, flr_mesh **mesh, flr_error *error);
void flr_mesh_destroy(flr_mesh *mesh);
const char *flr_mesh_group_name(const flr_mesh *mesh, uint32_t group);
int flr_mesh_extract_group(const flr_mesh *mesh, uint32_t group, flr_mesh **part, flr_error *error);
double flr_mesh_area(const flr_mesh *mesh);
flr_hash flr_mesh_hash(const flr_mesh *mesh);
typedef struct { double unit; double weld; bool tolerant; double chord; const char *helper; unsigned helper_seconds;
    bool (*go_on)(void *context); void *context; ...; } flr_mesh_options;
flr_mesh_options flr_default_mesh_options(void);
int flr_mesh_open(flr_env *env, const char *path, const flr_mesh_options *options, flr_mesh **mesh, void *report,
    flr_error *error);
int flr_mesh_write(flr_env *env, const char *path, const flr_mesh *mesh, double unit, flr_error *error);
int flr_unit_parse(const char *text, double *metres, flr_error *error);

typedef struct flr_fit flr_fit;
typedef struct { double spacing; unsigned threads; bool (*progress)(void *context, double done); void *progress_context;
    ...; } flr_fit_def;
typedef struct { uint32_t triangles, vertices, samples, patches; double spacing, area, size; bool solid; size_t bytes; ...;
} flr_fit_info;
flr_fit_def flr_default_fit_def(void);
int flr_fit_build(const flr_mesh *mesh, const flr_fit_def *def, flr_fit **fit, flr_error *error);
void flr_fit_destroy(flr_fit *fit);
flr_fit_info flr_fit_get_info(const flr_fit *fit);
typedef struct { double reach, max_distance, tolerance; uint64_t budget; ...; } flr_fit_params;
typedef struct { flr_vec3 point, nearest, normal; double distance, error, area; uint32_t sample; uint32_t triangle[2];
    uint32_t side; ...; } flr_fit_contact;
typedef struct { flr_pose from, to; flr_vec3 centre; } flr_fit_motion;
typedef struct { double clearance, tolerance; ...; } flr_fit_motion_params;
typedef struct { double free; bool complete, blocked; double distance; flr_vec3 point[2]; flr_vec3 normal;
    uint32_t triangle[2]; uint32_t meeting; ...; } flr_fit_motion_result;
flr_fit_motion_params flr_default_fit_motion_params(void);

typedef struct { unsigned threads; bool (*progress)(void *context, double done); void *progress_context; ...;
} flr_batch_options;
flr_batch_options flr_default_batch_options(void);
typedef struct flr_batch_pair flr_batch_pair;
int flr_batch_pair_create(const flr_fit *a, const flr_fit *b, flr_batch_pair **pair, flr_error *error);
void flr_batch_pair_destroy(flr_batch_pair *pair);
typedef struct { flr_fit_params fit; double foundation; ...; } flr_batch_params;
flr_batch_params flr_default_batch_params(void);
typedef struct { double distance, lower, upper; flr_vec3 point[2]; flr_vec3 normal; flr_wrench wrench; uint32_t triangle[2];
    uint32_t contacts; bool found, meet, complete; ...; } flr_batch_result;
typedef struct { flr_fit_contact *list; uint32_t *pose; size_t count; ...; } flr_batch_contacts;
int flr_batch_poses(flr_batch_pair *pair, const flr_pose *T_a_b, size_t count, const flr_batch_params *params,
    const flr_batch_options *options, flr_batch_result *results, flr_batch_contacts *contacts, flr_error *error);
void flr_batch_contacts_free(flr_batch_contacts *contacts);
int flr_batch_motions(flr_batch_pair *pair, const flr_fit_motion *motions, size_t count, const flr_fit_motion_params *params,
    const flr_batch_options *options, flr_fit_motion_result *results, flr_error *error);
typedef struct flr_batch_surface flr_batch_surface;
int flr_batch_surface_build(const flr_mesh *mesh, const flr_fit *fit, flr_batch_surface **surface, flr_error *error);
void flr_batch_surface_destroy(flr_batch_surface *surface);
int flr_batch_points(const flr_batch_surface *surface, const flr_vec3 *points, size_t count, const flr_batch_options *options,
    double *distances, flr_vec3 *nearest, uint32_t *triangles, flr_error *error);

typedef struct flr_probe_model flr_probe_model;
typedef struct { const flr_mesh *mesh; ...; } flr_probe_def;
typedef struct { double t; flr_vec3 point, normal; uint32_t triangle; ...; } flr_probe_hit;
flr_probe_def flr_default_probe_def(void);
int flr_probe_model_create(const flr_probe_def *def, flr_probe_model **model, flr_error *error);
void flr_probe_model_destroy(flr_probe_model *model);
int flr_batch_segments(const flr_probe_model *model, const flr_vec3 *ends, size_t count, const flr_batch_options *options,
    flr_probe_hit *hits, flr_error *error);

typedef struct flr_voxmap flr_voxmap;
typedef struct { flr_vec3 origin; double voxel; uint64_t size[3]; ...; } flr_voxmap_info;
typedef struct { double voxel; unsigned bits, range; bool features, hollow, on_surface; unsigned threads;
    bool (*progress)(void *context, double done, const char *stage); void *context; ...; } flr_voxelize_def;
typedef struct { uint32_t total; ...; } flr_shell;
flr_voxelize_def flr_default_voxelize_def(void);
int flr_voxelize(flr_env *env, const flr_mesh *mesh, const flr_voxelize_def *def, flr_voxmap **voxmap, flr_shell **shell,
    void *report, flr_error *error);
flr_voxmap_info flr_voxmap_get_info(const flr_voxmap *voxmap);
void flr_voxmap_destroy(flr_voxmap *voxmap);
void flr_shell_destroy(flr_shell *shell);
void feeler_voxel_marks(const flr_voxmap *voxmap, uint8_t *marks);
void feeler_shell_points(const flr_shell *shell, flr_vec3 *points, flr_vec3 *normals);

typedef struct { const flr_fit *fit; flr_pose T_world_part; double chord; bool keep_out; ...; } flr_clash_part;
typedef struct { const flr_clash_part *parts; uint32_t part_count; double clearance, touch; bool all; unsigned threads;
    bool (*skip)(void *context, uint32_t a, uint32_t b); void *skip_context;
    bool (*progress)(void *context, double done); void *progress_context; ...; } flr_clash_def;
flr_clash_def flr_default_clash_def(void);
typedef struct { uint32_t a, b; int state; double distance, error, depth, volume, facets; flr_vec3 point[2]; flr_vec3 at; ...;
} flr_clash_pair;
typedef struct { flr_clash_pair *pairs; size_t pair_count; uint64_t checked, measured, skipped; ...; } flr_clash_list;
int flr_clash_find(const flr_clash_def *def, flr_clash_list *list, flr_error *error);
void flr_clash_list_free(flr_clash_list *list);

typedef struct { const flr_fit *fit; flr_pose T; ...; } flr_plan_part;
typedef struct { flr_pose T_world_part; uint32_t rigid; bool moves, leads, passes; ...; } flr_plan_member;
typedef struct { uint32_t moving, standing; ...; } flr_plan_roles;
uint32_t flr_plan_count_bodies(const flr_plan_member *members, uint32_t count);
flr_plan_roles flr_plan_sort(const flr_plan_member *members, uint32_t count, uint32_t *order, flr_plan_part *parts);
typedef struct { const flr_plan_part *moving; uint32_t moving_count; const flr_plan_part *obstacles; uint32_t obstacle_count;
    double clearance, touch, overlap; ...; } flr_plan_def;
flr_plan_def flr_default_plan_def(void);
typedef struct { uint32_t obstacle, moving; double at, distance; flr_vec3 point[2]; flr_vec3 normal; ...; } flr_plan_place;
typedef struct { bool free; double lower, upper; flr_plan_place nearest, violation; ...; } flr_plan_verdict;
typedef struct flr_plan_space flr_plan_space;
int flr_plan_space_create(const flr_plan_def *def, flr_plan_space **space, flr_error *error);
void flr_plan_space_destroy(flr_plan_space *space);
void flr_plan_space_watch(flr_plan_space *space, bool (*go_on)(void *context), void *context);
int flr_plan_verify(flr_plan_space *space, const flr_pose *poses, size_t count, flr_plan_verdict *verdict, flr_error *error);
typedef struct { double seconds; uint64_t poses; ...; } flr_plan_progress;
typedef struct { flr_pose from; bool to_given; flr_pose to; double seconds; uint64_t seed; unsigned threads;
    bool (*progress)(void *context, const flr_plan_progress *now); void *progress_context; ...; } flr_plan_search;
flr_plan_search flr_default_plan_search(void);
typedef struct { uint32_t obstacle; bool sole; uint64_t stops; flr_vec3 at; ...; } flr_plan_blocker;
typedef struct { int method; bool stopped; flr_pose *poses; size_t pose_count; flr_plan_verdict verdict; double length, turn;
    double reached, wanted; flr_plan_blocker blockers[16]; uint32_t blocker_count; uint64_t moves, nodes; double seconds; ...;
} flr_plan_result;
int flr_plan_find(flr_env *env, const flr_plan_def *def, const flr_plan_search *search, flr_plan_result *result,
    flr_error *error);
void flr_plan_result_free(flr_plan_result *result);
const char *flr_plan_method_name(int method);

typedef struct flr_world flr_world;
typedef struct flr_scene_world flr_scene_world;
typedef struct { flr_mesh_options options; bool parts_only; double voxel; bool engine_given; int engine; uint32_t hands;
    double rate; unsigned threads; const char *cache; bool (*progress)(void *context, double done); void *progress_context;
    ...; } flr_scene_world_def;
flr_scene_world_def flr_default_scene_world_def(void);
int flr_scene_world_open(flr_env *env, const char *path, const flr_scene_world_def *def, flr_scene_world **scene,
    flr_error *error);
void flr_scene_world_destroy(flr_scene_world *scene);
int flr_scene_world_import(flr_env *env, const char *path, const char *out, const flr_mesh_options *options, flr_error *error);
flr_world *flr_scene_world_get(flr_scene_world *scene);
typedef struct { const char *name; const char *group; int kind; flr_pose T_world_part; const flr_mesh *mesh;
    double chord; bool keep_out, passes; uint32_t rigid; ...; } flr_scene_world_part;
uint32_t flr_scene_world_part_count(const flr_scene_world *scene);
flr_scene_world_part flr_scene_world_part_at(const flr_scene_world *scene, uint32_t part);
bool flr_scene_world_allows(const flr_scene_world *scene, uint32_t a, uint32_t b);
uint32_t flr_scene_world_joint_count(const flr_scene_world *scene);
const char *flr_scene_world_joint_name(const flr_scene_world *scene, uint32_t joint);

typedef struct { flr_pose T_world_hand; flr_twist twist; bool has_twist, fresh; ...; } flr_world_input;
typedef struct { uint64_t number, points_tested; uint32_t pairs, contacts, penetrations; double lower, upper, deepest, energy;
    uint32_t limited, stopped; unsigned faults; flr_hash hash; ...; } flr_world_frame;
typedef struct { flr_pose T_world_part; flr_twist twist; ...; } flr_body;
typedef struct { double turn, slide; ...; } flr_joint_position;
typedef struct { uint32_t part_a, part_b; double distance, lower, upper; flr_vec3 point_a, point_b, normal; bool complete; ...;
} flr_world_gap;
typedef struct { uint32_t part, other; flr_vec3 point, normal; double distance, force; ...; } flr_world_touch;
typedef enum { FLR_TOOL_GRIP, FLR_TOOL_POINT, ... } flr_tool;
bool flr_world_grab_at(flr_world *world, uint32_t hand, uint32_t part, flr_pose T_world_hand);
void flr_world_release(flr_world *world, uint32_t hand);
uint32_t flr_world_held(const flr_world *world, uint32_t hand);
bool flr_world_place(flr_world *world, uint32_t part, flr_pose T_world_part);
bool flr_world_joint(const flr_world *world, uint32_t joint, flr_joint_position *position);
const flr_body *flr_world_body(const flr_world *world, uint32_t part);
flr_wrench flr_world_wrench(const flr_world *world, uint32_t hand);
const flr_world_gap *flr_world_gaps(const flr_world *world, uint32_t *count);
const flr_world_touch *flr_world_touches(const flr_world *world, uint32_t *count);
int feeler_world_engine(const flr_world *world);
size_t flr_world_state_size(const flr_world *world);
void flr_world_save(const flr_world *world, void *state);
bool flr_world_load(flr_world *world, const void *state, size_t size);
typedef struct flr_recorder flr_recorder;
typedef struct { flr_pose T_world_part; flr_twist motion; ...; } flr_record_part;
void feeler_world_steps(flr_world *world, flr_world_input *inputs, uint32_t hands, const flr_pose *poses, uint64_t count,
    uint32_t parts, flr_wrench *wrenches, flr_pose *places, flr_world_frame *frames, flr_recorder *recorder, double rate, flr_record_part *part);
int feeler_recorder_create(const char *path, uint32_t hands, uint32_t parts, const char *const *texts,
    flr_recorder **recorder, flr_error *error);
int flr_recorder_service(flr_recorder *recorder, flr_error *error);
int flr_recorder_finish(flr_recorder *recorder, flr_error *error);
void flr_recorder_abandon(flr_recorder *recorder);

typedef struct flr_recording flr_recording;
typedef struct { uint64_t frame; int64_t time_ns; double compute_us; uint32_t contacts, penetrations; double lower, upper;
    double energy; uint32_t faults; uint64_t hash; ...; } flr_record_frame;
typedef struct { flr_pose T_world_hand; flr_twist twist; uint32_t buttons; uint32_t part; flr_wrench wrench; ...;
} flr_record_hand;
typedef struct { flr_record_frame frame; const flr_record_hand *hands; const flr_record_part *parts; uint32_t hand_count;
    uint32_t part_count; ...; } flr_record_view;
int flr_recording_open(flr_env *env, const char *path, flr_recording **recording, flr_error *error);
void flr_recording_close(flr_recording *recording);
int flr_recording_next(flr_recording *recording, flr_record_view *view, flr_error *error);
const char *flr_recording_text(const flr_recording *recording, const char *key);
bool flr_recording_damaged(const flr_recording *recording, flr_error *error);
bool flr_recording_complete(const flr_recording *recording);

extern "Python" bool feeler_progress(void *context, double done);
extern "Python" bool feeler_stage(void *context, double done, const char *stage);
extern "Python" bool feeler_go_on(void *context);
extern "Python" bool feeler_skip(void *context, uint32_t a, uint32_t b);
extern "Python" bool feeler_search(void *context, const flr_plan_progress *now);
"""

HELPERS = r"""
#include "feeler/feeler.h"
#include "feeler/scene_world.h"

typedef flr_result flr_results;

/* marks of all voxels, [x][y][z] */
static void feeler_voxel_marks(const flr_voxmap *voxmap, uint8_t *marks)
{
    const flr_voxmap_info info = flr_voxmap_get_info(voxmap);
    for (uint64_t x = 0; x < info.size[0]; x++)
        for (uint64_t y = 0; y < info.size[1]; y++)
            for (uint64_t z = 0; z < info.size[2]; z++)
                *marks++ = (uint8_t)flr_voxmap_mark_at(voxmap, FLR_FIELD_SURFACE, (int64_t)x, (int64_t)y, (int64_t)z);
}

/* surface points of a shell with outward normals, without padding */
static void feeler_shell_points(const flr_shell *shell, flr_vec3 *points, flr_vec3 *normals)
{
    for (uint32_t c = 0; c < shell->chunk_count; c++) {
        const flr_shell_chunk *chunk = &shell->chunks[c];
        uint32_t count = 0;
        for (int label = 0; label < FLR_LABEL_COUNT; label++) count += chunk->count[label];
        for (uint32_t i = 0; i < count; i++) {
            *points++ = flr_shell_point(shell, c, chunk->first + i, 0);
            *normals++ = flr_vec3_scale(flr_shell_normal(shell->normal[chunk->first + i]), -1);
        }
    }
}

static int feeler_world_engine(const flr_world *world) { return (int)flr_world_get_params(world)->engine; }

static int feeler_recorder_create(const char *path, uint32_t hands, uint32_t parts, const char *const *texts,
                                  flr_recorder **recorder, flr_error *error)
{
    flr_recorder_def def = flr_default_recorder_def();
    def.path = path, def.hands = hands, def.parts = parts, def.texts = texts;
    return (int)flr_recorder_create(flr_env_real(), &def, recorder, error);
}

static void feeler_record(flr_recorder *recorder, const flr_world *world, const flr_world_input *inputs, uint32_t hands,
                          uint32_t parts, const flr_world_frame *frame, double rate, flr_record_part *part)
{
    flr_record_hand hand[FLR_WORLD_HANDS] = {0};
    const flr_record_frame f = {.frame = frame->number,
                                .time_ns = (int64_t)((double)frame->number * 1e9 / rate + 0.5),
                                .points_tested = frame->points_tested,
                                .contacts = frame->contacts,
                                .penetrations = frame->penetrations,
                                .lower = frame->lower,
                                .upper = frame->upper,
                                .energy = frame->energy,
                                .stopped = frame->stopped > 0,
                                .faults = frame->faults,
                                .hash = frame->hash.low};
    for (uint32_t h = 0; h < hands; h++)
        hand[h] = (flr_record_hand){.T_world_hand = inputs[h].T_world_hand,
                                    .fresh = true,
                                    .part = flr_world_held(world, h),
                                    .wrench = flr_world_wrench(world, h)};
    for (uint32_t p = 0; p < parts; p++) {
        const flr_body *body = flr_world_body(world, p);
        part[p] = (flr_record_part){body->T_world_part, body->twist};
    }
    flr_recorder_push(recorder, &f, hand, part, NULL);
}

/* `count` steps. poses: [count][hands] or NULL; wrenches [count][hands], places [count][parts]: may be NULL; frames [count];
 * recorder: NULL or one that the caller services; part: [parts], memory for it */
static void feeler_world_steps(flr_world *world, flr_world_input *inputs, uint32_t hands, const flr_pose *poses,
                               uint64_t count, uint32_t parts, flr_wrench *wrenches, flr_pose *places,
                               flr_world_frame *frames, flr_recorder *recorder, double rate, flr_record_part *part)
{
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t h = 0; h < hands; h++) {
            if (poses) inputs[h].T_world_hand = poses[i * hands + h];
            inputs[h].fresh = true;
        }
        flr_world_step(world, inputs, &frames[i]);
        for (uint32_t h = 0; wrenches && h < hands; h++) wrenches[i * hands + h] = flr_world_wrench(world, h);
        for (uint32_t p = 0; places && p < parts; p++) places[i * parts + p] = flr_world_body(world, p)->T_world_part;
        if (recorder) feeler_record(recorder, world, inputs, hands, parts, &frames[i], rate, part);
    }
}
"""

ffi.cdef(DECLARATIONS.replace("typedef int... flr_result;\n", ""))
ffi.set_source("feeler._native", HELPERS, py_limited_api=True, define_macros=[("_GNU_SOURCE", "1"), ("Py_LIMITED_API", "0x03090000")])
