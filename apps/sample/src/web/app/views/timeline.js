import { config } from '../config.js';
import { duration, h, svg } from '../dom.js';
import { swatch } from '../intro.js';
import { locale, t } from '../language.js';
import { canReplay, life, onLife } from '../life.js';

const SECOND = 1000;
/** The drawing shows the last minutes, at least 20 seconds, and at most a minute of the grace time that is ahead. */
const [SHORTEST, LONGEST, AHEAD] = [20 * SECOND, 240 * SECOND, 60 * SECOND];
/** What has happened has at least this width, so that the first token is legible at once. In pixels. */
const PAST = 64;
/** From this width on, the lanes have their labels beside them, otherwise above them. All sizes are in pixels. */
const WIDE = 520;
const [LABELS, VALUES, EDGE, THICK, THIN] = [160, 124, 10, 16, 8];
/** What the number of a token needs: its edges, and each digit. */
const [EDGES, DIGIT] = [3, 8];
/** From this width on, a token keeps its own number. The stolen token is at least so wide that its number is legible. */
const [OWN, STOLEN] = [40, 26];
/** The width of a time, and of half the text below now, in the language that needs most. */
const [TIME, HALF_NOW] = [90, 36];

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

/** An event in the list, which says all that the drawing shows. @param times how often it happened in a row, @param since and since when */
const item = ({ at, kind, title, text, http }, times, since) =>
  h(
    'li',
    { class: kind },
    mark(kind, { viewBox: '-8 -8 16 16', 'aria-hidden': 'true' }),
    h(
      'p',
      {},
      h('strong', {}, title),
      ...(times > 1 ? [h('span', { class: 'badge' }, `× ${times}`), clockTime(since), ' –'] : []),
      clockTime(at),
    ),
    http && h('code', { class: 'http' }, `${http[0]} → `, h('b', { class: http[1] > 399 && 'bad' }, http[1])),
    text && h('p', { class: 'text' }, text),
  );

/** The distance of two marks of which none covers the other, and that of two renewals which have a mark each. */
const [APART, LOOSE] = [14, 18];

/**
 * The events as marks. A renewal that is close to others is a line, except the newest. A replay that would cover the mark
 * before it is beside it, and one that would cover another replay has no mark. The list says how many there were.
 */
function marksOf(events, x) {
  const newest = events.findLast(({ kind }) => kind === 'renewed');
  const others = events.filter(({ kind }) => kind !== 'renewed');
  const marks = [];
  for (const { at, kind } of others) {
    const last = marks.at(-1);
    const free = last ? Math.max(x(at), last.at + APART) : x(at);
    if (kind === 'ended' && last?.kind === 'replayed' && free > x(at)) marks.pop();
    if (kind !== 'replayed' || last?.kind !== kind || free === x(at))
      marks.push({ at: kind === 'ended' ? x(at) : free, kind });
  }
  const isFree = (event, apart) =>
    marks.every(({ at }) => Math.abs(at - x(event.at)) >= APART) &&
    events.every(
      (other) => other === event || other.kind !== 'renewed' || Math.abs(x(other.at) - x(event.at)) >= apart,
    );
  const rings = events.filter((event) => event.kind === 'renewed' && isFree(event, event === newest ? 0 : LOOSE));
  return [...rings.map(({ at, kind }) => ({ at: x(at), kind })), ...marks].toSorted((a, b) => a.at - b.at);
}

/**
 * The numbers of the tokens that were replaced: `4`. Neighbours that are too narrow share one, at their end: `5–9`.
 *
 * @param edges where each token begins, and where the last one ends
 * @returns `[label, from, to]`
 */
function numbersOf(edges) {
  const label = (from, to) => (from === to ? `${to + 1}` : `${from + 1}–${to + 1}`);
  const fits = (from, to) => edges[to + 1] - edges[from] - DIGIT * label(from, to).length > EDGES;
  const numbers = [];
  for (let [from, to] = [0, edges.length - 2]; to >= 0; to = from - 1) {
    from = to;
    if (!fits(to, to)) while (from > 0 && !fits(from - 1, from - 1)) from--;
    // One that is wide keeps its own.
    while (from > 0 && !fits(from, to) && edges[from] - edges[from - 1] < OWN) from--;
    if (fits(from, to)) numbers.unshift([label(from, to), edges[from], edges[to + 1]]);
  }
  return numbers;
}

/** How long something still lasts: `14:57`, and from an hour on `12 hours`. */
const clockOf = (ms) => {
  const rest = Math.max(0, Math.round(ms / SECOND));
  if (rest >= 3600) return duration(rest);
  return `${Math.floor(rest / 60)}:${String(rest % 60).padStart(2, '0')}`;
};

/**
 * The session and what happened to it, its access token, its refresh tokens, and the grace time of the last one that was
 * replaced. All lanes have one scale, which is linear after the first seconds. What lasts longer than the drawing has no edge at its end.
 *
 * @param width the width of the drawing
 */
function drawing({ events, issued, expiresAt, endsAt, ended }, width) {
  const [reused, refused] = ['reused', 'refused'].map((kind) => events.find((event) => event.kind === kind));
  const now = Math.max(ended ?? Date.now(), events[0].at + 1);
  const grace = canReplay ? config.graceSeconds * SECOND : 0;
  const last = issued.at(-1);
  const graceEnd = issued.length > 1 ? last + grace : 0;

  const isWide = width >= WIDE;
  const left = isWide ? LABELS : EDGE;
  const right = width - EDGE - (isWide && !ended ? VALUES : 0);
  const first = Math.max(events[0].at, now - LONGEST);
  const end = Math.max(
    now + (now - first) / 6,
    ended ? now + SECOND : Math.max(first + SHORTEST, Math.min(graceEnd, now + AHEAD)),
  );
  const nowAt = left + Math.max(PAST, ((right - left) * (now - first)) / (end - first));
  const between = (at, from, to) => Math.min(Math.max((at - from) / (to - from), 0), 1);
  const x = (at) =>
    at < now ? left + (nowAt - left) * between(at, first, now) : nowAt + (right - nowAt) * between(at, now, end);

  const lanes = [t`Session`, t`Access token`, t`Refresh tokens`, grace && t`Grace time`].filter(Boolean);
  const middle = (i) => (isWide ? 28 + 34 * i : 39 + 46 * i);
  const bottom = middle(lanes.length - 1) + 30;
  /** Where the token begins that came back. It is the last one that was replaced, and is drawn above its neighbours. */
  const stolenAt = reused ? Math.max(left, Math.min(x(issued.at(-2)), x(last) - STOLEN)) : Infinity;
  const replaced = reused ? issued.slice(0, -1) : issued;
  const text = (at, y, content, props) => svg('text', { x: at, y, ...props }, content);
  const bar = (kind, from, to, lane, height = THIN) =>
    x(to) > x(from) &&
    svg('rect', {
      class: kind,
      x: x(from),
      y: middle(lane) - height / 2,
      width: x(to) - x(from),
      height,
      rx: 4,
      mask: to > end && 'url(#open)',
    });
  const numberIn = (label, from, to, lane) =>
    label.includes('–')
      ? [
          svg('rect', { class: 'past', x: from, y: middle(lane) - THICK / 2, width: to - from, height: THICK, rx: 4 }),
          text((from + to) / 2, middle(lane) + 4.5, label, { class: 'number', 'text-anchor': 'middle' }),
        ]
      : text(from + Math.min((to - from - DIGIT * label.length) / 2, 6), middle(lane) + 4.5, label, {
          class: 'number',
        });
  /** The bar of a refresh token, with its number, which is beside it where it has no place. */
  const token = (kind, from, to, lane, number) => [
    bar(kind, from, to, lane, THICK),
    x(to) - x(from) - DIGIT * String(number).length > EDGES
      ? numberIn(String(number), x(from), x(to), lane)
      : !ended && text(x(to) + 6, middle(lane) + 4.5, number, { class: `number of-${kind}` }),
  ];
  /** The token that came back, and the same number beside the mark of its return. */
  const stolen = () => {
    const size = Math.max(STOLEN, x(last) - stolenAt);
    const number = (at, lane, anchor) =>
      text(at, middle(lane) + 4.5, issued.length - 1, { class: 'number stolen', 'text-anchor': anchor });
    const place = { x: stolenAt, y: middle(2) - THICK / 2, width: size, height: THICK, rx: 4 };
    return [
      svg('rect', { class: 'past reused', ...place }),
      number(stolenAt + size / 2, 2, 'middle'),
      number(x(now) + 12, lanes.length - 1, 'start'),
    ];
  };
  /** What is still to come, until a time or the end of the session, and how long that is. */
  const ahead = (kind, until, lane, height) => [
    !ended && bar(kind, now, until, lane, height),
    !ended &&
      isFinite(until) &&
      until > now &&
      text(width - EDGE, middle(lane) + (isWide ? 4.5 : -17), t`${clockOf(until - now)} left`, {
        class: 'value',
        'text-anchor': 'end',
      }),
  ];
  /** A lane has a line where it has nothing else. */
  const untils = [ended ? now : endsAt, expiresAt, ended ? Infinity : endsAt, graceEnd && !ended ? graceEnd : now].map(
    x,
  );
  const track = (i, x1, x2) => x1 < x2 && svg('line', { class: 'track', x1, x2, y1: middle(i), y2: middle(i) });
  const nowText = ended ? x(now) - TIME : x(now) - HALF_NOW;
  /** Between the labels that are above the lanes. */
  const linesOfNow = isWide ? [[12, bottom - 16]] : lanes.map((_, i) => [middle(i) - 12, middle(i) + 14]);
  const marks = marksOf(
    // Those of a replay that ended the session are in the lanes of its tokens.
    events.filter((event) => event.at >= first && event !== reused && event !== refused),
    x,
  );

  return svg(
    'svg',
    { class: 'life', height: bottom + 14, 'aria-hidden': 'true' },
    svg(
      'linearGradient',
      { id: 'fade', gradientUnits: 'userSpaceOnUse', x1: x(now), x2: right },
      svg('stop', { offset: 0.3, 'stop-color': '#fff' }),
      svg('stop', { offset: 1, 'stop-color': '#fff', 'stop-opacity': 0 }),
    ),
    svg(
      'mask',
      { id: 'open', maskUnits: 'userSpaceOnUse', x: 0, y: 0, width, height: bottom },
      svg('rect', { width, height: bottom, fill: 'url(#fade)' }),
    ),
    lanes.flatMap((label, i) => [
      track(i, left, nowAt),
      track(i, Math.max(nowAt, untils[i]), right),
      isWide ? text(EDGE + 2, middle(i) + 4.5, label) : text(EDGE, middle(i) - 17, label),
    ]),
    linesOfNow.map(([y1, y2]) => svg('line', { class: 'now', x1: x(now), x2: x(now), y1, y2 })),
    bar('token session', first, now, 0),
    ahead('ahead', endsAt, 0),
    bar('token', last, now, 1),
    ended ? bar('lost', now, expiresAt, 1) : ahead('ahead', expiresAt, 1),
    replaced.slice(0, -1).map((from, i) => bar('past', from, issued[i + 1], 2, THICK)),
    numbersOf(replaced.map((at) => Math.min(x(at), stolenAt))).flatMap(([label, from, to]) =>
      numberIn(label, from, to, 2),
    ),
    token('token', last, now, 2, issued.length),
    reused && stolen(),
    ended ? bar('lost', now, Infinity, 2, THICK) : ahead('ahead', endsAt, 2, THICK),
    // A token before the last one has none any more.
    graceEnd > 0 && token('grace', last, Math.min(graceEnd, now), 3, issued.length - 1),
    grace > 0 && ahead('grace-ahead', graceEnd, 3, THICK),
    refused && mark('refused', { x: x(now), y: middle(1), overflow: 'visible' }),
    reused && mark('reused', { x: x(now), y: middle(lanes.length - 1), overflow: 'visible' }),
    reused &&
      text(right, isWide ? 14 : middle(0) - 17, t`Replay → refused → ended`, { class: 'chain', 'text-anchor': 'end' }),
    nowText > left + TIME && text(left, bottom, clock.format(first)),
    ended
      ? text(x(now), bottom, clock.format(now), { 'text-anchor': 'end' })
      : text(Math.max(x(now), HALF_NOW), bottom, t`now`, { 'text-anchor': 'middle' }),
    // Each renewal stays visible where its mark has no place.
    issued
      .slice(1)
      .filter((at) => at > first && !marks.some((one) => Math.abs(one.at - x(at)) < 1))
      .map((at) => svg('line', { class: 'tick', x1: x(at), x2: x(at), y1: middle(0) - 3, y2: middle(0) + 3 })),
    marks.map(({ at, kind }) => mark(kind, { x: at, y: middle(0), overflow: 'visible' })),
  );
}

/** What the colours of the drawing mean: those that it has. Its marks are explained by the list of the events. */
function legend({ events, issued, ended }) {
  const isStolen = events.some(({ kind }) => kind === 'reused');
  return h(
    'ul',
    { class: 'legend', 'aria-label': t`Legend` },
    swatch('valid', t`valid`),
    !ended && swatch('ahead', t`time left`),
    issued.length > (isStolen ? 2 : 1) && swatch('past', t`replaced`),
    isStolen && swatch('stolen', t`replayed too late`),
    issued.length > 1 && canReplay && config.graceSeconds > 0 && swatch('grace', t`still accepted`),
    ended && swatch(events.at(-1).reason === 'ended' ? 'refused' : 'lost', t`refused`),
  );
}

/** The life of the session as a drawing and as a list, with elements between both. It follows until the user leaves the view. */
export function timeline(left, ...between) {
  const canvas = h('div');
  const meaning = h('div');
  const picture = h('div', { class: 'picture ink' }, canvas, meaning);
  const list = h('ol', { class: 'events' });
  const draw = () => canvas.replaceChildren(drawing(life(), picture.clientWidth || Math.min(innerWidth - 74, 600)));
  let shown = [];
  let count = 0;
  let [times, since] = [0, 0];
  /** Below an end that the user did not want: what was before it. */
  let before = null;
  const fold = () => {
    const events = h('ol', { class: 'events' }, ...list.children);
    before = h('li', { class: 'before' }, h('details', {}, h('summary', {}, t`Before that`), events));
    list.append(before);
  };
  const tell = () => {
    const { events } = life();
    // Another session has begun, in another tab.
    if (events !== shown) {
      list.replaceChildren();
      [shown, count, before] = [events, 0, null];
    }
    // One item has what happened again. Others stay: screen readers read only what is added.
    for (; count < events.length; count++) {
      const [event, last] = [events[count], events[count - 1]];
      times = last?.kind === event.kind && last.text === event.text ? times + 1 : 1;
      if (times > 1) list.lastChild.remove();
      else since = event.at;
      if (!before && (event.kind === 'reused' || event.reason === 'ended')) fold();
      list.insertBefore(item(event, times, since), before);
    }
    meaning.replaceChildren(legend(life()));
    draw();
  };
  tell();
  onLife(tell, { signal: left });
  // The width is known when the browser has placed the drawing. In the next frame: the drawing changes what is observed.
  const resizing = new ResizeObserver(() => requestAnimationFrame(draw));
  resizing.observe(picture);
  const ticking = setInterval(() => life().ended || draw(), SECOND);
  left.addEventListener('abort', () => {
    clearInterval(ticking);
    resizing.disconnect();
  });
  return [picture, ...between, h('div', { role: 'log', 'aria-label': t`What happened to the session` }, list)];
}
