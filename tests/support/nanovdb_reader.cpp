// NanoVDB's own reader and maker of spheres, for tests of our files. Built where its headers are installed.
//   nanovdb_reader FILE LIST ACTIVE   LIST: lines of x y z, value in voxels, active or not, y of the centre in metres
//   nanovdb_reader --sphere FILE RADIUS VOXEL
#include <iostream>

#include <nanovdb/util/GridValidator.h>
#include <nanovdb/util/IO.h>
#include <nanovdb/util/Primitives.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static int make_sphere(char **arguments)
{
    auto handle = nanovdb::createLevelSetSphere<float>(
        (float)std::atof(arguments[3]), nanovdb::Vec3f(0.0f), std::atof(arguments[4]));
    nanovdb::io::writeGrid(arguments[2], handle);
    return 0;
}

static int look(char **arguments)
{
    auto handle = nanovdb::io::readGrid(arguments[1]);
    const auto *grid = handle.grid<float>();
    if (!grid || !nanovdb::isValid(*grid, true, true)) return std::puts("not a valid grid"), 1;
    if (!nanovdb::io::hasGrid(arguments[1], "surface")) return std::puts("the name is lost"), 1;
    if (!grid->isLevelSet()) return std::puts("not a level set"), 1;
    if (grid->activeVoxelCount() != std::strtoull(arguments[3], nullptr, 10))
        return std::printf("%llu active voxels\n", (unsigned long long)grid->activeVoxelCount()), 1;
    std::FILE *list = std::fopen(arguments[2], "r");
    if (!list) return 1;
    auto accessor = grid->getAccessor();
    int x, y, z, value, active, lines = 0;
    double centre;
    while (std::fscanf(list, "%d %d %d %d %d %lf", &x, &y, &z, &value, &active, &centre) == 6) {
        nanovdb::Coord at(x, y, z);
        double is = accessor.getValue(at) / grid->voxelSize()[0];
        double place = grid->indexToWorld(nanovdb::Vec3d(x, y, z))[1];
        if (std::fabs(is - value) > 1e-5 || accessor.isActive(at) != (active != 0) ||
            std::fabs(place - centre) > 1e-9)
            return std::printf("voxel %d %d %d: %g, not %d; at y = %g, not %g\n", x, y, z, is,
                               value, place, centre),
                   1;
        lines++;
    }
    std::fclose(list);
    return lines > 0 ? 0 : 1;
}

int main(int count, char **arguments)
{
    try {
        if (count == 5 && !std::strcmp(arguments[1], "--sphere")) return make_sphere(arguments);
        return count == 4 ? look(arguments) : 2;
    } catch (const std::exception &e) {
        return std::printf("%s\n", e.what()), 1;
    }
}
