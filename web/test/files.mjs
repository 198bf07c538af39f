// Files that people drop: node test/files.mjs --feeler PROGRAM [--cad FOLDER] [--models FOLDER] [--shots FOLDER]. Thirty at once, of all the kinds that
// the page names; what of them cannot be had is listed with what can be done. FOLDER has what make_cad writes; of the models real files are taken.
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as zlib from 'node:zlib';
import { launch, new_page, shows, until } from './browser.mjs';
import { check, feeler, finish, option, shots, step, trouble } from './checks.mjs';
import { cube_stl } from './scene.mjs';
import { serve_empty } from './serve.mjs';

const cad = option('--cad'), models = option('--models');

// ---- files of every kind ----

const CORNERS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];
const FACES = [[0, 2, 1], [0, 3, 2], [4, 5, 6], [4, 6, 7], [0, 1, 5], [0, 5, 4], [1, 2, 6], [1, 6, 5], [2, 3, 7], [2, 7, 6], [3, 0, 4], [3, 4, 7]];

/** a ZIP archive: names and contents */
function zip(entries) {
  const files = [], directory = [];
  let at = 0;
  for (const [name, text] of entries) {
    const bytes = Buffer.from(text), packed = zlib.deflateSync(bytes).subarray(2, -4), title = Buffer.from(name);
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(8, 4);
    about.writeUInt32LE(crc(bytes), 10);
    about.writeUInt32LE(packed.length, 14);
    about.writeUInt32LE(bytes.length, 18);
    about.writeUInt16LE(title.length, 22);
    const file = Buffer.concat([Buffer.from('PK\x03\x04'), about, title, packed]);
    const more = Buffer.alloc(14);
    more.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), about, more, title]));
    files.push(file);
    at += file.length;
  }
  const list = Buffer.concat(directory), end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...files, list, Buffer.from('PK\x05\x06'), end]);
}

/** newer versions of Node have one */
function crc(bytes) {
  if (zlib.crc32) return zlib.crc32(bytes);
  let value = ~0;
  for (const byte of bytes) {
    value ^= byte;
    for (let k = 0; k < 8; k++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return ~value >>> 0;
}

/** a block of so many millimetres, as 3MF */
function block_3mf(size) {
  const vertices = CORNERS.map(([x, y, z]) => `<vertex x="${x * size}" y="${y * size}" z="${z * size}"/>`).join('');
  const triangles = FACES.map(([a, b, c]) => `<triangle v1="${a}" v2="${b}" v3="${c}"/>`).join('');
  return zip([
    ['[Content_Types].xml', '<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="model" ContentType="application/vnd.ms-package.3dmanufacturing-3dmodel+xml"/></Types>'],
    ['_rels/.rels', '<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Target="/3D/3dmodel.model" Id="rel0" Type="http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"/></Relationships>'],
    ['3D/3dmodel.model', `<?xml version="1.0" encoding="UTF-8"?><model unit="millimeter" xml:lang="en-US" xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"><resources><object id="1" type="model" name="block"><mesh><vertices>${vertices}</vertices><triangles>${triangles}</triangles></mesh></object></resources><build><item objectid="1"/></build></model>`],
  ]);
}

/** a block of so many metres, as glTF: text, or binary */
function block_gltf(size, binary) {
  const places = Buffer.from(Float32Array.from(CORNERS.flat().map((value) => value * size)).buffer), indices = Buffer.from(Uint16Array.from(FACES.flat()).buffer);
  const data = Buffer.concat([places, indices]);
  const scene = {
    asset: { version: '2.0' }, scene: 0, scenes: [{ nodes: [0] }], nodes: [{ mesh: 0, name: 'block' }], meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 1 }] }],
    accessors: [{ bufferView: 0, componentType: 5126, count: 8, type: 'VEC3', min: [0, 0, 0], max: [size, size, size] }, { bufferView: 1, componentType: 5123, count: 36, type: 'SCALAR' }],
    bufferViews: [{ buffer: 0, byteOffset: 0, byteLength: 96 }, { buffer: 0, byteOffset: 96, byteLength: 72 }],
    buffers: [{ byteLength: data.length, ...(binary ? {} : { uri: `data:application/octet-stream;base64,${data.toString('base64')}` }) }],
  };
  const text = JSON.stringify(scene);
  if (!binary) return Buffer.from(text);
  const json = Buffer.from(text.padEnd(4 * Math.ceil(text.length / 4)));
  const head = (...words) => Buffer.from(Uint32Array.from(words).buffer);
  return Buffer.concat([head(0x46546c67, 2, 28 + json.length + data.length), head(json.length, 0x4e4f534a), json, head(data.length, 0x004e4942), data]);
}

const ascii_stl = (size) => Buffer.from(`solid block\n${FACES.map((face) => `facet normal 0 0 0\nouter loop\n${face.map((k) => `vertex ${CORNERS[k].map((value) => value * size).join(' ')}`).join('\n')}\nendloop\nendfacet`).join('\n')}\nendsolid block\n`);
const obj = (size) => Buffer.from(`${CORNERS.map((corner) => `v ${corner.map((value) => value * size).join(' ')}`).join('\n')}\n${FACES.map((face) => `f ${face.map((k) => k + 1).join(' ')}`).join('\n')}\n`);
const ply = (size) => Buffer.from(`ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\nelement face 12\nproperty list uchar int vertex_indices\nend_header\n${CORNERS.map((corner) => corner.map((value) => value * size).join(' ')).join('\n')}\n${FACES.map((face) => `3 ${face.join(' ')}`).join('\n')}\n`);

/** thirty files that can be had, one that cannot */
function files() {
  const list = [];
  const add = (name, bytes) => list.length < 30 && !list.some((file) => file.name === name) && list.push({ name, bytes });
  for (const name of ['assembly.step', '203.step', '242.step', 'inch.step', 'block.iges', 'ball.brep', 'endless.brep']) if (cad && existsSync(join(cad, name))) add(name, readFileSync(join(cad, name)));
  for (const name of ['cad/NEMA17.step', 'cad/XT30_M.step', 'cad/splinecage.stp', 'dirty/trimesh_featuretype.STL', 'dirty/numpystl_HalfDonut.stl', 'dirty/cgal_three_knives.obj', 'dirty/assimp_Spider_binary.stl', 'dirty/trimesh_angle_block.STL'])
    if (models && existsSync(join(models, name))) add(basename(name), readFileSync(join(models, name)));
  add('block.3mf', block_3mf(12));
  add('block.gltf', block_gltf(0.014, false));
  add('block.glb', block_gltf(0.013, true));
  add('text.stl', ascii_stl(11));
  add('block.obj', obj(9));
  add('block.ply', ply(8));
  for (let k = 1; list.length < 30; k++) add(`cube ${k}.stl`, cube_stl([20 * k, 0, 0], 10));
  list.push({ name: 'broken.step', bytes: Buffer.from('ISO-10303-21;\nHEADER;\nnonsense\n') });
  return list;
}

const browser = await launch();
const server = await serve_empty(feeler, '--voxel', '1mm');
const page = await new_page(browser, { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' });
page.on('pageerror', (error) => trouble.push(`exception: ${error.message}`));
await page.goto(`${server.url}?quality=low`);
await until(page, () => window.feeler?.connected, 'connected');
const dropped = files();

await step('thirty files are dropped at once; the page asks once for each kind', async () => {
  const data = dropped.map(({ name, bytes }) => [name, bytes.toString('base64')]);
  await page.evaluate((list) => {
    const transfer = new DataTransfer();
    for (const [name, text] of list) transfer.items.add(new File([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], name));
    document.getElementById('stage').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer }));
  }, data);
  const kind = (name) => /[^.]*$/.exec(name)[0].toLowerCase().replace('stp', 'step').replace('igs', 'iges');
  const kinds = new Set(dropped.map(({ name }) => kind(name))).size;
  let asked = 0;
  for (;;) {
    await until(page, (count) => document.getElementById('file-dialog').open || window.feeler.files_ended === count, 'it asks, or all are there', dropped.length);
    if (!(await page.evaluate(() => document.getElementById('file-dialog').open))) break;
    asked++;
    const name = await page.locator('#file-name').textContent();
    const own = kind(name.split(' · ')[0]), alike = dropped.filter((one) => kind(one.name) === own).length;
    const said = (await page.locator('#file-all').isVisible()) ? await page.locator('#file-all').textContent() : 'Add';
    check(alike === 1 ? said === 'Add' : said === `Add all ${alike} like this`, `${name}: “${said}” of ${alike} files`);
    await page.locator((await page.locator('#file-all').isVisible()) ? '#file-all' : '#file-dialog button.primary').click();
    await until(page, (before) => !document.getElementById('file-dialog').open || document.getElementById('file-name').textContent !== before, 'answered', name);
  }
  check(asked <= kinds, `asked ${asked} times for ${kinds} kinds`);
  await until(page, () => window.feeler.parts.every((part) => part.ready) && window.feeler.loaded, 'every part can be felt');
  const parts = await page.evaluate(() => window.feeler.parts.map(({ name }) => name));
  check(parts.length >= 30 && parts.every((name) => !name.startsWith('upload')), `${parts.length} parts of 30 files: ${parts}`);
  const failed = await page.evaluate(() => window.feeler.failed_files);
  check(failed.length === 1 && failed[0].name === 'broken.step', `all but the broken one: ${JSON.stringify(failed)}`);
  if (shots) await page.screenshot({ path: join(shots, 'thirty.png') });
});

await step('what is left out is listed', async () => {
  if (!dropped.some(({ name }) => name === 'endless.brep')) return;
  await page.locator('#messages-card').waitFor({ state: 'visible' });
  const messages = await page.evaluate(() => window.feeler.messages);
  check(messages.some((sentence) => /^endless: .*1 of 1 faces cannot be meshed and is left out$/.test(sentence)), `in words, by the file's name: ${messages}`);
  check(messages.every((sentence) => !/upload-\d|\/cache/.test(sentence)), `nobody is told of folders: ${messages}`);
});

await step('a file that failed stays, and can be tried again', async () => {
  check(/^broken: is not a readable STEP file/.test((await page.evaluate(() => window.feeler.failed_files))[0].reason), 'the reason is told');
  const row = page.locator('#failed-files .failed-file', { hasText: 'broken.step' });
  await row.scrollIntoViewIfNeeded();
  check((await row.getByRole('button').count()) === 4, 'what can be done');
  const count = await page.evaluate(() => window.feeler.files_ended);
  await row.getByRole('button', { name: 'Try again' }).click();
  await until(page, (before) => window.feeler.files_ended === before + 1 && window.feeler.failed_files.length === 1, 'it failed again, and is listed again', count);
  await page.locator('#failed-files').getByRole('button', { name: 'Remove' }).click();
  check(await page.locator('#failed-files').isHidden(), 'and is gone from the list');
});

await step('a part whose voxels do not fit into memory stays, and gets others', async () => {
  await page.locator('#file-input').setInputFiles({ name: 'fine.stl', mimeType: 'model/stl', buffer: cube_stl([0, 0, 300], 30) });
  await page.locator('#file-dialog').waitFor({ state: 'visible' });
  await page.locator('#file-advanced').evaluate((more) => (more.open = true));
  await page.locator('#file-voxel').fill('0.0001');
  await page.locator('#file-voxel').press('Enter');
  const row = page.locator('#failed-files .failed-file', { hasText: 'fine' });
  await row.waitFor();
  check(/take larger ones/.test(await row.locator('.hint').textContent()), 'why, and what to do');
  await row.getByRole('textbox').fill('1');
  await row.getByRole('button', { name: 'Try again' }).click();
  await until(page, () => window.feeler.parts.find(({ name }) => name === 'fine').ready && document.getElementById('failed-files').hidden, 'it is ready');
});

await step('a fixed part that is dragged says why it stays', async () => {
  await page.locator('#part-search').fill('fine');
  await page.locator('#parts .part-pick', { hasText: 'fine' }).click();
  await page.locator('#parts .part-change:not([hidden]) select').first().selectOption('0');
  await until(page, () => window.feeler.parts.find(({ name }) => name === 'fine').kind === 0, 'it is fixed');
  await page.keyboard.press('i');
  await page.keyboard.press('f');
  const view = await page.locator('#view').boundingBox(), place = { x: view.x + view.width / 2, y: view.y + view.height / 2 };
  await until(page, ({ x, y }) => window.feeler.parts.find(({ name }) => name === 'fine').part === window.feeler.pick(x, y)?.part, 'it is alone in the middle', place);
  await page.mouse.move(place.x, place.y);
  await page.mouse.down();
  await page.mouse.move(place.x + 40, place.y, { steps: 4 });
  await page.mouse.up();
  await shows(page, '.toast', /“fine” is fixed.*choose “movable”/, 'why it does not move');
  await page.keyboard.press('i');
});

await step('what is opened in the panel comes into view', async () => {
  await page.setViewportSize({ width: 1280, height: 520 });
  for (const card of ['#parameters-card', '#recordings-card']) {
    await page.locator(`${card} > summary`).click();
    await until(page, (selector) => {
      const box = document.querySelector(selector).getBoundingClientRect(), room = document.getElementById('panel').getBoundingClientRect();
      return box.height > room.height ? Math.abs(box.top - room.top) < 2 : box.bottom < room.bottom + 2 && box.top > room.top - 2;
    }, `${card} is seen`, card);
  }
});

await step('handles in the view move the section plane and the sides of the box', async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.locator('#view').focus();
  await page.keyboard.press('i'); // the cube alone
  await page.keyboard.press('0');
  await page.keyboard.press('x');
  await until(page, () => window.feeler.section_handles['section-at'], 'the plane has a handle');
  // the view that was turned comes to rest
  await page.evaluate(() => (window.still = { eye: '', turns: 0 }));
  await until(page, () => {
    const eye = JSON.stringify(window.feeler.eye), { still } = window;
    window.still = { eye, turns: eye === still.eye ? still.turns : window.turns };
    return eye === still.eye && window.turns > still.turns + 4;
  }, 'the view is at rest');
  check(await page.evaluate(() => {
    const box = document.getElementById('section-card').getBoundingClientRect(), room = document.getElementById('panel').getBoundingClientRect();
    return box.top > room.top - 2 && box.bottom < room.bottom + 2;
  }), 'and its card comes into view');
  const drag = async (name, dx, dy) => {
    const at = (await page.evaluate(() => window.feeler.section_handles))[name];
    const before = Number(await page.locator(`#${name}`).inputValue()), eye = await page.evaluate(() => window.feeler.eye.p);
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    await page.mouse.move(at.x + dx, at.y + dy, { steps: 5 });
    await page.mouse.up();
    const after = Number(await page.locator(`#${name}`).inputValue());
    const now = await page.evaluate(() => window.feeler.eye.p);
    check(now.every((value, k) => Math.abs(value - eye[k]) < 1e-9), `${name}: the view stays`);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const there = (await page.evaluate(() => window.feeler.section_handles))[name];
    check(Math.hypot(there.x - at.x, there.y - at.y) > 10, `${name}: the handle went along, ${JSON.stringify([at, there])}`);
    return after - before;
  };
  check((await drag('section-at', 0, -60)) > 0.05, 'up is up');
  check((await page.locator('#section-where').textContent()) !== '', 'where it cuts is told');
  await page.locator('#section-box').check();
  await until(page, () => window.feeler.section_handles['box-high-z'], 'the box has six');
  check((await drag('box-high-z', 0, 50)) < -0.05, 'the upper side comes down');
  check((await drag('box-low-z', 0, -50)) > 0.05, 'the lower side goes up');
  check((await page.evaluate(() => window.feeler.clipped)) === 3, 'and all of them cut');
  if (shots) await page.screenshot({ path: join(shots, 'handles.png') });
  await page.keyboard.press('x');
  check((await page.evaluate(() => Object.keys(window.feeler.section_handles).length)) === 0, 'they go with the section');
});

await browser.close();
await server.close();
finish();
