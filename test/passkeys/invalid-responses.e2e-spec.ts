import { PasskeyBackupChanged, PasskeyCloneDetected } from '@svc/auth';
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { onFastify } from '../support/hosts/adapter';
import {
  type Confirmed,
  NOT_REGISTERED,
  NOT_VERIFIED,
  ORIGIN,
  PasskeyApp,
  UNKNOWN_PASSKEY,
} from '../support/flows/passkeys';
import { coseKeyOf } from '../support/flows/cose-key';
import { type Change, type Sent, SoftAuthenticator } from '@svc/auth/testing';
import {
  INVALID_VALUES,
  MISSING_FIELDS,
  INHERITED_FIELDS,
  ASSERTION_FIELDS,
  REGISTRATION_FIELDS,
  type Mutation,
  bitsIn,
  withFlippedBit,
  mutationsWith,
  uncheckedBits,
} from '../support/clients/malformed-credentials';

/** Changes that invalidate both a registration and an assertion. */
const CHANGES: [string, Change][] = [
  ['without user verification', { uv: false }],
  ['of an unknown type', { clientData: { type: 'webauthn.neither' } }],
  ['of a payment', { clientData: { type: 'payment.get' } }],
  ['without a type', { clientData: { type: undefined } }],
  ['with another challenge', { clientData: { challenge: randomBytes(16).toString('base64url') } }],
  ['without a challenge', { clientData: { challenge: undefined } }],
  ['with an empty challenge', { clientData: { challenge: '' } }],
  ['from a look-alike origin', { clientData: { origin: 'https://app.examp1e.com' } }],
  ['from an origin with the same prefix', { clientData: { origin: `${ORIGIN}.evil.test` } }],
  ['from a subdomain of an origin', { clientData: { origin: `https://x.app.example.com` } }],
  ['from another port', { clientData: { origin: `${ORIGIN}:8443` } }],
  ['from the default port, spelled out', { clientData: { origin: `${ORIGIN}:443` } }],
  ['over plain HTTP', { clientData: { origin: 'http://app.example.com' } }],
  ['from an origin in capitals', { clientData: { origin: 'https://APP.example.com' } }],
  ['from an origin with a path', { clientData: { origin: `${ORIGIN}/` } }],
  ['from an app', { clientData: { origin: 'android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS0-0JxgbGTNUGX_Aw' } }],
  ['from no origin', { clientData: { origin: undefined } }],
  ['from a list of origins', { clientData: { origin: [ORIGIN] } }],
  ['from a frame', { clientData: { crossOrigin: true } }],
  ['with a text as crossOrigin', { clientData: { crossOrigin: 'false' } }],
  ['embedded in another page', { clientData: { topOrigin: 'https://evil.test' } }],
  ['from a frame of its own origin', { clientData: { crossOrigin: true, topOrigin: ORIGIN } }],
  ['with an invalid token binding', { clientData: { tokenBinding: 'x' } }],
  ['for another relying party', { rpId: 'example.org' }],
  ['for the domain of the page instead of the relying party', { rpId: 'app.example.com' }],
  ['without user presence', { up: false }],
  ['backed up but not eligible for backup', { be: false, bs: true }],
];

const ofKey = (key: Change['coseKey']): Change => ({ coseKey: key });
const ec = (curve: string) => coseKeyOf(generateKeyPairSync('ec', { namedCurve: curve }).publicKey);
const rsa = (bits: number) => coseKeyOf(generateKeyPairSync('rsa', { modulusLength: bits }).publicKey);
/** One key for all tests, because the generation of a key takes 0.1 s. */
const RSA = rsa(2048);
const rsaOf = (n: (right: Buffer) => Buffer, e: number[]): Change =>
  ofKey(with_(RSA, [-1, n(RSA.get(-1) as Buffer)], [-2, Buffer.from(e)]));
const right = (n: Buffer): Buffer => n;
const even = (n: Buffer): Buffer => Buffer.concat([n.subarray(0, -1), Buffer.from([n.at(-1)! ^ 1])]);
const padded = (n: Buffer): Buffer => Buffer.concat([Buffer.alloc(1), n]);
const with_ = (key: ReturnType<typeof ec>, ...members: [number, number | Uint8Array][]) =>
  new Map([...key, ...members]);

const KEYS: [string, Change][] = [
  ['ES384', ofKey(with_(ec('P-384'), [3, -35], [-1, 2]))],
  ['ES512', ofKey(with_(ec('P-521'), [3, -36], [-1, 3]))],
  ['ES256K', ofKey(with_(ec('secp256k1'), [3, -47], [-1, 8]))],
  [
    'EdDSA',
    ofKey(
      new Map<number, number | Uint8Array>([
        [1, 1],
        [3, -8],
        [-1, 6],
        [-2, randomBytes(32)],
      ]),
    ),
  ],
  ['PS256', ofKey(with_(RSA, [3, -37]))],
  ['RS1', ofKey(with_(RSA, [3, -65535]))],
  ['no algorithm', ofKey(new Map([...ec('P-256')].filter(([member]) => member !== 3)))],
  ['ES256 on another curve', ofKey(with_(ec('P-384'), [-1, 2]))],
  ['ES256 with a key of another curve', ofKey(with_(ec('P-384')))],
  ['ES256 off its curve', ofKey(with_(ec('P-256'), [-2, randomBytes(32)]))],
  ['ES256 without a point', ofKey(with_(ec('P-256'), [-2, new Uint8Array()]))],
  ['ES256 with an RSA key', ofKey(with_(RSA, [3, -7]))],
  ['RS256 with 1024 bits', ofKey(rsa(1024))],
  ['RS256 with the exponent 1', rsaOf(right, [1])],
  ['RS256 with the exponent 3', rsaOf(right, [3])],
  ['RS256 with an even exponent', rsaOf(right, [1, 0, 0])],
  ['RS256 with a padded exponent', rsaOf(right, [0, 1, 0, 1])],
  ['RS256 without an exponent', rsaOf(right, [])],
  ['RS256 with an even modulus', rsaOf(even, [1, 0, 1])],
  ['RS256 with a padded modulus', rsaOf(padded, [1, 0, 1])],
  ['RS256 without a modulus', rsaOf(() => Buffer.alloc(0), [1, 0, 1])],
  ['RS256 with 32768 bits', rsaOf(() => Buffer.alloc(4096, 255), [1, 0, 1])],
  ['RS256 with a point', ofKey(with_(ec('P-256'), [3, -257]))],
  ['RS256 with a member of another type', ofKey(with_(RSA, [-3, randomBytes(32)]))],
  ['RS256 with a private exponent', ofKey(with_(RSA, [-3, randomBytes(256)]))],
  ['ES256 with a private key', ofKey(with_(ec('P-256'), [-4, randomBytes(32)]))],
  ['ES256 with an id', ofKey(with_(ec('P-256'), [2, randomBytes(8)]))],
  ['ES256 with a base IV', ofKey(with_(ec('P-256'), [5, randomBytes(8)]))],
  ['ES256 with an unknown member', ofKey(with_(ec('P-256'), [-70_000, 1]))],
];

// One application for all tests: a refused response does not change its state.
let app: PasskeyApp;
let ada: Confirmed;
let events: object[];
const authenticator = new SoftAuthenticator(ORIGIN);

beforeAll(async () => {
  app = await PasskeyApp.start();
  ada = await app.confirmed();
  await app.enrol(ada, authenticator);
  events = [app.t.recorded(PasskeyCloneDetected), app.t.recorded(PasskeyBackupChanged)];
});
afterAll(() => app.stop());

const state = async () => JSON.stringify([await app.rows(), await app.sessions(), events]);

/** Runs `work` and expects that it changes no state. */
async function unchanged(work: () => Promise<void>): Promise<void> {
  const before = await state();
  await work();
  expect(await state()).toBe(before);
}

/** Tries a sign-in that must be refused. Only the refusal of an id that is not stored has a reason. */
async function tryLogin(change: Change, mutate: Mutation = (sent) => sent, from = authenticator): Promise<void> {
  let id: unknown;
  const { status, body } = await app.attempt(from, change, (sent) => {
    const spoilt = mutate(sent);
    ({ id } = spoilt as Sent);
    return spoilt;
  });
  expect({ status, body }).toEqual({ status: 422, body: body.reason ? UNKNOWN_PASSKEY : NOT_VERIFIED });
  if (body.reason) expect((await app.rows()).map(({ credential_id }) => credential_id)).not.toContain(id);
}

/** Tries a registration that must be refused. */
async function tryRegistration(change: Change, mutate: Mutation = (sent) => sent): Promise<void> {
  const credential = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(ada), change);
  const { status, body } = await app.register(ada, mutate(credential));
  expect({ status, body }).toEqual({ status: 422, body: NOT_REGISTERED });
}

const refuseLogin = (change: Change, mutate?: Mutation): Promise<void> => unchanged(() => tryLogin(change, mutate));
const refuseRegistration = (change: Change, mutate?: Mutation): Promise<void> =>
  unchanged(() => tryRegistration(change, mutate));

describe('a hostile response', () => {
  it.each([...CHANGES, ['of a registration', { clientData: { type: 'webauthn.create' } }]] as [string, Change][])(
    '%s signs no user in',
    (_, change) => refuseLogin(change),
  );

  it.each([...CHANGES, ['of an assertion', { clientData: { type: 'webauthn.get' } }]] as [string, Change][])(
    '%s registers nothing',
    (_, change) => refuseRegistration(change),
  );

  it.each(KEYS)('with a key of %s registers nothing', (_, change) => refuseRegistration(change));

  it.each(['fido-u2f', 'tpm', 'apple', 'android-key', 'android-safetynet', 'compound', 'None', ''])(
    'with the attestation "%s" registers nothing',
    (format) => refuseRegistration({ format }),
  );

  it('with a credential id that is too long, empty or stored at another guard registers nothing', async () => {
    await refuseRegistration({ credentialId: randomBytes(1024) });
    await refuseRegistration({ credentialId: randomBytes(1365) });
    await refuseRegistration({ credentialId: Buffer.alloc(0) });
    const [held, free] = [randomBytes(32), randomBytes(1023)];
    await app.t.database.query(
      `INSERT INTO svc_passkeys (credential_id, user_id, guard, public_key, aaguid, backup_eligible, backed_up, created_at, updated_at)
       VALUES ($1, '9', 'admin', '', gen_random_uuid(), false, false, now(), now())`,
      [held.toString('base64url')],
    );
    await refuseRegistration({ credentialId: held });
    await app.enrol(ada, new SoftAuthenticator(ORIGIN), { credentialId: free });
    await app.t.database.query("DELETE FROM svc_passkeys WHERE guard = 'admin' OR credential_id = $1", [
      free.toString('base64url'),
    ]);
  });

  it('with a different id from that of the authenticator registers nothing', async () => {
    const id = randomBytes(32).toString('base64url');
    await refuseRegistration({}, (sent) => ({ ...sent, id, rawId: id }));
  });

  it('of a passkey of another guard signs no user in', async () => {
    await app.t.database.query("UPDATE svc_passkeys SET guard = 'admin'");
    await refuseLogin({});
    await app.t.database.query('UPDATE svc_passkeys SET guard = NULL');
    await refuseLogin({});
    await app.t.database.query("UPDATE svc_passkeys SET guard = 'api'");
  });

  it.each(['2', '1 ', '01', '10'])('with the user handle "%s" signs no user in', async (userId) => {
    await refuseLogin({ userHandle: Buffer.from(userId).toString('base64url') });
  });

  it('with the id of another passkey signs no user in', async () => {
    await refuseLogin({}, (sent) => ({ ...sent, id: 'AAAA' }));
    await refuseLogin({}, (sent) => ({ ...sent, id: 'AAAA', rawId: 'AAAA' }));
    const bob = await app.confirmed('bob@example.com');
    const other = await app.enrol(bob, new SoftAuthenticator(ORIGIN));
    await refuseLogin({}, (sent) => ({ ...sent, id: other, rawId: other }));
    await refuseLogin({ userHandle: Buffer.from('2').toString('base64url') }, (sent) => ({
      ...sent,
      id: other,
      rawId: other,
    }));
  });

  it('without user verification registers and signs in where user verification is not required', async () => {
    const lenient = await PasskeyApp.start({ passkeys: { userVerification: 'preferred' } });
    const user = await lenient.confirmed();
    const key = new SoftAuthenticator(ORIGIN);
    await lenient.enrol(user, key, { uv: false });
    await lenient.signIn(key, { uv: false });
    expect(await lenient.attempt(key, { up: false, uv: true })).toMatchObject({ status: 422 });
    await lenient.stop();
  });

  it('is refused with the same bytes for every reason', async () => {
    const texts = new Set<string>();
    const { ceremony_id, options } = await app.requestOptions();
    const honest = authenticator.get(options);
    for (const [id, sent] of [
      [ceremony_id, authenticator.get({ challenge: honest.id, rpId: 'example.com' })],
      [createHash('md5').digest('hex'), honest],
      [(await app.requestOptions()).ceremony_id, honest],
      [(await app.requestOptions()).ceremony_id, {}],
    ]) {
      texts.add((await app.login(id, sent).expect(422)).text);
    }
    expect(texts.size).toBe(1);
  });
});

/** Some bits of a field, evenly spread, including the first and the last. */
function someOf(bits: readonly number[], count = 6): number[] {
  const step = (bits.length - 1) / (count - 1);
  return [...new Set(Array.from({ length: count }, (_, i) => bits[Math.round(i * step)]!))];
}

// libs/auth/src/features/passkeys/verification.spec.ts flips every bit; these tests check the HTTP answer for some bits.
describe('one flipped bit', () => {
  describe.each(['ES256', 'RS256'] as const)('of an assertion with %s', (algorithm) => {
    const signer = new SoftAuthenticator(ORIGIN, algorithm);
    beforeAll(() => app.enrol(ada, signer));

    it.each(['id', ...ASSERTION_FIELDS] as const)('in its %s is refused, and changes no state', async (field) => {
      const { options } = await app.requestOptions();
      await unchanged(async () => {
        for (const bit of someOf(bitsIn(signer.get(options), field))) {
          // The length of signatures differs by one or two bytes.
          await tryLogin({}, (sent) => withFlippedBit(sent, field, bit % bitsIn(sent, field).length), signer);
        }
      });
    });
  });

  it('in the unused bits of a base64url text is refused', async () => {
    const respelled = (text: unknown): string => {
      const last = String(text).at(-1)!;
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      return String(text).slice(0, -1) + alphabet[alphabet.indexOf(last) ^ 1];
    };
    for (const field of ['authenticatorData', 'userHandle'] as const) {
      await refuseLogin({}, (sent) => ({
        ...sent,
        response: { ...sent.response, [field]: respelled(sent.response[field]) },
      }));
    }
  });

  it.each(['ES256', 'RS256'])(
    'of a registration with %s is refused, except in bits that have no meaning without attestation',
    async (algorithm) => {
      const [change, modulus] = algorithm === 'RS256' ? [{ coseKey: RSA }, RSA.get(-1) as Buffer] : [{}];
      for (const field of ['id', ...REGISTRATION_FIELDS] as const) {
        const sample = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(ada), change);
        const free = uncheckedBits(sample, field, modulus);
        for (const bit of someOf(bitsIn(sample, field).filter((index) => !free(index)))) {
          await refuseRegistration(change, (sent) => withFlippedBit(sent, field, bit));
        }
      }
    },
  );
});

// libs/auth/src/features/passkeys/verification.spec.ts puts every value into every field; these tests put each into one.
describe('an invalid value', () => {
  const mutations = (members: readonly string[]): Mutation[] => [
    ...INVALID_VALUES.map((value, i) => {
      const places = mutationsWith(value, members);
      return places[i % places.length]!;
    }),
    ...MISSING_FIELDS,
    // Fastify refuses every body with prototype fields as a whole.
    ...(onFastify ? [] : [INHERITED_FIELDS]),
  ];

  it('in an assertion is refused like any wrong assertion', async () => {
    await unchanged(async () => {
      for (const mutate of mutations(ASSERTION_FIELDS)) await tryLogin({}, mutate);
    });
  });

  it('in a registration is refused like any wrong registration', async () => {
    await unchanged(async () => {
      for (const mutate of mutations(REGISTRATION_FIELDS)) await tryRegistration({}, mutate);
    });
  });

  it('in a field that is not read has no effect', async () => {
    const credential = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(ada)) as Sent &
      Record<string, unknown>;
    credential.response.transports = ['internal', 'internal', 'carrier-pigeon', 7, null, {}];
    credential.clientExtensionResults = JSON.parse('['.repeat(500) + ']'.repeat(500));
    credential.authenticatorAttachment = { a: 1 };
    await app.register(ada, credential).expect(204);
    expect((await app.rows()).at(-1)).toMatchObject({ transports: ['internal'] });
    const withText = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(ada));
    withText.response.transports = 'internal';
    await app.register(ada, withText).expect(204);
    expect((await app.rows()).at(-1)).toMatchObject({ transports: [] });
  });

  it('as the whole body is refused before any look-up', async () => {
    for (const path of ['passkeys', 'confirm-passkey']) {
      for (const body of ['{', '[]', '"x"', 'null', '7', `{"credential":${'['.repeat(2000)}${']'.repeat(2000)}}`]) {
        const { status } = await app.call('post', path, ada).set('Content-Type', 'application/json').send(body);
        expect([400, 422]).toContain(status);
      }
    }
    const form = await app.t.http.post('/auth/passkeys/login').type('form').send('ceremony_id=x&credential[id]=x');
    expect(form.status).toBe(422);
    const huge = await app.login('x', { id: 'x'.repeat(2_000_000) });
    expect(huge.status).toBe(413);
  });
});
