// The page's side of the protocol; written by flr_protocol_gen from src/protocol/messages.def: change that (or the
// template beside it), then `ninja protocol`. Types are in protocol.d.mts. Refuses what the C codec refuses, with the
// same sentences.

export const MAJOR = 1;
export const MINOR = 4;

export const role = Object.freeze({
  ROLE_VIEWER: 0,
  ROLE_HOST: 1,
  ROLE_WATCHER: 2,
});
export const result = Object.freeze({
  RESULT_OK: 0,
  RESULT_BAD_INPUT: 1,
  RESULT_BAD_ARGUMENT: 2,
  RESULT_NOT_FOUND: 3,
  RESULT_DENIED: 4,
  RESULT_IO: 5,
  RESULT_NO_MEMORY: 6,
  RESULT_TOO_LARGE: 7,
  RESULT_UNSUPPORTED: 8,
  RESULT_TIMEOUT: 9,
  RESULT_AGAIN: 10,
  RESULT_CLOSED: 11,
  RESULT_CANCELLED: 12,
  RESULT_CRASHED: 13,
});
export const part_kind = Object.freeze({
  PART_STATIC: 0,
  PART_MOVABLE: 1,
  PART_FREE: 2,
});
export const look = Object.freeze({
  LOOK_PLAIN: 0,
  LOOK_READY: 1,
  LOOK_HELD: 2,
  LOOK_COLLIDING: 3,
});
export const overlay_kind = Object.freeze({
  OVERLAY_VOXELS: 0,
  OVERLAY_POINTS: 1,
});
export const device_kind = Object.freeze({
  DEVICE_PAGE: 0,
  DEVICE_SPACEMOUSE: 1,
  DEVICE_FORCE: 2,
  DEVICE_SIMULATED: 3,
  DEVICE_REPLAY: 4,
  DEVICE_HOST: 5,
});
export const tool = Object.freeze({
  TOOL_GRIP: 0,
  TOOL_POINT: 1,
});
export const job_kind = Object.freeze({
  JOB_LOAD: 0,
  JOB_IMPORT: 1,
  JOB_VOXELIZE: 2,
  JOB_MERGE: 3,
  JOB_SAVE: 4,
  JOB_FIT: 5,
});
export const job_state = Object.freeze({
  JOB_WAITING: 0,
  JOB_RUNNING: 1,
  JOB_ENDED: 2,
});
export const event_kind = Object.freeze({
  EVENT_NOTE: 0,
  EVENT_WARNING: 1,
  EVENT_FAULT: 2,
  EVENT_GRABBED: 3,
  EVENT_RELEASED: 4,
  EVENT_DEVICE: 5,
  EVENT_RECORDING: 6,
  EVENT_CLIENT: 7,
});
export const ability = Object.freeze({
  ABILITY_COMMAND: 1,
  ABILITY_HAND: 2,
  ABILITY_UPLOAD: 4,
  ABILITY_RECORD: 8,
  ABILITY_PACKED: 16,
  ABILITY_LOAD: 32,
});
export const want = Object.freeze({
  WANT_STATE: 1,
  WANT_CONTACTS: 2,
  WANT_PROXIMITY: 4,
  WANT_VOXELS: 8,
  WANT_JOBS: 16,
  WANT_EVENTS: 32,
  WANT_GAPS: 64,
});
export const hand_bit = Object.freeze({
  HAND_PRESENT: 1,
  HAND_FORCE: 2,
  HAND_LIMITED: 4,
  HAND_POINT: 8,
});
export const person_bit = Object.freeze({
  PERSON_SELF: 1,
  PERSON_LEADER: 2,
  PERSON_READY: 4,
  PERSON_AWAY: 8,
  PERSON_WATCHER: 16,
  PERSON_GONE: 32,
});
export const guest_bit = Object.freeze({
  GUEST_DIVERGED: 1,
  GUEST_FROZEN: 2,
  GUEST_HOMING: 4,
  GUEST_GHOST: 8,
});
export const peer_role = Object.freeze({
  PEER_HAND: 0,
  PEER_WATCHER: 1,
});
export const peer_bit = Object.freeze({
  PEER_READY: 1,
  PEER_AWAY: 2,
  PEER_HOLDS: 4,
  PEER_REST: 8,
  PEER_FROZEN: 16,
  PEER_RELAY: 32,
  PEER_TOUCHING: 64,
  PEER_MORE: 128,
});

const choices = { role, result, part_kind, look, overlay_kind, device_kind, tool, job_kind, job_state, event_kind, peer_role, };

// fields: name, shape, kind, max, group, of, offset in a structure
const structs = {
  gap_state: { size: 72, align: 8, fields: [
    ['part', 'one', 'u32', 1, 1, '', 0],
    ['other', 'one', 'u32', 1, 1, '', 4],
    ['distance', 'one', 'f64', 1, 1, '', 8],
    ['error', 'one', 'f32', 1, 1, '', 16],
    ['from', 'one', 'vec3', 1, 1, '', 24],
    ['to', 'one', 'vec3', 1, 1, '', 48],
  ] },
  overlap_state: { size: 40, align: 8, fields: [
    ['part', 'one', 'u32', 1, 1, '', 0],
    ['other', 'one', 'u32', 1, 1, '', 4],
    ['depth', 'one', 'f32', 1, 1, '', 8],
    ['tolerated', 'one', 'f32', 1, 1, '', 12],
    ['point', 'one', 'vec3', 1, 1, '', 16],
  ] },
  timing: { size: 12, align: 4, fields: [
    ['p50', 'one', 'f32', 1, 1, '', 0],
    ['p99', 'one', 'f32', 1, 1, '', 4],
    ['max', 'one', 'f32', 1, 1, '', 8],
  ] },
  part_state: { size: 64, align: 8, fields: [
    ['part', 'one', 'u32', 1, 1, '', 0],
    ['look', 'one', 'choice', 1, 1, 'look', 4],
    ['T_world_part', 'one', 'pose', 1, 1, '', 8],
  ] },
  hand_state: { size: 184, align: 8, fields: [
    ['held', 'one', 'u32', 1, 1, '', 0],
    ['touched', 'one', 'u32', 1, 1, '', 4],
    ['bits', 'one', 'u32', 1, 1, '', 8],
    ['buttons', 'one', 'u32', 1, 1, '', 12],
    ['faults', 'one', 'u32', 1, 1, '', 16],
    ['T_world_hand', 'one', 'pose', 1, 1, '', 24],
    ['T_world_ghost', 'one', 'pose', 1, 1, '', 80],
    ['wrench', 'one', 'wrench', 1, 1, '', 136],
  ] },
  proxy_state: { size: 64, align: 8, fields: [
    ['hand', 'one', 'u32', 1, 1, '', 0],
    ['part', 'one', 'u32', 1, 1, '', 4],
    ['point', 'one', 'vec3', 1, 1, '', 8],
    ['normal', 'one', 'vec3f', 1, 1, '', 32],
    ['force', 'one', 'vec3f', 1, 1, '', 44],
    ['depth', 'one', 'f32', 1, 1, '', 56],
    ['sticking', 'one', 'flag', 1, 1, '', 60],
  ] },
  guest_hand: { size: 64, align: 8, fields: [
    ['member', 'one', 'u16', 1, 1, '', 0],
    ['hand', 'one', 'u16', 1, 1, '', 2],
    ['held', 'one', 'u32', 1, 1, '', 4],
    ['T_world_hand', 'one', 'pose', 1, 1, '', 8],
  ] },
  guest_part: { size: 12, align: 4, fields: [
    ['part', 'one', 'u32', 1, 1, '', 0],
    ['member', 'one', 'u16', 1, 1, '', 4],
    ['spare', 'one', 'u16', 1, 1, '', 6],
    ['bits', 'one', 'u32', 1, 1, '', 8],
  ] },
  contact: { size: 36, align: 4, fields: [
    ['point', 'one', 'vec3f', 1, 1, '', 0],
    ['force', 'one', 'vec3f', 1, 1, '', 12],
    ['depth', 'one', 'f32', 1, 1, '', 24],
    ['part', 'one', 'u32', 1, 1, '', 28],
    ['other', 'one', 'u32', 1, 1, '', 32],
  ] },
  peer_entry: { size: 24, align: 8, fields: [
    ['member', 'one', 'u16', 1, 1, '', 0],
    ['spare', 'one', 'u16', 1, 1, '', 2],
    ['bits', 'one', 'u32', 1, 1, '', 4],
    ['seen', 'one', 'u32', 1, 1, '', 8],
    ['nonce', 'one', 'u64', 1, 1, '', 16],
  ] },
  peer_place: { size: 72, align: 8, fields: [
    ['part', 'one', 'u32', 1, 1, '', 0],
    ['bits', 'one', 'u32', 1, 1, '', 4],
    ['number', 'one', 'u32', 1, 1, '', 8],
    ['member', 'one', 'u16', 1, 1, '', 12],
    ['spare', 'one', 'u16', 1, 1, '', 14],
    ['T_world_part', 'one', 'pose', 1, 1, '', 16],
  ] },
  peer_pair: { size: 8, align: 4, fields: [
    ['part', 'one', 'u32', 1, 1, '', 0],
    ['member', 'one', 'u16', 1, 1, '', 4],
    ['spare', 'one', 'u16', 1, 1, '', 6],
  ] },
  peer_command: { size: 72, align: 8, fields: [
    ['part', 'one', 'u32', 1, 1, '', 0],
    ['serial', 'one', 'u32', 1, 1, '', 4],
    ['bits', 'one', 'u32', 1, 1, '', 8],
    ['T_world_part', 'one', 'pose', 1, 1, '', 16],
  ] },
  peer_settled: { size: 8, align: 4, fields: [
    ['part', 'one', 'u32', 1, 1, '', 0],
    ['number', 'one', 'u32', 1, 1, '', 4],
  ] },
  peer_hand: { size: 64, align: 8, fields: [
    ['hand', 'one', 'u32', 1, 1, '', 0],
    ['held', 'one', 'u32', 1, 1, '', 4],
    ['T_world_hand', 'one', 'pose', 1, 1, '', 8],
  ] },
  peer_part: { size: 96, align: 8, fields: [
    ['part', 'one', 'u32', 1, 1, '', 0],
    ['bits', 'one', 'u32', 1, 1, '', 4],
    ['T_world_part', 'one', 'pose', 1, 1, '', 8],
    ['angular', 'one', 'vec3f', 1, 1, '', 64],
    ['linear', 'one', 'vec3f', 1, 1, '', 76],
    ['voxel', 'one', 'f32', 1, 1, '', 88],
    ['spare', 'one', 'f32', 1, 1, '', 92],
  ] },
  peer_energy: { size: 16, align: 8, fields: [
    ['part', 'one', 'u32', 1, 1, '', 0],
    ['member', 'one', 'u16', 1, 1, '', 4],
    ['spare', 'one', 'u16', 1, 1, '', 6],
    ['put', 'one', 'f64', 1, 1, '', 8],
  ] },
};

const messages = [
  { id: 1, name: 'hello', kind: 'handshake', direction: 1, fields: [
    ['role', 'one', 'choice', 1, 1, 'role', 1],
    ['abilities', 'one', 'u32', 1, 1, '', 4],
    ['token', 'text', 'u8', 256, 1, '', 8],
    ['name', 'text', 'u8', 128, 1, '', 24],
  ] },
  { id: 2, name: 'welcome', kind: 'handshake', direction: 2, fields: [
    ['session', 'one', 'u32', 1, 1, '', 4],
    ['abilities', 'one', 'u32', 1, 1, '', 8],
    ['loop_rate', 'one', 'u32', 1, 1, '', 12],
    ['state_rate', 'one', 'u32', 1, 1, '', 16],
    ['name', 'text', 'u8', 128, 1, '', 24],
  ] },
  { id: 3, name: 'error', kind: 'handshake', direction: 2, fields: [
    ['code', 'one', 'choice', 1, 1, 'result', 1],
    ['about', 'one', 'u16', 1, 1, '', 2],
    ['sentence', 'text', 'u8', 512, 1, '', 8],
  ] },
  { id: 8, name: 'ping', kind: 'command', direction: 3, fields: [
    ['stamp', 'one', 'u64', 1, 1, '', 8],
  ] },
  { id: 9, name: 'pong', kind: 'reply', direction: 3, fields: [
    ['stamp', 'one', 'u64', 1, 1, '', 8],
    ['time_us', 'one', 'u64', 1, 1, '', 16],
  ] },
  { id: 10, name: 'done', kind: 'reply', direction: 2, fields: [
    ['code', 'one', 'choice', 1, 1, 'result', 1],
    ['value', 'one', 'u32', 1, 1, '', 4],
    ['sentence', 'text', 'u8', 512, 1, '', 8],
  ] },
  { id: 11, name: 'health_ask', kind: 'command', direction: 1, fields: [
  ] },
  { id: 12, name: 'health', kind: 'reply', direction: 2, fields: [
    ['frames', 'one', 'u64', 1, 1, '', 8],
    ['overruns', 'one', 'u64', 1, 1, '', 16],
    ['skipped', 'one', 'u64', 1, 1, '', 24],
    ['late_input', 'one', 'u64', 1, 1, '', 32],
    ['faulty', 'one', 'u64', 1, 1, '', 40],
    ['memory', 'one', 'u64', 1, 1, '', 48],
    ['uptime', 'one', 'f64', 1, 1, '', 56],
    ['compute', 'one', 'struct', 1, 1, 'timing', 64],
    ['wakeup', 'one', 'struct', 1, 1, 'timing', 76],
    ['clients', 'one', 'u32', 1, 1, '', 88],
    ['jobs', 'one', 'u32', 1, 1, '', 92],
    ['rate_held', 'one', 'flag', 1, 1, '', 96],
    ['sentence', 'text', 'u8', 512, 1, '', 104],
    ['rights', 'text', 'u8', 512, 1, '', 120],
  ] },
  { id: 13, name: 'watch', kind: 'command', direction: 1, fields: [
    ['wants', 'one', 'u32', 1, 1, '', 4],
    ['state_rate', 'one', 'u32', 1, 1, '', 8],
  ] },
  { id: 14, name: 'bye', kind: 'event', direction: 3, fields: [
    ['code', 'one', 'choice', 1, 1, 'result', 1],
    ['sentence', 'text', 'u8', 512, 1, '', 8],
  ] },
  { id: 16, name: 'scene', kind: 'scene', direction: 2, fields: [
    ['scene', 'one', 'u32', 1, 1, '', 4],
    ['parts', 'one', 'u32', 1, 1, '', 8],
    ['meshes', 'one', 'u32', 1, 1, '', 12],
    ['hands', 'one', 'u32', 1, 1, '', 16],
    ['low', 'one', 'vec3', 1, 1, '', 24],
    ['high', 'one', 'vec3', 1, 1, '', 48],
    ['name', 'text', 'u8', 256, 1, '', 72],
    ['unit', 'text', 'u8', 16, 1, '', 88],
    ['', 'since', '', 1, 0, '', 0],
    ['has_camera', 'one', 'flag', 1, 1, '', 104],
    ['eye', 'one', 'vec3', 1, 1, '', 112],
    ['target', 'one', 'vec3', 1, 1, '', 136],
    ['up', 'one', 'vec3', 1, 1, '', 160],
  ] },
  { id: 17, name: 'part', kind: 'scene', direction: 2, fields: [
    ['part', 'one', 'u32', 1, 1, '', 4],
    ['mesh', 'one', 'u32', 1, 1, '', 8],
    ['kind', 'one', 'choice', 1, 1, 'part_kind', 12],
    ['ready', 'one', 'flag', 1, 1, '', 13],
    ['colour', 'one', 'u32', 1, 1, '', 16],
    ['points', 'one', 'u32', 1, 1, '', 20],
    ['voxel', 'one', 'f64', 1, 1, '', 24],
    ['T_world_part', 'one', 'pose', 1, 1, '', 32],
    ['name', 'text', 'u8', 256, 1, '', 88],
  ] },
  { id: 18, name: 'part_gone', kind: 'scene', direction: 2, fields: [
    ['part', 'one', 'u32', 1, 1, '', 4],
  ] },
  { id: 19, name: 'mesh_ask', kind: 'command', direction: 1, fields: [
    ['mesh', 'one', 'u32', 1, 1, '', 4],
    ['triangles', 'one', 'u32', 1, 1, '', 8],
  ] },
  { id: 20, name: 'mesh', kind: 'scene', direction: 2, fields: [
    ['mesh', 'one', 'u32', 1, 1, '', 4],
    ['level', 'one', 'u32', 1, 1, '', 8],
    ['vertices', 'one', 'u32', 1, 1, '', 12],
    ['triangles', 'one', 'u32', 1, 1, '', 16],
    ['chunks', 'one', 'u32', 1, 1, '', 20],
    ['low', 'one', 'vec3f', 1, 1, '', 24],
    ['high', 'one', 'vec3f', 1, 1, '', 36],
    ['hash', 'text', 'u8', 32, 1, '', 48],
  ] },
  { id: 21, name: 'mesh_chunk', kind: 'scene', direction: 2, fields: [
    ['mesh', 'one', 'u32', 1, 1, '', 4],
    ['level', 'one', 'u32', 1, 1, '', 8],
    ['chunk', 'one', 'u32', 1, 1, '', 12],
    ['first_vertex', 'one', 'u32', 1, 1, '', 16],
    ['vertices', 'list', 'f32', 196608, 3, '', 24],
    ['indices', 'list', 'u16', 393216, 3, '', 40],
    ['indices_wide', 'list', 'u32', 393216, 3, '', 56],
  ] },
  { id: 22, name: 'mesh_packed', kind: 'scene', direction: 2, fields: [
    ['mesh', 'one', 'u32', 1, 1, '', 4],
    ['level', 'one', 'u32', 1, 1, '', 8],
    ['chunk', 'one', 'u32', 1, 1, '', 12],
    ['first_vertex', 'one', 'u32', 1, 1, '', 16],
    ['vertices', 'one', 'u32', 1, 1, '', 20],
    ['indices', 'one', 'u32', 1, 1, '', 24],
    ['index_size', 'one', 'u32', 1, 1, '', 28],
    ['packed_vertices', 'list', 'u8', 1048576, 1, '', 32],
    ['packed_indices', 'list', 'u8', 1048576, 1, '', 48],
  ] },
  { id: 23, name: 'overlay_ask', kind: 'command', direction: 1, fields: [
    ['part', 'one', 'u32', 1, 1, '', 4],
    ['kind', 'one', 'choice', 1, 1, 'overlay_kind', 8],
    ['limit', 'one', 'u32', 1, 1, '', 12],
  ] },
  { id: 24, name: 'overlay', kind: 'scene', direction: 2, fields: [
    ['part', 'one', 'u32', 1, 1, '', 4],
    ['kind', 'one', 'choice', 1, 1, 'overlay_kind', 8],
    ['first', 'one', 'u32', 1, 1, '', 12],
    ['count', 'one', 'u32', 1, 1, '', 16],
    ['total', 'one', 'u32', 1, 1, '', 20],
    ['size', 'one', 'f32', 1, 1, '', 24],
    ['positions', 'list', 'f32', 196608, 3, '', 32],
    ['features', 'list', 'u8', 65536, 1, '', 48],
  ] },
  { id: 32, name: 'state', kind: 'state', direction: 2, fields: [
    ['frame', 'one', 'u64', 1, 1, '', 8],
    ['time_us', 'one', 'u64', 1, 1, '', 16],
    ['points_tested', 'one', 'u64', 1, 1, '', 24],
    ['scene', 'one', 'u32', 1, 1, '', 32],
    ['contact_count', 'one', 'u32', 1, 1, '', 36],
    ['lower', 'one', 'distance', 1, 1, '', 40],
    ['upper', 'one', 'distance', 1, 1, '', 48],
    ['deepest', 'one', 'f64', 1, 1, '', 56],
    ['limited', 'one', 'u32', 1, 1, '', 64],
    ['stopped', 'one', 'u32', 1, 1, '', 68],
    ['faults', 'one', 'u32', 1, 1, '', 72],
    ['skipped', 'one', 'u32', 1, 1, '', 76],
    ['compute', 'one', 'struct', 1, 1, 'timing', 80],
    ['wakeup', 'one', 'struct', 1, 1, 'timing', 92],
    ['compute_last', 'one', 'f32', 1, 1, '', 104],
    ['rate_held', 'one', 'flag', 1, 1, '', 108],
    ['recording', 'one', 'flag', 1, 1, '', 109],
    ['paused', 'one', 'flag', 1, 1, '', 110],
    ['whole', 'one', 'flag', 1, 1, '', 111],
    ['hands', 'list', 'struct', 8, 1, 'hand_state', 112],
    ['parts', 'list', 'struct', 4096, 1, 'part_state', 128],
    ['contacts', 'list', 'struct', 1024, 1, 'contact', 144],
    ['', 'since', '', 1, 0, '', 0],
    ['proxies', 'list', 'struct', 8, 1, 'proxy_state', 160],
    ['', 'since', '', 2, 0, '', 0],
    ['waiting', 'one', 'flag', 1, 1, '', 172],
    ['waits', 'one', 'u32', 1, 1, '', 176],
    ['waited', 'one', 'f32', 1, 1, '', 180],
    ['longest_wait', 'one', 'f32', 1, 1, '', 184],
    ['paged_hits', 'one', 'f32', 1, 1, '', 188],
    ['paged_memory', 'one', 'u64', 1, 1, '', 192],
    ['paged_resident', 'one', 'u64', 1, 1, '', 200],
    ['paged_read', 'one', 'u64', 1, 1, '', 208],
    ['paged_directory', 'one', 'u64', 1, 1, '', 216],
    ['', 'since', '', 4, 0, '', 0],
    ['gaps', 'list', 'struct', 32, 1, 'gap_state', 224],
    ['overlaps', 'list', 'struct', 64, 1, 'overlap_state', 240],
  ] },
  { id: 33, name: 'proximity', kind: 'state', direction: 2, fields: [
    ['frame', 'one', 'u64', 1, 1, '', 8],
    ['part', 'one', 'u32', 1, 1, '', 16],
    ['first_vertex', 'one', 'u32', 1, 1, '', 20],
    ['greatest', 'one', 'f32', 1, 1, '', 24],
    ['distances', 'list', 'f32', 65536, 1, '', 32],
  ] },
  { id: 34, name: 'near_voxels', kind: 'state', direction: 2, fields: [
    ['frame', 'one', 'u64', 1, 1, '', 8],
    ['part', 'one', 'u32', 1, 1, '', 16],
    ['size', 'one', 'f32', 1, 1, '', 20],
    ['centres', 'list', 'f32', 49152, 3, '', 24],
  ] },
  { id: 35, name: 'state_ask', kind: 'command', direction: 1, fields: [
  ] },
  { id: 64, name: 'grab', kind: 'command', direction: 1, fields: [
    ['hand', 'one', 'u32', 1, 1, '', 4],
    ['part', 'one', 'u32', 1, 1, '', 8],
    ['', 'since', '', 3, 0, '', 0],
    ['has_pose', 'one', 'flag', 1, 1, '', 12],
    ['T_world_hand', 'one', 'pose', 1, 1, '', 16],
  ] },
  { id: 65, name: 'release', kind: 'command', direction: 1, fields: [
    ['hand', 'one', 'u32', 1, 1, '', 4],
  ] },
  { id: 66, name: 'reset', kind: 'command', direction: 1, fields: [
  ] },
  { id: 67, name: 'undo', kind: 'command', direction: 1, fields: [
    ['steps', 'one', 'u32', 1, 1, '', 4],
  ] },
  { id: 68, name: 'place', kind: 'command', direction: 1, fields: [
    ['part', 'one', 'u32', 1, 1, '', 4],
    ['T_world_part', 'one', 'pose', 1, 1, '', 8],
  ] },
  { id: 70, name: 'pause', kind: 'command', direction: 1, fields: [
    ['paused', 'one', 'flag', 1, 1, '', 1],
  ] },
  { id: 71, name: 'tool', kind: 'command', direction: 1, fields: [
    ['hand', 'one', 'u32', 1, 1, '', 4],
    ['tool', 'one', 'choice', 1, 1, 'tool', 8],
  ] },
  { id: 69, name: 'hand_input', kind: 'input', direction: 1, fields: [
    ['hand', 'one', 'u32', 1, 1, '', 4],
    ['buttons', 'one', 'u32', 1, 1, '', 8],
    ['time_us', 'one', 'u64', 1, 1, '', 16],
    ['T_world_hand', 'one', 'pose', 1, 1, '', 24],
  ] },
  { id: 72, name: 'parameters_ask', kind: 'command', direction: 1, fields: [
  ] },
  { id: 73, name: 'parameter', kind: 'event', direction: 2, fields: [
    ['value', 'one', 'f64', 1, 1, '', 8],
    ['low', 'one', 'f64', 1, 1, '', 16],
    ['high', 'one', 'f64', 1, 1, '', 24],
    ['preset', 'one', 'f64', 1, 1, '', 32],
    ['name', 'text', 'u8', 64, 1, '', 40],
    ['unit', 'text', 'u8', 16, 1, '', 56],
    ['words', 'text', 'u8', 256, 1, '', 72],
    ['doc', 'text', 'u8', 512, 1, '', 88],
  ] },
  { id: 74, name: 'set', kind: 'command', direction: 1, fields: [
    ['value', 'one', 'f64', 1, 1, '', 8],
    ['name', 'text', 'u8', 64, 1, '', 16],
  ] },
  { id: 76, name: 'devices_ask', kind: 'command', direction: 1, fields: [
  ] },
  { id: 77, name: 'device', kind: 'event', direction: 2, fields: [
    ['device', 'one', 'u32', 1, 1, '', 4],
    ['kind', 'one', 'choice', 1, 1, 'device_kind', 8],
    ['present', 'one', 'flag', 1, 1, '', 9],
    ['hand', 'one', 'u32', 1, 1, '', 12],
    ['max_force', 'one', 'f64', 1, 1, '', 16],
    ['max_torque', 'one', 'f64', 1, 1, '', 24],
    ['name', 'text', 'u8', 128, 1, '', 32],
    ['sentence', 'text', 'u8', 512, 1, '', 48],
  ] },
  { id: 78, name: 'device_select', kind: 'command', direction: 1, fields: [
    ['hand', 'one', 'u32', 1, 1, '', 4],
    ['device', 'one', 'u32', 1, 1, '', 8],
  ] },
  { id: 80, name: 'record_start', kind: 'command', direction: 1, fields: [
    ['name', 'text', 'u8', 128, 1, '', 8],
  ] },
  { id: 81, name: 'record_stop', kind: 'command', direction: 1, fields: [
  ] },
  { id: 82, name: 'recordings_ask', kind: 'command', direction: 1, fields: [
  ] },
  { id: 83, name: 'recording', kind: 'event', direction: 2, fields: [
    ['recording', 'one', 'u32', 1, 1, '', 4],
    ['finished', 'one', 'flag', 1, 1, '', 8],
    ['bytes', 'one', 'u64', 1, 1, '', 16],
    ['frames', 'one', 'u64', 1, 1, '', 24],
    ['seconds', 'one', 'f64', 1, 1, '', 32],
    ['name', 'text', 'u8', 128, 1, '', 40],
  ] },
  { id: 84, name: 'record_fetch', kind: 'command', direction: 1, fields: [
    ['recording', 'one', 'u32', 1, 1, '', 4],
    ['size', 'one', 'u32', 1, 1, '', 8],
    ['offset', 'one', 'u64', 1, 1, '', 16],
  ] },
  { id: 85, name: 'record_data', kind: 'reply', direction: 2, fields: [
    ['recording', 'one', 'u32', 1, 1, '', 4],
    ['offset', 'one', 'u64', 1, 1, '', 8],
    ['total', 'one', 'u64', 1, 1, '', 16],
    ['bytes', 'list', 'u8', 262144, 1, '', 24],
  ] },
  { id: 86, name: 'replay', kind: 'command', direction: 1, fields: [
    ['recording', 'one', 'u32', 1, 1, '', 4],
    ['playing', 'one', 'flag', 1, 1, '', 8],
    ['seconds', 'one', 'f64', 1, 1, '', 16],
    ['speed', 'one', 'f64', 1, 1, '', 24],
  ] },
  { id: 87, name: 'replaying', kind: 'event', direction: 2, fields: [
    ['recording', 'one', 'u32', 1, 1, '', 4],
    ['playing', 'one', 'flag', 1, 1, '', 8],
    ['seconds', 'one', 'f64', 1, 1, '', 16],
    ['length', 'one', 'f64', 1, 1, '', 24],
    ['speed', 'one', 'f64', 1, 1, '', 32],
  ] },
  { id: 88, name: 'load', kind: 'command', direction: 1, fields: [
    ['path', 'text', 'u8', 4096, 1, '', 8],
  ] },
  { id: 89, name: 'upload', kind: 'command', direction: 1, fields: [
    ['bytes', 'one', 'u64', 1, 1, '', 8],
    ['vertices', 'one', 'u32', 1, 1, '', 16],
    ['triangles', 'one', 'u32', 1, 1, '', 20],
    ['unit', 'one', 'f64', 1, 1, '', 24],
    ['name', 'text', 'u8', 256, 1, '', 32],
  ] },
  { id: 90, name: 'upload_bytes', kind: 'command', direction: 1, fields: [
    ['upload', 'one', 'u32', 1, 1, '', 4],
    ['offset', 'one', 'u64', 1, 1, '', 8],
    ['bytes', 'list', 'u8', 262144, 1, '', 16],
  ] },
  { id: 91, name: 'upload_triangles', kind: 'command', direction: 1, fields: [
    ['upload', 'one', 'u32', 1, 1, '', 4],
    ['first_vertex', 'one', 'u32', 1, 1, '', 8],
    ['first_triangle', 'one', 'u32', 1, 1, '', 12],
    ['vertices', 'list', 'f32', 196608, 3, '', 16],
    ['indices', 'list', 'u32', 196608, 3, '', 32],
  ] },
  { id: 92, name: 'upload_end', kind: 'command', direction: 1, fields: [
    ['upload', 'one', 'u32', 1, 1, '', 4],
    ['kind', 'one', 'choice', 1, 1, 'part_kind', 8],
    ['colour', 'one', 'u32', 1, 1, '', 12],
    ['voxel', 'one', 'f64', 1, 1, '', 16],
    ['T_world_part', 'one', 'pose', 1, 1, '', 24],
  ] },
  { id: 93, name: 'remove', kind: 'command', direction: 1, fields: [
    ['part', 'one', 'u32', 1, 1, '', 4],
  ] },
  { id: 94, name: 'voxelize', kind: 'command', direction: 1, fields: [
    ['part', 'one', 'u32', 1, 1, '', 4],
    ['voxel', 'one', 'f64', 1, 1, '', 8],
  ] },
  { id: 95, name: 'cancel', kind: 'command', direction: 1, fields: [
    ['job', 'one', 'u32', 1, 1, '', 4],
  ] },
  { id: 96, name: 'clearance_ask', kind: 'command', direction: 1, fields: [
    ['part', 'one', 'u32', 1, 1, '', 4],
    ['other', 'one', 'u32', 1, 1, '', 8],
    ['exact', 'one', 'flag', 1, 1, '', 12],
  ] },
  { id: 97, name: 'clearance', kind: 'reply', direction: 2, fields: [
    ['part', 'one', 'u32', 1, 1, '', 4],
    ['other', 'one', 'u32', 1, 1, '', 8],
    ['lower', 'one', 'distance', 1, 1, '', 16],
    ['upper', 'one', 'distance', 1, 1, '', 24],
    ['from', 'one', 'vec3', 1, 1, '', 32],
    ['to', 'one', 'vec3', 1, 1, '', 56],
    ['', 'since', '', 4, 0, '', 0],
    ['known', 'one', 'flag', 1, 1, '', 80],
    ['distance', 'one', 'f64', 1, 1, '', 88],
    ['error', 'one', 'f64', 1, 1, '', 96],
  ] },
  { id: 98, name: 'kind', kind: 'command', direction: 1, fields: [
    ['part', 'one', 'u32', 1, 1, '', 4],
    ['kind', 'one', 'choice', 1, 1, 'part_kind', 8],
  ] },
  { id: 99, name: 'save', kind: 'command', direction: 1, fields: [
    ['path', 'text', 'u8', 4096, 1, '', 8],
  ] },
  { id: 112, name: 'job', kind: 'event', direction: 2, fields: [
    ['job', 'one', 'u32', 1, 1, '', 4],
    ['kind', 'one', 'choice', 1, 1, 'job_kind', 8],
    ['state', 'one', 'choice', 1, 1, 'job_state', 9],
    ['result', 'one', 'choice', 1, 1, 'result', 10],
    ['part', 'one', 'u32', 1, 1, '', 12],
    ['fraction', 'one', 'f32', 1, 1, '', 16],
    ['name', 'text', 'u8', 256, 1, '', 24],
    ['sentence', 'text', 'u8', 512, 1, '', 40],
  ] },
  { id: 113, name: 'event', kind: 'event', direction: 2, fields: [
    ['kind', 'one', 'choice', 1, 1, 'event_kind', 1],
    ['frame', 'one', 'u64', 1, 1, '', 8],
    ['part', 'one', 'u32', 1, 1, '', 16],
    ['hand', 'one', 'u32', 1, 1, '', 20],
    ['sentence', 'text', 'u8', 512, 1, '', 24],
  ] },
  { id: 114, name: 'person', kind: 'event', direction: 2, fields: [
    ['member', 'one', 'u16', 1, 1, '', 2],
    ['bits', 'one', 'u32', 1, 1, '', 4],
    ['colour', 'one', 'u32', 1, 1, '', 8],
    ['delay', 'one', 'f32', 1, 1, '', 12],
    ['loss', 'one', 'f32', 1, 1, '', 16],
    ['bytes_in', 'one', 'f32', 1, 1, '', 20],
    ['bytes_out', 'one', 'f32', 1, 1, '', 24],
    ['name', 'text', 'u8', 64, 1, '', 32],
  ] },
  { id: 115, name: 'guests', kind: 'state', direction: 2, fields: [
    ['hands', 'list', 'struct', 256, 1, 'guest_hand', 8],
    ['parts', 'list', 'struct', 4096, 1, 'guest_part', 24],
  ] },
  { id: 128, name: 'peer_join', kind: 'peer', direction: 4, fields: [
    ['session', 'one', 'u64', 1, 1, '', 8],
    ['nonce', 'one', 'u64', 1, 1, '', 16],
    ['member', 'one', 'u16', 1, 1, '', 24],
    ['role', 'one', 'choice', 1, 1, 'peer_role', 26],
    ['colour', 'one', 'u32', 1, 1, '', 28],
    ['name', 'text', 'u8', 64, 1, '', 32],
    ['scene', 'list', 'u32', 4, 4, '', 48],
  ] },
  { id: 129, name: 'peer_welcome', kind: 'peer', direction: 4, fields: [
    ['session', 'one', 'u64', 1, 1, '', 8],
    ['member', 'one', 'u16', 1, 1, '', 16],
    ['bits', 'one', 'u32', 1, 1, '', 20],
    ['count', 'one', 'u32', 1, 1, '', 24],
    ['leader', 'one', 'u16', 1, 1, '', 28],
    ['number', 'one', 'u32', 1, 1, '', 32],
    ['scene', 'list', 'u32', 4, 4, '', 40],
    ['places', 'list', 'struct', 512, 1, 'peer_place', 56],
    ['more', 'one', 'flag', 1, 1, '', 68],
  ] },
  { id: 130, name: 'peer_refused', kind: 'peer', direction: 4, fields: [
    ['code', 'one', 'choice', 1, 1, 'result', 1],
    ['address', 'text', 'u8', 64, 1, '', 8],
    ['sentence', 'text', 'u8', 512, 1, '', 24],
  ] },
  { id: 131, name: 'peer_card', kind: 'peer', direction: 4, fields: [
    ['member', 'one', 'u16', 1, 1, '', 2],
    ['role', 'one', 'choice', 1, 1, 'peer_role', 4],
    ['colour', 'one', 'u32', 1, 1, '', 8],
    ['nonce', 'one', 'u64', 1, 1, '', 16],
    ['name', 'text', 'u8', 64, 1, '', 24],
    ['address', 'text', 'u8', 64, 1, '', 40],
  ] },
  { id: 132, name: 'peer_membership', kind: 'peer', direction: 4, fields: [
    ['session', 'one', 'u64', 1, 1, '', 8],
    ['count', 'one', 'u32', 1, 1, '', 16],
    ['leader', 'one', 'u16', 1, 1, '', 20],
    ['number', 'one', 'u32', 1, 1, '', 24],
    ['bits', 'one', 'u32', 1, 1, '', 28],
    ['members', 'list', 'struct', 32, 1, 'peer_entry', 32],
    ['parts', 'list', 'struct', 256, 1, 'peer_place', 48],
    ['holders', 'list', 'struct', 1024, 1, 'peer_pair', 64],
    ['unsettled', 'list', 'struct', 4096, 1, 'peer_pair', 80],
  ] },
  { id: 133, name: 'peer_claim', kind: 'peer', direction: 4, fields: [
    ['session', 'one', 'u64', 1, 1, '', 8],
    ['member', 'one', 'u16', 1, 1, '', 16],
    ['count', 'one', 'u32', 1, 1, '', 20],
    ['leader', 'one', 'u16', 1, 1, '', 24],
    ['number', 'one', 'u32', 1, 1, '', 28],
    ['heard', 'one', 'u32', 1, 1, '', 32],
    ['bits', 'one', 'u32', 1, 1, '', 36],
    ['delay', 'one', 'f32', 1, 1, '', 40],
    ['serial', 'one', 'u32', 1, 1, '', 44],
    ['commands', 'list', 'struct', 256, 1, 'peer_command', 48],
    ['settled', 'list', 'struct', 256, 1, 'peer_settled', 64],
  ] },
  { id: 134, name: 'peer_state', kind: 'peer', direction: 4, fields: [
    ['session', 'one', 'u64', 1, 1, '', 8],
    ['time', 'one', 'u64', 1, 1, '', 16],
    ['member', 'one', 'u16', 1, 1, '', 24],
    ['count', 'one', 'u32', 1, 1, '', 28],
    ['leader', 'one', 'u16', 1, 1, '', 32],
    ['delay', 'one', 'f32', 1, 1, '', 36],
    ['hands', 'list', 'struct', 8, 1, 'peer_hand', 40],
    ['parts', 'list', 'struct', 256, 1, 'peer_part', 56],
    ['energies', 'list', 'struct', 1024, 1, 'peer_energy', 72],
    ['via', 'list', 'u16', 32, 1, '', 88],
  ] },
  { id: 136, name: 'peer_files_ask', kind: 'peer', direction: 4, fields: [
  ] },
  { id: 137, name: 'peer_file', kind: 'peer', direction: 4, fields: [
    ['file', 'one', 'u32', 1, 1, '', 4],
    ['files', 'one', 'u32', 1, 1, '', 8],
    ['size', 'one', 'u64', 1, 1, '', 16],
    ['hash', 'list', 'u32', 4, 4, '', 24],
    ['name', 'text', 'u8', 256, 1, '', 40],
  ] },
  { id: 138, name: 'peer_fetch', kind: 'peer', direction: 4, fields: [
    ['file', 'one', 'u32', 1, 1, '', 4],
    ['offset', 'one', 'u64', 1, 1, '', 8],
  ] },
  { id: 139, name: 'peer_piece', kind: 'peer', direction: 4, fields: [
    ['file', 'one', 'u32', 1, 1, '', 4],
    ['offset', 'one', 'u64', 1, 1, '', 8],
    ['bytes', 'list', 'u8', 49152, 1, '', 16],
  ] },
  { id: 140, name: 'peer_set', kind: 'peer', direction: 4, fields: [
    ['value', 'one', 'f64', 1, 1, '', 8],
    ['name', 'text', 'u8', 64, 1, '', 16],
    ['member', 'one', 'u16', 1, 1, '', 32],
    ['count', 'one', 'u32', 1, 1, '', 36],
  ] },
  { id: 141, name: 'peer_note', kind: 'peer', direction: 4, fields: [
    ['sentence', 'text', 'u8', 512, 1, '', 8],
  ] },
];

export const HEAD = 16;
export const TO_CONTROLLER = 1;
export const TO_CLIENT = 2;
export const TO_PEER = 4;
export const NONE = 4294967295;

const byId = new Map(messages.map((type) => [type.id, type]));
const byName = new Map(messages.map((type) => [type.name, type]));

if (new Uint8Array(new Uint16Array([1]).buffer)[0] !== 1)
  throw new Error('the page needs a little-endian machine: lists are views of what comes over the wire');

export class ProtocolError extends Error {
  constructor(code, message, request = 0) {
    super(message);
    this.name = 'ProtocolError';
    this.code = code;
    this.request = request;
  }
}

// ---- values: lanes of one width, one behind the other ----

const getters = {
  u8: (view, at) => view.getUint8(at),
  u16: (view, at) => view.getUint16(at, true),
  u32: (view, at) => view.getUint32(at, true),
  u64: (view, at) => view.getUint32(at + 4, true) * 4294967296 + view.getUint32(at, true),
  f32: (view, at) => view.getFloat32(at, true),
  f64: (view, at) => view.getFloat64(at, true),
};

const setters = {
  u8: (view, at, value) => view.setUint8(at, value),
  u16: (view, at, value) => view.setUint16(at, value, true),
  u32: (view, at, value) => view.setUint32(at, value, true),
  u64: (view, at, value) => {
    view.setUint32(at, value % 4294967296, true);
    view.setUint32(at + 4, Math.floor(value / 4294967296), true);
  },
  f32: (view, at, value) => view.setFloat32(at, value, true),
  f64: (view, at, value) => view.setFloat64(at, value, true),
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const utf8Bytes = new TextEncoder();
const widths = { u8: 1, u16: 2, u32: 4, u64: 8, f32: 4, f64: 8 };
const arrays = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array };
const finite = (lanes) => (lanes.every(Number.isFinite) ? null : 'is not a finite number');
const triple = (lanes) => [lanes[0], lanes[1], lanes[2]];

function whole(most) {
  return ([n]) => (Number.isInteger(n) && n >= 0 && n <= most ? null : 'is not a whole number of its range');
}

function checkPose(lanes) {
  const [w, x, y, z] = lanes.slice(3);
  const length2 = w * w + x * x + y * y + z * z;
  if (finite(lanes)) return finite(lanes);
  return length2 >= 0.999 && length2 <= 1.001 ? null : 'has a quaternion that is not of unit length';
}

function checkDistance([distance]) {
  if (Number.isNaN(distance)) return 'is not a number';
  return distance < 0 || Object.is(distance, -0) ? 'is negative' : null;
}

// lane: how one is stored; lanes: how many; check: why they cannot be; give, take: from lanes and back
const single = { lanes: 1, give: ([n]) => n, take: (n = 0) => [n] };
const kinds = {
  u8: { ...single, lane: 'u8', check: whole(255) },
  u16: { ...single, lane: 'u16', check: whole(65535) },
  u32: { ...single, lane: 'u32', check: whole(4294967295) },
  u64: { ...single, lane: 'u64', check: ([n]) => (n > Number.MAX_SAFE_INTEGER ? 'is above 2^53 - 1' : whole(n)([n])) },
  flag: {
    lanes: 1, lane: 'u8', check: ([n]) => (n > 1 ? 'is neither 0 nor 1' : null),
    give: ([n]) => n === 1, take: (flag) => [flag ? 1 : 0],
  },
  f32: { ...single, lane: 'f32', check: finite },
  f64: { ...single, lane: 'f64', check: finite },
  distance: { ...single, lane: 'f64', check: checkDistance },
  vec3f: { lanes: 3, lane: 'f32', check: finite, give: triple, take: (v = [0, 0, 0]) => triple(v) },
  vec3: { lanes: 3, lane: 'f64', check: finite, give: triple, take: (v = [0, 0, 0]) => triple(v) },
  pose: {
    lanes: 7, lane: 'f64', check: checkPose,
    give: (lanes) => ({ p: triple(lanes), q: lanes.slice(3) }),
    take: ({ p, q } = { p: [0, 0, 0], q: [1, 0, 0, 0] }) => [...triple(p), q[0], q[1], q[2], q[3]],
  },
  wrench: {
    lanes: 6, lane: 'f64', check: finite,
    give: (lanes) => ({ torque: triple(lanes), force: lanes.slice(3) }),
    take: ({ torque, force } = { torque: [0, 0, 0], force: [0, 0, 0] }) => [...triple(torque), ...triple(force)],
  },
  choice: {
    ...single, lane: 'u8',
    check: ([n], of) => (Object.values(choices[of]).includes(n) ? null : 'is a number that the table does not have'),
  },
};

// the rows of the table as objects, with what follows from them
function fieldOf([name, shape, kind, max, group, of, offset]) {
  const struct = kind === 'struct' ? structs[of] : null;
  const value = kinds[kind];
  const align = struct ? struct.align : value ? widths[value.lane] : 1;
  const size = struct ? struct.size : value ? value.lanes * align : 0;
  return { name, shape, kind, max, group, of, offset, struct, value, align, size };
}
for (const type of [...Object.values(structs), ...messages]) type.fields = type.fields.map(fieldOf);

// the place of the first number in a list that is not finite; -1: none
function oddNumber(field, list) {
  if (field.kind !== 'f32' && field.kind !== 'f64') return -1;
  for (let i = 0; i < list.length; i++) if (!Number.isFinite(list[i])) return i;
  return -1;
}

// what a field is in a frame of a version that did not have it
function nothing(field) {
  if (field.shape === 'text') return '';
  if (field.shape === 'list') return field.struct ? [] : new arrays[field.value.lane]();
  if (field.struct) return Object.fromEntries(field.struct.fields.map((part) => [part.name, nothing(part)]));
  return field.value.give(new Array(field.value.lanes).fill(0));
}

const up = (at, align) => Math.ceil(at / align) * align;

// a fault on its way to becoming a ProtocolError
function refuse(code, type, field, reason, { index = null, part = null } = {}) {
  const place = field.name + (index === null ? '' : `[${index}]`) + (part ? `.${part}` : '');
  throw new ProtocolError(code, `message '${type.name}', field '${place}': ${reason}`);
}

// ---- reading ----

class Reader {
  constructor(type, bytes) {
    this.type = type;
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = HEAD;
  }

  bad(field, reason, place) { refuse(result.RESULT_BAD_INPUT, this.type, field, reason, place); }

  zeros(from, to) {
    for (let i = from; i < to; i++) if (this.bytes[i] !== 0) return false;
    return true;
  }

  padding(field, align) {
    const next = up(this.at, align);
    if (next > this.bytes.length) this.bad(field, 'is cut off');
    if (!this.zeros(this.at, next)) this.bad(field, 'has bytes before it that are not zero');
    this.at = next;
  }

  take(field, size) {
    if (size > this.bytes.length - this.at) this.bad(field, 'is cut off');
    const at = this.at;
    this.at += size;
    return at;
  }

  value(owner, field, at, place) {
    const { value, of } = field;
    const lanes = [];
    for (let i = 0; i < value.lanes; i++) lanes.push(getters[value.lane](this.view, at + i * widths[value.lane]));
    const reason = value.check(lanes, of);
    if (reason) this.bad(owner, reason, place);
    return value.give(lanes);
  }

  item(field, at, index = null) {
    if (!field.struct) return this.value(field, field, at, { index });
    const item = {};
    let end = 0;
    for (const part of field.struct.fields) {
      const place = { index, part: part.name };
      if (!this.zeros(at + end, at + part.offset)) this.bad(field, 'has bytes before it that are not zero', place);
      item[part.name] = this.value(field, part, at + part.offset, place);
      end = part.offset + part.size;
    }
    if (!this.zeros(at + end, at + field.struct.size)) this.bad(field, 'has bytes at its end that are not zero', { index });
    return item;
  }

  count(field) {
    this.padding(field, 4);
    const count = this.view.getUint32(this.take(field, 4), true);
    if (count > field.max)
      refuse(result.RESULT_TOO_LARGE, this.type, field,
        `has more ${field.shape === 'text' ? 'bytes' : 'items'} than ${field.max}`);
    if (count % field.group) this.bad(field, `has a count that is no multiple of ${field.group}`);
    if (count) this.padding(field, field.align);
    return [count, this.take(field, count * field.size)];
  }

  text(field) {
    const [count, at] = this.count(field);
    let text;
    try {
      text = utf8.decode(this.bytes.subarray(at, at + count));
    } catch {
      this.bad(field, 'is not UTF-8');
    }
    if (text.includes('\0')) this.bad(field, 'has a zero byte');
    return text;
  }

  list(field) {
    const [count, at] = this.count(field);
    if (field.struct) return Array.from({ length: count }, (_, i) => this.item(field, at + i * field.size, i));
    const List = arrays[field.value.lane];
    const start = this.bytes.byteOffset + at;
    const list = start % field.align === 0 ? new List(this.bytes.buffer, start, count)
      : new List(this.bytes.slice(at, at + count * field.size).buffer);
    const index = oddNumber(field, list);
    if (index >= 0) this.bad(field, 'is not a finite number', { index });
    return list;
  }

  body(minor) {
    const body = {};
    let since = 0;
    for (const field of this.type.fields) {
      if (field.shape === 'since') {
        since = field.max;
      } else if (minor < since) {
        body[field.name] = nothing(field);
      } else if (field.shape === 'text') {
        body[field.name] = this.text(field);
      } else if (field.shape === 'list') {
        body[field.name] = this.list(field);
      } else {
        this.padding(field, field.align);
        body[field.name] = this.item(field, this.take(field, field.size));
      }
    }
    return body;
  }
}

export function decode(frame, direction = TO_CLIENT) {
  const bytes = frame instanceof Uint8Array ? frame : new Uint8Array(frame);
  const bad = (sentence) => { throw new ProtocolError(result.RESULT_BAD_INPUT, sentence); };
  if (bytes.length < HEAD) bad(`a frame of ${bytes.length} bytes: the head alone has ${HEAD}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = view.getUint32(0, true);
  const id = view.getUint16(4, true);
  const [major, minor] = [bytes[6], bytes[7]];
  const request = view.getUint32(8, true);
  if (size !== bytes.length) bad(`a frame of ${bytes.length} bytes whose head says ${size}`);
  if (view.getUint32(12, true) !== 0) bad('a frame whose head does not end with four zeros');
  const type = byId.get(id);
  if (major !== MAJOR && !(type && type.kind === 'handshake'))
    throw new ProtocolError(result.RESULT_UNSUPPORTED,
      `message ${id} is of version ${major} of the protocol, not ${MAJOR}`, request);
  if (!type) throw new ProtocolError(result.RESULT_UNSUPPORTED, `message ${id} is not known`, request);
  if (!(type.direction & direction))
    throw new ProtocolError(result.RESULT_DENIED, `message '${type.name}' goes the other way`, request);
  const reader = new Reader(type, bytes);
  try {
    const body = reader.body(minor);
    if (reader.at !== bytes.length && minor <= MINOR && major === MAJOR)
      bad(`message '${type.name}' has bytes behind its last field`);
    return { id, name: type.name, minor, request, body };
  } catch (error) {
    if (error instanceof ProtocolError) error.request = request;
    throw error;
  }
}

// ---- writing ----

class Writer {
  constructor(type) {
    this.type = type;
    this.bytes = new Uint8Array(256);
    this.at = 0;
  }

  // the place of `size` bytes at the next multiple of `align`, with zeros before
  claim(align, size) {
    const place = up(this.at, align);
    this.at = place + size;
    if (this.at > this.bytes.length) {
      const larger = new Uint8Array(Math.max(this.at, 2 * this.bytes.length));
      larger.set(this.bytes);
      this.bytes = larger;
    }
    this.view = new DataView(this.bytes.buffer);
    return place;
  }

  bad(field, reason, place) { refuse(result.RESULT_BAD_ARGUMENT, this.type, field, reason, place); }

  value(owner, field, at, given, place) {
    const { value, of } = field;
    const lanes = value.take(given);
    const reason = value.check(lanes, of);
    if (reason) this.bad(owner, reason, place);
    lanes.forEach((lane, i) => setters[value.lane](this.view, at + i * widths[value.lane], lane));
  }

  item(field, at, given, index = null) {
    if (!field.struct) return this.value(field, field, at, given, { index });
    for (const part of field.struct.fields)
      this.value(field, part, at + part.offset, given?.[part.name], { index, part: part.name });
  }

  count(field, count) {
    if (count > field.max)
      refuse(result.RESULT_TOO_LARGE, this.type, field,
        `has more ${field.shape === 'text' ? 'bytes' : 'items'} than ${field.max}`);
    if (count % field.group) this.bad(field, `has a count that is no multiple of ${field.group}`);
    const place = this.claim(4, 4);
    this.view.setUint32(place, count, true);
    return count ? this.claim(field.align, count * field.size) : this.at;
  }

  // numbers that lie in memory as they do on the wire
  copy(field, at, list) {
    const index = oddNumber(field, list);
    if (index >= 0) this.bad(field, 'is not a finite number', { index });
    this.bytes.set(new Uint8Array(list.buffer, list.byteOffset, list.byteLength), at);
  }

  field(field, given) {
    if (field.shape === 'text') {
      const text = utf8Bytes.encode(given ?? '');
      const at = this.count(field, text.length);
      if (text.includes(0)) this.bad(field, 'has a zero byte');
      this.bytes.set(text, at);
    } else if (field.shape === 'list') {
      const list = given ?? [];
      const at = this.count(field, list.length);
      if (!field.struct && list instanceof arrays[field.value.lane]) return this.copy(field, at, list);
      for (let i = 0; i < list.length; i++) this.item(field, at + i * field.size, list[i], i);
    } else {
      this.item(field, this.claim(field.align, field.size), given);
    }
  }
}

export function encode(name, body = {}, request = 0, minor = MINOR) {
  const type = byName.get(name);
  if (!type) throw new ProtocolError(result.RESULT_UNSUPPORTED, `message '${name}' is not known`);
  const writer = new Writer(type);
  writer.claim(1, HEAD);
  for (const field of type.fields) {
    if (field.shape === 'since' && field.max > minor) break;
    if (field.shape !== 'since') writer.field(field, body[field.name]);
  }
  writer.view.setUint32(0, writer.at, true);
  writer.view.setUint16(4, type.id, true);
  writer.bytes[6] = MAJOR;
  writer.bytes[7] = minor;
  writer.view.setUint32(8, request, true);
  return writer.bytes.slice(0, writer.at);
}
