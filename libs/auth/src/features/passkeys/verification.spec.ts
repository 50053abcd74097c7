import {
  type Sent,
  SoftAuthenticator,
  INVALID_VALUES,
  MISSING_FIELDS,
  INHERITED_FIELDS,
  ASSERTION_FIELDS,
  REGISTRATION_FIELDS,
  type Mutation,
  bitsIn,
  bytesIn,
  withFlippedBit,
  mutationsWith,
  uncheckedBits,
} from '../../../../../test/support/clients/malformed-credentials';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { Realm } from '../../foundation/realm/realm';
import { AssertionVerifier } from './webauthn/verify-assertion';
import { userHandleOf } from './webauthn/responses';
import { PasskeyAssertions } from './passkey-assertions';
import { PasskeyRefused } from './passkeys.errors';
import { RegistrationVerifier, withShortestHeads } from './webauthn/verify-registration';
import type { Usage } from './sign-count.policy';
import { webauthnOnDemand } from './webauthn/library';

const CHALLENGE = 'AAECAwQFBgcICQoLDA0ODw';
const RP = 'example.com';
const ORIGIN = 'https://app.example.com';
const USER = '1';

const webauthn = webauthnOnDemand();
const realm = new Realm({
  guard: 'api',
  passkeys: { rpId: RP, origins: [ORIGIN], relatedOrigins: [], userVerification: 'required' },
} as unknown as GuardConfig);
const registrations = new RegistrationVerifier(webauthn, realm);

type Algorithm = 'ES256' | 'RS256';

const DEVICES = {
  ES256: new SoftAuthenticator(ORIGIN, 'ES256'),
  RS256: new SoftAuthenticator(ORIGIN, 'RS256'),
};
const OPTIONS = { rp: { id: RP }, user: { id: userHandleOf(USER) }, challenge: CHALLENGE };
const made = (device: SoftAuthenticator): Sent => device.create(OPTIONS);
/** One registration of each algorithm, because generating an RSA key takes 0.1 seconds. */
const MADE = { ES256: made(DEVICES.ES256), RS256: made(DEVICES.RS256) };

/** Makes a registered passkey, one assertion of it, and a function that verifies an assertion, without a database. */
async function registered(algorithm: Algorithm = 'ES256', storedAs = (publicKey: Uint8Array) => publicKey) {
  const registration = MADE[algorithm];
  const { publicKey } = (await registrations.verify(registration, CHALLENGE))!;
  const recorded: Usage[] = [];
  const store = {
    find: async (id: string) => (id === registration.id ? { userId: USER, publicKey: 'sealed', guard: 'api' } : null),
    recordUse: async (_id: string, usage: Usage) => {
      recorded.push(usage);
      return { verdict: 'accept', change: null };
    },
  };
  const assertions = new PasskeyAssertions(
    { takeLogin: async () => CHALLENGE } as never,
    store as never,
    { decrypt: () => storedAs(publicKey) } as never,
    new AssertionVerifier(webauthn, realm),
    { emit: () => undefined } as never,
    realm,
    {} as never,
  );
  const isRefused = (sent: unknown): Promise<boolean> =>
    assertions.verify('any', sent).then(
      () => false,
      (error: unknown) => {
        if (error instanceof PasskeyRefused) return true;
        throw error;
      },
    );
  const assertion = DEVICES[algorithm].get({ challenge: CHALLENGE, rpId: RP }, { count: 7 });
  return { assertion, isRefused, recorded };
}

const isRegistered = async (sent: unknown): Promise<boolean> => (await registrations.verify(sent, CHALLENGE)) !== null;

async function filtered<T>(all: readonly T[], holds: (item: T) => Promise<boolean>): Promise<T[]> {
  const held = await Promise.all(all.map(holds));
  return all.filter((_, i) => held[i]);
}

describe('the verification of a passkey', () => {
  it('accepts the responses of an authenticator for each algorithm', async () => {
    for (const algorithm of ['ES256', 'RS256'] as const) {
      expect(await isRegistered(MADE[algorithm])).toBe(true);
      const { assertion, isRefused, recorded } = await registered(algorithm);
      expect(await isRefused(assertion)).toBe(false);
      expect(recorded).toEqual([{ signCount: 7, backupEligible: true, backedUp: true }]);
    }
  });
});

describe.each<Algorithm>(['ES256', 'RS256'])(
  'a stored %s key with members that its type does not have',
  (algorithm) => {
    it('verifies, because it was stored before a registration refused such members', async () => {
      const withMembers = (publicKey: Uint8Array): Uint8Array => {
        const key = webauthn().decodeCredentialPublicKey(new Uint8Array(publicKey)) as unknown as Map<number, unknown>;
        return webauthn().isoCBOR.encode(new Map([...key, [2, new Uint8Array(8)], [-70_000, 1]]) as never);
      };
      const { assertion, isRefused, recorded } = await registered(algorithm, withMembers);
      expect(await isRefused(assertion)).toBe(false);
      expect(recorded).toHaveLength(1);
    });
  },
);

describe.each<Algorithm>(['ES256', 'RS256'])('one flipped bit in a %s response', (algorithm) => {
  it.each(['id', ...ASSERTION_FIELDS] as const)(
    'in the %s of an assertion is refused at every position',
    async (field) => {
      const { assertion, isRefused, recorded } = await registered(algorithm);
      const bits = bitsIn(assertion, field);
      expect(bits.length).toBeGreaterThan(0);
      expect(await filtered(bits, async (bit) => !(await isRefused(withFlippedBit(assertion, field, bit))))).toEqual(
        [],
      );
      expect(recorded).toEqual([]);
    },
  );

  it.each(['id', ...REGISTRATION_FIELDS] as const)(
    'in the %s of a registration is refused at every position that is checked without attestation',
    async (field) => {
      const sent = MADE[algorithm];
      const free = uncheckedBits(sent, field, algorithm === 'RS256' ? await modulusIn(sent) : undefined);
      const accepted = await filtered(bitsIn(sent, field), (bit) => isRegistered(withFlippedBit(sent, field, bit)));
      expect(accepted.filter((bit) => !free(bit))).toEqual([]);
    },
  );
});

async function modulusIn(sent: Sent): Promise<Buffer> {
  const { publicKey } = (await registrations.verify(sent, CHALLENGE))!;
  const key: { get(member: number): unknown } = webauthn().decodeCredentialPublicKey(new Uint8Array(publicKey));
  return Buffer.from(key.get(-1) as Uint8Array);
}

describe('a passkey that attests itself', () => {
  it('is refused with one flipped bit in its signature, or in what only the signature covers', async () => {
    const sent = new SoftAuthenticator(ORIGIN).create(OPTIONS, { format: 'packed' });
    expect(await isRegistered(sent)).toBe(true);
    const free = uncheckedBits(sent, 'attestationObject');
    const start = bytesIn(sent, 'attestationObject').indexOf('sig') * 8;
    const bits = bitsIn(sent, 'attestationObject').filter((bit) => free(bit) || (bit >= start && bit < start + 80 * 8));
    expect(await filtered(bits, (bit) => isRegistered(withFlippedBit(sent, 'attestationObject', bit)))).toEqual([]);
  });
});

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('an item of CBOR', () => {
  it.each([
    ['an integer', '18 05', '05'],
    ['an integer of eight bytes', '1b 0000000000000018', '18 18'],
    ['a negative integer', '39 0006', '26'],
    ['a text', '78 03 666d74', '63 666d74'],
    ['bytes', '5a 00000002 0102', '42 0102'],
    ['an empty map', 'b8 00', 'a0'],
    ['a map', 'ba 00000001 7900 01 61 42 0102', 'a1 61 61 42 0102'],
    ['a list', '99 0001 18 01', '81 01'],
    ['an item in its shortest form', 'a1 61 61 58 18 000102030405060708090a0b0c0d0e0f1011121314151617', null],
  ])('gets the shortest form: %s', (_, given, shortest) => {
    expect(withShortestHeads(hex(given))).toEqual(hex(shortest ?? given));
  });

  it.each([
    ['nothing', ''],
    ['an item with bytes after it', 'a0 00'],
    ['a text that ends early', '63 666d'],
    ['bytes with a length beyond the end', '5b 7fffffffffffffff 00'],
    ['a map that ends early', 'a2 01 02 03'],
    ['a length that ends early', '5a 0000'],
    ['a length without end', '5f 42 0102 ff'],
    ['a reserved length', '5c'],
    ['a tag', 'd9 d9f7 a0'],
    ['a simple value', 'f6'],
    ['a map of 2^32 members', 'ba ffffffff'],
    ['too many levels', '81 81 81 81 00'],
  ])('is none: %s', (_, given) => expect(withShortestHeads(hex(given))).toBeNull());
});

describe('an invalid value', () => {
  const all = (members: readonly string[]): Mutation[] => [
    ...INVALID_VALUES.flatMap((value) => mutationsWith(value, members)),
    ...MISSING_FIELDS,
    INHERITED_FIELDS,
  ];

  it('in any field of an assertion is refused without another error', async () => {
    const { assertion, isRefused, recorded } = await registered();
    const accepted = await filtered(all(ASSERTION_FIELDS), async (mutate) => !(await isRefused(mutate(assertion))));
    // Platforms omit the user handle in these ways. The id names the owner alone.
    const handles = accepted.map((mutate) => (mutate(assertion) as Sent).response.userHandle);
    expect([handles, recorded.length]).toEqual([[null, '', ''], 3]);
  });

  it('in any field of a registration is refused without an error', async () => {
    const sent = MADE.ES256;
    const accepted = await filtered(all(REGISTRATION_FIELDS), (mutate) => isRegistered(mutate(sent)));
    expect(accepted.map((mutate) => mutate(sent))).toEqual([]);
  });

  it.each([undefined, null, true, 7, 'text', [], [{}]])('in place of a response is refused: %j', async (sent) => {
    const { isRefused } = await registered();
    expect([await isRefused(sent), await isRegistered(sent)]).toEqual([true, false]);
  });
});
