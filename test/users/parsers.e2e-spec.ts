import { Pruning } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { types } from 'pg';
import type { Tokens } from '../support/hosts/app';
import { enrol, codeOf, completeChallenge, startChallenge } from '../support/flows/two-factor';
import { knownDeviceOptions } from '../support/flows/known-devices';
import { member, membersForFile } from '../support/hosts/members';
import { ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { describeWithRedis } from '../support/stores/with-redis';

const NEXT = 'plum-violin-harbour-7';

/** A value as a library for times returns it. */
class Moment {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
  valueOf(): never {
    throw new TypeError('compare moments with Moment.compare()');
  }
}

const asText = (text: string): unknown => text;
const asMoment = (text: string): unknown => new Moment(text);

/** The types that hosts parse in their own way, by OID. */
const TYPES = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  json: 114,
  float4: 700,
  float8: 701,
  'text[]': 1009,
  'varchar[]': 1015,
  timestamp: 1114,
  timestamptz: 1184,
  numeric: 1700,
  jsonb: 3802,
} as const;
type Parsers = Partial<Record<keyof typeof TYPES, (text: string) => unknown>>;

const TEXTS = Object.fromEntries(Object.keys(TYPES).map((name) => [name, asText])) as Parsers;

describeWithRedis('an application with global parsers of the package pg, of which', () => {
  describe.each<[string, Parsers]>([
    ['each returns the text', TEXTS],
    ['each returns an object', Object.fromEntries(Object.keys(TYPES).map((name) => [name, asMoment])) as Parsers],
    ['those of integers return a BigInt', { int2: BigInt, int4: BigInt, int8: BigInt }],
  ])('%s,', (_, parsers) => {
    const before = new Map<number, unknown>();
    beforeAll(() => {
      for (const [name, parser] of Object.entries(parsers)) {
        const type = TYPES[name as keyof typeof TYPES];
        before.set(type, types.getTypeParser(type as never));
        types.setTypeParser(type as never, parser as never);
      }
    });
    afterAll(() => {
      for (const [type, parser] of before) types.setTypeParser(type as never, parser as never);
    });
    const { t, mailbox } = membersForFile(
      knownDeviceOptions({
        passkeys: PASSKEYS.passkeys,
        lockout: { maxAttempts: 2 },
        features: { ...PASSKEYS.features, twoFactor: true, lockout: true, knownDevices: true },
      }),
    );
    const passkeys = new PasskeyApp(t);

    it('starts, and every flow reads its rows', async () => {
      const userId = await member(t, ADA);
      const first = await t.session(ADA);
      await t.get('/private', first.access_token).expect(200);
      const { body: second } = await t.refresh(first.refresh_token).expect(200);
      // The same token again, in the grace period: the same successor.
      expect((await t.refresh(first.refresh_token).expect(200)).body.refresh_token).toBe(second.refresh_token);
      const { body: listed } = await t.get('/auth/sessions', second.access_token).expect(200);
      expect(listed.data).toMatchObject([{ current: true }]);
      expect(new Date(listed.data[0].created_at).getTime()).toBeGreaterThan(Date.now() - 60_000);

      const { secret } = await enrol(t);
      t.clock.advance(60);
      const code = codeOf(t, secret);
      const signedIn = await completeChallenge(t, { challenge_token: await startChallenge(t, ADA), code }).expect(200);
      const authenticator = new SoftAuthenticator(ORIGIN);
      const tokens: Tokens = signedIn.body;
      const owner = { ...tokens, proof: await confirmationTokenOf(t, tokens.access_token) };
      await passkeys.enrol(owner, authenticator);
      await passkeys.signIn(authenticator);
      const { body: exported } = await t
        .get('/auth/account/export', owner.access_token)
        .set(CONFIRMATION_HEADER, owner.proof)
        .expect(200);
      expect(exported).toMatchObject({ two_factor: { enabled: true }, passkeys: [expect.anything()] });
      expect(Date.parse(exported.two_factor.confirmed_at)).toBeGreaterThan(Date.now() - 600_000);

      const mails = mailbox.mails.length;
      await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
      const token = (await mailbox.linkAfter(mails)).searchParams.get('token')!;
      const body = { token, email: ADA, password: NEXT, password_confirmation: NEXT };
      await t.http.post('/auth/reset-password').send(body).expect(200);
      await t.get('/private', owner.access_token).expect(401);
      await t.refresh(second.refresh_token).expect(401);

      await t.login(ADA, 'wrong').expect(422);
      await t.login(ADA, 'wrong').expect(422);
      await t.login(ADA, NEXT).expect(423);
      await t.app.get(Pruning).run();
      await t.auth.guard('api').revokeAll(userId);
      await member(t, 'bob@example.com');
      const { access_token: last } = await t.session('bob@example.com');
      const proof = await confirmationTokenOf(t, last);
      await t.call('delete', '/auth/account', last).set(CONFIRMATION_HEADER, proof).expect(204);
      expect(await t.database.query("SELECT 1 FROM members WHERE email = 'bob@example.com'")).toEqual([]);
    });
  });
});
