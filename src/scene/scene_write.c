/* scenes to JSON: fixed order of keys, shortest numbers, one part per paragraph */
#include "scene/scene.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "feeler/base.h"
#include "scene/length.h"

/* a text in the making; `bad` remembers the first text that JSON cannot hold */
typedef struct scene_write_writer {
    FILE *out;
    double unit;     /* metres per unit of the lengths written */
    const char *bad; /* field, NULL when all is well */
    const char *separator;
} scene_write_writer;

/* ",\n" and the indent before all members but the first, then the key */
static void write_key(scene_write_writer *w, const char *key)
{
    fprintf(w->out, "%s\"%s\": ", w->separator, key);
}

/* the text alone, quoted; `key` names it where it cannot be written */
static void write_quoted(scene_write_writer *w, const char *key, const char *text)
{
    json_t *string = text ? json_string(text) : NULL;
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    if (quoted)
        fputs(quoted, w->out);
    else if (!w->bad)
        w->bad = key;
    free(quoted);
    json_decref(string);
}

static void write_text(scene_write_writer *w, const char *key, const char *text)
{
    write_key(w, key);
    write_quoted(w, key, text);
}

static void write_number(scene_write_writer *w, double value)
{
    fputs(FLR_NUMBER_TEXT(value), w->out);
}

static void write_length(scene_write_writer *w, double metres)
{
    write_number(w, flr_length_in(metres, w->unit));
}

/* To the last bit: in metres where no number of the scene's unit is as long. */
static void write_size(scene_write_writer *w, double metres)
{
    char text[FLR_NUMBER_TEXT_SIZE];
    const double size = flr_length_in(metres, w->unit);
    if (size * w->unit == metres)
        write_number(w, size);
    else
        fprintf(w->out, "\"%sm\"", flr_number_print(metres, text));
}

static void write_vector(scene_write_writer *w, const char *key, flr_vec3 v, bool is_length)
{
    const double values[3] = {v.x, v.y, v.z};
    write_key(w, key);
    for (int i = 0; i < 3; i++) {
        fputs(i ? ", " : "[", w->out);
        if (is_length)
            write_length(w, values[i]);
        else
            write_number(w, values[i]);
    }
    fputc(']', w->out);
}

static void write_unit(scene_write_writer *w, double unit)
{
    write_key(w, "unit");
    const char *name = flr_unit_name(unit);
    if (name)
        fprintf(w->out, "\"%s\"", name);
    else
        write_number(w, unit);
}

static void write_pose(scene_write_writer *w, flr_pose pose)
{
    const flr_vec3 p = pose.p;
    const flr_quat q = pose.q;
    bool placed = p.x != 0 || p.y != 0 || p.z != 0;
    bool turned = q.w != 1 || q.x != 0 || q.y != 0 || q.z != 0;
    if (!placed && !turned) return;
    write_key(w, "pose");
    fputc('{', w->out);
    const char *outer = w->separator;
    w->separator = "";
    if (placed) write_vector(w, "position", p, true);
    if (turned) {
        w->separator = placed ? ", " : "";
        write_key(w, "orientation");
        const double values[4] = {q.w, q.x, q.y, q.z};
        for (int i = 0; i < 4; i++) {
            fputs(i ? ", " : "[", w->out);
            write_number(w, values[i]);
        }
        fputc(']', w->out);
    }
    fputc('}', w->out);
    w->separator = outer;
}

static void write_constraint(scene_write_writer *w, const flr_world_constraint *c)
{
    if (c->locks) {
        const char *between = "[";
        write_key(w, "locked");
        for (int i = 0; flr_scene_locks[i]; i++)
            if (c->locks >> i & 1)
                fprintf(w->out, "%s\"%s\"", between, flr_scene_locks[i]), between = ", ";
        fputc(']', w->out);
    }
    if (flr_vec3_length2(c->wrench.force) > 0) write_vector(w, "force", c->wrench.force, false);
    if (flr_vec3_length2(c->wrench.torque) > 0) write_vector(w, "torque", c->wrench.torque, false);
    if (!(c->stiffness > 0)) return;
    write_key(w, "spring"), fputs("{\"stiffness\": ", w->out), write_number(w, c->stiffness);
    if (c->turn_stiffness > 0)
        fputs(", \"turn_stiffness\": ", w->out), write_number(w, c->turn_stiffness);
    if (c->damping != 1) fputs(", \"damping\": ", w->out), write_number(w, c->damping);
    fputc('}', w->out);
}

static void write_part(scene_write_writer *w, const flr_scene_part *part)
{
    write_text(w, "name", part->name);
    w->separator = ",\n      ";
    write_text(w, "file", part->file);
    if (part->group) write_text(w, "group", part->group);
    if (part->unit != 0) write_unit(w, part->unit);
    write_pose(w, part->T_world_part);
    if (part->moving) write_key(w, "moving"), fputs("true", w->out);
    if (part->hollow) write_key(w, "hollow"), fputs("true", w->out);
    if (part->hidden) write_key(w, "hidden"), fputs("true", w->out);
    if (part->use != FLR_PART_USE_SOLID) write_text(w, "use", flr_scene_uses[part->use]);
    if (part->in) write_text(w, "in", part->in);
    if (part->colour != FLR_SCENE_NO_COLOUR)
        write_key(w, "colour"), fprintf(w->out, "\"#%06x\"", part->colour);
    if (part->voxel != 0) write_key(w, "voxel"), write_size(w, part->voxel);
    if (part->chord != 0) write_key(w, "chord"), write_size(w, part->chord);
    if (part->density != 0) write_key(w, "density"), write_number(w, part->density);
    if (part->mass != 0) write_key(w, "mass"), write_number(w, part->mass);
    if (part->constraint) write_constraint(w, part->constraint);
}

static void write_group(scene_write_writer *w, const flr_scene_group *group)
{
    write_text(w, "name", group->name);
    w->separator = ", ";
    if (group->in) write_text(w, "in", group->in);
    if (group->rigid) write_key(w, "rigid"), fputs("true", w->out);
}

/* a length, or an angle in degrees */
static void write_place(scene_write_writer *w, const char *key, bool slide, double value)
{
    write_key(w, key);
    if (slide)
        write_length(w, value);
    else
        write_number(w, value * (180 / FLR_PI));
    w->separator = ", ";
}

static void write_amount(scene_write_writer *w, const char *key, double value)
{
    if (value == 0) return;
    write_key(w, key), write_number(w, value);
    w->separator = ", ";
}

static void write_joint_axis(scene_write_writer *w, const char *key, bool slide,
                             const flr_joint_axis *a)
{
    if (!a->limited && a->friction == 0 && a->stiffness == 0 && a->damping == 0) return;
    write_key(w, key), fputs("{ ", w->out);
    w->separator = "";
    if (a->limited) write_place(w, "from", slide, a->low), write_place(w, "to", slide, a->high);
    write_amount(w, "friction", a->friction);
    write_amount(w, "stiffness", a->stiffness);
    if (a->rest != 0) write_place(w, "rest", slide, a->rest);
    write_amount(w, "damping", a->damping);
    fputs(" }", w->out);
    w->separator = ",\n      ";
}

static void write_joint(scene_write_writer *w, const flr_scene_joint *joint)
{
    const flr_joint *j = &joint->joint;
    write_text(w, "name", joint->name);
    w->separator = ", ";
    write_text(w, "kind", flr_scene_joints[j->kind]);
    if (joint->a) write_text(w, "a", joint->a);
    write_text(w, "b", joint->b);
    w->separator = ",\n      ";
    write_vector(w, "point", j->point, true);
    w->separator = ", ";
    write_vector(w, "axis", j->axis, false);
    if (j->kind == FLR_JOINT_SCREW) write_key(w, "pitch"), write_length(w, j->pitch);
    w->separator = ",\n      ";
    if (flr_joint_turns(j->kind)) write_joint_axis(w, "turn", false, &j->turn);
    if (flr_joint_slides(j->kind) || j->kind == FLR_JOINT_PLANAR)
        write_joint_axis(w, "slide", true, &j->slide);
    if (j->touch) write_key(w, "touch"), fputs("true", w->out);
}

static void write_path(scene_write_writer *w, const flr_scene_path *path)
{
    write_text(w, "name", path->name);
    w->separator = ", ";
    write_text(w, "part", path->part);
    write_text(w, "poses", path->poses);
}

static void write_hand(scene_write_writer *w, const flr_scene_hand *hand)
{
    write_text(w, "tool", flr_scene_tools[hand->tool]);
    w->separator = ", ";
    if (hand->placed) write_vector(w, "position", hand->position, true);
    if (hand->firm) write_key(w, "firm"), fputs("true", w->out);
    if (!hand->mapped) return;
    if (hand->scale > 0) write_key(w, "scale"), write_number(w, hand->scale);
    write_text(w, "axes", flr_scene_axes[hand->axes]);
    write_text(w, "boundary", flr_scene_boundaries[hand->boundary]);
    if (hand->clutch >= 0) write_key(w, "clutch"), write_number(w, hand->clutch);
}

/* what differs from the default */
static void write_contact(scene_write_writer *w, const flr_scene_contact *c)
{
    const flr_scene_contact usual = flr_default_scene_contact();
    bool layer = c->force_layer != usual.force_layer, displace = c->displace != usual.displace;
    bool model = c->model != usual.model, stiffness = c->stiffness != usual.stiffness;
    bool friction = c->friction != usual.friction, awareness = c->awareness != usual.awareness;
    bool engine = c->engine != usual.engine || c->engine_given,
         restitution = c->restitution != usual.restitution;
    bool onset = c->onset >= 0, strength = c->strength != usual.strength;
    bool overlap = c->overlap != usual.overlap, tests = c->tests != usual.tests;
    bool marks = c->marks != usual.marks, range = c->range != usual.range,
         probe = c->probe != usual.probe;
    bool more = marks || range || probe || layer || displace || model || stiffness || friction ||
                awareness || restitution || tests || onset || strength || overlap;
    if (engine && !more) write_text(w, "contact", flr_scene_engines[c->engine]);
    if (!more) return;
    const char *outer = w->separator, *between = ", ";
    write_key(w, "contact"), fputs("{ ", w->out);
    w->separator = "";
    if (engine) write_text(w, "engine", flr_scene_engines[c->engine]), w->separator = between;
    if (layer)
        write_key(w, "force_layer"), fprintf(w->out, "%u", c->force_layer), w->separator = between;
    if (displace) write_key(w, "displace"), write_length(w, c->displace), w->separator = between;
    if (model) write_text(w, "model", flr_scene_models[c->model]), w->separator = between;
    if (stiffness) write_key(w, "stiffness"), write_number(w, c->stiffness), w->separator = between;
    if (friction) write_key(w, "friction"), write_number(w, c->friction), w->separator = between;
    if (restitution)
        write_key(w, "restitution"), write_number(w, c->restitution), w->separator = between;
    if (tests) write_key(w, "tests"), write_number(w, c->tests), w->separator = between;
    if (onset) write_key(w, "onset"), write_length(w, c->onset), w->separator = between;
    if (strength) write_key(w, "strength"), write_number(w, c->strength), w->separator = between;
    if (overlap) write_key(w, "overlap"), write_length(w, c->overlap), w->separator = between;
    if (awareness) {
        write_key(w, "awareness"), fputs(c->awareness ? "true" : "false", w->out);
        w->separator = between;
    }
    if (marks) write_key(w, "marks"), fprintf(w->out, "%u", c->marks), w->separator = between;
    if (range) write_key(w, "range"), fprintf(w->out, "%u", c->range), w->separator = between;
    if (probe) write_text(w, "probe", flr_scene_probes[c->probe]);
    fputs(" }", w->out);
    w->separator = outer;
}

/* The elements of an array of objects; returns whether there is another one to write. */
static bool next_object(scene_write_writer *w, const char *key, size_t i, size_t count)
{
    if (i == count) {
        if (count) fputs(" }\n  ]", w->out);
        return false;
    }
    if (i == 0) w->separator = ",\n  ", write_key(w, key);
    fputs(i ? " },\n    { " : "[\n    { ", w->out);
    w->separator = "";
    return true;
}

static void write_review(scene_write_writer *w, const flr_scene *scene)
{
    w->separator = ",\n  ";
    if (scene->allow_count) write_key(w, "allow"), fputc('[', w->out);
    for (size_t i = 0; i < scene->allow_count; i++) {
        fputs(i ? ",\n    [" : "\n    [", w->out);
        write_quoted(w, "allow", scene->allow[i].a);
        fputs(", ", w->out);
        write_quoted(w, "allow", scene->allow[i].b);
        fputc(']', w->out);
    }
    if (scene->allow_count) fputs("\n  ]", w->out);
    for (size_t i = 0; next_object(w, "notes", i, scene->note_count); i++) {
        const flr_scene_note *note = &scene->notes[i];
        write_text(w, "text", note->text);
        w->separator = ", ";
        if (note->part) write_text(w, "part", note->part);
        write_vector(w, "position", note->position, true);
    }
}

static void write_scene(scene_write_writer *w, const flr_scene *scene)
{
    fputs("{\n  ", w->out);
    w->separator = "";
    write_key(w, "feeler"), fprintf(w->out, "%d", FLR_SCENE_FORMAT);
    w->separator = ",\n  ";
    write_text(w, "name", scene->name);
    if (scene->description) write_text(w, "description", scene->description);
    write_unit(w, scene->unit);
    if (scene->voxel != 0) write_key(w, "voxel"), write_length(w, scene->voxel);
    if (scene->gravity.x != 0 || scene->gravity.y != 0 || scene->gravity.z != 0)
        write_vector(w, "gravity", scene->gravity, false);
    write_contact(w, &scene->contact);
    if (scene->local_haptics) write_text(w, "haptics", flr_scene_haptics[1]);
    if (scene->devices) write_text(w, "devices", flr_scene_device_kinds[scene->devices]);
    if (scene->barrier) write_key(w, "barrier"), fputs("true", w->out);

    if (!scene->part_count) write_key(w, "parts"), fputs("[\n  ]", w->out); /* to be refused */
    for (size_t i = 0; next_object(w, "parts", i, scene->part_count); i++)
        write_part(w, &scene->parts[i]);
    for (size_t i = 0; next_object(w, "groups", i, scene->group_count); i++)
        write_group(w, &scene->groups[i]);
    for (size_t i = 0; next_object(w, "joints", i, scene->joint_count); i++)
        write_joint(w, &scene->joints[i]);
    for (size_t i = 0; next_object(w, "paths", i, scene->path_count); i++)
        write_path(w, &scene->paths[i]);
    for (size_t i = 0; next_object(w, "hands", i, scene->hand_count); i++)
        write_hand(w, &scene->hands[i]);
    if (scene->camera.given) {
        w->separator = ",\n  ";
        write_key(w, "camera"), fputs("{ ", w->out);
        w->separator = "";
        write_vector(w, "eye", scene->camera.eye, true);
        w->separator = ", ";
        write_vector(w, "target", scene->camera.target, true);
        write_vector(w, "up", scene->camera.up, false);
        fputs(" }", w->out);
    }
    write_review(w, scene);
    fputs("\n}\n", w->out);
}

flr_result flr_scene_print(const flr_scene *scene, flr_blob *text, flr_error *error)
{
    if (!(scene->unit > 0) || !isfinite(scene->unit))
        return flr_fail(error, FLR_BAD_ARGUMENT, "scene: unit must be greater than 0");
    char *bytes = NULL;
    size_t size = 0;
    scene_write_writer w = {.out = open_memstream(&bytes, &size), .unit = scene->unit};
    if (!w.out) return flr_fail(error, FLR_NO_MEMORY, "no memory to write a scene");
    write_scene(&w, scene);
    bool whole = !ferror(w.out);
    if (fclose(w.out) != 0 || !whole) {
        free(bytes);
        return flr_fail(error, FLR_NO_MEMORY, "no memory to write a scene");
    }
    if (w.bad) {
        free(bytes);
        return flr_fail(error, FLR_BAD_ARGUMENT, "scene: a '%s' is missing or not UTF-8", w.bad);
    }

    // the reader decides what a scene is
    flr_scene *back;
    flr_error why;
    flr_result result = flr_scene_parse("scene", bytes, size, &back, &why);
    if (result != FLR_OK) {
        free(bytes);
        return flr_fail(error, result == FLR_BAD_INPUT ? FLR_BAD_ARGUMENT : result,
                        "cannot write this scene: %s", why.message);
    }
    flr_scene_destroy(back);
    *text = (flr_blob){(uint8_t *)bytes, size};
    return FLR_OK;
}

flr_result flr_scene_write(flr_env *env, const char *path, const flr_scene *scene, flr_error *error)
{
    flr_blob text;
    flr_result result = flr_scene_print(scene, &text, error);
    if (result != FLR_OK) return result;
    result = flr_file_write_all(env, path, text.bytes, text.size, error);
    flr_blob_free(&text);
    return result;
}
