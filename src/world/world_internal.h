/* world_internal.h: what a world is made of, for those who work on it: world.c makes and keeps it, world_state.c saves it,
 * remote_coupling.c couples parts to instances elsewhere, motion_checks.c plans where its bodies go, world_step.c does the step. Nothing else includes it. */
#ifndef FLR_WORLD_WORLD_INTERNAL_H
#define FLR_WORLD_WORLD_INTERNAL_H

#include "feeler/world.h"
#include "world/impacts.h"
#include "world/links.h"
#include "world/paged_parts.h"
#include "world/point_tool.h"
#include "world/tight.h"

/* places that a body slides along, of those that its way would meet */
enum { FLR_WORLD_STOPS = 32 };

/* checks of motions that threads share at a time */
enum { FLR_WORLD_AHEAD = 2048 };

typedef struct flr_world_hand_state {
    flr_handle handle;
    flr_coupling coupling;
    flr_passivity passivity;
    flr_wrench wrench;
    uint32_t part;
    flr_tool tool;
    flr_point point; /* while the tool is one */
    bool seen;       /* there was an input */
    bool waiting;    /* takes `part` when there is one */
    bool firm;       /* keeps the direction of what it takes */
} flr_world_hand_state;

/* what pulls a part to its instance in another world */
typedef struct flr_coupled {
    flr_remote_coupling_def def;
    flr_remote_coupling shown;
    flr_coupling coupling; /* without delay and whole; the grip is the centre of mass */
    flr_handle handle;     /* where that of the other instance is */
    flr_pose
        T_goal; /* where it is pulled: there, or, while it meets a part that is held here, after it */
    double share;    /* of the stiffness, at this delay */
    double delay;    /* s */
    double told;     /* joules: `put` of the other side, as last heard */
    double apart;    /* s: for how long it has touched something, stretched */
    double slowness; /* s: in which the goal follows */
    double held_off; /* s: for how long something has kept it from its rest */
    flr_vec3 lift;   /* metres: from its rest to where it is pulled first, off what is in the way */
    bool set;
    bool heard; /* told is known */
    bool fresh; /* there was an input since the last step */
} flr_coupled;

/* all that changes: one block, so that it can be saved whole */
typedef struct flr_world_state {
    uint64_t number;
    flr_hash hash;
    double travel; /* metres: the longest way of the step before */
    flr_world_hand_state hands[FLR_WORLD_HANDS];
    uint32_t coupling_end; /* no remote coupling from here on is set */
    flr_coupled couplings[FLR_WORLD_REMOTE_COUPLINGS];
    /* [part_count]; after them, in doubles: for how long each was slow, s; then in bytes: which are not solid */
    flr_body bodies[];
} flr_world_state;

/* What a part meets, as flr_touches wants to know it. */
typedef struct flr_world_met {
    flr_twist twist; /* about the point */
    double share;    /* of what both yield, that of what is met */
} flr_world_met;

/* where a point of a body would meet something on its way, if nothing were done about it */
typedef struct flr_world_stop {
    flr_contact contact; /* as it is at the beginning of the step */
    bool reversed;       /* the body is the one that gives the voxels */
    double limit;        /* metres: how deep it may get: the way that is free, besides its depth */
    flr_world_met other; /* what is met, about `contact.point` */
} flr_world_stop;

/* what a step works out for a part */
typedef struct flr_world_plan {
    flr_step_result result;
    double fraction;
    flr_pose T_end;      /* where it would be at the end of the step … */
    flr_motion to_end;   /* … by this motion */
    double end_fraction; /* of this share; below 0: not known */
    bool moves, limited, stopped;
    bool again; /* to be worked out anew */
    /* what the tensor of its body says of turns, where `turns_known`: angular velocity by angular momentum; zero: none */
    bool turns_known;
    flr_mat3 slackness;
    int newest; /* pass of the checks in which its way was changed last */
    uint32_t stop_count;
    flr_world_stop stops[FLR_WORLD_STOPS];
} flr_world_plan;

/* around a part, world's frame, metres */
typedef struct flr_world_sphere {
    flr_vec3 centre;
    double radius;
} flr_world_sphere;

/* what acts on a part by flr_world_constrain() */
typedef struct flr_constrained {
    flr_world_constraint how;
    flr_coupling spring; /* to `rest` */
    flr_handle rest;
    bool set, has_spring;
} flr_constrained;

struct flr_world {
    flr_world_def def;
    flr_world_params params;
    flr_pairs *pairs;
    flr_step *step;
    flr_points *points;   /* what hands touch whose tool is one */
    flr_impacts *impacts; /* NULL: no part has a sphere tree */
    flr_tight *tight;     /* NULL: no part has a fit */
    flr_pages *pages;     /* NULL: all voxels are in memory */
    flr_links *links;     /* NULL: no rigid groups, no joints */
    flr_part_kind *kinds;
    flr_constrained *constraints;            /* [part_count] */
    flr_world_guide guides[FLR_WORLD_HANDS]; /* of hands that are guided */
    bool guided[FLR_WORLD_HANDS];
    flr_pairs_shape *shapes;        /* [part_count] */
    const flr_sphere_tree **trees;  /* [part_count]; NULL as `impacts` is */
    const flr_probe_model **probes; /* [part_count] */
    double *voxels;                 /* metres: of each part's voxmap; 0: it has none */
    double voxel, coarsest_voxel;   /* the least and the largest of them */
    uint64_t budget;                /* of checks in a step; 0: no limit */
    uint64_t spent;                 /* of it in this step */
    int pass;                       /* of them */
    /* Checks that threads make before it is their turn, where there are several; NULL: there is one. */
    flr_pair_motion *ahead;               /* [FLR_WORLD_AHEAD] */
    flr_motion_check_result *ahead_found; /* [FLR_WORLD_AHEAD] */
    uint32_t ahead_count, ahead_next; /* in the order of the pairs; those before were looked at */
    double merged_voxel;
    flr_pose *poses;       /* [part_count]: of the bodies when the step began */
    flr_twist *twists;     /* [part_count]: likewise */
    flr_world_plan *plans; /* [part_count]: empty of parts that do not move */
    /* Parts that go where forces push them in this step, rising, and those of the step before. What a step costs depends on
     * these, not on how many parts there are. */
    uint32_t *active, active_count;
    uint32_t *before, before_count;
    uint32_t *free_parts, free_count; /* those that move by themselves, rising */
    uint64_t generation;              /* counts up whenever a body may have changed */
    uint64_t *changed;                /* [part_count]: the generation of its last change */
    flr_world_sphere *spheres;        /* [part_count]: around the parts where they are now */
    /* To be hashed: the hash before, 13 numbers for every part that is not static, then those of hands and remote couplings.
     * The numbers of a body are written when it changes. */
    double *numbers;
    uint32_t *rows; /* [part_count]: how many parts that are not static come before this one */
    uint32_t row_count;
    flr_wrench felt[FLR_WORLD_HANDS]; /* of the last step, before the passivity controller */
    flr_world_state *state;
    size_t state_size;
};

/* Is it in some hand, or about to be? */
bool flr_world_is_held(const flr_world *world, uint32_t part);

/* Does it go where forces push it in this step? */
bool flr_world_is_moving(const flr_world *world, uint32_t part);

/* What shows of a body was changed: makes right its numbers for the hash, its sphere and its generation. */
void flr_world_note_motion(flr_world *world, uint32_t part);
/* A body was changed between two steps: all that is kept of it beside the state is made right. */
static inline void flr_world_note(flr_world *w, uint32_t part)
{
    w->generation++;
    w->poses[part] = w->state->bodies[part].T_world_part;
    w->twists[part] = w->state->bodies[part].twist;
    flr_world_note_motion(w, part);
}
/* Three numbers for the hash; returns where the next goes. */
static inline double *flr_world_number_vec3(double *to, flr_vec3 v)
{
    to[0] = v.x, to[1] = v.y, to[2] = v.z;
    return to + 3;
}

/* The hand closes around the part that it waits for; if it cannot, it holds nothing. */
void flr_world_take(flr_world *world, flr_world_hand_state *hand);

/* Informs the pairs that a part was placed, starts or stops moving, or gains or loses its physics. */
void flr_world_tell_pairs(flr_world *world, uint32_t part);
void flr_world_tell_shape(flr_world *world, uint32_t part);

/* What the exact engine keeps in the state, behind all else; only where there is one. */
size_t flr_world_tight_offset(const flr_world *world);
static inline flr_tight_state *flr_world_tight(const flr_world *w, void *state)
{
    return w->tight ? (flr_tight_state *)(void *)((uint8_t *)state + flr_world_tight_offset(w))
                    : NULL;
}

/* [part_count], in the state. */
static inline double *flr_world_slow(flr_world_state *state, uint32_t part_count)
{
    return (double *)(void *)(state->bodies + part_count);
}
static inline uint8_t *flr_world_ghosts(flr_world_state *state, uint32_t part_count)
{
    return (uint8_t *)(flr_world_slow(state, part_count) + part_count);
}

/* ---- links (links.c), where there are any ---- */

static inline bool flr_links_is_linked(const flr_world *w, uint32_t part)
{
    return w->links && flr_linked(w, part);
}
static inline bool flr_links_is_about(const flr_world *w, uint32_t part)
{
    return w->links && flr_linked_about(w, part);
}

static inline bool flr_links_is_jointed(const flr_world *w, uint32_t part)
{
    return w->links && flr_linked_by_joint(w, part);
}
static inline const uint32_t *flr_links_members(const flr_world *w, const uint32_t *part,
                                                uint32_t *count)
{
    *count = 1;
    return w->links ? flr_linked_members(w, part, count) : part;
}
static inline bool flr_links_plans(const flr_world *w, uint32_t part)
{
    uint32_t count;
    return flr_links_members(w, &part, &count)[0] == part;
}

static inline void flr_links_share(flr_world *w, uint32_t part)
{
    if (w->links) flr_linked_share(w, part);
}

/* Does this world use exact contact? */
static inline bool flr_tight_is_on(const flr_world *w)
{
    return w->tight && w->params.engine == FLR_ENGINE_EXACT;
}

/* ---- remote couplings (remote_coupling.c): RT safe ---- */

/* Does some remote coupling move the part? Does one keep it where it lies? */
bool flr_couplings_pull_any(const flr_world *world, uint32_t part);
static inline bool flr_couplings_pull(const flr_world *w, uint32_t part)
{
    return w->state->coupling_end > 0 && flr_couplings_pull_any(w, part);
}
bool flr_couplings_keep(const flr_world *world, uint32_t part);

/* A step begins: what was received of the other instances is used. */
void flr_couplings_begin(flr_world *world);

/* Gives a body what its remote couplings pull it with. */
void flr_couplings_act(flr_world *world, uint32_t part);

/* The bodies have moved: what remote couplings gave and got, what lies where it shall. */
void flr_couplings_end(flr_world *world);

/* Numbers for the hash: of those that are set. Returns the end of what it wrote, 12 a remote coupling at most. */
double *flr_couplings_number(const flr_world *world, double *to);

/* The part was put somewhere else by hand. */
void flr_couplings_unsettle(flr_world *world, uint32_t part);

/* Could this be a remote coupling of this world? */
bool flr_coupled_is_valid(const flr_world *world, const flr_coupled *coupling);

/* ---- constraints (constraint.c): RT safe ---- */

/* Gives a body that is planned what constrains it. */
void flr_constraints_act(flr_world *world, uint32_t part);
/* Without what is locked. */
flr_twist flr_constraints_free(const flr_world *world, uint32_t part, flr_twist twist);

/* ---- guides (guide.c): RT safe ---- */

/* Gives a body that is planned what hands and their guides pull it with. */
void flr_hands_pull(flr_world *world, uint32_t part);
/* Is what a hand holds drawn towards a motion? */
bool flr_guides_draw(const flr_world *world, uint32_t hand);

/* ---- ways (motion_checks.c): RT safe ---- */

/* Works out where a body would go, from what touches it and what pulls it, and from the stops that were noted. `range`:
 * metres within which pairs were asked. */
void flr_motion_checks_plan(flr_world *world, uint32_t part, double range, flr_world_frame *frame);

/* Gives a body what points push it with. */
void flr_motion_checks_touch_points(flr_world *world, uint32_t part);

/* Checks all ways. A body that would run into something is let slide along it, at several places at most; what still is not
 * free is shortened. Where two bodies move, shortening one changes what was checked for another: again, until nothing
 * changes; if that takes too long, nothing moves. */
void flr_motion_checks_check(flr_world *world, double range, flr_world_frame *frame);

/* What a part meets at a point: something at rest, where the other one stays; else a body that gives way, with the velocity
 * that both have after an impact without rebound along `push`, a wrench about that point. Each of two bodies that are stepped
 * one beside the other then ends with it, and their momentum stays. */
flr_world_met flr_world_meet(const flr_world *world, uint32_t part, uint32_t other, flr_vec3 point,
                             flr_wrench push);

/* A coupling that holds a part, as one that holds the leader of its body. */
flr_coupling flr_world_coupling_of_leader(const flr_world *world, uint32_t part,
                                          const flr_coupling *coupling);

/* How far any point of the part goes at most, metres. */
static inline double flr_motion_checks_travel(const flr_world *w, uint32_t part)
{
    const flr_world_plan *p = &w->plans[part];
    return p->moves
               ? p->fraction * flr_motion_travel(p->result.motion, w->state->bodies[part].reach)
               : 0;
}

#endif
