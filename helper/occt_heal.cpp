// Triangles of shapes, also where a face resists.
#include "occt_walk.hpp"

#include <BRepBuilderAPI_Copy.hxx>
#include <BRepMesh_IncrementalMesh.hxx>
#include <BRepTools.hxx>
#include <BRep_Tool.hxx>
#include <Poly_Triangulation.hxx>
#include <Precision.hxx>
#include <ShapeFix_Shape.hxx>
#include <Standard_Failure.hxx>
#include <TopExp_Explorer.hxx>
#include <TopoDS.hxx>

namespace
{

constexpr double max_turn = 0.5; // radians between neighbouring triangles

// cuts into triangles; false if a face has none afterwards
bool cut(const TopoDS_Shape &shape, double tolerance, double turn)
{
    try {
        BRepMesh_IncrementalMesh(shape, tolerance, Standard_False, turn, Standard_False);
    } catch (const Standard_Failure &) {
        return false;
    }
    bool any = false;
    for (TopExp_Explorer faces(shape, TopAbs_FACE); faces.More(); faces.Next()) {
        TopLoc_Location location;
        if (BRep_Tool::Triangulation(TopoDS::Face(faces.Current()), location).IsNull())
            return false;
        any = true;
    }
    return any;
}

// a copy without the triangles and the discretized edges of the attempt before
TopoDS_Shape fresh(const TopoDS_Shape &face)
{
    return BRepBuilderAPI_Copy(face, Standard_True, Standard_False).Shape();
}

} // namespace

void mesh_shape(const TopoDS_Shape &shape, double tolerance)
{
    if (BRepTools::Triangulation(shape, Precision::Infinite())) return;
    cut(shape, tolerance, max_turn);
}

TopoDS_Shape heal_face(const TopoDS_Shape &face, double tolerance)
{
    // finer first: a surface that folds at one tolerance may be fine at another
    static const double factors[] = {0.1, 10, 100};
    try {
        for (bool fix : {false, true}) {
            TopoDS_Shape start = fresh(face);
            if (fix) {
                ShapeFix_Shape fixer(start);
                fixer.Perform();
                start = fixer.Shape();
                if (start.IsNull()) return TopoDS_Shape();
                if (cut(start, tolerance, max_turn)) return start;
            }
            for (double factor : factors) {
                TopoDS_Shape copy = fresh(start);
                if (cut(copy, tolerance * factor, factor < 1 ? max_turn / 2 : max_turn))
                    return copy;
            }
        }
    } catch (const Standard_Failure &) {
        // what cannot be healed is left out
    }
    return TopoDS_Shape();
}
