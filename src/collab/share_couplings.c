/* remote couplings of a shared engine: a part is coupled to its instances at those who hold it, or to the place where it was let go */
#include <string.h>

#include "collab/share_internal.h"

void flr_share_set_solid(flr_share *s, flr_shared_part *p, bool solid)
{
    if (p->ghost == !solid) return;
    if (flr_engine_set_solid(s->def.engine, p->id, solid, NULL) == FLR_OK) p->ghost = !solid;
    s->changes++;
}

static void uncouple(flr_share *s, uint32_t coupling)
{
    if (flr_engine_set_coupling(s->def.engine, coupling, FLR_NO_PART_ID, NULL, NULL) == FLR_OK)
        s->couplings[coupling] = (flr_shared_coupling){0};
}

uint32_t flr_share_find_coupling(const flr_share *s, uint32_t part, uint16_t member)
{
    for (uint32_t i = 0; i < FLR_WORLD_REMOTE_COUPLINGS; i++)
        if (s->couplings[i].used && s->couplings[i].part == part &&
            s->couplings[i].member == member)
            return i;
    return FLR_WORLD_REMOTE_COUPLINGS;
}

static void coupling(flr_share *s, uint32_t part, uint16_t member, bool mutual,
                     const flr_membership_part *rest)
{
    uint32_t at = flr_share_find_coupling(s, part, member);
    // another leader may have given another place under the same number
    bool same = at < FLR_WORLD_REMOTE_COUPLINGS && s->couplings[at].mutual == mutual &&
                (!rest || (s->couplings[at].number == rest->number &&
                           memcmp(&s->couplings[at].T_world_rest, &rest->T_world_part,
                                  sizeof rest->T_world_part) == 0));
    if (same) return;
    for (uint32_t i = 0; at == FLR_WORLD_REMOTE_COUPLINGS && i < FLR_WORLD_REMOTE_COUPLINGS; i++)
        if (!s->couplings[i].used) at = i;
    if (at >= FLR_WORLD_REMOTE_COUPLINGS) return; /* more than that cannot be felt apart */
    flr_remote_coupling_def def = flr_default_remote_coupling_def();
    def.mutual = mutual;
    def.rest = rest;
    if (rest) def.T_world_rest = rest->T_world_part;
    // what does not get through now is tried in the next round
    if (flr_engine_set_coupling(s->def.engine, at, s->parts[part].id, &def, NULL) != FLR_OK) return;
    double put = s->couplings[at].used ? s->couplings[at].put : 0;
    s->couplings[at] = (flr_shared_coupling){.used = true,
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
    flr_session_person person;
    uint16_t member = 0;
    bool diverged = false;
    for (uint32_t i = 0; i < FLR_WORLD_REMOTE_COUPLINGS && !diverged; i++) {
        const flr_shared_coupling *t = &s->couplings[i];
        if (!t->used || t->rest || t->part != part) continue;
        diverged = t->diverged;
        member = t->member;
    }
    if (p->diverged == diverged) return;
    p->diverged = diverged;
    s->changes++;
    bool known = flr_session_person_find(s->session, member, &person);
    if (!member) return; /* nobody else holds it any more */
    flr_engine_news(s->def.engine, diverged ? FLR_WIRE_EVENT_WARNING : FLR_WIRE_EVENT_NOTE, p->id,
                    FLR_NO_HAND_ID,
                    diverged ? "something is caught between this part here and at %s's"
                             : "the part here and at %s's are together again",
                    known ? person.name : "another member");
}

void flr_share_match(flr_share *s, uint32_t part)
{
    flr_shared_part *p = &s->parts[part];
    flr_membership_part entry = {0};
    bool in = flr_session_part(s->session, part, &entry);
    uint16_t self = flr_session_self(s->session);
    bool mine = flr_session_claims(s->session, part);
    bool home = in && entry.rest && !mine && flr_membership_owes(&entry, self);
    for (uint32_t i = 0; i < FLR_WORLD_REMOTE_COUPLINGS; i++) {
        const flr_shared_coupling *t = &s->couplings[i];
        if (!t->used || t->part != part) continue;
        bool wanted = t->rest ? home && t->number == entry.number
                              : in && flr_membership_holds(&entry, t->member) && t->member != self;
        if (!wanted) uncouple(s, i);
    }
    if (p->diverged) flr_share_tell_diverged(s, part);
    for (uint32_t i = 0; in && i < entry.holder_count; i++)
        if (entry.holders[i] != self) coupling(s, part, entry.holders[i], mine, NULL);
    if (home) {
        if (!p->homing_ns) p->homing_ns = p->moved_ns = flr_share_now(s);
        coupling(s, part, 0, false, &entry);
    } else {
        p->homing_ns = 0;
        flr_share_set_solid(s, p, true);
    }
    if (in && !entry.rest) p->placing = false;
}
