// What the list of clashes says: which pairs, in words.
import type { clash_pair, message_clashes } from './protocol.mjs';
import { length } from './units.ts';
import { t } from './texts.ts';

export const STATES = ['ok', 'near', 'contact', 'overlap'] as const;
const CONTACT = 2, OVERLAP = 3;

export interface Filter {
  contacts: boolean;
  allowed: boolean;
}

/** the pairs to be listed, in the controller's order: the worst first, allowed ones last */
export function listed(pairs: readonly clash_pair[], filter: Filter): clash_pair[] {
  return pairs.filter((pair) => (filter.contacts || pair.state !== CONTACT) && (filter.allowed || !pair.allowed));
}

/** how much of it */
export function amount(pair: Pick<clash_pair, 'state' | 'depth' | 'distance'>, unit: string): string {
  if (pair.state === OVERLAP) return t('{0} deep', length(pair.depth, unit));
  // triangles overlap, but their curved surfaces would not
  if (pair.state === CONTACT && pair.depth > 0) return t('nominal fit: facets overlap by {0}', length(pair.depth, unit));
  return pair.state === CONTACT ? t('in contact') : t('{0} apart', length(pair.distance, unit));
}

/** "2 overlaps, 1 contact, 3 closer than 1.00 mm" */
export function summary(found: Pick<message_clashes, 'overlaps' | 'contacts' | 'near' | 'clearance'>, unit: string): string {
  const count = (n: number, one: string, many: string) => (n === 0 ? '' : n === 1 ? t(one) : t(many, n));
  const words = [
    count(found.overlaps, '1 overlap', '{0} overlaps'), count(found.contacts, '1 contact', '{0} contacts'),
    found.near ? t('{0} closer than {1}', found.near, length(found.clearance, unit)) : '',
  ].filter(Boolean);
  return words.length ? words.join(', ') : t('No clashes');
}

/** what counts as contact; it is less for small parts */
export function contact_words(found: Pick<message_clashes, 'least_touch' | 'most_touch'>, unit: string): string {
  const { least_touch, most_touch } = found;
  if (!(most_touch > 0)) return '';
  return least_touch < most_touch ? t('Contact: within {0} to {1}, by the size of the parts.', length(least_touch, unit), length(most_touch, unit)) : t('Contact: within {0}.', length(most_touch, unit));
}

/** metres out of what somebody typed: "1", "0,5 mm", "1/16 in" is not one; null: no length */
export function read_length(typed: string, unit: string): number | null {
  const match = /^\s*([0-9]*[.,]?[0-9]+)\s*(mm|cm|m|in)?\s*$/.exec(typed);
  if (!match) return typed.trim() === '' ? 0 : null;
  const scale = { mm: 1e-3, cm: 1e-2, m: 1, in: 0.0254 }[match[2] ?? unit] ?? 1e-3;
  const metres = Number(match[1]!.replace(',', '.')) * scale;
  return metres >= 0 && metres <= 1 ? metres : null;
}
