import { randomBytes } from 'node:crypto';
import { SoftAuthenticator } from '@svc/auth/testing';
import type { Response } from 'supertest';
import {
  type Confirmed,
  NOT_VERIFIED,
  ORIGIN,
  PASSKEYS,
  PasskeyApp,
  UNKNOWN_PASSKEY,
  storePasskey,
} from '../support/flows/passkeys';
import { TestApp } from '../support/hosts/app';
import { completeChallenge, startChallenge } from '../support/flows/two-factor';
import { requestStatements } from '../support/stores/request-statements';

/** The parts of an answer by which a client could distinguish it. */
const shape = ({ status, text, headers: { date: _, 'x-ratelimit-remaining': __, ...headers } }: Response) => ({
  status,
  text,
  headers,
});

describe('a passkey that no account has', () => {
  const app = PasskeyApp.forFile({ passkeys: { required: true } });
  let ada: Confirmed;
  let authenticator: SoftAuthenticator;

  beforeEach(async () => {
    ada = await app.confirmed();
    authenticator = new SoftAuthenticator(ORIGIN);
    await app.enrol(ada, authenticator);
  });

  /** The routes that take a passkey, with the answer of an authenticator. */
  const ROUTES: [string, (from: SoftAuthenticator) => Promise<Response>][] = [
    ['a sign-in', async (from) => app.attempt(from)],
    [
      'a second step',
      async (from) =>
        completeChallenge(app.t, { challenge_token: await startChallenge(app.t), ...(await app.answer(from)) }),
    ],
    ['a confirmation', async (from) => app.call('post', 'confirm-passkey', ada).send(await app.answer(from))],
  ];

  const made = async (user = ada): Promise<SoftAuthenticator> => {
    const device = new SoftAuthenticator(ORIGIN);
    device.create(await app.creationOptions(user));
    return device;
  };

  it.each(ROUTES)('is refused with a reason by %s', async (_, send) => {
    const { status, body, headers } = await send(await made());
    expect({ status, body }).toEqual({ status: 422, body: UNKNOWN_PASSKEY });
    expect(headers['cache-control']).toBe('no-store, private');
  });

  it.each(ROUTES)('is refused so by %s after its owner has deleted it', async (_, send) => {
    const device = new SoftAuthenticator(ORIGIN);
    const id = await app.enrol(ada, device);
    expect((await send(device)).status).toBe(200);
    await app.call('delete', `passkeys/${id}`, ada).expect(204);
    expect((await send(device)).body).toEqual(UNKNOWN_PASSKEY);
  });

  it('is told apart only in a ceremony of this guard', async () => {
    const credential = (await app.answer(await made())).credential;
    expect((await app.login('x', credential).expect(422)).body).toEqual(NOT_VERIFIED);
  });

  describe('is told apart from every stored one:', () => {
    let elsewhere: PasskeyApp;
    let kept: string;
    let foreign: SoftAuthenticator;
    beforeEach(async () => {
      // The same users and the same table, under the name of another guard.
      elsewhere = new PasskeyApp(
        await TestApp.start({ databaseUrl: app.t.databaseUrl, options: { ...PASSKEYS, guard: 'members' } }),
      );
      foreign = new SoftAuthenticator(ORIGIN);
      [kept] = [...authenticator.held.keys()] as [string];
      await elsewhere.enrol(await elsewhere.confirmed(), foreign);
    });
    afterEach(() => elsewhere.stop());

    /** A device that signs with another key for the id of a stored passkey. */
    const forged = async (id: string): Promise<SoftAuthenticator> => {
      const device = new SoftAuthenticator(ORIGIN);
      device.create(await app.creationOptions(ada), { credentialId: Buffer.from(id, 'base64url') });
      return device;
    };
    /** The devices of passkeys that this guard must not show. The last row is encrypted under a key of another application. */
    const hidden = async (): Promise<SoftAuthenticator[]> => {
      const [id] = [...foreign.held.keys()] as [string];
      const unreadable = randomBytes(32).toString('base64url');
      await storePasskey(app.t, unreadable, '1', 'admin');
      return [foreign, await forged(id), await forged(unreadable)];
    };

    it.each(ROUTES)('%s refuses a passkey of another guard like a wrong assertion', async (_, send) => {
      const wrong = await send(await forged(kept));
      expect(wrong.body).toEqual(NOT_VERIFIED);
      for (const device of await hidden()) expect(shape(await send(device))).toEqual(shape(wrong));
    });

    it('the queries of a wrong assertion do not depend on the guard of the passkey', async () => {
      const statements = requestStatements(app.t);
      const cost = async (device: SoftAuthenticator): Promise<string[]> => {
        const { ceremony_id, credential } = await app.answer(device);
        statements.mockClear();
        await app.login(ceremony_id, credential).expect(422);
        return statements.mock.calls.map(([text]) => text);
      };
      const [ofOwn, [, ...others]] = [await cost(await forged(kept)), await hidden()];
      expect(ofOwn).toHaveLength(1);
      for (const device of others) expect(await cost(device)).toEqual(ofOwn);
    });
  });
});
