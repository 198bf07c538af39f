// Dark and light: as the system says, until somebody chooses. CSS follows the attribute on the root, the picture the palette.
import { Signal } from './signal.ts';

export interface Palette {
  background: number;
  grid: number;
  edge: number;
  edge_opacity: number;
  cut: number;
  ready: number;
  held: number;
  colliding: number;
  force: number;
  torque: number;
  contact: number;
  hand: number;
  ghost: number;
}

const DARK: Palette = {
  background: 0x161b22, grid: 0x46515f, edge: 0x05080c, edge_opacity: 0.6, cut: 0x9a6234,
  ready: 0x2fbf71, held: 0x4da3ff, colliding: 0xe5383b, force: 0xffb020, torque: 0xb98cff, contact: 0xff5d5d, hand: 0x5ad1e6, ghost: 0x9fc3ff,
};
const LIGHT: Palette = {
  background: 0xeef1f5, grid: 0x9aa6b5, edge: 0x1b2430, edge_opacity: 0.5, cut: 0xd08a4e,
  ready: 0x1f9d55, held: 0x2f80ed, colliding: 0xd62828, force: 0xd97706, torque: 0x7c4dde, contact: 0xe02d3c, hand: 0x0891b2, ghost: 0x2563eb,
};

export type ThemeName = 'dark' | 'light';

export class Theme {
  readonly changed = new Signal<Palette>();
  private chosen: ThemeName | null = null;
  private query = window.matchMedia('(prefers-color-scheme: light)');

  constructor() {
    try {
      const kept = localStorage.getItem('feeler.theme');
      if (kept === 'dark' || kept === 'light') this.chosen = kept;
    } catch {
      // storage may be forbidden; then the system's choice counts
    }
    this.query.addEventListener('change', () => this.apply());
  }

  get name(): ThemeName {
    return this.chosen ?? (this.query.matches ? 'light' : 'dark');
  }

  get palette(): Palette {
    return this.name === 'light' ? LIGHT : DARK;
  }

  toggle(): void {
    this.chosen = this.name === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem('feeler.theme', this.chosen);
    } catch {
      // as above
    }
    this.apply();
  }

  apply(): void {
    document.documentElement.dataset['theme'] = this.name;
    this.changed.emit(this.palette);
  }
}
