/* docs/protocol.md and fuzz/protocol.dict */
#include "protocol/gen/generate.h"

static const char *const message_kinds[] = {
    [FLR_KIND_HANDSHAKE] = "handshake", [FLR_KIND_COMMAND] = "command", [FLR_KIND_INPUT] = "input",
    [FLR_KIND_REPLY] = "reply",         [FLR_KIND_SCENE] = "scene",     [FLR_KIND_STATE] = "state",
    [FLR_KIND_EVENT] = "event",         [FLR_KIND_PEER] = "peer",
};

static const char *const directions[] = {
    [FLR_TO_CONTROLLER] = "client to controller",
    [FLR_TO_CLIENT] = "controller to client",
    [FLR_BOTH] = "both ways",
    [FLR_TO_PEER] = "between controllers",
};

/* what stands in the column "type" */
static void print_type(const flr_wire_field *field, FILE *out)
{
    const char *name = flr_wire_kind_of(field->kind)->name;
    if (field->choice) {
        fprintf(out, "[%s](#%s)", field->choice->name, field->choice->name);
        return;
    }
    if (field->shape == FLR_SHAPE_TEXT) {
        fprintf(out, "text, up to %u bytes", field->max);
        return;
    }
    if (field->shape == FLR_SHAPE_LIST) fprintf(out, "list of ");
    if (field->structure)
        fprintf(out, "[%s](#%s)", field->structure->name, field->structure->name);
    else
        fputs(name, out);
    if (field->shape == FLR_SHAPE_LIST) fprintf(out, ", up to %u", field->max);
    if (field->group > 1) fprintf(out, ", a multiple of %u", field->group);
}

static void print_fields(const flr_wire_field *field, bool offsets, FILE *out)
{
    unsigned since = 0;
    fprintf(out, "| %sfield | type | |\n|%s---|---|---|\n", offsets ? "at | " : "",
            offsets ? "---|" : "");
    for (; field->shape != FLR_SHAPE_END; field++) {
        if (field->shape == FLR_SHAPE_SINCE) {
            since = field->max;
            continue;
        }
        fprintf(out, "| ");
        if (offsets) fprintf(out, "%u | ", field->offset);
        fprintf(out, "`%s` | ", field->name);
        print_type(field, out);
        fprintf(out, " | %s", field->doc);
        if (since) fprintf(out, " (since %d.%u)", FLR_PROTOCOL_MAJOR, since);
        fprintf(out, " |\n");
    }
}

void flr_gen_page_messages(FILE *out)
{
    uint32_t count;
    const flr_wire_message *types = flr_wire_messages(&count);
    fprintf(out, "| id | message | kind | direction | bytes at most |\n|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "| %u | [%s](#message-%s) | %s | %s | %u |\n", types[i].id, types[i].name,
                types[i].name, message_kinds[types[i].kind], directions[types[i].direction],
                flr_wire_max_size(&types[i]));
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "\n### message %s\n\n%u, %s, %s: %s.\n\n", types[i].name, types[i].id,
                message_kinds[types[i].kind], directions[types[i].direction], types[i].doc);
        if (types[i].fields()->shape == FLR_SHAPE_END)
            fprintf(out, "No fields.\n");
        else
            print_fields(types[i].fields(), false, out);
    }
}

void flr_gen_page_types(FILE *out)
{
    uint32_t count;
    const flr_wire_struct *const *structs = flr_wire_structs(&count);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "### %s\n\nStructure of %u bytes at multiples of %u: %s.\n\n",
                structs[i]->name, structs[i]->size, structs[i]->align, structs[i]->doc);
        print_fields(structs[i]->fields(), true, out);
        fprintf(out, "\n");
    }
    const flr_wire_choice *const *choices = flr_wire_choices(&count);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "%s### %s\n\n%s: %s.\n\n| %s | name | |\n|---|---|---|\n", i ? "\n" : "",
                choices[i]->name, choices[i]->bits ? "Bits" : "Enumeration", choices[i]->doc,
                choices[i]->bits ? "bit" : "number");
        for (const flr_wire_value *value = choices[i]->values; value->name; value++)
            fprintf(out, "| %u | `%s` | %s |\n", value->number, value->name, value->doc);
    }
}

static void print_bytes(const char *name, const char *field, uint32_t value, unsigned width,
                        FILE *out)
{
    fprintf(out, "%s%s%s=\"", name, *field ? "_" : "", field);
    for (unsigned i = 0; i < width; i++) fprintf(out, "\\x%02x", value >> 8 * i & 0xFF);
    fprintf(out, "\"\n");
}

void flr_gen_dictionary(FILE *out)
{
    uint32_t count;
    const flr_wire_message *types = flr_wire_messages(&count);
    for (uint32_t i = 0; i < count; i++) {
        // id and version as they stand in the head
        uint32_t head = types[i].id | FLR_PROTOCOL_MAJOR << 16 | FLR_PROTOCOL_MINOR << 24;
        print_bytes(types[i].name, "", head, 4, out);
        // the largest counts
        for (const flr_wire_field *field = types[i].fields(); field->shape != FLR_SHAPE_END;
             field++) {
            if (field->shape == FLR_SHAPE_TEXT || field->shape == FLR_SHAPE_LIST)
                print_bytes(types[i].name, field->name, field->max, 4, out);
        }
    }
}
