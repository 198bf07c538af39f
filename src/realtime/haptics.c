/* devices served from local models, once a period */
#include "realtime/haptics.h"

#include <stdlib.h>

#include "realtime/loop.h"
#include "realtime/privileges.h"

/* A model that is older says nothing any more about where the part is: the force fades, as after any loss of data. */
static const int64_t oldest_ns = 50000000;

/* from the step */
typedef struct haptics_model {
    flr_loop_model given;
    int64_t time_ns;
    bool valid;
} haptics_model;

/* from the devices' side */
typedef struct haptics_input {
    flr_device_sample sample;
    flr_wrench sent;
} haptics_input;

flr_haptics *flr_haptics_create(uint32_t devices)
{
    flr_haptics *h = calloc(1, sizeof *h);
    if (!h) return NULL;
    bool fine = true;
    for (uint32_t i = 0; i < FLR_LOOP_DEVICES; i++) {
        h->samples[i].T_base_grip = flr_pose_identity();
        if (i >= devices) continue;
        h->models[i] = flr_latest_create(sizeof(haptics_model));
        h->inputs[i] = flr_latest_create(sizeof(haptics_input));
        fine = fine && h->models[i] && h->inputs[i];
    }
    if (fine) return h;
    flr_haptics_destroy(h);
    return NULL;
}

void flr_haptics_destroy(flr_haptics *h)
{
    if (!h) return;
    for (uint32_t i = 0; i < FLR_LOOP_DEVICES; i++) {
        flr_latest_destroy(h->models[i]);
        flr_latest_destroy(h->inputs[i]);
    }
    free(h);
}

/* ---- the step's side ---- */

void flr_haptics_read(flr_loop *loop, flr_loop_frame *frame)
{
    flr_haptics *h = loop->haptics;
    for (uint32_t i = 0; i < loop->def.device_count; i++) {
        uint64_t number;
        const haptics_input *newest = flr_latest_view(h->inputs[i], &number);
        h->fresh[i] = number != h->seen[i];
        h->seen[i] = number;
        if (number > 0) h->samples[i] = newest->sample, h->sent[i] = newest->sent;
        h->given[i] = (flr_loop_model){.passivity = flr_default_passivity_params(),
                                       .T_base_grip = h->samples[i].T_base_grip,
                                       .world_base = flr_quat_identity(),
                                       .scale = 1};
    }
    frame->samples = h->samples;
    frame->sent = h->sent;
    frame->models = h->given;
}

void flr_haptics_publish(flr_loop *loop, int64_t now_ns, bool valid)
{
    flr_haptics *h = loop->haptics;
    for (uint32_t i = 0; i < loop->def.device_count; i++) {
        const haptics_model model = {h->given[i], now_ns, valid};
        flr_latest_write(h->models[i], &model);
    }
}

/* ---- the devices' side ---- */

/* Where the hand is in the world, from what the device says and where both were at the step. */
static flr_pose pose_in_world(const flr_loop_model *m, flr_pose T_base_grip)
{
    const flr_pose then = m->T_base_grip;
    const flr_vec3 shift =
        flr_vec3_scale(flr_vec3_sub(T_base_grip.p, then.p), m->scale > 0 ? m->scale : 1);
    const flr_vec3 turn =
        flr_quat_to_rotation_vector(flr_quat_mul(T_base_grip.q, flr_quat_conjugate(then.q)));
    const flr_quat turned = flr_quat_from_rotation_vector(flr_quat_rotate(m->world_base, turn));
    flr_pose pose = m->model.T_world_handle;
    pose.p = flr_vec3_add(pose.p, flr_quat_rotate(m->world_base, shift));
    pose.q = flr_quat_normalize(flr_quat_mul(turned, pose.q));
    return pose;
}

static flr_wrench wrench_in_base(const flr_loop_model *m, flr_wrench wrench)
{
    return (flr_wrench){flr_quat_rotate_inverse(m->world_base, wrench.torque),
                        flr_quat_rotate_inverse(m->world_base, wrench.force)};
}

/* What the hand shall feel now, through the passivity controller at the device's rate. */
static flr_wrench feel(flr_passivity *account, const flr_loop_model *m, flr_pose T_base_grip,
                       flr_wrench sent, double dt)
{
    const flr_wrench sent_world = {flr_quat_rotate(m->world_base, sent.torque),
                                   flr_quat_rotate(m->world_base, sent.force)};
    flr_passivity_sent(account, sent_world);
    flr_pose T = pose_in_world(m, T_base_grip);
    const flr_wrench wrench = flr_local_wrench(&m->model, T);
    if (!(m->model.turn_stiffness > 0)) T.q = flr_quat_identity(); // a point feels no torque
    return wrench_in_base(m, flr_passivity_pass(account, &m->passivity, T, wrench, dt));
}

static uint32_t serve_device(flr_loop *loop, uint32_t i, int64_t now_ns, bool *stretched)
{
    static const haptics_model none = {.given = {.world_base = {1, 0, 0, 0}, .scale = 1}};
    flr_haptics *h = loop->haptics;
    uint64_t number;
    const haptics_model *newest = flr_latest_view(h->models[i], &number);
    if (number == 0) newest = &none;
    const bool fresh = flr_device_read(loop->def.devices[i], now_ns, &loop->samples[i]);
    const int64_t age = now_ns - newest->time_ns;
    const bool valid = newest->valid && age <= oldest_ns;
    *stretched |= valid && age > loop->period_ns;

    flr_wrench wrench = {{0, 0, 0}, {0, 0, 0}};
    if (valid && !flr_loop_is_leaving(loop, i))
        wrench = feel(&h->passivity[i], &newest->given, loop->samples[i].T_base_grip, loop->sent[i],
                      1e-9 * (double)loop->period_ns);
    const flr_device_info *info = flr_device_get_info(loop->def.devices[i]);
    const flr_guard_input input = {.now_ns = now_ns,
                                   .input_fresh = fresh,
                                   .data_fresh = valid,
                                   .held = info->dead_man >= 0 &&
                                           (loop->samples[i].buttons >> info->dead_man & 1),
                                   .wrench = wrench};
    flr_guard_output output;
    flr_guard_step(loop->guards[i], &input, &output);
    loop->sent[i] = output.wrench;
    flr_loop_let_in(loop, i);
    const haptics_input to = {loop->samples[i], loop->sent[i]};
    if (fresh || to.sample.number == 0) flr_latest_write(h->inputs[i], &to);
    return flr_loop_faults_of(info, output.faults);
}

uint32_t flr_haptics_serve(flr_loop *loop, int64_t now_ns)
{
    uint32_t faults = 0;
    bool stretched = false;
    for (uint32_t i = 0; i < loop->def.device_count; i++)
        faults |= serve_device(loop, i, now_ns, &stretched);
    atomic_fetch_add_explicit(&loop->haptics->served, 1, memory_order_relaxed);
    if (stretched) atomic_fetch_add_explicit(&loop->haptics->stretched, 1, memory_order_relaxed);
    return faults;
}

void *flr_haptics_thread(void *context)
{
    flr_loop *loop = context;
    flr_env *env = loop->def.env;
    flr_privileges_prepare_thread("feeler-haptics");
    // above the loop, whose step may take long
    if (loop->def.priority > 0) (void)flr_privileges_set_priority(loop->def.priority + 1);
    int64_t next = flr_clock_ns(env);
    while (atomic_load(&loop->haptics->go_on)) {
        flr_haptics_serve(loop, flr_clock_ns(env));
        const int64_t now = flr_clock_ns(env);
        next += loop->period_ns;
        if (next <= now) next += (now - next) / loop->period_ns * loop->period_ns + loop->period_ns;
        flr_sleep_until(env, next);
    }
    return NULL;
}
