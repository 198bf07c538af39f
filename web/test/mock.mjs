// A controller for tests of the page: speaks the protocol, serves web/dist, and moves boxes that do not pass through each
// other. No voxels, no forces worth the name: what a part feels is how far its ghost is away from it.
//   node test/mock.mjs [PORT]      as a program        import { start } from './mock.mjs'      in a test
import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';
import { MeshoptEncoder } from 'meshoptimizer/meshopt_encoder.module.js';
import {
  ability, decode, encode, event_kind, job_kind, job_state, look, NONE, part_kind, result, TO_CONTROLLER, want,
} from '../src/protocol.mjs';

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist');
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
// as strict as the controller's own, and stricter about styles
export const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const IDENTITY = { p: [0, 0, 0], q: [1, 0, 0, 0] };

// ---- shapes: boxes [low, high] in metres, welded into one mesh; a tube for curved surfaces ----

function boxes_mesh(boxes) {
  const vertices = [], indices = [];
  const faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
  for (const [low, high] of boxes) {
    const first = vertices.length / 3;
    for (let i = 0; i < 8; i++) for (let k = 0; k < 3; k++) vertices.push((i >> k) & 1 ? high[k] : low[k]);
    for (const [a, b, c, d] of faces) indices.push(first + a, first + b, first + c, first + a, first + c, first + d);
  }
  return { vertices: new Float32Array(vertices), indices: new Uint32Array(indices) };
}

function tube_mesh(radius, length, sides) {
  const vertices = [], indices = [];
  for (const x of [-length / 2, length / 2])
    for (let i = 0; i < sides; i++) vertices.push(x, radius * Math.cos((2 * Math.PI * i) / sides), radius * Math.sin((2 * Math.PI * i) / sides));
  for (let i = 0; i < sides; i++) {
    const j = (i + 1) % sides;
    indices.push(i, sides + j, sides + i, i, j, sides + j);
    if (i > 0 && i + 1 < sides) indices.push(0, i + 1, i, sides, sides + i, sides + i + 1);
  }
  return { vertices: new Float32Array(vertices), indices: new Uint32Array(indices) };
}

export function first_scene() {
  const bay = [
    [[-0.3, -0.2, -0.02], [0.3, 0.2, 0]], [[-0.3, 0.18, 0], [0.3, 0.2, 0.22]], [[-0.3, -0.2, 0], [-0.28, 0.18, 0.22]],
    [[0.28, -0.2, 0], [0.3, 0.18, 0.22]], [[-0.06, 0.02, 0], [-0.02, 0.18, 0.14]], [[0.12, -0.08, 0], [0.16, 0.18, 0.1]],
  ];
  const part = [[[-0.05, -0.03, -0.02], [0.05, 0.03, 0.02]], [[-0.05, -0.03, 0.02], [-0.03, 0.03, 0.06]]];
  const meshes = [boxes_mesh(bay), boxes_mesh(part), tube_mesh(0.018, 0.14, 32)];
  const make = (part_number, mesh, kind, colour, p, name, boxes) =>
    ({ part: part_number, mesh, kind, ready: true, colour, points: 4000 * (part_number + 1), voxel: 0.001, mass: 0.025, weighed: false, T_world_part: { p, q: [1, 0, 0, 0] }, name, boxes, start: [...p], look: 0 });
  return {
    name: 'mock bay', meshes,
    parts: [
      make(0, 0, part_kind.PART_STATIC, 0x9aa7b5, [0, 0, 0], 'bay', bay),
      make(1, 1, part_kind.PART_MOVABLE, 0xe0a458, [-0.18, -0.02, 0.05], 'bracket', part),
      make(2, 2, part_kind.PART_MOVABLE, 0x6fa8dc, [0.05, -0.12, 0.03], 'tube', [[[-0.07, -0.018, -0.018], [0.07, 0.018, 0.018]]]),
    ],
  };
}

const PARAMETERS = [
  ['onset', 0.002, 0, 0.007, 'm', '', 'force begins this far before surfaces meet'],
  ['stiffness', 2000, 1, 1e6, 'N/m', '', 'of one contact'],
  ['integrator', 0, 0, 2, '', 'implicit explicit quasi-static', 'how bodies are moved'],
  ['travel', 0.0005, 1e-6, 1, 'm', '', 'no point goes farther in a frame'],
].map(([name, value, low, high, unit, words, doc]) => ({ name, value, preset: value, low, high, unit, words, doc }));

class Mock {
  constructor() {
    Object.assign(this, first_scene());
    this.began = performance.now();
    this.scene = 1;
    this.frame = 0;
    this.clients = new Set();
    this.hands = [0, 1].map(() => ({ held: NONE, touched: NONE, present: false, pose: structuredClone(IDENTITY), ghost: structuredClone(IDENTITY), grip: [0, 0, 0] }));
    this.parameters = structuredClone(PARAMETERS);
    this.recordings = [];
    this.recording = null;
    this.replay = null;
    this.undo = [];
    this.jobs = 0;
    this.paused = false;
    this.timer = setInterval(() => this.step(), 16);
  }

  now_us() { return Math.round((performance.now() - this.began) * 1000); }
  all(name, body, wanted = 0) { for (const client of this.clients) if (client.open && (!wanted || client.wants & wanted)) client.send(name, body); }
  clearance() { return this.parameters[0].value; }

  boxes(part, p = part.T_world_part.p) { return part.boxes.map(([low, high]) => [low.map((v, k) => v + p[k]), high.map((v, k) => v + p[k])]); }

  /** least distance of a part at p to all others, negative when they overlap; and the axis and place of it */
  gap(part, p) {
    let best = { distance: Infinity, other: NONE, point: [0, 0, 0], normal: [0, 0, 0] };
    for (const other of this.parts) {
      if (other === part) continue;
      for (const a of this.boxes(part, p)) for (const b of this.boxes(other)) {
        const apart = [0, 1, 2].map((k) => Math.max(b[0][k] - a[1][k], a[0][k] - b[1][k]));
        const distance = Math.max(...apart) < 0 ? Math.max(...apart) : Math.hypot(...apart.map((v) => Math.max(0, v)));
        if (distance >= best.distance) continue;
        const axis = apart.indexOf(Math.max(...apart));
        const point = [0, 1, 2].map((k) => (Math.max(a[0][k], b[0][k]) + Math.min(a[1][k], b[1][k])) / 2);
        best = { distance, other: other.part, point, normal: [0, 1, 2].map((k) => (k === axis ? Math.sign(a[0][k] + a[1][k] - b[0][k] - b[1][k]) || 1 : 0)) };
      }
    }
    return best;
  }

  step() {
    if (this.replay) { this.play(); return; }
    this.frame += 16;
    const contacts = [];
    for (const part of this.parts) part.look = look.LOOK_PLAIN;
    for (const hand of this.hands) {
      hand.force = [0, 0, 0];
      const part = this.parts.find((one) => one.part === hand.held);
      if (!part) {
        const touched = this.parts.find((one) => one.kind !== 0 && this.boxes(one).some(([low, high]) => low.every((v, k) => hand.pose.p[k] > v - 0.004 && hand.pose.p[k] < high[k] + 0.004)));
        hand.touched = hand.present && touched ? touched.part : NONE;
        if (hand.touched !== NONE && touched.look === 0) touched.look = look.LOOK_READY;
        continue;
      }
      part.look = look.LOOK_HELD;
      hand.ghost = { p: hand.pose.p.map((v, k) => v - hand.grip[k]), q: hand.pose.q };
      const at = part.T_world_part.p;
      if (!this.paused) {
        part.T_world_part.q = hand.pose.q;
        // axis by axis, in small steps, as far as nothing comes nearer than the clearance
        for (let k = 0; k < 3; k++)
          for (let left = 60; left > 0; left--) {
            const way = Math.max(-0.001, Math.min(0.001, hand.ghost.p[k] - at[k]));
            if (Math.abs(way) < 1e-6) break;
            const next = [...at];
            next[k] += way;
            const here = this.gap(part, at).distance, there = this.gap(part, next).distance;
            if (there < this.clearance() && there < here) break;
            at[k] = next[k];
          }
      }
      const stretch = hand.ghost.p.map((v, k) => v - at[k]);
      const near = this.gap(part, at);
      if (near.distance < this.clearance() + 0.0015 && Math.hypot(...stretch) > 0.003) {
        part.look = look.LOOK_COLLIDING;
        hand.force = stretch.map((v) => -120 * v);
        for (let i = 0; i < 4; i++)
          contacts.push({ point: near.point.map((v, k) => v + (near.normal[k] ? 0 : 0.01 * ((i >> (k % 2)) & 1))), force: hand.force, depth: 0.0002, part: part.part, other: near.other });
      }
      this.near_news(part);
    }
    this.state = this.make_state(contacts);
    if (this.recording) this.recording.states.push(structuredClone(this.state));
    this.send_state(this.state);
  }

  near_news(part) {
    if (this.frame % 64) return;
    const { vertices } = this.meshes[part.mesh];
    const distances = new Float32Array(vertices.length / 3);
    const p = part.T_world_part.p;
    for (let i = 0; i < distances.length; i++) {
      const at = [0, 1, 2].map((k) => vertices[3 * i + k] + p[k]);
      distances[i] = Math.min(0.05, ...this.parts.filter((one) => one !== part).flatMap((one) => this.boxes(one))
        .map(([low, high]) => Math.hypot(...[0, 1, 2].map((k) => Math.max(0, low[k] - at[k], at[k] - high[k])))));
    }
    this.all('proximity', { frame: this.frame, part: part.part, first_vertex: 0, greatest: 0.05, distances }, want.WANT_PROXIMITY);
    const centres = [];
    for (let i = -8; i <= 8; i++) for (let j = -8; j <= 8; j++) centres.push(p[0] + 0.005 * i, p[1] + 0.005 * j, 0);
    this.all('near_voxels', { frame: this.frame, part: 0, size: 0.005, centres: new Float32Array(centres) }, want.WANT_VOXELS);
  }

  make_state(contacts) {
    const held = this.parts.find((part) => this.hands.some((hand) => hand.held === part.part)) ?? this.parts.find((part) => part.kind);
    const gap = held ? Math.max(0, this.gap(held, held.T_world_part.p).distance) : Infinity;
    const compute = 90 + 40 * Math.random() + 12 * contacts.length;
    return {
      frame: this.frame, time_us: this.now_us(), points_tested: 3000 + Math.round(600 * Math.random()), scene: this.scene,
      contact_count: contacts.length, lower: Math.max(0, gap - 0.0004), upper: gap + 0.0006, deepest: contacts.length ? 0.0002 : 0,
      limited: 0, stopped: contacts.length ? 1 : 0, faults: 0, skipped: 0, compute: { p50: 110, p99: 168, max: 290 },
      wakeup: { p50: 4, p99: 11, max: 60 }, compute_last: compute, rate_held: true, recording: Boolean(this.recording), paused: this.paused, whole: true,
      hands: this.hands.map((hand) => ({
        held: hand.held, touched: hand.touched, bits: hand.present ? 1 : 0, buttons: 0, faults: 0, T_world_hand: hand.pose,
        T_world_ghost: hand.ghost, wrench: { torque: hand.force.map((v) => 0.02 * v), force: hand.force },
      })),
      parts: this.parts.filter((part) => part.kind).map((part) => ({ part: part.part, look: part.look, T_world_part: part.T_world_part })),
      contacts,
    };
  }

  send_state(state) {
    for (const client of this.clients) {
      if (!client.open || !(client.wants & want.WANT_STATE)) continue;
      client.send('state', client.wants & want.WANT_CONTACTS ? state : { ...state, contacts: [] });
    }
  }

  play() {
    const { replay } = this;
    if (replay.playing) replay.seconds = Math.min(replay.length, replay.seconds + 0.016 * replay.speed);
    if (replay.seconds >= replay.length) replay.playing = false;
    const state = replay.states[Math.min(replay.states.length - 1, Math.floor(replay.seconds / 0.016))];
    if (state) this.send_state({ ...state, time_us: this.now_us(), recording: false });
    if (replay.ticks++ % 6 === 0) this.tell_replay();
  }

  tell_replay() {
    const { replay } = this;
    this.all('replaying', replay ? { recording: replay.recording, playing: replay.playing, seconds: replay.seconds, length: replay.length, speed: replay.speed } : { recording: NONE, speed: 1 });
  }

  remember() { this.undo.push(this.parts.map((part) => [part.part, structuredClone(part.T_world_part)])); }

  close() { clearInterval(this.timer); }
}

// ---- one client ----

class Client {
  constructor(mock, socket) {
    Object.assign(this, { mock, socket, open: false, wants: 0, packed: false, uploads: new Map() });
    socket.on('message', (data) => this.receive(data));
    socket.on('close', () => {
      this.open = false;
      mock.clients.delete(this);
    });
    mock.clients.add(this);
  }

  send(name, body, request = 0) {
    if (this.socket.readyState === 1 && this.socket.bufferedAmount < 1 << 20) this.socket.send(encode(name, body, request));
  }

  receive(data) {
    const { name, request, body } = decode(new Uint8Array(data.buffer, data.byteOffset, data.length).slice().buffer, TO_CONTROLLER);
    const { mock } = this;
    const reply = this.commands[name];
    if (!reply) {
      if (request) this.send('error', { code: result.RESULT_UNSUPPORTED, about: 0, sentence: `the mock cannot ${name}` }, request);
      return;
    }
    const answer = reply.call(this, body, mock, request);
    if (request && answer !== false) {
      const failed = typeof answer === 'string';
      this.send('done', { code: failed ? result.RESULT_DENIED : 0, value: failed ? 0 : answer ?? 0, sentence: failed ? answer : '' }, request);
    }
  }

  tell_scene() {
    const { mock } = this;
    this.send('scene', { scene: mock.scene, parts: mock.parts.length, meshes: mock.meshes.length, hands: 2, low: [-0.3, -0.2, -0.02], high: [0.3, 0.2, 0.22], name: mock.name, unit: 'mm' });
    for (const part of mock.parts) this.send('part', part);
  }

  commands = {
    hello(body, mock) {
      if (mock.token && body.token !== mock.token) {
        this.send('error', { code: result.RESULT_DENIED, sentence: 'the token is not right' });
        return;
      }
      this.open = true;
      this.packed = Boolean(body.abilities & ability.ABILITY_PACKED);
      mock.sessions = (mock.sessions ?? 0) + 1;
      this.send('welcome', { session: mock.sessions, abilities: body.abilities, loop_rate: 1000, state_rate: 60, name: 'mock controller' });
      this.tell_scene();
    },
    watch(body) { this.wants = body.wants; },
    ping(body, mock, request) { this.send('pong', { stamp: body.stamp, time_us: mock.now_us() }, request); return false; },
    health_ask(_body, mock, request) {
      this.send('health', { frames: mock.frame, uptime: mock.now_us() / 1e6, rate_held: true, clients: mock.clients.size, compute: {}, wakeup: {}, sentence: '1000 Hz held', rights: '' }, request);
      return false;
    },
    mesh_ask(body, mock, request) {
      const mesh = mock.meshes[body.mesh];
      if (!mesh) return 'there is no such mesh';
      const low = [0, 1, 2].map((k) => mesh.vertices.reduce((least, v, i) => (i % 3 === k ? Math.min(least, v) : least), Infinity));
      const high = [0, 1, 2].map((k) => mesh.vertices.reduce((most, v, i) => (i % 3 === k ? Math.max(most, v) : most), -Infinity));
      const vertices = mesh.vertices.length / 3, triangles = mesh.indices.length / 3;
      this.send('mesh', { mesh: body.mesh, level: 0, vertices, triangles, chunks: 1, low, high, hash: `mock${body.mesh}` }, request);
      // every other mesh goes packed, so that both ways are used
      if (this.packed && body.mesh % 2 === 1)
        this.send('mesh_packed', {
          mesh: body.mesh, vertices, indices: mesh.indices.length, index_size: 4,
          packed_vertices: MeshoptEncoder.encodeVertexBuffer(new Uint8Array(mesh.vertices.buffer), vertices, 12),
          packed_indices: MeshoptEncoder.encodeIndexBuffer(new Uint8Array(mesh.indices.buffer), mesh.indices.length, 4),
        }, request);
      else this.send('mesh_chunk', { mesh: body.mesh, vertices: mesh.vertices, indices_wide: mesh.indices }, request);
    },
    overlay_ask(body, mock, request) {
      const { vertices } = mock.meshes[mock.parts.find((part) => part.part === body.part)?.mesh ?? 0];
      this.send('overlay', { part: body.part, kind: body.kind, count: vertices.length / 3, total: vertices.length / 3, size: 0.004, positions: vertices, features: new Uint8Array(body.kind ? vertices.length / 3 : 0) }, request);
    },
    parameters_ask(_body, mock, request) { for (const parameter of mock.parameters) this.send('parameter', parameter, request); },
    devices_ask(_body, _mock, request) {
      const device = { max_force: 0, max_torque: 0 };
      for (const hand of [0, 1]) this.send('device', { ...device, device: hand, kind: 0, present: true, hand, name: 'this page', sentence: '' }, request);
      this.send('device', { ...device, device: 2, kind: 1, present: false, hand: NONE, name: 'SpaceMouse', sentence: 'no spacenavd is running' }, request);
    },
    device_select() { return 'the mock has no devices'; },
    recordings_ask(_body, mock, request) { for (const { states: _states, ...recording } of mock.recordings) this.send('recording', recording, request); },
    set(body, mock) {
      const parameter = mock.parameters.find((one) => one.name === body.name);
      if (!parameter) return `there is no parameter '${body.name}'`;
      parameter.value = body.value;
      mock.all('parameter', parameter);
    },
    hand_input(body, mock) {
      const hand = mock.hands[body.hand];
      if (hand) Object.assign(hand, { pose: body.T_world_hand, present: true });
    },
    grab(body, mock) {
      const part = mock.parts.find((one) => one.part === body.part), hand = mock.hands[body.hand];
      if (!part || !hand) return 'there is no such part or hand';
      if (!part.kind) return `'${part.name}' is fixed`;
      mock.remember();
      if (body.has_pose) Object.assign(hand, { pose: body.T_world_hand, present: true });
      hand.held = part.part;
      hand.grip = hand.pose.p.map((v, k) => v - part.T_world_part.p[k]);
      mock.all('event', { kind: event_kind.EVENT_GRABBED, frame: mock.frame, part: part.part, hand: body.hand, sentence: `hand ${body.hand + 1} took ${part.name}` });
    },
    release(body, mock) { if (mock.hands[body.hand]) mock.hands[body.hand].held = NONE; },
    reset(_body, mock) {
      mock.remember();
      for (const hand of mock.hands) hand.held = NONE;
      for (const part of mock.parts) part.T_world_part = { p: [...part.start], q: [1, 0, 0, 0] };
    },
    undo(_body, mock) {
      const last = mock.undo.pop();
      if (!last) return 'there is nothing to undo';
      for (const hand of mock.hands) hand.held = NONE;
      for (const [number, pose] of last) { const part = mock.parts.find((one) => one.part === number); if (part) part.T_world_part = pose; }
    },
    pause(body, mock) { mock.paused = body.paused; },
    clearance_ask(body, mock, request) {
      const part = mock.parts.find((one) => one.part === body.part);
      if (!part) return 'there is no such part';
      const gap = mock.gap(part, part.T_world_part.p);
      const distance = Math.max(0, gap.distance);
      this.send('clearance', { part: body.part, other: gap.other, lower: distance, upper: distance, from: gap.point, to: gap.point.map((v, k) => v - gap.normal[k] * distance), known: true, distance, error: 0, frame: mock.frame }, request);
      return false;
    },
    record_start(body, mock) {
      mock.recording = { recording: mock.recordings.length, finished: false, bytes: 0, frames: 0, seconds: 0, here: true, name: body.name || `take ${mock.recordings.length + 1}`, states: [] };
      mock.recordings.push(mock.recording);
      return mock.recording.recording;
    },
    record_stop(_body, mock) {
      const { recording } = mock;
      if (!recording) return 'nothing is being recorded';
      Object.assign(recording, { finished: true, frames: recording.states.length, bytes: 1800 * recording.states.length, seconds: 0.016 * recording.states.length });
      mock.recording = null;
      const { states: _states, ...news } = recording;
      mock.all('recording', news);
    },
    record_fetch(body, _mock, request) {
      const bytes = new TextEncoder().encode('mock recording');
      this.send('record_data', { recording: body.recording, offset: body.offset, total: bytes.length, bytes: bytes.slice(body.offset, body.offset + body.size) }, request);
      return false;
    },
    replay(body, mock) {
      const recording = mock.recordings[body.recording];
      if (body.recording !== NONE && !recording) return 'there is no such recording';
      mock.replay = recording ? { recording: body.recording, states: recording.states, length: recording.seconds, seconds: body.seconds, playing: body.playing, speed: body.speed || 1, ticks: 0 } : null;
      mock.tell_replay();
    },
    upload(body, mock) {
      const number = (mock.uploads = (mock.uploads ?? 0) + 1);
      this.uploads.set(number, { ...body, data: Buffer.alloc(body.bytes) });
      return number;
    },
    upload_bytes(body) { this.uploads.get(body.upload)?.data.set(body.bytes, body.offset); },
    upload_end(body, mock) {
      const upload = this.uploads.get(body.upload);
      const job = ++mock.jobs;
      let fraction = 0;
      const news = (more) => mock.all('job', { job, kind: job_kind.JOB_VOXELIZE, state: job_state.JOB_RUNNING, result: 0, part: NONE, fraction, name: upload.name, sentence: 'making voxels', ...more }, want.WANT_JOBS);
      const timer = setInterval(() => {
        fraction += 0.1;
        news({});
        if (fraction < 0.95) return;
        clearInterval(timer);
        mock.add_stl(upload, body);
        news({ state: job_state.JOB_ENDED, fraction: 1, sentence: '' });
      }, 40);
      return job;
    },
    remove(body, mock) {
      mock.parts = mock.parts.filter((part) => part.part !== body.part);
      mock.all('part_gone', { part: body.part });
    },
    cancel() {},
    state_ask(_body, mock, request) { this.send('state', mock.state, request); return false; },
  };
}

/** a binary STL becomes a part; its contact is its box */
Mock.prototype.add_stl = function add_stl(upload, body) {
  const count = upload.data.readUInt32LE(80);
  const vertices = new Float32Array(9 * count), indices = new Uint32Array(3 * count);
  for (let i = 0; i < 9 * count; i++) vertices[i] = upload.data.readFloatLE(84 + 50 * Math.floor(i / 9) + 12 + 4 * (i % 9)) * upload.unit;
  for (let i = 0; i < 3 * count; i++) indices[i] = i;
  const side = (pick, start) => [0, 1, 2].map((k) => vertices.reduce((best, v, i) => (i % 3 === k ? pick(best, v) : best), start));
  const boxes = [[side(Math.min, Infinity), side(Math.max, -Infinity)]];
  const part = { part: Math.max(...this.parts.map((one) => one.part)) + 1, mesh: this.meshes.push({ vertices, indices }) - 1, kind: body.kind, ready: true, colour: body.colour, points: 900, voxel: body.voxel || 0.001, mass: 0.025, weighed: false, T_world_part: body.T_world_part, name: upload.name.replace(/\.\w+$/, ''), boxes, start: [...body.T_world_part.p], look: 0 };
  this.parts.push(part);
  this.all('part', part);
};

/** starts one; port 0: any. Gives { url, mock, close() } */
export async function start(port = 0, token = '') {
  await MeshoptEncoder.ready;
  const mock = new Mock();
  mock.token = token;
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, 'http://x').pathname).replace(/^\/+/, '') || 'index.html';
    const file = join(dist, path);
    if (!existsSync(file) || !TYPES[extname(file)]) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': TYPES[extname(file)], 'content-security-policy': POLICY });
    createReadStream(file).pipe(response);
  });
  const sockets = new WebSocketServer({ server, path: '/ws' });
  sockets.on('connection', (socket) => new Client(mock, socket));
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    mock,
    /** cuts all connections; `meanwhile` sees that they are gone */
    interrupt: async (meanwhile) => {
      for (const client of mock.clients) client.socket.terminate();
      await meanwhile();
    },
    close: () => {
      mock.close();
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await start(Number(process.argv[2] ?? 8300));
  console.log(`mock controller at ${url}`);
}
