// What a measurement says.
import { decimal, fixed, LIST } from './numbers.ts';
import type { measured, message_measure, Vec3 } from './protocol.mjs';
import { digits, metres } from './units.ts';
import { t } from './texts.ts';

const POINT = 1, EDGE = 2, PLANE = 3, CYLINDER = 4, FACE = 5, PART = 6;

/** a length as it was measured: micrometres, or the hundred-thousandth of an inch */
export function exact_length(value_m: number, unit: string): string {
  return `${exact_number(value_m, unit)} ${unit}`;
}

function exact_number(value_m: number, unit: string): string {
  const text = (value_m / metres(unit)).toFixed(unit === 'in' ? 5 : 3);
  return decimal(/^-0\.0*$/.test(text) ? text.slice(1) : text);
}

function area(value_m2: number, unit: string): string {
  return `${digits(value_m2 / metres(unit) ** 2)} ${unit}²`;
}

export function triple(value: Vec3, unit: string): string {
  return ['X', 'Y', 'Z'].map((name, k) => `${name} ${exact_number(value[k]!, unit)}`).join(' · ');
}

/** an axis has no sense: its largest component is shown positive */
function axis(direction: Vec3): string {
  const largest = direction.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
  return along(largest < 0 ? (direction.map((value) => -value) as Vec3) : direction);
}

function along(direction: Vec3): string {
  return direction.map((value) => (Math.abs(value) < 5e-4 ? '0' : fixed(value, 3))).join(LIST);
}

/** what was picked, in a few words */
export function what(one: measured, part: string, unit: string): string {
  switch (one.kind) {
    case POINT: return t('point');
    case EDGE: return one.radius > 0 ? t('round edge ⌀ {0}', exact_length(2 * one.radius, unit)) : t('edge, {0}', exact_length(one.size, unit));
    case PLANE: return t('flat face');
    case CYLINDER: return `${t(one.hollow ? 'hole' : 'cylinder')} ⌀ ${exact_length(2 * one.radius, unit)}`;
    case FACE: return t('curved face');
    case PART: return part;
    default: return '';
  }
}

/** the lines below: where it is, its direction, its size */
export function details(one: measured, unit: string): string[] {
  const lines: string[] = [];
  if (one.kind === POINT) lines.push(`${triple(one.point, unit)} ${unit}`);
  if (one.kind === PLANE || one.kind === FACE) lines.push(t('area {0}', area(one.size, unit)));
  if (one.kind === PLANE) lines.push(t('normal {0}', along(one.direction)));
  if (one.radius > 0) lines.push(t('axis {0} through {1} {2}', axis(one.direction), triple(one.point, unit), unit));
  return lines;
}

const LINES: Record<string, string> = { '3 3': 'planes', '4 4': 'axes', '2 2': 'lines' };

/** what lies between two: distance along the axes, angle, distance of axes or planes where that is another */
export function between(found: message_measure, unit: string): string[] {
  const lines = [`${triple(found.to.map((value, k) => value - found.from[k]!) as Vec3, unit)} ${unit}`];
  if (found.has_angle) lines.push(t('angle {0}°', fixed((found.angle * 180) / Math.PI, 2)));
  if (found.has_between && Math.abs(found.between - found.distance) > 5e-7) {
    const name = LINES[`${found.first.kind} ${found.second.kind}`] ?? 'extended';
    lines.push(t('{0}: {1} apart', t(name), exact_length(found.between, unit)));
  }
  return lines;
}
