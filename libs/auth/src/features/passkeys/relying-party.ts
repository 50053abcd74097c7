import { registrationOf, type settings } from '../../kit';

/** The origin of a native Android application: the SHA-256 hash of its signing certificate in base64 or base64url. */
const ANDROID = /^android:apk-key-hash:([\w+/-]{43})=?$/;

/** The options by which the origin of a response is checked. */
type Origins = Pick<settings.GuardConfig['passkeys'], 'origins' | 'relatedOrigins'>;

/** The origins that a response may have. That of an Android application is accepted with each spelling of its hash. Pure. */
export const acceptedOrigins = ({ origins, relatedOrigins }: Origins): string[] => [
  ...origins.flatMap((origin) => spellingsOf(ANDROID.exec(origin)?.[1]) ?? origin),
  ...relatedOrigins,
];

function spellingsOf(hash: string | undefined): string[] | null {
  if (hash === undefined) return null;
  const bytes = Buffer.from(hash, 'base64');
  const texts = [bytes.toString('base64url'), bytes.toString('base64').replace('=', '')];
  return texts.flatMap((text) => [text, `${text}=`]).map((text) => `android:apk-key-hash:${text}`);
}

const BACKUP_CHANGE: readonly unknown[] = ['refuse', 'accept'];

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

function errorsOfGuard({ passkeys }: settings.GuardConfig): string[] {
  const { rpId, origins, relatedOrigins, userVerification, backupChange } = passkeys;
  return [
    !rpId
      ? 'features.passkeys needs passkeys.rpId (SVC_PASSKEY_RP_ID). Set it to the domain that passkeys belong to, such as example.com.'
      : domainRefusal(rpId),
    !origins.length &&
      'features.passkeys needs passkeys.origins (SVC_PASSKEY_ORIGINS). Set it to the exact origins of your pages, such as https://app.example.com.',
    ...(rpId ? origins.map((origin) => originRefusal(origin, rpId)) : []),
    ...(rpId ? relatedOrigins.map((origin) => relatedRefusal(origin, rpId)) : []),
    !BACKUP_CHANGE.includes(backupChange) &&
      `passkeys.backupChange (SVC_PASSKEY_BACKUP_CHANGE) is "${backupChange}". Use refuse or accept.`,
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
  // The owner of one name below github.io must not be able to use the passkeys of all other names below it.
  const { hostname, isIp, publicSuffix, domain } = registrationOf(rpId);
  if (hostname === rpId && rpId === publicSuffix) {
    return `passkeys.rpId (SVC_PASSKEY_RP_ID) is "${rpId}", which is a public suffix: anyone can register a domain below it. Use your own domain.`;
  }
  if (hostname === rpId && !isIp && domain && isCanonical(rpId)) return null;
  return `passkeys.rpId (SVC_PASSKEY_RP_ID) is "${rpId}", which is not a domain. Use one in lower case without scheme, port or path, such as example.com, or localhost.`;
}

/** The URL of an exact origin that browsers send to a server; null for every other text. */
function pageOf(origin: string): URL | null {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  const secure = url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isLocalhost(url.hostname)));
  // The URL parser accepts an asterisk in a host name, but no browser sends one in an origin.
  return secure && url.origin === origin && !url.hostname.includes('*') ? url : null;
}

const isBelow = ({ hostname }: URL, rpId: string): boolean => hostname === rpId || hostname.endsWith(`.${rpId}`);

function originRefusal(origin: string, rpId: string): string | null {
  if (origin.startsWith('android:')) {
    return ANDROID.test(origin)
      ? null
      : `passkeys.origins (SVC_PASSKEY_ORIGINS) has "${origin}", which is not the origin of an Android application. Use android:apk-key-hash: and the SHA-256 hash of its signing certificate in base64url, of 43 characters.`;
  }
  const page = pageOf(origin);
  if (!page) {
    return `passkeys.origins (SVC_PASSKEY_ORIGINS) has "${origin}", which is not the exact origin of a page. Use scheme, host and port as browsers write them, such as https://app.example.com; http is allowed only for localhost.`;
  }
  if (isBelow(page, rpId)) return null;
  return `passkeys.origins (SVC_PASSKEY_ORIGINS) has "${origin}", whose host is neither passkeys.rpId "${rpId}" nor below it. Browsers would refuse it. If it is another site of yours, use passkeys.relatedOrigins (SVC_PASSKEY_RELATED_ORIGINS).`;
}

function relatedRefusal(origin: string, rpId: string): string | null {
  const page = pageOf(origin);
  if (page?.protocol !== 'https:') {
    return `passkeys.relatedOrigins (SVC_PASSKEY_RELATED_ORIGINS) has "${origin}", which is not the exact origin of a page with https. Use scheme, host and port as browsers write them, such as https://example.net.`;
  }
  return isBelow(page, rpId)
    ? `passkeys.relatedOrigins (SVC_PASSKEY_RELATED_ORIGINS) has "${origin}", whose host is passkeys.rpId "${rpId}" or below it. Move it to passkeys.origins (SVC_PASSKEY_ORIGINS).`
    : null;
}
