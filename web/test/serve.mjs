// A real controller for the tests of the page: feeler serve of the scene of scene.mjs, in a folder of its own.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { write_scene } from './scene.mjs';

function begin(feeler, folder, options) {
  const child = spawn(feeler, options, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, XDG_CACHE_HOME: join(folder, 'cache') } });
  process.once('exit', () => child.kill()); // also when a test ends by an error
  let said = '';
  const url = new Promise((resolve, reject) => {
    const listen = (data) => {
      said += data;
      const found = /https?:\/\/[^\s/]+:\d+\//.exec(said);
      if (found) resolve(found[0]);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.on('exit', (code) => reject(new Error(`feeler ${options[0]} ended (${code}): ${said}`)));
    setTimeout(() => reject(new Error(`feeler ${options[0]} did not say its address: ${said}`)), 300000).unref();
  });
  url.catch(() => undefined);
  return { child, url, said: () => said };
}

function end(child) {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    child.once('exit', resolve);
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), 120000).unref();
  });
}

/** like start() of the mock: { url, interrupt(meanwhile), close() }; and what a command says about the one recording there is */
export async function serve(feeler) {
  const folder = mkdtempSync(join(tmpdir(), 'feeler-page-'));
  write_scene(folder);
  const options = (port) => ['serve', join(folder, 'scene.json'), '--port', String(port), '--recordings', join(folder, 'recordings'), '--every-frame', '--no-devices'];
  let { child, url: coming } = begin(feeler, folder, options(0));
  const url = await coming;
  return {
    folder,
    url,
    interrupt: async (meanwhile) => {
      await end(child);
      await meanwhile();
      ({ child, url: coming } = begin(feeler, folder, options(new URL(url).port)));
      await coming;
    },
    about_recording: (command, ...options) => {
      const [name] = readdirSync(join(folder, 'recordings')).filter((file) => file.endsWith('.mcap'));
      const environment = { ...process.env, XDG_CACHE_HOME: join(folder, 'cache') };
      return JSON.parse(execFileSync(feeler, [command, join(folder, 'recordings', name), '--json', ...options], { cwd: folder, env: environment, timeout: 600000 }));
    },
    close: async () => {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** feeler serve of a scene that write(folder) makes: { url, said(), close() } */
export async function serve_scene(feeler, write, ...options) {
  const folder = mkdtempSync(join(tmpdir(), 'feeler-scene-'));
  write(folder);
  const { child, url, said } = begin(feeler, folder, ['serve', join(folder, 'scene.json'), '--port', '0', '--no-devices', ...options]);
  return {
    url: await url,
    said,
    close: async () => {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** feeler serve of a scene file that is there: { url, said(), close() } */
export async function serve_file(feeler, file, ...options) {
  const { child, url, said } = begin(feeler, dirname(file), ['serve', file, '--port', '0', '--no-devices', ...options]);
  return { url: await url, said, close: () => end(child) };
}

/** feeler serve without a scene: { url, folder, said(), close() } */
export async function serve_empty(feeler, ...options) {
  const folder = mkdtempSync(join(tmpdir(), 'feeler-empty-'));
  const { child, url, said } = begin(feeler, folder, ['serve', '--port', '0', '--no-devices', '--recordings', join(folder, 'recordings'), ...options]);
  return {
    folder,
    url: await url,
    said,
    close: async () => {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** feeler serve --token-file, with that token: { url, said(), close() } */
export async function guard(feeler, token) {
  const folder = mkdtempSync(join(tmpdir(), 'feeler-guard-'));
  write_scene(folder);
  writeFileSync(join(folder, 'token'), `${token}\n`);
  const { child, url, said } = begin(feeler, folder, ['serve', join(folder, 'scene.json'), '--port', '0', '--token-file', join(folder, 'token'), '--no-devices']);
  return {
    url: await url,
    said,
    close: async () => {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** one who shares the scene of scene.mjs and one who joins: [{ url, child, said() }, …], and wrong() for one with another token */
export async function share(feeler) {
  const folder = mkdtempSync(join(tmpdir(), 'feeler-share-'));
  write_scene(folder);
  const members = [];
  const add = async (...options) => {
    const home = join(folder, String(members.length));
    mkdirSync(home, { recursive: true });
    const member = begin(feeler, home, [...options, '--port', '0', '--no-devices', '--recordings', join(home, 'recordings')]);
    const started = { ...member, url: await member.url };
    members.push(started);
    return started;
  };
  const first = await add('serve', join(folder, 'scene.json'), '--share', '--share-port', '0', '--user', 'Ada');
  const [, address, token] = /feeler join (\S+) --token (\S+)/.exec(first.said()) ?? [];
  return {
    members,
    join: (name, ...options) => add('join', address, '--token', token, '--user', name, ...options),
    close: async () => {
      await Promise.all(members.map(({ child }) => end(child)));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** feeler demo NAME: { url, close() } */
export async function demo(feeler, name) {
  const folder = mkdtempSync(join(tmpdir(), 'feeler-demo-'));
  const { child, url } = begin(feeler, folder, ['demo', name, '--no-browser', '--port', '0']);
  return {
    url: await url,
    close: async () => {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
