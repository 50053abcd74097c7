import { Injectable, Logger } from '@nestjs/common';
import { createRequire } from 'node:module';
import { RequestScope, withTimeout } from '../../foundation/platform/deadline';
import { StoreUnavailable, ValidationFailed } from '../../foundation/platform/errors';
import type { Text } from '../../foundation/platform/messages';
import { once } from '../../foundation/platform/sweep';
import { Realm } from '../../foundation/realm/realm';
import { PASSWORD_MAX, type PasswordFault, passwordFault, spellings } from './password.policy';

interface Dictionaries {
  dictionary: Record<'passwords-common', readonly string[]>;
}

// Some 50,000 passwords: read when the first one is chosen, and kept for all guards.
const listed = once(() => {
  const { dictionary } = createRequire(__filename)('@zxcvbn-ts/language-common') as Dictionaries;
  return new Set(dictionary['passwords-common']);
});

/** Whether a password is among the most common ones, in any case, forwards or backwards. */
export const isCommon = (password: string): boolean => spellings(password).some((spelling) => listed().has(spelling));

/** A password that someone wants to have, and how it was repeated. */
export interface WantedPassword {
  password: string;
  password_confirmation: string | null;
}

type Broken = PasswordFault | 'common' | 'breached' | 'unconfirmed';

/** What a new password has to be, wherever one is chosen. */
@Injectable()
export class PasswordRules {
  private readonly logger = new Logger('Auth');

  constructor(private readonly realm: Realm) {}

  /**
   * @param names the account's own, which its password must not be: its identifier, its email
   * @throws ValidationFailed under `password`, with the first rule it breaks; StoreUnavailable where an
   * unanswered breach check is to refuse
   */
  async accept({ password, password_confirmation }: WantedPassword, names: readonly (string | null)[]): Promise<void> {
    const broken = password === password_confirmation ? await this.fault(password, names) : 'unconfirmed';
    if (broken) throw new ValidationFailed({ password: [this.text(broken)] });
  }

  /** The refusal of a password that is one of these names, where they are learned after the rest was judged. */
  faultOfNames(password: string, names: readonly (string | null)[]): ValidationFailed | null {
    const broken = passwordFault(password, { minLength: 0, known: this.known(names) });
    return broken && new ValidationFailed({ password: [this.text(broken)] });
  }

  private async fault(password: string, names: readonly (string | null)[]): Promise<Broken | null> {
    const { passwords } = this.realm.options;
    const fault = passwordFault(password, { minLength: passwords.minLength, known: this.known(names) });
    if (fault) return fault;
    if (isCommon(password) || passwords.blockList.has(password.toLowerCase())) return 'common';
    return (await this.isBreached(password)) ? 'breached' : null;
  }

  private known(names: readonly (string | null)[]): string[] {
    return [this.realm.options.appName, ...names].filter((name): name is string => name !== null);
  }

  /** Asked last: whatever the other rules refuse tells nobody anything. */
  private async isBreached(password: string): Promise<boolean> {
    const { breached } = this.realm.options.passwords;
    if (!breached) return false;
    const { check, timeoutMs, onOutage } = breached;
    try {
      const asked = (): Promise<boolean> => check.has(password, AbortSignal.timeout(timeoutMs));
      return await RequestScope.detached(() => withTimeout('The breach check', timeoutMs, asked()));
    } catch (error) {
      // The name alone: what a library says of a request may quote it.
      this.logger.warn(`the breach check did not answer (${(error as Error)?.name}); passwords: ${onOutage}`);
      if (onOutage === 'refuse') throw new StoreUnavailable('The breach check', error);
      return false;
    }
  }

  private text(broken: Broken): Text {
    return { key: `password.${broken}`, params: { min: this.realm.options.passwords.minLength, max: PASSWORD_MAX } };
  }
}
