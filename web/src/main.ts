// The page: makes the pieces, ties them together, and draws. Messages are decoded when they come; a picture takes the newest.
import './style.css';
import './assembly.css';
import { Callouts } from './callouts.ts';
import { ChangedFiles } from './changed_files.ts';
import { Eye } from './camera.ts';
import { Clashes } from './clashes.ts';
import { Clearance, gap_of } from './clearance.ts';
import { Connection } from './connection.ts';
import { by_id, h, icon, toggle, tool } from './dom.ts';
import { Dragging } from './drag.ts';
import { Feedback } from './feedback.ts';
import { greatest_force, touches } from './felt.ts';
import { Export } from './export.ts';
import { FirstMinute } from './recent.ts';
import { FailedFiles } from './failed_files.ts';
import { Files } from './files.ts';
import { GapMap } from './gap_map.ts';
import { Gizmo } from './gizmo.ts';
import { PageHand } from './hand.ts';
import { Joints } from './joints.ts';
import { KeyPointer } from './key_pointer.ts';
import { keyboard } from './keys.ts';
import { StateRate } from './latency.ts';
import { Loader } from './loader.ts';
import { packing } from './meshes.ts';
import { Measuring } from './measuring.ts';
import { Messages } from './messages.ts';
import { Model } from './model.ts';
import { Notes } from './notes.ts';
import { Notices } from './notices.ts';
import { Overlays } from './overlays.ts';
import { Overlaps } from './overlaps.ts';
import { Beat, Pacer } from './pacer.ts';
import { keep_opened_in_view } from './opened.ts';
import { Panels } from './panels.ts';
import { People } from './people.ts';
import { Picker } from './pick.ts';
import { Placement } from './placement.ts';
import { Plots } from './plots.ts';
import { Pointing } from './point.ts';
import { NONE, type Vec3 } from './protocol.mjs';
import { Proxies } from './proxies.ts';
import { Recordings } from './replay.ts';
import { Stage } from './scene.ts';
import { SectionBox } from './section_box.ts';
import { SectionHandles } from './section_handles.ts';
import { SpaceMouse } from './spacemouse.ts';
import type { Signal } from './signal.ts';
import { Status } from './status.ts';
import { Stillness } from './stillness.ts';
import { Technical } from './technical.ts';
import { Theme } from './theme.ts';
import { language, set_language, t, translate } from './texts.ts';
import { take_token, TokenForm } from './token.ts';
import { Tour } from './tour.ts';
import { Uses } from './uses.ts';
import { UpAxis } from './up_axis.ts';
import { WayOut } from './way_out.ts';
import { Workspace } from './workspace.ts';
import { Headset } from './xr.ts';

function socket_address(): string {
  const address = new URL('ws', location.href);
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  address.search = address.hash = '';
  return address.href;
}

function language_choice(): HTMLElement {
  const choice = h('select', { id: 'language', onchange: () => set_language(choice.value === 'de' ? 'de' : 'en') },
    h('option', { value: 'en', lang: 'en' }, 'English'), h('option', { value: 'de', lang: 'de' }, 'Deutsch'));
  choice.value = language;
  return h('label', { class: 'field' }, h('span', {}, 'Language'), choice);
}

async function main(): Promise<void> {
  translate(document.body);
  const theme = new Theme();
  theme.apply();
  const connection = new Connection(socket_address(), take_token(), await packing());
  const canvas = by_id<HTMLCanvasElement>('view');
  const model = new Model(connection);
  const quality = new URL(location.href).searchParams.get('quality');
  const stage = new Stage(canvas, model, quality === 'high' || quality === 'low' ? quality : 'auto');
  const eye = new Eye(canvas);
  const notices = new Notices(model, connection);
  new TokenForm(connection);
  const loader = new Loader(model, stage);
  const hand = new PageHand(model);
  // the handles of a section and the gizmo hear of a press before the parts behind them do
  const section_handles = new SectionHandles(canvas, stage, eye);
  const gizmo = new Gizmo(canvas, model, stage, eye, hand);
  const picker = new Picker(stage, eye, canvas);
  const callouts = new Callouts(stage, eye);
  const measuring = new Measuring(canvas, model, eye, picker, callouts, notices);
  const notes = new Notes(canvas, model, eye, picker, callouts, notices);
  const placement = new Placement(canvas, model, stage, picker, notices);
  const joints = new Joints(canvas, model, eye, picker, callouts, notices, () => {
    measuring.toggle(false);
    notes.toggle(false);
    if (hand.pointing) hand.change_tool().catch(notices.failed);
  });
  const pointing = new Pointing(canvas, stage, eye, picker, hand);
  const dragging = new Dragging(canvas, model, stage, eye, picker, hand, () => gizmo.hot || measuring.on || notes.on || placement.on || joints.on || stage.explode > 0);
  const key_pointer = new KeyPointer(canvas, picker, (part) => model.parts.get(part)?.name || t('part {0}', part));
  const overlays = new Overlays(model, stage, eye);
  const proxies = new Proxies(model, stage, eye);
  const workspace = new Workspace(model, stage, eye, notices);
  const panels = new Panels(model, stage, overlays, loader, eye, hand, notices, workspace);
  const clearance = new Clearance(model, overlays, notices);
  const overlaps = new Overlaps(model, overlays, eye, notices);
  const clashes = new Clashes(model, stage, eye, callouts, notices, (parts) => panels.mark(parts));
  const plots = new Plots(by_id('plots'), model);
  const files = new Files(model, eye, notices);
  panels.tree.replace.on((part) => files.replace(part));
  const failed_files = new FailedFiles(model, files, notices.failed);
  const messages = new Messages(model);
  const uses = new Uses(model, stage, notices, panels.part_form, () => panels.tree.draw());
  const gap_map = new GapMap(model, stage, notices, () => panels.tree.chosen());
  const way_out = new WayOut(model, stage, eye, callouts, hand, dragging, notices, (parts) => panels.mark(parts));
  new SectionBox(stage, () => panels.place_section());
  new ChangedFiles(model, notices);
  const recordings = new Recordings(model, notices);
  const exporting = new Export(canvas, model, notices, () => stage.draw(eye.camera), () => recordings.play_again());
  const people = new People(model, stage, eye);
  const status = new Status(model, stage);
  const spacemouse = new SpaceMouse(notices.failed);
  dragging.cap = spacemouse.cap;
  const feedback = new Feedback(model, hand);
  const tour = new Tour();
  new FirstMinute(model, notices, tour);

  hand.failed.on((sentence) => notices.toast(sentence, 'warning'));
  dragging.fixed.on((part) => notices.toast(t('“{0}” is fixed: dragging it turns the view. To move it, click it and choose “movable” below it in the list.', model.parts.get(part)?.name || t('part {0}', part))));
  theme.changed.on((palette) => {
    stage.set_palette(palette);
    overlays.set_palette(palette);
    proxies.set_palette(palette);
    callouts.set_palette(palette);
    plots.build();
  });
  theme.apply();

  const actions = {
    frame: () => {
      eye.touched = true;
      eye.frame(stage.bounds());
    },
    view: (from: string) => {
      eye.touched = true;
      eye.frame(stage.bounds(), from);
    },
    undo: () => void connection.ask('undo', { steps: 1 }).catch(notices.failed),
    reset: () => void connection.ask('reset').catch(notices.failed),
    pause: () => void connection.ask('pause', { paused: !(model.state?.paused ?? false) }).catch(notices.failed),
    record: () => recordings.toggle(),
    section: () => panels.set_section(!stage.section.on),
    gizmo: () => {
      gizmo.toggle();
      by_id('tool-gizmo').setAttribute('aria-pressed', String(gizmo.on));
    },
    gizmo_mode: () => {
      gizmo.set_mode(gizmo.mode === 'translate' ? 'rotate' : 'translate');
      by_id<HTMLInputElement>('gizmo-turns').checked = gizmo.mode === 'rotate';
    },
    measure: () => void clearance.measure(),
    ruler: () => {
      if (!measuring.on && hand.pointing) hand.change_tool().catch(notices.failed);
      notes.toggle(false);
      measuring.toggle();
    },
    note: () => {
      if (!notes.on && hand.pointing) hand.change_tool().catch(notices.failed);
      measuring.toggle(false);
      notes.toggle();
      if (notes.on) notices.toast('Click where the note belongs. Press Esc to cancel.');
    },
    isolate: () => panels.isolate(),
    key_pointer: () => key_pointer.toggle(),
    open: () => files.open(),
    plots: () => technical.toggle_plots(),
    panel: () => {
      document.body.classList.toggle('no-panel');
      resize();
    },
    theme: () => theme.toggle(),
    help: () => {
      const help = by_id<HTMLDialogElement>('help');
      if (help.open) help.close();
      else {
        help.showModal();
        help.scrollTop = 0; // the focus goes to the buttons below
      }
    },
    let_go: () => {
      if (model.replaying) recordings.end();
      placement.toggle(false);
      joints.toggle(false);
      measuring.toggle(false);
      notes.toggle(false);
      pointing.end();
      dragging.end();
      key_pointer.toggle(false);
    },
    tool: () => {
      pointing.end();
      dragging.end();
      hand.change_tool().catch(notices.failed);
    },
  };
  by_id('tools').append(
    tool('open', 'Add a file (O)', actions.open, 'tool-open'), tool('frame', 'Frame all (F)', actions.frame, 'tool-frame'),
    tool('point', 'Touch with a point (Q)', actions.tool, 'tool-point'), tool('gizmo', 'Gizmo (G)', actions.gizmo, 'tool-gizmo'), tool('section', 'Section plane (X)', actions.section, 'tool-section'), tool('ruler', 'Measure (D)', actions.ruler, 'tool-ruler'), tool('note', 'Note (N)', actions.note, 'tool-note'),
    tool('undo', 'Undo (U)', actions.undo, 'tool-undo'), tool('reset', 'Reset (Backspace)', actions.reset, 'tool-reset'),
    tool('pause', 'Pause (Space)', actions.pause, 'tool-pause'));
  by_id('more-tools').append(
    tool('panel', 'Side panel (P)', actions.panel, 'tool-panel'), tool('sun', 'Dark or light (T)', actions.theme, 'tool-theme'), tool('help', 'Keys and mouse (?)', actions.help, 'tool-help'));
  by_id('tool-record').prepend(icon('record'));
  // what keys do, for those who have none
  const views = [['front', 'Front'], ['right', 'Right'], ['top', 'Top'], ['iso', 'Oblique']] as const;
  by_id('show').append(
    h('div', { class: 'row wrap', id: 'views', role: 'group', 'aria-label': 'Views' }, ...views.map(([from, name]) => h('button', { type: 'button', class: 'quiet', onclick: () => actions.view(from) }, name))),
    toggle('Gizmo rotates', false, () => actions.gizmo_mode(), 'gizmo-turns'), toggle('Plots', false, () => actions.plots(), 'show-plots'),
    language_choice());
  by_id('help-close').addEventListener('click', () => by_id<HTMLDialogElement>('help').close());
  by_id('help-tour').addEventListener('click', () => {
    by_id<HTMLDialogElement>('help').close();
    tour.begin();
  });
  by_id('retry').addEventListener('click', () => connection.retry());
  keyboard(dragging, key_pointer, actions);
  keep_opened_in_view(by_id('panel'));

  const technical = new Technical(model, () => resize());
  const resize = () => {
    if (stage.renderer.xr.isPresenting) return;
    const box = by_id('stage');
    stage.renderer.setSize(box.clientWidth, box.clientHeight, false);
    eye.resize(box.clientWidth, box.clientHeight);
    // another size empties the canvas: where drawing is slow that would be seen
    if (model.scene) stage.draw(eye.camera);
  };
  new ResizeObserver(resize).observe(by_id('stage'));
  // in a narrow window the panel would hide the view
  const narrow = window.matchMedia('(max-width: 760px)');
  const fit = () => document.body.classList.toggle('no-panel', narrow.matches);
  narrow.addEventListener('change', fit);
  fit();
  resize();

  // the first picture is the scene's own, or shows everything; as meshes come it follows, until a person has chosen a view
  const frame_first = () => {
    stage.place_light();
    if (!eye.touched && !(model.scene && eye.look(model.scene, stage.bounds()))) eye.frame(stage.bounds(), 'iso');
  };
  model.on_scene.on(() => {
    eye.touched = false;
    frame_first();
  });
  new UpAxis(model, notices, () => actions.view('iso'));
  model.on_part.on(() => (by_id('empty').hidden = true));
  loader.progress.on(({ loaded, wanted }) => {
    frame_first();
    stage.update_section();
    status.loading(loaded, wanted);
  });
  document.addEventListener('visibilitychange', () => {
    if (connection.state === 'open') model.watch();
  });

  const stillness = new Stillness();
  const pacer = new Pacer(stage.renderer.getContext() as WebGL2RenderingContext);
  const stir = () => {
    stillness.stir(performance.now());
    beat.wake();
  };
  for (const news of [model.on_scene, model.on_part, model.on_part_gone, model.on_proximity, model.on_voxels, model.on_people, people.moved, spacemouse.moved, theme.changed, clearance.changed, clashes.changed, gap_map.changed, way_out.changed, joints.changed, measuring.changed, notes.changed, overlays.came, dragging.changed, loader.progress] as Signal<unknown>[])
    news.on(stir);
  new ResizeObserver(stir).observe(canvas);
  for (const name of ['pointermove', 'pointerdown', 'pointerup', 'wheel', 'keydown', 'keyup', 'click', 'change', 'input', 'resize'])
    window.addEventListener(name, stir, { capture: true, passive: true });
  const rate = new StateRate();
  model.on_state.on((state) => {
    model.set_rate(rate.next(performance.now(), connection.latency.last, pacer.slow));
    if (stillness.moved(performance.now(), state, eye.camera.matrixWorld.elements)) beat.wake();
  });

  let drawn = { calls: 0, triangles: 0 }; // in the newest picture
  let looks = 0;
  let last = performance.now();
  let moved_at = last;
  const draw = (moving: boolean, now: number) => {
    if (headset.active) return; // it draws by its own clock
    if (!model.scene && connection.state !== 'lost' && connection.state !== 'refused') return; // the scene comes in a moment
    if (loader.coming && pacer.pictures > 0) return; // nothing but the ground would be seen, and the machine has enough to do
    if (!pacer.ready(now, (milliseconds) => stage.pace(milliseconds))) return;
    if (exporting.active) stage.sharpen(); // a video has one resolution
    else if (moving) stage.soften();
    else if (now - moved_at < 3 * pacer.mean || !stage.sharpen()) return;
    stage.draw(eye.camera);
    drawn = { calls: stage.renderer.info.render.calls, triangles: stage.renderer.info.render.triangles };
    stillness.drawn();
    pacer.drawn(now);
    status.picture(now, moving);
  };
  /** gives whether to look again at the next chance */
  const look = () => {
    const now = performance.now();
    const seconds = Math.min(0.1, (now - last) / 1000);
    last = now;
    if (hand.holding !== NONE) overlays.grips.set(hand.hand, hand.grip);
    if (!headset.active) eye.update();
    pointing.update();
    spacemouse.update(now);
    dragging.update(seconds);
    const touched = new Set((model.state?.proxies ?? []).filter(touches).map((proxy) => proxy.part));
    stage.update(dragging.hover, touched, eye.distance);
    stage.patches.update((model.state?.contacts ?? []).map((contact) => contact.point), 14 * eye.pixel(model.state?.contacts[0]?.point ?? [0, 0, 0]), eye.camera.matrixWorldInverse);
    overlays.update();
    proxies.update();
    people.update();
    gizmo.update();
    section_handles.update();
    panels.update();
    technical.update();
    placement.update();
    workspace.update(now);
    feedback.update(now);
    clearance.update(now);
    overlaps.update();
    clashes.update(now);
    uses.update(now);
    gap_map.update(now);
    way_out.update(seconds);
    joints.update();
    measuring.update(now);
    notes.update();
    callouts.update();
    by_id('tool-note').setAttribute('aria-pressed', String(notes.on));
    by_id('tool-ruler').setAttribute('aria-pressed', String(measuring.on));
    plots.update(now, pacer.slow);
    status.update(now, pacer.slow);
    looks++;
    const moving = stillness.moved(now, model.state, eye.camera.matrixWorld.elements);
    if (moving) moved_at = now;
    draw(moving, now);
    return moving || way_out.active || spacemouse.active || exporting.active || dragging.active || dragging.gamepad_there;
  };
  const headset = new Headset(model, stage, eye, notices, () => look(), () => by_id('clearance-value').textContent ?? '');
  const beat = new Beat(() => (headset.active ? false : look()), () => pacer.rest_ms);
  beat.wake();
  connection.open();

  // what tests read; nothing here changes anything
  Object.defineProperty(window, 'feeler', {
    value: Object.freeze({
      get connected() { return connection.state === 'open'; },
      get scene() { return model.scene; },
      get state() { return model.state; },
      get loaded() { return loader.complete; },
      get triangles() { return stage.triangles; },
      get parts() { return [...model.parts.values()].map(({ part, mesh, name, kind, use, ready, look, voxel, points, T_world_part }) => ({ part, mesh, name, kind, use, ready, look, voxel, points, pose: T_world_part })); },
      get visible() { return [...model.parts.keys()].filter((part) => stage.is_visible(part)); },
      get selected() { return model.selected; },
      get hover() { return dragging.hover; },
      get holding() { return hand.holding; },
      get contacts() { return model.state?.contact_count ?? 0; },
      get force() { return model.state ? greatest_force(model.state) : 0; },
      get clearance() { return model.state ? { lower: model.state.lower, upper: model.state.upper } : null; },
      get gap() { return model.state && gap_of(model.state, model.selected); },
      get onset_step() { return panels.step_of_onset; },
      get clashes() { return clashes.found; },
      get measurements() { return measuring.entries.map(({ found }) => found); },
      get notes() { return model.notes; },
      get joints() { return model.joints; },
      get gap_maps() { return gap_map.seen; },
      get way() { return { found: way_out.found, ...way_out.seen }; },
      get section_handles() { return section_handles.places; },
      get failed_files() { return failed_files.list.map(({ file, reason }) => ({ name: file.name, reason })); },
      get files_ended() { return failed_files.ended; },
      get messages() { return messages.list; },
      get clipped() { return stage.renderer.clippingPlanes.length; },
      get callouts() { return callouts.seen; },
      get overlaps() { return model.state?.overlaps ?? []; },
      get parameters() { return Object.fromEntries([...model.parameters].map(([name, parameter]) => [name, parameter.value])); },
      get recordings() { return [...model.recordings.values()]; },
      get replaying() { return model.replaying; },
      get latency() { return { p50: connection.latency.p50, p95: connection.latency.p95, samples: connection.latency.samples }; },
      get fps() { return status.fps; },
      get pictures() { return pacer.pictures; },
      get looks() { return looks; },
      get headset() { return { active: headset.active, pulses: headset.pulses, scale: headset.scale }; },
      get drawn() { return { ...drawn, together: stage.instances.members }; },
      get feedback() { return feedback.count; },
      get pointing() { return hand.pointing; },
      get hand() { return hand.hand; },
      get hand_pose() { return hand.pose; },
      get gizmo_hot() { return gizmo.hot; },
      get eye() { return { p: eye.camera.position.toArray(), target: eye.controls.target.toArray() }; },
      get seen() { return { ...overlays.seen, proxy: proxies.seen, workspaces: workspace.shown, patches: stage.patches.places, patched: [...stage.parts.values()].filter((object) => object.patched.value).map((object) => object.part), colliding: overlays.colliding(), coloured: [...stage.parts.values()].filter((object) => object.coloured).map((object) => object.part) }; },
      get people() { return [...model.people.values()]; },
      get guests() { return model.guests; },
      get theme() { return theme.name; },
      project: (at: Vec3) => eye.project(at),
      pick: (x: number, y: number) => picker.at(x, y),
    }),
  });
}

void main();
