import type { MailedLink } from './option-table';
import { linkFault, mailedLink, urlFault, withQuery } from './url-checks';

const [PAGE, API] = [{ production: true }, { production: true, bare: true }];
const development = { production: false };

describe('a URL that mailed links begin with', () => {
  it.each([
    ['https://app.example.com/reset', PAGE],
    ['https://app.example.com/reset?lang=de', PAGE],
    ['https://app.example.com/#/reset', PAGE],
    ['https://app.example.com:8443', API],
    ['https://api.example.com/v1', API],
    ['HTTPS://app.example.com', PAGE],
    ['http://localhost:3000/reset', development],
    ['http://app.localhost/reset', development],
    ['http://127.0.0.1:3000', development],
    ['http://[::1]:3000', development],
  ])('such as %s is accepted by the rule %j', (url, rule) => expect(urlFault(url, rule)).toBeNull());

  it.each([
    [undefined, PAGE, /^is missing$/],
    ['', PAGE, /^is missing$/],
    ['/reset', PAGE, /not an http\(s\) URL/],
    ['javascript:alert(1)', PAGE, /not an http\(s\) URL/],
    ['ftp://example.com', PAGE, /not an http\(s\) URL/],
    ['http://app.example.com/reset', PAGE, /in production, mailed links must use https/],
    ['http://localhost:3000/reset', PAGE, /in production, mailed links must use https/],
    ['http://app.example.com/reset', development, /http is allowed only for localhost/],
    ['http://localhost.example.com', development, /http is allowed only for localhost/],
    ['http://127.0.0.1.example.com', development, /http is allowed only for localhost/],
    [' https://app.example.com', PAGE, /spaces or control characters/],
    ['https://app.example.com\n', PAGE, /^has spaces or control characters$/],
    ['https://app.exa\nmple.com', PAGE, /spaces or control characters/],
    ['https://app.example.com/a\u200bb', PAGE, /spaces or control characters/],
    ['https://app.example.com/re set', development, /spaces or control characters/],
    ['https://*.preview.example.com/reset', development, /has a wildcard$/],
    ['https://user@app.example.com', PAGE, /^has a user name or a password/],
    ['https://:secret@app.example.com', PAGE, /^has a user name or a password/],
    ['https://api.example.com?a=b', API, /has a query or a fragment/],
    ['https://api.example.com?', API, /has a query or a fragment/],
    ['https://api.example.com/#', API, /has a query or a fragment/],
  ])('such as %j is rejected by the rule %j', (url, rule, fault) => expect(urlFault(url, rule)).toMatch(fault));

  it('is rejected without its password in the message', () => {
    expect(urlFault('https://user:secret@app.example.com', PAGE)).not.toContain('secret');
  });
});

describe('withQuery adds parameters to', () => {
  it.each([
    ['https://app.test/reset', 'https://app.test/reset?token=x&email=a%2Bb%40c.d'],
    ['https://app.test/reset?lang=de', 'https://app.test/reset?lang=de&token=x&email=a%2Bb%40c.d'],
    ['https://app.test/#/reset', 'https://app.test/#/reset?token=x&email=a%2Bb%40c.d'],
  ])('%s', (url, expected) => {
    expect(withQuery(url, { token: 'x', email: 'a+b@c.d' })).toBe(expected);
  });
});

describe('a function of the host for the link in a mail', () => {
  const FRAGMENT = { production: true, withoutFragment: true } as const;

  it.each<[string, MailedLink, object]>([
    ['in the path', (token) => `https://app.test/reset/${token}`, PAGE],
    ['in the query', (token, email) => `https://app.test/?t=${token}&e=${encodeURIComponent(email)}`, PAGE],
    ['in the fragment', (token) => `https://app.test/#/reset/${token}`, PAGE],
    ['below a host of its guard', (token, _, { guard }) => `https://${guard}.app.test/${token}`, PAGE],
    ['on localhost outside production', (token) => `http://localhost:3000/${token}`, development],
    ['as a code in the fragment', (code) => `https://app.test/in#${code}`, FRAGMENT],
  ])('is accepted with the secret %s', (_, link, rule) => {
    expect(linkFault(link, 'api', rule as typeof PAGE)).toBeNull();
  });

  it.each<[string, unknown, object, RegExp]>([
    ['no text', () => undefined, PAGE, /^returns no text$/],
    ['a promise', async (token: string) => `https://app.test/${token}`, PAGE, /^returns no text$/],
    ['an empty text', () => '', PAGE, /^returns a link that is missing$/],
    ['a path', (token: string) => `/reset/${token}`, PAGE, /^returns a link that is "\/reset\/.*not an http/],
    [
      'a link over http',
      (token: string) => `http://app.test/${token}`,
      PAGE,
      /in production, mailed links must use https/,
    ],
    ['a link with a password', (token: string) => `https://a:b@app.test/${token}`, PAGE, /a user name or a password/],
    ['a link with a line break', (token: string) => `https://app.test/${token}\n`, PAGE, /control characters/],
    ['the page only', () => 'https://app.test/reset', PAGE, /^returns a link without its first argument$/],
    [
      'a plain email',
      (t: string, email: string) => `https://app.test/?${t}&e=${email}`,
      PAGE,
      /use encodeURIComponent/,
    ],
    [
      'a code in the query',
      (code: string) => `https://app.test/?c=${code}`,
      FRAGMENT,
      /in the fragment, and only there/,
    ],
    ['a code twice', (code: string) => `https://app.test/${code}#${code}`, FRAGMENT, /in the fragment, and only there/],
  ])('is refused if it returns %s', (_, link, rule, fault) => {
    expect(linkFault(link as MailedLink, 'api', rule as typeof PAGE)).toMatch(fault);
  });

  it('that throws is refused without the text of its error, which may contain the link', () => {
    const link: MailedLink = (token) => {
      throw new TypeError(`${token} is wrong`);
    };
    expect(linkFault(link, 'api', PAGE)).toBe('throws TypeError');
  });

  it('makes the link, and an error without it where the link must not be mailed', () => {
    const parts = { secret: 'tok3n', email: 'ada@example.com', guard: 'api' };
    const added = (page: string): string => withQuery(page, { token: parts.secret });
    expect(mailedLink('https://app.test', parts, added)).toBe('https://app.test?token=tok3n');
    expect(mailedLink((token) => `https://app.test/${token}`, parts, added)).toBe('https://app.test/tok3n');
    const refused = (): string => mailedLink((token, email) => `https://app.test/${token} ${email}`, parts, added);
    expect(refused).toThrow(/the guard "api" throws, or returns a link that must not be mailed\.$/);
    expect(refused).not.toThrow(/tok3n|ada/);
  });
});
