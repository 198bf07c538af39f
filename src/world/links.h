/* links.h: rigid groups and joints of a world.
 *
 * All parts of a body (dynamics/mechanism.h) carry the same inertia, centre of mass and twist, each in its own frame: what
 * concerns one of them concerns the body. A body is planned by its leader, and all bodies of an island together, by the island's
 * first part; the others get copies of the plan. So engines treat linked parts as any others, and these functions come in where
 * a plan is made, changed or carried out. A hand that takes a part of a group holds its leader.
 *
 * Where there are no links, all of these do what is right for single parts, except flr_linked…(), which world_internal.h wraps. Used by the world only; everything but creating
 * and destroying is RT safe. */
#ifndef FLR_WORLD_LINKS_H
#define FLR_WORLD_LINKS_H

#include "feeler/world.h"

typedef struct flr_links flr_links;

/* After the bodies are made: combines their inertia. `*links` is NULL when nothing is linked. */
flr_result flr_links_create(flr_world *world, const flr_world_def *def, flr_error *error);
void flr_links_destroy(flr_links *links); /* NULL allowed */

/* bytes that joints take of the world's state, and whether such bytes could be that */
size_t flr_links_state_size(const flr_links *links);
bool flr_links_state_is_valid(const flr_links *links, const uint8_t *bytes);
/* Goes on where another world was: turns that were counted. */
void flr_links_adopt(flr_world *world, const flr_world *from);

/* The part that stands for the body of a part. */
uint32_t flr_links_leader(const flr_world *world, uint32_t part);
/* May two parts touch? Not those of one body, nor those of a joint. */
bool flr_links_may_touch(const flr_world *world, uint32_t a, uint32_t b);
/* Is it tied by a joint, so that a hand feels it also where nothing is touched? */
bool flr_linked_by_joint(const flr_world *world, uint32_t part);
/* Do joints lead it about an axis or a point of the world, as a hinge leads a door? */
bool flr_linked_about(const flr_world *world, uint32_t part);
bool flr_linked(const flr_world *world, uint32_t part);

/* The parts that move when this one does, rising; at least itself. The first one plans for all of them. */
const uint32_t *flr_linked_members(const flr_world *world, const uint32_t *part, uint32_t *count);
/* The parts of its body, of these. */
bool flr_links_same_body(const flr_world *world, uint32_t a, uint32_t b);
/* Where a part is in the frame of its leader. */
flr_pose flr_links_in_leader(const flr_world *world, uint32_t part);

/* Which parts move in this step is known: tells the pairs, and stops what came to rest. */
void flr_links_activated(flr_world *world);

/* ---- a plan ---- */

/* Begins the steps of all bodies of the island of a part. From then to flr_links_solve(), flr_links_enter() makes the step of
 * its body the world's. */
void flr_links_begin(flr_world *world, uint32_t part, const flr_step_params *how);
void flr_links_enter(flr_world *world, uint32_t part);
void flr_links_leave(flr_world *world); /* the world's step is its own again */
/* Which of the steps of an island the world's is now; 0 where nothing is linked. */
uint32_t flr_links_number(const flr_world *world);
/* Solves them together, and gives every part of the island its plan. The fraction is that of the travel limit. */
void flr_links_solve(flr_world *world, uint32_t part);
/* The fraction of a plan was changed: so it is for all that move with the part. */
void flr_linked_share(flr_world *world, uint32_t part);
/* Moves the island of a part by its plan. `keep`: a motion that is cut short keeps its velocity. */
void flr_links_move(flr_world *world, uint32_t part, bool keep);

#endif
