import { createRequire } from 'node:module';
import type { AuthConfig, GuardConfig } from './auth-config';

const USER_VERIFICATION: readonly unknown[] = ['required', 'preferred', 'discouraged'];

/**
 * Why passkeys must not start as they are configured, each with its cure. Browsers refuse most of it too, but one
 * user at a time; and a passkey of a wrong relying party can never be used with the right one.
 */
export function relyingPartyRefusals({ guards }: AuthConfig): string[] {
  // The extra guards have no passkeys.
  return guards
    .filter(({ isDefault }) => isDefault)
    .flatMap((guard) => (guard.features.passkeys ? ofOne(guard) : unasked(guard)));
}

function ofOne({ passkeys: { rpId, origins, userVerification } }: GuardConfig): string[] {
  return [
    !rpId
      ? 'features.passkeys needs passkeys.rpId (SVC_PASSKEY_RP_ID): the domain that passkeys belong to, such as example.com.'
      : domainRefusal(rpId),
    !origins.length &&
      'features.passkeys needs passkeys.origins (SVC_PASSKEY_ORIGINS): the exact origins of your pages, such as https://app.example.com.',
    ...(rpId ? origins.map((origin) => originRefusal(origin, rpId)) : []),
    !USER_VERIFICATION.includes(userVerification) &&
      `passkeys.userVerification (SVC_PASSKEY_UV) is "${userVerification}". Use required, preferred or discouraged.`,
  ].filter((text): text is string => typeof text === 'string');
}

const unasked = ({ passkeys: { required } }: GuardConfig): string[] =>
  required
    ? [
        'passkeys.required is set, but features.passkeys is off, so nobody would be asked. Switch it on, or leave it out.',
      ]
    : [];

const isLocal = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost');

/** Whether a domain is spelled as it stands in a browser's origin. */
const isWritten = (rpId: string): boolean =>
  /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(rpId) &&
  URL.canParse(`https://${rpId}`) &&
  new URL(`https://${rpId}`).hostname === rpId;

function domainRefusal(rpId: string): string | null {
  if (rpId === 'localhost') return null;
  // With a megabyte of domains, so not before there are passkeys to check.
  const { parse } = createRequire(__filename)('tldts') as typeof import('tldts');
  // The whole list, as browsers read it: whoever rents a name below github.io must not get the passkeys of all.
  const { hostname, isIp, publicSuffix, domain } = parse(rpId, { allowPrivateDomains: true });
  if (hostname === rpId && rpId === publicSuffix) {
    return `passkeys.rpId (SVC_PASSKEY_RP_ID) is "${rpId}", under which anyone may register a domain. Use your own domain.`;
  }
  if (hostname === rpId && !isIp && domain && isWritten(rpId)) return null;
  return `passkeys.rpId (SVC_PASSKEY_RP_ID) is "${rpId}", which is no domain. Use one in lower case without scheme, port or path, such as example.com, or localhost.`;
}

function originRefusal(origin: string, rpId: string): string | null {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  const secure = url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal(url.hostname)));
  // The parser takes an asterisk for a letter; nobody's browser is ever there.
  if (!secure || url.origin !== origin || url.hostname.includes('*')) {
    return `passkeys.origins (SVC_PASSKEY_ORIGINS) has "${origin}", which is not the exact origin of a page. Use scheme, host and port as browsers write them, such as https://app.example.com; http is for localhost.`;
  }
  if (url.hostname === rpId || url.hostname.endsWith(`.${rpId}`)) return null;
  return `passkeys.origins (SVC_PASSKEY_ORIGINS) has "${origin}", whose host is neither passkeys.rpId "${rpId}" nor below it. Browsers would refuse it.`;
}
