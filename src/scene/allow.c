/* pairs of parts that may be in each other, by names */
#include "scene/allow.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Which parts the two sides of a rule mean: a bit each. */
typedef struct allow_rule {
    uint64_t *sides[2];
} allow_rule;

struct flr_allow {
    uint32_t count, rule_count;
    bool (*is_named)(void *context, uint32_t part, const char *pattern);
    void *context;
    allow_rule *rules;
};

bool flr_allow_fits(const char *pattern, const char *name)
{
    return strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
}

flr_allow *flr_allow_create(uint32_t count,
                            bool (*is_named)(void *context, uint32_t part, const char *pattern),
                            void *context)
{
    flr_allow *allow = calloc(1, sizeof *allow);
    if (allow) *allow = (flr_allow){.count = count, .is_named = is_named, .context = context};
    return allow;
}

void flr_allow_destroy(flr_allow *allow)
{
    if (!allow) return;
    for (uint32_t i = 0; i < allow->rule_count; i++)
        for (int k = 0; k < 2; k++) free(allow->rules[i].sides[k]);
    free(allow->rules);
    free(allow);
}

static uint32_t mark_side(const flr_allow *allow, const char *pattern, uint64_t *side)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < allow->count; i++)
        if (allow->is_named(allow->context, i, pattern)) {
            side[i / 64] |= 1ull << i % 64;
            found++;
        }
    return found;
}

flr_result flr_allow_add(flr_allow *allow, const char *a, const char *b, uint32_t found[2],
                         flr_error *error)
{
    if (allow->rule_count == FLR_ALLOW_MAX_RULES)
        return flr_fail(error, FLR_TOO_LARGE, "more than %d rules", FLR_ALLOW_MAX_RULES);
    allow_rule *rules = realloc(allow->rules, (allow->rule_count + 1) * sizeof *rules);
    if (!rules) return flr_fail_memory(error);
    allow->rules = rules;
    allow_rule *rule = &rules[allow->rule_count++];
    const char *const patterns[2] = {a, b};
    bool ok = true;
    for (int k = 0; k < 2; k++) {
        rule->sides[k] = calloc(allow->count / 64 + 1, sizeof *rule->sides[k]);
        ok = ok && rule->sides[k];
    }
    if (!ok) {
        allow->rule_count--;
        for (int k = 0; k < 2; k++) free(rule->sides[k]);
        return flr_fail_memory(error);
    }
    for (int k = 0; k < 2; k++) found[k] = mark_side(allow, patterns[k], rule->sides[k]);
    return FLR_OK;
}

static bool has(const uint64_t *side, uint32_t part) { return side[part / 64] >> part % 64 & 1; }

bool flr_allow_has(const flr_allow *allow, uint32_t a, uint32_t b, uint32_t *rule)
{
    for (uint32_t i = 0; i < allow->rule_count; i++) {
        uint64_t *const *sides = allow->rules[i].sides;
        if ((!has(sides[0], a) || !has(sides[1], b)) && (!has(sides[0], b) || !has(sides[1], a)))
            continue;
        if (rule) *rule = i;
        return true;
    }
    return false;
}
