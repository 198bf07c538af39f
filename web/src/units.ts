// Lengths as people read them, with as many digits as tell something.
import { decimal, fixed } from './numbers.ts';
import { t } from './texts.ts';

const METRES: Record<string, number> = { m: 1, cm: 0.01, mm: 0.001, um: 1e-6, in: 0.0254, ft: 0.3048 };

/** metres in one of a unit; an unknown one counts as millimetres, the commonest in CAD */
export function metres(unit: string): number {
  return METRES[unit] ?? 0.001;
}

/** three digits that count, without an exponent where that can be read */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '–';
  const size = Math.abs(Number(value.toPrecision(3))); // 0.9999 is 1.00, not 1.000
  if (size === 0) return '0';
  if (size >= 1e6 || size < 1e-4) return decimal(value.toExponential(2));
  const places = Math.max(0, 2 - Math.floor(Math.log10(size)));
  return fixed(value, Math.min(places, 6));
}

/** what lengths are shown and asked for in: inches where the scene has them, else millimetres, since one in metres is as
 * much about gaps of a few millimetres */
export function reading_unit(scene_unit: string): 'mm' | 'in' {
  return scene_unit === 'in' || scene_unit === 'ft' ? 'in' : 'mm';
}

/** millimetres from a metre on are read as metres; then a digit more, so that one is a millimetre */
function shown_in(greatest_m: number, unit: string): (value_m: number) => string {
  return name_of(greatest_m, unit) === 'm' ? (value_m) => fixed(value_m, 3) : (value_m) => digits(value_m / metres(unit));
}

function name_of(greatest_m: number, unit: string): string {
  return unit === 'mm' && Math.abs(greatest_m) >= 1 ? 'm' : unit;
}

export function length(value_m: number, unit: string): string {
  return Number.isFinite(value_m) ? `${shown_in(value_m, unit)(value_m)} ${name_of(value_m, unit)}` : t('none in reach');
}

/** bounds of a distance, in words; both in one unit */
export function bounds(lower_m: number, upper_m: number, unit: string): string {
  if (!Number.isFinite(lower_m)) return t('nothing near');
  if (!Number.isFinite(upper_m)) return t('more than {0}', length(lower_m, unit));
  if (upper_m - lower_m <= 1e-9 + 1e-4 * upper_m) return length(upper_m, unit);
  const show = shown_in(upper_m, unit);
  return `${show(lower_m)} – ${show(upper_m)} ${name_of(upper_m, unit)}`;
}

/** an exact distance with its error, as feeler prints it: "0.096 mm ± 0.001"; negative is interference */
export function gap_text(distance_m: number, error_m: number, unit: string): string {
  if (!Number.isFinite(distance_m)) return t('nothing near');
  if (distance_m === 0) return t('surfaces meet');
  if (error_m > 1e-2) return bounds(Math.max(0, distance_m - error_m), distance_m + error_m, unit);
  const places = unit === 'in' ? 5 : 3;
  // no sample is deep inside, but what lies between them may be
  if (distance_m <= 0 && distance_m > -5e-7 && error_m > 2e-6) return t('surfaces coincide, overlap up to {0} {1}', fixed((error_m - distance_m) / metres(unit), places), unit);
  // between samples it may be deeper
  if (distance_m < 0 && error_m > Math.max(2e-6, -0.1 * distance_m)) return t('interference at least {0} {1}', fixed(-distance_m / metres(unit), places), unit);
  const scale = metres(unit);
  const step = 10 ** -places; // the digits themselves are off by half of one
  const off = step * Math.ceil(error_m / scale / step + 0.5 - 1e-6);
  return `${distance_m < 0 ? t('interference ') : ''}${fixed(Math.abs(distance_m) / scale, places)} ${unit} ± ${fixed(off, places)}`;
}

/** kilograms, grams below one */
export function mass(value_kg: number): string {
  return value_kg >= 1 ? `${digits(value_kg)} kg` : `${digits(value_kg * 1000)} g`;
}

export function count(value: number): string {
  if (value >= 1e6) return `${fixed(value / 1e6, value >= 1e7 ? 0 : 1)} M`;
  if (value >= 1e4) return `${fixed(value / 1e3, 0)} k`;
  return String(Math.round(value));
}

export function bytes(value: number): string {
  if (value >= 1e9) return `${fixed(value / 1e9, 1)} GB`;
  if (value >= 1e6) return `${fixed(value / 1e6, 1)} MB`;
  return `${Math.max(value ? 1 : 0, Math.round(value / 1e3))} kB`;
}

export function clock(seconds: number): string {
  const whole = Math.max(0, seconds);
  const minutes = Math.floor(whole / 60);
  return `${minutes}:${fixed(whole - 60 * minutes, 1).padStart(4, '0')}`;
}
