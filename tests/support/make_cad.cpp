// make_cad FOLDER: writes STEP, IGES and BREP files for the tests of the import helper.
//
//   assembly.step   product "gearbox": a block 10 × 20 × 30 mm, named "block", twice (as is, and
//                   turned 90° about z, then moved by 100, 50, 25 mm), and a ball of radius 12.5 mm,
//                   named "ball", moved by 0, 0, 60 mm
//   inch.step       the same, stated in inches
//   block.iges      the block, in millimetres
//   ball.brep       the ball
//   mirrored.brep   a compound: the block, and the block mirrored at the plane x = 0
#include <BRepBuilderAPI_Transform.hxx>
#include <BRepPrimAPI_MakeBox.hxx>
#include <BRepPrimAPI_MakeSphere.hxx>
#include <BRepTools.hxx>
#include <BRep_Builder.hxx>
#include <IGESControl_Writer.hxx>
#include <Interface_Static.hxx>
#include <STEPCAFControl_Writer.hxx>
#include <TDataStd_Name.hxx>
#include <TDocStd_Document.hxx>
#include <TopoDS_Compound.hxx>
#include <XCAFApp_Application.hxx>
#include <XCAFDoc_DocumentTool.hxx>
#include <XCAFDoc_ShapeTool.hxx>
#include <gp_Ax1.hxx>
#include <gp_Ax2.hxx>

#include <cstdio>
#include <string>

static bool write_assembly(const std::string &path, const char *unit)
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
        write_assembly(folder + "/inch.step", "INCH") && iges.AddShape(block) &&
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
    return ok ? 0 : 1;
}
