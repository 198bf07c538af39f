/* Few colours that stand well for many: boxes of colours are split where they err most. */
#include "picture/palette.h"

#include "base/array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A different colour of the picture. */
typedef struct shade {
    uint8_t rgb[3];
    uint8_t index; /* of its box, in the end */
    uint32_t pixels;
} shade;

/* Shades that share a palette entry. */
typedef struct palette_box {
    uint32_t first, count;
    double error; /* squared distance of its pixels to their mean along the worst channel */
    int channel;  /* the worst one */
} palette_box;

/* Shades found so far: a table of places, in order of appearance beside it. */
typedef struct shades {
    uint32_t *table; /* [TABLE] number of a shade + 1, or 0 */
    shade *all;
    uint32_t count, room;
    uint8_t keep; /* the bits of a channel that count */
} shades;

enum { TABLE = 1 << 21 };

/* where a colour is in the table, or where it would go */
static uint32_t find_place(const shades *s, const uint8_t *rgb)
{
    const uint8_t c[3] = {rgb[0] & s->keep, rgb[1] & s->keep, rgb[2] & s->keep};
    const uint32_t colour = (uint32_t)c[0] << 16 | (uint32_t)c[1] << 8 | c[2];
    uint32_t place = (colour * 0x9E3779B1u) >> 11;
    while (s->table[place] && memcmp(s->all[s->table[place] - 1].rgb, c, 3) != 0)
        place = (place + 1) & (TABLE - 1);
    return place;
}

static bool add_shade(shades *s, uint32_t place, const uint8_t *rgb)
{
    if (!FLR_GROW(s->all, s->count, s->room, 4096)) return false;
    s->all[s->count] = (shade){.rgb = {rgb[0] & s->keep, rgb[1] & s->keep, rgb[2] & s->keep}};
    s->table[place] = ++s->count;
    return true;
}

/* counts the shades; where they are too many for the table, the low bits go */
static bool collect(const uint8_t *rgb, size_t count, shades *s)
{
    s->keep = 0xFF;
    for (size_t i = 0; i < count; i++) {
        const uint32_t place = find_place(s, rgb + 3 * i);
        if (!s->table[place] && !add_shade(s, place, rgb + 3 * i)) return false;
        s->all[s->table[place] - 1].pixels++;
        if (s->count <= TABLE / 2) continue;
        memset(s->table, 0, TABLE * sizeof *s->table);
        s->count = 0, s->keep = (uint8_t)(s->keep << 1), i = 0;
    }
    return true;
}

static void measure(const shades *s, palette_box *b)
{
    b->error = -1;
    for (int c = 0; c < 3; c++) {
        double sum = 0, square = 0, pixels = 0;
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            const double v = s->all[i].rgb[c], n = s->all[i].pixels;
            sum += n * v, square += n * v * v, pixels += n;
        }
        const double error = square - sum * sum / pixels;
        if (error > b->error) b->error = error, b->channel = c;
    }
}

/* sorts a box along its worst channel, in place, and splits it at the mean */
static palette_box split(shades *s, palette_box *b)
{
    double sum = 0, pixels = 0;
    const int c = b->channel;
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        sum += (double)s->all[i].pixels * s->all[i].rgb[c], pixels += s->all[i].pixels;
    const double mean = sum / pixels;
    uint32_t low = b->first, high = b->first + b->count;
    while (low < high) {
        if (s->all[low].rgb[c] <= mean) {
            low++;
            continue;
        }
        const shade swap = s->all[low];
        s->all[low] = s->all[--high], s->all[high] = swap;
    }
    const palette_box rest = {.first = low, .count = b->first + b->count - low};
    b->count = low - b->first;
    return rest;
}

static uint32_t make_boxes(shades *s, palette_box boxes[FLR_PALETTE_SIZE])
{
    uint32_t count = 1;
    boxes[0] = (palette_box){.count = s->count};
    measure(s, boxes);
    while (count < FLR_PALETTE_SIZE) {
        uint32_t worst = 0;
        for (uint32_t i = 1; i < count; i++)
            if (boxes[i].error > boxes[worst].error) worst = i;
        if (!(boxes[worst].error > 0) || boxes[worst].count < 2) break;
        boxes[count] = split(s, boxes + worst);
        measure(s, boxes + worst);
        measure(s, boxes + count++);
    }
    return count;
}

static void finish(shades *s, const palette_box *boxes, flr_palette *palette)
{
    for (uint32_t b = 0; b < palette->count; b++) {
        double sum[3] = {0, 0, 0}, pixels = 0;
        for (uint32_t i = boxes[b].first; i < boxes[b].first + boxes[b].count; i++) {
            for (int c = 0; c < 3; c++) sum[c] += (double)s->all[i].pixels * s->all[i].rgb[c];
            pixels += s->all[i].pixels;
            s->all[i].index = (uint8_t)b;
        }
        for (int c = 0; c < 3; c++) palette->rgb[b][c] = (uint8_t)(sum[c] / pixels + 0.5);
    }
    /* the boxes have moved the shades: find them again */
    memset(s->table, 0, TABLE * sizeof *s->table);
    for (uint32_t i = 0; i < s->count; i++) s->table[find_place(s, s->all[i].rgb)] = i + 1;
}

flr_result flr_palette_make(const uint8_t *rgb, size_t count, flr_palette *palette,
                            uint8_t *indices, flr_error *error)
{
    shades s = {0};
    s.table = calloc(TABLE, sizeof *s.table);
    if (!s.table || !collect(rgb, count, &s)) {
        free(s.table);
        free(s.all);
        return flr_fail(error, FLR_NO_MEMORY, "no memory to count the colours of a picture");
    }
    palette_box boxes[FLR_PALETTE_SIZE];
    palette->count = make_boxes(&s, boxes);
    finish(&s, boxes, palette);
    for (size_t i = 0; i < count; i++)
        indices[i] = s.all[s.table[find_place(&s, rgb + 3 * i)] - 1].index;
    free(s.table);
    free(s.all);
    return FLR_OK;
}
