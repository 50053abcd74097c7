import { config } from '../config.js';
import { h, svg } from '../dom.js';
import { locale, t } from '../language.js';
import { canReplay, life, onLife } from '../life.js';

const SECOND = 1000;
/** The drawing shows the last minutes, at least 20 seconds, and at most a minute of the grace time that is ahead. */
const [SHORTEST, LONGEST, AHEAD] = [20 * SECOND, 240 * SECOND, 60 * SECOND];
/** The drawing in percent of its width: its left edge, and the width of its time. */
const [LEFT, WIDTH] = [2, 96];
/** The least distance of two marks, and of the last mark from now, in pixels. */
const [BESIDE, BEFORE] = [15, 9];
/** The width that a number needs in its bar, in pixels: its edges, and each digit. */
const [EDGES, DIGIT] = [10, 8];
/** The width of the time at the left edge, and of half a text below now, in pixels. */
const [FIRST_TIME, HALF_TIME, HALF_NOW] = [90, 45, 18];
/** The line of now, in parts between the texts. */
const NOW = [
  [22, 45],
  [66, 87],
  [108, 146],
];

const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });
const clockTime = (at) => h('time', { datetime: new Date(at).toISOString() }, clock.format(at));

/** Each kind has its own shape, so that nobody needs to tell colours apart. */
const SHAPES = {
  started: 'M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0z',
  renewed: 'M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0zM-2.5 0a2.5 2.5 0 1 1 5 0a2.5 2.5 0 1 1-5 0z',
  replayed: 'M0-7 7 0 0 7-7 0z',
  reused: 'M0-7.5 7.5 6h-15z',
  refused: 'M-5.5-5.5h11v11h-11z',
  ended: 'M-6.5-4l2.5-2.5 4 4 4-4 2.5 2.5-4 4 4 4-2.5 2.5-4-4-4 4-2.5-2.5 4-4z',
};

const mark = (kind, place) =>
  svg('svg', { class: `mark ${kind}`, ...place }, svg('path', { d: SHAPES[kind], 'fill-rule': 'evenodd' }));

/** An event in the list, which says all that the drawing shows. */
const item = ({ at, kind, title, text }) =>
  h(
    'li',
    {},
    mark(kind, { viewBox: '-8 -8 16 16', 'aria-hidden': 'true' }),
    h('p', {}, h('strong', {}, title), ' ', clockTime(at), h('span', {}, text)),
  );

/**
 * The session and what happened to it, its access token, and its refresh tokens, each with its grace time.
 *
 * @param width the width of the drawing in pixels
 */
function drawing({ events, issued, expiresAt, ended }, width) {
  const now = ended ?? Date.now();
  const grace = canReplay ? config.graceSeconds * SECOND : 0;
  const last = issued.at(-1);
  const graceEnd = issued.length > 1 && !ended ? Math.min(last + grace, now + AHEAD) : now;
  const first = Math.max(events[0].at, now - LONGEST);
  const end = Math.max(first + SHORTEST, graceEnd, now + (now - first) / 6);
  const shown = events.filter(({ at }) => at >= first);
  // The drawing begins so early that all marks have a place before now.
  const pixels = (width * WIDTH) / 100;
  const needed = Math.min(BEFORE + BESIDE * (shown.length - 1), pixels / 2);
  const start = Math.min(first, now - ((end - now) * needed) / (pixels - needed));

  const x = (at) => LEFT + (WIDTH * (Math.min(Math.max(at, start), end) - start)) / (end - start);
  const bar = (kind, from, to, y, height) =>
    x(to) > x(from) &&
    svg('rect', {
      class: kind,
      x: `${x(from)}%`,
      y,
      width: `${x(to) - x(from)}%`,
      height,
      rx: Math.min(height / 2, 4),
    });
  const text = (y, content, props) => svg('text', { x: `${LEFT}%`, y, ...props }, content);

  const percent = (distance) => (distance * 100) / width;
  // A mark that has no place at its time is drawn beside it: before now, and not before the left edge.
  const latest = x(now) - percent(BEFORE);
  const beside = Math.min(percent(BESIDE), (latest - LEFT) / Math.max(shown.length - 1, 1));
  let next = latest + beside;
  const places = shown.map(({ at }) => x(at));
  for (const i of [...places.keys()].toReversed()) {
    next = places[i] = Math.max(Math.min(places[i], next - beside), LEFT + beside * i);
  }
  const marks = shown.map(({ kind }, i) => mark(kind, { x: `${places[i]}%`, y: 31, overflow: 'visible' }));
  const isPlaced = (half) => (x(now) * width) / 100 > FIRST_TIME + half;
  const tokens = issued.map((from, i) => {
    const to = issued[i + 1];
    return [
      bar(to || ended ? 'past' : 'token', from, to ?? now, 112, 16),
      // Grace times that overlap are below each other.
      to && bar('grace', to, Math.min(to + grace, ended ?? Infinity), 131 + (i % 3) * 5, 4),
      x(to ?? now) - x(from) > percent(EDGES + DIGIT * String(i + 1).length) &&
        text(124, String(i + 1), { class: 'number', x: `${x(from)}%`, dx: EDGES / 2 }),
    ];
  });
  return svg(
    'svg',
    { class: 'life', 'aria-hidden': 'true' },
    NOW.map(([y1, y2]) => svg('line', { class: 'now', x1: `${x(now)}%`, x2: `${x(now)}%`, y1, y2 })),
    text(16, t`Session`),
    bar(ended ? 'past' : 'session', start, now, 27, 8),
    text(60, ended ? t`Access token: refused after the end` : t`Access token`),
    bar(ended ? 'past' : 'token', last, now, 70, 8),
    bar(ended ? 'lost' : 'ahead', now, expiresAt, 70, 8),
    text(102, grace ? t`Refresh tokens, and the grace time` : t`Refresh tokens`),
    tokens.flat(),
    text(159, clock.format(first)),
    isPlaced(ended ? HALF_TIME : HALF_NOW) &&
      text(159, ended ? clock.format(now) : t`now`, { x: `${x(now)}%`, 'text-anchor': 'middle' }),
    marks,
  );
}

const swatch = (kind, text) => h('li', {}, h('span', { class: `swatch ${kind}`, 'aria-hidden': 'true' }), text);

/** What the colours of the drawing mean. Its marks are explained by the list of the events, which has the same. */
const legend = (ended) =>
  h(
    'ul',
    { class: 'legend', 'aria-label': t`Legend` },
    !ended && swatch('session', t`session`),
    !ended && swatch('token', t`valid token`),
    !ended && swatch('ahead', t`still to come`),
    swatch('past', t`replaced or ended`),
    canReplay && swatch('grace', t`grace time: the old token still works`),
  );

/** The life of the session as a drawing and as a list. It follows what happens until the user leaves the view. */
export function timeline(left) {
  const picture = h('div', { class: 'picture' });
  const list = h('ol', { class: 'events', reversed: true });
  const draw = () => picture.replaceChildren(drawing(life(), picture.clientWidth || 600));
  let shown = null;
  const tell = () => {
    const { events } = life();
    // Another session has begun, in another tab.
    if (events !== shown) list.replaceChildren();
    shown = events;
    // The newest is the first. Items that are there stay: screen readers read only what is added.
    for (const event of events.slice(list.childElementCount)) list.prepend(item(event));
    draw();
  };
  tell();
  onLife(tell, { signal: left });
  // The width is known when the browser has placed the drawing.
  requestAnimationFrame(draw);
  const ticking = setInterval(() => life().ended || draw(), SECOND);
  left.addEventListener('abort', () => clearInterval(ticking));
  return [
    picture,
    legend(life().ended),
    h('div', { role: 'log', 'aria-label': t`What happened to the session` }, list),
  ];
}
