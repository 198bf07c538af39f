// Triangles of shapes, also where a face resists.
#include "occt_walk.hpp"

#include <BRepBuilderAPI_Copy.hxx>
#include <BRepBuilderAPI_MakeFace.hxx>
#include <BRepGProp.hxx>
#include <BRepMesh_IncrementalMesh.hxx>
#include <BRepTools.hxx>
#include <BRep_Tool.hxx>
#include <GProp_GProps.hxx>
#include <Poly_Triangulation.hxx>
#include <Precision.hxx>
#include <ShapeFix_Shape.hxx>
#include <Standard_Failure.hxx>
#include <TopExp_Explorer.hxx>
#include <TopoDS.hxx>

#include <cmath>

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

double exact_area(const TopoDS_Shape &shape)
{
    GProp_GProps properties;
    BRepGProp::SurfaceProperties(shape, properties);
    return properties.Mass();
}

double meshed_area(const TopoDS_Shape &shape)
{
    double area = 0;
    for (TopExp_Explorer faces(shape, TopAbs_FACE); faces.More(); faces.Next())
        area += triangle_area(TopoDS::Face(faces.Current()));
    return area;
}

// A face without curves of its own: the rectangle of parameters that it fills, which leaves nothing to go wrong on its
// border. Null if it does not fill its rectangle.
TopoDS_Shape rebuilt(const TopoDS_Face &face, double area)
{
    double u0, u1, v0, v1;
    BRepTools::UVBounds(face, u0, u1, v0, v1);
    BRepBuilderAPI_MakeFace maker(BRep_Tool::Surface(face), u0, u1, v0, v1, Precision::Confusion());
    if (!maker.IsDone()) return TopoDS_Shape();
    TopoDS_Shape made = maker.Shape();
    if (std::fabs(exact_area(made) - area) > 1e-6 * area) return TopoDS_Shape();
    return made.Oriented(face.Orientation());
}

// Triangles at a coarse tolerance may have little in common with the face.
bool is_like(const TopoDS_Shape &shape, double area)
{
    double meshed = meshed_area(shape);
    return meshed > 0.5 * area && meshed < 1.5 * area;
}

} // namespace

double triangle_area(const TopoDS_Face &face)
{
    TopLoc_Location location;
    Handle(Poly_Triangulation) triangles = BRep_Tool::Triangulation(face, location);
    double area = 0;
    for (Standard_Integer i = 1; !triangles.IsNull() && i <= triangles->NbTriangles(); ++i) {
        Standard_Integer a, b, c;
        triangles->Triangle(i).Get(a, b, c);
        gp_Vec u(triangles->Node(a), triangles->Node(b)), v(triangles->Node(a), triangles->Node(c));
        area += u.Crossed(v).Magnitude() / 2;
    }
    return area;
}

void mesh_shape(const TopoDS_Shape &shape, double tolerance)
{
    if (BRepTools::Triangulation(shape, Precision::Infinite())) return;
    cut(shape, tolerance, max_turn);
}

TopoDS_Shape heal_face(const TopoDS_Shape &shape, double tolerance)
{
    // near the tolerance first: a surface that folds at one may be fine at another
    static const double factors[] = {0.3, 3, 0.1, 10, 100, 1000};
    try {
        const TopoDS_Face &face = TopoDS::Face(shape);
        double area = exact_area(face);
        TopoDS_Shape start = rebuilt(face, area);
        if (!start.IsNull() && cut(start, tolerance, max_turn) && is_like(start, area))
            return start;
        for (bool fix : {false, true}) {
            start = fresh(face);
            if (fix) {
                ShapeFix_Shape fixer(start);
                fixer.Perform();
                start = fixer.Shape();
                if (start.IsNull()) return TopoDS_Shape();
                if (cut(start, tolerance, max_turn) && is_like(start, area)) return start;
            }
            for (double factor : factors) {
                TopoDS_Shape copy = fresh(start);
                if (cut(copy, tolerance * factor, factor < 1 ? max_turn / 2 : max_turn) &&
                    is_like(copy, area))
                    return copy;
            }
        }
    } catch (const Standard_Failure &) {
        // what cannot be healed is left out
    }
    return TopoDS_Shape();
}
