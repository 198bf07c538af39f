/* kim.h: the text configuration of Kim's networked haptic environment (his figure 4.2), as a scene.
 *
 *     Haptic device: 0 (1=yes/0=no)
 *     Number of models: 2
 *     axle_part01.3ds  -0.434  0.0   3.6   1.0   0.02
 *     axle_base.3ds     0      1.0   2.5   1.0   0.02
 *     Barrier_synchronization: 1 (1=yes/0=no)
 *
 * A model's line has its file, position, scale and voxel size. Lengths are feet, as his appendix C has them (0.02 is the
 * 0.6096 cm of the axle). Every part may be picked up, as in his program. What a device is and how hosts are kept in step is
 * decided elsewhere here; the two flags are read and mentioned in the scene's description.
 *
 * Thread: any. Not RT safe. */
#ifndef FLR_SCENE_KIM_H
#define FLR_SCENE_KIM_H

#include "scene/scene.h"

/* Does a text look like one? JSON never does. */
bool flr_kim_recognize(const void *bytes, size_t size);

/* Reads it; every sentence begins with "FILE:LINE:COLUMN:". The scene that `use` gets is borrowed until it returns; what
 * that returns is the result. */
flr_result flr_kim_read(const char *name, const void *bytes, size_t size,
                        flr_result (*use)(void *context, const flr_scene *scene, flr_error *error),
                        void *context, flr_error *error);

#endif
