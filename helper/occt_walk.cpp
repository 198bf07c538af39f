// An OpenCASCADE document as shapes and a tree: names, placements, colours, what is hidden.
#include "occt_walk.hpp"

#include <BRepBndLib.hxx>
#include <BRep_Tool.hxx>
#include <Bnd_Box.hxx>
#include <Poly_Triangulation.hxx>
#include <Quantity_Color.hxx>
#include <Standard_Failure.hxx>
#include <TDF_LabelSequence.hxx>
#include <TDataStd_Name.hxx>
#include <TopExp_Explorer.hxx>
#include <TopoDS.hxx>
#include <XCAFDoc_DocumentTool.hxx>
#include <gp_Quaternion.hxx>

#include <algorithm>
#include <cmath>
#include <vector>

namespace
{

std::string name_of(const TDF_Label &label)
{
    Handle(TDataStd_Name) attribute;
    if (label.IsNull() || !label.FindAttribute(TDataStd_Name::GetID(), attribute)) return "";
    const TCollection_ExtendedString &text = attribute->Get();
    std::vector<char> bytes(static_cast<size_t>(text.LengthOfCString()) + 1, 0);
    char *start = bytes.data();
    text.ToUTF8CString(start);
    return bytes.data();
}

// ---- placements ----

bool is_rigid(const gp_Trsf &place)
{
    return !place.IsNegative() && std::fabs(place.ScaleFactor() - 1) <= 1e-9;
}

// a mirrored or scaled placement has no turn of its own: that belongs to the shape
flr_pose pose_of(const gp_Trsf &place, double metres)
{
    const gp_XYZ &p = place.TranslationPart();
    flr_pose pose = {{p.X() * metres, p.Y() * metres, p.Z() * metres}, {1, 0, 0, 0}};
    if (!(std::fabs(pose.p.x) <= FLR_MESH_MAX_COORDINATE &&
          std::fabs(pose.p.y) <= FLR_MESH_MAX_COORDINATE &&
          std::fabs(pose.p.z) <= FLR_MESH_MAX_COORDINATE))
        throw Standard_Failure("a part stands too far out");
    if (!is_rigid(place)) return pose;
    gp_Quaternion q = place.GetRotation();
    q.Normalize();
    double sign = q.W() < 0 ? -1 : 1;
    pose.q = {sign * q.W(), sign * q.X(), sign * q.Y(), sign * q.Z()};
    return pose;
}

// what a placement does to the shape itself; identity for a rigid one
gp_Trsf reshaping(const gp_Trsf &place)
{
    if (is_rigid(place)) return gp_Trsf();
    gp_Trsf linear = place;
    linear.SetTranslationPart(gp_Vec(0, 0, 0));
    return linear;
}

// ---- triangles ----

// how far triangles may stray, in the shape's millimetres
double tolerance_of(const Walk &walk, const TopoDS_Shape &shape)
{
    Bnd_Box box;
    BRepBndLib::Add(shape, box, Standard_False);
    double size = box.IsVoid() ? 1 : std::sqrt(box.SquareExtent());
    if (!(size > 0) || !std::isfinite(size)) size = 1;
    double chord = walk.chord > 0 ? walk.chord / walk.metres : size / 1000;
    // finer than this is beyond the modeller's own precision
    return std::max(chord, size * 1e-6);
}

// the triangles of a face; false if it has none
bool add_face(Walk &walk, const TopoDS_Face &face, const gp_Trsf &change)
{
    TopLoc_Location location;
    Handle(Poly_Triangulation) triangles = BRep_Tool::Triangulation(face, location);
    if (triangles.IsNull()) return false;
    gp_Trsf whole = change * location.Transformation();
    std::vector<uint32_t> index(static_cast<size_t>(triangles->NbNodes()));
    for (Standard_Integer i = 1; i <= triangles->NbNodes(); ++i) {
        gp_Pnt p = triangles->Node(i).Transformed(whole);
        index[static_cast<size_t>(i - 1)] = flr_collect_vertex(
            walk.collect, {p.X() * walk.metres, p.Y() * walk.metres, p.Z() * walk.metres});
    }
    bool flip = (face.Orientation() == TopAbs_REVERSED) != whole.IsNegative();
    for (Standard_Integer i = 1; i <= triangles->NbTriangles(); ++i) {
        Standard_Integer a, b, c;
        triangles->Triangle(i).Get(a, b, c);
        if (flip) std::swap(b, c);
        flr_collect_triangle(walk.collect, index[static_cast<size_t>(a - 1)],
                             index[static_cast<size_t>(b - 1)], index[static_cast<size_t>(c - 1)]);
    }
    return true;
}

// the number of a shape, which is collected where it is met for the first time
uint32_t shape_of(Walk &walk, const TopoDS_Shape &shape, const gp_Trsf &change,
                  const std::string &name)
{
    ShapeKey key{shape.TShape().get(), static_cast<int>(shape.Orientation()), {}};
    const gp_Mat &linear = change.HVectorialPart();
    for (int i = 0; i < 9; ++i)
        std::get<2>(key)[static_cast<size_t>(i)] =
            linear.Value(i / 3 + 1, i % 3 + 1) * change.ScaleFactor();
    auto known = walk.shapes.find(key);
    if (known != walk.shapes.end()) return known->second;

    double tolerance = tolerance_of(walk, shape);
    mesh_shape(shape, tolerance);
    uint32_t number = flr_collect_shape(walk.collect, name.c_str());
    flr_collect_chord(walk.collect, tolerance * walk.metres * std::fabs(change.ScaleFactor()));
    unsigned count = 0, skipped = 0;
    for (TopExp_Explorer faces(shape, TopAbs_FACE); faces.More(); faces.Next(), ++count) {
        if (add_face(walk, TopoDS::Face(faces.Current()), change)) continue;
        TopoDS_Shape healed = heal_face(faces.Current(), tolerance);
        bool whole = !healed.IsNull();
        for (TopExp_Explorer parts(healed, TopAbs_FACE); whole && parts.More(); parts.Next())
            whole = add_face(walk, TopoDS::Face(parts.Current()), change);
        skipped += !whole;
    }
    if (skipped) {
        walk.collect->content.head.faces_skipped += skipped;
        flr_collect_note(walk.collect,
                         "part '%.200s': %u of %u faces cannot be meshed and %s left out",
                         name.c_str(), skipped, count, skipped == 1 ? "is" : "are");
    }
    walk.shapes[key] = number;
    return number;
}

// ---- colours ----

uint32_t srgb(const Quantity_Color &colour)
{
    Standard_Real red, green, blue;
    colour.Values(red, green, blue, Quantity_TOC_sRGB);
    return flr_collect_colour(red, green, blue);
}

const XCAFDoc_ColorType kinds[] = {XCAFDoc_ColorSurf, XCAFDoc_ColorGen};

uint32_t own_colour(const Walk &walk, const TDF_Label &label)
{
    Quantity_Color colour;
    for (XCAFDoc_ColorType kind : kinds)
        if (!walk.colours.IsNull() && walk.colours->GetColor(label, kind, colour))
            return srgb(colour);
    return FLR_STREAM_NONE;
}

uint32_t shape_colour(const Walk &walk, const TopoDS_Shape &shape)
{
    Quantity_Color colour;
    for (XCAFDoc_ColorType kind : kinds)
        if (walk.colours->GetColor(shape, kind, colour)) return srgb(colour);
    return FLR_STREAM_NONE;
}

// Of a part whose solids or faces are coloured: the colour of most of its surface.
uint32_t main_colour(const Walk &walk, const TDF_Label &label, const TopoDS_Shape &shape)
{
    TDF_LabelSequence coloured;
    if (walk.colours.IsNull() || !walk.tool->GetSubShapes(label, coloured)) return FLR_STREAM_NONE;
    std::map<uint32_t, double> areas;
    auto add = [&](const TopoDS_Shape &within, uint32_t fallback) {
        for (TopExp_Explorer faces(within, TopAbs_FACE); faces.More(); faces.Next()) {
            uint32_t own = shape_colour(walk, faces.Current());
            uint32_t colour = own != FLR_STREAM_NONE ? own : fallback;
            if (colour != FLR_STREAM_NONE)
                areas[colour] += triangle_area(TopoDS::Face(faces.Current()));
        }
    };
    bool solids = false;
    for (TopExp_Explorer solid(shape, TopAbs_SOLID); solid.More(); solid.Next(), solids = true)
        add(solid.Current(), shape_colour(walk, solid.Current()));
    for (TopExp_Explorer shell(shape, TopAbs_SHELL, TopAbs_SOLID); shell.More(); shell.Next())
        add(shell.Current(), shape_colour(walk, shell.Current()));
    if (!solids && areas.empty()) add(shape, FLR_STREAM_NONE);
    auto most = std::max_element(areas.begin(), areas.end(),
                                 [](const auto &a, const auto &b) { return a.second < b.second; });
    return most == areas.end() ? FLR_STREAM_NONE : most->first;
}

// ---- what is hidden ----

bool is_hidden(const Walk &walk, const TDF_Label &label)
{
    if (!walk.colours.IsNull() && !walk.colours->IsVisible(label)) return true;
    if (walk.layers.IsNull()) return false;
    TDF_LabelSequence layers;
    walk.layers->GetLayers(label, layers);
    for (TDF_LabelSequence::Iterator layer(layers); layer.More(); layer.Next())
        if (!walk.layers->IsVisible(layer.Value())) return true;
    return false;
}

// ---- the tree ----

// What a node gets from those above it.
struct Above {
    TopLoc_Location place;
    uint32_t parent = FLR_STREAM_NONE;
    uint32_t colour = FLR_STREAM_NONE; // where a part has none
    uint32_t given = FLR_STREAM_NONE;  // whatever a part has: that of its instance
    bool hidden = false;
    std::string name; // of an instance, for a part without one
};

// a label of the document: an instance, an assembly with components, or a part
void add_label(Walk &walk, const TDF_Label &label, const Above &above, int depth)
{
    if (depth > 200) throw Standard_Failure("assemblies are nested too deeply");
    Above here = above;
    here.hidden = above.hidden || is_hidden(walk, label);
    TDF_Label referred;
    if (XCAFDoc_ShapeTool::GetReferredShape(label, referred)) {
        here.place = above.place * XCAFDoc_ShapeTool::GetLocation(label);
        here.given = own_colour(walk, label);
        here.name = name_of(label);
        add_label(walk, referred, here, depth + 1);
        return;
    }
    std::string name = name_of(label);
    if (name.empty()) name = above.name;
    uint32_t own = above.given != FLR_STREAM_NONE ? above.given : own_colour(walk, label);
    flr_stream_node node = {};
    node.parent = above.parent;
    node.hidden = here.hidden;
    if (XCAFDoc_ShapeTool::IsAssembly(label)) {
        node.group = node.colour = FLR_STREAM_NONE;
        node.T_root_node = pose_of(above.place.Transformation(), walk.metres);
        here.parent = flr_collect_node(walk.collect, name.c_str(), node);
        here.colour = own != FLR_STREAM_NONE ? own : above.colour;
        here.given = FLR_STREAM_NONE;
        TDF_LabelSequence parts;
        XCAFDoc_ShapeTool::GetComponents(label, parts);
        for (TDF_LabelSequence::Iterator part(parts); part.More(); part.Next())
            add_label(walk, part.Value(), here, depth + 1);
        return;
    }
    TopoDS_Shape shape = XCAFDoc_ShapeTool::GetShape(label);
    if (shape.IsNull()) return;
    TopLoc_Location standing = above.place * shape.Location();
    shape.Location(TopLoc_Location());
    mesh_shape(shape, tolerance_of(walk, shape)); // areas decide the colour
    if (own == FLR_STREAM_NONE) own = main_colour(walk, label, shape);
    node.colour = own != FLR_STREAM_NONE ? own : above.colour;
    add_part(walk, shape, standing, name, node);
}

} // namespace

void add_part(Walk &walk, const TopoDS_Shape &shape, const TopLoc_Location &place,
              const std::string &name, flr_stream_node node)
{
    if (shape.IsNull()) return;
    gp_Trsf standing = place.Transformation();
    TopExp_Explorer faces(shape, TopAbs_FACE);
    node.group = FLR_STREAM_NONE;
    if (faces.More()) node.group = shape_of(walk, shape, reshaping(standing), name);
    node.T_root_node = pose_of(standing, walk.metres);
    flr_collect_node(walk.collect, name.c_str(), node);
}

void add_document(Walk &walk, const Handle(TDocStd_Document) & document)
{
    walk.tool = XCAFDoc_DocumentTool::ShapeTool(document->Main());
    walk.colours = XCAFDoc_DocumentTool::ColorTool(document->Main());
    walk.layers = XCAFDoc_DocumentTool::LayerTool(document->Main());
    TDF_LabelSequence roots;
    walk.tool->GetFreeShapes(roots);
    for (TDF_LabelSequence::Iterator root(roots); root.More(); root.Next())
        add_label(walk, root.Value(), Above(), 0);
}
