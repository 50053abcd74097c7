import { withQuery } from './mail';

describe('withQuery adds parameters to', () => {
  it.each([
    ['https://app.test/reset', 'https://app.test/reset?token=x&email=a%2Bb%40c.d'],
    ['https://app.test/reset?lang=de', 'https://app.test/reset?lang=de&token=x&email=a%2Bb%40c.d'],
    ['https://app.test/#/reset', 'https://app.test/#/reset?token=x&email=a%2Bb%40c.d'],
  ])('%s', (url, expected) => {
    expect(withQuery(url, { token: 'x', email: 'a+b@c.d' })).toBe(expected);
  });
});
