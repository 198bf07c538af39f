// What a user could ask instead for the distance of two parts of an assembly: FCL on the triangles that feeler measures, OpenCASCADE
// on the exact solids (least distance) and on triangles of its own (proximity). See bench/clash_peers.h. Lengths are millimetres here.
#include "bench/clash_peers.h"

#include <BRepBuilderAPI_MakeFace.hxx>
#include <BRepBuilderAPI_MakePolygon.hxx>
#include <BRepExtrema_DistShapeShape.hxx>
#include <BRepExtrema_ShapeProximity.hxx>
#include <BRepMesh_IncrementalMesh.hxx>
#include <BRepPrimAPI_MakeBox.hxx>
#include <BRepPrimAPI_MakeRevol.hxx>
#include <TopLoc_Location.hxx>
#include <TopoDS_Shape.hxx>
#include <fcl/fcl.h>
#include <gp_Ax1.hxx>
#include <gp_Quaternion.hxx>

#include <cmath>
#include <memory>
#include <vector>

struct flr_clash_peer {
    virtual ~flr_clash_peer() = default;
    virtual double query(size_t a, const flr_pose &A, size_t b, const flr_pose &B,
                         double clearance) = 0;
};

namespace
{
constexpr double scale = 1e3;   // of metres
constexpr double chord = 0.004; // mm, of OpenCASCADE's triangles: about that of the meshes

// ---- FCL ----

using Tree = fcl::BVHModel<fcl::OBBRSSd>;

struct Fcl : flr_clash_peer {
    Fcl(const flr_mesh *const *meshes, size_t count)
    {
        for (size_t i = 0; i < count; i++) {
            std::vector<fcl::Vector3d> points;
            std::vector<fcl::Triangle> triangles;
            for (uint32_t k = 0; k < meshes[i]->vertex_count; k++) {
                const flr_vec3 &p = meshes[i]->vertices[k];
                points.emplace_back(p.x * scale, p.y * scale, p.z * scale);
            }
            for (uint32_t k = 0; k < meshes[i]->triangle_count; k++) {
                const uint32_t *v = meshes[i]->triangles[k].v;
                triangles.emplace_back(v[0], v[1], v[2]);
            }
            trees.push_back(std::make_shared<Tree>());
            trees.back()->beginModel();
            trees.back()->addSubModel(points, triangles);
            trees.back()->endModel();
        }
    }
    static fcl::Transform3d placed(const flr_pose &T)
    {
        fcl::Transform3d there = fcl::Transform3d::Identity();
        there.linear() = fcl::Quaterniond(T.q.w, T.q.x, T.q.y, T.q.z).toRotationMatrix();
        there.translation() << T.p.x * scale, T.p.y * scale, T.p.z * scale;
        return there;
    }
    double query(size_t a, const flr_pose &A, size_t b, const flr_pose &B,
                 double clearance) override
    {
        const fcl::CollisionRequestd meet(1, false);
        fcl::CollisionResultd met;
        if (fcl::collide(trees[a].get(), placed(A), trees[b].get(), placed(B), meet, met) > 0)
            return 0;
        const fcl::DistanceRequestd request(false, false, 0, 0);
        fcl::DistanceResultd result;
        const double found =
            fcl::distance(trees[a].get(), placed(A), trees[b].get(), placed(B), request, result) /
            scale;
        return found < clearance ? std::fmax(found, 0) : INFINITY;
    }
    std::vector<std::shared_ptr<Tree>> trees;
};

// ---- OpenCASCADE ----

TopoDS_Shape shape_of(const flr_clash_solid &solid)
{
    if (solid.count == 0) {
        const flr_vec3 &s = solid.size;
        return BRepPrimAPI_MakeBox(gp_Pnt(-s.x / 2 * scale, -s.y / 2 * scale, -s.z / 2 * scale),
                                   s.x * scale, s.y * scale, s.z * scale)
            .Shape();
    }
    BRepBuilderAPI_MakePolygon outline;
    for (uint32_t i = 0; i < solid.count; i++)
        outline.Add(gp_Pnt(solid.r[i] * scale, 0, solid.z[i] * scale));
    outline.Close();
    return BRepPrimAPI_MakeRevol(BRepBuilderAPI_MakeFace(outline.Wire()).Face(),
                                 gp_Ax1(gp_Pnt(0, 0, 0), gp_Dir(0, 0, 1)))
        .Shape();
}

struct Solids : flr_clash_peer {
    Solids(const flr_clash_solid *solids, size_t count, bool only_near) : near(only_near)
    {
        for (size_t i = 0; i < count; i++) {
            shapes.push_back(shape_of(solids[i]));
            if (near) BRepMesh_IncrementalMesh(shapes.back(), chord, Standard_False, 0.5);
        }
    }
    static TopLoc_Location placed(const flr_pose &T)
    {
        gp_Trsf there;
        there.SetTransformation(gp_Quaternion(T.q.x, T.q.y, T.q.z, T.q.w),
                                gp_Vec(T.p.x * scale, T.p.y * scale, T.p.z * scale));
        return there;
    }
    double query(size_t a, const flr_pose &A, size_t b, const flr_pose &B,
                 double clearance) override
    {
        const TopoDS_Shape one = shapes[a].Located(placed(A)), other = shapes[b].Located(placed(B));
        if (near) {
            BRepExtrema_ShapeProximity proximity(one, other, clearance * scale);
            proximity.Perform();
            return proximity.IsDone() && !proximity.OverlapSubShapes1().IsEmpty() ? 0 : INFINITY;
        }
        const BRepExtrema_DistShapeShape least(one, other);
        const double found = least.IsDone() ? least.Value() / scale : INFINITY;
        return found < clearance ? found : INFINITY;
    }
    std::vector<TopoDS_Shape> shapes;
    bool near;
};

} // namespace

extern "C" {
size_t flr_clash_peer_count(void) { return 3; }

const char *flr_clash_peer_name(size_t index)
{
    static const char *const names[] = {"FCL", "OpenCASCADE distance", "OpenCASCADE proximity"};
    return names[index];
}

bool flr_clash_peer_gives_distance(size_t index) { return index < 2; }

flr_clash_peer *flr_clash_peer_create(size_t index, const flr_clash_solid *solids,
                                      const flr_mesh *const *meshes, size_t count)
{
    if (index == 0) return new Fcl(meshes, count);
    return new Solids(solids, count, index == 2);
}

double flr_clash_peer_query(flr_clash_peer *peer, size_t a, flr_pose T_world_a, size_t b,
                            flr_pose T_world_b, double clearance)
{
    return peer->query(a, T_world_a, b, T_world_b, clearance);
}

void flr_clash_peer_destroy(flr_clash_peer *peer) { delete peer; }
}
