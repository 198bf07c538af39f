// How large the part in a file is, in the file's own unit, before it is sent: a form that shows "0.2 × 0.1 × 0.1 mm" tells at
// once that the unit is wrong. Only formats that do not say their unit are looked at.

export type Size = [number, number, number];

const LARGEST_BINARY = 256e6;
const LARGEST_TEXT = 32e6; // takes about a second

/** these say their unit themselves; the rest is asked about */
export function states_unit(name: string): boolean {
  return /\.(step|stp|iges|igs|gltf|glb|dae|zae|3mf|amf|fbx)$/i.test(name);
}

/** the ending of a file's name, one for each format: pump.stp is as much STEP as pump.step */
export function format_of(name: string): string {
  const ending = /[^.]*$/.exec(name)![0].toLowerCase();
  return { stp: 'step', p21: 'step', igs: 'iges', brp: 'brep' }[ending] ?? ending;
}

/** what the numbers of a file are most likely in: a part below a millimetre was more likely drawn in metres */
export function likely_unit(size: Size | null): 'mm' | 'm' {
  return size && Math.max(...size) > 0 && Math.max(...size) < 1 ? 'm' : 'mm';
}

class Box {
  private low = [Infinity, Infinity, Infinity];
  private high = [-Infinity, -Infinity, -Infinity];

  add(at: number, value: number): void {
    if (value < this.low[at]!) this.low[at] = value;
    if (value > this.high[at]!) this.high[at] = value;
  }

  get size(): Size | null {
    const size = this.low.map((low, k) => this.high[k]! - low);
    return size.every(Number.isFinite) ? (size as Size) : null;
  }
}

/** triples of numbers behind a word, as in OBJ and STL texts */
function of_lines(text: string, pattern: RegExp): Size | null {
  const box = new Box();
  for (const line of text.matchAll(pattern)) for (let k = 0; k < 3; k++) box.add(k, Number(line[k + 1]));
  return box.size;
}

function of_stl(bytes: Uint8Array): Size | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.length >= 84 ? view.getUint32(80, true) : 0;
  // a binary one may begin with "solid", too; its length tells
  if (count === 0 || bytes.length < 84 + 50 * count) return bytes.length <= LARGEST_TEXT ? of_lines(new TextDecoder().decode(bytes), /\bvertex\s+(\S+)\s+(\S+)\s+(\S+)/g) : null;
  const box = new Box();
  for (let i = 0; i < count; i++)
    for (let k = 0; k < 9; k++) box.add(k % 3, view.getFloat32(84 + 50 * i + 12 + 4 * k, true));
  return box.size;
}

const PLY_BYTES: Record<string, number> = {
  char: 1, uchar: 1, int8: 1, uint8: 1, short: 2, ushort: 2, int16: 2, uint16: 2, int: 4, uint: 4, int32: 4, uint32: 4, float: 4, float32: 4, double: 8, float64: 8,
};

/** vertices come first and have no lists in all but the strangest; those are not looked at */
function of_ply(bytes: Uint8Array): Size | null {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 65536));
  const end = /end_header\r?\n/.exec(head);
  const vertices = /element\s+(\w+)\s+(\d+)\s*\n((?:\s*(?:property|comment).*\n)*)/.exec(head.replaceAll('\r', ''));
  const format = /format\s+(ascii|binary_little_endian|binary_big_endian)/.exec(head)?.[1];
  if (!end || !vertices || !format || vertices[1] !== 'vertex' || /property\s+list/.test(vertices[3]!)) return null;
  const properties = [...vertices[3]!.matchAll(/property\s+(\w+)\s+(\w+)/g)].map(([, type, name]) => ({ type: type!, name: name!, bytes: PLY_BYTES[type!] ?? 0 }));
  const places = ['x', 'y', 'z'].map((axis) => properties.findIndex(({ name }) => name === axis));
  const count = Number(vertices[2]), from = end.index + end[0].length, box = new Box();
  if (places.some((place) => place < 0) || properties.some((one) => one.bytes === 0)) return null;
  if (format === 'ascii') {
    if (bytes.length > LARGEST_TEXT) return null;
    const numbers = new TextDecoder().decode(bytes.subarray(from)).trimStart().split(/\s+/, count * properties.length);
    for (let i = 0; i < count; i++) places.forEach((place, k) => box.add(k, Number(numbers[i * properties.length + place])));
    return box.size;
  }
  const stride = properties.reduce((sum, one) => sum + one.bytes, 0);
  if (bytes.length < from + count * stride) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  places.forEach((place, k) => {
    const type = properties[place]!.type, little = format === 'binary_little_endian';
    const at = properties.slice(0, place).reduce((sum, one) => sum + one.bytes, from);
    if (!/^(float|double)/.test(type)) return;
    for (let i = 0; i < count; i++) box.add(k, type.includes('64') || type === 'double' ? view.getFloat64(at + i * stride, little) : view.getFloat32(at + i * stride, little));
  });
  return box.size;
}

/** null: not known beforehand */
export function size_of(name: string, bytes: Uint8Array): Size | null {
  if (/\.stl$/i.test(name)) return of_stl(bytes);
  if (/\.ply$/i.test(name)) return of_ply(bytes);
  if (/\.obj$/i.test(name) && bytes.length <= LARGEST_TEXT) return of_lines(new TextDecoder().decode(bytes), /^v[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)/gm);
  return null;
}

/** the same of a file that was chosen; one that is very large is not read twice */
export async function size_of_file(file: File): Promise<Size | null> {
  if (!/\.(stl|ply|obj)$/i.test(file.name) || file.size > (/\.obj$/i.test(file.name) ? LARGEST_TEXT : LARGEST_BINARY)) return null;
  try {
    return size_of(file.name, new Uint8Array(await file.arrayBuffer()));
  } catch {
    return null; // the controller says what is wrong with it
  }
}
