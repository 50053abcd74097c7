import { evictionProblem, policyIn } from './redis-security-store';

describe('the eviction policy', () => {
  it.each<[string, unknown, string | null]>([
    ['CONFIG GET in RESP2', ['maxmemory-policy', 'allkeys-lru'], 'allkeys-lru'],
    ['CONFIG GET in RESP3', { 'maxmemory-policy': 'noeviction' }, 'noeviction'],
    ['CONFIG GET as a map', new Map([['maxmemory-policy', 'volatile-ttl']]), 'volatile-ttl'],
    ['INFO', '# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lfu\r\nother:1\r\n', 'allkeys-lfu'],
    ['an INFO without it', '# Memory\r\nused_memory:1\r\n', null],
    ['an empty list', [], null],
    ['a list that breaks off', ['maxmemory-policy'], null],
    ['another setting', ['maxmemory', '0'], null],
    ['an empty map', {}, null],
    ['nothing', null, null],
    ['a number', 7, null],
  ])('is found in %s', (_, answer, policy) => {
    expect(policyIn(answer)).toBe(policy);
  });

  it.each(['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-lru', 'volatile-lfu', 'volatile-random'])(
    'is a problem as %s, with its cure',
    (policy) => expect(evictionProblem(policy)).toMatch(new RegExp(`is ${policy}.*Set maxmemory-policy to noeviction`)),
  );

  it('is a problem where it is not told, and none as noeviction', () => {
    expect(evictionProblem(null)).toMatch(/does not report.*noeviction/);
    expect(evictionProblem('noeviction')).toBeNull();
  });
});
