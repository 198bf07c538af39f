/* stroke.h: what a hand with a probe would have recorded: short segments along the surface of a model, pressing in and
 * coming off again. For benchmarks. */
#ifndef FLR_BENCH_STROKE_H
#define FLR_BENCH_STROKE_H

#include "feeler/probe.h"
#include "scene/segment_file.h"
/* Fills `strokes`, each the tip's way in one frame: it goes around the model in a slow spiral along the first surface seen
 * from outside, at a hand's speed (0.3 % of the model's size a frame), and in and out by 1 % of that size every 40 frames.
 * Where it would jump from one part of the model to another, the frame is left out. Always the same. Returns how many it
 * has made: fewer than `count` only where almost nothing is to be seen of the model. */
size_t flr_stroke_make(const flr_probe_model *model, flr_segment *strokes, size_t count);

#endif
