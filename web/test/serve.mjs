// A real controller for the tests of the page: feeler serve of the scene of scene.mjs, in a folder of its own.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { write_scene } from './scene.mjs';

function begin(feeler, folder, port) {
  const child = spawn(feeler, ['serve', join(folder, 'scene.json'), '--port', String(port), '--recordings', join(folder, 'recordings'), '--no-devices'],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, XDG_CACHE_HOME: join(folder, 'cache') } });
  let said = '';
  const url = new Promise((resolve, reject) => {
    const listen = (data) => {
      said += data;
      const found = /https?:\/\/[^\s/]+:\d+\//.exec(said);
      if (found) resolve(found[0]);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.on('exit', (code) => reject(new Error(`feeler serve ended (${code}): ${said}`)));
    setTimeout(() => reject(new Error(`feeler serve did not say its address: ${said}`)), 30000).unref();
  });
  url.catch(() => undefined);
  return { child, url };
}

function end(child) {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    child.once('exit', resolve);
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), 8000).unref();
  });
}

/** like start() of the mock: { url, interrupt(meanwhile), close() } */
export async function serve(feeler) {
  const folder = mkdtempSync(join(tmpdir(), 'feeler-page-'));
  write_scene(folder);
  let { child, url: coming } = begin(feeler, folder, 0);
  const url = await coming;
  return {
    url,
    interrupt: async (meanwhile) => {
      await end(child);
      await meanwhile();
      ({ child, url: coming } = begin(feeler, folder, new URL(url).port));
      await coming;
    },
    close: async () => {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
