// The tree of parts: groups and parts as they are in the assembly, with a search. Only the rows in view are elements, so that
// thousands of parts cost no more than a few. Clicks select one, Ctrl adds, Shift takes all between; the buttons are about these.
import { by_id, h, icon, text } from './dom.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import { NONE, part_kind } from './protocol.mjs';
import type { Stage } from './scene.ts';
import { Signal } from './signal.ts';
import { range_between, tree_rows, visible_range, type GroupRow, type Row } from './tree_rows.ts';
import { t } from './texts.ts';

const ROW = window.matchMedia('(pointer: coarse)').matches ? 48 : 36; // pixels; fingers need more
const LIMIT = 8192; // parts of one command

export class Tree {
  /** selected beside the one that keys are about */
  readonly marked = new Set<number>();
  /** another file is wanted for a part */
  readonly replace = new Signal<number>();
  private rows: Row[] = [];
  private closed = new Set<string>();
  private anchor: number = NONE;
  private seen = new Set<number>(); // parts whose hidden flag was obeyed
  private elements = new Map<number, HTMLElement>(); // of parts in view
  private all = h('button', { type: 'button', class: 'quiet', id: 'parts-all', hidden: true, title: 'Show all parts again', onclick: () => this.show_all() }, 'Show all');
  private pending = false;
  private readonly search = h('input', { type: 'search', id: 'part-search', placeholder: 'Search parts', 'aria-label': 'Search parts by name or group' });
  private readonly tools = h('div', { id: 'part-actions', class: 'row', role: 'group', 'aria-label': 'Actions for the selected parts' });
  private readonly space = h('div', { class: 'tree-space' });
  private readonly list = h('div', { id: 'tree', class: 'tree', role: 'tree', tabIndex: 0, 'aria-label': 'Parts', 'aria-multiselectable': 'true' }, this.space);
  private readonly count = h('div', { id: 'part-count', class: 'hint', role: 'status' });

  /** `row` makes what a part's line shows, `fill` brings it up to date */
  constructor(
    private readonly model: Model, private readonly stage: Stage, private readonly notices: Notices,
    private readonly row: (part: number) => HTMLElement, private readonly fill: (row: HTMLElement, part: number) => void,
    private readonly changed: () => void) {
    this.build_tools();
    by_id('parts').append(this.search, this.tools, this.list, this.count);
    this.search.addEventListener('input', () => this.update());
    this.list.addEventListener('scroll', () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.list);
    this.list.addEventListener('click', (event) => this.click(event), true);
    model.on_scene.on(() => {
      this.marked.clear();
      this.closed.clear();
      this.seen.clear();
      this.elements.clear();
      this.space.replaceChildren();
      this.update();
    });
    model.on_groups.on(() => this.update());
    model.on_part.on((part) => {
      if (part.hidden && !this.seen.has(part.part)) stage.set_visible(part.part, false);
      this.seen.add(part.part);
      this.update();
    });
    model.on_part_gone.on((part) => {
      this.marked.delete(part);
      this.update();
    });
    model.on_selected.on((part) => {
      if (!this.marked.has(part)) this.mark_only(part === NONE ? [] : [part]);
      this.show(part);
    });
  }

  /** rows are made anew once for all that changed before the next picture */
  update(): void {
    if (this.pending) return;
    this.pending = true;
    window.requestAnimationFrame(() => {
      this.pending = false;
      this.rows = tree_rows(this.model.parts.values(), this.model.groups, this.closed, this.search.value);
      this.draw();
    });
  }

  /** scrolls to a part, and opens what it is in */
  show(part: number): void {
    const at = this.rows.findIndex((row) => row.kind === 'part' && row.part === part);
    if (at >= 0) {
      const top = at * ROW;
      if (top < this.list.scrollTop) this.list.scrollTop = top;
      else if (top + ROW > this.list.scrollTop + this.list.clientHeight) this.list.scrollTop = top + ROW - this.list.clientHeight;
    }
    this.draw();
  }

  /** the parts that an action is about */
  chosen(): number[] {
    if (this.marked.size) return [...this.marked].filter((part) => this.model.parts.has(part));
    return this.model.selected === NONE ? [] : [this.model.selected];
  }

  /** the rows in view as they are now */
  draw(): void {
    const [from, to] = visible_range(this.rows.length, ROW, this.list.scrollTop, this.list.clientHeight || 360);
    this.space.style.height = `${this.rows.length * ROW}px`;
    const kept = new Map<number, HTMLElement>();
    const lines: HTMLElement[] = [];
    for (let i = from; i < to; i++) {
      const row = this.rows[i]!;
      let line: HTMLElement;
      if (row.kind === 'part') {
        line = this.elements.get(row.part) ?? this.row(row.part);
        kept.set(row.part, line);
        this.fill(line, row.part);
        line.dataset['part'] = String(row.part);
        line.setAttribute('role', 'treeitem');
        line.setAttribute('aria-selected', String(this.marked.has(row.part)));
      } else line = this.group_line(row);
      line.setAttribute('aria-level', String(row.depth + 1));
      line.style.top = `${i * ROW}px`;
      line.style.paddingLeft = `${row.depth * 14}px`;
      lines.push(line);
    }
    this.elements = kept;
    // rows that stay keep their focus
    for (const old of [...this.space.children]) if (!lines.includes(old as HTMLElement)) old.remove();
    for (const line of lines) if (line.parentElement !== this.space) this.space.append(line);
    const shown = this.rows.reduce((sum, row) => sum + Number(row.kind === 'part'), 0);
    const total = this.model.parts.size;
    text(this.count, total < 2 ? '' : this.search.value && shown < total ? t('{0} of {1} parts', shown, total) : `${t('{0} parts', total)}${this.marked.size > 1 ? t(', {0} selected', this.marked.size) : ''}`);
    const few = total < 2 && !this.model.groups.size;
    this.all.hidden = [...this.model.parts.keys()].every((part) => this.stage.is_visible(part));
    this.search.hidden = this.tools.hidden = few;
  }

  private group_line(row: GroupRow): HTMLElement {
    const all = row.parts.length > 0 && row.parts.every((part) => this.marked.has(part));
    const fold = h('button', { type: 'button', class: 'tool small fold', title: row.open ? 'Close' : 'Open', 'aria-label': `${row.open ? 'Close' : 'Open'} ${row.name}`, onclick: () => {
      if (row.open) this.closed.add(row.name);
      else this.closed.delete(row.name);
      this.update();
    } }, row.open ? '▾' : '▸');
    const eye = h('button', { type: 'button', class: 'tool small part-eye-group', title: 'Show or hide all its parts', 'aria-label': t('Show or hide {0}', row.name), 'aria-pressed': String(row.parts.some((part) => this.stage.is_visible(part))), onclick: () => {
      const on = !row.parts.some((part) => this.stage.is_visible(part));
      for (const part of row.parts) this.stage.set_visible(part, on);
      this.changed();
    } });
    eye.append(icon('eye'));
    const name = h('button', { type: 'button', class: 'part-pick group-pick' }, h('span', { class: 'part-text' }, h('span', { class: 'part-name' }, row.name), h('span', { class: 'part-facts' }, `${row.parts.length === 1 ? t('1 part') : t('{0} parts', row.parts.length)}${this.model.rigid.has(row.name) ? t(', move as one') : ''}`)));
    const line = h('div', { class: 'part group', role: 'treeitem', 'aria-expanded': String(row.open), 'aria-selected': String(all) }, fold, name, eye);
    line.dataset['group'] = row.name;
    return line;
  }

  // ---- selecting ----

  private click(event: MouseEvent): void {
    const target = event.target as HTMLElement;
    if (!target.closest('.part-pick')) return;
    const line = target.closest<HTMLElement>('.part');
    const group = line?.dataset['group'];
    const row = group === undefined ? undefined : this.rows.find((one): one is GroupRow => one.kind === 'group' && one.name === group);
    const parts = row ? row.parts : line?.dataset['part'] ? [Number(line.dataset['part'])] : [];
    const last = parts[parts.length - 1];
    if (last === undefined) return;
    if (event.shiftKey && this.anchor !== NONE && !row) for (const part of range_between(this.rows, this.anchor, last)) this.marked.add(part);
    else if (event.ctrlKey || event.metaKey) {
      const add = !parts.every((part) => this.marked.has(part));
      for (const part of parts) if (add) this.marked.add(part); else this.marked.delete(part);
      this.anchor = last;
    } else {
      this.mark_only(parts);
      this.anchor = last;
    }
    event.stopPropagation();
    this.model.select(this.marked.has(last) ? last : (this.marked.values().next().value ?? NONE));
    this.changed();
    this.draw();
  }

  /** selects these, and nothing else */
  select(parts: number[]): void {
    this.mark_only(parts);
    this.model.select(parts[0] ?? NONE);
    this.changed();
    this.draw();
  }

  private mark_only(parts: number[]): void {
    this.marked.clear();
    for (const part of parts) this.marked.add(part);
  }

  // ---- actions ----

  private build_tools(): void {
    const action = (id: string, name: string, title: string, act: (parts: number[]) => void) => {
      this.tools.append(h('button', { type: 'button', class: 'quiet', id, title, onclick: () => {
        const parts = this.chosen();
        if (!parts.length) this.notices.toast('Select parts first: click a name; Ctrl adds one, Shift selects everything in between.');
        else act(parts);
      } }, name));
    };
    action('parts-hide', 'Hide', 'Hide the selected parts, or show them again', (parts) => {
      const on = !parts.some((part) => this.stage.is_visible(part));
      for (const part of parts) this.stage.set_visible(part, on);
      this.changed();
      this.draw();
    });
    action('parts-alone', 'Isolate', 'Show only the selected parts, or all again (I)', (parts) => this.isolate(parts));
    this.tools.append(this.all);
    action('parts-move', 'Movable', 'The selected parts can be picked up', (parts) => this.set_kind(parts, part_kind.PART_MOVABLE));
    action('parts-fix', 'Fixed', 'The selected parts stay where they are', (parts) => this.set_kind(parts, part_kind.PART_STATIC));
    action('parts-group', 'Group', 'Put the selected parts into a group', (parts) => this.group(parts));
    action('parts-rigid', 'Move as one', 'Make the groups of the selected parts rigid, or let their parts move separately again', (parts) => this.set_rigid(parts));
    action('parts-replace', 'Replace file…', 'Give the selected part the mesh of another file, such as a new revision; everything else stays', (parts) => this.replace.emit(parts[0]!));
    action('parts-ungroup', 'Ungroup', 'Dissolve the groups of the selected parts; the parts stay', (parts) => this.ungroup(parts));
  }

  /** parts that somebody hid, and those that the scene hides */
  show_all(): void {
    for (const part of this.model.parts.keys()) this.stage.set_visible(part, true);
    this.changed();
    this.draw();
  }

  isolate(parts: number[]): void {
    const wanted = new Set(parts);
    const alone = [...this.model.parts.keys()].every((part) => this.stage.is_visible(part) === wanted.has(part));
    for (const part of this.model.parts.keys()) this.stage.set_visible(part, alone || wanted.has(part));
    this.changed();
    this.draw();
  }

  private set_kind(parts: number[], kind: 0 | 1): void {
    for (const part of parts)
      if (this.model.parts.get(part)?.kind !== kind) this.model.connection.ask('kind', { part, kind }).catch(this.notices.failed);
  }

  private group(parts: number[]): void {
    let number = 1;
    while (this.model.groups.has(`group ${number}`)) number++;
    const name = window.prompt(t('Name of the group'), `group ${number}`)?.trim();
    if (!name) return;
    this.model.connection.ask('regroup', { name, parts: Uint32Array.from(parts.slice(0, LIMIT)), rigid: 0 }).catch(this.notices.failed);
  }

  private ungroup(parts: number[]): void {
    const names = new Set(parts.map((part) => this.model.parts.get(part)?.group ?? '').filter(Boolean));
    if (!names.size) this.notices.toast('The selected parts are in no group.');
    for (const name of names) this.model.connection.ask('regroup', { name, parts: new Uint32Array(), rigid: 0 }).catch(this.notices.failed);
  }

  /** The groups of these parts become rigid; when all are, their parts move by themselves again. */
  private set_rigid(parts: number[]): void {
    const names = new Set(parts.map((part) => this.model.parts.get(part)?.group ?? '').filter(Boolean));
    if (!names.size) this.notices.toast('The selected parts are in no group. Press Group to make one first.');
    const rigid = [...names].every((name) => this.model.rigid.has(name)) ? 2 : 1;
    for (const name of names) this.model.connection.ask('regroup', { name, parts: new Uint32Array(), rigid }).catch(this.notices.failed);
  }
}
