/* scenarios.h: the recipes, one per file, for the list in models.c. */
#ifndef FLR_MODELS_SCENARIOS_H
#define FLR_MODELS_SCENARIOS_H

#include "models/models.h"

/* extern const flr_scenario flr_scenario_NAME; in NAME.c */
extern const flr_scenario flr_scenario_bay;
extern const flr_scenario flr_scenario_ball;
extern const flr_scenario flr_scenario_cabinet;
extern const flr_scenario flr_scenario_gear;
extern const flr_scenario flr_scenario_aircraft;
extern const flr_scenario flr_scenario_axle;
extern const flr_scenario flr_scenario_falling;
extern const flr_scenario flr_scenario_probes;
extern const flr_scenario flr_scenario_probe; /* in probes.c, too */
extern const flr_scenario flr_scenario_approach;
extern const flr_scenario flr_scenario_pair; /* in approach.c */

#endif
