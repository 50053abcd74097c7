import { h } from './dom.js';

/** Loads styles, before what needs them is drawn, so that nothing moves. Without the file, the views work, too. */
export const stylesheet = (name) =>
  new Promise((done) =>
    document.head.append(h('link', { rel: 'stylesheet', href: `/web/${name}`, onload: done, onerror: done })),
  );
