import * as surface from '@svc/auth';

describe('what the package exports', () => {
  it('is this and no more: each name is a promise', () => {
    expect(Object.keys(surface).toSorted()).toEqual([
      'AccessTokenGuard',
      'Auth',
      'AuthConfigError',
      'AuthEvents',
      'AuthException',
      'AuthModule',
      'Authenticated',
      'Clock',
      'CurrentCaller',
      'CurrentUser',
      'ForceJson',
      'HasherBusy',
      'InvalidRefreshToken',
      'PasswordHasher',
      'Public',
      'RefreshFamilyForked',
      'RefreshToken',
      'RefreshTokenReused',
      'SecurityStore',
      'Session',
      'StoreUnavailable',
      'Unauthenticated',
      'UserProvider',
      'ValidationFailed',
      'WrongCredentials',
      'authEntities',
      'authMigrations',
      'authOptionsFromEnv',
      'withAuthColumns',
    ]);
  });
});
