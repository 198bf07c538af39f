/* which pairs feeler clash does not check: rules of --allow and --allow-file, and groups */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "clash.h"
#include "files.h"
#include "output.h"

enum { MAX_RULES = 10000, MAX_RULE_BYTES = 1024 };

/* Which parts the two sides of a rule name: a bit each. */
struct flr_clash_rule {
    uint64_t *sides[2];
};

static char *trim(char *text)
{
    while (*text == ' ' || *text == '\t') text++;
    size_t size = strlen(text);
    while (size && strchr(" \t\r", text[size - 1])) text[--size] = 0;
    return text;
}

static bool fits(const char *pattern, const char *name)
{
    return strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
}

/* the part itself, or a group around it */
static bool names_item(const char *pattern, const flr_clash_report *r, const flr_clash_item *item)
{
    if (fits(pattern, item->name) || fits(pattern, item->raw)) return true;
    for (uint32_t g = item->in; g != FLR_NONE; g = r->groups[g].in)
        if (fits(pattern, r->groups[g].name)) return true;
    return false;
}

static flr_result mark_side(flr_cli *cli, const flr_clash_report *r, const char *pattern,
                            uint64_t **side, flr_error *error)
{
    size_t found = 0;
    *side = calloc(r->count / 64 + 1, sizeof **side);
    if (!*side) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < r->count; i++)
        if (names_item(pattern, r, &r->items[i])) {
            (*side)[i / 64] |= 1ull << i % 64;
            found++;
        }
    if (!found)
        flr_warn(cli, "no part or group is called \"%s\": its rule allows nothing", pattern);
    return FLR_OK;
}

/* one rule: "A | B", or "A" for whatever A meets */
static flr_result add_rule(flr_cli *cli, flr_clash_report *r, char *text, const char *source,
                           flr_error *error)
{
    char *bar = strchr(text, '|');
    if (bar) *bar = 0;
    const char *one = trim(text), *other = bar ? trim(bar + 1) : "*";
    if (!bar && !*one) return FLR_OK;
    if (!*one || !*other || strchr(other, '|'))
        return flr_fail(error, FLR_BAD_INPUT,
                        "%s: \"%s|%s\" is no rule; write NAME, or NAME|NAME for a pair", source,
                        one, other);
    if (r->rule_count == MAX_RULES)
        return flr_fail(error, FLR_BAD_INPUT, "%s: more than %d rules", source, MAX_RULES);
    if (!flr_array_resize(&r->rules, r->rule_count + 1, sizeof *r->rules))
        return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    struct flr_clash_rule *rule = &r->rules[r->rule_count++];
    *rule = (struct flr_clash_rule){{NULL, NULL}};
    flr_result result = mark_side(cli, r, one, &rule->sides[0], error);
    return result == FLR_OK ? mark_side(cli, r, other, &rule->sides[1], error) : result;
}

/* from # on, at the beginning of a line or after a blank */
static void cut_remark(char *line)
{
    for (char *c = line; *c; c++)
        if (*c == '#' && (c == line || c[-1] == ' ' || c[-1] == '\t')) {
            *c = 0;
            return;
        }
}

flr_result flr_clash_add_rules(flr_cli *cli, flr_clash_report *r, const char *rules, bool lines,
                               const char *source, flr_error *error)
{
    flr_result result = FLR_OK;
    for (const char *at = rules; *at && result == FLR_OK;) {
        char text[MAX_RULE_BYTES];
        size_t size = strcspn(at, lines ? "\n" : ",");
        if (size >= sizeof text)
            return flr_fail(error, FLR_BAD_INPUT, "%s: a rule of %zu bytes is too long", source,
                            size);
        memcpy(text, at, size);
        text[size] = 0;
        at += size + (at[size] != 0);
        if (lines) cut_remark(text);
        result = add_rule(cli, r, text, source, error);
    }
    return result;
}

flr_result flr_clash_read_rules(flr_cli *cli, flr_clash_report *r, const char *path,
                                flr_error *error)
{
    flr_blob text = {0};
    flr_result result = flr_file_read_all(cli->env, path, 1 << 24, &text, error);
    if (result != FLR_OK) return result;
    char *rules = calloc(text.size + 1, 1);
    if (rules && text.size) memcpy(rules, text.bytes, text.size);
    if (!rules)
        result = flr_fail(error, FLR_NO_MEMORY, "out of memory");
    else if (strlen(rules) != text.size)
        result = flr_fail(error, FLR_BAD_INPUT, "%s: is no text", path);
    else
        result = flr_clash_add_rules(cli, r, rules, true, path, error);
    flr_blob_free(&text);
    free(rules);
    return result;
}

static bool has(const uint64_t *side, uint32_t part) { return side[part / 64] >> part % 64 & 1; }

bool flr_clash_is_allowed(const flr_clash_report *r, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < r->rule_count; i++) {
        uint64_t *const *sides = r->rules[i].sides;
        if ((has(sides[0], a) && has(sides[1], b)) || (has(sides[0], b) && has(sides[1], a)))
            return true;
    }
    return false;
}

void flr_clash_free_rules(flr_clash_report *r)
{
    for (size_t i = 0; i < r->rule_count; i++)
        for (int k = 0; k < 2; k++) free(r->rules[i].sides[k]);
    free(r->rules);
}
