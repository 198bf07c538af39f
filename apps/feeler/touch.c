/* the law of contact on a command line */
#include "touch.h"

const char *const flr_touch_switch[] = {"off", "on", NULL};

void flr_touch_apply(const flr_touch_options *touch, flr_contact_params *params)
{
    if (touch->force_layer >= 0) params->force_layer = (unsigned)touch->force_layer;
    if (!isnan(touch->displace)) params->displacement = touch->displace;
    if (!isnan(touch->stiffness)) params->stiffness = touch->stiffness;
    if (touch->model >= 0) params->model = (flr_force_model)touch->model;
    if (touch->awareness >= 0) params->awareness = touch->awareness == 1;
}
