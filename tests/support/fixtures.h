/* fixtures.h: ready-made things to test with, from a triangle to a shared session.
 *
 *   shapes  meshes, built triangle by triangle (fixture_shapes.c)
 *   parts   small parts ready for contact: mesh, voxmap and shell (fixture_parts.c)
 *   rig     a body with a few points between planes: contact by formula, without voxels (fixture_rig.c)
 *   engine  an engine with a plate, a block and a ball (fixture_engine.c)
 *   sites   a shared session of whole controllers under a simulated clock, network and disk (fixture_sites.c)
 *
 * Names begin with flr_test_ and the name of the section. What a function makes, its _free or _end takes away.
 */
#ifndef FLR_TEST_FIXTURES_H
#define FLR_TEST_FIXTURES_H

#include "collab/share.h"
#include "feeler/contact.h"
#include "feeler/dynamics.h"
#include "feeler/fit.h"
#include "feeler/mesh.h"
#include "feeler/sim.h"
#include "feeler/voxels.h"
#include "sim/engine.h"
#include "support/accounts.h"
#include "support/part_ids.h"
#include "support/shared.h"
#include "support/test.h"

/* ==== shapes ================================================================================= */

/* Small meshes for tests, built triangle by triangle and without any reader. */

/* A mesh in the making. Begin with all zero; end with flr_test_shape_free(). */
typedef struct flr_test_shape {
    flr_vec3 *vertices;
    flr_triangle *triangles;
    uint32_t vertex_count, vertex_room;
    uint32_t triangle_count, triangle_room;
    flr_mesh_group group;
    flr_mesh mesh;
} flr_test_shape;

void flr_test_shape_free(flr_test_shape *shape);

/* Add one thing; a vertex is always new, a triangle is taken as it is. */
uint32_t flr_test_shape_vertex(flr_test_shape *shape, double x, double y, double z);
void flr_test_shape_triangle(flr_test_shape *shape, uint32_t a, uint32_t b, uint32_t c);

/* Add closed shapes about the origin, outside facing out. */

/* A box of this size; every face is n x n squares of two triangles. */
void flr_test_shape_box(flr_test_shape *shape, flr_vec3 size, uint32_t n);
/* `around` meridians, `along` rings of faces from pole to pole. */
void flr_test_shape_sphere(flr_test_shape *shape, double radius, uint32_t around, uint32_t along);
/* The axis is z. */
void flr_test_shape_torus(flr_test_shape *shape, double large, double small, uint32_t around,
                          uint32_t across);
/* The axis is z; the caps are fans about a middle vertex. */
void flr_test_shape_cylinder(flr_test_shape *shape, double radius, double height, uint32_t around,
                             uint32_t along);
/* A bush: the axis of its hole is z. */
void flr_test_shape_tube(flr_test_shape *shape, double inner, double outer, double height,
                         uint32_t around);
/* Corners (0,0,0), (a,0,0), (0,b,0), (0,0,c). */
void flr_test_shape_tetrahedron(flr_test_shape *shape, double a, double b, double c);
/* An open sheet of nx x ny squares from (0,0) on, with the height z(x, y). */
void flr_test_shape_sheet(flr_test_shape *shape, double size_x, double size_y, uint32_t nx,
                          uint32_t ny, double (*height)(double x, double y));

/* Change what is there: from a vertex or triangle on. */
void flr_test_shape_move(flr_test_shape *shape, uint32_t first_vertex, flr_pose T, double scale);
void flr_test_shape_turn(flr_test_shape *shape, uint32_t first_triangle); /* inside out */

/* The mesh of all that was added, borrowed from the shape until its next change. */
const flr_mesh *flr_test_shape_mesh(flr_test_shape *shape);

/* The exact geometry of a mesh, or of triangles as they are; the caller destroys it. */
flr_fit *flr_test_fit(const flr_mesh *mesh);
flr_fit *flr_test_fit_of(const flr_vec3 *vertices, uint32_t vertex_count,
                         const flr_triangle *triangles, uint32_t triangle_count);

/* ==== parts ================================================================================== */

/* Small parts ready for contact: mesh, voxmap and shell. */

typedef enum flr_test_solid {
    FLR_TEST_BOX,         /* 24 x 20 x 12 mm */
    FLR_TEST_SPHERE,      /* radius 10 mm */
    FLR_TEST_TORUS,       /* radii 12 and 4 mm */
    FLR_TEST_TETRAHEDRON, /* legs of 20, 18 and 16 mm */
    FLR_TEST_SOLID_COUNT
} flr_test_solid;

typedef struct flr_test_part {
    flr_test_shape shape;
    flr_voxmap *voxmap;
    flr_shell *shell;
} flr_test_part;

/* Few triangles (12 to 200), voxels of this size in metres; `scale` multiplies the part. Fails the test if it cannot.
 * Free with flr_test_part_free(). */
void flr_test_part_make(flr_test_part *part, flr_test_solid solid, double scale, double voxel,
                        bool features);
void flr_test_part_free(flr_test_part *part);

/* A position in a cube of +-reach metres, any orientation. */
flr_pose flr_test_random_pose(flr_test_random *random, double reach);

/* ==== rig ==================================================================================== */

/* A body with a few points between planes: contact by formula, so that motion is tested without voxels. */

enum { FLR_TEST_RIG_POINTS = 64, FLR_TEST_RIG_PLANES = 8 };

typedef struct flr_test_plane {
    flr_vec3 normal; /* unit, into the free side */
    double offset;   /* metres: normal . p of its points */
} flr_test_plane;

typedef struct flr_test_rig {
    flr_body body;
    flr_vec3 points[FLR_TEST_RIG_POINTS]; /* part's frame */
    flr_test_plane planes[FLR_TEST_RIG_PLANES];
    uint32_t point_count, plane_count;
    flr_step *step;
    flr_step_params params;
    flr_contact_params asked;
    double limit, friction, layer; /* layer: metres before a plane in which braking acts */
    bool held;
    flr_coupling coupling;
    flr_handle handle;
    /* of the last step */
    flr_contact list[FLR_TEST_RIG_POINTS * FLR_TEST_RIG_PLANES];
    flr_contact_result contact;
    flr_step_result result;
    flr_wrench felt; /* by the device */
} flr_test_rig;

/* A box of this mass and size at the origin with its eight corners as points, no plane, 1 ms, implicit. */
void flr_test_rig_begin(flr_test_rig *rig, double mass, flr_vec3 size);
void flr_test_rig_end(flr_test_rig *rig);

void flr_test_rig_plane(flr_test_rig *rig, flr_vec3 normal, double offset); /* any length */
void flr_test_rig_grab(flr_test_rig *rig, const flr_coupling_def *def, flr_vec3 point); /* world */

/* What a contact query would say. */
void flr_test_rig_query(flr_test_rig *rig);
/* One whole step. */
void flr_test_rig_step(flr_test_rig *rig);
/* Moves the handle steadily to p in `steps` steps, stepping. */
void flr_test_rig_drag(flr_test_rig *rig, flr_vec3 p, int steps);

/* ==== engine ================================================================================= */

/* An engine with a few parts: a plate that stays, a block and a ball above it that may be taken. */

typedef struct flr_test_engine {
    flr_sim *sim; /* NULL: the real machine */
    flr_env *env;
    flr_engine *engine;
    flr_part_id plate, block,
        ball; /* parts: top of the plate at z = 0; 20 mm, at z = 30 mm, x = 0 and 50 mm */
} flr_test_engine;

/* Simulated: no threads, jobs in flr_engine_service(). Else with two workers and no priority. The parts are there and in
 * the loop. `recordings` NULL: none. */
void flr_test_engine_make(flr_test_engine *stand, bool simulated, const char *recordings);
void flr_test_engine_free(flr_test_engine *stand);

/* A closed box or ball of this size, owned by the caller. */
flr_mesh *flr_test_engine_box(flr_vec3 size);
/* A box of this size becomes a part of any engine. */
flr_part_id flr_test_engine_add(flr_engine *engine, const char *name, flr_vec3 size, flr_vec3 at,
                                flr_part_kind kind, double voxel);

/* Services and runs frames until no job is left and nothing is on its way, then 20 frames more. */
void flr_test_engine_settle(flr_test_engine *stand);
/* Time passes: frames (simulated), or as long with the loop's thread, servicing every 10. */
void flr_test_engine_pass(flr_test_engine *stand, uint64_t frames);
/* Brings a hand there in `frames` frames, step by step. */
void flr_test_engine_move(flr_test_engine *stand, uint32_t hand, flr_vec3 to, uint32_t buttons,
                          uint64_t frames);
/* The part in a state, as it is now. */
flr_engine_part_state flr_test_engine_part(flr_test_engine *stand, flr_part_id part);

/* ==== sites ================================================================================== */

/* A shared session of whole controllers under simulated clocks, network and disks: each site has an engine with its
 * physics and loop, its share in the session, a scene that travels, and a user whose hand goes where it is told.
 *
 *     flr_test_sites s;
 *     flr_test_sites_begin(&s, 1, &flr_test_lan, 3, 1000);
 *     flr_test_sites_open(&s);
 *     s.sites[1].to = flr_vec3_make(0, 0, 0.1);
 *     flr_test_sites_pass(&s, 2);
 *     flr_test_sites_end(&s);
 *
 * While time passes it is checked that no part has two owners of one epoch, that somebody leads again in time, that couplings
 * give no more than they got, and that nobody who was in fails. */

/* MOVED: parts that can be taken, "block" and "brick" (1 and 2), above a plate (0) */
enum { FLR_TEST_SITES = 3, FLR_TEST_MOVED = 2 };

typedef struct flr_test_site {
    struct flr_test_sites *session;
    flr_env *env;
    flr_address address;
    flr_engine *engine;
    flr_share *share;
    bool up, joined;
    int64_t frame_ns, service_ns, due_ns;
    uint64_t scene_limit; /* of what it takes from others; 0: the default */
    double slow;          /* a host that does not keep up runs every so-many-th frame */
    flr_vec3 at, to;      /* the hand, and where it goes at 0.3 m/s */
    bool press;
    double energy;
    double released;                      /* s: when its user let go last */
    char warning[FLR_ERROR_MESSAGE_SIZE]; /* the last one */
} flr_test_site;

typedef struct flr_test_sites {
    flr_sim *sim;
    flr_test_random random;
    flr_test_site sites[FLR_TEST_SITES];
    uint32_t count;
    /* what users do by themselves, every 0.2 to 1 s; NULL: nothing */
    void (*play)(flr_test_site *site);
    /* what the first does with its parts before it shares them; NULL: nothing */
    void (*prepare)(flr_test_site *site);
    bool busy; /* users take parts */
    double rate, voxel;
    flr_part_kind kind; /* of what can be taken */
    uint32_t moved;     /* how many that are: FLR_TEST_MOVED, or those and small ones in rows */
    uint64_t seed, frames;
    flr_test_accounts accounts;
    bool ghosted;      /* something was in the way of a part for longer than patience */
    double leaderless; /* s: since when, because the leader crashed; 0: it did not */
    bool failed;
    bool
        by_chance; /* one of many by their seeds: it goes on when it fails, and says how to run it again */
} flr_test_sites;

/* `count` sites, none of them up; `rate` frames per second. */
void flr_test_sites_begin(flr_test_sites *sites, uint64_t seed, const flr_sim_network *network,
                          uint32_t count, double rate);
/* Fails the test where a check did, unless it is a random one. */
void flr_test_sites_end(flr_test_sites *sites);

/* A controller starts; the one without a host has the scene, the others get it. */
void flr_test_site_start(flr_test_site *site, const flr_test_site *host);
void flr_test_site_stop(flr_test_site *site);
/* Who is not up joins the first. */
void flr_test_sites_join(flr_test_sites *sites);
/* All who are up have the scene, within so many seconds. */
void flr_test_sites_await_ready(flr_test_sites *sites, double seconds);
/* The first starts, all others join, and have the scene. */
void flr_test_sites_open(flr_test_sites *sites);

double flr_test_sites_now(const flr_test_sites *sites); /* s */
void flr_test_sites_pass(flr_test_sites *sites, double seconds);

/* False: it does not show such a part. */
bool flr_test_site_pose(flr_test_site *site, uint32_t index, flr_pose *pose);
/* How far instances are apart, at most; metres, and rad by `turn`. */
double flr_test_sites_apart(flr_test_sites *sites, double *turn);
/* All have everything at the same place, and nobody is busy with anything. */
bool flr_test_sites_agree(flr_test_sites *sites);
/* Prints what each site knows. */
void flr_test_sites_describe(flr_test_sites *sites);

/* a parameter that changes nothing here but itself: impulses are not used */
double flr_test_site_restitution(const flr_test_site *site);
void flr_test_site_set_restitution(flr_test_site *site, double value);

/* Says once what does not hold; the session goes on, so that those after it are tried, too. */
void flr_test_sites_check(flr_test_sites *sites, bool holds, const char *condition);
#define sites_check(sites, condition) flr_test_sites_check(sites, condition, #condition)

/* ---- commands to an engine, as clients send them ---- */

/* flr_engine_grab() with the hand at a pose. */
flr_result flr_engine_grab_at(flr_engine *engine, flr_hand_id hand, flr_part_id part,
                              flr_pose T_world_hand, flr_error *error);
flr_result flr_engine_set_tool(flr_engine *engine, flr_hand_id hand, flr_tool tool,
                               flr_error *error);
flr_result flr_engine_reset(flr_engine *engine, flr_error *error);
flr_result flr_engine_undo(flr_engine *engine, uint32_t steps, flr_error *error);
flr_result flr_engine_pause(flr_engine *engine, bool paused, flr_error *error);

#endif
