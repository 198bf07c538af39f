/* which pairs feeler clash does not check: rules of --allow, --allow-file and the scene, and groups */
#include <stdlib.h>
#include <string.h>

#include "clash.h"
#include "output.h"

enum { MAX_RULE_BYTES = 1024 };

static char *trim(char *text)
{
    while (*text == ' ' || *text == '\t') text++;
    size_t size = strlen(text);
    while (size && strchr(" \t\r", text[size - 1])) text[--size] = 0;
    return text;
}

/* the part itself, or a group around it */
static bool is_named(void *context, uint32_t part, const char *pattern)
{
    const flr_clash_report *r = context;
    const flr_clash_item *item = &r->items[part];
    if (flr_allow_fits(pattern, item->name) || flr_allow_fits(pattern, item->raw)) return true;
    for (uint32_t g = item->in; g != FLR_NONE; g = r->groups[g].in)
        if (flr_allow_fits(pattern, r->groups[g].name)) return true;
    return false;
}

flr_result flr_clash_add_pair(flr_cli *cli, flr_clash_report *r, const char *one, const char *other,
                              const char *source, flr_error *error)
{
    uint32_t found[2];
    const char *const names[2] = {one, other};
    if (!r->allow) r->allow = flr_allow_create(r->count, is_named, r);
    if (!r->allow) return flr_fail_memory(error);
    flr_error why;
    flr_result result = flr_allow_add(r->allow, one, other, found, &why);
    if (result == FLR_TOO_LARGE)
        return flr_fail(error, FLR_BAD_INPUT, "%s: %s", source, why.message);
    if (result != FLR_OK) return flr_fail(error, result, "%s", why.message);
    for (int k = 0; k < 2; k++)
        if (!found[k])
            flr_warn(cli, "no part or group is called \"%s\": its rule allows nothing", names[k]);
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
    return flr_clash_add_pair(cli, r, one, other, source, error);
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
        result = flr_fail_memory(error);
    else if (strlen(rules) != text.size)
        result = flr_fail(error, FLR_BAD_INPUT, "%s: is no text", path);
    else
        result = flr_clash_add_rules(cli, r, rules, true, path, error);
    flr_blob_free(&text);
    free(rules);
    return result;
}

bool flr_clash_is_allowed(const flr_clash_report *r, uint32_t a, uint32_t b)
{
    return r->allow && flr_allow_has(r->allow, a, b, NULL);
}
