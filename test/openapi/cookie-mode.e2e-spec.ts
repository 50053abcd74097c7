import { TestApp } from '../support/app';
import { PASSWORD } from '../support/people';
import { Contract, documentOf } from './support/contract';

const ADA = 'ada@example.com';

describe('in cookie mode the routes answer what the document says', () => {
  let t: TestApp;
  let contract: Contract;

  beforeAll(async () => {
    t = await TestApp.start({ options: { cookieMode: true } });
    await t.person(ADA);
    contract = await Contract.of(documentOf(t.app));
  });

  afterAll(() => t.stop());

  const login = () => contract.expect(t, 'api_login', 200, { body: { email: ADA, password: PASSWORD } });

  it('with the refresh token in a cookie of the name that opens the refresh', async () => {
    const [cookie] = (await login()).headers['set-cookie'] as unknown as string[];
    const { securitySchemes } = documentOf(t.app).components!;
    const { name } = securitySchemes!.api_refresh_cookie as { name: string };
    expect(cookie).toMatch(new RegExp(`^${name}=[0-9a-f]{64};`));
    await contract.expect(t, 'api_refresh', 200, { headers: { Cookie: cookie!.split(';')[0]! } });
    await contract.expect(t, 'api_refresh', 401);
  });

  it('to pages of other sites', async () => {
    const headers = { Origin: 'https://evil.example' };
    for (const id of ['api_login', 'api_refresh']) await contract.expect(t, id, 403, { headers });
  });

  it('at the end of a session, with the header it names', async () => {
    const { body } = await login();
    const { headers } = await contract.expect(t, 'api_logout', 204, { token: body.access_token });
    expect(headers['set-cookie']).toBeDefined();
    expect(contract.op('api_logout').responses[204]).toHaveProperty('headers.Set-Cookie');
    expect(contract.op('api_sessions_end_others').responses[204]).not.toHaveProperty('headers.Set-Cookie');
  });
});
