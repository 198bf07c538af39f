// Keys: moving goes to the hand, everything else is a word that a button has, too.
import type { Dragging } from './drag.ts';
import type { KeyPointer } from './key_pointer.ts';

export type Actions = Record<'frame' | 'undo' | 'reset' | 'pause' | 'record' | 'section' | 'gizmo' | 'gizmo_mode' | 'measure' | 'open' |
  'plots' | 'panel' | 'theme' | 'help' | 'let_go' | 'tool' | 'isolate' | 'ruler' | 'note' | 'key_pointer', () => void> & { view: (from: string) => void };

const KEYS: Record<string, keyof Omit<Actions, 'view'>> = {
  f: 'frame', Home: 'frame', u: 'undo', Backspace: 'reset', ' ': 'pause', r: 'record', x: 'section', g: 'gizmo', h: 'gizmo_mode',
  m: 'measure', o: 'open', l: 'plots', p: 'panel', t: 'theme', q: 'tool', i: 'isolate', d: 'ruler', n: 'note', k: 'key_pointer', '?': 'help', Escape: 'let_go',
};
const VIEWS: Record<string, string> = { '1': 'front', '2': 'right', '3': 'top', '0': 'iso' };

export function keyboard(dragging: Dragging, pointer: KeyPointer, actions: Actions): void {
  window.addEventListener('keydown', (event) => {
    // somebody types a number, or a dialog is open: keys are theirs
    const target = event.target as HTMLElement | null;
    if (target?.closest('input:not([type=checkbox], [type=range]), select, textarea, dialog[open]')) return;
    // a slider takes the keys that move it
    if (target?.closest('input[type=range]') && /^(Arrow|Page|Home|End)/.test(event.key)) return;
    if (pointer.key_down(event) || dragging.key_down(event)) {
      event.preventDefault();
      return;
    }
    if (event.ctrlKey && event.key === 'z') {
      event.preventDefault();
      actions.undo();
      return;
    }
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    // a focused button, a check box, or the head of a card, takes the space bar itself
    if (event.key === ' ' && target?.closest('button, summary, a, input')) return;
    const view = VIEWS[event.key];
    const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (view) actions.view(view);
    else if (action) actions[action]();
    else return;
    event.preventDefault();
  });
  window.addEventListener('keyup', (event) => dragging.key_up(event));
}
