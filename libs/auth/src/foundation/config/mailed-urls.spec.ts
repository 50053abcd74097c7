import { urlFault } from './url-checks';

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
