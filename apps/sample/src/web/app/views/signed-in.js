import { stylesheet } from '../stylesheet.js';

await stylesheet('session.css');

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
