// What scripts that try the page share: options, checks that are counted, and steps of which none stops the others. A script ends with
// `finish()`. Without a Chromium nothing is tried, and the exit code is 77.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { find_chromium } from './browser.mjs';

/** what follows this word of the command line; null: it is not there */
export const option = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : null);

/** the program; null: none was named */
export const named = option('--feeler') && resolve(option('--feeler'));
export const feeler = named ?? resolve('../build/feeler');
/** a folder for pictures; null: none are taken */
export const shots = option('--shots') && resolve(option('--shots'));

if (!find_chromium()) {
  console.log('there is no Chromium: the page is not tried');
  process.exit(77);
}
if (shots) mkdirSync(shots, { recursive: true });

let passed = 0;
const failures = [];
/** what consoles of pages say about errors: each is a failure, see open_page() */
export const trouble = [];

function fail(what) {
  failures.push(what);
  // mutants.mjs needs to know only whether there is one
  if (process.env.FEELER_FIRST) finish();
}

export function check(condition, what) {
  if (condition) passed++;
  else fail(what);
}

/** what a person does; `after` is done in any case, with whether it went well */
export async function step(what, run, after = async () => undefined) {
  const began = performance.now();
  let good = false;
  try {
    await run();
    good = true;
    console.log(`  ${what}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  } catch (error) {
    console.log(`  ${what}: FAILED: ${error.message}`);
    fail(`${what}: ${error.message}`);
  }
  await after(good);
}

export const shot = async (page, name) => shots && page.screenshot({ path: join(shots, `${name}.png`) });

/** says how many checks passed, and ends */
export function finish() {
  for (const line of trouble) failures.push(`console: ${line}`);
  for (const line of failures) console.log(`FAILED: ${line}`);
  console.log(`${passed} checks passed, ${failures.length} failed`);
  process.exit(failures.length ? 1 : 0);
}
