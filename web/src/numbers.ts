// Numbers as people of the page's language read and type them: with a point, or in German with a comma. Whatever the language, both may
// be typed.
import { h } from './dom.ts';
import { language } from './texts.ts';

/** a number's text as the page's language has it */
export function decimal(text: string, of: string = language): string {
  return of === 'de' ? text.replace('.', ',') : text;
}

export function fixed(value: number, places: number): string {
  return decimal(value.toFixed(places));
}

/** between numbers of a list: no sign that is in one */
export const LIST = language === 'de' ? '; ' : ', ';

/** what somebody typed; NaN: nothing, or no number */
export function read_number(typed: string): number {
  const text = typed.trim().replace(',', '.');
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
}

/** a number for a field, with so many digits that count */
export function typed(value: number, precision = 15): string {
  return decimal(String(Number(value.toPrecision(precision))));
}

/** a field for a number; its text is read by read_number() */
export function number_field(props: Record<string, unknown>): HTMLInputElement {
  return h('input', { type: 'text', inputMode: 'decimal', autocomplete: 'off', ...props });
}
