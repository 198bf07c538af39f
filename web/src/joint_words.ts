// What the page says about joints.
import { joint_kind, measured_kind, type message_joint } from './protocol.mjs';
import { t } from './texts.ts';
import { digits, length } from './units.ts';

/** by their numbers */
export const KINDS: readonly { name: string; does: string }[] = [
  { name: 'fixed', does: 'does not move' },
  { name: 'hinge', does: 'turns about the axis' },
  { name: 'slide', does: 'slides along the axis' },
  { name: 'cylindrical', does: 'turns and slides' },
  { name: 'screw', does: 'slides as it turns' },
  { name: 'planar', does: 'slides across the axis, turns about it' },
  { name: 'ball', does: 'turns about a point' },
];

/** which of turn, slide and pitch the form asks for */
export function needs(kind: number): { turns: boolean; slides: boolean; pitch: boolean } {
  const is = (...kinds: number[]) => kinds.includes(kind);
  return { turns: is(joint_kind.JOINT_REVOLUTE, joint_kind.JOINT_SCREW), slides: is(joint_kind.JOINT_PRISMATIC), pitch: is(joint_kind.JOINT_SCREW) };
}

export function axis_words(kind: number): string {
  return kind === measured_kind.MEASURED_CYLINDER ? 'axis of the cylinder' : kind === measured_kind.MEASURED_EDGE ? 'edge' : kind === measured_kind.MEASURED_PLANE ? 'normal of the face' : 'axis';
}

/** ", 0° to 120°" and the like; empty: no limits */
export function limits_words(joint: Pick<message_joint, 'turn' | 'slide'>, unit: 'mm' | 'in'): string {
  const degrees = (angle: number) => `${digits((angle * 180) / Math.PI)}°`;
  const parts: string[] = [];
  if (joint.turn.limited) parts.push(t('{0} to {1}', degrees(joint.turn.low), degrees(joint.turn.high)));
  if (joint.slide.limited) parts.push(t('{0} to {1}', length(joint.slide.low, unit), length(joint.slide.high, unit)));
  return parts.length ? ` · ${parts.join(', ')}` : '';
}
