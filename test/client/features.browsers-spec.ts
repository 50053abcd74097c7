import { VirtualAuthenticator, choosePasskey, describeWithBrowser, inFirefox } from '../support/clients/browser';
import { CLIENT_PASSWORD, type ClientTab, ClientVisitor } from '../support/clients/client-page';
import { eventually } from '../support/runtime/eventually';
import { SampleVisit } from '../support/sample/sample-page';
import { codeAt, secretIn } from '../support/flows/two-factor';

const LIMITS = {
  SVC_REGISTER_MAX_ATTEMPTS: '1000',
  SVC_VERIFY_MAX_ATTEMPTS: '1000',
  SVC_CODE_MAX_ATTEMPTS: '1000',
  SVC_EMAIL_CHANGE_MAX_ATTEMPTS: '1000',
};
const NEXT_PASSWORD = 'eight green bottles';

const step = (): number => Math.floor(Date.now() / 30_000);

interface Challenge {
  challenge_token: string;
  methods: string[];
}

describeWithBrowser('the browser client', () => {
  const visit = SampleVisit.forFile();
  let person: ClientVisitor;
  let tab: ClientTab;
  let email: string;

  const opens = async (refreshToken: string) => {
    person = await ClientVisitor.of(visit);
    tab = await person.tab({ refreshToken });
  };
  const registers = async (refreshToken: string) => {
    await opens(refreshToken);
    email = await tab.registers();
    await tab.events();
  };
  afterEach(() => person.context.close());

  const confirmations = () => tab.run<number>('confirmations');
  const challenged = async (): Promise<Challenge> => {
    await tab.run('auth.logout()');
    const challenge = await tab.logsIn<Challenge>(email);
    await tab.run(`void (globalThis.challenge = ${JSON.stringify(challenge)})`);
    return challenge;
  };
  const answers = (factor: object) => `auth.answerChallenge(challenge, ${JSON.stringify(factor)})`;

  describe('in cookie mode', () => {
    visit.forTests({ ...LIMITS, SVC_COOKIE_MODE: 'true' });
    beforeEach(() => registers('cookie'));

    it('verifies an address with a mailed link', async () => {
      expect(await tab.run(`auth.request('GET', '/user')`)).toMatchObject({ data: { email_verified: false } });
      await tab.run('account.sendVerificationMail()');
      await tab.page.request.get(await visit.mailed(email, '/email/verify/'), { maxRedirects: 0 });
      expect(await tab.run(`auth.request('GET', '/user')`)).toMatchObject({ data: { email_verified: true } });
    });

    it('changes the password, and resets it with a mailed link, which ends the session', async () => {
      const fields = { current_password: 'wrong', password: NEXT_PASSWORD };
      expect(await tab.rejected(`auth.changePassword(${JSON.stringify(fields)})`)).toMatchObject({
        status: 422,
        errors: { current_password: ['The password is not correct.'] },
      });
      await tab.run(`auth.changePassword(${JSON.stringify({ ...fields, current_password: CLIENT_PASSWORD })})`);
      await tab.run(`auth.forgotPassword(${JSON.stringify(email)})`);
      const { searchParams } = new URL(await visit.mailed(email, '/reset-password'));
      const reset = { token: searchParams.get('token'), email, password: CLIENT_PASSWORD };
      await tab.run(`auth.resetPassword(${JSON.stringify(reset)})`);
      expect(await tab.events()).toEqual(['signedOut ended']);
      expect(await tab.logsIn(email)).toBeNull();
    });

    describe('repeats a request that needs a confirmation', () => {
      it('after the question is answered, with one question for several requests', async () => {
        await tab.confirmsWith(CLIENT_PASSWORD);
        const [exported] = await tab.run<[{ account: object }]>(
          'Promise.all([account.exportAccount(), account.enrolTwoFactor()])',
        );
        expect(exported.account).toMatchObject({ identifier: email });
        await tab.run('account.newRecoveryCodes().catch(() => undefined)');
        expect(await confirmations()).toBe(1);
      });

      it('not if the user cancels, and asks again the next time', async () => {
        expect(await tab.rejected('account.exportAccount()')).toMatchObject({ status: 423, reason: 'cancelled' });
        await tab.confirmsWith(CLIENT_PASSWORD);
        await tab.run('account.exportAccount()');
        expect(await confirmations()).toBe(2);
      });

      it('and lets the question show that the password is wrong', async () => {
        expect(await tab.rejected('auth.confirmPassword("wrong")')).toMatchObject({
          status: 422,
          errors: { password: ['The password is not correct.'] },
        });
      });
    });

    it('sets up a second factor, and signs in with a code and with a recovery code', async () => {
      await tab.confirmsWith(CLIENT_PASSWORD);
      const enrolment = await tab.run<{ otpauth_uri: string; recovery_codes: string[] }>('account.enrolTwoFactor()');
      const secret = secretIn(enrolment.otpauth_uri);
      expect(await tab.rejected('account.confirmTwoFactor("000000")')).toMatchObject({ status: 422 });
      await tab.run(`account.confirmTwoFactor("${codeAt(secret, step())}")`);
      expect(await tab.run('account.countRecoveryCodes()')).toEqual({ remaining: 8, total: 8 });

      expect((await challenged()).methods).toEqual(['totp', 'recovery_code']);
      expect(await tab.token()).toBeUndefined();
      expect(await tab.rejected(answers({ code: '000000' }))).toMatchObject({
        status: 422,
        errors: { code: [expect.anything()] },
      });
      // The code of the next time step: the current one is used.
      await tab.run(answers({ code: codeAt(secret, step() + 1) }));
      expect(await tab.claims()).toMatchObject({ amr: ['pwd', 'otp'] });

      await challenged();
      await tab.run(answers({ recovery_code: enrolment.recovery_codes[0] }));
      expect(await tab.run('account.countRecoveryCodes()')).toEqual({ remaining: 7, total: 8 });

      await challenged();
      await tab.run(answers({ recovery_code: enrolment.recovery_codes[1], trust_device: true }));
      await tab.run('auth.logout()');
      expect(await tab.logsIn(email)).toBeNull();
      expect(await tab.claims()).toMatchObject({ amr: ['pwd'] });
      const [trusted] = await tab.run<{ id: string }[]>('account.trustedDevices()');
      await tab.run(`account.endTrust("${trusted!.id}")`);
      expect((await challenged()).methods).toContain('totp');
      await tab.run(answers({ recovery_code: enrolment.recovery_codes[2], trust_device: true }));
      await tab.run('account.endAllTrust()');
      expect(await tab.run('account.trustedDevices()')).toEqual([]);

      const { recovery_codes: codes } = await tab.run<{ recovery_codes: string[] }>('account.newRecoveryCodes()');
      expect(codes.filter((code) => enrolment.recovery_codes.includes(code))).toEqual([]);
      await tab.run('account.disableTwoFactor()');
      await tab.run('auth.logout()');
      expect(await tab.logsIn(email)).toBeNull();
    });

    it('creates an access key after a confirmation, lists it, and ends it with the password or alone', async () => {
      await tab.confirmsWith(CLIENT_PASSWORD);
      const create = (label: string) =>
        tab.run<{ id: string; access_key: string }>(
          `account.accessKeys.create({ label: "${label}", abilities: ["orders.read"], expires_in_days: 30 })`,
        );
      const list = () => tab.run<{ label: string }[]>('account.accessKeys.list()');
      const status = async (key: string) => (await visit.sample.call('GET', '/orders', undefined, key)).status;
      const first = await create('cron');
      const second = await create('report');
      expect(await confirmations()).toBe(1);
      expect((await list()).map(({ label }) => label).toSorted()).toEqual(['cron', 'report']);
      expect(JSON.stringify(await list())).not.toContain(first.access_key);
      expect([await status(first.access_key), await status(second.access_key)]).toEqual([200, 200]);
      await tab.run(`account.accessKeys.revoke("${first.id}")`);
      expect([await status(first.access_key), await status(second.access_key)]).toEqual([401, 200]);
      const fields = { current_password: CLIENT_PASSWORD, password: NEXT_PASSWORD, end_access_keys: true };
      await tab.run(`auth.changePassword(${JSON.stringify(fields)})`);
      expect(await status(second.access_key)).toBe(401);
      expect(await list()).toEqual([]);
    });

    it('lists and ends sessions', async () => {
      const elsewhere = () => visit.sample.call('POST', '/auth/login', { email, password: CLIENT_PASSWORD });
      await elsewhere();
      await elsewhere();
      const list = await tab.run<{ id: string; current: boolean }[]>('auth.sessions()');
      expect(list.filter(({ current }) => current).map(({ id }) => id)).toEqual([(await tab.claims())!.fid]);
      expect(list).toHaveLength(3);
      await tab.run(`auth.endSession("${list.find(({ current }) => !current)!.id}")`);
      expect(await tab.run('auth.sessions()')).toHaveLength(2);
      await tab.run('auth.endOtherSessions()');
      expect(await tab.run('auth.sessions()')).toHaveLength(1);
      await tab.run('auth.endAllSessions()');
      expect(await tab.events()).toEqual(['signedOut logout']);
      await tab.logsIn(email);
      await tab.run('auth.endSession(auth.session.claims.fid)');
      expect(await tab.events()).toEqual(['signedIn login', 'signedOut logout']);
    });

    it('changes the address with the link of one mail, and undoes it with that of another, which ends the session', async () => {
      const address = `new-${email}`;
      // Only an address that is verified gets the link that undoes the change.
      await visit.sql(`UPDATE users SET email_verified_at = now() WHERE email = '${email}'`);
      await tab.confirmsWith(CLIENT_PASSWORD);
      await tab.run(`account.changeEmail("${address}")`);
      const tokenOf = async (to: string, path: string) =>
        new URL(await visit.mailed(to, path)).searchParams.get('token')!;
      await tab.run(`account.confirmEmailChange("${await tokenOf(address, '/confirm-email')}")`);
      expect(await tab.run(`auth.request('GET', '/user')`)).toMatchObject({ data: { email: address } });
      await tab.events();
      await tab.run(`account.undoEmailChange("${await tokenOf(email, '/undo-email')}")`);
      expect(await tab.events()).toEqual(['signedOut ended']);
      expect(await tab.rejected('account.undoEmailChange("invalid")')).toMatchObject({ status: 422 });
    });

    describe('with a mailed code', () => {
      const link = async () => new URL(await visit.mailed(email, '/sign-in-code'));
      const codeIn = ({ hash }: URL) => new URLSearchParams(hash.slice(1)).get('code')!;

      beforeEach(async () => {
        await visit.sql(`UPDATE users SET email_verified_at = now() WHERE email = '${email}'`);
        await tab.run('auth.logout()');
        expect(await tab.run(`account.requestCode("${email}")`)).toEqual({ expires_in: 600 });
      });

      it('signs in, without a code in the address of the page', async () => {
        await tab.page.evaluate(`history.replaceState(null, '', ${JSON.stringify((await link()).hash)})`);
        expect(await tab.run('account.codeInAddress()')).toBe(codeIn(await link()));
        expect(await tab.run('location.href')).not.toContain('code=');
        expect(await tab.run('account.codeInAddress()')).toBeNull();
        expect(await tab.run(`account.signInWithCode("${codeIn(await link())}")`)).toBeNull();
        expect(await tab.claims()).toMatchObject({ amr: ['email'] });
      });

      it('does not sign in in another browser', async () => {
        const other = await ClientVisitor.of(visit);
        const elsewhere = await other.tab({ refreshToken: 'cookie' });
        const signIn = `account.signInWithCode("${codeIn(await link())}")`;
        expect(await elsewhere.rejected(signIn)).toMatchObject({ status: 422, errors: { code: [expect.anything()] } });
        await other.context.close();
        expect(await tab.run(signIn)).toBeNull();
      });
    });

    it('lists devices, and reports a sign-in on a new one, which ends all sessions', async () => {
      const stranger = await ClientVisitor.of(visit);
      const elsewhere = await stranger.tab({ refreshToken: 'cookie' });
      await elsewhere.logsIn(email);
      const list = () => tab.run<{ id: string; current: boolean }[]>('account.devices()');
      expect((await list()).map(({ current }) => current)).toEqual([false, true]);
      const token = new URL(await visit.mailed(email, '/unknown-sign-in')).searchParams.get('token');
      await tab.run(`account.reportSignIn("${token}")`);
      expect(await tab.events()).toEqual(['signedOut ended']);
      await elsewhere.run('auth.renew()');
      expect(await elsewhere.events()).toContain('signedOut ended');
      await tab.logsIn(email);
      expect(await list()).toHaveLength(1);
      await tab.run(`account.forgetDevice("${(await list())[0]!.id}")`);
      expect(await list()).toEqual([]);
      await stranger.context.close();
    });

    it('deletes the account after a confirmation', async () => {
      await tab.confirmsWith(CLIENT_PASSWORD);
      await tab.run('auth.deleteAccount()');
      expect(await tab.events()).toEqual(['signedOut deleted']);
      expect(await tab.rejected(`auth.login(${JSON.stringify({ email, password: CLIENT_PASSWORD })})`)).toMatchObject({
        status: 422,
      });
    });

    describe('with passkeys', () => {
      let authenticator: VirtualAuthenticator;

      beforeEach(async () => {
        authenticator = await VirtualAuthenticator.of(tab.page);
        await tab.confirmsWith(CLIENT_PASSWORD);
        await authenticator.touch(() => tab.run('account.addPasskey("Laptop")'));
        expect(await confirmations()).toBe(1);
      });
      afterEach(() => authenticator.remove());

      const only = () =>
        tab.run<{ id: string; name: string }>('account.passkeys().then(({ passkeys }) => passkeys[0])');

      it('adds, renames and deletes one', async () => {
        expect(await authenticator.held()).toMatchObject([{ rpId: 'localhost' }]);
        await authenticator.touch(async () =>
          expect(await tab.rejected('account.addPasskey()')).toMatchObject({ name: 'InvalidStateError' }),
        );
        const { id, name } = await only();
        expect(name).toBe('Laptop');
        await tab.run(`account.renamePasskey("${id}", "Old laptop")`);
        expect(await only()).toMatchObject({ name: 'Old laptop' });
        await tab.run(`account.deletePasskey("${id}")`);
        expect(await only()).toBeUndefined();
        // Firefox does not implement the signal of accepted passkeys.
        if (!inFirefox) await eventually(async () => (await authenticator.held()).length === 0);
      });

      it('signs in with one, and is rejected if the user cancels', async () => {
        await tab.run('auth.logout()');
        await authenticator.refuse(async () =>
          expect(await tab.rejected('auth.loginWithPasskey()')).toMatchObject({ name: 'NotAllowedError' }),
        );
        await authenticator.touch(() => tab.run('auth.loginWithPasskey()'));
        expect(await tab.claims()).toMatchObject({ amr: ['webauthn'] });
      });

      it('confirms the identity with one', async () => {
        await tab.run('auth.logout()');
        await tab.logsIn(email);
        await tab.run('void (answer = () => auth.confirmPasskey().then(() => true))');
        await authenticator.touch(() => tab.run('account.exportAccount()'));
        expect(await confirmations()).toBe(2);
      });

      it('completes a login challenge with one', async () => {
        const { otpauth_uri: uri } = await tab.run<{ otpauth_uri: string }>('account.enrolTwoFactor()');
        await tab.run(`account.confirmTwoFactor("${codeAt(secretIn(uri), step())}")`);
        expect((await challenged()).methods).toContain('passkey');
        await authenticator.touch(() => tab.run('auth.answerChallengeWithPasskey(challenge)'));
        expect(await tab.claims()).toMatchObject({ amr: ['pwd', 'webauthn'] });
      });

      it('creates none without a question, where the browser has not filled in the password, and gives way to others', async () => {
        await tab.run(`account.deletePasskey("${(await only()).id}")`);
        await tab.run('auth.logout()');
        await tab.logsIn(email);
        // Chromium waits here: its virtual authenticator does not answer. Firefox has no such passkeys.
        await tab.run('void (globalThis.quiet = account.createPasskeyQuietly())');
        await authenticator.touch(() => tab.run('account.addPasskey("Asked for")'));
        expect(await tab.run('quiet')).toBe(false);
        expect(await tab.run('account.passkeys()')).toMatchObject({ passkeys: [{ name: 'Asked for' }] });
      });

      it('creates an account with one', async () => {
        await tab.run('auth.logout()');
        // With the passkeys of two accounts, Firefox asks which one to use.
        await authenticator.remove();
        authenticator = await VirtualAuthenticator.of(tab.page);
        const fields = { name: 'Ada', email: `new-${email}` };
        await authenticator.touch(() => tab.run(`account.registerWithPasskey(${JSON.stringify(fields)})`));
        expect(await tab.claims()).toMatchObject({ amr: ['webauthn'] });
        await tab.run('void (answer = () => auth.confirmPasskey().then(() => true))');
        await authenticator.touch(async () =>
          expect(await tab.rejected(`account.deletePasskey("${(await only()).id}")`)).toMatchObject({ status: 409 }),
        );
      });

      it('offers one in the suggestions of a field, and another sign-in ends the offer', async () => {
        await tab.run('auth.logout()');
        // Firefox has suggestions for the fields of a login.
        await tab.run(`void (document.body.innerHTML =
          '<form><input name="email" autocomplete="username webauthn" /><input type="password" /></form>')`);
        let offers = 0;
        await tab.page.route('**/auth/passkeys/login-options', async (route) => {
          const response = await route.fetch();
          const { options, ...ceremony } = await response.json();
          offers++;
          await route.fulfill({ response, json: { ...ceremony, options: { ...options, timeout: 200 } } });
        });
        await tab.run('void (globalThis.offer = auth.autofillPasskeys())');
        // It is renewed when the pointer moves after half of its time.
        let x = 0;
        await eventually(async () => {
          await tab.page.mouse.move(++x, 5);
          return offers >= 3;
        });
        await tab.page.unroute('**/auth/passkeys/login-options');
        await tab.logsIn(email);
        expect(await tab.run('offer')).toBe(false);
        await tab.run('auth.logout()');
        await authenticator.touch(async () => {
          await tab.run(
            'void (globalThis.offer = auth.autofillPasskeys().finally(() => document.body.replaceChildren()))',
          );
          await choosePasskey(tab.page.locator('[name=email]'));
          expect(await tab.run('offer')).toBe(true);
        });
        expect(await tab.claims()).toMatchObject({ amr: ['webauthn'] });
      });
    });
  });

  describe('in body mode', () => {
    visit.forTests(LIMITS);
    beforeEach(() => registers('localStorage'));

    it('keeps the token of the device after a sign-out, and that of a requested code until it is used', async () => {
      const kept = async () => Object.keys(await tab.storage()).toSorted();
      await visit.sql(`UPDATE users SET email_verified_at = now() WHERE email = '${email}'`);
      await tab.run('auth.logout()');
      expect(await kept()).toEqual(['svc-auth:/auth:device']);
      await tab.run(`account.requestCode("${email}")`);
      expect(await kept()).toEqual(['svc-auth:/auth:code', 'svc-auth:/auth:device']);
      const { hash } = new URL(await visit.mailed(email, '/sign-in-code'));
      const next = await person.tab({ refreshToken: 'localStorage' });
      await next.run(`account.signInWithCode("${new URLSearchParams(hash.slice(1)).get('code')}")`);
      // The storage of this tab may be later than the answer of the other one.
      await eventually(async () => !(await kept()).includes('svc-auth:/auth:code'));
      expect(await kept()).toEqual(['svc-auth:/auth', 'svc-auth:/auth:device']);
      expect(await tab.run('account.devices()')).toMatchObject([{ current: true }]);
    });
  });

  describe('where a second factor is required', () => {
    visit.forTests({ ...LIMITS, SVC_COOKIE_MODE: 'true', SVC_2FA_REQUIRED: 'true' });
    let accounts = 0;

    const enrolling = async () => {
      const fields = { email: `ada${++accounts}@example.com`, name: 'Ada', password: CLIENT_PASSWORD };
      await tab.run(`auth.register(${JSON.stringify(fields)}).then((answer) => void (globalThis.challenge = answer))`);
      expect(await tab.run('challenge')).toMatchObject({ enrolment_required: true, methods: ['totp', 'passkey'] });
      expect(await tab.claims()).toBeUndefined();
    };

    beforeEach(() => opens('cookie'));

    it('signs in with an authenticator app that was set up before', async () => {
      await enrolling();
      const { otpauth_uri: uri } = await tab.run<{ otpauth_uri: string }>('account.beginEnrolment(challenge)');
      expect(await tab.rejected('account.completeEnrolment(challenge, "000000")')).toMatchObject({
        errors: { code: [expect.anything()] },
      });
      await tab.run(`account.completeEnrolment(challenge, "${codeAt(secretIn(uri), step())}")`);
      expect(await tab.claims()).toMatchObject({ amr: ['pwd', 'otp'] });
      expect(await tab.events()).toEqual(['signedIn login']);
    });

    it('signs in with a passkey that was created before', async () => {
      const authenticator = await VirtualAuthenticator.of(tab.page);
      await enrolling();
      await authenticator.touch(() => tab.run('account.completeEnrolmentWithPasskey(challenge, "Laptop")'));
      expect(await tab.claims()).toMatchObject({ amr: ['pwd', 'webauthn'] });
      await authenticator.remove();
    });
  });
});
