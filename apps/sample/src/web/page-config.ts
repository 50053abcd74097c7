import { type FeatureOptions, authOptionsFromEnv } from '@svc/auth';
import library from '../../../../libs/auth/package.json';
import { DEMO } from '../dev/demo-accounts';
import { type Development, isProduction } from '../dev/development';

/** The repository, as the package of the library names it. */
const SOURCE = library.repository.url.replace(/^git\+|\.git$/g, '');

/** The settings that the page needs from the server, as JSON at `/web/config`. Every client can read them. */
export class PageConfig {
  readonly appName: string;
  /** Where the source and the first page of the documentation of the library are. */
  readonly source = SOURCE;
  readonly quickStart = `${SOURCE}/blob/main/docs/quick-start.md`;
  /** Whether the refresh token is in a cookie. Otherwise the page stores it. */
  readonly cookieMode: boolean;
  /** How long an old refresh token is still accepted. */
  readonly graceSeconds: number;
  readonly confirmationHeader: string;
  readonly features: Readonly<Record<string, boolean>>;
  /** The origins at which passkeys work. */
  readonly passkeyOrigins: readonly string[];
  /** Whether the API is documented at `/docs`. */
  readonly docs: boolean;
  /** Whether mails are shown at `/mailbox`. */
  readonly mailbox: boolean;
  /** An account to try the page with, in development only. */
  readonly demo: { email: string; password: string } | null;

  constructor({ seedDemo, mailbox }: Development, features?: FeatureOptions) {
    const options = authOptionsFromEnv();
    this.appName = options.appName ?? 'Orders';
    this.cookieMode = options.cookieMode ?? false;
    this.graceSeconds = Number(options.graceSeconds ?? 30);
    this.confirmationHeader = options.confirm?.header ?? 'X-Svc-Confirmation';
    this.features = { logoutAll: true, changePassword: true, accountDeletion: true, ...features };
    this.passkeyOrigins = options.passkeys?.origins ?? [];
    this.docs = !isProduction();
    this.mailbox = mailbox !== undefined;
    this.demo = seedDemo && mailbox ? { email: DEMO.user, password: DEMO.password } : null;
  }
}
