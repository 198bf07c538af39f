/* impacts: sphere trees of all parts that may touch, one after the other, and one solution for all of them */
#include "world/impacts.h"

#include <math.h>
#include <stdlib.h>

#include "base/prefault.h"

#define SLOP                                                                                       \
    0.25 /* voxels of depth that are left, so that a part that lies on another keeps touching it */
enum { IMPACTS_COARSE = 256 }; /* cubes that are taken where there was no time for voxels */

/* what is known of a part besides its impulses */
typedef struct impacts_entry {
    const flr_sphere_tree *tree;
    double voxel; /* metres */
    flr_pose T_world_part;
    bool moves;
    uint32_t contacts;
    double room;
} impacts_entry;

struct flr_impacts {
    uint32_t part_count;
    impacts_entry *entries;   /* [part_count] */
    flr_impulse_body *bodies; /* [part_count] */
    flr_spheres *spheres;
    flr_impulse *impulse;
    flr_world_impact *list; /* [list_room] */
    uint32_t list_room, list_count;
    flr_voxel_pair coarse[IMPACTS_COARSE];
};

flr_result flr_impacts_create(uint32_t parts, uint32_t contacts, unsigned threads,
                              flr_impacts **impacts, flr_error *error)
{
    flr_impacts *made = calloc(1, sizeof *made);
    flr_result result = FLR_OK;
    if (made) {
        made->part_count = parts;
        made->list_room = contacts;
        made->entries = flr_prefaulted_calloc((size_t)parts + 1, sizeof *made->entries);
        made->bodies = flr_prefaulted_calloc((size_t)parts + 1, sizeof *made->bodies);
        made->list = flr_prefaulted_calloc((size_t)contacts + 1, sizeof *made->list);
    }
    if (!made || !made->entries || !made->bodies || !made->list)
        result =
            flr_fail(error, FLR_NO_MEMORY, "not enough memory for the impacts of %u parts", parts);
    flr_spheres_def room = flr_default_spheres_def();
    room.threads = threads;
    if (result == FLR_OK) result = flr_spheres_create(&room, &made->spheres, error);
    if (result == FLR_OK) result = flr_impulse_create(room.listed, &made->impulse, error);
    if (result != FLR_OK) {
        flr_impacts_destroy(made);
        return result;
    }
    *impacts = made;
    return FLR_OK;
}

void flr_impacts_destroy(flr_impacts *impacts)
{
    if (!impacts) return;
    flr_spheres_destroy(impacts->spheres);
    flr_impulse_destroy(impacts->impulse);
    free(impacts->entries);
    free(impacts->bodies);
    free(impacts->list);
    free(impacts);
}

void flr_impacts_set_tree(flr_impacts *impacts, uint32_t part, const flr_sphere_tree *tree)
{
    impacts->entries[part].tree = tree;
    impacts->entries[part].voxel = tree ? flr_sphere_tree_get_info(tree).voxel : 0;
}

void flr_impacts_set_body(flr_impacts *impacts, uint32_t part, const flr_body *body,
                          flr_twist twist, bool moves, bool calm)
{
    impacts_entry *e = &impacts->entries[part];
    e->T_world_part = body->T_world_part;
    e->moves = moves;
    e->contacts = 0;
    e->room = INFINITY;
    impacts->bodies[part] = moves ? flr_impulse_body_make(body->inertia, body->T_world_part, twist)
                                  : flr_impulse_body_fixed();
    impacts->bodies[part].calm = calm;
}

/* For those who want to look. */
static void list(flr_impacts *impacts, const flr_voxel_pair *pairs, uint32_t count, uint32_t a,
                 uint32_t b)
{
    for (uint32_t i = 0; i < count && impacts->list_count < impacts->list_room; i++)
        impacts->list[impacts->list_count++] =
            (flr_world_impact){.part_a = a,
                               .part_b = b,
                               .point = flr_vec3_lerp(pairs[i].centre_a, pairs[i].centre_b, 0.5),
                               .normal = pairs[i].normal,
                               .depth = pairs[i].depth};
}

/* Surfaces are two voxels thick together: who goes one in a frame cannot get through them unseen. */
static void make_room(impacts_entry *a, impacts_entry *b, double voxel)
{
    double room = a->moves && b->moves ? voxel / 2 : voxel;
    a->room = fmin(a->room, room);
    b->room = fmin(b->room, room);
}

static flr_spheres_side side_of(const flr_impacts *impacts, uint32_t part)
{
    const flr_impulse_body *body = &impacts->bodies[part];
    return (flr_spheres_side){impacts->entries[part].tree, impacts->entries[part].T_world_part,
                              body->twist, body->centre};
}

/* Asks two parts and keeps what touches. */
static void ask(flr_impacts *impacts, uint32_t a, uint32_t b, const flr_spheres_params *params,
                double slop, flr_impacts_report *report)
{
    flr_spheres_side left = side_of(impacts, a), right = side_of(impacts, b);
    flr_spheres_result found;
    flr_spheres_query(impacts->spheres, &left, &right, params, &found);
    const flr_voxel_pair *pairs = flr_spheres_list(impacts->spheres);
    uint32_t count = found.listed;
    if (!found
             .complete) { /* they stop each other there; how deep they are in each other is not known */
        count = count < IMPACTS_COARSE ? count : IMPACTS_COARSE;
        for (uint32_t i = 0; i < count; i++) {
            impacts->coarse[i] = pairs[i];
            impacts->coarse[i].depth = fmin(pairs[i].depth, slop);
        }
        pairs = impacts->coarse;
        report->coarse++;
    }
    flr_impulse_add(impacts->impulse, pairs, count, a, b);
    list(impacts, pairs, count, a, b);
    double voxel = fmin(impacts->entries[a].voxel, impacts->entries[b].voxel);
    for (uint32_t i = 0; i < count; i++) report->deep += pairs[i].depth > voxel;
    impacts->entries[a].contacts += count;
    impacts->entries[b].contacts += count;
    report->tests += found.tests;
    report->contacts += count;
}

void flr_impacts_resolve(flr_impacts *impacts, const flr_pair *pairs, uint32_t count,
                         const flr_impulse_params *params, uint64_t budget,
                         flr_impacts_report *report)
{
    *report = (flr_impacts_report){0};
    impacts->list_count = 0;
    flr_impulse_clear(impacts->impulse);
    flr_impulse_params how = *params;
    double least = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = pairs[i].shell, b = pairs[i].voxmap;
        if (a >= impacts->part_count || b >= impacts->part_count) continue;
        impacts_entry *left = &impacts->entries[a], *right = &impacts->entries[b];
        if (!left->tree || !right->tree) continue;
        double voxel = fmin(left->voxel, right->voxel);
        least = fmin(least, voxel);
        make_room(left, right, voxel);
        flr_spheres_params ask_for = flr_default_spheres_params();
        if (budget) ask_for.budget = report->tests < budget ? budget - report->tests : 1;
        ask(impacts, a, b, &ask_for, SLOP * voxel, report);
    }
    how.slop = isfinite(least) ? SLOP * least : how.slop;
    flr_impulse_result result;
    flr_impulse_solve(impacts->impulse, impacts->bodies, impacts->part_count, &how, &result);
    report->deepest = result.deepest;
}

flr_impacts_part flr_impacts_get(const flr_impacts *impacts, uint32_t part)
{
    const flr_impulse_body *body = &impacts->bodies[part];
    return (flr_impacts_part){.twist = body->twist,
                              .shift = {body->shift.angular, body->shift.linear},
                              .contacts = impacts->entries[part].contacts,
                              .room = impacts->entries[part].room};
}

const flr_world_impact *flr_impacts_list(const flr_impacts *impacts, uint32_t *count)
{
    *count = impacts->list_count;
    return impacts->list;
}
