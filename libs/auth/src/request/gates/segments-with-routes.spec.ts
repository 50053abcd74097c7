import { declaredSegments } from './declared-routes.testkit';

describe('the segments with routes below them', () => {
  it('are those of all routes of the library', () => {
    expect(declaredSegments()).toEqual([
      'access-keys',
      'account',
      'confirm-identity',
      'device-session',
      'devices',
      'email',
      'identities',
      'login',
      'operators',
      'passkeys',
      'register',
      'sessions',
      'trusted-devices',
      'two-factor',
      'two-factor-enrolment',
    ]);
  });
});
