/* docs/scene.schema.json allows and requires the keys that the reader knows */
#include "support/test.h"

#include <jansson.h>

#include "scene/keys.h"

/* the property names of a schema object are exactly the keys of the reader */
static void compare_keys(json_t *schema, flr_scene_object kind)
{
    json_t *properties = json_object_get(schema, "properties");
    json_t *required = json_object_get(schema, "required");
    assert_non_null(properties);
    assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
    size_t count = 0, required_count = 0;
    for (const flr_scene_key *key = flr_scene_keys[kind]; key->name; key++) {
        count++;
        json_t *property = json_object_get(properties, key->name);
        if (!property) fail_msg("the schema lacks \"%s\"", key->name);
        assert_true(json_is_string(json_object_get(property, "description")) ||
                    json_object_get(property, "$ref"));
        bool listed = false;
        size_t i;
        json_t *name;
        json_array_foreach(required, i, name) listed |= !strcmp(json_string_value(name), key->name);
        if (listed != key->required) fail_msg("\"required\" differs for \"%s\"", key->name);
        required_count += key->required;
    }
    assert_int_equal(json_object_size(properties), count);
    assert_int_equal(json_array_size(required), required_count);
}

static void the_schema_agrees_with_the_reader(void **state)
{
    (void)state;
    json_error_t why;
    json_t *schema =
        json_load_file(FLR_SOURCE_DIR "/docs/scene.schema.json", JSON_REJECT_DUPLICATES, &why);
    if (!schema) fail_msg("%s:%d: %s", why.source, why.line, why.text);
    json_t *defs = json_object_get(schema, "$defs");
    compare_keys(schema, FLR_SCENE_ROOT);
    compare_keys(json_object_get(defs, "part"), FLR_SCENE_PART);
    compare_keys(json_object_get(defs, "pose"), FLR_SCENE_POSE);
    compare_keys(json_object_get(defs, "path"), FLR_SCENE_PATH);
    compare_keys(json_object_get(defs, "group"), FLR_SCENE_GROUP);
    compare_keys(json_object_get(defs, "joint"), FLR_SCENE_JOINT);
    compare_keys(json_object_get(defs, "joint_axis"), FLR_SCENE_JOINT_AXIS);
    compare_keys(json_object_get(defs, "camera"), FLR_SCENE_CAMERA);
    compare_keys(json_object_get(defs, "hand"), FLR_SCENE_HAND);
    compare_keys(json_object_get(defs, "contact"), FLR_SCENE_CONTACT);
    compare_keys(json_object_get(defs, "spring"), FLR_SCENE_SPRING);
    compare_keys(json_object_get(defs, "note"), FLR_SCENE_NOTE);
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schema_agrees_with_the_reader),
    };
    return cmocka_run_group_tests_name("scene_schema", tests, NULL, NULL);
}
