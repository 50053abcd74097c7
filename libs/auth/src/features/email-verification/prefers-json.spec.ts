import { prefersJson } from './email-verification.controller';

describe('a client', () => {
  it.each([
    'application/json',
    'application/json, text/plain, */*',
    'Application/JSON; charset=utf-8',
    'application/vnd.api+json',
    'text/html;q=0.8, application/json',
    'text/html;q=0, application/json;q=0.1',
  ])('that sends Accept: %s prefers JSON', (accept) => {
    expect(prefersJson(accept)).toBe(true);
  });

  it.each([
    undefined,
    '',
    '*/*',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'text/html, application/json',
    'application/json;q=0.5, text/html',
    'application/json;q=none, text/html',
    'image/png',
    '\xa0application/json',
    ',;,',
  ])('that sends Accept: %s is treated as a browser', (accept) => {
    expect(prefersJson(accept)).toBe(false);
  });
});
