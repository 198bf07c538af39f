/* gear_corridor.c: where the actuator sits and the way it is taken out by.
 *
 * The way, as the path in gear.c goes: forward off the aft lug; rod end up, because a riser in
 * front and a cross pipe behind leave less room than the actuator is long; up between the
 * beam's pipes and the tray; level; turned across the bogie; rolled by an eighth, because the
 * gate over the tyres is narrower than the flange over its corners; and out to the left.
 * The gaps are 10 to 15 mm: free at 2.5 mm voxels with the force layer at 2, and felt. */
#include "models/gear.h"

#define AX FLR_GEAR_ACTUATOR_X
#define AY FLR_GEAR_ACTUATOR_Y
#define AZ FLR_GEAR_ACTUATOR_Z

/* lug in the aft fork's slot, clevis around the forward fork; their pins are out */
static void mounts(flr_kit *kit)
{
    flr_pose lug = flr_kit_frame(v3(AX - 0.414, AY, AZ), v3(1, 0, 0), v3(0, 0, 1));
    flr_kit_lug(kit, lug, 0.040, 0.0145, 0.032, 0.13, 0.095);
    flr_kit_plate(kit, flr_kit_shift(lug, 0, 0, -0.150), 0.15, 0.11, 0.022, 0.012, 0, 0, 0);
    for (int i = 0; i < 4; i++)
        flr_kit_bolt(kit,
                     flr_kit_shift(lug, i & 1 ? 0.058 : -0.058, i & 2 ? 0.038 : -0.038, -0.128),
                     0.010, 0);
    /* the arm to the beam's boss */
    flr_kit_box(kit, flr_kit_at(AX - 0.590, 0.5 * (AY + 0.10), AZ - 0.03), 0.056, AY + 0.01, 0.14,
                0.012);
    flr_kit_box(kit, flr_kit_at(AX - 0.590, 0.13, AZ - 0.09), 0.09, 0.10, 0.10, 0.010);

    flr_pose clevis = flr_kit_at(AX + 0.414, AY, AZ);
    flr_kit_clevis(kit, clevis, 0.034, 0.0145, 0.016, 0.113, 0.100, 0.090);
    flr_kit_box(kit, flr_kit_at(AX + 0.414, 0.25, AZ - 0.145), 0.13, 0.28, 0.064, 0.008);
    flr_kit_box(kit, flr_kit_at(AX + 0.414, 0.13, AZ - 0.165), 0.17, 0.08, 0.14, 0.010);
    /* gusset under the shelf */
    const flr_kit_corner c[] = {
        {0.10, -0.19, 0.01}, {0.36, -0.17, 0}, {0.36, -0.15, 0}, {0.10, -0.15, 0}};
    flr_kit_extrude(kit, flr_kit_frame(v3(AX + 0.407, 0, AZ), v3(1, 0, 0), v3(0, 1, 0)), c, 4,
                    0.014);
}

static void fixed_pipe(flr_kit *kit, const flr_vec3 *way, int count, double r, double bend, int leg,
                       double t, flr_vec3 mount, double stand)
{
    flr_kit_pipe(kit, way, count, r, 0, bend);
    flr_vec3 along = v3_sub(way[leg + 1], way[leg]);
    flr_vec3 p = v3_mix(way[leg], way[leg + 1], t);
    flr_kit_clamp(kit, flr_kit_frame(p, v3_mul(mount, -1), along), r, stand);
}

static void obstacles(flr_kit *kit)
{
    /* over the aft fork: keeps it from being lifted before it has come forward */
    flr_vec3 guard[5] = {{-1.062, 0.05, 0.755},
                         {-1.062, 0.10, 0.850},
                         {-1.062, 0.432, 0.850},
                         {-1.062, 0.440, 0.950},
                         {-1.300, 0.440, 0.950}};
    fixed_pipe(kit, guard, 5, 0.010, 0.03, 3, 0.8, v3(0, 0, -1), 0.05);
    /* the riser in front of the rod end */
    flr_vec3 riser[6] = {{-0.109, 0.17, 0.70}, {-0.109, 0.30, 0.72}, {-0.109, 0.30, 1.24},
                         {-0.109, 0.20, 1.32}, {-0.06, 0.135, 1.36}, {-0.06, 0.135, 1.60}};
    fixed_pipe(kit, riser, 6, 0.019, 0.06, 4, 0.6, v3(0, -1, 0), 0.03);
    /* the cross pipe behind, from the beam to the tray's post */
    flr_vec3 cross[5] = {{-0.985, 0.03, 0.76},
                         {-0.985, 0.06, 1.080},
                         {-0.985, 0.445, 1.080},
                         {-0.985, 0.450, 1.250},
                         {-1.20, 0.450, 1.250}};
    fixed_pipe(kit, cross, 5, 0.011, 0.035, 3, 0.6, v3(0, 1, 0), 0.02);
    /* three pipes on stand-offs along the beam, an actuator's flange away */
    for (int i = 0; i < 3; i++) {
        double r = 0.012 - 0.002 * i, y = AY - 0.1 - 0.0115 - r, z = 0.93 + 0.045 * i;
        flr_vec3 run[4] = {{-0.93 + 0.03 * i, 0.10, z - 0.10},
                           {-0.90 + 0.03 * i, y, z},
                           {-0.34 - 0.03 * i, y, z},
                           {-0.31 - 0.03 * i, 0.10, z - 0.10}};
        flr_kit_pipe(kit, run, 4, r, 0, 0.04);
        for (int k = 0; k < 2; k++) {
            flr_pose at = flr_kit_frame(v3(k ? -0.38 : -0.84, y, z), v3(0, 1, 0), v3(1, 0, 0));
            flr_kit_clamp(kit, at, r, 0.05);
        }
    }
    /* their stand-offs */
    for (int k = 0; k < 2; k++) {
        double x = k ? -0.38 : -0.84;
        flr_kit_box(kit, flr_kit_at(x, 0.118, 0.90), 0.05, 0.036, 0.32, 0.006);
        flr_kit_bolt(kit, flr_kit_turn_x(flr_kit_at(x, 0.136, 0.80), -0.25), 0.008, 0);
    }
}

/* the tray over the left tyres with its posts, and the gate on it */
static void tray(flr_kit *kit)
{
    const double top = 1.382, x0 = -1.33, x1 = -0.27, y0 = 0.416, y1 = 0.930;
    flr_kit_outline o;
    flr_outline_clear(&o);
    flr_outline_rect(kit, &o, (x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0, 0.02);
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 3; k++)
            flr_outline_circle(kit, &o, x0 + 0.09 + 0.147 * i, y0 + 0.10 + 0.157 * k, 0.034);
    flr_kit_prism(kit, flr_kit_at(0, 0, top - 0.003), &o, 0.003);
    /* edge angles and cross ribs below it */
    for (int side = 0; side < 2; side++) {
        flr_vec3 edge[2] = {{x0 + 0.02, side ? y1 - 0.003 : y0 + 0.003, top - 0.0025},
                            {x1 - 0.02, side ? y1 - 0.003 : y0 + 0.003, top - 0.0025}};
        if (!side) {
            flr_vec3 swap = edge[0];
            edge[0] = edge[1];
            edge[1] = swap;
        }
        flr_outline_clear(&o);
        flr_outline_beam_l(kit, &o, 0.025, 0.045, 0.003);
        flr_kit_sweep(kit, edge, 2, v3(0, 0, -1), &o, NULL);
        flr_kit_rivet_row(kit, v3(x0 + 0.04, edge[0].y + (side ? -0.015 : 0.015), top),
                          v3(x1 - 0.04, edge[0].y + (side ? -0.015 : 0.015), top), v3(0, 0, 1), 24,
                          0.004);
    }
    for (int i = 0; i < 5; i++) {
        flr_vec3 rib[2] = {{x0 + 0.12 + 0.205 * i, y0 + 0.02, top - 0.0032},
                           {x0 + 0.12 + 0.205 * i, y1 - 0.02, top - 0.0032}};
        flr_outline_clear(&o);
        flr_outline_beam_hat(kit, &o, 0.026, 0.030, 0.014, 0.002);
        flr_kit_sweep(kit, rib, 2, v3(0, 0, -1), &o, NULL);
    }
    /* posts from the axles' brackets */
    for (int k = 0; k < 2; k++) {
        double x = k ? -0.300 : -1.285, low = k ? 0.67 : 0.78;
        flr_vec3 post[4] = {{x, 0.25 - 0.05 * k, low},
                            {x, 0.44, low + 0.02},
                            {x, 0.442, 1.20},
                            {x, 0.470, top - 0.01}};
        flr_kit_pipe(kit, post, 4, 0.016, 0, 0.05);
        flr_kit_flange(kit, flr_kit_at(x, 0.470, top - 0.014), 0.034, 0, 0.008, 4, 0.005);
        flr_kit_clamp(kit, flr_kit_frame(v3(x, 0.441, 1.02), v3(0, -1, 0), v3(0, 0, 1)), 0.016,
                      0.02);
    }
}

static void gate(flr_kit *kit)
{
    const double x = -0.80, y = 0.77, low = 1.380, high = 1.720, room = 0.0885;
    for (int side = -1; side <= 1; side += 2) {
        flr_pose foot = flr_kit_at(x + side * (room + 0.016), y, low);
        flr_kit_cylinder(kit, foot, 0.016, high - low);
        flr_kit_flange(kit, flr_kit_shift(foot, side * 0.022, 0, 0), 0.036, 0, 0.008, 4, 0.006);
        /* stays */
        flr_vec3 stay[2] = {{foot.p.x + side * 0.26, y, low},
                            {foot.p.x + side * 0.01, y, high - 0.10}};
        flr_kit_pipe(kit, stay, 2, 0.011, 0, 0);
        flr_kit_box(kit, flr_kit_at(foot.p.x + side * 0.26, y, low + 0.008), 0.06, 0.05, 0.014,
                    0.003);
    }
    /* conduits over the gate: pipes, and a harness on a channel */
    const double over = 1.47 + room;
    for (int i = 0; i < 2; i++) {
        double r = 0.012 + 0.004 * i, py = y - 0.07 + 0.14 * i;
        flr_vec3 run[4] = {{-1.30, py, over + r - 0.06},
                           {-1.16, py, over + r},
                           {-0.42, py, over + r},
                           {-0.30, py, low + 0.01}};
        flr_kit_pipe(kit, run, 4, r, 0, 0.06);
        for (int k = 0; k < 2; k++) {
            flr_pose at =
                flr_kit_frame(v3(k ? -0.58 : -1.02, py, over + r), v3(0, 0, -1), v3(1, 0, 0));
            flr_kit_clamp(kit, at, r, 0.165 - over + 1.555 - r);
        }
    }
    flr_vec3 beam[2] = {{-1.24, y, high + 0.02}, {-0.36, y, high + 0.02}};
    flr_kit_outline o = {0};
    flr_outline_beam_c(kit, &o, 0.05, 0.07, 0.004);
    flr_kit_sweep(kit, beam, 2, v3(0, 1, 0), &o, NULL);
    flr_vec3 way[6];
    for (int k = 0; k < 6; k++) way[k] = v3(-1.22 + 0.17 * k, y + 0.01, high + 0.052);
    flr_kit_bundle(kit, way, 6, 12, 0.0024, 0.004, 0.10);
    /* braces from the beam's ends to the strut and down to the tray */
    flr_vec3 stay[3] = {{-0.40, y, high + 0.02}, {-0.24, 0.40, high + 0.14}, {-0.14, 0.13, 1.98}};
    flr_kit_pipe(kit, stay, 3, 0.018, 0, 0.2);
    for (int side = -1; side <= 1; side += 2) {
        flr_vec3 leg[2] = {{x + side * 0.42, y + 0.02, high}, {x + side * 0.46, y + 0.10, low}};
        flr_kit_pipe(kit, leg, 2, 0.013, 0, 0);
        flr_kit_bracket(kit,
                        flr_kit_turn_z(flr_kit_at(x + side * 0.30, y, low), side > 0 ? 0 : 0.5),
                        0.06, 0.05, 0.004, 0.006);
    }
}

void flr_gear_corridor(flr_kit *kit)
{
    mounts(kit);
    obstacles(kit);
    tray(kit);
    gate(kit);
}
