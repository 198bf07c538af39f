// Whether the tests of the page can fail: node test/mutants.mjs --feeler PROGRAM [--cad FOLDER] [ITEM…]. Each mutant below is the page with one
// thing undone, built into a folder of its own and shown instead of the program's (FEELER_PAGE, see browser.mjs). The script that looks
// after that thing has to fail; what it says is printed. Items are those of the table in README.md; without one, all are tried.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { feeler, option } from './checks.mjs';

const web = join(dirname(fileURLToPath(import.meta.url)), '..');

/** item, what is undone, its file, from what, to what, and the script that has to notice */
const MUTANTS = [
  [1, 'a distance stays after the part has gone', 'clearance.ts', 'this.asked_for = this.early = null;', 'this.early = null;', 'engineer'],
  [2, 'where force begins is shown in voxels of the last fixed part', 'panels.ts', 'onset.high / LAYERS;', '([...this.model.parts.values()].filter((part) => part.kind === 0).at(-1)?.voxel ?? 1);', 'engineer'],
  [3, 'a rotation that was typed is not taken', 'placement.ts', 'q: same ? pose.q : from_degrees(typed)', 'q: pose.q', 'engineer'],
  [3, 'Place at does nothing', 'placement.ts', 'this.on = on && this.movable();', 'this.on = false;', 'engineer'],
  [4, 'PDF saves the page', 'reports.ts', "ending === 'pdf' ? report_format.REPORT_PDF : report_format.REPORT_HTML", 'report_format.REPORT_HTML', 'recordings'],
  [4, 'a report asks for no clearance', 'reports.ts', 'format, clearance }', 'format, clearance: -1 }', 'recordings'],
  [5, 'Escape does not end a replay', 'main.ts', 'if (model.replaying) recordings.end();', '', 'recordings'],
  [5, 'a recording of another scene is replayed as it is', 'replay.ts', 'if (!window.confirm(t(', 'if (false && !window.confirm(t(', 'recordings'],
  [6, 'plots and the rate for everybody', 'technical.ts', 'const on = is_expert() ||', 'const on = true || is_expert() ||', 'engineer'],
  [6, 'a fixed part turns red as a whole', 'scene.ts', 'object.patched.value = fixed && shown === look.LOOK_COLLIDING ? 1 : 0;', 'object.patched.value = 0;', 'engineer'],
  [7, 'a fixed part that is dragged says nothing', 'drag.ts', 'this.fixed.emit(clicked.part);', '', 'files'],
  [7, 'what is opened stays where it is', 'main.ts', "keep_opened_in_view(by_id('panel'));", '', 'files'],
  [7, 'a file that failed is not listed', 'failed_files.ts', 'this.list.push(failed);', '', 'files'],
  [8, 'what fingers press is small', 'assembly.css', '.part-pick, .clash-pick { min-height: 44px; min-width: 44px; }', '.part-pick, .clash-pick { min-height: 30px; }', 'everybody'],
  [8, 'two fingers do not roll', 'gestures.ts', 'roll: wrap(angle(a, b) - angle(a1, b1))', 'roll: 0', 'everybody'],
  [9, 'tools have no names for screen readers', 'dom.ts', "title: label, 'aria-label': label, onclick: click", 'onclick: click', 'everybody'],
  [9, 'toasts rise for those who want less motion', 'assembly.css', '@media (prefers-reduced-motion: reduce)', '@media (min-width: 99999px)', 'everybody', [['style.css', '@media (prefers-reduced-motion: reduce)', '@media (min-width: 99999px)']]],
  [9, 'English words in the German page', 'german.ts', "'Mouse and keys': 'Maus und Tasten', ", '', 'everybody'],
  [10, 'the tour opens no example', 'recent.ts', "by_id('empty-tour').addEventListener('click', () => this.example(true));", '', 'everybody'],
  [10, 'recent scenes are forgotten', 'recent.ts', 'localStorage.setItem(KEY,', "localStorage.setItem('other',", 'everybody'],
  [11, 'each screw is drawn by itself', 'instances.ts', 'const LEAST = 4;', 'const LEAST = 1e9;', 'everybody'],
  [11, 'nothing is coarser than it is', 'loader.ts', 'triangles: Math.max(2000, Math.floor(FIRST_ALL / this.entries.size))', 'triangles: 0', 'opening'],
  [11, 'pictures of nothing are drawn', 'main.ts', 'if (loader.coming && pacer.pictures > 0) return;', '', 'opening'],
  [12, 'Save scene takes no name', 'panels.ts', 'path.value.trim() || path.placeholder', 'path.placeholder', 'tutorial'],
];

const wanted = process.argv.slice(2).filter((word) => /^\d+$/.test(word)).map(Number);
let undetected = 0;
for (const [item, what, file, from, to, script, more = []] of MUTANTS.filter(([item]) => !wanted.length || wanted.includes(item))) {
  const folder = mkdtempSync(join(tmpdir(), 'feeler-mutant-'));
  try {
    for (const name of ['src', 'public', 'index.html', 'package.json', 'tsconfig.json', 'vite.config.mjs']) cpSync(join(web, name), join(folder, name), { recursive: true });
    symlinkSync(join(web, 'node_modules'), join(folder, 'node_modules'));
    for (const [name, before, after] of [[file, from, to], ...more]) {
      const path = join(folder, 'src', name), text = readFileSync(path, 'utf8');
      if (!text.includes(before)) throw new Error(`${name} has no “${before}” any more: mend the mutant`);
      writeFileSync(path, text.replaceAll(before, after));
    }
    execFileSync(process.execPath, [join(web, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'error'], { cwd: folder });
    const options = ['--feeler', feeler, ...(option('--cad') ? ['--cad', option('--cad')] : [])];
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(web, `test/${script}.mjs`), ...options], {
      cwd: web, encoding: 'utf8', env: { ...process.env, FEELER_PAGE: join(folder, 'dist'), FEELER_FIRST: '1', FEELER_TURNS: process.env.FEELER_TURNS ?? '300' },
    });
    const said = /^FAILED: .*/m.exec(stdout)?.[0] ?? stderr.trim().split('\n').find((line) => /Error/.test(line)) ?? `exit code ${status}`;
    if (status === 0) undetected++;
    console.log(`${item}. ${what}: ${status === 0 ? 'NOT NOTICED by' : 'noticed by'} ${script}.mjs${status === 0 ? '' : `: ${said.slice(0, 300)}`}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
process.exit(undetected ? 1 : 0);
