import { evictionProblem, policyIn } from './store-proof';

describe('the eviction policy', () => {
  it.each<[string, unknown, string | null]>([
    ['CONFIG GET in RESP2', ['maxmemory-policy', 'allkeys-lru'], 'allkeys-lru'],
    ['CONFIG GET in RESP3', { 'maxmemory-policy': 'noeviction' }, 'noeviction'],
    ['CONFIG GET as a map', new Map([['maxmemory-policy', 'volatile-ttl']]), 'volatile-ttl'],
    ['INFO', '# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lfu\r\nother:1\r\n', 'allkeys-lfu'],
    ['an INFO without the policy', '# Memory\r\nused_memory:1\r\n', null],
    ['an empty list', [], null],
    ['an incomplete list', ['maxmemory-policy'], null],
    ['another setting', ['maxmemory', '0'], null],
    ['an empty map', {}, null],
    ['nothing', null, null],
    ['a number', 7, null],
  ])('is read from %s', (_, answer, policy) => {
    expect(policyIn(answer)).toBe(policy);
  });

  it.each(['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-lru', 'volatile-lfu', 'volatile-random'])(
    '%s is reported as a problem with its correction',
    (policy) => expect(evictionProblem(policy)).toMatch(new RegExp(`is ${policy}.*Set maxmemory-policy to noeviction`)),
  );

  it('is reported as a problem when it is unknown, and not when it is noeviction', () => {
    expect(evictionProblem(null)).toMatch(/does not report.*noeviction/);
    expect(evictionProblem('noeviction')).toBeNull();
  });
});
