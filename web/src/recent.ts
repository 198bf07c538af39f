// The first minute: what an empty page offers. An example, files, scenes that were open before, a tour.
import { by_id, h } from './dom.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import { ability } from './protocol.mjs';
import type { Tour } from './tour.ts';

const KEY = 'feeler.recent';
const KEPT = 6;
const EXAMPLE = 'bay';

interface Recent {
  name: string;
  path: string;
}

function read(): Recent[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(list) ? list.filter((one): one is Recent => typeof one?.name === 'string' && typeof one?.path === 'string') : [];
  } catch {
    return []; // storage may be forbidden, or hold something else
  }
}

function write(list: Recent[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(list.slice(0, KEPT)));
  } catch {
    // as above
  }
}

export class FirstMinute {
  private touring = false; // as soon as the example is there

  constructor(private readonly model: Model, private readonly notices: Notices, private readonly tour: Tour) {
    by_id('empty-example').addEventListener('click', () => this.example(false));
    by_id('empty-tour').addEventListener('click', () => this.example(true));
    model.on_scene.on((scene) => {
      if (scene.path && scene.parts) write([{ name: scene.name || scene.path, path: scene.path }, ...read().filter((one) => one.path !== scene.path)]);
      this.show();
    });
    model.on_part.on(() => this.tour_now());
    model.connection.status.on(() => this.show());
  }

  /** what is open, and what was, for a controller that lets this page name files */
  private show(): void {
    const may = (this.model.connection.abilities & ability.ABILITY_LOAD) !== 0;
    by_id('empty').hidden = (this.model.scene?.parts ?? 0) > 0 || this.model.connection.state !== 'open';
    for (const id of ['empty-example', 'empty-tour']) by_id(id).hidden = !may;
    const list = read();
    by_id('recent').hidden = !may || !list.length;
    by_id('recent-list').replaceChildren(...list.map((one) => h('li', {}, h('button', { type: 'button', class: 'quiet part-name', title: one.path, onclick: () => this.open(one.path) }, one.name))));
  }

  private example(tour: boolean): void {
    this.touring = tour;
    this.open(EXAMPLE);
  }

  private open(path: string): void {
    this.model.connection.ask('load', { path }).catch((error) => {
      this.touring = false;
      write(read().filter((one) => one.path !== path)); // it is not there any more
      this.show();
      this.notices.failed(error);
    });
  }

  private tour_now(): void {
    if (!this.touring || this.model.parts.size < (this.model.scene?.parts ?? Infinity)) return;
    this.touring = false;
    this.tour.begin();
  }
}
