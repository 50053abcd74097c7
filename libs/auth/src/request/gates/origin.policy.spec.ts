import { isOwnPage } from './origin.policy';

const HOST = 'app.example.com';
const OWN = `https://${HOST}`;
const OTHER = 'https://www.example.com';

describe('a request in cookie mode', () => {
  it.each<[string, Partial<Parameters<typeof isOwnPage>[0]>]>([
    ['no page at all', {}],
    ['a page of the same origin', { fetchSite: 'same-origin', origin: OWN }],
    ['a page of the same origin that withholds its own', { fetchSite: 'same-origin', origin: 'null' }],
    ['a page of the same origin, behind a proxy that renames the host', { fetchSite: 'same-origin', host: 'pod-7' }],
    ['the address bar', { fetchSite: 'none' }],
    ['an older browser', { origin: OWN }],
    ['an older browser, and a host in capitals', { origin: OWN, host: 'APP.example.com' }],
    ['an older browser, on a port of its own', { origin: `${OWN}:8443`, host: `${HOST}:8443` }],
    ['a listed page', { origin: OTHER }],
    ['a listed page of the same site', { origin: OTHER, fetchSite: 'same-site' }],
    ['a listed page of another site', { origin: OTHER, fetchSite: 'cross-site' }],
  ])('passes from %s', (_, page) => {
    expect(isOwnPage({ fetchSite: undefined, origin: undefined, host: HOST, ...page }, [OTHER])).toBe(true);
  });

  it.each<[string, Partial<Parameters<typeof isOwnPage>[0]>]>([
    ['another site', { fetchSite: 'cross-site', origin: 'https://evil.example' }],
    ['another site that names no origin', { fetchSite: 'cross-site' }],
    ['another site that claims ours', { fetchSite: 'cross-site', origin: OWN }],
    ['another origin of the site', { fetchSite: 'same-site', origin: 'https://old.example.com' }],
    ['two sites at once', { fetchSite: 'same-origin, cross-site' }],
    ['a site in other letters', { fetchSite: 'Same-Origin' }],
    ['an older browser on another page', { origin: 'https://evil.example' }],
    ['an older browser on another port', { origin: `${OWN}:8443` }],
    ['an older browser in a sandbox', { origin: 'null' }],
    ['a page whose name ends like ours', { origin: `https://not-${HOST}` }],
    ['a page whose name begins like ours', { origin: `${OWN}.evil.example` }],
    ['a listed page in other letters', { origin: OTHER.toUpperCase(), fetchSite: 'cross-site' }],
    ['an empty origin', { origin: '' }],
    ['a page, where the request names no host', { origin: OWN, host: undefined }],
  ])('is refused from %s', (_, page) => {
    expect(isOwnPage({ fetchSite: undefined, origin: undefined, host: HOST, ...page }, [OTHER])).toBe(false);
  });
});
