/* what a pair remembers from one query to the next */
#include "fit/fit_query.h"

flr_fit_track flr_fit_pair_save(const flr_fit_pair *pair) { return pair->track; }

void flr_fit_pair_restore(flr_fit_pair *pair, const flr_fit_track *track)
{
    (void)track;
    pair->track = (flr_fit_track){.progress = 0};
}
