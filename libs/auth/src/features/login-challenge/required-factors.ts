import { Injectable } from '@nestjs/common';
import type { AuthConfig, GuardConfig } from '../../foundation/config/auth-config';
import { bestEffort, callHost } from '../../foundation/platform/deadline';
import { AuthConfigError, AuthException } from '../../foundation/platform/errors';
import type { EnrolmentChallenge, EnrolmentMethod } from '../../foundation/ports/presenter';
import { Realm } from '../../foundation/realm/realm';
import type { UserSource } from '../../foundation/realm/user-source';
import { SecurityStore } from '../../foundation/security-store/security-store';
import type { HookPoints } from '../../foundation/realm/feature';
import type { Caller } from '../../identity/tokens/caller';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { Accounts } from '../sessions/accounts';
import { requiresFactor } from '../login/login.controller';
import { Sessions } from '../sessions/sessions';
import type { AskedFactor, FirstFactor, SignInEnding } from '../sessions/sign-in';
import { EnrolmentTokens, LoginChallenges } from './login-challenges';
import { CodeFactor, PasskeyFactor } from './second-factors';
import { TrustedDevices } from './trusted-devices';
import { challengeText } from './challenge.texts';

/** The factors that users of a guard can set up. Extra guards have no passkeys. */
const methodsAt = ({ isDefault, features }: GuardConfig): EnrolmentMethod[] => [
  ...(features.twoFactor ? ['totp' as const] : []),
  ...(isDefault && features.passkeys ? ['passkey' as const] : []),
];

/** The user must have a second factor (`twoFactor.required`), and it would be removed: 409. Nothing is changed. */
export class SecondFactorRequired extends AuthException {
  constructor() {
    super('second_factor_required', {
      status: 409,
      errors: { two_factor: [challengeText('auth.second_factor_required')] },
    });
  }
}

/** The refusal to remove a factor, where one may be required. */
export const lastFactorRefusal = (options: GuardConfig): AuthException[] =>
  requiresFactor(options) ? [new SecondFactorRequired()] : [];

/** Seconds after which a removal that did not end is forgotten. Longer than any request waits for its stores. */
const REMOVAL_SECONDS = 60;

/** Decides for which users a second factor is required: `twoFactor.required`. */
@Injectable()
export class RequiredFactors {
  constructor(
    private readonly store: SecurityStore,
    private readonly sessions: Sessions,
    private readonly users: TimedUserProvider,
    private readonly accounts: Accounts,
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

  /** As {@link appliesTo}, at any guard of the source: a factor that one guard removes is missing at all of them. */
  private async applyTo({ user, userId }: Pick<Caller, 'user' | 'userId'>): Promise<boolean> {
    if (await this.appliesTo(user)) return true;
    for (const other of this.accounts.others(RequiredFactors)) if (await other.appliesToId(userId)) return true;
    return false;
  }

  /** Reads the user with the provider of this guard: that of another guard may return another class. */
  private async appliesToId(userId: string): Promise<boolean> {
    if (this.realm.options.twoFactor.required === false) return false;
    const user = await this.users.findById(userId);
    return user !== null && this.appliesTo(user);
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
    if (!(await this.applyTo(caller))) return removeInSession();
    const key = `svc:factor-removal:${this.realm.source.key}:${caller.userId}`;
    if (!(await this.store.add(key, 'true', REMOVAL_SECONDS))) throw new SecondFactorRequired();
    try {
      if (!(await hasAnother())) throw new SecondFactorRequired();
      await removeInSession();
    } finally {
      await bestEffort('the end of a removal', () => this.store.take(key), 0);
    }
  }
}

/**
 * What a guard cannot ask of the users of its source, who can have it from another guard: passkeys, which only the default
 * guard has, or codes. Null if it can ask everything. Pure.
 */
function missingFactor({ guard, features }: GuardConfig, { guards }: UserSource): 'passkeys' | 'codes' | null {
  const others = guards.filter((other) => other.guard !== guard);
  if (others.some((other) => other.isDefault && other.features.passkeys)) return 'passkeys';
  return !features.twoFactor && others.some((other) => other.features.twoFactor) ? 'codes' : null;
}

/**
 * Why an application must not start: a guard would accept the password alone of a user who has a factor of another guard of the
 * source, although an option of the guard asks for it. Pure.
 */
function sharedFactorErrors(config: GuardConfig, source: UserSource): string[] {
  const { guard, isDefault, nameOf, confirm, twoFactor, passkeys } = config;
  const missing = missingFactor(config, source);
  if (missing === null) return [];
  const names = source.names.filter((name) => name !== guard).join('", "');
  const same = `, and the guard "${guard}" has the same users as "${names}", who can have ${missing}. This guard has none, so `;
  const own = isDefault ? '' : `guards.${guard}.`;
  const routes = 'and mark its routes with @RequireFactor()';
  const orCodes = missing === 'codes' ? ', or switch features.twoFactor on for this guard.' : '.';
  return [
    twoFactor.required !== false &&
      methodsAt(config).length > 0 &&
      `${nameOf('twoFactor.required')} is set${same}such a user could enrol another factor with the password alone. ` +
        `Set ${own}twoFactor.required to false, ${routes}${orCodes}`,
    passkeys.required !== false &&
      missing === 'passkeys' &&
      `${nameOf('passkeys.required')} is set${same}such a user could sign in with the password alone. ` +
        `Set ${own}passkeys.required to false, ${routes}.`,
    confirm.factors === 'all' &&
      `${nameOf('confirm.factors')} (SVC_CONFIRM_FACTORS) is "all"${same}such a user could confirm with the password alone. ` +
        `Set ${own}confirm.factors to "one"${orCodes}`,
  ].filter((text): text is string => typeof text === 'string');
}

/** Why an application must not start: no user could sign in, or less would be asked than an option states. */
export function factorErrors(
  { routes, guards }: AuthConfig,
  _production: boolean,
  sources: ReadonlyMap<string, UserSource>,
): string[] {
  return guards.flatMap((guard) => {
    const { nameOf, confirm, twoFactor, features, isDefault, passkeys } = guard;
    const isRequired = routes && twoFactor.required !== false;
    const factors: string = confirm.factors;
    return [
      isRequired &&
        !methodsAt(guard).length &&
        `${nameOf('twoFactor.required')} is set, but the users of the guard "${guard.guard}" can have no second factor, so ` +
          `none of them could sign in. Switch features.twoFactor on for this guard, or set guards.${guard.guard}.twoFactor.required to false.`,
      ...(routes ? sharedFactorErrors(guard, sources.get(guard.guard)!) : []),
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
export class SecondFactorChallengeIssuer {
  constructor(
    private readonly codes: CodeFactor,
    private readonly passkeys: PasskeyFactor,
    private readonly challenges: LoginChallenges,
    private readonly enrolments: EnrolmentTokens,
    private readonly requiredFactors: RequiredFactors,
    private readonly devices: TrustedDevices,
    private readonly realm: Realm,
  ) {}

  async trustOf(first: FirstFactor, request: object): Promise<(() => Promise<boolean>) | null> {
    return this.realm.options.twoFactor.trustedDeviceDays > 0 ? this.devices.trustOf(first, request) : null;
  }

  async askOf({ user, userId, digest }: FirstFactor): Promise<AskedFactor | null> {
    const codes = await this.codes.methodsOf(userId);
    const isRequired = !codes && (await this.requiredFactors.appliesTo(user));
    const asksPasskey = this.realm.options.passkeys.required !== false;
    // An enabled factor without any usable method still requires the challenge: the password alone is not enough.
    if (!codes && !isRequired && !(asksPasskey && (await this.passkeys.isRequiredOf(user)))) return null;
    const hasPasskey = await this.passkeys.isHeldBy(userId);
    if (!codes && !hasPasskey)
      return isRequired
        ? { secondFactor: 'missing', issue: (ending) => this.enrolmentFor(userId, digest, ending) }
        : null;
    const methods = [...(codes ?? []), ...(hasPasskey ? ['passkey' as const] : [])];
    return {
      secondFactor: 'held',
      issue: async (ending) => {
        const token = await this.challenges.mint(userId, digest, ending);
        return { two_factor: true, challenge_token: token, methods };
      },
    };
  }

  private async enrolmentFor(userId: string, digest: string | null, ending: SignInEnding): Promise<EnrolmentChallenge> {
    return {
      enrolment_required: true,
      enrolment_token: await this.enrolments.mint(userId, digest, ending),
      expires_in: this.realm.options.twoFactor.enrolmentTtl,
      methods: this.requiredFactors.methods,
    };
  }
}

export const CHALLENGE_HOOKS: HookPoints = {
  signInChallenge: (services, first) => services.get(SecondFactorChallengeIssuer).askOf(first),
  signInTrust: (services, first, request) => services.get(SecondFactorChallengeIssuer).trustOf(first, request),
};
