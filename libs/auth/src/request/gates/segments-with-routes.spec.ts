import { FEATURES } from '../../features';
import { segmentsWithRoutesBelow } from './library-routes';

describe('the segments with routes below them', () => {
  it('are those of all routes of the library', () => {
    expect(segmentsWithRoutesBelow(FEATURES)).toEqual([
      'account',
      'devices',
      'email',
      'login',
      'passkeys',
      'register',
      'sessions',
      'trusted-devices',
      'two-factor',
      'two-factor-enrolment',
    ]);
  });
});
