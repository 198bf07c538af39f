/* the tree of an assembly, in words and as JSON */
#include "info.h"

#include "output.h"

static const char *const axes[] = {"", "x", "y", "z"};

static int depth_of(const flr_assembly *a, uint32_t node)
{
    int depth = 0;
    for (; a->nodes[node].parent != FLR_ASSEMBLY_NONE; depth++) node = a->nodes[node].parent;
    return depth;
}

static json_t *node_json(const flr_assembly_node *node)
{
    json_t *entry = flr_json_object();
    char colour[16];
    snprintf(colour, sizeof colour, "#%06x", node->colour);
    flr_json_set(entry, "name", flr_json_text(node->name));
    flr_json_set(entry, "parent",
                 node->parent == FLR_ASSEMBLY_NONE ? json_null() : flr_json_count(node->parent));
    flr_json_set(entry, "shape",
                 node->shape == FLR_ASSEMBLY_NONE ? json_null() : flr_json_count(node->shape));
    flr_json_set(entry, "colour",
                 node->colour == FLR_ASSEMBLY_NONE ? json_null() : flr_json_text(colour));
    flr_json_set(entry, "hidden", json_boolean(node->hidden));
    flr_json_set(entry, "position", flr_json_vec3(node->T_root_node.p));
    flr_json_set(entry, "rotation", flr_json_quat(node->T_root_node.q));
    return entry;
}

void flr_info_tree(flr_cli *cli, const flr_assembly *a, json_t *object)
{
    enum { NODES_SHOWN = 40 };
    json_t *nodes = flr_json_array(), *notes = flr_json_array();
    bool tree = a->node_count > 1;
    if (tree)
        flr_print(cli, "  tree        %u %s, %u distinct %s; %s is %s up\n", a->part_count,
                  flr_noun(a->part_count, "part", "parts"), a->shape_count,
                  flr_noun(a->shape_count, "shape", "shapes"), axes[flr_assembly_likely_up(a)],
                  a->up == FLR_AXIS_NONE ? "likely" : "stated to be");
    for (uint32_t i = 0; i < a->node_count; i++) {
        const flr_assembly_node *node = &a->nodes[i];
        if (tree && (i < NODES_SHOWN || cli->verbose)) {
            flr_print(cli, "    %*s%s", 2 * depth_of(a, i), "",
                      *node->name ? FLR_SAFE(node->name) : "(no name)");
            if (node->colour != FLR_ASSEMBLY_NONE) flr_print(cli, "  #%06x", node->colour);
            flr_print(cli, "%s\n", node->hidden ? "  hidden" : "");
        }
        flr_json_push(nodes, node_json(node));
    }
    if (tree && a->node_count > NODES_SHOWN && !cli->verbose)
        flr_print(cli, "    and %u more; --verbose shows all\n", a->node_count - NODES_SHOWN);
    for (uint32_t i = 0; i < a->note_count; i++) flr_json_push(notes, flr_json_text(a->notes[i]));
    flr_json_set(object, "tree", nodes);
    flr_json_set(object, "up", flr_json_text(axes[flr_assembly_likely_up(a)]));
    flr_json_set(object, "left_out", notes);
}
