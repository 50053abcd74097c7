import type { PublicGuardConfig } from '@svc/auth';
import { ACTING_ABILITIES } from '../auth.options';
import { DEMO } from '../dev/demo-accounts';
import { isProduction } from '../dev/development';
import type { Environment } from '../environment';

/** Token of a function that returns the settings, as `PAGE_CONFIG`. */
export const SUPPORT_CONFIG = Symbol('support config');

/** The settings that the support page needs, as JSON at `/support/config`. Every client can read them. */
export class SupportConfig {
  readonly appName: string;
  /** The routes of the guard at which operators sign in. */
  readonly url = '/admin/auth';
  readonly cookieMode: boolean;
  readonly confirmationHeader: string;
  /** The origins at which passkeys of operators work. */
  readonly passkeyOrigins: readonly string[];
  /** With what an operator can act as a user, and for how many seconds. */
  readonly acting: { abilities: readonly string[]; seconds: number };
  readonly docs: boolean;
  readonly mailbox: boolean;
  /** Accounts to try the page with, in development only. */
  readonly demo: { password: string; administrator: string; support: string; user: string } | null;

  /** @param guards the guard of the operators, and that of the users whom they help */
  constructor({ development }: Environment, { own, ofUsers }: Record<'own' | 'ofUsers', PublicGuardConfig>) {
    const { seedDemo, mailbox } = development;
    this.appName = own.appName;
    this.cookieMode = own.cookieMode;
    this.confirmationHeader = own.confirm.header;
    this.passkeyOrigins = own.features.passkeys ? own.passkeys.origins : [];
    this.acting = { abilities: ACTING_ABILITIES, seconds: ofUsers.accessTtl };
    this.docs = !isProduction();
    this.mailbox = mailbox !== undefined;
    const { password, admin: administrator, support, user } = DEMO;
    this.demo = seedDemo && mailbox !== undefined ? { password, administrator, support, user } : null;
  }
}
