/* joints and rigid groups of a scene */
#include "scene/scene_joint.h"

#include <stdlib.h>

const char *const flr_scene_joints[] = {"fixed", "revolute", "prismatic", "cylindrical",
                                        "screw", "planar",   "ball",      NULL};

flr_scene_joint flr_default_scene_joint(void)
{
    return (flr_scene_joint){.joint = flr_default_joint()};
}

/* ---- reading ---- */

/* A length, or an angle in degrees. */
static bool read_place(const flr_value *value, bool slide, double *out)
{
    if (slide) return flr_value_length(value, out);
    double degrees = 0;
    if (!value->json) return true;
    if (!flr_value_range(value, -1e6, 1e6, &degrees)) return false;
    *out = degrees * FLR_DEGREE;
    return true;
}

static bool read_axis(const flr_value *value, bool slide, flr_joint_axis *axis)
{
    if (!value->json) return true;
    if (!flr_value_object(value, FLR_SCENE_JOINT_AXIS)) return false;
    const flr_value from = flr_value_member(value, "from"), to = flr_value_member(value, "to");
    if (!read_place(&from, slide, &axis->low) || !read_place(&to, slide, &axis->high) ||
        !flr_value_range(FLR_MEMBER(value, "friction"), 0, 1e6, &axis->friction) ||
        !flr_value_range(FLR_MEMBER(value, "stiffness"), 0, 1e9, &axis->stiffness) ||
        !flr_value_range(FLR_MEMBER(value, "damping"), 0, 1e9, &axis->damping) ||
        !read_place(FLR_MEMBER(value, "rest"), slide, &axis->rest))
        return false;
    if (!from.json != !to.json)
        return flr_value_fail(from.json ? &from : &to, "needs both \"from\" and \"to\"");
    axis->limited = from.json != NULL;
    if (axis->low > axis->high) return flr_value_fail(&to, "must not be below \"from\"");
    return true;
}

/* What a kind of joint has no use for is a mistake. */
static bool check_use(const flr_value *value, bool used, flr_joint_kind kind)
{
    if (!value->json || used) return true;
    return flr_value_fail(value, "a %s joint has none", flr_joint_kind_name(kind));
}

bool flr_scene_joint_read(const flr_value *value, flr_scene_joint *joint)
{
    *joint = flr_default_scene_joint();
    flr_joint *j = &joint->joint;
    if (!flr_value_object(value, FLR_SCENE_JOINT)) return false;
    const flr_value axis = flr_value_member(value, "axis"),
                    pitch = flr_value_member(value, "pitch"),
                    turn = flr_value_member(value, "turn"),
                    slide = flr_value_member(value, "slide");
    int chosen = 0;
    if (!flr_value_text(FLR_MEMBER(value, "name"), &joint->name) ||
        !flr_value_choice(FLR_MEMBER(value, "kind"), flr_scene_joints, &chosen) ||
        !flr_value_text(FLR_MEMBER(value, "a"), &joint->a) ||
        !flr_value_text(FLR_MEMBER(value, "b"), &joint->b) ||
        !flr_value_point(FLR_MEMBER(value, "point"), &j->point) ||
        !flr_value_vector(&axis, &j->axis) || !flr_value_length(&pitch, &j->pitch) ||
        !read_axis(&turn, false, &j->turn) || !read_axis(&slide, true, &j->slide) ||
        !flr_value_bool(FLR_MEMBER(value, "touch"), &j->touch))
        return false;
    j->kind = (flr_joint_kind)chosen;
    if (!(flr_vec3_length2(j->axis) > 0)) return flr_value_fail(&axis, "must not be zero");
    if (j->kind == FLR_JOINT_SCREW && !pitch.json)
        return flr_value_fail(value, "a screw needs \"pitch\", the length of a turn");
    if (j->kind == FLR_JOINT_SCREW && j->pitch == 0)
        return flr_value_fail(&pitch, "must not be zero");
    if (j->kind == FLR_JOINT_BALL && j->turn.limited && j->turn.low != 0)
        return flr_value_fail(&turn, "a ball is limited from 0 to an angle");
    const bool slides = flr_joint_slides(j->kind) || j->kind == FLR_JOINT_PLANAR;
    return check_use(&pitch, j->kind == FLR_JOINT_SCREW, j->kind) &&
           check_use(&turn, flr_joint_turns(j->kind), j->kind) &&
           check_use(&slide, slides, j->kind);
}

/* ---- resolving ---- */

bool flr_scene_rigid(const flr_scene *scene, uint32_t *of_part)
{
    size_t *up = calloc(scene->group_count + 1, sizeof *up);
    size_t *parts = calloc(scene->part_count + 1, sizeof *parts);
    const bool ok = up && parts && flr_scene_resolve_groups(scene, up, parts);
    for (size_t i = 0; ok && i < scene->part_count; i++) {
        of_part[i] = FLR_NO_PART;
        for (size_t g = parts[i]; g != SIZE_MAX; g = up[g])
            if (scene->groups[g].rigid) of_part[i] = (uint32_t)g; /* the outermost one counts */
    }
    free(up);
    free(parts);
    return ok;
}

flr_result flr_scene_mechanism(const flr_scene *scene, flr_mechanism **mechanism, flr_error *error)
{
    const size_t parts = scene->part_count;
    flr_pose *poses = calloc(parts + 1, sizeof *poses);
    flr_vec3 *centres = calloc(parts + 1, sizeof *centres);
    bool *fixed = calloc(parts + 1, sizeof *fixed);
    uint32_t *groups = calloc(parts + 1, sizeof *groups);
    flr_joint *joints = calloc(scene->joint_count + 1, sizeof *joints);
    flr_result result = FLR_NO_MEMORY;
    if (poses && centres && fixed && groups && joints && flr_scene_rigid(scene, groups)) {
        for (size_t i = 0; i < parts; i++) {
            poses[i] = scene->parts[i].T_world_part;
            fixed[i] = !scene->parts[i].moving;
        }
        for (size_t i = 0; i < scene->joint_count; i++) {
            joints[i] = scene->joints[i].joint;
            joints[i].name = scene->joints[i].name;
        }
        flr_mechanism_def def = {.part_count = (uint32_t)parts,
                                 .joint_count = (uint32_t)scene->joint_count,
                                 .T_world_part = poses,
                                 .centres = centres,
                                 .fixed = fixed,
                                 .groups = groups,
                                 .joints = joints};
        result = flr_mechanism_create(&def, mechanism, error);
    } else {
        flr_fail(error, FLR_NO_MEMORY, "no memory for the joints of the scene");
    }
    free(poses);
    free(centres);
    free(fixed);
    free(groups);
    free(joints);
    return result;
}

bool flr_scene_is_driven(const flr_scene *scene, size_t part)
{
    if (flr_scene_part_is_driven(&scene->parts[part])) return true;
    for (size_t i = 0; i < scene->joint_count; i++) {
        const flr_joint *j = &scene->joints[i].joint;
        if ((j->a == part || j->b == part) && (j->turn.stiffness > 0 || j->slide.stiffness > 0))
            return true;
    }
    return false;
}
