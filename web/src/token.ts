// The form that asks for the token, when the controller refuses the page for want of a right one: it was started with a file
// for it, or the address was opened without its end.
import type { Connection } from './connection.ts';
import { by_id, text } from './dom.ts';

const KEPT = 'feeler.token';

/** what a person pasted: the token, or the whole address that was printed */
export function token_of(pasted: string): string {
  const found = /[#?&]token=([^&\s]+)/.exec(pasted);
  return found ? decodeURIComponent(found[1]!) : pasted.trim();
}

/** the token comes with the address that the controller printed, and does not stay in the address bar; or from earlier in this tab */
export function take_token(): string {
  const address = new URL(location.href);
  const hash = new URLSearchParams(address.hash.slice(1));
  const token = address.searchParams.get('token') ?? hash.get('token') ?? '';
  if (address.searchParams.has('token') || hash.has('token')) {
    address.searchParams.delete('token');
    address.hash = '';
    history.replaceState(null, '', address);
  }
  try {
    return token || (sessionStorage.getItem(KEPT) ?? '');
  } catch {
    return token; // a browser that keeps nothing
  }
}

export class TokenForm {
  private readonly dialog = by_id<HTMLDialogElement>('token-dialog');
  private readonly field = by_id<HTMLInputElement>('token-field');

  constructor(private readonly connection: Connection) {
    this.dialog.querySelector('form')!.addEventListener('submit', (event) => {
      event.preventDefault(); // it closes when the controller has said yes
      const token = token_of(this.field.value);
      if (token) connection.use_token(token);
      this.field.focus();
    });
    by_id('token-cancel').addEventListener('click', () => this.dialog.close());
    const shown = by_id<HTMLInputElement>('token-show');
    shown.addEventListener('change', () => (this.field.type = shown.checked ? 'text' : 'password'));
    connection.status.on((status) => {
      if (status === 'refused' && connection.wants_token) this.ask();
      else if (status === 'open') this.welcome();
    });
  }

  private ask(): void {
    const wrong = this.connection.token !== '';
    text(by_id('token-wrong'), wrong ? 'That is not the token of this controller.' : '');
    this.field.setAttribute('aria-invalid', String(wrong));
    if (!this.dialog.open) this.dialog.showModal();
    this.field.select();
  }

  /** it was right: a reload of this tab does not ask again */
  private welcome(): void {
    try {
      if (this.connection.token) sessionStorage.setItem(KEPT, this.connection.token);
    } catch {
      // it will ask again
    }
    this.field.value = '';
    this.dialog.close();
  }
}
