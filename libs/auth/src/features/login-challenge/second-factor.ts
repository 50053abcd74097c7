import { Inject, Injectable } from '@nestjs/common';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { callHost } from '../../foundation/platform/deadline';
import { AuthException, ValidationFailed } from '../../foundation/platform/errors';
import type { Text } from '../../foundation/platform/messages';
import type { EnrolmentMethod, SecondFactorMethod } from '../../foundation/ports/presenter';
import { type Factor, type Feature, MANIFESTS } from '../../foundation/realm/feature';
import { RealmScope } from '../../foundation/realm/realm';
import { named } from '../../request/http/request-body';
import { AttemptGuard, FailureLimits } from '../../request/lockout/attempt-guard';
import { userLock } from '../../request/lockout/lockout.store';
import { answerIn } from './challenge-answer.policy';
import { challengeText } from './challenge.texts';
import { TrustedDeviceStore } from './trusted-device.store';

/** A credential with which a user has signed in. */
export interface UsedCredential {
  readonly id: string;
  /** Whether it still exists. Called after the session is stored: either this sees the removal, or the removal ends the session. */
  isCurrent(): Promise<boolean>;
}

/** A correct second factor that is not consumed yet. */
export interface FactorMatch {
  /** The credential, if its removal ends the session. */
  readonly credential?: UsedCredential;
  /** Consumes the factor, atomically; false if another request has consumed it. @throws UsedCode for a code of a time step */
  spend(): Promise<boolean>;
}

/** The second factors of one feature: which a user has, and whether an answer is right. */
export abstract class SecondFactor {
  /** The methods that the user can use now; null for a user without this factor. Called after a correct first factor. */
  abstract methodsOf(userId: string): Promise<readonly SecondFactorMethod[] | null>;

  /** A text that differs for each set of secrets of the user; null for a user without this factor. */
  abstract stateOf(userId: string): Promise<string | null>;

  /**
   * Checks an answer without consuming it. Null for a wrong answer, and for a user without this factor.
   *
   * @param answer the fields that the feature adds to the body, one of its answers; null for the others
   */
  abstract match(userId: string, answer: object): Promise<FactorMatch | null>;

  async isHeldBy(userId: string): Promise<boolean> {
    return (await this.stateOf(userId)) !== null;
  }
}

type FactorService = abstract new (...args: never[]) => SecondFactor;

/** A way to answer a challenge with a factor. */
export interface FactorAnswer {
  readonly method: SecondFactorMethod;
  /** The fields of the answer in a body. All of them are required. */
  readonly fields: readonly string[];
  /** Whether wrong answers lock the factors of the account. */
  readonly isGuessable?: true;
  /** The field under which a refusal is reported, by default `code`. */
  readonly field?: string;
  /** What a right answer unlocks besides the factors of the account. */
  readonly releases?: readonly Parameters<typeof userLock>[0][];
}

declare module '../../foundation/realm/feature' {
  interface Factor {
    readonly service: FactorService;
    /** The authentication method of its answers (RFC 8176). */
    readonly amr: 'otp' | 'webauthn';
    /** What its users have, in the plural, for errors of the configuration. */
    readonly plural: string;
    readonly answers: readonly FactorAnswer[];
    /** The method that a user can set up during a sign-in. */
    readonly enrols: EnrolmentMethod;
    /** The option by which users with this factor must present one. Without it, they always must. */
    readonly askedBy?: {
      readonly option: string;
      readonly value: (options: GuardConfig) => boolean | ((user: object) => boolean | Promise<boolean>);
    };
  }
}

/** The factors of all features, on or off, each with the name of its feature. */
export const factorsOf = (manifests: readonly Feature[]): readonly (Factor & { readonly name: string })[] =>
  manifests.flatMap(({ name, factor }) => (factor ? [{ name, ...factor }] : []));

/** An answer in a body, and its factor. */
export interface GivenAnswer extends FactorAnswer {
  readonly factor: Factor;
}

/** The code is wrong, or the user has no second factor: 422, with the same body in both cases. */
export class WrongCode extends AuthException {
  constructor() {
    super('wrong_code', { status: 422, errors: { code: [challengeText('auth.wrong_code')] } });
  }
}

/**
 * The code is that of its time step, and this account has accepted it, or a later one, before: 422. The user waits for the next.
 *
 * It is not counted as a failure, because the owner of the authenticator sends it, and it resets no counter. An attacker cannot
 * use the answer. A code of a step says nothing about the code of another step, and this one is never accepted again. A guess
 * that meets it is one of a few in a million, and every other guess is counted. An attacker who has observed the code learns
 * that it was right, but not more than at the moment of the observation. A locked account and an exhausted limit refuse before
 * the code is checked, and the limit of each route counts this request, too.
 */
export class UsedCode extends AuthException {
  constructor() {
    super('used_code', { status: 422, errors: { code: [challengeText('auth.used_code')] } });
  }

  override get isInconclusive(): boolean {
    return true;
  }
}

/** The second factors that the users of a guard can have. */
@Injectable()
export class GuardFactors {
  private cached?: readonly (Factor & { readonly name: string; readonly held: SecondFactor })[];

  constructor(
    private readonly scope: RealmScope,
    private readonly devices: TrustedDeviceStore,
    private readonly attempts: AttemptGuard,
    private readonly limits: FailureLimits,
    @Inject(MANIFESTS) private readonly manifests: readonly Feature[],
  ) {}

  /** The factors of the features that are on, each with its service. */
  get all() {
    return (this.cached ??= factorsOf(this.manifests.filter((feature) => this.scope.isOn(feature))).map((factor) => ({
      ...factor,
      held: this.scope.get(factor.service),
    })));
  }

  /** The methods of a user with some of the factors; null for a user without any of these. */
  async methodsOf(userId: string, isMeant: (factor: Factor) => boolean): Promise<SecondFactorMethod[] | null> {
    const factors = this.all.filter(isMeant);
    const found = await Promise.all(factors.map(({ held }) => held.methodsOf(userId)));
    const methods = found.filter((list) => list !== null);
    return methods.length ? methods.flat() : null;
  }

  /** Whether an option of a factor requires a second factor of a user who has this one. */
  async areAskedOf(user: object): Promise<boolean> {
    for (const { askedBy } of this.all) {
      const asked = askedBy?.value(this.scope.realm.options);
      if (typeof asked === 'function' ? await callHost(askedBy!.option, () => asked(user)) : asked) return true;
    }
    return false;
  }

  /** @param except the service of a factor that does not count */
  async isHeldBy(userId: string, except?: FactorService): Promise<boolean> {
    for (const { service, held } of this.all) if (service !== except && (await held.isHeldBy(userId))) return true;
    return false;
  }

  /** The state of each factor that the user has. */
  async stateOf(userId: string): Promise<readonly (readonly [name: string, state: string | null])[]> {
    const states = this.all.map(async ({ name, held }) => [name, await held.stateOf(userId)] as const);
    return (await Promise.all(states)).filter(([, state]) => state !== null);
  }

  /**
   * The answer in a body; null without one.
   *
   * @param isMeant which factors can be answered with the body
   * @throws ValidationFailed for several answers, and for a part of one
   */
  answerIn(body: object, isMeant = (_: Factor): boolean => true): GivenAnswer | null {
    const factors = factorsOf(this.manifests).filter(isMeant);
    const answers = factors.flatMap((factor) => factor.answers.map((answer) => ({ ...answer, factor })));
    const found = answerIn(answers, body);
    if (!found || !('problem' in found)) return found;
    const textOf = (field: string): Text =>
      found.problem === 'missing'
        ? { key: 'validation.required', params: { field: named(field) } }
        : challengeText('auth.one_factor_only');
    throw new ValidationFailed(Object.fromEntries(found.fields.map((field) => [field, [textOf(field)]])));
  }

  /** Checks the answer in a body without consuming it. Null for a wrong answer, also where the feature of its factor is off. */
  async match(userId: string, { factor }: GivenAnswer, body: object): Promise<FactorMatch | null> {
    const own = this.all.find(({ service }) => service === factor.service);
    return own ? own.held.match(userId, body) : null;
  }

  /**
   * Runs the check of an answer, protected by the lockout and the limit on failures.
   *
   * @param check resolves to null for a wrong answer
   * @throws AccountIsLocked, TooManyFailures, WrongCode
   */
  async attempt<T>(
    userId: string,
    { isGuessable, field = 'code', releases = [] }: Omit<FactorAnswer, 'method' | 'fields'>,
    check: () => Promise<T | null>,
  ): Promise<T> {
    const lock = userLock('two_factor', userId);
    const attempt = {
      // Only a secret that can be guessed is locked. A locked user can still sign in with another one.
      lock: isGuessable && lock,
      limits: this.limits.ofTwoFactor(userId),
      field,
      released: () => [lock, ...releases.map((purpose) => userLock(purpose, userId))],
    };
    const checked = await this.attempts.run(attempt, check);
    if (checked === null) throw new WrongCode();
    return checked;
  }

  /**
   * Ends the trust in all devices of a user, at all guards of the source. Called before a factor is added: after its removal, the
   * user has the former factors again, and an earlier binding would match.
   */
  endTrust(userId: string): Promise<void> {
    return this.devices.removeAll(userId, this.scope.realm.source.names);
  }
}
