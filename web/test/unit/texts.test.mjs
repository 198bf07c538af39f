// Every sentence that the code asks for by its English text has a German one.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { load } from '../load.mjs';

const { GERMAN } = await load('german.ts');
const folder = new URL('../../src/', import.meta.url);
const sources = readdirSync(folder).filter((name) => name.endsWith('.ts') && name !== 'german.ts');

/** what the pattern's first group matches, in all sources, as code reads it */
function* literals(pattern) {
  for (const name of sources)
    for (const [, literal] of readFileSync(new URL(name, folder), 'utf8').matchAll(pattern)) yield [name, literal.replace(/\\(.)/g, '$1')];
}

test('texts that are looked up are in German, too', () => {
  let count = 0;
  for (const [name, english] of literals(/(?<![\w$.])t\(\s*'((?:[^'\\]|\\.)*)'/g)) {
    assert.ok(english in GERMAN, `${name}: “${english}”`);
    count++;
  }
  assert.ok(count > 150, `${count} texts`);
});

test('warnings of one sentence are in German, too', () => {
  for (const [name, english] of literals(/\.toast\('((?:[^'\\]|\\.)*)'/g)) assert.ok(english in GERMAN, `${name}: “${english}”`);
});

test('both languages have the same values', () => {
  const values = (sentence) => [...new Set(sentence.match(/\{\d\}/g))].sort().join();
  for (const [english, german] of Object.entries(GERMAN)) assert.equal(values(german), values(english), english);
});
