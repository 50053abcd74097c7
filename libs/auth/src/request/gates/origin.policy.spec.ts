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

describe('a wildcard among the listed origins', () => {
  const LISTED = [OTHER, 'https://*.preview.example.com'];
  const isListed = (origin: string): boolean => isOwnPage({ fetchSite: 'cross-site', origin, host: HOST }, LISTED);

  it.each([
    'https://pr-7.preview.example.com',
    'https://a.preview.example.com',
    'https://7.preview.example.com',
    'https://xn--bcher-kva.preview.example.com',
    `https://${'a'.repeat(63)}.preview.example.com`,
    OTHER,
  ])('accepts %s', (origin) => expect(isListed(origin)).toBe(true));

  it.each([
    ['no label', 'https://preview.example.com'],
    ['an empty label', 'https://.preview.example.com'],
    ['two labels', 'https://a.b.preview.example.com'],
    ['the asterisk itself', 'https://*.preview.example.com'],
    ['a port', 'https://a.preview.example.com:8443'],
    ['the default port, which no browser sends', 'https://a.preview.example.com:443'],
    ['http', 'http://a.preview.example.com'],
    ['another scheme', 'wss://a.preview.example.com'],
    ['a parent that only ends alike', 'https://a.evil-preview.example.com'],
    ['a parent that begins alike', 'https://a.preview.example.com.evil.example'],
    ['a user name', 'https://a@b.preview.example.com'],
    ['a host before a path', 'https://evil.example/.preview.example.com'],
    ['a host before a query', 'https://evil.example?.preview.example.com'],
    ['a host before a fragment', 'https://evil.example#.preview.example.com'],
    ['a dot at the end', 'https://a.preview.example.com.'],
    ['a path', 'https://a.preview.example.com/'],
    ['capitals', 'https://A.preview.example.com'],
    ['a hyphen at the beginning', 'https://-a.preview.example.com'],
    ['a hyphen at the end', 'https://a-.preview.example.com'],
    ['an underscore', 'https://a_b.preview.example.com'],
    ['a letter that is not of ASCII', 'https://\u0430.preview.example.com'],
    ['a line break', 'https://a.preview.example.com\n'],
    ['a label that is too long', `https://${'a'.repeat(64)}.preview.example.com`],
    ['another character in the place of a dot', 'https://a-preview.example.com'],
    ['the opaque origin', 'null'],
  ])('refuses an origin with %s: %j', (_, origin) => expect(isListed(origin)).toBe(false));
});
