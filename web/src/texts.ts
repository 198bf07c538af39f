// All texts of the page in one table: English as they stand in the code, and German. A text is looked up when it is shown, so that code reads
// as what it says. Where a text has values in it they are {0}, {1} … Sentences that the controller says are its own, in English.
import { GERMAN } from './german.ts';

export type Language = 'en' | 'de';

const KEY = 'feeler.language';

function begin(): Language {
  const asked = typeof location === 'undefined' ? null : new URL(location.href).searchParams.get('lang');
  if (asked === 'en' || asked === 'de') return asked;
  try {
    const kept = localStorage.getItem(KEY);
    if (kept === 'en' || kept === 'de') return kept;
  } catch {
    // storage may be forbidden; then the browser's language counts
  }
  return typeof navigator !== 'undefined' && /^de\b/i.test(navigator.language) ? 'de' : 'en';
}

export const language: Language = begin();

/** kept in the browser; the page is read again */
export function set_language(chosen: Language): void {
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // as above
  }
  const here = new URL(location.href);
  here.searchParams.delete('lang');
  location.assign(here);
}

const fill = (text: string, values: readonly (string | number)[]) => text.replace(/\{(\d)\}/g, (_, k: string) => String(values[Number(k)] ?? ''));

/** a text in the page's language; what the table lacks stays English */
export function t(english: string, ...values: (string | number)[]): string {
  return fill(language === 'de' ? GERMAN[english] ?? english : english, values);
}

const SHOWN = ['title', 'aria-label', 'placeholder', 'alt'];

/** the texts of a document's own elements */
export function translate(root: HTMLElement): void {
  document.documentElement.lang = language;
  if (language === 'en') return;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.nodeValue ?? '', english = text.trim();
    if (english) node.nodeValue = text.replace(english, () => t(english));
  }
  for (const element of root.querySelectorAll('*'))
    for (const name of SHOWN) {
      const english = element.getAttribute(name);
      if (english) element.setAttribute(name, t(english));
    }
}
