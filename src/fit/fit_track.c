/* what a pair remembers from one query to the next: lists of what is near
 *
 * The patches of b are in groups, every sixteenth entry of its tree in the same one. Each group has a list that was made at a
 * pose of its own and holds all patches of a within a distance, more than what queries look at. No tree is walked while
 * no patch has moved by more than the difference. A motion makes lists for poses ahead of it,
 * which last longer. One list at a time is made anew before it is used up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prefault.h"
#include "fit/fit_query.h"

enum {
    LISTED_PER_PATCH = 24 /* of the lists for each patch of either part */,
    SUSPECTS_FIRST = 4,
    MAX_STEPS_AHEAD = 16,
    STEPS_PLANNED = 8 /* of a motion: lists that will be used up by then are made evenly */
};
static const double SOON =
    0.9; /* the list that is used up most is made anew when it is by this much */
static const double AHEAD = 0.9;   /* of the margin: how far ahead the pose of a new list may be */
static const double MARGIN = 0.75; /* of the mean width of patches */

/* ---- memory ---- */

/* metres: of square patches that are as large. Slender ones have many neighbours across, so that what a list holds grows fast with
 * its margin; little would be gained by one as long as they are. */
static double mean_width(const flr_fit *fit)
{
    double sum = 0;
    for (uint32_t i = 0; i < fit->counts.patches; i++) {
        const flr_fit_patch *p = &fit->patches[i];
        sum += fmax(0.5 * sqrt(((double)p->high[1] - (double)p->low[1]) *
                               ((double)p->high[2] - (double)p->low[2])),
                    0.1 * (double)p->radius);
    }
    return sum / fit->counts.patches;
}

static void *take(flr_fit_pair *pair, bool *ok, size_t count, size_t size)
{
    void *memory = flr_prefaulted_calloc(count, size);
    *ok = *ok && memory;
    pair->bytes += count * size;
    return memory;
}

bool flr_fit_create_lists(flr_fit_pair *pair)
{
    flr_fit_lists *l = &pair->lists;
    const flr_fit *b = pair->parts[1];
    const size_t patches = b->counts.patches,
                 padded = (patches + FLR_FIT_WIDE - 1) / FLR_FIT_WIDE * FLR_FIT_WIDE;
    const uint64_t all = (uint64_t)LISTED_PER_PATCH * (patches + pair->parts[0]->counts.patches);
    bool ok = true;
    l->capacity = (uint32_t)fmin((double)all / FLR_FIT_GROUPS + 64, 1 << 24);
    const size_t entries = (size_t)FLR_FIT_GROUPS * l->capacity;
    l->margin = MARGIN * fmin(mean_width(pair->parts[0]), mean_width(b));
    l->entries = take(pair, &ok, entries, sizeof *l->entries);
    l->suspects = take(pair, &ok, entries, sizeof *l->suspects);
    l->sure = take(pair, &ok, entries, sizeof *l->sure);
    l->bounds = take(pair, &ok, entries, sizeof *l->bounds);
    l->bent = take(pair, &ok, padded, sizeof *l->bent);
    l->more = take(pair, &ok, padded, sizeof *l->more);
    for (int i = 0; i < 2; i++) {
        l->known[i] = take(pair, &ok, entries, sizeof *l->known[i]);
        l->odometer[i] = take(pair, &ok, padded, sizeof *l->odometer[i]);
    }
    l->first = take(pair, &ok, padded, sizeof *l->first);
    l->count = take(pair, &ok, padded, sizeof *l->count);
    l->x = take(pair, &ok, padded, sizeof *l->x);
    l->y = take(pair, &ok, padded, sizeof *l->y);
    l->z = take(pair, &ok, padded, sizeof *l->z);
    l->radius = take(pair, &ok, padded, sizeof *l->radius);
    l->cover = take(pair, &ok, padded, sizeof *l->cover);
    l->moved = take(pair, &ok, padded, sizeof *l->moved);
    l->balls = take(pair, &ok, padded, sizeof *l->balls);
    l->eights = take(pair, &ok, padded / FLR_FIT_WIDE, sizeof *l->eights);
    l->any = take(pair, &ok, padded / FLR_FIT_WIDE, sizeof *l->any);
    if (!ok) return false;
    flr_fit_make_balls(b, l);
    for (size_t i = 0; i < padded; i++) {
        const flr_fit_patch *p = &b->patches[i < patches ? i : patches - 1];
        l->x[i] = (float)p->centre.x, l->y[i] = (float)p->centre.y, l->z[i] = (float)p->centre.z;
        l->radius[i] = p->radius;
    }
    return true;
}

void flr_fit_destroy_lists(flr_fit_pair *pair)
{
    flr_fit_lists *l = &pair->lists;
    void *const all[] = {l->entries,  l->suspects, l->first,       l->count,       l->x,
                         l->y,        l->z,        l->radius,      l->cover,       l->moved,
                         l->known[0], l->known[1], l->odometer[0], l->odometer[1], l->sure,
                         l->balls,    l->eights,   l->any,         l->bounds,      l->bent,
                         l->more};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* ---- tracks ---- */

flr_fit_track flr_fit_pair_save(const flr_fit_pair *pair) { return pair->track; }

static bool is_valid(const flr_fit_pair *pair, const flr_fit_track *t)
{
    for (int i = 0; i < 2; i++)
        if (t->nearest[i] > pair->parts[i]->counts.triangles) return false;
    for (int g = 0; g < FLR_FIT_GROUPS; g++) {
        if (!(t->cover[g] >= 0) || !isfinite(t->cover[g])) return false;
        if (t->cover[g] > 0 && !flr_pose_is_valid(t->reference[g])) return false;
    }
    return (t->nearest[0] == 0) == (t->nearest[1] == 0);
}

void flr_fit_pair_restore(flr_fit_pair *pair, const flr_fit_track *track)
{
    uint64_t work = 0;
    pair->track = (flr_fit_track){.nearest = {0, 0}};
    for (int i = 0; i < 2; i++) pair->lists.known_at[i] = (flr_pose){.p = {0, 0, 0}};
    pair->lists.odometer_at = (flr_pose){.p = {0, 0, 0}};
    if (!track || !is_valid(pair, track)) return;
    const flr_fit_track t = *track;
    for (uint32_t g = 0; g < FLR_FIT_GROUPS; g++)
        if (t.cover[g] > 0) flr_fit_make_list(pair, g, t.reference[g], t.cover[g], &work);
    pair->track = t;
}

/* ---- following ---- */

/* from one pose of b to another, in single precision */
typedef struct passage {
    float m[3][3], p[3]; /* of a point of b: m x + p */
    float turned;        /* times the distance from there: how much farther another point went */
    float little;        /* rounding */
    double sine;         /* of half the turn, twice */
} passage;

static passage passage_of(const flr_fit_query *q, flr_pose from, flr_pose to)
{
    passage w;
    const flr_quat turn = flr_quat_mul(to.q, flr_quat_conjugate(from.q));
    w.sine = 2 * sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
    const flr_mat3 r = flr_quat_to_mat3(to.q), s = flr_quat_to_mat3(from.q);
    const flr_vec3 shift = flr_vec3_sub(to.p, from.p);
    w.little = (float)(1e-6 * (w.sine * flr_fit_extent(q->parts[1]) + flr_vec3_length(shift)));
    w.p[0] = (float)shift.x, w.p[1] = (float)shift.y, w.p[2] = (float)shift.z;
    w.turned = (float)(w.sine * (1 + 1e-6));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) w.m[i][k] = (float)(r.m[i][k] - s.m[i][k]);
    return w;
}

/* metres: how far any point of a ball went, at most. */
static inline float moved_on(const passage *w, float px, float py, float pz, float radius)
{
    const float x = w->m[0][0] * px + w->m[0][1] * py + w->m[0][2] * pz + w->p[0],
                y = w->m[1][0] * px + w->m[1][1] * py + w->m[1][2] * pz + w->p[1],
                z = w->m[2][0] * px + w->m[2][1] * py + w->m[2][2] * pz + w->p[2];
    return sqrtf(x * x + y * y + z * z) * (1 + 1e-6f) + w->turned * radius + w->little;
}

static inline float ball_moved_on(const flr_fit_ball *ball, const passage *w)
{
    return moved_on(w, (float)ball->centre.x, (float)ball->centre.y, (float)ball->centre.z,
                    (float)ball->radius);
}

/* The same for the eight patches of an entry, side by side. */
static inline void eight_moved_on(const flr_fit_lists *l, const passage *w, uint32_t first,
                                  float moved[FLR_FIT_WIDE])
{
    for (uint32_t i = 0; i < FLR_FIT_WIDE; i++)
        moved[i] =
            moved_on(w, l->x[first + i], l->y[first + i], l->z[first + i], l->radius[first + i]);
}

/* After how many more steps of the same size a share reaches 1. One that falls passes 0 and rises again. */
static double steps_left(double before, double now)
{
    const double rise = now - before;
    if (rise > 0) return (1 - now) / rise;
    return rise < 0 ? (1 + now) / -rise : INFINITY;
}

/* How much of what a list covers beyond the limit is used up at the pose of a query, or on the way to another; 1: all.
 * `steps` gets how many more steps as long as that way it will last, or so; less than 0: none. */
static double used_up(const flr_fit_query *q, uint32_t group, double limit, const flr_pose *to,
                      double *steps)
{
    const flr_fit_lists *l = &q->pair->lists;
    const flr_fit_track *t = &q->pair->track;
    *steps = -1;
    if (!(t->cover[group] > limit)) return INFINITY;
    const passage w = passage_of(q, t->reference[group], q->T_a_b),
                  on = to ? passage_of(q, t->reference[group], *to) : w;
    float most = 0, most_there = 0, before = 0;
    const uint32_t patches = q->parts[1]->counts.patches;
    for (uint32_t first = group * FLR_FIT_WIDE; first < patches;
         first += FLR_FIT_GROUPS * FLR_FIT_WIDE) {
        const uint32_t entry = first / FLR_FIT_WIDE;
        float here[FLR_FIT_WIDE], there[FLR_FIT_WIDE];
        uint32_t count = FLR_FIT_WIDE;
        if (l->any[entry]) {
            eight_moved_on(l, &w, first, here);
            if (to) eight_moved_on(l, &on, first, there);
        } else {
            const flr_fit_ball *all = &l->eights[entry];
            here[0] = ball_moved_on(all, &w);
            if (to) there[0] = ball_moved_on(all, &on);
            count = 1;
        }
        for (uint32_t i = 0; i < count; i++) {
            /* on a straight way, nothing is farther off than at its ends */
            const float
                moved = to && there[i] > here[i] ? there[i] : here[i],
                room = l->cover[first + i] - (float)limit, one = room > 0 ? 1 / room : 0,
                // far from everything, rounding takes all that a list covers beyond the limit
                used = room > 0 ? moved * one : INFINITY;
            l->moved[first + i] = moved;
            most = used > most ? used : most;
            if (to && there[i] * one > most_there)
                most_there = there[i] * one, before = here[i] * one;
        }
    }
    if (to) *steps = steps_left((double)before, (double)most_there);
    return fmax((double)most, w.sine / FLR_FIT_TURN);
}

/* a step of the motion that is being followed */
typedef struct stride {
    flr_pose on;   /* from one pose to the next, in the frame of a */
    double travel; /* metres: no point of b goes farther */
    double turn;   /* radians, or a little less */
} stride;

static stride stride_of(const flr_fit_query *q, const flr_pose *to)
{
    const flr_fit_lists *l = &q->pair->lists;
    const passage w = passage_of(q, q->T_a_b, *to);
    float most = 0, moved[FLR_FIT_WIDE];
    for (uint32_t first = 0; first < q->parts[1]->counts.patches; first += FLR_FIT_WIDE) {
        const uint32_t entry = first / FLR_FIT_WIDE, count = l->any[entry] ? FLR_FIT_WIDE : 1;
        if (l->any[entry])
            eight_moved_on(l, &w, first, moved);
        else
            moved[0] = ball_moved_on(&l->eights[entry], &w);
        for (uint32_t i = 0; i < count; i++) most = moved[i] > most ? moved[i] : most;
    }
    return (stride){flr_pose_mul(*to, flr_pose_inverse(q->T_a_b)), (double)most, w.sine};
}

/* Makes the list of a group. It is used up when points are so much farther than the limit from where they are at its pose. In a
 * motion that pose is ahead: if the motion goes on, the list is good for nearly twice as long. It is not equally far ahead
 * for all groups, so that they are not used up at the same time. */
static bool renew(flr_fit_query *q, uint32_t group, double limit, const stride *s)
{
    const double margin = q->pair->lists.margin;
    flr_pose T = q->T_a_b;
    if (!s) return flr_fit_make_list(q->pair, group, T, limit + margin, &q->work);
    double way = AHEAD * margin - s->travel * (1 + 0.5 * (group % 4)), turn = AHEAD * FLR_FIT_TURN;
    for (int i = 0; i < MAX_STEPS_AHEAD && way >= 0 && turn >= s->turn; i++) {
        T = flr_pose_mul(s->on, T);
        way -= s->travel, turn -= s->turn;
    }
    T.q = flr_quat_normalize(T.q);
    /* of a fast motion, what a list would hold grows faster than how long it is good */
    const double more = s->travel > margin ? 1.2 * s->travel : fmax(margin, 2 * s->travel);
    return flr_fit_make_list(q->pair, group, T, limit + more, &q->work);
}

/* Nothing is sure any more. */
static void start_odometers(flr_fit_pair *pair)
{
    flr_fit_lists *l = &pair->lists;
    memset(l->odometer[l->on_way], 0, pair->parts[1]->counts.patches * sizeof *l->odometer[0]);
    for (uint32_t g = 0; g < FLR_FIT_GROUPS; g++)
        for (uint32_t i = 0; i < l->used[g]; i++) l->sure[(size_t)g * l->capacity + i] = -INFINITY;
}

void flr_fit_move_on(flr_fit_query *q)
{
    flr_fit_lists *l = &q->pair->lists;
    if (!flr_pose_is_valid(l->odometer_at)) {
        start_odometers(q->pair);
    } else if (memcmp(&l->odometer_at, &q->T_a_b, sizeof q->T_a_b) != 0) {
        const float *before = l->odometer[l->on_way];
        float *now = l->odometer[1 - l->on_way];
        const passage w = passage_of(q, l->odometer_at, q->T_a_b);
        for (uint32_t first = 0; first < q->parts[1]->counts.patches; first += FLR_FIT_WIDE) {
            float moved[FLR_FIT_WIDE];
            if (!l->any[first / FLR_FIT_WIDE]) continue;
            eight_moved_on(l, &w, first, moved);
            for (uint32_t i = 0; i < FLR_FIT_WIDE; i++)
                now[first + i] = before[first + i] + 1.1f * moved[i];
        }
        l->on_way = 1 - l->on_way;
    }
    l->odometer_at = q->T_a_b;
    q->odometer = l->odometer[l->on_way];
}

void flr_fit_set_turned(flr_fit_query *q)
{
    for (int g = 0; g < FLR_FIT_GROUPS; g++) {
        const flr_quat turn =
            flr_quat_mul(q->T_a_b.q, flr_quat_conjugate(q->pair->track.reference[g].q));
        const double sine = sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
        q->turned[g] = 2 * sine * (1 + sine * sine) * (1 + 1e-9); /* asin x <= x + x^3 */
    }
}

void flr_fit_forget_bounds(flr_fit_lists *l, int slot, uint32_t group)
{
    float *known = l->known[slot] + (size_t)group * l->capacity;
    for (uint32_t i = 0; i < l->used[group]; i++) known[i] = NAN;
}

void flr_fit_recall(flr_fit_query *q)
{
    flr_fit_lists *l = &q->pair->lists;
    int slot = 0;
    while (slot < 2 && memcmp(&l->known_at[slot], &q->T_a_b, sizeof q->T_a_b)) slot++;
    if (slot == 2) {
        slot = 1 - l->latest;
        l->known_at[slot] = q->T_a_b;
        for (uint32_t g = 0; g < FLR_FIT_GROUPS; g++) flr_fit_forget_bounds(l, slot, g);
    }
    l->latest = slot;
    q->known = l->known[slot];
}

/* How many lists to build in this step of a motion, so that no later step has to build many: lists that will not last h more
 * steps are spread over h + 1 steps. */
static uint32_t count_due(const double steps[FLR_FIT_GROUPS])
{
    uint32_t most = 0;
    for (uint32_t h = 0; h < STEPS_PLANNED; h++) {
        uint32_t due = 0;
        for (uint32_t g = 0; g < FLR_FIT_GROUPS; g++) due += steps[g] < (double)h;
        const uint32_t each = (due + h) / (h + 1);
        most = each > most ? each : most;
    }
    return most;
}

/* The list that lasts least. */
static uint32_t first_due(const double steps[FLR_FIT_GROUPS])
{
    uint32_t first = 0;
    for (uint32_t g = 1; g < FLR_FIT_GROUPS; g++) first = steps[g] < steps[first] ? g : first;
    return first;
}

/* Makes lists on a motion. False: they cannot hold what is near. */
static bool renew_on_way(flr_fit_query *q, double limit, const flr_pose *to,
                         double steps[FLR_FIT_GROUPS])
{
    const uint32_t due = count_due(steps);
    if (due == 0) return true;
    const stride step = stride_of(q, to);
    for (uint32_t i = 0; i < due; i++) {
        double left;
        const uint32_t g = first_due(steps);
        if (!renew(q, g, limit, &step) || !(used_up(q, g, limit, to, &left) < 1)) return false;
        steps[g] = INFINITY;
    }
    return true;
}

bool flr_fit_follow(flr_fit_query *q, double limit, const flr_pose *to)
{
    double used[FLR_FIT_GROUPS], steps[FLR_FIT_GROUPS];
    uint32_t oldest = 0, old = 0;
    limit = limit * (1 + 1e-6);
    if (!(limit < 1e9)) return false;
    flr_fit_move_on(q);
    for (uint32_t g = 0; g < FLR_FIT_GROUPS; g++) {
        used[g] = used_up(q, g, limit, to, &steps[g]);
        if (!(used[g] < 1)) steps[g] = -1;
        if (used[g] > used[oldest]) oldest = g;
        old += used[g] > 0.5;
    }
    /* a query after a motion leaves that to the next motion; one by itself does not know where it leads */
    const bool early = !q->moved && (used[oldest] > SOON || old > FLR_FIT_GROUPS / 2);
    q->work += 8 + q->parts[1]->counts.patches / 8;
    if (to && !renew_on_way(q, limit, to, steps)) return false;
    for (uint32_t g = 0; g < FLR_FIT_GROUPS && !to; g++) {
        if (used[g] < 1 && !(g == oldest && early)) continue;
        if (!renew(q, g, limit, NULL)) return false;
        if (!(used_up(q, g, limit, NULL, &steps[g]) < 1)) return false;
    }
    flr_fit_set_turned(q);
    flr_fit_recall(q);
    return true;
}

/* ---- what is near ---- */

/* Puts all that may be nearer than the limit among the suspects; returns how many. */
static uint32_t find_suspects(flr_fit_query *q)
{
    flr_fit_lists *l = &q->pair->lists;
    uint32_t count = 0;
    flr_fit_guest guest;
    for (uint32_t i = 0; i < q->parts[1]->counts.patches; i++) {
        if (!l->count[i]) continue;
        const float limit = (float)((q->limit + (double)l->moved[i]) * (1 + 1e-6)),
                    need = (float)(q->limit * (1 + 1e-6));
        if (q->work > q->max_work) {
            q->skipped2 = 0;
            break;
        }
        q->work++;
        guest.received = false;
        const uint32_t first = l->first[i], end = first + l->count[i];
        for (uint32_t from = first; from < end; from += FLR_FIT_LANES) {
            uint32_t near,
                left = q->kernel->unsure(l->bounds + from, l->sure + from, lanes_to(from, end),
                                         limit, q->odometer[i], need, &near);
            q->work += 3 * (uint64_t)__builtin_popcount(near);
            for (; left; left &= left - 1) {
                const uint32_t entry = from + (uint32_t)__builtin_ctz(left);
                if (flr_fit_is_sure(q, i, entry, q->limit)) continue;
                const double bound = flr_fit_bound(q, &guest, i, entry);
                if (bound < q->limit)
                    l->suspects[count++] =
                        (flr_fit_suspect){l->entries[entry].patch, i, (float)bound};
            }
        }
    }
    return count;
}

void flr_fit_meet_near(flr_fit_query *q, flr_fit_meet_beyond meet)
{
    flr_fit_suspect *s = q->pair->lists.suspects;
    const uint32_t count = find_suspects(q);
    flr_fit_visitor v;
    v.patch = FLR_NONE;
    /* those that may be nearest first: the nearer the best, the less is left to do */
    for (uint32_t i = 0; i < SUSPECTS_FIRST && i < count; i++) {
        uint32_t least = i;
        for (uint32_t k = i + 1; k < count; k++)
            if (s[k].bound < s[least].bound) least = k;
        const flr_fit_suspect first = s[least];
        s[least] = s[i], s[i] = first;
    }
    for (uint32_t i = 0; i < count; i++) {
        if ((double)s[i].bound >= q->limit) continue;
        if (q->work > q->max_work) {
            q->skipped2 = 0;
            return;
        }
        if (v.patch != s[i].b) flr_fit_visit(q, s[i].b, &v);
        meet(q, s[i].a, &v, (double)s[i].bound);
    }
}
