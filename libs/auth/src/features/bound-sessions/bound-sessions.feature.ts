import { defineFeature, type settings } from '../../kit';
import { BOUND_SESSION_REASONS } from './bound-sessions.errors';
import { BOUND_SESSION_EVENTS } from './bound-sessions.events';
import { BOUND_SESSIONS_OPTIONS } from './bound-sessions.options';
import { Proofs } from './proofs';
import { BoundTokenGate } from './require-bound-token';
import { BoundSessions, DPOP } from './token-binding';

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof BOUND_SESSION_REASONS> {}
}

const isAddress = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, search, hash, username } = new URL(text);
  return /^https?:$/.test(protocol) && !search && !hash && !username;
};

function addressErrors({ features, boundSessions, nameOf }: settings.GuardConfig, production: boolean): string[] {
  if (!features.boundSessions) return [];
  const { mode, addresses } = boundSessions;
  const option = `${nameOf('boundSessions.addresses')} (SVC_BOUND_SESSIONS_ADDRESSES)`;
  return [
    ...(['allow', 'require'].includes(mode)
      ? []
      : [`${nameOf('boundSessions.mode')} (SVC_BOUND_SESSIONS_MODE) must be "allow" or "require".`]),
    ...(production && !addresses.length
      ? [`${option} is missing. List the addresses under which clients reach the application: https://api.example.com.`]
      : []),
    ...addresses
      .filter((address) => !isAddress(address))
      .map((address) => `${option} has "${address}", which is no address such as https://api.example.com.`),
  ];
}

/** Sessions whose tokens are of no use without a key of the client. */
export const boundSessions = defineFeature('boundSessions', {
  flags: ['boundSessions'],
  reasons: BOUND_SESSION_REASONS,
  languages: () =>
    (require('./bound-sessions.languages') as typeof import('./bound-sessions.languages')).boundSessionsLanguages,
  options: BOUND_SESSIONS_OPTIONS,
  configErrors: ({ guards }, production) => guards.flatMap((guard) => addressErrors(guard, production)),
  events: BOUND_SESSION_EVENTS,
  providers: [Proofs, BoundSessions],
  on: { tokenBinding: DPOP },
});

/** What routes of the host need, also where the feature is off: `@RequireBoundToken()` says then that it is. */
export const boundTokens = defineFeature('boundTokens', { providers: [BoundTokenGate] });
