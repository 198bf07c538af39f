/* Closed components: which are inside out, which lie in which. */
#include <math.h>
#include <stdlib.h>

#include "mesh/check_tree.h"
#include "mesh/checking.h"

/* What is known of one component. */
typedef struct check_components_component {
    flr_box3 box;
    double volume;  /* signed, cubic metres */
    uint32_t first; /* where its triangles begin in the list */
    uint32_t count; /* of triangles */
    uint32_t depth; /* how many closed components it lies in */
    bool open;      /* some edge has not two sides that agree */
} check_components_component;

typedef struct components {
    check_components_component *all; /* [adjacency->component_count] */

    uint32_t *triangles; /* [triangle_count], component by component, rising */
    /* what rays find: how often each component winds around a point, and around how many samples */
    int32_t *windings;    /* [component_count], 0 between rays */
    uint8_t *around;      /* [component_count], 0 between components */
    uint32_t *met;        /* [component_count] the components with windings */
    uint32_t *candidates; /* [component_count] the components with around */
} components;

static double size_of(flr_box3 box)
{
    const flr_vec3 d = flr_vec3_sub(box.high, box.low);
    return fmax(fmax(d.x, d.y), d.z);
}

static void gather(const flr_checking *c, components *s)
{
    const flr_adjacency *a = c->adjacency;
    const flr_mesh *mesh = c->mesh;
    /* lists of triangles: count, sum up, fill */
    for (uint32_t t = 0; t < a->triangle_count; t++) s->all[a->triangle_component[t]].count++;
    for (uint32_t i = 1; i < a->component_count; i++)
        s->all[i].first = s->all[i - 1].first + s->all[i - 1].count;
    for (uint32_t i = 0; i < a->component_count; i++) s->all[i].count = 0;

    const flr_vec3 origin = flr_vec3_lerp(mesh->bounds.low, mesh->bounds.high, 0.5);
    for (uint32_t t = 0; t < a->triangle_count; t++) {
        check_components_component *in = s->all + a->triangle_component[t];
        s->triangles[in->first + in->count] = t;
        flr_vec3 p[3];
        for (int k = 0; k < 3; k++) {
            p[k] = mesh->vertices[mesh->triangles[t].v[k]];
            const bool new = in->count == 0 && k == 0;
            in->box.low = new ? p[k] : flr_vec3_min(in->box.low, p[k]);
            in->box.high = new ? p[k] : flr_vec3_max(in->box.high, p[k]);
            p[k] = flr_vec3_sub(p[k], origin);
        }
        in->volume += flr_vec3_dot(p[0], flr_vec3_cross(p[1], p[2])) / 6;
        in->count++;
    }
    for (uint32_t e = 0; e < a->edge_count; e++)
        if (a->edge_kind[e] != FLR_EDGE_REGULAR)
            s->all[a->triangle_component[a->edge_sides[a->edge_first[e]] / 3]].open = true;
}

/* a component can be judged when it is closed and its volume is more than rounding */
static bool judged(const check_components_component *s)
{
    const double size = size_of(s->box);
    return !s->open && fabs(s->volume) > 1e-9 * size * size * size;
}

/* a ray upwards on its way */
typedef struct ray {
    const flr_checking *c;
    components *s;
    flr_vec3 p;
    uint32_t met_count;
} ray;

/* On which side of the line through two vertices, seen from above, the point is: -1 or 1. Both
 * triangles at an edge ask in the same order and hear the same, so a closed surface has no gaps
 * for the ray; a point on the line counts as moved a little in x, and still less in y. */
static int line_side(const flr_mesh *mesh, uint32_t from, uint32_t to, flr_vec3 p)
{
    const bool turned = from > to;
    const flr_vec3 a = mesh->vertices[turned ? to : from], b = mesh->vertices[turned ? from : to];
    double side = (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
    if (side == 0) side = a.y - b.y;
    if (side == 0) side = b.x - a.x;
    return (side > 0) != turned ? 1 : -1;
}

static void meet(void *context, uint32_t triangle)
{
    ray *r = context;
    const flr_mesh *mesh = r->c->mesh;
    const uint32_t *v = mesh->triangles[triangle].v;
    const int side = line_side(mesh, v[0], v[1], r->p);
    if (side != line_side(mesh, v[1], v[2], r->p) || side != line_side(mesh, v[2], v[0], r->p))
        return;
    const flr_vec3 a = mesh->vertices[v[0]];
    const flr_vec3 n = flr_vec3_cross(flr_vec3_sub(mesh->vertices[v[1]], a),
                                      flr_vec3_sub(mesh->vertices[v[2]], a));
    /* above the point: its height over the plane is against the normal */
    if (!(flr_vec3_dot(n, flr_vec3_sub(r->p, a)) * n.z < 0)) return;
    const uint32_t number = r->c->adjacency->triangle_component[triangle];
    if (r->s->windings[number] == 0) r->s->met[r->met_count++] = number;
    r->s->windings[number] += side;
    if (r->s->windings[number] == 0) {
        /* out of it again: it may be met once more */
        uint32_t i = 0;
        while (r->s->met[i] != number) i++;
        r->s->met[i] = r->s->met[--r->met_count];
    }
}

/* In how many judged components a component lies. Its first, its middle and its last triangle must be
 * inside: components that only touch or cross another are not nested. */
static uint32_t depth_of(const flr_checking *c, const flr_check_tree *tree, components *s,
                         const check_components_component *inner)
{
    const uint32_t samples[3] = {0, inner->count / 2, inner->count - 1};
    uint32_t candidate_count = 0, depth = 0;
    for (int i = 0; i < 3; i++) {
        const uint32_t triangle = s->triangles[inner->first + samples[i]];
        ray r = {c, s, flr_checking_middle(c->mesh, triangle), 0};
        flr_check_tree_ray(tree, r.p, meet, &r);
        for (uint32_t k = 0; k < r.met_count; k++) {
            const uint32_t number = s->met[k];
            if (s->around[number]++ == 0) s->candidates[candidate_count++] = number;
            s->windings[number] = 0;
        }
    }
    for (uint32_t k = 0; k < candidate_count; k++) {
        const check_components_component *outer = s->all + s->candidates[k];
        depth += outer != inner && judged(outer) && s->around[s->candidates[k]] == 3;
        s->around[s->candidates[k]] = 0;
    }
    return depth;
}

static void report_components(flr_checking *c, const components *s)
{
    uint32_t inverted = 0, nested = 0, large = FLR_NONE, wrong = FLR_NONE;
    for (uint32_t i = 0; i < c->adjacency->component_count; i++) {
        const check_components_component *one = s->all + i;
        c->report->closed_component_count += !one->open;
        if (!judged(one) || (one->volume > 0) == (one->depth % 2 == 0)) continue;
        if (one->depth == 0) {
            inverted++;
            if (large == FLR_NONE || size_of(one->box) > size_of(s->all[large].box)) large = i;
        } else {
            nested++;
            if (wrong == FLR_NONE || size_of(one->box) > size_of(s->all[wrong].box)) wrong = i;
        }
    }
    if (inverted > 0) {
        const check_components_component *one = s->all + large;
        flr_check_finding *f =
            flr_checking_add(c, FLR_CHECK_INVERTED_COMPONENT, FLR_CHECK_WARNING, inverted);
        flr_checking_place(f, s->triangles[one->first],
                           flr_vec3_lerp(one->box.low, one->box.high, 0.5), size_of(one->box));
        flr_checking_say(f, "%u closed component%s inside out, the largest %s large around %s.",
                         inverted, flr_noun(inverted, " is", "s are"), FLR_LENGTH_TEXT(f->extent),
                         FLR_PLACE_TEXT(f->place));
        flr_checking_effect(f, "Does not matter for filling, which does not look at sides. Matters "
                               "for the contact normals of a moving part: they point the wrong "
                               "way. Turn the normals in the CAD program.");
    }
    if (nested > 0) {
        const check_components_component *one = s->all + wrong;
        flr_check_finding *f = flr_checking_add(c, FLR_CHECK_NESTING, FLR_CHECK_WARNING, nested);
        flr_checking_place(f, s->triangles[one->first],
                           flr_vec3_lerp(one->box.low, one->box.high, 0.5), size_of(one->box));
        flr_checking_say(f,
                         "%u closed component%s within others without being a cavity there, the "
                         "largest %s large around %s.",
                         nested, flr_noun(nested, " lies", "s lie"), FLR_LENGTH_TEXT(f->extent),
                         FLR_PLACE_TEXT(f->place));
        flr_checking_effect(f,
                            "Does not matter for voxels: everything within the outermost component "
                            "is inside. Matters for volume and mass, which count such places "
                            "more than once.");
    }
}

flr_result flr_check_components(flr_checking *c, const flr_check_tree *tree)
{
    const uint32_t count = c->adjacency->component_count;
    components s = {.all = calloc(count, sizeof *s.all),
                    .triangles = malloc((size_t)c->mesh->triangle_count * sizeof *s.triangles),
                    .windings = calloc(count, sizeof *s.windings),
                    .around = calloc(count, sizeof *s.around),
                    .met = malloc((size_t)count * sizeof *s.met),
                    .candidates = malloc((size_t)count * sizeof *s.candidates)};
    flr_result result = FLR_OK;
    if (s.all && s.triangles && s.windings && s.around && s.met && s.candidates) {
        gather(c, &s);
        for (uint32_t i = 0; i < count && count > 1; i++)
            if (judged(s.all + i)) s.all[i].depth = depth_of(c, tree, &s, s.all + i);
        report_components(c, &s);
    } else
        result = flr_checking_no_memory(c);
    free(s.all);
    free(s.triangles);
    free(s.windings);
    free(s.around);
    free(s.met);
    free(s.candidates);
    return result;
}
