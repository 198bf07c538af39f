/* web/src/protocol.mjs and protocol.d.mts */
#include "protocol/gen/generate.h"

static const char *const shapes[] = {
    [FLR_SHAPE_ONE] = "one",
    [FLR_SHAPE_TEXT] = "text",
    [FLR_SHAPE_LIST] = "list",
    [FLR_SHAPE_SINCE] = "since",
};

static const char *const message_kinds[] = {
    [FLR_KIND_HANDSHAKE] = "handshake", [FLR_KIND_COMMAND] = "command", [FLR_KIND_INPUT] = "input",
    [FLR_KIND_REPLY] = "reply",         [FLR_KIND_SCENE] = "scene",     [FLR_KIND_STATE] = "state",
    [FLR_KIND_EVENT] = "event",         [FLR_KIND_PEER] = "peer",
};

/* one field: name, shape, kind, max, group, what it is of, offset */
static void print_rows(const flr_wire_field *field, FILE *out)
{
    for (; field->shape != FLR_SHAPE_END; field++) {
        bool since = field->shape == FLR_SHAPE_SINCE;
        const char *of = field->choice      ? field->choice->name
                         : field->structure ? field->structure->name
                                            : "";
        fprintf(out, "    ['%s', '%s', '%s', %u, %u, '%s', %u],\n", since ? "" : field->name,
                shapes[field->shape], since ? "" : flr_wire_kind_of(field->kind)->name, field->max,
                field->group, of, field->offset);
    }
}

void flr_gen_script_table(FILE *out)
{
    uint32_t count;
    fprintf(out, "export const MAJOR = %d;\nexport const MINOR = %d;\n\n", FLR_PROTOCOL_MAJOR,
            FLR_PROTOCOL_MINOR);
    const flr_wire_choice *const *choices = flr_wire_choices(&count);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "export const %s = Object.freeze({\n", choices[i]->name);
        for (const flr_wire_value *value = choices[i]->values; value->name; value++)
            fprintf(out, "  %s: %u,\n", value->name,
                    choices[i]->bits ? 1u << value->number : value->number);
        fprintf(out, "});\n");
    }
    fprintf(out, "\nconst choices = {");
    for (uint32_t i = 0; i < count; i++) {
        if (!choices[i]->bits) fprintf(out, " %s,", choices[i]->name);
    }
    fprintf(out, " };\n\n// fields: name, shape, kind, max, group, of, offset in a "
                 "structure\nconst structs = {\n");
    const flr_wire_struct *const *structs = flr_wire_structs(&count);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "  %s: { size: %u, align: %u, fields: [\n", structs[i]->name, structs[i]->size,
                structs[i]->align);
        print_rows(structs[i]->fields(), out);
        fprintf(out, "  ] },\n");
    }
    fprintf(out, "};\n\nconst messages = [\n");
    const flr_wire_message *types = flr_wire_messages(&count);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "  { id: %u, name: '%s', kind: '%s', direction: %u, fields: [\n", types[i].id,
                types[i].name, message_kinds[types[i].kind], types[i].direction);
        print_rows(types[i].fields(), out);
        fprintf(out, "  ] },\n");
    }
    fprintf(out, "];\n");
}

/* the TypeScript type of a field */
static const char *type_of(const flr_wire_field *field)
{
    static const char *const one[FLR_KIND_COUNT] = {
        [FLR_KIND_flag] = "boolean", [FLR_KIND_vec3f] = "Vec3",    [FLR_KIND_vec3] = "Vec3",
        [FLR_KIND_pose] = "Pose",    [FLR_KIND_wrench] = "Wrench",
    };
    static const char *const list[FLR_KIND_COUNT] = {
        [FLR_KIND_u8] = "Uint8Array",    [FLR_KIND_u16] = "Uint16Array",
        [FLR_KIND_u32] = "Uint32Array",  [FLR_KIND_f32] = "Float32Array",
        [FLR_KIND_f64] = "Float64Array",
    };
    if (field->shape == FLR_SHAPE_TEXT) return "string";
    if (field->structure) return field->structure->name;
    if (field->shape == FLR_SHAPE_LIST) return list[field->kind];
    return one[field->kind] ? one[field->kind] : "number";
}

static void print_members(const flr_wire_field *field, FILE *out)
{
    for (; field->shape != FLR_SHAPE_END; field++) {
        if (field->shape == FLR_SHAPE_SINCE) continue;
        bool array = field->structure && field->shape == FLR_SHAPE_LIST;
        fprintf(out, "  /** %s */\n  %s: %s%s;\n", field->doc, field->name, type_of(field),
                array ? "[]" : "");
    }
}

void flr_gen_script_types(FILE *out)
{
    uint32_t count;
    const flr_wire_choice *const *choices = flr_wire_choices(&count);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "/** %s */\nexport const %s: {\n", choices[i]->doc, choices[i]->name);
        for (const flr_wire_value *value = choices[i]->values; value->name; value++)
            fprintf(out, "  /** %s */\n  readonly %s: %u;\n", value->doc, value->name,
                    choices[i]->bits ? 1u << value->number : value->number);
        fprintf(out, "};\n\n");
    }
    const flr_wire_struct *const *structs = flr_wire_structs(&count);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "/** %s */\nexport interface %s {\n", structs[i]->doc, structs[i]->name);
        print_members(structs[i]->fields(), out);
        fprintf(out, "}\n\n");
    }
    const flr_wire_message *types = flr_wire_messages(&count);
    fprintf(out, "/** the bodies of all messages, by name */\nexport interface Messages {\n");
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "  %s: message_%s;\n", types[i].name, types[i].name);
    fprintf(out, "}\n");
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "\n/** %s */\nexport interface message_%s {\n", types[i].doc, types[i].name);
        print_members(types[i].fields(), out);
        fprintf(out, "}\n");
    }
}
