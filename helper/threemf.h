/* threemf.h: 3MF files: objects, components and build items with their names, placements and colours. */
#ifndef FLR_THREEMF_H
#define FLR_THREEMF_H

#include "collect.h"

/* FLR_UNSUPPORTED: its model is in UTF-16, so another reader may try; nothing was collected. */
flr_result flr_threemf_read(const flr_import_job *job, flr_collect *collect);

#endif
