import { acceptableTicket, isFor, isLife, presentedIn, targetOf } from './ticket.policy';

const T = 'ab'.repeat(32);

describe('the tickets of a request target', () => {
  it.each<[url: string, target: string, tickets: string[]]>([
    ['/file', '/file', []],
    ['/file?', '/file?', []],
    ['/file?format=pdf', '/file?format=pdf', []],
    [`/file?ticket=${T}`, '/file', [T]],
    [`/file?format=pdf&ticket=${T}`, '/file?format=pdf', [T]],
    [`/file?ticket=${T}&format=pdf`, '/file?format=pdf', [T]],
    [`/file?a=1&ticket=${T}&b=%20+`, '/file?a=1&b=%20+', [T]],
    [`/file?ticket=${T}&ticket=x`, '/file', [T, 'x']],
    ['/file?ticket', '/file', ['']],
    ['/file?ticket=', '/file', ['']],
    [`/file?q=a?b&ticket=${T}`, '/file?q=a?b', [T]],
    [`/file?%74icket=${T}`, `/file?%74icket=${T}`, []],
    [`/file?ticket=${T}&%74icket=x`, '/file?%74icket=x', [T]],
    [`/file?ticket[]=${T}`, `/file?ticket[]=${T}`, []],
    [`/file?tickets=${T}`, `/file?tickets=${T}`, []],
    [`/file?Ticket=${T}`, `/file?Ticket=${T}`, []],
    [`/ticket=${T}`, `/ticket=${T}`, []],
    ['', '', []],
  ])('%s', (url, target, tickets) => expect(presentedIn(url)).toEqual({ target, tickets }));
});

describe('the target of a ticket', () => {
  it.each<[text: unknown, target: string | null]>([
    ['/orders/7/file?format=pdf', '/orders/7/file?format=pdf'],
    ['/a b?c d', '/a%20b?c%20d'],
    ['/näme', '/n%C3%A4me'],
    ['/a%2Fb', '/a%2Fb'],
    ['/a/../b', '/b'],
    ['/a?', '/a'],
    ['/a?x=1#part', null],
    ['//other.example/a', null],
    ['/\\other.example/a', null],
    ['/.//a', null],
    ['https://app.example/a', null],
    ['orders/7', null],
    ['', null],
    ['/a?ticket=x', null],
    ['/a?b=1&%74icket=x', null],
    [undefined, null],
    [7, null],
  ])('%s', (text, target) => expect(targetOf(text)).toBe(target));
});

describe('the life of a ticket', () => {
  it.each([
    [1, true],
    [60, true],
    [0, false],
    [61, false],
    [-1, false],
    [1.5, false],
    [Number.NaN, false],
    [Infinity, false],
    ['30', false],
    [undefined, false],
  ])('%s seconds', (seconds, isAccepted) => expect(isLife(seconds)).toBe(isAccepted));
});

describe('the ticket of a request', () => {
  it.each<[method: string | undefined, tickets: string[], ticket: string | null]>([
    ['GET', [T], T],
    ['GET', [], null],
    ['GET', [''], null],
    ['GET', [T, T], null],
    ['GET', [T.toUpperCase()], null],
    ['GET', [`${T}0`], null],
    ['HEAD', [T], null],
    ['POST', [T], null],
    ['DELETE', [T], null],
    ['OPTIONS', [T], null],
    ['get', [T], null],
    [undefined, [T], null],
  ])('%s %j', (method, tickets, ticket) => expect(acceptableTicket(method, tickets)).toBe(ticket));
});

describe('a ticket is for a request', () => {
  const issued = { guard: 'api', target: '/file?a=1&b=2' };

  it.each<[guard: string, target: string, isAccepted: boolean]>([
    ['api', '/file?a=1&b=2', true],
    ['admin', '/file?a=1&b=2', false],
    ['api', '/file', false],
    ['api', '/file?b=2&a=1', false],
    ['api', '/file?a=1&b=2&c=3', false],
    ['api', '/FILE?a=1&b=2', false],
    ['api', '/file/?a=1&b=2', false],
    ['api', '/file?a=%31&b=2', false],
  ])('at %s: %s', (guard, target, isAccepted) => expect(isFor(issued, { guard, target })).toBe(isAccepted));
});
