// Live plots: the last twenty seconds of compute time, points tested, contacts, travel limit and force. Samples come with the
// states; they are drawn ten times a second, which is what a person can follow, or once where drawing is slow.
import { typed } from './numbers.ts';
import { t } from './texts.ts';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { h } from './dom.ts';
import { greatest_force } from './felt.ts';
import { Window } from './latency.ts';
import type { Model } from './model.ts';
import type { message_state } from './protocol.mjs';
import { count, digits } from './units.ts';

const SECONDS = 20;
const MOST = 1400;
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6];

interface Series {
  title: string;
  unit: string;
  /** counts things: no halves on its axis */
  whole?: boolean;
  /** colours are CSS variables, so that the theme decides */
  lines: { name: string; colour: string; of: (state: message_state, p99: number) => number }[];
  show: (values: number[]) => string;
  /** shown only then */
  when?: (state: message_state) => boolean;
}

const SERIES: Series[] = [
  {
    title: 'Compute', unit: 'µs',
    lines: [
      { name: 'frame', colour: '--plot-a', of: (state) => state.compute_last },
      { name: 'p99', colour: '--plot-b', of: (_state, p99) => p99 },
    ],
    show: ([frame, p99]) => `${digits(frame!)} µs · p99 ${digits(p99!)}`,
  },
  { title: 'Points tested', unit: '', whole: true, lines: [{ name: 'points', colour: '--plot-a', of: (state) => state.points_tested }], show: ([value]) => count(value!) },
  { title: 'Contacts', unit: '', whole: true, lines: [{ name: 'contacts', colour: '--plot-c', of: (state) => state.contact_count }], show: ([value]) => count(value!) },
  {
    title: 'Travel limit', unit: 'bodies', whole: true,
    lines: [
      { name: 'limited', colour: '--plot-b', of: (state) => state.limited },
      { name: 'stopped', colour: '--plot-c', of: (state) => state.stopped },
    ],
    show: ([limited, stopped]) => `${limited} limited · ${stopped} stopped`,
  },
  {
    title: 'Queues', unit: '', whole: true, when: (state) => state.queued > 0,
    lines: [
      { name: 'waiting', colour: '--plot-a', of: (state) => state.queued },
      { name: 'tested', colour: '--plot-b', of: (state) => state.points_tested },
    ],
    show: ([waiting, tested]) => `${count(waiting!)} waiting · ${count(tested!)} tested`,
  },
  {
    title: 'Travel per frame', unit: 'mm', when: (state) => Number.isFinite(state.max_travel),
    lines: [{ name: 'limit', colour: '--plot-b', of: (state) => (Number.isFinite(state.max_travel) ? 1e3 * state.max_travel : 0) }],
    show: ([limit]) => (limit! > 0 ? t('at most {0} mm', digits(limit!)) : t('no limit')),
  },
  {
    title: 'Voxels from disk', unit: 'MB', when: (state) => state.paged_memory > 0,
    lines: [
      { name: 'in memory', colour: '--plot-a', of: (state) => state.paged_resident / 1e6 },
      { name: 'read', colour: '--plot-b', of: (state) => state.paged_read / 1e6 },
    ],
    show: ([resident, read]) => `${digits(resident!)} in memory · ${digits(read!)} read`,
  },
  { title: 'Force', unit: 'N', lines: [{ name: 'force', colour: '--plot-d', of: greatest_force }], show: ([value]) => `${digits(value!)} N` },
];

interface Plot {
  series: Series;
  plot: uPlot;
  value: HTMLElement;
  box: HTMLElement;
  data: number[][]; // one list for each line
}

export class Plots {
  private times: number[] = [];
  private plots: Plot[] = [];
  private drawn = 0;
  private compute = new Window(600);
  private last_frame = -1;

  constructor(private readonly root: HTMLElement, model: Model) {
    model.on_state.on((state) => this.take(state));
    model.on_scene.on(() => this.clear());
    this.build();
    new ResizeObserver(() => this.resize()).observe(root);
  }

  /** colours come from the style sheet, so a new theme needs new plots */
  build(): void {
    const kept = this.plots.map((plot) => plot.data);
    for (const plot of this.plots) plot.plot.destroy();
    this.root.replaceChildren();
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(name).trim() || '#888';
    this.plots = SERIES.map((series, number) => {
      const value = h('span', { class: 'plot-value' });
      const box = h('div', { class: 'plot', role: 'img', 'aria-label': `${t('Plot')}: ${t(series.title)}` },
        h('div', { class: 'plot-head' }, h('span', {}, series.title), value));
      box.hidden = series.when !== undefined; // until a state says otherwise
      this.root.append(box);
      const axis = { stroke: colour('--faint'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, font: '10px system-ui, sans-serif' };
      const plot = new uPlot({
        width: 200, height: 74, legend: { show: false }, cursor: { show: false }, padding: [9, 4, 6, 0],
        scales: { x: { time: false }, y: { range: (_u, _low, high) => [0, nice(high)] } },
        axes: [{ ...axis, show: false }, { ...axis, size: 38, space: 24, incrs: series.whole ? WHOLE : undefined, values: (_u, splits) => splits.map((split) => (split >= 10 || series.whole ? count(split) : typed(split, 2))) }],
        series: [{}, ...series.lines.map((line, k) => ({
          label: line.name, stroke: colour(line.colour), width: k === 0 ? 1.5 : 1, points: { show: false },
          fill: k === 0 ? colour(line.colour) + '26' : undefined,
        }))],
      }, [[], ...series.lines.map(() => [])], box);
      return { series, plot, value, box, data: kept[number] ?? series.lines.map(() => []) };
    });
    this.resize();
  }

  private clear(): void {
    this.times = [];
    this.compute.clear();
    for (const plot of this.plots) plot.data = plot.series.lines.map(() => []);
  }

  private take(state: message_state): void {
    if (state.frame === this.last_frame) return;
    if (state.frame < this.last_frame) this.clear(); // a replay jumped back, or another controller
    this.last_frame = state.frame;
    this.compute.add(state.compute_last);
    const p99 = state.compute.p99 || this.compute.quantile(0.99);
    this.times.push(state.time_us / 1e6);
    for (const plot of this.plots) {
      const hidden = plot.series.when ? !plot.series.when(state) : false;
      if (hidden === plot.box.hidden) continue;
      plot.box.hidden = hidden;
      this.resize();
    }
    for (const plot of this.plots) plot.series.lines.forEach((line, k) => plot.data[k]!.push(line.of(state, p99)));
    if (this.times.length > MOST) {
      this.times.splice(0, MOST / 4);
      for (const plot of this.plots) for (const list of plot.data) list.splice(0, MOST / 4);
    }
  }

  /** at every look; draws when it is time to */
  update(now: number, slow: boolean): void {
    if (now - this.drawn < (slow ? 1000 : 100) || this.root.hidden || !this.times.length) return;
    this.drawn = now;
    const last = this.times[this.times.length - 1]!;
    for (const { plot, data, series, value } of this.plots) {
      plot.setData([this.times, ...data], false);
      plot.setScale('x', { min: last - SECONDS, max: last });
      value.textContent = series.show(data.map((list) => list[list.length - 1] ?? 0));
    }
  }

  private resize(): void {
    for (const { plot, box } of this.plots) {
      const width = Math.max(80, box.clientWidth);
      if (width !== plot.width) plot.setSize({ width, height: 74 });
    }
  }
}

/** the next of 1, 2, 5 times a power of ten: an axis that does not tremble */
export function nice(high: number): number {
  if (!(high > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(high));
  const lead = high / power;
  return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}
