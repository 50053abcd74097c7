import { SoftAuthenticator, type Change, type Sent } from '@svc/auth/testing';
import { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import { cbor } from '../support/flows/cbor';
import { type Confirmed, NOT_REGISTERED, ORIGIN, PasskeyApp } from '../support/flows/passkeys';

/** The same attestation object, whose lengths are written in one, two, four or eight bytes each. */
function withLongLengths(sent: Sent, bytes: 1 | 2 | 4 | 8): Sent {
  const given = new Uint8Array(Buffer.from(String(sent.response.attestationObject), 'base64url'));
  const attestation = decodeAttestationObject(given) as unknown as Parameters<typeof cbor>[0];
  return { ...sent, response: { ...sent.response, attestationObject: cbor(attestation, bytes).toString('base64url') } };
}

describe('a passkey that is registered', () => {
  const app = PasskeyApp.forFile();
  let ada: Confirmed;
  beforeEach(async () => void (ada = await app.confirmed()));

  const made = async (device: SoftAuthenticator, change?: Change) =>
    device.create(await app.creationOptions(ada), change);

  it.each(['ES256', 'RS256'] as const)(
    'with %s may be attested by its own signature, and signs in',
    async (algorithm) => {
      const device = new SoftAuthenticator(ORIGIN, algorithm);
      await app.register(ada, await made(device, { format: 'packed' })).expect(204);
      await app.signIn(device);
    },
  );

  it.each<[string, Record<string, never> | object]>([
    ['with a wrong signature', { sig: Buffer.alloc(70, 1) }],
    ['with an empty signature', { sig: Buffer.alloc(0) }],
    ['without a signature', { sig: undefined }],
    ['with the algorithm of another key', { alg: -257 }],
    ['with an unknown algorithm', { alg: -8 }],
    ['without an algorithm', { alg: undefined }],
    ['beside a certificate', { x5c: Buffer.from('certificate') }],
    ['beside an unknown member', { ver: '2.0' }],
    ['without any member', { alg: undefined, sig: undefined }],
  ])('is refused if it is attested by its own signature %s', async (_, statement) => {
    const change = { format: 'packed', statement } as Change;
    const { body } = await app.register(ada, await made(new SoftAuthenticator(ORIGIN), change)).expect(422);
    expect(body).toEqual(NOT_REGISTERED);
    expect(await app.rows()).toEqual([]);
  });

  it('is refused if another ceremony is signed', async () => {
    const device = new SoftAuthenticator(ORIGIN);
    const earlier = await made(device, { format: 'packed' });
    const id = Buffer.from(earlier.id, 'base64url');
    const { clientDataJSON } = (await made(device, { credentialId: id })).response;
    await app.register(ada, { ...earlier, response: { ...earlier.response, clientDataJSON } }).expect(422);
  });

  it('is refused with the format "none" beside a statement', async () => {
    const change: Change = { statement: { alg: -7 } };
    await app.register(ada, await made(new SoftAuthenticator(ORIGIN), change)).expect(422);
  });

  it.each([1, 2, 4, 8] as const)('may have lengths of %d bytes, and signs in', async (bytes) => {
    for (const format of ['none', 'packed']) {
      const device = new SoftAuthenticator(ORIGIN);
      await app.register(ada, withLongLengths(await made(device, { format }), bytes)).expect(204);
      await app.signIn(device);
    }
  });
});
