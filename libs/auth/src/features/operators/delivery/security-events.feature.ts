import { defineFeature, type settings } from '../../../kit';
import { CreateSvcSecurityEvents1765000000000, SecurityEventRow } from './security-event.entity';
import { SecurityEventDelivery } from './security-event-delivery';
import { SecurityEventStore } from './security-event.store';
import { SECURITY_EVENTS_OPTIONS, type SecurityEventReceiver } from './security-events.options';

/** Why a receiver must not be used, with the correction; null for one that can. The text contains no URL: it may have a password. */
function receiverFault(
  { name, endpoint, audience }: SecurityEventReceiver,
  isProduction: boolean,
  { audience: own }: settings.GuardConfig,
): string | null {
  if (!name || !audience) return 'needs a name and an audience: { name, endpoint, audience }';
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (!url || !/^https?:$/.test(url.protocol)) return 'needs an endpoint, such as https://events.example.com/push';
  if (url.username || url.password) return 'has a password in its endpoint. Set authorization instead';
  if (isProduction && url.protocol !== 'https:') return 'has an http endpoint. Production requires https';
  // A verifier that does not check `typ` would take the token for an access token.
  return own.includes(audience) ? 'has an audience of access tokens. Give it one of its own' : null;
}

function receiverErrors(guard: settings.GuardConfig, isProduction: boolean): string[] {
  const { features, algorithm, nameOf, securityEvents } = guard;
  if (!features.securityEventTokens) return [];
  const [option, receivers] = [nameOf('securityEvents.receivers'), [...securityEvents.receivers]];
  const names = receivers.map(({ name }) => name);
  const faults = receivers.map((receiver) => receiverFault(receiver, isProduction, guard));
  return [
    algorithm === 'HS256' &&
      `features.securityEventTokens needs an algorithm with public keys, with which receivers verify. Set ${nameOf('algorithm')} (SVC_ALGORITHM) to ES256 or RS256, with keys of: npx svc-auth keygen. Or turn it off for the guard "${guard.guard}".`,
    !receivers.length && `features.securityEventTokens needs ${option}. Set it to [{ name, endpoint, audience }].`,
    new Set(names).size < names.length && `${option} has two receivers of one name. Give each its own.`,
    ...faults.map((fault, i) => fault !== null && `${option}[${i}] ${fault}.`),
  ].filter((text): text is string => typeof text === 'string');
}

/** Security Event Tokens for other systems. */
export const securityEvents = defineFeature('securityEvents', {
  flags: ['securityEventTokens'],
  options: SECURITY_EVENTS_OPTIONS,
  page: 'operators.md',
  configErrors: ({ guards, verifyOnly }, isProduction) =>
    // A service that only verifies may have the environment of an issuer.
    verifyOnly ? [] : [...new Set(guards.flatMap((guard) => receiverErrors(guard, isProduction)))],
  providers: [SecurityEventDelivery],
  on: { hasUndelivered: (services) => services.get(SecurityEventStore).hasDead() },
  data: {
    entities: [{ entity: SecurityEventRow, migration: CreateSvcSecurityEvents1765000000000 }],
    stores: [SecurityEventStore],
    // Receivers must still learn that the sessions of a deleted account have ended. A row is deleted when its receiver has it.
    erase: [],
    prune: {
      securityEvents: { title: 'security events', run: (services) => services.get(SecurityEventStore).prune() },
    },
  },
});
