import { type Confirmed, NOT_REGISTERED, NOT_VERIFIED, ORIGIN, PasskeyApp } from '../support/passkeys';
import { generateKeyPairSync } from 'node:crypto';
import { type Sent, SoftAuthenticator, coseKeyOf } from '../support/soft-authenticator';

type Field = 'id' | 'clientDataJSON' | 'authenticatorData' | 'signature' | 'userHandle' | 'attestationObject';

const bytesIn = (sent: Sent, field: Field): Buffer =>
  Buffer.from(String(field === 'id' ? sent.id : sent.response[field]), 'base64url');

function flipped(sent: Sent, field: Field, bit: number): Sent {
  const bytes = bytesIn(sent, field);
  // Signatures differ in length by a byte or two.
  bytes[(bit >> 3) % bytes.length]! ^= 1 << (bit & 7);
  const text = bytes.toString('base64url');
  return field === 'id'
    ? { ...sent, id: text, rawId: text }
    : { ...sent, response: { ...sent.response, [field]: text } };
}

/** The bits that nobody signs without attestation, and that mean nothing which is checked. */
function unsigned(sent: Sent, field: Field, modulus?: Buffer): (bit: number) => boolean {
  const bytes = bytesIn(sent, field);
  if (field === 'clientDataJSON') {
    // Under another name the member says nothing, as where a browser leaves it out.
    const start = bytes.indexOf('crossOrigin');
    return (bit) => bit >> 3 >= start && bit >> 3 < start + 'crossOrigin'.length;
  }
  if (field === 'id') return () => false;
  const head = bytes.indexOf('authData') + 'authData'.length;
  // A length of 256 and more takes another byte.
  const start = head + (bytes[head] === 0x59 ? 3 : 2);
  const [flags, count, aaguid] = [start + 32, start + 33, start + 37];
  const ofModulus = modulus ? bytes.indexOf(modulus) : Infinity;
  return (bit) => {
    const byte = bit >> 3;
    // Of the modulus only the length and the oddness can be checked.
    if (modulus && byte >= ofModulus && byte < ofModulus + modulus.length) {
      return bit !== ofModulus * 8 + 7 && bit !== (ofModulus + modulus.length - 1) * 8;
    }
    // User verification, the backup and two reserved flags. Presence and the others are checked: a backup needs eligibility.
    if (byte === flags) return [1, 2, 4, 5].includes(bit & 7);
    return byte >= count && byte < aaguid + 16;
  };
}

describe('one flipped bit', () => {
  let app: PasskeyApp;
  let ada: Confirmed;

  beforeAll(async () => {
    app = await PasskeyApp.start();
    ada = await app.confirmed();
  });
  afterEach(() => app.t.database.query('DELETE FROM passkeys'));
  afterAll(() => app.stop());

  describe.each(['ES256', 'RS256'] as const)('of an assertion with %s', (algorithm) => {
    it.each(['id', 'authenticatorData', 'signature', 'userHandle', 'clientDataJSON'] as const)(
      'anywhere in its %s is refused, and leaves no trace',
      async (field) => {
        const authenticator = new SoftAuthenticator(ORIGIN, algorithm);
        await app.enrol(ada, authenticator);
        const [rows, sessions] = [await app.rows(), await app.sessions()];
        const { options } = await app.requestOptions();
        const bits = bytesIn(authenticator.get(options), field).length * 8;
        for (let bit = 0; bit < bits; bit++) {
          const { status, body } = await app.attempt(authenticator, {}, (sent) => flipped(sent, field, bit));
          expect({ bit, status, body }).toEqual({ bit, status: 422, body: NOT_VERIFIED });
        }
        expect([await app.rows(), await app.sessions()]).toEqual([rows, sessions]);
      },
    );
  });

  it('in the text of a field, where base64url leaves some unused, is refused', async () => {
    const authenticator = new SoftAuthenticator(ORIGIN);
    await app.enrol(ada, authenticator);
    const respelled = (text: unknown): string => {
      const last = String(text).at(-1)!;
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      return String(text).slice(0, -1) + alphabet[alphabet.indexOf(last) ^ 1];
    };
    for (const field of ['authenticatorData', 'userHandle'] as const) {
      const spoil = (sent: Sent) => ({
        ...sent,
        response: { ...sent.response, [field]: respelled(sent.response[field]) },
      });
      expect(await app.attempt(authenticator, {}, spoil)).toMatchObject({ status: 422 });
    }
    const padded = (sent: Sent) => ({ ...sent, response: { ...sent.response, userHandle: 'MQ==' } });
    expect(await app.attempt(authenticator, {}, padded)).toMatchObject({ status: 422 });
  });

  it.each(['ES256', 'RS256'])(
    'of a registration with %s is refused, but in what says nothing without attestation',
    async (algorithm) => {
      // Of RSA one key for all: a new one for each bit takes minutes.
      const rsa = coseKeyOf(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey);
      const [change, modulus] = algorithm === 'RS256' ? [{ coseKey: rsa }, rsa.get(-1) as Buffer] : [{}];
      for (const field of ['id', 'clientDataJSON', 'attestationObject'] as const) {
        const sample = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(ada), change);
        const free = unsigned(sample, field, modulus);
        const bits = Array.from({ length: bytesIn(sample, field).length * 8 }, (_, bit) => bit);
        // Two thousand bits of a modulus are a matter of taste; one in fifty of them will do.
        for (const bit of bits.filter((one) => !modulus || !free(one) || one % 50 === 0)) {
          const sent = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(ada), change);
          const { status, body } = await app.register(ada, flipped(sent, field, bit));
          if (!free(bit))
            expect({ field, bit, status, body }).toEqual({ field, bit, status: 422, body: NOT_REGISTERED });
          else expect([204, 422]).toContain(status);
          await app.t.database.query('DELETE FROM passkeys');
        }
      }
    },
  );
});
