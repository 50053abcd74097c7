import { type RunningExample, start } from '../support/example';
import { send } from '../support/processes';
import { livesAndEnds, offersRoutesOf, refusesGarbage, signIn, statusAt } from './life-of-a-session';

const ADA = { email: 'ada@example.com', password: 'a horse with wings' };
const STAFF_PASSWORD = 'a zebra with stripes';

describe('the example admin-guard', () => {
  let host: RunningExample;
  const shop = () => ({ auth: `${host.url}/auth`, guarded: `${host.url}/orders` });
  const staff = () => ({ auth: `${host.url}/staff/auth`, guarded: `${host.url}/staff/customers` });
  const signOut = (token: string, proof?: string) =>
    send(`${staff().guarded}/1/sign-out`, 'POST', undefined, token, { 'X-Svc-Confirmation': proof });

  beforeAll(async () => {
    host = await start('admin-guard', { STAFF_PASSWORD });
    const account = { name: 'Ada', ...ADA, password_confirmation: ADA.password };
    expect((await send(`${shop().auth}/register`, 'POST', account)).status).toBe(200);
  });
  afterAll(() => host?.stop());

  it('signs customers in and out', () => livesAndEnds(shop(), ADA.email, ADA.password));

  it('signs the staff in and out, at routes of its own', () =>
    livesAndEnds(staff(), 'support@example.com', STAFF_PASSWORD));

  it('refuses the credentials and the tokens of one guard at the other', async () => {
    const customer = await signIn(shop(), ADA.email, ADA.password);
    const member = await signIn(staff(), 'admin@example.com', STAFF_PASSWORD);
    expect(await statusAt(staff().guarded, customer.access)).toBe(401);
    expect(await statusAt(shop().guarded, member.access)).toBe(401);
    expect((await send(`${staff().auth}/refresh`, 'POST', { refresh_token: customer.refresh })).status).toBe(401);
    expect((await send(`${shop().auth}/refresh`, 'POST', { refresh_token: member.refresh })).status).toBe(401);
    expect((await send(`${staff().auth}/login`, 'POST', ADA)).status).toBe(422);
    const credentials = { email: 'admin@example.com', password: STAFF_PASSWORD };
    expect((await send(`${shop().auth}/login`, 'POST', credentials)).status).toBe(422);
    // Nothing of this has ended the sessions.
    expect(await statusAt(shop().guarded, customer.access)).toBe(200);
    expect(await statusAt(staff().guarded, member.access)).toBe(200);
  });

  it('has no registration for the staff', async () => {
    expect((await send(`${staff().auth}/register`, 'POST', ADA)).status).toBe(404);
  });

  it('lets the support read only', async () => {
    const { access } = await signIn(staff(), 'support@example.com', STAFF_PASSWORD);
    expect((await signOut(access)).status).toBe(403);
  });

  it('ends the sessions of a customer for an administrator who has confirmed the password', async () => {
    const customer = await signIn(shop(), ADA.email, ADA.password);
    const { access } = await signIn(staff(), 'admin@example.com', STAFF_PASSWORD);
    expect((await signOut(access)).status).toBe(423);
    const confirm = (password: string) => send(`${staff().auth}/confirm-password`, 'POST', { password }, access);
    expect((await confirm(ADA.password)).status).toBe(422);
    const { body } = await confirm(STAFF_PASSWORD);
    expect((await signOut(access, 'garbage')).status).toBe(423);
    expect(await statusAt(shop().guarded, customer.access)).toBe(200);
    expect((await signOut(access, body.confirmation_token)).status).toBe(204);
    expect(await statusAt(shop().guarded, customer.access)).toBe(401);
  });

  it('offers the routes of its page', () => offersRoutesOf('admin-guard', Object.values(host.urls)));

  it('refuses invalid input', async () => {
    await refusesGarbage(shop());
    await refusesGarbage(staff());
    const { access } = await signIn(staff(), 'admin@example.com', STAFF_PASSWORD);
    expect((await send(`${staff().guarded}/none/sign-out`, 'POST', undefined, access)).status).toBe(423);
    expect(host.logs).not.toContain('ERROR');
  });
});
