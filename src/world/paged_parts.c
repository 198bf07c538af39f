/* parts whose voxels are read as they are needed: what a step says and asks before it looks */
#include "world/paged_parts.h"

#include <stdlib.h>

#include "contact/paging.h"

/* Looking takes some microseconds for each hyperchunk of points, so it is done for a little more than the step needs, and
 * again when the part has moved so far or something was taken away. */
#define SLACK 8 /* voxels */
#define NONE  UINT32_MAX

typedef struct paged_parts_known {
    bool ready;
    uint64_t withdrawn; /* flr_paging.withdrawn then */
    flr_pose T_voxmap_shell;
    double reach; /* metres, without the slack */
} paged_parts_known;

struct flr_pages {
    uint32_t count; /* parts of the world */
    struct {
        flr_paging *paging;     /* NULL: its voxels are all there */
        const flr_shell *shell; /* NULL: it never moves, or has no points */
        paged_parts_known
            *known; /* [count] of a paged part: what was found out about others; else NULL */
        /* parts of one shape have one pager: the first of them reports what all can reach */
        bool first;
        uint32_t next;        /* of the same pager; NONE: no more */
        flr_paging_user user; /* of the first */
    } parts[];
};

/* Which parts have the same pager. */
static void link_parts(flr_pages *pages)
{
    for (uint32_t i = 0; i < pages->count; i++) {
        pages->parts[i].next = NONE;
        if (!pages->parts[i].paging) continue;
        pages->parts[i].first = true;
        for (uint32_t k = i; k-- > 0 && pages->parts[i].first;) {
            if (pages->parts[k].paging != pages->parts[i].paging) continue;
            pages->parts[i].first = false;
            pages->parts[k].next = i; /* the nearest before it: the last of them so far */
        }
        if (pages->parts[i].first) flr_paging_join(pages->parts[i].paging, &pages->parts[i].user);
    }
}

flr_result flr_pages_create(const flr_world_part *parts, uint32_t count, flr_pages **pages,
                            flr_error *error)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        const flr_contact_table *table = parts[i].shape.table;
        if (!table || !table->paging) continue;
        if (parts[i].kind != FLR_PART_STATIC)
            return flr_fail(error, FLR_UNSUPPORTED,
                            "part %u: voxels of a part that moves cannot be paged; only those of a "
                            "part that stands",
                            i);
        any = true;
    }
    *pages = NULL;
    if (!any) return FLR_OK;
    flr_pages *made = calloc(1, sizeof *made + count * sizeof made->parts[0]);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory to page voxels");
    made->count = count;
    bool enough = true;
    for (uint32_t i = 0; i < count; i++) {
        made->parts[i].paging = parts[i].shape.table ? parts[i].shape.table->paging : NULL;
        made->parts[i].shell = parts[i].kind == FLR_PART_STATIC ? NULL : parts[i].shape.shell;
        if (!made->parts[i].paging) continue;
        made->parts[i].known = calloc(count, sizeof *made->parts[i].known);
        enough = enough && made->parts[i].known;
    }
    if (!enough) {
        flr_pages_destroy(made);
        return flr_fail(error, FLR_NO_MEMORY, "not enough memory to page voxels");
    }
    link_parts(made);
    *pages = made;
    return FLR_OK;
}

void flr_pages_destroy(flr_pages *pages)
{
    for (uint32_t i = 0; pages && i < pages->count; i++) {
        if (pages->parts[i].first) flr_paging_leave(pages->parts[i].paging, &pages->parts[i].user);
        free(pages->parts[i].known);
    }
    free(pages);
}

/* How far a point of the shell has gone at most from one pose to another, metres. */
static double travel(const flr_shell *shell, flr_pose from, flr_pose to)
{
    flr_vec3 c =
        flr_vec3_make((double)shell->centre[0], (double)shell->centre[1], (double)shell->centre[2]);
    flr_quat turn = flr_quat_mul(to.q, flr_quat_conjugate(from.q));
    /* the sine of half the angle: twice that is the chord on a unit sphere */
    double sine = flr_vec3_length(flr_vec3_make(turn.x, turn.y, turn.z));
    return flr_vec3_length(flr_vec3_sub(flr_pose_apply(to, c), flr_pose_apply(from, c))) +
           2 * sine * (double)shell->radius;
}

/* Is all there that the part can look at? In a step: after flr_paging_begin(). */
static bool is_ready(flr_paging *paging, paged_parts_known *k, const flr_paging_part *part)
{
    const double slack = SLACK * paging->voxmap->header->grid.voxel;
    uint64_t withdrawn = atomic_load(&paging->withdrawn);
    if (k->ready && k->withdrawn == withdrawn && part->reach <= k->reach &&
        travel(part->shell, k->T_voxmap_shell, part->T_voxmap_shell) < 0.99 * slack)
        return true;
    *k = (paged_parts_known){
        flr_paging_ready(paging, part->shell, part->T_voxmap_shell, part->reach + slack), withdrawn,
        part->T_voxmap_shell, part->reach};
    return k->ready || flr_paging_ready(paging, part->shell, part->T_voxmap_shell, part->reach);
}

/* What a body looks like to a part that stands; the motion is taken about the shell's origin. */
static flr_paging_part seen_from(const flr_body *body, const flr_shell *shell,
                                 flr_pose T_part_world, double reach)
{
    const flr_pose T = flr_pose_mul(T_part_world, body->T_world_part);
    /* the body's twist is about its centre of mass */
    flr_vec3 arm = flr_quat_rotate(body->T_world_part.q, body->inertia.centre);
    flr_vec3 linear = flr_vec3_sub(body->twist.linear, flr_vec3_cross(body->twist.angular, arm));
    return (flr_paging_part){
        .shell = shell,
        .T_voxmap_shell = T,
        .motion = (flr_twist){.angular = flr_quat_rotate(T_part_world.q, body->twist.angular),
                              .linear = flr_quat_rotate(T_part_world.q, linear)},
        .reach = reach};
}

/* Tells the pager of a part. When there are too many, those that lack something take the places of others, or it would never
 * come; `first` counts them. */
static void tell(flr_paging_view *view, const flr_paging_part *part, bool ready, uint32_t *first)
{
    if (view->count < FLR_PAGING_PARTS)
        view->parts[view->count++] = *part;
    else if (ready || *first == FLR_PAGING_PARTS)
        return;
    else
        view->parts[FLR_PAGING_PARTS - 1] = *part;
    if (ready) return;
    flr_paging_part *last = &view->parts[view->count - 1], *to = &view->parts[(*first)++];
    flr_paging_part other = *to;
    *to = *last;
    *last = other;
}

/* Tells a pager what bodies can reach from one of its parts. False: something of that is not there. */
static bool tell_all(flr_pages *pages, uint32_t i, const flr_body *bodies, double reach,
                     flr_paging_view *view, uint32_t *lacking)
{
    const flr_pose T_part_world = flr_pose_inverse(bodies[i].T_world_part);
    bool ready = true;
    for (uint32_t k = 0; k < pages->count; k++) {
        const flr_shell *shell = pages->parts[k].shell;
        if (!shell) continue;
        flr_paging_part part = seen_from(&bodies[k], shell, T_part_world, reach);
        bool has = is_ready(pages->parts[i].paging, &pages->parts[i].known[k], &part);
        tell(view, &part, has, lacking);
        ready = ready && has;
    }
    return ready;
}

bool flr_pages_begin(flr_pages *pages, const flr_body *bodies, double reach)
{
    bool all = true;
    for (uint32_t first = 0; pages && first < pages->count; first++) {
        if (!pages->parts[first].first) continue;
        flr_paging *paging = pages->parts[first].paging;
        flr_paging_begin(paging);
        flr_paging_view *view = flr_latest_begin(paging->view);
        bool ready = true;
        uint32_t lacking = 0;
        view->world = pages->parts[first].user.number;
        view->count = 0;
        for (uint32_t i = first; i != NONE; i = pages->parts[i].next)
            ready = tell_all(pages, i, bodies, reach, view, &lacking) && ready;
        flr_latest_publish(paging->view);
        if (!ready) atomic_fetch_add_explicit(&paging->missed, 1, memory_order_relaxed);
        if (ready) atomic_store_explicit(&paging->begun, true, memory_order_relaxed);
        all = all && ready;
    }
    return all;
}

void flr_pages_end(flr_pages *pages)
{
    for (uint32_t i = 0; pages && i < pages->count; i++)
        if (pages->parts[i].first) flr_paging_end(pages->parts[i].paging);
}
