// feeler serve --watch: a card that says which files have changed, and reads them again.
import { by_id, h, text } from './dom.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';

export class ChangedFiles {
  constructor(model: Model, notices: Notices) {
    const sentence = h('span');
    let left = ''; // what somebody did not want to hear again
    const card = h('div', { id: 'changed-files', class: 'card glass', role: 'status', hidden: true }, sentence,
      h('div', { class: 'row' },
        h('button', { type: 'button', class: 'primary', id: 'files-reload', title: 'Parts keep their places and everything else', onclick: () => model.connection.ask('reload').catch(notices.failed) }, 'Read again'),
        h('button', { type: 'button', class: 'quiet', onclick: () => {
          left = model.changed_files;
          show();
        } }, 'Not now')));
    const show = () => {
      card.hidden = !model.changed_files || model.changed_files === left;
      text(sentence, model.changed_files);
    };
    by_id('toasts').before(card);
    model.on_files.on(() => {
      if (!model.changed_files) left = '';
      show();
    });
    model.on_scene.on(show);
  }
}
