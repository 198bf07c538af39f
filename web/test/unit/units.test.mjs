import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { bounds, gap_text, length, mass, metres, reading_unit } = await load('units.ts');

test('a scene in metres is read in millimetres, one in inches in inches', () => {
  for (const unit of ['m', 'cm', 'mm', 'um', '']) assert.equal(reading_unit(unit), 'mm');
  for (const unit of ['in', 'ft']) assert.equal(reading_unit(unit), 'in');
  assert.equal(metres('in'), 0.0254);
});

test('lengths', () => {
  assert.equal(mass(24), '24.0 kg');
  assert.equal(mass(0.0125), '12.5 g');
  assert.equal(length(0.005, 'mm'), '5.00 mm');
  assert.equal(length(0.0000268, 'mm'), '0.0268 mm');
  assert.equal(length(0.999, 'mm'), '999 mm');
  assert.equal(length(1.2345, 'mm'), '1.234 m');
  assert.equal(length(-2, 'mm'), '-2.000 m');
  assert.equal(length(0, 'mm'), '0 mm');
  assert.equal(length(0.00099999, 'mm'), '1.00 mm');
  assert.equal(length(1.27, 'in'), '50.0 in');
  assert.equal(length(Infinity, 'mm'), 'none in reach');
});

test('bounds are in one unit', () => {
  assert.equal(bounds(2.68e-5, 0.00121, 'mm'), '0.0268 – 1.21 mm');
  assert.equal(bounds(0.9, 1.1, 'mm'), '0.900 – 1.100 m');
  assert.equal(bounds(0.006, 0.006, 'mm'), '6.00 mm');
  assert.equal(bounds(0.02, Infinity, 'mm'), 'more than 20.0 mm');
  assert.equal(bounds(Infinity, Infinity, 'mm'), 'nothing near');
});

test('an exact distance has an error, and interference a word', () => {
  assert.equal(gap_text(96.2e-6, 0, 'mm'), '0.096 mm ± 0.001');
  assert.equal(gap_text(96.2e-6, 2.4e-6, 'mm'), '0.096 mm ± 0.003');
  assert.equal(gap_text(-12e-6, 0, 'mm'), 'interference 0.012 mm ± 0.001');
  assert.equal(gap_text(-2e-4, 1e-3, 'mm'), 'interference at least 0.200 mm');
  assert.equal(gap_text(-1e-12, 1e-3, 'mm'), 'surfaces coincide, overlap up to 1.000 mm');
  assert.equal(gap_text(0, 0, 'mm'), 'surfaces meet');
  assert.equal(gap_text(2.54e-5, 0, 'in'), '0.00100 in ± 0.00001');
  assert.equal(gap_text(Infinity, 0, 'mm'), 'nothing near');
});
