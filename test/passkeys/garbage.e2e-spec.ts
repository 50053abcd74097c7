import { onFastify } from '../support/adapter';
import { type Confirmed, NOT_REGISTERED, NOT_VERIFIED, ORIGIN, PasskeyApp } from '../support/passkeys';
import { type Sent, SoftAuthenticator } from '../support/soft-authenticator';

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
const b64 = (data: string | Uint8Array): string => Buffer.from(data).toString('base64url');

/** Whatever may stand where a text is expected. */
const VALUES: unknown[] = [
  null,
  true,
  0,
  -1.5,
  1e300,
  '',
  'x',
  '=',
  'AA==',
  '+/+/',
  '\0',
  'ü',
  '💥',
  '\ud800',
  'A'.repeat(40_000),
  [],
  ['AAAA'],
  {},
  { length: 1 },
  { toString: 'x' },
  nested(2000),
  '__proto__',
  'constructor',
  ...['null', '7', '"x"', '[]', '{}', '{', '{"type":{}}', '{"__proto__":{"type":"webauthn.get"}}', '\0'].map(b64),
  // CBOR: nothing, no map, an endless one, nested without end, a length of 2^64-1, a bignum, a tag.
  ...['', 'f6', 'bfff', 'bf', '81'.repeat(5000), '5bffffffffffffffff', 'c249010000000000000000', 'd9d9f7a0'].map(
    (hex) => b64(Buffer.from(hex, 'hex')),
  ),
  b64(Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746140', 'hex')),
  b64(Buffer.from('a363666d74646e6f6e656761747453746d74606861757468446174616178', 'hex')),
];

const FIELDS = ['id', 'rawId', 'type'] as const;
const OF_REGISTRATION = ['clientDataJSON', 'attestationObject'] as const;
const OF_ASSERTION = ['clientDataJSON', 'authenticatorData', 'signature', 'userHandle'] as const;

/** Puts every value into every field of a response, one at a time: all else stays right, and refuses nothing. */
function* spoilers(members: readonly string[]): Generator<(sent: Sent) => unknown> {
  for (const value of VALUES) {
    for (const field of FIELDS) yield (sent) => ({ ...sent, [field]: value });
    yield (sent) => ({ ...sent, response: value });
    yield (sent) => ({ ...sent, id: value, rawId: value });
    for (const member of members) yield (sent) => ({ ...sent, response: { ...sent.response, [member]: value } });
  }
  for (const field of [...FIELDS, 'response']) yield (sent) => ({ ...sent, [field]: undefined });
  yield () => ({});
  // Fastify refuses the request, as it does every one that reaches for a prototype.
  if (onFastify) return;
  yield () => JSON.parse('{"__proto__":{"id":"x","rawId":"x","type":"public-key"},"constructor":{"prototype":{}}}');
}

describe('garbage', () => {
  let app: PasskeyApp;
  let ada: Confirmed;
  const authenticator = new SoftAuthenticator(ORIGIN);

  beforeAll(async () => {
    app = await PasskeyApp.start();
    ada = await app.confirmed();
    await app.enrol(ada, authenticator);
  });
  afterAll(() => app.stop());

  it('in an assertion is refused like any other, whatever it is', async () => {
    const before = [await app.rows(), await app.sessions()];
    for (const spoil of spoilers(OF_ASSERTION)) {
      const { status, body } = await app.attempt(authenticator, {}, spoil);
      expect({ status, body }).toEqual({ status: 422, body: NOT_VERIFIED });
    }
    expect([await app.rows(), await app.sessions()]).toEqual(before);
  });

  it('in a registration is refused like any other, whatever it is', async () => {
    const other = new SoftAuthenticator(ORIGIN);
    const rows = await app.rows();
    for (const spoil of spoilers(OF_REGISTRATION)) {
      const { status, body } = await app.register(ada, spoil(other.create(await app.creationOptions(ada))));
      expect({ status, body }).toEqual({ status: 422, body: NOT_REGISTERED });
    }
    expect(await app.rows()).toEqual(rows);
  });

  it('beside what is read changes nothing', async () => {
    const credential = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(ada)) as Sent &
      Record<string, unknown>;
    credential.response.transports = ['internal', 'internal', 'carrier-pigeon', 7, null, {}];
    credential.clientExtensionResults = nested(500) as object;
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
