import { Inject, Injectable, Logger } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { RequestScope, withTimeout } from '../../foundation/platform/deadline';
import { AuthException, StoreUnavailable, ValidationFailed } from '../../foundation/platform/errors';
import type { Text } from '../../foundation/platform/messages';
import { once } from '../../foundation/platform/sweep';
import { Realm } from '../../foundation/realm/realm';
import { normalizationOf, preparedPassword } from './argon2-hasher';
import { PASSWORD_MAX, type PasswordFault, foldedPassword, passwordFault, spellings } from './password.policy';

interface Dictionaries {
  dictionary: Record<'passwords-common', readonly string[]>;
}

// About 50,000 passwords. Loaded when a user first chooses a password, and shared by all guards.
const listed = once(() => {
  const { dictionary } = require('@zxcvbn-ts/language-common') as Dictionaries;
  return new Set(dictionary['passwords-common']);
});

/** Whether a password is on the list of common passwords. Ignores case, and also checks the reversed password. */
export const isCommon = (password: string): boolean => spellings(password).some((spelling) => listed().has(spelling));

/** A new password and its confirmation. */
export interface WantedPassword {
  password: string;
  password_confirmation: string | null;
}

/** The account of a password that a host checks. */
export interface PasswordContext {
  /** The identifier of the account, which its password must not equal. */
  readonly identifier?: string | null;
  /** The email of the account, which its password must not equal. */
  readonly email?: string | null;
  /** The request of the client, for the language of the texts. Default: English. */
  readonly request?: object;
}

type Broken = PasswordFault | 'common' | 'breached' | 'unconfirmed' | 'unchanged';

/** Checks a new password, in registration, reset and change. Every rule reads the text that is hashed, by `hashing.normalize`. */
@Injectable()
export class PasswordRules {
  private readonly logger = new Logger('Auth');

  constructor(
    private readonly realm: Realm,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /**
   * Accepts a password or throws.
   *
   * @param names the identifier and the email of the account, which its password must not equal
   * @param current the current password, which the new one must not equal; null if it is not known
   * @throws ValidationFailed for the field `password`, with the first broken rule
   * @throws StoreUnavailable if the breach check does not answer and `onOutage` is `refuse`
   */
  async accept(
    wanted: WantedPassword,
    names: readonly (string | null)[],
    current: string | null = null,
  ): Promise<void> {
    const password = this.hashed(wanted.password);
    const isSame = (other: string | null): boolean => other !== null && this.hashed(other) === password;
    const broken = isSame(current)
      ? 'unchanged'
      : isSame(wanted.password_confirmation)
        ? await this.fault(password, names)
        : 'unconfirmed';
    if (broken) throw new ValidationFailed({ password: [this.text(broken)] });
  }

  /**
   * Checks a new password by the rules of the guard, for code of the host that sets passwords itself. Counts no attempt and
   * computes no hash.
   *
   * @throws ValidationFailed for the field `password`, with the first broken rule; StoreUnavailable if the breach check does not
   * answer and `onOutage` is `refuse`
   */
  async check(password: string, { identifier = null, email = null, request }: PasswordContext = {}): Promise<void> {
    try {
      if (typeof password !== 'string') {
        throw new ValidationFailed({ password: [{ key: 'validation.string', params: { field: 'password' } }] });
      }
      await this.accept({ password, password_confirmation: password }, [identifier, email]);
    } catch (error) {
      if (request && error instanceof AuthException) error.translatedBy(this.realm.translatorFor(request));
      throw error;
    }
  }

  /** The error for a password that equals one of these names, for names that are known only after `accept`. */
  faultOfNames(password: string, names: readonly (string | null)[]): ValidationFailed | null {
    const broken = passwordFault(this.hashed(password), { minLength: 0, known: this.known(names) });
    return broken && new ValidationFailed({ password: [this.text(broken)] });
  }

  private hashed(password: string): string {
    return preparedPassword(password, normalizationOf(this.config.hashing));
  }

  private async fault(password: string, names: readonly (string | null)[]): Promise<Broken | null> {
    const { passwords } = this.realm.options;
    const fault = passwordFault(password, { minLength: passwords.minLength, known: this.known(names) });
    if (fault) return fault;
    if (isCommon(password) || passwords.blockList.has(foldedPassword(password))) return 'common';
    return (await this.isBreached(password)) ? 'breached' : null;
  }

  private known(names: readonly (string | null)[]): string[] {
    return [this.realm.options.appName, ...names].filter((name): name is string => name !== null);
  }

  /** Runs last, so that a password that another rule refuses is not sent to the service. */
  private async isBreached(password: string): Promise<boolean> {
    const { breached } = this.realm.options.passwords;
    if (!breached) return false;
    const { check, timeoutMs, onOutage } = breached;
    try {
      const asked = (): Promise<boolean> => check.has(password, AbortSignal.timeout(timeoutMs));
      return await RequestScope.detached(() => withTimeout('The breach check', timeoutMs, asked()));
    } catch (error) {
      // Logs the error name only: the message of a library may quote the request.
      this.logger.warn(`the breach check did not answer (${(error as Error)?.name}); passwords: ${onOutage}`);
      if (onOutage === 'refuse') throw new StoreUnavailable('The breach check', error);
      return false;
    }
  }

  private text(broken: Broken): Text {
    return { key: `password.${broken}`, params: { min: this.realm.options.passwords.minLength, max: PASSWORD_MAX } };
  }
}
