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
import { RegistrationVerifier } from './webauthn/verify-registration';
import type { Usage } from './sign-count.policy';
import { webauthnOnDemand } from './webauthn/library';

const CHALLENGE = 'AAECAwQFBgcICQoLDA0ODw';
const RP = 'example.com';
const ORIGIN = 'https://app.example.com';
const USER = '1';

const webauthn = webauthnOnDemand();
const realm = new Realm({
  guard: 'api',
  passkeys: { rpId: RP, origins: [ORIGIN], userVerification: 'required' },
} as unknown as GuardConfig);
const registrations = new RegistrationVerifier(webauthn, realm);

type Algorithm = 'ES256' | 'RS256';

const DEVICES = {
  ES256: new SoftAuthenticator(ORIGIN, 'ES256'),
  RS256: new SoftAuthenticator(ORIGIN, 'RS256'),
};
const made = (device: SoftAuthenticator): Sent =>
  device.create({ rp: { id: RP }, user: { id: userHandleOf(USER) }, challenge: CHALLENGE });
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
      return { verdict: 'accept', backupChanged: false };
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

describe('an invalid value', () => {
  const all = (members: readonly string[]): Mutation[] => [
    ...INVALID_VALUES.flatMap((value) => mutationsWith(value, members)),
    ...MISSING_FIELDS,
    INHERITED_FIELDS,
  ];

  it('in any field of an assertion is refused without another error', async () => {
    const { assertion, isRefused, recorded } = await registered();
    const accepted = await filtered(all(ASSERTION_FIELDS), async (mutate) => !(await isRefused(mutate(assertion))));
    expect([accepted.map((mutate) => mutate(assertion)), recorded]).toEqual([[], []]);
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
