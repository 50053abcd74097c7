import { type RunningExample, start } from '../support/packages/example';
import { send } from '../support/hosts/processes';
import { livesAndEnds, offersRoutesOf, refusesGarbage, signIn } from './life-of-a-session';

const ADA = { name: 'Ada', email: 'ada@example.com', password: 'a horse with wings' };

describe('the example minimal', () => {
  let host: RunningExample;
  const place = () => ({ auth: `${host.url}/auth`, guarded: `${host.url}/hello` });
  const register = (fields: object) =>
    send(`${host.url}/auth/register`, 'POST', { ...ADA, password_confirmation: ADA.password, ...fields });

  beforeAll(async () => {
    host = await start('minimal');
    expect((await register({})).status).toBe(200);
  });
  afterAll(() => host?.stop());

  it('signs in, guards its route, refreshes, and refuses every token after the sign-out', () =>
    livesAndEnds(place(), ADA.email, ADA.password));

  it('greets the user of the token', async () => {
    const { access } = await signIn(place(), ADA.email, ADA.password);
    const answer = await fetch(place().guarded, { headers: { Authorization: `Bearer ${access}` } });
    expect(await answer.text()).toBe('Hello, Ada!');
  });

  it('offers the routes of its page', () => offersRoutesOf('minimal', Object.values(host.urls)));

  it('refuses invalid input', async () => {
    await refusesGarbage(place());
    expect((await register({ email: 'none', name: 7 })).status).toBe(422);
    expect((await register({})).status).toBe(422);
    expect(host.logs).not.toContain('ERROR');
  });
});
