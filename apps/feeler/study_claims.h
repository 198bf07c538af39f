/* study_claims.h: which rank is at which task of a study.
 *
 * A claim is a file in the results' folder `claims` that its rank keeps locked. The lock ends with the process, however that
 * ends, so another rank takes the task then. A task that failed leaves its claim with the name of the team in it: no other rank of that team tries it
 * again. */
#ifndef FEELER_STUDY_CLAIMS_H
#define FEELER_STUDY_CLAIMS_H

#include "study.h"

typedef enum flr_study_claim {
    FLR_STUDY_CLAIMED,
    FLR_STUDY_BUSY,  /* another rank is at it */
    FLR_STUDY_FAILED /* another rank of this team has tried it */
} flr_study_claim;

/* Claims a task for a team; `*file` is what flr_study_release() takes. FLR_DENIED where the folder cannot be written or has
 * no locks. */
flr_result flr_study_take(const flr_study *study, size_t task, const char *team, int *file,
                          flr_study_claim *claim, flr_error *error);
/* Ends a claim. `failed`: the task is not to be tried again by this team. */
void flr_study_release(const flr_study *study, size_t task, const char *team, int file,
                       bool failed);
/* Removes what ranks that are gone have left, but for failed tasks of this team. */
flr_result flr_study_sweep(const flr_study *study, const char *team, flr_error *error);

#endif
