import type { GuardConfig } from '../../foundation/config/auth-config';
import type { Sql } from '../../foundation/platform/database';
import { AuthException } from '../../foundation/platform/errors';
import { FLAG, type Schema, namedSchema, oneOf, record } from '../../foundation/platform/schema';
import type { RegisteredBody } from '../../foundation/ports/presenter';
import type { Feature } from '../../foundation/realm/feature';
import type { Refusal } from '../../foundation/realm/route';
import { status } from '../../request/routes/route';
import type { LookUp } from '../../identity/users/timed-user-provider';
import type { RowBeside } from '../../identity/users/typeorm-accounts';
import type { LoginAnswer } from './login';
import type { SignInEnding } from '../sessions/sign-in';

/** The fields of a body that the rules of the registration declare. */
export type AccountFields = Readonly<Record<string, unknown>>;

/** The answer to every registration with `registration.concealExisting`. */
export interface RegistrationReceived {
  readonly status: 'registration-received';
}

export type RegistrationAnswer = LoginAnswer | RegisteredBody | RegistrationReceived;

/** The verified credential of an account without a password. */
export interface AccountCredential {
  /** How the first sign-in ends; read after the account was stored. */
  readonly signIn: Pick<SignInEnding, 'methods' | 'credentialId' | 'origin'>;
  /** Whether it proves two factors. */
  readonly hasTwoFactors: boolean;
  /** The address that it proves. An account with this address has a verified one, and the answer conceals nothing. */
  readonly proves?: string | null;
  /** What {@link store} throws if the id of the credential exists. */
  readonly refusal: AuthException;

  /**
   * Stores the credential in the transaction that creates the account.
   *
   * @param userId null if the identifier is taken
   * @throws the {@link refusal} if its id exists, whether or not the identifier is taken
   */
  store(sql: Sql, userId: string | null): Promise<void>;

  /** As {@link store}, for a user store that creates the account with it in one statement. */
  readonly row?: RowBeside;

  /** What was found by an identifier together with the credential, so that it is not looked up again. */
  readonly known?: { readonly identifier: string; readonly found: LookUp };

  /** Whether the credential is stored. Waits for a transaction that is removing it. Omitted where the origin of `signIn` decides. */
  isStored?(): Promise<boolean>;

  /** Announces the credential of the new account. */
  announce(userId: string): void;
}

/** Creates accounts with a credential of another feature and without a password. Registration provides it. */
export abstract class AccountOpening {
  /** Reads the fields without the password. Reads no account, so its errors show none. @throws ValidationFailed */
  abstract read(request: object): Promise<AccountFields>;

  /**
   * Creates an account from valid fields and signs the user in.
   *
   * @param verify verifies the credential; its proof cannot be used again
   * @throws ValidationFailed, the refusal of the credential; IdentifierTaken without `registration.concealExisting`
   */
  abstract open(
    fields: AccountFields,
    request: object,
    verify: () => Promise<AccountCredential>,
  ): Promise<RegistrationAnswer>;

  /** The schema of a body with the fields of {@link read} and those of a proof. */
  abstract bodyWith(proof: Schema | null): Schema;
}

/** An account with this identifier exists: 422 under the field of the identifier. */
export class IdentifierTaken extends AuthException {
  constructor(field: string) {
    const params = { field: field.replaceAll('_', ' ') };
    super('identifier_taken', { status: 422, errors: { [field]: [{ key: 'validation.taken', params }] } });
  }
}

const REGISTERED = namedSchema(
  'AuthRegistered',
  record<RegisteredBody>({ registered: oneOf(true), requires_verification: FLAG }),
);

/** Session tokens and a challenge are answered 200, as at a login. */
const createdStatus = (answer: object): number => ('registered' in answer ? 201 : 'status' in answer ? 202 : 200);

/**
 * What the routes that create an account declare in common.
 *
 * @param signedIn the answer with a session
 * @param refusal what refuses the attempt besides a taken identifier
 */
export const accountRoute = (
  signedIn: (options: GuardConfig, manifests: readonly Feature[]) => Schema,
  refusal: Refusal,
) =>
  ({
    public: 'own-origin',
    limiter: 'svc-register',
    statusOf: createdStatus,
    answers: (options: GuardConfig, manifests: readonly Feature[]) =>
      options.facts.concealsAccounts
        ? { 202: status('registration-received') }
        : { ...(options.facts.signsInCreated && { 200: signedIn(options, manifests) }), 201: REGISTERED },
    refusals: [
      ({ username, facts }: GuardConfig) => (facts.concealsAccounts ? [] : [new IdentifierTaken(username)]),
      refusal,
    ],
    remembers: true,
    presentedAs: 'registration',
  }) as const;
