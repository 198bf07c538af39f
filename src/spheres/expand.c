/* one level further down: the inner loop of the descent */
#include <math.h>

#include "spheres/descend.h"
#include "voxel/clones.h"

/* into each of the clones below */
#define ALWAYS static inline __attribute__((always_inline))

/* Spheres are compared with this much to spare, so that no rounding parts what belongs together; voxels, at the end, with
 * a little less than nothing. */
static const double slack = 1e-7;
static const double sqrt3 = 1.7320508075688772;

ALWAYS uint32_t child_low(uint32_t low, unsigned digit, unsigned shift, unsigned scale)
{
    return low + ((uint32_t)(digit & ((1u << shift) - 1)) << scale);
}

/* The sphere of a cube, in its own grid's voxels. */
ALWAYS flr_ball ball_of(const flr_spheres *s, const flr_sphere_tree *tree, unsigned height,
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
ALWAYS flr_ball placed(const flr_spheres_frame *f, unsigned side, flr_ball ball)
{
    if (side == 1) return ball;
    return (flr_ball){
        f->turn[0][0] * ball.x + f->turn[0][1] * ball.y + f->turn[0][2] * ball.z + f->shift[0],
        f->turn[1][0] * ball.x + f->turn[1][1] * ball.y + f->turn[1][2] * ball.z + f->shift[1],
        f->turn[2][0] * ball.x + f->turn[2][1] * ball.y + f->turn[2][2] * ball.z + f->shift[2],
        ball.r * f->ratio};
}

ALWAYS flr_ball ball_of_any(const flr_spheres *s, unsigned side, const flr_cube_pair *pair)
{
    const flr_sphere_tree *tree = s->frame.trees[side];
    return placed(
        &s->frame, side,
        ball_of(s, tree, s->frame.heights[side], pair->cube[side], pair->low[side], tree->shift));
}

/* Do two voxels intersect, whose centres are this way apart? */
ALWAYS bool voxels_meet(const flr_spheres_frame *f, double x, double y, double z)
{
    if (fabs(x) > f->reach[0] || fabs(y) > f->reach[1] || fabs(z) > f->reach[2]) return false;
    double far[12];
    for (int i = 0; i < 12; i++)
        far[i] = fabs(x * f->axes[0][i] + y * f->axes[1][i] + z * f->axes[2][i]) - f->reach[i + 3];
    bool apart = false;
    for (int i = 0; i < 12; i++) apart |= far[i] > 0;
    return !apart;
}

/* Puts a pair behind those found; false when there is no room. */
ALWAYS bool keep(const flr_spheres *s, const flr_cube_pair *pair, uint32_t child,
                 const uint32_t low[3], flr_spheres_worker *worker)
{
    const unsigned side = s->expanded;
    if (worker->used == s->def.pairs) return false;
    flr_cube_pair *out = &worker->out[worker->used++];
    out->cube[side] = child;
    out->cube[!side] = pair->cube[!side];
    for (int i = 0; i < 3; i++) {
        out->low[side][i] = low[i];
        out->low[!side][i] = pair->low[!side][i];
    }
    return true;
}

ALWAYS bool are_apart(const flr_ball *a, const flr_ball *b)
{
    const double x = a->x - b->x, y = a->y - b->y, z = a->z - b->z, reach = a->r + b->r + slack;
    return x * x + y * y + z * z > reach * reach;
}

/* Replaces one cube of a pair by those of its children that meet the other's sphere. */
ALWAYS bool expand_pair(const flr_spheres *s, const flr_cube_pair *pair, const unsigned shift,
                        flr_spheres_worker *worker)
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
    const double half = 0.5 * (double)(UINT64_C(1) << scale), whole = half * sqrt3;
    const bool finer = height > 0 && (f->one_child || f->side);
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
                /* the whole cube first: what it holds is looked at only where that is near */
                flr_ball ball =
                    placed(f, side, (flr_ball){low[0] + half, low[1] + half, low[2] + half, whole});
                worker->tests++;
                if (are_apart(&ball, &other)) continue;
                if (finer) {
                    ball = placed(f, side, ball_of(s, tree, height, child, low, shift));
                    if (are_apart(&ball, &other)) continue;
                }
                if (last && !voxels_meet(f, ball.x - other.x, ball.y - other.y, ball.z - other.z))
                    continue;
            }
            if (!keep(s, pair, child, low, worker)) return false;
        }
    return true;
}

/* The same for an octree, all eight children at once: their middles are the same everywhere but for size and place. */
ALWAYS bool expand_eight(const flr_spheres *s, const flr_cube_pair *pair,
                         flr_spheres_worker *worker)
{
    const flr_spheres_frame *f = &s->frame;
    const unsigned side = s->expanded, height = f->heights[side] - 1;
    const flr_sphere_tree *tree = f->trees[side];
    const flr_sphere_level *level = &tree->levels[height + 1], *below = &tree->levels[height];
    const unsigned mask = flr_tree_mask8(level, pair->cube[side]);
    const uint32_t first = level->first[pair->cube[side]];
    const flr_ball other = ball_of_any(s, !side, pair);
    const bool last = height == 0 && f->heights[!side] == 0;
    const double size = (double)(1u << height), half = 0.5 * size;
    const flr_ball corner =
        placed(f, side, (flr_ball){pair->low[side][0], pair->low[side][1], pair->low[side][2], 0});
    double x[8], y[8], z[8], reach[8], far[8];
    for (int i = 0; i < 8; i++) {
        x[i] = corner.x - other.x + size * f->children[side][0][i];
        y[i] = corner.y - other.y + size * f->children[side][1][i];
        z[i] = corner.z - other.z + size * f->children[side][2][i];
        reach[i] = other.r + slack;
    }
    unsigned surely = 0;
    if (f->one_child && !last && !(mask & (mask - 1))) {
        surely = mask; /* tested already, as its only child */
    } else if (height == 0) {
        const double radius = half * f->balls[side][255].r;
        for (int i = 0; i < 8; i++) reach[i] += radius;
    } else {
        uint32_t child = first;
        for (unsigned rest = mask; rest; rest &= rest - 1, child++) {
            const unsigned i = (unsigned)__builtin_ctz(rest),
                           children = flr_tree_mask8(below, child);
            flr_ball ball = f->balls[side][children];
            if (f->one_child && !(children & (children - 1))) {
                uint32_t low[3];
                for (unsigned k = 0; k < 3; k++)
                    low[k] = pair->low[side][k] + ((i >> k & 1) << height);
                ball = placed(f, side, ball_of(s, tree, height, child, low, 1));
                x[i] = ball.x - other.x, y[i] = ball.y - other.y, z[i] = ball.z - other.z;
                reach[i] += ball.r;
                continue;
            }
            x[i] += half * ball.x, y[i] += half * ball.y, z[i] += half * ball.z;
            reach[i] += half * ball.r;
        }
    }
    for (int i = 0; i < 8; i++)
        far[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i] - reach[i] * reach[i];
    unsigned hits = 0;
    for (unsigned i = 0; i < 8; i++) hits |= (unsigned)(far[i] <= 0) << i;
    if (!surely) worker->tests += (unsigned)__builtin_popcount(mask);
    for (unsigned rest = (hits | surely) & mask; rest; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        if (last && !voxels_meet(f, x[i], y[i], z[i])) continue;
        const uint32_t low[3] = {pair->low[side][0] + ((i & 1) << height),
                                 pair->low[side][1] + ((i >> 1 & 1) << height),
                                 pair->low[side][2] + ((i >> 2) << height)};
        const uint32_t child = first + (uint32_t)__builtin_popcount(mask & ((1u << i) - 1));
        if (!keep(s, pair, child, low, worker)) return false;
    }
    return true;
}

/* Which of eight voxels meet a sphere, whose middle is this way from the corner of their cube? */
ALWAYS unsigned voxels_in(const flr_spheres_frame *f, unsigned side, double way_x, double way_y,
                          double way_z, double reach, double x[8], double y[8], double z[8])
{
    double far[8];
    for (int i = 0; i < 8; i++) {
        x[i] = way_x + f->children[side][0][i];
        y[i] = way_y + f->children[side][1][i];
        z[i] = way_z + f->children[side][2][i];
        far[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i] - reach * reach;
    }
    unsigned hits = 0;
    for (unsigned i = 0; i < 8; i++) hits |= (unsigned)(far[i] <= 0) << i;
    return hits;
}

/* The last two levels of two octrees in one step: what would lie between them need not be written down. Tests, pairs and
 * their order are those of two steps. */
ALWAYS bool expand_twice(const flr_spheres *s, const flr_cube_pair *pair,
                         flr_spheres_worker *worker)
{
    const flr_spheres_frame *f = &s->frame;
    const unsigned one = s->expanded, two = !one;
    const flr_sphere_level *levels[2] = {&f->trees[0]->levels[1], &f->trees[1]->levels[1]};
    const unsigned masks[2] = {flr_tree_mask8(levels[0], pair->cube[0]),
                               flr_tree_mask8(levels[1], pair->cube[1])};
    const flr_ball other = ball_of_any(s, two, pair);
    flr_ball corners[2];
    for (unsigned i = 0; i < 2; i++)
        corners[i] = placed(f, i, (flr_ball){pair->low[i][0], pair->low[i][1], pair->low[i][2], 0});
    const double radii[2] = {0.5 * sqrt3 * f->ratio, 0.5 * sqrt3};
    double x[8], y[8], z[8];
    const unsigned first =
        masks[one] & voxels_in(f, one, corners[one].x - other.x, corners[one].y - other.y,
                               corners[one].z - other.z, radii[one] + other.r + slack, x, y, z);
    worker->tests += (unsigned)__builtin_popcount(masks[one]);
    for (unsigned rest = first; rest; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        double dx[8], dy[8], dz[8];
        unsigned second =
            masks[two] &
            voxels_in(f, two, corners[two].x - (x[i] + other.x), corners[two].y - (y[i] + other.y),
                      corners[two].z - (z[i] + other.z), radii[0] + radii[1] + slack, dx, dy, dz);
        worker->tests += (unsigned)__builtin_popcount(masks[two]);
        for (; second; second &= second - 1) {
            const unsigned k = (unsigned)__builtin_ctz(second);
            if (!voxels_meet(f, dx[k], dy[k], dz[k])) continue;
            if (worker->used == s->def.pairs) return false;
            flr_cube_pair *out = &worker->out[worker->used++];
            const unsigned child[2] = {one == 0 ? i : k, one == 0 ? k : i};
            for (unsigned n = 0; n < 2; n++) {
                out->cube[n] = levels[n]->first[pair->cube[n]] +
                               (uint32_t)__builtin_popcount(masks[n] & ((1u << child[n]) - 1));
                for (unsigned axis = 0; axis < 3; axis++)
                    out->low[n][axis] = pair->low[n][axis] + (child[n] >> axis & 1);
            }
        }
    }
    return true;
}

FLR_CLONES static bool expand_all(const flr_spheres *s, uint32_t from, uint32_t to,
                                  flr_spheres_worker *worker)
{
    /* one loop for each width, with the width as a constant */
    const unsigned shift = s->frame.trees[s->expanded]->shift;
    bool room = true;
    for (uint32_t i = from; i < to && room && shift == 1; i++)
        room = s->twice ? expand_twice(s, &s->pairs[i], worker)
                        : expand_eight(s, &s->pairs[i], worker);
    for (uint32_t i = from; i < to && room && shift == 2; i++)
        room = expand_pair(s, &s->pairs[i], 2, worker);
    for (uint32_t i = from; i < to && room && shift == 3; i++)
        room = expand_pair(s, &s->pairs[i], 3, worker);
    return room;
}

bool flr_spheres_expand(const flr_spheres *s, uint32_t from, uint32_t to,
                        flr_spheres_worker *worker)
{
    return expand_all(s, from, to, worker);
}
