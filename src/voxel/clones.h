/* clones.h: FLR_CLONES before a function lets the compiler make it also for AVX2 and AVX-512, chosen once
 * when the program is loaded. The result has the same bits, as nothing is fused (-ffp-contract=off). Before static functions only:
 * clang 14 does not find clones from another file. The choice needs a loader that resolves indirect functions: glibc's does, musl's
 * does not. */
#ifndef FLR_VOXEL_CLONES_H
#define FLR_VOXEL_CLONES_H

#include <stdint.h> /* defines __GLIBC__ where it is that library */

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(FLR_NO_SIMD) &&                          \
    !defined(FLR_SANITIZED) && !defined(FLR_NO_CLONES)
#define FLR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FLR_CLONES
#endif

#endif
