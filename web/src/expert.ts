// Whether the page shows what only those need who tune the simulation: voxels and points of parts, their sizes, what was chosen for them.
// Off at first; kept in the browser.

const KEY = 'feeler.expert';

export function is_expert(): boolean {
  return document.body.classList.contains('expert');
}

export function set_expert(on: boolean): void {
  document.body.classList.toggle('expert', on);
  try {
    localStorage.setItem(KEY, on ? '1' : '');
  } catch {
    // storage may be forbidden; then it is as long as the page
  }
}

export function begin_expert(): void {
  try {
    document.body.classList.toggle('expert', localStorage.getItem(KEY) === '1');
  } catch {
    // as above
  }
}

/** a sentence without its clauses about voxels, for those who are none */
export function without_voxels(sentence: string): string {
  return is_expert() ? sentence : sentence.split('; ').filter((clause) => !/voxel/i.test(clause)).join('; ');
}

/** a sentence about work under way for those who are none; null: it is not worth telling them */
export function plain(sentence: string): string | null {
  return /voxel/i.test(sentence) ? null : sentence;
}
