import type { LoggerService } from '@nestjs/common';
import { AuthEvents, Pruning } from '@svc/auth';
import { generateKeyPairSync, sign } from 'node:crypto';
import { inspect } from 'node:util';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { KeyedOrders, createKey, forgedKey, keyOwner, serviceKey } from '../support/flows/access-keys';
import { failStatements } from '../support/faults/failing-statements';
import { Mailbox, member, membersForFile } from '../support/hosts/members';
import { ADA } from '../support/hosts/user-entities';
import { sharedRedisUrl } from '../support/stores/shared-redis';
import { tablesContaining } from '../support/views/find-texts';
import { SecurityLines } from '../support/views/security-lines';

const SCANNER = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** What every logger of the application writes. */
const logged: unknown[][] = [];
const write = (...line: unknown[]): void => void logged.push(line);
const logger: LoggerService = { log: write, warn: write, error: write, debug: write, verbose: write, fatal: write };

/** The names and texts of the entries of Redis. */
async function storedTexts(): Promise<string> {
  const { client } = await redisCache(sharedRedisUrl()!);
  const names = await client.keys('*');
  const texts = await Promise.all(names.map((name) => client.get(name).catch(() => '')));
  await client.disconnect();
  return [...names, ...texts].join(' ');
}

describe('the secret of an access key', () => {
  let failure: Error | null = null;
  const log = new SecurityLines();
  const mailbox = new Mailbox();
  const { t } = membersForFile(
    {
      ...log.options,
      mail: { mailer: mailbox, notices: true },
      features: { accessKeys: true, accessKeyScanning: true, abilities: true },
      accessKeys: { scannerKeys: { one: SCANNER.publicKey.export({ type: 'spki', format: 'pem' }) as string } },
      hooks: {
        abilities: () => {
          if (failure) throw failure;
          return ['*'];
        },
      },
    },
    { controllers: [KeyedOrders], rawBody: true, prepare: (app) => app.useLogger(logger) },
  );

  it('is in no line of a log, no event, no mail, no row, no entry of Redis, and no answer but the first', async () => {
    const events: object[] = [];
    const { emit } = AuthEvents.prototype;
    jest.spyOn(AuthEvents.prototype, 'emit').mockImplementation(function (this: AuthEvents, event: object) {
      events.push(event);
      return emit.call(this, event);
    });
    await member(t, ADA, { emailVerifiedAt: new Date(0) });
    const owner = await keyOwner(t);
    const [mine, away, ours] = [
      await createKey(t, owner, { abilities: ['orders.read'] }),
      await createKey(t, owner, { networks: ['192.0.2.0/24'] }),
      await serviceKey(t),
    ];
    const answers: unknown[] = [];
    const use = async (text: string, method: 'get' | 'post' = 'get', path = '/orders'): Promise<number> => {
      const { status, headers, body } = await (method === 'get' ? t.get(path, text) : t.call(method, path, text));
      answers.push(headers, body);
      return status;
    };
    const wrong = forgedKey(mine.id);
    for (const text of [mine.access_key, ours.access_key]) expect(await use(text)).toBe(200);
    for (const text of [away.access_key, wrong, mine.access_key.slice(0, -1), mine.access_key.toUpperCase()])
      expect(await use(text)).toBe(401);
    expect(await use(mine.access_key, 'post')).toBe(403);
    for (const path of ['/orders/mine', '/orders/staff', '/auth/sessions', '/auth/access-keys', '/private'])
      expect([401, 404]).toContain(await use(mine.access_key, 'get', path));
    expect(await use(ours.access_key, 'post', '/orders/confirmed')).toBe(423);

    failure = new Error('the abilities of the owner are not known');
    expect(await use(mine.access_key)).toBe(500);
    failure = null;
    await t.database.query('ALTER TABLE svc_access_keys RENAME TO away');
    expect(await use(mine.access_key)).toBeGreaterThanOrEqual(500);
    await t.database.query('ALTER TABLE away RENAME TO svc_access_keys');
    const allow = await failStatements(t, 'INSERT OR UPDATE ON svc_access_keys');
    await serviceKey(t).catch((error: unknown) => answers.push(error));
    await t.auth.accessKeys.revokeAny(ours.id).catch((error: unknown) => answers.push(error));
    await allow();

    answers.push(await t.auth.accessKeys.verify(ours.access_key), await t.auth.accessKeys.listOf({ service: 'ci' }));
    for (const text of [wrong, away.access_key])
      await t.auth.accessKeys.verify(text).catch((error: unknown) => answers.push(error));
    const { body: list } = await t.get('/auth/access-keys', owner.tokens.access_token).expect(200);
    const body = JSON.stringify([{ token: ours.access_key }, { token: wrong }]);
    for (const signed of [body, 'another body']) {
      const { body: answer } = await t.http
        .post('/auth/access-keys/leaked')
        .set({
          'Content-Type': 'application/json',
          'Github-Public-Key-Identifier': 'one',
          'Github-Public-Key-Signature': sign('sha256', Buffer.from(signed), SCANNER.privateKey).toString('base64'),
        })
        .send(body);
      answers.push(answer);
    }
    await t.call('delete', `/auth/access-keys/${mine.id}`, owner.tokens.access_token).expect(204);
    for (const text of [mine.access_key, ours.access_key]) expect(await use(text)).toBe(401);
    await t.app.get(Pruning).run();
    await t.calm();

    const written = [logged, log.lines, events, mailbox.mails, answers, list].map((all) =>
      inspect(all, { depth: 12, maxArrayLength: null, maxStringLength: null, showHidden: true }).toLowerCase(),
    );
    // Each of them has something to say about a key.
    for (const [i, text] of written.entries()) expect([i, text.length > 200]).toEqual([i, true]);
    expect(events).toContainEqual(expect.objectContaining({ keyId: ours.id, reason: 'leaked' }));
    expect(log.lines.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['wrong_key', 'key_network', 'revoked_key', 'invalid_key']),
    );
    const stored = await storedTexts();
    for (const key of [mine.access_key, away.access_key, ours.access_key, wrong]) {
      const part = key.split('_')[2]!.slice(0, 16);
      for (const [i, text] of written.entries()) expect([i, text.includes(part)]).toEqual([i, false]);
      expect(stored).not.toContain(part);
      expect(await tablesContaining(t, [part])).toEqual([]);
    }
  });
});
