/* feeler/simd.h: which instructions the fast loops use.
 *
 * Contact and probe queries have a scalar loop and variants of it in AVX2 and AVX-512. All give the
 * same answer to the last bit; they differ in time only. The choice is made when an engine is
 * created, not at build time.
 *
 * Thread: any; RT safe.
 */
#ifndef FEELER_SIMD_H
#define FEELER_SIMD_H

#include <stdbool.h>

#include "feeler/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum flr_simd { FLR_SIMD_BEST, FLR_SIMD_SCALAR, FLR_SIMD_AVX2, FLR_SIMD_AVX512 } flr_simd;

/* Does this processor (and this build) have it? BEST and SCALAR: always. */
FLR_API bool flr_simd_has(flr_simd simd);

/* What FLR_SIMD_BEST means here; any other is returned as it is. */
FLR_API flr_simd flr_simd_resolve(flr_simd simd);

/* "best", "scalar", "AVX2" or "AVX-512". Never NULL. */
FLR_API const char *flr_simd_name(flr_simd simd);

#ifdef __cplusplus
}
#endif
#endif
