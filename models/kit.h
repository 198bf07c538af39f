/* kit.h: the box of bricks the procedural scenarios are built from.
 *
 * A kit collects triangles in metres. Every function that adds a solid adds one closed surface
 * that faces outwards; solids may overlap, as the parts of a CAD assembly do. Solids are placed
 * by a pose `at` in the kit's current frame; flr_kit_push() and flr_kit_pop() move that frame,
 * so that a sub-assembly is written once in its own frame.
 *
 * Nothing here fails at once: a kit that ran out of memory, or was asked for something
 * impossible, keeps that in mind, ignores the rest and says so in flr_kit_finish().
 *
 * The same calls give the same bytes with every compiler: see kit_math.h. Angles are in turns.
 *
 * Thread: a kit belongs to one thread. Nothing here is RT safe.
 */
#ifndef FLR_MODELS_KIT_H
#define FLR_MODELS_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/mesh.h"
#include "models/kit_math.h"

enum { FLR_KIT_FRAMES = 16, FLR_KIT_POINTS = 2048, FLR_KIT_LOOPS = 96 };

typedef struct flr_kit {
    flr_vec3 *vertices;      /* [vertex_count] metres */
    flr_triangle *triangles; /* [triangle_count] */
    size_t vertex_count, vertex_room;
    size_t triangle_count, triangle_room;
    flr_pose T_kit_here; /* the current frame */
    flr_pose frames[FLR_KIT_FRAMES];
    int frame_count;
    double chord;        /* metres a circle's polygon may stray from it; default 0.2 mm */
    int least_sides;     /* of a circle's polygon; default 8; a multiple of 4 */
    double wire_step;    /* metres between the points of a wire's path; default 0.02 */
    uint64_t random;     /* state of flr_kit_random() */
    flr_result result;   /* the first trouble, FLR_OK while there is none */
    const char *trouble; /* its sentence */
} flr_kit;

/* ---- the builder ---- */

/* An empty kit at the identity; `seed` starts its random numbers. Free with flr_kit_free(). */
flr_kit flr_kit_begin(uint64_t seed);
void flr_kit_free(flr_kit *kit);

/* The mesh of all that was added, owned by the caller; the kit is emptied and freed whatever
 * the result. */
flr_result flr_kit_finish(flr_kit *kit, flr_mesh **mesh, flr_error *error);

/* Splits the longest edges until there are `count` triangles. Components stay closed, surfaces stay
 * where they are, only the triangles get smaller. `count` must be at least what is there, and
 * is met exactly when it differs by an even number, else it is one less. */
void flr_kit_refine_to(flr_kit *kit, size_t count);

/* Notes a trouble unless there is one already. `trouble` must be a constant. */
void flr_kit_fail(flr_kit *kit, flr_result result, const char *trouble);

/* The box around all vertices. */
flr_box3 flr_kit_bounds(const flr_kit *kit);

/* Single vertices and triangles, for shapes not found below: the caller keeps them closed.
 * The vertex is given in the current frame; its index is returned. */
uint32_t flr_kit_vertex(flr_kit *kit, flr_vec3 p);
void flr_kit_triangle(flr_kit *kit, uint32_t a, uint32_t b, uint32_t c);
void flr_kit_quad(flr_kit *kit, uint32_t a, uint32_t b, uint32_t c, uint32_t d);

/* ---- numbers ---- */

/* Sine and cosine of an angle in turns; exact at quarters, else within 1e-15. */
double flr_kit_sin(double turns);
double flr_kit_cos(double turns);
/* The angle of (x, y) in turns, from -0.5 to 0.5. */
double flr_kit_angle(double x, double y);

/* A number in [low, high) from the kit's seeded stream. */
double flr_kit_random(flr_kit *kit, double low, double high);

/* Sides of the polygon that stands for a circle of radius r, a multiple of 4. */
int flr_kit_sides(const flr_kit *kit, double r);

/* ---- frames ---- */

flr_pose flr_kit_at(double x, double y, double z);
/* The pose turned about its own axis, and moved in its own frame. */
flr_pose flr_kit_turn_x(flr_pose pose, double turns);
flr_pose flr_kit_turn_y(flr_pose pose, double turns);
flr_pose flr_kit_turn_z(flr_pose pose, double turns);
flr_pose flr_kit_shift(flr_pose pose, double x, double y, double z);
/* A frame at `origin` whose z axis shows along `z` and whose x axis shows towards `x` as far
 * as the right angle allows. Neither need be of unit length. */
flr_pose flr_kit_frame(flr_vec3 origin, flr_vec3 z, flr_vec3 x);
/* A frame at `from` whose z axis shows to `to`; some x axis. */
flr_pose flr_kit_towards(flr_vec3 from, flr_vec3 to);
/* The point p of the pose's frame, in the frame the pose is given in. */
flr_vec3 flr_kit_point(flr_pose pose, double x, double y, double z);

/* From now on `at` and points are given in the frame `pose` of the current frame. */
void flr_kit_push(flr_kit *kit, flr_pose pose);
void flr_kit_pop(flr_kit *kit);

/* ---- outlines: plane figures to extrude, sweep or revolve ---- */

typedef struct flr_kit_p2 {
    double x, y;
} flr_kit_p2;

/* A corner of a polygon, rounded with radius r (0: sharp), or with what its edges have room for. */
typedef struct flr_kit_corner {
    double x, y, r;
} flr_kit_corner;

/* One outer loop, then holes; any sense of rotation. */
typedef struct flr_kit_outline {
    flr_kit_p2 points[FLR_KIT_POINTS];
    int ends[FLR_KIT_LOOPS]; /* where each loop ends in `points` */
    int point_count, loop_count;
    bool overflow;
} flr_kit_outline;

void flr_outline_clear(flr_kit_outline *outline);
/* Adds a point to the loop that is being drawn; adds an arc from turn a0 to a1, both ends
 * included, in `steps` steps; ends the loop. */
void flr_outline_point(flr_kit_outline *outline, double x, double y);
void flr_outline_arc(flr_kit_outline *outline, double x, double y, double r, double a0, double a1,
                     int steps);
void flr_outline_close(flr_kit_outline *outline);
/* Whole loops. The kit is asked for the fineness of arcs only. */
void flr_outline_corners(const flr_kit *kit, flr_kit_outline *outline,
                         const flr_kit_corner *corners, int count);
void flr_outline_circle(const flr_kit *kit, flr_kit_outline *outline, double x, double y, double r);
void flr_outline_rect(const flr_kit *kit, flr_kit_outline *outline, double x, double y,
                      double width, double height, double r);
/* A regular polygon with `sides` sides and inner radius r (hexagon: r is half the width over
 * flats). */
void flr_outline_polygon(flr_kit_outline *outline, double x, double y, double r, int sides);

/* Sections of beams, one loop, the web's middle (L: the heel) at the origin; y is up.
 * t: thickness of web and flanges; fillets of radius t inside. */
void flr_outline_beam_i(const flr_kit *kit, flr_kit_outline *outline, double width, double height,
                        double t);
void flr_outline_beam_l(const flr_kit *kit, flr_kit_outline *outline, double width, double height,
                        double t);
void flr_outline_beam_c(const flr_kit *kit, flr_kit_outline *outline, double width, double height,
                        double t);
void flr_outline_beam_t(const flr_kit *kit, flr_kit_outline *outline, double width, double height,
                        double t);
/* z: a flange to each side; hat: like an omega, its brim at y = 0, open downwards. */
void flr_outline_beam_z(const flr_kit *kit, flr_kit_outline *outline, double width, double height,
                        double t);
void flr_outline_beam_hat(const flr_kit *kit, flr_kit_outline *outline, double width, double height,
                          double brim, double t);

/* ---- solids ---- */

/* A box around the origin of `at`; `chamfer` metres are cut off its edges (0: none). */
void flr_kit_box(flr_kit *kit, flr_pose at, double x, double y, double z, double chamfer);

/* The outline in the plane z = 0, extruded to z = height. */
void flr_kit_prism(flr_kit *kit, flr_pose at, const flr_kit_outline *outline, double height);

/* The outline's first loop turned about the z axis: x is the radius, y becomes z. Points with
 * x == 0 lie on the axis; no x may be negative. */
void flr_kit_revolve(flr_kit *kit, flr_pose at, const flr_kit_outline *outline, int sides);

/* The two with a single loop of corners, as flr_outline_corners() draws it. */
void flr_kit_extrude(flr_kit *kit, flr_pose at, const flr_kit_corner *corners, int count,
                     double height);
void flr_kit_lathe(flr_kit *kit, flr_pose at, const flr_kit_corner *corners, int count, int sides);

/* The outline swept along `path`, mitred at its corners; its y axis begins towards `up`.
 * `scale` (NULL: 1) multiplies the section at each point of the path. */
void flr_kit_sweep(flr_kit *kit, const flr_vec3 *path, int count, flr_vec3 up,
                   const flr_kit_outline *outline, const double *scale);

/* Along z from 0. */
void flr_kit_cylinder(flr_kit *kit, flr_pose at, double r, double height);
void flr_kit_rounded_cylinder(flr_kit *kit, flr_pose at, double r, double height, double rounding);
void flr_kit_tube(flr_kit *kit, flr_pose at, double r_outer, double r_inner, double height);
void flr_kit_cone(flr_kit *kit, flr_pose at, double r_bottom, double r_top, double height);
void flr_kit_sphere(flr_kit *kit, flr_pose at, double r);
/* A ring of round section about z. */
void flr_kit_torus(flr_kit *kit, flr_pose at, double r_ring, double r_section);

/* ---- lines: pipes, hoses, wires ---- */

/* The corners of `way` rounded with `bend`, in steps as fine as the circle of that radius;
 * writes at most `room` points and returns how many. */
int flr_kit_route(const flr_kit *kit, const flr_vec3 *way, int count, double bend, flr_vec3 *path,
                  int room);

/* A pipe along `way` with bends; r_inner 0: solid, else one sees into its ends. */
void flr_kit_pipe(flr_kit *kit, const flr_vec3 *way, int count, double r, double r_inner,
                  double bend);

/* `wires` wires of radius r, twisted about each other, that sag by `sag` metres between each two
 * points of `way`, with a tie every `tie` metres (0: none). */
void flr_kit_bundle(flr_kit *kit, const flr_vec3 *way, int count, int wires, double r, double sag,
                    double tie);

/* A closed tube of radius r around the loop `path`; `up` (one per point, not along the path) fixes
 * where its sides begin, and must turn smoothly. */
void flr_kit_loop(flr_kit *kit, const flr_vec3 *path, const flr_vec3 *up, int count, double r,
                  int sides);

/* A tube of radius r that winds q times about a ring of radius r_ring, at distance r_wind, while
 * it goes p times round: p 2, q 3 is the trefoil knot. steps * sides * 2 triangles. */
void flr_kit_knot(flr_kit *kit, int p, int q, double r_ring, double r_wind, double r, int steps,
                  int sides);

/* A coil spring along z: turns, coil radius, wire radius, length; flattened ends. */
void flr_kit_spring(flr_kit *kit, flr_pose at, double r_coil, double r_wire, double length,
                    double turns);

/* ---- hardware ---- */

/* A hexagon bolt whose head sits on the plane z = 0 and shows along +z: nominal diameter d,
 * washer below the head, shank down to z = -grip, and a nut with a bit of thread at its end.
 * grip 0: head and washer only. */
void flr_kit_bolt(flr_kit *kit, flr_pose at, double d, double grip);
/* `count` bolts on a circle of radius r about z. */
void flr_kit_bolt_circle(flr_kit *kit, flr_pose at, double r, int count, double d, double grip);
/* A round rivet head on z = 0. */
void flr_kit_rivet(flr_kit *kit, flr_pose at, double d);
/* `count` rivets from `from` to `to`, both included, heads along `up`. */
void flr_kit_rivet_row(flr_kit *kit, flr_vec3 from, flr_vec3 to, flr_vec3 up, int count, double d);

/* A disc flange along z with a bore (0: none) and `bolts` bolts through it. */
void flr_kit_flange(flr_kit *kit, flr_pose at, double r, double r_bore, double thickness, int bolts,
                    double d);

/* A lug: plate of the given thickness in the plane x, z, centred on y = 0. Its eye is at the
 * origin (radius r, bore r_bore with a bushing), its foot at z = -length, `foot` wide. */
void flr_kit_lug(flr_kit *kit, flr_pose at, double r, double r_bore, double thickness,
                 double length, double foot);
/* Two lugs `gap` apart (clear distance), on a bolted foot plate. */
void flr_kit_clevis(flr_kit *kit, flr_pose at, double r, double r_bore, double thickness,
                    double gap, double length, double foot);
/* A pin along y through the origin with head, groove and nut; `length` between them. */
void flr_kit_pin(flr_kit *kit, flr_pose at, double r, double length);

/* A plate in the plane z = 0 to thickness with rounded corners, centred; round holes of radius
 * `hole` in rows and columns evenly over it (0: none). */
void flr_kit_plate(flr_kit *kit, flr_pose at, double x, double y, double thickness, double corner,
                   int columns, int rows, double hole);

/* An angle bracket: two plates at a right angle with a gusset, two bolts in each leg. Its heel
 * runs along y, one leg lies in z = 0 towards +x, the other stands in x = 0 towards +z. */
void flr_kit_bracket(flr_kit *kit, flr_pose at, double width, double leg, double thickness,
                     double bolt);

/* A cushioned clamp around a pipe of radius r that runs along x through the origin: band, ears,
 * bolt, and a foot down to z = -stand with a base plate. */
void flr_kit_clamp(flr_kit *kit, flr_pose at, double r, double stand);

/* A connector: threaded shell, coupling ring, back shell along +z; r is the shell's radius. */
void flr_kit_connector(flr_kit *kit, flr_pose at, double r);

/* A pipe union on a pipe of radius r along z: two hexagon nuts and a body. */
void flr_kit_union(flr_kit *kit, flr_pose at, double r);

/* ---- assemblies ---- */

/* A sealed box with lid, cooling fins, connectors with cables at -y, and feet: x by y on the plane
 * z = 0, z high. */
void flr_kit_equipment(flr_kit *kit, flr_pose at, double x, double y, double z);

/* A pressure bottle along x in two straps on saddles that stand on z = 0. */
void flr_kit_bottle(flr_kit *kit, flr_pose at, double r, double length);

/* A pipe with a clamp about every `every` metres of its straight runs and a union in long ones.
 * `mount` shows from the pipe to what it is fixed to, `stand` metres away. */
void flr_kit_clamped_pipe(flr_kit *kit, const flr_vec3 *way, int count, double r, double bend,
                          double every, flr_vec3 mount, double stand);

#endif
