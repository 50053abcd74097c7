import { h } from './dom.js';
import { Cancelled, textOf } from './errors.js';

const SHOWN_MS = 8000;

const [status, alert] = ['status', 'alert'].map((id) => document.getElementById(id));
let timer;

function show(place, text) {
  quiet();
  place.replaceChildren(
    text,
    h('button', { type: 'button', class: 'quiet', 'aria-label': 'Dismiss', onclick: quiet }, '✕'),
  );
}

/** Takes away what was said last. */
export function quiet() {
  clearTimeout(timer);
  status.replaceChildren();
  alert.replaceChildren();
}

/** Says that something was done, also to screen readers. */
export function say(text) {
  show(status, text);
  timer = setTimeout(quiet, SHOWN_MS);
}

/** Says what went wrong, until it is dismissed or something else is said. */
export function complain(error) {
  if (!(error instanceof Cancelled)) show(alert, textOf(error));
}

/** A button that does `work`, once at a time. What that throws is told. */
export function button(label, work, props = {}) {
  let busy = false;
  const element = h('button', { type: 'button', ...props }, label);
  element.addEventListener('click', async () => {
    if (busy) return;
    busy = true;
    element.setAttribute('aria-busy', 'true');
    await Promise.resolve().then(work).catch(complain);
    busy = false;
    element.removeAttribute('aria-busy');
  });
  return element;
}
