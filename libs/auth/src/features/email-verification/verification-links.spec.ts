import { missingPrefix, readLink } from './verification-links';

const [ID, HASH, EXPIRES, MAC] = ['7', 'a'.repeat(40), '1764100000', '0123456789abcdef'.repeat(4)];
const QUERY = `expires=${EXPIRES}&signature=${MAC}`;
const MAILED = { id: ID, hash: HASH, expires: EXPIRES, signature: MAC };
const NOTHING = { id: ID, hash: '', expires: '', signature: '' };

const encoded = (text: string): string => encodeURIComponent(text);

describe('the parts of a link', () => {
  it.each<[string, string]>([
    ['as it was mailed', QUERY],
    ['with parameters of a tracker', `${QUERY}&utm_source=mail&fbclid=x&mc_eid=1`],
    ['with a parameter before', `utm_source=mail&${QUERY}`],
    ['with a parameter whose value is a link', `url=${encoded(`https://x.test/?${QUERY}`)}&${QUERY}`],
    ['with an empty parameter', `&${QUERY}&`],
    ['with a parameter that is not a valid encoding', `${QUERY}&q=%`],
    ['in another order', `signature=${MAC}&expires=${EXPIRES}`],
    ['with &amp;', QUERY.replace('&', '&amp;')],
    ['with &amp;amp;', QUERY.replace('&', '&amp;amp;')],
    ['with &amp; whose semicolon is encoded', QUERY.replace('&', '&amp%3B')],
    ['with a dot after it', `${QUERY}.`],
    ['with > after it', `${QUERY}>`],
    ['with ) and a comma after it', `${QUERY}),`],
    ['with an encoded > after it', `${QUERY}%3E`],
    ['with an encoded quotation mark after it', `${QUERY}%E2%80%9D`],
    ['with a percent sign after it', `${QUERY}%`],
    ['with a dot after the expiry, which is last', `signature=${MAC}&expires=${EXPIRES}.`],
    ['with an encoded =', QUERY.replaceAll('=', '%3D')],
    ['with an encoded &', QUERY.replaceAll('&', '%26')],
    ['with both encoded', encoded(QUERY)],
    ['with both encoded twice', encoded(encoded(QUERY))],
    ['with an encoded name', `%65xpires=${EXPIRES}&signature=${MAC}`],
  ])('are read from a query %s', (_, query) => {
    expect(readLink(ID, HASH, query)).toEqual(MAILED);
  });

  it.each<[string, string]>([
    ['whose ? was encoded', `${HASH}?${QUERY}`],
    ['whose ? was encoded twice', `${HASH}%3F${encoded(QUERY)}`],
  ])('are read from the path of a link %s', (_, hash) => {
    expect(readLink(ID, hash, '')).toEqual(MAILED);
    expect(readLink(ID, hash, 'utm_source=mail')).toEqual(MAILED);
  });

  it.each<[string, string]>([
    ['is empty', ''],
    ['has no signature', `expires=${EXPIRES}`],
    ['has no expiry', `signature=${MAC}`],
    ['has an empty signature', `expires=${EXPIRES}&signature=`],
    ['has a second expiry', `${QUERY}&expires=9999999999`],
    ['has the same expiry twice', `${QUERY}&expires=${EXPIRES}`],
    ['has a second signature', `${QUERY}&signature=${MAC}`],
    ['has a second signature after &amp;', `${QUERY}&amp;signature=${MAC}`],
    ['has a list of signatures', `expires=${EXPIRES}&signature[]=${MAC}`],
    ['has a list in an encoded name', `expires=${EXPIRES}&signature%5B0%5D=${MAC}`],
    ['has an expiry of letters', `expires=never&signature=${MAC}`],
    ['has a negative expiry', `expires=-${EXPIRES}&signature=${MAC}`],
    ['has an expiry of 13 digits', `expires=${'9'.repeat(13)}&signature=${MAC}`],
    ['has a signature in capitals', `expires=${EXPIRES}&signature=${MAC.toUpperCase()}`],
    ['has a longer signature', `${QUERY}0`],
    ['has text after the signature', `${QUERY}%20x`],
    ['is encoded three times', encoded(encoded(encoded(QUERY)))],
  ])('are not read from a query that %s', (_, query) => {
    expect(readLink(ID, HASH, query)).toEqual(NOTHING);
  });

  it.each(['', 'a'.repeat(39), 'A'.repeat(40), `${HASH}.`])('are not read with the hash "%s"', (hash) => {
    expect(readLink(ID, hash, QUERY)).toEqual(NOTHING);
  });
});

describe('the global prefix that a URL lacks', () => {
  it.each<[string | undefined, string, string | null]>([
    ['https://a.example', '', null],
    ['https://a.example', 'api', 'api'],
    ['https://a.example', 'api/v1', 'api/v1'],
    ['https://a.example/api', 'api', null],
    ['https://a.example/shop/api/', 'api', null],
    ['https://a.example/myapi', 'api', 'api'],
    ['https://a.example/api/v1', 'api', 'api'],
    ['https://api', 'api', 'api'],
    [undefined, 'api', null],
  ])('of %s with the prefix %j is %j', (url, prefix, missing) => {
    expect(missingPrefix(url, prefix)).toBe(missing);
  });
});
