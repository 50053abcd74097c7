import { RequestMethod } from '@nestjs/common';
import { prefixOf } from './route';

const ROUTE = 'auth/jwks';

describe('the global prefix of a route', () => {
  const of = (prefix: string, ...excluded: [RegExp, RequestMethod?][]): string =>
    prefixOf(
      {
        getGlobalPrefix: () => prefix,
        getGlobalPrefixOptions: () => ({
          exclude: excluded.map(([pathRegex, requestMethod = RequestMethod.ALL]) => ({
            path: '',
            pathRegex,
            requestMethod,
          })),
        }),
      },
      ROUTE,
    );

  it.each<[string, string]>([
    ['', ''],
    ['/', ''],
    ['api', 'api'],
    ['/api/v1/', 'api/v1'],
  ])('%j is %j', (prefix, expected) => {
    expect(of(prefix)).toBe(expected);
  });

  it.each<[string, RegExp, RequestMethod | undefined, string]>([
    ['none where the host excludes the route', /^\/auth\//, undefined, ''],
    ['none where it excludes its GET', /^\/auth\//, RequestMethod.GET, ''],
    ['kept where it excludes another method', /^\/auth\//, RequestMethod.POST, 'api'],
    ['kept where it excludes another route', /^\/health$/, undefined, 'api'],
  ])('is %s', (_, path, method, expected) => {
    expect(of('api', [path, method])).toBe(expected);
  });
});
