/* mass properties by exact integrals over tetrahedra and triangles */
#include "feeler/mesh_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/sets.h"
#include "base/text.h"

static const double SHEET_OPENING = 0.25;   /* of the surface: rule 2 in the header */
static const double SHEET_THICKNESS = 0.01; /* of the diagonal */
static const double NO_VOLUME = 1e-9;       /* volume / area^(3/2); a ball has 0.094 */
enum { MASS_LARGEST = 64 };                 /* components in which a cavity is looked for */

/* integrals of 1, x and x x^T over a body or a surface */
typedef struct moments {
    double zeroth;
    flr_vec3 first;
    double xx, yy, zz, xy, xz, yz;
} moments;

typedef enum role { MASS_SOLID, CAVITY, SHEET } role;

/* what is known of a component; all moments are about `origin`, so that a small component far out
 * loses no digits */
typedef struct mass_component {
    flr_box3 box;
    flr_vec3 origin;
    moments body, surface;
    double open_area;
    role role;
} mass_component;

/* the rim of one or several holes that touch: edges whose sides do not cancel */
typedef struct mass_rim {
    flr_vec3 sum; /* of the edges' middles times length */
    double length;
    flr_vec3 area; /* of the fan that closes it, as a vector */
} mass_rim;

/* factor * (sum over the corners of v v^T, and s s^T of their sum) */
static void add_second(moments *m, double factor, flr_vec3 a, flr_vec3 b, flr_vec3 c, flr_vec3 s)
{
    m->xx += factor * (a.x * a.x + b.x * b.x + c.x * c.x + s.x * s.x);
    m->yy += factor * (a.y * a.y + b.y * b.y + c.y * c.y + s.y * s.y);
    m->zz += factor * (a.z * a.z + b.z * b.z + c.z * c.z + s.z * s.z);
    m->xy += factor * (a.x * a.y + b.x * b.y + c.x * c.y + s.x * s.y);
    m->xz += factor * (a.x * a.z + b.x * b.z + c.x * c.z + s.x * s.z);
    m->yz += factor * (a.y * a.z + b.y * b.z + c.y * c.z + s.y * s.z);
}

/* the tetrahedron from the origin to a triangle, `count` times: the integrals of 1, x, x x^T
 * are d/6, d/24 s and d/120 (sum v v^T + s s^T) with the determinant d and the sum s */
static void add_body(moments *m, double count, flr_vec3 a, flr_vec3 b, flr_vec3 c)
{
    double d = count * flr_vec3_dot(a, flr_vec3_cross(b, c));
    flr_vec3 s = flr_vec3_add(flr_vec3_add(a, b), c);
    m->zeroth += d / 6;
    m->first = flr_vec3_add_scaled(m->first, d / 24, s);
    add_second(m, d / 120, a, b, c, s);
}

/* the triangle itself: A, A/3 s and A/12 (...) */
static void add_surface(moments *m, flr_vec3 a, flr_vec3 b, flr_vec3 c)
{
    double area = flr_vec3_length(flr_vec3_cross(flr_vec3_sub(b, a), flr_vec3_sub(c, a))) / 2;
    flr_vec3 s = flr_vec3_add(flr_vec3_add(a, b), c);
    m->zeroth += area;
    m->first = flr_vec3_add_scaled(m->first, area / 3, s);
    add_second(m, area / 12, a, b, c, s);
}

/* mass, centre and tensor about it; `origin` is where the moments were taken about */
static flr_inertia inertia_of(const moments *m, flr_vec3 origin, double density)
{
    flr_vec3 r = flr_vec3_scale(m->first, 1 / m->zeroth);
    double v = m->zeroth;
    double xx = m->xx - v * r.x * r.x, yy = m->yy - v * r.y * r.y, zz = m->zz - v * r.z * r.z;
    double xy = m->xy - v * r.x * r.y, xz = m->xz - v * r.x * r.z, yz = m->yz - v * r.y * r.z;
    flr_mat3 tensor = {{{yy + zz, -xy, -xz}, {-xy, xx + zz, -yz}, {-xz, -yz, xx + yy}}};
    return (flr_inertia){density * v, flr_vec3_add(origin, r), flr_mat3_scale(tensor, density)};
}

/* ---- pass 1: boxes; pass 2: triangles ---- */

static void sum_triangles(const flr_mesh *mesh, const flr_adjacency *adjacency,
                          mass_component *components)
{
    for (uint32_t i = 0; i < adjacency->component_count; i++)
        components[i] = (mass_component){.box = flr_box3_empty()};
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        mass_component *s = &components[adjacency->triangle_component[t]];
        for (int k = 0; k < 3; k++)
            s->box = flr_box3_add(s->box, mesh->vertices[mesh->triangles[t].v[k]]);
    }
    for (uint32_t i = 0; i < adjacency->component_count; i++)
        components[i].origin = flr_box3_centre(components[i].box);

    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        mass_component *s = &components[adjacency->triangle_component[t]];
        flr_vec3 v[3];
        for (int k = 0; k < 3; k++)
            v[k] = flr_vec3_sub(mesh->vertices[mesh->triangles[t].v[k]], s->origin);
        add_body(&s->body, 1, v[0], v[1], v[2]);
        add_surface(&s->surface, v[0], v[1], v[2]);
    }
}

/* ---- pass 3: holes ---- */

/* how often more the edge is run through from its lower to its upper vertex than back */
static int excess(const flr_mesh *mesh, const flr_adjacency *adjacency, uint32_t edge)
{
    int sum = 0;
    for (uint32_t i = adjacency->edge_first[edge]; i < adjacency->edge_first[edge + 1]; i++) {
        uint32_t side = adjacency->edge_sides[i];
        sum += mesh->triangles[side / 3].v[side % 3] == adjacency->edges[edge].v[0] ? 1 : -1;
    }
    return sum;
}

/* numbers the rims: edges that do not cancel and hang together by vertices. `vertex_rim` gets
 * the rim of each vertex or FLR_NONE; returns how many there are */
static uint32_t number_rims(const flr_mesh *mesh, const flr_adjacency *adjacency,
                            uint32_t *vertex_rim)
{
    for (uint32_t v = 0; v < mesh->vertex_count; v++) vertex_rim[v] = FLR_NONE;
    for (uint32_t e = 0; e < adjacency->edge_count; e++) {
        if (adjacency->edge_kind[e] == FLR_EDGE_REGULAR || !excess(mesh, adjacency, e)) continue;
        uint32_t a = adjacency->edges[e].v[0], b = adjacency->edges[e].v[1];
        if (vertex_rim[a] == FLR_NONE) vertex_rim[a] = a;
        if (vertex_rim[b] == FLR_NONE) vertex_rim[b] = b;
        flr_join(vertex_rim, a, b);
    }

    /* parents stand before their children: turn them into numbers from the front */
    uint32_t count = 0;
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        if (vertex_rim[v] != FLR_NONE)
            vertex_rim[v] = vertex_rim[v] == v ? count++ : vertex_rim[vertex_rim[v]];
    return count;
}

/* the middle of every rim, then a fan from there to each of its edges. The edges that do not
 * cancel form cycles, whatever the mesh is like, so the fans close it exactly. */
static void close_rims(const flr_mesh *mesh, const flr_adjacency *adjacency,
                       mass_component *components, const uint32_t *vertex_rim, mass_rim *rims)
{
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t e = 0; e < adjacency->edge_count; e++) {
            if (adjacency->edge_kind[e] == FLR_EDGE_REGULAR) continue;
            int count = excess(mesh, adjacency, e);
            if (count == 0) continue;
            mass_rim *r = &rims[vertex_rim[adjacency->edges[e].v[0]]];
            flr_vec3 a = mesh->vertices[adjacency->edges[e].v[0]];
            flr_vec3 b = mesh->vertices[adjacency->edges[e].v[1]];
            if (pass == 0) {
                double length = abs(count) * flr_vec3_distance(a, b);
                r->sum = flr_vec3_add_scaled(r->sum, length, flr_vec3_lerp(a, b, 0.5));
                r->length += length;
                continue;
            }
            uint32_t any_side = adjacency->edge_sides[adjacency->edge_first[e]];
            mass_component *s = &components[adjacency->triangle_component[any_side / 3]];
            flr_vec3 middle = flr_vec3_sub(flr_vec3_scale(r->sum, 1 / r->length), s->origin);
            a = flr_vec3_sub(a, s->origin);
            b = flr_vec3_sub(b, s->origin);
            /* backwards along the edge, for the surface runs forward */
            add_body(&s->body, count, middle, b, a);
            flr_vec3 fan = flr_vec3_cross(flr_vec3_sub(b, middle), flr_vec3_sub(a, middle));
            r->area = flr_vec3_add_scaled(r->area, count / 2.0, fan);
        }
    }
}

/* the opening of a component is the sum over its rims; a rim belongs to one component */
static void sum_openings(const flr_mesh *mesh, const flr_adjacency *adjacency,
                         mass_component *components, const uint32_t *vertex_rim,
                         const mass_rim *rims)
{
    uint32_t next = 0; /* rims are numbered by their first vertex */
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        if (vertex_rim[v] != next) continue;
        uint32_t t = adjacency->vertex_triangles[adjacency->vertex_first[v]];
        components[adjacency->triangle_component[t]].open_area +=
            flr_vec3_length(rims[next++].area);
    }
}

static bool close_holes(const flr_mesh *mesh, const flr_adjacency *adjacency,
                        mass_component *components)
{
    if (flr_adjacency_is_closed(adjacency)) return true;
    uint32_t *vertex_rim = malloc(mesh->vertex_count * sizeof *vertex_rim);
    if (!vertex_rim) return false;
    uint32_t count = number_rims(mesh, adjacency, vertex_rim);
    mass_rim *rims = calloc(count ? count : 1, sizeof *rims);
    if (rims) {
        close_rims(mesh, adjacency, components, vertex_rim, rims);
        sum_openings(mesh, adjacency, components, vertex_rim, rims);
    }
    free(vertex_rim);
    free(rims);
    return rims != NULL;
}

/* ---- what each component is ---- */

static bool box_within(flr_box3 inner, flr_box3 outer)
{
    return flr_box3_contains(outer, inner.low) && flr_box3_contains(outer, inner.high);
}

static void turn(mass_component *s)
{
    moments *m = &s->body;
    *m = (moments){-m->zeroth, flr_vec3_neg(m->first), -m->xx, -m->yy, -m->zz, -m->xy, -m->xz,
                   -m->yz};
}

/* the numbers of the largest solids by volume, largest first; returns how many */
static uint32_t find_largest(const mass_component *components, uint32_t count,
                             uint32_t largest[MASS_LARGEST])
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        double volume = components[i].body.zeroth;
        if (components[i].role != MASS_SOLID || !(volume > 0)) continue;
        uint32_t at = found;
        while (at > 0 && components[largest[at - 1]].body.zeroth < volume) at--;
        if (at == MASS_LARGEST) continue;
        found += found < MASS_LARGEST;
        for (uint32_t j = found - 1; j > at; j--) largest[j] = largest[j - 1];
        largest[at] = i;
    }
    return found;
}

/* rules 2 to 4 */
static void judge(mass_component *components, uint32_t count, flr_mass *mass)
{
    double total = 0;
    for (uint32_t i = 0; i < count; i++) {
        mass_component *s = &components[i];
        double area = s->surface.zeroth;
        bool sheet = s->open_area > SHEET_OPENING * area ||
                     fabs(s->body.zeroth) <= NO_VOLUME * area * sqrt(area);
        s->role = sheet ? SHEET : MASS_SOLID;
        mass->area += area;
        mass->open_area += s->open_area;
        mass->signed_volume += s->body.zeroth;
        if (!sheet) total += s->body.zeroth;
    }

    mass->inverted = total < 0;
    if (mass->inverted)
        for (uint32_t i = 0; i < count; i++) turn(&components[i]);

    uint32_t largest[MASS_LARGEST];
    uint32_t candidates = find_largest(components, count, largest);
    for (uint32_t i = 0; i < count; i++) {
        mass_component *s = &components[i];
        if (s->role != MASS_SOLID || s->body.zeroth > 0) continue;
        for (uint32_t j = 0; j < candidates && s->role == MASS_SOLID; j++) {
            const mass_component *around = &components[largest[j]];
            if (around->body.zeroth > -s->body.zeroth && box_within(s->box, around->box))
                s->role = CAVITY;
        }
        if (s->role == MASS_SOLID) {
            turn(s);
            mass->turned_count++;
        }
    }
}

/* ---- the sum ---- */

/* the solids and sheets on one side, the cavities on the other; both as positive bodies */
static void add_up(mass_component *components, uint32_t count, double density, flr_mass *mass)
{
    flr_inertia full = {0}, hollow = {0};
    double full_volume = 0, hollow_volume = 0;
    for (uint32_t i = 0; i < count; i++) {
        mass_component *s = &components[i];
        if (s->role == CAVITY) {
            turn(s);
            hollow = flr_inertia_add(hollow, inertia_of(&s->body, s->origin, density));
            hollow_volume += s->body.zeroth;
            mass->cavity_count++;
        } else if (s->role == MASS_SOLID) {
            full = flr_inertia_add(full, inertia_of(&s->body, s->origin, density));
            full_volume += s->body.zeroth;
            mass->solid_count++;
        } else {
            double thickness = SHEET_THICKNESS * flr_vec3_length(flr_box3_size(s->box));
            mass->sheet_count++;
            if (!(s->surface.zeroth > 0)) continue; /* a line or a point weighs nothing */
            full = flr_inertia_add(full, inertia_of(&s->surface, s->origin, density * thickness));
            full_volume += thickness * s->surface.zeroth;
        }
    }

    mass->inertia = full;
    mass->volume = full_volume;
    if (mass->cavity_count == 0) return;

    /* cavities that share one place can take away more than there is: then they are none */
    flr_inertia minus = {-hollow.mass, hollow.centre, flr_mat3_scale(hollow.tensor, -1)};
    flr_inertia rest = flr_inertia_add(full, minus);
    if (flr_inertia_is_valid(rest)) {
        mass->inertia = rest;
        mass->volume -= hollow_volume;
    } else {
        mass->inertia = flr_inertia_add(full, hollow);
        mass->volume += hollow_volume;
        mass->turned_count += mass->cavity_count;
        mass->solid_count += mass->cavity_count;
        mass->cavity_count = 0;
    }
}

static flr_result compute(const flr_mesh *mesh, const flr_adjacency *adjacency, double density,
                          flr_mass *mass, flr_error *error)
{
    mass_component *components = malloc(adjacency->component_count * sizeof *components);
    if (components) sum_triangles(mesh, adjacency, components);
    if (!components || !close_holes(mesh, adjacency, components)) {
        free(components);
        return flr_fail(error, FLR_NO_MEMORY, "out of memory while weighing %u triangles",
                        mesh->triangle_count);
    }

    flr_mass result = {.closed = flr_adjacency_is_closed(adjacency)};
    judge(components, adjacency->component_count, &result);
    add_up(components, adjacency->component_count, density, &result);
    free(components);
    if (!(result.volume > 0))
        return flr_fail(error, FLR_BAD_INPUT, "the mesh has no area: its %u %s",
                        mesh->triangle_count,
                        flr_noun(mesh->triangle_count, "triangle is a line or a point",
                                 "triangles are lines or points"));
    *mass = result;
    return FLR_OK;
}

flr_result flr_mass_compute(const flr_mesh *mesh, const flr_adjacency *adjacency, double density,
                            flr_mass *mass, flr_error *error)
{
    if (!(density > 0) || !isfinite(density))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "density %g kg/m^3: give a number above 0, such as 2700", density);
    if (adjacency) return compute(mesh, adjacency, density, mass, error);

    flr_adjacency *own;
    flr_result result = flr_adjacency_create(mesh, &own, error);
    if (result != FLR_OK) return result;
    result = compute(mesh, own, density, mass, error);
    flr_adjacency_destroy(own);
    return result;
}
