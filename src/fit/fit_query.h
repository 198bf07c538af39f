/* fit_query.h: a query of two parts on its way. */
#ifndef FLR_FIT_QUERY_H
#define FLR_FIT_QUERY_H

#include "fit/fit_internal.h"
#include "fit/fit_kernel.h"
#include "mesh/nearest.h"

/* the nearest triangle of the other part that a sample has found so far */
typedef struct flr_fit_near {
    double distance2;  /* squared metres; the limit while there is none */
    flr_vec3 at;       /* its nearest point, frame of the other part */
    uint32_t triangle; /* FLR_NONE: none yet */
} flr_fit_near;

/* What keeps a patch of a and one of b apart: a surface that is fixed to one of them. */
typedef enum flr_fit_keeper {
    FLR_FIT_NO_KEEPER,
    FLR_FIT_PLANE_A, /* v: unit normal towards the other patch, in the axes of its part; offset */
    FLR_FIT_PLANE_B,
    /* the patch's curve. v: factor from heights to distances; what to subtract, and what for each radian that b is turned
     * from the reference pose; the largest bound it gives */
    FLR_FIT_CURVE_A,
    FLR_FIT_CURVE_B,
    FLR_FIT_FACES_A, /* the planes of all faces */
    FLR_FIT_FACES_B
} flr_fit_keeper;

/* a patch of a that is near one of b */
typedef struct flr_fit_entry {
    uint32_t patch;
    int16_t keeper;
    int16_t side; /* 1: the other patch lies in front of the surface, -1: behind it */
    float bound;  /* metres: they are not nearer at the reference pose */
    float v[4];
} flr_fit_entry;

/* two patches that nothing kept apart */
typedef struct flr_fit_suspect {
    uint32_t a, b;
    float bound; /* metres */
} flr_fit_suspect;

/* metres: bounds of a distance */
typedef struct flr_fit_bounds {
    double least, most;
} flr_fit_bounds;

/* a ball around patches of b, and how far its centre was from the nearest box around a patch of a where that was measured last */
typedef struct flr_fit_ball {
    flr_vec3 centre;         /* frame of b */
    double radius;           /* metres */
    flr_vec3 seen;           /* the centre then, frame of a */
    flr_fit_bounds distance; /* NAN: not measured yet */
} flr_fit_ball;

/* lists of what is near */
typedef struct flr_fit_lists {
    flr_fit_entry *entries; /* [FLR_FIT_GROUPS x capacity], by patch of b */
    float *bounds;          /* theirs, side by side */
    float *bent,
        *more; /* [patches of b]: the largest there are of what flr_fit_between() adds for travel and turn */
    uint32_t capacity;         /* of a group */
    uint32_t *first, *count;   /* [patches of b] */
    float *x, *y, *z, *radius; /* [patches of b], a multiple of 8: their balls; metres */
    float *cover;              /* [patches of b]: nothing else is nearer at the reference pose */
    float *
        moved; /* [patches of b], where lists have entries: how far from its reference pose any point is now, or gets in the stretch */
    flr_fit_suspect *suspects; /* [FLR_FIT_GROUPS x capacity] */
    /* What is known of all entries at two poses, so that it is computed once: at the end of a motion it is needed by its
     * check, by the query there, and by the check of the next motion. NAN: not computed yet */
    float *known[2];      /* [FLR_FIT_GROUPS x capacity] */
    flr_pose known_at[2]; /* T_a_b; all zero: none */
    /* [FLR_FIT_GROUPS x capacity]: a bound that was computed at some pose, plus what the odometer of its patch said there;
     * less what that says now, it still is one. -INFINITY: none was computed. Metres */
    float *sure;
    /* [patches of b], where lists have entries: a tenth more than any of its points went, metres, from each pose to the next since the list was made:
     * at the latest pose, and at the one before it */
    float *odometer[2];
    int on_way;                    /* which of them is the latest */
    flr_pose odometer_at;          /* T_a_b; all zero: nowhere yet */
    uint32_t used[FLR_FIT_GROUPS]; /* entries of each group */
    int latest;                    /* of the two poses, which was asked for last */
    double margin;                 /* metres: how much more than what is asked a list covers */
    flr_fit_ball *balls;           /* [patches of b]: around them */
    flr_fit_ball *eights;          /* around the eight patches of each lowest entry of b's tree */
    bool *any;                     /* the same: their lists have entries */
} flr_fit_lists;

/* the pieces of a part that hang together */
typedef struct flr_fit_shells {
    uint32_t *of; /* [vertices]: which piece, by its least vertex */
    int8_t *side; /* [vertices], for those: 1 inside the other part, -1 outside, 0 not known */
    uint32_t *told, told_count;   /* [shells]: of which that is known */
    struct flr_fit_piece *pieces; /* [shells] */
    flr_box3 *boxes;              /* around groups of them; frame of the part */
} flr_fit_shells;

struct flr_fit_pair {
    const flr_fit *parts[2];
    const flr_fit_kernel *kernel;
    flr_fit_near *near[2]; /* [samples] of a and b; valid for patches that have found something */
    float
        *far[2]; /* [samples], of those that are touched: metres, what is farther does not matter */
    flr_fit_shells shells[2]; /* of a and b */
    flr_fit_lanes *lanes[2];  /* samples of a and b, 16 of the same patch side by side */
    uint32_t *first_lanes[2]; /* [patches] of a and b */
    uint64_t *touched[2];     /* bits of patches whose samples are near something */
    uint64_t *found[2];       /* the same: some of them have found a triangle */
    flr_fit_track track;
    flr_fit_lists lists;
    int8_t *side[2]; /* [vertices] of a and b: 1 inside the other part, -1 outside, 0 not known */
    size_t bytes;
};

/* pairs of triangles that are to be measured */
typedef struct flr_fit_queue {
    _Alignas(64) float a[9][FLR_FIT_LANES],
        b[9][FLR_FIT_LANES];     /* three corners each, in the axes of a */
    double slack[FLR_FIT_LANES]; /* metres: of these coordinates */
    uint32_t triangle[2][FLR_FIT_LANES];
    uint32_t count;
} flr_fit_queue;

/* At most the squared distances of 16 pairs of triangles, but for the rounding of their coordinates. */
void flr_fit_triangles16(const float a[9][FLR_FIT_LANES], const float b[9][FLR_FIT_LANES],
                         float least2[FLR_FIT_LANES]);

/* ---- eight at a time (fit_eight.c) ---- */

enum { FLR_FIT_EIGHT = 8 };

typedef struct flr_fit_eight {
    double x[FLR_FIT_EIGHT], y[FLR_FIT_EIGHT], z[FLR_FIT_EIGHT];
} flr_fit_eight;

static inline flr_vec3 flr_fit_eight_get(const flr_fit_eight *from, int i)
{
    return flr_vec3_make(from->x[i], from->y[i], from->z[i]);
}

static inline void flr_fit_eight_set(flr_fit_eight *to, int i, flr_vec3 v)
{
    to->x[i] = v.x, to->y[i] = v.y, to->z[i] = v.z;
}

/* Eight points at once: flr_pose_apply(), flr_pose_apply_inverse() and flr_quat_rotate(). */
void flr_fit_apply8(flr_pose T, const flr_fit_eight *from, flr_fit_eight *to);
void flr_fit_apply_inverse8(flr_pose T, const flr_fit_eight *from, flr_fit_eight *to);
void flr_fit_rotate8(flr_quat turn, const flr_fit_eight *from, flr_fit_eight *to);

/* Feet of points on triangles and their squared distances; INFINITY: another point of the triangle is nearest, or only
 * flr_fit_on_triangle() tells. `far`: metres, no less than the distance. */
void flr_fit_feet8(const flr_fit_eight t[3], const flr_fit_eight *p, flr_fit_eight *foot,
                   double d2[FLR_FIT_EIGHT], float far[FLR_FIT_EIGHT]);

/* The unit vectors from `at` to points, 0 where they are the same, and how far these are from the origin. */
void flr_fit_directions8(const flr_fit_eight *p, const flr_fit_eight *at, flr_fit_eight *unit,
                         double length[FLR_FIT_EIGHT]);

typedef struct flr_fit_query flr_fit_query;
struct flr_fit_query {
    flr_fit_pair *pair;
    const flr_fit *parts[2];
    const flr_fit_kernel *kernel;
    flr_fit_params params;
    flr_pose T_a_b;
    double extent[2];     /* metres: of the parts, from their origins */
    flr_pose out[2];      /* from the frame of part 0 or 1 to that of the other */
    flr_fit_move turn[2]; /* the same rotation in single precision, without shift */
    double reach;         /* metres: samples nearer than this are looked at */
    double least;         /* metres: triangles farther apart than this do not matter any more */
    double limit;         /* metres: the larger of both */
    flr_nearest best;     /* in the frame of a */
    uint32_t triangles[2];
    bool found;
    bool moved; /* it is at the end of a motion that has just been checked */
    flr_fit_queue queue;
    uint64_t work, max_work;
    double turned[FLR_FIT_GROUPS]; /* radians: of b, from the reference poses of the lists */
    float *known;          /* of the pair's lists: what is known of their entries at this pose */
    const float *odometer; /* the same: of their patches */
    double skipped2; /* squared metres: what was left out for lack of work is farther than this */
    void *context;   /* of the function called by the walk */
};

/* a patch of b on its way through the patches of a */
typedef struct flr_fit_visitor {
    uint32_t patch;
    flr_vec3 centre;     /* in the frame of a */
    flr_fit_lanes lanes; /* in the axes of a, relative to its centre */
} flr_fit_visitor;

/* A patch of b as a sees it. */
void flr_fit_visit(const flr_fit_query *q, uint32_t patch, flr_fit_visitor *v);

/* Calls `meet` for all patches of a that may be nearer than q->limit to a patch of b, one patch of b after the other. */
typedef void (*flr_fit_meet)(flr_fit_query *q, uint32_t patch, const flr_fit_visitor *v);
void flr_fit_walk(flr_fit_query *q, flr_fit_meet meet);

/* The same for eight patches of b, an entry of the lowest level of its tree, those whose balls may be near a box of a. False: no
 * box is within `far`. */
bool flr_fit_walk_eight(flr_fit_query *q, flr_fit_meet meet, uint32_t entry, double far);

/* ---- lists (fit_near.c, fit_track.c) ---- */

/* radians: lists are good while b is turned by less than this */
#define FLR_FIT_TURN    0.05
#define FLR_FIT_STRETCH 0.02 /* radians: motions are looked at in stretches that turn less */
/* radians: from the reference pose of a list, at most, at any pose it is used for */
#define FLR_FIT_MAX_TURN (FLR_FIT_TURN + 2 * FLR_FIT_STRETCH)

/* a patch of b with what is needed to tell it from patches of a */
typedef struct flr_fit_guest {
    flr_fit_visitor v;
    float axes[3][3];                    /* its own, in the axes of a */
    flr_fit_plane planes[FLR_FIT_LANES]; /* the same; if turned */
    bool received, turned;
    double turn; /* radians: from the reference pose of its list */
} flr_fit_guest;

/* Makes the list of a group at a pose; false: there are more than it can hold. */
bool flr_fit_make_list(flr_fit_pair *pair, uint32_t group, flr_pose T_a_b, double cover,
                       uint64_t *work);

/* Sets q->known: what is known of the entries at the pose of the query. */
void flr_fit_recall(flr_fit_query *q);
void flr_fit_forget_bounds(flr_fit_lists *lists, int slot, uint32_t group);

/* Moves the odometers on to the pose of the query, which then knows what they say there. */
void flr_fit_move_on(flr_fit_query *q);

/* Are the two patches of an entry, given by its number, known not to be nearer than `need` at the pose of the query? */
static inline bool flr_fit_is_sure(const flr_fit_query *q, uint32_t patch, uint32_t entry,
                                   double need)
{
    return (double)q->pair->lists.sure[entry] - (double)q->odometer[patch] >= need;
}

/* How many of the entries from one to another are looked at together. */
static inline uint32_t lanes_to(uint32_t from, uint32_t end)
{
    return end - from < FLR_FIT_LANES ? end - from : FLR_FIT_LANES;
}

/* metres: at the pose of the query, the two patches of an entry are not nearer than this; may be negative. `guest` is the patch
 * of b, and received the first time it is needed. */
double flr_fit_bound(const flr_fit_query *q, flr_fit_guest *guest, uint32_t patch, uint32_t entry);

/* metres: how much less the bound of an entry of a patch of b may be on the way from one pose to another than at both. Points
 * move by `travel` and come nearer to a bent surface in between; b turns by `turn` radians. */
double flr_fit_between(const flr_fit_query *q, const flr_fit_entry *entry, uint32_t patch,
                       double travel, double turn);

/* Do the curve and the sides of one patch of an entry keep the two patches apart, at the poses of both queries and on the way
 * between? Triangles of the other patch that are `limit` beyond the same side at both poses do not come nearer. They are left
 * out of the bound, because the curve is less and less accurate there. The bounds of the others are at least `need`. */
bool flr_fit_overhang_is_free(const flr_fit_query *const q[2], flr_fit_guest guests[2],
                              uint32_t patch, uint32_t entry, float limit, double need);

/* Balls around all patches of b (fit_balls.c). */
void flr_fit_make_balls(const flr_fit *b, flr_fit_lists *lists);

/* Is a box around a patch of a within `far` of a ball? */
bool flr_fit_ball_is_near(const flr_fit_query *q, flr_fit_ball *ball, double far);

/* Memory for lists; false: there is none. */
bool flr_fit_create_lists(flr_fit_pair *pair);
void flr_fit_destroy_lists(flr_fit_pair *pair);

/* How far b is turned from the reference poses of the lists, which are there. */
void flr_fit_set_turned(flr_fit_query *q);

/* Brings the lists up to the pose of the query, for all that is nearer than `limit`; with `to`, for all that is nearer at
 * any pose between that of the query and this one, where points leave their chords by less than is in the limit.
 * False: they cannot hold it. */
bool flr_fit_follow(flr_fit_query *q, double limit, const flr_pose *to);

/* Calls `meet` for all patches that may be nearer than q->limit, from the lists, with what is known of their distance;
 * those first that may be nearest. */
typedef void (*flr_fit_meet_beyond)(flr_fit_query *q, uint32_t patch, const flr_fit_visitor *v,
                                    double bound);
void flr_fit_meet_near(flr_fit_query *q, flr_fit_meet_beyond meet);

/* Sets poses, rotations and an empty result; nothing is found yet. */
flr_fit_query flr_fit_begin_query(flr_fit_pair *pair, flr_pose T_a_b, const flr_fit_params *params);

/* flr_fit_pair_query(), maybe at the end of a motion that has just been checked. */
void flr_fit_ask(flr_fit_pair *pair, flr_pose T_a_b, const flr_fit_params *params, bool moved,
                 flr_fit_contact *contacts, uint32_t capacity, flr_fit_result *result);

/* A rotation in single precision, without shift. */
flr_fit_move flr_fit_turn(flr_quat q);

/* Looks at the samples of a patch of part `side` beside a patch of the other part. `shift` leads from the centre of the
 * latter to that of the former, in the axes of the other part. */
void flr_fit_try_samples(flr_fit_query *q, int side, uint32_t patch, uint32_t other,
                         const float shift[3], double slack);

/* ---- pieces that hang together (fit_shells.c) ---- */

/* Memory for them, and finds them; false: there is none. */
bool flr_fit_create_shells(flr_fit_pair *pair);
void flr_fit_destroy_shells(flr_fit_pair *pair);

/* On which side of the other part the piece with a vertex is in this query: 1 inside, -1 outside, 0 not known. */
void flr_fit_forget_shells(flr_fit_pair *pair);
void flr_fit_tell_shell(flr_fit_pair *pair, int side, uint32_t vertex, bool inside);
int8_t flr_fit_side_of_shell(const flr_fit_pair *pair, int side, uint32_t vertex);

/* Is any piece inside the other part as a whole? Only asked when the surfaces do not meet. */
bool flr_fit_contains_shell(const flr_fit_query *q, int side);

/* Memory for samples side by side; false: there is none. */
bool flr_fit_create_lanes(flr_fit_pair *pair);

/* Notes all samples that were found to be near, in order; the deep ones, too, when the parts interfere. */
void flr_fit_note_samples(flr_fit_query *q, flr_fit_contact *contacts, uint32_t capacity,
                          flr_fit_result *result);

/* Of the sizes involved: what single precision may lose on its way to a height over a plane. Some 20 roundings. */
#define FLR_FIT_SINGLE (32 * 5.9604645e-8)

#endif
