// probes_embree [MESH UNIT]...: short segments of a stroking hand, against Embree 3 and against feeler, in one run: the same
// meshes, the same segments, rounded to float for both. Without arguments: the five models of the scenario `probes`.
// Per method: mean (back to back, best of the rounds), median, p99, p99.9 and worst of single queries (each the best of the
// rounds), hits, and how long the structure took to make. The methods take turns, round by round, so that what else runs on
// the machine meets all of them.
#include <embree3/rtcore.h>
#include <feeler/feeler.h>
#include <x86intrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <vector>

extern "C" {
#include "bench/stroke.h"
#include "models/models.h"
}

namespace
{
constexpr size_t segments = 30000;
constexpr int rounds = 9;
double tick_ns;

// of this thread, so that what else runs counts less
double processor_time()
{
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double now()
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

void find_tick()
{
    double begin = now();
    unsigned long long first = __rdtsc();
    while (now() - begin < 0.2) {}
    tick_ns = 1e9 * (now() - begin) / static_cast<double>(__rdtsc() - first);
}

// one way to answer, and what was measured of it
struct method {
    const char *name;
    double made;                 // seconds
    std::function<size_t()> all; // all segments, back to back; how many hit
    std::function<size_t(std::vector<double> &)>
        each; // each by itself; keeps the least time of each
    size_t hits = 0;
    double mean = 1e30;
    std::vector<double> ns;
    bool same = true; // hits in every round
};

template <class Query>
method make_method(const char *name, double made, const std::vector<flr_segment> &strokes,
                   Query query)
{
    method m{name, made, {}, {}};
    m.ns.assign(strokes.size(), 1e30);
    m.all = [&strokes, query] {
        size_t hits = 0;
        for (const flr_segment &s : strokes) hits += query(s);
        return hits;
    };
    m.each = [&strokes, query](std::vector<double> &ns) {
        size_t hits = 0;
        for (size_t i = 0; i < strokes.size(); i++) {
            unsigned aux;
            unsigned long long begin = __rdtscp(&aux);
            hits += query(strokes[i]);
            ns[i] = std::min(ns[i], static_cast<double>(__rdtscp(&aux) - begin) * tick_ns);
        }
        return hits;
    };
    return m;
}

void measure(const char *model, std::vector<method> &methods)
{
    for (int round = 0; round < rounds; round++)
        for (method &m : methods) {
            double begin = processor_time();
            m.hits = m.all();
            m.mean =
                std::min(m.mean, (processor_time() - begin) / static_cast<double>(m.ns.size()));
        }
    for (int round = 0; round < rounds; round++)
        for (method &m : methods) m.same &= m.each(m.ns) == m.hits;
    for (method &m : methods) {
        std::sort(m.ns.begin(), m.ns.end());
        auto at = [&](double part) {
            return m.ns[static_cast<size_t>(part * static_cast<double>(m.ns.size() - 1))];
        };
        std::printf("%-22s %-8s %8.3f %7zu %7.1f %7.0f %7.0f %7.0f %7.0f%s\n", model, m.name,
                    m.made, m.hits, m.mean * 1e9, at(0.5), at(0.99), at(0.999), m.ns.back(),
                    m.same ? "" : "  (not the same hits)");
    }
    std::fflush(stdout);
}

bool with_embree(RTCScene scene, const flr_segment &s)
{
    RTCRayHit ray = {};
    ray.ray.org_x = static_cast<float>(s.from.x);
    ray.ray.org_y = static_cast<float>(s.from.y);
    ray.ray.org_z = static_cast<float>(s.from.z);
    ray.ray.dir_x = static_cast<float>(s.to.x - s.from.x);
    ray.ray.dir_y = static_cast<float>(s.to.y - s.from.y);
    ray.ray.dir_z = static_cast<float>(s.to.z - s.from.z);
    ray.ray.tfar = 1;
    ray.ray.mask = ~0u;
    ray.hit.geomID = ray.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcIntersect1(scene, &context, &ray);
    return ray.hit.geomID != RTC_INVALID_GEOMETRY_ID;
}

void compare(RTCDevice device, const char *name, const flr_mesh *mesh)
{
    static const char *const methods[] = {"best", "grid", "tree", "hybrid"};
    std::vector<flr_segment> strokes(segments);
    flr_probe_model *model[4] = {};
    double made[4];
    for (int i = 1; i <= 3; i++) {
        flr_probe_def def = flr_default_probe_def();
        def.mesh = mesh;
        def.method = static_cast<flr_probe_method>(i);
        flr_error error;
        double begin = processor_time();
        if (flr_probe_model_create(&def, &model[i], &error) != FLR_OK) {
            std::fprintf(stderr, "%s\n", error.message);
            std::exit(1);
        }
        made[i] = processor_time() - begin;
    }
    strokes.resize(flr_stroke_make(model[1], strokes.data(), segments));
    for (flr_segment &s : strokes)
        for (double *p : {&s.from.x, &s.from.y, &s.from.z, &s.to.x, &s.to.y, &s.to.z})
            *p = static_cast<float>(*p);

    double begin = processor_time();
    std::vector<float> vertices;
    for (uint32_t i = 0; i < mesh->vertex_count; i++)
        for (double c : {mesh->vertices[i].x, mesh->vertices[i].y, mesh->vertices[i].z})
            vertices.push_back(static_cast<float>(c));
    vertices.push_back(0); // Embree reads 16 bytes at a time
    RTCScene scene = rtcNewScene(device);
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                               vertices.data(), 0, 12, mesh->vertex_count);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                               mesh->triangles, 0, 12, mesh->triangle_count);
    rtcSetGeometryBuildQuality(geometry, RTC_BUILD_QUALITY_HIGH);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_HIGH);
    rtcCommitScene(scene);
    std::vector<method> all;
    all.push_back(make_method("embree", processor_time() - begin, strokes,
                              [scene](const flr_segment &s) { return with_embree(scene, s); }));
    flr_probe_witness witnesses[4];
    for (int i = 1; i <= 3; i++) {
        flr_probe_witness *witness = &witnesses[i];
        const flr_probe_model *asked = model[i];
        *witness = flr_probe_witness_none();
        all.push_back(make_method(methods[i], made[i], strokes, [=](const flr_segment &s) {
            flr_probe_hit hit;
            return flr_probe_first(asked, s.from, s.to, witness, &hit);
        }));
    }
    measure(name, all);
    for (int i = 1; i <= 3; i++) flr_probe_model_destroy(model[i]);
    rtcReleaseGeometry(geometry);
    rtcReleaseScene(scene);
}
} // namespace

int main(int count, char **arguments)
{
    find_tick();
    RTCDevice device = rtcNewDevice("threads=1");
    std::printf("%zu segments a model; seconds to make, then ns a query\n", segments);
    std::printf("%-22s %-8s %8s %7s %7s %7s %7s %7s %7s\n", "model", "method", "made", "hits",
                "mean", "median", "p99", "p99.9", "worst");
    for (int i = 1; i + 1 < count; i += 2) {
        flr_mesh_options options = flr_default_mesh_options();
        options.unit = std::atof(arguments[i + 1]);
        flr_mesh *mesh;
        flr_error error;
        if (flr_mesh_read(flr_env_real(), arguments[i], &options, &mesh, nullptr, &error) !=
            FLR_OK) {
            std::fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        compare(device, arguments[i], mesh);
        flr_mesh_destroy(mesh);
    }
    if (count < 3) {
        flr_model model = {};
        flr_error error;
        if (flr_scenario_build(flr_scenario_find("probes"), nullptr, &model, &error) != FLR_OK) {
            std::fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        for (size_t i = 0; i < model.mesh_count; i++)
            compare(device, model.meshes[i].file, model.meshes[i].mesh);
        flr_model_free(&model);
    }
    rtcReleaseDevice(device);
    return 0;
}
