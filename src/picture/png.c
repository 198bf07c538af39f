/* Pictures as PNG files. */
#include "picture/picture.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>

/* what libpng's callbacks need */
typedef struct sink {
    flr_output *output;
    flr_error *error;
    flr_result result;
} sink;

static void on_write(png_structp png, png_bytep bytes, png_size_t count)
{
    sink *to = png_get_io_ptr(png);
    to->result = flr_output_write(to->output, bytes, count, to->error);
    if (to->result != FLR_OK) png_error(png, "write");
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
static flr_result encode(png_structp png, png_infop info, sink *to, const flr_picture *picture)
{
    if (setjmp(png_jmpbuf(png))) return to->result;
    png_set_write_fn(png, to, on_write, on_flush);
    png_set_IHDR(png, info, picture->width, picture->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, 9);
    png_set_filter(png, 0, PNG_ALL_FILTERS);
    png_write_info(png, info);
    for (uint32_t y = 0; y < picture->height; y++)
        png_write_row(png, picture->rgb + (size_t)y * picture->width * 3);
    png_write_end(png, info);
    return FLR_OK;
}

flr_result flr_picture_write_png(flr_env *env, const char *path, const flr_picture *picture,
                                 flr_error *error)
{
    sink to = {.error = error};
    flr_result result = flr_output_begin(env, path, &to.output, error);
    if (result != FLR_OK) return result;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &to, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (info)
        result = encode(png, info, &to, picture);
    else
        result = flr_fail(error, FLR_NO_MEMORY, "%s: no memory to write it", path);
    png_destroy_write_struct(&png, &info);
    if (result == FLR_OK) return flr_output_commit(to.output, error);
    flr_output_abandon(to.output);
    return result;
}
