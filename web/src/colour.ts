// Colours for nearness: warmer is closer (McNeely et al. 2005, section 3.1). Far away a part keeps its own colour, so that
// what is coloured is what matters.

/** stops of the map, nearest first: share of the reach, then red green blue in sRGB */
const STOPS: readonly [number, number, number, number][] = [
  [0.0, 0.86, 0.13, 0.15],
  [0.2, 0.96, 0.45, 0.11],
  [0.4, 0.98, 0.80, 0.18],
  [0.65, 0.35, 0.76, 0.44],
  [0.88, 0.20, 0.55, 0.86],
];

/** share 0 (touching) … 1 (out of reach) to sRGB, ending in the part's own colour; written to out at `at` */
export function near_colour(share: number, own: readonly number[], out: Float32Array | number[], at = 0): void {
  const last = STOPS[STOPS.length - 1]!;
  const s = Number.isNaN(share) ? 1 : Math.min(1, Math.max(0, share));
  let from: readonly number[] = STOPS[0]!;
  let to: readonly number[] = [1, own[0]!, own[1]!, own[2]!];
  for (let i = 0; i < STOPS.length; i++) {
    if (STOPS[i]![0] <= s) from = STOPS[i]!;
    else {
      to = STOPS[i]!;
      break;
    }
  }
  if (from === last) to = [1, own[0]!, own[1]!, own[2]!];
  const width = to[0]! - from[0]!;
  const t = width > 0 ? Math.min(1, (s - from[0]!) / width) : 0;
  for (let k = 0; k < 3; k++) out[at + k] = from[k + 1]! + t * (to[k + 1]! - from[k + 1]!);
}

/** the map as a table of linear colours for a part, 256 entries; per-vertex colouring is then one look-up */
export function near_table(own: readonly number[]): Float32Array {
  const table = new Float32Array(256 * 3);
  for (let i = 0; i < 256; i++) near_colour(i / 255, own, table, 3 * i);
  for (let i = 0; i < table.length; i++) table[i] = to_linear(table[i]!);
  return table;
}

export function to_linear(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

const DARKEST = 0.16;

/** as it is drawn: black parts, which CAD files are full of, keep enough light to show their shape */
export function drawn_rgb(colour: number): [number, number, number] {
  const own = rgb(colour), lack = DARKEST - Math.max(...own);
  return lack > 0 ? [own[0] + lack, own[1] + lack, own[2] + lack] : own;
}

export function rgb(colour: number): [number, number, number] {
  return [((colour >> 16) & 255) / 255, ((colour >> 8) & 255) / 255, (colour & 255) / 255];
}

/** the legend as a CSS gradient */
export function gradient(): string {
  const stops = STOPS.map(([at, r, g, b]) => `rgb(${r * 255} ${g * 255} ${b * 255}) ${at * 100}%`);
  return `linear-gradient(to right, ${stops.join(', ')}, #8a94a3 100%)`;
}
