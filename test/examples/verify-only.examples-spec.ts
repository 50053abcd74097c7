import { type RunningExample, start } from '../support/packages/example';
import { send } from '../support/hosts/processes';
import { describeWithRedis } from '../support/stores/with-redis';
import { livesAndEnds, offersRoutesOf, refusesGarbage, signIn, statusAt } from './life-of-a-session';

const ADA = { email: 'ada@example.com', password: 'a horse with wings' };

describeWithRedis('the example verify-only', () => {
  let host: RunningExample;
  /** Login at the issuer, use at the other service. */
  const place = () => ({ auth: `${host.urls.issuer}/auth`, guarded: `${host.urls.reports}/reports` });

  beforeAll(async () => {
    host = await start('verify-only');
    const account = { name: 'Ada', ...ADA, password_confirmation: ADA.password };
    expect((await send(`${host.urls.issuer}/auth/register`, 'POST', account)).status).toBe(200);
  });
  afterAll(() => host?.stop());

  it('accepts at the second service what the issuer signs, and refuses it at once after the sign-out', () =>
    livesAndEnds(place(), ADA.email, ADA.password));

  it('ends there what the issuer ends for all sessions', async () => {
    const [phone, desktop] = [
      await signIn(place(), ADA.email, ADA.password),
      await signIn(place(), ADA.email, ADA.password),
    ];
    expect(await statusAt(place().guarded, phone.access)).toBe(200);
    expect((await send(`${place().auth}/sessions`, 'DELETE', undefined, desktop.access)).status).toBe(204);
    expect(await statusAt(place().guarded, phone.access)).toBe(401);
  });

  it('applies the abilities of the token', async () => {
    const { access } = await signIn(place(), ADA.email, ADA.password);
    expect(await statusAt(`${place().guarded}/audit`, access)).toBe(403);
  });

  it('publishes public keys only, and has no routes of its own beside the issuer', async () => {
    const { body } = await send(`${host.urls.issuer}/auth/jwks`, 'GET');
    const [key] = body.keys as unknown as Record<string, string>[];
    expect(key).toMatchObject({ kid: 'k1', kty: 'EC', crv: 'P-256', alg: 'ES256' });
    expect(key).not.toHaveProperty('d');
    expect((await send(`${host.urls.reports}/auth/login`, 'POST', ADA)).status).toBe(404);
  });

  it('offers the routes of its page', () => offersRoutesOf('verify-only', Object.values(host.urls)));

  it('refuses invalid input', async () => {
    await refusesGarbage(place());
    expect(host.logs).not.toContain('ERROR');
  });
});
