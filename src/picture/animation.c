/* Pictures as an animated PNG: the chunks acTL, fcTL and fdAT around those of a plain one. */
#include "picture/animation.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "picture/palette.h"

/* a rectangle of pixels */
typedef struct patch {
    uint32_t x, y, width, height;
} patch;

typedef struct stream {
    flr_blob out;
    size_t capacity;
    uint32_t sequence; /* of fcTL and fdAT chunks */
} stream;

static bool reserve(stream *s, size_t more)
{
    if (s->out.size + more <= s->capacity) return true;
    size_t capacity = s->out.size + more + s->capacity / 2 + 4096;
    if (!flr_array_resize(&s->out.bytes, capacity, 1)) return false;
    s->capacity = capacity;
    return true;
}

static void put32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void put16(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 8), to[1] = (uint8_t)value;
}

/* length, name, data, checksum */
static bool put_chunk(stream *s, const char name[4], const uint8_t *data, size_t size)
{
    if (!reserve(s, size + 12)) return false;
    uint8_t *at = s->out.bytes + s->out.size;
    put32(at, (uint32_t)size);
    memcpy(at + 4, name, 4);
    if (size) memcpy(at + 8, data, size);
    put32(at + 8 + size, (uint32_t)crc32(0, at + 4, (uInt)(size + 4)));
    s->out.size += size + 12;
    return true;
}

static bool put_head(stream *s, const flr_animation_def *def, const flr_palette *palette)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    uint8_t head[13] = {[8] = 8 /* bits */, [9] = 3 /* palette */}, control[8];
    put32(head, def->pictures[0].width);
    put32(head + 4, def->pictures[0].height);
    put32(control, (uint32_t)def->count);
    put32(control + 4, 0); /* plays forever */
    if (!reserve(s, sizeof signature)) return false;
    memcpy(s->out.bytes, signature, sizeof signature);
    s->out.size = sizeof signature;
    return put_chunk(s, "IHDR", head, sizeof head) &&
           put_chunk(s, "acTL", control, sizeof control) &&
           put_chunk(s, "PLTE", palette->rgb[0], 3 * (size_t)palette->count);
}

/* The rectangle in which a picture differs from the one before; one pixel where nothing does. */
static patch changed(const uint8_t *now, const uint8_t *before, uint32_t width, uint32_t height)
{
    uint32_t left = width, right = 0, top = height, bottom = 0;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            if (now[(size_t)y * width + x] == before[(size_t)y * width + x]) continue;
            left = x < left ? x : left, right = x > right ? x : right;
            top = y < top ? y : top, bottom = y;
        }
    if (left > right) return (patch){0, 0, 1, 1};
    return (patch){left, top, right - left + 1, bottom - top + 1};
}

static bool put_control(stream *s, patch p, uint32_t delay_ms)
{
    uint8_t control[26] = {0}; /* dispose and blend: what is drawn stays, and replaces */
    put32(control, s->sequence++);
    put32(control + 4, p.width), put32(control + 8, p.height);
    put32(control + 12, p.x), put32(control + 16, p.y);
    put16(control + 20, delay_ms), put16(control + 22, 1000);
    return put_chunk(s, "fcTL", control, sizeof control);
}

/* The pixels of a patch, each row after a filter byte of 0; `raw` has room for a whole picture. */
static bool put_pixels(stream *s, const uint8_t *indices, uint32_t width, patch p, bool first,
                       uint8_t *raw)
{
    for (uint32_t y = 0; y < p.height; y++) {
        uint8_t *row = raw + (size_t)y * (p.width + 1);
        row[0] = 0;
        memcpy(row + 1, indices + (size_t)(p.y + y) * width + p.x, p.width);
    }
    const uLong size = (uLong)p.height * (p.width + 1);
    uLongf packed = compressBound(size);
    uint8_t *data = malloc(packed + 4);
    bool done = data && compress2(data + 4, &packed, raw, size, 9) == Z_OK;
    if (done && first)
        done = put_chunk(s, "IDAT", data + 4, packed);
    else if (done) {
        put32(data, s->sequence++);
        done = put_chunk(s, "fdAT", data, packed + 4);
    }
    free(data);
    return done;
}

/* All pixels of all pictures as indices into one palette. */
static flr_result index_all(const flr_animation_def *def, flr_palette *palette, uint8_t **indices,
                            flr_error *error)
{
    const size_t count = (size_t)def->pictures[0].width * def->pictures[0].height;
    uint8_t *rgb = malloc(3 * count * def->count);
    *indices = malloc(count * def->count);
    flr_result result = FLR_OK;
    if (!rgb || !*indices)
        result = flr_fail(error, FLR_NO_MEMORY, "not enough memory for an animation");
    for (size_t i = 0; result == FLR_OK && i < def->count; i++)
        memcpy(rgb + 3 * count * i, def->pictures[i].rgb, 3 * count);
    if (result == FLR_OK)
        result = flr_palette_make(rgb, count * def->count, palette, *indices, error);
    free(rgb);
    return result;
}

static bool put_frames(stream *s, const flr_animation_def *def, const uint8_t *indices)
{
    const uint32_t width = def->pictures[0].width, height = def->pictures[0].height;
    const size_t count = (size_t)width * height;
    uint8_t *raw = malloc(count + height);
    bool done = raw;
    for (size_t i = 0; done && i < def->count; i++) {
        const uint8_t *now = indices + count * i;
        patch p = {0, 0, width, height};
        if (i) p = changed(now, now - count, width, height);
        done = put_control(s, p, i + 1 < def->count ? def->delay_ms : def->pause_ms) &&
               put_pixels(s, now, width, p, i == 0, raw);
    }
    free(raw);
    return done && put_chunk(s, "IEND", NULL, 0);
}

flr_result flr_animation_png(const flr_animation_def *def, flr_blob *png, flr_error *error)
{
    if (def->count < 1 || def->count > FLR_ANIMATION_MAX_FRAMES)
        return flr_fail(error, FLR_BAD_ARGUMENT, "an animation has 1 to %d pictures, not %zu",
                        FLR_ANIMATION_MAX_FRAMES, def->count);
    for (size_t i = 1; i < def->count; i++)
        if (def->pictures[i].width != def->pictures[0].width ||
            def->pictures[i].height != def->pictures[0].height)
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "the pictures of an animation must have the same size");
    flr_palette palette;
    uint8_t *indices = NULL;
    stream s = {0};
    flr_result result = index_all(def, &palette, &indices, error);
    if (result == FLR_OK && !(put_head(&s, def, &palette) && put_frames(&s, def, indices)))
        result = flr_fail(error, FLR_NO_MEMORY, "not enough memory for an animation");
    free(indices);
    if (result == FLR_OK)
        *png = s.out;
    else
        flr_blob_free(&s.out);
    return result;
}

flr_result flr_animation_write_png(flr_env *env, const char *path, const flr_animation_def *def,
                                   flr_error *error)
{
    flr_blob png;
    flr_result result = flr_animation_png(def, &png, error);
    if (result != FLR_OK) return result;
    result = flr_file_write_all(env, path, png.bytes, png.size, error);
    flr_blob_free(&png);
    return result;
}
