import { SecurityStore } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { type Cbor, cbor } from '../support/cbor';
import { type Confirmed, PasskeyApp } from '../support/passkeys';
import { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import file from '../vectors/webauthn-l3/test_vectors.json';

interface Verdict {
  accept: boolean;
  reject_reasons: string[];
}

/** What the library does otherwise at registration: attestations are refused, user verification is not enforced. */
const OF_VERIFICATION = /^UV not set/;

const policy = 'expected_under_policy_uv_required_algs_ES256_RS256_no_cross_origin';
const base64url = (hex: string): string => Buffer.from(hex, 'hex').toString('base64url');
const accepted = ({ reject_reasons }: Verdict): boolean =>
  reject_reasons.every((reason) => OF_VERIFICATION.test(reason));
const LONGEST = 255;

const vectors = file.vectors.map(({ title, registration, authentication, [policy]: expected }) => {
  const id = base64url(registration.credential_id);
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(registration.attestationObject, 'hex')));
  const fits = id.length <= LONGEST;
  return {
    title,
    id,
    registration,
    authentication,
    format: attestation.get('fmt'),
    authData: attestation.get('authData'),
    registers: fits && accepted(expected.registration as Verdict),
    signsIn: fits && (expected.authentication as Verdict).accept,
  };
});

describe('the test vectors of WebAuthn Level 3', () => {
  let app: PasskeyApp;
  let ada: Confirmed;
  let store: SecurityStore;

  beforeAll(async () => {
    app = await PasskeyApp.start({ passkeys: { rpId: file.rp_id, origins: [file.origin] } });
    ada = await app.confirmed();
    store = app.t.app.get(SecurityStore);
  });
  afterAll(() => app.stop());

  /** Sends a registration that answers the vector's own challenge. */
  async function register(
    { id, registration }: Pick<(typeof vectors)[number], 'id' | 'registration'>,
    attestationObject: string,
  ): Promise<boolean> {
    await store.setMany(['svc:pk:reg:api:1'], base64url(registration.challenge), 60);
    const response = { clientDataJSON: base64url(registration.clientDataJSON), attestationObject };
    const { status } = await app.register(ada, { id, rawId: id, type: 'public-key', response });
    return status === 204;
  }

  /** The same registration as browsers send it to who asks for no attestation. */
  const unattested = (authData: Uint8Array): string =>
    cbor(
      new Map<Cbor, Cbor>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]),
    ).toString('base64url');

  it('are all here', () => {
    expect(vectors).toHaveLength(15);
    expect(vectors.filter(({ registers }) => registers)).toHaveLength(8);
    expect(vectors.filter(({ signsIn }) => signsIn)).toHaveLength(2);
  });

  it.each(vectors)('$title: registers as it stands: only without attestation', async (vector) => {
    const registered = await register(vector, base64url(vector.registration.attestationObject));
    expect(registered).toBe(vector.format === 'none' && vector.registers);
    await app.t.database.query('DELETE FROM passkeys');
  });

  it.each(vectors)('$title: registers ($registers) and signs in ($signsIn), byte for byte', async (vector) => {
    expect(await register(vector, unattested(vector.authData))).toBe(vector.registers);
    const { authenticatorData, clientDataJSON, signature, challenge } = vector.authentication;
    const response = {
      authenticatorData: base64url(authenticatorData),
      clientDataJSON: base64url(clientDataJSON),
      signature: base64url(signature),
      userHandle: 'MQ',
    };
    const credential = { id: vector.id, rawId: vector.id, type: 'public-key', response };
    const [ceremony, damaged] = [randomUUID(), randomUUID()];
    await store.setMany([`svc:pk:login:${ceremony}`, `svc:pk:login:${damaged}`], `api:${base64url(challenge)}`, 60);
    const forged = {
      ...response,
      signature: base64url(signature.replace(/..$/, (last) => (last === '00' ? '01' : '00'))),
    };
    expect((await app.login(damaged, { ...credential, response: forged })).status).toBe(422);
    expect((await app.login(ceremony, credential)).status).toBe(vector.signsIn ? 200 : 422);
    await app.t.database.query('DELETE FROM passkeys');
  });
});

describe('the same vectors where user verification is preferred', () => {
  it('sign in for every registered key, of RS256 too', async () => {
    const app = await PasskeyApp.start({
      passkeys: { rpId: file.rp_id, origins: [file.origin], userVerification: 'preferred' },
    });
    const ada = await app.confirmed();
    const store = app.t.app.get(SecurityStore);
    const signedIn: string[] = [];
    for (const { id, title, registration, authentication, authData, registers } of vectors) {
      if (!registers) continue;
      await store.setMany(['svc:pk:reg:api:1'], base64url(registration.challenge), 60);
      const attestation = new Map<Cbor, Cbor>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]);
      const made = {
        clientDataJSON: base64url(registration.clientDataJSON),
        attestationObject: cbor(attestation).toString('base64url'),
      };
      await app.register(ada, { id, rawId: id, type: 'public-key', response: made }).expect(204);
      const ceremony = randomUUID();
      await store.setMany([`svc:pk:login:${ceremony}`], `api:${base64url(authentication.challenge)}`, 60);
      const { authenticatorData, clientDataJSON, signature } = authentication;
      const response = {
        authenticatorData: base64url(authenticatorData),
        clientDataJSON: base64url(clientDataJSON),
        signature: base64url(signature),
        userHandle: 'MQ',
      };
      if ((await app.login(ceremony, { id, rawId: id, type: 'public-key', response })).status === 200)
        signedIn.push(title);
    }
    expect(signedIn).toHaveLength(8);
    await app.stop();
  });
});
