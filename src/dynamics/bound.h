/* bound.h: the contact wrench of an explicit step, no stiffer in any direction than mass and rate
 * allow. */
#ifndef FLR_DYNAMICS_BOUND_H
#define FLR_DYNAMICS_BOUND_H

#include "dynamics/mat6.h"

/* With M = L L^T and the total stiffness K of the contacts, z = L^-1 x are coordinates in which the
 * body has mass one in every direction; there, the eigenvalues of dt^2 K say how stiff contact is
 * along each eigenvector. Where one is above 1, the wrench's part along it is divided by it. All
 * other directions keep what they have: a part in a wedge is softened across it and not along it. */
flr_wrench flr_bound_wrench(flr_wrench wrench, const flr_mat6 *stiffness, const flr_mat6 *inertia,
                            double dt);

#endif
