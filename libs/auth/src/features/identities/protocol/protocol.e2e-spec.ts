import {
  CALLBACK,
  CLIENT_SECRET,
  IdentityProviderHost,
} from '../../../../../../test/support/identity-provider/identity-provider';
import { answerOf } from '../../../../../../test/support/identity-provider/visit';
import { MovableClock } from '../../../tools/testing/movable-clock';
import { oidc } from '../providers';
import { ProviderClients } from './provider-clients';

describe('the protocol with a provider', () => {
  let host: IdentityProviderHost;
  beforeAll(async () => (host = await IdentityProviderHost.start()));
  afterAll(() => host.stop());
  it('ends in the identity', async () => {
    const clients = new ProviderClients(
      { main: oidc({ issuer: host.issuer, clientId: 'app', clientSecret: CLIENT_SECRET, redirectUris: [CALLBACK] }) },
      new MovableClock(),
    );
    const { url, checks } = await clients.begin('main', CALLBACK);
    expect(await clients.exchange('main', await answerOf(url), checks)).toEqual({});
  });
});
