import { PasswordHasher } from '@svc/auth';
import { mailedCode, sendCode } from '../support/flows/email-code';
import { enrolment, enrolmentToken, startEnrolment } from '../support/flows/required-factor';
import { CONFIRMATION_HEADER, confirmPassword, confirmationTokenOf } from '../support/flows/step-up';
import { codeOf, completeChallenge, secretIn, startChallenge } from '../support/flows/two-factor';
import { member, membersForFile } from '../support/hosts/members';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

/** Whether a user without a second factor must set one up. */
let isRequired = false;

const { t, mailbox } = membersForFile({
  features: { twoFactor: true, emailCode: true },
  twoFactor: { required: () => isRequired },
  confirm: { factors: 'all' },
});
let id: string;
beforeEach(async () => {
  isRequired = false;
  id = await member(t, ADA, { emailVerifiedAt: new Date() });
});

/** The text with each digit replaced by that of a script whose digit zero is given. */
const inDigits = (zero: string, text: string): string =>
  text.replaceAll(/[0-9]/g, (digit) => String.fromCodePoint(zero.codePointAt(0)! + Number(digit)));

const halves = (code: string, between: string): string => `${code.slice(0, 3)}${between}${code.slice(3)}`;

/** How people type and paste a code. */
const SPELLINGS: [name: string, spell: (code: string) => string][] = [
  ['a hyphen', (code) => halves(code, '-')],
  ['a minus sign', (code) => halves(code, '\u2212')],
  ['a space', (code) => halves(code, ' ')],
  ['a no-break space', (code) => halves(code, '\u00A0')],
  ['full-width digits', (code) => inDigits('０', code)],
  ['Arabic digits', (code) => inDigits('٠', code)],
  ['a direction mark', (code) => `\u200E${code}`],
  ['a zero-width space', (code) => halves(code, '\u200B')],
  ['a full stop', (code) => `${code}.`],
];

/** The next code of the authenticator: a code is accepted once. */
const nextCode = (secret = SECRET): string => {
  t.clock.advance(30);
  return codeOf(t, secret);
};
const session = async (): Promise<string> => (await t.auth.startSession(id, { amr: ['pwd'] })).accessToken;
const importFactor = (recoveryCodeHashes: string[] = []): Promise<boolean> =>
  t.auth.twoFactor.importFactor(id, { secret: SECRET, recoveryCodeHashes });
const recover = async (recovery_code: string): Promise<number> =>
  (await completeChallenge(t, { challenge_token: await startChallenge(t), recovery_code })).status;

describe.each(SPELLINGS)('a code that is typed with %s', (_, spell) => {
  it('is a mailed code', async () => {
    const { code_token, code } = await mailedCode(t, mailbox);
    await sendCode(t, { code_token, code: spell(code) }).expect(200);
  });

  it('is a one-time password at a login and at a confirmation, and is used up in every spelling', async () => {
    await importFactor();
    const code = nextCode();
    await completeChallenge(t, { challenge_token: await startChallenge(t), code: spell(code) }).expect(200);
    await completeChallenge(t, { challenge_token: await startChallenge(t), code }).expect(422);
    await confirmPassword(t, await session(), { password: PASSWORD, code: spell(nextCode()) }).expect(200);
  });

  it('is a recovery code, in lower case, too', async () => {
    await importFactor();
    const [first, second] = await t.auth.twoFactor.replaceRecoveryCodes(id);
    expect(await recover(spell(first!.replaceAll('-', '').toLowerCase()))).toBe(200);
    expect(await recover(first!)).toBe(422);
    const proof = { password: PASSWORD, recovery_code: spell(second!) };
    await confirmPassword(t, await session(), proof).expect(200);
  });
});

describe('the first code of an authenticator', () => {
  it('is accepted in every spelling, also from code of the host', async () => {
    for (const [name, spell] of SPELLINGS) {
      const token = await session();
      const proof = await confirmationTokenOf(t, token);
      const asked = (path: string) => t.call('post', path, token).set(CONFIRMATION_HEADER, proof);
      const secretOf = async (): Promise<string> =>
        secretIn((await asked('/auth/two-factor').expect(200)).body.otpauth_uri);
      const { status } = await asked('/auth/two-factor/confirm').send({ code: spell(nextCode(await secretOf())) });
      expect([name, status]).toEqual([name, 204]);
      await t.auth.twoFactor.disable(id);
      await t.auth.twoFactor.confirm(id, spell(nextCode(await secretOf())));
      await t.auth.twoFactor.disable(id);
    }
  });

  it('is accepted in every spelling during a sign-in that requires it', async () => {
    isRequired = true;
    for (const [name, spell] of SPELLINGS) {
      const enrolment_token = await enrolmentToken(t);
      const secret = await startEnrolment(t, enrolment_token);
      const { status } = await enrolment(t, '/confirm', { enrolment_token, code: spell(nextCode(secret)) });
      expect([name, status]).toEqual([name, 200]);
      await t.auth.twoFactor.disable(id);
    }
  });
});

describe('a recovery code', () => {
  it('is read with O as 0, with I and L as 1, and without any other character', async () => {
    await importFactor();
    for (const one of ['I', 'l']) {
      const codes = await t.auth.twoFactor.replaceRecoveryCodes(id);
      const typed = codes.map((code) => code.replaceAll('0', 'o').replaceAll('1', one).replaceAll('-', ' / '));
      for (const code of typed) expect(await recover(`"${code}"`)).toBe(200);
    }
  });

  it('of an earlier alphabet, and an imported one, is accepted only as it was hashed', async () => {
    const hash = (code: string): Promise<string> => t.app.get(PasswordHasher).hash(code);
    const earlier = 'abcdeABCDE-0123456789';
    const imported = 'Abcd-12345';
    await importFactor([await hash(imported)]);
    await t.database.query(
      `UPDATE members SET two_factor_recovery_codes = (two_factor_recovery_codes::jsonb || to_jsonb($1::text))::text`,
      [await hash(earlier)],
    );
    for (const code of [earlier, imported]) {
      for (const other of [code.toLowerCase(), code.replace('-', ''), code.replace('-', ' '), `${code}.`])
        expect([other, await recover(other)]).toEqual([other, 422]);
      expect(await recover(code)).toBe(200);
      expect(await recover(code)).toBe(422);
    }
  });
});
