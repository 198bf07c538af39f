/* rigid groups and joints: bodies, islands, trees and loops */
#include "dynamics/mechanism.h"

#include <stdlib.h>

#include "base/prefault.h"
#include "base/sets.h"

/* ---- joints ---- */

const char *flr_joint_kind_name(flr_joint_kind kind)
{
    static const char *const names[FLR_JOINT_KINDS] = {
        "fixed", "revolute", "prismatic", "cylindrical", "screw", "planar", "ball"};
    return (unsigned)kind < FLR_JOINT_KINDS ? names[kind] : "unknown";
}

flr_joint flr_default_joint(void)
{
    return (flr_joint){.a = FLR_JOINT_WORLD, .b = FLR_JOINT_WORLD, .axis = {0, 0, 1}};
}

static uint32_t freedoms_of(flr_joint_kind kind)
{
    static const uint32_t counts[FLR_JOINT_KINDS] = {0, 1, 1, 2, 1, 3, 3};
    return counts[kind];
}

bool flr_joint_turns(flr_joint_kind kind)
{
    return kind != FLR_JOINT_FIXED && kind != FLR_JOINT_PRISMATIC;
}

bool flr_joint_slides(flr_joint_kind kind)
{
    return kind == FLR_JOINT_PRISMATIC || kind == FLR_JOINT_CYLINDRICAL || kind == FLR_JOINT_SCREW;
}

/* ---- making ---- */

/* While a mechanism is made. */
typedef struct mechanism_build {
    const flr_mechanism_def *def;
    flr_mechanism *m;
    uint32_t *up; /* [part_count + 1]: sets of parts that are one body; the last one is the world */
    bool *used;   /* [joint_count]: in a tree */
    uint32_t *body;         /* [part_count]: of a leader; none: not yet, or it has none */
    bool *tied;             /* [part_count]: something ties this leader … */
    bool *jointed;          /* … a joint does */
    uint32_t *queue;        /* [part_count] leaders */
    struct grouped *groups; /* [part_count] */
    flr_error *error;
} mechanism_build;

/* The world wins, then the part with the lower index. */
static void unite(uint32_t *up, uint32_t world, uint32_t a, uint32_t b)
{
    a = flr_root(up, a), b = flr_root(up, b);
    if (a == b) return;
    if (a == world || (b != world && a < b))
        up[b] = a;
    else
        up[a] = b;
}

static uint32_t side_of(const mechanism_build *b, uint32_t joint, int side)
{
    const flr_joint *j = &b->def->joints[joint];
    const uint32_t part = side ? j->b : j->a;
    return part == FLR_JOINT_WORLD ? b->def->part_count : part;
}

static flr_result fail_joint(const mechanism_build *b, uint32_t joint, const char *what)
{
    const char *name = b->def->joints[joint].name;
    if (name) return flr_fail(b->error, FLR_BAD_ARGUMENT, "joint \"%.60s\" %s", name, what);
    return flr_fail(b->error, FLR_BAD_ARGUMENT, "joint %u %s", joint, what);
}

static bool axis_is_valid(const flr_joint_axis *a)
{
    return isfinite(a->low) && isfinite(a->high) && a->friction >= 0 && isfinite(a->friction) &&
           a->stiffness >= 0 && isfinite(a->stiffness) && a->damping >= 0 && isfinite(a->damping) &&
           isfinite(a->rest);
}

static flr_result check_joint(const mechanism_build *b, uint32_t i)
{
    const flr_joint *j = &b->def->joints[i];
    const uint32_t parts = b->def->part_count;
    if ((unsigned)j->kind >= FLR_JOINT_KINDS) return fail_joint(b, i, "is of no known kind");
    if ((j->a != FLR_JOINT_WORLD && j->a >= parts) || (j->b != FLR_JOINT_WORLD && j->b >= parts))
        return fail_joint(b, i, "ties a part that is not there");
    if (j->a == j->b) return fail_joint(b, i, "ties a part to itself");
    if (!flr_vec3_is_finite(j->point) || !flr_vec3_is_finite(j->axis) ||
        !(flr_vec3_length2(j->axis) > 1e-20))
        return fail_joint(b, i, "needs a point and an axis that is not zero");
    if (j->kind == FLR_JOINT_SCREW && !(isfinite(j->pitch) && j->pitch != 0))
        return fail_joint(b, i, "is a screw and needs a pitch that is not zero");
    if (!axis_is_valid(&j->turn) || !axis_is_valid(&j->slide))
        return fail_joint(b, i, "has a number that makes no sense");
    if ((j->turn.limited && j->turn.low > j->turn.high) ||
        (j->slide.limited && j->slide.low > j->slide.high))
        return fail_joint(b, i, "has limits that are reversed: the lower one comes first");
    if (j->kind == FLR_JOINT_BALL && j->turn.limited && !(j->turn.high >= 0))
        return fail_joint(b, i, "is a ball: its limit is an angle from the start, 0 or more");
    return FLR_OK;
}

/* a part and its group, to be sorted */
typedef struct grouped {
    uint32_t group, part;
} grouped;

static int by_group(const void *a, const void *b)
{
    const grouped *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return x->part < y->part ? -1 : x->part > y->part;
}

static void unite_groups(mechanism_build *b)
{
    const flr_mechanism_def *def = b->def;
    uint32_t count = 0;
    for (uint32_t i = 0; def->groups && i < def->part_count; i++)
        if (def->groups[i] != FLR_MECHANISM_NONE) b->groups[count++] = (grouped){def->groups[i], i};
    qsort(b->groups, count, sizeof *b->groups, by_group);
    for (uint32_t i = 1; i < count; i++)
        if (b->groups[i].group == b->groups[i - 1].group)
            unite(b->up, def->part_count, b->groups[i - 1].part, b->groups[i].part);
}

/* Parts of a group and of fixed joints become one; then the other joints must tie two of them. */
static flr_result unite_all(mechanism_build *b)
{
    const flr_mechanism_def *def = b->def;
    const uint32_t world = def->part_count;
    for (uint32_t i = 0; i <= world; i++) b->up[i] = i;
    for (uint32_t i = 0; i < def->part_count; i++)
        if (def->fixed[i]) unite(b->up, world, world, i);
    unite_groups(b);
    for (uint32_t i = 0; i < def->joint_count; i++) {
        flr_result result = check_joint(b, i);
        if (result != FLR_OK) return result;
        if (def->joints[i].kind == FLR_JOINT_FIXED)
            unite(b->up, world, side_of(b, i, 0), side_of(b, i, 1));
    }
    for (uint32_t i = 0; i < def->joint_count; i++) {
        if (def->joints[i].kind == FLR_JOINT_FIXED) continue;
        const uint32_t one = flr_root(b->up, side_of(b, i, 0)),
                       other = flr_root(b->up, side_of(b, i, 1));
        if (one == other)
            return fail_joint(b, i,
                              one == world ? "ties parts that do not move; make one of them moving"
                                           : "ties parts of the same rigid group");
    }
    return FLR_OK;
}

/* Frames of the joints in the leaders of their sides. */
static void make_frames(mechanism_build *b)
{
    const flr_mechanism_def *def = b->def;
    const uint32_t world = def->part_count;
    for (uint32_t i = 0; i < def->joint_count; i++) {
        flr_joint *j = &b->m->joints[i];
        *j = def->joints[i];
        j->name = NULL;
        j->axis = flr_vec3_normalize(j->axis);
        const flr_vec3 x = flr_vec3_perpendicular(j->axis);
        const flr_quat q = flr_quat_normalize(
            flr_quat_from_mat3(flr_mat3_from_columns(x, flr_vec3_cross(j->axis, x), j->axis)));
        const flr_pose T = flr_pose_make(j->point, q);
        for (int side = 0; side < 2; side++) {
            const uint32_t leader = flr_root(b->up, side_of(b, i, side));
            b->m->T_side[side][i] =
                leader == world ? T : flr_pose_mul(flr_pose_inverse(def->T_world_part[leader]), T);
        }
    }
}

static uint32_t add_body(mechanism_build *b, uint32_t leader, uint32_t parent, uint32_t joint,
                         bool reversed)
{
    flr_mechanism *m = b->m;
    flr_mechanism_island *island = &m->islands[m->island_count];
    const uint32_t own = joint == FLR_MECHANISM_NONE ? 6 : freedoms_of(m->joints[joint].kind);
    m->bodies[m->body_count] = (flr_mechanism_body){.leader = leader,
                                                    .parent = parent,
                                                    .joint = joint,
                                                    .reversed = reversed,
                                                    .first = island->freedoms,
                                                    .count = own,
                                                    .island = m->island_count};
    island->freedoms += own;
    island->body_count++;
    b->body[leader] = m->body_count;
    return m->body_count++;
}

/* From the bodies that an island has: all that joints tie to them. */
static void grow(mechanism_build *b)
{
    flr_mechanism *m = b->m;
    const uint32_t world = b->def->part_count, first = m->islands[m->island_count].first_body;
    for (uint32_t at = first; at < m->body_count; at++)
        for (uint32_t i = 0; b->jointed[m->bodies[at].leader] && i < m->joint_count; i++) {
            if (b->used[i] || m->joints[i].kind == FLR_JOINT_FIXED) continue;
            for (int side = 0; side < 2; side++) {
                const uint32_t here = flr_root(b->up, side_of(b, i, side)),
                               there = flr_root(b->up, side_of(b, i, !side));
                if (here != m->bodies[at].leader || there == world ||
                    b->body[there] != FLR_MECHANISM_NONE)
                    continue;
                b->used[i] = true;
                add_body(b, there, at, i, side == 1);
                break;
            }
        }
}

/* Starts an island with a body that a joint ties to the world, among those that joints connect with `leader`. False: there
 * is none. One is enough: a second joint to the world closes a loop. */
static bool start_from_world(mechanism_build *b, uint32_t leader)
{
    const uint32_t world = b->def->part_count;
    uint32_t count = 0;
    b->queue[count++] = leader;
    for (uint32_t at = 0; at < count; at++)
        for (uint32_t i = 0; i < b->m->joint_count; i++) {
            if (b->m->joints[i].kind == FLR_JOINT_FIXED) continue;
            for (int side = 0; side < 2; side++) {
                const uint32_t here = flr_root(b->up, side_of(b, i, side)),
                               there = flr_root(b->up, side_of(b, i, !side));
                if (here != b->queue[at]) continue;
                if (there == world) {
                    b->used[i] = true;
                    add_body(b, here, FLR_MECHANISM_NONE, i, side == 0);
                    return true;
                }
                bool known = false;
                for (uint32_t k = 0; k < count && !known; k++) known = b->queue[k] == there;
                if (!known) b->queue[count++] = there;
            }
        }
    return false;
}

/* The body at a side of a joint; none: the world. */
static uint32_t body_at(mechanism_build *b, uint32_t joint, int side)
{
    const uint32_t leader = flr_root(b->up, side_of(b, joint, side));
    return leader == b->def->part_count ? FLR_MECHANISM_NONE : b->body[leader];
}

/* The island that a joint works in; none: that of a fixed joint. */
static uint32_t island_at(mechanism_build *b, uint32_t joint)
{
    if (b->m->joints[joint].kind == FLR_JOINT_FIXED) return FLR_MECHANISM_NONE;
    const uint32_t one = body_at(b, joint, 0), other = body_at(b, joint, 1);
    return b->m->bodies[one == FLR_MECHANISM_NONE ? other : one].island;
}

/* Which joints are in no tree. */
static void list_loops(mechanism_build *b)
{
    flr_mechanism *m = b->m;
    uint32_t first = 0;
    for (uint32_t i = 0; i < m->joint_count; i++) {
        m->island_of_joint[i] = island_at(b, i);
        if (m->island_of_joint[i] != FLR_MECHANISM_NONE && !b->used[i])
            m->islands[m->island_of_joint[i]].loop_count++;
    }
    for (uint32_t k = 0; k < m->island_count; k++) {
        flr_mechanism_island *island = &m->islands[k];
        island->first_loop = first;
        first += island->loop_count;
        if (m->row_room < 6 * island->loop_count) m->row_room = 6 * island->loop_count;
        island->loop_count = 0;
    }
    for (uint32_t i = 0; i < m->joint_count; i++) {
        if (m->island_of_joint[i] == FLR_MECHANISM_NONE || b->used[i]) continue;
        flr_mechanism_island *island = &m->islands[m->island_of_joint[i]];
        m->loops[island->first_loop + island->loop_count++] = i;
    }
}

/* Which parts are in which island, and where in their bodies. */
static void list_parts(mechanism_build *b)
{
    flr_mechanism *m = b->m;
    uint32_t first = 0;
    for (uint32_t p = 0; p < m->part_count; p++) {
        const uint32_t leader = flr_root(b->up, p);
        m->fixed[p] = leader == m->part_count;
        m->body_of[p] = m->fixed[p] ? FLR_MECHANISM_NONE : b->body[leader];
        if (m->body_of[p] == FLR_MECHANISM_NONE) continue;
        m->islands[m->bodies[m->body_of[p]].island].part_count++;
        m->T_leader[p] = p == leader ? flr_pose_identity()
                                     : flr_pose_mul(flr_pose_inverse(b->def->T_world_part[leader]),
                                                    b->def->T_world_part[p]);
    }
    for (uint32_t k = 0; k < m->island_count; k++) {
        m->islands[k].first_part = first;
        first += m->islands[k].part_count;
        m->islands[k].part_count = 0;
    }
    for (uint32_t p = 0; p < m->part_count; p++) {
        if (m->body_of[p] == FLR_MECHANISM_NONE) continue;
        flr_mechanism_island *island = &m->islands[m->bodies[m->body_of[p]].island];
        m->members[island->first_part + island->part_count++] = p;
    }
}

/* How large islands are: from their joints and centres of mass. */
static void measure_islands(mechanism_build *b)
{
    flr_mechanism *m = b->m;
    for (uint32_t k = 0; k < m->island_count; k++) {
        flr_box3 box = flr_box3_empty();
        for (uint32_t i = 0; m->islands[k].body_count > 1 && i < m->joint_count; i++)
            if (m->island_of_joint[i] == k) box = flr_box3_add(box, m->joints[i].point);
        for (uint32_t i = 0; i < m->islands[k].body_count; i++) {
            const uint32_t leader = m->bodies[m->islands[k].first_body + i].leader;
            const flr_pose T = b->def->T_world_part[leader];
            box = flr_box3_add(box, flr_pose_apply(T, b->def->centres[leader]));
        }
        m->islands[k].size = fmax(flr_vec3_length(flr_box3_size(box)), 1e-6);
    }
}

static flr_result make_islands(mechanism_build *b)
{
    flr_mechanism *m = b->m;
    for (uint32_t i = 0; i < m->part_count; i++) {
        const uint32_t leader = flr_root(b->up, i);
        b->body[i] = FLR_MECHANISM_NONE;
        if (leader != i && leader != m->part_count) b->tied[leader] = true;
    }
    for (uint32_t i = 0; i < m->joint_count; i++)
        for (int side = 0; side < 2; side++) {
            const uint32_t leader = flr_root(b->up, side_of(b, i, side));
            if (m->joints[i].kind != FLR_JOINT_FIXED && leader != m->part_count)
                b->tied[leader] = b->jointed[leader] = true;
        }
    for (uint32_t i = 0; i < m->part_count; i++) {
        if (!b->tied[i] || b->body[i] != FLR_MECHANISM_NONE) continue;
        m->islands[m->island_count] = (flr_mechanism_island){.first_body = m->body_count};
        if (!b->jointed[i] || !start_from_world(b, i))
            add_body(b, i, FLR_MECHANISM_NONE, FLR_MECHANISM_NONE, false);
        grow(b);
        if (m->islands[m->island_count].freedoms > FLR_MECHANISM_FREEDOMS)
            return flr_fail(
                b->error, FLR_BAD_ARGUMENT,
                "joints connect bodies with %u freedoms of motion; at most %d are possible",
                m->islands[m->island_count].freedoms, FLR_MECHANISM_FREEDOMS);
        m->island_count++;
    }
    list_loops(b);
    list_parts(b);
    measure_islands(b);
    return FLR_OK;
}

static bool allocate(flr_mechanism *m, mechanism_build *b)
{
    const size_t parts = (size_t)m->part_count + 1, joints = (size_t)m->joint_count + 1;
    m->joints = flr_prefaulted_calloc(joints, sizeof *m->joints);
    for (int i = 0; i < 2; i++) m->T_side[i] = flr_prefaulted_calloc(joints, sizeof *m->T_side[i]);
    m->bodies = flr_prefaulted_calloc(parts, sizeof *m->bodies);
    m->islands = flr_prefaulted_calloc(parts, sizeof *m->islands);
    m->members = flr_prefaulted_calloc(parts, sizeof *m->members);
    m->loops = flr_prefaulted_calloc(joints, sizeof *m->loops);
    m->body_of = flr_prefaulted_calloc(parts, sizeof *m->body_of);
    m->T_leader = flr_prefaulted_calloc(parts, sizeof *m->T_leader);
    m->fixed = flr_prefaulted_calloc(parts, sizeof *m->fixed);
    b->up = calloc(parts, sizeof *b->up);
    b->used = calloc(joints, sizeof *b->used);
    b->body = calloc(parts, sizeof *b->body);
    b->tied = calloc(parts, sizeof *b->tied);
    b->jointed = calloc(parts, sizeof *b->jointed);
    b->groups = calloc(parts, sizeof *b->groups);
    m->island_of_joint = flr_prefaulted_calloc(joints, sizeof *m->island_of_joint);
    b->queue = calloc(parts, sizeof *b->queue);
    return m->joints && m->T_side[0] && m->T_side[1] && m->bodies && m->islands && m->members &&
           m->loops && m->body_of && m->T_leader && m->fixed && m->island_of_joint && b->up &&
           b->used && b->body && b->tied && b->jointed && b->groups && b->queue;
}

flr_result flr_mechanism_create(const flr_mechanism_def *def, flr_mechanism **made,
                                flr_error *error)
{
    flr_mechanism *m = calloc(1, sizeof *m);
    mechanism_build b = {.def = def, .m = m, .error = error};
    if (!m) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for joints");
    m->part_count = def->part_count;
    m->joint_count = def->joint_count;
    flr_result result = allocate(m, &b)
                            ? FLR_OK
                            : flr_fail(error, FLR_NO_MEMORY,
                                       "not enough memory for joints of %u parts", def->part_count);
    if (result == FLR_OK) result = unite_all(&b);
    if (result == FLR_OK) {
        make_frames(&b);
        result = make_islands(&b);
    }
    if (result == FLR_OK) {
        m->rows = flr_prefaulted_calloc((size_t)m->row_room + 1, sizeof *m->rows);
        if (!m->rows) result = flr_fail(error, FLR_NO_MEMORY, "not enough memory for joints");
    }
    free(b.up);
    free(b.used);
    free(b.body);
    free(b.tied);
    free(b.jointed);
    free(b.groups);
    free(b.queue);
    if (result != FLR_OK) {
        flr_mechanism_destroy(m);
        return result;
    }
    *made = m;
    return FLR_OK;
}

void flr_mechanism_destroy(flr_mechanism *m)
{
    if (!m) return;
    free(m->joints);
    for (int i = 0; i < 2; i++) free(m->T_side[i]);
    free(m->bodies);
    free(m->islands);
    free(m->members);
    free(m->loops);
    free(m->body_of);
    free(m->T_leader);
    free(m->fixed);
    free(m->island_of_joint);
    free(m->rows);
    free(m);
}

/* ---- looking ---- */

uint32_t flr_mechanism_leader(const flr_mechanism *m, uint32_t part)
{
    const uint32_t body = m->body_of[part];
    return body == FLR_MECHANISM_NONE ? part : m->bodies[body].leader;
}

uint32_t flr_mechanism_island_of(const flr_mechanism *m, uint32_t part)
{
    const uint32_t body = m->body_of[part];
    return body == FLR_MECHANISM_NONE ? FLR_MECHANISM_NONE : m->bodies[body].island;
}

bool flr_mechanism_may_touch(const flr_mechanism *m, uint32_t a, uint32_t b)
{
    const uint32_t one = m->body_of[a], other = m->body_of[b];
    if (one != FLR_MECHANISM_NONE && one == other) return false;
    if (one == FLR_MECHANISM_NONE && other == FLR_MECHANISM_NONE) return true;
    const uint32_t of_a = flr_mechanism_leader(m, a), of_b = flr_mechanism_leader(m, b);
    for (uint32_t i = 0; i < m->joint_count; i++) {
        const flr_joint *j = &m->joints[i];
        if (j->touch || j->a == FLR_JOINT_WORLD || j->b == FLR_JOINT_WORLD) continue;
        const uint32_t x = flr_mechanism_leader(m, j->a), y = flr_mechanism_leader(m, j->b);
        if ((x == of_a && y == of_b) || (x == of_b && y == of_a)) return false;
    }
    return true;
}

uint32_t flr_mechanism_freedom(const flr_mechanism *m, uint32_t joint, uint32_t *island)
{
    *island = m->island_of_joint[joint];
    if (*island == FLR_MECHANISM_NONE) return FLR_MECHANISM_NONE;
    const flr_mechanism_island *of = &m->islands[*island];
    for (uint32_t i = of->first_body; i < of->first_body + of->body_count; i++)
        if (m->bodies[i].joint == joint) return m->bodies[i].first;
    return FLR_MECHANISM_NONE;
}
