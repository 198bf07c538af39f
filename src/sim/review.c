/* notes, and which pairs of parts are fits of the design */
#include "sim/review.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "scene/allow.h"

/* ---- the list ---- */

/* False: no memory. */
static bool add_rule(flr_allow_rules *rules, const char *a, const char *b)
{
    if (rules->count == rules->room) {
        uint32_t room = rules->room ? 2 * rules->room : 8;
        flr_allow_rule *list = realloc(rules->list, room * sizeof *list);
        if (!list) return false;
        rules->list = list;
        rules->room = room;
    }
    flr_allow_rule *rule = &rules->list[rules->count++];
    flr_text_copy(rule->a, sizeof rule->a, a);
    flr_text_copy(rule->b, sizeof rule->b, b);
    return true;
}

bool flr_allow_rules_copy(const flr_allow_rules *from, flr_allow_rules *to)
{
    bool ok = true;
    *to = (flr_allow_rules){0};
    for (uint32_t i = 0; i < from->count && ok; i++)
        ok = add_rule(to, from->list[i].a, from->list[i].b);
    return ok;
}

void flr_allow_rules_free(flr_allow_rules *rules)
{
    free(rules->list);
    *rules = (flr_allow_rules){0};
}

/* ---- of an engine ---- */

flr_review *flr_review_create(void) { return calloc(1, sizeof(flr_review)); }

/* For another scene. */
static void forget_review(flr_review *review)
{
    flr_allow_rules_free(&review->rules);
    free(review->notes);
    review->notes = NULL;
    review->note_count = review->note_room = 0;
    flr_clash_survey_free(review->survey);
    review->survey = NULL;
}

void flr_review_destroy(flr_review *review)
{
    if (!review) return;
    forget_review(review);
    for (int i = 0; i < FLR_REVIEW_ANSWERS; i++)
        flr_engine_clashes_free(&review->answers[i].clashes);
    for (int i = 0; i < FLR_REVIEW_REPORTS; i++) flr_blob_free(&review->reports[i].file);
    for (int i = 0; i < FLR_REVIEW_MAPS; i++) flr_gap_map_free(&review->maps[i].map);
    for (int i = 0; i < FLR_REVIEW_WAYS; i++) flr_engine_way_free(&review->ways[i].way);
    free(review);
}

void flr_review_keep_report(flr_review *review, uint32_t job, uint8_t format, const char *what,
                            flr_blob *file)
{
    flr_review_report *report = &review->reports[review->report_count++ % FLR_REVIEW_REPORTS];
    flr_blob_free(&report->file);
    *report = (flr_review_report){job, format, what, *file};
    *file = (flr_blob){0};
}

static flr_engine_note *add_note(flr_review *review)
{
    if (review->note_count == review->note_room) {
        uint32_t room = review->note_room ? 2 * review->note_room : 8;
        flr_engine_note *notes = realloc(review->notes, room * sizeof *notes);
        if (!notes) return NULL;
        review->notes = notes;
        review->note_room = room;
    }
    flr_engine_note *note = &review->notes[review->note_count++];
    *note = (flr_engine_note){.note = review->next_note++, .part = FLR_NO_PART_ID};
    return note;
}

bool flr_review_read(flr_review *review, const flr_scene *scene, uint32_t number)
{
    bool ok = true;
    forget_review(review);
    for (size_t i = 0; i < scene->allow_count && ok; i++)
        ok = add_rule(&review->rules, scene->allow[i].a, scene->allow[i].b);
    for (size_t i = 0; i < scene->note_count && ok; i++) {
        const flr_scene_note *from = &scene->notes[i];
        flr_engine_note *note = add_note(review);
        if (!(ok = note)) break;
        note->position = from->position;
        flr_text_copy(note->text, sizeof note->text, from->text);
        for (size_t k = 0; from->part && k < scene->part_count; k++)
            if (!strcmp(scene->parts[k].name, from->part))
                note->part = flr_part_id_of(number, (uint32_t)k);
    }
    return ok;
}

/* ---- notes ---- */

uint32_t flr_engine_notes(const flr_engine *e) { return e->review->note_count; }

const flr_engine_note *flr_engine_note_at(const flr_engine *e, uint32_t index)
{
    return index < e->review->note_count ? &e->review->notes[index] : NULL;
}

static void remove_note(flr_review *review, uint32_t index)
{
    memmove(&review->notes[index], &review->notes[index + 1],
            (--review->note_count - index) * sizeof *review->notes);
}

void flr_review_drop_part(flr_engine *e, flr_part_id part)
{
    flr_review *review = e->review;
    uint32_t before = review->note_count;
    for (uint32_t i = review->note_count; i-- > 0;)
        if (flr_same_part(review->notes[i].part, part)) remove_note(review, i);
    if (review->note_count < before) flr_engine_tell(e, FLR_ENGINE_EVENT_NOTES);
}

/* One line, as a scene file can hold it. */
static bool is_line(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127) return false;
    return true;
}

flr_result flr_engine_set_note(flr_engine *e, flr_engine_note *note, flr_error *error)
{
    flr_review *review = e->review;
    flr_part_entry *member = NULL;
    uint32_t index = 0;
    while (index < review->note_count && review->notes[index].note != note->note) index++;
    bool there = index < review->note_count, empty = !note->text[0];
    if (!there && (note->note != FLR_ENGINE_NONE || empty))
        return flr_fail(error, FLR_NOT_FOUND, "there is no such note");
    if (!flr_vec3_is_finite(note->position))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a note needs a place");
    if (!is_line(note->text))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a note is one line, without control characters");
    if (!empty && flr_is_part(note->part)) {
        flr_result result = flr_engine_find_id(e, note->part, &member, error);
        if (result != FLR_OK) return result;
    }
    if (!there && review->note_count == FLR_SCENE_MAX_NOTES)
        return flr_fail(error, FLR_TOO_LARGE, "a scene has at most %d notes", FLR_SCENE_MAX_NOTES);
    if (empty) {
        remove_note(review, index);
    } else {
        flr_engine_note *kept = there ? &review->notes[index] : add_note(review);
        if (!kept) return flr_engine_no_memory(error);
        note->note = kept->note;
        *kept = *note;
    }
    flr_engine_tell(e, FLR_ENGINE_EVENT_NOTES);
    return FLR_OK;
}

/* ---- what they allow ---- */

static bool is_named(void *context, uint32_t part, const char *pattern)
{
    const flr_review_names *names = context;
    const flr_part_entry *entry = &names->parts->list[part];
    if (flr_allow_fits(pattern, entry->name)) return true;
    for (uint32_t g = entry->group; g < names->groups->count; g = names->groups->list[g].in)
        if (flr_allow_fits(pattern, names->groups->list[g].name)) return true;
    return false;
}

flr_allow *flr_review_allow(const flr_review_names *names, const flr_allow_rules *rules)
{
    flr_review_names own = *names;
    flr_allow *allow = flr_allow_create(names->parts->count, is_named, &own);
    for (uint32_t i = 0; allow && i < rules->count; i++) {
        uint32_t found[2];
        if (flr_allow_add(allow, rules->list[i].a, rules->list[i].b, found, NULL) == FLR_OK)
            continue;
        flr_allow_destroy(allow);
        allow = NULL;
    }
    return allow;
}

/* The rule that allows a pair; FLR_ENGINE_NONE: none. False: no memory. */
static bool find_rule(flr_engine *e, uint32_t part, uint32_t other, uint32_t *rule)
{
    uint32_t indices[2] = {FLR_ENGINE_NONE, FLR_ENGINE_NONE};
    for (uint32_t i = 0; i < e->members.count; i++) {
        if (e->members.list[i].part == part) indices[0] = i;
        if (e->members.list[i].part == other) indices[1] = i;
    }
    flr_review_names names = {&e->members, &e->groups};
    flr_allow *allow = flr_review_allow(&names, &e->review->rules);
    if (!allow) return false;
    *rule = FLR_ENGINE_NONE;
    (void)flr_allow_has(allow, indices[0], indices[1], rule);
    flr_allow_destroy(allow);
    return true;
}

static bool is_rule_of(const flr_allow_rule *rule, const char *a, const char *b)
{
    return (!strcmp(rule->a, a) && !strcmp(rule->b, b)) ||
           (!strcmp(rule->a, b) && !strcmp(rule->b, a));
}

flr_result flr_engine_allow(flr_engine *e, flr_part_id part, flr_part_id other, bool allowed,
                            flr_error *error)
{
    flr_part_entry *one = NULL, *two = NULL;
    flr_allow_rules *rules = &e->review->rules;
    flr_result result = flr_engine_find_id(e, part, &one, error);
    if (result == FLR_OK) result = flr_engine_find_id(e, other, &two, error);
    if (result != FLR_OK) return result;
    if (one == two) return flr_fail(error, FLR_BAD_ARGUMENT, "a pair is of two parts");
    uint32_t rule, kept = 0;
    if (!allowed) {
        for (uint32_t i = 0; i < rules->count; i++)
            if (!is_rule_of(&rules->list[i], one->name, two->name))
                rules->list[kept++] = rules->list[i];
        rules->count = kept;
    }
    if (!find_rule(e, part.index, other.index, &rule)) return flr_engine_no_memory(error);
    flr_engine_tell(e, FLR_ENGINE_EVENT_ALLOWED);
    if (!allowed && rule != FLR_ENGINE_NONE)
        return flr_fail(error, FLR_DENIED,
                        "the scene allows every pair of \"%.100s\" and \"%.100s\"; change its "
                        "\"allow\" in the scene file",
                        rules->list[rule].a, rules->list[rule].b);
    if (!allowed || rule != FLR_ENGINE_NONE) return FLR_OK;
    if (rules->count >= FLR_ALLOW_MAX_RULES)
        return flr_fail(error, FLR_TOO_LARGE, "a scene allows at most %d pairs",
                        FLR_ALLOW_MAX_RULES);
    return add_rule(rules, one->name, two->name) ? FLR_OK : flr_engine_no_memory(error);
}

uint32_t flr_engine_allow_rules(const flr_engine *e) { return e->review->rules.count; }
