import { generateKeyPairSync, sign } from 'node:crypto';
import { KeyRevoked } from '@svc/auth/access-keys';
import { KeyedOrders, createKey, forgedKey, keyOwner, serviceKey } from '../support/flows/access-keys';
import { TestApp } from '../support/hosts/app';
import { ADA } from '../support/hosts/user-entities';
import { RoundTrips } from '../support/stores/round-trips';

const pair = () =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
const [SCANNER, STRANGER] = [pair(), pair()];

/** What the host's function returns. */
let keysOf: () => Promise<Record<string, string>>;

const options = {
  features: { accessKeys: true, accessKeyScanning: true },
  accessKeys: { scannerKeys: () => keysOf() },
  guards: { admin: { features: { accessKeys: true } } } as never,
};

describe('POST /access-keys/leaked', () => {
  const t = TestApp.forFile({ controllers: [KeyedOrders], options, rawBody: true });
  beforeEach(async () => {
    keysOf = async () => ({ one: SCANNER.publicKey });
    await t.person(ADA);
  });

  const report = (body: string | Buffer, more: Record<string, string> = {}, key = SCANNER.privateKey) =>
    t.http
      .post('/auth/access-keys/leaked')
      .set({
        'Content-Type': 'application/json',
        'Github-Public-Key-Identifier': 'one',
        'Github-Public-Key-Signature': sign('sha256', Buffer.from(body), key).toString('base64'),
        ...more,
      })
      .send(body as string);
  const listOf = (...texts: unknown[]) => JSON.stringify(texts.map((token) => ({ token, type: 'svc', url: 'x' })));

  it('ends the keys of its signed list, and answers the same for those that it does not know', async () => {
    const revoked = t.recorded(KeyRevoked);
    const owner = await keyOwner(t);
    const [mine, ours, spared] = [await createKey(t, owner), await serviceKey(t), await createKey(t, owner)];
    const known = await report(listOf(mine.access_key, ours.access_key));
    const unknown = await report(listOf(forgedKey(), 'nonsense', 7, null));
    expect([known.status, known.body, known.text]).toEqual([unknown.status, unknown.body, unknown.text]);
    expect(known.status).toBeLessThan(300);
    await t.get('/orders', mine.access_key).expect(401);
    await t.get('/orders', ours.access_key).expect(401);
    await t.get('/orders', spared.access_key).expect(200);
    expect(revoked.map(({ keyId, reason }) => [keyId, reason])).toEqual([
      [mine.id, 'leaked'],
      [ours.id, 'leaked'],
    ]);
    expect((await report(listOf(mine.access_key))).status).toBe(known.status);
    expect(revoked).toHaveLength(2);
  });

  it('ends no key by its id without its secret, and none of another guard', async () => {
    const key = await serviceKey(t);
    const other = forgedKey();
    const forged = `svc_${key.access_key.split('_')[1]}_${other.split('_')[2]}`;
    const elsewhere = await t.auth.accessKeys.guard('admin').create({ service: 'ci' }, { label: 'x' });
    const sent = await report(listOf(forged, elsewhere.access_key, key.access_key.toUpperCase()));
    expect(sent.status).toBeLessThan(300);
    await t.get('/orders', key.access_key).expect(200);
    expect(await t.auth.accessKeys.guard('admin').verify(elsewhere.access_key)).toMatchObject({ service: 'ci' });
  });

  it('reads no store before the signature is right, for exactly these bytes', async () => {
    const key = await serviceKey(t);
    const body = listOf(key.access_key);
    const trips = new RoundTrips(t);
    const wrong = [
      () => report(body, {}, STRANGER.privateKey),
      () => report(body, { 'Github-Public-Key-Identifier': 'two' }),
      () => report(body, { 'Github-Public-Key-Identifier': '__proto__' }),
      () => report(body, { 'Github-Public-Key-Identifier': 'constructor' }),
      () => report(body, { 'Github-Public-Key-Signature': '' }),
      () => report(body, { 'Github-Public-Key-Signature': 'AAAA' }),
      () =>
        report(` ${body}`, {
          'Github-Public-Key-Signature': sign('sha256', Buffer.from(body), SCANNER.privateKey).toString('base64'),
        }),
      () => t.http.post('/auth/access-keys/leaked').set('Content-Type', 'application/json').send(body),
      () => t.http.post('/auth/access-keys/leaked').set('Authorization', `Bearer ${key.access_key}`).send([]),
    ];
    for (const [i, send] of wrong.entries()) {
      expect([i, (await send()).status]).toEqual([i, 401]);
      expect([i, trips.trips]).toEqual([i, []]);
    }
    await t.get('/orders', key.access_key).expect(200);
  });

  it('refuses a body that is no list, or too long, and no key of it survives an answer of success', async () => {
    for (const body of ['{}', '"text"', '7', 'null', '[null]', '[[]]', '{"length":1}', '[{"token":{}}]', '[{}]'])
      expect([body, (await report(body)).status < 500]).toEqual([body, true]);
    expect((await report('[{"token":')).status).toBe(400);
    expect((await report(listOf('x'.repeat(200_000)))).status).toBe(413);
    expect((await report(listOf('x'), { 'Content-Type': 'text/plain' })).status).toBeLessThan(500);
  });

  it('answers 503 while the keys of the scanner cannot be read', async () => {
    const key = await serviceKey(t);
    for (const failing of [
      async () => Promise.reject(new Error('down')),
      async () => null as never,
      async () => ({ one: 'no key' }),
    ]) {
      keysOf = failing;
      expect([401, 503]).toContain((await report(listOf(key.access_key))).status);
    }
    await t.get('/orders', key.access_key).expect(200);
  });
});

describe('POST /access-keys/leaked of a host that keeps no bytes of a request', () => {
  it('is not open: the host learns of it', async () => {
    const t = await TestApp.start({
      options: { ...options, accessKeys: { scannerKeys: { one: SCANNER.publicKey } } },
    }).catch((error: Error) => error);
    if (t instanceof Error) return expect(t.message).toMatch(/rawBody/);
    try {
      const { status } = await t.http.post('/auth/access-keys/leaked').send([]);
      expect([404, 500]).toContain(status);
    } finally {
      await t.stop();
    }
  });
});
