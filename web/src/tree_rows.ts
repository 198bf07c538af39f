// The rows of the tree of parts: which lines a list shows, for any number of parts. Pure: it draws nothing.

export interface TreePart {
  part: number;
  name: string;
  group: string; // '': none
}

export interface GroupRow {
  kind: 'group';
  depth: number;
  name: string;
  open: boolean;
  parts: number[]; // all below it
}

export interface PartRow {
  kind: 'part';
  depth: number;
  part: number;
}

export type Row = GroupRow | PartRow;

const NONE = '';

function matches(text: string, words: string[]): boolean {
  const lower = text.toLocaleLowerCase();
  return words.every((word) => lower.includes(word));
}

/** names of a group and all that it is in, with the outermost first; a cycle ends it */
export function path_of(group: string, groups: ReadonlyMap<string, string>): string[] {
  const path: string[] = [];
  for (let at = group; at !== NONE && !path.includes(at); at = groups.get(at) ?? NONE) path.unshift(at);
  return path;
}

/**
 * Groups first in their order, then parts in theirs. `groups` says which group each is in. A query keeps parts whose name, or whose
 * groups' names, hold all its words, and opens every group around them.
 */
export function tree_rows(parts: Iterable<TreePart>, groups: ReadonlyMap<string, string>, closed: ReadonlySet<string>, query = ''): Row[] {
  const words = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const inside = new Map<string, TreePart[]>();
  const below = new Map<string, number[]>();
  const paths = new Map<string, string[]>();
  for (const part of parts) {
    const group = groups.has(part.group) ? part.group : NONE;
    let path = paths.get(group);
    if (!path) paths.set(group, (path = path_of(group, groups)));
    if (words.length && !matches([...path, part.name].join(' '), words)) continue;
    const list = inside.get(group);
    if (list) list.push(part);
    else inside.set(group, [part]);
    for (const name of path) {
      const all = below.get(name);
      if (all) all.push(part.part);
      else below.set(name, [part.part]);
    }
  }
  const children = new Map<string, string[]>();
  for (const [name, parent] of groups) {
    const known = groups.has(parent) ? parent : NONE;
    const list = children.get(known);
    if (list) list.push(name);
    else children.set(known, [name]);
  }
  const rows: Row[] = [];
  const add = (group: string, depth: number) => {
    for (const name of children.get(group) ?? []) {
      const held = below.get(name) ?? [];
      if (words.length && !held.length) continue;
      const open = words.length > 0 || !closed.has(name);
      rows.push({ kind: 'group', depth, name, open, parts: held });
      if (open) add(name, depth + 1);
    }
    for (const part of inside.get(group) ?? []) rows.push({ kind: 'part', depth, part: part.part });
  };
  add(NONE, 0);
  return rows;
}

/** which rows of a list are in view: from, to (exclusive), with some more at both ends */
export function visible_range(count: number, height: number, top: number, view: number, more = 6): [number, number] {
  const first = Math.max(0, Math.floor(top / height) - more);
  return [Math.min(first, count), Math.min(count, Math.ceil((top + view) / height) + more)];
}

/** the parts between two of a list of rows, both included; groups between count with all they hold */
export function range_between(rows: readonly Row[], one: number, other: number): number[] {
  const at = (part: number) => rows.findIndex((row) => row.kind === 'part' && row.part === part);
  const [from, to] = [at(one), at(other)].sort((a, b) => a - b) as [number, number];
  if (from < 0) return [other];
  return rows.slice(from, to + 1).flatMap((row) => (row.kind === 'part' ? [row.part] : row.open ? [] : row.parts));
}
