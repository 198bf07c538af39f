/* what there is, as messages */
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "server/client_session.h"

/* as much of a text as the table allows, not cut inside a character */
static flr_wire_text text_of(const char *text, size_t max_size)
{
    size_t size = text ? strlen(text) : 0;
    if (size > max_size) {
        size = max_size;
        while (size > 0 && ((unsigned char)text[size] & 0xC0) == 0x80) size--;
    }
    return (flr_wire_text){text, (uint32_t)size};
}

/* ---- parts that it knows of ---- */

/* the first that is not below `part` */
static uint32_t known_place(const flr_client_session *session, uint32_t part)
{
    uint32_t i;
    FLR_BISECT(i, session->known_count, session->known[i] < part);
    return i;
}

static void know(flr_client_session *session, uint32_t part)
{
    uint32_t index = known_place(session, part);
    if (index < session->known_count && session->known[index] == part) return;
    if (!FLR_GROW(session->known, session->known_count, session->known_capacity, 64)) {
        session->known_lost = true;
        return;
    }
    memmove(session->known + index + 1, session->known + index,
            (session->known_count++ - index) * sizeof *session->known);
    session->known[index] = part;
}

static void forget(flr_client_session *session, uint32_t part)
{
    uint32_t index = known_place(session, part);
    if (index == session->known_count || session->known[index] != part) return;
    memmove(session->known + index, session->known + index + 1,
            (--session->known_count - index) * sizeof *session->known);
}

void flr_client_session_send_gone(flr_client_session *session, uint32_t part)
{
    flr_message message = {.id = FLR_MSG_PART_GONE};
    message.as.part_gone.part = part;
    flr_client_session_send(session, &message);
    forget(session, part);
}

void flr_client_session_send_part(flr_client_session *session, const flr_engine_part *part)
{
    know(session, part->part.index);
    flr_message message = {.id = FLR_MSG_PART};
    flr_msg_part *body = &message.as.part;
    body->part = part->part.index;
    body->mesh = part->mesh.index;
    body->kind = (uint8_t)part->kind;
    body->ready = part->ready;
    body->colour = part->colour & 0xFFFFFF;
    body->points = part->points;
    body->voxel = part->voxel;
    body->mass = part->mass;
    body->weighed = part->weighed;
    body->T_world_part = part->T_world_part;
    body->name = text_of(part->name, 256);
    body->hidden = part->hidden;
    body->group = text_of(part->group, 256);
    body->use = (uint8_t)part->use;
    flr_client_session_send(session, &message);
}

void flr_client_session_send_groups(flr_client_session *session)
{
    const flr_engine *engine = session->hub->def.engine;
    flr_message message = {.id = FLR_MSG_GROUP};
    const char *name, *in;
    message.as.group.count = flr_engine_groups(engine);
    if (message.as.group.count == 0) flr_client_session_send(session, &message);
    for (uint32_t i = 0; flr_engine_group_at(engine, i, &name, &in); i++) {
        message.as.group.index = i;
        message.as.group.name = text_of(name, 256);
        message.as.group.in = text_of(in, 256);
        message.as.group.rigid = flr_engine_group_is_rigid(engine, i);
        flr_client_session_send(session, &message);
    }
}

static flr_wire_joint_axis wire_axis(const flr_joint_axis *axis)
{
    return (flr_wire_joint_axis){.limited = axis->limited,
                                 .low = axis->low,
                                 .high = axis->high,
                                 .friction = axis->friction,
                                 .stiffness = axis->stiffness,
                                 .rest = axis->rest,
                                 .damping = axis->damping};
}

void flr_client_session_send_joints(flr_client_session *session)
{
    const flr_engine *engine = session->hub->def.engine;
    flr_message message = {.id = FLR_MSG_JOINT};
    flr_engine_joint joint;
    message.as.joint.count = flr_engine_joints(engine);
    if (message.as.joint.count == 0) flr_client_session_send(session, &message);
    for (uint32_t i = 0; flr_engine_joint_at(engine, i, &joint); i++) {
        const flr_joint *j = &joint.joint;
        message.as.joint = (flr_msg_joint){.index = i,
                                           .count = message.as.joint.count,
                                           .name = text_of(joint.name, 256),
                                           .kind = (uint8_t)j->kind,
                                           .a = j->a,
                                           .b = j->b,
                                           .point = j->point,
                                           .axis = j->axis,
                                           .pitch = j->pitch,
                                           .touch = j->touch,
                                           .turn = wire_axis(&j->turn),
                                           .slide = wire_axis(&j->slide)};
        flr_client_session_send(session, &message);
    }
}

void flr_client_session_send_up(flr_client_session *session)
{
    flr_message message = {.id = FLR_MSG_UP};
    message.as.up.axis = (uint8_t)flr_engine_up(session->hub->def.engine);
    flr_client_session_send(session, &message);
}

void flr_client_session_send_files(flr_client_session *session)
{
    flr_message message = {.id = FLR_MSG_FILES};
    const char *sentence = "";
    message.as.files.parts = flr_engine_changed_files(session->hub->def.engine, &sentence);
    message.as.files.sentence = text_of(sentence, 512);
    flr_client_session_send(session, &message);
}

void flr_client_session_send_notes(flr_client_session *session)
{
    const flr_engine *engine = session->hub->def.engine;
    flr_message message = {.id = FLR_MSG_NOTE};
    const flr_engine_note *note;
    message.as.note.count = flr_engine_notes(engine);
    if (message.as.note.count == 0) flr_client_session_send(session, &message);
    for (uint32_t i = 0; (note = flr_engine_note_at(engine, i)); i++) {
        message.as.note.index = i;
        message.as.note.note = note->note;
        message.as.note.part = note->part.index;
        message.as.note.position = note->position;
        message.as.note.text = text_of(note->text, 512);
        flr_client_session_send(session, &message);
    }
}

void flr_client_session_send_scene(flr_client_session *session)
{
    flr_engine *engine = session->hub->def.engine;
    flr_engine_scene scene;
    flr_engine_get_scene(engine, &scene);
    /* meshes of the scene before are of no use any more */
    flr_client_session_forget_meshes(session);
    session->shown = false;
    session->sent_count = 0;
    session->known_count = 0;
    session->known_scene = scene.scene;
    session->known_lost = false;
    flr_message message = {.id = FLR_MSG_SCENE};
    message.as.scene.scene = scene.scene;
    message.as.scene.parts = scene.parts;
    message.as.scene.meshes = scene.meshes;
    message.as.scene.hands = scene.hands;
    if (scene.bounds.low.x <= scene.bounds.high.x) {
        message.as.scene.low = scene.bounds.low;
        message.as.scene.high = scene.bounds.high;
    }
    message.as.scene.name = text_of(scene.name, 256);
    message.as.scene.unit = text_of(scene.unit, 16);
    if (scene.camera.given) {
        message.as.scene.has_camera = true;
        message.as.scene.eye = scene.camera.eye;
        message.as.scene.target = scene.camera.target;
        message.as.scene.up = scene.camera.up;
    }
    if (session->abilities & FLR_WIRE_ABILITY_LOAD)
        message.as.scene.path = text_of(scene.path, 1024);
    flr_client_session_send(session, &message);
    flr_client_session_send_up(session);
    if (flr_engine_groups(engine)) flr_client_session_send_groups(session);
    if (flr_engine_notes(engine)) flr_client_session_send_notes(session);
    if (flr_engine_joints(engine)) flr_client_session_send_joints(session);
    if (flr_engine_changed_files(engine, NULL)) flr_client_session_send_files(session);
    flr_engine_part part;
    for (uint32_t i = 0; flr_engine_part_at(engine, i, &part); i++)
        flr_client_session_send_part(session, &part);
}

void flr_client_session_send_job(flr_client_session *session, const flr_engine_job *job)
{
    flr_message message = {.id = FLR_MSG_JOB};
    message.as.job.job = job->job;
    message.as.job.kind = job->kind;
    message.as.job.state = job->state;
    message.as.job.result = (uint8_t)job->result;
    message.as.job.part = job->part.index;
    message.as.job.fraction = job->fraction;
    message.as.job.name = text_of(job->name, 256);
    message.as.job.sentence = text_of(job->sentence, 512);
    flr_client_session_send(session, &message);
}

void flr_client_session_send_parameter(flr_client_session *session, uint32_t request,
                                       uint32_t index)
{
    flr_engine_parameter parameter;
    if (!flr_engine_parameter_at(session->hub->def.engine, index, &parameter)) return;
    flr_message message = {.id = FLR_MSG_PARAMETER, .request = request};
    message.as.parameter.value = parameter.value;
    message.as.parameter.low = parameter.low;
    message.as.parameter.high = parameter.high;
    message.as.parameter.preset = parameter.preset;
    message.as.parameter.name = text_of(parameter.name, 64);
    message.as.parameter.unit = text_of(parameter.unit, 16);
    message.as.parameter.words = text_of(parameter.words, 256);
    message.as.parameter.doc = text_of(parameter.doc, 512);
    flr_client_session_send(session, &message);
}

void flr_client_session_send_device(flr_client_session *session, uint32_t request, uint32_t index)
{
    flr_engine_device device;
    if (!flr_engine_device_at(session->hub->def.engine, index, &device)) return;
    flr_message message = {.id = FLR_MSG_DEVICE, .request = request};
    message.as.device.device = device.device;
    message.as.device.kind = device.kind;
    message.as.device.present = device.present;
    message.as.device.hand = device.hand.index;
    message.as.device.max_force = device.max_force;
    message.as.device.max_torque = device.max_torque;
    flr_engine_mapping mapping;
    flr_engine_get_mapping(session->hub->def.engine, device.hand, &mapping,
                           &message.as.device.scale);
    message.as.device.scale_derived = mapping.scale == 0;
    message.as.device.axes = mapping.axes;
    message.as.device.boundary = mapping.boundary;
    message.as.device.clutch_button =
        mapping.clutch_button < 0 ? 255 : (uint8_t)mapping.clutch_button;
    message.as.device.name = text_of(device.name, 128);
    message.as.device.sentence = text_of(device.sentence, 512);
    flr_client_session_send(session, &message);
}

void flr_client_session_send_recording(flr_client_session *session, uint32_t request,
                                       uint32_t index)
{
    flr_engine_recording recording;
    if (!flr_engine_recording_at(session->hub->def.engine, index, &recording)) return;
    flr_message message = {.id = FLR_MSG_RECORDING, .request = request};
    message.as.recording.recording = recording.recording;
    message.as.recording.finished = recording.finished;
    message.as.recording.bytes = recording.bytes;
    message.as.recording.frames = recording.frames;
    message.as.recording.seconds = recording.seconds;
    message.as.recording.name = text_of(recording.name, 128);
    message.as.recording.gone = recording.gone;
    message.as.recording.here = flr_engine_recording_is_here(session->hub->def.engine, &recording);
    message.as.recording.scene = text_of(recording.scene, 256);
    if (session->abilities & FLR_WIRE_ABILITY_LOAD && recording.scene_path)
        message.as.recording.scene_path = text_of(recording.scene_path, 1024);
    flr_client_session_send(session, &message);
}

flr_wire_timing flr_timing_of(const flr_percentiles *times)
{
    return (flr_wire_timing){(float)((double)times->p50 * 1e-3), (float)((double)times->p99 * 1e-3),
                             (float)((double)times->max * 1e-3)};
}

void flr_client_session_send_health(flr_client_session *session, uint32_t request, int64_t now)
{
    flr_hub *hub = session->hub;
    const flr_engine_health *health = flr_hub_health(hub, now);
    const flr_loop_stats *loop = &health->loop;
    flr_message message = {.id = FLR_MSG_HEALTH, .request = request};
    flr_msg_health *body = &message.as.health;
    body->frames = loop->frames;
    body->overruns = loop->overruns;
    body->skipped = loop->skipped;
    body->late_input = loop->late_input;
    body->faulty = loop->faulty;
    body->memory = health->memory;
    body->uptime = health->uptime;
    body->compute = flr_timing_of(&loop->compute);
    body->wakeup = flr_timing_of(&loop->wakeup);
    body->clients = flr_hub_clients(hub);
    body->jobs = health->jobs;
    body->rate_held = health->rate_held;
    body->sentence = text_of(health->sentence, 512);
    body->rights = text_of(health->rights, 512);
    flr_client_session_send(session, &message);
}

/* ---- one that fell behind ---- */

bool flr_client_session_fell_behind(flr_client_session *session)
{
    if (session->queued > session->hub->def.limits.queue / 2) session->behind = true;
    return session->behind;
}

/* A scene that is the same is not sent anew: a page would build it again and lose what its user has chosen. */
static void resync_scene(flr_client_session *session)
{
    flr_engine *engine = session->hub->def.engine;
    flr_engine_scene scene;
    flr_engine_part part;
    flr_engine_get_scene(engine, &scene);
    if (session->known_lost || session->known_scene != scene.scene) {
        flr_client_session_send_scene(session);
        return;
    }
    flr_client_session_send_up(session);
    flr_client_session_send_groups(session);
    flr_client_session_send_notes(session);
    flr_client_session_send_joints(session);
    flr_client_session_send_files(session);
    for (uint32_t i = session->known_count; i-- > 0;) {
        uint32_t known = session->known[i];
        flr_part_id id = flr_engine_part_id(engine, known);
        if (flr_engine_get_part(engine, id, &part, NULL) != FLR_OK)
            flr_client_session_send_gone(session, known);
    }
    for (uint32_t i = 0; flr_engine_part_at(engine, i, &part); i++)
        flr_client_session_send_part(session, &part);
}

void flr_client_session_resync(flr_client_session *session)
{
    flr_engine *engine = session->hub->def.engine;
    session->behind = false;
    resync_scene(session);
    if (session->wants & FLR_WIRE_WANT_EVENTS) {
        for (uint32_t i = 0; i < flr_engine_parameters(engine); i++)
            flr_client_session_send_parameter(session, 0, i);
        for (uint32_t i = 0; i < flr_engine_devices(engine); i++)
            flr_client_session_send_device(session, 0, i);
        for (uint32_t i = 0; i < flr_engine_recordings(engine); i++)
            flr_client_session_send_recording(session, 0, i);
        flr_client_session_send_replay(session);
    }
    flr_engine_job job;
    for (uint32_t i = 0; session->wants & FLR_WIRE_WANT_JOBS && flr_engine_job_at(engine, i, &job);
         i++)
        flr_client_session_send_job(session, &job);
}
