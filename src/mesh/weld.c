/* welding: a hash table from positions to vertex numbers
 *
 * Exact: the key is the position itself. With a distance: the key is the grid cell of edge
 * 2·distance, and all kept vertices within the distance lie in the 2×2×2 cells nearest to the
 * position. A position joins the nearest kept vertex (the lowest number among equally near ones);
 * one without a near enough kept vertex is kept itself. So the outcome depends on the order of
 * the positions alone, and no vertex moves by more than the distance: chains do not creep.
 *
 * The hash has a random seed: otherwise a file could be made whose positions all fall on one slot, and welding them would
 * take time in the square of their number. The outcome does not depend on it, as numbers follow the order of positions.
 *
 * The table is larger than the caches, so a batch first computes all hashes and asks for the
 * slots, then for the vertices behind them, and only then looks: the misses overlap. */
#include "mesh/weld.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/env.h"

void *flr_budget_grow(flr_budget *budget, void *array, size_t *capacity, size_t need, size_t size,
                      flr_result *result)
{
    *result = FLR_OK;
    if (need <= *capacity) return array;
    size_t left = budget->limit > budget->used ? budget->limit - budget->used : 0;
    size_t room = left / size, first = size < 16 ? 64 : 1024 / size;
    size_t wanted = *capacity + *capacity / 2;
    if (wanted < need) wanted = need;
    if (wanted < first) wanted = first;
    *result = FLR_TOO_LARGE;
    if (need > room) return array;
    // near the limit half of what is left: neither element by element nor all from the others
    if (wanted > room) wanted = need + (room - need) / 2;
    *result = FLR_NO_MEMORY;
    void *larger = wanted <= SIZE_MAX / 2 / size ? realloc(array, wanted * size) : NULL;
    if (!larger) return array;
    *result = FLR_OK;
    budget->used += (wanted - *capacity) * size;
    *capacity = wanted;
    return larger;
}

void *flr_budget_trim(flr_budget *budget, void *array, size_t *capacity, size_t count, size_t size)
{
    size_t unused = *capacity - count;
    if (!count || unused < count / 16 + 8) return array;
    if (budget->used > budget->limit || count * size > budget->limit - budget->used) return array;
    void *smaller = realloc(array, count * size);
    if (!smaller) return array;
    budget->used -= unused * size;
    *capacity = count;
    return smaller;
}

void flr_budget_free(flr_budget *budget, void *array, size_t capacity, size_t size)
{
    if (!array) return;
    free(array);
    budget->used -= capacity * size;
}

/* ---- hashing ---- */

static uint64_t fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* 32 well mixed bits of three numbers; equal numbers give equal bits (zeros are positive) */
static uint32_t tag_of(const flr_weld *weld, flr_vec3 p)
{
    uint64_t x, y, z;
    memcpy(&x, &p.x, 8);
    memcpy(&y, &p.y, 8);
    memcpy(&z, &p.z, 8);
    uint64_t h = fold(x ^ weld->seed[0], y ^ weld->seed[1]);
    return (uint32_t)(fold(h ^ weld->seed[2], z ^ weld->seed[3]) >> 32);
}

static size_t home_of(const flr_weld *weld, uint32_t tag) { return tag >> (32 - weld->bits); }

static size_t next_of(const flr_weld *weld, size_t place)
{
    return (place + 1) & (((size_t)1 << weld->bits) - 1);
}

static void put(flr_weld *weld, uint32_t tag, uint32_t number)
{
    size_t place = home_of(weld, tag);
    for (; weld->slots[place].vertex; place = next_of(weld, place)) weld->probes++;
    weld->slots[place] = (flr_weld_slot){tag, number + 1};
}

/* ---- room ---- */

void flr_weld_free_table(flr_weld *weld, flr_budget *budget)
{
    if (weld->slots)
        flr_budget_free(budget, weld->slots, (size_t)1 << weld->bits, sizeof *weld->slots);
    weld->slots = NULL;
    weld->bits = 0;
}

/* A larger table. Places are ordered by tag, so the old one is read and the new one is written
 * from front to back. */
static flr_result enlarge_table(flr_weld *weld, flr_budget *budget, unsigned bits)
{
    size_t places = (size_t)1 << bits, bytes = places * sizeof(flr_weld_slot);
    if (bytes > budget->limit - budget->used) return FLR_TOO_LARGE;
    flr_weld_slot *slots = calloc(places, sizeof *slots);
    if (!slots) return FLR_NO_MEMORY;
    budget->used += bytes;
    if (!weld->slots) flr_random_bytes(flr_env_real(), weld->seed, sizeof weld->seed);
    flr_weld old = *weld;
    weld->slots = slots;
    weld->bits = bits;
    size_t old_places = old.slots ? (size_t)1 << old.bits : 0;
    for (size_t i = 0; i < old_places; i++)
        if (old.slots[i].vertex) put(weld, old.slots[i].tag, old.slots[i].vertex - 1);
    flr_weld_free_table(&old, budget);
    return FLR_OK;
}

flr_result flr_weld_reserve(flr_weld *weld, flr_budget *budget, size_t more)
{
    size_t need = weld->count + more;
    if (weld->max_count && need > weld->max_count) need = weld->max_count;
    if (need > FLR_MESH_MAX_COUNT + (size_t)FLR_WELD_BATCH) return FLR_TOO_LARGE;
    flr_result result;
    weld->vertices = flr_budget_grow(budget, weld->vertices, &weld->capacity, need,
                                     sizeof *weld->vertices, &result);
    if (result != FLR_OK) return result;

    // at most two thirds full, except that there are no more than 2^32 places
    unsigned bits = weld->bits ? weld->bits : 8;
    while (bits < 32 && need > ((size_t)1 << bits) / 3 * 2) bits++;
    return bits == weld->bits ? FLR_OK : enlarge_table(weld, budget, bits);
}

/* ---- lookup ---- */

static uint32_t add_vertex(flr_weld *weld, flr_vec3 p)
{
    weld->vertices[weld->count] = p;
    return (uint32_t)weld->count++;
}

static uint32_t find_exact(flr_weld *weld, flr_vec3 p, uint32_t tag)
{
    size_t place = home_of(weld, tag);
    for (; weld->slots[place].vertex; place = next_of(weld, place)) {
        weld->probes++;
        if (weld->slots[place].tag != tag) continue;
        uint32_t number = weld->slots[place].vertex - 1;
        const flr_vec3 *v = &weld->vertices[number];
        if (v->x == p.x && v->y == p.y && v->z == p.z) return number;
    }
    uint32_t number = add_vertex(weld, p);
    weld->slots[place] = (flr_weld_slot){tag, number + 1};
    return number;
}

static void add_exact(flr_weld *weld, const flr_vec3 *positions, size_t count, uint32_t *numbers)
{
    flr_vec3 p[FLR_WELD_BATCH];
    uint32_t tags[FLR_WELD_BATCH];
    for (size_t i = 0; i < count; i++) {
        p[i] = (flr_vec3){positions[i].x + 0.0, positions[i].y + 0.0, positions[i].z + 0.0};
        tags[i] = tag_of(weld, p[i]);
        __builtin_prefetch(&weld->slots[home_of(weld, tags[i])]);
    }
    for (size_t i = 0; i < count; i++) {
        flr_weld_slot slot = weld->slots[home_of(weld, tags[i])];
        if (slot.vertex && slot.tag == tags[i])
            __builtin_prefetch(&weld->vertices[slot.vertex - 1]);
    }
    for (size_t i = 0; i < count; i++) numbers[i] = find_exact(weld, p[i], tags[i]);
}

/* the grid cell of a coordinate, and the neighbour on the side it is nearer to */
static void cells_of(double coordinate, double edge, double cells[2])
{
    double place = coordinate / edge, cell = floor(place);
    cells[0] = cell + 0.0;
    cells[1] = (place - cell < 0.5 ? cell - 1 : cell + 1) + 0.0;
}

static uint32_t find_near(flr_weld *weld, flr_vec3 p)
{
    double edge = 2 * weld->distance, x[2], y[2], z[2];
    double best = weld->distance * weld->distance;
    uint32_t found = UINT32_MAX, own = 0;
    cells_of(p.x, edge, x);
    cells_of(p.y, edge, y);
    cells_of(p.z, edge, z);
    for (unsigned i = 0; i < 8; i++) {
        uint32_t tag = tag_of(weld, (flr_vec3){x[i & 1], y[i >> 1 & 1], z[i >> 2]});
        if (i == 0) own = tag;
        size_t place = home_of(weld, tag);
        for (; weld->slots[place].vertex; place = next_of(weld, place)) {
            weld->probes++;
            if (weld->slots[place].tag != tag) continue;
            uint32_t number = weld->slots[place].vertex - 1;
            const flr_vec3 *v = &weld->vertices[number];
            double dx = v->x - p.x, dy = v->y - p.y, dz = v->z - p.z;
            double square = dx * dx + dy * dy + dz * dz;
            if (square < best || (square == best && number < found)) best = square, found = number;
        }
    }
    if (found != UINT32_MAX) return found;
    uint32_t number = add_vertex(weld, p);
    put(weld, own, number);
    return number;
}

void flr_weld_add(flr_weld *weld, const flr_vec3 *positions, size_t count, uint32_t *numbers)
{
    if (weld->distance == 0) {
        add_exact(weld, positions, count, numbers);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        flr_vec3 p = {positions[i].x + 0.0, positions[i].y + 0.0, positions[i].z + 0.0};
        numbers[i] = find_near(weld, p);
    }
}
