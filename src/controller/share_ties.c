/* ties of a shared engine: a part is tied to its instances at those who hold it, or to the place where it was let go */
#include <string.h>

#include "controller/share_inside.h"

void flr_share_set_solid(flr_share *s, flr_shared_part *p, bool solid)
{
    if (p->ghost == !solid) return;
    if (flr_engine_set_solid(s->def.engine, p->id, solid, NULL) == FLR_OK) p->ghost = !solid;
    s->changes++;
}

static void untie(flr_share *s, uint32_t tie)
{
    if (flr_engine_set_tie(s->def.engine, tie, NULL, NULL) == FLR_OK)
        s->ties[tie] = (flr_shared_tie){0};
}

uint32_t flr_share_find_tie(const flr_share *s, uint32_t part, uint16_t member)
{
    for (uint32_t i = 0; i < FLR_WORLD_TIES; i++)
        if (s->ties[i].used && s->ties[i].part == part && s->ties[i].member == member) return i;
    return FLR_WORLD_TIES;
}

static void tie(flr_share *s, uint32_t part, uint16_t member, bool mutual,
                const flr_roll_part *rest)
{
    uint32_t at = flr_share_find_tie(s, part, member);
    // another leader may have given another place under the same number
    bool same = at < FLR_WORLD_TIES && s->ties[at].mutual == mutual &&
                (!rest || (s->ties[at].number == rest->number &&
                           memcmp(&s->ties[at].T_world_rest, &rest->T_world_part,
                                  sizeof rest->T_world_part) == 0));
    if (same) return;
    for (uint32_t i = 0; at == FLR_WORLD_TIES && i < FLR_WORLD_TIES; i++)
        if (!s->ties[i].used) at = i;
    if (at >= FLR_WORLD_TIES) return; /* more than that cannot be felt apart */
    flr_world_tie_def def = flr_default_world_tie_def();
    def.part = s->parts[part].id;
    def.mutual = mutual;
    def.rest = rest;
    if (rest) def.T_world_rest = rest->T_world_part;
    // what does not get through now is tried in the next round
    if (flr_engine_set_tie(s->def.engine, at, &def, NULL) != FLR_OK) return;
    double put = s->ties[at].used ? s->ties[at].put : 0;
    s->ties[at] = (flr_shared_tie){.used = true,
                                   .rest = rest,
                                   .mutual = mutual,
                                   .part = part,
                                   .member = member,
                                   .number = rest ? rest->number : 0,
                                   .T_world_rest = def.T_world_rest,
                                   .put = put};
}

void flr_share_tell_diverged(flr_share *s, uint32_t part)
{
    flr_shared_part *p = &s->parts[part];
    flr_party_person person;
    uint16_t member = 0;
    bool diverged = false;
    for (uint32_t i = 0; i < FLR_WORLD_TIES && !diverged; i++) {
        const flr_shared_tie *t = &s->ties[i];
        if (!t->used || t->rest || t->part != part) continue;
        diverged = t->diverged;
        member = t->member;
    }
    if (p->diverged == diverged) return;
    p->diverged = diverged;
    s->changes++;
    bool known = flr_party_person_find(s->party, member, &person);
    if (!member) return; /* nobody else holds it any more */
    flr_engine_news(s->def.engine, diverged ? FLR_WIRE_EVENT_WARNING : FLR_WIRE_EVENT_NOTE, p->id,
                    FLR_ENGINE_NONE,
                    diverged ? "something is caught between this part here and at %s's"
                             : "the part here and at %s's are together again",
                    known ? person.name : "another member");
}

void flr_share_match(flr_share *s, uint32_t part)
{
    flr_shared_part *p = &s->parts[part];
    flr_roll_part entry = {0};
    bool in = flr_party_part(s->party, part, &entry);
    uint16_t self = flr_party_self(s->party);
    bool mine = flr_party_claims(s->party, part);
    bool home = in && entry.rest && !mine && flr_roll_owes(&entry, self);
    for (uint32_t i = 0; i < FLR_WORLD_TIES; i++) {
        const flr_shared_tie *t = &s->ties[i];
        if (!t->used || t->part != part) continue;
        bool wanted = t->rest ? home && t->number == entry.number
                              : in && flr_roll_holds(&entry, t->member) && t->member != self;
        if (!wanted) untie(s, i);
    }
    if (p->diverged) flr_share_tell_diverged(s, part);
    for (uint32_t i = 0; in && i < entry.holder_count; i++)
        if (entry.holders[i] != self) tie(s, part, entry.holders[i], mine, NULL);
    if (home) {
        if (!p->homing_ns) p->homing_ns = p->moved_ns = flr_share_now(s);
        tie(s, part, 0, false, &entry);
    } else {
        p->homing_ns = 0;
        flr_share_set_solid(s, p, true);
    }
    if (in && !entry.rest) p->placing = false;
}
