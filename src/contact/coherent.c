/* contact by temporal coherence (2005, sections 5 to 5.2), and strictly so
 *
 * "Contact" here is any mark that the law of contact looks at: the force layer, what is deeper, and the near layer before
 * it, in which braking acts. A point whose voxel is i voxels from contact can travel i - 1 voxels before it is there,
 * since it may be at the side of its voxel. The paper tests queue i once in 0.5 i voxels of travel; that is safe for
 * i >= 2, so points at distance 1 are mandatory here, too. Queue numbers above that are the paper's.
 *
 * Two things differ from the paper so that nothing is ever missed. Queues are served by the odometer, how far the part did
 * move, instead of by the travel limit, how far it may; what is overdue is served first, whatever it costs.
 * And a point of an edge or a face, whose field tells the distance to edges or vertices only, may meet the
 * interior sooner: it waits for the nearer of the two. */
#include "feeler/contact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/large_pages.h"
#include "contact/contact_table.h"
#include "contact/point.h"
#include "contact/queues.h"

enum {
    MANDATORY = 0, /* the queue of what is looked at in each query */
    COHERENT_FARTHEST = FLR_QUEUES - 1,
    RESCAN = 64,   /* voxels: after a jump like this everything is out of date */
    UNMARKED = 256 /* what no mark counts as, where the least one is looked for */
};

#define HALF_CHUNK 4.0 /* voxels: chunk queue i is good for i times this */
#define SETTLE     6.0 /* voxels: how far a near chunk must be from contact to become one item again */
#define SAFETY     1e-3 /* voxels: more than rounding may move a point by */
#define COHERENT_MARGIN                                                                            \
    2u /* queues from contact at which a drifting point is looked up again (section 5.2) */

/* what is known about a point that was looked up */
typedef struct coherent_known {
    float at[3];       /* voxels: where */
    uint32_t distance; /* voxels from contact, as found there */
} coherent_known;

struct flr_coherent {
    flr_coherent_def def;
    flr_contact_table *own; /* NULL: the table is borrowed */
    const flr_flat_field *fields;
    flr_queues points, chunks;
    coherent_known *known; /* [shell.point_count] */
    uint32_t *chunk_of;    /* [shell.point_count / FLR_SHELL_PAD] */
    uint8_t *near;         /* [shell.chunk_count]: its points are in queues, not the chunk as one */
    size_t known_bytes;
    flr_contact *contacts; /* [def.capacity] */
    /* as of the last query */
    bool begun; /* there was one, and it made sense */
    flr_mat3 rotation;
    flr_vec3 centre; /* of the shell's sphere, voxels */
    unsigned force_mark;
    bool awareness;
    double displacement; /* voxels */
    double odometer;     /* voxels that some point may have moved by, in all */
    double limit;        /* voxels that were allowed */
    double upper;        /* voxels: of the distance */
};

/* a query in the making */
typedef struct turn {
    flr_coherent *e;
    flr_contact_frame frame;
    flr_contact_sums sums;
    flr_contact_sums part; /* of the hyperchunk that is being judged */
    uint32_t hyper, end;   /* which one is next; the point at which this one ends */
    uint32_t limit;        /* marks up to this are contact */
    uint32_t beyond;       /* voxels from contact of a point without a mark */
    uint32_t inside;       /* the same from the interior; 0: there is no interior */
    double per_metre;      /* voxels */
    double around;         /* voxels: added to a radius: displacement, rounding */
    double reach;          /* voxels: layers that are contact */
    double travel;         /* voxels since the last query */
    uint32_t least;        /* mark that a mandatory point met; UNMARKED: only free ones */
    uint64_t tested, lookups;
} turn;

flr_coherent_def flr_default_coherent_def(void)
{
    flr_coherent_def def = {.tests_per_frame = 20000, .least_travel = 1.0 / 16, .capacity = 1024};
    return def;
}

/* ---- making one ---- */

static flr_result check_def(const flr_coherent_def *def, flr_error *error)
{
    if (!(def->tests_per_frame > 0 && def->tests_per_frame < 1e12))
        return flr_fail(
            error, FLR_BAD_ARGUMENT,
            "tests_per_frame must be more than 0; flr_coherent_calibrate() measures it");
    if (!(def->least_travel > 0 && def->least_travel <= 0.5))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "least_travel must be more than 0 and at most half a voxel");
    return FLR_OK;
}

static bool allocate(flr_coherent *e)
{
    const flr_shell *shell = e->def.shell;
    e->known_bytes = (shell->point_count + 1) * sizeof *e->known;
    e->known = flr_pages_alloc(e->known_bytes);
    e->chunk_of = malloc((shell->point_count / FLR_SHELL_PAD + 1) * sizeof *e->chunk_of);
    e->near = calloc(shell->chunk_count + 1, sizeof *e->near);
    e->contacts = calloc(e->def.capacity + (size_t)1, sizeof *e->contacts);
    bool queues = flr_queues_make(&e->points, shell->point_count);
    return flr_queues_make(&e->chunks, shell->chunk_count) && queues && e->known && e->chunk_of &&
           e->near && e->contacts;
}

flr_result flr_coherent_create(const flr_coherent_def *def, flr_coherent **engine, flr_error *error)
{
    flr_result result = check_def(def, error);
    if (result != FLR_OK) return result;
    flr_coherent *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a coherent engine");
    made->def = *def;
    if (!allocate(made))
        result = flr_fail(error, FLR_NO_MEMORY,
                          "not enough memory for what is known about %u points; use fewer",
                          def->shell->total);
    else if (!def->table)
        result = flr_contact_table_create(def->voxmap, &made->own, error);
    if (result != FLR_OK) {
        flr_coherent_destroy(made);
        return result;
    }
    made->fields = (def->table ? def->table : made->own)->fields;
    for (uint32_t c = 0; c < def->shell->chunk_count; c++) {
        const flr_shell_chunk *chunk = &def->shell->chunks[c];
        for (uint32_t i = 0; i < chunk->padded; i += FLR_SHELL_PAD)
            made->chunk_of[(chunk->first + i) / FLR_SHELL_PAD] = c;
    }
    *engine = made;
    return FLR_OK;
}

void flr_coherent_destroy(flr_coherent *engine)
{
    if (!engine) return;
    flr_contact_table_destroy(engine->own);
    flr_queues_free(&engine->points);
    flr_queues_free(&engine->chunks);
    flr_pages_free(engine->known, engine->known_bytes);
    free(engine->chunk_of);
    free(engine->near);
    free(engine->contacts);
    free(engine);
}

void flr_coherent_reset(flr_coherent *engine) { engine->begun = false; }

void flr_coherent_set_tests(flr_coherent *engine, double tests)
{
    if (tests > 0) engine->def.tests_per_frame = tests;
}

const flr_contact *flr_coherent_list(const flr_coherent *engine) { return engine->contacts; }
/* ---- how far did it move? ---- */

/* No point of a sphere that moves from here to there moves farther. A rotation by an angle a moves a point at distance
 * r from the axis by 2 r sin(a/2), and the difference of the matrices has 2 sqrt(2) sin(a/2) as its length. */
static double farthest(flr_mat3 from, flr_mat3 to, flr_vec3 middle_moved, double radius)
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double d = to.m[i][k] - from.m[i][k];
            sum += d * d;
        }
    return flr_vec3_length(middle_moved) + sqrt(sum / 2) * radius;
}

double flr_coherent_travel(const flr_coherent *engine, flr_pose T_voxmap_shell_from,
                           flr_pose T_voxmap_shell_to)
{
    const flr_shell *shell = engine->def.shell;
    flr_vec3 c =
        flr_vec3_make((double)shell->centre[0], (double)shell->centre[1], (double)shell->centre[2]);
    flr_vec3 moved =
        flr_vec3_sub(flr_pose_apply(T_voxmap_shell_to, c), flr_pose_apply(T_voxmap_shell_from, c));
    double s = engine->def.voxmap->header->grid.voxel;
    return farthest(flr_quat_to_mat3(T_voxmap_shell_from.q), flr_quat_to_mat3(T_voxmap_shell_to.q),
                    moved, (double)shell->radius + fabs(engine->displacement) * s);
}

/* ---- looking ---- */

static flr_vec3 in_voxels(const turn *t, const float c[3])
{
    return flr_contact_voxels(&t->frame, (double)c[0], (double)c[1], (double)c[2]);
}

/* Voxels that a sphere may travel before any point in it is in contact. */
static double sphere_room(const turn *t, flr_vec3 v, double radius)
{
    const flr_voxmap *voxmap = t->frame.voxmap;
    double beyond = flr_table_outside(t->e->fields, v);
    double far =
        flr_table_by_mark(voxmap, flr_table_mark(&t->e->fields[FLR_FIELD_SURFACE], v), beyond);
    if (far > voxmap->header->range) far = flr_larger(far, flr_table_by_chunks(voxmap, v, beyond));
    return far - 1 - radius * t->per_metre - t->around - t->reach;
}

static flr_label label_of(const flr_shell_chunk *c, uint32_t point)
{
    uint32_t i = point - c->first;
    if (i < c->count[FLR_LABEL_VERTEX]) return FLR_LABEL_VERTEX;
    return i < (uint32_t)c->count[FLR_LABEL_VERTEX] + c->count[FLR_LABEL_EDGE] ? FLR_LABEL_EDGE
                                                                               : FLR_LABEL_FACE;
}

/* As flr_contact_place(), but without a normal where it does not matter for the place. */
static flr_contact_point place(const turn *t, uint32_t chunk, uint32_t point)
{
    if (t->frame.displacement != 0) return flr_contact_place(&t->frame, chunk, point);
    flr_vec3 p = flr_shell_point(t->frame.shell, chunk, point, 0);
    return (flr_contact_point){.at = flr_contact_voxels(&t->frame, p.x, p.y, p.z)};
}

/* Voxels from contact by what the point's own field says, and by how near the interior is: in the fields of edges and
 * vertices the interior begins beside any mark. A free voxel with the surface at distance d has no interior nearer. */
static uint32_t distance_of(turn *t, flr_field field, uint32_t mark, flr_vec3 at)
{
    if (mark != FLR_MARK_FREE && mark <= t->limit + 1) return mark <= t->limit ? 0 : 1;
    uint32_t distance = mark == FLR_MARK_FREE ? t->beyond : mark - t->limit;
    if (field != FLR_FIELD_SURFACE && t->inside) {
        t->lookups++;
        uint32_t surface = flr_table_mark(&t->e->fields[FLR_FIELD_SURFACE], at);
        uint32_t inside = surface == FLR_MARK_FREE ? t->inside : surface < 4 ? 1 : surface - 2;
        if (inside < distance) distance = inside;
    }
    return distance < COHERENT_FARTHEST ? distance : COHERENT_FARTHEST;
}

static void remember(flr_coherent *e, uint32_t point, flr_vec3 at, uint32_t distance)
{
    e->known[point] = (coherent_known){{(float)at.x, (float)at.y, (float)at.z}, distance};
}

/* ---- points ---- */

static void move_point(turn *t, uint32_t point, uint32_t from, uint32_t to)
{
    if (from == to) return;
    flr_queue_remove(&t->e->points.queue[from], point);
    flr_queue_add(&t->e->points.queue[to], point, t->e->odometer);
}

/* The queue in which a point waits that is this far from contact; what is next to it does not wait. */
static uint32_t queue_of(uint32_t distance) { return distance < 2 ? MANDATORY : distance; }

/* The farthest queue in which a point may wait that was `distance` from contact when it was looked up and has drifted
 * since: half a voxel of travel for each step must be left (section 5.2). */
static uint32_t drifted(const coherent_known *k, flr_vec3 at)
{
    double x = at.x - (double)k->at[0], y = at.y - (double)k->at[1], z = at.z - (double)k->at[2];
    double rounding = 2e-7 * (fabs(at.x) + fabs(at.y) + fabs(at.z));
    double left = 2 * (k->distance - 1.0 - sqrt(x * x + y * y + z * z) - rounding);
    if (left < COHERENT_MARGIN) return MANDATORY;
    return left < k->distance ? (uint32_t)left : k->distance;
}

/* It is a point's turn: let it drift on, or look where it is. */
static void test_waiting(turn *t, uint32_t point, uint32_t queue)
{
    flr_coherent *e = t->e;
    uint32_t chunk = e->chunk_of[point / FLR_SHELL_PAD];
    flr_vec3 at = place(t, chunk, point).at;
    uint32_t to = drifted(&e->known[point], at);
    t->tested++;
    if (to <= COHERENT_MARGIN) {
        flr_field field =
            flr_contact_field(&t->frame, label_of(&t->frame.shell->chunks[chunk], point));
        uint32_t mark = flr_table_mark(&e->fields[field], at);
        t->lookups++;
        uint32_t distance = distance_of(t, field, mark, at);
        remember(e, point, at, distance);
        to = queue_of(distance);
    }
    move_point(t, point, queue, to);
}

/* Points add up by hyperchunks, as in the reference: those before this point are done. */
static void add_up_to(turn *t, uint32_t point)
{
    const flr_shell *shell = t->frame.shell;
    if (point < t->end) return;
    flr_contact_merge(&t->sums, &t->part);
    t->sums.listed = t->part.listed;
    t->part = flr_contact_no_sums();
    t->part.listed = t->sums.listed;
    while (point >= t->end && t->hyper < shell->hyper_count) {
        const flr_shell_hyper *hyper = &shell->hypers[t->hyper++];
        const flr_shell_chunk *last = &shell->chunks[hyper->first_chunk + hyper->chunk_count - 1];
        t->end = last->first + last->padded;
    }
}

/* A point in contact or next to it: looked up in each query, judged by the law. */
static void test_mandatory(turn *t, uint32_t point)
{
    flr_coherent *e = t->e;
    add_up_to(t, point);
    uint32_t chunk = e->chunk_of[point / FLR_SHELL_PAD];
    flr_label label = label_of(&t->frame.shell->chunks[chunk], point);
    flr_field field = flr_contact_field(&t->frame, label);
    flr_contact_point p = place(t, chunk, point);
    uint32_t mark = flr_table_mark(&e->fields[field], p.at);
    t->tested++;
    t->lookups++;
    uint32_t counted = mark == FLR_MARK_FREE ? UNMARKED : mark;
    if (counted < t->least) t->least = counted;
    uint32_t distance = distance_of(t, field, mark, p.at);
    if (distance == 0) {
        flr_contact_stencil around;
        flr_table_look_around(&t->frame, e->fields, &e->fields[field], p.at, mark, &around);
        if (t->frame.displacement == 0) p = flr_contact_place(&t->frame, chunk, point);
        flr_contact_add(&t->frame, p, mark, &around, point, label, &t->part, e->contacts,
                        e->def.capacity);
    }
    if (distance < 2) return;
    remember(e, point, p.at, distance);
    move_point(t, point, MANDATORY, queue_of(distance));
}

/* In the shell's order, so that sums come out as in the reference. */
static void serve_mandatory_points(turn *t)
{
    const flr_queues *points = &t->e->points;
    const flr_queue *q = &points->queue[MANDATORY];
    for (uint32_t block = 0; q->count && block < points->blocks; block++)
        for (uint64_t any = q->any[block]; any; any &= any - 1) {
            uint32_t word = block * 64 + (uint32_t)__builtin_ctzll(any);
            for (uint64_t rest = q->bits[word]; rest; rest &= rest - 1)
                test_mandatory(t, word * 64 + (uint32_t)__builtin_ctzll(rest));
        }
    add_up_to(t, t->frame.shell->point_count);
}

/* ---- chunks ---- */

/* A chunk comes near: from now on its points count one by one, all of them in this query. Or it is far again. */
static void disgorge(turn *t, uint32_t chunk)
{
    const flr_shell_chunk *c = &t->frame.shell->chunks[chunk];
    uint32_t count = 0;
    for (int label = 0; label < FLR_LABEL_COUNT; label++) count += c->count[label];
    flr_queue_add_run(&t->e->points.queue[MANDATORY], c->first, count, t->e->odometer);
    t->e->near[chunk] = true;
}

static void swallow(turn *t, uint32_t chunk)
{
    const flr_shell_chunk *c = &t->frame.shell->chunks[chunk];
    for (int i = 0; i < FLR_QUEUES; i++)
        flr_queue_remove_run(&t->e->points.queue[i], c->first, c->padded);
    t->e->near[chunk] = false;
}

static void test_chunk(turn *t, uint32_t chunk, uint32_t queue)
{
    flr_coherent *e = t->e;
    const flr_shell_chunk *c = &t->frame.shell->chunks[chunk];
    double room = sphere_room(t, in_voxels(t, c->centre), (double)c->radius);
    t->tested++;
    t->lookups++;
    bool near = room < (e->near[chunk] ? SETTLE : HALF_CHUNK);
    uint32_t to = near                                     ? MANDATORY
                  : room >= HALF_CHUNK * COHERENT_FARTHEST ? COHERENT_FARTHEST
                                                           : (uint32_t)(room / HALF_CHUNK);
    if (near && !e->near[chunk]) disgorge(t, chunk);
    if (!near && e->near[chunk]) swallow(t, chunk);
    if (to == queue) return;
    flr_queue_remove(&e->chunks.queue[queue], chunk);
    flr_queue_add(&e->chunks.queue[to], chunk, e->odometer);
}

static void serve_mandatory_chunks(turn *t)
{
    const flr_queues *chunks = &t->e->chunks;
    const flr_queue *q = &chunks->queue[MANDATORY];
    for (uint32_t block = 0; q->count && block < chunks->blocks; block++)
        for (uint64_t any = q->any[block]; any; any &= any - 1) {
            uint32_t word = block * 64 + (uint32_t)__builtin_ctzll(any);
            for (uint64_t rest = q->bits[word]; rest; rest &= rest - 1)
                test_chunk(t, word * 64 + (uint32_t)__builtin_ctzll(rest), MANDATORY);
        }
}

/* ---- the round robin ---- */

/* Serves a queue in which everybody can wait for `patience` voxels of travel: its share by Eq. 3, and who is overdue. */
static void serve(turn *t, flr_queues *queues, uint32_t i, double patience,
                  void (*test)(turn *t, uint32_t item, uint32_t queue))
{
    flr_queue *q = &queues->queue[i];
    double odometer = t->e->odometer;
    double share = ceil(t->travel * q->count / patience);
    for (uint32_t rest = share < q->count ? (uint32_t)share : q->count; rest && q->count; rest--)
        test(t, flr_queue_next(queues, q, odometer), i);
    while (q->count && odometer - flr_queue_since(q) > patience - SAFETY)
        test(t, flr_queue_next(queues, q, odometer), i);
}

static void serve_all(turn *t)
{
    flr_coherent *e = t->e;
    for (uint32_t i = 1; i < FLR_QUEUES; i++) serve(t, &e->chunks, i, HALF_CHUNK * i, test_chunk);
    serve_mandatory_chunks(t);
    for (uint32_t i = 2; i < FLR_QUEUES; i++) serve(t, &e->points, i, 0.5 * i, test_waiting);
    serve_mandatory_points(t);
}

/* Eq. 2 with the correction that it is an upper bound of half a voxel that is meant; in voxels. While the whole shell is
 * far, it may travel to where it no longer is. */
static double travel_limit(const flr_coherent *e, double room)
{
    double burden = 0;
    for (uint32_t i = 1; i < FLR_QUEUES; i++)
        burden +=
            e->points.queue[i].count / (0.5 * i) + e->chunks.queue[i].count / (HALF_CHUNK * i);
    double spare = e->def.tests_per_frame - e->points.queue[MANDATORY].count -
                   e->chunks.queue[MANDATORY].count;
    double most = flr_larger(0.5, room);
    double limit = spare < burden * most ? spare / burden : most;
    return flr_larger(limit, e->def.least_travel);
}

/* Voxels to contact, at least: what nobody who waits can have travelled. */
static double least_room(const flr_coherent *e)
{
    double least = INFINITY;
    for (uint32_t i = 1; i < FLR_QUEUES; i++) {
        const flr_queue *p = &e->points.queue[i], *c = &e->chunks.queue[i];
        if (p->count) least = fmin(least, 0.5 * i - (e->odometer - flr_queue_since(p)));
        if (c->count) least = fmin(least, HALF_CHUNK * i - (e->odometer - flr_queue_since(c)));
    }
    return flr_larger(least, 0);
}

/* ---- a query ---- */

/* Everything is unknown: every chunk is to be looked at. */
static void begin_anew(turn *t)
{
    flr_coherent *e = t->e;
    flr_queues_clear(&e->points);
    flr_queues_clear(&e->chunks);
    memset(e->near, 0, e->def.shell->chunk_count);
    flr_queue_add_run(&e->chunks.queue[MANDATORY], 0, e->def.shell->chunk_count, 0);
    e->odometer = 0;
    e->upper = INFINITY;
    t->travel = 0;
}

/* Compares with the last query; true when nothing of it can be used. */
static bool compare(turn *t, flr_coherent_result *result)
{
    flr_coherent *e = t->e;
    const flr_shell *shell = e->def.shell;
    flr_vec3 centre = in_voxels(t, shell->centre);
    double radius = (double)shell->radius * t->per_metre + fabs(t->frame.displacement);
    t->travel = farthest(e->rotation, t->frame.rotation, flr_vec3_sub(centre, e->centre), radius);
    bool same = e->begun && e->force_mark == t->frame.force_mark &&
                e->awareness == t->frame.awareness && e->displacement == t->frame.displacement;
    result->travel = e->begun ? t->travel / t->per_metre : 0;
    result->exceeded = e->begun && t->travel > e->limit * (1 + 1e-9) + 1e-12;
    e->begun = true;
    e->rotation = t->frame.rotation;
    e->centre = centre;
    e->force_mark = t->frame.force_mark;
    e->awareness = t->frame.awareness;
    e->displacement = t->frame.displacement;
    return !same || !(t->travel < RESCAN);
}

static void begin(turn *t)
{
    const flr_voxmap_header *h = t->e->def.voxmap->header;
    t->limit = t->frame.force_mark + 1;
    t->beyond = (h->bits == 2 ? FLR_MARK_SURFACE + 1 : h->range + FLR_MARK_SURFACE) + 1 - t->limit;
    t->inside = h->stats.interior_voxels || h->offset ? (h->bits == 2 ? 1 : h->range + 1) : 0;
    t->per_metre = 1 / h->grid.voxel;
    t->around = fabs(t->frame.displacement) + SAFETY;
    t->reach = t->frame.force_mark - 1.0;
    t->sums = t->part = flr_contact_no_sums();
    t->least = UNMARKED + 1; /* none yet */
}

/* The bounds of the distance: of what is mandatory the least mark tells; nobody else is nearer than his room; and what was the
 * upper bound before grew by no more than the way. */
static void bound(turn *t)
{
    flr_coherent *e = t->e;
    double s = 1 / t->per_metre;
    if (t->least <= UNMARKED)
        flr_contact_bound(&t->frame, t->least == UNMARKED ? FLR_MARK_FREE : t->least, &t->sums);
    double around = flr_contact_around(e->def.shell, e->displacement * s);
    double lower = flr_larger(0, (t->reach + least_room(e)) * s - around);
    if (lower < t->sums.lower) t->sums.lower = lower;
    double upper = (e->upper + t->travel) * s;
    if (upper < t->sums.upper) t->sums.upper = upper;
    e->upper = t->sums.upper * t->per_metre;
}

void flr_coherent_query(flr_coherent *engine, flr_pose T_world_shell, flr_pose T_world_voxmap,
                        const flr_contact_params *params, flr_coherent_result *result)
{
    turn t = {.e = engine};
    *result = (flr_coherent_result){.contact = flr_contact_nothing(), .max_travel = INFINITY};
    if (!flr_contact_begin(&t.frame, engine->def.shell, engine->def.voxmap, T_world_shell,
                           T_world_voxmap, params)) {
        engine->begun = false;
        return;
    }
    begin(&t);
    result->rescanned = compare(&t, result);
    if (result->rescanned) begin_anew(&t);
    engine->odometer += t.travel;
    serve_all(&t);
    double room = sphere_room(&t, engine->centre, (double)engine->def.shell->radius);
    engine->limit = travel_limit(engine, room);
    bound(&t);

    flr_contact_finish(&t.frame, &t.sums, &result->contact);
    result->contact.points_tested = t.tested;
    result->contact.far = room > 0;
    result->lookups = t.lookups;
    result->max_travel = engine->limit / t.per_metre;
    for (uint32_t i = 1; i < FLR_QUEUES; i++)
        result->waiting += engine->points.queue[i].count + engine->chunks.queue[i].count;
    result->late = (double)t.tested > engine->def.tests_per_frame;
}

double flr_coherent_calibrate(flr_coherent *engine, flr_env *env, flr_pose T_world_shell,
                              flr_pose T_world_voxmap, const flr_contact_params *params,
                              double seconds)
{
    flr_coherent_result r;
    double best = 0; /* tests per second */
    int64_t begin = flr_clock_ns(env), before = begin, now = begin;
    /* the first round fetches the memory; then for 20 ms, or three times */
    for (int round = 0; round < 4 || (now - begin < 20000000 && round < 1000); round++) {
        flr_coherent_reset(engine);
        flr_coherent_query(engine, T_world_shell, T_world_voxmap, params, &r);
        now = flr_clock_ns(env);
        if (round && now > before)
            best = fmax(best, (double)r.contact.points_tested * 1e9 / (double)(now - before));
        before = now;
    }
    flr_coherent_reset(engine);
    if (best * seconds >= 1 && best * seconds < 1e12) engine->def.tests_per_frame = best * seconds;
    return engine->def.tests_per_frame;
}
