/* the objects of a scene: a part, a group, a path, the camera, the contact settings */
#include "scene/scene_object.h"

#include <math.h>
#include <stdlib.h>

bool flr_scene_fail_memory(const flr_value *value)
{
    flr_fail(value->context->error, FLR_NO_MEMORY, "%s: no memory for the scene",
             value->context->name);
    return false;
}

static bool read_pose(const flr_value *value, flr_pose *pose)
{
    if (!value->json) return true;
    if (!flr_value_object(value, FLR_SCENE_POSE)) return false;
    return flr_value_point(FLR_MEMBER(value, "position"), &pose->p) &&
           flr_value_quaternion(FLR_MEMBER(value, "orientation"), &pose->q);
}

/* More than 0, and such that motion can be computed. */
static bool read_amount(const flr_value *value, double low, double high, double *out)
{
    double positive;
    return flr_value_positive(value, &positive) && flr_value_range(value, low, high, out);
}

/* A force or a torque. */
static bool read_load(const flr_value *value, flr_vec3 *out)
{
    if (!flr_value_vector(value, out)) return false;
    if (fabs(out->x) <= 1e6 && fabs(out->y) <= 1e6 && fabs(out->z) <= 1e6) return true;
    return flr_value_fail(value, "must be from -1e+06 to 1e+06 along each axis");
}

static bool read_spring(const flr_value *value, flr_world_constraint *to)
{
    if (!value->json) return true;
    if (!flr_value_object(value, FLR_SCENE_SPRING)) return false;
    return read_amount(FLR_MEMBER(value, "stiffness"), 1e-9, 1e9, &to->stiffness) &&
           flr_value_range(FLR_MEMBER(value, "turn_stiffness"), 0, 1e9, &to->turn_stiffness) &&
           flr_value_range(FLR_MEMBER(value, "damping"), 0, 1e3, &to->damping);
}

/* Words such as "x" and "turn z", each once. */
static bool read_locked(const flr_value *value, unsigned *locks)
{
    if (!value->json) return true;
    if (!json_is_array(value->json))
        return flr_value_fail(value, "must be a list such as [\"x\", \"turn z\"]");
    for (size_t i = 0; i < json_array_size(value->json); i++) {
        flr_value one = flr_value_element(value, i);
        int word = 0;
        if (!flr_value_choice(&one, flr_scene_locks, &word)) return false;
        if (*locks >> word & 1) return flr_value_fail(&one, "stands there twice");
        *locks |= 1u << word;
    }
    return true;
}

static bool read_constraint(const flr_value *part, flr_scene_part *of)
{
    flr_value locked = flr_value_member(part, "locked"), force = flr_value_member(part, "force");
    flr_value torque = flr_value_member(part, "torque"), spring = flr_value_member(part, "spring");
    const flr_value *given = locked.json   ? &locked
                             : force.json  ? &force
                             : torque.json ? &torque
                             : spring.json ? &spring
                                           : NULL;
    if (!given) return true;
    if (!of->moving) return flr_value_fail(given, "is for parts that are \"moving\"");
    flr_world_constraint *to = malloc(sizeof *to);
    if (!to) return flr_scene_fail_memory(part);
    of->constraint = to;
    *to = flr_default_world_constraint();
    to->T_world_rest = of->T_world_part;
    return read_locked(&locked, &to->locks) && read_load(&force, &to->wrench.force) &&
           read_load(&torque, &to->wrench.torque) && read_spring(&spring, to);
}

bool flr_scene_read_part(const flr_value *value, flr_scene_part *part)
{
    *part = flr_default_scene_part();
    if (!flr_value_object(value, FLR_SCENE_PART)) return false;
    const flr_value mass = flr_value_member(value, "mass");
    int chosen = FLR_PART_USE_SOLID;
    if (!flr_value_text(FLR_MEMBER(value, "name"), &part->name) ||
        !flr_value_text(FLR_MEMBER(value, "file"), &part->file) ||
        !flr_value_text(FLR_MEMBER(value, "group"), &part->group) ||
        !flr_value_unit(FLR_MEMBER(value, "unit"), &part->unit) ||
        !read_pose(FLR_MEMBER(value, "pose"), &part->T_world_part) ||
        !flr_value_bool(FLR_MEMBER(value, "moving"), &part->moving) ||
        !flr_value_bool(FLR_MEMBER(value, "hollow"), &part->hollow) ||
        !flr_value_bool(FLR_MEMBER(value, "hidden"), &part->hidden) ||
        !flr_value_choice(FLR_MEMBER(value, "use"), flr_scene_uses, &chosen) ||
        !flr_value_text(FLR_MEMBER(value, "in"), &part->in) ||
        !flr_value_colour(FLR_MEMBER(value, "colour"), &part->colour) ||
        !flr_value_size(FLR_MEMBER(value, "voxel"), &part->voxel) ||
        !flr_value_size(FLR_MEMBER(value, "chord"), &part->chord) ||
        !read_amount(FLR_MEMBER(value, "density"), 1e-3, 1e9, &part->density) ||
        !read_amount(&mass, 1e-9, 1e9, &part->mass))
        return false;
    part->use = (flr_part_use)chosen;
    if (part->use == FLR_PART_USE_KEEP_OUT && part->moving)
        return flr_value_fail(FLR_MEMBER(value, "use"), "a keep-out zone cannot be \"moving\"");
    if (mass.json && FLR_MEMBER(value, "density")->json)
        return flr_value_fail(&mass, "give mass or density, not both");
    return read_constraint(value, part);
}

bool flr_scene_read_group(const flr_value *value, flr_scene_group *group)
{
    *group = (flr_scene_group){0};
    if (!flr_value_object(value, FLR_SCENE_GROUP)) return false;
    return flr_value_text(FLR_MEMBER(value, "name"), &group->name) &&
           flr_value_text(FLR_MEMBER(value, "in"), &group->in) &&
           flr_value_bool(FLR_MEMBER(value, "rigid"), &group->rigid);
}

bool flr_scene_read_path(const flr_value *value, flr_scene_path *path)
{
    *path = (flr_scene_path){0};
    if (!flr_value_object(value, FLR_SCENE_PATH)) return false;
    return flr_value_text(FLR_MEMBER(value, "name"), &path->name) &&
           flr_value_text(FLR_MEMBER(value, "part"), &path->part) &&
           flr_value_text(FLR_MEMBER(value, "poses"), &path->poses);
}

static bool is_zero(flr_vec3 v) { return v.x == 0 && v.y == 0 && v.z == 0; }

bool flr_scene_read_camera(const flr_value *value, flr_scene_camera *camera)
{
    if (!value->json) return true;
    if (!flr_value_object(value, FLR_SCENE_CAMERA)) return false;
    const flr_value target = flr_value_member(value, "target"), up = flr_value_member(value, "up");
    if (!flr_value_point(FLR_MEMBER(value, "eye"), &camera->eye) ||
        !flr_value_point(&target, &camera->target) || !flr_value_vector(&up, &camera->up))
        return false;
    camera->given = true;
    if (is_zero(flr_vec3_sub(camera->target, camera->eye)))
        return flr_value_fail(&target, "must differ from the eye");
    if (is_zero(camera->up)) return flr_value_fail(&up, "must not be zero");
    return true;
}

/* A length from 0 to a metre. */
static bool read_extent(const flr_value *value, double *length)
{
    if (!flr_value_length(value, length)) return false;
    if (!value->json || (*length >= 0 && *length <= 1)) return true;
    return flr_value_fail(value, "must be from 0 to 1 m");
}

bool flr_scene_read_contact(const flr_value *value, flr_scene_contact *contact)
{
    if (!value->json) return true;
    int engine = (int)contact->engine;
    if (json_is_string(value->json)) { /* the engine alone */
        if (!flr_value_choice(value, flr_scene_engines, &engine)) return false;
        contact->engine = (flr_world_engine)engine;
        contact->engine_given = true;
        return true;
    }
    flr_value before = flr_value_member(value, "clearance");
    if (before.json) return flr_value_fail(&before, "is called \"onset\" now");
    if (!flr_value_object(value, FLR_SCENE_CONTACT)) return false;
    const flr_value word = flr_value_member(value, "engine"),
                    range = flr_value_member(value, "range");
    int chosen = (int)contact->model, method = (int)contact->probe;
    if (!flr_value_choice(&word, flr_scene_engines, &engine) ||
        !flr_value_range(FLR_MEMBER(value, "restitution"), 0, 1, &contact->restitution) ||
        !flr_value_range(FLR_MEMBER(value, "tests"), 1, 1e9, &contact->tests) ||
        !read_extent(FLR_MEMBER(value, "onset"), &contact->onset) ||
        !flr_value_range(FLR_MEMBER(value, "strength"), 0.01, 100, &contact->strength) ||
        !read_extent(FLR_MEMBER(value, "overlap"), &contact->overlap) ||
        !flr_value_whole(FLR_MEMBER(value, "force_layer"), 0, 252, &contact->force_layer) ||
        !flr_value_length(FLR_MEMBER(value, "displace"), &contact->displace) ||
        !flr_value_choice(FLR_MEMBER(value, "model"), flr_scene_models, &chosen) ||
        !flr_value_range(FLR_MEMBER(value, "stiffness"), 1e-3, 1e9, &contact->stiffness) ||
        !flr_value_range(FLR_MEMBER(value, "friction"), 0, 10, &contact->friction) ||
        !flr_value_bool(FLR_MEMBER(value, "awareness"), &contact->awareness) ||
        !flr_value_whole(FLR_MEMBER(value, "marks"), 2, 8, &contact->marks) ||
        !flr_value_whole(&range, 1, 253, &contact->range) ||
        !flr_value_choice(FLR_MEMBER(value, "probe"), flr_scene_probes, &method))
        return false;
    if (contact->marks != 2 && contact->marks != 4 && contact->marks != 8)
        return flr_value_fail(FLR_MEMBER(value, "marks"), "must be 2, 4 or 8");
    if (range.json && contact->marks != 8)
        return flr_value_fail(&range, "is for marks of 8 bits: add \"marks\": 8");
    contact->probe = (flr_probe_method)method;
    contact->model = (flr_force_model)chosen;
    contact->engine = (flr_world_engine)engine;
    contact->engine_given = word.json != NULL;
    return true;
}
