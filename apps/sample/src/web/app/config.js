import { h } from './dom.js';

/** The settings of the server: `PageConfig`. Without them, a mailed link stays in the address. */
export const config = await fetch('/web/config')
  .then((response) => (response.ok ? response.json() : Promise.reject()))
  .catch(() => {
    document.getElementById('main').append(h('p', { role: 'alert' }, 'The server cannot be reached. Reload the page.'));
    return new Promise(() => undefined);
  });
