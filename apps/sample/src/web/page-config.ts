import type { PublicGuardConfig } from '@svc/auth';
import library from '../../../../libs/auth/package.json';
import { DEMO } from '../dev/demo-accounts';
import { PROVIDER } from '../auth.options';
import { isProduction } from '../dev/development';
import type { Environment } from '../environment';

/** The repository, as the package of the library names it. */
export const SOURCE = library.repository.url.replace(/^git\+|\.git$/g, '');
export const QUICK_START = `${SOURCE}/blob/main/docs/quick-start.md`;

/** The features that the page has a view or a button for. */
const SHOWN = [
  'accessKeys',
  'accountDeletion',
  'audit',
  'changePassword',
  'conditionalCreate',
  'emailChange',
  'emailCode',
  'emailVerification',
  'knownDevices',
  'logoutAll',
  'passkeyRegistration',
  'passkeys',
  'passwordReset',
  'registration',
  'twoFactor',
] as const;

/** Token of a function that returns the settings: the library has its options when the application is initialized. */
export const PAGE_CONFIG = Symbol('page config');

/** The settings that the page needs from the server, as JSON at `/web/config`. Every client can read them. */
export class PageConfig {
  readonly appName: string;
  /** Where the source and the first page of the documentation of the library are. */
  readonly source = SOURCE;
  readonly quickStart = QUICK_START;
  /** Whether the refresh token is in a cookie. Otherwise the page stores it. */
  readonly cookieMode: boolean;
  /** How long an old refresh token is still accepted. */
  readonly graceSeconds: number;
  /** The life of a session that is not to outlive the browser; 0 if there is no such choice. */
  readonly secondsWithoutRemember: number;
  readonly hasIdleTimeout: boolean;
  /** How long a device is trusted after a second factor; 0 if none is. */
  readonly trustedDeviceDays: number;
  /** How long a change of the email can be undone. */
  readonly undoDays: number;
  /** The longest life of an access key in days; 0 for no limit. */
  readonly accessKeyDays: number;
  /** Whether a sign-in with a passkey alone counts as two factors. */
  readonly passkeysVerifyUsers: boolean;
  readonly confirmationHeader: string;
  readonly features: Readonly<Record<string, boolean>>;
  /** The origins at which passkeys work. */
  readonly passkeyOrigins: readonly string[];
  /** Whether the API is documented at `/docs`. */
  readonly docs: boolean;
  /** Whether mails are shown at `/mailbox`. */
  readonly mailbox: boolean;
  /** Whether a sign-in on a new device is mailed. */
  readonly mailsNewDevices: boolean;
  /** With whom customers can sign in. */
  readonly providers: readonly { name: string; label: string }[];
  /** The guard whose users sign in with a username, and one of them, in development only. */
  readonly staff: { path: string; demo: { handle: string; password: string } | null };
  /** An account to try the page with, in development only. */
  readonly demo: { email: string; password: string } | null;

  constructor({ development, identityProvider }: Environment, guard: PublicGuardConfig) {
    const { seedDemo, mailbox } = development;
    const { features, passkeys, sessions, twoFactor } = guard;
    this.appName = guard.appName;
    this.cookieMode = guard.cookieMode;
    this.graceSeconds = guard.graceSeconds;
    this.secondsWithoutRemember = sessions.ttlWithoutRemember;
    this.hasIdleTimeout = sessions.idleTimeout > 0;
    this.trustedDeviceDays = features.twoFactor || features.passkeys ? twoFactor.trustedDeviceDays : 0;
    this.undoDays = guard.emailChange.undoDays;
    this.accessKeyDays = guard.accessKeys.maxDays;
    this.passkeysVerifyUsers = passkeys.userVerification === 'required';
    this.confirmationHeader = guard.confirm.header;
    this.features = Object.fromEntries(SHOWN.map((name) => [name, features[name]]));
    this.passkeyOrigins = passkeys.origins;
    this.docs = !isProduction();
    this.mailbox = mailbox !== undefined;
    const { label } = identityProvider ?? {};
    this.providers = label && features.identities ? [{ name: PROVIDER, label }] : [];
    const { password } = DEMO;
    const isOffered = seedDemo && mailbox !== undefined;
    this.mailsNewDevices = guard.knownDevices.mail;
    this.staff = { path: '/staff/auth', demo: isOffered ? { handle: DEMO.staff, password } : null };
    this.demo = isOffered ? { email: DEMO.user, password } : null;
  }
}
