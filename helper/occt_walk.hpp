// occt_walk.hpp: an OpenCASCADE document as shapes and a tree. Private to the readers of OpenCASCADE.
#pragma once

#include "collect.h"

#include <TDF_Label.hxx>
#include <TDocStd_Document.hxx>
#include <TopLoc_Location.hxx>
#include <TopoDS_Face.hxx>
#include <TopoDS_Shape.hxx>
#include <XCAFDoc_ColorTool.hxx>
#include <XCAFDoc_LayerTool.hxx>
#include <XCAFDoc_ShapeTool.hxx>

#include <array>
#include <map>
#include <string>
#include <tuple>

// A shape that was collected: its geometry, its direction, and what its placement does beyond a rigid motion.
using ShapeKey = std::tuple<const void *, int, std::array<double, 9>>;

// What is collected and by which rules. Shapes are in millimetres of OpenCASCADE; `metres` is the
// length of such a millimetre.
struct Walk {
    flr_collect *collect;
    double chord; // metres; 0: by size
    double metres = 0.001;
    Handle(XCAFDoc_ShapeTool) tool;
    Handle(XCAFDoc_ColorTool) colours;
    Handle(XCAFDoc_LayerTool) layers;
    std::map<ShapeKey, uint32_t> shapes;
};

// One part: `shape` in its own frame, `place` where it stands, `node` with parent, colour and hidden.
// The same shape is cut into triangles once, wherever it stands.
void add_part(Walk &walk, const TopoDS_Shape &shape, const TopLoc_Location &place,
              const std::string &name, flr_stream_node node);

// All free shapes of a document, as trees.
void add_document(Walk &walk, const Handle(TDocStd_Document) & document);

// Cuts a shape in its own frame into triangles, as far as that is possible. `tolerance` is a length in the shape's millimetres.
void mesh_shape(const TopoDS_Shape &shape, double tolerance);

// The area of a face's triangles; 0 where it has none.
double triangle_area(const TopoDS_Face &face);

// A copy, with triangles, of a face that mesh_shape() could not cut: made anew of its surface, fixed, or meshed at another
// tolerance. Null where nothing helps.
TopoDS_Shape heal_face(const TopoDS_Shape &face, double tolerance);
