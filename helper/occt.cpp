// The readers of OpenCASCADE: STEP, IGES, BREP. They and their walk are the only C++ of feeler.
#include "occt.h"

#include "occt_walk.hpp"

#include <BRepTools.hxx>
#include <BRep_Builder.hxx>
#include <BinTools.hxx>
#include <IGESCAFControl_Reader.hxx>
#include <IGESData_GlobalSection.hxx>
#include <IGESData_IGESModel.hxx>
#include <Interface_Static.hxx>
#include <Message.hxx>
#include <Message_Messenger.hxx>
#include <Message_Printer.hxx>
#include <STEPCAFControl_Reader.hxx>
#include <Standard_Failure.hxx>
#include <Standard_Version.hxx>
#include <TColStd_SequenceOfAsciiString.hxx>
#include <TDocStd_Document.hxx>
#include <TopoDS_Iterator.hxx>
#include <XCAFApp_Application.hxx>

#include <algorithm>
#include <cstring>
#include <istream>
#include <streambuf>
#include <strings.h>

namespace
{

// a file in memory as a stream that can be sought
class MemoryBuffer : public std::streambuf
{
  public:
    MemoryBuffer(const uint8_t *bytes, size_t size)
    {
        char *start = const_cast<char *>(reinterpret_cast<const char *>(bytes));
        setg(start, start, start + size);
    }

  protected:
    pos_type seekoff(off_type offset, std::ios_base::seekdir way, std::ios_base::openmode) override
    {
        char *base = way == std::ios_base::beg   ? eback()
                     : way == std::ios_base::cur ? gptr()
                                                 : egptr();
        if (offset < eback() - base || offset > egptr() - base) return pos_type(off_type(-1));
        setg(eback(), base + offset, egptr());
        return pos_type(gptr() - eback());
    }
    pos_type seekpos(pos_type position, std::ios_base::openmode mode) override
    {
        return seekoff(off_type(position), std::ios_base::beg, mode);
    }
};

Handle(TDocStd_Document) new_document()
{
    Handle(TDocStd_Document) document;
    XCAFApp_Application::GetApplication()->NewDocument("BinXCAF", document);
    // a part without a name has none, instead of one like SOLID
    XCAFDoc_ShapeTool::SetAutoNaming(Standard_False);
    return document;
}

// Millimetres of OpenCASCADE become metres by the unit that the file states (`stated`, metres), or
// as if the file had stated the unit that the user gave.
void choose_unit(Walk &walk, const flr_import_job *job, double stated, bool known)
{
    flr_stream_head &head = walk.collect->content.head;
    head.unit = job->unit > 0 ? job->unit : stated;
    head.unit_from_file = job->unit <= 0 && known;
    walk.metres = 0.001 * head.unit / stated;
}

double unit_by_name(const TColStd_SequenceOfAsciiString &names)
{
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"millimetre", 1e-3}, {"centimetre", 1e-2}, {"micrometre", 1e-6},
                 {"nanometre", 1e-9},  {"decimetre", 0.1},   {"kilometre", 1e3},
                 {"metre", 1},         {"inch", 0.0254},     {"foot", 0.3048},
                 {"feet", 0.3048},     {"yard", 0.9144},     {"mile", 1609.344}};
    if (names.IsEmpty()) return 0;
    for (const auto &unit : units)
        if (strcasestr(names.First().ToCString(), unit.name)) return unit.metres;
    return 0;
}

flr_result read_step(Walk &walk, const flr_import_job *job)
{
    MemoryBuffer buffer(job->bytes, job->size);
    std::istream stream(&buffer);
    STEPCAFControl_Reader reader;
    reader.SetColorMode(Standard_True);
    reader.SetLayerMode(Standard_True);
    reader.SetPropsMode(Standard_False);
    reader.SetGDTMode(Standard_False);
    reader.SetMatMode(Standard_False);
    reader.SetViewMode(Standard_False);
    reader.SetNameMode(Standard_True);
    Interface_Static::SetCVal("xstep.cascade.unit", "MM");
    if (reader.ChangeReader().ReadStream(job->name, stream) != IFSelect_RetDone)
        return flr_collect_fail(walk.collect, FLR_BAD_INPUT,
                                "is not a readable STEP file" FLR_ADVICE);
    TColStd_SequenceOfAsciiString lengths, angles, solids;
    reader.ChangeReader().FileUnits(lengths, angles, solids);
    double stated = unit_by_name(lengths);
    choose_unit(walk, job, stated > 0 ? stated : 0.001, stated > 0);

    Handle(TDocStd_Document) document = new_document();
    if (!reader.Transfer(document))
        return flr_collect_fail(walk.collect, FLR_BAD_INPUT,
                                "holds no shape that can be read" FLR_ADVICE);
    add_document(walk, document);
    return FLR_OK;
}

flr_result read_iges(Walk &walk, const flr_import_job *job)
{
    IGESCAFControl_Reader reader;
    reader.SetColorMode(Standard_True);
    reader.SetLayerMode(Standard_True);
    reader.SetNameMode(Standard_True);
    Interface_Static::SetCVal("xstep.cascade.unit", "MM");
    if (reader.ReadFile("/proc/self/fd/0") != IFSelect_RetDone)
        return flr_collect_fail(walk.collect, FLR_BAD_INPUT,
                                "is not a readable IGES file" FLR_ADVICE);
    Handle(IGESData_IGESModel) model = Handle(IGESData_IGESModel)::DownCast(reader.Model());
    double stated = model.IsNull() ? 0 : model->GlobalSection().UnitValue() * 0.001;
    bool known = stated > 1e-12 && stated < 1e12;
    choose_unit(walk, job, known ? stated : 0.001, known);

    Handle(TDocStd_Document) document = new_document();
    if (!reader.Transfer(document))
        return flr_collect_fail(walk.collect, FLR_BAD_INPUT,
                                "holds no shape that can be read" FLR_ADVICE);
    add_document(walk, document);
    return FLR_OK;
}

// BREP states no unit; the modeller's own is the millimetre. A compound's members are the parts.
flr_result read_brep(Walk &walk, const flr_import_job *job)
{
    MemoryBuffer buffer(job->bytes, job->size);
    std::istream stream(&buffer);
    TopoDS_Shape shape;
    if (job->size > 16 && memcmp(job->bytes, "\nOpen CASCADE Topology", 16) == 0) {
        BinTools::Read(shape, stream);
    } else {
        BRep_Builder builder;
        BRepTools::Read(shape, stream, builder);
    }
    if (shape.IsNull())
        return flr_collect_fail(walk.collect, FLR_BAD_INPUT,
                                "is not a readable BREP file" FLR_ADVICE);
    choose_unit(walk, job, 0.001, false);
    flr_stream_node node = {};
    node.parent = node.colour = FLR_STREAM_NONE;
    if (shape.ShapeType() != TopAbs_COMPOUND) {
        add_part(walk, shape.Located(TopLoc_Location()), shape.Location(), "", node);
        return FLR_OK;
    }
    for (TopoDS_Iterator part(shape); part.More(); part.Next())
        add_part(walk, part.Value().Located(TopLoc_Location()), part.Value().Location(), "", node);
    return FLR_OK;
}

bool has(const flr_import_job *job, size_t within, const char *text)
{
    return memmem(job->bytes, std::min(job->size, within), text, strlen(text)) != nullptr;
}

} // namespace

flr_occt_format flr_occt_format_of(const flr_import_job *job, const char *ending)
{
    // what it says by itself; building models (IFC) wear the same coat as STEP
    if (has(job, 512, "ISO-10303-21")) {
        bool building = strcasecmp(ending, "ifc") == 0 || has(job, 4096, "'IFC");
        return building ? FLR_OCCT_NONE : FLR_OCCT_STEP;
    }
    if (has(job, 256, "DBRep_DrawableShape") || has(job, 256, "CASCADE Topology") ||
        has(job, 256, "Open CASCADE Topology"))
        return FLR_OCCT_BREP;
    if (job->size > 80 && job->bytes[72] == 'S' && has(job, 81, "      1")) return FLR_OCCT_IGES;

    static const struct {
        const char *ending;
        flr_occt_format format;
    } endings[] = {{"step", FLR_OCCT_STEP}, {"stp", FLR_OCCT_STEP}, {"p21", FLR_OCCT_STEP},
                   {"iges", FLR_OCCT_IGES}, {"igs", FLR_OCCT_IGES}, {"brep", FLR_OCCT_BREP},
                   {"brp", FLR_OCCT_BREP}};
    for (const auto &known : endings)
        if (strcasecmp(ending, known.ending) == 0) return known.format;
    return FLR_OCCT_NONE;
}

flr_result flr_occt_read(const flr_import_job *job, flr_occt_format format, flr_collect *collect)
{
    Walk walk;
    walk.collect = collect;
    walk.chord = job->chord;
    try {
        Message::DefaultMessenger()->RemovePrinters(STANDARD_TYPE(Message_Printer));
        switch (format) {
        case FLR_OCCT_STEP:
            return read_step(walk, job);
        case FLR_OCCT_IGES:
            return read_iges(walk, job);
        default:
            return read_brep(walk, job);
        }
    } catch (const Standard_Failure &failure) {
        const char *text = failure.GetMessageString();
        return flr_collect_fail(collect, FLR_BAD_INPUT, "cannot be read: %.300s" FLR_ADVICE,
                                text && text[0] ? text : failure.DynamicType()->Name());
    } catch (const std::exception &failure) {
        return flr_collect_fail(collect, FLR_BAD_INPUT, "cannot be read: %.300s" FLR_ADVICE,
                                failure.what());
    } catch (...) {
        return flr_collect_fail(collect, FLR_BAD_INPUT, "cannot be read: it is damaged" FLR_ADVICE);
    }
}

const char *flr_occt_version(void) { return "OpenCASCADE " OCC_VERSION_COMPLETE; }
