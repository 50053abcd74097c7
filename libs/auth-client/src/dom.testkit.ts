// A page in Node: import it before a package that looks for one when it is loaded.
import { Window } from 'happy-dom';
import { Storage, define } from './tabs.testkit.js';

// Everywhere else, Vue keeps the process alive for three seconds, for its developer tools.
const navigator = { userAgent: 'jsdom' };
const page = new Window({ url: 'https://shop.test/', settings: { navigator } });
for (const name of [
  'document',
  'HTMLElement',
  'HTMLIFrameElement',
  'Element',
  'SVGElement',
  'MathMLElement',
  'Node',
] as const)
  define(name, page[name as never]);
define('FormData', page.FormData);
define('window', Object.assign(page, { event: undefined }));
define('navigator', navigator);
define('IS_REACT_ACT_ENVIRONMENT', true);

/** Begins an empty page. @returns its element for the application */
export function emptyPage(): HTMLElement {
  define('localStorage', new Storage());
  document.body.innerHTML = '<main></main>';
  return document.querySelector('main')!;
}
