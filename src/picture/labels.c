/* labels in a font of 5x7 dots, and rectangles */
#include "picture/labels.h"

#include <ctype.h>
#include <string.h>

/* seven rows each, the leftmost dot in bit 4 */
typedef struct glyph {
    char sign;
    uint8_t rows[FLR_TEXT_HEIGHT];
} glyph;

static const glyph glyphs[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 6, 8, 16, 31}},    {'3', {14, 17, 1, 6, 1, 17, 14}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},     {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 4, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}}, {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'a', {0, 0, 14, 1, 15, 17, 15}},    {'b', {16, 16, 30, 17, 17, 17, 30}},
    {'c', {0, 0, 14, 17, 16, 17, 14}},   {'d', {1, 1, 15, 17, 17, 17, 15}},
    {'e', {0, 0, 14, 17, 31, 16, 14}},   {'f', {6, 9, 8, 28, 8, 8, 8}},
    {'g', {0, 15, 17, 17, 15, 1, 14}},   {'h', {16, 16, 22, 25, 17, 17, 17}},
    {'i', {4, 0, 12, 4, 4, 4, 14}},      {'j', {2, 0, 6, 2, 2, 18, 12}},
    {'k', {16, 16, 18, 20, 24, 20, 18}}, {'l', {12, 4, 4, 4, 4, 4, 14}},
    {'m', {0, 0, 26, 21, 21, 21, 21}},   {'n', {0, 0, 22, 25, 17, 17, 17}},
    {'o', {0, 0, 14, 17, 17, 17, 14}},   {'p', {0, 30, 17, 17, 30, 16, 16}},
    {'q', {0, 15, 17, 17, 15, 1, 1}},    {'r', {0, 0, 22, 25, 16, 16, 16}},
    {'s', {0, 0, 15, 16, 14, 1, 30}},    {'t', {8, 8, 28, 8, 8, 9, 6}},
    {'u', {0, 0, 17, 17, 17, 19, 13}},   {'v', {0, 0, 17, 17, 17, 10, 4}},
    {'w', {0, 0, 17, 17, 21, 21, 10}},   {'x', {0, 0, 17, 10, 4, 10, 17}},
    {'y', {0, 17, 17, 17, 15, 1, 14}},   {'z', {0, 0, 31, 2, 4, 8, 31}},
    {'.', {0, 0, 0, 0, 0, 12, 12}},      {',', {0, 0, 0, 0, 12, 4, 8}},
    {'-', {0, 0, 0, 31, 0, 0, 0}},       {'=', {0, 0, 31, 0, 31, 0, 0}},
    {'+', {0, 4, 4, 31, 4, 4, 0}},       {':', {0, 12, 12, 0, 12, 12, 0}},
    {'/', {1, 1, 2, 4, 8, 16, 16}},      {'(', {2, 4, 8, 8, 8, 4, 2}},
    {')', {8, 4, 2, 2, 2, 4, 8}},        {'>', {0, 8, 4, 2, 4, 8, 0}},
};

static uint8_t level(float value)
{
    return (uint8_t)(255 * (value < 0 ? 0 : value > 1 ? 1 : value) + 0.5f);
}

void flr_text_fill(flr_picture *picture, int x, int y, int width, int height, flr_colour colour)
{
    const uint8_t rgb[3] = {level(colour.r), level(colour.g), level(colour.b)};
    int right = x + width < (int)picture->width ? x + width : (int)picture->width;
    int bottom = y + height < (int)picture->height ? y + height : (int)picture->height;
    for (int v = y < 0 ? 0 : y; v < bottom; v++)
        for (int u = x < 0 ? 0 : x; u < right; u++)
            memcpy(picture->rgb + 3 * ((size_t)v * picture->width + (size_t)u), rgb, 3);
}

void flr_text_draw(flr_picture *picture, int x, int y, int scale, flr_colour colour,
                   const char *text)
{
    for (; *text; text++, x += FLR_TEXT_ADVANCE * scale)
        for (size_t g = 0; g < sizeof glyphs / sizeof *glyphs; g++) {
            if (glyphs[g].sign != tolower((unsigned char)*text)) continue;
            int down = strchr("gpqy,", glyphs[g].sign) ? 1 : 0; /* below the line */
            for (int row = 0; row < FLR_TEXT_HEIGHT; row++)
                for (int dot = 0; dot < 5; dot++)
                    if (glyphs[g].rows[row] >> (4 - dot) & 1)
                        flr_text_fill(picture, x + dot * scale, y + (row + down) * scale, scale,
                                      scale, colour);
        }
}

int flr_text_width(const char *text, int scale)
{
    return ((int)strlen(text) * FLR_TEXT_ADVANCE - 1) * scale;
}
