import { place } from './auth.js';
import { config } from './config.js';
import { h } from './dom.js';
import { canReplay } from './life.js';

/** What to try on this page: `[what, what then happens]`. */
const TRIALS = [
  ['Sign in with the demo account.', 'The page draws the life of your session while it happens.'],
  canReplay && [
    'Replay an old refresh token.',
    `For ${config.graceSeconds} seconds that is harmless. Later it is theft, and the session ends.`,
  ],
  place !== 'memory' && ['Open a second tab.', 'Both share the session, and only one of them renews it.'],
  ['End a session from somewhere else.', 'Its next request is refused, however long its token would have lived.'],
  ['Order tea with a token that may only read.', 'The server refuses, and says what the token lacks.'],
].filter(Boolean);

/** What this page is, for visitors who are not signed in. */
export const intro = () => [
  h('h2', { id: 'intro-heading' }, 'Token authentication for NestJS'),
  h(
    'p',
    {},
    'Sessions that rotate, revoke and fail closed: a stolen refresh token ends its session, and an ended session is refused at once.',
  ),
  h(
    'p',
    {},
    'This page is an ordinary client of a server with ',
    h('strong', {}, '@svc/auth'),
    '. Nothing is simulated.',
  ),
  h(
    'ul',
    { class: 'links' },
    productLinks().map((link) => h('li', {}, link)),
  ),
];

/** The way to the library. */
export const productLinks = () => [
  h('a', { href: config.quickStart }, 'Quick start'),
  h('a', { href: config.source }, 'Source'),
];

export const trials = () => [
  h('h3', {}, 'Try this'),
  h(
    'ol',
    { class: 'trials' },
    TRIALS.map(([what, then]) => h('li', {}, h('strong', {}, what), ' ', then)),
  ),
];
