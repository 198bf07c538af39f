// Making elements: short enough to need no framework.

import { t } from './texts.ts';

type Props = Record<string, unknown>;
type Child = Node | string | null | undefined | false;

/** what people read of an element */
const READ = new Set(['title', 'aria-label', 'placeholder', 'alt']);
/** texts in these are somebody's own */
const OWN = /(^| )(part-name|person-name|note-text)( |$)/;

/** an element with properties, attributes (those with a dash, and role) and handlers (on…); texts in the page's language */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (READ.has(name) && typeof value === 'string') {
      element.setAttribute(name, t(value));
      continue;
    }
    if (name.startsWith('on') && typeof value === 'function')
      element.addEventListener(name.slice(2), value as EventListener);
    else if (name.includes('-') || name === 'role' || name === 'for') element.setAttribute(name, String(value));
    else if (name === 'class') element.className = String(value);
    else (element as unknown as Props)[name] = value;
  }
  const own = OWN.test(String(props['class'] ?? ''));
  for (const child of children) if (child) element.append(typeof child === 'string' && !own ? t(child) : child);
  return element;
}

export function by_id<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page lacks #${id}`);
  return element as T;
}

/** sets text only when it differs: a status line is written sixty times a second */
export function text(element: HTMLElement, value: string): void {
  if (element.textContent !== value) element.textContent = value;
}

/** paths of 24 × 24 icons, drawn with strokes */
const ICONS = {
  frame: 'M4 9V5a1 1 0 0 1 1-1h4M15 4h4a1 1 0 0 1 1 1v4M20 15v4a1 1 0 0 1-1 1h-4M9 20H5a1 1 0 0 1-1-1v-4M9 9h6v6H9z',
  undo: 'M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3',
  reset: 'M3 12a9 9 0 1 0 3-6.7M3 4v5h5',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 4l13 8-13 8z',
  record: 'M12 6a6 6 0 1 0 0 12a6 6 0 1 0 0-12z',
  stop: 'M6 6h12v12H6z',
  section: 'M3 7l9-4 9 4-9 4zM3 12h18M5 16l7 3 7-3',
  gizmo: 'M12 13V3M12 3l-2.500 3M12 3l2.500 3M12 13l8 5M20 18l-3.700-.200M20 18l-1.600-3.300M12 13l-8 5M4 18l3.700-.200M4 18l1.600-3.300',
  ruler: 'M3 16 16 3l5 5L8 21zM7 12l2.500 2.500M10 9l1.500 1.500M13 6l2.500 2.500',
  note: 'M5 4h14v11H11l-4 4v-4H5zM8.500 8h7M8.500 11h5',
  point: 'M20 4 10 14M10 14l-3.500 6.500L13 17zM16 3l5 5',
  sun: 'M12 7.500a4.500 4.500 0 1 0 0 9a4.500 4.500 0 1 0 0-9zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.400 1.400M17.600 17.600 19 19M5 19l1.400-1.400M17.600 6.400 19 5',
  help: 'M9 9a3 3 0 1 1 4.500 2.600c-1 .600-1.500 1.200-1.500 2.400M12 17.500v.1',
  open: 'M12 15V4M12 4 8 8M12 4l4 4M4 15v4a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-4',
  close: 'M6 6l12 12M18 6 6 18',
  down: 'M6 9l6 6 6-6',
  download: 'M12 4v11M12 15l-4-4M12 15l4-4M4 19h16',
  report: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  headset: 'M3 8h18v8h-6l-3-3-3 3H3zM7.500 11.500v.1M16.500 11.500v.1',
  eye: 'M2 12s3.600-6.500 10-6.500S22 12 22 12s-3.600 6.500-10 6.500S2 12 2 12zM12 9a3 3 0 1 0 0 6a3 3 0 1 0 0-6z',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  panel: 'M4 5h16v14H4zM15 5v14',
};

export type IconName = keyof typeof ICONS;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

/** a button with an icon; its label is what a screen reader says and the pointer's tip shows */
export function tool(name: IconName, label: string, click: () => void, id = ''): HTMLButtonElement {
  const button = h('button', { class: 'tool', type: 'button', id, title: label, 'aria-label': label, onclick: click });
  button.append(icon(name));
  return button;
}

/** a check box with its label */
export function toggle(label: string, value: boolean, change: (value: boolean) => void, id = ''): HTMLLabelElement {
  const box = h('input', { type: 'checkbox', checked: value, id, onchange: () => change(box.checked) });
  return h('label', { class: 'toggle' }, box, h('span', {}, label));
}
