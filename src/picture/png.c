/* Pictures as PNG files. */
#include "base/array.h"
#include "picture/picture.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "picture/palette.h"

/* what libpng's callbacks need */
typedef struct sink {
    flr_blob bytes; /* so far */
    size_t room;
    flr_error *error;
    flr_result result;
} sink;

static void on_write(png_structp png, png_bytep bytes, png_size_t count)
{
    sink *to = png_get_io_ptr(png);
    size_t needed = to->bytes.size + count;
    if (needed > to->room) {
        size_t room = needed + needed / 2 + 4096;
        if (!flr_array_resize(&to->bytes.bytes, room, 1)) png_error(png, "out of memory");
        to->room = room;
    }
    memcpy(to->bytes.bytes + to->bytes.size, bytes, count);
    to->bytes.size = needed;
}

static void on_flush(png_structp png) { (void)png; }

static void on_error(png_structp png, png_const_charp message)
{
    sink *to = png_get_error_ptr(png);
    if (to->result == FLR_OK)
        to->result = flr_fail(to->error, FLR_NO_MEMORY, "cannot make a PNG: %s", message);
    longjmp(png_jmpbuf(png), 1);
}

static void on_warning(png_structp png, png_const_charp message) { (void)png, (void)message; }

/* between setjmp and longjmp: nothing here owns anything but through png and info */
static flr_result encode(png_structp png, png_infop info, sink *to, const flr_picture *picture,
                         const flr_palette *palette, const uint8_t *indices)
{
    if (setjmp(png_jmpbuf(png))) return to->result;
    png_set_write_fn(png, to, on_write, on_flush);
    png_set_IHDR(png, info, picture->width, picture->height, 8, PNG_COLOR_TYPE_PALETTE,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_color colours[FLR_PALETTE_SIZE];
    for (uint32_t i = 0; i < palette->count; i++)
        colours[i] = (png_color){palette->rgb[i][0], palette->rgb[i][1], palette->rgb[i][2]};
    png_set_PLTE(png, info, colours, (int)palette->count);
    png_set_compression_level(png, 9);
    png_set_filter(png, 0, PNG_FILTER_NONE); /* differences of indices mean nothing */
    png_write_info(png, info);
    for (uint32_t y = 0; y < picture->height; y++)
        png_write_row(png, indices + (size_t)y * picture->width);
    png_write_end(png, info);
    return FLR_OK;
}

static flr_result write(sink *to, const flr_picture *picture, const flr_palette *palette,
                        const uint8_t *indices)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, to, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    flr_result result;
    if (info)
        result = encode(png, info, to, picture, palette, indices);
    else
        result = flr_fail(to->error, FLR_NO_MEMORY, "no memory to write a picture");
    png_destroy_write_struct(&png, &info);
    return result;
}

flr_result flr_picture_png(const flr_picture *picture, flr_blob *png, flr_error *error)
{
    const size_t count = (size_t)picture->width * picture->height;
    flr_palette palette;
    uint8_t *indices = malloc(count);
    flr_result result = indices ? flr_palette_make(picture->rgb, count, &palette, indices, error)
                                : flr_fail(error, FLR_NO_MEMORY, "no memory to write a picture");
    sink to = {.error = error};
    if (result == FLR_OK) result = write(&to, picture, &palette, indices);
    free(indices);
    if (result == FLR_OK)
        *png = to.bytes;
    else
        flr_blob_free(&to.bytes);
    return result;
}

flr_result flr_picture_write_png(flr_env *env, const char *path, const flr_picture *picture,
                                 flr_error *error)
{
    flr_blob png;
    flr_result result = flr_picture_png(picture, &png, error);
    if (result != FLR_OK) return result;
    result = flr_file_write_all(env, path, png.bytes, png.size, error);
    flr_blob_free(&png);
    return result;
}
