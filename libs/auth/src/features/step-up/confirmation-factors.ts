import { Injectable } from '@nestjs/common';
import { isMissing } from '../../foundation/platform/pg-errors';
import { valueIf } from '../../foundation/platform/deadline';
import { type AuthException, ValidationFailed } from '../../foundation/platform/errors';
import type { Factor } from '../../foundation/realm/feature';
import type { GuardServices } from '../../foundation/realm/feature-data';
import { Realm, RealmScope } from '../../foundation/realm/realm';
import type { Caller } from '../../identity/tokens/caller';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { named } from '../../request/http/request-body';
import { afterProof } from '../../request/lockout/attempt-guard';
import { GuardFactors } from '../login-challenge/second-factor';
import { PinnedSessions } from '../sessions/pinned-ability.gate';
import type { ConfirmationMethod } from './step-up.errors';
import { type SignInClaims, hasSignedInWith } from './step-up.policy';

declare module '../../foundation/realm/feature' {
  interface Factor {
    /** How a user confirms with the factor alone, by a route of the feature. Without it, the factor is sent beside the password. */
    readonly confirmsAlone?: {
      readonly method: ConfirmationMethod;
      /** The refusal of the password alone. */
      readonly refusal: () => AuthException;
    };
  }
  interface HookPoints {
    /** Further ways in which a user can confirm: one factor each, by a route of the feature. */
    readonly confirmsWith?: (services: GuardServices, userId: string) => Promise<readonly ConfirmationMethod[]>;
  }
}

const isBesidePassword = ({ confirmsAlone }: Factor): boolean => confirmsAlone === undefined;

/** Decides which factors a user confirms with: `confirm.factors`. */
@Injectable()
export class ConfirmationFactors {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly factors: GuardFactors,
    private readonly pinnedSessions: PinnedSessions,
    private readonly realm: Realm,
    private readonly scope: RealmScope,
  ) {}

  /**
   * The ways in which this user can confirm. A host can add its own with `auth.confirm`. Empty for a pinned session that
   * cannot confirm: it may not read how the user signs in.
   */
  async methodsOf(caller: Caller): Promise<ConfirmationMethod[]> {
    const { userId, grant } = caller;
    if (!grant.covers('svc.account') && (await this.pinnedSessions.includes(caller))) return [];
    const [digest, held, others] = await Promise.all([
      this.users.passwordHashOf(userId),
      this.heldBy(userId, (factor) => this.asksAll || !isBesidePassword(factor)),
      Promise.all(this.scope.hooks('confirmsWith').map((hook) => hook(this.scope, userId))),
    ]);
    const alone = held.flatMap(({ confirmsAlone }) => confirmsAlone ?? []);
    const withPassword = held.some(isBesidePassword)
      ? 'password+otp'
      : this.asksAll && alone.length
        ? null
        : 'password';
    return [
      ...(digest === null || withPassword === null ? [] : [withPassword as ConfirmationMethod]),
      ...alone.map(({ method }) => method),
      ...(this.asksAll && held.length ? [] : others.flat()),
      ...(this.realm.options.confirm.afterLogin ? ['login' as const] : []),
    ];
  }

  /**
   * Checks which second factor has to be sent beside the password, before anything is verified or counted. The methods of
   * a refused request already show it to every session that can confirm.
   *
   * @returns a function that verifies and consumes the factor, after the password
   * @throws ValidationFailed; the refusal of a factor that confirms alone
   */
  async besidePassword(userId: string, body: object): Promise<() => Promise<void>> {
    if (!this.asksAll) return async () => undefined;
    const [beside] = await this.heldBy(userId, isBesidePassword);
    if (!beside) {
      const [alone] = await this.heldBy(userId, (factor) => !isBesidePassword(factor));
      if (alone) throw alone.confirmsAlone!.refusal();
      return async () => undefined;
    }
    const answer = this.factors.answerIn(body, isBesidePassword);
    if (!answer) {
      const field = beside.answers[0]!.fields[0]!;
      throw new ValidationFailed({ [field]: [{ key: 'validation.required', params: { field: named(field) } }] });
    }
    return async () => {
      await this.factors.attempt(userId, answer, async () => {
        const found = await this.factors.match(userId, answer, body);
        return found && (await afterProof(() => found.spend())) ? found : null;
      });
    };
  }

  /** Whether a sign-in has used the factors that a confirmation of this user needs. */
  async areIn(signIn: Omit<SignInClaims, 'authTime'>, userId: string): Promise<boolean> {
    if (!this.asksAll || hasSignedInWith('any', signIn, true)) return true;
    return !(await this.heldBy(userId, () => true)).length;
  }

  private get asksAll(): boolean {
    return this.realm.options.confirm.factors === 'all';
  }

  private async heldBy(userId: string, isMeant: (factor: Factor) => boolean): Promise<Factor[]> {
    const factors = this.factors.all.filter(isMeant);
    const isHeld = await Promise.all(
      factors.map((factor) => {
        const asked = factor.held.isHeldBy(userId);
        // A service that only verifies tokens may have no table of a factor that confirms alone.
        return isBesidePassword(factor) ? asked : asked.catch(valueIf(isMissing, false));
      }),
    );
    return factors.filter((_, i) => isHeld[i]);
  }
}
