/* the points of one hyperchunk of the shell: skip the chunks that are far, scan the others, judge what touches */
#include <string.h>

#include "contact/contact_engine.h"

#define HYPER_FREE     (FLR_UNIFORM | FLR_MARK_FREE)
#define HYPER_SQRT3    1.7320508075688772
#define HYPER_ROUNDING 1e-3 /* voxels */
#define HYPER_MAX_GAP                                                                              \
    8.0 /* voxels: a chunk that is farther is looked at again after this, for the sake of distances */

/* a hyperchunk in the making */
typedef struct hyper_work {
    const flr_query *q;
    flr_scratch *scratch;
    flr_partial *part;
    uint32_t chunk;
    const flr_shell_chunk *c;
    flr_vec3 at;      /* voxels: the chunk's centre */
    double radius;    /* voxels */
    double beyond;    /* voxels: the centre outside of the grid */
    double far;       /* voxels: from the centre to the surface, at least */
    double most;      /* voxels: of what was skipped, the farthest that the nearest can be */
    double most_here; /* voxels: of this chunk, likewise */
    uint32_t least;   /* mark met in this chunk, less 1 */
    bool any;         /* points were looked at */
    bool known_far;   /* none of the chunk's points can be in reach */
} hyper_work;

/* ---- adding up ---- */

static void add_up(const flr_batch *b, flr_vec3 *push, flr_vec3 *turn)
{
    flr_vec3 p = *push, t = *turn;
    for (uint32_t i = 0; i < b->count; i++) {
        p = flr_vec3_add(p, flr_vec3_make(b->push[0][i], b->push[1][i], b->push[2][i]));
        t = flr_vec3_add(t, flr_vec3_make(b->turn[0][i], b->turn[1][i], b->turn[2][i]));
    }
    *push = p, *turn = t;
}

/* flr_contact_keep() for those that press. */
static void list_contacts(hyper_work *w, flr_batch *b)
{
    const double voxel = w->q->frame.voxmap->header->grid.voxel;
    flr_contact *to = w->scratch->contacts + w->part->sums.listed,
                *end = w->scratch->contacts + w->scratch->capacity;
    w->q->kernel->world(&w->q->frame, b);
    for (uint32_t i = 0; i < b->count && to < end; i++) {
        if (!(b->size[i] > 0)) continue;
        *to++ = (flr_contact){
            .point = flr_vec3_make(b->world[0][i], b->world[1][i], b->world[2][i]),
            .normal = flr_vec3_make(b->facing[0][i], b->facing[1][i], b->facing[2][i]),
            .depth = b->size[i] * voxel,
            .index = b->point[i],
            .label = b->label[i],
            .mark = (uint8_t)b->mark[i]};
    }
    w->part->sums.listed = (uint32_t)(to - w->scratch->contacts);
}

static void flush_touch(hyper_work *w)
{
    const flr_contact_frame *frame = &w->q->frame;
    flr_batch *b = &w->scratch->touch;
    flr_contact_sums *sums = &w->part->sums;
    if (frame->smooth)
        flr_smooth_judge(w->q, b, sums);
    else
        w->q->kernel->touch(frame, b);
    add_up(b, &sums->force, &sums->torque);
    uint32_t contacts = 0;
    for (uint32_t i = 0; i < b->count; i++) contacts += b->size[i] > 0;
    sums->contacts += contacts;
    if (contacts && sums->listed < w->scratch->capacity) list_contacts(w, b);
    b->count = 0;
}

static void flush_near(hyper_work *w)
{
    flr_batch *b = &w->scratch->near;
    w->q->kernel->brake(&w->q->frame, b);
    add_up(b, &w->part->sums.braking, &w->part->sums.braking_turn);
    b->count = 0;
}

/* ---- from hits to points ---- */

static inline flr_label label_of(const hyper_work *w, uint32_t i)
{
    uint32_t edges = w->c->count[FLR_LABEL_VERTEX], faces = edges + w->c->count[FLR_LABEL_EDGE];
    return (flr_label)((i >= edges) + (i >= faces));
}

/* Takes the points of words word … end - 1 that have their bits set. */
static void take_words(hyper_work *w, const uint16_t *bits, uint32_t word, uint32_t end,
                       flr_batch *b, void (*flush)(hyper_work *))
{
    while ((word = w->q->kernel->pick(&w->scratch->pick, bits, word, end, b)) < end) flush(w);
}

/* Where point i of the chunk is, in double precision; only displacing needs its normal. */
static flr_vec3 place_of(const hyper_work *w, uint32_t i)
{
    const flr_contact_frame *frame = &w->q->frame;
    if (frame->displacement != 0) return flr_contact_place(frame, w->chunk, w->c->first + i).at;
    flr_vec3 p = flr_shell_point(frame->shell, w->chunk, w->c->first + i, 0);
    return flr_contact_voxels(frame, p.x, p.y, p.z);
}

/* One point by itself, since rounding could have put it into the wrong voxel: makes a sure hit of it, or none. */
static void look_again(hyper_work *w, const flr_flat_field *field, uint32_t i)
{
    const flr_contact_frame *frame = &w->q->frame;
    flr_scan_hits *hits = &w->scratch->hits;
    const uint16_t bit = (uint16_t)(1u << i % 16);
    uint32_t mark = flr_table_mark(field, place_of(w, i));
    w->least = mark - 1 < w->least ? mark - 1 : w->least;
    if (mark == FLR_MARK_FREE || mark > frame->force_mark + 1) return;
    hits->deep_count += mark <= frame->layer_one;
    if (mark > frame->force_mark) {
        hits->near_count++;
        hits->near[i / 16] |= bit;
        if (!flr_contact_needs_stencil(frame, mark)) return;
    } else {
        hits->touch[i / 16] |= bit;
    }
    hits->press[i / 16] |= bit;
    hits->marks[i] = (uint8_t)mark;
    hits->around[i] = FLR_UNKNOWN;
}

static void visit(hyper_work *w, uint32_t i)
{
    w->scratch->visit(w->scratch->context, w->chunk, w->c->first + i, label_of(w, i));
}

static void visit_hits(hyper_work *w, uint32_t from, uint32_t to)
{
    const flr_scan_hits *hits = &w->scratch->hits;
    for (uint32_t word = from / 16; word < (to + 15) / 16; word++)
        for (uint32_t rest = hits->touch[word]; rest; rest &= rest - 1)
            visit(w, word * 16 + (uint32_t)__builtin_ctz(rest));
}

/* Notes the near points of a chunk, for the check of a motion that begins here. */
static void note_hits(hyper_work *w, uint32_t points)
{
    flr_near_notes *notes = w->scratch->notes;
    const flr_scan_hits *hits = &w->scratch->hits;
    const uint32_t words = (points + 15) / 16;
    uint32_t any = 0;
    for (uint32_t word = 0; word < words; word++) any |= hits->touch[word] | hits->near[word];
    if (!any) return;
    if (notes->count == notes->capacity) {
        notes->taking = false;
        notes->full = true;
        return;
    }
    flr_near_chunk *to = &notes->chunks[notes->count++];
    for (uint32_t word = 0; word < words; word++) {
        to->touch[word] = hits->touch[word];
        to->near[word] = hits->near[word];
    }
    to->chunk = w->chunk;
}

/* Makes sure of the unsure ones. */
static void make_sure(hyper_work *w, const flr_flat_field *field, uint32_t from, uint32_t to)
{
    const flr_scan_hits *hits = &w->scratch->hits;
    for (uint32_t word = from / 16; word < (to + 15) / 16; word++)
        for (uint32_t rest = hits->unsure[word]; rest; rest &= rest - 1)
            look_again(w, field, word * 16 + (uint32_t)__builtin_ctz(rest));
}

/* Takes what touches and what is near, in the order of the points. */
static void take_hits(hyper_work *w, uint32_t from, uint32_t to)
{
    flr_scan_hits *hits = &w->scratch->hits;
    const uint32_t begin = from / 16, end = (to + 15) / 16;
    w->part->sums.near += hits->near_count;
    /* with force layer 0 a penetration comes before contact; deeper marks than that count, too */
    w->part->sums.penetrations += hits->deep_count;
    take_words(w, hits->press, begin, end, &w->scratch->touch, flush_touch);
    if (w->q->moving && hits->near_count)
        take_words(w, hits->near, begin, end, &w->scratch->near, flush_near);
}

/* All points are unsure. */
static void doubt(flr_scan_hits *hits, uint32_t from, uint32_t to)
{
    hits->near_count = hits->deep_count = 0;
    hits->least = UINT32_MAX;
    for (uint32_t word = from / 16; word < (to + 15) / 16; word++) {
        hits->press[word] = hits->near[word] = hits->touch[word] = 0;
        uint32_t first = word * 16 < from ? from - word * 16 : 0;
        uint32_t end = word * 16 + 16 > to ? to - word * 16 : 16;
        hits->unsure[word] = (uint16_t)((1u << end) - (1u << first));
    }
}

/* ---- scanning ---- */

/* Entries of chunks side by side; n is 2 or 4. */
static inline uint64_t cut_few(const uint32_t *from, int n, uint32_t *local)
{
    const uint64_t free = HYPER_FREE | (uint64_t)HYPER_FREE << 32;
    uint64_t a, b = free;
    memcpy(&a, from, 8);
    memcpy(local, &a, 8);
    if (n == 4) {
        memcpy(&b, from + 2, 8);
        memcpy(local + 2, &b, 8);
    }
    return (a ^ free) | (b ^ free);
}

/* All of 2 or 4 chunks each way, where they are in the grid; strides per y and z. */
static inline bool cut_within(const uint32_t *from, int32_t row, int32_t layer, int n,
                              uint32_t *local)
{
    uint64_t other = 0;
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++, local += n)
            other |= cut_few(from + ((int64_t)z * layer + (int64_t)y * row), n, local);
    return !other;
}

/* One row of entries along x, from chunk cx on, out of hyperchunks; y and z are within the grid. */
static inline uint32_t cut_hypers(const flr_flat_field *f, int32_t cx, int32_t cy, int32_t cz,
                                  int32_t n, uint32_t *local)
{
    const int32_t along = f->size[0] >> 3;
    uint32_t other = 0;
    for (int32_t x = 0, run; x < n; x += run) {
        run = 8 - ((cx + x) & 7);
        if (run > n - x) run = n - x;
        bool within = (uint32_t)(cx + x) < (uint32_t)along;
        const uint32_t *from = within ? flr_table_at(f, cx + x, cy, cz) : NULL;
        const int32_t step = within && !(*flr_table_hyper(f, cx + x, cy, cz) & FLR_UNIFORM);
        for (int32_t i = 0; i < run; i++) {
            local[x + i] = within ? from[i * step] : HYPER_FREE;
            other |= local[x + i] ^ HYPER_FREE;
        }
    }
    return other;
}

/* Out of several hyperchunks. */
static bool cut_across(const flr_flat_field *f, const int32_t low[3], int32_t n, uint32_t *local)
{
    uint32_t other = 0; /* than free */
    for (int32_t z = low[2]; z < low[2] + n; z++)
        for (int32_t y = low[1]; y < low[1] + n; y++, local += n)
            if ((uint32_t)y < (uint32_t)f->size[1] >> 3 && (uint32_t)z < (uint32_t)f->size[2] >> 3)
                other |= cut_hypers(f, low[0], y, z, n, local);
            else
                for (int32_t x = 0; x < n; x++) local[x] = HYPER_FREE;
    return !other;
}

/* Out of a field that has hyperchunks. */
static bool cut_sparse(const flr_flat_field *f, const int32_t low[3], unsigned order,
                       uint32_t *local)
{
    const int32_t n = 1 << order;
    bool one = order <= 2;
    for (int axis = 0; axis < 3; axis++)
        one = one && low[axis] >= 0 && low[axis] < f->size[axis] >> 3 && (low[axis] & 7) + n <= 8;
    if (!one) return cut_across(f, low, n, local);
    const uint32_t *from = flr_table_at(f, low[0], low[1], low[2]);
    const uint32_t hyper = *flr_table_hyper(f, low[0], low[1], low[2]);
    if (hyper & FLR_UNIFORM) {
        for (int32_t i = 0; i < n * n * n; i++) local[i] = hyper;
        return hyper == HYPER_FREE;
    }
    return order == 1 ? cut_within(from, 8, 64, 2, local) : cut_within(from, 8, 64, 4, local);
}

/* One row of entries along x, from chunk cx on. */
static inline uint32_t cut_row(const uint32_t *from, int32_t cx, int32_t n, int32_t along,
                               uint32_t *local)
{
    uint32_t other = 0;
    for (int32_t x = 0; x < n; x++) {
        bool within = (uint32_t)(cx + x) < (uint32_t)along;
        local[x] = within ? from[cx + x] : HYPER_FREE;
        other |= local[x] ^ HYPER_FREE;
    }
    return other;
}

/* Cuts the entries of 2^order chunks each way out of a field, from chunk `low` on. True when all are free. */
static bool cut(const flr_flat_field *f, const int32_t low[3], unsigned order, uint32_t *local)
{
    if (f->hypers) return cut_sparse(f, low, order, local);
    const int32_t n = 1 << order, row_stride = f->stride[0], layer = f->stride[1];
    const int32_t along[3] = {f->size[0] >> 3, f->size[1] >> 3, f->size[2] >> 3};
    if (order <= 2 && low[0] >= 0 && low[0] + n <= along[0] && low[1] >= 0 &&
        low[1] + n <= along[1] && low[2] >= 0 && low[2] + n <= along[2]) {
        const uint32_t *from =
            f->chunks + ((int64_t)low[2] * layer + (int64_t)low[1] * row_stride + low[0]);
        return order == 1 ? cut_within(from, row_stride, layer, 2, local)
                          : cut_within(from, row_stride, layer, 4, local);
    }
    uint32_t other = 0; /* than free */
    for (int32_t z = 0; z < n; z++)
        for (int32_t y = 0; y < n; y++, local += n) {
            int32_t cy = low[1] + y, cz = low[2] + z;
            bool row = (uint32_t)cy < (uint32_t)along[1] && (uint32_t)cz < (uint32_t)along[2];
            const uint32_t *from =
                row ? f->chunks + ((int64_t)cz * layer + (int64_t)cy * row_stride) : NULL;
            other |= cut_row(from, low[0], n, row ? along[0] : 0, local);
        }
    return !other;
}

static inline int32_t rounded_down(double v)
{
    int32_t whole = (int32_t)v;
    return whole - (v < whole);
}

/* Fills in what takes the steps of the chunk to voxels, from the corner of a table of chunks that holds all of it. False:
 * the chunk lies outside of the grid. It may be too large; then `job->order` is 0. */
static bool aim(const hyper_work *w, flr_scan_job *job, int32_t low[3])
{
    const flr_query *q = w->q;
    const flr_shell *shell = q->frame.shell;
    const flr_shell_chunk *c = w->c;
    const double at[3] = {w->at.x, w->at.y, w->at.z}, r = w->radius + q->around;
    const int32_t *size = q->fields[0].size;
    for (int axis = 0; axis < 3; axis++)
        if (!(at[axis] + r >= 0 && at[axis] - r < size[axis])) return false;
    if (!(r < 8 << FLR_LOCAL_ORDER) || q->slack > 0.25f) return true;
    flr_vec3 corner = flr_contact_voxels(&q->frame, (double)c->corner[0], (double)c->corner[1],
                                         (double)c->corner[2]);
    const double from[3] = {corner.x, corner.y, corner.z};
    int32_t most = 2;
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = rounded_down((at[axis] - r) * 0.125);
        int32_t chunks = rounded_down((at[axis] + r) * 0.125) - low[axis] + 1;
        most = chunks > most ? chunks : most;
        job->matrix[axis][3] = (float)(from[axis] - 8.0 * low[axis]);
    }
    unsigned order = 1;
    while (1 << order < most) order++;
    if (order > FLR_LOCAL_ORDER) return true;
    job->order = order;
    job->x = shell->x + c->first, job->y = shell->y + c->first, job->z = shell->z + c->first;
    job->normal = shell->normal + c->first;
    return true;
}

/* Points from … to - 1 of the chunk, all with this field. */
static void scan_group(hyper_work *w, flr_scan_job *job, const int32_t low[3], flr_field which,
                       uint32_t from, uint32_t to)
{
    const flr_query *q = w->q;
    const flr_flat_field *field = &q->fields[which];
    flr_scan_hits *hits = &w->scratch->hits;
    if (job->order && cut(field, low, job->order, w->scratch->local) && q->reach != INFINITY)
        return;
    w->part->tested += to - from;
    if (w->known_far)
        return; /* counted all the same: a budget must not depend on what is remembered */
    job->local = w->scratch->local;
    job->planes = field->planes;
    job->shift = (unsigned)__builtin_ctz(field->bits);
    job->from = from, job->to = to;
    job->smooth = q->frame.smooth && which == FLR_FIELD_SURFACE && job->shift == 2;
    /* the smooth law may reach a layer farther; but it weighs nothing where the point's own voxel does not count */
    job->reach =
        which == FLR_FIELD_SURFACE && flr_contact_needs_stencil(&q->frame, q->frame.force_mark + 1);
    w->scratch->pick.known = job->smooth && job->order;
    if (job->order)
        q->kernel->scan(job, hits);
    else
        doubt(hits, from, to); /* too large for a table, or for single precision */
    w->least = hits->least < w->least ? hits->least : w->least;
    make_sure(w, field, from, to);
    if (w->scratch->notes) note_hits(w, to); /* then all labels look at one field */
    if (w->scratch->visit)
        visit_hits(w, from, to);
    else
        take_hits(w, from, to);
}

/* A chunk near a face may still be far from every edge or vertex; but inside, every field has a mark. */
static bool matters(hyper_work *w, flr_field field)
{
    const flr_query *q = w->q;
    if (field == FLR_FIELD_SURFACE || q->reach == INFINITY || !(w->far >= w->radius + q->around))
        return true;
    w->part->tested++;
    uint32_t mark = flr_table_mark(&q->fields[field], w->at);
    return !flr_skip(q, flr_table_by_mark(q->frame.voxmap, mark, w->beyond), w->radius, w->part);
}

/* Where hits of the chunk are picked from. */
static void aim_pick(const hyper_work *w)
{
    const flr_shell *shell = w->q->frame.shell;
    const flr_shell_chunk *c = w->c;
    uint32_t edges = c->count[FLR_LABEL_VERTEX], faces = edges + c->count[FLR_LABEL_EDGE];
    w->scratch->pick =
        (flr_pick){.x = shell->x + c->first,
                   .y = shell->y + c->first,
                   .z = shell->z + c->first,
                   .normal = shell->normal + c->first,
                   .marks = w->scratch->hits.marks,
                   .around = w->scratch->hits.around,
                   .corner = {(double)c->corner[0], (double)c->corner[1], (double)c->corner[2]},
                   .step = (double)shell->step,
                   .first = c->first,
                   .edges = edges,
                   .faces = faces};
}

static void scan_chunk(hyper_work *w)
{
    const flr_query *q = w->q;
    flr_scan_job *job = &w->scratch->job;
    int32_t low[3] = {0};
    job->order = 0;
    w->any = true;
    if (!aim(w, job, low)) return;
    aim_pick(w);
    uint32_t from = 0;
    for (int label = 0; label < FLR_LABEL_COUNT;) {
        flr_field field = flr_contact_field(&q->frame, (flr_label)label);
        /* labels that look at the same field go together */
        uint32_t to = from;
        do to += w->c->count[label++];
        while (label < FLR_LABEL_COUNT && flr_contact_field(&q->frame, (flr_label)label) == field);
        if (to > from && matters(w, field)) scan_group(w, job, low, field, from, to);
        from = to;
    }
}

/* Is the chunk too far away to matter? */
static bool far_chunk(hyper_work *w)
{
    const flr_query *q = w->q;
    const flr_voxmap *voxmap = q->frame.voxmap;
    const flr_flat_field *surface = &q->fields[FLR_FIELD_SURFACE];
    w->part->tested++;
    w->beyond = flr_table_outside(surface, w->at);
    uint32_t mark = flr_table_mark(surface, w->at);
    w->far = flr_table_by_mark(voxmap, mark, w->beyond);
    /* so far the surface is from the centre at most, and some point is within the radius */
    w->most_here = INFINITY;
    if (mark > FLR_MARK_INTERIOR)
        w->most_here = HYPER_SQRT3 * (mark - 1.0 + voxmap->header->offset) + w->radius;
    w->most = w->most_here < w->most ? w->most_here : w->most;
    /* beyond the field the chunk distances know more: asked where the mark alone would bound the distance, or be remembered;
     * and in visits, which a budget counts: it must not depend on what is remembered */
    if (w->far > voxmap->header->range &&
        (q->memory || w->scratch->visit || w->far - 1 - w->radius - q->around < w->part->least))
        w->far = flr_larger(w->far, flr_table_by_chunks(voxmap, w->at, w->beyond));
    return flr_skip(q, w->far, w->radius, w->part);
}

/* ---- what earlier queries know ---- */

/* Is the chunk still too far away to matter, by what it was when it was looked at last? */
static bool still_far(hyper_work *w, uint32_t chunk)
{
    const flr_chunk_room room = w->q->memory->chunks[chunk];
    const double moved = w->q->moved;
    if (!(moved <= (double)room.until)) return false;
    const double left = (double)room.until - moved;
    double gap = left + w->q->reach, most = (double)room.most + moved;
    if (gap < w->part->least) w->part->least = gap;
    if (left < w->part->room) w->part->room = left;
    if (most < w->most) w->most = most;
    return true;
}

/* Notes how far the chunk is: by its sphere where that was too far away to matter, else by the least mark of its points. */
static void note_room(const hyper_work *w, bool far)
{
    flr_chunk_memory *memory = w->q->memory;
    const flr_voxmap *voxmap = w->q->frame.voxmap;
    double gap = w->far - 1 - w->radius - w->q->around, most = w->most_here;
    if (!far) {
        const uint32_t mark = w->least + 1;
        gap = flr_table_by_mark(voxmap, mark, 0) - 1 - HYPER_ROUNDING;
        if (mark != FLR_MARK_FREE && mark != FLR_MARK_INTERIOR)
            most = HYPER_SQRT3 * (mark - 1.0 + voxmap->header->offset);
    }
    double room = gap - w->q->reach;
    if (room > HYPER_MAX_GAP) room = HYPER_MAX_GAP;
    if (room < w->part->room) w->part->room = room;
    if (!w->q->keep) return;
    memory->chunks[w->chunk] =
        (flr_chunk_room){.until = (float)(memory->moved + room - HYPER_ROUNDING),
                         .most = (float)(most - memory->moved + HYPER_ROUNDING)};
}

/* Looks at a chunk; its centre is known. */
static void look_at_chunk(hyper_work *w, uint32_t *least)
{
    const flr_query *q = w->q;
    w->least = UINT32_MAX;
    w->most_here = INFINITY;
    bool far = q->reach != INFINITY && far_chunk(w);
    w->known_far = q->memory && !q->keep && still_far(w, w->chunk);
    if (!far) scan_chunk(w);
    if (w->least < *least) *least = w->least;
    if (q->rooms) note_room(w, far);
}

/* Lists the chunks, of `count` from `first` on, that are to be looked at. */
static uint32_t list_chunks(hyper_work *w, uint32_t first, uint32_t count)
{
    uint16_t *list = w->scratch->list;
    uint32_t listed = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!w->q->keep || !still_far(w, first + i)) list[listed++] = (uint16_t)i;
    return listed;
}

void flr_query_hyper(const flr_query *q, uint32_t hyper, flr_scratch *scratch, flr_partial *part)
{
    const flr_shell *shell = q->frame.shell;
    const flr_shell_hyper *h = &shell->hypers[hyper];
    hyper_work w = {.q = q, .scratch = scratch, .part = part, .most = INFINITY};
    uint32_t least = UINT32_MAX;
    scratch->job = q->job;
    for (uint32_t done = 0; done < h->chunk_count; done += FLR_SCAN_POINTS) {
        uint32_t first = h->first_chunk + done, count = h->chunk_count - done;
        if (count > FLR_SCAN_POINTS) count = FLR_SCAN_POINTS;
        const uint32_t listed = list_chunks(&w, first, count);
        if (listed) q->kernel->centres(&q->frame, shell->chunks + first, count, scratch->at);
        for (uint32_t k = 0; k < listed; k++) {
            const uint32_t i = scratch->list[k];
            w.chunk = first + i;
            w.c = &shell->chunks[first + i];
            w.at = flr_vec3_make(scratch->at[0][i], scratch->at[1][i], scratch->at[2][i]);
            w.radius = (double)w.c->radius * q->per_metre;
            look_at_chunk(&w, &least);
        }
    }
    if (scratch->touch.count) flush_touch(&w);
    if (scratch->near.count) flush_near(&w);
    if (w.any) flr_contact_bound(&q->frame, least + 1, &part->sums);
    double upper = w.most / q->per_metre + flr_contact_around(shell, q->frame.params->displacement);
    if (upper < part->sums.upper) part->sums.upper = upper;
}
