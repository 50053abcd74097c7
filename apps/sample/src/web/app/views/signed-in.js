import { h } from '../dom.js';

// Before the first view is drawn, so that nothing moves. Without the file, the views work, too.
await new Promise((done) =>
  document.head.append(h('link', { rel: 'stylesheet', href: '/web/session.css', onload: done, onerror: done })),
);

/** The views that need a session. */
export { devices } from './devices.js';
export { email } from './email.js';
export { orders } from './orders.js';
export { overview } from './overview.js';
export { passkeys } from './passkeys.js';
export { password } from './password.js';
export { sessions } from './sessions.js';
export { twoFactor } from './two-factor.js';
export { yourData } from './your-data.js';
