// The side panel: where force begins, then what is shown, the parts, parameters, devices. Everything in it is made from what the
// controller says; nothing is known of parameters beforehand but which of them is the onset of force, and which are for experts.
import { number_field, read_number, typed } from './numbers.ts';
import { gradient } from './colour.ts';
import type { Eye } from './camera.ts';
import { by_id, h, icon, text, toggle } from './dom.ts';
import { begin_expert, is_expert, set_expert } from './expert.ts';
import { proxy_of, touches } from './felt.ts';
import type { PageHand } from './hand.ts';
import type { Loader } from './loader.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import type { Overlays } from './overlays.ts';
import { norm } from './pose.ts';
import { device_kind, job_state, NONE, overlay_kind, part_kind, type message_parameter, type message_proximity } from './protocol.mjs';
import type { Stage } from './scene.ts';
import { Tree } from './tree.ts';
import { use_words } from './uses.ts';
import type { Workspace } from './workspace.ts';
import { count, digits, length, mass, metres } from './units.ts';
import { t } from './texts.ts';

const KINDS = ['fixed', 'movable', 'free'];
const EXACT = 2; // the engine without voxels
const LAYERS = 7; // of voxels in which force may begin
/** parameters about voxels and integration, which few need */
const ADVANCED = new Set(['force_layer', 'displacement', 'full', 'model', 'awareness', 'integrator', 'braking', 'travel', 'unchecked', 'depth', 'damping',
  'hand_stiffness', 'hand_turn_stiffness', 'hand_damping', 'hand_stretch', 'passivity', 'reach']);
const UNLIMITED_M = 1e6; // a length that limits nothing here

export class Panels {
  private slider = by_id<HTMLInputElement>('onset-slider');
  private slider_value = by_id('onset-slider-value');
  private legend = by_id('legend');
  private rows = new Map<string, { set: (parameter: message_parameter) => void }>();
  readonly tree: Tree;
  private readonly change: { form: HTMLFormElement; kind: HTMLSelectElement; size: HTMLInputElement; unit: HTMLElement };
  private sliding = 0;
  private greatest = 0;

  constructor(
    private readonly model: Model, private readonly stage: Stage, private readonly overlays: Overlays, private readonly loader: Loader,
    private readonly eye: Eye, private readonly hand: PageHand, private readonly notices: Notices, private readonly workspace: Workspace) {
    this.build_onset();
    this.build_show();
    this.build_section();
    model.on_scene.on(() => {
      text(by_id('scene-name'), model.scene?.name ?? '');
      this.greatest = 0; // it may be shown in another unit
      this.forget_parameters();
      for (const parameter of model.parameters.values()) this.take_parameter(parameter);
    });
    model.on_part.on(() => {
      this.list_parts();
      this.show_onset(); // a layer is so many millimetres only now that there is a voxel
    });
    this.tree = new Tree(model, stage, notices, (part) => this.part_row(part), (row, part) => this.fill_row(row, part), () => this.list_parts());
    this.change = this.part_change();
    by_id('parts').append(this.change.form);
    this.build_save();
    model.on_part_gone.on(() => this.list_parts());
    model.on_selected.on(() => this.list_parts());
    model.on_parameter.on((parameter) => this.take_parameter(parameter));
    model.on_devices.on(() => this.list_devices());
    model.on_proximity.on((message) => this.take_reach(message));
    model.connection.status.on((status) => {
      if (status === 'open') this.forget_parameters();
    });
  }

  private forget_parameters(): void {
    by_id('parameters').replaceChildren();
    by_id('advanced').replaceChildren();
    this.rows.clear();
  }

  // ---- where force begins ----

  private build_onset(): void {
    this.slider.addEventListener('input', () => {
      const onset = this.model.parameters.get('onset');
      if (!onset) return;
      const value = Number(this.slider.value) * this.onset_step(onset);
      text(this.slider_value, length(value, this.model.unit));
      // while a slider is pulled only the last place counts
      window.clearTimeout(this.sliding);
      this.sliding = window.setTimeout(() => {
        this.sliding = 0;
        this.model.connection.ask('set', { name: onset.name, value: Math.min(value, onset.high) }).catch(this.notices.failed);
      }, 60);
    });
    by_id('legend-bar').style.background = gradient();
  }

  /** for tests */
  get step_of_onset(): number {
    const onset = this.model.parameters.get('onset');
    return onset ? this.onset_step(onset) : NaN;
  }

  /** metres of a step of the slider: with voxels a layer of them, since it is a whole number of these; else a micrometre */
  private onset_step(onset: message_parameter): number {
    return this.model.parameters.get('engine')?.value === EXACT ? 1e-6 : onset.high / LAYERS;
  }

  private take_reach(message: message_proximity): void {
    if (message.greatest === this.greatest) return;
    this.greatest = message.greatest;
    text(by_id('legend-far'), `≥ ${length(message.greatest, this.model.unit)}`);
  }

  /** every picture */
  update(): void {
    this.legend.hidden = !this.model.wants.proximity || ![...this.stage.parts.values()].some((object) => object.coloured);
    by_id('tool-point').setAttribute('aria-pressed', String(this.hand.pointing));
    this.tell_touch();
  }

  /** a point has no clearance: what it feels takes the place of that */
  private tell_touch(): void {
    const proxy = this.model.state && proxy_of(this.model.state, this.hand.hand);
    by_id('touch').hidden = !proxy;
    by_id('readout').hidden = Boolean(proxy);
    if (!proxy) return;
    const on = touches(proxy);
    const name = this.model.parts.get(proxy.part)?.name;
    text(by_id('touch-label'), on && name ? `${t('Touch')} · ${name}${proxy.sticking ? t(' · sticking') : ''}` : t('Touch'));
    text(by_id('touch-value'), on ? t('{0} N · {1} deep', digits(norm(proxy.force)), length(proxy.depth, this.model.unit)) : t('press on a part'));
  }

  // ---- what is shown ----

  private build_show(): void {
    const { model, overlays } = this;
    begin_expert();
    by_id('show').append(
      toggle('Nearness', model.wants.proximity, (on) => {
        model.wants.proximity = on;
        if (!on) this.stage.uncolour_all();
        model.watch();
      }, 'show-proximity'),
      toggle('Voxels', model.wants.voxels, (on) => {
        model.wants.voxels = overlays.show.voxels = on;
        model.watch();
      }, 'show-voxels'),
      toggle('Contacts', true, (on) => (overlays.show.contacts = on), 'show-contacts'),
      toggle('Forces', true, (on) => (overlays.show.forces = on), 'show-forces'),
      toggle('Ghost', true, (on) => (overlays.show.ghost = on), 'show-ghost'),
      toggle('Edges', true, (on) => this.stage.set_edges(on), 'show-edges'),
      toggle('Expert', is_expert(), (on) => {
        set_expert(on);
        this.list_parts();
      }, 'show-expert'),
    );
    const detail = h('select', {
      id: 'detail', 'aria-label': 'Triangles drawn at most',
      onchange: () => this.loader.set_budget(Number(detail.value)),
    }, ...([[250000, '0.25 M'], [1500000, '1.5 M'], [4000000, '4 M'], [20000000, 'all']] as const).map(([value, name]) => h('option', { value: String(value) }, name)));
    detail.value = String(this.loader.budget);
    const explode = h('input', { type: 'range', id: 'explode', min: '0', max: '2', step: '0.02', value: '0', title: 'Draw the parts apart; meanwhile they cannot be grabbed', oninput: () => {
      this.stage.explode = Number(explode.value);
    } });
    model.on_scene.on(() => {
      explode.value = '0';
      this.stage.explode = 0;
    });
    by_id('show').append(h('label', { class: 'field' }, h('span', {}, 'Explode'), explode), h('label', { class: 'field' }, h('span', {}, 'Triangles'), detail));
  }

  private build_section(): void {
    const { stage } = this;
    const at = h('input', { type: 'range', min: '0', max: '1', step: '0.005', value: '0.5', id: 'section-at', 'aria-label': 'Place of the section', oninput: () => apply() });
    const axis = h('select', { id: 'section-axis', 'aria-label': 'Axis of the section', onchange: () => apply() },
      ...['X', 'Y', 'Z'].map((name, k) => h('option', { value: String(k) }, name)));
    axis.value = '2';
    const flip = toggle('Other side', false, () => apply(), 'section-flip');
    const apply = () => {
      stage.section.at = Number(at.value);
      stage.section.axis = Number(axis.value) as 0 | 1 | 2;
      stage.section.flip = flip.querySelector('input')!.checked;
      this.place_section();
    };
    by_id('section').append(h('div', { class: 'row' }, axis, at), flip);
  }

  place_section(): void {
    const where = this.stage.update_section();
    text(by_id('section-where'), Number.isFinite(where) ? length(where, this.model.unit) : '');
  }

  set_section(on: boolean): void {
    this.stage.section.on = on;
    if (!on) this.stage.box.on = by_id<HTMLInputElement>('section-box').checked = false;
    by_id('box-sides').hidden = !this.stage.box.on;
    this.place_section();
    by_id('section-card').hidden = !on;
    by_id('tool-section').setAttribute('aria-pressed', String(on));
  }

  // ---- parts ----

  private list_parts(): void {
    this.tree.update();
    const part = this.model.parts.get(this.model.selected);
    const { form, kind, size, unit } = this.change;
    form.hidden = !part;
    if (!part) return;
    kind.value = String(part.kind);
    text(unit, this.model.unit);
    if (size !== document.activeElement) size.value = part.voxel ? typed(part.voxel / metres(this.model.unit), 4) : '';
  }

  /** a part's line in the tree as it is now */
  private fill_row(row: HTMLElement, number: number): void {
    const part = this.model.parts.get(number);
    if (!part) return;
    row.setAttribute('aria-current', String(number === this.model.selected));
    const moves = part.kind !== part_kind.PART_STATIC && part.mass > 0;
    const facts = part.ready ? `${use_words(part) || t(KINDS[part.kind] ?? '')}${moves && part.weighed ? ` · ${mass(part.mass)}` : ''}` : t([...this.model.jobs.values()].some(({ state }) => state !== job_state.JOB_ENDED) ? 'not ready yet' : 'no voxels: nothing touches it');
    const name = part.name || t('part {0}', number);
    text(row.querySelector<HTMLElement>('.part-name')!, name);
    for (const button of row.querySelectorAll<HTMLElement>('[data-does]')) button.setAttribute('aria-label', `${button.textContent ? `${button.textContent}: ` : ''}${t(button.dataset['does'] ?? '')}: ${name}`);
    text(row.querySelector<HTMLElement>('.part-facts')!, facts);
    row.querySelector('.part-eye')!.setAttribute('aria-pressed', String(this.stage.is_visible(number)));
    if (!is_expert()) row.title = part.name;
    else row.title = `${t('{0}: voxels of {1}, {2} points', part.name, length(part.voxel, this.model.unit), count(part.points))}${moves ? `, ${mass(part.mass)} (${t(part.weighed ? 'as the scene says' : 'apparent mass: the scene gives none')})` : ''}`;
    row.querySelector<HTMLElement>('.swatch')!.style.background = `#${part.colour.toString(16).padStart(6, '0')}`;
  }

  private part_row(part: number): HTMLElement {
    const { model, stage, overlays } = this;
    const eye = h('button', { type: 'button', class: 'tool small part-eye', title: 'Show or hide (I: the selected part alone)', 'data-does': 'Show or hide', 'aria-pressed': 'true' });
    eye.append(icon('eye'));
    eye.addEventListener('click', () => {
      stage.set_visible(part, !stage.is_visible(part));
      this.tree.draw();
    });
    const overlay = (kind: number, name: string, label: string) => {
      const button = h('button', { type: 'button', class: 'chip', title: label, 'data-does': label, 'aria-pressed': 'false' }, name);
      button.addEventListener('click', () => void (async () => {
        const on = !overlays.has(part, kind);
        if (!on) overlays.drop(part, kind);
        else
          try {
            const first = await overlays.ask_overlay(part, kind);
            if (first && first.count < first.total) this.notices.toast(t('{0} of {1} are shown.', count(first.count), count(first.total)));
          } catch (error) {
            this.notices.failed(error);
          }
        button.setAttribute('aria-pressed', String(overlays.has(part, kind)));
      })());
      return button;
    };
    const remove = h('button', { type: 'button', class: 'tool small', title: 'Remove from the scene', 'data-does': 'Remove from the scene' });
    remove.append(icon('trash'));
    // undo does not bring it back, so it is asked for
    remove.addEventListener('click', () => {
      if (window.confirm(t('Remove this part from the scene? Undo does not bring it back.'))) model.connection.ask('remove', { part }).catch(this.notices.failed);
    });
    const name = h('button', { type: 'button', class: 'part-pick', onclick: () => model.select(part), ondblclick: () => this.frame(part) },
      h('span', { class: 'swatch' }), h('span', { class: 'part-text' }, h('span', { class: 'part-name' }), h('span', { class: 'part-facts' })));
    return h('div', { class: 'part' }, name, h('div', { class: 'part-tools' },
      overlay(overlay_kind.OVERLAY_VOXELS, 'vox', 'Show its surface voxels'), overlay(overlay_kind.OVERLAY_POINTS, 'pts', 'Show the points of its shell'), eye, remove));
  }

  /** of the selected part: how it may move, and how large its voxels are */
  private part_change(): { form: HTMLFormElement; kind: HTMLSelectElement; size: HTMLInputElement; unit: HTMLElement } {
    const { model } = this;
    const kind = h('select', { 'aria-label': 'How the part may move' }, ...KINDS.map((name, number) => h('option', { value: String(number) }, name)));
    kind.addEventListener('change', () => model.connection.ask('kind', { part: model.selected, kind: Number(kind.value) as 0 | 1 | 2 }).catch((error) => {
      this.notices.failed(error);
      this.list_parts();
    }));
    const size = number_field({ 'aria-label': 'Voxel size of the part' });
    const unit = h('span', { class: 'unit' });
    const apply = () => {
      const part = model.selected;
      const voxel = read_number(size.value) * metres(model.unit);
      if (!(voxel > 0)) this.notices.toast(t('A voxel size is a number of {0} above 0.', model.unit), 'warning');
      else if (voxel !== model.parts.get(part)?.voxel) model.connection.make('voxelize', { part, voxel }).catch(this.notices.failed);
    };
    const voxels = h('details', { class: 'part-voxels' }, h('summary', { title: 'Advanced: voxels of the part' }, 'Voxels'),
      h('span', { class: 'row' }, size, unit, h('button', { type: 'submit', class: 'quiet', title: 'Make voxels of this size' }, 'Voxelize')));
    const form = h('form', { class: 'part-change', noValidate: true, hidden: true }, kind, voxels);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      apply();
    });
    return { form, kind, size, unit };
  }

  private build_save(): void {
    const path = h('input', { type: 'text', id: 'save-path', placeholder: 'saved.json', 'aria-label': 'Name to save the scene as, at the controller’s machine' });
    const form = h('form', { id: 'save', class: 'part-change' }, path, h('button', { type: 'submit', title: 'Write the scene as it is now: beside the scene that was opened, or where the controller was started' }, 'Save scene'));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const name = path.value.trim() || path.placeholder;
      this.model.connection.make('save', { path: /\.json$/.test(name) ? name : `${name}.json` }).catch(this.notices.failed);
    });
    by_id('parts').after(form);
  }

  /** of the selected part: other pieces add what they can change */
  get part_form(): HTMLElement {
    return this.change.form;
  }

  /** selects parts in the tree */
  mark(parts: number[]): void {
    this.tree.select(parts);
  }

  /** the selected parts alone, or all again */
  isolate(): void {
    const chosen = this.tree.chosen();
    if (chosen.length) this.tree.isolate(chosen);
    else if ([...this.model.parts.keys()].some((part) => !this.stage.is_visible(part))) this.tree.show_all();
    else this.notices.toast('Select a part first: click it, or its name in the list.');
  }

  private frame(part: number): void {
    const box = this.stage.part_bounds(part);
    if (box) this.eye.frame(box);
  }

  // ---- parameters ----

  private take_parameter(parameter: message_parameter): void {
    const row = this.rows.get(parameter.name);
    if (row) row.set(parameter);
    else this.rows.set(parameter.name, this.make_row(parameter));
    if (parameter.name === 'onset' || parameter.name === 'engine') this.show_onset();
  }

  private show_onset(): void {
    const onset = this.model.parameters.get('onset');
    if (!onset) return;
    const exact = this.model.parameters.get('engine')?.value === EXACT;
    const step = this.onset_step(onset);
    const now = Math.round(onset.value / step);
    this.slider.min = '0';
    // wider where the scene begins beyond: the slider never shows another onset than the engine has
    this.slider.max = String(Math.max(now, exact ? 100 : LAYERS));
    if (!this.sliding && !this.slider.matches(':active')) this.slider.value = String(now);
    this.slider.disabled = !exact && onset.high >= 1; // there are no voxels yet
    if (!this.sliding) text(this.slider_value, this.slider.disabled ? '–' : length(onset.value, this.model.unit));
  }

  private make_row(first: message_parameter): { set: (parameter: message_parameter) => void } {
    let now = first;
    const send = (value: number) => {
      this.model.connection.ask('set', { name: now.name, value }).catch((error) => {
        this.notices.failed(error);
        set(now);
      });
    };
    // lengths are SI on the wire and in the page's unit for people
    const scale = first.unit === 'm' ? metres(this.model.unit) : 1;
    const unit = first.unit === 'm' ? this.model.unit : first.unit;
    const unlimited = (value: number) => first.unit === 'm' && value >= UNLIMITED_M;
    const id = `parameter-${first.name}`;
    let field: HTMLInputElement | HTMLSelectElement;
    if (first.words) {
      field = h('select', { id, onchange: () => send(Number(field.value)) },
        ...first.words.split(' ').map((word, k) => h('option', { value: String(k) }, word)));
    } else {
      field = number_field({ id, placeholder: unlimited(first.high) ? 'no limit' : '', onchange: () => {
        const value = field.value.trim() !== '' ? read_number(field.value) * scale : unlimited(now.high) ? now.high : NaN;
        if (!Number.isFinite(value)) set(now);
        else send(Math.min(now.high, Math.max(now.low, value)));
      } });
    }
    const reset = h('button', { type: 'button', class: 'tool small', title: 'As it was at the beginning', 'aria-label': t('Reset {0}', first.name), onclick: () => send(now.preset) });
    reset.append(icon('reset'));
    const set = (parameter: message_parameter) => {
      now = parameter;
      if (document.activeElement !== field || field instanceof HTMLSelectElement)
        field.value = first.words ? String(parameter.value) : unlimited(parameter.value) ? '' : typed(parameter.value / scale, 6);
      reset.hidden = parameter.value === parameter.preset;
    };
    by_id(ADVANCED.has(first.name) ? 'advanced' : 'parameters').append(h('div', { class: 'parameter', title: first.doc },
      h('label', { for: id }, first.name.replaceAll('_', ' ')), h('span', { class: 'unit' }, unit.replace('^2', '²')), field, reset));
    set(first);
    return { set };
  }

  // ---- devices ----

  private list_devices(): void {
    const list = by_id('devices');
    list.replaceChildren();
    const hands = this.model.scene?.hands ?? 1;
    const devices = [...this.model.devices.values()];
    const own = h('select', { 'aria-label': 'Hand that this page moves', onchange: () => (this.hand.chosen = Number(own.value)) },
      h('option', { value: '-1' }, 'automatic'), ...this.hand.hands().map((hand) => h('option', { value: String(hand) }, `hand ${hand + 1}`)));
    own.value = String(this.hand.chosen);
    list.append(h('label', { class: 'field' }, h('span', {}, 'This page moves'), own));
    for (const device of devices) {
      if (device.kind === device_kind.DEVICE_PAGE) continue;
      const select = h('select', { 'aria-label': t('Hand that {0} moves', device.name), disabled: !device.present, onchange: () => {
        const hand = Number(select.value);
        const command = hand < 0 ? { hand: device.hand, device: NONE } : { hand, device: device.device };
        this.model.connection.ask('device_select', command).catch((error) => {
          this.notices.failed(error);
          this.list_devices();
        });
      } }, h('option', { value: '-1' }, 'no hand'), ...Array.from({ length: hands }, (_, hand) => h('option', { value: String(hand) }, `hand ${hand + 1}`)));
      select.value = device.hand === NONE ? '-1' : String(device.hand);
      const facts = device.present ? (device.max_force > 0 ? `${digits(device.max_force)} N, ${digits(device.max_torque)} N m` : t('gives no force')) : device.sentence;
      list.append(h('div', { class: 'device' }, h('div', {}, h('div', {}, device.name), h('div', { class: 'part-facts' }, facts)), select), device.present && device.hand !== NONE ? this.workspace.controls(device) : '');
    }
  }
}
