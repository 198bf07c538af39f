// voxelize_openvdb [MESH UNIT VOXEL [THREADS]]: one mesh through OpenVDB's meshToVolume and through feeler, in one run: the
// same voxel size, 8 voxels outside, as many threads. Each runs in a process of its own, so that its peak memory is its own.
// The same job is the surface field with the interior; feeler's usual one has the edge and vertex fields and the shell, too.
#include <feeler/feeler.h>
#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace
{
// what a measured process tells
struct Cost {
    double seconds, cpu, megabytes, voxels;
};

// the mesh as OpenVDB wants it, in voxels
struct InVoxels {
    const flr_mesh &mesh;
    double per_metre;
    size_t polygonCount() const { return mesh.triangle_count; }
    size_t pointCount() const { return mesh.vertex_count; }
    size_t vertexCount(size_t) const { return 3; }
    void getIndexSpacePoint(size_t triangle, size_t corner, openvdb::Vec3d &point) const
    {
        const flr_vec3 &v = mesh.vertices[mesh.triangles[triangle].v[corner]];
        point = openvdb::Vec3d(v.x, v.y, v.z) * per_metre;
    }
};

double with_openvdb(const flr_mesh &mesh, double voxel, unsigned threads)
{
    openvdb::initialize();
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    auto transform = openvdb::math::Transform::createLinearTransform(voxel);
    auto grid = openvdb::tools::meshToVolume<openvdb::FloatGrid>(InVoxels{mesh, 1 / voxel},
                                                                 *transform, 8.0f, 2.0f);
    return static_cast<double>(grid->activeVoxelCount());
}

double with_feeler(const flr_mesh &mesh, double voxel, unsigned threads, bool all)
{
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    def.threads = threads;
    def.features = all;
    flr_voxmap *voxmap = nullptr;
    flr_shell *shell = nullptr;
    flr_voxelize_report report;
    flr_error error;
    if (flr_voxelize(flr_env_real(), &mesh, &def, &voxmap, all ? &shell : nullptr, &report,
                     &error) != FLR_OK) {
        std::fprintf(stderr, "%s\n", error.message);
        std::exit(1);
    }
    return static_cast<double>(report.voxels.surface_voxels + report.voxels.field_voxels);
}

Cost measure(const std::function<double()> &body)
{
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) std::exit(1);
    const pid_t child = fork();
    if (child == 0) {
        rusage before, after;
        getrusage(RUSAGE_SELF, &before);
        const auto begin = std::chrono::steady_clock::now();
        Cost cost{};
        cost.voxels = body();
        cost.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        getrusage(RUSAGE_SELF, &after);
        const auto cpu = [](const rusage &u) {
            return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                   1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
        };
        cost.cpu = cpu(after) - cpu(before);
        cost.megabytes = static_cast<double>(after.ru_maxrss - before.ru_maxrss) * 1024e-6;
        _exit(write(pipe_ends[1], &cost, sizeof cost) == sizeof cost ? 0 : 1);
    }
    close(pipe_ends[1]);
    Cost cost{};
    if (read(pipe_ends[0], &cost, sizeof cost) != sizeof cost)
        std::fprintf(stderr, "the measured process failed\n");
    close(pipe_ends[0]);
    waitpid(child, nullptr, 0);
    return cost;
}

void print(const char *name, const Cost &cost)
{
    std::printf("%-18s %9.2f s  %9.2f s cpu  %8.0f MB  %.3g voxels in the band\n", name,
                cost.seconds, cost.cpu, cost.megabytes, cost.voxels);
    std::fflush(stdout);
}
} // namespace

int main(int count, char **arguments)
{
    if (count < 4) {
        std::fprintf(
            stderr, "voxelize_openvdb MESH UNIT VOXEL [THREADS], for example: gear.stl mm 5mm 2\n");
        return 2;
    }
    flr_error error;
    flr_mesh_options options = flr_default_mesh_options();
    double voxel = 0;
    flr_mesh *mesh = nullptr;
    if (flr_unit_parse(arguments[2], &options.unit, &error) != FLR_OK ||
        flr_size_parse(arguments[3], 1e-3, &voxel, &error) != FLR_OK ||
        flr_mesh_open(flr_env_real(), arguments[1], &options, &mesh, nullptr, &error) != FLR_OK) {
        std::fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    const unsigned threads = count > 4 ? static_cast<unsigned>(std::atoi(arguments[4])) : 2;
    std::printf("%u triangles, voxel %g mm, %u threads; OpenVDB %s\n", mesh->triangle_count,
                voxel * 1e3, threads, openvdb::getLibraryAbiVersionString());
    const Cost same = measure([&] { return with_feeler(*mesh, voxel, threads, false); });
    print("feeler, one field", same);
    const Cost all = measure([&] { return with_feeler(*mesh, voxel, threads, true); });
    print("feeler, all", all);
    const Cost theirs = measure([&] { return with_openvdb(*mesh, voxel, threads); });
    print("OpenVDB", theirs);
    std::printf("the same job: feeler is %.1f times as fast and takes 1/%.1f of the memory; with "
                "everything: %.1f and 1/%.1f\n",
                theirs.seconds / same.seconds, theirs.megabytes / same.megabytes,
                theirs.seconds / all.seconds, theirs.megabytes / all.megabytes);
    flr_mesh_destroy(mesh);
    return 0;
}
