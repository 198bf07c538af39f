/* parameters by name */
#include "sim/parameters.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/suggest.h"
#include "feeler/base.h"
#include "sim/stage.h"

typedef enum parameters_kind {
    PARAMETERS_NUMBER,
    PARAMETERS_COUNT,
    PARAMETERS_FLAG,
    PARAMETERS_WORD,
    PARAMETERS_ONSET
} parameters_kind;

typedef struct parameters_row {
    flr_parameters_entry entry;
    parameters_kind kind;
    size_t offset; /* in flr_parameters */
} parameters_row;

#define PARAMETERS_FARTHEST                                                                        \
    7 /* voxels: the outermost force layer of voxmaps with 8 layers of marks */

#define PARAMETERS_AT(member) offsetof(flr_parameters, member)
_Static_assert(sizeof(flr_integrator) == sizeof(unsigned) &&
                   sizeof(flr_force_model) == sizeof(unsigned),
               "words are kept as unsigned");

/* clang-format off */
static const parameters_row rows[] = {
    {{"force_layer", "", "", "of voxels: the layer in which force begins, the onset in voxels; 2 keeps exact surfaces apart", 0, PARAMETERS_FARTHEST}, PARAMETERS_COUNT, PARAMETERS_AT(world.contact.force_layer)},
    {{"displacement", "m", "", "surface points are moved outward by this", -0.1, 0.1}, PARAMETERS_NUMBER, PARAMETERS_AT(world.contact.displacement)},
    {{"stiffness", "N/m", "", "of one contact", 1, 1e6}, PARAMETERS_NUMBER, PARAMETERS_AT(world.contact.stiffness)},
    {{"damping", "", "", "of contacts, as a share of the critical one", 0, 10}, PARAMETERS_NUMBER, PARAMETERS_AT(world.step.damping)},
    {{"full", "", "", "from so many contacts on, their forces are divided by their number over this; 0: they always add up", 0, 1000}, PARAMETERS_COUNT, PARAMETERS_AT(world.contact.full)},
    {{"friction", "", "", "coefficient, between all parts", 0, 10}, PARAMETERS_NUMBER, PARAMETERS_AT(world.friction)},
    {{"model", "", "tangent smooth", "how the depth of a contact is found; counts when every part has got points for it", 0, 1}, PARAMETERS_WORD, PARAMETERS_AT(world.contact.model)},
    {{"awareness", "", "off on", "geometrical awareness: faster, not quite safe", 0, 1}, PARAMETERS_FLAG, PARAMETERS_AT(world.contact.awareness)},
    {{"engine", "", "shell spheres exact coherent", "how contact is found: points in voxels, sphere trees with impulses, exact distances for tight fits, or points in voxels by temporal coherence; counts when every part is ready for it", 0, 3}, PARAMETERS_WORD, PARAMETERS_AT(world.engine)},
    {{"restitution", "", "", "of impulses, 0 to 1", 0, 1}, PARAMETERS_NUMBER, PARAMETERS_AT(world.restitution)},
    {{"tests", "", "", "of the coherent engine: point tests that a frame has time for; fewer make the travel limit stricter", 1, 1e9}, PARAMETERS_NUMBER, PARAMETERS_AT(world.tests)},
    {{"onset", "m", "", "force begins this far before surfaces meet; with voxels it is a whole number of them", 0, 1}, PARAMETERS_ONSET, PARAMETERS_AT(onset)},
    {{"strength", "", "", "of the exact engine: how hard a hand pulls, as a share of the device's largest force; counts from the next grab on", 0.01, 100}, PARAMETERS_NUMBER, PARAMETERS_AT(world.exact.strength)},
    {{"overlap", "m", "", "of the exact engine: parts may start in each other up to this depth", 0, 1}, PARAMETERS_NUMBER, PARAMETERS_AT(world.exact.overlap)},
    {{"integrator", "", "implicit explicit quasi-static", "how bodies are moved", 0, FLR_INTEGRATOR_COUNT - 1}, PARAMETERS_WORD, PARAMETERS_AT(world.step.integrator)},
    {{"gravity_x", "m/s^2", "", "along x", -100, 100}, PARAMETERS_NUMBER, PARAMETERS_AT(world.step.gravity.x)},
    {{"gravity_y", "m/s^2", "", "along y", -100, 100}, PARAMETERS_NUMBER, PARAMETERS_AT(world.step.gravity.y)},
    {{"gravity_z", "m/s^2", "", "along z, which is up", -100, 100}, PARAMETERS_NUMBER, PARAMETERS_AT(world.step.gravity.z)},
    {{"braking", "", "", "of points that approach a contact: 0 none, 1 all", 0, 1}, PARAMETERS_NUMBER, PARAMETERS_AT(world.step.braking)},
    {{"travel", "m", "", "no point goes farther in a frame", 1e-6, 1e6}, PARAMETERS_NUMBER, PARAMETERS_AT(world.step.travel)},
    {{"unchecked", "voxels", "", "nothing stops a body before its fastest point has gone so far in a frame", 0, 10}, PARAMETERS_NUMBER, PARAMETERS_AT(world.unchecked)},
    {{"depth", "voxels", "", "a contact gets no deeper than this", 0.01, 10}, PARAMETERS_NUMBER, PARAMETERS_AT(world.depth)},
    {{"hand_stiffness", "N/m", "", "of the spring between hand and part; counts from the next grab on", 1, 1e6}, PARAMETERS_NUMBER, PARAMETERS_AT(world.coupling.stiffness)},
    {{"hand_turn_stiffness", "N m/rad", "", "the same for turning; 0: as quick as moving", 0, 1e6}, PARAMETERS_NUMBER, PARAMETERS_AT(world.coupling.turn_stiffness)},
    {{"hand_damping", "", "", "of that spring, as a share of the critical one", 0, 10}, PARAMETERS_NUMBER, PARAMETERS_AT(world.coupling.damping)},
    {{"hand_stretch", "m", "", "from this stretch on the spring's force stays; 0: half a voxel", 0, 1}, PARAMETERS_NUMBER, PARAMETERS_AT(world.coupling.stretch)},
    {{"passivity", "", "off on", "damps a device that would get back more energy than it gave", 0, 1}, PARAMETERS_FLAG, PARAMETERS_AT(world.passivity.control)},
    {{"reach", "m", "", "a hand so near to a part's surface touches it; no farther than the voxels are marked", 0, 1}, PARAMETERS_NUMBER, PARAMETERS_AT(reach)},
};
/* clang-format on */
enum { PARAMETERS_ROWS = sizeof rows / sizeof *rows };

flr_parameters flr_default_parameters(void)
{
    flr_parameters tuning = {.world = flr_default_world_params(), .reach = 1};
    tuning.world.step.travel = 1e6;
    return tuning;
}

uint32_t flr_parameters_count(void) { return PARAMETERS_ROWS; }

const flr_parameters_entry *flr_parameters_at(uint32_t index)
{
    FLR_ASSERT(index < PARAMETERS_ROWS);
    return &rows[index].entry;
}

double flr_parameters_get(const flr_parameters *tuning, uint32_t index)
{
    FLR_ASSERT(tuning && index < PARAMETERS_ROWS);
    const void *at = (const char *)tuning + rows[index].offset;
    switch (rows[index].kind) {
    case PARAMETERS_COUNT:
    case PARAMETERS_WORD: {
        unsigned value;
        memcpy(&value, at, sizeof value);
        return value;
    }
    case PARAMETERS_FLAG:
        return *(const bool *)at ? 1 : 0;
    case PARAMETERS_NUMBER:
    case PARAMETERS_ONSET:
        break;
    }
    double value;
    memcpy(&value, at, sizeof value);
    return value;
}

static bool is_exact(const flr_parameters *tuning)
{
    return tuning->world.engine == FLR_ENGINE_EXACT;
}

double flr_parameters_high(const flr_parameters *tuning, uint32_t index)
{
    FLR_ASSERT(tuning && index < PARAMETERS_ROWS);
    const parameters_row *r = &rows[index];
    const bool layers = r->kind == PARAMETERS_ONSET && !is_exact(tuning) && tuning->voxel > 0;
    return layers ? PARAMETERS_FARTHEST * tuning->voxel : r->entry.high;
}

static void put(flr_parameters *tuning, const parameters_row *r, double value)
{
    char *at = (char *)tuning + r->offset;
    unsigned whole = (unsigned)lround(value < 0 ? 0 : value);
    switch (r->kind) {
    case PARAMETERS_COUNT:
    case PARAMETERS_WORD:
        memcpy(at, &whole, sizeof whole);
        break;
    case PARAMETERS_FLAG:
        *(bool *)at = whole != 0;
        break;
    case PARAMETERS_NUMBER:
        memcpy(at, &value, sizeof value);
        break;
    case PARAMETERS_ONSET: /* what is in use already changes nothing: others say it again */
        if (value != tuning->onset) flr_parameters_set_onset(&tuning->world, tuning->voxel, value);
        break;
    }
    if (at == (char *)&tuning->world.contact.force_layer) tuning->world.contact.onset = 0;
}

void flr_parameters_set_onset(flr_world_params *world, double voxel, double onset)
{
    if (world->engine == FLR_ENGINE_EXACT)
        world->exact.onset = onset;
    else if (voxel > 0) { /* the nearest layer that is no nearer */
        world->contact.force_layer =
            (unsigned)fmin(ceil(onset / voxel - 1e-9), PARAMETERS_FARTHEST);
        world->contact.onset = onset;
    }
}

static flr_result no_such(const char *name, flr_error *error)
{
    const char *names[PARAMETERS_ROWS + 1];
    for (uint32_t i = 0; i < PARAMETERS_ROWS; i++) names[i] = rows[i].entry.name;
    names[PARAMETERS_ROWS] = NULL;
    static const char *const before[] = {"clearance", "exact_clearance"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (strcmp(name, before[i]) == 0)
            return flr_fail(error, FLR_NOT_FOUND, "the parameter \"%s\" is called \"onset\" now",
                            name);
    const char *meant = flr_suggest(name, names, PARAMETERS_ROWS);
    return flr_fail(error, FLR_NOT_FOUND, "there is no parameter \"%s\"%s%s%s", name,
                    meant ? "; did you mean \"" : "", meant ? meant : "", meant ? "\"?" : "");
}

flr_result flr_parameters_set(flr_parameters *tuning, const char *name, double value,
                              uint32_t *index, flr_error *error)
{
    FLR_ASSERT(tuning && name);
    uint32_t i = 0;
    while (i < PARAMETERS_ROWS && strcmp(rows[i].entry.name, name) != 0) i++;
    if (i == PARAMETERS_ROWS) return no_such(name, error);
    const parameters_row *r = &rows[i];
    double high = flr_parameters_high(tuning, i) * (r->kind == PARAMETERS_ONSET ? 1 + 1e-9 : 1);
    if (!(value >= r->entry.low && value <= high))
        return flr_fail(error, FLR_BAD_ARGUMENT, "parameter %s: %g is out of range; %g to %g%s%s",
                        name, value, r->entry.low, high, r->entry.unit[0] ? " " : "",
                        r->entry.unit);
    put(tuning, r, value);
    flr_parameters_set_voxels(tuning, tuning->voxel, tuning->coarsest_voxel);
    flr_point_touch(&tuning->world); /* a point touches as parts do */
    if (index) *index = i;
    return FLR_OK;
}

void flr_parameters_set_voxels(flr_parameters *tuning, double finest, double coarsest)
{
    FLR_ASSERT(tuning);
    flr_contact_params *contact = &tuning->world.contact;
    tuning->voxel = finest;
    tuning->coarsest_voxel = coarsest;
    if (is_exact(tuning)) {
        tuning->onset = tuning->world.exact.onset;
        return;
    }
    /* finer voxels than before need more layers for the same length */
    if (contact->onset > 0) flr_parameters_set_onset(&tuning->world, finest, contact->onset);
    const double layers = contact->force_layer * finest;
    tuning->onset = contact->onset > 0 && coarsest > finest ? fmin(contact->onset, layers) : layers;
}
