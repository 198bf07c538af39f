/* deeds as notes of a recording, and back */
#include "controller/deed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/setup.h"

/* as the file has them, in the order of flr_deed_kind */
static const char *const words[] = {"start", "params", "ground", "grab", "release", "place",
                                    "tool",  "cast",   "solid",  "tie",  "firm",    "lost"};
enum { WORDS = sizeof words / sizeof *words };

/* ---- writing ---- */

static void put_u32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> 8 * i);
}

static void put_f64(uint8_t *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++) to[i] = (uint8_t)(bits >> 8 * i);
}

/* "key value" in lines; NULL: no memory. */
static char *print_params(const flr_world_params *params, size_t *size, flr_error *error)
{
    flr_setup setup = flr_default_setup();
    flr_texts texts = {0};
    setup.params = *params;
    char *text = NULL;
    FILE *out = NULL;
    if (flr_setup_write_numbers(&setup, &texts, error) == FLR_OK) out = open_memstream(&text, size);
    for (size_t i = 0; out && i + 1 < texts.count; i += 2)
        fprintf(out, "%s %s\n", texts.list[i], texts.list[i + 1]);
    if (out && fclose(out) != 0) {
        free(text);
        text = NULL;
    }
    flr_texts_free(&texts);
    return text;
}

/* What ids of parts are in the recording. */
static uint32_t number_of(const flr_tape *tape, uint32_t part)
{
    for (uint32_t i = 0; i < tape->all; i++)
        if (tape->numbers[i] == part) return i;
    return FLR_ENGINE_NONE;
}

static uint8_t *print_ground(const flr_tape *tape, const flr_ground *ground, size_t *size)
{
    uint8_t *data = malloc(4 * (size_t)ground->count + 1);
    for (uint32_t i = 0; data && i < ground->count; i++)
        put_u32(data + 4 * (size_t)i, number_of(tape, ground->ids[i]));
    *size = 4 * (size_t)ground->count;
    return data;
}

flr_result flr_deed_write(flr_tape *tape, const flr_deed *deed, flr_error *error)
{
    char text[64];
    uint8_t pose[56], *made = NULL;
    flr_record_note note = {.frame = deed->frame, .text = text};
    snprintf(text, sizeof text, "%s", words[deed->kind]);
    switch (deed->kind) {
    case FLR_DEED_START:
        note.data = tape->state, note.size = tape->state_size;
        break;
    case FLR_DEED_PARAMS:
        note.data = made = (uint8_t *)print_params(&deed->what.params, &note.size, error);
        break;
    case FLR_DEED_GROUND:
        note.data = made = print_ground(tape, deed->what.ground, &note.size);
        flr_ground_drop(deed->what.ground);
        break;
    case FLR_DEED_GRAB:
    case FLR_DEED_TOOL:
    case FLR_DEED_SOLID:
    case FLR_DEED_FIRM:
        snprintf(text, sizeof text, "%s %u %u", words[deed->kind], deed->hand, deed->part);
        break;
    case FLR_DEED_RELEASE:
        snprintf(text, sizeof text, "%s %u", words[deed->kind], deed->hand);
        break;
    case FLR_DEED_PLACE: {
        const double numbers[] = {deed->pose.p.x, deed->pose.p.y, deed->pose.p.z, deed->pose.q.w,
                                  deed->pose.q.x, deed->pose.q.y, deed->pose.q.z};
        for (int i = 0; i < 7; i++) put_f64(pose + 8 * i, numbers[i]);
        snprintf(text, sizeof text, "%s %u", words[deed->kind], deed->part);
        note.data = pose, note.size = sizeof pose;
        break;
    }
    case FLR_DEED_CAST:
    case FLR_DEED_TIE:
    case FLR_DEED_LOST:
        break;
    }
    bool whole = made || (deed->kind != FLR_DEED_PARAMS && deed->kind != FLR_DEED_GROUND);
    flr_result result = whole ? flr_recorder_note(tape->recorder, &note, error)
                              : flr_fail(error, FLR_NO_MEMORY, "not enough memory to record");
    free(made);
    return result;
}

/* ---- reading ---- */

static double get_f64(const uint8_t *from)
{
    uint64_t bits = 0;
    double value;
    for (int i = 0; i < 8; i++) bits |= (uint64_t)from[i] << 8 * i;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void flr_deed_do(const flr_deed_note *deed, flr_world *world)
{
    switch (deed->kind) {
    case FLR_DEED_PARAMS:
        flr_world_set_params(world, &deed->params);
        break;
    case FLR_DEED_GRAB:
        flr_world_grab(world, deed->hand, deed->part);
        break;
    case FLR_DEED_RELEASE:
        flr_world_release(world, deed->hand);
        break;
    case FLR_DEED_PLACE:
        flr_world_place(world, deed->part, deed->pose);
        break;
    case FLR_DEED_TOOL:
        flr_world_set_tool(world, deed->hand, (flr_tool)deed->part);
        break;
    case FLR_DEED_SOLID:
        flr_world_set_solid(world, deed->part, deed->hand != 0);
        break;
    case FLR_DEED_FIRM:
        flr_world_set_firm(world, deed->hand, deed->part != 0);
        break;
    default:
        break;
    }
}

uint32_t flr_deed_ground(const flr_deed_note *note, size_t index)
{
    const uint8_t *from = note->data + 4 * index;
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

static const char *find_line(const void *context, const char *key)
{
    return flr_texts_find(context, key);
}

static flr_result read_params(const flr_record_note *note, const char *path,
                              flr_world_params *params, flr_error *error)
{
    flr_setup setup = flr_default_setup();
    flr_texts texts = {0};
    flr_result result = FLR_OK;
    const char *at = (const char *)note->data, *end = at + note->size;
    while (at < end && result == FLR_OK) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) line_end = end;
        const char *space = memchr(at, ' ', (size_t)(line_end - at));
        char key[64];
        if (space && (size_t)(space - at) < sizeof key) {
            snprintf(key, sizeof key, "%.*s", (int)(space - at), at);
            result =
                flr_texts_add(&texts, error, key, "%.*s", (int)(line_end - space - 1), space + 1);
        }
        at = line_end + 1;
    }
    if (result == FLR_OK) result = flr_setup_read_numbers(find_line, &texts, path, &setup, error);
    flr_texts_free(&texts);
    if (result == FLR_OK) *params = setup.params;
    return result;
}

flr_result flr_deed_read(const flr_record_note *note, const char *path, flr_deed_note *deed,
                         flr_error *error)
{
    flr_deed_note found = {.data = note->data, .size = note->size};
    char word[16] = "";
    unsigned one = 0, two = 0;
    int count = sscanf(note->text, "%15s %u %u", word, &one, &two);
    int kind = 0;
    while (kind < WORDS && strcmp(words[kind], word) != 0) kind++;
    found.kind = (flr_deed_kind)kind;
    bool good = kind < WORDS;
    switch (found.kind) {
    case FLR_DEED_GRAB:
    case FLR_DEED_TOOL:
    case FLR_DEED_SOLID:
    case FLR_DEED_FIRM:
        good = count == 3;
        found.hand = one, found.part = two;
        break;
    case FLR_DEED_RELEASE:
        good = count == 2;
        found.hand = one;
        break;
    case FLR_DEED_PLACE:
        good = count == 2 && note->size == 56;
        found.part = one;
        if (good)
            found.pose = (flr_pose){
                .p = {get_f64(note->data), get_f64(note->data + 8), get_f64(note->data + 16)},
                .q = {.w = get_f64(note->data + 24),
                      .x = get_f64(note->data + 32),
                      .y = get_f64(note->data + 40),
                      .z = get_f64(note->data + 48)}};
        break;
    case FLR_DEED_GROUND:
        good = note->size % 4 == 0;
        break;
    case FLR_DEED_PARAMS: {
        flr_result result = read_params(note, path, &found.params, error);
        if (result != FLR_OK) return result;
        break;
    }
    case FLR_DEED_START:
    case FLR_DEED_CAST:
    case FLR_DEED_TIE:
    case FLR_DEED_LOST:
        break;
    }
    if (!good)
        return flr_fail(error, FLR_BAD_INPUT, "%s: the note \"%.60s\" makes no sense", path,
                        note->text);
    *deed = found;
    return FLR_OK;
}
