import { t } from './language.js';

const BROWSERS = ['Edg', 'OPR', 'Firefox', 'HeadlessChrome', 'Chrome', 'Safari', 'curl'];
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'Linux'];
const NAMES = { Edg: 'Edge', OPR: 'Opera', HeadlessChrome: 'Chrome', 'Mac OS': 'Mac' };

/** A short name for a user agent, so that users recognise their devices. Clients can send any user agent. */
export function deviceOf(userAgent) {
  const [browser, system] = [BROWSERS, SYSTEMS]
    .map((names) => names.find((name) => userAgent?.includes(name)))
    .map((name) => NAMES[name] ?? name);
  return browser && system ? t`${browser} on ${system}` : (browser ?? system ?? t`Unknown device`);
}
