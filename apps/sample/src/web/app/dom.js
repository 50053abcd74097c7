import { locale } from './language.js';

/**
 * Creates an element: `h('p', { class: 'note', onclick }, 'text', child)`. A text is never parsed as HTML. Properties and
 * children that are null, undefined or false are left out.
 */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), props, children);
}

function fill(element, props, children) {
  const isThere = (value) => value !== undefined && value !== null && value !== false;
  for (const [name, value] of Object.entries(props).filter(([, given]) => isThere(given))) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter(isThere));
  return element;
}

let ids = 0;

/** An id that is unique on the page. */
export const newId = (what) => `${what}-${++ids}`;

/** A time to the second, with its zone: for what is compared with a log. */
const format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'long' });

/** For a column of times. */
export const WITHOUT_ZONE = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });

/** A time in the format of the user's language. @param when an argument of `new Date()` */
export function time(when, as = format) {
  const date = new Date(when);
  return h('time', { datetime: date.toISOString() }, as.format(date));
}

const UNITS = { day: 86_400, hour: 3600, minute: 60, second: 1 };
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });

/** How far a time is from now: `3 minutes ago`. */
function distance(when) {
  const seconds = Math.round((new Date(when) - Date.now()) / 1000);
  const far = Math.abs(seconds);
  const [unit, length] = Object.entries(UNITS).find(([, given]) => far >= given && far >= 10) ?? ['second', Infinity];
  return relative.format(Math.round(seconds / length), unit);
}

/** A time as its distance from now, which stays true. The time itself is shown to the pointer. */
export const ago = (when) =>
  h(
    'time',
    { class: 'ago', datetime: new Date(when).toISOString(), title: format.format(new Date(when)) },
    distance(when),
  );

setInterval(() => {
  for (const element of document.querySelectorAll('.ago')) element.textContent = distance(element.dateTime);
}, 5000);

/** A time span in words, in the largest unit that fits: `12 hours`. */
export function duration(seconds) {
  const [unit, length] = Object.entries({ day: 86_400, hour: 3600, minute: 60, second: 1 }).find(
    ([, given]) => seconds >= given * 2 || seconds === given,
  ) ?? ['second', 1];
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 0 }).format(
    seconds / length,
  );
}

/** Saves a text as a file. */
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h('a', { href: url, download: name }).click();
  // The browser has started the download by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
