#include "support/golden.h"

#include "support/test.h"

bool flr_test_golden_has(const char *file, const char *name, flr_hash hash)
{
    flr_error error;
    flr_blob text;
    char path[1024], digits[FLR_HASH_TEXT_SIZE], line[256];
    snprintf(path, sizeof path, FLR_SOURCE_DIR "/tests/golden/%s", file);
    assert_ok(flr_file_read_all(flr_env_real(), path, 1 << 20, &text, &error), error);
    assert_non_null(text.bytes);
    snprintf(line, sizeof line, "%s %s\n", name, flr_hash_print(hash, digits));
    bool there = strstr((const char *)text.bytes, line) != NULL;
    flr_blob_free(&text);
    if (!there) print_error("not in tests/golden/%s: %s", file, line);
    return there;
}

void flr_test_assert_golden(const char *name, const flr_model *model)
{
    bool same = true;
    for (size_t i = 0; i < model->mesh_count; i++) {
        char line[160];
        snprintf(line, sizeof line, "%s %s", name, model->meshes[i].file);
        same &= flr_test_golden_has("models.txt", line, flr_mesh_hash(model->meshes[i].mesh));
    }
    if (!same) fail_msg("%s is not what it was", name);
}
