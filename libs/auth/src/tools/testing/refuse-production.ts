import { AuthConfigError } from '../../foundation/platform/errors';

// First of all, by being imported: what mints sessions without a password and moves time is for tests.
if (process.env.NODE_ENV === 'production') {
  throw new AuthConfigError('@svc/auth/testing is for tests and does not load with NODE_ENV=production.');
}
