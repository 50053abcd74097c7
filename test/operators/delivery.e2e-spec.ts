import { AuthEvents, SessionEnded } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { TestApp } from '../support/hosts/app';
import { ADA, PASSWORD } from '../support/hosts/user-entities';
import { ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { confirmationTokenOf } from '../support/flows/step-up';
import { asConfirmed, enrol } from '../support/flows/two-factor';
import {
  EventReceiver,
  ISSUER,
  RECEIVER_AUDIENCE,
  deliver,
  deliveringTo,
  eventOf,
  storedEvents,
} from '../support/flows/security-events';

const NEW = 'another horse entirely';

describe('a security event', () => {
  const receiver = EventReceiver.forFile();
  const t = TestApp.forFile(() => ({
    options: deliveringTo(receiver, {
      ...PASSKEYS,
      features: { twoFactor: true, passkeys: true, accountDeletion: true },
    }),
  }));
  beforeEach(async () => void (await t.person(ADA)));

  /** The events that the receiver has accepted, each with its details without the time. */
  const received = async (): Promise<object[]> => {
    await deliver(t);
    return receiver.accepted.map((token) => {
      const [name, { event_timestamp: _, ...details }] = eventOf(token);
      return { name, ...details };
    });
  };

  it('is a token that verifies with the published keys of the guard', async () => {
    const { access_token } = await t.session();
    await t.call('post', '/auth/logout', access_token).expect(204);
    await deliver(t);
    const [{ token, headers } = { token: '', headers: {} }] = receiver.requests;
    const keys = createLocalJWKSet((await t.get('/auth/jwks').expect(200)).body);
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer: ISSUER,
      audience: RECEIVER_AUDIENCE,
      typ: 'secevent+jwt',
    });
    expect(protectedHeader).toEqual({ typ: 'secevent+jwt', alg: 'ES256', kid: 'k1' });
    const at = expect.any(Number);
    expect(payload).toEqual({
      iss: ISSUER,
      aud: RECEIVER_AUDIENCE,
      iat: at,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sub_id: {
        format: 'complex',
        user: { format: 'iss_sub', iss: ISSUER, sub: '1' },
        session: { format: 'opaque', id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      },
      events: {
        'https://schemas.openid.net/secevent/caep/event-type/session-revoked': {
          event_timestamp: payload.iat,
          reason_admin: { en: 'logout' },
        },
      },
    });
    expect(headers).toMatchObject({
      'content-type': 'application/secevent+jwt',
      accept: 'application/json',
      authorization: 'Bearer of-the-receiver',
    });
    expect(await storedEvents(t)).toEqual([]);
    // It is no credential of the library.
    await t.get('/private', token).expect(401);
  });

  it('reports a new password after the sessions that it has ended', async () => {
    const [{ access_token }] = [await t.session(), await t.session()];
    const body = { current_password: PASSWORD, password: NEW, password_confirmation: NEW };
    await t.call('post', '/auth/password', access_token).send(body).expect(200);
    expect(await received()).toEqual([
      { name: 'session-revoked', reason_admin: { en: 'password_change' } },
      { name: 'credential-change', credential_type: 'password', change_type: 'update' },
    ]);
    expect(receiver.accepted[1]!.sub_id).toEqual({ format: 'iss_sub', iss: ISSUER, sub: '1' });
  });

  it('reports an authenticator app that was enrolled or removed', async () => {
    const { token, proof } = await enrol(t);
    await asConfirmed(t, 'delete', '/auth/two-factor', token, proof).expect(204);
    expect(await received()).toEqual([
      { name: 'credential-change', credential_type: 'app', change_type: 'create' },
      { name: 'credential-change', credential_type: 'app', change_type: 'delete' },
    ]);
  });

  it('reports a passkey that was added or removed', async () => {
    const app = new PasskeyApp(t);
    const user = await app.confirmed(ADA);
    const id = await app.enrol(user, new SoftAuthenticator(ORIGIN));
    const key = await app.enrol(user, new SoftAuthenticator(ORIGIN));
    await t.database.query(`UPDATE svc_passkeys SET transports = '["nfc","usb"]' WHERE credential_id = $1`, [key]);
    for (const one of [id, key]) await app.call('delete', `passkeys/${one}`, user).expect(204);
    expect(await received()).toEqual([
      { name: 'credential-change', credential_type: 'fido2-platform', change_type: 'create' },
      { name: 'credential-change', credential_type: 'fido2-platform', change_type: 'create' },
      { name: 'credential-change', credential_type: 'fido2-platform', change_type: 'delete' },
      { name: 'credential-change', credential_type: 'fido2-roaming', change_type: 'delete' },
    ]);
  });

  it('is not made of sessions that have expired or were idle, and not of those of another guard', async () => {
    const ended = (guard: string, userId: string, reason: SessionEnded['reason']): void =>
      t.app.get(AuthEvents).emit(new SessionEnded(guard, userId, 'f', { ip: null, userAgent: null }, [], reason));
    ended('api', '1', 'expired');
    ended('api', '1', 'idle');
    ended('api', '2', 'revoked');
    expect(await received()).toEqual([{ name: 'session-revoked', reason_admin: { en: 'revoked' } }]);
    expect(receiver.accepted[0]!.sub_id.user).toMatchObject({ sub: '2' });
  });

  it('about a deleted account is still delivered, and no row of the account stays', async () => {
    receiver.answer = receiver.refuse(500);
    const { access_token } = await t.session();
    await t.session();
    const proof = await confirmationTokenOf(t, access_token);
    await asConfirmed(t, 'delete', '/auth/account', access_token, proof).expect(204);
    await deliver(t);
    expect((await storedEvents(t)).map(({ user }) => user)).toEqual(['1', '1']);
    receiver.answer = receiver.accept;
    t.clock.advance(600);
    await deliver(t);
    expect(receiver.accepted.map((token) => eventOf(token)[1].reason_admin)).toEqual([
      { en: 'erased' },
      { en: 'erased' },
    ]);
    expect(await storedEvents(t)).toEqual([]);
  });
});
