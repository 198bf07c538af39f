/* robot descriptions: read as XML within 8 times the file; what becomes a scene can be read again */
#include <stdlib.h>
#include <string.h>

#include "feeler/sim.h"
#include "fuzz/support/memory.h"
#include "scene/robot.h"
#include "scene/xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Meshes that a description names are not there. */
static void import(const uint8_t *bytes, size_t size)
{
    flr_sim_def world = flr_default_sim_def();
    flr_sim *sim = flr_sim_create(&world);
    flr_address address = {.family = 4, .ip = {10, 0, 0, 1}};
    flr_env *env = sim ? flr_sim_node(sim, address) : NULL;
    if (!env || flr_file_write_all(env, "/robot.urdf", bytes, size, NULL) != FLR_OK) abort();
    const char *files[1] = {"/robot.urdf"};
    flr_scene_import_def def = {.env = env,
                                .files = files,
                                .file_count = 1,
                                .out = "/scene.json",
                                .options = flr_default_mesh_options()};
    flr_scene_import_report report = {0};
    flr_error error;
    flr_scene *scene;
    if (flr_robot_import(&def, &report, &error) == FLR_OK) {
        if (flr_scene_read(env, "/scene.json", &scene, &error) != FLR_OK) abort();
        if (scene->part_count != report.parts) abort();
        flr_scene_destroy(scene);
    } else if (strncmp(error.message, "/robot.urdf", 11) != 0) {
        abort();
    }
    free(report.notes);
    flr_sim_destroy(sim);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    flr_xml xml;
    flr_error error;
    flr_fuzz_memory_begin(size, FLR_FUZZ_FIXED);
    flr_result result = flr_xml_parse("fuzz.xml", bytes, size, &xml, &error);
    flr_fuzz_memory_end();
    if (result != FLR_OK) {
        if (strncmp(error.message, "fuzz.xml:", 9) != 0) abort();
        return 0;
    }
    flr_xml_free(&xml);
    import(bytes, size);
    return 0;
}
