import { createRequire } from 'node:module';
import type { settings } from '../../kit';

const USER_VERIFICATION: readonly unknown[] = ['required', 'preferred', 'discouraged'];

/**
 * Returns the configuration errors of passkeys, each with its correction. Browsers refuse most of them only when a user
 * starts a ceremony, and a passkey of a wrong relying party can never be used with the right one.
 */
export function relyingPartyErrors({ guards }: settings.AuthConfig): string[] {
  // Extra guards have no passkeys.
  return guards
    .filter(({ isDefault }) => isDefault)
    .flatMap((guard) => (guard.features.passkeys ? errorsOfGuard(guard) : withoutPasskeys(guard)));
}

function errorsOfGuard({ passkeys: { rpId, origins, userVerification } }: settings.GuardConfig): string[] {
  return [
    !rpId
      ? 'features.passkeys needs passkeys.rpId (SVC_PASSKEY_RP_ID). Set it to the domain that passkeys belong to, such as example.com.'
      : domainRefusal(rpId),
    !origins.length &&
      'features.passkeys needs passkeys.origins (SVC_PASSKEY_ORIGINS). Set it to the exact origins of your pages, such as https://app.example.com.',
    ...(rpId ? origins.map((origin) => originRefusal(origin, rpId)) : []),
    !USER_VERIFICATION.includes(userVerification) &&
      `passkeys.userVerification (SVC_PASSKEY_UV) is "${userVerification}". Use required, preferred or discouraged.`,
  ].filter((text): text is string => typeof text === 'string');
}

/** Why an application must not start: it would take a passkey for two factors that is only one. */
export function verificationErrors({ guards }: settings.AuthConfig): string[] {
  return guards.flatMap(({ isDefault, features, passkeys, nameOf, twoFactor, confirm }) => {
    if (!isDefault || !features.passkeys || passkeys.userVerification === 'required') return [];
    const cure = 'Set passkeys.userVerification (SVC_PASSKEY_UV) to required.';
    return [
      twoFactor.required !== false &&
        `${nameOf('twoFactor.required')} (SVC_2FA_REQUIRED) is set, but a sign-in with a passkey is only one factor without user verification. ${cure}`,
      confirm.factors === 'all' &&
        `${nameOf('confirm.factors')} (SVC_CONFIRM_FACTORS) is "all", but a passkey is only one factor without user verification. ${cure}`,
    ].filter((text): text is string => typeof text === 'string');
  });
}

const withoutPasskeys = ({ passkeys: { required } }: settings.GuardConfig): string[] =>
  required
    ? [
        'passkeys.required is set, but features.passkeys is off, so it has no effect. Set features.passkeys to true, or remove passkeys.required.',
      ]
    : [];

const isLocalhost = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost');

/** Whether a domain is written as in the origin that a browser sends. */
const isCanonical = (rpId: string): boolean =>
  /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(rpId) &&
  URL.canParse(`https://${rpId}`) &&
  new URL(`https://${rpId}`).hostname === rpId;

function domainRefusal(rpId: string): string | null {
  if (rpId === 'localhost') return null;
  // Loaded only when passkeys are on, because it has a list of domains of about one megabyte.
  const { parse } = createRequire(__filename)('tldts') as typeof import('tldts');
  // Browsers use the whole public suffix list, including private domains: the owner of one name below github.io must
  // not be able to use the passkeys of all other names below it.
  const { hostname, isIp, publicSuffix, domain } = parse(rpId, { allowPrivateDomains: true });
  if (hostname === rpId && rpId === publicSuffix) {
    return `passkeys.rpId (SVC_PASSKEY_RP_ID) is "${rpId}", which is a public suffix: anyone can register a domain below it. Use your own domain.`;
  }
  if (hostname === rpId && !isIp && domain && isCanonical(rpId)) return null;
  return `passkeys.rpId (SVC_PASSKEY_RP_ID) is "${rpId}", which is not a domain. Use one in lower case without scheme, port or path, such as example.com, or localhost.`;
}

function originRefusal(origin: string, rpId: string): string | null {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  const secure = url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isLocalhost(url.hostname)));
  // The URL parser accepts an asterisk in a host name, but no browser sends one in an origin.
  if (!secure || url.origin !== origin || url.hostname.includes('*')) {
    return `passkeys.origins (SVC_PASSKEY_ORIGINS) has "${origin}", which is not the exact origin of a page. Use scheme, host and port as browsers write them, such as https://app.example.com; http is allowed only for localhost.`;
  }
  if (url.hostname === rpId || url.hostname.endsWith(`.${rpId}`)) return null;
  return `passkeys.origins (SVC_PASSKEY_ORIGINS) has "${origin}", whose host is neither passkeys.rpId "${rpId}" nor below it. Browsers would refuse it.`;
}
