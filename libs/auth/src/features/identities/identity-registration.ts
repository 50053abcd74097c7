import { Injectable, Optional } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Realm, deadline, errors, event, identity, input, schema, session } from '../../kit';
import { type Answered, IdentityAttempts, IdentityCookie } from './attempts';
import { BadContinuation, IdentityNotLinked, ProviderRefused } from './identities.errors';
import { IdentityLinked } from './identities.events';
import { type IdentityOwner, IdentityStore, originOf } from './identity.store';
import { ProviderClients } from './protocol/provider-clients';
import { provesAddress } from './protocol/provider-identity.policy';

/** The answer for a person without an account, if the provider does not give all fields of one. */
export interface RegistrationRequired {
  readonly status: 'registration-required';
  /** The secret that the browser sends with the fields. */
  readonly continuationToken: string;
  /** Seconds for which the registration can be continued. */
  readonly expiresIn: number;
  /** The fields that are missing, or that the rules refuse. */
  readonly fields: readonly string[];
  /** What the provider says, as a proposal. */
  readonly name: string | null;
  readonly email: string | null;
}

/** Creates accounts of persons who come from a provider, by the rules of the registration and without a password. */
@Injectable()
export class IdentityRegistration {
  constructor(
    private readonly attempts: IdentityAttempts,
    private readonly cookie: IdentityCookie,
    private readonly clients: ProviderClients,
    private readonly store: IdentityStore,
    private readonly events: event.AuthEvents,
    private readonly users: identity.TimedUserProvider,
    private readonly realm: Realm,
    @Optional() private readonly opening?: session.AccountOpening,
  ) {}

  /**
   * Creates the account, or keeps the person until the missing fields are sent. Reads no account, unless the provider has proved
   * the address.
   *
   * @param owner of the identity, which is free: the answers must be those for an identity that no account has
   * @throws IdentityNotLinked, IdentityTaken, ProviderRefused; the errors of {@link AccountOpening.open}
   */
  async begin(
    answered: Answered,
    owner: IdentityOwner,
    request: object,
  ): Promise<session.RegistrationAnswer | RegistrationRequired> {
    const opening = this.required();
    const { person } = answered;
    try {
      return await this.open(answered, await opening.read(asked(request, person, {})), owner, request);
    } catch (error) {
      if (!(error instanceof errors.ValidationFailed)) throw error;
      await this.refuseProvedOwner(answered);
      const faults = Object.keys(error.failure.errors ?? {}).map((path) => path.split('.')[0]!);
      const continuationToken = await this.attempts.keep(answered);
      return {
        status: 'registration-required',
        continuationToken,
        expiresIn: this.attempts.lifetime,
        fields: [...new Set(faults)],
        name: person.name,
        email: person.email,
      };
    }
  }

  /**
   * Continues a registration with the fields of the request.
   *
   * @param enter signs the person in, or creates the account
   * @throws BadContinuation; ValidationFailed, IdentifierTaken and StoreUnavailable without using the registration up
   */
  async complete(
    request: RegistrationRequest,
    enter: (
      answered: Answered,
      create: (owner: IdentityOwner) => Promise<session.RegistrationAnswer>,
    ) => Promise<session.RegistrationAnswer>,
  ): Promise<session.RegistrationAnswer> {
    const opening = this.required();
    const token = this.cookie.presented(input.ownField(request.body, 'continuation_token'), request);
    const answered = await this.attempts.findKept(token);
    if (!answered) throw new BadContinuation();
    const body = input.isRecord(request.body) ? request.body : {};
    const fields = await opening.read(asked(request, answered.person, body));
    input.rememberIn(request, this.realm.options);
    if (!(await this.attempts.takeKept(token))) throw new BadContinuation();
    try {
      return await enter(answered, (owner) => this.open(answered, fields, owner, request));
    } catch (error) {
      const isRefused = error instanceof session.IdentifierTaken || error instanceof errors.ValidationFailed;
      if (isRefused || deadline.isInconclusive(error))
        await deadline.bestEffort('restoring a registration', () => this.attempts.keep(answered, token), 0);
      throw error;
    }
  }

  /** The schema of a body with the fields of the registration and the token. */
  body(): schema.Schema {
    const continuation_token = schema.of(schema.TEXT, 'Of the callback. In cookie mode, in a cookie.');
    const token = schema.objectOf({ continuation_token }, () => false);
    return this.opening?.bodyWith(token) ?? token;
  }

  /** An extra guard inherits the options of the registration, but its users do not register themselves unless it says so. */
  private required(): session.AccountOpening {
    const { identities, isDefault } = this.realm.options;
    if (!this.opening || !(identities.register ?? isDefault)) throw new IdentityNotLinked();
    return this.opening;
  }

  /** The person has proved the address, so the answer may show that it has an account. @throws IdentityNotLinked */
  private async refuseProvedOwner(answered: Answered): Promise<void> {
    const proved = this.provedBy(answered);
    if (proved !== null && (await this.users.lookUpEmail(proved)).takenBy !== null) throw new IdentityNotLinked();
  }

  private provedBy({ provider, person }: Answered): string | null {
    const authorityFor = this.clients.find(provider)?.authorityFor ?? [];
    return provesAddress(person, authorityFor) ? person.email : null;
  }

  private async open(
    answered: Answered,
    fields: session.AccountFields,
    owner: IdentityOwner,
    request: object,
  ): Promise<session.RegistrationAnswer> {
    const proved = this.provedBy(answered);
    // Only of an account that gets the address: otherwise a proved one would show by the answer whether another one has an account.
    const proves = proved !== null && isAddress(fields.email, proved) ? proved : null;
    const isIdentifier = proves !== null && this.realm.options.username === 'email';
    // Of an identifier, the registration finds the owner itself.
    if (!isIdentifier) await this.refuseProvedOwner(answered);
    const credential = this.credentialOf(answered, proves, owner);
    return this.required()
      .open(fields, request, async () => credential)
      .catch((error: unknown) => {
        // A change of the address that is not completed holds it, or a concurrent request has taken it.
        if (isIdentifier && error instanceof session.IdentifierTaken) throw new IdentityNotLinked();
        throw error;
      });
  }

  private credentialOf(
    { provider, ...answered }: Answered,
    proves: string | null,
    { former, known }: IdentityOwner,
  ): session.AccountCredential {
    const { person } = answered;
    const { issuer, subject, email } = person;
    const refusal = new ProviderRefused();
    const id = randomUUID();
    const added = { provider, issuer, subject, email };
    return {
      signIn: { methods: ['fed'], origin: originOf(id, answered) },
      hasTwoFactors: false,
      proves,
      known,
      // An account has got the identity meanwhile.
      refusal,
      row: this.realm.options.facts.concealsAccounts ? undefined : this.store.row(id, added),
      store: async (sql, userId) => {
        // For a taken address too, so that both need the same queries. Sent together, and executed in this order.
        const [, isAdded] = await Promise.all([
          this.store.release(sql, person, userId === null ? null : former),
          userId === null ? this.store.find(person, sql) : this.store.add(sql, { id, userId, ...added }),
        ]);
        if (userId !== null && isAdded !== true) throw refusal;
      },
      announce: (userId) => this.events.emit(new IdentityLinked(userId, id, provider, this.realm.guard)),
    };
  }
}

interface RegistrationRequest {
  readonly body?: unknown;
  readonly headers?: { readonly cookie?: unknown };
}

const isAddress = (field: unknown, email: string): boolean =>
  typeof field === 'string' && identity.canonicalEmail(field) === identity.canonicalEmail(email);

/** The request with the fields of a body. What the person has not sent is as the provider says. */
function asked(request: object, { name, email }: Answered['person'], body: Readonly<Record<string, unknown>>): object {
  const missing = Object.entries({ name, email }).filter(([field]) => input.ownField(body, field) === null);
  const value = { ...body, ...Object.fromEntries(missing) };
  return Object.create(request, { body: { value, enumerable: true } }) as object;
}
