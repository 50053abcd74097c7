import type { AuthModuleOptions } from '@svc/auth';
import type { Environment } from '../environment';
import { DEMO } from '../users/seed';

/** What the page must know of the server to show what works here. Everybody may read it. */
export class PageConfig {
  readonly appName: string;
  /** Whether refresh tokens are in a cookie; else the page keeps them. */
  readonly cookieMode: boolean;
  readonly confirmationHeader: string;
  readonly features: Readonly<Record<string, boolean>>;
  /** Pages that passkeys work on. */
  readonly passkeyOrigins: readonly string[];
  /** Whether mails are shown at `/mailbox`. */
  readonly mailbox: boolean;
  /** An account to try, where a developer sits at the machine. */
  readonly demo: { email: string; password: string } | null;

  constructor({ seedDemo, showsMails }: Environment, options: Partial<AuthModuleOptions>) {
    this.appName = options.appName ?? 'Orders';
    this.cookieMode = options.cookieMode ?? false;
    this.confirmationHeader = options.confirm?.header ?? 'X-Svc-Confirmation';
    this.features = { logoutAll: true, changePassword: true, accountDeletion: true, ...options.features };
    this.passkeyOrigins = options.passkeys?.origins ?? [];
    this.mailbox = showsMails;
    this.demo = seedDemo && showsMails ? { email: DEMO.user, password: DEMO.password } : null;
  }
}
