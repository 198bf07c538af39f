/* one level further down: the inner loop of the descent */
#include <math.h>

#include "spheres/descend.h"

/* Spheres are compared with this much to spare, so that no rounding parts what belongs together; voxels, at the end, with
 * a little less than nothing. */
static const double slack = 1e-7;
static const double sqrt3 = 1.7320508075688772;

static inline uint32_t child_low(uint32_t low, unsigned digit, unsigned shift, unsigned scale)
{
    return low + ((uint32_t)(digit & ((1u << shift) - 1)) << scale);
}

/* The sphere of a cube, in its own grid's voxels. */
static inline flr_ball ball_of(const flr_spheres *s, const flr_sphere_tree *tree, unsigned height,
                               uint32_t cube, const uint32_t low[3], const unsigned shift)
{
    uint32_t at[3] = {low[0], low[1], low[2]};
    flr_ball ball = {0, 0, 0, sqrt3};
    /* a cube with one child is that child */
    for (; height > 0 && s->frame.one_child; height--) {
        const flr_sphere_level *level = &tree->levels[height];
        unsigned digit;
        if (shift == 1) {
            unsigned mask = flr_tree_mask8(level, cube);
            if (mask & (mask - 1)) break;
            digit = (unsigned)__builtin_ctz(mask);
        } else if (shift == 2) {
            uint64_t mask = level->masks[cube];
            if (mask & (mask - 1)) break;
            digit = (unsigned)__builtin_ctzll(mask);
        } else {
            if (flr_tree_children(tree, height, cube) > 1) break;
            const uint64_t *mask = &level->masks[(size_t)cube * 8];
            unsigned z = 0;
            while (!mask[z]) z++;
            digit = z << 6 | (unsigned)__builtin_ctzll(mask[z]);
        }
        const unsigned scale = shift * (height - 1);
        at[0] = child_low(at[0], digit, shift, scale);
        at[1] = child_low(at[1], digit >> shift, shift, scale);
        at[2] = child_low(at[2], digit >> 2 * shift, shift, scale);
        cube = level->first[cube];
    }
    if (height > 0 && s->frame.side) {
        const flr_sphere_level *level = &tree->levels[height];
        if (shift == 1)
            ball = s->enclose.balls[flr_tree_mask8(level, cube)];
        else if (shift == 2)
            ball = flr_enclose_64(&s->enclose, level->masks[cube]);
        else
            ball = flr_enclose_512(&s->enclose, &level->masks[(size_t)cube * 8]);
    }
    const double half = 0.5 * (double)(UINT64_C(1) << shift * height);
    return (flr_ball){at[0] + half + half * ball.x, at[1] + half + half * ball.y,
                      at[2] + half + half * ball.z, half * ball.r};
}

/* The same in b's grid. */
static inline flr_ball placed(const flr_spheres_frame *f, unsigned side, flr_ball ball)
{
    if (side == 1) return ball;
    return (flr_ball){
        f->turn[0][0] * ball.x + f->turn[0][1] * ball.y + f->turn[0][2] * ball.z + f->shift[0],
        f->turn[1][0] * ball.x + f->turn[1][1] * ball.y + f->turn[1][2] * ball.z + f->shift[1],
        f->turn[2][0] * ball.x + f->turn[2][1] * ball.y + f->turn[2][2] * ball.z + f->shift[2],
        ball.r * f->ratio};
}

static flr_ball ball_of_any(const flr_spheres *s, unsigned side, const flr_cube_pair *pair)
{
    const flr_sphere_tree *tree = s->frame.trees[side];
    return placed(
        &s->frame, side,
        ball_of(s, tree, s->frame.heights[side], pair->cube[side], pair->low[side], tree->shift));
}

/* Do two voxels intersect, whose centres are this way apart? */
static inline bool voxels_meet(const flr_spheres_frame *f, double x, double y, double z)
{
    if (fabs(x) > f->reach[0] || fabs(y) > f->reach[1] || fabs(z) > f->reach[2]) return false;
    bool apart = false;
    for (int i = 0; i < 12; i++)
        apart |= fabs(x * f->axes[i][0] + y * f->axes[i][1] + z * f->axes[i][2]) > f->reach[i + 3];
    return !apart;
}

/* Replaces one cube of a pair by those of its children that meet the other's sphere. */
static inline bool expand_pair(const flr_spheres *s, const flr_cube_pair *pair,
                               const unsigned shift, flr_spheres_worker *worker)
{
    const flr_spheres_frame *f = &s->frame;
    const unsigned side = s->expanded, height = f->heights[side] - 1;
    const flr_sphere_tree *tree = f->trees[side];
    const flr_sphere_level *level = &tree->levels[height + 1];
    const uint32_t cube = pair->cube[side];
    const flr_ball other = ball_of_any(s, !side, pair);
    const bool last = height == 0 && f->heights[!side] == 0;
    uint64_t one = shift == 1 ? flr_tree_mask8(level, cube) : shift == 2 ? level->masks[cube] : 0;
    const uint64_t *words = shift == 3 ? &level->masks[(size_t)cube * 8] : &one;
    const unsigned scale = shift * height;
    uint32_t child = level->first[cube];
    /* tested already, as its only child */
    const bool skip = f->one_child && !last && flr_tree_children(tree, height + 1, cube) == 1;
    for (unsigned word = 0; word < (shift == 3 ? 8 : 1); word++)
        for (uint64_t rest = words[word]; rest; rest &= rest - 1, child++) {
            const unsigned digit = word << 6 | (unsigned)__builtin_ctzll(rest);
            const uint32_t low[3] = {
                child_low(pair->low[side][0], digit, shift, scale),
                child_low(pair->low[side][1], digit >> shift, shift, scale),
                child_low(pair->low[side][2], digit >> 2 * shift, shift, scale)};
            if (!skip) {
                const flr_ball ball = placed(f, side, ball_of(s, tree, height, child, low, shift));
                const double x = ball.x - other.x, y = ball.y - other.y, z = ball.z - other.z,
                             reach = ball.r + other.r + slack;
                worker->tests++;
                if (x * x + y * y + z * z > reach * reach) continue;
                if (last && !voxels_meet(f, x, y, z)) continue;
            }
            if (worker->used == s->def.pairs) return false;
            flr_cube_pair *out = &worker->out[worker->used++];
            out->cube[side] = child;
            out->cube[!side] = pair->cube[!side];
            for (int i = 0; i < 3; i++) {
                out->low[side][i] = low[i];
                out->low[!side][i] = pair->low[!side][i];
            }
        }
    return true;
}

bool flr_spheres_expand(const flr_spheres *s, uint32_t from, uint32_t to,
                        flr_spheres_worker *worker)
{
    /* one loop for each width, with the width as a constant */
    const unsigned shift = s->frame.trees[s->expanded]->shift;
    bool room = true;
    for (uint32_t i = from; i < to && room && shift == 1; i++)
        room = expand_pair(s, &s->pairs[i], 1, worker);
    for (uint32_t i = from; i < to && room && shift == 2; i++)
        room = expand_pair(s, &s->pairs[i], 2, worker);
    for (uint32_t i = from; i < to && room && shift == 3; i++)
        room = expand_pair(s, &s->pairs[i], 3, worker);
    return room;
}
