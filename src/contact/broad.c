/* sweep and prune: insertion sort on three axes, a byte per pair, a sorted list that is merged with its changes
 *
 * On an axis, boxes A and B overlap when low A is before high B and low B before high A. In a sorted row at least one of the
 * two holds, and every exchange of a low and a high end changes one of them: so toggling a bit at each such exchange ends with
 * the truth, whatever the order of the exchanges. */
#include "contact/broad.h"

#include <stdlib.h>
#include <string.h>

#include "base/prefault.h"

enum { BROAD_AXES = 3, BROAD_ALL = 7, CHANGED = 8, CHANGES = 256 };
enum {
    FEW = 8
}; /* slots for one that has moved: with fewer, its ends are put in order one by one */

/* an end of a box on one axis */
typedef struct box_end {
    double at;
    uint32_t rank; /* among ends at the same place: low ends first, so that touching counts */
    uint32_t name; /* slot * 2, + 1 for the high end */
} box_end;

struct flr_broad {
    uint32_t slots;
    size_t capacity;
    flr_box3 *boxes;           /* [slots] */
    uint8_t *flags;            /* [slots] */
    box_end *rows[BROAD_AXES]; /* [2 slots], sorted but for what moved since */
    uint8_t *cells;            /* [slots (slots - 1) / 2]: bit per axis on which the two overlap */
    uint32_t *open,
        *where; /* [slots]: scratch of a sweep: boxes that are open; the place of each */
    uint32_t *moved, moved_count; /* [slots]: whose boxes are others since the last update */
    bool *has_moved;              /* [slots]: is it in there? */
    uint32_t *index[BROAD_AXES];  /* [2 slots]: where an end is in its row, by its name */
    bool indexed;                 /* … if that is right */
    uint32_t flagged[CHANGES / 16], flagged_count; /* whose flags are others since then */
    uint64_t *lists[2];                            /* [capacity] */
    int current;                                   /* which of them holds the last answer */
    size_t count, dropped;
    uint64_t changes[CHANGES];
    size_t change_count; /* more than CHANGES: the list is made anew */
    bool stale;          /* likewise, since many flags have changed */
};

static size_t cells_of(uint32_t slots) { return slots ? (size_t)slots * (slots - 1) / 2 : 0; }

static inline size_t cell_of(uint32_t high, uint32_t low)
{
    return (size_t)high * (high - 1) / 2 + low;
}

flr_broad *flr_broad_create(uint32_t slots, size_t capacity)
{
    flr_broad *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    /* one more than needed: no block is empty */
    b->slots = slots;
    b->capacity = capacity;
    b->boxes = flr_prefaulted_calloc((size_t)slots + 1, sizeof *b->boxes);
    b->flags = flr_prefaulted_calloc((size_t)slots + 1, 1);
    b->cells = flr_prefaulted_calloc(cells_of(slots) + 1, 1);
    b->open = flr_prefaulted_calloc((size_t)slots + 1, sizeof *b->open);
    b->where = flr_prefaulted_calloc((size_t)slots + 1, sizeof *b->where);
    b->moved = flr_prefaulted_calloc((size_t)slots + 1, sizeof *b->moved);
    b->has_moved = flr_prefaulted_calloc((size_t)slots + 1, sizeof *b->has_moved);
    bool enough =
        b->boxes && b->flags && b->cells && b->open && b->where && b->moved && b->has_moved;
    for (int i = 0; i < BROAD_AXES; i++) {
        b->rows[i] = flr_prefaulted_calloc(2 * (size_t)slots + 1, sizeof *b->rows[i]);
        b->index[i] = flr_prefaulted_calloc(2 * (size_t)slots + 1, sizeof *b->index[i]);
        enough &= b->rows[i] && b->index[i];
    }
    for (int i = 0; i < 2; i++)
        enough &= (b->lists[i] = flr_prefaulted_calloc(capacity + 1, sizeof *b->lists[i])) != NULL;
    if (!enough) {
        flr_broad_destroy(b);
        return NULL;
    }
    for (uint32_t slot = 0; slot < slots; slot++) {
        b->boxes[slot] = flr_box3_empty();
        for (int axis = 0; axis < BROAD_AXES; axis++)
            for (uint32_t k = 0; k < 2; k++)
                b->rows[axis][2 * slot + k] = (box_end){INFINITY, 2 * slot + k + 2, 2 * slot + k};
    }
    return b;
}

void flr_broad_destroy(flr_broad *b)
{
    if (!b) return;
    free(b->boxes);
    free(b->flags);
    free(b->cells);
    free(b->open);
    free(b->where);
    free(b->moved);
    free(b->has_moved);
    for (int i = 0; i < BROAD_AXES; i++) free(b->rows[i]), free(b->index[i]);
    for (int i = 0; i < 2; i++) free(b->lists[i]);
    free(b);
}

void flr_broad_flag(flr_broad *b, uint32_t slot, unsigned flags)
{
    if (b->flags[slot] == flags) return;
    b->flags[slot] = (uint8_t)flags;
    if (b->flagged_count < sizeof b->flagged / sizeof *b->flagged)
        b->flagged[b->flagged_count++] = slot;
    else
        b->stale = true;
}

void flr_broad_move(flr_broad *b, uint32_t slot, flr_box3 box)
{
    bool sound =
        flr_vec3_is_finite(box.low) && flr_vec3_is_finite(box.high) && !flr_box3_is_empty(box);
    if (!sound) box = flr_box3_empty();
    if (memcmp(&b->boxes[slot], &box, sizeof box) == 0) return;
    b->boxes[slot] = box;
    if (!b->has_moved[slot]) b->moved[b->moved_count++] = slot;
    b->has_moved[slot] = true;
}

static inline bool may_touch(unsigned a, unsigned b)
{
    return ((a | b) & FLR_BROAD_MOVES) && (((a & FLR_BROAD_POINTS) && (b & FLR_BROAD_VOXELS)) ||
                                           ((b & FLR_BROAD_POINTS) && (a & FLR_BROAD_VOXELS)));
}

/* ---- rows ---- */

static inline bool before(box_end a, box_end b)
{
    return a.at < b.at || (a.at == b.at && a.rank < b.rank);
}

/* An end where its box is now. Boxes of nothing lie at infinity, one behind the other. */
static inline box_end end_of(const flr_broad *b, int axis, uint32_t name)
{
    uint32_t side = name & 1;
    const flr_box3 *box = &b->boxes[name >> 1];
    const flr_vec3 *corner = side ? &box->high : &box->low;
    bool nothing = box->low.x > box->high.x;
    return (box_end){nothing     ? INFINITY
                     : axis == 0 ? corner->x
                     : axis == 1 ? corner->y
                                 : corner->z,
                     nothing ? name + 2 : side, name};
}

static void refresh(flr_broad *b, int axis)
{
    box_end *row = b->rows[axis];
    for (size_t i = 0; i < 2 * (size_t)b->slots; i++) row[i] = end_of(b, axis, row[i].name);
}

/* A pair is noted once an update; whether it is in the list is asked at the end. */
static inline void note_change(flr_broad *b, uint32_t high, uint32_t low, uint8_t *cell)
{
    if (*cell & CHANGED || b->change_count > CHANGES) return;
    if (b->change_count < CHANGES) {
        *cell |= CHANGED;
        b->changes[b->change_count] = (uint64_t)high << 32 | low;
    }
    b->change_count++;
}

/* On this axis two boxes begin or cease to overlap. */
static inline void toggle(flr_broad *b, uint32_t s, uint32_t t, unsigned bit)
{
    uint32_t high = s > t ? s : t, low = s > t ? t : s;
    uint8_t *cell = &b->cells[cell_of(high, low)];
    bool was = (*cell & BROAD_ALL) == BROAD_ALL;
    *cell = (uint8_t)(*cell ^ bit);
    if (was || (*cell & BROAD_ALL) == BROAD_ALL) note_change(b, high, low, cell);
}

/* Insertion sort. False: more exchanges than `most`; then cells and row are worth nothing. */
static bool put_in_order(flr_broad *b, int axis, size_t *most)
{
    box_end *row = b->rows[axis];
    for (size_t i = 1; i < 2 * (size_t)b->slots; i++) {
        box_end moved = row[i];
        size_t k = i;
        for (; k && before(moved, row[k - 1]); k--) {
            row[k] = row[k - 1];
            if ((moved.name ^ row[k].name) & 1)
                toggle(b, moved.name >> 1, row[k].name >> 1, 1u << axis);
        }
        row[k] = moved;
        if (i - k > *most) return false;
        *most -= i - k;
    }
    return true;
}

/* Puts one end where its box is now. False as above. */
static bool put_end(flr_broad *b, int axis, uint32_t name, size_t *most)
{
    box_end *row = b->rows[axis], moved = end_of(b, axis, name);
    uint32_t *index = b->index[axis];
    const size_t last = 2 * (size_t)b->slots - 1, from = index[name];
    size_t k = from;
    for (; k > 0 && before(moved, row[k - 1]) && from - k <= *most; k--) {
        row[k] = row[k - 1];
        index[row[k].name] = (uint32_t)k;
        if ((name ^ row[k].name) & 1) toggle(b, name >> 1, row[k].name >> 1, 1u << axis);
    }
    for (; k < last && before(row[k + 1], moved) && k - from <= *most; k++) {
        row[k] = row[k + 1];
        index[row[k].name] = (uint32_t)k;
        if ((name ^ row[k].name) & 1) toggle(b, name >> 1, row[k].name >> 1, 1u << axis);
    }
    row[k] = moved;
    index[name] = (uint32_t)k;
    size_t way = k > from ? k - from : from - k;
    if (way > *most) return false;
    *most -= way;
    return true;
}

/* The same as put_in_order() where few boxes have moved. Of a box, the end that leads goes first: so they never pass each
 * other. */
static bool put_moved(flr_broad *b, size_t *most)
{
    for (int axis = 0; axis < BROAD_AXES; axis++) {
        for (size_t i = 0; !b->indexed && i < 2 * (size_t)b->slots; i++)
            b->index[axis][b->rows[axis][i].name] = (uint32_t)i;
        for (uint32_t i = 0; i < b->moved_count; i++) {
            uint32_t low = 2 * b->moved[i], high = low + 1;
            bool up = before(b->rows[axis][b->index[axis][high]], end_of(b, axis, high));
            if (!put_end(b, axis, up ? high : low, most) ||
                !put_end(b, axis, up ? low : high, most))
                return false;
        }
    }
    b->indexed = true;
    return true;
}

/* Puts all rows in order, and with them the cells. False as above. */
static bool put_rows(flr_broad *b)
{
    size_t most = 64 + 16 * (size_t)b->slots;
    if (b->moved_count == 0) return true;
    if (b->moved_count < b->slots / FEW) return put_moved(b, &most);
    b->indexed = false;
    for (int axis = 0; axis < BROAD_AXES; axis++) {
        refresh(b, axis);
        if (!put_in_order(b, axis, &most)) return false;
    }
    return true;
}

static void sift(box_end *heap, size_t from, size_t count)
{
    box_end moved = heap[from];
    for (size_t child; (child = 2 * from + 1) < count; from = child) {
        if (child + 1 < count && before(heap[child], heap[child + 1])) child++;
        if (!before(moved, heap[child])) break;
        heap[from] = heap[child];
    }
    heap[from] = moved;
}

/* Heapsort: needs no memory and has no bad case. */
static void sort_row(box_end *row, size_t count)
{
    for (size_t i = count / 2; i-- > 0;) sift(row, i, count);
    for (size_t i = count; i-- > 1;) {
        box_end largest = row[0];
        row[0] = row[i];
        row[i] = largest;
        sift(row, 0, i);
    }
}

/* All that is open when a box begins overlaps it. */
static void sweep(flr_broad *b, int axis)
{
    uint32_t open = 0;
    for (size_t i = 0; i < 2 * (size_t)b->slots; i++) {
        uint32_t name = b->rows[axis][i].name, slot = name >> 1;
        if (name & 1) {
            uint32_t last = b->open[--open];
            b->open[b->where[slot]] = last;
            b->where[last] = b->where[slot];
            continue;
        }
        for (uint32_t k = 0; k < open; k++) {
            uint32_t other = b->open[k];
            b->cells[slot > other ? cell_of(slot, other) : cell_of(other, slot)] |=
                (uint8_t)(1u << axis);
        }
        b->open[open] = slot;
        b->where[slot] = open++;
    }
}

/* From nothing: when so much has moved that exchanges would take longer. */
static void rebuild(flr_broad *b)
{
    memset(b->cells, 0, cells_of(b->slots));
    for (int axis = 0; axis < BROAD_AXES; axis++) {
        refresh(b, axis);
        sort_row(b->rows[axis], 2 * (size_t)b->slots);
        sweep(b, axis);
    }
    b->change_count = 0;
    b->indexed = false;
    b->stale = true;
}

/* ---- the list ---- */

/* Reads all cells, eight at a time where none of them is full. */
static size_t list_all(flr_broad *b, uint64_t *list)
{
    const uint64_t ones = 0x0101010101010101u, tops = ones << 7;
    size_t count = 0;
    b->dropped = 0;
    for (uint32_t high = 1; high < b->slots; high++) {
        uint8_t *row = b->cells + cell_of(high, 0);
        for (uint32_t low = 0; low < high; low++) {
            uint64_t eight;
            if (low + 8 <= high) {
                memcpy(&eight, row + low, 8);
                eight ^= ones * BROAD_ALL;
                if (!((eight - ones) & ~eight & tops)) {
                    low += 7;
                    continue;
                }
            }
            if (row[low] != BROAD_ALL || !may_touch(b->flags[high], b->flags[low])) continue;
            if (count < b->capacity)
                list[count++] = (uint64_t)high << 32 | low;
            else
                b->dropped++;
        }
    }
    return count;
}

/* Slots with other flags: whether their pairs are in the list is asked again. */
static void note_flags(flr_broad *b)
{
    for (uint32_t i = 0; i < b->flagged_count && !b->stale; i++) {
        uint32_t slot = b->flagged[i];
        for (uint32_t other = 0; other < b->slots; other++) {
            if (other == slot) continue;
            uint32_t high = other > slot ? other : slot, low = other > slot ? slot : other;
            uint8_t *cell = &b->cells[cell_of(high, low)];
            if ((*cell & BROAD_ALL) == BROAD_ALL) note_change(b, high, low, cell);
        }
    }
    b->flagged_count = 0;
}

/* Forgets which cells have changed and sorts their names. */
static void close_changes(flr_broad *b)
{
    size_t noted = b->change_count < CHANGES ? b->change_count : CHANGES;
    for (size_t i = 0; i < noted; i++) {
        uint64_t key = b->changes[i];
        b->cells[cell_of((uint32_t)(key >> 32), (uint32_t)key)] &= BROAD_ALL;
        size_t k = i;
        for (; k && key < b->changes[k - 1]; k--) b->changes[k] = b->changes[k - 1];
        b->changes[k] = key;
    }
}

/* The list before with its changes. False: there is no room. */
static bool merge_changes(flr_broad *b, const uint64_t *old, uint64_t *list, size_t *count)
{
    size_t i = 0, n = 0;
    for (size_t c = 0; c < b->change_count; c++) {
        uint64_t key = b->changes[c];
        uint32_t high = (uint32_t)(key >> 32), low = (uint32_t)key;
        while (i < b->count && old[i] < key && n < b->capacity) list[n++] = old[i++];
        if (i < b->count && old[i] == key) i++;
        if (b->cells[cell_of(high, low)] != BROAD_ALL || !may_touch(b->flags[high], b->flags[low]))
            continue;
        if (n == b->capacity) return false;
        list[n++] = key;
    }
    if (b->count - i > b->capacity - n) return false;
    memcpy(list + n, old + i, (b->count - i) * sizeof *list);
    *count = n + (b->count - i);
    return true;
}

flr_broad_list flr_broad_update(flr_broad *b)
{
    b->change_count = 0;
    if (!put_rows(b)) rebuild(b);
    for (uint32_t i = 0; i < b->moved_count; i++) b->has_moved[b->moved[i]] = false;
    b->moved_count = 0;
    note_flags(b);
    close_changes(b);

    /* the list: merged, or anew where little of it would stay, or where it was not whole */
    const uint64_t *old = b->lists[b->current];
    uint64_t *list = b->lists[!b->current];
    size_t count;
    if (b->stale || b->dropped || b->change_count > CHANGES || !merge_changes(b, old, list, &count))
        count = list_all(b, list);

    b->current = !b->current;
    b->count = count;
    b->stale = false;
    return (flr_broad_list){.keys = list, .count = count, .dropped = b->dropped};
}
