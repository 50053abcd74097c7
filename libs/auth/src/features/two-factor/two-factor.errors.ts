import { errors } from '../../kit';
import { twoFactorText } from './two-factor.texts';

/** The second factor is already confirmed: 409. A new enrolment would disable it until its confirmation. */
export class AlreadyEnrolled extends errors.AuthException {
  constructor() {
    super('already_enrolled', { status: 409, errors: { two_factor: [twoFactorText('auth.already_enrolled')] } });
  }
}

/** There is no enabled second factor: 409. */
export class NotEnrolled extends errors.AuthException {
  constructor() {
    super('not_enrolled', { status: 409, errors: { two_factor: [twoFactorText('auth.not_enrolled')] } });
  }
}
