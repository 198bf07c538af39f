/* a hand that strokes a model */
#include "bench/stroke.h"

#include <math.h>

size_t flr_stroke_make(const flr_probe_model *model, flr_segment *strokes, size_t count)
{
    const flr_mesh *mesh = flr_probe_model_mesh(model);
    const double size = flr_probe_model_size(model), turn = FLR_TWO_PI;
    flr_vec3 centre = flr_box3_centre(mesh->bounds), last = {NAN, NAN, NAN};
    size_t made = 0;
    for (size_t frame = 0; made < count && frame < 40 * count + 200000; frame++) {
        /* around the model, from near one pole to near the other and back */
        double around = 0.004 * (double)frame,
               down = 0.15 + 1.42 * (1 - cos(0.00013 * (double)frame));
        flr_vec3 out = {sin(down) * cos(around), sin(down) * sin(around), cos(down)};
        flr_probe_hit hit;
        if (!flr_probe_first(model, flr_vec3_add_scaled(centre, size, out), centre, NULL, &hit)) {
            last.x = NAN;
            continue;
        }
        double press = 0.01 * size * sin(turn * ((double)frame + 0.3) / 40);
        flr_vec3 tip = flr_vec3_add_scaled(hit.point, press, out);
        if (flr_vec3_distance(tip, last) < 0.02 * size) strokes[made++] = (flr_segment){last, tip};
        last = tip;
    }
    return made;
}
