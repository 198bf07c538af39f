// What a person opens in the panel comes into view, also what is filled in a moment later.

export function keep_opened_in_view(panel: HTMLElement): void {
  let opened: HTMLElement | null = null;
  const show = () => {
    if (!opened?.isConnected || opened.hidden) return;
    const card = opened.getBoundingClientRect(), room = panel.getBoundingClientRect();
    if (card.bottom > room.bottom || card.top < room.top) panel.scrollTop += card.height > room.height || card.top < room.top ? card.top - room.top : card.bottom - room.bottom;
  };
  const grown = new ResizeObserver(show);
  const follow = (card: HTMLElement | null) => {
    grown.disconnect();
    opened = card;
    if (card) grown.observe(card);
    show();
  };
  // an opening is a person's where a summary was pressed just before
  let pressed: Element | null = null;
  panel.addEventListener('click', (event) => {
    const summary = (event.target as Element).closest('summary');
    pressed = summary?.parentElement ?? null;
    if (!summary) follow(null); // it works in there: nothing moves under its pointer
  }, { capture: true });
  panel.addEventListener('toggle', (event) => {
    const details = event.target as HTMLDetailsElement;
    if (details === pressed && details.open) follow(details);
    else if (details === opened) follow(null);
  }, { capture: true });
  for (const name of ['wheel', 'touchmove', 'keydown']) panel.addEventListener(name, () => follow(null), { passive: true });
  // cards that a tool of the bar shows
  for (const id of ['section-card', 'measure-card']) {
    const card = document.getElementById(id)!;
    new MutationObserver(() => {
      if (!card.hidden) follow(card);
      else if (opened === card) follow(null);
    }).observe(card, { attributeFilter: ['hidden'] });
  }
}
