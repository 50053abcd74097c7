import type { Request } from 'playwright-core';
import { describeWithBrowser, openWithoutStorage } from '../support/clients/browser';
import { type ClientTab, CLIENT_PASSWORD, ClientVisitor } from '../support/clients/client-page';
import { eventually } from '../support/runtime/eventually';
import { SampleVisit } from '../support/sample/sample-page';

const HOUR_MS = 3_600_000;
const ENV = { SVC_REGISTER_MAX_ATTEMPTS: '1000', SVC_FEATURE_BOUND_SESSIONS: 'true' };

/** The pair of keys that the browser keeps, in an expression. */
const PAIR = `await new Promise((resolve, reject) => {
  const opening = indexedDB.open('svc-auth');
  opening.onerror = reject;
  opening.onsuccess = () => {
    const reading = opening.result.transaction('keys').objectStore('keys').getAll();
    reading.onsuccess = () => (opening.result.close(), resolve(reading.result));
  };
})`;
const CLEAR = `await new Promise((resolve, reject) => {
  const deletion = indexedDB.deleteDatabase('svc-auth');
  deletion.onsuccess = () => resolve();
  deletion.onblocked = deletion.onerror = reject;
})`;

const partOf = (proof: string, index: number): Record<string, unknown> =>
  JSON.parse(Buffer.from(proof.split('.')[index]!, 'base64url').toString());
const jwkOf = (proof: string) => partOf(proof, 0).jwk;

describeWithBrowser('a browser client whose session is bound to a key', () => {
  const visit = SampleVisit.forFile();
  let person: ClientVisitor;
  let tab: ClientTab;
  let email: string;
  let sent: Request[];

  /** The proofs that were sent to a path. */
  const proofsAt = (path: string) =>
    sent.filter((one) => new URL(one.url()).pathname === path).map((one) => one.headers().dpop ?? '');
  const arrive = async (options: Record<string, unknown>): Promise<void> => {
    person = await ClientVisitor.of(visit);
    sent = [];
    person.context.on('request', (request) => sent.push(request));
    tab = await person.tab({ ...options, bound: true });
    email = await tab.registers();
  };
  afterEach(() => person.context.close());

  describe('in cookie mode, with nonces, where each session needs a key,', () => {
    const mode = { SVC_BOUND_SESSIONS_MODE: 'require', SVC_BOUND_SESSIONS_NONCE_SECONDS: '300' };
    visit.forTests({ ...ENV, ...mode, SVC_COOKIE_MODE: 'true' });
    beforeEach(() => arrive({}));

    it('signs in, calls the API, and goes on after a reload and in a second tab, with one key', async () => {
      expect(proofsAt('/auth/register').map((proof) => 'nonce' in partOf(proof, 1))).toEqual([false, true]);
      expect(await tab.run(`auth.request('GET', '/user')`)).toMatchObject({ data: { email } });
      const { fid } = (await tab.claims())!;
      await tab.reload();
      expect(await tab.run('auth.restore()')).toMatchObject({ claims: { fid } });
      const second = await person.tab({ bound: true });
      expect(await second.run('auth.restore()')).toMatchObject({ claims: { fid } });
      for (const one of [tab, second]) {
        expect(await one.run('auth.renew()')).toMatchObject({ claims: { fid } });
        expect(await one.run(`auth.request('GET', '/user')`)).toMatchObject({ data: { email } });
      }
      await second.run(`account.devices()`);
      const proofs = ['/auth/register', '/auth/refresh', '/user', '/auth/devices'].map((path) => proofsAt(path));
      expect(proofs.every((ofPath) => ofPath.length > 0)).toBe(true);
      expect(new Set(proofs.flat().map((proof) => JSON.stringify(jwkOf(proof)))).size).toBe(1);
      const guarded = sent.filter((one) => one.headers().authorization);
      expect(guarded.filter((one) => !one.headers().authorization!.startsWith('DPoP '))).toEqual([]);
      await tab.run('auth.logout()');
      await eventually(async () => !(await second.token()));
    });

    it('has a private key that no script can export', async () => {
      expect(await tab.run(`(${PAIR}).map(({ privateKey }) => [privateKey.type, privateKey.extractable])`)).toEqual([
        ['private', false],
      ]);
      for (const format of ['jwk', 'pkcs8'])
        expect(await tab.rejected(`crypto.subtle.exportKey('${format}', (${PAIR})[0].privateKey)`)).toMatchObject({
          name: 'InvalidAccessError',
        });
      const aes = `await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['wrapKey'])`;
      const wrap = `crypto.subtle.wrapKey('jwk', (${PAIR})[0].privateKey, ${aes}, { name: 'AES-GCM', iv: new Uint8Array(12) })`;
      expect(await tab.rejected(wrap)).toMatchObject({ name: 'InvalidAccessError' });
    });
  });

  describe('in localStorage, with the time of the client,', () => {
    visit.forTests(ENV);
    beforeEach(() => arrive({ refreshToken: 'localStorage' }));

    const same = { refreshToken: 'localStorage', bound: true };

    it('shows that its key is lost, sends no token without it, and signs in with a new one', async () => {
      const [before] = proofsAt('/auth/register');
      await tab.run(CLEAR);
      // The key is in the memory of the page.
      expect(await tab.run('auth.renew()')).toMatchObject({ claims: {} });
      await tab.reload();
      person.refreshes.splice(0);
      const lost = `new Promise((resolve) => {
        auth.on('notRestored', resolve);
        auth.restore();
      })`;
      expect(await tab.run(lost)).toEqual({ otherTab: false, reason: 'key_lost' });
      expect(person.refreshes).toEqual([]);
      expect(await tab.run('auth.restore()')).toBeNull();
      expect(await tab.logsIn(email)).toBeNull();
      expect(await tab.run(`auth.request('GET', '/user')`)).toMatchObject({ data: { email } });
      expect(jwkOf(proofsAt('/auth/login').at(-1)!)).not.toEqual(jwkOf(before!));
    });

    it('ends in an open tab with its next renewal when a new one has found no key', async () => {
      await tab.events();
      await tab.run(CLEAR);
      const second = await person.tab(same);
      expect(await second.run('auth.restore()')).toBeNull();
      // The storage of this tab may be later than the answer of the other one.
      await eventually(async () => !('svc-auth:/auth' in (await tab.storage())));
      expect(await tab.run('auth.renew()')).toBeNull();
      expect(await tab.events()).toEqual(['signedOut logout other tab']);
    });

    it('makes one key in two tabs that begin at once', async () => {
      const second = await person.tab(same);
      await tab.run(CLEAR);
      sent.splice(0);
      const enter = `(await import('/web/auth-bound.js')).boundKey()('/auth').fetch('/auth/login', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '${JSON.stringify({ email, password: CLIENT_PASSWORD })}',
      }).then(({ status }) => status)`;
      expect(await Promise.all([tab.run(enter), second.run(enter)])).toEqual([200, 200]);
      const [one, other] = proofsAt('/auth/login').map(jwkOf);
      expect(one).toEqual(other);
    });

    it('works with a clock that is an hour ahead', async () => {
      const late = await ClientVisitor.of(visit);
      await late.context.clock.install({ time: Date.now() + HOUR_MS });
      const other = await late.tab(same);
      await other.logsIn(email);
      expect(await other.run(`auth.request('GET', '/user')`)).toMatchObject({ data: { email } });
      expect(await other.run('auth.renew()')).toMatchObject({ claims: {} });
      await late.context.close();
    });

    it('says that a browser without storage can keep no key', async () => {
      const context = await openWithoutStorage();
      try {
        const other = await (await ClientVisitor.of(visit, context)).tab(same);
        const login = `auth.login(${JSON.stringify({ email, password: CLIENT_PASSWORD })})`;
        expect(await other.rejected(login)).toMatchObject({
          name: 'AuthError',
          reason: 'key_unusable',
          message: expect.stringContaining('cannot keep a key'),
        });
      } finally {
        await context.close();
      }
    });
  });
});
