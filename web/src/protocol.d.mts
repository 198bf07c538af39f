// Types of protocol.mjs; written by flr_protocol_gen from src/protocol/messages.def: change that, then `ninja protocol`.

export type Vec3 = [number, number, number];

/** turn by q (w x y z), then move by p */
export interface Pose {
  p: Vec3;
  q: [number, number, number, number];
}

export interface Wrench {
  torque: Vec3;
  force: Vec3;
}

export const MAJOR: number;
export const MINOR: number;
/** bytes of the head of a frame */
export const HEAD: 16;
export const TO_CONTROLLER: 1;
export const TO_CLIENT: 2;
export const TO_PEER: 4;
/** no part, hand or device */
export const NONE: 4294967295;

/** refused: code is one of result, message names message and field */
export class ProtocolError extends Error {
  code: number;
  /** of the frame, where its head could be read */
  request: number;
}

export type Decoded = {
  [Name in keyof Messages]: {
    id: number;
    name: Name;
    /** version that the sender speaks */
    minor: number;
    /** number of the command that this is or answers; 0: none */
    request: number;
    body: Messages[Name];
  };
}[keyof Messages];

/** Decodes one frame. Lists of numbers may be views of it: do not change it afterwards. Throws ProtocolError;
 * with code RESULT_UNSUPPORTED the frame is of a version to come, and is skipped. */
export function decode(frame: ArrayBuffer | Uint8Array, direction?: 1 | 2): Decoded;

/** Encodes one frame. Fields that are not given are zero or empty. Throws ProtocolError. */
export function encode<Name extends keyof Messages>(
  name: Name, body: Partial<Messages[Name]>, request?: number, minor?: number): Uint8Array;

/** what a client is */
export const role: {
  /** a page that shows and steers */
  readonly ROLE_VIEWER: 0;
  /** an application that brings meshes and reads poses */
  readonly ROLE_HOST: 1;
  /** looks only; its commands are refused */
  readonly ROLE_WATCHER: 2;
};

/** what became of a request; the numbers of flr_result */
export const result: {
  /** done */
  readonly RESULT_OK: 0;
  /** what was sent is not what it should be */
  readonly RESULT_BAD_INPUT: 1;
  /** a value is out of its range */
  readonly RESULT_BAD_ARGUMENT: 2;
  /** there is no such thing */
  readonly RESULT_NOT_FOUND: 3;
  /** exists, but may not be used */
  readonly RESULT_DENIED: 4;
  /** reading or writing failed */
  readonly RESULT_IO: 5;
  /** memory could not be had */
  readonly RESULT_NO_MEMORY: 6;
  /** beyond a limit */
  readonly RESULT_TOO_LARGE: 7;
  /** this side cannot do that */
  readonly RESULT_UNSUPPORTED: 8;
  /** did not happen in time */
  readonly RESULT_TIMEOUT: 9;
  /** not now; try later */
  readonly RESULT_AGAIN: 10;
  /** the other side is gone */
  readonly RESULT_CLOSED: 11;
  /** somebody asked to stop */
  readonly RESULT_CANCELLED: 12;
  /** a helper process died */
  readonly RESULT_CRASHED: 13;
};

/** how a part may move; the numbers of flr_part_kind */
export const part_kind: {
  /** never moves */
  readonly PART_STATIC: 0;
  /** moves while a hand holds it */
  readonly PART_MOVABLE: 1;
  /** moves by itself, too */
  readonly PART_FREE: 2;
};

/** how a part is shown */
export const look: {
  /** in its own colour */
  readonly LOOK_PLAIN: 0;
  /** a hand touches it and may take it: green */
  readonly LOOK_READY: 1;
  /** a hand holds it */
  readonly LOOK_HELD: 2;
  /** it touches another part: red */
  readonly LOOK_COLLIDING: 3;
};

/** what of a part's making is shown */
export const overlay_kind: {
  /** its surface voxels */
  readonly OVERLAY_VOXELS: 0;
  /** the points of its shell */
  readonly OVERLAY_POINTS: 1;
};

/** where a hand's pose comes from */
export const device_kind: {
  /** mouse, keyboard or gamepad of a page */
  readonly DEVICE_PAGE: 0;
  /** a SpaceMouse at the controller's machine */
  readonly DEVICE_SPACEMOUSE: 1;
  /** a device with force feedback */
  readonly DEVICE_FORCE: 2;
  /** a simulated hand */
  readonly DEVICE_SIMULATED: 3;
  /** a recorded hand */
  readonly DEVICE_REPLAY: 4;
  /** poses from a host application */
  readonly DEVICE_HOST: 5;
};

/** what a hand works with; the numbers of flr_tool */
export const tool: {
  /** takes parts */
  readonly TOOL_GRIP: 0;
  /** touches them with a point */
  readonly TOOL_POINT: 1;
};

/** what a worker does */
export const job_kind: {
  /** loads a scene */
  readonly JOB_LOAD: 0;
  /** reads a mesh */
  readonly JOB_IMPORT: 1;
  /** makes voxels and points of a part */
  readonly JOB_VOXELIZE: 2;
  /** merges static parts */
  readonly JOB_MERGE: 3;
  /** writes a file */
  readonly JOB_SAVE: 4;
  /** builds exact geometry of all parts, for another engine */
  readonly JOB_FIT: 5;
};

/** how far a worker is */
export const job_state: {
  /** its turn has not come */
  readonly JOB_WAITING: 0;
  /** at work */
  readonly JOB_RUNNING: 1;
  /** over; result says how */
  readonly JOB_ENDED: 2;
};

/** what has happened */
export const event_kind: {
  /** worth knowing */
  readonly EVENT_NOTE: 0;
  /** something is not as it should be */
  readonly EVENT_WARNING: 1;
  /** the loop saw a fault; forces may have been taken away */
  readonly EVENT_FAULT: 2;
  /** a hand took a part */
  readonly EVENT_GRABBED: 3;
  /** a hand let go of a part */
  readonly EVENT_RELEASED: 4;
  /** a device came, went or was selected */
  readonly EVENT_DEVICE: 5;
  /** a recording began or ended */
  readonly EVENT_RECORDING: 6;
  /** a client came or went */
  readonly EVENT_CLIENT: 7;
};

/** what a client asks for; the controller grants some of it */
export const ability: {
  /** sends commands */
  readonly ABILITY_COMMAND: 1;
  /** moves a hand (hand_input) */
  readonly ABILITY_HAND: 2;
  /** gives files and meshes */
  readonly ABILITY_UPLOAD: 4;
  /** starts, stops and fetches recordings */
  readonly ABILITY_RECORD: 8;
  /** understands mesh_packed */
  readonly ABILITY_PACKED: 16;
  /** names scene files at the controller's machine */
  readonly ABILITY_LOAD: 32;
};

/** what a client wants to receive besides the scene */
export const want: {
  /** state frames */
  readonly WANT_STATE: 1;
  /** contacts in state frames */
  readonly WANT_CONTACTS: 2;
  /** proximity of what is held */
  readonly WANT_PROXIMITY: 4;
  /** surface voxels near what is held */
  readonly WANT_VOXELS: 8;
  /** progress of jobs */
  readonly WANT_JOBS: 16;
  /** events */
  readonly WANT_EVENTS: 32;
  /** exact distances of what is held, in state frames */
  readonly WANT_GAPS: 64;
};

/** about a hand in a state frame */
export const hand_bit: {
  /** its device gives poses */
  readonly HAND_PRESENT: 1;
  /** its device gives forces back */
  readonly HAND_FORCE: 2;
  /** the guard sent less than the wrench */
  readonly HAND_LIMITED: 4;
  /** its tool is a point; where that is, proxies say */
  readonly HAND_POINT: 8;
};

/** about a member of a shared session */
export const person_bit: {
  /** this controller itself */
  readonly PERSON_SELF: 1;
  /** leads: what all agree on is put in order there */
  readonly PERSON_LEADER: 2;
  /** has the scene */
  readonly PERSON_READY: 4;
  /** is not heard; what it held is frozen */
  readonly PERSON_AWAY: 8;
  /** looks only */
  readonly PERSON_WATCHER: 16;
  /** has left; this is the last message about it */
  readonly PERSON_GONE: 32;
};

/** about a part of a shared session */
export const guest_bit: {
  /** something is caught between its instance here and the other's */
  readonly GUEST_DIVERGED: 1;
  /** nobody may take it, because who held it is away */
  readonly GUEST_FROZEN: 2;
  /** was let go of, and is brought to where that was */
  readonly GUEST_HOMING: 4;
  /** its way there was not free: it passes through everything */
  readonly GUEST_GHOST: 8;
};

/** what a member of a shared session does */
export const peer_role: {
  /** takes parts */
  readonly PEER_HAND: 0;
  /** looks only */
  readonly PEER_WATCHER: 1;
};

/** about a member or a part of a shared session */
export const peer_bit: {
  /** member: has the scene and simulates it */
  readonly PEER_READY: 1;
  /** member: nobody hears it; what it held is frozen */
  readonly PEER_AWAY: 2;
  /** claim: the member holds the part; without it, it has let go */
  readonly PEER_HOLDS: 4;
  /** part: it has been let go of, and has a place to be at */
  readonly PEER_REST: 8;
  /** part: nobody may take it, because who held it is away */
  readonly PEER_FROZEN: 16;
  /** session: states go through the leader */
  readonly PEER_RELAY: 32;
  /** part: it touches something there */
  readonly PEER_TOUCHING: 64;
  /** claim: the member holds more than is listed here */
  readonly PEER_MORE: 128;
};

/** how far two parts are from each other by their triangles, in a state frame */
export interface gap_state {
  /** one that is held or moves */
  part: number;
  /** the other */
  other: number;
  /** metres; negative: they are so deep in each other; 0: surfaces meet */
  distance: number;
  /** metres: the true distance differs by no more than this */
  error: number;
  /** metres, world: nearest point of the part, or the deepest one */
  from: Vec3;
  /** metres, world: nearest point of the other, or the way out */
  to: Vec3;
}

/** two parts that started in each other, in a state frame */
export interface overlap_state {
  /** one that may move */
  part: number;
  /** the other */
  other: number;
  /** metres: how deep they were in each other; 0: surfaces met, or it is not known */
  depth: number;
  /** metres: how deep they may be now, with the exact engine; 0: they have come free */
  tolerated: number;
  /** metres, world: where */
  point: Vec3;
}

/** of the frames since statistics began, microseconds */
export interface timing {
  /** half of them are below */
  p50: number;
  /** 99 of 100 are below */
  p99: number;
  /** the worst */
  max: number;
}

/** a part that moves, in a state frame */
export interface part_state {
  /** its number */
  part: number;
  /** how it is shown */
  look: number;
  /** where it is */
  T_world_part: Pose;
}

/** a hand, in a state frame */
export interface hand_state {
  /** part, or 4294967295: none */
  held: number;
  /** part that it would take, or 4294967295: none */
  touched: number;
  /** hand_bit */
  bits: number;
  /** pressed ones, a bit each */
  buttons: number;
  /** of its output guard, as in feeler/device.h */
  faults: number;
  /** where the device is */
  T_world_hand: Pose;
  /** where the held part would be if nothing were in its way */
  T_world_ghost: Pose;
  /** what the device gives: world's axes, about the hand's origin */
  wrench: Wrench;
}

/** the point of a hand that touches with one, in a state frame */
export interface proxy_state {
  /** its number */
  hand: number;
  /** that it touches, or 4294967295: none */
  part: number;
  /** metres, world: on the surface where it touches, else where the hand is */
  point: Vec3;
  /** unit, away from the surface as it is felt; zero: it touches nothing */
  normal: Vec3;
  /** newtons, on the hand, before the guard */
  force: Vec3;
  /** metres: how far the hand is below the surface */
  depth: number;
  /** friction holds it */
  sticking: boolean;
}

/** a hand of somebody else in a shared session, in guests */
export interface guest_hand {
  /** whose it is, as in person */
  member: number;
  /** its number there */
  hand: number;
  /** part, or 4294967295: none */
  held: number;
  /** where it is */
  T_world_hand: Pose;
}

/** a part that somebody else holds or that is on its way to its place, in guests */
export interface guest_part {
  /** its number */
  part: number;
  /** somebody else who holds it, as in person; 0: nobody does */
  member: number;
  /** 0 */
  spare: number;
  /** guest_bit */
  bits: number;
}

/** a point that touches */
export interface contact {
  /** metres, world */
  point: Vec3;
  /** newtons, on the part */
  force: Vec3;
  /** metres below the plane where force begins */
  depth: number;
  /** whose point it is */
  part: number;
  /** what it touches */
  other: number;
}

/** a member, in a membership */
export interface peer_entry {
  /** its number */
  member: number;
  /** 0 */
  spare: number;
  /** peer_bit */
  bits: number;
  /** the last of its claims that is in this membership */
  seen: number;
  /** as it chose it: where the network was parted, two may have got one number */
  nonce: number;
}

/** a part that is held, or that not everybody has at its place yet, in a membership */
export interface peer_place {
  /** its number */
  part: number;
  /** peer_bit */
  bits: number;
  /** of the membership in which it got the place */
  number: number;
  /** who held it, where it is frozen; 0: nobody */
  member: number;
  /** 0 */
  spare: number;
  /** the place */
  T_world_part: Pose;
}

/** a part and a member, in a membership */
export interface peer_pair {
  /** number of the part */
  part: number;
  /** who holds it (the first of them owns it), or who does not have it at its place yet */
  member: number;
  /** 0 */
  spare: number;
}

/** what a member says about a part, in a claim */
export interface peer_command {
  /** number of the part */
  part: number;
  /** counts up with everything that the member does */
  serial: number;
  /** peer_bit */
  bits: number;
  /** where it was let go of */
  T_world_part: Pose;
}

/** a part that a member has at its place */
export interface peer_settled {
  /** number of the part */
  part: number;
  /** of the place, as in peer_place */
  number: number;
}

/** a hand, in a peer_state */
export interface peer_hand {
  /** its number at its controller */
  hand: number;
  /** part, or 4294967295: none */
  held: number;
  /** where it is */
  T_world_hand: Pose;
}

/** an instance of a part, in a peer_state */
export interface peer_part {
  /** its number */
  part: number;
  /** peer_bit */
  bits: number;
  /** where it is */
  T_world_part: Pose;
  /** rad/s, world's axes */
  angular: Vec3;
  /** m/s, of its centre of mass */
  linear: Vec3;
  /** metres: with which its contact is found there */
  voxel: number;
  /** 0 */
  spare: number;
}

/** what the sender's end of a tie has put in */
export interface peer_energy {
  /** that is tied */
  part: number;
  /** whose instance it is tied to */
  member: number;
  /** 0 */
  spare: number;
  /** joules, since the tie is there */
  put: number;
}

/** the bodies of all messages, by name */
export interface Messages {
  hello: message_hello;
  welcome: message_welcome;
  error: message_error;
  ping: message_ping;
  pong: message_pong;
  done: message_done;
  health_ask: message_health_ask;
  health: message_health;
  watch: message_watch;
  bye: message_bye;
  scene: message_scene;
  part: message_part;
  part_gone: message_part_gone;
  mesh_ask: message_mesh_ask;
  mesh: message_mesh;
  mesh_chunk: message_mesh_chunk;
  mesh_packed: message_mesh_packed;
  overlay_ask: message_overlay_ask;
  overlay: message_overlay;
  state: message_state;
  proximity: message_proximity;
  near_voxels: message_near_voxels;
  state_ask: message_state_ask;
  grab: message_grab;
  release: message_release;
  reset: message_reset;
  undo: message_undo;
  place: message_place;
  pause: message_pause;
  tool: message_tool;
  hand_input: message_hand_input;
  parameters_ask: message_parameters_ask;
  parameter: message_parameter;
  set: message_set;
  devices_ask: message_devices_ask;
  device: message_device;
  device_select: message_device_select;
  record_start: message_record_start;
  record_stop: message_record_stop;
  recordings_ask: message_recordings_ask;
  recording: message_recording;
  record_fetch: message_record_fetch;
  record_data: message_record_data;
  replay: message_replay;
  replaying: message_replaying;
  load: message_load;
  upload: message_upload;
  upload_bytes: message_upload_bytes;
  upload_triangles: message_upload_triangles;
  upload_end: message_upload_end;
  remove: message_remove;
  voxelize: message_voxelize;
  cancel: message_cancel;
  clearance_ask: message_clearance_ask;
  clearance: message_clearance;
  kind: message_kind;
  save: message_save;
  job: message_job;
  event: message_event;
  person: message_person;
  guests: message_guests;
  peer_join: message_peer_join;
  peer_welcome: message_peer_welcome;
  peer_refused: message_peer_refused;
  peer_card: message_peer_card;
  peer_membership: message_peer_membership;
  peer_claim: message_peer_claim;
  peer_state: message_peer_state;
  peer_files_ask: message_peer_files_ask;
  peer_file: message_peer_file;
  peer_fetch: message_peer_fetch;
  peer_piece: message_peer_piece;
  peer_set: message_peer_set;
  peer_note: message_peer_note;
}

/** the first message of a client; its head says which version it speaks */
export interface message_hello {
  /** what the client is */
  role: number;
  /** ability: what it asks for */
  abilities: number;
  /** as the controller printed it; may be empty on loopback */
  token: string;
  /** of the program, for people */
  name: string;
}

/** the answer to a hello; both speak the minor version in its head from now on */
export interface message_welcome {
  /** number of this client */
  session: number;
  /** ability: what is granted */
  abilities: number;
  /** frames of the loop in a second */
  loop_rate: number;
  /** state frames in a second, unless watch says otherwise */
  state_rate: number;
  /** of the controller and its version, for people */
  name: string;
}

/** something was refused; before a welcome the connection ends with it */
export interface message_error {
  /** why */
  code: number;
  /** id of the message that was refused; 0: none */
  about: number;
  /** for a person: what is wrong and what to do */
  sentence: string;
}

/** answered at once by a pong */
export interface message_ping {
  /** anything; comes back */
  stamp: number;
}

/** answers a ping */
export interface message_pong {
  /** of the ping */
  stamp: number;
  /** microseconds since the answering side began */
  time_us: number;
}

/** a command was carried out, or not */
export interface message_done {
  /** what became of it */
  code: number;
  /** number of what the command made (job, upload, recording); else 0 */
  value: number;
  /** for a person, when it failed */
  sentence: string;
}

/** answered by health */
export interface message_health_ask {
}

/** how the controller is */
export interface message_health {
  /** of the loop so far */
  frames: number;
  /** frames that ended after the next should have begun */
  overruns: number;
  /** periods without a frame */
  skipped: number;
  /** frames in which a device had nothing new */
  late_input: number;
  /** frames in which a guard saw a fault */
  faulty: number;
  /** bytes in use */
  memory: number;
  /** seconds */
  uptime: number;
  /** from waking up to the end of a frame */
  compute: timing;
  /** how late frames began */
  wakeup: timing;
  /** connected */
  clients: number;
  /** waiting or running */
  jobs: number;
  /** whether the loop keeps its rate */
  rate_held: boolean;
  /** rate held, or why not */
  sentence: string;
  /** what the system granted to the loop */
  rights: string;
}

/** what to send from now on, and how often */
export interface message_watch {
  /** want */
  wants: number;
  /** state frames in a second at most; 0: only when asked */
  state_rate: number;
}

/** the last message before the connection ends */
export interface message_bye {
  /** why */
  code: number;
  /** for a person */
  sentence: string;
}

/** a new scene begins, what was known of another is void; its parts follow */
export interface message_scene {
  /** number; counts up */
  scene: number;
  /** how many part messages follow */
  parts: number;
  /** how many meshes they share */
  meshes: number;
  /** how many hands there are */
  hands: number;
  /** corner of the box around everything, metres */
  low: Vec3;
  /** the opposite corner */
  high: Vec3;
  /** for people */
  name: string;
  /** in which lengths are shown: mm, m, in */
  unit: string;
  /** whether it says from where one first looks; else all should be in view */
  has_camera: boolean;
  /** metres, world: from here */
  eye: Vec3;
  /** metres, world: to here */
  target: Vec3;
  /** world; any length: what is up in the picture */
  up: Vec3;
}

/** a part, new or changed */
export interface message_part {
  /** number; not used again for another part of the scene */
  part: number;
  /** number of its mesh */
  mesh: number;
  /** how it may move */
  kind: number;
  /** has voxels and takes part in contact */
  ready: boolean;
  /** 0x00rrggbb, sRGB */
  colour: number;
  /** of its shell */
  points: number;
  /** metres; 0: none yet */
  voxel: number;
  /** where it is now */
  T_world_part: Pose;
  /** for people */
  name: string;
}

/** a part is not there any more */
export interface message_part_gone {
  /** its number */
  part: number;
}

/** answered by mesh and its chunks, then done */
export interface message_mesh_ask {
  /** its number */
  mesh: number;
  /** at most so many, by a coarser level; 0: all */
  triangles: number;
}

/** a mesh; its chunks follow in order */
export interface message_mesh {
  /** its number */
  mesh: number;
  /** of detail; 0: the finest */
  level: number;
  /** how many in all chunks */
  vertices: number;
  /** how many in all chunks */
  triangles: number;
  /** how many follow */
  chunks: number;
  /** corner of its box, metres, part's frame */
  low: Vec3;
  /** the opposite corner */
  high: Vec3;
  /** of the mesh's content, hexadecimal; names it in a client's cache */
  hash: string;
}

/** a piece of a mesh that can be drawn by itself */
export interface message_mesh_chunk {
  /** its number */
  mesh: number;
  /** of detail */
  level: number;
  /** 0, 1, 2 and so on */
  chunk: number;
  /** number of its first vertex in the mesh, for proximity */
  first_vertex: number;
  /** x y z, metres, part's frame */
  vertices: Float32Array;
  /** three for a triangle, counted from the chunk's first vertex; empty where indices_wide is used */
  indices: Uint16Array;
  /** the same, in four bytes each */
  indices_wide: Uint32Array;
}

/** a mesh_chunk as meshoptimizer packs it, for clients with ABILITY_PACKED */
export interface message_mesh_packed {
  /** its number */
  mesh: number;
  /** of detail */
  level: number;
  /** 0, 1, 2 and so on */
  chunk: number;
  /** number of its first vertex in the mesh */
  first_vertex: number;
  /** how many */
  vertices: number;
  /** how many, a multiple of 3 */
  indices: number;
  /** bytes of one index when unpacked: 2 or 4 */
  index_size: number;
  /** vertex codec, three f32 for each */
  packed_vertices: Uint8Array;
  /** index codec */
  packed_indices: Uint8Array;
}

/** answered by overlay, in one or more pieces, then done */
export interface message_overlay_ask {
  /** its number */
  part: number;
  /** which */
  kind: number;
  /** at most so many, evenly taken from all; 0: all */
  limit: number;
}

/** voxels or points of a part, to be looked at */
export interface message_overlay {
  /** its number */
  part: number;
  /** which */
  kind: number;
  /** number of the first position of this piece among those sent */
  first: number;
  /** how many are sent in all pieces */
  count: number;
  /** how many the part has */
  total: number;
  /** of a voxel, metres */
  size: number;
  /** x y z, metres, part's frame: centres of voxels, or points */
  positions: Float32Array;
  /** of points, one for each: 0 vertex, 1 edge, 2 face; else empty */
  features: Uint8Array;
}

/** where everything is and how the loop does */
export interface message_state {
  /** of the loop */
  frame: number;
  /** microseconds since the loop began */
  time_us: number;
  /** in this frame */
  points_tested: number;
  /** to which this belongs */
  scene: number;
  /** all contacts; the list may hold fewer */
  contact_count: number;
  /** metres: nothing is nearer than this; infinite: nothing is near */
  lower: number;
  /** metres: something is as near as this */
  upper: number;
  /** metres: the deepest contact */
  deepest: number;
  /** bodies whose way was shortened by the travel limit */
  limited: number;
  /** bodies whose way was not free to its end */
  stopped: number;
  /** of all bodies, as in feeler/dynamics.h */
  faults: number;
  /** periods without a frame so far */
  skipped: number;
  /** from waking up to the end of a frame */
  compute: timing;
  /** how late frames began */
  wakeup: timing;
  /** microseconds: this frame */
  compute_last: number;
  /** whether the loop keeps its rate */
  rate_held: boolean;
  /** whether it is being recorded */
  recording: boolean;
  /** whether the step is held */
  paused: boolean;
  /** whether parts holds all that may move, or only what changed since the frame sent before */
  whole: boolean;
  /** all of them */
  hands: hand_state[];
  /** parts that move */
  parts: part_state[];
  /** the first ones, in a fixed order */
  contacts: contact[];
  /** of the hands whose tool is a point */
  proxies: proxy_state[];
  /** whether voxels are awaited from the disk: nothing moves and nothing is felt until they come */
  waiting: boolean;
  /** how often that was so */
  waits: number;
  /** seconds: all of that together */
  waited: number;
  /** seconds */
  longest_wait: number;
  /** of voxels that came within reach of a step, the share that was there already; 1: none came */
  paged_hits: number;
  /** bytes there are for voxels that are paged; 0: none are */
  paged_memory: number;
  /** bytes of them that are in memory */
  paged_resident: number;
  /** bytes read from the disk so far */
  paged_read: number;
  /** bytes of what tells where they are, always in memory, beside paged_memory */
  paged_directory: number;
  /** exact distances of parts that are held or move to others near them, nearest first; for a client that wants them */
  gaps: gap_state[];
  /** parts that were in each other when they were put where they stand */
  overlaps: overlap_state[];
}

/** how near the surroundings are to vertices of a part, for colours */
export interface message_proximity {
  /** of the loop */
  frame: number;
  /** its number */
  part: number;
  /** of its mesh, level 0 */
  first_vertex: number;
  /** metres: distances from here on are not told apart */
  greatest: number;
  /** metres, one for each vertex */
  distances: Float32Array;
}

/** surface voxels of a part that are near a moving one */
export interface message_near_voxels {
  /** of the loop */
  frame: number;
  /** whose voxels they are */
  part: number;
  /** of a voxel, metres */
  size: number;
  /** x y z, metres, part's frame */
  centres: Float32Array;
}

/** answered by a state that is whole */
export interface message_state_ask {
}

/** a hand takes a part */
export interface message_grab {
  /** its number */
  hand: number;
  /** or 4294967295: the one it touches */
  part: number;
  /** the hand is at T_world_hand now and takes the part there; else where it was seen last */
  has_pose: boolean;
  /** where the hand is; of no effect where a device moves the hand */
  T_world_hand: Pose;
}

/** a hand lets go */
export interface message_release {
  /** its number */
  hand: number;
}

/** everything goes back to where the scene puts it */
export interface message_reset {
}

/** back to before the last grab, place or reset */
export interface message_undo {
  /** how often, 1 or more */
  steps: number;
}

/** puts a part somewhere, at rest */
export interface message_place {
  /** its number */
  part: number;
  /** where to */
  T_world_part: Pose;
}

/** holds the step or lets it go on */
export interface message_pause {
  /** which */
  paused: boolean;
}

/** gives a hand another tool; what it holds is let go */
export interface message_tool {
  /** its number */
  hand: number;
  /** which */
  tool: number;
}

/** where a hand is, from the page or a host; the newest counts */
export interface message_hand_input {
  /** its number */
  hand: number;
  /** pressed ones, a bit each */
  buttons: number;
  /** microseconds, of the sender's clock */
  time_us: number;
  /** where it is */
  T_world_hand: Pose;
}

/** answered by a parameter for each, then done */
export interface message_parameters_ask {
}

/** a parameter: as asked for, or because somebody changed it */
export interface message_parameter {
  /** now; of a choice the place of its word, 0 first */
  value: number;
  /** least value */
  low: number;
  /** greatest value */
  high: number;
  /** as it was at the beginning */
  preset: number;
  /** as in set */
  name: string;
  /** SI; empty: a plain number */
  unit: string;
  /** of a choice, separated by blanks; else empty */
  words: string;
  /** for people */
  doc: string;
}

/** changes a parameter while everything runs */
export interface message_set {
  /** from low to high */
  value: number;
  /** of the parameter */
  name: string;
}

/** answered by a device for each, then done */
export interface message_devices_ask {
}

/** a device: as asked for, or because it changed */
export interface message_device {
  /** its number */
  device: number;
  /** what it is */
  kind: number;
  /** can be used now */
  present: boolean;
  /** that it moves, or 4294967295: none */
  hand: number;
  /** newtons; 0: gives none */
  max_force: number;
  /** newton metres; 0: gives none */
  max_torque: number;
  /** for people */
  name: string;
  /** why it cannot be used */
  sentence: string;
}

/** lets a device move a hand */
export interface message_device_select {
  /** its number */
  hand: number;
  /** its number, or 4294967295: none */
  device: number;
}

/** begins a recording; done gives its number */
export interface message_record_start {
  /** for people; empty: the time of day */
  name: string;
}

/** ends the recording */
export interface message_record_stop {
}

/** answered by a recording for each, then done */
export interface message_recordings_ask {
}

/** a recording: as asked for, or because it ended */
export interface message_recording {
  /** its number */
  recording: number;
  /** complete */
  finished: boolean;
  /** of its file */
  bytes: number;
  /** in it */
  frames: number;
  /** it lasts */
  seconds: number;
  /** for people */
  name: string;
}

/** answered by record_data */
export interface message_record_fetch {
  /** its number */
  recording: number;
  /** bytes wanted at most */
  size: number;
  /** of the first byte wanted */
  offset: number;
}

/** a piece of a recording's file (MCAP) */
export interface message_record_data {
  /** its number */
  recording: number;
  /** of the first byte */
  offset: number;
  /** bytes of the file */
  total: number;
  /** the piece */
  bytes: Uint8Array;
}

/** shows a recording to everybody in place of the loop's state, or ends that */
export interface message_replay {
  /** its number, or 4294967295: end, back to the loop */
  recording: number;
  /** runs, or stands still */
  playing: boolean;
  /** where to go on, since its beginning */
  seconds: number;
  /** 1: as it was */
  speed: number;
}

/** where a replay is: when it begins, changes or ends, and now and then while it runs */
export interface message_replaying {
  /** its number, or 4294967295: there is none, state is the loop's */
  recording: number;
  /** runs, or stands still */
  playing: boolean;
  /** where it is, since its beginning */
  seconds: number;
  /** seconds that it lasts */
  length: number;
  /** 1: as it was */
  speed: number;
}

/** loads a scene; done gives the job */
export interface message_load {
  /** of the scene file at the controller's machine, or the name of a procedural scenario */
  path: string;
}

/** a file or a mesh is to come; done gives the upload's number */
export interface message_upload {
  /** of the file; 0: triangles come by upload_triangles */
  bytes: number;
  /** in all upload_triangles */
  vertices: number;
  /** in all upload_triangles */
  triangles: number;
  /** metres in one unit of its coordinates */
  unit: number;
  /** of the file, whose ending says its format; or of the part */
  name: string;
}

/** a piece of the file, in order */
export interface message_upload_bytes {
  /** its number */
  upload: number;
  /** of the first byte */
  offset: number;
  /** the piece */
  bytes: Uint8Array;
}

/** a piece of the mesh, in order: vertices, triangles or both */
export interface message_upload_triangles {
  /** its number */
  upload: number;
  /** number of the first vertex in the mesh */
  first_vertex: number;
  /** number of the first triangle in the mesh */
  first_triangle: number;
  /** x y z in the upload's unit */
  vertices: Float32Array;
  /** three for a triangle, counted from the mesh's first vertex */
  indices: Uint32Array;
}

/** all is there: it becomes a part; done gives the job that makes its voxels */
export interface message_upload_end {
  /** its number */
  upload: number;
  /** how it may move */
  kind: number;
  /** 0x00rrggbb, sRGB */
  colour: number;
  /** metres; 0: the scene's */
  voxel: number;
  /** where it is */
  T_world_part: Pose;
}

/** takes a part out of the scene */
export interface message_remove {
  /** its number */
  part: number;
}

/** makes voxels of another size; done gives the job */
export interface message_voxelize {
  /** its number */
  part: number;
  /** metres */
  voxel: number;
}

/** stops a job */
export interface message_cancel {
  /** its number */
  job: number;
}

/** how far is a part from others; answered by clearance */
export interface message_clearance_ask {
  /** its number */
  part: number;
  /** from this one only; 4294967295: from all */
  other: number;
  /** from triangles instead of voxels: slower */
  exact: boolean;
}

/** answers clearance_ask */
export interface message_clearance {
  /** that was asked about */
  part: number;
  /** the nearest, or 4294967295: none in reach */
  other: number;
  /** metres: nothing is nearer; infinite: none in reach */
  lower: number;
  /** metres: something is as near */
  upper: number;
  /** nearest point of the part, world; zero when there is none */
  from: Vec3;
  /** nearest point of the other */
  to: Vec3;
  /** whether distance and error are known: exact was asked for, and something is there */
  known: boolean;
  /** metres; negative: they are so deep in each other; 0: surfaces meet */
  distance: number;
  /** metres: the true distance differs by no more than this */
  error: number;
}

/** lets a part move, or lets it stay where it is; a hand that holds what shall stay lets go */
export interface message_kind {
  /** its number */
  part: number;
  /** how it may move from now on */
  kind: number;
}

/** writes the scene as it is now, with its meshes beside it; done gives the job */
export interface message_save {
  /** its name, without folders: ends in .json, and is new or that of a scene saved before; the job's name tells where it is */
  path: string;
}

/** how far a worker is */
export interface message_job {
  /** its number */
  job: number;
  /** what it does */
  kind: number;
  /** how far it is */
  state: number;
  /** when it has ended */
  result: number;
  /** that it is about, or 4294967295: none */
  part: number;
  /** 0 to 1 */
  fraction: number;
  /** what it works on, for people */
  name: string;
  /** what it does now, or why it failed */
  sentence: string;
}

/** something has happened */
export interface message_event {
  /** what */
  kind: number;
  /** of the loop */
  frame: number;
  /** that it is about, or 4294967295: none */
  part: number;
  /** that it is about, or 4294967295: none */
  hand: number;
  /** for a person */
  sentence: string;
}

/** a member of a shared session: when something about it changes, and once a second */
export interface message_person {
  /** its number, from 1 */
  member: number;
  /** person_bit */
  bits: number;
  /** 0xrrggbb: of its hands and of what it holds */
  colour: number;
  /** seconds, one way, from there to here */
  delay: number;
  /** share of its packets that do not arrive */
  loss: number;
  /** a second, from there */
  bytes_in: number;
  /** a second, to there */
  bytes_out: number;
  /** of its user */
  name: string;
}

/** hands of others in a shared session and parts in them, after each state */
export interface message_guests {
  /** all that are seen */
  hands: guest_hand[];
  /** one for each part and holder */
  parts: guest_part[];
}

/** a controller wants to be a member, or one again */
export interface message_peer_join {
  /** that it was in before; 0: none */
  session: number;
  /** chosen by it when it started */
  nonce: number;
  /** that it was; 0: none */
  member: number;
  /** what it does */
  role: number;
  /** 0xrrggbb; 4294967295: the leader chooses */
  colour: number;
  /** of its user, for people */
  name: string;
  /** hash of the scene that it has; empty: it takes the session's */
  scene: Uint32Array;
}

/** the leader's answer: now it is a member; cards and a membership follow */
export interface message_peer_welcome {
  /** chosen by the first member */
  session: number;
  /** its number */
  member: number;
  /** peer_bit: of the session */
  bits: number;
  /** of the epoch */
  count: number;
  /** of the epoch */
  leader: number;
  /** of the first membership that has it */
  number: number;
  /** hash of the scene */
  scene: Uint32Array;
  /** where parts are that have been moved; further welcomes have the rest */
  places: peer_place[];
  /** another welcome follows */
  more: boolean;
}

/** the answer to a peer_join that cannot be */
export interface message_peer_refused {
  /** why; again: ask the leader, at address */
  code: number;
  /** of the leader; empty: none is known */
  address: string;
  /** for a person */
  sentence: string;
}

/** who a member is, from the leader */
export interface message_peer_card {
  /** its number */
  member: number;
  /** what it does */
  role: number;
  /** 0xrrggbb */
  colour: number;
  /** as it chose it */
  nonce: number;
  /** of its user */
  name: string;
  /** where it can be called; empty: not known */
  address: string;
}

/** who is in and who holds what, from the leader */
export interface message_peer_membership {
  /** which */
  session: number;
  /** of the epoch: a higher one is believed */
  count: number;
  /** of the epoch; of two with one count the older member is believed */
  leader: number;
  /** of the membership in its epoch and all before: the highest is believed */
  number: number;
  /** peer_bit: of the session */
  bits: number;
  /** in order of their numbers: the oldest first */
  members: peer_entry[];
  /** in order of their numbers */
  parts: peer_place[];
  /** in order of parts, then of time */
  holders: peer_pair[];
  /** in order of parts */
  unsettled: peer_pair[];
}

/** what a member does, to everybody: what the leader does not know yet, and that it is there */
export interface message_peer_claim {
  /** which */
  session: number;
  /** who */
  member: number;
  /** of the epoch that it is in */
  count: number;
  /** of that epoch */
  leader: number;
  /** of the membership that it has */
  number: number;
  /** milliseconds since it heard the leader */
  heard: number;
  /** peer_bit */
  bits: number;
  /** seconds: from it to the leader, one way */
  delay: number;
  /** of the last thing that it did */
  serial: number;
  /** what it holds, and what it has let go of that is not in a membership yet */
  commands: peer_command[];
  /** parts that it has at their places */
  settled: peer_settled[];
}

/** hands and instances of a member; the newest counts */
export interface message_peer_state {
  /** which */
  session: number;
  /** nanoseconds, by the clock of the member's controller */
  time: number;
  /** whose */
  member: number;
  /** of the epoch that it is in */
  count: number;
  /** of that epoch */
  leader: number;
  /** seconds: from it to the leader, one way */
  delay: number;
  /** those that are there */
  hands: peer_hand[];
  /** those that it holds */
  parts: peer_part[];
  /** of ties to parts that several hold */
  energies: peer_energy[];
  /** members that the leader shall pass it on to */
  via: Uint16Array;
}

/** which files make the scene; answered by a peer_file for each */
export interface message_peer_files_ask {
}

/** a file of the scene */
export interface message_peer_file {
  /** its place, from 0: the scene itself */
  file: number;
  /** how many there are; 0: the scene cannot be sent from there, and this is no file */
  files: number;
  /** bytes */
  size: number;
  /** of its bytes */
  hash: Uint32Array;
  /** beside the scene's file; no folders above it */
  name: string;
}

/** asks for a piece of a file; answered by peer_piece */
export interface message_peer_fetch {
  /** its place */
  file: number;
  /** first byte */
  offset: number;
}

/** a piece of a file */
export interface message_peer_piece {
  /** its place */
  file: number;
  /** first byte */
  offset: number;
  /** empty: there is no such file or offset */
  bytes: Uint8Array;
}

/** a parameter is another one, for everybody */
export interface message_peer_set {
  /** in the parameter's unit */
  value: number;
  /** of the parameter */
  name: string;
  /** who has set it */
  member: number;
  /** of the epoch of who tells it */
  count: number;
}

/** somebody tells something to everybody */
export interface message_peer_note {
  /** for a person */
  sentence: string;
}
