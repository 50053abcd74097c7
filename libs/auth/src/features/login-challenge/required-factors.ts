import { Injectable } from '@nestjs/common';
import type { AuthConfig, GuardConfig } from '../../foundation/config/auth-config';
import type { UsersOptions } from '../../foundation/config/auth-options';
import { bestEffort, callHost } from '../../foundation/platform/deadline';
import { AuthConfigError, AuthException } from '../../foundation/platform/errors';
import type { EnrolmentChallenge, EnrolmentMethod, LoginChallenge } from '../../foundation/ports/presenter';
import { Realm } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import type { Caller } from '../../identity/tokens/caller';
import { LoginChallengeIssuer, UnverifiedBlock } from '../login/login';
import { Sessions } from '../sessions/sessions';
import { EnrolmentTokens, LoginChallenges } from './login-challenges';
import { CodeFactor, PasskeyFactor } from './second-factors';
import { TrustedDevices } from './trusted-devices';

/** The factors that users of a guard can set up. Extra guards have no passkeys. */
const methodsAt = ({ isDefault, features }: GuardConfig): EnrolmentMethod[] => [
  ...(features.twoFactor ? ['totp' as const] : []),
  ...(isDefault && features.passkeys ? ['passkey' as const] : []),
];

/** The user must have a second factor (`twoFactor.required`), and it would be removed: 409. Nothing is changed. */
export class SecondFactorRequired extends AuthException {
  constructor() {
    super('second_factor_required', { status: 409, errors: { two_factor: [{ key: 'auth.second_factor_required' }] } });
  }
}

/** Seconds after which a removal that did not end is forgotten. Longer than any request waits for its stores. */
const REMOVAL_SECONDS = 60;

/** Decides for which users a second factor is required: `twoFactor.required`. */
@Injectable()
export class RequiredFactors {
  constructor(
    private readonly store: SecurityStore,
    private readonly sessions: Sessions,
    private readonly realm: Realm,
  ) {}

  /** The factors that the routes below `/two-factor-enrolment` can set up. */
  get methods(): readonly EnrolmentMethod[] {
    return methodsAt(this.realm.options);
  }

  /** @throws AuthConfigError if the function returns no boolean; StoreUnavailable if it does not settle in time */
  async appliesTo(user: object): Promise<boolean> {
    const { guard, options } = this.realm;
    const { required } = options.twoFactor;
    if (typeof required !== 'function') return required;
    const answer: unknown = await callHost('twoFactor.required', () => required(user, { guard }));
    if (typeof answer !== 'boolean') throw new AuthConfigError('twoFactor.required must return true or false.');
    return answer;
  }

  /**
   * Removes a factor of the user, unless a required one would be the last. Removals of one user run one at a time: of two
   * concurrent ones that would leave no factor, one is refused.
   *
   * @param hasAnother whether the user has another factor
   * @throws SecondFactorRequired; StoreUnavailable; Unauthenticated for a session that has ended while the host decided
   */
  async remove(
    caller: Pick<Caller, 'user' | 'userId' | 'familyId'>,
    hasAnother: () => Promise<boolean>,
    remove: () => Promise<void>,
  ): Promise<void> {
    const removeInSession = async (): Promise<void> => {
      await this.sessions.requireAlive(caller);
      await remove();
    };
    if (!(await this.appliesTo(caller.user))) return removeInSession();
    const key = `svc:factor-removal:${this.realm.guard}:${caller.userId}`;
    if (!(await this.store.add(key, 'true', REMOVAL_SECONDS))) throw new SecondFactorRequired();
    try {
      if (!(await hasAnother())) throw new SecondFactorRequired();
      await removeInSession();
    } finally {
      await bestEffort('the end of a removal', () => this.store.take(key));
    }
  }
}

/** What identifies the users of a guard: the entity or the provider. Two guards can name one provider with two objects. */
const sourceOf = ({ entity, provider }: UsersOptions = {}): unknown =>
  provider && 'useExisting' in provider ? provider.useExisting : (provider ?? entity);

/** Whether the users of an extra guard can have passkeys, which only the default guard knows. */
const sharesPasskeys = ({ users, isDefault }: GuardConfig, guards: readonly GuardConfig[]): boolean =>
  !isDefault &&
  guards.some((other) => other.isDefault && other.features.passkeys && sourceOf(other.users) === sourceOf(users));

/** Why an application must not start: no user could sign in, or less would be asked than an option states. */
export function factorErrors({ routes, guards }: AuthConfig): string[] {
  return guards.flatMap((guard) => {
    const { nameOf, confirm, twoFactor, features, isDefault, passkeys } = guard;
    const isRequired = routes && twoFactor.required !== false;
    const factors: string = confirm.factors;
    return [
      isRequired &&
        !methodsAt(guard).length &&
        `${nameOf('twoFactor.required')} is set, but the users of the guard "${guard.guard}" can have no second factor, so ` +
          `none of them could sign in. Switch features.twoFactor on for this guard, or set guards.${guard.guard}.twoFactor.required to false.`,
      isRequired &&
        sharesPasskeys(guard, guards) &&
        `${nameOf('twoFactor.required')} is set, and the users of the guard "${guard.guard}" are those of the default guard, who ` +
          'can have passkeys. This guard has none, so a user with a passkey could enrol another factor with the password alone. ' +
          `Set guards.${guard.guard}.twoFactor.required to false, and mark its routes with @RequireFactor().`,
      !['one', 'all'].includes(factors) &&
        `${nameOf('confirm.factors')} (SVC_CONFIRM_FACTORS) is "${factors}". Use one or all.`,
      twoFactor.required !== false &&
        isDefault &&
        features.passkeys &&
        passkeys.userVerification !== 'required' &&
        `${nameOf('twoFactor.required')} (SVC_2FA_REQUIRED) is set, but a sign-in with a passkey is only one factor without user ` +
          'verification. Set passkeys.userVerification (SVC_PASSKEY_UV) to required.',
      factors === 'all' &&
        isDefault &&
        features.passkeys &&
        passkeys.userVerification !== 'required' &&
        `${nameOf('confirm.factors')} (SVC_CONFIRM_FACTORS) is "all", but a passkey is only one factor without user verification. ` +
          'Set passkeys.userVerification (SVC_PASSKEY_UV) to required.',
    ].filter((text): text is string => typeof text === 'string');
  });
}

/**
 * Issues a challenge to users with an enabled second factor, and to users with a passkey if `passkeys.required` or
 * `twoFactor.required` applies. A user without a factor enrols one if `twoFactor.required` applies.
 */
@Injectable()
export class SecondFactorChallengeIssuer extends LoginChallengeIssuer {
  constructor(
    private readonly codes: CodeFactor,
    private readonly passkeys: PasskeyFactor,
    private readonly challenges: LoginChallenges,
    private readonly enrolments: EnrolmentTokens,
    private readonly requiredFactors: RequiredFactors,
    private readonly devices: TrustedDevices,
    private readonly unverified: UnverifiedBlock,
    private readonly realm: Realm,
  ) {
    super();
  }

  async challengeFor(
    user: object,
    userId: string,
    digest: string | null,
    remember: boolean,
    first?: 'email',
  ): Promise<LoginChallenge | EnrolmentChallenge | null> {
    const codes = await this.codes.methodsOf(userId);
    const isRequired = !codes && (await this.requiredFactors.appliesTo(user));
    const asksPasskey = this.realm.options.passkeys.required !== false;
    // An enabled factor without any usable method still requires the challenge: the password alone is not enough.
    if (!codes && !isRequired && !(asksPasskey && (await this.passkeys.isRequiredOf(user)))) return null;
    const hasPasskey = await this.passkeys.isHeldBy(userId);
    if (!codes && !hasPasskey) return isRequired ? this.enrolmentFor(user, userId, digest, remember, first) : null;
    const methods = [...(codes ?? []), ...(hasPasskey ? ['passkey' as const] : [])];
    const token = await this.challenges.mint(userId, digest, remember, first);
    return { two_factor: true, challenge_token: token, methods };
  }

  private async enrolmentFor(
    user: object,
    userId: string,
    digest: string | null,
    remember: boolean,
    first?: 'email',
  ): Promise<EnrolmentChallenge | null> {
    // A person who may not sign in yet must not add a factor to the account.
    if (this.unverified.isBlocked(user)) return null;
    return {
      enrolment_required: true,
      enrolment_token: await this.enrolments.mint(userId, digest, remember, first),
      expires_in: this.realm.options.twoFactor.enrolmentTtl,
      methods: this.requiredFactors.methods,
    };
  }

  async trustOf(userId: string, digest: string | null, sent: string | null, request: object) {
    return this.realm.options.twoFactor.trustedDeviceDays > 0
      ? this.devices.trustOf(userId, digest, sent, request)
      : null;
  }
}
