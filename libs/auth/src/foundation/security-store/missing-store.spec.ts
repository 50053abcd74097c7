import { missingStore } from './select-store';

describe('the reason why there is no shared store', () => {
  it.each([
    [{}, /^Neither redis\.url \(SVC_REDIS_URL\) nor cache is set$/],
    [{ SVC_REDIS_URL: ' ' }, /^Neither redis\.url \(SVC_REDIS_URL\) nor cache is set$/],
    [{ REDIS_URL: 'redis://localhost' }, /^Neither redis\.url \(SVC_REDIS_URL\) nor cache is set$/],
    [
      { SVC_REDIS_URL: 'redis://:password@localhost' },
      /^SVC_REDIS_URL is set, but the options do not have its value: /,
    ],
  ])('of %j', (env, expected) => {
    expect(missingStore(env)).toMatch(expected);
    expect(missingStore(env)).not.toContain('password');
  });
});
