/* a file of SVG that is being written */
#include "picture/svg.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void flr_svg_print(flr_svg *svg, const char *format, ...)
{
    if (svg->result != FLR_OK) return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    svg->result = flr_output_write(svg->output, text, strlen(text), svg->error);
}

flr_result flr_svg_end(flr_svg *svg)
{
    return flr_output_end(svg->output, svg->result, svg->error);
}
