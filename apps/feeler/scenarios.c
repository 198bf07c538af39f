/* the scenarios as words on a command line */
#include "scenarios.h"

#include "base/suggest.h"
#include "models/models.h"
#include "output.h"

size_t flr_scenarios_words(const char **words, size_t capacity)
{
    size_t count = 0;
    while (count < flr_scenario_count() && count < capacity) {
        words[count] = flr_scenario_at(count)->name;
        count++;
    }
    return count;
}

int flr_scenarios_list(flr_cli *cli)
{
    json_t *list = flr_json_array();
    for (size_t i = 0; i < flr_scenario_count(); i++) {
        const flr_scenario *scenario = flr_scenario_at(i);
        flr_print(cli, "%s%-10s%s %s\n", flr_bold(cli), scenario->name, flr_plain(cli),
                  scenario->summary);
        json_t *entry = flr_json_object();
        flr_json_set(entry, "name", flr_json_text(scenario->name));
        flr_json_set(entry, "summary", flr_json_text(scenario->summary));
        flr_json_push(list, entry);
    }
    json_t *document = flr_json_object();
    flr_json_set(document, "scenarios", list);
    flr_json_print(cli, document);
    return FLR_EXIT_OK;
}

int flr_scenarios_unknown(flr_cli *cli, const char *name)
{
    const char *words[FLR_WORDS_MAX];
    const char *near = flr_suggest(name, words, flr_scenarios_words(words, FLR_WORDS_MAX));
    if (near) return FLR_REFUSE(cli, "no scenario \"%s\"; did you mean %s?", name, near);
    return FLR_REFUSE(cli, "no scenario \"%s\"; see feeler make --list", name);
}
