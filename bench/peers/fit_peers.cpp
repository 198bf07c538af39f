// What a user could pick instead of feeler, asked at the poses of a tight fit: FCL (first contact; distance), ODE (all contacts),
// Bullet (GImpact against GImpact, algorithm and manifold kept between poses). See bench/fit_peers.h.
//
// Meshes are given in millimetres: ODE and Bullet compute in single precision with tolerances made for sizes near 1.
#include "bench/fit_peers.h"

#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>
#include <btBulletCollisionCommon.h>
#include <fcl/fcl.h>
#include <ode/ode.h>

#include <memory>
#include <vector>

struct flr_fit_peer {
    virtual ~flr_fit_peer() = default;
    virtual double query(const flr_pose &T) = 0;
};

namespace
{
constexpr double scale = 1e3; // of metres

// ---- FCL ----

using Tree = fcl::BVHModel<fcl::OBBRSSd>;

std::shared_ptr<Tree> tree_of(const flr_mesh &mesh)
{
    std::vector<fcl::Vector3d> points;
    std::vector<fcl::Triangle> triangles;
    for (uint32_t i = 0; i < mesh.vertex_count; i++)
        points.emplace_back(mesh.vertices[i].x * scale, mesh.vertices[i].y * scale,
                            mesh.vertices[i].z * scale);
    for (uint32_t i = 0; i < mesh.triangle_count; i++)
        triangles.emplace_back(mesh.triangles[i].v[0], mesh.triangles[i].v[1],
                               mesh.triangles[i].v[2]);
    auto tree = std::make_shared<Tree>();
    tree->beginModel();
    tree->addSubModel(points, triangles);
    tree->endModel();
    return tree;
}

struct Fcl : flr_fit_peer {
    Fcl(const flr_mesh &fixed_mesh, const flr_mesh &moving_mesh, bool ask_distance,
        double tolerance)
        : fixed(tree_of(fixed_mesh)), moving(tree_of(moving_mesh)), distance(ask_distance),
          error(tolerance * scale)
    {
    }
    double query(const flr_pose &T) override
    {
        fcl::Transform3d there = fcl::Transform3d::Identity();
        there.linear() = fcl::Quaterniond(T.q.w, T.q.x, T.q.y, T.q.z).toRotationMatrix();
        there.translation() << T.p.x * scale, T.p.y * scale, T.p.z * scale;
        const fcl::Transform3d here = fcl::Transform3d::Identity();
        if (distance) {
            // FCL stops where both its errors allow it, so the relative one must not matter
            const fcl::DistanceRequestd request(true, false, error > 0 ? 1e9 : 0, error);
            fcl::DistanceResultd result;
            return fcl::distance(moving.get(), there, fixed.get(), here, request, result) / scale;
        }
        const fcl::CollisionRequestd request(1, false);
        fcl::CollisionResultd result;
        return static_cast<double>(
            fcl::collide(moving.get(), there, fixed.get(), here, request, result));
    }
    std::shared_ptr<Tree> fixed, moving;
    bool distance;
    double error; // of the distance
};

// ---- single precision ----

struct Floats {
    explicit Floats(const flr_mesh &mesh)
    {
        for (uint32_t i = 0; i < mesh.vertex_count; i++) {
            const flr_vec3 &p = mesh.vertices[i];
            for (double x : {p.x, p.y, p.z}) points.push_back(static_cast<float>(x * scale));
        }
        for (uint32_t i = 0; i < mesh.triangle_count; i++)
            for (uint32_t v : mesh.triangles[i].v) indices.push_back(static_cast<int>(v));
    }
    int point_count() const { return static_cast<int>(points.size() / 3); }
    int triangle_count() const { return static_cast<int>(indices.size() / 3); }
    std::vector<float> points;
    std::vector<int> indices;
};

// ---- ODE ----

struct Ode : flr_fit_peer {
    Ode(const flr_mesh &fixed_mesh, const flr_mesh &moving_mesh)
        : meshes{Floats(fixed_mesh), Floats(moving_mesh)}, contacts(65535)
    {
        for (int i = 0; i < 2; i++) {
            data[i] = dGeomTriMeshDataCreate();
            indices[i].assign(meshes[i].indices.begin(), meshes[i].indices.end());
            dGeomTriMeshDataBuildSingle(data[i], meshes[i].points.data(), 3 * sizeof(float),
                                        meshes[i].point_count(), indices[i].data(),
                                        static_cast<int>(indices[i].size()), 3 * sizeof(dTriIndex));
            geoms[i] = dCreateTriMesh(nullptr, data[i], nullptr, nullptr, nullptr);
        }
    }
    ~Ode() override
    {
        for (int i = 0; i < 2; i++) dGeomDestroy(geoms[i]), dGeomTriMeshDataDestroy(data[i]);
    }
    double query(const flr_pose &T) override
    {
        const dQuaternion q = {static_cast<dReal>(T.q.w), static_cast<dReal>(T.q.x),
                               static_cast<dReal>(T.q.y), static_cast<dReal>(T.q.z)};
        dGeomSetPosition(geoms[1], static_cast<dReal>(T.p.x * scale),
                         static_cast<dReal>(T.p.y * scale), static_cast<dReal>(T.p.z * scale));
        dGeomSetQuaternion(geoms[1], q);
        return dCollide(geoms[1], geoms[0], static_cast<int>(contacts.size()), contacts.data(),
                        sizeof(dContactGeom));
    }
    Floats meshes[2];
    std::vector<dTriIndex> indices[2];
    dTriMeshDataID data[2];
    dGeomID geoms[2];
    std::vector<dContactGeom> contacts;
};

// ---- Bullet ----

struct Count : btManifoldResult {
    using btManifoldResult::btManifoldResult;
    void addContactPoint(const btVector3 &normal, const btVector3 &point, btScalar depth) override
    {
        touching += depth <= 0;
        btManifoldResult::addContactPoint(normal, point, depth);
    }
    int touching = 0;
};

struct Bullet : flr_fit_peer {
    Bullet(const flr_mesh &fixed_mesh, const flr_mesh &moving_mesh, double tolerance)
        : dispatcher(&configuration), meshes{Floats(fixed_mesh), Floats(moving_mesh)}
    {
        btGImpactCollisionAlgorithm::registerAlgorithm(&dispatcher);
        for (int i = 0; i < 2; i++) {
            arrays[i] = std::make_unique<btTriangleIndexVertexArray>(
                meshes[i].triangle_count(), meshes[i].indices.data(), 3 * sizeof(int),
                meshes[i].point_count(), meshes[i].points.data(), 3 * sizeof(float));
            shapes[i] = std::make_unique<btGImpactMeshShape>(arrays[i].get());
            shapes[i]->setMargin(static_cast<btScalar>(0.5 * tolerance * scale));
            shapes[i]->updateBound();
            objects[i].setCollisionShape(shapes[i].get());
        }
        const btCollisionObjectWrapper fixed = wrap(0), moving = wrap(1);
        algorithm = dispatcher.findAlgorithm(&moving, &fixed, nullptr, BT_CONTACT_POINT_ALGORITHMS);
    }
    ~Bullet() override
    {
        algorithm->~btCollisionAlgorithm();
        dispatcher.freeCollisionAlgorithm(algorithm);
    }
    double query(const flr_pose &T) override
    {
        const btQuaternion q(static_cast<btScalar>(T.q.x), static_cast<btScalar>(T.q.y),
                             static_cast<btScalar>(T.q.z), static_cast<btScalar>(T.q.w));
        const btVector3 p(static_cast<btScalar>(T.p.x * scale),
                          static_cast<btScalar>(T.p.y * scale),
                          static_cast<btScalar>(T.p.z * scale));
        objects[1].setWorldTransform(btTransform(q, p));
        const btCollisionObjectWrapper fixed = wrap(0), moving = wrap(1);
        Count count(&moving, &fixed);
        algorithm->processCollision(&moving, &fixed, info, &count);
        return count.touching;
    }
    btCollisionObjectWrapper wrap(int i) const
    {
        return {nullptr, shapes[i].get(), &objects[i], objects[i].getWorldTransform(), -1, -1};
    }
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher;
    Floats meshes[2];
    std::unique_ptr<btTriangleIndexVertexArray> arrays[2];
    std::unique_ptr<btGImpactMeshShape> shapes[2];
    btCollisionObject objects[2];
    btCollisionAlgorithm *algorithm;
    btDispatcherInfo info;
};

const char *const names[] = {"FCL collide", "FCL distance", "ODE collide", "Bullet GImpact"};
} // namespace

size_t flr_fit_peer_count(void) { return sizeof names / sizeof *names; }

const char *flr_fit_peer_name(size_t index) { return names[index]; }

bool flr_fit_peer_gives_distance(size_t index) { return index == 1; }

bool flr_fit_peer_takes_tolerance(size_t index) { return index == 1 || index == 3; }

flr_fit_peer *flr_fit_peer_create(size_t index, const flr_mesh *fixed, const flr_mesh *moving,
                                  double tolerance)
{
    static const bool ready = [] {
        dInitODE2(0);
        // one message for each bucket that overflows: millions
        dSetMessageHandler([](int, const char *, va_list) {});
        return true;
    }();
    (void)ready;
    if (index < 2) return new Fcl(*fixed, *moving, index == 1, tolerance);
    if (index == 2) return new Ode(*fixed, *moving);
    return new Bullet(*fixed, *moving, tolerance);
}

double flr_fit_peer_query(flr_fit_peer *peer, flr_pose T_world_part)
{
    return peer->query(T_world_part);
}

void flr_fit_peer_destroy(flr_fit_peer *peer) { delete peer; }
