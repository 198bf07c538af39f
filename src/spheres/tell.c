/* what is reported of a pair: centres, normals, velocity, depth */
#include <math.h>

#include "spheres/descend.h"
#include "voxel/normal.h"

/* the part as the pairs of a query see it */
typedef struct tell_seen {
    flr_mat3 turn;           /* part to world */
    flr_vec3 corner;         /* of its grid, world */
    double voxel, half;      /* metres: half the side of its cubes */
    const uint32_t *normals; /* NULL: none, or cubes */
    const flr_spheres_side *side;
} tell_seen;

static tell_seen see(const flr_spheres *s, unsigned which)
{
    const flr_spheres_side *side = s->frame.sides[which];
    const flr_sphere_tree *tree = side->tree;
    unsigned height = s->frame.heights[which];
    return (tell_seen){.turn = flr_quat_to_mat3(side->T_world_part.q),
                       .corner = flr_pose_apply(side->T_world_part, tree->info.origin),
                       .voxel = tree->info.voxel,
                       .half =
                           0.5 * tree->info.voxel * (double)(UINT64_C(1) << tree->shift * height),
                       .normals = height == 0 ? tree->normals : NULL,
                       .side = side};
}

static inline flr_vec3 centre_of(const tell_seen *part, const uint32_t low[3])
{
    flr_vec3 in_grid =
        flr_vec3_make(low[0] * part->voxel + part->half, low[1] * part->voxel + part->half,
                      low[2] * part->voxel + part->half);
    return flr_vec3_add(part->corner, flr_mat3_apply(part->turn, in_grid));
}

static inline flr_vec3 normal_of(const tell_seen *part, uint32_t cube)
{
    if (!part->normals || part->normals[cube] == FLR_NO_NORMAL) return flr_vec3_zero();
    return flr_mat3_apply(part->turn, flr_shell_unpack(part->normals[cube]));
}

/* How far a cube of this part reaches along a direction. */
static inline double reach_of(const tell_seen *part, flr_vec3 n)
{
    const double(*m)[3] = part->turn.m;
    return part->half * (fabs(m[0][0] * n.x + m[1][0] * n.y + m[2][0] * n.z) +
                         fabs(m[0][1] * n.x + m[1][1] * n.y + m[2][1] * n.z) +
                         fabs(m[0][2] * n.x + m[1][2] * n.y + m[2][2] * n.z));
}

/* what is known of one voxel of a pair, and of no more than that */
typedef struct tell_known {
    flr_vec3 centre, normal; /* outward; zero: not known */
    double reach;            /* of both cubes along the normal */
} tell_known;

static inline tell_known know(const tell_seen *part, const tell_seen *other, const uint32_t low[3],
                              uint32_t cube)
{
    tell_known k = {.centre = centre_of(part, low), .normal = normal_of(part, cube)};
    k.reach = reach_of(part, k.normal) + reach_of(other, k.normal);
    return k;
}

/* The way in which a leaves b: of b's outward normal and a's inward one, that along which the two cubes part sooner. On an
 * edge over a face that is the face's. */
static inline void find_way_out(const tell_seen *a, const tell_seen *b, const tell_known *at_a,
                                const tell_known *at_b, flr_voxel_pair *pair)
{
    const flr_vec3 between = flr_vec3_sub(at_a->centre, at_b->centre);
    const double depth_a = at_a->reach + flr_vec3_dot(at_a->normal, between),
                 depth_b = at_b->reach - flr_vec3_dot(at_b->normal, between);
    if (at_b->reach > 0 && (depth_b <= depth_a || !(at_a->reach > 0))) {
        pair->normal = at_b->normal;
        pair->depth = depth_b;
    } else if (at_a->reach > 0) {
        pair->normal = flr_vec3_neg(at_a->normal);
        pair->depth = depth_a;
    } else {
        flr_vec3 n = flr_vec3_normalize(between);
        pair->normal = flr_vec3_dot(n, n) > 0 ? n : flr_vec3_make(0, 0, 1);
        pair->depth = reach_of(a, pair->normal) + reach_of(b, pair->normal) -
                      flr_vec3_dot(pair->normal, between);
    }
    if (!(pair->depth > 0)) pair->depth = 0;
}

void flr_spheres_tell(flr_spheres *s, uint32_t from, uint32_t to)
{
    const tell_seen a = see(s, 0), b = see(s, 1);
    tell_known at_a = {.reach = 0}, at_b = at_a;
    for (uint32_t i = from; i < to; i++) {
        const flr_cube_pair *cubes = &s->pairs[i];
        flr_voxel_pair *pair = &s->list[i];
        /* pairs of the same cube mostly follow each other */
        if (i == from || cubes[-1].cube[0] != cubes->cube[0])
            at_a = know(&a, &b, cubes->low[0], cubes->cube[0]);
        if (i == from || cubes[-1].cube[1] != cubes->cube[1])
            at_b = know(&b, &a, cubes->low[1], cubes->cube[1]);
        for (int k = 0; k < 3; k++) pair->a[k] = cubes->low[0][k], pair->b[k] = cubes->low[1][k];
        pair->centre_a = at_a.centre;
        pair->centre_b = at_b.centre;
        pair->normal_a = at_a.normal;
        pair->normal_b = at_b.normal;
        find_way_out(&a, &b, &at_a, &at_b, pair);
        flr_vec3 place = flr_vec3_lerp(pair->centre_a, pair->centre_b, 0.5);
        pair->velocity =
            flr_vec3_sub(flr_twist_velocity(a.side->twist, flr_vec3_sub(place, a.side->centre)),
                         flr_twist_velocity(b.side->twist, flr_vec3_sub(place, b.side->centre)));
    }
}
