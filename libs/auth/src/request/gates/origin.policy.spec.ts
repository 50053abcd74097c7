import { isOwnPage } from './origin.policy';

const HOST = 'app.example.com';
const OWN = `https://${HOST}`;
const OTHER = 'https://www.example.com';

describe('a request in cookie mode', () => {
  it.each<[string, Partial<Parameters<typeof isOwnPage>[0]>]>([
    ['no page', {}],
    ['a page of the same origin', { fetchSite: 'same-origin', origin: OWN }],
    ['a page of the same origin with an opaque origin', { fetchSite: 'same-origin', origin: 'null' }],
    ['a page of the same origin, through a proxy that changes the host', { fetchSite: 'same-origin', host: 'pod-7' }],
    ['the address bar', { fetchSite: 'none' }],
    ['an older browser', { origin: OWN }],
    ['an older browser, and a host in capitals', { origin: OWN, host: 'APP.example.com' }],
    ['an older browser, on another port than the default', { origin: `${OWN}:8443`, host: `${HOST}:8443` }],
    ['a listed page', { origin: OTHER }],
    ['a listed page of the same site', { origin: OTHER, fetchSite: 'same-site' }],
    ['a listed page of another site', { origin: OTHER, fetchSite: 'cross-site' }],
  ])('is accepted from %s', (_, page) => {
    expect(isOwnPage({ fetchSite: undefined, origin: undefined, host: HOST, ...page }, [OTHER])).toBe(true);
  });

  it.each<[string, Partial<Parameters<typeof isOwnPage>[0]>]>([
    ['another site', { fetchSite: 'cross-site', origin: 'https://evil.example' }],
    ['another site without an origin', { fetchSite: 'cross-site' }],
    ['another site with our origin', { fetchSite: 'cross-site', origin: OWN }],
    ['another origin of the site', { fetchSite: 'same-site', origin: 'https://old.example.com' }],
    ['a page with two values of Sec-Fetch-Site', { fetchSite: 'same-origin, cross-site' }],
    ['a page with Sec-Fetch-Site in another case', { fetchSite: 'Same-Origin' }],
    ['an older browser on another page', { origin: 'https://evil.example' }],
    ['an older browser on another port', { origin: `${OWN}:8443` }],
    ['an older browser in a sandboxed frame', { origin: 'null' }],
    ['a page whose host name ends like ours', { origin: `https://not-${HOST}` }],
    ['a page whose host name begins like ours', { origin: `${OWN}.evil.example` }],
    ['a listed page in another case', { origin: OTHER.toUpperCase(), fetchSite: 'cross-site' }],
    ['an empty origin', { origin: '' }],
    ['a page, if the request has no host', { origin: OWN, host: undefined }],
  ])('is refused from %s', (_, page) => {
    expect(isOwnPage({ fetchSite: undefined, origin: undefined, host: HOST, ...page }, [OTHER])).toBe(false);
  });
});
