// make_assembly FOLDER: writes assemblies as STEP files of three schemas, with nested, repeated, mirrored,
// unnamed and empty parts, colours, hidden parts and names in several scripts.
// make_assembly --tree FILE: prints what OpenCASCADE's own document explorer reports of a STEP file, a line
// for each node: depth, "part" or "group", colour or "-", place (mm) and turn, name.
// make_assembly --skid FILE: writes an assembly of 200 parts: a base plate, a cover over it, a pump with four
// screws in holes of their own diameter, and rows of bolts with washers and nuts. One pipe runs into a bracket.
// make_assembly --nominal FILE: writes a rod of 10 mm in the holes of 10 mm of a bracket and of two nuts.
#include <BRepAlgoAPI_Cut.hxx>
#include <BRepAlgoAPI_Fuse.hxx>
#include <BRepBuilderAPI_Transform.hxx>
#include <BRepPrimAPI_MakeBox.hxx>
#include <BRepPrimAPI_MakeCylinder.hxx>
#include <BRep_Builder.hxx>
#include <Interface_Static.hxx>
#include <Message.hxx>
#include <Message_Messenger.hxx>
#include <Message_Printer.hxx>
#include <STEPCAFControl_Reader.hxx>
#include <STEPCAFControl_Writer.hxx>
#include <TDataStd_Name.hxx>
#include <TDocStd_Document.hxx>
#include <TopExp_Explorer.hxx>
#include <TopoDS_Compound.hxx>
#include <XCAFApp_Application.hxx>
#include <XCAFDoc_ColorTool.hxx>
#include <XCAFDoc_DocumentTool.hxx>
#include <XCAFDoc_ShapeTool.hxx>
#include <XCAFPrs_DocumentExplorer.hxx>
#include <gp_Ax2.hxx>
#include <gp_Quaternion.hxx>

#include <cstdio>
#include <cstring>
#include <string>

namespace
{

Handle(TDocStd_Document) new_document()
{
    Handle(TDocStd_Document) document;
    XCAFApp_Application::GetApplication()->NewDocument("BinXCAF", document);
    XCAFDoc_ShapeTool::SetAutoNaming(Standard_False);
    return document;
}

TCollection_ExtendedString utf8(const char *text)
{
    return TCollection_ExtendedString(text, Standard_True);
}

gp_Trsf placed(double x, double y, double z, double turn = 0)
{
    gp_Trsf place, rotation;
    rotation.SetRotation(gp_Ax1(gp_Pnt(0, 0, 0), gp_Dir(0.6, 0, 0.8)), turn);
    place.SetTranslation(gp_Vec(x, y, z));
    return place * rotation;
}

bool write(const std::string &path, const char *schema)
{
    Handle(TDocStd_Document) document = new_document();
    Handle(XCAFDoc_ShapeTool) tool = XCAFDoc_DocumentTool::ShapeTool(document->Main());
    Handle(XCAFDoc_ColorTool) colours = XCAFDoc_DocumentTool::ColorTool(document->Main());
    TopoDS_Shape box = BRepPrimAPI_MakeBox(10, 20, 30).Shape();
    TDF_Label plate = tool->AddShape(box, Standard_False);
    TDF_Label bolt = tool->AddShape(BRepPrimAPI_MakeCylinder(3, 25).Shape(), Standard_False);
    gp_Trsf mirror;
    mirror.SetMirror(gp_Ax2(gp_Pnt(0, 0, 0), gp_Dir(1, 0, 0)));
    TDF_Label left = tool->AddShape(BRepBuilderAPI_Transform(box, mirror, Standard_True).Shape(),
                                    Standard_False);
    TDF_Label plain = tool->AddShape(BRepPrimAPI_MakeBox(5, 5, 5).Shape(), Standard_False);
    TDataStd_Name::Set(plate, utf8("Grundplatte Größe 2"));
    TDataStd_Name::Set(bolt, utf8("螺栓"));
    TDataStd_Name::Set(left, utf8("крышка"));
    colours->SetColor(plate, Quantity_Color(1, 0.5, 0, Quantity_TOC_sRGB), XCAFDoc_ColorSurf);
    colours->SetColor(bolt, Quantity_Color(0.2, 0.4, 0.6, Quantity_TOC_sRGB), XCAFDoc_ColorSurf);

    TDF_Label pair = tool->NewShape(), inner = tool->NewShape(), root = tool->NewShape();
    TDataStd_Name::Set(pair, "bolt pair");
    TDataStd_Name::Set(inner, "inner");
    TDataStd_Name::Set(root, utf8("ポンプ"));
    tool->AddComponent(pair, bolt, TopLoc_Location(placed(0, 0, 0)));
    tool->AddComponent(pair, bolt, TopLoc_Location(placed(40, 0, 0, 0.7)));
    tool->AddComponent(inner, pair, TopLoc_Location(placed(0, 50, 0, -1.1)));
    tool->AddComponent(inner, plain, TopLoc_Location(placed(7, 8, 9, 0.3)));
    tool->AddComponent(root, plate, TopLoc_Location(placed(0, 0, 0)));
    tool->AddComponent(root, plate, TopLoc_Location(placed(100, 0, 0, 2.0)));
    tool->AddComponent(root, left, TopLoc_Location(placed(0, -60, 0)));
    tool->AddComponent(root, inner, TopLoc_Location(placed(0, 0, 80, 0.4)));
    tool->AddComponent(root, inner, TopLoc_Location(placed(0, 0, 160)));
    TopoDS_Compound nothing;
    BRep_Builder().MakeCompound(nothing);
    TDF_Label empty = tool->AddShape(nothing, Standard_False);
    TDataStd_Name::Set(empty, "empty");
    tool->AddComponent(root, empty, TopLoc_Location());
    tool->UpdateAssemblies();

    STEPCAFControl_Writer writer;
    Interface_Static::SetCVal("write.step.schema", schema);
    Interface_Static::SetCVal("write.step.unit", "MM");
    return writer.Transfer(document) && writer.Write(path.c_str()) == IFSelect_RetDone;
}

TopoDS_Shape box(double x, double y, double z, double width, double depth, double height)
{
    return BRepPrimAPI_MakeBox(gp_Pnt(x, y, z), width, depth, height).Shape();
}

TopoDS_Shape rod(double x, double y, double z, double radius, double length)
{
    return BRepPrimAPI_MakeCylinder(gp_Ax2(gp_Pnt(x, y, z), gp_Dir(0, 0, 1)), radius, length)
        .Shape();
}

TopoDS_Shape join(const TopoDS_Shape &a, const TopoDS_Shape &b)
{
    return BRepAlgoAPI_Fuse(a, b).Shape();
}

TopoDS_Shape cut(const TopoDS_Shape &a, const TopoDS_Shape &b)
{
    return BRepAlgoAPI_Cut(a, b).Shape();
}

/** parts of a document, and instances of them in its root */
struct skid {
    Handle(TDocStd_Document) document = new_document();
    Handle(XCAFDoc_ShapeTool) tool = XCAFDoc_DocumentTool::ShapeTool(document->Main());
    Handle(XCAFDoc_ColorTool) colours = XCAFDoc_DocumentTool::ColorTool(document->Main());
    TDF_Label root = tool->NewShape();

    TDF_Label part(const char *name, const TopoDS_Shape &shape, double r, double g, double b)
    {
        TDF_Label label = tool->AddShape(shape, Standard_False);
        TDataStd_Name::Set(label, utf8(name));
        colours->SetColor(label, Quantity_Color(r, g, b, Quantity_TOC_sRGB), XCAFDoc_ColorSurf);
        return label;
    }

    void put(const TDF_Label &part, double x = 0, double y = 0, double z = 0)
    {
        tool->AddComponent(root, part, TopLoc_Location(placed(x, y, z)));
    }
};

bool write_skid(const char *path)
{
    skid made;
    TDataStd_Name::Set(made.root, "pump skid");

    // the base, with the holes of the pump's screws: as wide as the screws are
    TopoDS_Shape base = box(-200, -150, -20, 400, 300, 20);
    for (int i = 0; i < 4; i++)
        base = cut(base, rod(i & 1 ? 30 : -30, i & 2 ? 30 : -30, -15, 3, 20));
    made.put(made.part("base", base, 0.6, 0.65, 0.7));

    TopoDS_Shape flange = box(-40, -40, 0, 80, 80, 8);
    for (int i = 0; i < 4; i++)
        flange = cut(flange, rod(i & 1 ? 30 : -30, i & 2 ? 30 : -30, -1, 3.3, 10));
    made.put(made.part("pump", join(flange, rod(0, 0, 8, 24, 52)), 0.2, 0.45, 0.75));
    TDF_Label screw =
        made.part("pump screw", join(rod(0, 0, 0, 5, 5), rod(0, 0, -18, 3, 18)), 0.9, 0.7, 0.2);
    for (int i = 0; i < 4; i++) made.put(screw, i & 1 ? 30 : -30, i & 2 ? 30 : -30, 8);

    made.put(made.part("cover",
                       cut(box(-100, -100, 0, 200, 200, 90), box(-97, -97, -1, 194, 194, 88)), 0.75,
                       0.3, 0.25));

    // the pipe is 2 mm too long: it ends in the bracket
    made.put(made.part("bracket", box(120, -110, 0, 8, 40, 50), 0.4, 0.6, 0.4));
    TopoDS_Shape pipe =
        BRepPrimAPI_MakeCylinder(gp_Ax2(gp_Pnt(-180, -90, 30), gp_Dir(1, 0, 0)), 6, 302).Shape();
    made.put(made.part("pipe", pipe, 0.8, 0.5, 0.3), 0, -20, 0);

    // 64 bolts with washers, and nuts but for the last, 0.5 mm and more apart
    TDF_Label bolt =
        made.part("bolt", join(rod(0, 0, 6, 5, 4), rod(0, 0, 0, 2.5, 6)), 0.5, 0.5, 0.55);
    TDF_Label washer =
        made.part("washer", cut(rod(0, 0, 3, 5, 1), rod(0, 0, 2, 3, 3)), 0.8, 0.8, 0.8);
    TDF_Label nut =
        made.part("nut", cut(box(-4, -4, 0.5, 8, 8, 2), rod(0, 0, 0, 3, 3)), 0.7, 0.6, 0.5);
    for (int i = 0; i < 64; i++) {
        double x = -190 + 12 * (i % 32), y = i < 32 ? 115 : 135;
        made.put(bolt, x, y, 0);
        made.put(washer, x, y, 0);
        if (i < 63) made.put(nut, x, y, 0);
    }
    made.tool->UpdateAssemblies();

    STEPCAFControl_Writer writer;
    Interface_Static::SetCVal("write.step.schema", "AP214IS");
    Interface_Static::SetCVal("write.step.unit", "MM");
    return writer.Transfer(made.document) && writer.Write(path) == IFSelect_RetDone;
}

bool write_nominal(const char *path)
{
    skid made;
    TDataStd_Name::Set(made.root, "nominal fit");
    TopoDS_Shape bracket = join(box(-30, -30, 0, 60, 60, 10), box(-30, -30, 40, 60, 60, 10));
    bracket = join(bracket, box(-30, -30, 0, 10, 60, 50));
    made.put(made.part("bracket", cut(bracket, rod(0, 0, -1, 5, 52)), 0.5, 0.5, 0.6));
    made.put(made.part("rod", rod(0, 0, -20, 5, 90), 0.8, 0.6, 0.2));
    TDF_Label nut =
        made.part("nut", cut(box(-9, -9, 0, 18, 18, 4), rod(0, 0, -1, 5, 6)), 0.7, 0.7, 0.7);
    made.put(nut, 0, 0, -4);
    made.put(nut, 0, 0, 50);
    made.tool->UpdateAssemblies();
    STEPCAFControl_Writer writer;
    Interface_Static::SetCVal("write.step.schema", "AP214IS");
    Interface_Static::SetCVal("write.step.unit", "MM");
    return writer.Transfer(made.document) && writer.Write(path) == IFSelect_RetDone;
}

void print_tree(const Handle(TDocStd_Document) & document)
{
    for (XCAFPrs_DocumentExplorer nodes(document, XCAFPrs_DocumentExplorerFlags_None); nodes.More();
         nodes.Next()) {
        const XCAFPrs_DocumentNode &node = nodes.Current();
        Handle(TDataStd_Name) name;
        node.RefLabel.FindAttribute(TDataStd_Name::GetID(), name);
        const gp_Trsf place = node.Location.Transformation();
        gp_Quaternion q = place.GetRotation();
        if (q.W() < 0) q = gp_Quaternion(-q.X(), -q.Y(), -q.Z(), -q.W());
        char colour[16] = "-";
        if (!node.IsAssembly && node.Style.IsSetColorSurf()) {
            Standard_Real r, g, b;
            node.Style.GetColorSurf().Values(r, g, b, Quantity_TOC_sRGB);
            std::snprintf(colour, sizeof colour, "%02x%02x%02x", unsigned(r * 255 + 0.5),
                          unsigned(g * 255 + 0.5), unsigned(b * 255 + 0.5));
        }
        TopoDS_Shape shape = XCAFDoc_ShapeTool::GetShape(node.RefLabel);
        bool faces = !shape.IsNull() && TopExp_Explorer(shape, TopAbs_FACE).More();
        char text[2048] = "";
        if (!name.IsNull() && name->Get().LengthOfCString() < int(sizeof text)) {
            char *start = text;
            name->Get().ToUTF8CString(start);
        }
        std::printf("%d %s %s %.6f %.6f %.6f %.6f %.6f %.6f %.6f %s\n", nodes.CurrentDepth(),
                    !node.IsAssembly && faces ? "part" : "group", colour,
                    place.TranslationPart().X(), place.TranslationPart().Y(),
                    place.TranslationPart().Z(), q.W(), q.X(), q.Y(), q.Z(), text);
    }
}

} // namespace

int main(int count, char **arguments)
{
    Message::DefaultMessenger()->RemovePrinters(STANDARD_TYPE(Message_Printer));
    if (count == 3 && std::strcmp(arguments[1], "--tree") == 0) {
        STEPCAFControl_Reader reader;
        reader.SetColorMode(Standard_True);
        reader.SetNameMode(Standard_True);
        Handle(TDocStd_Document) document = new_document();
        if (reader.ReadFile(arguments[2]) != IFSelect_RetDone || !reader.Transfer(document))
            return 1;
        print_tree(document);
        return 0;
    }
    if (count == 3 && std::strcmp(arguments[1], "--skid") == 0)
        return write_skid(arguments[2]) ? 0 : 1;
    if (count == 3 && std::strcmp(arguments[1], "--nominal") == 0)
        return write_nominal(arguments[2]) ? 0 : 1;
    if (count != 2) {
        std::fprintf(stderr,
                     "use: make_assembly FOLDER, or make_assembly --tree|--skid|--nominal FILE\n");
        return 2;
    }
    std::string folder = arguments[1];
    bool ok = write(folder + "/ap203.step", "AP203") && write(folder + "/ap214.step", "AP214IS") &&
              write(folder + "/ap242.step", "AP242DIS");
    return ok ? 0 : 1;
}
