// contact_fcl [SCENARIO]
// contact_fcl STATIC MOVING POSES UNIT VOXEL MOVING_VOXEL [FORCE_LAYER [DISPLACE]]
//
// The same meshes at the same poses, in one run, through FCL (trees of OBBRSS boxes; all contacts, then the distance) and
// through feeler (one query: all contacts, wrench, bounds of the distance). Without arguments: the scenarios ball, teapot and
// actuator along their own motions; else files, for example
//     contact_fcl socket.stl ball.stl ball.traj m 0.35mm 0.35mm 0 -0.175mm
//
// One thread, and its processor time, so that what else the machine does is not charged. Poses are asked one after the other,
// as in a motion; each round begins anew, and a pose's best time over the rounds counts, for both alike. Where FCL would take
// long, it is asked at every n-th pose; feeler at all of them.
#include <fcl/fcl.h>
#include <feeler/feeler.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

extern "C" {
#include "bench/bench.h"
#include "models/models.h"
#include "scene/pose_file.h"
}

namespace
{
using Tree = fcl::BVHModel<fcl::OBBRSSd>;

constexpr int rounds = 2;
constexpr double longest = 20; // seconds for one round of FCL

// what moves in what, and how feeler looks at it
struct Subject {
    std::string name;
    const flr_mesh *fixed, *moving;
    std::vector<flr_pose> poses;
    double voxel, moving_voxel;
    unsigned layer;
    double displacement;
    // what feeler's p99 must be below: FCL's median or its p99
    enum { median, p99 } bound;
};

void check(flr_result result, const flr_error &error)
{
    if (result == FLR_OK) return;
    std::fprintf(stderr, "%s\n", error.message);
    std::exit(1);
}

double processor_time()
{
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// ---- measuring ----

struct Cost {
    double p50, p99, max; // microseconds
    size_t poses, touching;
    double contacts; // mean over the poses that touch
};

// Of sorted seconds.
Cost cost_of(std::vector<double> &times)
{
    std::sort(times.begin(), times.end());
    Cost cost{};
    cost.poses = times.size();
    cost.p50 = times[(times.size() - 1) / 2] * 1e6;
    cost.p99 = times[(times.size() - 1) * 99 / 100] * 1e6;
    cost.max = times.back() * 1e6;
    return cost;
}

// Each query tells how many contacts there are (a distance: 1 or 0). The costs of each, then those of all together.
using Query = std::function<double(const flr_pose &)>;
std::vector<Cost> measure(const std::vector<flr_pose> &poses, double seconds,
                          const std::vector<Query> &queries)
{
    // a few poses say how long all of them will take
    size_t probes = 0;
    const double begin = processor_time();
    for (size_t i = 0; i < poses.size(); i += poses.size() / 30 + 1, probes++)
        for (const Query &query : queries) query(poses[i]);
    const double all = (processor_time() - begin) / static_cast<double>(probes) *
                       static_cast<double>(poses.size());
    const size_t stride = static_cast<size_t>(all / seconds) + 1;

    const size_t count = (poses.size() + stride - 1) / stride;
    std::vector<double> sums(count, 0);
    std::vector<Cost> costs;
    for (const Query &query : queries) {
        std::vector<double> times(count, std::numeric_limits<double>::infinity());
        size_t touching = 0;
        double contacts = 0;
        for (int round = 0; round < rounds; round++)
            for (size_t i = 0; i < count; i++) {
                const double start = processor_time();
                const double answer = query(poses[i * stride]);
                times[i] = std::min(times[i], processor_time() - start);
                if (round || answer <= 0) continue;
                touching++;
                contacts += answer;
            }
        for (size_t i = 0; i < count; i++) sums[i] += times[i];
        costs.push_back(cost_of(times));
        costs.back().touching = touching;
        if (touching) costs.back().contacts = contacts / static_cast<double>(touching);
    }
    costs.push_back(cost_of(sums));
    return costs;
}

void print(const char *name, const Cost &c)
{
    std::printf("  %-34s %9.1f %9.1f %9.1f us at %zu poses", name, c.p50, c.p99, c.max, c.poses);
    if (c.touching) std::printf(", %zu of them touch, %.1f contacts there", c.touching, c.contacts);
    std::printf("\n");
    std::fflush(stdout);
}

// ---- FCL ----

std::shared_ptr<Tree> tree_of(const flr_mesh &mesh)
{
    std::vector<fcl::Vector3d> points;
    std::vector<fcl::Triangle> triangles;
    for (uint32_t i = 0; i < mesh.vertex_count; i++)
        points.emplace_back(mesh.vertices[i].x, mesh.vertices[i].y, mesh.vertices[i].z);
    for (uint32_t i = 0; i < mesh.triangle_count; i++) {
        const uint32_t *v = mesh.triangles[i].v;
        triangles.emplace_back(v[0], v[1], v[2]);
    }
    auto tree = std::make_shared<Tree>();
    tree->beginModel(static_cast<int>(triangles.size()), static_cast<int>(points.size()));
    tree->addSubModel(points, triangles);
    tree->endModel();
    return tree;
}

fcl::Transform3d transform(const flr_pose &T)
{
    fcl::Transform3d to = fcl::Transform3d::Identity();
    to.linear() = fcl::Quaterniond(T.q.w, T.q.x, T.q.y, T.q.z).toRotationMatrix();
    to.translation() << T.p.x, T.p.y, T.p.z;
    return to;
}

std::vector<Cost> with_fcl(const Subject &s)
{
    const auto moving = tree_of(*s.moving), fixed = tree_of(*s.fixed);
    const fcl::Transform3d still = fcl::Transform3d::Identity();
    const Query contacts = [&](const flr_pose &T) {
        const fcl::CollisionRequestd request(1000000, true);
        fcl::CollisionResultd result;
        fcl::collide(moving.get(), transform(T), fixed.get(), still, request, result);
        return static_cast<double>(result.numContacts());
    };
    const Query distance = [&](const flr_pose &T) {
        const fcl::DistanceRequestd request(true);
        fcl::DistanceResultd result;
        return fcl::distance(moving.get(), transform(T), fixed.get(), still, request, result) <= 0
                   ? 1.0
                   : 0.0;
    };
    return measure(s.poses, longest, {contacts, distance});
}

// ---- feeler ----

Cost with_feeler(const Subject &s)
{
    flr_error error;
    flr_voxelize_def def = flr_default_voxelize_def();
    flr_voxmap *voxmap = nullptr;
    flr_shell *shell = nullptr;
    def.voxel = s.voxel;
    check(flr_voxelize(flr_env_real(), s.fixed, &def, &voxmap, nullptr, nullptr, &error), error);
    def.voxel = s.moving_voxel;
    check(flr_voxelize(flr_env_real(), s.moving, &def, nullptr, &shell, nullptr, &error), error);
    flr_contact_pair_def pair_def = flr_default_contact_pair_def();
    pair_def.shell = shell;
    pair_def.voxmap = voxmap;
    flr_contact_pair *pair = nullptr;
    check(flr_contact_pair_create(&pair_def, &pair, &error), error);
    flr_contact_params params = flr_default_contact_params();
    params.force_layer = s.layer;
    params.displacement = s.displacement;
    std::printf("  feeler: voxels of %g mm, %u points of %g mm, force layer %u, %s\n",
                s.voxel * 1e3, shell->total, s.moving_voxel * 1e3, s.layer,
                flr_contact_pair_simd(pair));
    const Query query = [&](const flr_pose &T) {
        flr_contact_result result;
        flr_contact_query(pair, T, flr_pose_identity(), &params, &result);
        return static_cast<double>(result.contacts);
    };
    const Cost cost = measure(s.poses, 1e9, {query})[0];
    flr_contact_pair_destroy(pair);
    flr_voxmap_destroy(voxmap);
    flr_shell_destroy(shell);
    return cost;
}

void compare(const Subject &s)
{
    std::printf("%s: %u triangles in %u\n  %-34s %9s %9s %9s\n", s.name.c_str(),
                s.moving->triangle_count, s.fixed->triangle_count, "", "median", "p99", "max");
    const Cost ours = with_feeler(s);
    print("feeler, wrench and distance bounds", ours);
    const std::vector<Cost> theirs = with_fcl(s);
    print("FCL, all contacts", theirs[0]);
    print("FCL, distance", theirs[1]);
    print("FCL, both", theirs[2]);
    for (int i = 0; i < 3; i += 2) {
        const double most = s.bound == Subject::median ? theirs[i].p50 : theirs[i].p99;
        std::printf("  feeler's p99 %.1f us, FCL's %s %.1f us (%s): %s\n", ours.p99,
                    s.bound == Subject::median ? "median" : "p99", most,
                    i ? "both" : "contacts alone", ours.p99 < most ? "below" : "NOT below");
    }
}

// ---- subjects ----

struct Known {
    const char *name, *scenario, *fixed, *moving, *path;
    double voxel, moving_voxel;
    unsigned layer;
    double displace; // voxels
    decltype(Subject::bound) bound;
};
const Known known[] = {
    {"ball", "ball", "socket.stl", "ball.stl", "turn", 0.35e-3, 0.35e-3, 0, -0.5, Subject::median},
    {"ball", "ball", "socket.stl", "ball.stl", "seat", 0.35e-3, 0.35e-3, 0, -0.5, Subject::median},
    {"teapot", "aircraft", "aircraft.stl", "teapot.stl", nullptr, 5e-3, 5e-3, 2, 0, Subject::p99},
    {"actuator", "gear", "gear.stl", "actuator.stl", "removal", 2.5e-3, 1e-3, 2, 0,
     Subject::median},
};

void compare_known(const Known &k)
{
    flr_model model{};
    flr_error error;
    check(flr_scenario_build(flr_scenario_find(k.scenario), nullptr, &model, &error), error);
    Subject s{std::string(k.name) + (k.path ? std::string(", ") + k.path : ""),
              flr_model_find_mesh(&model, k.fixed),
              flr_model_find_mesh(&model, k.moving),
              {},
              k.voxel,
              k.moving_voxel,
              k.layer,
              k.displace * k.voxel,
              k.bound};
    for (size_t i = 0; k.path && i < model.path_count; i++)
        for (size_t n = 0; !std::strcmp(model.paths[i].name, k.path) && n < model.paths[i].count;
             n++)
            s.poses.push_back(model.paths[i].poses[n].T_world_part);
    for (size_t i = 0; !k.path && i < model.part_count; i++)
        for (size_t n = 0; !std::strcmp(model.parts[i].file, k.moving) && n < FLR_BENCH_SLIDE; n++)
            s.poses.push_back(flr_bench_slide(model.parts[i].T_world_part, n));
    compare(s);
    flr_model_free(&model);
}

void compare_files(int count, char **arguments)
{
    flr_error error;
    flr_mesh_options options = flr_default_mesh_options();
    flr_mesh *fixed = nullptr, *moving = nullptr;
    flr_pose_list list{};
    Subject s{arguments[2], nullptr, nullptr, {}, 0, 0, 2, 0, Subject::median};
    check(flr_unit_parse(arguments[3], &options.unit, &error), error);
    check(flr_size_parse(arguments[4], 1e-3, &s.voxel, &error), error);
    check(flr_size_parse(arguments[5], 1e-3, &s.moving_voxel, &error), error);
    if (count > 6) s.layer = static_cast<unsigned>(std::atoi(arguments[6]));
    if (count > 7) {
        const bool inward = arguments[7][0] == '-';
        check(flr_size_parse(arguments[7] + inward, 1e-3, &s.displacement, &error), error);
        if (inward) s.displacement = -s.displacement;
    }
    check(flr_mesh_open(flr_env_real(), arguments[0], &options, &fixed, nullptr, &error), error);
    check(flr_mesh_open(flr_env_real(), arguments[1], &options, &moving, nullptr, &error), error);
    check(flr_pose_list_read(flr_env_real(), arguments[2], options.unit, &list, &error), error);
    for (size_t i = 0; i < list.count; i++) s.poses.push_back(list.poses[i].T_world_part);
    s.fixed = fixed, s.moving = moving;
    compare(s);
    flr_pose_list_free(&list);
    flr_mesh_destroy(fixed);
    flr_mesh_destroy(moving);
}
} // namespace

int main(int count, char **arguments)
{
    if (count == 1 || count == 2) {
        bool found = false;
        for (const Known &k : known)
            if (count == 1 || !std::strcmp(k.name, arguments[1])) compare_known(k), found = true;
        if (found) return 0;
    }
    if (count < 7) {
        std::fprintf(stderr, "contact_fcl [ball | teapot | actuator]\n"
                             "contact_fcl STATIC MOVING POSES UNIT VOXEL MOVING_VOXEL [FORCE_LAYER "
                             "[DISPLACE]]\n");
        return 2;
    }
    compare_files(count - 1, arguments + 1);
    return 0;
}
