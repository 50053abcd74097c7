import { SoftAuthenticator } from '@svc/auth/testing';
import { createHash } from 'node:crypto';
import { linkIn } from '../../support/hosts/members';
import { ORIGIN } from '../../support/flows/passkeys';
import { PASSWORD } from '../../support/hosts/user-entities';
import { codeAt, secretIn } from '../../support/flows/two-factor';
import type { AttackedHost, Visitor } from './attacked-host';
import { type Route, credentials, routeNamed } from './routes';
import { claimsOf } from './jws';
import type { Answer, RawRequest } from './raw-client';

/** Sends a valid request to every route. @returns the responses */
export async function sendValidRequests(host: AttackedHost): Promise<Map<string, Answer>> {
  return new ValidRequests(host).run();
}

type Json = Record<string, unknown>;

class ValidRequests {
  private readonly answers = new Map<string, Answer>();

  constructor(private readonly host: AttackedHost) {}

  async run(): Promise<Map<string, Answer>> {
    for (const guard of ['api', 'admin']) await this.sessions(guard);
    await this.twoFactor();
    await this.passkeys();
    await this.mails();
    await this.emailChange();
    await this.ends();
    return this.answers;
  }

  /** @param more the differences from the valid request of the table */
  private async call(name: string, visitor: Visitor, more: Partial<RawRequest> = {}): Promise<Json> {
    const route: Route = routeNamed(name);
    const { method, path } = route;
    const body = route.fields ? (route.body?.(visitor) ?? {}) : undefined;
    const answer = await this.host.wire.send({ method, path, body, headers: credentials(route, visitor), ...more });
    this.answers.set(name, answer);
    return answer.text ? (JSON.parse(answer.text) as Json) : {};
  }

  private async sessions(guard: string): Promise<void> {
    const at = this.host.paths[guard]!;
    const visitor = await this.host.visitor(guard);
    for (const route of [
      'GET {}/jwks',
      'POST {}/login',
      'POST {}/confirm-password',
      'GET {}/sessions',
      'GET {}/devices',
      'DELETE {}/devices/:svcKnownDevice',
      'GET {}/trusted-devices',
      'DELETE {}/trusted-devices',
      'DELETE {}/trusted-devices/:svcDevice',
    ])
      await this.call(route.replace('{}', at), visitor);
    // Each mode reads one of both.
    const Cookie = `__Host-refresh${guard === 'api' ? '' : `-${guard}`}=${visitor.refresh}`;
    await this.call(`POST ${at}/refresh`, visitor, { headers: { Cookie } });
    await this.call(`DELETE ${at}/sessions/others`, visitor);
    const path = `${at}/sessions/${String(claimsOf(visitor.access).fid)}`;
    await this.call(`DELETE ${at}/sessions/:svcSession`, visitor, { path });
    for (const route of [`POST ${at}/logout`, `DELETE ${at}/sessions`])
      await this.call(route, await this.host.visitor(guard));
    await this.host.sql(
      `UPDATE svc_known_devices SET link_hash = '${createHash('sha256').update(guard).digest('hex')}'
        WHERE id = (SELECT id FROM svc_known_devices WHERE guard = '${guard}' ORDER BY first_seen_at DESC LIMIT 1)`,
    );
    await this.call(`POST ${at}/sessions/report`, visitor, { body: { token: guard } });
  }

  private async twoFactor(): Promise<void> {
    const visitor = await this.host.visitor();
    const secret = secretIn(String((await this.call('POST /auth/two-factor', visitor)).otpauth_uri));
    const step = Math.floor(Date.now() / 30_000);
    await this.call('POST /auth/two-factor/confirm', visitor, { body: { code: codeAt(secret, step) } });
    await this.call('GET /auth/two-factor/recovery-codes', visitor);
    await this.call('POST /auth/two-factor/recovery-codes', visitor);
    const { challenge_token } = await this.call('POST /auth/login', visitor);
    const body = { challenge_token, code: codeAt(secret, Math.max(step, Math.floor(Date.now() / 30_000)) + 1) };
    await this.call('POST /auth/two-factor-challenge', visitor, { body });
    await this.call('DELETE /auth/two-factor', visitor);
    await this.call('POST /auth/login', visitor);
  }

  private async passkeys(): Promise<void> {
    const visitor = await this.host.visitor();
    const authenticator = new SoftAuthenticator(ORIGIN);
    const credential = authenticator.create(
      (await this.call('POST /auth/passkeys/registration-options', visitor)) as never,
    );
    await this.call('POST /auth/passkeys', visitor, { body: { credential, name: 'key' } });
    await this.call('GET /auth/passkeys', visitor);
    const path = `/auth/passkeys/${credential.id}`;
    await this.call('PATCH /auth/passkeys/:svcPasskey', visitor, { path, body: { name: 'other' } });
    for (const route of ['POST /auth/passkeys/login', 'POST /auth/confirm-passkey']) {
      const { ceremony_id, options } = await this.call('POST /auth/passkeys/login-options', visitor);
      const body = { ceremony_id, credential: authenticator.get(options as never) };
      await this.call(route, visitor, { body });
    }
    await this.call('DELETE /auth/passkeys/:svcPasskey', visitor, { path });
    const user = await this.host.visitor();
    const { access_token: access } = await this.call('POST /auth/login', user);
    const signedIn = { ...user, access: String(access) };
    const options = await this.call('POST /auth/passkeys/conditional-options', signedIn);
    const silent = authenticator.create(options as never, { up: false, uv: false });
    await this.call('POST /auth/passkeys/conditional', signedIn, { body: { credential: silent } });
    const fields = routeNamed('POST /auth/register/passkey/options').body!(visitor);
    const begun = await this.call('POST /auth/register/passkey/options', visitor, { body: fields });
    const made = new SoftAuthenticator(ORIGIN).create(begun.options as never);
    const body = { ...fields, ceremony_id: begun.ceremony_id, credential: made };
    await this.call('POST /auth/register/passkey', visitor, { body });
  }

  private async mails(): Promise<void> {
    const visitor = await this.host.visitor();
    await this.call('POST /auth/email/verification-notification', visitor);
    const { pathname, search } = linkIn(await this.host.mailTo(visitor.email, 1));
    await this.call('GET /auth/email/verify/:id/:hash', visitor, { path: pathname + search });
    await this.call('POST /auth/email/verify/:id/:hash', visitor, { path: pathname + search });
    // The address is proved, so nothing is mailed.
    await this.call('POST /auth/email/verification-request', visitor);
    await this.call('POST /auth/forgot-password', visitor);
    const token = linkIn(await this.host.mailTo(visitor.email, 2)).searchParams.get('token');
    const body = { ...routeNamed('POST /auth/reset-password').body!(visitor), token };
    await this.call('POST /auth/reset-password', visitor, { body });
    const { code_token } = await this.call('POST /auth/login/code', visitor);
    const [code] = /\b\d{8}\b/.exec((await this.host.mailTo(visitor.email, 3)).text)!;
    // Each mode reads one of both.
    const [Cookie = ''] = this.answers.get('POST /auth/login/code')!.headers['set-cookie'] ?? [];
    const headers = { Cookie: Cookie.split(';')[0]! };
    await this.call('POST /auth/login/code/verify', visitor, { body: { code_token, code }, headers });
  }

  private async emailChange(): Promise<void> {
    const visitor = await this.host.visitor();
    // An address that was never verified gets no link that undoes the change.
    await this.host.sql('UPDATE members SET email_verified_at = now() WHERE id = $1', [visitor.id]);
    const email = `new.${visitor.email}`;
    await this.call('POST /auth/email/change', visitor, { body: { email } });
    const confirm = linkIn(await this.host.mailTo(email, 1)).searchParams.get('token');
    await this.call('POST /auth/email/change/confirm', visitor, { body: { token: confirm } });
    const undo = linkIn(await this.host.mailTo(visitor.email, 1)).searchParams.get('token');
    await this.call('POST /auth/email/change/undo', visitor, { body: { token: undo } });
  }

  private async ends(): Promise<void> {
    const visitor = await this.host.visitor();
    await this.call('POST /auth/register', visitor);
    // Of another user, because a change of the password ends the confirmation.
    await this.call('POST /auth/password', await this.host.visitor());
    await this.call('GET /auth/account/export', visitor);
    await this.call('DELETE /auth/account', visitor);
    const { status } = await this.host.post('/auth/login', { email: visitor.email, password: PASSWORD });
    if (status !== 422) throw new Error('the account still exists');
  }
}
