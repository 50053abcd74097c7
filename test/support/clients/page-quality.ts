import type { BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';
import { PHONE, overflowOf, violationsIn } from './accessibility';
import { inFirefox } from './browser';

/** How pages are looked at. Firefox has no dark mode here: see `skipMediaFeatures`. */
export const LOOKS: readonly [name: string, options: BrowserContextOptions][] = [
  ['light', { colorScheme: 'light', viewport: { width: 1280, height: 800 } }],
  ['dark', { colorScheme: 'dark', viewport: { width: 1280, height: 800 } }],
  ['360 pixels wide', { colorScheme: 'light', viewport: PHONE }],
].filter(([name]) => !inFirefox || name !== 'dark') as never;

/** What the bodies of all answers since the last navigation may weigh, in bytes, as they were sent. */
export interface Budget {
  pictures: number;
  others: number;
}

/** What the checks themselves cause in a frame without scripts, such as that of a mail: an init script, and the messages of axe. */
const CAUSED_BY_CHECKS = /frame is sandboxed and the 'allow-scripts'|recipient window's origin \('null'\)/;

/** A smaller shift of what is already shown goes unnoticed (Core Web Vitals: Cumulative Layout Shift). */
const LARGEST_SHIFT = 0.1;

const SHORTEST_DESCRIPTION = 50;

/**
 * Collects the layout shifts until the user does something. After that, a slow answer to what the user did would count as a
 * shift that the user did not cause. Only Chromium reports them.
 */
const COLLECT_SHIFTS = `
  globalThis.layoutShifts = [];
  if (PerformanceObserver.supportedEntryTypes.includes('layout-shift')) {
    const observer = new PerformanceObserver((list) => {
      for (const { value, startTime } of list.getEntries()) layoutShifts.push({ value, startTime });
    });
    observer.observe({ type: 'layout-shift', buffered: true });
    for (const event of ['pointerdown', 'keydown'])
      addEventListener(event, () => observer.disconnect(), { capture: true, once: true });
  }`;

/**
 * Begins to record which controls the keyboard reaches, and which of them look the same with the focus. The focus starts
 * at an element before all others.
 */
const RECORD_FOCUS = `(() => {
  const start = document.createElement('span');
  start.tabIndex = -1;
  document.body.prepend(start);
  start.focus();
  // A control that is drawn by its label.
  const shown = (element) => (getComputedStyle(element).opacity === '0' && element.labels?.[0]) || element;
  const look = (element) => {
    const { outlineStyle, outlineWidth, boxShadow, backgroundColor, borderColor, color, textDecorationLine } = getComputedStyle(shown(element));
    return [outlineStyle, outlineStyle !== 'none' && outlineWidth, boxShadow, backgroundColor, borderColor, color, textDecorationLine].join();
  };
  // Tab reaches the chosen one of radio buttons; the arrow keys reach the others.
  const isLeftToArrows = ({ type, name, checked }) =>
    type === 'radio' && !checked && [...document.getElementsByName(name)].some((other) => other.checked);
  const controls = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')].filter(
    (element) => element.tabIndex >= 0 && !element.disabled && !isLeftToArrows(element) && element.checkVisibility({ visibilityProperty: true }) && !element.closest('[inert]'),
  );
  const before = new Map(controls.map((element) => [element, look(element)]));
  const unreached = new Set(controls);
  // A toast ends by itself, and its button with it.
  const left = () => [...unreached].filter((element) => element.isConnected);
  const same = new Set();
  const show = ({ target }) => {
    unreached.delete(target);
    const { width, height } = shown(target).getBoundingClientRect();
    if (before.get(target) === look(target) || width * height < 2) same.add(target);
  };
  document.addEventListener('focusin', show);
  const names = (elements) => [...elements].map((element) => element.outerHTML.slice(0, 120));
  globalThis.recordedFocus = {
    left: () => left().length,
    end: () => {
      document.removeEventListener('focusin', show);
      start.remove();
      return { unreached: names(left()), same: names(same) };
    },
  };
  return controls.length;
})()`;

const HEAD = `(() => {
  const named = (name) => document.querySelector('meta[name=' + name + ']')?.content ?? '';
  return {
    isStandard: document.doctype?.name === 'html' && document.compatMode === 'CSS1Compat',
    lang: document.documentElement.lang,
    title: document.title,
    description: named('description'),
    viewport: named('viewport'),
  };
})()`;

const IMAGES = `[...document.images]
  .filter((image) => !image.hasAttribute('alt') || !image.getAttribute('width') || !image.getAttribute('height'))
  .map((image) => image.outerHTML.slice(0, 200))`;

/** What is checked, each with the faults that it finds. */
const CHECKS: Readonly<Record<string, (seen: ObservedPage, budget: Budget) => Promise<string[]> | string[]>> = {
  'accessibility, with targets of 24 pixels': ({ page }) => violationsIn(page),
  width: ({ page }) => overflowOf(page),
  'doctype, language, title, description, viewport': async ({ page }) => {
    const head = await page.evaluate<
      Record<'lang' | 'title' | 'description' | 'viewport', string> & { isStandard: boolean }
    >(HEAD);
    return [
      !head.isStandard && 'no doctype',
      !/^[a-z]{2}\b/.test(head.lang) && 'no language',
      !head.title && 'no title',
      head.description.length < SHORTEST_DESCRIPTION && `short description: "${head.description}"`,
      (!head.viewport.includes('width=device-width') || /maximum-scale|user-scalable/.test(head.viewport)) &&
        `viewport: "${head.viewport}"`,
    ].filter((fault) => fault !== false);
  },
  'images with dimensions and a text': ({ page }) => page.evaluate<string[]>(IMAGES),
  'shift of the layout': async ({ page }) => {
    const shifts = await page.evaluate<{ value: number; startTime: number }[]>('layoutShifts');
    const largest = largestWindow(shifts);
    return largest < LARGEST_SHIFT ? [] : [largest.toFixed(3)];
  },
  'reached by the keyboard, with a visible focus': async ({ page }) => {
    const count = await page.evaluate<number>(RECORD_FOCUS);
    // Scrollable regions also take the focus.
    for (let pressed = 0; pressed < count * 2 + 20; pressed++) {
      if (pressed >= count && (await page.evaluate<number>('recordedFocus.left()')) === 0) break;
      await page.keyboard.press('Tab');
    }
    const { unreached, same } = await page.evaluate<Record<'unreached' | 'same', string[]>>('recordedFocus.end()');
    return [
      ...unreached.map((control) => `not reached: ${control}`),
      ...same.map((control) => `invisible: ${control}`),
    ];
  },
  'transferred size': async (seen, budget) => {
    const { pictures, others } = await seen.transferred();
    return [
      pictures > budget.pictures && `${pictures} bytes of pictures`,
      others > budget.others && `${others} bytes without pictures`,
    ].filter((fault) => fault !== false);
  },
  'console without errors and warnings': ({ reports }) => reports,
  'no request to another host': ({ elsewhere }) => elsewhere,
};

/** The names of the checks. Firefox cannot do two of them. */
export const CHECK_NAMES: readonly string[] = Object.keys(CHECKS).filter(
  (name) => !inFirefox || !/^(accessibility|shift)/.test(name),
);

/** The largest sum of shifts within five seconds, with less than one second between two of them. */
function largestWindow(shifts: readonly { value: number; startTime: number }[]): number {
  let [largest, sum, first, last] = [0, 0, -Infinity, -Infinity];
  for (const { value, startTime } of shifts) {
    if (startTime - last >= 1000 || startTime - first >= 5000) [sum, first] = [0, startTime];
    last = startTime;
    sum += value;
    largest = Math.max(largest, sum);
  }
  return largest;
}

/** A page that is observed from its first request. */
export class ObservedPage {
  /** Errors and warnings of the console, and errors that nobody caught. */
  readonly reports: string[] = [];
  /** The requests to other hosts. */
  readonly elsewhere: string[] = [];
  /** Of the document that is shown. */
  private transfers: Promise<{ isPicture: boolean; bytes: number }>[] = [];

  private constructor(readonly page: Page) {}

  /** @param expected what the console may report, because the test causes it */
  static async open(context: BrowserContext, origin: string, expected?: RegExp): Promise<ObservedPage> {
    const page = await context.newPage();
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.addInitScript(COLLECT_SHIFTS);
    const seen = new ObservedPage(page);
    page.on('pageerror', ({ message }) => seen.reports.push(message));
    page.on('console', (message) => {
      const text = message.text();
      if (['error', 'warning'].includes(message.type()) && !expected?.test(text) && !CAUSED_BY_CHECKS.test(text))
        seen.reports.push(text);
    });
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) seen.transfers = [];
      if (!/^(data|blob):$/.test(url.protocol) && url.origin !== origin) seen.elsewhere.push(url.href);
    });
    page.on('requestfinished', (request) => {
      const transfer = transferOf(request);
      // Only a test that asks for the sizes fails: not each test of the page whose last request ends as it is closed.
      transfer.catch(() => undefined);
      seen.transfers.push(transfer);
    });
    return seen;
  }

  async transferred(): Promise<Budget> {
    const all = await Promise.all(this.transfers);
    const sum = (ofPictures: boolean) =>
      all.filter(({ isPicture }) => isPicture === ofPictures).reduce((total, { bytes }) => total + bytes, 0);
    return { pictures: sum(true), others: sum(false) };
  }

  /** What is wrong with the page as it is now. */
  async faults(budget: Budget): Promise<string[]> {
    const found: string[] = [];
    for (const [name, check] of Object.entries(CHECKS))
      found.push(...(await check(this, budget)).map((fault) => `${name}: ${fault}`));
    return found;
  }
}

async function transferOf(request: Request): Promise<{ isPicture: boolean; bytes: number }> {
  const response = await request.response();
  const isPicture = response?.headers()['content-type']?.startsWith('image/') ?? false;
  return { isPicture, bytes: request.url().startsWith('data:') ? 0 : (await request.sizes()).responseBodySize };
}
