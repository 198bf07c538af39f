/* occt.h: the readers of OpenCASCADE: STEP, IGES, BREP. C in front, C++ behind. */
#ifndef FLR_OCCT_H
#define FLR_OCCT_H

#include "collect.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum flr_occt_format {
    FLR_OCCT_NONE,
    FLR_OCCT_STEP,
    FLR_OCCT_IGES,
    FLR_OCCT_BREP
} flr_occt_format;

/* By content first, by ending second. */
flr_occt_format flr_occt_format_of(const flr_import_job *job, const char *ending);

/* Reads all faces into `collect`: one group per placed part, named after it. IGES is read through
 * /proc/self/fd/0, the others from memory. */
flr_result flr_occt_read(const flr_import_job *job, flr_occt_format format, flr_collect *collect);

/* "OpenCASCADE 7.6.3" */
const char *flr_occt_version(void);

#ifdef __cplusplus
}
#endif
#endif
