import { svg } from './dom.js';
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

/** The outline of a phone or of a laptop. */
export const deviceIcon = (userAgent) =>
  svg(
    'svg',
    { class: 'device', viewBox: '0 0 20 20', 'aria-hidden': 'true' },
    svg('path', {
      d: /Android|iP(hone|ad)/.test(userAgent) ? 'M5.5 1.5h9v17h-9zM8.5 15.5h3' : 'M3.5 3.5h13v9.5h-13zM1 16.5h18',
    }),
  );

/** Names in their order, with a number where one is there already. */
export const distinct = (names) =>
  names.map((name, i) => {
    const before = names.slice(0, i).filter((other) => other === name).length;
    return before ? `${name} (${before + 1})` : name;
  });
