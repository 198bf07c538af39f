/* text configurations: read, and what was read can be written as JSON and read again */
#include <stdlib.h>
#include <string.h>

#include "fuzz/support/memory.h"
#include "scene/kim.h"
#include "scene/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    // most of what a fuzzer makes is not taken for one: help it
    static const char first[] = "Haptic device: 0\nNumber of models: ";
    uint8_t *text = malloc(sizeof first + size);
    if (!text) return 0;
    bool whole = flr_kim_recognize(bytes, size);
    size_t before = whole ? 0 : sizeof first - 1;
    memcpy(text, first, before);
    if (size) memcpy(text + before, bytes, size);
    flr_scene *scene, *copy;
    flr_error error;
    /* a model takes a line, and in memory a part and its JSON; there may be 4096 */
    size_t lines = 1;
    for (size_t i = 0; i < before + size; i++) lines += text[i] == '\n';
    if (lines > 4096 + 3) lines = 4096 + 3;
    flr_fuzz_memory_begin(before + size, FLR_FUZZ_FIXED + lines * 3072);
    flr_result result = flr_scene_parse("fuzz.cfg", text, before + size, &scene, &error);
    flr_fuzz_memory_end();
    free(text);
    if (result != FLR_OK) {
        if (strncmp(error.message, "fuzz.cfg:", 9) != 0) abort();
        return 0;
    }
    flr_blob first_text, second_text;
    if (flr_scene_print(scene, &first_text, &error) != FLR_OK) abort();
    if (flr_scene_parse("again.json", first_text.bytes, first_text.size, &copy, &error) != FLR_OK)
        abort();
    if (flr_scene_print(copy, &second_text, &error) != FLR_OK) abort();
    if (first_text.size != second_text.size ||
        memcmp(first_text.bytes, second_text.bytes, first_text.size) != 0)
        abort();
    flr_blob_free(&first_text);
    flr_blob_free(&second_text);
    flr_scene_destroy(copy);
    flr_scene_destroy(scene);
    return 0;
}
