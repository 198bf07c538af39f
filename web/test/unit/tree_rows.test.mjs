import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { tree_rows, visible_range, range_between, path_of } = await load('tree_rows.ts');
const groups = new Map([['pump', ''], ['screws', 'pump'], ['frame', '']]);
const parts = [
  { part: 1, name: 'housing', group: 'pump' },
  { part: 2, name: 'screw:1', group: 'screws' },
  { part: 3, name: 'screw:2', group: 'screws' },
  { part: 4, name: '螺栓', group: 'frame' },
  { part: 5, name: 'loose', group: '' },
];
const show = (rows) => rows.map((row) => `${' '.repeat(row.depth)}${row.kind === 'group' ? row.name : row.part}`);

test('groups come before parts, each below what it is in', () => {
  assert.deepEqual(show(tree_rows(parts, groups, new Set())), ['pump', ' screws', '  2', '  3', ' 1', 'frame', ' 4', '5']);
});

test('a closed group hides what it holds and still counts it', () => {
  const rows = tree_rows(parts, groups, new Set(['pump']));
  assert.deepEqual(show(rows), ['pump', 'frame', ' 4', '5']);
  assert.deepEqual(rows[0].parts, [1, 2, 3]);
});

test('a search finds names of parts and of groups around them, in any script', () => {
  assert.deepEqual(show(tree_rows(parts, groups, new Set(['pump']), 'PUMP screw')), ['pump', ' screws', '  2', '  3']);
  assert.deepEqual(show(tree_rows(parts, groups, new Set(), '螺')), ['frame', ' 4']);
  assert.deepEqual(show(tree_rows(parts, groups, new Set(), 'nothing')), []);
});

test('a group that is in itself ends, and one that is not known is none', () => {
  assert.deepEqual(path_of('a', new Map([['a', 'b'], ['b', 'a']])), ['b', 'a']);
  assert.deepEqual(show(tree_rows([{ part: 1, name: 'x', group: 'gone' }], new Map(), new Set())), ['1']);
});

test('five thousand parts make their rows in a moment, and few of them are in view', () => {
  const many = Array.from({ length: 5000 }, (_, i) => ({ part: i, name: `part ${i}`, group: `group ${i % 100}` }));
  const tree = new Map(Array.from({ length: 100 }, (_, i) => [`group ${i}`, i ? `group ${Math.floor(i / 3)}` : '']));
  const before = performance.now();
  const rows = tree_rows(many, tree, new Set());
  assert.ok(performance.now() - before < 500);
  assert.equal(rows.length, 5100);
  const [from, to] = visible_range(rows.length, 30, 60000, 400);
  assert.ok(from > 1900 && to - from < 40);
  assert.deepEqual(visible_range(3, 30, 0, 400), [0, 3]);
});

test('a range takes all between, and a closed group with all that it holds', () => {
  const rows = tree_rows(parts, groups, new Set(['frame']));
  assert.deepEqual(range_between(rows, 3, 1), [3, 1]);
  assert.deepEqual(range_between(rows, 1, 5), [1, 4, 5]);
});
