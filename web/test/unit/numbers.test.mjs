// Numbers are shown as the language has them, and read with a point or a comma.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { load, root } from '../load.mjs';

const { decimal, read_number } = await load('numbers.ts');

test('a comma in German, a point in English', () => {
  assert.equal(decimal('0.125', 'de'), '0,125');
  assert.equal(decimal('1.2e-7', 'de'), '1,2e-7');
  assert.equal(decimal('12', 'de'), '12');
  assert.equal(decimal('0.125', 'en'), '0.125');
});

test('both are read', () => {
  for (const [typed, value] of [['0,5', 0.5], ['0.5', 0.5], [' -12,25 ', -12.25], ['+3', 3], [',5', 0.5], ['2.', 2], ['1e-3', 0.001], ['1,5E2', 150]])
    assert.equal(read_number(typed), value, typed);
  for (const typed of ['', ' ', 'much', '1,2,3', '1.2.3', '0x10', '5 mm', '--1', 'Infinity']) assert.ok(Number.isNaN(read_number(typed)), typed);
});

test('the form for files takes what is read, and nothing else', () => {
  const html = readFileSync(join(root, 'index.html'), 'utf8');
  const form = html.slice(html.indexOf('id="file-dialog"'), html.indexOf('id="report-title"'));
  const fields = [...form.matchAll(/<input [^>]*inputmode="decimal"[^>]*>/g)].map(([field]) => field);
  assert.equal(fields.length, 4);
  for (const field of fields) for (const flags of ['u', 'v']) {
    const pattern = new RegExp(`^(?:${/pattern="([^"]*)"/.exec(field)?.[1]})$`, flags);
    for (const typed of ['0,5', '0.5', ' 12,25 ', '+3', ',5', '2.', '1e-3', '1,5E2', 'much', '1,2,3', '1.000,5', '0x10', '5 mm', '--1', 'Infinity'])
      assert.equal(pattern.test(typed), !Number.isNaN(read_number(typed)), `${field} ${typed}`);
    assert.equal(pattern.test('-1'), !field.includes('name="voxel"'));
  }
});
