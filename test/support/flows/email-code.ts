import type { Mail } from '@svc/auth';
import type { TestApp } from '../hosts/app';
import type { Mailbox } from '../hosts/members';
import { ADA } from '../hosts/user-entities';

export const WRONG_CODE = 'This code is not correct, or not valid any more.';

/** The body of every refused code. */
export const REFUSED = { message: WRONG_CODE, errors: { code: [WRONG_CODE] } };

/** A requested code with the token of the browser that asked. */
export interface MailedCode {
  code_token: string;
  code: string;
}

const CODE = /\b\d{6,10}\b/;

/** The code in a mail. */
export const codeIn = ({ text }: Mail): string => CODE.exec(text)![0];

/** Another code with the same number of digits. */
export const otherCode = (code: string): string =>
  String((Number(code) + 1) % 10 ** code.length).padStart(code.length, '0');

export const requestCode = (t: TestApp, email: unknown = ADA) => t.http.post('/auth/login/code').send({ email });

export const sendCode = (t: TestApp, body: object) => t.http.post('/auth/login/code/verify').send(body);

/** Requests a code and waits for its mail. */
export async function mailedCode(t: TestApp, mailbox: Mailbox, email = ADA): Promise<MailedCode> {
  const before = mailbox.mails.length;
  const { body } = await requestCode(t, email).expect(202);
  return { code_token: body.code_token, code: codeIn(await mailbox.after(before, ({ text }) => CODE.test(text))) };
}
