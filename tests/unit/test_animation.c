/* animated PNGs, read back chunk by chunk with zlib alone */
#include <zlib.h>

#include "picture/animation.h"
#include "support/fail_alloc.h"
#include "support/test.h"

enum { WIDTH = 40, HEIGHT = 30, COUNT = 4 };

typedef struct film {
    flr_picture pictures[COUNT];
    flr_animation_def def;
} film;

/* a grey field with a red square that goes to the right; the last two pictures are the same */
static film make_film(void)
{
    film f = {.def = {.count = COUNT, .delay_ms = 80, .pause_ms = 900}};
    for (uint32_t i = 0; i < COUNT; i++) {
        flr_picture *p = &f.pictures[i];
        *p = (flr_picture){WIDTH, HEIGHT, malloc(3 * WIDTH * HEIGHT)};
        assert_non_null(p->rgb);
        const uint32_t left = 5 * (i < COUNT - 1 ? i : i - 1);
        for (uint32_t y = 0; y < HEIGHT; y++)
            for (uint32_t x = 0; x < WIDTH; x++) {
                const bool red = y >= 10 && y < 18 && x >= left && x < left + 8;
                const uint8_t rgb[3] = {red ? 200 : (uint8_t)(y * 4), red ? 10 : (uint8_t)(y * 4),
                                        red ? 10 : (uint8_t)(y * 4)};
                memcpy(p->rgb + 3 * (y * WIDTH + x), rgb, 3);
            }
    }
    return f;
}

static void free_film(film *f)
{
    for (int i = 0; i < COUNT; i++) flr_picture_free(&f->pictures[i]);
}

static uint32_t get(const uint8_t *at, int size)
{
    uint32_t value = 0;
    for (int i = 0; i < size; i++) value = value << 8 | at[i];
    return value;
}

/* what a viewer knows while it reads */
typedef struct viewer {
    uint8_t canvas[WIDTH * HEIGHT];
    const uint8_t *palette;
    uint32_t x, y, width, height, sequence, frames, delay[COUNT];
} viewer;

static void show(viewer *v, const uint8_t *data, size_t size, const film *f)
{
    uint8_t raw[HEIGHT * (WIDTH + 1)];
    uLongf length = sizeof raw;
    assert_int_equal(uncompress(raw, &length, data, size), Z_OK);
    assert_int_equal(length, v->height * (v->width + 1));
    for (uint32_t y = 0; y < v->height; y++) {
        assert_int_equal(raw[y * (v->width + 1)], 0); /* no filter */
        memcpy(v->canvas + (v->y + y) * WIDTH + v->x, raw + y * (v->width + 1) + 1, v->width);
    }
    assert_in_range(v->frames, 1, COUNT);
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        assert_memory_equal(v->palette + 3 * v->canvas[i], f->pictures[v->frames - 1].rgb + 3 * i,
                            3);
}

static void chunk(viewer *v, const char *name, const uint8_t *data, size_t size, const film *f)
{
    if (!memcmp(name, "IHDR", 4)) {
        assert_int_equal(get(data, 4), WIDTH);
        assert_int_equal(get(data + 4, 4), HEIGHT);
    } else if (!memcmp(name, "acTL", 4)) {
        assert_int_equal(get(data, 4), COUNT);
        assert_int_equal(get(data + 4, 4), 0);
    } else if (!memcmp(name, "PLTE", 4)) {
        v->palette = data;
    } else if (!memcmp(name, "fcTL", 4)) {
        assert_int_equal(get(data, 4), v->sequence++);
        v->width = get(data + 4, 4), v->height = get(data + 8, 4);
        v->x = get(data + 12, 4), v->y = get(data + 16, 4);
        assert_in_range(v->x + v->width, 1, WIDTH);
        assert_in_range(v->y + v->height, 1, HEIGHT);
        assert_int_equal(get(data + 22, 2), 1000);
        v->delay[v->frames++] = get(data + 20, 2);
    } else if (!memcmp(name, "IDAT", 4)) {
        assert_int_equal(v->frames, 1);
        show(v, data, size, f);
    } else if (!memcmp(name, "fdAT", 4)) {
        assert_int_equal(get(data, 4), v->sequence++);
        show(v, data + 4, size - 4, f);
    } else
        assert_memory_equal(name, "IEND", 4);
}

static void plays_what_was_drawn(void **state)
{
    (void)state;
    film f = make_film();
    f.def.pictures = f.pictures;
    flr_blob png;
    flr_error error;
    assert_ok(flr_animation_png(&f.def, &png, &error), error);
    assert_memory_equal(png.bytes, "\x89PNG\r\n\x1a\n", 8);
    viewer v = {0};
    size_t at = 8;
    while (at < png.size) {
        const size_t size = get(png.bytes + at, 4);
        assert_in_range(at + 12 + size, 1, png.size);
        assert_int_equal(crc32(0, png.bytes + at + 4, (uInt)(size + 4)),
                         get(png.bytes + at + 8 + size, 4));
        chunk(&v, (const char *)png.bytes + at + 4, png.bytes + at + 8, size, &f);
        if (v.frames == 2) assert_int_equal(v.height, 8);    /* only what changed */
        if (v.frames == COUNT) assert_int_equal(v.width, 1); /* nothing did */
        at += 12 + size;
    }
    assert_int_equal(v.frames, COUNT);
    for (int i = 0; i < COUNT; i++) assert_int_equal(v.delay[i], i + 1 < COUNT ? 80 : 900);
    flr_blob again;
    assert_ok(flr_animation_png(&f.def, &again, &error), error);
    assert_int_equal(again.size, png.size);
    assert_memory_equal(again.bytes, png.bytes, png.size);
    flr_blob_free(&again);
    flr_blob_free(&png);
    free_film(&f);
}

static void refuses(void **state)
{
    (void)state;
    film f = make_film();
    f.def.pictures = f.pictures;
    flr_blob png;
    flr_error error;
    f.def.count = 0;
    assert_int_equal(flr_animation_png(&f.def, &png, &error), FLR_BAD_ARGUMENT);
    f.def.count = FLR_ANIMATION_MAX_FRAMES + 1;
    assert_int_equal(flr_animation_png(&f.def, &png, &error), FLR_BAD_ARGUMENT);
    f.def.count = COUNT;
    f.pictures[1].height--;
    assert_int_equal(flr_animation_png(&f.def, &png, &error), FLR_BAD_ARGUMENT);
    assert_int_not_equal(flr_animation_write_png(flr_env_real(), "/none/x.png", &f.def, &error),
                         FLR_OK);
    f.pictures[1].height++;
    assert_int_not_equal(flr_animation_write_png(flr_env_real(), "/none/x.png", &f.def, &error),
                         FLR_OK);
    assert_non_null(strstr(error.message, "x.png"));
    free_film(&f);
}

static flr_result make(void *context, flr_error *error)
{
    flr_blob png;
    flr_result result = flr_animation_png(context, &png, error);
    if (result == FLR_OK) flr_blob_free(&png);
    return result;
}

static void memory_runs_out(void **state)
{
    (void)state;
    film f = make_film();
    f.def.pictures = f.pictures;
    assert_int_not_equal(flr_fail_alloc_each(make, &f.def), 0);
    free_film(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plays_what_was_drawn),
        cmocka_unit_test(refuses),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
