import { PasskeyBackupChanged, PasskeyCloneDetected } from '@svc/auth';
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { onFastify } from '../support/adapter';
import { type Confirmed, NOT_REGISTERED, NOT_VERIFIED, ORIGIN, PasskeyApp } from '../support/passkeys';
import { type Change, type Sent, SoftAuthenticator } from '@svc/auth/testing';
import { coseKeyOf } from '../support/cose-key';
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
} from '../support/malformed-credentials';

/** What neither a registration nor an assertion may say. */
const CHANGES: [string, Change][] = [
  ['of the other type', { clientData: { type: 'webauthn.neither' } }],
  ['of a payment', { clientData: { type: 'payment.get' } }],
  ['without a type', { clientData: { type: undefined } }],
  ['with another challenge', { clientData: { challenge: randomBytes(16).toString('base64url') } }],
  ['without a challenge', { clientData: { challenge: undefined } }],
  ['with an empty challenge', { clientData: { challenge: '' } }],
  ['from a look-alike origin', { clientData: { origin: 'https://app.examp1e.com' } }],
  ['from an origin that begins the same', { clientData: { origin: `${ORIGIN}.evil.test` } }],
  ['from a page below an origin', { clientData: { origin: `https://x.app.example.com` } }],
  ['from another port', { clientData: { origin: `${ORIGIN}:8443` } }],
  ['from the default port, spelled out', { clientData: { origin: `${ORIGIN}:443` } }],
  ['over plain HTTP', { clientData: { origin: 'http://app.example.com' } }],
  ['from an origin in capitals', { clientData: { origin: 'https://APP.example.com' } }],
  ['from an origin with a path', { clientData: { origin: `${ORIGIN}/` } }],
  ['from an app', { clientData: { origin: 'android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS0-0JxgbGTNUGX_Aw' } }],
  ['from no origin', { clientData: { origin: undefined } }],
  ['from a list of origins', { clientData: { origin: [ORIGIN] } }],
  ['from a frame', { clientData: { crossOrigin: true } }],
  ['from what may be a frame', { clientData: { crossOrigin: 'false' } }],
  ['from below another page', { clientData: { topOrigin: 'https://evil.test' } }],
  ['from a frame of its own origin', { clientData: { crossOrigin: true, topOrigin: ORIGIN } }],
  ['with a strange token binding', { clientData: { tokenBinding: 'x' } }],
  ['for another relying party', { rpId: 'example.org' }],
  ['for the page and not the relying party', { rpId: 'app.example.com' }],
  ['without user presence', { up: false }],
  ['synced without being able to', { be: false, bs: true }],
];

const ofKey = (key: Change['coseKey']): Change => ({ coseKey: key });
const ec = (curve: string) => coseKeyOf(generateKeyPairSync('ec', { namedCurve: curve }).publicKey);
const rsa = (bits: number) => coseKeyOf(generateKeyPairSync('rsa', { modulusLength: bits }).publicKey);
/** One for all: to make a key takes a tenth of a second. */
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
  ['ES256 that says another curve', ofKey(with_(ec('P-384')))],
  ['ES256 off its curve', ofKey(with_(ec('P-256'), [-2, randomBytes(32)]))],
  ['ES256 without a point', ofKey(with_(ec('P-256'), [-2, new Uint8Array()]))],
  ['ES256 with an RSA key', ofKey(with_(RSA, [3, -7]))],
  ['RS256 with 1024 bits', ofKey(rsa(1024))],
  ['RS256 under which nobody has to sign', rsaOf(right, [1])],
  ['RS256 with the exponent 3', rsaOf(right, [3])],
  ['RS256 with an even exponent', rsaOf(right, [1, 0, 0])],
  ['RS256 with an exponent of another spelling', rsaOf(right, [0, 1, 0, 1])],
  ['RS256 without an exponent', rsaOf(right, [])],
  ['RS256 with an even modulus', rsaOf(even, [1, 0, 1])],
  ['RS256 with a modulus of another spelling', rsaOf(padded, [1, 0, 1])],
  ['RS256 without a modulus', rsaOf(() => Buffer.alloc(0), [1, 0, 1])],
  ['RS256 with more bits than anybody verifies', rsaOf(() => Buffer.alloc(4096, 255), [1, 0, 1])],
  ['RS256 with a point', ofKey(with_(ec('P-256'), [3, -257]))],
];

// One application for all: whatever is refused leaves it as it was.
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

/** Does what must leave no trace. */
async function unchanged(work: () => Promise<void>): Promise<void> {
  const before = await state();
  await work();
  expect(await state()).toBe(before);
}

/** Signs in with a response that must be refused. */
async function tryLogin(change: Change, spoil?: Mutation, from = authenticator): Promise<void> {
  const { status, body } = await app.attempt(from, change, spoil);
  expect({ status, body }).toEqual({ status: 422, body: NOT_VERIFIED });
}

/** Registers what must be refused. */
async function tryRegistration(change: Change, spoil: Mutation = (sent) => sent): Promise<void> {
  const credential = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(ada), change);
  const { status, body } = await app.register(ada, spoil(credential));
  expect({ status, body }).toEqual({ status: 422, body: NOT_REGISTERED });
}

const refuseLogin = (change: Change, spoil?: Mutation): Promise<void> => unchanged(() => tryLogin(change, spoil));
const refuseRegistration = (change: Change, spoil?: Mutation): Promise<void> =>
  unchanged(() => tryRegistration(change, spoil));

describe('a hostile response', () => {
  it.each([
    ...CHANGES,
    ['without user verification', { uv: false }],
    ['of a registration', { clientData: { type: 'webauthn.create' } }],
  ] as [string, Change][])('%s signs nobody in', (_, change) => refuseLogin(change));

  it.each([...CHANGES, ['of an assertion', { clientData: { type: 'webauthn.get' } }]] as [string, Change][])(
    '%s registers nothing',
    (_, change) => refuseRegistration(change),
  );

  it.each(KEYS)('with a key of %s registers nothing', (_, change) => refuseRegistration(change));

  it.each(['packed', 'fido-u2f', 'tpm', 'apple', 'android-key', 'android-safetynet', 'compound', 'None', ''])(
    'with the attestation "%s" registers nothing',
    (format) => refuseRegistration({ format }),
  );

  it('with a credential id that is too long, empty, or another guard`s registers nothing', async () => {
    await refuseRegistration({ credentialId: randomBytes(192) });
    await refuseRegistration({ credentialId: randomBytes(1023) });
    await refuseRegistration({ credentialId: Buffer.alloc(0) });
    const [held, free] = [randomBytes(32), randomBytes(191)];
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

  it('under another id than the authenticator gave registers nothing', async () => {
    const id = randomBytes(32).toString('base64url');
    await refuseRegistration({}, (sent) => ({ ...sent, id, rawId: id }));
  });

  it('of a passkey that another guard holds signs nobody in', async () => {
    await app.t.database.query("UPDATE svc_passkeys SET guard = 'admin'");
    await refuseLogin({});
    await app.t.database.query('UPDATE svc_passkeys SET guard = NULL');
    await refuseLogin({});
    await app.t.database.query("UPDATE svc_passkeys SET guard = 'api'");
  });

  it.each(['2', '', '1 ', '01', '10'])('that names the user "%s" signs nobody in', async (userId) => {
    await refuseLogin({ userHandle: Buffer.from(userId).toString('base64url') });
  });

  it('that names no user, or another passkey, signs nobody in', async () => {
    const without = (sent: Sent) => ({ ...sent, response: { ...sent.response, userHandle: undefined } });
    await refuseLogin({}, without);
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

  it('without user verification registers, and signs in only where that is not required', async () => {
    const lenient = await PasskeyApp.start({ passkeys: { userVerification: 'preferred' } });
    const user = await lenient.confirmed();
    const key = new SoftAuthenticator(ORIGIN);
    await lenient.enrol(user, key, { uv: false });
    await lenient.signIn(key, { uv: false });
    expect(await lenient.attempt(key, { up: false, uv: true })).toMatchObject({ status: 422 });
    await lenient.stop();
  });

  it('is told apart by nothing: every refusal is the same bytes', async () => {
    const texts = new Set<string>();
    const { ceremony_id, options } = await app.requestOptions();
    const honest = authenticator.get(options);
    for (const [id, sent] of [
      [ceremony_id, { ...honest, id: 'AAAA', rawId: 'AAAA' }],
      [createHash('md5').digest('hex'), honest],
      [(await app.requestOptions()).ceremony_id, honest],
      [(await app.requestOptions()).ceremony_id, {}],
    ]) {
      texts.add((await app.login(id, sent).expect(422)).text);
    }
    expect(texts.size).toBe(1);
  });
});

/** Some bits of a field, evenly spread, the first and the last among them. */
function someOf(bits: readonly number[], count = 6): number[] {
  const step = (bits.length - 1) / (count - 1);
  return [...new Set(Array.from({ length: count }, (_, i) => bits[Math.round(i * step)]!))];
}

// Every bit is flipped in libs/auth/src/features/passkeys/verification.spec.ts; here some are, for what the client receives.
describe('one flipped bit', () => {
  describe.each(['ES256', 'RS256'] as const)('of an assertion with %s', (algorithm) => {
    const signer = new SoftAuthenticator(ORIGIN, algorithm);
    beforeAll(() => app.enrol(ada, signer));

    it.each(['id', ...ASSERTION_FIELDS] as const)('in its %s is refused, and leaves no trace', async (field) => {
      const { options } = await app.requestOptions();
      await unchanged(async () => {
        for (const bit of someOf(bitsIn(signer.get(options), field))) {
          // Signatures differ in length by a byte or two.
          await tryLogin({}, (sent) => withFlippedBit(sent, field, bit % bitsIn(sent, field).length), signer);
        }
      });
    });
  });

  it('in the text of a field, where base64url leaves some unused, is refused', async () => {
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
    await refuseLogin({}, (sent) => ({ ...sent, response: { ...sent.response, userHandle: 'MQ==' } }));
  });

  it.each(['ES256', 'RS256'])(
    'of a registration with %s is refused, but in what says nothing without attestation',
    async (algorithm) => {
      const [change, modulus] = algorithm === 'RS256' ? [{ coseKey: RSA }, RSA.get(-1) as Buffer] : [{}];
      for (const field of ['id', ...REGISTRATION_FIELDS] as const) {
        const sample = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(ada), change);
        const free = uncheckedBits(sample, field, modulus);
        for (const bit of someOf(bitsIn(sample, field).filter((one) => !free(one)))) {
          await refuseRegistration(change, (sent) => withFlippedBit(sent, field, bit));
        }
      }
    },
  );
});

// Every value is put into every place in libs/auth/src/features/passkeys/verification.spec.ts; here each goes into one.
describe('garbage', () => {
  const spoilers = (members: readonly string[]): Mutation[] => [
    ...INVALID_VALUES.map((value, i) => {
      const places = mutationsWith(value, members);
      return places[i % places.length]!;
    }),
    ...MISSING_FIELDS,
    // Fastify refuses the request, as it does every one that reaches for a prototype.
    ...(onFastify ? [] : [INHERITED_FIELDS]),
  ];

  it('in an assertion is refused like any other, whatever it is', async () => {
    await unchanged(async () => {
      for (const spoil of spoilers(ASSERTION_FIELDS)) await tryLogin({}, spoil);
    });
  });

  it('in a registration is refused like any other, whatever it is', async () => {
    await unchanged(async () => {
      for (const spoil of spoilers(REGISTRATION_FIELDS)) await tryRegistration({}, spoil);
    });
  });

  it('beside what is read changes nothing', async () => {
    const credential = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(ada)) as Sent &
      Record<string, unknown>;
    credential.response.transports = ['internal', 'internal', 'carrier-pigeon', 7, null, {}];
    credential.clientExtensionResults = JSON.parse('['.repeat(500) + ']'.repeat(500));
    credential.authenticatorAttachment = { a: 1 };
    await app.register(ada, credential).expect(204);
    expect((await app.rows()).at(-1)).toMatchObject({ transports: ['internal'] });
    const lone = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(ada));
    lone.response.transports = 'internal';
    await app.register(ada, lone).expect(204);
    expect((await app.rows()).at(-1)).toMatchObject({ transports: [] });
  });

  it('as a whole body is refused before anything is looked up', async () => {
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
