/* 14 a host application: touch for a program that has its own graphics
 *
 * Start a controller, then this:
 *
 *     feeler serve scene.json &
 *     build/examples/14_host_application 127.0.0.1:7878 [TOKEN]
 *
 * The host gives two meshes, a plate that stays and a peg that moves, takes the peg in its hand and
 * pushes it down, farther than the plate allows. Once per frame of its own it says where the hand is and
 * reads where the peg went: the hand goes on, the peg stops at the plate, and the host knows where it touches and how hard.
 *
 * Without an address it tells how to start one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "feeler/client.h"
#include "feeler/env.h"

/* A box of this size about the origin: 8 vertices, 12 triangles, metres. */
typedef struct box {
    float vertices[24];
    uint32_t indices[36];
} box;

static box make_box(double x, double y, double z)
{
    static const uint32_t faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                         {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    box b;
    for (unsigned i = 0; i < 8; i++) {
        b.vertices[3 * i] = (float)((i & 1 ? 0.5 : -0.5) * x);
        b.vertices[3 * i + 1] = (float)((i & 2 ? 0.5 : -0.5) * y);
        b.vertices[3 * i + 2] = (float)((i & 4 ? 0.5 : -0.5) * z);
    }
    for (unsigned i = 0; i < 6; i++) {
        const uint32_t corners[6] = {faces[i][0], faces[i][1], faces[i][2],
                                     faces[i][0], faces[i][2], faces[i][3]};
        memcpy(b.indices + 6 * i, corners, sizeof corners);
    }
    return b;
}

static flr_result give(flr_client *client, const char *name, const box *b, flr_client_kind kind,
                       double height, flr_part_id *part, flr_error *error)
{
    flr_client_mesh mesh = {.name = name,
                            .vertices = b->vertices,
                            .vertex_count = 8,
                            .indices = b->indices,
                            .triangle_count = 12,
                            .kind = kind,
                            .colour = 0x8899aa,
                            .voxel = 0.001,
                            .T_world_part = flr_pose_identity()};
    mesh.T_world_part.p.z = height;
    return flr_client_add_mesh(client, &mesh, 0, part, error);
}

/* one second of the host's frames, 60 of them: the hand goes from `from` to `to` metres above the plate */
static void lower_hand(flr_client *client, flr_part_id peg, double from, double to)
{
    flr_env *env = flr_env_real();
    int64_t next = flr_clock_ns(env);
    for (int i = 0; i <= 60; i++) {
        flr_pose T_world_hand = flr_pose_identity(), T_world_peg = flr_pose_identity();
        T_world_hand.p.z = from + (to - from) * i / 60;
        flr_client_hand(client, flr_hand(0), T_world_hand, 1);

        // what your renderer would draw now
        flr_client_frame_state frame;
        flr_client_frame(client, &frame);
        flr_client_pose(client, peg, &T_world_peg);
        flr_client_contact contacts[1024];
        size_t count = flr_client_contacts(client, contacts, 1024);
        double force = 0; // of the plate on the peg; all contacts act upwards here
        for (size_t k = 0; k < count; k++) force += contacts[k].force.z;
        if (i % 10 == 0)
            printf("hand at %6.2f mm   peg at %6.2f mm   %3u contacts, %5.2f N\n",
                   1e3 * T_world_hand.p.z, 1e3 * T_world_peg.p.z, frame.contacts, force);
        next += 16666667;
        flr_sleep_until(env, next);
    }
}

static flr_result work(flr_client *client, flr_error *error)
{
    // a plate of 60 x 60 x 10 mm with its top at 0, a peg of 10 x 10 x 20 mm above it
    box plate = make_box(0.06, 0.06, 0.01), peg = make_box(0.01, 0.01, 0.02);
    flr_part_id plate_part, peg_part;
    flr_result result =
        give(client, "host plate", &plate, FLR_CLIENT_STATIC, -0.005, &plate_part, error);
    if (result == FLR_OK)
        result = give(client, "host peg", &peg, FLR_CLIENT_MOVABLE, 0.03, &peg_part, error);
    if (result != FLR_OK) return result;
    printf("gave two meshes: parts %u and %u\n", plate_part.index, peg_part.index);

    // the hand is where the peg is, takes it, and goes down through the plate; the peg does not
    flr_pose at_peg = flr_pose_identity();
    at_peg.p.z = 0.03;
    result = flr_client_grab_at(client, flr_hand(0), peg_part, at_peg, error);
    if (result != FLR_OK) return result;
    lower_hand(client, peg_part, 0.03, 0.005);

    flr_client_clearance clearance;
    result = flr_client_get_clearance(client, peg_part, plate_part, true, &clearance, error);
    if (result == FLR_OK) printf("clearance to the plate: %.3f mm\n", 1e3 * clearance.lower);
    if (result == FLR_OK) result = flr_client_release(client, flr_hand(0), error);

    // as it was
    if (result == FLR_OK) result = flr_client_remove(client, peg_part, error);
    if (result == FLR_OK) result = flr_client_remove(client, plate_part, error);
    return result;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        printf("usage: %s ADDRESS [TOKEN [CERTIFICATE]]\n"
               "ADDRESS is that of a controller, such as 127.0.0.1:7878 after: feeler serve SCENE\n"
               "CERTIFICATE is the file that vouches for one with TLS, wss://HOST:PORT\n",
               argv[0]);
        return 0;
    }
    flr_client_def def = flr_default_client_def();
    def.address = argv[1];
    def.token = argc > 2 ? argv[2] : NULL;
    def.ca_file = argc > 3 ? argv[3] : NULL;
    def.name = "lesson 14";
    flr_client *client;
    flr_error error;
    if (flr_client_connect(&def, &client, &error) != FLR_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("connected; the scene has %zu parts\n", flr_client_part_count(client));
    flr_result result = work(client, &error);
    if (result != FLR_OK) fprintf(stderr, "%s\n", error.message);
    flr_client_close(client);
    return result == FLR_OK ? 0 : 1;
}
