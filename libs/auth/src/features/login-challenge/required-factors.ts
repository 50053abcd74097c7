import { Injectable } from '@nestjs/common';
import type { GuardConfig, AuthConfig } from '../../foundation/config/auth-config';
import { bestEffort, callHost } from '../../foundation/platform/deadline';
import { AuthConfigError, AuthException } from '../../foundation/platform/errors';
import type { EnrolmentChallenge } from '../../foundation/ports/presenter';
import { Realm } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { type HookPoints, type Feature, isOfDefaultGuard, isOnAt } from '../../foundation/realm/feature';
import type { Caller } from '../../identity/tokens/caller';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { Accounts } from '../sessions/accounts';
import { Sessions } from '../sessions/sessions';
import type { AskedFactor, FirstFactor, SignInEnding } from '../sessions/sign-in';
import { EnrolmentTokens, LoginChallenges } from './login-challenges';
import { GuardFactors, type SecondFactor } from './second-factor';
import { TrustedDevices } from './trusted-devices';
import { challengeText } from './challenge.texts';
import type { UserSource } from '../../foundation/realm/user-source';

/** The user must have a second factor (`twoFactor.required`), and it would be removed: 409. Nothing is changed. */
export class SecondFactorRequired extends AuthException {
  constructor() {
    super('second_factor_required', {
      status: 409,
      errors: { two_factor: [challengeText('auth.second_factor_required')] },
    });
  }
}

/** Whether a second factor is required of a user: the option is a function, or true. */
export const requiresFactor = ({ twoFactor }: GuardConfig): boolean => twoFactor.required !== false;

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
    private readonly factors: GuardFactors,
    private readonly realm: Realm,
  ) {}

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
    if (!requiresFactor(this.realm.options) || !this.factors.all.length) return false;
    const user = await this.users.findById(userId);
    return user !== null && this.appliesTo(user);
  }

  /**
   * Removes a factor of the user, unless a required one would be the last. Removals of one user run one at a time: of two
   * concurrent ones that would leave no factor, one is refused.
   *
   * @param factor the service of the factor
   * @param remains whether the user still has this factor afterwards, or has none now
   * @throws SecondFactorRequired; StoreUnavailable; Unauthenticated for a session that has ended while the host decided
   */
  async remove(
    caller: Pick<Caller, 'user' | 'userId' | 'familyId'>,
    factor: abstract new (...args: never[]) => SecondFactor,
    remains: () => Promise<boolean>,
    remove: () => Promise<void>,
  ): Promise<void> {
    const { userId } = caller;
    const removeInSession = async (): Promise<void> => {
      await this.sessions.requireAlive(caller);
      await remove();
    };
    if (!(await this.applyTo(caller))) return removeInSession();
    const key = `svc:factor-removal:${this.realm.source.key}:${userId}`;
    if (!(await this.store.add(key, 'true', REMOVAL_SECONDS))) throw new SecondFactorRequired();
    try {
      if (!(await this.factors.isHeldBy(userId, factor)) && !(await remains())) throw new SecondFactorRequired();
      await removeInSession();
    } finally {
      await bestEffort('the end of a removal', () => this.store.take(key), 0);
    }
  }
}

/**
 * Issues a challenge to users with a second factor, unless it is one that an option asks for and neither this option nor
 * `twoFactor.required` applies. A user without a factor enrols one if `twoFactor.required` applies.
 */
@Injectable()
export class SecondFactorChallengeIssuer {
  constructor(
    private readonly factors: GuardFactors,
    private readonly challenges: LoginChallenges,
    private readonly enrolments: EnrolmentTokens,
    private readonly requiredFactors: RequiredFactors,
    private readonly realm: Realm,
  ) {}

  async askOf({ user, userId, digest }: FirstFactor): Promise<AskedFactor | null> {
    const always = await this.factors.methodsOf(userId, ({ askedBy }) => !askedBy);
    const isRequired = !always && (await this.requiredFactors.appliesTo(user));
    // An enabled factor without any usable method still requires the challenge: the password alone is not enough.
    if (!always && !isRequired && !(await this.factors.areAskedOf(user))) return null;
    const others = await this.factors.methodsOf(userId, ({ askedBy }) => askedBy !== undefined);
    if (!always && !others)
      return isRequired
        ? { secondFactor: 'missing', issue: (ending) => this.enrolmentFor(userId, digest, ending) }
        : null;
    const methods = [...(always ?? []), ...(others ?? [])];
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
      methods: this.factors.all.map(({ enrols }) => enrols),
    };
  }
}

export const CHALLENGE_HOOKS: HookPoints = {
  signInChallenge: (services, first) => services.get(SecondFactorChallengeIssuer).askOf(first),
  signInTrust: async (services, first, request) =>
    services.realm.options.twoFactor.trustedDeviceDays > 0
      ? services.get(TrustedDevices).trustOf(first, request)
      : null,
};

/**
 * The factor that a guard cannot ask of the users of its source, who can have it from another guard; first one that extra guards
 * cannot have. Undefined if it can ask every factor. Pure.
 */
function missingFactor(guard: GuardConfig, { guards }: UserSource, features: readonly Feature[]): Feature | undefined {
  const missing = features.filter(
    (feature) => !isOnAt(feature, guard) && guards.some((other) => isOnAt(feature, other)),
  );
  return missing.find(isOfDefaultGuard) ?? missing[0];
}

/**
 * Why an application must not start: a guard would accept the password alone of a user who has a factor of another guard of the
 * source, although an option of the guard asks for it. Pure.
 */
function sharedFactorErrors(config: GuardConfig, source: UserSource, features: readonly Feature[]): string[] {
  const { guard, isDefault, nameOf, confirm } = config;
  const missing = missingFactor(config, source, features);
  if (!missing) return [];
  const { plural, askedBy } = missing.factor!;
  const names = source.names.filter((name) => name !== guard).join('", "');
  const same = `, and the guard "${guard}" has the same users as "${names}", who can have ${plural}. This guard has none, so `;
  const own = isDefault ? '' : `guards.${guard}.`;
  const routes = 'and mark its routes with @RequireFactor()';
  const orOn = isOfDefaultGuard(missing) ? '.' : `, or switch features.${missing.name} on for this guard.`;
  return [
    requiresFactor(config) &&
      features.some((feature) => isOnAt(feature, config)) &&
      `${nameOf('twoFactor.required')} is set${same}such a user could enrol another factor with the password alone. ` +
        `Set ${own}twoFactor.required to false, ${routes}${orOn}`,
    askedBy &&
      askedBy.value(config) !== false &&
      `${nameOf(askedBy.option)} is set${same}such a user could sign in with the password alone. ` +
        `Set ${own}${askedBy.option} to false, ${routes}.`,
    confirm.factors === 'all' &&
      `${nameOf('confirm.factors')} (SVC_CONFIRM_FACTORS) is "all"${same}such a user could confirm with the password alone. ` +
        `Set ${own}confirm.factors to "one"${orOn}`,
  ].filter((text): text is string => typeof text === 'string');
}

/** Why an application must not start: no user could sign in, or less would be asked than an option states. */
export function factorErrors(
  { verifyOnly, guards }: AuthConfig,
  _production: boolean,
  sources: ReadonlyMap<string, UserSource>,
  manifests: readonly Feature[],
): string[] {
  const features = manifests.filter(({ factor }) => factor);
  const ofAllGuards = features.filter((feature) => !isOfDefaultGuard(feature)).map(({ name }) => `features.${name}`);
  return guards.flatMap((guard) => {
    const { nameOf, confirm } = guard;
    const factors: string = confirm.factors;
    return [
      !verifyOnly &&
        requiresFactor(guard) &&
        !features.some((feature) => isOnAt(feature, guard)) &&
        `${nameOf('twoFactor.required')} is set, but the users of the guard "${guard.guard}" can have no second factor, so ` +
          `none of them could sign in. Switch ${ofAllGuards.join(' or ')} on for this guard, or set guards.${guard.guard}.twoFactor.required to false.`,
      ...(verifyOnly ? [] : sharedFactorErrors(guard, sources.get(guard.guard)!, features)),
      !['one', 'all'].includes(factors) &&
        `${nameOf('confirm.factors')} (SVC_CONFIRM_FACTORS) is "${factors}". Use one or all.`,
    ].filter((text): text is string => typeof text === 'string');
  });
}
