import { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import { PasskeyCloneDetected, SecurityStore } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { TestApp } from '../support/hosts/app';
import { type Cbor, cbor } from '../support/flows/cbor';
import { eventually } from '../support/runtime/eventually';
import { type Confirmed, NOT_REGISTERED, NOT_VERIFIED, ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { rounds } from '../support/runtime/rounds';
import { SoftAuthenticator } from '@svc/auth/testing';
import file from '../vectors/webauthn-l3/test_vectors.json';

const ROUNDS = rounds(1);
/** More than there are connections. */
const AT_ONCE = 25;

describe('a ceremony', () => {
  const app = PasskeyApp.forFile();
  let ada: Confirmed;
  let authenticator: SoftAuthenticator;

  beforeEach(async () => {
    ada = await app.confirmed();
    authenticator = new SoftAuthenticator(ORIGIN);
    await app.enrol(ada, authenticator);
  });

  /** The counts of a synced passkey are not compared. */
  const boundToDevice = async () => {
    Object.assign(authenticator.flags, { be: false, bs: false });
    await app.t.database.query('UPDATE svc_passkeys SET backup_eligible = false, backed_up = false');
  };
  const statuses = async (calls: PromiseLike<{ status: number }>[]) =>
    (await Promise.all(calls)).map(({ status }) => status).toSorted();
  const once = (success: number): number[] => [success, ...Array.from({ length: AT_ONCE - 1 }, () => 422)];

  it('is answered once, by a sign-in', async () => {
    const { ceremony_id, options } = await app.requestOptions();
    const credential = authenticator.get(options);
    await app.login(ceremony_id, credential).expect(200);
    const replayed = await app.login(ceremony_id, credential).expect(422);
    expect(replayed.body).toEqual(NOT_VERIFIED);
    await app.login(ceremony_id, authenticator.get(options)).expect(422);
  });

  it('ends with any attempt, whatever its outcome', async () => {
    for (const hostile of [
      {},
      { id: 'x' },
      { ...authenticator.get((await app.requestOptions()).options), id: 'AAAA' },
    ]) {
      const { ceremony_id, options } = await app.requestOptions();
      await app.login(ceremony_id, hostile).expect(422);
      await app.login(ceremony_id, authenticator.get(options)).expect(422);
    }
    const creation = await app.creationOptions(ada);
    const second = new SoftAuthenticator(ORIGIN);
    const credential = second.create(creation);
    await app.register(ada, {}).expect(422);
    await app.register(ada, credential).expect(422);
    expect(await app.rows()).toHaveLength(1);
    // This includes a successful one: the response cannot register a deleted passkey again.
    const again = second.create(await app.creationOptions(ada));
    await app.register(ada, again).expect(204);
    await app.call('delete', `passkeys/${again.id}`, ada).expect(204);
    await app.register(ada, again).expect(422);
    expect(await app.rows()).toHaveLength(1);
  });

  it('ends with any attempt to confirm', async () => {
    const { ceremony_id, options } = await app.requestOptions();
    const bob = await app.t.session('bob@example.com');
    const body = { ceremony_id, credential: authenticator.get(options) };
    await app.t.call('post', '/auth/confirm-passkey', bob.access_token).send(body).expect(422);
    await app.login(ceremony_id, authenticator.get(options)).expect(422);
  });

  it('is not ended by a body that fails validation', async () => {
    const { ceremony_id, options } = await app.requestOptions();
    for (const credential of [undefined, null]) {
      const { body } = await app.login(ceremony_id, credential).expect(422);
      expect(body.errors).toEqual({ credential: ['The credential field is required.'] });
    }
    for (const credential of ['text', 7, [], [{}], true]) {
      const { body } = await app.login(ceremony_id, credential).expect(422);
      expect(body.errors).toEqual({ credential: ['The credential field must be an object.'] });
    }
    for (const id of [undefined, null, 7, [ceremony_id], { a: 1 }, 'x'.repeat(256)]) {
      expect((await app.login(id, {}).expect(422)).body.errors).toHaveProperty('ceremony_id');
    }
    await app.login(ceremony_id, authenticator.get(options)).expect(200);
  });

  it('of a registration is replaced by the next one, and belongs to its user', async () => {
    const second = new SoftAuthenticator(ORIGIN);
    const first = second.create(await app.creationOptions(ada));
    const next = await app.creationOptions(ada);
    const bob = await app.confirmed('bob@example.com');
    await app.register(bob, second.create(next)).expect(422);
    await app.creationOptions(bob);
    await app.register(bob, second.create(next)).expect(422);
    expect((await app.register(ada, first).expect(422)).body).toEqual(NOT_REGISTERED);
    await app.register(ada, second.create(await app.creationOptions(ada))).expect(204);
  });

  it('that was never started, or was started at another guard, is refused', async () => {
    const { options } = await app.requestOptions();
    const store = app.t.app.get(SecurityStore);
    const elsewhere = randomUUID();
    await store.setMany([`svc:pk:login:${elsewhere}`], `admin:${options.challenge}`, 60);
    for (const id of [randomUUID(), elsewhere, 'x', '\0', '__proto__', '*']) {
      expect((await app.login(id, authenticator.get(options)).expect(422)).body).toEqual(NOT_VERIFIED);
    }
    const here = randomUUID();
    await store.setMany([`svc:pk:login:${here}`], `api:${options.challenge}`, 60);
    await app.login(here, authenticator.get(options)).expect(200);
  });

  it('of a registration is refused at another guard and as a sign-in', async () => {
    const store = app.t.app.get(SecurityStore);
    const other = new SoftAuthenticator(ORIGIN);
    const creation = await app.creationOptions(ada);
    expect(await store.take('svc:pk:reg:api:1')).toBe(creation.challenge);
    for (const key of ['svc:pk:reg:admin:1', 'svc:pk:reg:1', 'svc:pk:reg::1', 'svc:pk:reg:api:2']) {
      await store.setMany([key], creation.challenge, 60);
      expect((await app.register(ada, other.create(creation)).expect(422)).body).toEqual(NOT_REGISTERED);
    }
    const { challenge, rp } = await app.creationOptions(ada);
    const credential = authenticator.get({ challenge, rpId: rp.id });
    for (const id of ['1', 'api:1', 'reg:api:1']) await app.login(id, credential).expect(422);
    const { options } = await app.requestOptions();
    await app.register(ada, other.create({ ...creation, challenge: options.challenge })).expect(422);
  });

  it('answered many times at once signs in once', async () => {
    const clones = app.t.recorded(PasskeyCloneDetected);
    const before = await app.sessions();
    for (let round = 0; round < ROUNDS; round++) {
      const { ceremony_id, options } = await app.requestOptions();
      const credential = authenticator.get(options);
      const calls = Array.from({ length: AT_ONCE }, () => app.login(ceremony_id, credential));
      expect(await statuses(calls)).toEqual(once(200));
    }
    expect(await app.sessions()).toBe(before + ROUNDS);
    expect(clones).toEqual([]);
  });

  it('answered many times at once registers one passkey', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const credential = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(ada));
      const calls = Array.from({ length: AT_ONCE }, () => app.register(ada, credential));
      expect(await statuses(calls)).toEqual(once(204).toSorted());
    }
    expect(await app.rows()).toHaveLength(1 + ROUNDS);
  });

  it('with one signature count, answered in many ceremonies at once, signs in once and reports the others as clones', async () => {
    const clones = app.t.recorded(PasskeyCloneDetected);
    await boundToDevice();
    await app.setCount(10);
    const ceremonies = await Promise.all(Array.from({ length: AT_ONCE }, () => app.requestOptions()));
    const answers = ceremonies.map(({ ceremony_id, options }) => ({
      ceremony_id,
      credential: authenticator.get(options, { count: 11 }),
    }));
    const calls = answers.map(({ ceremony_id, credential }) => app.login(ceremony_id, credential));
    expect(await statuses(calls)).toEqual(once(200));
    expect(clones).toHaveLength(AT_ONCE - 1);
    expect(await app.rows()).toMatchObject([{ sign_count: '11' }]);
  });

  it('that waits for another one with the same signature count is compared with the count that the other one stored', async () => {
    await boundToDevice();
    await app.setCount(10);
    const runner = app.t.database.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT 1 FROM svc_passkeys FOR UPDATE');
    const calls = statuses(Array.from({ length: 5 }, () => app.attempt(authenticator, { count: 11 })));
    await eventually(async () => {
      const [{ n }] = await app.t.database.query(
        `SELECT count(*)::int AS n FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return n === 5;
    });
    await runner.rollbackTransaction();
    await runner.release();
    expect(await calls).toEqual([200, 422, 422, 422, 422]);
  });
});

describe('a ceremony after its time', () => {
  it('accepts no answer', async () => {
    // Keys in Redis expire by the clock of Redis. Without Redis, ceremonies expire by the clock of the application.
    const passkeys = { ...PASSKEYS.passkeys, challengeTtl: 60 };
    const t = await TestApp.start({ redisUrl: '', options: { ...PASSKEYS, passkeys } });
    const app = new PasskeyApp(t);
    await t.person('ada@example.com');
    const ada = await app.confirmed();
    const [authenticator, second] = [new SoftAuthenticator(ORIGIN), new SoftAuthenticator(ORIGIN)];
    await app.enrol(ada, authenticator);
    const [early, late, creation] = [
      await app.requestOptions(),
      await app.requestOptions(),
      await app.creationOptions(ada),
    ];
    t.clock.advance(30);
    await app.login(early.ceremony_id, authenticator.get(early.options)).expect(200);
    t.clock.advance(31);
    await app.login(late.ceremony_id, authenticator.get(late.options)).expect(422);
    await app.register(ada, second.create(creation)).expect(422);
    await app.register(ada, second.create(await app.creationOptions(ada))).expect(204);
    await t.stop();
  });
});

interface Verdict {
  accept: boolean;
  reject_reasons: string[];
}

/** Where user verification is only preferred, the missing one is no reason to refuse. */
const OF_VERIFICATION = /^UV not set/;

const policy = 'expected_under_policy_uv_required_algs_ES256_RS256_no_cross_origin';
const base64url = (hex: string): string => Buffer.from(hex, 'hex').toString('base64url');
const accepted = ({ reject_reasons }: Verdict): boolean =>
  reject_reasons.every((reason) => OF_VERIFICATION.test(reason));

const vectors = file.vectors.map(({ title, registration, authentication, [policy]: expected }) => {
  const id = base64url(registration.credential_id);
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(registration.attestationObject, 'hex')));
  return {
    title,
    id,
    registration,
    authentication,
    isWithoutCertificate: attestation.get('fmt') === 'none' || title.endsWith(' with Self Attestation'),
    authData: attestation.get('authData'),
    registers: (expected.registration as Verdict).accept,
    registersIfPreferred: accepted(expected.registration as Verdict),
    signsIn: (expected.registration as Verdict).accept && (expected.authentication as Verdict).accept,
  };
});
type Vector = (typeof vectors)[number];

/** The registration as browsers send it when no attestation is requested. */
const unattested = ({ authData }: Vector): string =>
  cbor(
    new Map<Cbor, Cbor>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]),
  ).toString('base64url');

/** A host for the relying party of the vectors. */
function hostOfVectors(userVerification: 'required' | 'preferred') {
  const app = PasskeyApp.forFile({
    passkeys: { rpId: file.rp_id, origins: [file.origin], userVerification },
  });
  let ada: Confirmed;
  beforeEach(async () => {
    ada = await app.confirmed();
  });

  /** Sends a registration that answers the vector's own challenge. */
  async function registers({ id, registration }: Vector, attestationObject: string): Promise<boolean> {
    const store = app.t.app.get(SecurityStore);
    await store.setMany(['svc:pk:reg:api:1'], base64url(registration.challenge), 60);
    const response = { clientDataJSON: base64url(registration.clientDataJSON), attestationObject };
    const { status } = await app.register(ada, { id, rawId: id, type: 'public-key', response });
    expect([204, 422]).toContain(status);
    return status === 204;
  }

  /** Sends the assertion that answers the vector's own challenge; `change` modifies its signature. */
  async function signsIn({ id, authentication }: Vector, change = (signature: string) => signature): Promise<boolean> {
    const { authenticatorData, clientDataJSON, signature, challenge } = authentication;
    const ceremony = randomUUID();
    await app.t.app.get(SecurityStore).setMany([`svc:pk:login:${ceremony}`], `api:${base64url(challenge)}`, 60);
    const response = {
      authenticatorData: base64url(authenticatorData),
      clientDataJSON: base64url(clientDataJSON),
      signature: base64url(change(signature)),
      userHandle: 'MQ',
    };
    const { status } = await app.login(ceremony, { id, rawId: id, type: 'public-key', response });
    expect([200, 422]).toContain(status);
    return status === 200;
  }

  return { registers, signsIn };
}

describe('the test vectors of WebAuthn Level 3', () => {
  const { registers, signsIn } = hostOfVectors('required');

  it('are complete', () => {
    expect(vectors).toHaveLength(15);
    expect(vectors.filter((vector) => vector.registers)).toHaveLength(5);
    expect(vectors.filter((vector) => vector.registersIfPreferred)).toHaveLength(9);
    expect(vectors.filter((vector) => vector.signsIn)).toHaveLength(2);
  });

  it.each(vectors)('$title: registers unchanged only if no certificate attests it', async (vector) => {
    const original = base64url(vector.registration.attestationObject);
    expect(await registers(vector, original)).toBe(vector.isWithoutCertificate && vector.registers);
  });

  it.each(vectors)('$title: registers ($registers) and signs in ($signsIn) with the original bytes', async (vector) => {
    expect(await registers(vector, unattested(vector))).toBe(vector.registers);
    const forged = (signature: string): string => signature.replace(/..$/, (last) => (last === '00' ? '01' : '00'));
    expect(await signsIn(vector, forged)).toBe(false);
    expect(await signsIn(vector)).toBe(vector.signsIn);
  });
});

describe('the same vectors where user verification is preferred', () => {
  const { registers, signsIn } = hostOfVectors('preferred');

  it('sign in for every registered key, RS256 included', async () => {
    const signedIn: string[] = [];
    for (const vector of vectors) {
      if (!vector.registersIfPreferred) continue;
      expect(await registers(vector, unattested(vector))).toBe(true);
      if (await signsIn(vector)) signedIn.push(vector.title);
    }
    expect(signedIn).toHaveLength(9);
  });
});
