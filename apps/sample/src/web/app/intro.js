import { place } from './auth.js';
import { config } from './config.js';
import { h } from './dom.js';
import { copyButton } from './feedback.js';
import { nodes, t } from './language.js';
import { canReplay } from './life.js';

/** What to try on this page: `[what, what then happens]`. */
const TRIALS = [
  [t`Sign in with the demo account.`, t`The page draws the life of your session while it happens.`],
  canReplay && [
    t`Replay an old refresh token.`,
    t`For ${config.graceSeconds} seconds that is harmless. Later it is theft, and the session ends.`,
  ],
  place !== 'memory' && [t`Open a second tab.`, t`Both share the session, and only one of them renews it.`],
  [t`End a session from somewhere else.`, t`Its next request is refused, however long its token would have lived.`],
  [t`Order tea with a token that may only read.`, t`The server refuses, and says what the token lacks.`],
].filter(Boolean);

/** What an application adds: the package, the module, and a route that needs a session. */
const SETUP = [
  ['npm', 'npm install @svc/auth'],
  ['app.module.ts', 'AuthModule.forRoot({\n  ...authOptionsFromEnv(),\n  users: { entity: User },\n})'],
  ['orders.controller.ts', '@Authenticated()\n@Get()\nlist(@CurrentUser() user: User) {}'],
];

/** Code with the names of decorators and classes in colour. */
const coloured = (code) =>
  code.split(/(@?\b[A-Z]\w*)/).map((part, i) => (i % 2 ? h('b', { class: part[0] === '@' && 'at' }, part) : part));

/** What a colour of a drawing means. */
export const swatch = (kind, text) => h('li', {}, h('span', { class: `swatch ${kind}`, 'aria-hidden': 'true' }), text);

/** What this page is, for visitors who are not signed in. */
export const intro = () => [
  h('h2', { id: 'intro-heading' }, t`Rotating, revocable sessions that fail closed`),
  h(
    'p',
    {},
    nodes`Token authentication for NestJS. This page is ${h('strong', {}, config.appName)}, a sample application on a server with ${h('strong', {}, '@svc/auth')}. Nothing is simulated.`,
  ),
  h(
    'figure',
    { class: 'ink' },
    h(
      'ul',
      { class: 'lanes' },
      [t`Session`, t`Access token`, t`Refresh tokens`, t`Grace time`].map((lane) => h('li', {}, lane)),
    ),
    h('img', { src: '/web/life.svg', alt: '', width: 380, height: 112 }),
    h(
      'ul',
      { class: 'legend' },
      swatch('valid', t`valid`),
      swatch('past', t`replaced`),
      swatch('grace', t`still accepted`),
      swatch('stolen', t`replayed too late`),
      swatch('refused', t`refused`),
    ),
    h('figcaption', { class: 'note' }, t`Refresh token 3 comes back after its grace time: the session ends at once.`),
  ),
  h(
    'dl',
    { class: 'setup ink' },
    SETUP.map(([file, code]) =>
      h(
        'div',
        {},
        h('dt', {}, file),
        h(
          'dd',
          {},
          h('code', {}, coloured(code)),
          copyButton(t`Copy`, code, { class: 'quiet', 'aria-label': t`Copy ${file}` }),
        ),
      ),
    ),
  ),
  h(
    'ul',
    { class: 'links' },
    productLinks().map((link) => h('li', {}, link)),
  ),
];

/** The way to the library. */
export const productLinks = () => [
  h('a', { href: config.quickStart }, t`Quick start`),
  h('a', { href: config.source }, t`Source`),
];

/** What the visitor has not done in the last session. */
export function trials({ events, ended }) {
  const done = ended ? 1 + events.some(({ kind }) => /^re[pu]/.test(kind)) : 0;
  return [
    h('h3', {}, done ? t`Try next` : t`Try this`),
    h(
      done ? 'ul' : 'ol',
      { class: 'trials' },
      TRIALS.slice(done).map(([what, then]) => h('li', {}, h('strong', {}, what), ' ', then)),
    ),
  ];
}
