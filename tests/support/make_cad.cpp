// make_cad FOLDER: writes STEP, IGES and BREP files for the tests of the import helper.
//
//   assembly.step   product "gearbox": a block 10 × 20 × 30 mm, named "block", twice (as is, and
//                   turned 90° about z, then moved by 100, 50, 25 mm), and a ball of radius 12.5 mm,
//                   named "ball", moved by 0, 0, 60 mm
//   inch.step       the same, stated in inches
//   block.iges      the block, in millimetres
//   ball.brep       the ball
//   mirrored.brep   a compound: the block, and the block mirrored at the plane x = 0
//   endless.brep    a compound: the block, and a plane without an edge, which cannot be meshed
//   203.step, 242.step   the assembly as AP203 and AP242
#include <BRepBuilderAPI_MakeFace.hxx>
#include <BRepBuilderAPI_Transform.hxx>
#include <BRepPrimAPI_MakeBox.hxx>
#include <BRepPrimAPI_MakeSphere.hxx>
#include <BRepTools.hxx>
#include <BRep_Builder.hxx>
#include <IGESControl_Writer.hxx>
#include <Interface_Static.hxx>
#include <STEPCAFControl_Writer.hxx>
#include <STEPControl_Controller.hxx>
#include <TDataStd_Name.hxx>
#include <TDocStd_Document.hxx>
#include <TopoDS_Compound.hxx>
#include <XCAFApp_Application.hxx>
#include <XCAFDoc_DocumentTool.hxx>
#include <XCAFDoc_ShapeTool.hxx>
#include <gp_Ax1.hxx>
#include <gp_Ax2.hxx>
#include <gp_Pln.hxx>

#include <cstdio>
#include <string>

static bool write_assembly(const std::string &path, const char *unit,
                           const char *schema = "AP214IS")
{
    Handle(TDocStd_Document) document;
    XCAFApp_Application::GetApplication()->NewDocument("BinXCAF", document);
    Handle(XCAFDoc_ShapeTool) tool = XCAFDoc_DocumentTool::ShapeTool(document->Main());
    TDF_Label block = tool->AddShape(BRepPrimAPI_MakeBox(10, 20, 30).Shape(), Standard_False);
    TDF_Label ball = tool->AddShape(BRepPrimAPI_MakeSphere(12.5).Shape(), Standard_False);
    TDF_Label gearbox = tool->NewShape();
    TDataStd_Name::Set(block, "block");
    TDataStd_Name::Set(ball, "ball");
    TDataStd_Name::Set(gearbox, "gearbox");

    gp_Trsf turn, move, up;
    turn.SetRotation(gp_Ax1(gp_Pnt(0, 0, 0), gp_Dir(0, 0, 1)), M_PI / 2);
    move.SetTranslation(gp_Vec(100, 50, 25));
    up.SetTranslation(gp_Vec(0, 0, 60));
    tool->AddComponent(gearbox, block, TopLoc_Location());
    tool->AddComponent(gearbox, block, TopLoc_Location(move * turn));
    tool->AddComponent(gearbox, ball, TopLoc_Location(up));
    tool->UpdateAssemblies();

    STEPControl_Controller::Init();
    Interface_Static::SetCVal("write.step.schema", schema); // a writer begins with it
    STEPCAFControl_Writer writer;
    Interface_Static::SetCVal("write.step.unit", unit);
    return writer.Transfer(document) && writer.Write(path.c_str()) == IFSelect_RetDone;
}

int main(int count, char **arguments)
{
    if (count != 2) {
        std::fprintf(stderr, "use: make_cad FOLDER\n");
        return 2;
    }
    std::string folder = arguments[1];
    TopoDS_Shape block = BRepPrimAPI_MakeBox(10, 20, 30).Shape();
    IGESControl_Writer iges("MM", 1);
    bool ok =
        write_assembly(folder + "/assembly.step", "MM") &&
        write_assembly(folder + "/inch.step", "INCH") &&
        write_assembly(folder + "/203.step", "MM", "AP203") &&
        write_assembly(folder + "/242.step", "MM", "AP242DIS") && iges.AddShape(block) &&
        iges.Write((folder + "/block.iges").c_str()) &&
        BRepTools::Write(BRepPrimAPI_MakeSphere(12.5).Shape(), (folder + "/ball.brep").c_str());

    gp_Trsf mirror;
    mirror.SetMirror(gp_Ax2(gp_Pnt(0, 0, 0), gp_Dir(1, 0, 0)));
    BRep_Builder builder;
    TopoDS_Compound pair;
    builder.MakeCompound(pair);
    builder.Add(pair, block);
    builder.Add(pair, BRepBuilderAPI_Transform(block, mirror, Standard_True).Shape());
    ok = ok && BRepTools::Write(pair, (folder + "/mirrored.brep").c_str());

    TopoDS_Compound endless;
    builder.MakeCompound(endless);
    builder.Add(endless, block);
    builder.Add(endless,
                BRepBuilderAPI_MakeFace(gp_Pln(gp_Pnt(0, 0, 40), gp_Dir(0, 0, 1))).Shape());
    ok = ok && BRepTools::Write(endless, (folder + "/endless.brep").c_str());
    return ok ? 0 : 1;
}
