import { h } from './dom.js';
import { t } from './language.js';

/** The settings of the server: `PageConfig`. Without them, a mailed link stays in the address. */
export const config = await fetch('/web/config')
  .then((response) => (response.ok ? response.json() : Promise.reject()))
  .catch(() => {
    const text = t`The server cannot be reached. Reload the page.`;
    document.getElementById('main').append(h('p', { role: 'alert' }, text));
    return new Promise(() => undefined);
  });
