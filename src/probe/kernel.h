/* kernel.h: which of 16 triangles or boxes may a segment meet? In several instruction sets that give the same answer.
 *
 * Triangles: the segment's box must overlap the triangle's, and its ends must not lie on the same side of the triangle's
 * plane. All in small integers. Boxes: the test of section 3.4 with six axes, in single precision with slack. Both say yes
 * whenever the exact answer is yes. */
#ifndef FLR_PROBE_KERNEL_H
#define FLR_PROBE_KERNEL_H

#include "probe/model.h"

/* The first of `count` blocks in which a triangle may be hit, and bit i of `*mask` for each such triangle in it; `count` when
 * there is none. */
uint32_t flr_block_scalar(const flr_probe_block *blocks, uint32_t count,
                          const flr_probe_local *local, uint32_t *mask);
uint32_t flr_block_avx2(const flr_probe_block *blocks, uint32_t count, const flr_probe_local *local,
                        uint32_t *mask);
uint32_t flr_block_avx512(const flr_probe_block *blocks, uint32_t count,
                          const flr_probe_local *local, uint32_t *mask);

/* Bit i: box i may be met. */
uint32_t flr_node_scalar(const flr_probe_node *node, const flr_probe_span *span);
uint32_t flr_node_avx2(const flr_probe_node *node, const flr_probe_span *span);
uint32_t flr_node_avx512(const flr_probe_node *node, const flr_probe_span *span);

/* The right sides of the last three axes times this, so that their own rounding is covered. */
#define FLR_PROBE_ROUND_UP 1.000002f

/* Section 3.4 to the letter, in double precision: the box is centred and aligned, half[i] along axis i; the segment has
 * the middle m and reaches to m - w and m + w. Touching is overlap. */
bool flr_segment_meets_box(const double m[3], const double w[3], const double half[3]);

#endif
