import { Injectable } from '@nestjs/common';
import { VerificationNotices } from '../email-verification/verification-notices';
import { clientInfo } from '../http/client-info';
import type { LoginChallenge } from '../http/login-challenge';
import type { SessionTokens } from '../http/session-tokens';
import { AuthEvents } from '../kernel/auth-events';
import { FirstLogin } from './first-login';
import { NewAccounts } from './new-accounts';
import { Registered } from './registered.event';
import { RegistrationForm } from './registration-form';

/** Answers a registration that signs nobody in. */
export interface RegisteredOnly {
  registered: true;
  /** Whether the email has to be verified before the first login. */
  requires_verification: boolean;
}

export type RegistrationAnswer = SessionTokens | LoginChallenge | RegisteredOnly;

/** `POST /register`: from a form to an account, and to a session. */
@Injectable()
export class Registration {
  constructor(
    private readonly form: RegistrationForm,
    private readonly accounts: NewAccounts,
    private readonly notices: VerificationNotices,
    private readonly events: AuthEvents,
    private readonly firstLogin: FirstLogin,
  ) {}

  /** @throws ValidationFailed, IdentifierTaken */
  async register(request: object): Promise<RegistrationAnswer> {
    const user = await this.accounts.create(await this.form.read(request));
    this.events.emit(new Registered(user));
    this.notices.send(user);
    return this.firstLogin.of(user, clientInfo(request));
  }
}
