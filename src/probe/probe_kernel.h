/* probe_kernel.h: which of 16 triangles or boxes may a segment meet? In several instruction sets that give the same answer.
 *
 * Triangles: the segment's box must overlap the triangle's, its ends must not lie on the same side of the triangle's
 * plane, and where it crosses that must be in the triangle's box. All but the last in small integers. Boxes: the test of section 3.4 with six axes, in single precision with slack. Both say yes
 * whenever the exact answer is yes. */
#ifndef FLR_PROBE_PROBE_KERNEL_H
#define FLR_PROBE_PROBE_KERNEL_H

#include "probe/model.h"

enum { FLR_PROBE_CAPACITY = 128 }; /* triangles in a list */

/* Fills `list` with all triangles in the `count` blocks of a cell or a leaf that may be hit, and returns how many;
 * FLR_PROBE_NONE where there is not enough room, never so with one block. Where a cell has pages, `blocks` begins with them. */
uint32_t flr_gather_scalar(const flr_probe_block *blocks, uint32_t count,
                           const flr_probe_local *local, uint32_t *list);
uint32_t flr_gather_avx2(const flr_probe_block *blocks, uint32_t count,
                         const flr_probe_local *local, uint32_t *list);
uint32_t flr_gather_avx512(const flr_probe_block *blocks, uint32_t count,
                           const flr_probe_local *local, uint32_t *list);
uint32_t flr_gather_neon(const flr_probe_block *blocks, uint32_t count,
                         const flr_probe_local *local, uint32_t *list);

/* The same for a segment from a to b in a grid, where it is short: both ends in one cell, or in cells next to each
 * other, or both beside the grid. A triangle may come several times. FLR_PROBE_NONE also where the segment is not of that
 * kind, or not of numbers, or where a cell holds a tree. */
uint32_t flr_near_scalar(const flr_probe_model *model, const flr_vec3 *a, const flr_vec3 *b,
                         uint32_t *list);
uint32_t flr_near_avx2(const flr_probe_model *model, const flr_vec3 *a, const flr_vec3 *b,
                       uint32_t *list);
uint32_t flr_near_avx512(const flr_probe_model *model, const flr_vec3 *a, const flr_vec3 *b,
                         uint32_t *list);
uint32_t flr_near_neon(const flr_probe_model *model, const flr_vec3 *a, const flr_vec3 *b,
                       uint32_t *list);

/* Of some triangles of a block, those in whose box and sides the segment may cross their plane: a few are looked at more
 * closely before their corners are fetched. */
uint32_t flr_block_crossed(const flr_probe_block *block, const flr_probe_local *local,
                           uint32_t mask);

/* Bit i: box i may be met. */
uint32_t flr_node_scalar(const flr_probe_node *node, const flr_probe_span *span);
uint32_t flr_node_avx2(const flr_probe_node *node, const flr_probe_span *span);
uint32_t flr_node_avx512(const flr_probe_node *node, const flr_probe_span *span);
uint32_t flr_node_neon(const flr_probe_node *node, const flr_probe_span *span);

#if !defined(__x86_64__) || defined(FLR_NO_SIMD) /* other instruction sets than this platform's */
#define flr_gather_avx2   flr_gather_scalar
#define flr_gather_avx512 flr_gather_scalar
#define flr_near_avx2     flr_near_scalar
#define flr_near_avx512   flr_near_scalar
#define flr_node_avx2     flr_node_scalar
#define flr_node_avx512   flr_node_scalar
#endif
#if !defined(__aarch64__) || defined(FLR_NO_SIMD)
#define flr_gather_neon flr_gather_scalar
#define flr_near_neon   flr_near_scalar
#define flr_node_neon   flr_node_scalar
#endif

/* Four numbers in one register, or in two, and how they compare. */
typedef double flr_double4 __attribute__((vector_size(32)));
typedef int64_t flr_long4 __attribute__((vector_size(32)));

/* The right sides of the last three axes times this, so that their own rounding is covered. */
#define FLR_PROBE_ROUND_UP 1.000002f

#endif
